"""What privacy costs: budgets, their exact curves, sensitivity, noise, accounts and the ledger."""

from publicmoments.privacy.account import Account, BudgetExceeded
from publicmoments.privacy.budgets import GDP, ZCDP, ApproxDP, Budget, compose
from publicmoments.privacy.curves import gdp_delta, gdp_epsilon, gdp_mu
from publicmoments.privacy.laws import NoiseLaw, gram_noise_law
from publicmoments.privacy.ledger import (
    Cap,
    Entry,
    Ledger,
    LedgerAccount,
    LedgerError,
    open_account,
)
from publicmoments.privacy.unit import gram_sensitivity

__all__ = [
    "GDP",
    "ZCDP",
    "Account",
    "ApproxDP",
    "Budget",
    "BudgetExceeded",
    "Cap",
    "Entry",
    "Ledger",
    "LedgerAccount",
    "LedgerError",
    "NoiseLaw",
    "compose",
    "gdp_delta",
    "gdp_epsilon",
    "gdp_mu",
    "gram_noise_law",
    "gram_sensitivity",
    "open_account",
]
