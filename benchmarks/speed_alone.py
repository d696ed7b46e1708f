"""Figures of `benchmarks/speed.py` without a reference: memory, noise, growth, clusters."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import speed_clusters
import speed_work

MIB = 2**20
DIFFPRIVLIB = Path("results/speed/diffprivlib-env")


def figures() -> Iterator[tuple[str, str, str]]:
    """What, its figure and its limit, one by one."""
    for n, d, limit in ((10**6, 10, 64), (2 * 10**5, 200, 64), (5 * 10**4, 1000, 128)):
        extra = beyond_input(n, d)
        yield (
            f"memory beyond the input, moment pass {n:,} x {d}",
            f"{extra:.0f} MiB",
            f"{limit} MiB",
        )
    yield from out_of_core()
    for count, limit in ((5_050, 0.15), (500_500, 8.0)):
        yield f"{count:,} noise integers", f"{noise_seconds(count):.3g} s", f"{limit} s"
    yield "exponent of the time in the number of rows", f"{slope():.3f}", "1.0 +- 0.1"
    yield "rows a second and core, moment pass with 100 columns", f"{rate():,.0f}", ""
    for what, figure in speed_clusters.rates():
        yield what, figure, ""
    yield from one_release_many_models()
    yield "import publicmoments", f"{import_seconds():.3g} s", "0.4 s"
    yield from diffprivlib()


def child(code: str, *arguments: str) -> str:
    """Run Python code in a process of its own."""
    program = textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent.parent,
    )
    return done.stdout


def resident(kind: str) -> int:
    """Resident memory of this process in bytes: VmRSS now, or VmHWM at its peak; Linux only."""
    # What getrusage tells a child is never below the peak of the process that started it.
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(kind))


def forget_peak() -> None:
    """Let the peak of resident memory start again from what there is now."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


def beyond_input(n: int, d: int) -> float:
    """Peak resident memory of a moment pass beyond what was there before it, in MiB."""
    code = """
        import sys
        sys.path.insert(0, "benchmarks")
        import speed_alone, speed_work
        n, d = map(int, sys.argv[1:])
        speed_work.MOMENTS = {(n, d): 0.0}
        pair = speed_work.moment_pairs(2)[0]()
        speed_alone.forget_peak()
        before = speed_alone.resident("VmRSS")
        pair.ours()
        print(speed_alone.resident("VmHWM") - before)
    """
    return float(child(code, str(n), str(d))) / MIB


def out_of_core() -> Iterator[tuple[str, str, str]]:
    """Peak resident memory of a fit from a file, and from one ten times larger."""
    small, large = Path("results/speed/tenth.parquet"), speed_work.PARQUET
    for path, n_rows in ((small, speed_work.PARQUET_ROWS // 10), (large, speed_work.PARQUET_ROWS)):
        if not path.exists():
            speed_work.write_parquet(path, n_rows)
    code = """
        import sys
        sys.path.insert(0, "benchmarks")
        import speed_alone, speed_work
        speed_work.parquet_model().fit(sys.argv[1], "y")
        print(speed_alone.resident("VmHWM"))
    """
    first, second = (float(child(code, str(path))) / 1e6 for path in (small, large))
    size = large.stat().st_size / 1e6
    yield f"resident memory, fit from {size:.0f} MB of Parquet", f"{second:.0f} MB", "300 MB"
    yield "the same beside a tenth of the file", f"{second / first - 1:+.1%}", "10 %"


def noise_seconds(count: int) -> float:
    from publicmoments.privacy.noise import SystemNoise

    SystemNoise().draw(10, 2.0**40)
    start = time.perf_counter()
    SystemNoise().draw(count, 2.0**40)
    return time.perf_counter() - start


def slope() -> float:
    """Fitted exponent of the time of a moment pass over n, 2n, 4n and 8n rows."""
    sizes = np.array([1, 2, 4, 8]) * 400_000
    speed_work.MOMENTS = dict.fromkeys(((int(n), 20) for n in sizes), 0.0)
    pairs = [make() for make in speed_work.moment_pairs(2)]
    times = np.array(
        [[_timed(pair) for pair in pairs] for _ in range(7)],
    )
    return float(np.polyfit(np.log(sizes), np.log(np.median(times, axis=0)), 1)[0])


def rate() -> float:
    """Rows that one core sums in a second."""
    n = 400_000
    speed_work.MOMENTS = {(n, 100): 0.0}
    pair = speed_work.moment_pairs(1)[0]()
    pair.ours()
    return n / min(_timed(pair) for _ in range(5))


def one_release_many_models() -> Iterator[tuple[str, str, str]]:
    """Time a path of 100 penalties on each of 10 subsets of 50 columns, and ask what it cost."""
    from publicmoments import GDP, PublicMoments, release_moments

    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 50))
    release = release_moments(X[1000:], privacy=GDP(1.0), public=PublicMoments.from_rows(X[:1000]))
    subsets = [rng.permutation(49)[:25].tolist() for _ in range(10)]
    alphas, before = np.geomspace(1e-4, 1e2, 100), release.card.to_json()
    times = []
    for _ in range(7):
        start = time.perf_counter()
        for subset in subsets:
            release.path(49, alphas, features=subset)
        times.append(time.perf_counter() - start)
    what = "100 penalties on each of 10 subsets of 50 columns, from one release"
    yield what, f"{1e3 * np.median(times):.1f} ms", "50 ms"
    spent = "nothing" if release.card.to_json() == before else "something"
    yield "budget that they cost", spent, "nothing"


def _timed(pair: speed_work.Pair) -> float:
    start = time.perf_counter()
    pair.ours()
    return time.perf_counter() - start


def import_seconds() -> float:
    start = time.perf_counter()
    child("import publicmoments")
    with_import = time.perf_counter() - start
    start = time.perf_counter()
    child("pass")
    return with_import - (time.perf_counter() - start)


def diffprivlib() -> Iterator[tuple[str, str, str]]:
    """Ours beside diffprivlib's linear regression, each in its own environment, in turn."""
    python = DIFFPRIVLIB / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(DIFFPRIVLIB)], check=True)
        wanted = ["diffprivlib==0.6.6", "scikit-learn<1.8"]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
    common = """
        import time, warnings
        import numpy as np
        warnings.simplefilter("ignore")
        rng = np.random.default_rng(0)
        X = rng.normal(size=(10**6, 10))
        y = X.sum(axis=1) + rng.normal(size=10**6)
        def timed(fit):
            fit()
            times = []
            for _ in range(3):
                start = time.perf_counter(); fit(); times.append(time.perf_counter() - start)
            print(min(times))
    """
    theirs = """
        from diffprivlib.models import LinearRegression
        bounds = (X.min(axis=0), X.max(axis=0))
        model = LinearRegression(epsilon=1.0, bounds_X=bounds, bounds_y=(y.min(), y.max()))
        timed(lambda: model.fit(X, y))
    """
    ours = """
        from publicmoments import GDP, PublicMoments, Ridge
        public = PublicMoments.from_rows(X[:1000], response=y[:1000])
        model = Ridge(privacy=GDP(1.0), public=public)
        timed(lambda: model.fit(X, y))
    """
    ratios = []
    for _ in range(3):
        program = textwrap.dedent(common) + textwrap.dedent(theirs)
        done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
        ratios.append(
            float(child(textwrap.dedent(common) + textwrap.dedent(ours))) / float(done.stdout)
        )
    what = "Ridge.fit 1,000,000 x 10 over diffprivlib 0.6.6 LinearRegression"
    yield what, f"{np.median(ratios):.3f}", "0.2"
