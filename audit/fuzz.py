"""
Fuzzing the readers: whatever a file holds, a reader returns or raises an error of its own kind.

Valid files are damaged byte by byte and field by field; digests are made good again, so that the
checks behind them are reached. Readers may neither run code nor take much memory: see
`audit.confined`. ``python -m audit.fuzz --seconds 300`` runs long; a seed that fails is printed and
fails again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import struct
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from audit.confined import code_run, little_memory
from publicmoments import GDP, PublicMoments, Ridge, load_model, release_moments, save_model
from publicmoments.privacy import Ledger
from publicmoments.privacy.ledger.lines import Event, replay
from publicmoments.release import MomentRelease

__all__ = ["ALLOWED", "TARGETS", "Fuzzed", "fuzz", "target"]

ALLOWED = (ValueError, OSError)
"""What readers may raise; errors of the ledger are OSErrors."""

MAGIC, DIGEST = b"publicmoments-release 1\n", 32
STRANGE = (
    *(None, True, False, 0, -1, 1, 2, 10**400, -0.5, 1e308, 1e-320, "", "x", "NaN", "0x1p-3"),
    *([], {}, [[]], [None], [1e999], {"kind": "GDP"}, [[1.0, 2.0], [2.0]], "Ridge", "a" * 5000),
)


@dataclass(frozen=True)
class Target:
    """
    A reader: a valid file, how it is read, and how a damaged document is written again.

    ``sealed`` gives damaged bytes the digest that they have, where a file ends in one.
    """

    name: str
    valid: bytes
    read: Callable[[Path], Any]
    parse: Callable[[bytes], Any]
    write: Callable[[Any], bytes]
    sealed: Callable[[bytes], bytes] = bytes


@dataclass(frozen=True)
class Fuzzed:
    """Outcome for one reader: files, how many of them were read, failures and the time it took."""

    name: str
    files: int
    accepted: int
    failures: tuple[str, ...]
    seconds: float

    @property
    def sound(self) -> bool:
        """Whether only errors of the right kind were raised."""
        return not self.failures


def fuzz(reader: Target, seconds: float, seed: int = 0) -> Fuzzed:
    """Damage a file again and again, for some time; seeds count up from the first."""
    started, files, accepted, failures = time.monotonic(), 0, 0, []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), little_memory():
        warnings.simplefilter("ignore")
        while time.monotonic() - started < seconds and len(failures) < 5:
            path = Path(folder) / f"{files}"
            path.write_bytes(damaged(reader, random.Random(seed + files)))
            readable, said = _read(reader, path)
            accepted += readable
            failures += [f"seed {seed + files}: {said}"] if said else []
            path.unlink()
            files += 1
    return Fuzzed(reader.name, files, accepted, tuple(failures), time.monotonic() - started)


def _read(reader: Target, path: Path) -> tuple[bool, str]:
    """Read a file: whether it could be read, and what went wrong that may not."""
    said, readable = "", False
    with code_run() as run:
        try:
            reader.read(path)
            readable = True
        except ALLOWED:
            pass
        except Exception as error:
            said = f"{type(error).__name__}: {str(error)[:80]}"
    return readable, f"ran code by {run[0]}" if run else said


def damaged(reader: Target, rng: random.Random) -> bytes:
    """A file with random bytes, or with fields of the wrong kind."""
    if rng.random() < 0.3:
        content = _bytes_changed(reader.valid, rng)
        return reader.sealed(content) if rng.random() < 0.5 else content
    document = reader.parse(reader.valid)
    for _ in range(rng.randint(1, 2)):
        document = _field_changed(document, rng)
    return reader.write(document)


def _bytes_changed(valid: bytes, rng: random.Random) -> bytes:
    """Cut, repeat or overwrite a stretch of bytes."""
    start, length = rng.randrange(len(valid)), rng.choice([1, 2, 8, 200])
    kind = rng.randrange(5)
    if kind == 0:
        return valid[:start]
    if kind == 1:
        return valid[:start] + valid[start + length :]
    if kind == 2:
        return valid[:start] + valid[start : start + length] * 3 + valid[start:]
    if kind == 3:
        return rng.randbytes(length)
    return valid[:start] + rng.randbytes(length) + valid[start + length :]


def _field_changed(document: Any, rng: random.Random) -> Any:
    """Replace, drop or add something at a random place of a JSON document."""
    if not isinstance(document, dict | list) or not document or rng.random() < 0.15:
        return rng.choice(STRANGE)
    copy = dict(document) if isinstance(document, dict) else list(document)
    key = rng.choice(list(copy)) if isinstance(copy, dict) else rng.randrange(len(copy))
    if rng.random() < 0.1:
        del copy[key]
    else:
        copy[key] = _field_changed(copy[key], rng)
    return copy


def _as_json(document: Any) -> bytes:
    return json.dumps(document).encode()


def _model_again(document: Any) -> bytes:
    """Write a model with the digest that its fields have."""
    if isinstance(document, dict):
        rest = {name: value for name, value in document.items() if name != "sha256"}
        text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
        document = rest | {"sha256": hashlib.sha256(text.encode()).hexdigest()}
    return _as_json(document)


def _release_parts(content: bytes) -> Any:
    """Header of a release, with its arrays as text beside it."""
    (length,) = struct.unpack_from("<Q", content, len(MAGIC))
    start = len(MAGIC) + 8
    header = json.loads(content[start : start + length])
    return {"header": header, "arrays": content[start + length : -DIGEST].hex()}


def _release_again(document: Any) -> bytes:
    """Write a release with the digest that its parts have."""
    document = document if isinstance(document, dict) else {}
    text = json.dumps(document.get("header")).encode()
    try:
        arrays = bytes.fromhex(document.get("arrays", ""))
    except (TypeError, ValueError):
        arrays = b"\x00" * 64
    return _release_sealed(MAGIC + struct.pack("<Q", len(text)) + text + arrays + bytes(DIGEST))


def _release_sealed(content: bytes) -> bytes:
    """Replace what stands at the end by the digest of the rest."""
    body = content[:-DIGEST]
    return body + hashlib.sha256(body).digest()


def _replayed(path: Path) -> Any:
    """Replay lines of a ledger that stand in a file."""
    lines = json.loads(path.read_bytes().decode())
    if not isinstance(lines, list) or not all(isinstance(line, dict) for line in lines):
        raise ValueError("lines must be a list")
    names = set(Event.__dataclass_fields__)
    # The columns of the table are fixed, and so are their kinds: texts, integers and switches.
    kinds = (str, int, bool, type(None))
    if not all(set(line) == names for line in lines) or not all(
        isinstance(value, kinds) for line in lines for value in line.values()
    ):
        raise ValueError("a line must have the columns of the table")
    return replay(Event(**line) for line in lines)


def _opened_ledger(path: Path) -> Any:
    """Open a damaged ledger, read all of it and try to charge."""
    ledger = Ledger(path, busy_timeout=1.0)
    ledger.export("csv")
    return ledger.charge("wine", GDP(0.1))


def target(name: str, folder: Path) -> Target:
    """Make a reader's valid file in a folder."""
    path = folder / f"valid-{name}"
    rng = np.random.default_rng(3)
    X, B = rng.normal(size=(2, 60, 2))
    if name == "public moments":
        PublicMoments.from_rows(B, response=B[:, 0], columns=["a", "b"]).save(path)
        return Target(name, path.read_bytes(), PublicMoments.load, json.loads, _as_json)
    if name == "release":
        public = PublicMoments.from_rows(B, columns=["a", "b"])
        release_moments(X, privacy=GDP(1.0), public=public, random_state=0).save(path)
        valid = path.read_bytes()
        read, parts = MomentRelease.load, _release_parts
        return Target(name, valid, read, parts, _release_again, _release_sealed)
    if name == "model":
        public = PublicMoments.from_rows(B, response=B[:, 0])
        model = Ridge(privacy=GDP(1.0), public=public, random_state=0)
        save_model(model.fit(X, X[:, 0]), path)
        return Target(name, path.read_bytes(), load_model, json.loads, _model_again)
    ledger = Ledger(path)
    ledger.cap("wine", GDP(5.0))
    ledger.released(ledger.charge("wine", GDP(1.0), note="first"))
    ledger.charge("wine", GDP(0.5), private=False)
    if name == "ledger file":
        # Of a database only the bytes are damaged.
        content = path.read_bytes()
        return Target(name, content, _opened_ledger, lambda _: [], lambda _: content[:100])
    events = [replace(event, at="2026-01-01T00:00:00+00:00") for event in ledger._store.events()]
    lines = _as_json([asdict(event) for event in events])
    return Target(name, lines, _replayed, json.loads, _as_json)


TARGETS = ("public moments", "release", "model", "ledger file", "ledger lines")


def main() -> int:
    """Fuzz every reader; fail if one raised what it may not."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=300.0, help="for each reader")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="the first of many")
    given = parser.parse_args()
    sound = True
    with tempfile.TemporaryDirectory() as folder:
        for name in TARGETS:
            outcome = fuzz(target(name, Path(folder)), given.seconds, given.seed)
            sound &= outcome.sound
            told = f"{outcome.files} files, {outcome.accepted} readable"
            print(f"{name}: {told}", flush=True)
            for failure in outcome.failures:
                print(f"  {failure}")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
