"""The privacy claim of a fit, from its passes."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import metadata
from typing import Protocol, TypedDict

from publicmoments.privacy.budgets import GDP, ZCDP, ApproxDP, Budget
from publicmoments.privacy.curves import gdp_delta, gdp_epsilon
from publicmoments.privacy.laws import Law, extra_delta, gdp_beside
from publicmoments.privacy.rounding import float_above, text_above
from publicmoments.privacy.unit import ONE_ROW, PrivacyUnit
from publicmoments.version import __version__

DELTAS = (1e-5, 1e-6, 1e-8, 1e-10)


class Charged(Protocol):
    """What the claim of a fit needs to know of each of its releases."""

    @property
    def rho(self) -> float: ...  # noqa: D102


class Claim(TypedDict):
    """The fields of a card that state the guarantee."""

    guarantee: str
    private: bool
    neighbours: str
    mu: float
    rho: float
    extra_tv: float
    epsilon_delta: tuple[tuple[float, float], ...]
    versions: dict[str, str]


@dataclass(frozen=True, slots=True)
class Spendable:
    """
    What a stated budget buys.

    Parameters
    ----------
    total : GDP
        Gaussian DP of all releases together.
    extra_tv : float
        How far their noise is from Gaussian, at most, whichever of them a fit comes to make.
    """

    total: GDP
    extra_tv: float


def spendable(privacy: Budget, laws_for: Callable[[GDP], Sequence[Law]]) -> Spendable:
    """
    Return the Gaussian budget that a stated budget buys, and how far its noise is from Gaussian.

    GDP and zCDP budgets are met exactly. An (epsilon, delta) budget must also pay for the distance
    between discrete and rounded Gaussian noise, (1 + exp(epsilon)) tau: that is set aside first.
    Budgets too large or too small for the grid are refused here, before anything is spent. However
    a budget is split over releases, tau is the same: it goes with the sum of their squared mu.

    Parameters
    ----------
    privacy : GDP, ApproxDP or ZCDP
        As the user states it.
    laws_for : callable
        Noise laws of all releases that a fit with a given total may make: those of its longest
        path, where what is released next depends on what was released before.

    Returns
    -------
    Spendable
    """
    total = privacy.to_gdp()
    try:
        tau = _extra_tv(laws_for(total))
    except ValueError:
        raise ValueError(
            f"privacy must be a budget that noise on the integer grid can meet, with mu roughly "
            f"between 1e-6 and 1e6, got {privacy!r}"
        ) from None
    if not isinstance(privacy, ApproxDP):
        return Spendable(total, tau)
    less = gdp_beside(privacy, tau)
    if less is None or not extra_delta(tau, privacy.epsilon) < privacy.delta / 2:
        raise ValueError(
            f"epsilon={privacy.epsilon!r} is too large for delta={privacy.delta!r} to be certified "
            "on the integer grid; state the budget as GDP(mu) or ZCDP(rho)"
        )
    # Less budget, more noise, and so no more distance than was set aside; a claim is never smaller.
    return Spendable(less, max(_extra_tv(laws_for(less)), tau))


def claim(
    releases: Sequence[Charged],
    bought: Spendable,
    privacy: Budget,
    private: bool,
    unprotected: str | None = None,
    unit: PrivacyUnit = ONE_ROW,
) -> Claim:
    """
    State what a fit guarantees, or why it guarantees nothing.

    Notes
    -----
    **Why.** Which releases are made may depend on those before them, and so may the sum of their
    distances from Gaussian noise: a claim from the path that was taken would be smaller than the
    guarantee. It is that of the longest path, which public numbers settle.
    """
    total, extra_tv = bought.total, bought.extra_tv
    rho = _total(release.rho for release in releases)
    return Claim(
        guarantee=unprotected or _claim(private, total, rho, privacy),
        private=private,
        neighbours=unit.neighbours,
        mu=total.mu,
        rho=rho,
        extra_tv=extra_tv,
        epsilon_delta=_curve(total.mu, rho, extra_tv, privacy) if private else (),
        versions=dict(_installed()),
    )


def _claim(private: bool, total: GDP, rho: float, privacy: Budget) -> str:
    """State the guarantee in words."""
    if not private:
        return (
            "No privacy guarantee: the noise is reproducible from random_state. "
            "Never publish this model; fit again with random_state=None."
        )
    return (
        f"Satisfies {text_above(rho, 6)}-zCDP exactly, and {text_above(total.mu, 6)}-Gaussian DP "
        f"up to the extra delta stated. The budget asked for was {privacy!r}."
    )


def _extra_tv(laws: Sequence[Law]) -> float:
    """Distance of all noise together from rounded Gaussian noise, rounded up once."""
    return _total(law.gdp_extra_tv for law in laws)


def _total(numbers: Iterable[float]) -> float:
    """Sum, rounded up once."""
    return float_above(sum((Fraction(number) for number in numbers), Fraction(0)))


def _curve(
    mu: float, rho: float, extra_tv: float, privacy: Budget
) -> tuple[tuple[float, float], ...]:
    """Points (epsilon, delta) of the guarantee, the stated one first."""
    points = []
    if isinstance(privacy, ApproxDP):
        delta = gdp_delta(mu, privacy.epsilon) + extra_delta(extra_tv, privacy.epsilon)
        points.append((privacy.epsilon, max(delta, privacy.delta)))
    for delta in DELTAS:
        if isinstance(privacy, ApproxDP) and delta == privacy.delta:
            continue
        epsilon = _epsilon_with_extra(mu, extra_tv, delta)
        # The extra swamps large epsilons; the exact zCDP statement implies a point all the same.
        points.append(
            (ZCDP(rho).to_approx_dp(delta).epsilon if epsilon is None else epsilon, delta)
        )
    return tuple(points)


def _epsilon_with_extra(mu: float, extra_tv: float, delta: float) -> float | None:
    """Epsilon at which the Gaussian curve with the extra is ``delta``; None where it never is."""
    epsilon = gdp_epsilon(mu, delta)
    for _ in range(50):
        aside = extra_delta(extra_tv, epsilon)
        if not aside < delta / 2:
            return None
        raised = gdp_epsilon(mu, delta - aside)
        if raised <= epsilon * (1 + 1e-15):
            return raised
        epsilon = raised
    return None


@cache
def _installed() -> dict[str, str]:
    """Versions that a rerun would need; looking them up takes longer than a small fit."""
    versions = {"python": platform.python_version(), "publicmoments": __version__}
    for name in ("numpy", "scipy", "scikit-learn", "opendp"):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            # The budget is spent by now: a card with a gap is better than none.
            versions[name] = "unknown"
    return versions
