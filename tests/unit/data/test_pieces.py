"""Pieces are read ahead by one, and nothing is left behind however a pass ends."""

import sys
import threading

import numpy as np
import pytest
from rich.progress import Progress

from publicmoments.data import pieces
from publicmoments.data.pieces import add_pieces


class Piece:
    def __init__(self, number, num_rows=1):
        self.number, self.num_rows = number, num_rows


def numbers(piece):
    return np.array([piece.number, piece.num_rows])


def readers():
    return [t for t in threading.enumerate() if t.name.startswith("publicmoments-reader")]


def test_results_are_added():
    pieces = (Piece(number, 2) for number in range(5))
    np.testing.assert_array_equal(add_pieces(pieces, numbers, 10), [10, 10])


def test_the_next_piece_is_read_while_one_is_summed():
    asked = threading.Event()

    def pieces():
        yield Piece(1)
        asked.set()
        yield Piece(2)

    def work(piece):
        # Nobody asks for the second piece before this returns, unless it is read ahead.
        assert asked.wait(timeout=10.0)
        return numbers(piece)

    np.testing.assert_array_equal(add_pieces(pieces(), work, 2), [3, 2])


def test_no_more_than_one_piece_is_read_ahead():
    made, most = [], []

    def pieces():
        for number in range(6):
            made.append(number)
            yield Piece(number)

    def work(piece):
        most.append(len(made) - piece.number)
        return numbers(piece)

    add_pieces(pieces(), work, 6)
    assert max(most) <= 2


@pytest.mark.parametrize("where", ["reading", "summing"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupted_pass_leaves_no_thread(where, error):
    closed = []

    def pieces():
        try:
            for number in range(100):
                if where == "reading" and number == 3:
                    raise error
                yield Piece(number)
        finally:
            closed.append(True)

    def work(piece):
        if where == "summing" and piece.number == 3:
            raise error
        return numbers(piece)

    with pytest.raises(error):
        add_pieces(pieces(), work, 100)
    assert closed == [True]
    assert readers() == []


@pytest.mark.parametrize(
    ("terminal", "patience", "shown"),
    [(True, -1.0, True), (False, -1.0, False), (True, 60.0, False)],
)
def test_progress_is_for_those_who_wait_and_watch(monkeypatch, terminal, patience, shown):
    started, stopped, completed = [], [], []
    monkeypatch.setattr(pieces, "PATIENCE", patience)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(Progress, "start", lambda self: started.append(self))
    monkeypatch.setattr(Progress, "stop", lambda self: stopped.append(self))
    monkeypatch.setattr(
        Progress, "update", lambda self, task, completed=0: completed_.append(completed)
    )
    completed_ = completed
    add_pieces((Piece(number, 10) for number in range(3)), numbers, 30)
    assert bool(started) == shown
    assert started == stopped
    assert completed == ([10, 20, 30] if shown else [])
    assert all(bar.live.transient and bar.tasks[0].total == 30 for bar in started)
