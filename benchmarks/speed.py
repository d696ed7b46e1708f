"""How fast it is, as ratios to a reference in the same run.

Two steps that can be run apart: measure, and write the page with its picture.

    python benchmarks/speed.py run [--threads 1 2] [--only moment] [--repeats 7]
    python benchmarks/speed.py page

What is compared takes turns, so that a busy machine slows both alike; medians and quartiles are
over the turns.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import speed_alone
import speed_work
from pages.others import SPEED
from pages.page import render, table_path
from pages.tables import read, table, write
from rich.console import Console
from speed_work import Pair

DOCS = Path("docs")
FIELDS = (
    *("work", "reference", "threads", "ours_s", "reference_s", "ratio"),
    *("low", "high", "limit", "note", "turns"),
)
PAUSE = 0.1
"""Threads of linear algebra look out for more work for a while, which the next one would feel."""
Line = dict[str, Any]


def take_turns(pair: Pair, threads: int, repeats: int) -> dict[str, Any]:
    """Time both in turn."""
    from threadpoolctl import threadpool_limits

    ours, theirs = [], []
    with threadpool_limits(threads):
        pair.ours(), pair.theirs()
        for _ in range(repeats):
            for times, work in ((theirs, pair.theirs), (ours, pair.ours)):
                time.sleep(PAUSE)
                times.append(seconds(work))
    ratio = float(np.median(ours) / np.median(theirs))
    low, high = np.quantile(np.array(ours) / np.array(theirs), [0.25, 0.75])
    return dict(
        zip(
            FIELDS,
            (
                *(pair.work, pair.reference, threads, np.median(ours), np.median(theirs), ratio),
                *(low, high, pair.limit or "", pair.note, repeats),
            ),
            strict=True,
        )
    )


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measured(only: str | None, threads: list[int], repeats: int) -> Iterator[Line]:
    for kind, pairs in speed_work.KINDS.items():
        # Fits use all cores there are, whatever the limit on the linear algebra.
        counts = threads if kind == "moment" else [max(threads)]
        for count in counts if only in (None, kind) else []:
            for make in pairs(count):
                yield take_turns(make(), count, repeats)


def made() -> str:
    """How, when and with what."""
    cores = f"{processor()}, {os.cpu_count()} cores"
    return f"python benchmarks/speed.py run; {datetime.date.today()}; {cores}; {versions()}"


def processor() -> str:
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return platform.processor()
    names = [line for line in path.read_text().splitlines() if line.startswith("model name")]
    return names[0].partition(":")[2].strip() if names else platform.machine()


def versions() -> str:
    import sklearn

    python = platform.python_version()
    return f"numpy {np.__version__}, scikit-learn {sklearn.__version__}, Python {python}"


def run(stated: argparse.Namespace, console: Console) -> None:
    lines = []
    for line in measured(stated.only, stated.threads, stated.repeats):
        console.print(
            f"{line['work']}, {line['threads']} threads: {line['ours_s']:.4g} s, "
            f"{line['ratio']:.3g} "
            f"({line['low']:.3g} to {line['high']:.3g}) x {line['reference']}; "
            f"limit {line['limit']}",
            highlight=False,
        )
        lines.append(line)
    if lines:
        every = [*_kept(stated.only, lines), *lines]
        cells = [[one.get(field, "") for field in FIELDS] for one in every]
        write(table_path(DOCS, "speed"), table(made(), FIELDS, cells))
    if stated.only in (None, "alone"):
        alone = []
        for name, figure, limit in speed_alone.figures():
            console.print(f"{name}: {figure}; limit {limit}", highlight=False)
            alone.append((name, figure, limit))
        write(table_path(DOCS, "speed-alone"), table(made(), ("what", "figure", "limit"), alone))


def _kept(only: str | None, lines: list[Line]) -> list[Line]:
    """Lines of an earlier run that this one, of one kind of work alone, has not measured again."""
    path = table_path(DOCS, "speed")
    if only is None or not path.exists():
        return []
    again = {line["work"] for line in lines}
    return [line for line in read(path).rows if line["work"] not in again]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("step", choices=["run", "page"])
    parser.add_argument("--only", choices=[*speed_work.KINDS, "alone"])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=7)
    stated = parser.parse_args()
    if stated.step == "run":
        run(stated, Console(width=160))
    else:
        print(f"wrote {render(SPEED, DOCS)}")


if __name__ == "__main__":
    main()
