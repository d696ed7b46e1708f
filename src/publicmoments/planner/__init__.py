"""What can be known before any budget is spent: bounds for the fits, and plans for their users."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from publicmoments.planner.forecasts import Accuracy, Forecast, Plan, Ranges
    from publicmoments.planner.inverse import smallest_budget, smallest_n
    from publicmoments.planner.plans import plan

__all__ = ["Accuracy", "Forecast", "Plan", "Ranges", "plan", "smallest_budget", "smallest_n"]

# Plans rehearse the models, and the models ask for bounds: only the latter may come first.
_HOMES = {
    "Accuracy": "forecasts",
    "Forecast": "forecasts",
    "Plan": "forecasts",
    "Ranges": "forecasts",
    "plan": "plans",
    "smallest_budget": "inverse",
    "smallest_n": "inverse",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
