"""One checked envelope for files: written whole, and read only as this library writes them."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeAlias, TypeVar

from publicmoments.io.atomic import write_atomically

Value = TypeVar("Value")
PathLike: TypeAlias = str | os.PathLike[str]

WRONG = AttributeError, KeyError, OverflowError, TypeError, ValueError
"""What reading a field may raise that is not as it was written."""


@dataclass(frozen=True)
class FileKind:
    """
    One kind of file.

    Parameters
    ----------
    format : str
        What a file calls itself.
    version : int
        The one version that is written and read.
    fields : frozenset of str
        What it has besides format and version, all of it required and nothing else.
    writer : str
        The function or method that writes it.
    noun : str
        What is in it.
    """

    format: str
    version: int
    fields: frozenset[str]
    writer: str
    noun: str

    def write(self, path: PathLike, fields: Mapping[str, Any]) -> None:
        """
        Write a JSON document, complete or not at all.

        A field ``sha256`` becomes the digest of the others.
        """
        document = {"format": self.format, "version": self.version, **fields}
        if "sha256" in self.fields:
            document["sha256"] = digest_of(document)
        text = json.dumps(document, allow_nan=False, indent=1) + "\n"
        write_atomically(Path(path), text.encode())

    def read(self, path: PathLike) -> dict[str, Any]:
        """Read a JSON document, whose format, version, digest and names of fields are checked."""
        expected = f"be a whole JSON file written by {self.writer}"
        document = self.parsed(path, Path(path).read_bytes(), expected)
        if document.get("format") != self.format:
            self.refuse(path, f"be a file written by {self.writer}")
        self.check_version(path, document.get("version"))
        self.check_fields(path, document.keys() - {"format", "version"})
        if "sha256" in self.fields and document["sha256"] != digest_of(document):
            self.refuse(path, "be whole, but its digest does not match: it was altered")
        return document

    def parsed(self, path: PathLike, text: bytes, expected: str) -> dict[str, Any]:
        """Read a JSON object, which has neither NaN nor infinities."""
        document = None
        with suppress(RecursionError, ValueError):
            document = json.loads(text.decode(), parse_constant=_no_constant)
        if not isinstance(document, dict):
            self.refuse(path, expected)
        return document

    def check_version(self, path: PathLike, version: object) -> None:
        """Refuse versions that are not read."""
        if version != self.version:
            expected = f"{self.version}, the one this library reads"
            self.refuse(path, f"have version {expected}, not {version!r}")

    def check_fields(self, path: PathLike, names: Set[str]) -> None:
        """Refuse a document that lacks fields or has others."""
        if names != self.fields:
            lacking = ", ".join(sorted(self.fields - names)) or "none"
            shown = ", ".join(sorted(self.fields))
            self.refuse(path, f"have the fields {shown} and no others; missing: {lacking}")

    @contextmanager
    def checking(self, path: PathLike) -> Iterator[None]:
        """Turn whatever a field is refused for into an error that names the file."""
        try:
            yield
        except WRONG as error:
            self.refuse(path, f"have valid fields, but: {error}")

    def refuse(self, path: PathLike, expected: str) -> NoReturn:
        """Raise for a file that is not what it must be."""
        again = f"save the {self.noun} again, or fetch the file again"
        raise ValueError(f"{path} must {expected}; {again}") from None


def field(document: Mapping[str, Any], name: str, reader: Callable[[Any], Value]) -> Value:
    """Read one field; an error names it."""
    try:
        return reader(document[name])
    except WRONG as error:
        raise ValueError(f"field {name!r} is not valid: {error}") from None


def digest_of(document: Mapping[str, Any]) -> str:
    """SHA-256 of a document but for its digest, as JSON with sorted keys and without spaces."""
    rest = {name: value for name, value in document.items() if name != "sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def whole(name: str, value: object, least: int = 1) -> int:
    """Read a whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}")
    return value


def size(name: str, value: object, *, zero: bool = False) -> float:
    """Read a finite number, positive unless zero is allowed."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} must be a number")
    if not (0.0 < value < math.inf or (zero and value == 0.0)):
        raise ValueError(f"{name} must be finite and positive")
    return float(value)


def flag(name: str, value: object) -> bool:
    """Read true or false."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false")
    return value


def _no_constant(name: str) -> NoReturn:
    """Refuse NaN and infinities, which JSON does not have."""
    raise ValueError(f"{name} is not JSON")
