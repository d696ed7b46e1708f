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
import math
import os
import struct
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from publicmoments.arrays import Array, read_only
from publicmoments.io.atomic import write_atomically
from publicmoments.privacy.card import card_from
from publicmoments.release.moment_card import MomentPass
from publicmoments.release.second_moment import Coordinates
from publicmoments.release.weights import RowWeights

MAGIC, VERSION = b"publicmoments-release ", 1
LENGTH = struct.Struct("<Q")
DIGEST = 32
FIELDS = {
    "n_rows",
    "columns",
    "diagonal_sd",
    "offdiagonal_sd",
    "weights",
    "coordinates",
    "anchor",
    "card",
    "dimension",
}


def write_release(path: str | os.PathLike[str], fields: Mapping[str, Any]) -> None:
    """Write the fields of a release, complete or not at all."""
    coordinates: Coordinates = fields["coordinates"]
    header = {
        "n_rows": fields["n_rows"],
        "columns": fields["columns"],
        "diagonal_sd": fields["diagonal_sd"],
        "offdiagonal_sd": fields["offdiagonal_sd"],
        "weights": asdict(fields["weights"]),
        "coordinates": {
            name: getattr(coordinates, name) for name in ("n", "fingerprint", "mean_known", "tail")
        },
        "anchor": fields["anchor"],
        "card": fields["card"].to_dict(),
        "dimension": len(fields["noisy_gram"]),
    }
    text = json.dumps(header, allow_nan=False).encode()
    arrays = [fields["noisy_gram"], coordinates.unwhitener]
    body = b"".join(
        [
            MAGIC + b"%d\n" % VERSION,
            LENGTH.pack(len(text)),
            text,
            *(array.astype("<f8").tobytes() for array in arrays),
        ]
    )
    write_atomically(Path(path), body + hashlib.sha256(body).digest())


def read_release(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the fields of a release, checking the file as a whole and each of them."""
    header, arrays = _parts(path)
    try:
        return _fields(header, arrays)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        _refuse(path, f"have valid fields, but: {error}")


def _parts(path: str | os.PathLike[str]) -> tuple[dict[str, Any], bytes]:
    """Check name, version and digest of a file; split it into header and arrays."""
    content = Path(path).read_bytes()
    if not content.startswith(MAGIC):
        _refuse(path, "be a file written by MomentRelease.save")
    version, _, _ = content[len(MAGIC) : len(MAGIC) + 20].partition(b"\n")
    if version != b"%d" % VERSION:
        shown = version.decode("ascii", "replace")
        _refuse(path, f"have version {VERSION}, the one this library reads, not {shown!r}")
    body, digest = content[:-DIGEST], content[-DIGEST:]
    if hashlib.sha256(body).digest() != digest:
        _refuse(path, "be whole, but its digest does not match: it was cut short or altered")
    rest = body[len(MAGIC) + len(version) + 1 :]
    if len(rest) < LENGTH.size:
        _refuse(path, "have a header")
    (length,) = LENGTH.unpack_from(rest)
    text, arrays = rest[LENGTH.size : LENGTH.size + length], rest[LENGTH.size + length :]
    try:
        header = json.loads(text.decode())
    except (RecursionError, ValueError):
        _refuse(path, "have a header in JSON")
    if not isinstance(header, dict) or set(header) != FIELDS:
        _refuse(path, f"have the fields {', '.join(sorted(FIELDS))}")
    return header, arrays


def _fields(header: dict[str, Any], arrays: bytes) -> dict[str, Any]:
    """Turn header and arrays into the fields of a release."""
    p, n_rows = _count(header["dimension"], 2), _count(header["n_rows"], 1)
    noisy_gram, unwhitener = _matrices(arrays, p)
    where = header["coordinates"]
    names = header["columns"]
    if names is not None and not (
        len(names) == p - 1 and all(isinstance(name, str) for name in names)
    ):
        raise ValueError("columns must be null, or one name for each column")
    if not (isinstance(header["anchor"], bool) and isinstance(where["mean_known"], bool)):
        raise ValueError("anchor and mean_known must be true or false")
    return {
        "noisy_gram": noisy_gram,
        "diagonal_sd": _positive(header["diagonal_sd"]),
        "offdiagonal_sd": _positive(header["offdiagonal_sd"]),
        "n_rows": n_rows,
        "columns": None if names is None else tuple(names),
        "weights": RowWeights(
            **{
                name: _positive(value, zero=name.startswith("predicted"))
                for name, value in header["weights"].items()
            }
        ),
        "coordinates": Coordinates(
            unwhitener=unwhitener,
            n=None if where["n"] is None else _count(where["n"], 1),
            fingerprint=str(where["fingerprint"]),
            mean_known=where["mean_known"],
            tail=_positive(where["tail"]),
        ),
        "anchor": header["anchor"],
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


def _count(value: object, least: int) -> int:
    """Read a whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"counts must be whole numbers of at least {least}")
    return value


def _positive(value: object, *, zero: bool = False) -> float:
    """Read a finite number, positive unless zero is allowed."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("sizes must be numbers")
    if not (0.0 < value < math.inf or (zero and value == 0.0)):
        raise ValueError("sizes must be finite and positive")
    return float(value)


def _refuse(path: str | os.PathLike[str], expected: str) -> NoReturn:
    """Raise for a file that is not what it must be."""
    raise ValueError(f"{path} must {expected}; save the release again, or fetch the file again")
