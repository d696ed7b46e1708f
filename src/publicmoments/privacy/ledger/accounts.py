"""Opening the account of a fit, with a ledger or without."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias

from publicmoments.privacy.account import Account
from publicmoments.privacy.budgets import GDP, Budget

# It needs a library that is optional: `_store` imports it.
from publicmoments.privacy.ledger.book import Ledger

LedgerLike: TypeAlias = Ledger | str | os.PathLike[str] | None
"""A ledger, or where one is kept."""


def open_account(
    ledger: LedgerLike,
    dataset: str | None,
    total: GDP,
    *,
    stated: Budget,
    private: bool,
    extra_tv: float = 0.0,
    model: str = "",
    target: str = "",
) -> AbstractContextManager[Account]:
    """
    Open the account of a fit: paid for by a ledger where there is one, else in memory only.

    Parameters
    ----------
    ledger : Ledger, path, address or None
        Who pays; None for nobody.
    dataset : str or None
        For which dataset; needed with a ledger.
    total : GDP
        Everything the fit may reveal.
    stated : GDP, ApproxDP or ZCDP
        The budget in the words of the user.
    private : bool
        Whether the noise protects.
    extra_tv : float, optional
        How far all noise of the fit is from Gaussian, at most.
    model, target : str, optional
        What is fitted, and what it predicts.

    Returns
    -------
    context manager of Account

    Examples
    --------
    >>> with open_account(None, None, GDP(1.0), stated=GDP(1.0), private=True) as account:
    ...     account.charge(GDP(1.0))
    """
    if (ledger is None) != (dataset is None):
        given, missing = ("dataset", "ledger") if ledger is None else ("ledger", "dataset")
        raise ValueError(
            f"ledger and dataset must be given together, got {given} alone; pass {missing} as well"
        )
    if ledger is None or dataset is None:
        return nullcontext(Account(total))
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    return book.account(
        dataset,
        total,
        stated=stated,
        private=private,
        extra_tv=extra_tv,
        model=model,
        target=target,
    )
