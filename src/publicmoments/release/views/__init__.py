"""What released moments answer at no further cost: one module for each kind of question."""
