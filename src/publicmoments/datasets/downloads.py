"""Files of public tables: read from a folder or the cache, or downloaded; always checked.

The cache holds checked files only, under their own names, so that a copy of it serves as the folder
``PUBLICMOMENTS_DATA`` of a machine without network. Archives are unpacked in memory and not kept.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from publicmoments.io.atomic import write_atomically

FOLDER_VARIABLE = "PUBLICMOMENTS_DATA"


@dataclass(frozen=True)
class Source:
    """Where a file comes from, and how it is recognised.

    Parameters
    ----------
    file : str
        Its name in the cache and in the folder ``PUBLICMOMENTS_DATA``.
    sha256 : str
        Of the file itself.
    address : str
        What to download: the file, or an archive that holds it.
    archive_sha256 : str, optional
        Of the archive, when there is one.
    members : tuple of str
        The way to the file: its name in the archive, or the name of an archive in the archive and
        then its name in that one, and so on.
    """

    file: str
    sha256: str
    address: str
    archive_sha256: str | None = None
    members: tuple[str, ...] = ()


def content(source: Source) -> bytes:
    """Return a file's bytes, from ``PUBLICMOMENTS_DATA``, the cache or the network.

    Raises
    ------
    FileNotFoundError
        If the folder is named and lacks the file.
    ValueError
        If a file or an archive has another sha256 than it should.
    ImportError
        If pooch is needed and not installed.
    ConnectionError
        If the file cannot be downloaded.
    """
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder:
        return _from_folder(source, Path(folder).expanduser())
    path = cache_folder() / source.file
    if path.is_file():
        data = path.read_bytes()
        # A cached file that has been damaged since is replaced, not reported.
        if _sha256(data) == source.sha256:
            return data
    path.parent.mkdir(parents=True, exist_ok=True)
    data = _unpacked(source, _downloaded(source))
    write_atomically(path, data)
    return data


def cache_folder() -> Path:
    """Folder of checked files in the user's cache."""
    return Path(_pooch().os_cache("publicmoments"))


def _from_folder(source: Source, folder: Path) -> bytes:
    """Read a file of the folder that the user named."""
    path = folder / source.file
    if not path.is_file():
        raise FileNotFoundError(
            f"{source.file} is not in {folder}, the folder named by {FOLDER_VARIABLE}; put it "
            f"there (it comes from {source.address}), or unset {FOLDER_VARIABLE} to download it"
        )
    remedy = f"replace it by the original, which comes from {source.address}"
    return _checked(path.read_bytes(), str(path), source.sha256, remedy)


def _downloaded(source: Source) -> bytes:
    """Download into memory: nothing that is unchecked touches the disk."""
    buffer = io.BytesIO()
    fetch = _pooch().HTTPDownloader()
    try:
        fetch(source.address, buffer, None)
    except OSError as error:
        raise ConnectionError(
            f"{source.address} could not be downloaded ({type(error).__name__}); check the "
            f"network, or set {FOLDER_VARIABLE} to a folder that holds {source.file}"
        ) from error
    return buffer.getvalue()


def _unpacked(source: Source, data: bytes) -> bytes:
    """Check what was downloaded, take the file out of its archives and check it."""
    remedy = (
        "the download is damaged, so try again, or the publisher has changed it, so set "
        f"{FOLDER_VARIABLE} to a folder that holds the original {source.file}"
    )
    if source.archive_sha256 is not None:
        _checked(data, source.address, source.archive_sha256, remedy)
    for member in source.members:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            data = archive.read(member)
    name = " in ".join([*reversed(source.members), source.address])
    return _checked(data, name, source.sha256, remedy)


def _checked(data: bytes, name: str, expected: str, remedy: str) -> bytes:
    """Return the data, or say that they are not those that were expected."""
    found = _sha256(data)
    if found != expected:
        raise ValueError(f"{name} must have sha256 {expected}, got {found}; {remedy}")
    return data


def _sha256(data: bytes) -> str:
    """Hash in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def _pooch() -> Any:
    """Import pooch, or say how to get it."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            "downloading data needs pooch; install it with pip install 'publicmoments[data]', or "
            f"set {FOLDER_VARIABLE} to a folder that holds the files"
        ) from error
    return pooch
