"""Differentially private regression on unbounded data, guided by public second moments."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from publicmoments.version import __version__ as __version__

if TYPE_CHECKING:
    from publicmoments.checks import PublicMomentsWarning
    from publicmoments.models.glm import GLM
    from publicmoments.models.logistic import LogisticRegression
    from publicmoments.models.model_file import load_model, save_model
    from publicmoments.models.poisson import PoissonRegressor
    from publicmoments.models.ridge import Ridge
    from publicmoments.planner.forecasts import Plan
    from publicmoments.planner.plans import plan
    from publicmoments.privacy.account import BudgetExceeded
    from publicmoments.privacy.budgets import GDP, ZCDP, ApproxDP
    from publicmoments.privacy.card import Card
    from publicmoments.privacy.ledger import Ledger, LedgerError
    from publicmoments.public import PublicMoments
    from publicmoments.release.readings import MomentRelease
    from publicmoments.release.releasing import combine, release_moments

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

# Public names are imported when first used, so that starting up stays fast.
_HOMES = {
    "ApproxDP": "privacy.budgets",
    "BudgetExceeded": "privacy.account",
    "Card": "privacy.card",
    "GDP": "privacy.budgets",
    "GLM": "models.glm",
    "Ledger": "privacy.ledger",
    "LedgerError": "privacy.ledger",
    "LogisticRegression": "models.logistic",
    "MomentRelease": "release.readings",
    "Plan": "planner.forecasts",
    "PoissonRegressor": "models.poisson",
    "PublicMoments": "public",
    "PublicMomentsWarning": "checks",
    "Ridge": "models.ridge",
    "ZCDP": "privacy.budgets",
    "combine": "release.releasing",
    "load_model": "models.model_file",
    "plan": "planner.plans",
    "release_moments": "release.releasing",
    "save_model": "models.model_file",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'publicmoments' has no attribute {name!r}")
    return getattr(import_module(f"publicmoments.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted([*__all__, "__version__"])
