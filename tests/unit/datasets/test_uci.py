"""The four tables: sizes, known facts and encodings."""

from __future__ import annotations

import hashlib
from functools import cache

import numpy as np
import pytest

from publicmoments.datasets import load_bank, load_banknote, load_power_plant, load_wine
from publicmoments.datasets.uci import FOLDER_VARIABLE, SOURCES, content

LOADERS = {
    "wine": load_wine,
    "power plant": load_power_plant,
    "bank": load_bank,
    "banknote": load_banknote,
}


@cache
def reason_to_skip(name):
    """Why a table cannot be had here; wrong or incomplete folders are failures, not reasons."""
    try:
        content(SOURCES[name])
    except (ImportError, ConnectionError) as error:
        return str(error)
    return None


@pytest.fixture
def load():
    """Load a table, or skip where there is neither a folder of them nor a network."""

    def load(name, **options):
        reason = reason_to_skip(name)
        if reason is not None:
            pytest.skip(reason)
        return LOADERS[name](**options)

    return load


@pytest.mark.parametrize(
    ("name", "shape", "response", "condition"),
    [
        ("wine", (4898, 11), "quality", 5.9e7),
        ("power plant", (9568, 4), "PE", 1.1e5),
        ("banknote", (1372, 4), "class", 25),
    ],
)
def test_numeric_tables(load, name, shape, response, condition):
    table = load(name)
    assert table.name == name
    assert table.X.shape == shape
    assert table.y.shape == shape[:1]
    assert table.X.dtype == table.y.dtype == np.float64
    assert len(table.columns) == shape[1]
    assert table.response == response
    moment = table.X.T @ table.X / len(table)
    assert np.linalg.cond(moment) == pytest.approx(condition, rel=0.05)


def test_wine(load):
    wine = load("wine")
    assert wine.columns[0] == "fixed acidity"
    assert wine.columns[-1] == "alcohol"
    assert sorted(set(wine.y)) == [3, 4, 5, 6, 7, 8, 9]
    np.testing.assert_array_equal(wine.X[0, :4], [7, 0.27, 0.36, 20.7])
    assert wine.y[0] == 6


def test_power_plant(load):
    plant = load("power plant")
    assert plant.columns == ("AT", "V", "AP", "RH")
    np.testing.assert_array_equal(plant.X[0], [14.96, 41.76, 1024.07, 73.17])
    assert plant.y[0] == 463.26


def test_banknote(load):
    notes = load("banknote")
    assert notes.columns == ("variance", "skewness", "curtosis", "entropy")
    assert (notes.y == 0).sum() == 762
    assert (notes.y == 1).sum() == 610
    np.testing.assert_array_equal(notes.X[0], [3.6216, 8.6661, -2.8073, -0.44699])


def test_bank(load):
    bank = load("bank")
    assert bank.X.shape == (45211, 42)
    assert bank.response == "y"
    assert sorted(set(bank.y)) == [0, 1]
    assert bank.y.sum() == 5289
    counts = dict(zip(bank.columns, bank.X.sum(axis=0), strict=True))
    # Counts of the file itself, among them an unknown and a hyphenated level.
    assert counts["job=blue-collar"] == 9732
    assert counts["education=unknown"] == 1857
    assert counts["housing"] == 25130
    assert counts["month=dec"] == 214
    assert counts["poutcome=success"] == 1511
    assert "job=admin." not in counts
    assert bank.X[:, bank.columns.index("pdays")].min() == -1


def test_numeric_columns_of_bank(load):
    bank, numeric = load("bank"), load("bank", numeric_only=True)
    names = ("age", "balance", "day", "duration", "campaign", "pdays", "previous")
    assert numeric.columns == names
    np.testing.assert_array_equal(numeric.X[0], [58, 2143, 5, 261, 1, -1, 0])
    np.testing.assert_array_equal(numeric.y, bank.y)
    same = bank.X[:, [bank.columns.index(name) for name in names]]
    np.testing.assert_array_equal(numeric.X, same)
    moment = numeric.X.T @ numeric.X / len(numeric)
    assert np.linalg.cond(moment) == pytest.approx(2.6e6, rel=0.05)


@pytest.mark.parametrize("name", SOURCES)
def test_encoded_columns_are_not_collinear(load, name):
    table = load(name)
    scaled = table.X / np.linalg.norm(table.X, axis=0)
    assert np.linalg.matrix_rank(np.column_stack([np.ones(len(table)), scaled])) == (
        table.X.shape[1] + 1
    )


@pytest.mark.parametrize("name", SOURCES)
def test_one_changed_digit_is_noticed(load, name, tmp_path, monkeypatch):
    load(name)
    source = SOURCES[name]
    data = bytearray(content(source))
    data[-3] ^= 1
    (tmp_path / source.file).write_bytes(data)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    with pytest.raises(ValueError, match=hashlib.sha256(data).hexdigest()) as caught:
        LOADERS[name]()
    assert source.sha256 in str(caught.value)
    assert source.file in str(caught.value)


@pytest.mark.parametrize("name", SOURCES)
def test_each_loader_reads_its_own_file(load, name, tmp_path, monkeypatch):
    load(name)
    source = SOURCES[name]
    (tmp_path / source.file).write_bytes(content(source))
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert LOADERS[name]().name == name
    (tmp_path / source.file).unlink()
    with pytest.raises(FileNotFoundError, match=source.file):
        LOADERS[name]()
