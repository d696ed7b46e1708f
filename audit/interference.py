"""
Non-interference: what a row becomes, and all that is told, does not depend on other rows' cells.

*Rows*: in every form of table, one cell is replaced by a hostile one. The sum of integers, of
products, gradients or counts, must move by the same amount in whatever company the row stands, by
no more than its sensitivity, and without a word. *Fits*: a hostile row is put into a table, and the
fit to it is replayed with the releases of a fit to the ordinary table: see `audit.replay`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import array_api_strict
import dask
import numpy as np

from audit.cases import CASES, Case, table_for
from audit.forms import CANARY, FORMS, LABEL_FORMS, Form, LabelForm, ordinary
from audit.listening import chain, heard
from audit.replay import Run, differences, recorded
from audit.taint import shown
from publicmoments.data import as_labels, as_table, by_name, no_columns
from publicmoments.engines.dispatch import exact_sum
from publicmoments.evidence.tails import signed_edges
from publicmoments.families import Bernoulli
from publicmoments.families.factors import Ones, Slope
from publicmoments.rows.private_rows import PrivateRows
from publicmoments.rows.recipe import CountRecipe, Factor, GramRecipe, TotalRecipe

__all__ = ["Outcome", "fits", "labels", "rows"]

N_ROWS = 20
KINDS = (False, True)
"""Whether rows are counted, or summed."""

PLACES = (0, 11, N_ROWS - 1)
EXTREMES = (np.nan, np.inf, 1e300, -1.7e308, 5e-324, 31337.125)


@dataclass(frozen=True)
class Outcome:
    """What was tried of one form or one estimator, and what went wrong."""

    name: str
    tried: int
    failures: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether something was tried and nothing went wrong."""
        return self.tried > 0 and not self.failures


def rows(name: str, places: Sequence[int] = PLACES) -> Outcome:
    """Replace cells of features, in one form of table."""
    form = FORMS[name]
    bases = [ordinary(N_ROWS, form.whole, seed) for seed in (3, 4)]
    gap = next((cell for cell in form.cells if cell is None), form.cells[0])
    bases.append({key: [*cells] for key, cells in bases[0].items()})
    bases[-1]["b"][5] = gap
    return _together(
        _examined(name, _Cells(form, bases, counted), form.cells, places) for counted in KINDS
    )


def labels(name: str, places: Sequence[int] = PLACES) -> Outcome:
    """Replace labels, in one form of vector."""
    form = LABEL_FORMS[name]
    rng = np.random.default_rng(6)
    bases = [[form.classes[k] for k in rng.integers(0, 2, N_ROWS)] for _ in range(2)]
    # The only missing label, or one of many.
    bases.append([form.cells[0] if k % 3 == 1 else one for k, one in enumerate(bases[0])])
    return _together(
        _examined(name, _LabelCells(form, bases, counted), form.cells, places) for counted in KINDS
    )


def _together(outcomes: Iterable[Outcome]) -> Outcome:
    """One outcome of several."""
    both = list(outcomes)
    failures = tuple(words for outcome in both for words in outcome.failures)
    return Outcome(both[0].name, sum(outcome.tried for outcome in both), failures)


def _counts(p: int, factor: Factor) -> CountRecipe:
    """Counts of influences, as fits write them."""
    return CountRecipe(
        np.eye(p),
        np.zeros((p, 1)),
        factor,
        math.inf,
        1.0,
        N_ROWS,
        whole_predictor=True,
        edges=signed_edges(2.0, 2),
        influence=True,
    )


@dataclass(frozen=True)
class _Cells:
    """Tables of features that differ in one cell."""

    form: Form
    bases: list[dict[str, list[Any]]]
    counted: bool

    def total(self, base: dict[str, list[Any]], place: int, *cell: Any) -> Any:
        """Exact sum over a table, whose row at a place is a given one, the cell in it if any."""
        columns = {key: [*cells] for key, cells in base.items()}
        columns["a"][place], columns["b"][place] = 1, 0
        if cell:
            columns["a"][place] = cell[0]
        (table,) = by_name(self.form.table(columns), None, what="rows")
        features = as_table(table, "rows")
        private = PrivateRows(features, no_columns(features), True, True)
        p = private.n_design
        if self.counted:
            counts = _counts(p, Ones())
            return exact_sum(private, counts), 2 * counts.mark**2
        recipe = GramRecipe(np.eye(p), np.zeros((p, 1)), Ones(), 4.0, 4.0, N_ROWS)
        return exact_sum(private, recipe), 2 * recipe.l2_bound_squared**2


@dataclass(frozen=True)
class _LabelCells:
    """Tables whose labels differ in one cell."""

    form: LabelForm
    bases: list[list[Any]]
    counted: bool

    def total(self, base: list[Any], place: int, *cell: Any) -> Any:
        """Exact sum over a table, whose label at a place is the first class, or a given one."""
        cells = [*base]
        cells[place] = cell[0] if cell else self.form.classes[0]
        features = as_table(np.arange(2.0 * N_ROWS).reshape(N_ROWS, 2) / 16.0)
        positions = as_labels(self.form.make(cells), self.form.classes)
        private = PrivateRows(features, positions, True, True)
        slope = Slope(Bernoulli())
        recipe = TotalRecipe(
            np.eye(3), np.zeros((3, 1)), slope, 4.0, 4.0, N_ROWS, whole_predictor=True
        )
        if self.counted:
            counts = _counts(3, slope)
            return exact_sum(private, counts), 2 * counts.mark**2
        return exact_sum(private, recipe), 4 * recipe.l2_bound_squared


def _examined(name: str, tables: Any, cells: Sequence[Any], places: Sequence[int]) -> Outcome:
    """Compare what a cell does to the sum of one table with what it does to that of others."""
    failures, tried = [], 0
    with dask.config.set(scheduler="synchronous"):
        plain = {
            (k, place): tables.total(base, place)[0]
            for k, base in enumerate(tables.bases)
            for place in places
        }
        for number, cell in enumerate(cells):
            for place in places:
                tried += len(tables.bases)
                said = _moved(tables, plain, cell, place)
                failures += [f"cell {number} at {place}: {said}"] if said else []
    return Outcome(name, tried, tuple(failures))


def _moved(tables: Any, plain: dict[tuple[int, int], Any], cell: Any, place: int) -> str:
    """What is wrong with what a cell does; nothing, if all is well."""
    moves = []
    with heard(services=False) as told:
        try:
            for k, base in enumerate(tables.bases):
                exact, bound = tables.total(base, place, cell)
                moves.append(exact - plain[k, place])
        except Exception as error:
            return f"raised {chain(error)}"
    if any(told().values()):
        return f"said {told()}"
    if any(not np.array_equal(moves[0], other) for other in moves[1:]):
        return "other rows changed"
    if sum(int(entry) ** 2 for entry in moves[0].ravel()) > bound:
        return "the sum moved by more than its sensitivity"
    return ""


def fits(name: str, few: bool = False) -> Outcome:
    """Replay fits of one estimator to tables with a hostile row."""
    case, failures, tried = CASES[name], [], 0
    X, y = table_for(case, n_rows=40)
    first = _fit(case, X, y, None)
    if "error" in first.told:
        return Outcome(name, 1, (f"the ordinary table: {first.told['error']}",))
    for words, hostile_X, hostile_y in _hostile(case, X, y, few):
        tried += 1
        second = _fit(case, hostile_X, hostile_y, first)
        found = differences(first, second)
        if CANARY in repr(second.told):
            found.append("the canary was seen")
        failures += [f"{words}: {', '.join(found)}"] if found else []
    return Outcome(name, tried, tuple(failures))


def _fit(case: Case, X: Any, y: Any, replayed: Run | None) -> Run:
    """Fit under the ears of the audit."""
    return recorded(lambda: shown(case.fit(X, y, on_invalid="ignore")), replayed)


def _on_a_device(
    case: Case, X: Any, y: Any, place: int, numbers: Sequence[float]
) -> Iterator[tuple[str, Any, Any]]:
    """The same hostile numbers in arrays that are none of NumPy's."""
    there = array_api_strict.asarray
    for number in numbers:
        changed, responses = X.copy(), np.array(y, dtype=float)
        changed[place] = number
        yield f"features {number} on a device", there(changed), there(responses)
        if case.kind != "none":
            responses[place] = number
            yield f"response {number} on a device", there(X), there(responses)


def _hostile(case: Case, X: Any, y: Any, few: bool) -> Iterator[tuple[str, Any, Any]]:
    """Tables with one hostile row, in plain numbers and as objects."""
    place = 7
    for number in EXTREMES[:3] if few else EXTREMES:
        changed = X.copy()
        changed[place] = number
        yield f"features {number}", changed, y
        if case.kind != "none":
            responses = np.array(y, dtype=float)
            responses[place] = number
            yield f"response {number}", X, responses
    yield from _on_a_device(case, X, y, place, EXTREMES[:2] if few else EXTREMES)
    objects = X.astype(object)
    objects[place, 1] = CANARY
    yield "a word among features", objects, y
    yield "a word in a list", objects.tolist(), y
    if case.kind == "none":
        return
    for cell in (CANARY, None, -1, 2.5, 10**400, {CANARY: 1}):
        responses = y.astype(object)
        responses[place] = cell
        yield f"response of type {type(cell).__name__}", X, responses
