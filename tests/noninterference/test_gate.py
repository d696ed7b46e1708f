"""
What one row holds does not interfere with anything but the exact sum that is made noisy.

At a reduced size here; `make audit` tries every cell, place and estimator. The first three tests
replace one cell in every form of table and vector, the others replay whole fits and commands.
"""

from __future__ import annotations

import numpy as np
import pytest

from audit import commands, frames, interference, replay
from audit.cases import CASES, table_for
from audit.forms import CANARY, FORMS, LABEL_FORMS, SIGNAL
from publicmoments import GDP
from publicmoments.session import door

PLACES = (11,)


@pytest.mark.parametrize("form", FORMS)
def test_a_cell_moves_its_own_row_alone_and_nothing_is_said(form):
    outcome = interference.rows(form, PLACES)
    assert outcome.failures == ()
    assert outcome.tried >= 3


@pytest.mark.parametrize("form", LABEL_FORMS)
def test_a_label_moves_its_own_row_alone_and_nothing_is_said(form):
    outcome = interference.labels(form, PLACES)
    assert outcome.failures == ()
    assert outcome.tried >= 6


@pytest.mark.parametrize("case", CASES)
def test_fits_replayed_with_a_hostile_row(case):
    outcome = interference.fits(case, few=True)
    assert outcome.failures == ()
    assert outcome.tried >= 7


@pytest.mark.parametrize("model", frames.MODELS)
@pytest.mark.parametrize("frame", frames.FRAMES)
def test_fits_by_name_replayed_with_a_hostile_cell(frame, model):
    outcome = frames.fits_by_name(frame, model, few=True)
    assert outcome.failures == ()
    assert outcome.tried >= 2


@pytest.mark.parametrize("command", commands.COMMANDS)
def test_commands_replayed_with_a_hostile_cell(command):
    outcome = commands.commands(command, few=True)
    assert outcome.failures == ()
    assert outcome.tried >= 3


class TestTheGateItself:
    """It sees what it is for."""

    def test_cells_are_hostile(self):
        cells = [cell for form in FORMS.values() for cell in form.cells]
        assert sum(len(form.cells) for form in FORMS.values()) > 300
        assert any(isinstance(cell, str) and cell == CANARY for cell in cells)
        assert any(cell is SIGNAL for cell in cells)
        assert len(FORMS) + len(LABEL_FORMS) >= 65

    def fit(self, X, y, replayed=None):
        case = CASES["Ridge, public features"]
        told = lambda: {"coef": case.fit(X, y, on_invalid="ignore").coef_.tolist()}  # noqa: E731
        return replay.recorded(told, replayed)

    @pytest.fixture
    def table(self):
        return table_for(CASES["Ridge, public features"])

    def neighbour(self, table):
        X, y = (array.copy() for array in table)
        X[4], y[4] = 1e300, -1e300
        return X, y

    def test_an_honest_fit_asks_the_same(self, table):
        first = self.fit(*table)
        assert len(first.asked) >= 2
        assert len(first.charges) == len(first.asked)
        assert replay.differences(first, self.fit(*self.neighbour(table), first)) == []

    def test_without_a_replay_noise_differs(self, table):
        found = replay.differences(self.fit(*table), self.fit(*table))
        assert any(words.startswith("coef differ") for words in found)

    def test_a_sum_that_moves_further_than_its_sensitivity(self, table, monkeypatch):
        first = self.fit(*table)
        honest = door.exact_sum

        def shifted(rows, recipe, **more):
            exact = honest(rows, recipe, **more)
            if rows.features.values().max() > 1e200:
                exact.flat[0] += 2 * recipe.l2_bound_squared
            return exact

        monkeypatch.setattr(door, "exact_sum", shifted)
        found = replay.differences(first, self.fit(*self.neighbour(table), first))
        assert any("moved by more than its sensitivity" in words for words in found)

    def test_a_bound_that_depends_on_rows(self, table):
        case = CASES["Ridge"]
        runs = []
        for X, y in (table, self.neighbour(table)):
            alpha = 0.1 if np.abs(X).max() < 1e200 else 0.2
            told = lambda X=X, y=y, alpha=alpha: {  # noqa: E731
                "private": case.make(privacy=GDP(1.0), alpha=alpha).fit(X, y).card_.private
            }
            runs.append(replay.recorded(told, runs[0] if runs else None))
        found = replay.differences(*runs)
        assert any(words.endswith("has other public numbers") for words in found)

    def test_a_charge_that_depends_on_rows(self, table, monkeypatch):
        first = self.fit(*table)
        honest = door.release

        def half(query, exact, cost, *rest):
            return honest(query, exact, GDP(cost.mu / 2.0), *rest)

        monkeypatch.setattr(door, "release", half)
        assert "charges differ" in replay.differences(first, self.fit(*table, first))

    def test_a_word_that_depends_on_rows(self, table, monkeypatch):
        first = self.fit(*table)
        honest = door.exact_sum

        def chatty(rows, recipe, **more):
            print(rows.features.values().max())
            return honest(rows, recipe, **more)

        monkeypatch.setattr(door, "exact_sum", chatty)
        found = replay.differences(first, self.fit(*table, first))
        assert any(words.startswith("standard output differ") for words in found)
