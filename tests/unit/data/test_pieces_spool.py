"""A stream is kept in a file that nobody else can open and that leaves nothing behind."""

import gc
import os
import stat
import tempfile
import weakref

import numpy as np
import pyarrow as pa
import pytest

from publicmoments.data.pieces import Spool


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where temporary files go."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def batches(n_batches=3, rows=100):
    for number in range(n_batches):
        yield pa.record_batch({"a": np.arange(rows) + rows * number, "word": ["x"] * rows})


def test_rows_can_be_read_again_and_again():
    spool = Spool.of(batches(), 40)
    assert spool.n_rows == 300
    for _ in range(3):
        pieces = list(spool.pieces())
        assert max(piece.num_rows for piece in pieces) == 40
        read = np.concatenate([piece.column("a").to_numpy() for piece in pieces])
        np.testing.assert_array_equal(read, np.arange(300))


def test_a_pass_that_was_broken_off_does_not_harm_the_next():
    spool = Spool.of(batches(), 40)
    broken = spool.pieces()
    next(broken)
    broken.close()
    assert sum(piece.num_rows for piece in spool.pieces()) == 300


def test_the_file_has_no_name_and_one_reader(folder):
    spool = Spool.of(batches(), 40)
    assert os.listdir(folder) == []
    status = os.fstat(spool.file.fileno())
    assert stat.S_IMODE(status.st_mode) == 0o600
    assert status.st_nlink == 0
    assert status.st_size > 300 * 8


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_stream_that_breaks_leaves_nothing(folder, error, monkeypatch):
    made = []
    make = tempfile.TemporaryFile

    def watched(*args, **kwargs):
        made.append(make(*args, **kwargs))
        return made[-1]

    def breaks():
        yield from batches(1)
        raise error

    monkeypatch.setattr(tempfile, "TemporaryFile", watched)
    with pytest.raises(error):
        Spool.of(breaks(), 40)
    assert [file.closed for file in made] == [True]
    assert os.listdir(folder) == []


def test_a_forgotten_spool_is_closed():
    spool = Spool.of(batches(), 40)
    list(spool.pieces())
    # The file is closed with its last reference. Its descriptor would not tell: another thread may
    # have been given the same number since.
    file = weakref.ref(spool.file)
    del spool
    gc.collect()
    assert file() is None


def test_an_empty_stream():
    spool = Spool.of(iter(()), 40)
    assert spool.n_rows == 0
