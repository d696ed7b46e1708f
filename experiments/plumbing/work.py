"""Measuring: the errors of every method on the samples of one piece of work."""

from __future__ import annotations

import time
import warnings
import zlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from experiments.plumbing.figures import Cell, Design, Unit, total_budget
from experiments.plumbing.methods import METHODS, Task
from experiments.plumbing.samples import Sample

Array = NDArray[np.float64]

DATA = "data"
"""Stands for the drawing and splitting of data where costs are listed."""


class Line(NamedTuple):
    """One measurement; ``iteration`` is None for methods without iterations."""

    n: int
    mu: float
    alpha: float
    repeat: int
    method: str
    iteration: int | None
    error: float


def measure(unit: Unit) -> tuple[list[Line], dict[str, float]]:
    """Run a piece of work; return its lines and the processor seconds of each method."""
    lines: list[Line] = []
    seconds = dict.fromkeys((DATA, *unit.design.methods), 0.0)
    with threadpool_limits(1), warnings.catch_warnings():
        # Mismatched public moments and overflowing Newton steps are part of what is measured.
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            for repeat in unit.repeats:
                started = time.process_time()
                sample = unit.design.data.sample(repeat, *unit.design.sizes)
                seconds[DATA] += time.process_time() - started
                for name in unit.design.methods:
                    started = time.process_time()
                    if unit.design.runs(name, repeat):
                        lines += _all_cells(name, sample, unit.design, repeat)
                    seconds[name] += time.process_time() - started
    return lines, seconds


def _all_cells(name: str, sample: Sample, design: Design, repeat: int) -> list[Line]:
    """One method on one sample, at every setting."""
    lines: list[Line] = []
    known: dict[tuple[float | None, ...], Array] = {}
    varies = METHODS[name].varies
    for cell in design.cells():
        key = tuple(getattr(cell, what) if what in varies else None for what in ("mu", "alpha"))
        if key not in known:
            known[key] = _errors(name, sample, design, cell, repeat)
        lines += _lines(cell, repeat, name, known[key])
    return lines


def _errors(name: str, sample: Sample, design: Design, cell: Cell, repeat: int) -> Array:
    """Distances from the target, of the estimate or of each iterate."""
    task = Task(
        total=total_budget(cell.mu),
        alpha=cell.alpha,
        eta=design.eta,
        seed=noise_seed(name, cell, repeat),
        iterations=design.iterations,
        descent=design.descent,
    )
    away = METHODS[name].fit(sample, task) - sample.target
    return np.linalg.norm(away, axis=-1)


def _lines(cell: Cell, repeat: int, method: str, errors: Array) -> list[Line]:
    """One line per iteration, or one alone."""
    if errors.ndim == 0:
        return [Line(*cell, repeat, method, None, _rounded(errors))]
    return [Line(*cell, repeat, method, step, _rounded(error)) for step, error in enumerate(errors)]


def noise_seed(method: str, cell: Cell, repeat: int) -> int:
    """Seed of the noise of one fit: another one for every method, setting and repeat."""
    return zlib.crc32(repr((method, tuple(cell), repeat)).encode())


def _rounded(error: float) -> float:
    """Five significant digits: tables stay small. What is no number has diverged."""
    return float(f"{error:.5g}") if np.isfinite(error) else float("inf")
