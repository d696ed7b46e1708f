"""The privacy claim of a fit, from its passes."""

from __future__ import annotations

import math
import platform
from importlib import metadata

from publicmoments.models.passes import Measured, PassRecord
from publicmoments.planner import pass_shares
from publicmoments.privacy.budgets import GDP, ApproxDP, Budget
from publicmoments.privacy.curves import gdp_delta, gdp_epsilon
from publicmoments.privacy.noise_law import gram_noise_law
from publicmoments.public import PublicMoments
from publicmoments.report.card import Card, PassSummary

__all__ = ["NEIGHBOURS", "make_card", "spendable"]

NEIGHBOURS = "data sets that differ in one row, replaced by another; the number of rows is public"

DELTAS = (1e-5, 1e-6, 1e-8, 1e-10)


def spendable(privacy: Budget, dimension: int, l2_bound_squared: int, passes: int) -> GDP:
    """
    Return the Gaussian budget that a stated budget buys.

    GDP and zCDP budgets are met exactly. An (epsilon, delta) budget must also pay for the distance
    between discrete and rounded Gaussian noise, (1 + exp(epsilon)) tau: that is set aside first.
    """
    total = privacy.to_gdp()
    if not isinstance(privacy, ApproxDP):
        return total
    tau = sum(
        gram_noise_law(l2_bound_squared, dimension, cost.mu).gdp_extra_tv
        for cost in total.split(*pass_shares(passes))
    )
    aside = (1.0 + math.exp(min(privacy.epsilon, 700.0))) * tau
    if not aside < privacy.delta / 2:
        raise ValueError(
            f"epsilon={privacy.epsilon!r} is too large for delta={privacy.delta!r} to be certified "
            "on the integer grid; state the budget as GDP(mu) or ZCDP(rho)"
        )
    return ApproxDP(privacy.epsilon, privacy.delta - aside).to_gdp()


def make_card(
    measured: Measured,
    total: GDP,
    privacy: Budget,
    public: PublicMoments,
    *,
    n_rows: int,
    n_features: int,
) -> Card:
    """Write the privacy card of a fit; everything on it is public or released."""
    records = measured.records
    extra_tv = sum(record.law.gdp_extra_tv for record in records)
    rho = sum(record.law.rho(record.l2_bound_squared) for record in records)
    q = measured.knowledge.coef.shape[1]
    return Card(
        guarantee=_claim(measured.private, total, rho, privacy),
        private=measured.private,
        neighbours=NEIGHBOURS,
        mu=total.mu,
        rho=rho,
        extra_tv=extra_tv,
        epsilon_delta=_curve(total.mu, extra_tv, privacy) if measured.private else (),
        n_rows=n_rows,
        n_features=n_features,
        n_responses=q,
        passes=tuple(_summary(record) for record in records),
        public_fingerprint=None if public.assumed else public.fingerprint,
        public_fit_z=records[0].public_fit.z_score,
        predicted_error=tuple(
            math.sqrt(max(measured.knowledge.prediction_error(k), 0.0)) for k in range(q)
        ),
        versions=_versions(),
    )


def _claim(private: bool, total: GDP, rho: float, privacy: Budget) -> str:
    """State the guarantee in words."""
    if not private:
        return (
            "No privacy guarantee: the noise is reproducible from random_state. "
            "Never publish this model; fit again with random_state=None."
        )
    return (
        f"Satisfies {rho:.6g}-zCDP exactly, and {total.mu:.6g}-Gaussian DP up to the extra delta "
        f"stated. The budget asked for was {privacy!r}."
    )


def _curve(mu: float, extra_tv: float, privacy: Budget) -> tuple[tuple[float, float], ...]:
    """Points (epsilon, delta) of the guarantee, the stated one first."""
    points = []
    if isinstance(privacy, ApproxDP):
        delta = gdp_delta(mu, privacy.epsilon) + (1 + math.exp(privacy.epsilon)) * extra_tv
        points.append((privacy.epsilon, max(delta, privacy.delta)))
    for delta in DELTAS:
        epsilon = _epsilon_with_extra(mu, extra_tv, delta)
        if epsilon is not None:
            points.append((epsilon, delta))
    return tuple(points)


def _epsilon_with_extra(mu: float, extra_tv: float, delta: float) -> float | None:
    """Smallest listed epsilon whose delta, the extra included, is at most ``delta``."""
    epsilon = gdp_epsilon(mu, delta)
    for _ in range(50):
        aside = math.exp(min(epsilon, 700.0)) * extra_tv + extra_tv
        if not aside < delta / 2:
            return None
        raised = gdp_epsilon(mu, delta - aside)
        if raised <= epsilon * (1 + 1e-15):
            return raised
        epsilon = raised
    return None


def _summary(record: PassRecord) -> PassSummary:
    """Copy the public numbers of a pass."""
    bounds = record.bounds
    return PassSummary(
        mu=record.cost.mu,
        rho=record.law.rho(record.l2_bound_squared),
        x_radius=bounds.x_radius,
        response_bound=bounds.response_bound,
        response_weight=bounds.weight,
        response_scale=record.scale,
        noise_sd_grid_units=record.law.diagonal_sd,
        predicted_noise=math.sqrt(bounds.noise),
        predicted_bias=math.sqrt(bounds.bias),
    )


def _versions() -> dict[str, str]:
    """Versions that a rerun would need."""
    names = ("publicmoments", "numpy", "scipy", "scikit-learn", "opendp")
    versions = {name: metadata.version(name) for name in names}
    return {"python": platform.python_version(), **versions}
