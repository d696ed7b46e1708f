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
DOOR = "tests/unit/session/test_door.py"
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
            "privacy/unit.py",
            "factor = 2 if positive_integer",
            "factor = Fraction(1, 2) if positive_integer",
            ("tests/property/test_gram_sensitivity.py",),
        ),
        Mutation(
            "sensitivity of sums halved",
            "privacy/unit.py",
            "        return 4 * exact(l2_bound_squared)\n",
            "        return exact(l2_bound_squared)\n",
            ("tests/property/test_rows.py",),
        ),
        Mutation(
            "cost of a vector halved",
            "privacy/laws.py",
            "float_above(squared_change / (2 * Fraction(self.noise_sd) ** 2))",
            "float_above(squared_change / (4 * Fraction(self.noise_sd) ** 2))",
            ("tests/unit/privacy/test_laws_vector.py",),
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
            ("tests/unit/privacy/test_noise.py", DOOR),
        ),
        Mutation(
            "noise missing on the diagonal",
            "privacy/noise.py",
            "noise[np.diag_indices(d)] = source.draw(d, law.diagonal_sd)",
            "noise[np.diag_indices(d)] = 0 * source.draw(d, law.diagonal_sd)",
            ("tests/unit/privacy/test_noise.py", DOOR),
        ),
        Mutation(
            "one gradient more than was paid for",
            "models/estimator.py",
            "        return self.finished(coef)\n",
            "        from publicmoments.privacy import Account\n\n"
            "        free = Account(self.session.total)\n"
            "        more = replace(self.session.bought, extra_tv=1.0)\n"
            "        self.session = replace(self.session, account=free, bought=more)\n"
            "        self.step(coef, self.plan.steps[-1])\n"
            "        return self.finished(self.next_point(coef))\n",
            (CHARGES,),
        ),
        Mutation(
            "gradients paid from an account of their own",
            "session/door.py",
            "release(query, exact, price, self.account, self.source, self.unit)",
            "release(query, exact, price, Account(price), self.source, self.unit)",
            (CHARGES,),
        ),
        Mutation(
            "counts that are not paid for",
            "models/estimator.py",
            "        released = self.session.ask(query, share_of(self.plan.counts))\n",
            "        from publicmoments.privacy import Account\n\n"
            "        free = replace(self.session, account=Account(self.session.total))\n"
            "        released = free.ask(query, share_of(self.plan.counts))\n",
            (CHARGES,),
        ),
        Mutation(
            "charge of a fit after its noise",
            "session/door.py",
            "    account.charge(cost)\n    noisy = query.noisy(answer, law, source)\n",
            "    noisy = query.noisy(answer, law, source)\n    account.charge(cost)\n",
            (CHARGES,),
        ),
        Mutation(
            "half of a cost charged",
            "session/door.py",
            "    account.charge(cost)\n",
            "    account.charge(GDP(cost.mu / 2.0))\n",
            (CHARGES,),
        ),
        Mutation(
            "laws of a fit without its histograms",
            "models/problem.py",
            "            demands += [count_demand(n_rows, cells, cost, family.n_responses)]\n",
            "",
            (CHARGES,),
        ),
        Mutation(
            "laws of a fit without its counts",
            "models/problem.py",
            "        if self.counted:\n            cells =",
            "        if self.counted and not plan.steps:\n            cells =",
            (CHARGES,),
        ),
        Mutation(
            "laws of a fit without its last step",
            "models/problem.py",
            "share_of(s), kind=kind) for s in plan.steps]",
            "share_of(s), kind=kind) for s in plan.steps[:-1]]",
            (CHARGES,),
        ),
        Mutation(
            "a row counted in two cells",
            "rows/recipe.py",
            "        out[cells[counted], counted] = self.mark\n",
            "        out[cells[counted], counted] = self.mark\n"
            "        out[np.maximum(cells[counted] - 1, 0), counted] = self.mark\n",
            (COUNTS,),
        ),
        Mutation(
            "a row counted twice in its cell",
            "rows/recipe.py",
            "        out[cells[counted], counted] = self.mark\n",
            "        out[cells[counted], counted] = 2 * self.mark\n",
            (COUNTS,),
        ),
        Mutation(
            "marks larger than their declared change",
            "privacy/unit.py",
            'Fraction(2 * positive_integer("mark", mark) ** 2)',
            'Fraction(positive_integer("mark", mark) ** 2)',
            (COUNTS,),
        ),
        Mutation(
            "rows that pad a block are counted",
            "rows/recipe.py",
            "        found[~((rows.length > 0.0) & (values == values))] = -1\n",
            "        found[~(values == values)] = -1\n",
            (COUNTS,),
        ),
        Mutation(
            "rows without a number are counted",
            "rows/recipe.py",
            "        found[~((rows.length > 0.0) & (values == values))] = -1\n",
            "        found[~(rows.length > 0.0)] = -1\n",
            (COUNTS,),
        ),
        Mutation(
            "marks that stay from the block before",
            "rows/recipe.py",
            "        out[...] = 0.0\n",
            "",
            (COUNTS,),
        ),
        Mutation(
            "slopes twice as long as their bound",
            "rows/recipe.py",
            "        return on_grid(out, self.l2_bound_squared)\n",
            "        return on_grid(np.multiply(2.0, out, out=out), 4 * self.l2_bound_squared)\n",
            ("tests/property/test_glm_rows.py",),
        ),
        Mutation(
            "noise of sums for half of their bound",
            "session/queries.py",
            "        return unit.sum_square(self.recipe.l2_bound_squared)\n",
            "        return unit.sum_square(self.recipe.l2_bound_squared) / 4\n",
            ("tests/noninterference/test_gate.py::test_fits_replayed_with_a_hostile_row",),
        ),
        Mutation(
            "first bound of a fit from private rows",
            "models/estimator.py",
            "        radius = look_radius(mu, self.n_rows, p)\n",
            "        radius = look_radius(mu, self.n_rows, p)\n"
            "        cells = np.abs(self.session.rows.features.values())\n"
            "        radius *= 1.0 + float(np.mean(cells > 2.0))\n",
            ("tests/contract/test_private_taint.py::test_nothing_tells[Ridge]",),
        ),
        Mutation(
            "steps along exact gradients",
            "models/estimator.py",
            '        released = self.session.ask(SumQuery("gradient", recipe), share_of(share))\n',
            "        from publicmoments.engines import exact_sum\n\n"
            '        released = self.session.ask(SumQuery("gradient", recipe), share_of(share))\n'
            "        exact = exact_sum(self.session.rows, recipe)\n"
            "        exact = exact * recipe.grid_unit / self.n_rows\n"
            "        released = replace(released, values=exact)\n",
            ("tests/contract/test_private_taint.py::test_nothing_tells[PoissonRegressor]",),
        ),
        Mutation(
            "mean of the private rows on the card",
            "models/fitting.py",
            "        public_fit_z=found.look.z_score,\n",
            "        public_fit_z=found.look.z_score\n"
            "        + float(np.nan_to_num(np.nanmean(session.rows.features.values()))),\n",
            ("tests/contract/test_private_taint.py::test_nothing_tells[LogisticRegression]",),
        ),
        Mutation(
            "length of the longest row among the iterations",
            "models/fitting.py",
            "        self.n_iter_ = len(found.steps)\n",
            "        self.n_iter_ = len(found.steps) + int(np.nanmax(features.values()) > 2.0)\n",
            ("tests/contract/test_private_taint.py::test_nothing_tells[GLM, Gamma]",),
        ),
        Mutation(
            "one step more than was paid for",
            "session/queries.py",
            "    return total.split(*[1.0] * parts)[0]\n",
            "    return total.split(*[1.0] * max(parts - 1, 1))[0]\n",
            ("tests/unit/session/test_queries.py",),
        ),
        Mutation(
            "row bound off by two",
            "rows/recipe.py",
            "        return int(4**self.grid_bits)\n",
            "        return int(4**self.grid_bits) // 2\n",
            ("tests/unit/rows/test_recipe.py",),
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
            "session/door.py",
            "    account.charge(cost)\n    noisy = query.noisy(answer, law, source)\n",
            "    noisy = query.noisy(answer, law, source)\n    account.charge(cost)\n",
            (DOOR,),
        ),
        Mutation(
            "charge of the account skipped",
            "session/door.py",
            "    account.charge(cost)\n",
            "",
            (DOOR,),
        ),
        Mutation(
            "more asked than was announced",
            "session/door.py",
            "        if not away <= self.bought.extra_tv:\n",
            "        if False:\n",
            (DOOR,),
        ),
        Mutation(
            "charge of the ledger skipped",
            "privacy/ledger/paying.py",
            "            if self._entry is None:\n"
            "                self._entry = self._charge_all()\n",
            "            if self._entry is None and self.total.mu < 0:\n"
            "                self._entry = self._charge_all()\n",
            ("tests/unit/privacy/ledger/test_paying.py",),
        ),
        Mutation(
            "seeded noise claimed as private",
            "privacy/noise.py",
            '        """False: whoever knows or guesses the seed can subtract the noise."""\n'
            "        return False",
            '        """Whether it protects."""\n        return True',
            (DOOR,),
        ),
        Mutation(
            "radius from private rows",
            "release/releasing.py",
            "        weights = choose_weights(",
            "        largest = float(np.nanmax(np.abs(table.values()), initial=1.0))\n"
            "        wanted = min(max(largest, 1.0), 100.0)\n"
            "        weights = choose_weights(",
            ("tests/contract/test_private_taint.py::test_nothing_tells[release_moments]",),
        ),
        Mutation(
            "class labels learned from the rows",
            "models/logistic.py",
            "        self.classes_ = np.array(classes)\n        return self\n",
            "        self.classes_ = np.unique(np.asarray(y))\n        return self\n",
            ("tests/contract/test_private_taint.py::test_nothing_tells[LogisticRegression]",),
        ),
        Mutation(
            "share of truncated rows in an attribute",
            "models/ridge.py",
            "        one, names = responses.one_dimensional, responses.columns\n",
            "        one, names = responses.one_dimensional, responses.columns\n"
            "        self.truncated_ = float(np.mean(np.abs(features.values()) > 2.0))\n",
            ("tests/contract/test_private_taint.py::test_nothing_tells[Ridge]",),
        ),
        Mutation(
            "largest row in a log line",
            "models/shell.py",
            "        return private_rows(\n            features,",
            "        import logging\n"
            '        logging.getLogger("publicmoments").info("%s", features.values().max())\n'
            "        return private_rows(\n            features,",
            ("tests/contract/test_private_taint.py::test_nothing_tells[PMTRidge]",),
        ),
        Mutation(
            "rows depend on the company of their block",
            "engines/host.py",
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
            "io/atomic.py",
            "        neighbour.unlink(missing_ok=True)\n",
            "",
            ("tests/faults/test_full_disk.py",),
        ),
        Mutation(
            "files written in place",
            "io/atomic.py",
            'neighbour = path.with_name(f".{path.name}.{uuid4().hex}.tmp")',
            "path.unlink(missing_ok=True)\n    neighbour = path",
            ("tests/faults/test_full_disk.py",),
        ),
        Mutation(
            "a release made twice for one charge",
            "session/door.py",
            "        answer = release(query, exact, price, self.account, self.source, self.unit)\n",
            "        answer = release(query, exact, price, self.account, self.source, self.unit)\n"
            "        again = release(query, exact, price, Account(price), self.source, self.unit)\n"
            "        mean = (answer.values + again.values) / 2.0\n"
            '        answer = Release(**{**vars(answer), "values": mean})\n',
            (CHARGES,),
        ),
        Mutation(
            "labels recoded by a missing one",
            "data/labels.py",
            "                series = series.fill_null(False if dtype == nw.Boolean else 0)\n",
            "                pass\n",
            (REPRODUCED, GATE),
        ),
        Mutation(
            "printed card rounded to nearest",
            "privacy/card.py",
            'f"({text_above(e)}, {text_above(d, 2)})"',
            'f"({e:.4g}, {d:.0e})"',
            (REPRODUCED,),
        ),
        Mutation(
            "words of a source repeated",
            "data/asking.py",
            "        if raised_here(error):\n            raise\n        failure",
            "        if not raised_here(error):\n            raise\n        failure",
            (REPRODUCED,),
        ),
        Mutation(
            "number of invalid rows told",
            "rows/private_rows.py",
            "                places.append(",
            "                places.append(f'{int((~np.isfinite(block)).sum())} lines of ')\n"
            "                places.append(",
            (REPRODUCED,),
        ),
        Mutation(
            "NumPy warns of cells",
            "data/table.py",
            '        with np.errstate(all="ignore"):\n            if strict or',
            '        with np.errstate(all="warn"):\n            if strict or',
            (REPRODUCED, GATE),
        ),
        Mutation(
            "responses out of range refused under ignore",
            "rows/private_rows.py",
            "strict=not self.ignore_invalid",
            "strict=True",
            (REPRODUCED, GATE),
        ),
        Mutation(
            "extra delta not paid from an epsilon-delta cap",
            "privacy/ledger/squares.py",
            "gdp_beside(budget, float_above(extra))",
            "gdp_beside(budget, 0.0)",
            (REPRODUCED, "tests/unit/privacy/ledger/test_guards.py"),
        ),
        Mutation(
            "missing labels on a device count as the first class",
            "engines/device.py",
            "(length * length < LONGEST**2) & self.here(numbers)",
            "length * length < LONGEST**2",
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
            "families/factors.py",
            "return np.sqrt(np.clip(responses, 0.0, self.bound))",
            "return np.sqrt(np.maximum(responses, 0.0))",
            ("tests/unit/paper/test_second_moments.py",),
        ),
        Mutation(
            "noise of a second moment without its weights",
            "paper/second_moments.py",
            "        bound = radius * math.sqrt(self.weight_bound if weighted else 1.0)\n",
            "        bound = radius\n",
            ("tests/unit/paper/test_second_moments.py",),
        ),
        Mutation(
            "second moment released with the radius of its rows",
            "paper/second_moments.py",
            "        self.radius_ = self._radius(given.rows)\n",
            "        lengths = np.linalg.norm(given.rows.settled(0, n, n)[0], axis=1)\n"
            "        self.radius_ = float(lengths.max())\n",
            ("tests/contract/test_private_taint.py::test_nothing_tells[PMTSecondMoment]",),
        ),
        Mutation(
            "labels in a list taken for names, and kept in the ledger",
            "models/shell.py",
            "    elif isinstance(y, list | tuple):\n        names = ()\n",
            "    elif isinstance(y, list | tuple):\n        names = tuple(y)\n",
            ("tests/unit/privacy/ledger/test_guards.py",),
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
