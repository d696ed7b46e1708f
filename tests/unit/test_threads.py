"""The linear algebra has one thread while anybody asks for it."""

import pytest

from publicmoments import threads
from publicmoments.threads import LARGE_MATRIX, single_threaded, threads_for


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


def test_only_small_matrices_are_held_to_one_thread(limits):
    with threads_for(LARGE_MATRIX):
        assert limits == []
    with threads_for(LARGE_MATRIX - 1):
        assert limits == [{"limits": 1, "user_api": "blas"}]
    assert limits[1:] == ["lifted"]
