"""One block of private rows in, bounded integer rows out: whiten, bound, grid."""

from publicmoments.rows.bound import integer_rows
from publicmoments.rows.recipe import RowRecipe, finest_grid, squared_bound
from publicmoments.rows.source import InvalidRows, PrivateRows

__all__ = [
    "InvalidRows",
    "PrivateRows",
    "RowRecipe",
    "finest_grid",
    "integer_rows",
    "squared_bound",
]
