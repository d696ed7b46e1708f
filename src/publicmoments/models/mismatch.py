"""Telling people which way the public data differ from the private rows, and what to do."""

from __future__ import annotations

import math
import warnings

import numpy as np

from publicmoments.checks import PublicMomentsWarning
from publicmoments.models.problem import Fitted
from publicmoments.public import PublicDesign

MISFIT_Z = 5.0
"""Standard errors from which the public data are said not to fit."""

LEAST_FACTOR = 1.5
"""Nor is anything said of second moments that differ by less than this, however well it is seen."""

NAMED = 3
"""Columns that are named, the most different first."""


def warn_of_mismatch(found: Fitted, design: PublicDesign, columns: tuple[str, ...] | None) -> None:
    """Warn where releases are far from what the public data led to expect."""
    signs = []
    if found.look.z_score > MISFIT_Z:
        signs += _moved(found, design, columns)
    if found.start_z > MISFIT_Z:
        signs.append(
            "the public fit of the response is "
            f"{found.posterior.doubt**0.5:.1f} times as far off as its sampling error"
        )
    if signs:
        warnings.warn(
            f"the public data do not fit the private rows: {'; '.join(signs)}. Privacy does not "
            "depend on it, and the fit gives such public data less weight; accuracy is best with "
            "public data from the same population",
            PublicMomentsWarning,
            stacklevel=5,
        )


def _moved(found: Fitted, design: PublicDesign, columns: tuple[str, ...] | None) -> list[str]:
    """Say of columns how their size or their mean differs, the most different first."""
    ratio = found.look.ratio
    to_raw = np.asarray(design.unwhitener)
    features = len(to_raw) - design.fit_intercept
    noise = 3.0 * found.look.noise_sd
    told: list[tuple[float, str]] = []
    for j in range(features):
        name = str(j) if columns is None else columns[j]
        column = to_raw[:, j].copy()
        shift = 0.0
        if design.fit_intercept:
            column[-1] = 0.0
        size = math.sqrt(max(float(column @ column), 1e-300))
        if design.fit_intercept:
            shift = float(ratio[-1] @ column) / size
            if abs(shift) > max(LEAST_FACTOR - 1.0, noise):
                side = "higher" if shift > 0.0 else "lower"
                told.append(
                    (
                        abs(shift),
                        f"column {name} is {side} by about {abs(shift):.1f} of its public "
                        "standard deviations",
                    )
                )
        spread = float(column @ ratio @ column) / size**2 - shift**2
        factor = math.sqrt(max(spread, 0.0))
        if abs(spread - 1.0) > noise and not 1.0 / LEAST_FACTOR < factor < LEAST_FACTOR:
            words = f"varies {factor:.1f} times as much as in public"
            told.append((abs(math.log(max(factor, 1e-3))), f"column {name} {words}"))
    told.sort(reverse=True)
    return [words for _, words in told[:NAMED]]
