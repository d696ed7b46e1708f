"""Public moments on disk.

The file is JSON with these fields, all of them required:

``format``
    ``"publicmoments"``.
``version``
    ``1``.
``n``
    Number of public rows, or null when ``assumed``.
``assumed``
    Whether the moments are assumed rather than measured.
``columns``
    Feature names, or null.
``responses``
    Number of responses; they are the last variables of ``mean`` and ``spread``.
``response_names``
    Their names, or null.
``response_scale``
    Root mean squares of responses that are not among the variables, or null.
``mean``
    Mean of each variable, or null.
``spread``
    Second moment of the variables about ``mean`` (about zero when that is null), row by row.

Numbers are written with all their digits, so that a file gives back the same fingerprint. Public
rows are never written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np

from publicmoments.arrays import Array
from publicmoments.checks import positive_integer
from publicmoments.io.atomic import write_atomically
from publicmoments.public.joint import JointMoments, Spread
from publicmoments.public.validation import (
    checked_columns,
    checked_matrix,
    checked_response_scale,
    checked_vector,
    refuse_extreme_scales,
)

FORMAT, VERSION = "publicmoments", 1
FIELDS = (
    "n",
    "assumed",
    "columns",
    "responses",
    "response_names",
    "response_scale",
    "mean",
    "spread",
)

T = TypeVar("T")


def write_joint(joint: JointMoments, path: str | os.PathLike[str]) -> None:
    """Write the document, complete or not at all."""
    text = json.dumps(_document(joint), allow_nan=False, indent=1) + "\n"
    write_atomically(Path(path), text.encode())


def read_joint(path: str | os.PathLike[str]) -> JointMoments:
    """Read a file and check every field of it."""
    document = _parsed(path)
    responses = _responses(document, path)
    spread = _spread(document, path)
    d = len(spread.about) - responses
    if not d >= 1:
        _refuse(path, "responses", f"below the {len(spread.about)} variables")
    names, given = document["response_names"], document["response_scale"]
    if responses and given is not None:
        _refuse(path, "response_scale", "null, as the responses are among the variables")
    return JointMoments(
        spread=spread,
        columns=_field(path, "columns", lambda: checked_columns(document["columns"], d)),
        n_responses=responses,
        response_names=_field(path, "response_names", lambda: checked_columns(names, responses)),
        response_scale=_field(path, "response_scale", lambda: _scale(given)),
        assumed=document["assumed"],
    )


def _document(joint: JointMoments) -> dict[str, Any]:
    """Lay out the fields of the file."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "n": joint.spread.n,
        "assumed": joint.assumed,
        "columns": joint.columns,
        "responses": joint.n_responses,
        "response_names": joint.response_names,
        "response_scale": _listed(joint.response_scale),
        "mean": _listed(joint.spread.mean),
        "spread": _listed(joint.spread.about),
    }


def _listed(values: Array | None) -> Any:
    """Turn an array into nested lists."""
    return None if values is None else values.tolist()


def _parsed(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read JSON and check that it is a file of this format and version."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (RecursionError, ValueError):
        raise ValueError(f"{path} must be a JSON file written by PublicMoments.save") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        _refuse(path, "format", repr(FORMAT))
    if document.get("version") != VERSION:
        _refuse(path, "version", f"{VERSION}, the one this release reads")
    missing = [name for name in FIELDS if name not in document]
    if missing:
        _refuse(path, ", ".join(missing), "present")
    if not isinstance(document["assumed"], bool):
        _refuse(path, "assumed", "true or false")
    return document


def _responses(document: dict[str, Any], path: str | os.PathLike[str]) -> int:
    """Read the number of responses."""
    count = document["responses"]
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        _refuse(path, "responses", "a whole number, zero or more")
    return count


def _spread(document: dict[str, Any], path: str | os.PathLike[str]) -> Spread:
    """Read the moments."""
    about = _field(path, "spread", lambda: checked_matrix(document["spread"], "spread"))
    mean, n = document["mean"], document["n"]
    if mean is not None:
        mean = _field(path, "mean", lambda: checked_vector(mean, len(about), "mean"))
    centre = np.zeros(len(about)) if mean is None else np.abs(mean)
    sizes = np.hypot(np.sqrt(np.diag(about)), centre)
    _field(path, "spread", lambda: refuse_extreme_scales(sizes, None, "spread and mean"))
    if n is not None or not document["assumed"]:
        n = _field(path, "n", lambda: positive_integer("n", n))
    return Spread(mean, about, n)


def _scale(values: Any) -> Array | None:
    """Read response scales, where there are any."""
    return None if values is None else checked_response_scale(values)


def _field(path: str | os.PathLike[str], name: str, read: Callable[[], T]) -> T:
    """Read one field; an error names the file and the field."""
    try:
        return read()
    except (TypeError, ValueError) as error:
        raise ValueError(f"field {name!r} of {path} is not valid: {error}") from None


def _refuse(path: str | os.PathLike[str], name: str, expected: str) -> NoReturn:
    """Raise for a field that is missing or of the wrong kind."""
    raise ValueError(
        f"field {name!r} of {path} must be {expected}; save the moments again with "
        "PublicMoments.save"
    )
