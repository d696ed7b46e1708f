"""The kernel: a block of private rows in, bounded integer rows out. It keeps nothing."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from publicmoments.arrays import Array
from publicmoments.rows.grid import Block, largest_square
from publicmoments.rows.recipe import Recipe, WhitenedRows


def bound_block(
    recipe: Recipe,
    design: Block,
    responses: Array,
    divisors: Array | None = None,
    out: Block | None = None,
) -> Block | None:
    """
    Return the bounded integer rows of a block, of shape (dimension, rows).

    Parameters
    ----------
    recipe : Recipe
        How each row is bounded, in public numbers.
    design : ndarray of ``recipe.dtype``, shape (p, rows)
        Rows x as columns; a transposed array in the order of its rows is the fastest.
    responses : ndarray of shape (q, rows)
        Their responses.
    divisors : ndarray of shape (rows,), optional
        What rows that are not ordinary have been divided by, and 1 for others. Without it
        nobody has looked at the rows.
    out : ndarray of ``recipe.dtype``, shape (dimension, rows), optional
        Where to put them.

    Returns
    -------
    ndarray of integers in floats, or None
        None where nobody has looked at the rows and not all of them are ordinary.

    Notes
    -----
    Each output row depends on its own input row only, and its squared norm is at most
    ``recipe.l2_bound_squared``, whatever the floats. Ordinary rows become the same integers with
    divisors and without. Owed by the caller: blocks of one fixed shape, so that the linear
    algebra treats each row alike.
    """
    whitened = whitened_block(recipe, design, responses, divisors)
    return None if whitened is None else multiplied_block(recipe, whitened, responses, out)


def whitened_block(
    recipe: Recipe, design: Block, responses: Array, divisors: Array | None = None
) -> WhitenedRows | None:
    """Whiten a block: the part of `bound_block` that does not depend on the coefficients."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        whitened = whitened_rows(recipe.mixing @ design, recipe.radius, divisors)
    if divisors is None and not _sound(recipe, whitened, responses).all():
        return None
    return whitened


def multiplied_block(
    recipe: Recipe, rows: WhitenedRows, responses: Array, out: Block | None = None
) -> Block:
    """Multiply whitened rows by their factors and put them on the grid; nothing is changed."""
    z = rows.z
    integers = np.empty((recipe.dimension, z.shape[1]), z.dtype) if out is None else out
    with np.errstate(over="ignore", invalid="ignore", under="ignore", divide="ignore"):
        factors = factors_of(recipe, _predictor(recipe, z), rows, responses)
        return recipe.placed(recipe.values(factors, rows), z, integers)


def ordinary_rows(recipe: Recipe, design: Block, responses: Array) -> NDArray[np.bool_]:
    """Tell which rows of a block are neither enormous nor without a number."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        whitened = whitened_rows(recipe.mixing @ design, recipe.radius)
        return _sound(recipe, whitened, responses)


def factors_of(recipe: Recipe, predictor: Array, rows: WhitenedRows, responses: Array) -> Array:
    """
    Return the factors of whitened rows, of shape (k, rows).

    Parameters
    ----------
    recipe : Recipe
        Its factor and coefficients.
    predictor : ndarray of shape (k, rows)
        Linear predictors of ``rows.z``, overwritten by those of the rows themselves.
    rows : WhitenedRows
        Of which only the lengths are looked at.
    responses : ndarray of shape (q, rows)
        The responses.
    """
    predictor *= rows.whole if recipe.whole_predictor else rows.kept
    return np.ascontiguousarray(recipe.factor(predictor.T, responses.T).T)


def whitened_rows(z: Block, radius: float, divisors: Array | None = None) -> WhitenedRows:
    """
    Say what brings whitened rows to their lengths, and to at most the radius.

    Parameters
    ----------
    z : ndarray of shape (p, rows)
        Whitened rows as columns.
    radius : float
        May be infinite.
    divisors : ndarray of shape (rows,), optional
        What the rows have been divided by; 1 by default.

    Returns
    -------
    WhitenedRows
    """
    length = np.sqrt(np.einsum("ij,ij->j", z, z).astype(np.float64))
    whole = np.ones(z.shape[1]) if divisors is None else divisors
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = np.minimum(whole, radius / length)
    return WhitenedRows(z, length, kept, whole)


def _sound(recipe: Recipe, rows: WhitenedRows, responses: Array) -> NDArray[np.bool_]:
    """Rows of ordinary length, with numbers for responses."""
    most = math.sqrt(largest_square(recipe.dtype))
    return np.asarray((rows.length < most) & np.isfinite(responses).all(axis=0))


def _predictor(recipe: Recipe, z: Block) -> Array:
    """Linear predictors of whitened rows, of shape (k, rows)."""
    coef = recipe.coef.astype(recipe.dtype)
    # A matrix times a vector is another sum in long blocks than in short ones.
    single = coef.shape[1] == 1
    predictor = np.einsum("ik,ij->kj", coef, z) if single else coef.T @ z
    return np.asarray(predictor, dtype=np.float64)
