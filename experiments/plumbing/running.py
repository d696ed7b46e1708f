"""Running the figures' work in parallel, with a progress bar, from where it stopped last time."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from experiments.plumbing.figures import Figure, Unit, units
from experiments.plumbing.store import Piece, Store
from experiments.plumbing.work import Line, measure


@dataclass
class Outcome:
    """
    What the work on a figure has yielded.

    Parameters
    ----------
    lines : dict
        Measurements by name of panel.
    seconds, full_seconds : float
        Processor time, as it was and as it would be with all published repeats.
    """

    lines: dict[str, list[Line]] = field(default_factory=dict)
    seconds: float = 0.0
    full_seconds: float = 0.0


def run_figures(
    figures: list[Figure], store: Store, repeats: dict[str, int], jobs: int, console: Console
) -> dict[str, Outcome]:
    """
    Do what is not yet in the store; return everything.

    Parameters
    ----------
    figures : list of Figure
        Figures to run.
    store : Store
        Where finished work is found and put.
    repeats : dict
        Repeats by name of figure.
    jobs : int
        Processes; with one, work is done in this process.
    console : Console
        Where the progress bar is drawn.

    Returns
    -------
    dict of Outcome by name of figure
    """
    wanted = {
        figure.name: [unit for p in figure.panels for unit in units(p.design, repeats[figure.name])]
        for figure in figures
    }
    missing = {
        name: [unit for unit in work if store.load(unit) is None] for name, work in wanted.items()
    }
    with _progress(console) as progress:
        bars = _bars(progress, wanted, missing)
        _work_off(missing, store, jobs, progress, bars)
    return {figure.name: _gathered(figure, store, repeats[figure.name]) for figure in figures}


def do(unit: Unit, store: Store) -> None:
    """Do one piece of work and store it; it outlives whoever asked for it."""
    store.save(unit, Piece(*measure(unit)))


def _work_off(
    missing: dict[str, list[Unit]],
    store: Store,
    jobs: int,
    progress: Progress,
    bars: dict[str, TaskID],
) -> None:
    """Run pieces of work in this process or in several."""
    tasks = [(name, unit) for name, work in missing.items() for unit in work]
    if jobs == 1:
        for name, unit in tasks:
            do(unit, store)
            _advance(progress, bars, name)
        return
    with ProcessPoolExecutor(jobs) as pool:
        futures = {pool.submit(do, unit, store): name for name, unit in tasks}
        try:
            for future in as_completed(futures):
                future.result()
                _advance(progress, bars, futures[future])
        except BaseException:
            # Pieces that wait are dropped; one that runs is stored if it is let to its end.
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _progress(console: Console) -> Progress:
    """The bars: one for everything, one for each figure."""
    return Progress(
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )


def _bars(
    progress: Progress, wanted: dict[str, list[Unit]], missing: dict[str, list[Unit]]
) -> dict[str, TaskID]:
    """Open the bars at what is already done."""
    amounts = {name: (len(wanted[name]), len(missing[name])) for name in wanted}
    everything = tuple(sum(column) for column in zip(*amounts.values(), strict=True))
    return {
        name: progress.add_task(name, total=total, completed=total - left)
        for name, (total, left) in {"all": everything, **amounts}.items()
    }


def _advance(progress: Progress, bars: dict[str, TaskID], name: str) -> None:
    """One piece more of a figure, and of everything."""
    progress.advance(bars[name])
    progress.advance(bars["all"])


def _gathered(figure: Figure, store: Store, repeats: int) -> Outcome:
    """Read a figure's pieces back, in the order of its declaration."""
    outcome = Outcome()
    for panel in figure.panels:
        lines = outcome.lines.setdefault(panel.name, [])
        for unit in units(panel.design, repeats):
            piece = store.load(unit)
            lines += piece.lines
            for method, seconds in piece.seconds.items():
                done, all_runs = (
                    panel.design.count(method, count) for count in (repeats, figure.repeats)
                )
                outcome.seconds += seconds
                outcome.full_seconds += seconds * all_runs / done
    return outcome
