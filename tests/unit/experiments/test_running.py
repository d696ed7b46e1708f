"""Work that is interrupted goes on where it stopped, and gives the same tables."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from experiments.plumbing import running
from experiments.plumbing.figures import CHUNK, Figure, Unit, units
from experiments.plumbing.running import Outcome, run_figures
from experiments.plumbing.store import Piece, Store, source_hash
from experiments.plumbing.tables import write_tables
from experiments.plumbing.work import measure


def run(figure: Figure, store: Store, jobs: int = 1, repeats: int = 12) -> Outcome:
    console = Console(file=StringIO())
    return run_figures([figure], store, {figure.name: repeats}, jobs, console)[figure.name]


def table(figure: Figure, outcome: Outcome, folder: Path) -> bytes:
    return write_tables(folder, figure, outcome, "made by a test")[1].read_bytes()


class Measuring:
    """Counts pieces of work, and stops like an impatient user before one of them."""

    def __init__(self, allowed: int) -> None:
        self.allowed, self.done = allowed, 0

    def __call__(self, unit: Unit) -> tuple:
        if self.done == self.allowed:
            raise KeyboardInterrupt
        self.done += 1
        return measure(unit)


def test_interrupted_run_resumes_to_the_same_table(figure, tmp_path, monkeypatch):
    whole = table(figure, run(figure, Store(tmp_path / "a", "s")), tmp_path / "whole")
    store = Store(tmp_path / "b", "s")
    first, second = Measuring(allowed=2), Measuring(allowed=99)
    monkeypatch.setattr(running, "measure", first)
    with pytest.raises(KeyboardInterrupt):
        run(figure, store)
    monkeypatch.setattr(running, "measure", second)
    assert table(figure, run(figure, store), tmp_path / "resumed") == whole
    # 12 repeats are two pieces for each of two sizes: none was made twice.
    assert (first.done, second.done) == (2, 2)


def test_processes_give_the_same_table_as_one(figure, tmp_path):
    alone = run(figure, Store(tmp_path / "a", "s"))
    together = run(figure, Store(tmp_path / "b", "s"), jobs=2)
    assert together.lines == alone.lines


def test_more_repeats_reuse_full_pieces(figure, tmp_path, monkeypatch):
    store = Store(tmp_path, "s")
    run(figure, store, repeats=CHUNK)
    counted = Measuring(allowed=99)
    monkeypatch.setattr(running, "measure", counted)
    run(figure, store, repeats=2 * CHUNK)
    assert counted.done == 2


def test_other_settings_and_other_source_have_other_names(figure, tmp_path):
    design = figure.panels[0].design
    (unit, *_) = units(design, 12)
    store = Store(tmp_path, "s")
    others = [
        replace(unit, first=1),
        replace(unit, count=3),
        *(
            replace(unit, design=replace(unit.design, **change))
            for change in (
                {"sizes": (31,)},
                {"mus": (1.0, 5.000001)},
                {"alphas": (1e-9,)},
                {"eta": 0.049},
                {"methods": design.methods[:2]},
                {"every": ()},
                {"data": replace(design.data, condition=5.0)},
            )
        ),
    ]
    names = {store.path(unit), Store(tmp_path, "t").path(unit), *map(store.path, others)}
    assert len(names) == 2 + len(others)
    assert store.path(unit) == Store(tmp_path, "s").path(units(design, 12)[0])


def test_stale_pieces_are_not_used(figure, tmp_path):
    (unit, *_) = units(figure.panels[0].design, 12)
    Store(tmp_path, "old").save(unit, Piece([], {}))
    assert Store(tmp_path, "old").load(unit) == Piece([], {})
    assert Store(tmp_path, "new").load(unit) is None


def test_source_hash_is_stable():
    assert source_hash() == source_hash()
    assert len(source_hash()) == 64


def test_costs_count_thinned_methods_by_their_own_runs(figure, tmp_path):
    store, design = Store(tmp_path, "s"), figure.panels[0].design
    for unit in units(design, 4):
        store.save(unit, Piece([], {"pmt": 4.0, "public": 2.0}))
    outcome = run(figure, store, repeats=4)
    # Twelve repeats are three times four; of every third, four are twice the two that were made.
    assert outcome.seconds == 2 * 6.0
    assert outcome.full_seconds == 2 * (3 * 4.0 + 2 * 2.0)
