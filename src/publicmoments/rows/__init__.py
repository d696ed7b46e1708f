"""One block of private rows in, bounded integer rows out: whiten, bound, grid."""
