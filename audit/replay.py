"""
Record and replay: two neighbours, and the noisy outputs of the first handed to the second.

Whatever a fit does is a function of public inputs and of what it was released. With the outputs of
one run replayed in another, every query, bound, noise law and charge must be the same, whatever the
rows; and every exact sum may differ by no more than its declared sensitivity. This sees a wrong
sensitivity and a decision that was taken by looking at rows, which no game of few runs can.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from audit.listening import chain, heard
from publicmoments.privacy import Account
from publicmoments.privacy.unit import ONE_ROW
from publicmoments.session import door, queries
from publicmoments.session.queries import Query

__all__ = ["Asked", "Run", "differences", "recorded"]


LONGEST = 600
"""Characters of texts that are quoted where they differ."""


@dataclass(frozen=True, eq=False)
class Asked:
    """
    One query as the door saw it.

    ``public`` is all of it that must not depend on rows, ``bound`` the largest squared change of
    the exact sum that the noise was made for, ``exact`` the sum itself and ``noisy`` what came out.
    """

    public: bytes
    bound: Fraction
    exact: NDArray[np.int64] = field(repr=False)
    noisy: NDArray[np.int64] = field(repr=False)


@dataclass(eq=False)
class Run:
    """Everything that a run asked, charged and told."""

    asked: list[Asked] = field(default_factory=list)
    charges: list[str] = field(default_factory=list)
    told: dict[str, Any] = field(default_factory=dict)


def recorded(act: Callable[[], dict[str, Any]], replayed: Run | None = None) -> Run:
    """
    Run something and note what passes the door; with another run, its outputs pass again.

    What is run returns all that can be seen of it; warnings, logs, streams and errors are added.
    """
    run = Run()
    with heard(services=False) as hearing, _door(run, replayed):
        try:
            run.told |= act()
        except Exception as error:
            run.told["error"] = chain(error)
    run.told |= hearing()
    return run


def differences(first: Run, second: Run) -> list[str]:
    """What two runs with the same outputs differ in, in words; nothing, if all is well."""
    names = sorted({*first.told, *second.told})
    found = [
        f"{name} differ{_quoted(first.told.get(name), second.told.get(name))}"
        for name in names
        if first.told.get(name) != second.told.get(name)
    ]
    if first.charges != second.charges:
        found.append("charges differ")
    if len(first.asked) != len(second.asked):
        found.append(f"{len(first.asked)} and {len(second.asked)} queries were asked")
    for place, (one, other) in enumerate(zip(first.asked, second.asked, strict=False), 1):
        if one.public != other.public:
            found.append(f"query {place} has other public numbers")
        elif _squared(one.exact - other.exact) > one.bound:
            found.append(f"the exact sum of query {place} moved by more than its sensitivity")
    return found


def _quoted(one: Any, other: Any) -> str:
    """Two texts, if they are short: what was heard says more than that it was."""
    texts = [repr(text) for text in (one, other) if isinstance(text, str | list)]
    return f": {' and '.join(texts)}" if texts and sum(map(len, texts)) < LONGEST else ""


def _squared(change: NDArray[np.int64]) -> int:
    """Squared length of a change, as an integer."""
    return sum(int(entry) ** 2 for entry in change.ravel())


@contextmanager
def _door(run: Run, replayed: Run | None) -> Iterator[None]:
    """Watch the door; every noisy output of a replayed run passes again in its place."""
    release, charge = door.release, Account.charge
    adding = {"gram": queries.add_gram_noise, "vector": queries.add_vector_noise}
    at_the_door: list[Any] = []

    def noisy(kind: str) -> Callable[..., Any]:
        def add(exact: Any, law: Any, source: Any) -> Any:
            (public, bound), place = at_the_door.pop(), len(run.asked)
            again = replayed is not None and place < len(replayed.asked)
            out = replayed.asked[place].noisy if again else adding[kind](exact, law, source)
            run.asked.append(Asked(public + pickle.dumps(law), bound, np.array(exact), out))
            return out

        return add

    def asked(query: Query, exact: Any, cost: Any, *rest: Any) -> Any:
        at_the_door.append((_public(query, cost), query.squared_change(ONE_ROW)))
        return release(query, exact, cost, *rest)

    def charged(self: Account, cost: Any) -> None:
        charge(self, cost)
        run.charges.append(f"{cost!r} after {len(run.asked)} queries")

    with (
        patch.object(door, "release", asked),
        patch.object(queries, "add_gram_noise", noisy("gram")),
        patch.object(queries, "add_vector_noise", noisy("vector")),
        patch.object(Account, "charge", charged),
    ):
        yield


def _public(query: Query, cost: Any) -> bytes:
    """All numbers of a query that the observer may know."""
    recipe: Any = query.recipe
    fields = {name: getattr(recipe, name) for name in recipe.__dataclass_fields__}
    kinds = type(query).__name__, type(recipe).__name__, query.statistic
    return pickle.dumps((kinds, sorted(fields.items()), cost))
