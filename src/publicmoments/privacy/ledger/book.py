"""The ledger: caps, charges and what became of them, for every dataset of a user."""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from publicmoments.checks import nearest, non_negative, positive
from publicmoments.privacy.budgets import GDP, Budget
from publicmoments.privacy.ledger.guards import (
    announce,
    checked_budget,
    checked_name,
    checked_text,
    logged_in,
    refuse_excess,
)
from publicmoments.privacy.ledger.lines import (
    Cap,
    Entry,
    Event,
    History,
    cap_of,
    entry_of,
    replay,
    to_text,
)
from publicmoments.privacy.ledger.paying import LedgerAccount
from publicmoments.privacy.ledger.squares import allowed_square

# It needs a library that is optional: `_store` imports it.
if TYPE_CHECKING:
    from publicmoments.privacy.ledger.database import Page, Store


class Ledger:
    """
    Keep a durable account of what was spent on which dataset, and refuse what exceeds a cap.

    Parameters
    ----------
    location : str or path
        Path of a SQLite file on a local disk, or an address ``postgresql://user@host/database``.
        Keep passwords out of the address, in PostgreSQL's own password file: pickles hold it.
    busy_timeout : float, default=60.0
        Seconds to wait for other writers.
    create : bool, default=True
        Whether to make a ledger where there is none yet.
    new_datasets : bool, default=False
        Whether a charge may begin a dataset that the ledger does not know although it has caps. A
        name with a typing error would escape them, so this must be said; setting a cap says it too.
    who : str, optional
        Who spends, kept with every charge; the name of the user who is logged in by default.
    output : str, default=""
        Where results will be written, kept with every charge.

    Raises
    ------
    LedgerError
        If it cannot be used, is not a ledger, or has an unknown version.
    ImportError
        If SQLAlchemy, or psycopg for PostgreSQL, is not installed.

    Notes
    -----
    **Releases.** Nothing; a ledger sees budgets, notes and names only: of datasets, models,
    responses, users and files. Rows are not hashed either: a hash of private rows is a function of
    them. Datasets have the names that users give them.

    **Assumes.** Checked here: costs and caps are budgets; the database is a ledger that can be
    written. Owed by the caller: one dataset has one name, and rows that occur in two datasets are
    charged to both; each cost is that of Gaussian mechanisms of its ``mu``, as all releases of the
    library are; caps are chosen for public reasons; names and notes hold nothing private; the disk
    or the server keeps what it has confirmed.

    **Guarantee.** A charge is accepted only if it composes with all earlier ones of the dataset to
    at most the cap in force, for replacing one row: in zCDP exactly; in Gaussian DP up to the sum
    of the distances between discrete and Gaussian noise, which is kept beside; and for a cap stated
    as (epsilon, delta), these distances paid from its delta. While there is a cap, the total is so
    bounded by the highest one set. A charge is durable before any noise of it
    is drawn: a crash wastes budget and never under-counts it. Writers in other threads, processes
    and machines neither lose nor double a charge. Reproducible runs are charged as well,
    because the rows were used and the results may have steered later choices, but their entries
    claim no privacy: no cap bounds what they reveal once they are published.

    **Why.** Gaussian mechanisms compose to the root of the sum of their mu^2, also when each is
    chosen with knowledge of the outputs before it, as long as the total is fixed in advance
    (Dong, Roth and Su 2022; Smith and Thakurta 2022). Hence the highest cap and not the amount
    spent is the guarantee where costs are chosen adaptively; lowering a cap stops further spending
    and does not make the past more private. Distances in total variation add up (see
    `publicmoments.privacy.laws.extra_delta`); a charge that an earlier version made does not
    tell its own, and an (epsilon, delta) cap then allows nothing more.

    **Numerics.** Costs are stored digit for digit. Their squares are exact fractions, are added up
    exactly and compared with the exact square of the cap (2 rho for zCDP), with no tolerance: under
    a cap of 1, what 0.6 leaves is a bit less than the float 0.8, which is above 4/5. Only what is
    shown is rounded: `spent` up, `remaining` down. The order of events is that of their numbers,
    given under the writers' lock; clocks may go backwards.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(f"{folder.name}/ledger.db")
    >>> _ = ledger.cap("wine", GDP(5.0))
    >>> entry = ledger.charge("wine", GDP(3.0), note="first fit")
    >>> ledger.spent("wine"), ledger.remaining("wine"), entry.state
    (3.0, 4.0, 'charged, not released')
    >>> ledger.released(entry).state
    'released'
    >>> folder.cleanup()
    """

    def __init__(
        self,
        location: str | os.PathLike[str],
        *,
        busy_timeout: float = 60.0,
        create: bool = True,
        new_datasets: bool = False,
        who: str | None = None,
        output: str = "",
    ) -> None:
        self._store = _store(location, positive("busy_timeout", busy_timeout, "pass seconds"))
        self._new_datasets = bool(new_datasets)
        self._who = checked_text("who", logged_in() if who is None else who)
        self._output = checked_text("output", output)
        self._store.prepare(create)

    def cap(self, dataset: str, budget: Budget, *, note: str = "") -> Cap:
        """
        Set the most that may ever be spent on a dataset; the latest cap holds, all are kept.

        Parameters
        ----------
        dataset : str
            Name of the dataset.
        budget : GDP, ApproxDP or ZCDP
            The cap.
        note : str, optional
            Who decided, and why.

        Returns
        -------
        Cap

        Examples
        --------
        >>> import tempfile
        >>> from publicmoments.privacy import ZCDP
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Ledger(f"{folder}/ledger.db").cap("wine", ZCDP(0.5)).mu
        1.0
        """
        square = str(allowed_square(checked_budget("budget", budget)))
        with self._store.adding(checked_name(dataset)) as page:
            event = page.add(
                "cap",
                checked_text("note", note),
                mu=budget.mu.hex(),
                mu_squared=square,
                stated=repr(budget),
                cap_squared=square,
            )
        return cap_of(event)

    def charge(
        self,
        dataset: str,
        cost: Budget,
        *,
        note: str = "",
        stated: Budget | None = None,
        private: bool = True,
        extra_tv: float = 0.0,
        model: str = "",
        target: str = "",
    ) -> Entry:
        """
        Charge a dataset, durably, or refuse. Call this before drawing any noise.

        Parameters
        ----------
        dataset : str
            Name of the dataset; one that is new begins here, without a cap, which is announced.
        cost : GDP, ApproxDP or ZCDP
            What is to be released, converted by ``to_gdp``.
        note : str, optional
            What it is for.
        stated : GDP, ApproxDP or ZCDP, optional
            The budget in the words of the user, where ``cost`` was derived from it.
        private : bool, default=True
            False for reproducible noise. It is charged all the same, and claims no privacy.
        extra_tv : float, default=0.0
            How far the noise is from Gaussian in total variation, at most; a card has it too.
        model, target : str, optional
            What is fitted or released, and what it predicts.

        Returns
        -------
        Entry
            To be passed to `released` or `abandoned`.

        Raises
        ------
        BudgetExceeded
            If it does not fit under the cap; nothing has been spent.
        ValueError
            If the ledger has caps and does not know the dataset; see ``new_datasets``.
        LedgerError
            If it could not be written; nothing may be released.

        Notes
        -----
        **Releases, Assumes, Numerics.** As for the ledger as a whole.

        **Guarantee.** When this returns, the charge is on the disk, and every later charge and
        reading counts it. When it raises, at worst a charge counts that was not used.

        **Why.** Comparing with the cap and adding the line are one transaction that one writer at a
        time is in. SQLite: ``BEGIN IMMEDIATE``, a write-ahead log and ``synchronous=FULL``.
        PostgreSQL: a lock for each dataset, at READ COMMITTED, so that what is read under the lock
        is all that was committed before. The numbers of the lines are unique in the database, so
        that two writers cannot follow the same line even without the lock.

        Examples
        --------
        >>> import tempfile
        >>> from publicmoments.privacy import ApproxDP
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = Ledger(f"{folder}/ledger.db")
        ...     ledger.charge("wine", ApproxDP(1.0, delta=1e-6)).stated
        'ApproxDP(epsilon=1.0, delta=1e-06)'
        """
        name = checked_name(dataset)
        with self._store.looking(name) as page:
            new = self._is_new(page)
        entry = self._charge(
            name,
            cost,
            stated=stated,
            private=private,
            note=note,
            extra_tv=extra_tv,
            model=model,
            target=target,
        )
        if new:
            announce(name)
        return entry

    def _charge(
        self,
        dataset: str,
        cost: Budget,
        *,
        stated: Budget | None,
        private: bool,
        note: str,
        extra_tv: float,
        model: str,
        target: str,
    ) -> Entry:
        """Charge, or refuse; a dataset that begins has been announced before."""
        mu = checked_budget("cost", cost).to_gdp().mu
        stated = cost if stated is None else checked_budget("stated", stated)
        square, extra_tv = Fraction(mu) ** 2, non_negative("extra_tv", extra_tv)
        with self._store.adding(dataset) as page:
            self._is_new(page)
            standing = page.standing
            refuse_excess(mu, extra_tv, page.dataset, standing)
            extra = None if standing.extra is None else standing.extra + Fraction(extra_tv)
            event = page.add(
                "charged",
                checked_text("note", note),
                mu=mu.hex(),
                mu_squared=str(square),
                stated=repr(stated),
                private=bool(private),
                spent_squared=str(square + standing.spent),
                extra_tv=extra_tv.hex(),
                extra_sum=None if extra is None else str(extra),
                model=checked_text("model", model),
                target=checked_text("target", target),
                who=self._who,
                output=self._output,
            )
        return entry_of(event)

    def _ended(self, entry: Entry, how: str) -> Entry:
        """Close the charge of an account."""
        return self.released(entry) if how == "released" else self.abandoned(entry)

    def released(self, entry: Entry) -> Entry:
        """Note that a charged release is complete: "released", or "finished" if not private."""
        return self._close(entry, "released" if entry.private else "finished")

    def abandoned(self, entry: Entry) -> Entry:
        """Note that a charged release was given up; it counts as spent: noise may be known."""
        return self._close(entry, "abandoned")

    def account(
        self,
        dataset: str,
        total: GDP,
        *,
        note: str = "",
        stated: Budget | None = None,
        private: bool = True,
        extra_tv: float = 0.0,
        model: str = "",
        target: str = "",
    ) -> LedgerAccount:
        """
        Open the account of one fit, whose total is charged here before its first noise.

        Parameters
        ----------
        dataset : str
            Name of the dataset.
        total : GDP
            Everything the fit may reveal.
        note, stated, private, extra_tv, model, target
            As in `charge`.

        Returns
        -------
        LedgerAccount
            To be used in a ``with`` block. Nothing is charged before its first ``charge``.

        Raises
        ------
        BudgetExceeded
            If the total does not fit now. It is compared again when it is charged.
        ValueError
            As in `charge`.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     account = Ledger(f"{folder}/ledger.db").account("wine", GDP(1.0))
        ...     account.remaining
        1.0
        """
        name, note = checked_name(dataset), checked_text("note", note)
        stated = total if stated is None else checked_budget("stated", stated)
        charge_all = partial(
            self._charge,
            name,
            total,
            stated=stated,
            private=private,
            note=note,
            extra_tv=extra_tv,
            model=checked_text("model", model),
            target=checked_text("target", target),
        )
        account = LedgerAccount(total, charge_all, self._ended)
        with self._store.looking(name) as page:
            new = self._is_new(page)
            refuse_excess(total.mu, extra_tv, name, page.standing)
        if new:
            announce(name)
        return account

    def spent(self, dataset: str) -> float:
        """Everything charged to a dataset, as mu, rounded up; 0.0 for one that is unknown."""
        return self._history(dataset).spent

    def remaining(self, dataset: str) -> float:
        """The largest charge that would fit, as mu, rounded down; inf without a cap."""
        return self._history(dataset).remaining

    def extra_tv(self, dataset: str) -> float | None:
        """How far all noise about a dataset is from Gaussian, at most; None if not all is known."""
        return self._history(dataset).extra_tv

    def entries(self, dataset: str) -> tuple[Entry, ...]:
        """All charges of a dataset, in order, with what became of them."""
        return self._history(dataset).entries

    def caps(self, dataset: str) -> tuple[Cap, ...]:
        """All caps of a dataset, in order; the last one holds."""
        return self._history(dataset).caps

    def datasets(self) -> tuple[str, ...]:
        """Names of all datasets that have a cap or a charge, sorted."""
        return tuple(sorted(self._store.datasets()))

    def export(self, form: Literal["json", "csv"] = "json", *, dataset: str | None = None) -> str:
        """
        Return all that is recorded, as text.

        Parameters
        ----------
        form : {"json", "csv"}, default="json"
            Entries and caps of each dataset as JSON, or the lines as they are stored as CSV.
        dataset : str, optional
            One dataset instead of all.

        Returns
        -------
        str

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print(Ledger(f"{folder}/ledger.db").export("csv").splitlines()[0][:26])
        dataset,number,event,close
        """
        if form not in ("json", "csv"):
            raise ValueError(f'form must be "json" or "csv", got form={form!r}')
        events = self._store.events(None if dataset is None else checked_name(dataset))
        lines: dict[str, list[Event]] = {}
        for event in events:
            lines.setdefault(event.dataset, []).append(event)
        return to_text({name: replay(page) for name, page in lines.items()}, events, form)

    def _is_new(self, page: Page) -> bool:
        """Whether a dataset begins here without a cap; refused where others have one."""
        if page.last is not None:
            return False
        if self._new_datasets:
            return False
        if page.others_are_capped():
            raise ValueError(
                "dataset must be one that the ledger knows, since it has caps, got "
                f"dataset={page.dataset!r}; to begin one, set a cap with Ledger.cap, or pass "
                f"new_datasets=True to the ledger{nearest(page.dataset, page.others())}"
            )
        return True

    def _history(self, dataset: str) -> History:
        """Replay the lines of a dataset."""
        return replay(self._store.events(checked_name(dataset)))

    def _close(self, entry: Entry, event: str) -> Entry:
        """Add the end of a charge, once."""
        with self._store.adding(checked_name(entry.dataset)) as page:
            lines = page.about(entry.number)
            if not lines or entry_of(lines[0]) != replace(entry, closed_by=None, closed_at=None):
                raise ValueError(
                    f"entry must be a charge of this ledger, got number {entry.number} of dataset "
                    f"{entry.dataset!r}; pass what charge returned"
                )
            if len(lines) > 1:
                raise ValueError(
                    f"entry must be open, got one that is {lines[1].event}; a charge is closed once"
                )
            line = page.add(event, "", closes=entry.number)
        return replace(entry, closed_by=event, closed_at=line.at)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle as the location: a ledger holds no connection."""
        kept = {name: value for name, value in self.__dict__.items() if name != "_store"}
        return _reopened, (self._store.location, self._store.busy_timeout, kept)

    def __repr__(self) -> str:
        """Show where it is, without any password."""
        return f"Ledger({self._store.name!r})"


def _store(location: str | os.PathLike[str], busy_timeout: float) -> Store:
    """Import the database side, or say how to get it."""
    try:
        from publicmoments.privacy.ledger.database import Store, located
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "sqlalchemy":
            raise
        raise ImportError(
            "a ledger needs SQLAlchemy; install it with pip install 'publicmoments[ledger]', or "
            "'publicmoments[ledger,postgres]' for PostgreSQL"
        ) from error
    return Store(located(location), busy_timeout)


def _reopened(location: str, busy_timeout: float, kept: dict[str, Any]) -> Ledger:
    """Restore a ledger that was open elsewhere, without looking at it again."""
    ledger = Ledger.__new__(Ledger)
    ledger.__dict__.update(kept)
    ledger._store = _store(location, busy_timeout)
    return ledger
