"""Rows that are worked on at once: whole multiples, of which readers fill each."""

import os

import pytest

from publicmoments.data.blocks import ROW_MULTIPLE, SMALL_DIMENSION, rows_at_once
from publicmoments.data.pieces import MOST_CELLS, piece_rows


@pytest.mark.parametrize("dimension", [1, 2, 15, 16, 17, 51, 113, 114, 1000, 5000])
def test_blocks_are_whole_multiples(dimension):
    rows = rows_at_once(dimension)
    assert rows % ROW_MULTIPLE == 0
    assert rows >= 1152
    assert rows_at_once(dimension + 1) <= rows


@pytest.mark.parametrize("dimension", [17, 51, 113])
def test_blocks_fit_the_cache(dimension):
    assert 2**18 <= rows_at_once(dimension) * dimension < 2**18 + ROW_MULTIPLE * dimension


def test_short_rows_are_taken_more_of():
    assert rows_at_once(SMALL_DIMENSION) == 20_160
    assert rows_at_once(SMALL_DIMENSION + 1) == 15_552


@pytest.mark.parametrize("processors", [1, 2, 64])
@pytest.mark.parametrize("n_columns", [1, 11, 20, 200])
def test_a_piece_fills_a_block_for_every_processor(monkeypatch, processors, n_columns):
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    blocks = processors * rows_at_once(n_columns + 1)
    assert piece_rows(n_columns) == min(blocks, MOST_CELLS // n_columns)
