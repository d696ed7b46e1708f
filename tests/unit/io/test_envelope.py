"""Files are read only as they were written."""

import json
import math

import pytest

from publicmoments.io.envelope import FileKind, digest_of, field, flag, size, whole

KIND = FileKind("a-format", 3, frozenset({"n", "sha256"}), "save_it", "thing")


@pytest.fixture
def path(tmp_path):
    KIND.write(tmp_path / "file.json", {"n": 7})
    return tmp_path / "file.json"


def changed(path, **fields):
    document = json.loads(path.read_text()) | fields
    path.write_text(json.dumps(document | {"sha256": digest_of(document)}))
    return path


def test_what_was_written_is_read(path):
    assert KIND.read(path)["n"] == 7


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"format": "other"}, "written by save_it"),
        ({"version": 2}, "have version 3, the one this library reads, not 2"),
        ({"more": 1}, "the fields n, sha256 and no others"),
    ],
)
def test_others_are_refused_by_name(path, fields, told):
    with pytest.raises(ValueError, match=f"file.json must .*{told}.*save the thing again"):
        KIND.read(changed(path, **fields))


@pytest.mark.parametrize(
    ("old", "new", "told"), [("7", "8", "digest"), ("7", "NaN", "whole JSON"), ("}", "", "whole")]
)
def test_damage_is_noticed(path, old, new, told):
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ValueError, match=told):
        KIND.read(path)


def test_a_field_that_cannot_be_read_is_named():
    with pytest.raises(ValueError, match="field 'n' is not valid: n must be a whole number"):
        field({"n": 0.5}, "n", lambda value: whole("n", value))


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "1", None])
def test_counts_are_whole(value):
    with pytest.raises(ValueError, match="n must be a whole number of at least 1"):
        whole("n", value)


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_sizes_are_positive(value):
    with pytest.raises(ValueError, match="finite and positive"):
        size("s", value)
    assert size("s", 0.0, zero=True) == 0.0


def test_flags_are_no_numbers():
    with pytest.raises(ValueError, match="true or false"):
        flag("f", 1)
    assert flag("f", True) is True
