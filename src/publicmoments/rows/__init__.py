"""One block of private rows in, bounded integer rows out: whiten, bound, grid."""

from publicmoments.rows.grid import finest_grid, finest_total_grid, squared_bound
from publicmoments.rows.recipe import Recipe, RowRecipe
from publicmoments.rows.scaled import (
    Factor,
    GramRecipe,
    ScaledRecipe,
    TotalRecipe,
    WhitenedRows,
    whitened_rows,
)
from publicmoments.rows.source import InvalidRows, PrivateRows

__all__ = [
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
    "finest_total_grid",
    "squared_bound",
    "whitened_rows",
]
