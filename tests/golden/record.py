"""Figures on paper: how they are written, compared, and on which machine they were made."""

from __future__ import annotations

import hashlib
import json
import platform
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
import threadpoolctl

from publicmoments import PublicMomentsWarning

__all__ = ["FILE", "REL_TOL", "differences", "fingerprint", "plain", "read", "run", "write"]

FILE = Path(__file__).with_name("figures.json")

KEPT_NUMBERS, KEPT_TEXT, LEADING = 6, 100, 2
"""Longer arrays and texts are kept as a digest, the former with their first numbers."""

REL_TOL = 1e-2
"""How far figures may be from the recorded ones, relative to the largest of their array, where the
arithmetic is not that of the recording: a row that is rounded otherwise moves a sum by a unit of
its grid, and fits to few rows show it."""


def fingerprint() -> dict[str, Any]:
    """Tell what the last bits depend on: libraries, processor and kernels of linear algebra."""
    simd = np.show_config(mode="dicts")["SIMD Extensions"]
    return {
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "machine": platform.machine(),
        "libc": " ".join(platform.libc_ver()),
        "blas": sorted(
            f"{one['internal_api']} {one['version']} {one.get('architecture', '')}".strip()
            for one in threadpoolctl.threadpool_info()
            if one["user_api"] == "blas"
        ),
        "simd": sorted([*simd.get("baseline", ()), *simd.get("found", ())]),
    }


def run(function: Any) -> dict[str, Any]:
    """Make the figures of a case in one thread, with the warnings that the library gave."""
    with threadpoolctl.threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figures = {name: plain(value) for name, value in function().items()}
    told = [str(one.message) for one in caught if issubclass(one.category, PublicMomentsWarning)]
    return figures | {"warnings": told}


def plain(value: Any) -> Any:
    """Turn a figure into what JSON holds, all bits of its numbers included."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value if len(value) <= KEPT_TEXT else "sha256:" + _digest(value.encode())
    if isinstance(value, bytes):
        return "sha256:" + _digest(value)
    array = np.asarray(value)
    if array.dtype.kind in "OUS":
        return [str(one) for one in array.ravel()]
    if array.ndim == 0:
        return array.item()
    return _array(array)


def _array(array: Any) -> Any:
    """Numbers in a row, with their shape where there is more than a row."""
    numbers = array.ravel().tolist()
    if array.size > KEPT_NUMBERS:
        digest = _digest(np.ascontiguousarray(array).tobytes())
        return {"shape": list(array.shape), "first": numbers[:LEADING], "sha256": digest}
    return numbers if array.ndim == 1 else {"shape": list(array.shape), "numbers": numbers}


def _digest(data: bytes) -> str:
    """A digest that is long enough to tell differences, and short enough for a file of many."""
    return hashlib.sha256(data).hexdigest()[:16]


def write(cases: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the figures of all cases, one to a line."""
    blocks = []
    for case in sorted(cases):
        lines = [f"{json.dumps(name)}: {_text(value)}" for name, value in cases[case].items()]
        blocks.append(f"{json.dumps(case)}: {{\n" + ",\n".join(lines) + "\n}")
    head = f'"fingerprint": {json.dumps(fingerprint())}'
    body = ",\n".join(blocks)
    FILE.write_text(f'{{\n{head},\n"cases": {{\n{body}\n}}\n}}\n', encoding="utf-8")


def read() -> dict[str, Any]:
    """Read the fingerprint and the figures of all cases."""
    recorded: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return recorded


def differences(
    recorded: Mapping[str, Any], found: Mapping[str, Any], *, exact: bool = True
) -> list[str]:
    """
    Name what differs between two records of a case.

    Compared bit for bit if ``exact``. Otherwise numbers may differ by `REL_TOL`, while texts and
    digests, which show every bit, are not compared.
    """
    same = _same if exact else _close
    names = [*recorded, *(name for name in found if name not in recorded)]
    return [
        f"{name}: recorded {_text(recorded.get(name, 'nothing'))}, "
        f"found {_text(found.get(name, 'nothing'))}"
        for name in names
        if (name in recorded) != (name in found) or not same(recorded[name], found[name])
    ]


def _text(value: Any) -> str:
    """JSON in one line; floats are written so that all their bits are read again."""
    return json.dumps(value, separators=(",", ":"))


def _same(one: Any, other: Any) -> bool:
    """Tell whether all bits agree, the sign of zero included."""
    return _text(one) == _text(other)


def _close(one: Any, other: Any) -> bool:
    """Tell whether numbers agree up to the tolerance; texts always do."""
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str)
    if isinstance(one, dict) and isinstance(other, dict):
        parts = ("shape", "numbers", "first")
        return set(one) == set(other) and all(_close(one.get(k), other.get(k)) for k in parts)
    if one is None or other is None:
        return one is other
    if np.shape(one) != np.shape(other):
        return False
    a, b = np.asarray(one), np.asarray(other)
    if a.dtype.kind in "U" or b.dtype.kind in "U":
        return a.dtype.kind == b.dtype.kind
    finite = np.abs(a[np.isfinite(a)]) if a.size else a
    reach = REL_TOL * float(np.max(finite, initial=0.0))
    return bool(np.allclose(a.astype(float), b.astype(float), 0.0, reach, equal_nan=True))
