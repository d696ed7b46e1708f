"""Lines of a ledger: what they mean, and how they are read back."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from typing import Any

from publicmoments.privacy.budgets import GDP, ZCDP, ApproxDP, Budget
from publicmoments.privacy.ledger.squares import allowed_square, room, root_above
from publicmoments.privacy.rounding import float_above

SCHEMA_VERSION = 2
"""Version of the tables and of the meaning of their columns."""

_STATED = re.compile(r"(?P<kind>GDP|ApproxDP|ZCDP)\((?P<numbers>.*)\)")

OPEN = "charged, not released"
PRIVATE, REPRODUCIBLE = "private", "reproducible, claims no privacy"


class LedgerError(OSError):
    """
    The ledger cannot be read or written, or is not a ledger; no noise has been drawn.

    Examples
    --------
    >>> from publicmoments.privacy import Ledger
    >>> Ledger("no/such/folder/ledger.db")
    Traceback (most recent call last):
        ...
    publicmoments.privacy.ledger.lines.LedgerError: the folder of the ledger must exist, ...
    """


@dataclass(frozen=True, slots=True)
class Event:
    """
    One line as it is stored; lines are added and never changed.

    Parameters
    ----------
    dataset : str
        Whose line it is.
    number : int
        1, 2, 3, ... within the dataset: the order of events, whatever the clock says.
    event : str
        "cap", "charged", "released", "finished" or "abandoned".
    closes : int or None
        Number of the charge that the last three refer to.
    at : str
        UTC by the system clock.
    mu : str or None
        Cost or cap, as the hexadecimal digits of the float.
    mu_squared : str or None
        What the cost adds, or the most that the cap allows, as an exact fraction.
    stated : str or None
        Cost or cap in the words of the user.
    private : bool or None
        Of a charge: whether the noise protects.
    note : str
        Anything the user wants to remember.
    spent_squared : str
        Exact sum of ``mu_squared`` over all charges so far, this one included.
    cap_squared : str or None
        The cap in force after this line, the extra distances left aside.
    extra_tv : str or None
        Of a charge: how far its noise is from Gaussian, as the hexadecimal digits of the float.
    extra_sum : str or None
        Exact sum of ``extra_tv`` over all charges so far; None where one of them is not known.
    model, target, who, output : str or None
        Of a charge: see `Purpose`.
    """

    dataset: str
    number: int
    event: str
    closes: int | None
    at: str
    mu: str | None
    mu_squared: str | None
    stated: str | None
    private: bool | None
    note: str
    spent_squared: str
    cap_squared: str | None
    extra_tv: str | None = None
    extra_sum: str | None = None
    model: str | None = None
    target: str | None = None
    who: str | None = None
    output: str | None = None

    @property
    def spent(self) -> Fraction:
        """Sum of squared mu after this line."""
        return Fraction(self.spent_squared)

    @property
    def cap(self) -> Fraction | None:
        """Most that the sum may be after this line; None for no cap."""
        return None if self.cap_squared is None else Fraction(self.cap_squared)

    @property
    def extra(self) -> Fraction | None:
        """Sum of extra distances after this line; None where it is not known."""
        if self.extra_sum is None:
            return None if self.spent else Fraction(0)
        return Fraction(self.extra_sum)


@dataclass(frozen=True, slots=True)
class Purpose:
    """
    What a charge is for, in public words.

    Parameters
    ----------
    model : str
        What was fitted or released.
    target : str
        What it predicts, where that has a name.
    who : str
        Who ran it.
    output : str
        Where the result was to be written.
    """

    model: str = ""
    target: str = ""
    who: str = ""
    output: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """
    What is spent on a dataset, and what its cap is.

    Parameters
    ----------
    spent : Fraction
        Sum of squared mu.
    extra : Fraction or None
        Sum of extra distances; None where charges of an earlier version do not tell theirs.
    cap : GDP, ApproxDP, ZCDP or None
        The cap in force.
    """

    spent: Fraction = Fraction(0)
    extra: Fraction | None = Fraction(0)
    cap: Budget | None = None

    def allowed(self, more: float = 0.0) -> Fraction | None:
        """Most that the sum of squares may be once so much distance is added; None for no cap."""
        if self.cap is None:
            return None
        return allowed_square(self.cap, _plus(self.extra, Fraction(more)))


@dataclass(frozen=True, slots=True)
class Entry:
    """
    A charge, and what became of it.

    Parameters
    ----------
    dataset : str
        What was charged.
    number : int
        Its place in the history of the dataset.
    at : str
        When, in UTC by the system clock; the order is that of the numbers.
    mu : float
        Cost in Gaussian DP.
    stated : str
        Cost in the words of the user.
    private : bool
        False for reproducible noise, which claims no privacy.
    note : str
        What the user wanted to remember.
    extra_tv : float or None
        How far the noise is from Gaussian, at most; None where an earlier version did not keep it.
    purpose : Purpose
        What the charge is for.
    closed_by : str or None
        "released"; "finished" where no privacy is claimed; "abandoned" after an error; None where
        nothing is known of the end, as after a crash.
    closed_at : str or None
        When it was closed.

    Examples
    --------
    >>> Entry("wine", 1, "2026-01-01T00:00:00+00:00", 0.5, "GDP(mu=0.5)", True).state
    'charged, not released'
    """

    dataset: str
    number: int
    at: str
    mu: float
    stated: str
    private: bool
    note: str = ""
    extra_tv: float | None = 0.0
    purpose: Purpose = Purpose()
    closed_by: str | None = None
    closed_at: str | None = None

    @property
    def state(self) -> str:
        """How far it got; every state counts as spent."""
        return OPEN if self.closed_by is None else self.closed_by

    @property
    def kind(self) -> str:
        """Whether the noise protects."""
        return PRIVATE if self.private else REPRODUCIBLE


@dataclass(frozen=True, slots=True)
class Cap:
    """
    A cap that is or was in force.

    Parameters
    ----------
    dataset, number, at, mu, stated, note
        As in `Entry`.

    Examples
    --------
    >>> Cap("wine", 1, "2026-01-01T00:00:00+00:00", 1.0, "ZCDP(rho=0.5)").stated
    'ZCDP(rho=0.5)'
    """

    dataset: str
    number: int
    at: str
    mu: float
    stated: str
    note: str = ""


@dataclass(frozen=True)
class History:
    """What the lines of one dataset come to."""

    entries: tuple[Entry, ...] = ()
    caps: tuple[Cap, ...] = ()
    standing: Standing = Standing()

    @property
    def spent(self) -> float:
        """Everything charged, as mu, rounded up."""
        return root_above(self.standing.spent)

    @property
    def extra_tv(self) -> float | None:
        """How far all noise together is from Gaussian, rounded up; None where it is not known."""
        extra = self.standing.extra
        return None if extra is None else float_above(extra)

    @property
    def remaining(self) -> float:
        """The largest charge that still fits, as mu; inf without a cap."""
        return room(self.standing.spent, self.standing.allowed())


def replay(events: Iterable[Event]) -> History:
    """Add up the lines of one dataset afresh, and refuse lines that do not follow from others."""
    entries: dict[int, Entry] = {}
    caps: list[Cap] = []
    spent, cap, stated = Fraction(0), None, None
    extra: Fraction | None = Fraction(0)
    for place, event in enumerate(events, start=1):
        try:
            if event.event == "charged":
                entries[event.number] = entry = entry_of(event)
                spent += _checked_square(event)
                extra = _plus(extra, None if entry.extra_tv is None else Fraction(entry.extra_tv))
            elif event.event == "cap":
                caps.append(cap_of(event))
                cap, stated = Fraction(str(event.mu_squared)), budget_of(event)
            else:
                entries[int(str(event.closes))] = _closed(entries[int(str(event.closes))], event)
            found = event.number, event.spent, event.cap, event.extra
            sound = found == (place, spent, cap, extra)
        except (ArithmeticError, KeyError, TypeError, ValueError):
            sound = False
        if not sound:
            raise LedgerError(
                f"line {place} of dataset {event.dataset!r} does not follow from the lines before "
                "it: the ledger has been damaged or changed by hand; restore it from a copy"
            )
    return History(tuple(entries.values()), tuple(caps), Standing(spent, extra, stated))


def to_text(histories: dict[str, History], events: Sequence[Event], form: str) -> str:
    """Write everything as JSON, or line by line as CSV."""
    if form == "csv":
        return _csv(events)
    datasets = [
        {
            "dataset": name,
            "spent_mu": _finite(history.spent),
            "remaining_mu": _finite(history.remaining),
            "extra_tv": history.extra_tv,
            "caps": [asdict(cap) for cap in history.caps],
            "entries": [
                asdict(entry) | {"state": entry.state, "kind": entry.kind}
                for entry in history.entries
            ],
        }
        for name, history in histories.items()
    ]
    document = {"format": "publicmoments ledger", "version": SCHEMA_VERSION, "datasets": datasets}
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _finite(mu: float) -> float | None:
    """JSON has no infinity: null stands for it."""
    return mu if math.isfinite(mu) else None


def _csv(events: Sequence[Event]) -> str:
    """One line for each line of the ledger, under the names of its columns."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Event)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(event) for event in events)
    return text.getvalue()


def entry_of(event: Event) -> Entry:
    """Read a charge."""
    words = {name: getattr(event, name) or "" for name in ("model", "target", "who", "output")}
    extra_tv = None if event.extra_tv is None else float.fromhex(event.extra_tv)
    return Entry(
        **_shared(event),
        private=bool(event.private),
        extra_tv=extra_tv,
        purpose=Purpose(**words),
    )


def budget_of(event: Event) -> Budget:
    """Read the budget of a line from the words in which it was stated."""
    match = _STATED.fullmatch(str(event.stated))
    if match is None:
        raise ValueError("not a budget")
    pairs = (pair.partition("=") for pair in match["numbers"].split(", "))
    numbers = [float(number) for _, _, number in pairs]
    budget: Budget = {"GDP": GDP, "ApproxDP": ApproxDP, "ZCDP": ZCDP}[match["kind"]](*numbers)
    return budget


def cap_of(event: Event) -> Cap:
    """Read a cap."""
    return Cap(**_shared(event))


def _plus(extra: Fraction | None, more: Fraction | None) -> Fraction | None:
    """Add distances; with one that is not known the sum is not known."""
    return None if extra is None or more is None else extra + more


def _closed(entry: Entry, event: Event) -> Entry:
    """Put the end of a charge on its entry; a charge ends once."""
    if entry.closed_by is not None:
        raise ValueError("closed twice")
    return replace(entry, closed_by=event.event, closed_at=event.at)


def _shared(event: Event) -> dict[str, Any]:
    """Fields that charges and caps have in common."""
    return {
        "dataset": event.dataset,
        "number": event.number,
        "at": event.at,
        "mu": _mu(event),
        "stated": str(event.stated),
        "note": event.note,
    }


def _checked_square(event: Event) -> Fraction:
    """What a charge adds, which must be the square of its mu."""
    square = Fraction(str(event.mu_squared))
    if square != Fraction(_mu(event)) ** 2:
        raise ValueError("not the square")
    return square


def _mu(event: Event) -> float:
    """The float, digit for digit."""
    return float.fromhex(str(event.mu))
