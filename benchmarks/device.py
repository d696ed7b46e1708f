"""A moment pass on a GPU beside the bare product of the same rows, in one run.

    python benchmarks/device.py --library torch [--output docs/results/speed-device.csv]

Only the sum over rows is timed: what follows it, noise included, is the host's and is the same for
every engine. The whole is measured more than once, since the clock of a device moves with its heat.
"""

from __future__ import annotations

import argparse
import datetime
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pages.tables import table, write
from speed_work import moment_recipe

from publicmoments.data import device_table
from publicmoments.engines import device
from publicmoments.rows.private_rows import PrivateRows

SHAPES = ((8_000_000, 208), (2_000_000, 1_024), (4_000_000, 50))
LIMITS = {(8_000_000, 208): 2.5, (2_000_000, 1_024): 2.1}
ROUNDS, REPEATS = 2, 7


class Torch:
    """PyTorch on CUDA."""

    def __init__(self) -> None:
        import torch

        self.torch = torch
        self.name = f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}"

    def normal(self, *shape: int) -> Any:
        """Draw numbers on the device."""
        return self.torch.randn(*shape, dtype=self.torch.float64, device="cuda")

    def wait(self) -> None:
        """Wait until all work is done."""
        self.torch.cuda.synchronize()

    def start_counting(self) -> int:
        """Return the memory in use, and count its peak from here on."""
        self.torch.cuda.empty_cache()
        self.torch.cuda.reset_peak_memory_stats()
        return int(self.torch.cuda.memory_allocated())

    def peak(self) -> int:
        """Return the peak of the memory in use."""
        return int(self.torch.cuda.max_memory_allocated())


class Cupy:
    """CuPy."""

    def __init__(self) -> None:
        import cupy

        self.cupy = cupy
        properties = cupy.cuda.runtime.getDeviceProperties(0)
        self.name = f"CuPy {cupy.__version__}, {properties['name'].decode()}"

    def normal(self, *shape: int) -> Any:
        """Draw numbers on the device."""
        return self.cupy.random.default_rng(0).standard_normal(shape)

    def wait(self) -> None:
        """Wait until all work is done."""
        self.cupy.cuda.Device().synchronize()

    def start_counting(self) -> int:
        """Return the memory in use, and count its peak from here on."""
        self.cupy.get_default_memory_pool().free_all_blocks()
        return int(self.cupy.get_default_memory_pool().total_bytes())

    def peak(self) -> int:
        """Return the peak of the memory in use."""
        # The pool keeps what it was once given.
        return int(self.cupy.get_default_memory_pool().total_bytes())


def seconds(library: Torch | Cupy, work: Callable[[], Any]) -> float:
    library.wait()
    start = time.perf_counter()
    work()
    library.wait()
    return time.perf_counter() - start


def measure(library: Torch | Cupy, n: int, d: int) -> dict[str, Any]:
    X = library.normal(n, d)
    y = X[:, 0] + library.normal(n)
    rows = PrivateRows(device_table(X, "X"), device_table(y, "y"), False, False)
    recipe = moment_recipe(n, d)
    bare: list[float] = []
    ours: list[float] = []
    before = library.start_counting()
    device.add_up(rows, recipe)
    extra = library.peak() - before
    X.T @ X
    for _ in range(REPEATS):
        bare.append(seconds(library, lambda: X.T @ X))
        ours.append(seconds(library, lambda: device.add_up(rows, recipe)))
    return {
        "library": library.name,
        "n": n,
        "d": d,
        "bare_ms": 1e3 * statistics.median(bare),
        "ours_ms": 1e3 * statistics.median(ours),
        "ratio": statistics.median(ours) / statistics.median(bare),
        "smallest_ratio": min(o / b for o, b in zip(ours, bare, strict=True)),
        "largest_ratio": max(o / b for o, b in zip(ours, bare, strict=True)),
        "extra_mib": extra / 2**20,
        "limit": LIMITS.get((n, d), ""),
        "made": datetime.date.today().isoformat(),
    }


def shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--library", choices=["torch", "cupy"], default="torch")
    parser.add_argument("--output", type=Path, default=Path("docs/results/speed-device.csv"))
    stated = parser.parse_args()
    library = Torch() if stated.library == "torch" else Cupy()
    lines = []
    for n, d in SHAPES * ROUNDS:
        line = measure(library, n, d)
        print(", ".join(f"{name} {shown(value)}" for name, value in line.items()))
        lines.append(line)
    cells = [line.values() for line in lines]
    write(stated.output, table("python benchmarks/device.py", list(lines[0]), cells))


if __name__ == "__main__":
    main()
