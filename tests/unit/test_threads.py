"""Tasks side by side; and the linear algebra has one thread while anybody asks for it."""

import threading
from functools import partial

import pytest

from publicmoments import threads
from publicmoments.threads import side_by_side, single_threaded


@pytest.fixture
def limits(monkeypatch):
    """Notes of limits that are set and lifted."""
    events = []

    class Libraries:
        def limit(self, **settings):
            events.append(settings)
            return self

        def restore_original_limits(self):
            events.append("lifted")

    monkeypatch.setattr(threads, "_libraries", Libraries)
    return events


def test_the_last_one_out_lifts_the_limit(limits):
    first, second = single_threaded(), single_threaded()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert limits == [{"limits": 1, "user_api": "blas"}]
    second.__exit__(None, None, None)
    assert limits[1:] == ["lifted"]


def test_an_error_lifts_it_too(limits):
    with pytest.raises(ValueError, match="bad"), single_threaded():
        raise ValueError("bad")
    assert limits[1:] == ["lifted"]


@pytest.mark.parametrize("count", [0, 1, 4])
def test_tasks_are_done_side_by_side_and_the_caller_does_one(count):
    # Nobody gets past the barrier before all are there.
    barrier = threading.Barrier(max(count, 1), timeout=30)

    def task(number):
        barrier.wait()
        return number, threading.get_ident()

    done = side_by_side([partial(task, number) for number in range(count)])
    assert [number for number, _ in done] == list(range(count))
    assert len({who for _, who in done}) == count
    assert [who for _, who in done[:1]] == [threading.get_ident()] * min(count, 1)


@pytest.mark.parametrize("bad", [0, 1])
def test_an_error_of_any_task_comes_home(bad):
    def task(number):
        if number == bad:
            raise ValueError(f"task {number}")
        return number

    with pytest.raises(ValueError, match=f"task {bad}"):
        side_by_side([partial(task, number) for number in range(2)])
