"""Standard errors by simulation: the known laws of noise and sampling, drawn again and again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from publicmoments.arrays import Array, read_only
from publicmoments.release.second_moment import (
    Coordinates,
    ErrorLaw,
    Evidence,
    expected_roots,
    repaired,
)
from publicmoments.release.weights import RowWeights


def redrawn(
    evidence: Evidence,
    weights: RowWeights,
    coordinates: Coordinates,
    law: ErrorLaw,
    rng: np.random.Generator,
) -> Evidence:
    """
    Simulate evidence like the one at hand, which is taken as the truth.

    Noise has its known law; sampling errors are those of Gaussian rows with the second moment at
    hand. Draws add to a release what is known about it and see no private row: they are free.
    """
    p = len(evidence.moment)
    left = expected_roots(p, weights)
    noise = np.sqrt(law.noise) * _symmetric(rng, p) / left[:, None] / left[None, :]
    sampling = np.sqrt(law.sampling) * _symmetric(rng, p)
    root = np.linalg.cholesky(evidence.moment)
    moment = evidence.moment + noise + root @ sampling @ root.T
    _, root, _, _ = repaired(moment, evidence.floor)
    return replace(evidence, root=read_only(root @ coordinates.unwhitener))


def _symmetric(rng: np.random.Generator, p: int) -> Array:
    """Symmetric noise of variance 1 off the diagonal and 2 on it."""
    square = rng.standard_normal((p, p))
    return np.asarray((square + square.T) / np.sqrt(2.0))
