"""The account of one fit, paid for by a ledger."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from publicmoments.privacy.account import Account
from publicmoments.privacy.budgets import GDP
from publicmoments.privacy.ledger.lines import Entry, LedgerError


class LedgerAccount(Account):
    """
    An `Account` whose total is charged to a ledger before the first noise; see `Ledger.account`.

    Use it in a ``with`` block: a block that ends well marks the charge as released, one that raises
    marks it as abandoned. Both count as spent.

    Parameters
    ----------
    total : GDP
        Everything the fit may reveal.
    charge_all : callable
        Charges the total to the ledger and returns the entry.
    close : callable
        Marks an entry as "released" or "abandoned" there, and returns it so marked.

    Notes
    -----
    **Releases.** Nothing; an account sees budgets only.

    **Assumes.** Checked here: the account stays in the process that opened it, because a forked
    copy would spend the same total again. Owed by the caller: that of `Account`.

    **Guarantee.** When `charge` returns, the whole total is durably in the ledger. All charges of
    the account compose to at most that total, within the 1e-12 of `Account`.

    **Why.** The first charge comes before the first noise, so that neither a crash nor a refusal
    can leave noise that was not paid for. Rows that turn out invalid before it cost nothing.

    **Numerics.** Those of `Account` within the total, and of `Ledger` for the total itself.

    Examples
    --------
    >>> import tempfile
    >>> from publicmoments.privacy import Ledger
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(f"{folder}/ledger.db")
    ...     with ledger.account("wine", GDP(5.0)) as account:
    ...         account.charge(GDP(3.0))
    ...     ledger.spent("wine"), ledger.entries("wine")[0].state
    (5.0, 'released')
    """

    def __init__(
        self, total: GDP, charge_all: Callable[[], Entry], close: Callable[[Entry, str], Entry]
    ) -> None:
        super().__init__(total)
        self._charge_all, self._close = charge_all, close
        self._entry: Entry | None = None
        self._process = os.getpid()
        self._first = threading.Lock()

    @property
    def entry(self) -> Entry | None:
        """The charge in the ledger; None before the first noise."""
        return self._entry

    def charge(self, cost: GDP) -> None:
        """Record a cost within the total, having charged the total to the ledger; or refuse it."""
        if os.getpid() != self._process:
            raise RuntimeError(
                "an account must be used by the process that opened it, got another one; open an "
                "account in each process"
            )
        # Held throughout: no second thread may draw noise before the ledger has been charged.
        with self._first:
            if self._entry is not None and self._entry.closed_by is not None:
                raise RuntimeError(
                    f"the account must be open, got one that is {self._entry.closed_by}; open "
                    "another one for another release"
                )
            super().charge(cost)
            if self._entry is None:
                self._entry = self._charge_all()

    def released(self) -> None:
        """Mark the charge as released; nothing more can be charged."""
        if self._entry is not None:
            self._entry = self._close(self._entry, "released")

    def abandoned(self) -> None:
        """Mark the charge as abandoned, which counts as spent; nothing more can be charged."""
        if self._entry is not None:
            self._entry = self._close(self._entry, "abandoned")

    def __enter__(self) -> LedgerAccount:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._entry is None or self._entry.closed_by is not None:
            return
        if kind is not None:
            # The error at hand says more; without the mark the charge shows as not released.
            with suppress(LedgerError):
                self.abandoned()
            return
        try:
            self.released()
        except LedgerError as failure:
            # The release has been paid for: losing it now would make the user pay twice.
            failed = str(failure).partition(";")[0]
            warnings.warn(
                f"the release is complete and charged, but could not be marked so: {failed}. It "
                f"shows as {self._entry.state!r}, which counts the same",
                RuntimeWarning,
                stacklevel=2,
            )
