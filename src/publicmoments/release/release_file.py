"""
Moment releases on disk: one file, no code in it.

A file is, in this order,

1. the line ``publicmoments-release 1`` in ASCII, with its line feed; 1 is the version;
2. the length of the header in bytes, an unsigned 64-bit little-endian integer;
3. the header, JSON in UTF-8, with the fields below;
4. the arrays ``noisy_gram`` and ``unwhitener``, each p x p little-endian 64-bit floats row by row;
5. the SHA-256 of everything before it, 32 bytes.

Fields of the header, all of them required:

``n_rows``
    Number of private rows.
``columns``
    Names of the columns, or null.
``diagonal_sd``, ``offdiagonal_sd``
    Noise sd of the entries of ``noisy_gram``.
``weights``
    ``radius``, ``kept``, ``kept_ones``, ``kept_shape``, ``second``, ``predicted_noise``,
    ``predicted_bias``.
``coordinates``
    ``n``, ``fingerprint``, ``mean_known``, ``tail``.
``anchor``
    Whether public moments count as evidence.
``card``
    The privacy card.
``dimension``
    p, the number of columns plus one.

Numbers keep all their digits, so that readings of a loaded release are those of the saved one. The
digest tells damage, not forgery: whoever can write the file can write another digest.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from publicmoments.arrays import Array, read_only
from publicmoments.io.atomic import write_atomically
from publicmoments.io.envelope import FileKind, PathLike, flag, size, whole
from publicmoments.privacy.card import card_from
from publicmoments.release.moment_card import MomentPass
from publicmoments.release.second_moment import Coordinates
from publicmoments.release.weights import RowWeights

PLAIN = ("n_rows", "columns", "diagonal_sd", "offdiagonal_sd")
COORDINATES = ("n", "fingerprint", "mean_known", "tail")
FIELDS = frozenset({*PLAIN, "weights", "coordinates", "anchor", "card", "dimension"})
RELEASE_FILE = FileKind("publicmoments-release", 1, FIELDS, "MomentRelease.save", "release")
MAGIC = b"publicmoments-release "
LENGTH = struct.Struct("<Q")
DIGEST = 32


def write_release(path: PathLike, fields: Mapping[str, Any]) -> None:
    """Write the fields of a release, complete or not at all."""
    where: Coordinates = fields["coordinates"]
    header = {name: fields[name] for name in PLAIN} | {
        "weights": asdict(fields["weights"]),
        "coordinates": {name: getattr(where, name) for name in COORDINATES},
        "anchor": fields["anchor"],
        "card": fields["card"].to_dict(),
        "dimension": len(fields["noisy_gram"]),
    }
    text = json.dumps(header, allow_nan=False).encode()
    arrays = (fields["noisy_gram"], where.unwhitener)
    numbers = b"".join(array.astype("<f8").tobytes() for array in arrays)
    body = MAGIC + b"%d\n" % RELEASE_FILE.version + LENGTH.pack(len(text)) + text + numbers
    write_atomically(Path(path), body + hashlib.sha256(body).digest())


def read_release(path: PathLike) -> dict[str, Any]:
    """Read the fields of a release, checking the file as a whole and each of them."""
    header, arrays = _parts(path)
    with RELEASE_FILE.checking(path):
        return _fields(header, arrays)


def _parts(path: PathLike) -> tuple[dict[str, Any], bytes]:
    """Check name, version and digest of a file; split it into header and arrays."""
    content = Path(path).read_bytes()
    if not content.startswith(MAGIC):
        RELEASE_FILE.refuse(path, "be a file written by MomentRelease.save")
    version, _, _ = content[len(MAGIC) : len(MAGIC) + 20].partition(b"\n")
    known = version == b"%d" % RELEASE_FILE.version
    shown = RELEASE_FILE.version if known else version.decode("ascii", "replace")
    RELEASE_FILE.check_version(path, shown)
    body, digest = content[:-DIGEST], content[-DIGEST:]
    if hashlib.sha256(body).digest() != digest:
        RELEASE_FILE.refuse(
            path, "be whole, but its digest does not match: it was cut short or altered"
        )
    rest = body[len(MAGIC) + len(version) + 1 :]
    if len(rest) < LENGTH.size:
        RELEASE_FILE.refuse(path, "have a header")
    end = LENGTH.size + LENGTH.unpack_from(rest)[0]
    header = RELEASE_FILE.parsed(path, rest[LENGTH.size : end], "have a header in JSON")
    RELEASE_FILE.check_fields(path, header.keys())
    return header, rest[end:]


def _fields(header: dict[str, Any], arrays: bytes) -> dict[str, Any]:
    """Turn header and arrays into the fields of a release."""
    p, n_rows = whole("dimension", header["dimension"], 2), whole("n_rows", header["n_rows"])
    noisy_gram, unwhitener = _matrices(arrays, p)
    where, names = header["coordinates"], header["columns"]
    if names is not None and not (
        len(names) == p - 1 and all(isinstance(name, str) for name in names)
    ):
        raise ValueError("columns must be null, or one name for each column")
    return {
        "noisy_gram": noisy_gram,
        "diagonal_sd": size("diagonal_sd", header["diagonal_sd"]),
        "offdiagonal_sd": size("offdiagonal_sd", header["offdiagonal_sd"]),
        "n_rows": n_rows,
        "columns": None if names is None else tuple(names),
        "weights": RowWeights(
            **{
                name: size(name, value, zero=name.startswith("predicted"))
                for name, value in header["weights"].items()
            }
        ),
        "coordinates": Coordinates(
            unwhitener=unwhitener,
            n=None if where["n"] is None else whole("n", where["n"]),
            fingerprint=str(where["fingerprint"]),
            mean_known=flag("mean_known", where["mean_known"]),
            tail=size("tail", where["tail"]),
        ),
        "anchor": flag("anchor", header["anchor"]),
        "card": card_from(header["card"], MomentPass),
    }


def _matrices(arrays: bytes, p: int) -> tuple[Array, Array]:
    """Read two finite p x p matrices, the first of them symmetric."""
    if len(arrays) != 2 * p * p * 8:
        raise ValueError("the arrays must have the stated dimension")
    gram, unwhitener = np.frombuffer(arrays, dtype="<f8").reshape(2, p, p)
    if not (np.isfinite(gram).all() and np.isfinite(unwhitener).all()):
        raise ValueError("the arrays must be finite")
    if not np.array_equal(gram, gram.T):
        raise ValueError("noisy_gram must be symmetric")
    return read_only(gram), read_only(unwhitener)
