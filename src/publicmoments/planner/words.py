"""What to make of a plan, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from publicmoments.privacy.rounding import text_above

if TYPE_CHECKING:
    from publicmoments.planner.forecasts import Forecast, Plan

__all__ = ["recommendation"]

NEAR = 1.15
"""Errors within this factor of each other are as good as equal."""

WORTHLESS = 1.05
"""More budget buys nothing where it would lower the error by less than this factor."""


def recommendation(plan: Plan) -> str:
    """Say which budget is enough, what public data alone do, and if the paper's condition holds."""
    sentences = [_near(plan), _saturated(plan), _public(plan), _condition(plan)]
    return " ".join(sentence for sentence in sentences if sentence)


def _mu(forecast: Forecast) -> str:
    """Name a budget."""
    return f"mu {text_above(forecast.mu, 3)}"


def _near(plan: Plan) -> str:
    """Which budget reaches the accuracy of the fit without privacy."""
    level = plan.non_private.prediction_error
    for forecast in plan.forecasts:
        if forecast.prediction_error <= NEAR * level:
            return (
                f"With {_mu(forecast)}, the error of predictions is expected to be "
                f"{forecast.prediction_error:.3g}, near that of the non-private fit, {level:.3g}."
            )
    last = plan.forecasts[-1]
    return (
        f"With {_mu(last)}, the largest budget asked about, the error of predictions is expected "
        f"to be {last.prediction_error:.3g}, {last.prediction_error / level:.2g} times that of "
        f"the non-private fit, {level:.3g}: more budget, more rows or better public data would "
        "help."
    )


def _saturated(plan: Plan) -> str:
    """From which budget on more of it buys nothing."""
    last = plan.forecasts[-1]
    for forecast in plan.forecasts[:-1]:
        if forecast.prediction_error <= WORTHLESS * last.prediction_error:
            return f"More than {_mu(forecast)} buys nothing."
    return ""


def _public(plan: Plan) -> str:
    """Where the public data alone are as good."""
    if plan.public_only is None:
        return ""
    level = plan.public_only.prediction_error
    useless = [f for f in plan.forecasts if level <= NEAR * f.prediction_error]
    if not useless:
        return f"Public data alone are worse at every budget, {level:.3g}."
    if len(useless) == len(plan.forecasts):
        return f"Public data alone are as good at every budget, {level:.3g}, and cost no privacy."
    return f"Public data alone, {level:.3g}, are as good up to {_mu(useless[-1])}."


def _condition(plan: Plan) -> str:
    """Where the paper's condition holds."""
    judged = [f for f in plan.forecasts if f.robust is not None]
    if not judged:
        return ""
    robust = [f for f in judged if f.robust]
    if len(robust) == len(judged):
        return "The paper's stability condition holds at every budget."
    if not robust:
        return (
            "The paper's stability condition holds at none of these budgets: it speaks of the "
            "paper's estimators, this one does not need it."
        )
    return (
        f"The paper's stability condition holds from {_mu(robust[0])} on; it speaks of the "
        "paper's estimators, this one does not need it."
    )
