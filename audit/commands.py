"""Commands on files with one hostile cell: what they say, write and return tells nothing of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from audit.forms import CANARY
from audit.frames import PLACE, PUBLIC_ROWS, Columns, columns_of, write_csv
from audit.interference import Outcome
from audit.replay import Run, differences, recorded
from publicmoments import GDP, PublicMoments
from publicmoments.cli import main
from publicmoments.privacy import Ledger

__all__ = ["COMMANDS", "commands"]

FIT = "--features a,b --public public.json --mu 1 --ignore-invalid -o out.json"
COMMANDS = {
    "fit ridge": f"fit ridge TABLE --target count {FIT}",
    "fit logistic": f"fit logistic TABLE --target word --classes no,yes {FIT}",
    "fit poisson": f"fit poisson TABLE --target count --exposure years {FIT}",
    "fit ridge, charged": f"fit ridge TABLE --target count {FIT} --ledger ledger.db --dataset open",
    "fit ridge, refused": f"fit ridge TABLE --target count {FIT} --ledger ledger.db --dataset shut",
    "release": "release TABLE --features a,b --public both.json --mu 1 --ignore-invalid -o out.pmr",
}
"""Commands on private tables, and how each is called."""

CELLS = {
    "a": (CANARY, "", "1e999", "-1.7e308", "5e-324", "nan", "31337.125"),
    "count": (CANARY, "", "-1", "2.5", "1e300", "inf"),
    "years": (CANARY, "0", "-1", "5e-324"),
    "word": (CANARY, "", "5"),
}
"""Hostile cells of each column, as text."""

NUMBERS = {"a": (None, 1e300), "count": (None, -1.0, 2.5), "years": (0.0, None), "word": (None,)}
"""Hostile cells of a file that has types."""


def commands(name: str, few: bool = False) -> Outcome:
    """Replay a command on files with one hostile cell after the other, as text and with types."""
    tried, failures = 0, []
    for suffix, cells in ((".csv", CELLS), (".parquet", NUMBERS)):
        first = _run(name, suffix, columns_of(), None)
        code = 3 if name.endswith("refused") else 0
        if first.told.get("exit code") != code:
            return Outcome(name, 1, (f"the ordinary {suffix}: {first.told}",))
        for column, cell in list(_hostile(name, cells))[:: 4 if few else 1]:
            columns = columns_of()
            columns[column][PLACE] = cell
            second = _run(name, suffix, columns, first)
            found = differences(first, second)
            if CANARY in repr(second.told):
                found.append("the canary was seen")
            tried += 1
            failures += [f"{suffix} {column} {cell!r}: {', '.join(found)}"] if found else []
    return Outcome(name, tried, tuple(failures))


def _hostile(name: str, cells: dict[str, tuple[Any, ...]]) -> Iterator[tuple[str, Any]]:
    """Columns that a command reads, and cells for them; and a column that it does not read."""
    words = COMMANDS[name].split()
    used = [column for column in cells if column in [*words, "a"]]
    for column in used or cells:
        yield from ((column, cell) for cell in cells[column])
    spare = next(column for column in cells if column not in used)
    yield spare, cells[spare][0]


def _run(name: str, suffix: str, columns: Columns, replayed: Run | None) -> Run:
    """Run a command in a folder of its own; what it returns and leaves there is told."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="audit-commands-") as folder:
        os.chdir(folder)
        try:
            table = _prepared(Path(folder), columns, suffix)
            arguments = COMMANDS[name].replace("TABLE", table).split()
            return recorded(lambda: {"exit code": main(arguments), **_left(Path())}, replayed)
        finally:
            os.chdir(before)


def _prepared(folder: Path, columns: Columns, suffix: str) -> str:
    """Write the table and what is public, and return the table's name."""
    PublicMoments.from_rows(PUBLIC_ROWS, columns=["a", "b"], response_scale=1.0).save("public.json")
    PublicMoments.from_rows(PUBLIC_ROWS, columns=["a", "b"]).save("both.json")
    ledger = Ledger("ledger.db")
    ledger.cap("open", GDP(5.0))
    ledger.cap("shut", GDP(0.5))
    if suffix == ".csv":
        return write_csv(columns, folder / "rows.csv").name
    kinds = {name: pa.string() if name == "word" else pa.float64() for name in columns}
    pq.write_table(
        pa.table({name: pa.array(cells, kinds[name]) for name, cells in columns.items()}),
        folder / "rows.parquet",
    )
    return "rows.parquet"


def _left(folder: Path) -> dict[str, Any]:
    """Names of all files, what was written, and the lines of the ledger without their times."""
    told: dict[str, Any] = {"files": sorted(path.name for path in folder.iterdir())}
    told |= {path.name: path.read_bytes() for path in folder.glob("out.*")}
    ledger = Ledger("ledger.db")
    for name in ledger.datasets():
        told[f"ledger, {name}"] = [
            (one.mu, one.stated, one.state, one.extra_tv, one.purpose, one.note)
            for one in ledger.entries(name)
        ]
    return told
