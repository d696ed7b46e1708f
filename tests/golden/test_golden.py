"""Statistics and draws are what they were when the figures were recorded, to the last bit."""

from __future__ import annotations

import copy
import math

import pytest

from tests.golden import record
from tests.golden.fits import CASES, Case

RECORDED = record.read()
EXACT = RECORDED["fingerprint"] == record.fingerprint()


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_figures_are_those_recorded(case: Case) -> None:
    if case.missing:
        pytest.skip(f"needs {', '.join(case.missing)}")
    if case.name not in RECORDED["cases"]:
        pytest.skip("was not recorded, for want of what it needs")
    told = record.differences(RECORDED["cases"][case.name], record.run(case.function), exact=EXACT)
    assert not told, "\n".join(told)


def test_nothing_recorded_has_gone() -> None:
    assert set(RECORDED["cases"]) <= set(CASES)


@pytest.mark.parametrize(
    "name", sorted(name for name in RECORDED["cases"] if name.startswith("source/"))
)
def test_recorded_figures_of_sources_are_the_same(name: str) -> None:
    """All that the sources have in common: fits of the same rows by name, or as arrays."""
    if name in ("source/numpy-layouts", "source/sparse-cells"):
        pytest.skip("other rows or other names")
    # Libraries of the array API have arithmetic of their own, which may round a cell otherwise.
    exact = name != "source/array-api"
    by_names = {"spark": "parquet/few-fits", "parquet/few-fits": "parquet/few-fits"}
    arrays = ("source/numpy", "source/lists", "source/dask-arrays", "source/array-api")
    kind = name.removeprefix("source/")
    like = "numpy" if name in arrays else by_names.get(kind, "pandas")
    assert not record.differences(
        RECORDED["cases"][f"source/{like}"], RECORDED["cases"][name], exact=exact
    )


def changed_by_a_bit(case: str, name: str) -> dict[str, object]:
    """The record of a case, the first number of one figure moved to the next float."""
    figures = copy.deepcopy(RECORDED["cases"][case])
    figures[name][0] = math.nextafter(figures[name][0], math.inf)
    return figures


def test_one_bit_is_told() -> None:
    recorded = RECORDED["cases"]["ridge/plain"]
    (line,) = record.differences(recorded, changed_by_a_bit("ridge/plain", "coef_"))
    assert line.startswith("coef_:")


def test_one_bit_is_let_pass_where_the_arithmetic_is_another() -> None:
    recorded, changed = RECORDED["cases"]["ridge/plain"], changed_by_a_bit("ridge/plain", "coef_")
    assert not record.differences(recorded, changed, exact=False)
    changed["coef_"][0] *= 1.1  # type: ignore[index]
    assert record.differences(recorded, changed, exact=False)


@pytest.mark.parametrize("exact", [True, False])
def test_figures_that_are_gone_or_new_are_told(exact: bool) -> None:
    recorded = RECORDED["cases"]["ridge/plain"]
    fewer = {name: value for name, value in recorded.items() if name != "coef_"}
    assert record.differences(recorded, fewer, exact=exact)
    assert record.differences(fewer, recorded, exact=exact)


@pytest.mark.parametrize(
    ("one", "other"), [(0.0, -0.0), (1.0, 1), ("a", "b"), (None, 0.0), ([1.0], [1.0, 2.0])]
)
def test_what_differs_a_little_differs(one: object, other: object) -> None:
    assert record.differences({"figure": one}, {"figure": other})
