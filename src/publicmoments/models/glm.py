"""What the generalised linear models share."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from publicmoments.arrays import Array
from publicmoments.checks import PublicMomentsWarning
from publicmoments.data import Table
from publicmoments.families import Family
from publicmoments.models.fitting import Known, PrivateModel
from publicmoments.models.shell import matched_moments
from publicmoments.privacy.budgets import Budget
from publicmoments.public import PublicMoments
from publicmoments.public.arguments import thinned


@dataclass(eq=False, repr=False)
class GLMEstimator(PrivateModel):
    """Base of the generalised linear models, which read their own responses and call ``_fit``."""

    def _check_typical(self, name: str, none: bool) -> None:
        """Refuse a typical offset without an intercept, which is where it goes."""
        if not (none or self.fit_intercept):
            raise ValueError(f"{name} needs fit_intercept=True; leave it out, or fit an intercept")

    def _fit(
        self,
        family: Family,
        features: Table,
        responses: Table,
        privacy: Budget,
        *,
        target: str,
        classes: tuple[Any, ...] | None = None,
        public_offset: Any = None,
        typical: float = 0.0,
        **told: Any,
    ) -> None:
        """
        Fit and keep the record.

        Parameters
        ----------
        family : Family
            Of the responses.
        features, responses : Table
            Private rows; a second column of the responses is an offset.
        privacy : Budget
            Total budget.
        target : str
            Name of the response.
        classes : tuple, optional
            Labels that the codes of the responses stand for.
        public_offset : array-like, optional
            Offsets of the public rows.
        typical : float
            What has been taken off all offsets.
        told
            How coefficients are told; see `PrivateModel._record`.
        """
        public = matched_moments(self.public, features, 1)
        scale = _response_scale(public, family)
        answers = _public_responses(public, family, classes, scale)
        offsets = _public_offsets(public, public_offset, typical, scale)
        known = Known(public, scale, answers, offsets)
        offset = responses.n_columns > 1
        found = self._solve(
            family, features, responses, known, privacy, target=target, offset=offset
        )
        self.fit_ = self._record(found, known, response=target, level=typical, **told)


def _response_scale(public: PublicMoments, family: Family) -> float:
    """Unit of the responses: their public size where the family has no unit of its own."""
    if public.response is None:
        if not family.has_unit:
            warnings.warn(
                "the public moments say nothing of the response: assuming a root mean square of 1; "
                "pass response=... or response_scale=... when making them",
                PublicMomentsWarning,
                stacklevel=5,
            )
        return 1.0
    if len(public.response.scale) != 1:
        raise ValueError(
            f"the public moments must have one response, got {len(public.response.scale)}; make "
            "them with the response of this model only"
        )
    return 1.0 if family.has_unit else float(public.response.scale[0])


def _public_responses(
    public: PublicMoments, family: Family, classes: tuple[Any, ...] | None, scale: float
) -> Array | None:
    """Responses of the public rows in the family's terms; None where there are none."""
    if public.rows is None or public.response_rows is None:
        return None
    responses = np.asarray(public.response_rows, dtype=np.float64)
    if classes is not None and all(isinstance(label, bool | int | float) for label in classes):
        codes = np.full(responses.shape, np.nan)
        for code, label in enumerate(classes):
            codes[responses == float(label)] = code
        responses = codes
    if not family.allows(responses).all():
        wanted = family.range if classes is None else f"among classes={classes!r}"
        raise ValueError(
            f"responses of the public moments must be {wanted}; labels that are not numbers are "
            "given there by their position among the classes"
        )
    return responses / scale


def _public_offsets(
    public: PublicMoments, given: Any, typical: float, scale: float
) -> Array | float:
    """Offsets of the kept public rows about the typical one, in the units of the predictor."""
    if given is None:
        return 0.0
    if public.rows is None:
        raise ValueError(
            "offsets or exposures of public rows go with public rows, got public moments without "
            "any; make them with PublicMoments.from_rows"
        )
    values = np.asarray(given, dtype=np.float64).reshape(-1)
    if len(values) != public.n:
        raise ValueError(
            f"offsets or exposures of public rows must be one for each of the {public.n} rows, "
            f"got {len(values)}"
        )
    if not np.isfinite(values).all():
        raise ValueError("offsets of public rows must be finite, and exposures positive numbers")
    return thinned((values[:, None] - typical) / scale)
