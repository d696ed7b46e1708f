"""How fast it is, as ratios to a reference in the same run.

Three steps that can be run apart: measure, plot, and write the page.

    python benchmarks/speed.py run [--threads 1 2] [--only moment] [--repeats 7]
    python benchmarks/speed.py plot
    python benchmarks/speed.py page

What is compared takes turns, so that a busy machine slows both alike; medians and quartiles are
over the turns.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import os
import platform
import time
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import speed_alone
import speed_work
from rich.console import Console
from speed_work import Pair

from publicmoments.io.atomic import write_atomically

FOLDER = Path("results/speed")
PAGE, PLOT = Path("docs/speed.md"), Path("docs/images/speed.png")
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


def write_csv(path: Path, lines: list[Line], fields: tuple[str, ...]) -> None:
    text = StringIO(newline="")
    cores = os.cpu_count()
    text.write(f"# {datetime.date.today()}; {processor()}, {cores} cores; {versions()}\n")
    writer = csv.DictWriter(text, fieldnames=fields)
    writer.writeheader()
    writer.writerows(lines)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text.getvalue().encode())


def read_csv(path: Path) -> tuple[str, list[dict[str, str]]]:
    with path.open(newline="") as file:
        made = file.readline().removeprefix("# ").rstrip()
        return made, list(csv.DictReader(file))


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
        write_csv(FOLDER / "cpu.csv", [*_kept(stated.only, lines), *lines], FIELDS)
    if stated.only in (None, "alone"):
        alone = []
        for name, figure, limit in speed_alone.figures():
            console.print(f"{name}: {figure}; limit {limit}", highlight=False)
            alone.append({"what": name, "figure": figure, "limit": limit})
        write_csv(FOLDER / "alone.csv", alone, ("what", "figure", "limit"))


def _kept(only: str | None, lines: list[Line]) -> list[Line]:
    """Lines of an earlier run that this one, of one kind of work alone, has not measured again."""
    path = FOLDER / "cpu.csv"
    if only is None or not path.exists():
        return []
    again = {line["work"] for line in lines}
    return [line for line in read_csv(path)[1] if line["work"] not in again]


def page() -> None:
    """Write the page from the CSV files that are there."""
    made, lines = read_csv(FOLDER / "cpu.csv")
    text = [
        "# Speed",
        "",
        "Times as ratios to a reference in the same run, the two taking turns: these machines",
        "are shared, and a ratio says more than a time. Beside the median ratio stand its",
        "quartiles over the turns. `make bench-speed` measures again.",
        "",
        f"Made by `python benchmarks/speed.py run`; {made}.",
        "",
        "| work | reference | threads | turns | ours, s | ratio | quartiles | at most |",
        "| --- | --- | --: | --: | --: | --: | --: | --: |",
    ]
    for one in lines:
        ratio, limit = float(one["ratio"]), one["limit"]
        star = "*" if limit and ratio > float(limit) else ""
        text.append(
            f"| {one['work']} ({one['note']}) | {one['reference']} | {one['threads']} | "
            f"{one['turns']} | {float(one['ours_s']):.3g} | {ratio:.2f}{star} | "
            f"{float(one['low']):.2f} to {float(one['high']):.2f} | {limit} |"
        )
    text += ["", "A star marks a ratio above its limit.", "", "![Ratios](images/speed.png)"]
    alone = FOLDER / "alone.csv"
    if alone.exists():
        made, figures = read_csv(alone)
        text += ["", "## Memory, noise, growth", "", f"{made}.", ""]
        text += ["| what | figure | at most |", "| --- | --- | --: |"]
        text += [f"| {one['what']} | {one['figure']} | {one['limit']} |" for one in figures]
    device = FOLDER / "device.csv"
    if device.exists():
        with device.open(newline="") as file:
            figures = list(csv.DictReader(file))
        made = f"{figures[0]['library']}, {figures[0]['made']}"
        text += ["", "## On a GPU", "", f"{made}; float64; the bare product is"]
        text += ["`X.T @ X` by cuBLAS in the same run (`python benchmarks/device.py`).", ""]
        text += [
            "| rows | columns | bare, ms | ours, ms | ratio | beyond the input, MiB | at most |"
        ]
        text += ["| --: | --: | --: | --: | --: | --: | --: |"]
        for one in figures:
            text.append(
                f"| {int(one['n']):,} | {one['d']} | {float(one['bare_ms']):.3g} | "
                f"{float(one['ours_ms']):.3g} | {float(one['ratio']):.2f} | "
                f"{float(one['extra_mib']):.0f} | {one['limit']} |"
            )
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(PAGE, ("\n".join(text) + "\n").encode())


def plot() -> None:
    """Draw the ratios and their limits."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    _, lines = read_csv(FOLDER / "cpu.csv")
    names = [f"{one['work']}, {one['threads']} threads" for one in lines]
    ratios = np.array([float(one["ratio"]) for one in lines])
    spread = np.abs([[float(one[end]) for one in lines] for end in ("low", "high")] - ratios)
    figure, axes = plt.subplots(figsize=(8, 0.35 * len(lines) + 1.2), layout="constrained")
    places = np.arange(len(lines))[::-1]
    axes.barh(places, ratios, xerr=spread, color="#4477aa", height=0.6, label="ours / reference")
    for place, one in zip(places, lines, strict=True):
        if one["limit"]:
            axes.plot([float(one["limit"])] * 2, [place - 0.4, place + 0.4], color="#cc3311")
    axes.set_yticks(places, names)
    axes.axvline(1.0, color="grey", linewidth=0.8)
    axes.set_xlabel("time over that of the reference; red: limit")
    PLOT.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PLOT, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("step", choices=["run", "plot", "page"])
    parser.add_argument("--only", choices=[*speed_work.KINDS, "alone"])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=7)
    stated = parser.parse_args()
    if stated.step == "run":
        run(stated, Console(width=160))
    else:
        {"page": page, "plot": plot}[stated.step]()


if __name__ == "__main__":
    main()
