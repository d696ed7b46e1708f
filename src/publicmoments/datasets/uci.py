"""The four tables of the paper's experiments, from the UCI Machine Learning Repository.

Files are read from a folder or the cache, or downloaded, and always checked. The cache holds
checked files only, under their own names, so that a copy of it serves as the folder
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

import numpy as np

from publicmoments.arrays import Array
from publicmoments.datasets.bank import RESPONSE, bank_table
from publicmoments.datasets.records import Dataset
from publicmoments.io.atomic import write_atomically

FOLDER_VARIABLE = "PUBLICMOMENTS_DATA"
REPOSITORY = "https://archive.ics.uci.edu/static/public"


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


SOURCES = {
    "wine": Source(
        file="winequality-white.csv",
        sha256="76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836",
        address=f"{REPOSITORY}/186/wine+quality.zip",
        archive_sha256="3ed56667f4b828242bd732d7d1dd7f2861e54432239d7fa63877014cbb0304d4",
        members=("winequality-white.csv",),
    ),
    "power plant": Source(
        file="ccpp.csv",
        sha256="3c1fc11025f8424f8d95802d8b7086dffd3f73a552c6dcab3d973620986194b2",
        address=f"{REPOSITORY}/294/data.csv",
    ),
    "bank": Source(
        file="bank-full.csv",
        sha256="d1513ec63b385506f7cfce9f2c5caa9fe99e7ba4e8c3fa264b3aaf0f849ed32d",
        address=f"{REPOSITORY}/222/bank+marketing.zip",
        archive_sha256="e0bf5f5de5b846e2f18e9d90606637267d46dfa260e0f17bb12e605db5efbeb4",
        members=("bank.zip", "bank-full.csv"),
    ),
    "banknote": Source(
        file="data_banknote_authentication.txt",
        sha256="d0539aaed2139ba7a587b3e34fb345ce503ff7d5d33dbf9912d8e195ce425cb9",
        address=f"{REPOSITORY}/267/banknote+authentication.zip",
        archive_sha256="1e2acd9a2085fadf3d8145c12d3d22af853320d52294a6590c2eaf75fdc05227",
        members=("data_banknote_authentication.txt",),
    ),
}

# This file has no header; the names are those of its documentation.
BANKNOTE_COLUMNS = ("variance", "skewness", "curtosis", "entropy", "class")


def load_wine() -> Dataset:
    """White wine: quality, 3 to 9, from eleven laboratory measurements of 4,898 wines.

    The features differ in size by a factor of 1e4, which makes their second moments ill-conditioned
    (5.9e7).

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError, ValueError, ImportError, ConnectionError
        If the file is missing, is not the original, or cannot be downloaded; the message says what
        to do.

    Examples
    --------
    >>> load_wine()  # doctest: +SKIP
    Dataset('wine', n=4898, d=11, response='quality')
    """
    names, table = _numbers(_text("wine"), ";")
    return _dataset("wine", table, names, "10.24432/C56S3T")


def load_power_plant() -> Dataset:
    """Power plant: electrical output from four ambient variables in 9,568 hours.

    The features are temperature (AT), exhaust vacuum (V), pressure (AP) and relative humidity (RH);
    the response is the hourly output in MW (PE).

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError, ValueError, ImportError, ConnectionError
        As for `load_wine`.

    Examples
    --------
    >>> load_power_plant()  # doctest: +SKIP
    Dataset('power plant', n=9568, d=4, response='PE')
    """
    names, table = _numbers(_text("power plant"), ",")
    return _dataset("power plant", table, names, "10.24432/C5002N")


def load_bank(numeric_only: bool = False) -> Dataset:
    """Bank marketing: whether a client takes a term deposit, from 45,211 telephone calls.

    The response is 1 for yes (5,289 calls) and 0 for no. The seven numeric columns are kept as they
    are, yes and no become 1 and 0, and a categorical column becomes one column of zeros and ones
    for each of its documented levels but the first: 42 columns in all. The module
    ``publicmoments.datasets.bank`` lists the levels and says what to mind about ``duration`` and
    ``pdays``.

    Parameters
    ----------
    numeric_only : bool
        Whether to leave out all but the numeric columns: age, balance, day, duration, campaign,
        pdays, previous.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError, ValueError, ImportError, ConnectionError
        As for `load_wine`.

    Examples
    --------
    >>> load_bank(numeric_only=True)  # doctest: +SKIP
    Dataset('bank', n=45211, d=7, response='y')
    """
    X, y, names = bank_table(_text("bank"), numeric_only)
    return Dataset("bank", X, y, names, RESPONSE, "10.24432/C5K306")


def load_banknote() -> Dataset:
    """Banknotes: class 0 or 1 from four wavelet statistics of 1,372 photographs.

    The file lists all notes of class 0 before those of class 1; `split` shuffles them.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError, ValueError, ImportError, ConnectionError
        As for `load_wine`.

    Examples
    --------
    >>> load_banknote()  # doctest: +SKIP
    Dataset('banknote', n=1372, d=4, response='class')
    """
    table = np.loadtxt(_text("banknote").splitlines(), delimiter=",")
    return _dataset("banknote", table, BANKNOTE_COLUMNS, "10.24432/C55P57")


def _text(name: str) -> str:
    """The file of a table."""
    return content(SOURCES[name]).decode("ascii")


def _numbers(text: str, delimiter: str) -> tuple[tuple[str, ...], Array]:
    """Read a header and rows of numbers."""
    header, *rows = text.splitlines()
    names = tuple(name.strip('"') for name in header.split(delimiter))
    return names, np.loadtxt(rows, delimiter=delimiter)


def _dataset(name: str, table: Array, names: tuple[str, ...], doi: str) -> Dataset:
    """Take the last column as the response."""
    return Dataset(name, table[:, :-1], table[:, -1], names[:-1], names[-1], doi)


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
        if hashlib.sha256(data).hexdigest() == source.sha256:
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
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        raise ValueError(f"{name} must have sha256 {expected}, got {found}; {remedy}")
    return data


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
