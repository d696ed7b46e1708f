"""The four tables of the paper's experiments, from the UCI Machine Learning Repository."""

from __future__ import annotations

import numpy as np

from publicmoments.arrays import Array
from publicmoments.datasets.bank import RESPONSE, bank_table
from publicmoments.datasets.downloads import Source, content
from publicmoments.datasets.records import Dataset

REPOSITORY = "https://archive.ics.uci.edu/static/public"

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
