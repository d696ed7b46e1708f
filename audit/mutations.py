"""
The mutation check: known bugs, planted one at a time, must make the suite fail.

Each bug goes into a temporary copy of ``src``, never into the checkout, and a chosen part of the
suite runs on that copy. ``python -m audit.mutations`` prints what caught each.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["MUTATIONS", "Caught", "Mutation", "plant"]

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "publicmoments"
TIMEOUT = 400

GATE = "tests/noninterference/test_gate.py"
CHARGES = "tests/audit/test_charges.py"
COUNTS = "tests/property/test_counted_rows.py"
REPRODUCED = "tests/noninterference/test_reproductions.py"


@dataclass(frozen=True)
class Mutation:
    """A bug: the text that it replaces in a module, and the tests that are to notice."""

    name: str
    module: str
    old: str
    new: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Caught:
    """Outcome of a planted bug; ``by`` is the first test that failed."""

    mutation: str
    caught: bool
    by: str
    seconds: float


MUTATIONS = {
    mutation.name: mutation
    for mutation in (
        Mutation(
            "sensitivity halved",
            "privacy/sensitivity.py",
            "factor = 2 if positive_integer",
            "factor = 0.5 if positive_integer",
            ("tests/property/test_gram_sensitivity.py",),
        ),
        Mutation(
            "sensitivity of sums halved",
            "privacy/noise_law.py",
            "float_above(2 * exact(l2_bound_squared) / Fraction(self.noise_sd) ** 2)",
            "float_above(exact(l2_bound_squared) / Fraction(self.noise_sd) ** 2 / 2)",
            ("tests/unit/privacy/test_vector_noise.py",),
        ),
        Mutation(
            "noise sd x 0.8",
            "privacy/noise.py",
            "make_gaussian(*space, scale=noise_sd)",
            "make_gaussian(*space, scale=0.8 * noise_sd)",
            ("tests/statistical/test_noise.py",),
        ),
        Mutation(
            "noise missing off the diagonal",
            "privacy/noise.py",
            "noise[upper] = source.draw(len(upper[0]), law.offdiagonal_sd)",
            "noise[upper] = 0 * source.draw(len(upper[0]), law.offdiagonal_sd)",
            ("tests/unit/privacy/test_noise.py", "tests/unit/test_release.py"),
        ),
        Mutation(
            "noise missing on the diagonal",
            "privacy/noise.py",
            "noise[np.diag_indices(d)] = source.draw(d, law.diagonal_sd)",
            "noise[np.diag_indices(d)] = 0 * source.draw(d, law.diagonal_sd)",
            ("tests/unit/privacy/test_noise.py", "tests/unit/test_release.py"),
        ),
        Mutation(
            "one gradient more than was paid for",
            "models/estimator.py",
            "        return self.finished(coef)\n",
            "        from publicmoments.privacy import Account\n\n"
            "        free = Account(self.session.account.total)\n"
            "        self.session = replace(self.session, account=free)\n"
            "        self.step(coef, self.plan.steps[-1])\n"
            "        return self.finished(self.next_point(coef))\n",
            (CHARGES,),
        ),
        Mutation(
            "gradients paid from an account of their own",
            "release.py",
            "        return released(self.rows, recipe, self._cost(share), self.account, "
            "self.source)\n",
            "        cost = self._cost(share)\n"
            "        return released(self.rows, recipe, cost, Account(cost), self.source)\n",
            (CHARGES,),
        ),
        Mutation(
            "counts that are not paid for",
            "models/estimator.py",
            "        released = self.session.total(recipe, self.plan.counts)\n",
            "        from publicmoments.privacy import Account\n\n"
            "        free = replace(self.session, account=Account(self.session.account.total))\n"
            "        released = free.total(recipe, self.plan.counts)\n",
            (CHARGES,),
        ),
        Mutation(
            "charge of a sum after its noise",
            "release.py",
            "    account.charge(cost)\n    noisy = add_vector_noise(exact, law, source)\n",
            "    noisy = add_vector_noise(exact, law, source)\n    account.charge(cost)\n",
            (CHARGES,),
        ),
        Mutation(
            "half of a sum's cost charged",
            "release.py",
            "    account.charge(cost)\n    noisy = add_vector_noise(exact, law, source)\n",
            "    account.charge(GDP(cost.mu / 2.0))\n"
            "    noisy = add_vector_noise(exact, law, source)\n",
            (CHARGES,),
        ),
        Mutation(
            "laws of a fit without its histograms",
            "release.py",
            "    laws += [vector_noise_law(-(-mark // 2), cells, mu(share)) "
            "for share, cells in histograms]\n",
            "",
            (CHARGES,),
        ),
        Mutation(
            "laws of a fit without its counts",
            "models/estimator.py",
            "        if self.counted:\n            histograms +=",
            "        if self.counted and not plan.steps:\n            histograms +=",
            (CHARGES,),
        ),
        Mutation(
            "laws of a fit without its last step",
            "models/estimator.py",
            "            histograms,\n            plan.steps,\n",
            "            histograms,\n            plan.steps[:-1],\n",
            (CHARGES,),
        ),
        Mutation(
            "a row counted in two cells",
            "rows/counted.py",
            "        marks[cells[counted], counted] = self.mark\n",
            "        marks[cells[counted], counted] = self.mark\n"
            "        marks[np.maximum(cells[counted] - 1, 0), counted] = self.mark\n",
            (COUNTS,),
        ),
        Mutation(
            "a row counted twice in its cell",
            "rows/counted.py",
            "        marks[cells[counted], counted] = self.mark\n",
            "        marks[cells[counted], counted] = 2 * self.mark\n",
            (COUNTS,),
        ),
        Mutation(
            "marks larger than their declared change",
            "rows/counted.py",
            "        return -(-(self.mark**2) // 2)\n",
            "        return -(-(self.mark**2) // 4)\n",
            (COUNTS,),
        ),
        Mutation(
            "rows that pad a block are counted",
            "rows/counted.py",
            "        found[~((rows.length > 0.0) & (values == values))] = -1\n",
            "        found[~(values == values)] = -1\n",
            (COUNTS,),
        ),
        Mutation(
            "rows without a number are counted",
            "rows/counted.py",
            "        found[~((rows.length > 0.0) & (values == values))] = -1\n",
            "        found[~(rows.length > 0.0)] = -1\n",
            (COUNTS,),
        ),
        Mutation(
            "marks that stay from the block before",
            "rows/counted.py",
            "        marks[...] = 0.0\n",
            "",
            (COUNTS,),
        ),
        Mutation(
            "slopes twice as long as their bound",
            "rows/scaled.py",
            "            return on_grid(products, self.l2_bound_squared)\n",
            "            return on_grid(2.0 * products, 4 * self.l2_bound_squared)\n",
            ("tests/property/test_glm_rows.py",),
        ),
        Mutation(
            "noise of sums for half of their bound",
            "release.py",
            "    bound = recipe.l2_bound_squared\n    return _noisy_vector",
            "    bound = -(-recipe.l2_bound_squared // 4)\n    return _noisy_vector",
            ("tests/noninterference/test_gate.py::test_fits_replayed_with_a_hostile_row",),
        ),
        Mutation(
            "first bound of a fit from private rows",
            "models/estimator.py",
            "        radius = look_radius(mu, self.n_rows, p)\n",
            "        radius = look_radius(mu, self.n_rows, p)\n"
            "        cells = np.abs(self.session.rows.features.values())\n"
            "        radius *= 1.0 + float(np.mean(cells > 2.0))\n",
            ("tests/audit/test_taint_everywhere.py::test_nothing_tells[Ridge]",),
        ),
        Mutation(
            "steps along exact gradients",
            "models/estimator.py",
            "        released = self.session.total(recipe, share)\n        self.steps.append(",
            "        from publicmoments.engines import exact_sum\n\n"
            "        released = self.session.total(recipe, share)\n"
            "        exact = exact_sum(self.session.rows, recipe)\n"
            "        exact = exact * recipe.grid_unit / self.n_rows\n"
            "        released = replace(released, noisy_mean=exact)\n"
            "        self.steps.append(",
            ("tests/audit/test_taint_everywhere.py::test_nothing_tells[PoissonRegressor]",),
        ),
        Mutation(
            "mean of the private rows on the card",
            "models/fitting.py",
            "        public_fit_z=found.look.z_score,\n",
            "        public_fit_z=found.look.z_score\n"
            "        + float(np.nan_to_num(np.nanmean(rows.features.values()))),\n",
            ("tests/audit/test_taint_everywhere.py::test_nothing_tells[LogisticRegression]",),
        ),
        Mutation(
            "length of the longest row among the iterations",
            "models/fitting.py",
            "        self.n_iter_ = len(found.steps)\n",
            "        self.n_iter_ = len(found.steps) + int(np.nanmax(features.values()) > 2.0)\n",
            ("tests/audit/test_taint_everywhere.py::test_nothing_tells[GLM, Gamma]",),
        ),
        Mutation(
            "one step more than was paid for",
            "paper/spending.py",
            "self._costs = self.bought.total.split(*[1.0] * self.releases)",
            "self._costs = self.bought.total.split(*[1.0] * max(self.releases - 1, 1))\n"
            "        self._costs.append(self.bought.total)",
            ("tests/unit/paper/test_spending.py",),
        ),
        Mutation(
            "row bound off by two",
            "rows/grid.py",
            "return math.ceil((2.0**bits + rounding_reach(dimension)) ** 2)",
            "return math.ceil((2.0**bits + rounding_reach(dimension)) ** 2 / 2)",
            ("tests/unit/rows/test_grid.py", "tests/unit/rows/test_recipe.py"),
        ),
        Mutation(
            "bound of the integers not enforced",
            "rows/grid.py",
            "    if not squared.max() <= certain:\n",
            "    if False:\n",
            ("tests/unit/rows/test_grid.py",),
        ),
        Mutation(
            "NaN accepted as a budget",
            "checks.py",
            "if not 0 < number < math.inf:",
            "if number <= 0 or number == math.inf:",
            ("tests/unit/test_checks.py", "tests/unit/privacy/test_budgets.py"),
        ),
        Mutation(
            "charge after the release",
            "release.py",
            "    account.charge(cost)\n    noisy = add_gram_noise(exact.exact_gram, law, source)\n",
            "    noisy = add_gram_noise(exact.exact_gram, law, source)\n    account.charge(cost)\n",
            ("tests/unit/test_release.py",),
        ),
        Mutation(
            "charge of the account skipped",
            "release.py",
            "    account.charge(cost)\n    noisy = add_vector_noise(exact, law, source)\n",
            "    noisy = add_vector_noise(exact, law, source)\n",
            ("tests/unit/test_release_total.py",),
        ),
        Mutation(
            "charge of the ledger skipped",
            "privacy/ledger/account.py",
            "            if self._entry is None:\n"
            "                self._entry = self._ledger._charge(",
            "            if self._entry is None and self.total.mu < 0:\n"
            "                self._entry = self._ledger._charge(",
            ("tests/unit/privacy/test_ledger_account.py",),
        ),
        Mutation(
            "seeded noise claimed as private",
            "privacy/noise.py",
            '        """False: whoever knows or guesses the seed can subtract the noise."""\n'
            "        return False",
            '        """Whether it protects."""\n        return True',
            ("tests/unit/test_release.py",),
        ),
        Mutation(
            "radius from private rows",
            "models/moments/release.py",
            "    weights = choose_weights(",
            "    largest = float(np.nanmax(np.abs(table.values()), initial=1.0))\n"
            "    wanted = min(max(largest, 1.0), 100.0)\n"
            "    weights = choose_weights(",
            ("tests/audit/test_taint_everywhere.py::test_nothing_tells[release_moments]",),
        ),
        Mutation(
            "class labels learned from the rows",
            "models/logistic.py",
            "        self.classes_ = np.array(classes)\n        return self\n",
            "        self.classes_ = np.unique(np.asarray(y))\n        return self\n",
            ("tests/audit/test_taint_everywhere.py::test_nothing_tells[LogisticRegression]",),
        ),
        Mutation(
            "share of truncated rows in an attribute",
            "models/ridge.py",
            "        self._keep(found, scale, responses.one_dimensional)\n",
            "        self.truncated_ = float(np.mean(np.abs(features.values()) > 2.0))\n"
            "        self._keep(found, scale, responses.one_dimensional)\n",
            ("tests/audit/test_taint_everywhere.py::test_nothing_tells[Ridge]",),
        ),
        Mutation(
            "largest row in a log line",
            "models/shell.py",
            "        return private_rows(\n            features,",
            "        import logging\n"
            '        logging.getLogger("publicmoments").info("%s", features.values().max())\n'
            "        return private_rows(\n            features,",
            ("tests/audit/test_taint_everywhere.py::test_nothing_tells[PMTRidge]",),
        ),
        Mutation(
            "rows depend on the company of their block",
            "engines/numpy_engine.py",
            "        enormous = design[:, odd]\n"
            "        divisors[odd] = scaled_down(enormous, largest_entry(self.recipe.dtype))\n",
            "        odd[:] = True\n"
            "        enormous = design[:, odd]\n"
            "        divisors[odd] = 2.0 ** min(int(np.frexp(np.abs(enormous).max())[1]), 1023)\n"
            "        enormous /= divisors\n",
            ("tests/property/test_rows.py",),
        ),
        Mutation(
            "half-written files left behind",
            "atomic.py",
            "        neighbour.unlink(missing_ok=True)\n",
            "",
            ("tests/faults/test_full_disk.py",),
        ),
        Mutation(
            "files written in place",
            "atomic.py",
            'neighbour = path.with_name(f".{path.name}.{uuid4().hex}.tmp")',
            "path.unlink(missing_ok=True)\n    neighbour = path",
            ("tests/faults/test_full_disk.py",),
        ),
        Mutation(
            "a release made twice for one charge",
            "release.py",
            "    return release_total(exact_sum(rows, recipe), recipe, cost, account, source)\n",
            "    first = release_total(exact_sum(rows, recipe), recipe, cost, account, source)\n"
            "    free = Account(cost)\n"
            "    again = release_total(exact_sum(rows, recipe), recipe, cost, free, source)\n"
            "    mean = (first.noisy_mean + again.noisy_mean) / 2.0\n"
            '    return NoisyTotal(**{**vars(first), "noisy_mean": mean})\n',
            (CHARGES,),
        ),
        Mutation(
            "labels recoded by a missing one",
            "tables/labels.py",
            "            return self._array(series.fill_null(0).to_numpy(), missing)\n",
            "            return self._array(series.to_numpy(), missing)\n",
            (REPRODUCED, GATE),
        ),
        Mutation(
            "printed card rounded to nearest",
            "report/card.py",
            'f"({text_above(e)}, {text_above(d, 2)})"',
            'f"({e:.4g}, {d:.0e})"',
            (REPRODUCED,),
        ),
        Mutation(
            "words of a source repeated",
            "sources/asking.py",
            "        if raised_here(error):\n            raise\n        failure",
            "        if not raised_here(error):\n            raise\n        failure",
            (REPRODUCED,),
        ),
        Mutation(
            "number of invalid rows told",
            "rows/source.py",
            "                places.append(",
            "                places.append(f'{int((~np.isfinite(block)).sum())} lines of ')\n"
            "                places.append(",
            (REPRODUCED,),
        ),
        Mutation(
            "NumPy warns of cells",
            "tables/table.py",
            '        with np.errstate(all="ignore"):\n            if strict or',
            '        with np.errstate(all="warn"):\n            if strict or',
            (REPRODUCED, GATE),
        ),
        Mutation(
            "responses out of range refused under ignore",
            "rows/source.py",
            "strict=not self.ignore_invalid",
            "strict=True",
            (REPRODUCED, GATE),
        ),
        Mutation(
            "extra delta not paid from an epsilon-delta cap",
            "privacy/ledger/squares.py",
            "gdp_beside(budget, float_above(extra))",
            "gdp_beside(budget, 0.0)",
            (REPRODUCED, "tests/unit/privacy/test_ledger_guards.py"),
        ),
        Mutation(
            "missing labels on a device count as the first class",
            "engines/device.py",
            "        factors[:, ~np.isfinite(responses).all(axis=0)] = np.nan\n",
            "",
            (REPRODUCED,),
        ),
        Mutation(
            "variance of the sampler 1.4 % high",
            "privacy/noise.py",
            "make_gaussian(*space, scale=noise_sd)",
            "make_gaussian(*space, scale=1.007 * noise_sd)",
            ("tests/statistical/test_installed_sampler.py",),
        ),
        Mutation(
            "weights of a second moment without a bound",
            "factors.py",
            "return np.sqrt(np.clip(responses, 0.0, self.bound))",
            "return np.sqrt(np.maximum(responses, 0.0))",
            ("tests/unit/paper/test_moments.py",),
        ),
        Mutation(
            "noise of a second moment without its weights",
            "paper/moments.py",
            "        bound = radius * math.sqrt(most)\n",
            "        bound = radius\n",
            ("tests/unit/paper/test_moments.py",),
        ),
        Mutation(
            "second moment released with the radius of its rows",
            "paper/moments.py",
            "        radius = truncation_radius(d, n, eta)\n",
            "        radius = float(np.linalg.norm(features.values(), axis=1).max())\n",
            ("tests/audit/test_taint_everywhere.py::test_nothing_tells[PMTSecondMoment]",),
        ),
        Mutation(
            "labels in a list taken for names, and kept in the ledger",
            "models/shell.py",
            "    elif isinstance(y, list | tuple):\n        names = ()\n",
            "    elif isinstance(y, list | tuple):\n        names = tuple(y)\n",
            ("tests/unit/privacy/test_ledger_guards.py",),
        ),
    )
}


def plant(mutation: Mutation) -> Caught:
    """Run a mutation's tests on a copy that has the bug."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder) / "src"
        shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
        module = copy / PACKAGE / mutation.module
        text = module.read_text(encoding="utf-8")
        if text.count(mutation.old) != 1:
            return Caught(mutation.name, False, "not planted: the text is not there once", 0.0)
        module.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
        code, output = _tested(copy, Path(folder), mutation.tests)
    by = _first_failure(output) if code == 1 else f"pytest ended with code {code}"
    return Caught(mutation.name, code == 1, by, time.monotonic() - started)


def _tested(copy: Path, folder: Path, tests: Iterable[str]) -> tuple[int, str]:
    """Run tests on a copy of the library; return pytest's code and what it printed."""
    outer = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment = outer | {
        "PYTHONPATH": str(copy),
        "AUDIT_COPY": str(copy),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
    }
    options = ["-x", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider", "-p", "audit.planted"]
    command = [sys.executable, "-m", "pytest", *options, "-o", f"pythonpath={copy} .", *tests]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=TIMEOUT
        )
    except subprocess.TimeoutExpired:
        return -1, ""
    return done.returncode, done.stdout


def _first_failure(output: str) -> str:
    """Name of the first failing test in pytest's summary."""
    match = re.search(r"^(?:FAILED|ERROR) (?:tests/)?(\S+(?: \S+)*?)(?: - .*)?$", output, re.M)
    return match.group(1) if match else "a test"


def check(names: Iterable[str] = tuple(MUTATIONS)) -> Iterator[Caught]:
    """Plant mutations one after the other."""
    for name in names:
        yield plant(MUTATIONS[name])


def main() -> int:
    """Print what caught each mutation; fail if one got away."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", default=list(MUTATIONS), help="all by default")
    all_caught = True
    for outcome in check(parser.parse_args().names):
        word = "caught" if outcome.caught else "MISSED"
        print(f"{word}  {outcome.mutation}: {outcome.by} ({outcome.seconds:.0f} s)", flush=True)
        all_caught &= outcome.caught
    return 0 if all_caught else 1


if __name__ == "__main__":
    sys.exit(main())
