"""What can be known before any budget is spent: plans."""

from publicmoments.planner.forecasts import Accuracy, Forecast, Plan, Ranges
from publicmoments.planner.plans import plan, smallest_budget, smallest_n

__all__ = ["Accuracy", "Forecast", "Plan", "Ranges", "plan", "smallest_budget", "smallest_n"]
