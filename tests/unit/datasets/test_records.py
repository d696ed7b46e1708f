"""Tables with a response, and their splits."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

from publicmoments.datasets import Dataset, split

X = np.arange(20.0).reshape(10, 2)
TABLE = Dataset("toy", X, 10 * X[:, 0], ["a", "b"], "c", "10/1")


def test_fields_are_read_only_copies():
    assert TABLE.columns == ("a", "b")
    assert len(TABLE) == 10
    for table in (TABLE, pickle.loads(pickle.dumps(TABLE))):
        with pytest.raises(ValueError, match="read-only"):
            table.X[0, 0] = 1.0
        with pytest.raises(ValueError, match="read-only"):
            table.y[0] = 1.0
    assert X.flags.writeable


def test_repr_shows_no_values():
    assert repr(TABLE) == "Dataset('toy', n=10, d=2, response='c')"


@pytest.mark.parametrize(
    ("rows", "y", "columns"),
    [
        (X, X[:9, 0], ("a", "b")),
        (X, X[:, 0], ("a",)),
        (X, X[:, :1], ("a", "b")),
        (X[:, 0], X[:, 0], ("a",)),
    ],
)
def test_arrays_must_fit_together(rows, y, columns):
    with pytest.raises(ValueError, match="one row per response and one column per name"):
        Dataset("toy", rows, y, columns, "c")


def test_frame():
    pytest.importorskip("pandas")
    frame = TABLE.frame()
    assert list(frame) == ["a", "b", "c"]
    np.testing.assert_array_equal(frame["c"], TABLE.y)
    np.testing.assert_array_equal(frame[["a", "b"]], TABLE.X)


def test_frame_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'publicmoments\[frames\]'"):
        TABLE.frame()


def test_a_split_deals_every_row_once():
    private, public = split(TABLE, 3, np.random.default_rng(0))
    assert private.X.shape == (7, 2)
    assert public.X.shape == (3, 2)
    every = np.concatenate([private.X, public.X])
    np.testing.assert_array_equal(np.sort(every[:, 0]), X[:, 0])
    for part in (private, public):
        np.testing.assert_array_equal(part.y, 10 * part.X[:, 0])
        assert (part.name, part.columns, part.response, part.doi) == (
            "toy",
            ("a", "b"),
            "c",
            "10/1",
        )


def test_the_public_part_comes_first_in_the_shuffle():
    # Figures made with a seed depend on it.
    private, public = split(TABLE, 3, np.random.default_rng(5))
    shuffled = X[np.random.default_rng(5).permutation(10)]
    np.testing.assert_array_equal(public.X, shuffled[:3])
    np.testing.assert_array_equal(private.X, shuffled[3:])


def test_a_split_is_random_and_reproducible():
    first, again, other = (split(TABLE, 3, np.random.default_rng(seed))[1] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)
    # Every row is as likely as any other to be public: 3 in 10 of 400 splits, give or take 5 sd.
    rng = np.random.default_rng(2)
    counts = sum((np.isin(X[:, 0], split(TABLE, 3, rng)[1].X[:, 0]) for _ in range(400)), start=0)
    assert np.all(np.abs(counts - 120) < 5 * np.sqrt(400 * 0.3 * 0.7))


@pytest.mark.parametrize("n_public", [0, -1, 10, 11])
def test_neither_part_may_be_empty(n_public):
    with pytest.raises(ValueError, match="n_public must be"):
        split(TABLE, n_public, np.random.default_rng(0))


def test_a_fraction_is_refused():
    with pytest.raises(TypeError, match="n_public"):
        split(TABLE, 0.1, np.random.default_rng(0))
