"""CSV files: each cell by itself, no types from rows, and no message that quotes."""

import numpy as np
import pytest

from publicmoments import GDP, LogisticRegression, PublicMoments, Ridge
from publicmoments.data import csv_file, open_frame
from publicmoments.data.csv_file import open_csv
from publicmoments.rows.private_rows import InvalidRows


def rows(frame):
    """All rows of a frame."""
    return [row for piece in frame.pieces() for row in piece.to_pylist()]


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("1", 1.0),
        (" 2.5 ", 2.5),
        ("+3", 3.0),
        ("-1e-3", -1e-3),
        ('"4"', 4.0),
        ("True", 1.0),
        ("false", 0.0),
        ("1e999", np.inf),
        ("", None),
        ("NA", None),
        ("null", None),
        ("31337x", np.nan),
        ("1_000", np.nan),
        ('"two\nlines"', np.nan),
        ("\x00", np.nan),
    ],
)
def test_what_a_cell_becomes_does_not_depend_on_its_company(tmp_path, cell, number):
    path = tmp_path / "t.csv"
    for company in ([], ["7", "8"], ["words", "7", "", "words"]):
        path.write_text("a,b\n" + "".join(f"{one},1\n" for one in [*company, cell, *company]))
        found = rows(open_csv(path))[len(company)]["a"]
        assert found == number or (number is not None and found != found and number != number)


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,label\n1,yes\n\xff,\xfe\n3,no\n")
    frame = open_csv(path).as_words(["label"]).only(["a", "label"])
    assert frame.n_rows == 3
    public = PublicMoments.identity(1)
    model = LogisticRegression(classes=("no", "yes"), privacy=GDP(1.0), public=public)
    model.set_params(on_invalid="ignore", random_state=0)
    model.fit(path, "label")
    with pytest.raises(ValueError, match="not among classes"):
        model.set_params(on_invalid="raise").fit(path, "label")


def test_integers_may_become_fractions(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 400_000 + "0.5,\n")
    frame = open_frame(path).only(["a", "b"])
    assert frame.n_rows == 400_001
    totals = frame.map_add(
        lambda piece: np.array([2 * sum(piece["a"].to_pylist()), piece["b"].null_count])
    )
    assert totals.tolist() == [800_001, 1]


@pytest.mark.parametrize("bad", ["31337\n", "31337,2,3\n"])
def test_lines_of_another_length_are_refused_and_not_quoted(tmp_path, bad):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 400_000 + bad)
    with pytest.raises(ValueError, match="another number of cells than its header") as caught:
        open_frame(path).n_rows  # noqa: B018
    assert "31337" not in str(caught.value)
    assert caught.value.__context__ is None


def test_text_among_numbers_is_refused_by_column_or_ignored(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "1,2,3\n0,1,1\n" * 20 + "1,31337x,3\n")
    model = Ridge(privacy=GDP(1.0), public=PublicMoments.identity(2))
    model.set_params(random_state=0)
    with pytest.raises(InvalidRows, match=r"X \(column b\)") as caught:
        model.fit(path, "y")
    assert "31337" not in str(caught.value)
    assert model.set_params(on_invalid="ignore").fit(path, "y").card_.n_rows == 41


def test_lines_that_are_longer_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "BLOCK_BYTES", 2**12)
    path = tmp_path / "t.csv"
    long = "x" * 2**13
    path.write_text("a,note\n" + "1,short\n" * 1000 + f'2,"{long}"\n' + "3,short\n")
    frame = open_csv(path).only(["a"])
    assert [row["a"] for row in rows(frame)] == [1.0] * 1000 + [2.0, 3.0]


def test_empty_words_are_missing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,label\n1,yes\n2,\n3,no\n")
    frame = open_csv(path).as_words(["label"])
    assert [row["label"] for row in rows(frame)] == ["yes", None, "no"]
    assert [row["label"] for row in rows(open_csv(path).only(["label"]))][1] is None


@pytest.mark.parametrize("classes", [(0, 1), (False, True), (0.0, 1.0)])
@pytest.mark.parametrize("texts", [("0", "1"), ("0.0", "1.0"), ("false", "true")])
def test_labels_that_are_numbers(tmp_path, classes, texts):
    path = tmp_path / "t.csv"
    path.write_text("a,label\n" + "".join(f"{i % 7},{texts[i % 2]}\n" for i in range(60)))
    public = PublicMoments.identity(1)
    model = LogisticRegression(classes=classes, privacy=GDP(1.0), public=public, random_state=0)
    expected = model.fit(np.arange(60)[:, None] % 7, np.arange(60) % 2).coef_
    np.testing.assert_array_equal(model.fit(path, "label").coef_, expected)


def test_the_header_alone_is_read_at_first(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\n\xff\xff\xff\n")
    assert open_csv(path).names == ("a", "b")


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (b"", "must begin with a line of column names"),
        (b"\xff\xfe,b\n", "UTF-8"),
        (b"a,b,a\n", "more than one column named 'a'"),
        (b"a;b;c\n", "pass delimiter=';'"),
    ],
)
def test_headers_that_are_refused(tmp_path, header, words):
    (tmp_path / "t.csv").write_bytes(header)
    with pytest.raises(ValueError, match=words):
        open_csv(tmp_path / "t.csv")


def test_names_in_capitals(tmp_path):
    (tmp_path / "T.CSV").write_text("a\n1\n")
    assert open_frame(tmp_path / "T.CSV").n_rows == 1
