"""Differentially private regression on unbounded data, guided by public second moments."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from publicmoments.models.logistic import LogisticRegression
    from publicmoments.models.moments.readings import MomentRelease
    from publicmoments.models.moments.release import release_moments
    from publicmoments.models.moments.sites import combine
    from publicmoments.models.regressors import GLM, PoissonRegressor
    from publicmoments.models.ridge import Ridge
    from publicmoments.models.storage import load_model, save_model
    from publicmoments.planner.forecasts import Plan
    from publicmoments.planner.plans import plan
    from publicmoments.privacy.account import BudgetExceeded
    from publicmoments.privacy.budgets import GDP, ZCDP, ApproxDP
    from publicmoments.privacy.ledger import Ledger, LedgerError
    from publicmoments.public import PublicMoments
    from publicmoments.report.card import Card
    from publicmoments.warnings_ import PublicMomentsWarning

__all__ = [
    "GDP",
    "GLM",
    "ZCDP",
    "ApproxDP",
    "BudgetExceeded",
    "Card",
    "Ledger",
    "LedgerError",
    "LogisticRegression",
    "MomentRelease",
    "Plan",
    "PoissonRegressor",
    "PublicMoments",
    "PublicMomentsWarning",
    "Ridge",
    "combine",
    "load_model",
    "plan",
    "release_moments",
    "save_model",
]

__version__ = "0.1.0"

# Public names are imported when first used, so that starting up stays fast.
_HOMES = {
    "ApproxDP": "privacy.budgets",
    "BudgetExceeded": "privacy.account",
    "Card": "report.card",
    "GDP": "privacy.budgets",
    "GLM": "models.regressors",
    "Ledger": "privacy.ledger",
    "LedgerError": "privacy.ledger",
    "LogisticRegression": "models.logistic",
    "MomentRelease": "models.moments.readings",
    "Plan": "planner.forecasts",
    "PoissonRegressor": "models.regressors",
    "PublicMoments": "public",
    "PublicMomentsWarning": "warnings_",
    "Ridge": "models.ridge",
    "ZCDP": "privacy.budgets",
    "combine": "models.moments.sites",
    "load_model": "models.storage",
    "plan": "planner.plans",
    "release_moments": "models.moments.release",
    "save_model": "models.storage",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'publicmoments' has no attribute {name!r}")
    return getattr(import_module(f"publicmoments.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted([*__all__, "__version__"])
