"""Releases on disk: what goes in comes out, and nothing else is read."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import struct
import subprocess
import sys

import numpy as np
import pytest

from publicmoments import GDP, PublicMoments
from publicmoments.release import MomentRelease, combine, release_moments

START = b"publicmoments-release 1\n"


@pytest.fixture(scope="module")
def content(noisy, tmp_path_factory):
    path = tmp_path_factory.mktemp("release") / "moments.pmr"
    noisy.save(path)
    assert os.listdir(path.parent) == ["moments.pmr"]
    return path.read_bytes()


def rebuilt(content, change=lambda header: None, arrays=None):
    """The same file with a changed header and a digest that fits."""
    (length,) = struct.unpack_from("<Q", content, len(START))
    first = len(START) + 8
    header = json.loads(content[first : first + length])
    header = change(header) or header
    text = json.dumps(header).encode()
    rest = content[first + length : -32] if arrays is None else arrays
    body = START + struct.pack("<Q", len(text)) + text + rest
    return body + hashlib.sha256(body).digest()


def assert_refused(tmp_path, data, words):
    path = tmp_path / "altered.pmr"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=words) as info:
        MomentRelease.load(path)
    assert "altered.pmr" in str(info.value)


def test_the_layout_is_the_documented_one(content, noisy):
    assert content.startswith(START)
    (length,) = struct.unpack_from("<Q", content, len(START))
    first = len(START) + 8
    header = json.loads(content[first : first + length])
    assert header["n_rows"] == noisy.n_rows
    assert header["card"] == noisy.card.to_dict()
    arrays = np.frombuffer(content[first + length : -32], dtype="<f8").reshape(2, 6, 6)
    np.testing.assert_array_equal(arrays[0], noisy.noisy_gram)
    np.testing.assert_array_equal(arrays[1], noisy.coordinates.unwhitener)
    assert hashlib.sha256(content[:-32]).digest() == content[-32:]


def test_round_trip(noisy, tmp_path):
    path = tmp_path / "moments.pmr"
    noisy.save(path)
    loaded = MomentRelease.load(str(path))
    assert repr(loaded) == repr(noisy)
    assert loaded.card == noisy.card
    for array in (loaded.noisy_gram, loaded.coordinates.unwhitener):
        assert not array.flags.writeable
    np.testing.assert_array_equal(loaded.ridge("age", 0.1).coef, noisy.ridge("age", 0.1).coef)


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
def test_round_trips_of_other_kinds(table, tmp_path):
    nameless = PublicMoments.from_matrix(np.eye(5) * 30.0, n=50)
    sites = [
        release_moments(part, privacy=GDP(1.0), public=public, radius=4.0)
        for public in (nameless, PublicMoments.identity(5))
        for part in (table[:700], table[700:])
    ]
    for number, release in enumerate([combine(sites[:2]), sites[2], sites[3]]):
        path = tmp_path / f"{number}.pmr"
        release.save(path)
        loaded = MomentRelease.load(path)
        assert loaded.card == release.card
        assert repr(loaded) == repr(release)
        np.testing.assert_array_equal(loaded.ridge(2).covariance, release.ridge(2).covariance)


def test_another_process_gets_the_same_coefficients(noisy, tmp_path):
    path = tmp_path / "moments.pmr"
    noisy.save(path)
    program = (
        "import sys\n"
        "from publicmoments.release import MomentRelease\n"
        "release = MomentRelease.load(sys.argv[1])\n"
        "fit = release.ridge('score', 0.3)\n"
        "print([x.hex() for x in [*fit.coef.tolist(), fit.intercept, *fit.std_err.tolist()]])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    fit = noisy.ridge("score", 0.3)
    ours = [x.hex() for x in [*fit.coef.tolist(), fit.intercept, *fit.std_err.tolist()]]
    assert done.stdout.strip() == str(ours)


def test_a_flipped_byte_is_refused_wherever_it_is(content, tmp_path):
    rng = np.random.default_rng(0)
    places = {*range(len(START) + 9), *rng.integers(0, len(content), 150).tolist()}
    places |= set(range(len(content) - 33, len(content)))
    for place in places:
        altered = bytearray(content)
        altered[place] ^= 1 << int(rng.integers(8))
        assert_refused(tmp_path, bytes(altered), "must")


def test_a_file_cut_short_or_drawn_out_is_refused(content, tmp_path):
    lengths = {0, 1, len(START) - 1, len(START), len(START) + 3, len(START) + 8, len(START) + 39}
    lengths |= set(np.random.default_rng(1).integers(0, len(content), 60).tolist())
    lengths |= {len(content) - k for k in range(1, 40)}
    for length in lengths:
        assert_refused(tmp_path, content[:length], "must")
    assert_refused(tmp_path, content + b"\0", "digest")
    assert_refused(tmp_path, content + content, "digest")


def test_a_digest_of_a_file_without_header_does_not_help(tmp_path):
    body = START + b"\1\2"
    assert_refused(tmp_path, body + hashlib.sha256(body).digest(), "have a header")


def test_unknown_versions_are_refused(content, tmp_path):
    for version in (b"2", b"10", b"0", b"", b"one"):
        body = b"publicmoments-release " + version + b"\n" + content[len(START) : -32]
        assert_refused(tmp_path, body + hashlib.sha256(body).digest(), "have version 1")


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("code was executed",))


def test_other_files_are_refused_and_not_executed(tmp_path):
    trap = pickle.dumps(Trap())
    for data in (b"", b"{}", b"\x80\x04", trap, b"PK\x03\x04", b"publicmoments"):
        assert_refused(tmp_path, data, "written by MomentRelease.save")
    for text in (trap, b"", b"[]", b"\xff", b"null"):
        body = START + struct.pack("<Q", len(text)) + text
        assert_refused(tmp_path, body + hashlib.sha256(body).digest(), "have")


@pytest.mark.parametrize(
    "change",
    [
        lambda h: {k: v for k, v in h.items() if k != "card"},
        lambda h: h | {"extra": 1},
        lambda h: h | {"n_rows": 0},
        lambda h: h | {"n_rows": 2.5},
        lambda h: h | {"n_rows": True},
        lambda h: h | {"dimension": 5},
        lambda h: h | {"dimension": 10**9},
        lambda h: h | {"dimension": -6},
        lambda h: h | {"columns": ["a"]},
        lambda h: h | {"columns": 7},
        lambda h: h | {"columns": [1, 2, 3, 4, 5]},
        lambda h: h | {"anchor": "no"},
        lambda h: h | {"diagonal_sd": -1.0},
        lambda h: h | {"diagonal_sd": float("nan")},
        lambda h: h | {"offdiagonal_sd": "small"},
        lambda h: h | {"weights": {}},
        lambda h: h | {"weights": h["weights"] | {"kept": 0.0}},
        lambda h: h | {"weights": h["weights"] | {"more": 1.0}},
        lambda h: h | {"weights": None},
        lambda h: h | {"coordinates": h["coordinates"] | {"n": 0}},
        lambda h: h | {"coordinates": h["coordinates"] | {"mean_known": 1}},
        lambda h: h | {"coordinates": {}},
        lambda h: h | {"card": {}},
        lambda h: h | {"card": h["card"] | {"private": "yes"}},
        lambda h: h | {"card": h["card"] | {"mu": "1"}},
        lambda h: h | {"card": h["card"] | {"passes": [{}]}},
        lambda h: h | {"card": h["card"] | {"epsilon_delta": [[1.0]]}},
    ],
)
def test_fields_are_checked_even_where_the_digest_fits(content, tmp_path, change):
    assert_refused(tmp_path, rebuilt(content, change), "must have")


def test_arrays_are_checked_even_where_the_digest_fits(content, tmp_path):
    good = np.random.default_rng(0).normal(size=(2, 6, 6))
    good = good + good.transpose(0, 2, 1)
    path = tmp_path / "good.pmr"
    path.write_bytes(rebuilt(content, arrays=good.astype("<f8").tobytes()))
    np.testing.assert_array_equal(MomentRelease.load(path).noisy_gram, good[0])
    spoilt = good.copy()
    spoilt[0, 1, 2] += 1.0
    assert_refused(tmp_path, rebuilt(content, arrays=spoilt.astype("<f8").tobytes()), "symmetric")
    spoilt[:] = np.nan
    assert_refused(tmp_path, rebuilt(content, arrays=spoilt.astype("<f8").tobytes()), "finite")
    assert_refused(tmp_path, rebuilt(content, arrays=b"\0" * 8), "dimension")


def test_a_failed_save_leaves_the_old_file(noisy, tmp_path, monkeypatch):
    path = tmp_path / "moments.pmr"
    noisy.save(path)
    before = path.read_bytes()

    def broken(source, target):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        noisy.save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["moments.pmr"]


def test_a_missing_file_is_reported_as_such(tmp_path):
    with pytest.raises(FileNotFoundError):
        MomentRelease.load(tmp_path / "nowhere.pmr")
