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

from collections.abc import Mapping
from typing import Any

import numpy as np

from publicmoments.arrays import Array
from publicmoments.checks import positive_integer
from publicmoments.io.envelope import FileKind, PathLike, field, flag, whole
from publicmoments.public.joint import JointMoments, Spread
from publicmoments.public.validation import (
    checked_columns,
    checked_matrix,
    checked_response_scale,
    checked_vector,
    refuse_extreme_scales,
)

FIELDS = "n assumed columns responses response_names response_scale mean spread"
MOMENTS_FILE = FileKind(
    "publicmoments", 1, frozenset(FIELDS.split()), "PublicMoments.save", "moments"
)


def write_joint(joint: JointMoments, path: PathLike) -> None:
    """Write the document, complete or not at all."""
    fields = {
        "n": joint.spread.n,
        "assumed": joint.assumed,
        "columns": joint.columns,
        "responses": joint.n_responses,
        "response_names": joint.response_names,
        "response_scale": _listed(joint.response_scale),
        "mean": _listed(joint.spread.mean),
        "spread": _listed(joint.spread.about),
    }
    MOMENTS_FILE.write(path, fields)


def read_joint(path: PathLike) -> JointMoments:
    """Read a file and check every field of it."""
    document = MOMENTS_FILE.read(path)
    with MOMENTS_FILE.checking(path):
        spread = _spread(document)
        d = len(spread.about)
        q = field(document, "responses", lambda value: _responses(value, d))
        return JointMoments(
            spread=spread,
            columns=field(document, "columns", lambda names: checked_columns(names, d - q)),
            n_responses=q,
            response_names=field(
                document, "response_names", lambda names: checked_columns(names, q)
            ),
            response_scale=field(document, "response_scale", lambda values: _scale(values, q)),
            assumed=field(document, "assumed", lambda value: flag("assumed", value)),
        )


def _spread(document: Mapping[str, Any]) -> Spread:
    """Read the moments."""
    about = field(document, "spread", lambda rows: checked_matrix(rows, "spread"))
    mean = field(document, "mean", lambda row: _vector(row, len(about)))
    sizes = np.hypot(np.sqrt(np.diag(about)), 0.0 if mean is None else np.abs(mean))
    field(document, "spread", lambda _: refuse_extreme_scales(sizes, None, "spread and mean"))
    unknown = document["n"] is None and document["assumed"]
    n = None if unknown else field(document, "n", lambda value: positive_integer("n", value))
    return Spread(mean, about, n)


def _vector(row: Any, d: int) -> Array | None:
    """Read the mean, where it is known."""
    return None if row is None else checked_vector(row, d, "mean")


def _responses(value: object, d: int) -> int:
    """Read the number of responses, which leave a feature."""
    if whole("responses", value, 0) >= d:
        raise ValueError(f"responses must be fewer than the {d} variables")
    return whole("responses", value, 0)


def _scale(values: Any, q: int) -> Array | None:
    """Read response scales, where there are any."""
    if q and values is not None:
        raise ValueError("response_scale must be null, as the responses are among the variables")
    return None if values is None else checked_response_scale(values)


def _listed(values: Array | None) -> Any:
    """Turn an array into nested lists."""
    return None if values is None else values.tolist()
