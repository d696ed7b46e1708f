"""Whether the public moments fit a release, and whether there was enough budget for it."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from publicmoments.models.moments.agreement import moment_agreement
from publicmoments.models.moments.evidence import Coordinates, Evidence, noise_variance, normalised
from publicmoments.models.moments.weights import RowWeights
from publicmoments.warnings_ import PublicMomentsWarning

__all__ = ["Diagnostics", "diagnosed", "warn_of"]

Array = NDArray[np.float64]

MISFIT_Z = 5.0
"""Standard errors from which the public moments are said not to fit."""


@dataclass(frozen=True)
class Diagnostics:
    """
    What a release tells of its own quality.

    Parameters
    ----------
    public_fit_z : float or None
        Distance between the released and the public second moment, in standard errors; None where
        no public rows stand behind the latter.
    public_condition, condition : float
        Condition numbers of the second moment with columns of unit size: public, and as estimated.
    whitened_condition : float
        That of the estimated one in whitened coordinates, which noise and rows have to deal with.
    smallest_eigenvalue : float
        In whitened coordinates, where 1 is expected, before the repair.
    lifted : int
        Eigenvalues lifted by the repair: directions of which the release shows noise only.
    trust : float
        Weight of the release against the public moments.
    kept, kept_ones : float
        Expected shares of the second moment, and of the rows, that survive the weights.
    """

    public_fit_z: float | None
    public_condition: float
    condition: float
    whitened_condition: float
    smallest_eigenvalue: float
    lifted: int
    trust: float
    kept: float
    kept_ones: float


def diagnosed(
    noisy_gram: Array,
    offdiagonal_sd: float,
    weights: RowWeights,
    coordinates: Coordinates,
    evidence: Evidence,
) -> Diagnostics:
    """Compare a release with its public expectation; nothing private is used."""
    z_score = None
    if coordinates.n is not None:
        p = len(noisy_gram)
        # Rows with heavy tails tell their second moment as fewer Gaussian ones would.
        rows = p + 1 + max(coordinates.n - p - 1, 1.0) / coordinates.tail
        moment = normalised(noisy_gram, weights)
        noise_sd = math.sqrt(noise_variance(offdiagonal_sd, weights))
        z_score = moment_agreement(moment, 1.0, noise_sd, rows)
    return Diagnostics(
        public_fit_z=z_score,
        public_condition=_condition(coordinates.unwhitener),
        condition=_condition(evidence.root),
        whitened_condition=float(np.linalg.cond(evidence.moment)),
        smallest_eigenvalue=float(evidence.eigenvalues[0]),
        lifted=evidence.lifted,
        trust=evidence.trust,
        kept=weights.kept,
        kept_ones=weights.kept_ones,
    )


def warn_of(diagnostics: Diagnostics, anchor: bool) -> None:
    """Warn of public moments that do not fit, and of more noise than signal."""
    z_score, lifted = diagnostics.public_fit_z, diagnostics.lifted
    if anchor and z_score is not None and z_score > MISFIT_Z:
        warnings.warn(
            f"the public moments do not fit the private rows: the second moment is {z_score:.1f} "
            "standard errors away. Privacy does not depend on it; accuracy does, and intervals may "
            "be too short. Use public data from the same population, or pass anchor=False and a "
            "larger radius",
            PublicMomentsWarning,
            stacklevel=3,
        )
    if lifted:
        warnings.warn(
            f"in {lifted} directions the release shows little but noise, and was repaired; "
            "spend more budget, release fewer columns, combine sites, or regress with a penalty, "
            "which choose_alpha picks",
            PublicMomentsWarning,
            stacklevel=3,
        )


def _condition(root: Array) -> float:
    """Condition number of root.T @ root with unit diagonal."""
    sizes = np.sqrt(np.einsum("ij,ij->j", root, root))
    return float(np.linalg.cond(root / np.where(sizes > 0.0, sizes, 1.0))) ** 2
