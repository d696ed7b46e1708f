"""One block of private rows in, bounded integer rows out: whiten, bound, grid."""

from publicmoments.rows.counted import CountRecipe
from publicmoments.rows.grid import (
    Block,
    finest_grid,
    scaled_down,
    squared_bound,
)
from publicmoments.rows.precision import largest_entry, largest_square
from publicmoments.rows.recipe import Recipe, RowRecipe, shortened
from publicmoments.rows.scaled import (
    CoarseTotalRecipe,
    Factor,
    GramRecipe,
    ScaledRecipe,
    TotalRecipe,
    WhitenedRows,
    whitened_rows,
)
from publicmoments.rows.source import InvalidRows, PrivateRows

__all__ = [
    "Block",
    "CoarseTotalRecipe",
    "CountRecipe",
    "Factor",
    "GramRecipe",
    "InvalidRows",
    "PrivateRows",
    "Recipe",
    "RowRecipe",
    "ScaledRecipe",
    "TotalRecipe",
    "WhitenedRows",
    "finest_grid",
    "largest_entry",
    "largest_square",
    "scaled_down",
    "shortened",
    "squared_bound",
    "whitened_rows",
]
