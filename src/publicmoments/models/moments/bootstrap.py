"""Standard errors by simulation: the known laws of noise and sampling, drawn again and again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from publicmoments.models.moments.evidence import (
    Coordinates,
    Evidence,
    expected_roots,
    repaired,
)
from publicmoments.models.moments.regress import ErrorLaw
from publicmoments.models.moments.weights import RowWeights
from publicmoments.public.arrays import read_only

__all__ = ["redrawn"]

Array = NDArray[np.float64]


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
