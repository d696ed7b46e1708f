"""Every form in which private rows come, and cells that do their worst in it."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import array_api_strict
import dask.array as da
import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

__all__ = ["CANARY", "FORMS", "LABEL_FORMS", "Form", "LabelForm", "ordinary"]

CANARY = "canary-31337"
"""Text that must not be seen anywhere outside the rows."""

BIG = 2**53
"""From here on whole numbers are not told apart as floats."""

FLOATS = (
    math.nan,
    math.inf,
    -math.inf,
    0.0,
    -0.0,
    5e-324,
    1e-310,
    1e38,
    1e300,
    -1.7e308,
    31337.125,
)
INTEGERS = (0, -1, 31337, BIG, BIG + 1, 2**63 - 1, -(2**63))
SMALL = (0, 1, 17, 255)
SWITCHES = (True, False)
OBJECTS = (
    *(None, math.nan, pd.NA, pd.NaT, math.inf, CANARY, "31337.125", "1_000", "", b"2.5", b"\xff"),
    *(10**400, -(10**400), {CANARY: 1}, [CANARY], (1.0,), np.array([31337.125]), 1 + 2j, True),
    *(Decimal("sNaN"), Decimal("1e999"), Fraction(1, 3), np.float32(0.1), np.longdouble("1e4000")),
    *(np.int64(7), object(), np.datetime64("2026-01-01"), np.timedelta64(5, "D"), "nan", "1e999"),
)
TEXTS = (
    *("", "NA", CANARY, "31337.125", " 5 ", "1e999", "inf", "nan", "1,5", 'a "quoted" word', "-"),
    *("two\nlines", "true", "\x00", "0x10", "½"),
)
NOTHING = (None,)


class Signal(float):
    """A signalling NaN: a pattern of bits that makes processors complain when it is converted."""


SIGNAL = Signal("nan")
PATTERNS = {2: 0x7D01, 4: 0x7FA00001, 8: 0x7FF4000000000001}
"""Bits of a signalling NaN, by the bytes of its type."""


@dataclass(frozen=True)
class Form:
    """
    A container of two columns and the type of its cells.

    ``make`` takes the columns as lists of cells, and a folder for files; ``cells`` are hostile ones
    that the type can hold; ``whole`` says that it holds no fractions.
    """

    name: str
    make: Callable[[dict[str, list[Any]], Path], Any]
    cells: tuple[Any, ...]
    whole: bool = False

    def table(self, columns: dict[str, list[Any]]) -> Any:
        """The table in this form; files are in a folder that stays for a while."""
        with np.errstate(all="ignore"):
            return self.make(columns, _folder())


def ordinary(n_rows: int, whole: bool, seed: int = 3) -> dict[str, list[Any]]:
    """Columns of ordinary numbers, whole ones where a type holds no others."""
    rng = np.random.default_rng(seed)
    if whole:
        return {name: [int(cell) for cell in rng.integers(0, 2, n_rows)] for name in "ab"}
    # Eighths are exact in every type of floats.
    return {name: (np.round(8.0 * rng.normal(size=n_rows)) / 8.0).tolist() for name in "ab"}


_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


def _folder() -> Path:
    """A folder of its own for each table in files, of which few are kept."""
    _FOLDERS.append(tempfile.TemporaryDirectory(prefix="audit-forms-"))
    while len(_FOLDERS) > 4:
        _FOLDERS.pop(0).cleanup()
    return Path(_FOLDERS[-1].name)


def _numpy(dtype: Any) -> Callable[..., Any]:
    def make(columns: dict[str, list[Any]], _: Path) -> Any:
        with np.errstate(all="ignore"):
            table = np.empty((len(columns["a"]), 2), dtype=dtype)
            for index, cells in enumerate(columns.values()):
                column = np.empty(len(cells), dtype=object)
                column[:] = cells
                table[:, index] = column if table.dtype == object else np.array(cells, dtype)
                for place in (k for k, cell in enumerate(cells) if isinstance(cell, Signal)):
                    bits = table[place : place + 1, index : index + 1].view(f"u{table.itemsize}")
                    bits[...] = PATTERNS[table.itemsize]
        return table

    return make


def _pandas(dtype: Any) -> Callable[..., Any]:
    def make(columns: dict[str, list[Any]], _: Path) -> Any:
        made = {}
        for name, cells in columns.items():
            column = np.empty(len(cells), dtype=object)
            column[:] = cells
            made[name] = pd.Series(column if dtype is object else pd.array(cells, dtype=dtype))
        return pd.DataFrame(made)

    return make


def _polars(dtype: Any) -> Callable[..., Any]:
    return lambda columns, _: pl.DataFrame(
        {name: pl.Series(name, cells, dtype=dtype) for name, cells in columns.items()}
    )


def _arrow_table(columns: dict[str, list[Any]], dtype: Any) -> Any:
    arrays = {}
    for name, cells in columns.items():
        if pa.types.is_dictionary(dtype):
            arrays[name] = pa.array(cells, dtype.value_type).dictionary_encode()
        elif pa.types.is_float16(dtype):
            with np.errstate(all="ignore"):
                halves = [None if cell is None else np.float16(cell) for cell in cells]
            arrays[name] = pa.array(halves, dtype)
        else:
            arrays[name] = pa.array(cells, dtype)
    return pa.table(arrays)


def _arrow(dtype: Any) -> Callable[..., Any]:
    return lambda columns, _: _arrow_table(columns, dtype)


def _switched(make: Callable[..., Any]) -> Callable[..., Any]:
    """Zeros and ones as switches."""

    def switched(columns: dict[str, list[Any]], folder: Path) -> Any:
        cells = {n: [None if c is None else bool(c) for c in columns[n]] for n in columns}
        return make(cells, folder)

    return switched


def _parquet(columns: dict[str, list[Any]], folder: Path) -> Any:
    pq.write_table(_arrow_table(columns, pa.float64()), folder / "rows.parquet", row_group_size=7)
    return folder / "rows.parquet"


def _text_table(columns: dict[str, list[Any]], folder: Path) -> Any:
    lines = ["a,b", *(",".join(map(_quoted, row)) for row in zip(*columns.values(), strict=True))]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    return folder / "rows.csv"


def _quoted(cell: Any) -> str:
    text = "" if cell is None else str(cell)
    return '"' + text.replace('"', '""') + '"'


def _dask(columns: dict[str, list[Any]], _: Path) -> Any:
    frame = pd.DataFrame({name: np.array(cells, dtype=float) for name, cells in columns.items()})
    return dd.from_pandas(frame, npartitions=3, sort=False)


def _floats(columns: dict[str, list[Any]]) -> Any:
    return np.array(list(columns.values()), dtype=float).T


FORMS = {
    form.name: form
    for form in (
        Form("numpy float64", _numpy(np.float64), (*FLOATS, SIGNAL)),
        Form("numpy float64, big endian", _numpy(">f8"), FLOATS),
        Form("numpy float32", _numpy(np.float32), (*FLOATS, SIGNAL)),
        Form("numpy float16", _numpy(np.float16), (*FLOATS, SIGNAL)),
        Form("numpy longdouble", _numpy(np.longdouble), (*FLOATS, np.longdouble("1e4000"))),
        Form("numpy int64", _numpy(np.int64), INTEGERS, whole=True),
        Form("numpy uint8", _numpy(np.uint8), SMALL, whole=True),
        Form("numpy bool", _numpy(bool), SWITCHES, whole=True),
        Form("numpy object", _numpy(object), OBJECTS),
        Form("list", lambda c, _: [list(row) for row in zip(*c.values(), strict=True)], OBJECTS),
        Form("pandas float64", _pandas("float64"), FLOATS),
        Form("pandas float32", _pandas("float32"), FLOATS),
        Form("pandas Float64", _pandas("Float64"), (*FLOATS, None)),
        Form("pandas Int64", _pandas("Int64"), (*INTEGERS, None), whole=True),
        Form("pandas boolean", _switched(_pandas("boolean")), (*SWITCHES, None), whole=True),
        Form("pandas double[pyarrow]", _pandas("double[pyarrow]"), (*FLOATS, None)),
        Form("pandas int64[pyarrow]", _pandas("int64[pyarrow]"), (*INTEGERS, None), whole=True),
        Form("pandas object", _pandas(object), OBJECTS),
        Form("polars Float64", _polars(pl.Float64), (*FLOATS, None)),
        Form("polars Float32", _polars(pl.Float32), (*FLOATS, None)),
        Form("polars Int64", _polars(pl.Int64), (*INTEGERS, None), whole=True),
        Form("polars Boolean", _switched(_polars(pl.Boolean)), (*SWITCHES, None), whole=True),
        Form("polars Null", lambda c, _: pl.DataFrame({n: [None] * len(c[n]) for n in c}), NOTHING),
        Form("Arrow float64", _arrow(pa.float64()), (*FLOATS, None)),
        Form("Arrow float32", _arrow(pa.float32()), (*FLOATS, None)),
        Form("Arrow halffloat", _arrow(pa.float16()), (*FLOATS, None)),
        Form("Arrow int64", _arrow(pa.int64()), (*INTEGERS, None), whole=True),
        Form("Arrow uint8", _arrow(pa.uint8()), (*SMALL, None), whole=True),
        Form("Arrow bool", _switched(_arrow(pa.bool_())), (*SWITCHES, None), whole=True),
        Form(
            "Arrow decimal",
            _arrow(pa.decimal128(38, 3)),
            (Decimal(10) ** 34, Decimal("0.001"), None),
            whole=True,
        ),
        Form(
            "Arrow dictionary",
            _arrow(pa.dictionary(pa.int32(), pa.int64())),
            (*INTEGERS, None),
            whole=True,
        ),
        Form("array API", lambda c, _: array_api_strict.asarray(_floats(c)), FLOATS),
        Form("Parquet", _parquet, (*FLOATS, None)),
        Form("CSV", _text_table, TEXTS),
        Form("Arrow dataset", lambda c, f: ds.dataset(_parquet(c, f)), (*FLOATS, None)),
        Form(
            "Arrow stream",
            lambda c, f: _arrow_table(c, pa.float64()).to_reader(max_chunksize=7),
            (*FLOATS, None),
        ),
        Form(
            "DuckDB",
            lambda c, f: duckdb.connect().from_arrow(_arrow_table(c, pa.float64())),
            (*FLOATS, None),
        ),
        Form("polars lazy", lambda c, f: _polars(pl.Float64)(c, f).lazy(), (*FLOATS, None)),
        Form("Dask frame", _dask, FLOATS),
        Form("Dask arrays", lambda c, _: da.from_array(_floats(c), chunks=(7, 2)), FLOATS),
    )
}


@dataclass(frozen=True)
class LabelForm:
    """A container of labels, the classes that are stated, and hostile labels it can hold."""

    name: str
    make: Callable[[Sequence[Any]], Any]
    classes: tuple[Any, ...]
    cells: tuple[Any, ...]


def _objects(labels: Sequence[Any]) -> Any:
    column = np.empty(len(labels), dtype=object)
    column[:] = list(labels)
    return column


LARGE = (BIG, BIG + 1)
WORDS = ("no", "yes")
TENTHS = (0.1, 0.2)

LABEL_FORMS = {
    form.name: form
    for form in (
        LabelForm("numpy int64", lambda c: np.array(c, np.int64), LARGE, INTEGERS),
        LabelForm("numpy float64", lambda c: np.array(c, float), (0, 1), FLOATS),
        LabelForm("numpy float32", lambda c: np.array(c, np.float32), TENTHS, (math.nan, 0.3, 1e9)),
        LabelForm("numpy bool", lambda c: np.array(c, bool), (0, 1), SWITCHES),
        LabelForm("numpy text", lambda c: np.array(c, str), WORDS, (CANARY, "", "x" * 500)),
        LabelForm("numpy object", _objects, WORDS, OBJECTS),
        LabelForm("numpy object of numbers", _objects, LARGE, OBJECTS),
        LabelForm("list", list, WORDS, (None, math.nan, CANARY, 5, [1], {})),
        LabelForm(
            "pandas Int64", lambda c: pd.Series(pd.array(c, "Int64")), LARGE, (*INTEGERS, None)
        ),
        LabelForm(
            "pandas int64[pyarrow]",
            lambda c: pd.Series(pd.array(c, "int64[pyarrow]")),
            LARGE,
            (*INTEGERS, None),
        ),
        LabelForm(
            "pandas Float32", lambda c: pd.Series(pd.array(c, "Float32")), TENTHS, (None, 0.3)
        ),
        LabelForm(
            "pandas boolean", lambda c: pd.Series(pd.array(c, "boolean")), SWITCHES, (None, True)
        ),
        LabelForm("pandas text", lambda c: pd.Series(c, dtype="string"), WORDS, (None, CANARY)),
        LabelForm("pandas object", lambda c: pd.Series(_objects(c)), WORDS, OBJECTS),
        LabelForm(
            "pandas categories of numbers",
            lambda c: pd.Series(pd.Categorical(c, categories=[*LARGE, 31337])),
            LARGE,
            (None, 31337),
        ),
        LabelForm(
            "pandas categories",
            lambda c: pd.Series(pd.Categorical(c, categories=[*WORDS, CANARY])),
            WORDS,
            (None, CANARY),
        ),
        LabelForm("polars Int64", lambda c: pl.Series(c, dtype=pl.Int64), LARGE, (*INTEGERS, None)),
        LabelForm(
            "polars UInt64", lambda c: pl.Series(c, dtype=pl.UInt64), LARGE, (0, 2**64 - 1, None)
        ),
        LabelForm("polars Float32", lambda c: pl.Series(c, dtype=pl.Float32), TENTHS, (None, 0.3)),
        LabelForm(
            "polars Boolean", lambda c: pl.Series(c, dtype=pl.Boolean), SWITCHES, (None, True)
        ),
        LabelForm("polars String", lambda c: pl.Series(c, dtype=pl.String), WORDS, (None, CANARY)),
        LabelForm(
            "polars Categorical",
            lambda c: pl.Series(c, dtype=pl.Categorical),
            WORDS,
            (None, CANARY),
        ),
        LabelForm("Arrow int64", lambda c: pa.array(c, pa.int64()), LARGE, (*INTEGERS, None)),
        LabelForm("Arrow float32", lambda c: pa.array(c, pa.float32()), TENTHS, (None, 0.3)),
        LabelForm("Arrow bool", lambda c: pa.array(c, pa.bool_()), SWITCHES, (None, True)),
        LabelForm("Arrow string", lambda c: pa.array(c, pa.string()), WORDS, (None, CANARY, "")),
        LabelForm(
            "Arrow dictionary",
            lambda c: pa.array(c, pa.int64()).dictionary_encode(),
            LARGE,
            (*INTEGERS, None),
        ),
        LabelForm(
            "Arrow chunks",
            lambda c: pa.chunked_array([pa.array(c[:5], pa.int64()), pa.array(c[5:], pa.int64())]),
            LARGE,
            (*INTEGERS, None),
        ),
        LabelForm("array API", lambda c: array_api_strict.asarray(np.array(c)), (0, 1), (2, -1)),
    )
}
