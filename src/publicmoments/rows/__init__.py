"""One block of private rows in, bounded integer rows out: whiten, bound, grid."""

from publicmoments.rows.counted import CountRecipe
from publicmoments.rows.grid import (
    Block,
    finest_grid,
    largest_entry,
    largest_square,
    scaled_down,
    squared_bound,
)
from publicmoments.rows.kernel import (
    bound_block,
    factors_of,
    multiplied_block,
    ordinary_rows,
    whitened_block,
    whitened_rows,
)
from publicmoments.rows.private_rows import InvalidRows, PrivateRows
from publicmoments.rows.recipe import (
    CoarseTotalRecipe,
    Factor,
    GramRecipe,
    Recipe,
    TotalRecipe,
    WhitenedRows,
)

__all__ = [
    "Block",
    "CoarseTotalRecipe",
    "CountRecipe",
    "Factor",
    "GramRecipe",
    "InvalidRows",
    "PrivateRows",
    "Recipe",
    "TotalRecipe",
    "WhitenedRows",
    "bound_block",
    "factors_of",
    "finest_grid",
    "largest_entry",
    "largest_square",
    "multiplied_block",
    "ordinary_rows",
    "scaled_down",
    "squared_bound",
    "whitened_block",
    "whitened_rows",
]
