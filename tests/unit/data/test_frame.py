"""Results of pieces, and refusals among them, come home as they were."""

import pickle

import numpy as np
import pytest

from publicmoments.data.frame import UNEXPECTED, Columns, Refusal, added, guarded, settled
from publicmoments.data.names import ColumnType
from publicmoments.rows.private_rows import InvalidRows


def raises(error):
    def work(piece):
        raise error

    return work


def test_results_are_added_exactly():
    large = np.array([2**62, -(2**61)])
    total = settled(added([large, np.array([5, 7]), np.array([-6, 1])]))
    assert total.dtype == np.int64
    assert total.tolist() == [2**62 - 1, -(2**61) + 8]


@pytest.mark.parametrize("kind", [ValueError, TypeError, InvalidRows])
def test_errors_of_ours_keep_type_and_words(kind):
    ours = Refusal(kind, "something about y")
    result = pickle.loads(pickle.dumps(guarded(lambda piece: settled(ours), None)))
    assert isinstance(result, Refusal)
    with pytest.raises(kind) as caught:
        settled(added([np.ones(2, dtype=np.int64), result, result]))
    assert str(caught.value) == "something about y"
    assert type(caught.value) is kind


@pytest.mark.parametrize(
    "error",
    [
        OSError("cell 31337"),
        KeyError("31337"),
        UnicodeDecodeError("utf-8", b"31337", 0, 1, "31337"),
        ValueError("31337", "31337"),
        ValueError("31337"),
    ],
)
def test_other_errors_all_come_home_in_the_same_words(error):
    with pytest.raises(RuntimeError) as caught:
        settled(guarded(raises(error), None))
    assert str(caught.value) == UNEXPECTED


def test_what_compiled_code_says_is_not_ours():
    cells = np.array(["31337x"], dtype=object)
    with pytest.raises(RuntimeError) as caught:
        settled(guarded(cells.astype, float))
    assert str(caught.value) == UNEXPECTED


def test_interruptions_are_no_results():
    with pytest.raises(KeyboardInterrupt):
        guarded(raises(KeyboardInterrupt()), None)


def test_a_frame_stays_at_home():
    class Unmoving:
        def __reduce__(self):
            raise AssertionError("a frame was sent")

    columns = Columns("a", (ColumnType("number", "a (double)"),), ("a",), True, Unmoving())
    sent = pickle.loads(pickle.dumps(columns))
    assert sent.frame is None
    assert (sent.key, sent.types, sent.names) == (columns.key, columns.types, columns.names)
    assert columns.frame is not None
