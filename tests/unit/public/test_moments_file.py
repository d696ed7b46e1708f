"""Public moments on disk: what goes in comes out, and nothing else is read."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from publicmoments.public import PublicMoments

RNG = np.random.default_rng(5)
B = RNG.normal(3.0, 1.0, size=(40, 3))
S = B.T @ B / 40

KINDS = {
    "rows": PublicMoments.from_rows(B, response=B @ [1.0, 2.0, 3.0]),
    "named": PublicMoments.from_rows(B, response="c", columns=["a", "b", "c"]),
    "scale": PublicMoments.from_rows(B, response_scale=[2.0, 0.1]),
    "matrix": PublicMoments.from_matrix(S, 40, response=[0, 2]),
    "centred": PublicMoments.from_matrix(S, 40, mean=B.mean(axis=0), response=0),
    "singular": PublicMoments.from_matrix(np.ones((4, 4)) * (1 / 3), 40),
    "mended": PublicMoments.from_matrix([[1.0, 1.0 + 1e-9], [1.0 + 1e-9, 1.0]], 40),
    "mean_cov": PublicMoments.from_mean_cov(B.mean(axis=0), np.cov(B.T), 40),
    "identity": PublicMoments.identity(["a", "b"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_round_trip(kind, tmp_path):
    public, path = KINDS[kind], tmp_path / "public.json"
    public.save(path)
    loaded = PublicMoments.load(str(path))
    assert loaded.fingerprint == public.fingerprint
    np.testing.assert_array_equal(loaded.second_moment, public.second_moment)
    assert loaded.columns == public.columns
    assert loaded.n == public.n
    assert loaded.assumed == public.assumed
    assert loaded.rows is None
    if public.response is not None:
        np.testing.assert_array_equal(loaded.response.scale, public.response.scale)
        assert loaded.response.names == public.response.names
    assert os.listdir(tmp_path) == ["public.json"]


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "public.json"
    KINDS["rows"].save(path)
    before = path.read_bytes()

    def broken(source, target):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        KINDS["matrix"].save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["public.json"]


def test_a_save_follows_the_umask(tmp_path):
    plain, saved = tmp_path / "plain", tmp_path / "saved"
    plain.write_text("")
    KINDS["identity"].save(saved)
    assert saved.stat().st_mode == plain.stat().st_mode


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"n": 0}, "n"),
        ({"n": None}, "n"),
        ({"n": 2.5}, "n"),
        ({"assumed": "no"}, "assumed"),
        ({"columns": ["a", "b"]}, "columns"),
        ({"columns": ["a", "b", "b"]}, "columns"),
        ({"columns": 7}, "columns"),
        ({"responses": -1}, "responses"),
        ({"responses": 4}, "responses"),
        ({"responses": 1.5}, "responses"),
        ({"response_names": ["u", "v"]}, "response_names"),
        ({"response_scale": [1.0]}, "response_scale"),
        ({"responses": 0, "columns": None, "response_scale": [-1.0]}, "response_scale"),
        ({"mean": [1.0]}, "mean"),
        ({"mean": [1e200, 2.0, 3.0, 4.0]}, "spread"),
        ({"spread": [[1.0]]}, "mean"),
        ({"spread": [[1.0, 2.0], [3.0]]}, "spread"),
        ({"spread": "matrix"}, "spread"),
        ({"spread": None}, "spread"),
        ({"spread": [[1.0, 2.0], [2.0, 1.0]]}, "spread"),
        ({"spread": [[10**400]]}, "spread"),
    ],
)
def test_wrong_fields_are_named(changes, field, tmp_path):
    path = tmp_path / "public.json"
    KINDS["rows"].save(path)
    document = json.loads(path.read_text()) | changes
    path.write_text(json.dumps(document))
    with pytest.raises(
        ValueError, match=rf"public\.json must have .* field '{field}' is not valid"
    ):
        PublicMoments.load(path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": "other"}, r"be a file written by PublicMoments\.save"),
        ({"version": 2}, "have version 1, the one this library reads, not 2"),
        ({"version": None}, "have version 1, the one this library reads, not None"),
        ({"more": 1}, "have the fields .* and no others; missing: none"),
        ({"mean": [1.0, 2.0, 3.0, float("nan")]}, "be a whole JSON file"),
        ({"spread": [[float("inf")]]}, "be a whole JSON file"),
    ],
)
def test_files_of_other_kinds_are_refused(changes, words, tmp_path):
    path = tmp_path / "public.json"
    KINDS["rows"].save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(ValueError, match=rf"public\.json must {words}"):
        PublicMoments.load(path)


@pytest.mark.parametrize("field", ["n", "mean", "spread", "responses"])
def test_missing_fields_are_named(field, tmp_path):
    path = tmp_path / "public.json"
    KINDS["rows"].save(path)
    document = json.loads(path.read_text())
    del document[field]
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=rf"public\.json must have .*; missing: {field};"):
        PublicMoments.load(path)


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe", b"[1, 2]", b"3"])
def test_other_files_are_refused(text, tmp_path):
    path = tmp_path / "public.json"
    path.write_bytes(text)
    with pytest.raises(ValueError, match=r"public\.json must be"):
        PublicMoments.load(path)


def test_a_missing_file_is_reported_as_such(tmp_path):
    with pytest.raises(FileNotFoundError):
        PublicMoments.load(tmp_path / "nowhere.json")
