"""The privacy card: what was guaranteed, to whom, at what price."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from publicmoments.privacy.rounding import text_above


@dataclass(frozen=True)
class PassSummary:
    """
    One release, in public numbers.

    Parameters
    ----------
    statistic : str
        What was released.
    mu, rho : float
        What it cost.
    noise_sd : float
        Standard deviation of the noise per row, in the units of the bounded rows; of the diagonal,
        for a matrix.
    noise_sd_grid_units : float
        The same on the integer grid, of the sum over all rows.
    times : int
        Releases of this kind and cost, each with noise of its own.
    """

    statistic: str
    mu: float
    rho: float
    noise_sd: float
    noise_sd_grid_units: float
    times: int


@dataclass(frozen=True)
class BoundedPass(PassSummary):
    """
    One release of a regression model.

    Parameters
    ----------
    statistic, mu, rho, noise_sd, noise_sd_grid_units, times
        As in `PassSummary`.
    bound : float
        Longest row that was summed, in whitened units.
    predicted_error : float or None
        Root mean square error of predictions that noise and bias of this release alone would make;
        None for what is no gradient.
    """

    bound: float
    predicted_error: float | None


@dataclass(frozen=True)
class Card:
    """
    Privacy card of a fitted model.

    Parameters
    ----------
    guarantee : str
        The claim in words.
    private : bool
        False for a reproducible run, which has no guarantee.
    neighbours : str
        What two data sets may differ in.
    mu : float
        Total Gaussian DP parameter.
    rho : float
        Total zero-concentrated DP parameter; exact.
    extra_tv : float
        Distance between the noise drawn and the noise of an exact mu-GDP mechanism; adds
        (1 + exp(epsilon)) times itself to delta.
    epsilon_delta : tuple of (epsilon, delta)
        Points of the guarantee's curve, the extra included.
    n_rows, n_features, n_responses : int
        Shape of the private table; public.
    passes : tuple of PassSummary
        Each release: budget, noise and, where planned, bounds.
    public_fingerprint : str or None
        SHA-256 of the public inputs; None when there were none.
    versions : dict
        Versions of what computed it.
    notes : tuple of str
        What else must be known to read the claim.
    public_fit_z : float or None
        Distance between the released and the expected second moment in standard errors, where the
        method can tell.
    response_fit_z : float or None
        Distance between the first release and the public fit in standard errors; 0 without one.
    predicted_error : tuple of float
        Root mean square error that noise and bias are expected to add to predictions, per response,
        in its units; empty where the method does not predict it.
    """

    guarantee: str
    private: bool
    neighbours: str
    mu: float
    rho: float
    extra_tv: float
    epsilon_delta: tuple[tuple[float, float], ...]
    n_rows: int
    n_features: int
    n_responses: int
    passes: tuple[PassSummary, ...]
    public_fingerprint: str | None
    versions: dict[str, str]
    notes: tuple[str, ...] = ()
    public_fit_z: float | None = None
    response_fit_z: float | None = None
    predicted_error: tuple[float, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the card as plain dictionaries, lists and numbers."""
        plain: dict[str, Any] = json.loads(self.to_json())
        return plain

    def to_json(self, indent: int | None = 2) -> str:
        """Return the card as JSON."""
        return json.dumps(asdict(self), indent=indent, allow_nan=False)

    def __str__(self) -> str:
        """Tell the essentials in a few lines."""
        lines = [self.guarantee, f"Neighbours: {self.neighbours}."]
        if self.private:
            points = ", ".join(
                f"({text_above(e)}, {text_above(d, 2)})" for e, d in self.epsilon_delta
            )
            lines.append(f"(epsilon, delta): {points}")
        lines.extend(self.notes)
        releases = sum(one.times for one in self.passes)
        lines.append(f"Releases: {releases}; rows: {self.n_rows}.")
        if self.predicted_error and all(math.isfinite(error) for error in self.predicted_error):
            errors = ", ".join(f"{error:.3g}" for error in self.predicted_error)
            lines.append(f"Error that noise and bias are expected to add to predictions: {errors}.")
        return "\n".join(lines)


def card_from(document: Mapping[str, Any], kind: type[PassSummary]) -> Card:
    """Read a card from its dictionary, whose releases are of one kind."""
    values = dict(document)
    known = {one.name for one in fields(Card)}
    if set(values) != known:
        raise ValueError("the fields of the card are not those this version writes")
    if not isinstance(values["private"], bool) or not isinstance(values["guarantee"], str):
        raise ValueError("the card must state a guarantee and whether it is private")
    if not all(isinstance(values[name], float) for name in ("mu", "rho", "extra_tv")):
        raise ValueError("the card must state mu, rho and extra_tv as numbers")
    values["passes"] = tuple(kind(**line) for line in values["passes"])
    values["epsilon_delta"] = tuple((float(e), float(d)) for e, d in values["epsilon_delta"])
    values["notes"] = tuple(str(note) for note in values["notes"])
    values["predicted_error"] = tuple(float(error) for error in values["predicted_error"])
    return Card(**values)
