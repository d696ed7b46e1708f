"""
The taint check: with fixed releases, nothing that can be seen of a fit depends on the rows.

Every release is replaced by a fixed one, so that fits to different tables must agree in every bit
of what they tell. Whatever differs got around the door.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.cases import N_FEATURES, Case, table_for
from audit.door import fixed_releases
from audit.listening import heard

__all__ = ["Taint", "everything_told", "examine", "hostile_tables", "shown"]

N_ROWS = 200
SENTINEL = 31337.125


@dataclass(frozen=True)
class Taint:
    """Outcome for one case: how many things were compared, and which of them differed."""

    name: str
    compared: int
    different: tuple[str, ...]
    sums_differed: bool

    @property
    def sound(self) -> bool:
        """Whether the tables differed and nothing told so."""
        return self.sums_differed and not self.different


def examine(case: Case, **parameters: Any) -> Taint:
    """Compare fits to ordinary, neighbouring and strange tables."""
    told, sums = [], []
    for table in hostile_tables(case):
        with fixed_releases() as kept:
            told.append(everything_told(case, *table, **parameters))
        sums.append(kept[0])
    names = sorted(set().union(*told))
    missing = object()
    different = tuple(
        name for name in names if any(one.get(name, missing) != told[0].get(name) for one in told)
    )
    differed = all(not np.array_equal(sums[0], other) for other in sums[1:])
    return Taint(case.name, len(names), different, differed)


def hostile_tables(case: Case) -> list[tuple[Any, Any]]:
    """Return an ordinary table, a neighbour, one of another world, and zeros."""
    X, y = table_for(case, n_rows=N_ROWS)
    neighbour = X.copy()
    neighbour[7] = SENTINEL
    rng = np.random.default_rng(8)
    strange = 1e3 * rng.standard_cauchy(size=(N_ROWS, N_FEATURES)) + 5e4
    strange[:, 1] = 7.0
    strange[3], strange[4, 0], strange[5, 1] = np.nan, np.inf, 1e300
    one_response = np.full(N_ROWS, case.responses[-1])
    return [(X, y), (neighbour, y), (strange, one_response), (np.zeros_like(X), y)]


def everything_told(case: Case, X: Any, y: Any, **parameters: Any) -> dict[str, Any]:
    """All that can be seen of a fit: attributes, texts, readings, warnings, logs and streams."""
    with heard() as hearing:
        told = shown(case.fit(X, y, on_invalid="ignore", **parameters))
    return told | hearing()


def shown(fitted: Any) -> dict[str, Any]:
    """All that a fitted object shows: readings, an error, its file, its texts, its attributes."""
    told = _readings(fitted)
    told["error of a misuse"] = _misuse(fitted)
    told |= {"file": pickle.dumps(fitted), "repr": repr(fitted), "str": str(fitted)}
    return told | {f"attribute {name}": pickle.dumps(value) for name, value in _attributes(fitted)}


def _attributes(fitted: Any) -> list[tuple[str, Any]]:
    """Everything that hangs on an object, parameters included."""
    own = vars(fitted) if hasattr(fitted, "__dict__") else {}
    return sorted(own.items())


def _readings(fitted: Any) -> dict[str, Any]:
    """What the methods of a fitted object return."""
    card = fitted.card if hasattr(fitted, "card") else fitted.card_
    told = {"card": str(card), "card repr": repr(card), "card JSON": card.to_json()}
    for name, arguments in (
        ("summary", ()),
        ("conf_int", ()),
        ("predict_interval", (np.ones((2, N_FEATURES)),)),
        ("predict", (np.ones((2, N_FEATURES)),)),
        ("predict_proba", (np.ones((2, N_FEATURES)),)),
        ("ridge", (0,)),
        ("principal_components", ()),
    ):
        if hasattr(fitted, name):
            try:
                value = getattr(fitted, name)(*arguments)
            except ValueError as refusal:
                # Such as standard errors after a selection of columns.
                value = refusal
            told[name] = str(value) + repr(value)
    if hasattr(fitted, "diagnostics"):
        told["diagnostics"] = repr(fitted.diagnostics)
    return told


def _misuse(fitted: Any) -> str:
    """Text of the error that a wrong question raises."""
    method = getattr(fitted, "predict", None) or getattr(fitted, "ridge", None)
    try:
        method(np.ones((2, N_FEATURES + 3)))
    except Exception as error:
        return repr(error)
    return ""
