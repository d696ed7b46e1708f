"""
What is wrong is said by name, before any budget is spent, and without a word on private rows.

One suite for every private estimator: the ledger that would pay is looked at after each refusal.
"""

from __future__ import annotations

import math
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

from audit.cases import Case
from publicmoments import GDP, ZCDP, ApproxDP, PublicMoments
from publicmoments.privacy import Ledger
from tests.contract.private import PRIVATE, SECRET, parameters_of, secret_table

pytestmark = [
    pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory) -> Ledger:
    """Pays for everything here, and so for nothing."""
    pytest.importorskip("sqlalchemy")
    return Ledger(tmp_path_factory.mktemp("ledger") / "ledger.db")


@pytest.fixture
def refusal(ledger):
    """The error of a fit: nothing is charged, nothing private told, and no fit half made."""

    def refused(case: Case, X: Any, y: Any, **parameters: Any) -> str:
        given = {"ledger": ledger, "dataset": "rows", "privacy": GDP(1.0)}
        alone, before = case.kind == "none", ledger.entries("rows")
        model = None if alone else case.make(**given).set_params(**parameters)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with pytest.raises((TypeError, ValueError)) as info:
                case.make(X, **(given | parameters)) if model is None else model.fit(X, y)
        texts = [str(warning.message) for warning in caught] + [repr(model)]
        error: BaseException | None = info.value
        while error is not None:
            texts.append(repr(error))
            error = error.__cause__ or error.__context__
        assert not any("31337" in text or "3.1337" in text for text in texts)
        assert ledger.entries("rows") == before
        # Nothing is left of the attempt, so that the model does not pass for a fitted one.
        assert model is None or set(vars(model)) == set(model.get_params())
        return str(info.value)

    return refused


PARAMETERS: dict[str, list[tuple[Any, str]]] = {
    "privacy": [
        *(
            (value, "privacy must be GDP(mu), ApproxDP(epsilon, delta) or ZCDP(rho)")
            for value in (None, 1.0, GDP)
        ),
        (GDP(1e-12), "privacy must be a budget that noise on the integer grid"),
        (GDP(1e12), "privacy must be a budget that noise on the integer grid"),
        (ZCDP(1e24), "privacy must be a budget that noise on the integer grid"),
        (ApproxDP(1e-14, 1e-15), "privacy must be a budget"),
        (ApproxDP(900.0, 1e-6), "epsilon=900.0 is too large"),
    ],
    "on_invalid": [("drop", 'on_invalid must be "raise" or "ignore"')],
    "random_state": [
        (-1, "random_state must be a non-negative integer"),
        (1.5, "random_state must be None"),
        (True, "random_state must be None"),
    ],
    "public": [
        (np.eye(2), "public must be PublicMoments"),
        ("moments.json", "public must be PublicMoments"),
        (PublicMoments.identity(4), "but the public moments have 4"),
    ],
    "alpha": [
        *((value, "alpha must be in [0, inf)") for value in (-1.0, math.nan, math.inf)),
        ("1", "alpha must be a number"),
    ],
    "l1_ratio": [(value, "l1_ratio must be in [0, 1]") for value in (-0.1, 1.1, math.nan)],
    "passes": [(v, "passes must be an integer >= 1") for v in (0, -1, 2.0, True, "all")],
    "iterations": [(v, "iterations must be an integer >= 1") for v in (0, -1, 2.0, True, "all")],
    "anchor": [(None, "anchor must be True or False")],
    "fit_intercept": [("no", "fit_intercept must be True or False")],
    "eta": [(value, "eta must be in (0, 1)") for value in (0.0, 1.0, -0.1, math.nan)],
    "step": [(value, "step must be in (0, inf)") for value in (0.0, -1.0)],
    "clip": [(value, "clip must be in (0, inf)") for value in (0.0, math.inf)],
    "failure": [(1.0, "failure must be in (0, 1)")],
    "x_bound": [(0.0, "x_bound must be in (0, inf)")],
    "y_bound": [(math.nan, "y_bound must be in (0, inf)")],
    "coef_bound": [(value, "coef_bound must be in (0, inf)") for value in (math.nan, -1.0)],
    "response_bound": [(v, "response_bound must be in (0, inf)") for v in (0.0, math.inf)],
    "weight_bound": [(v, "weight_bound must be in (0, inf)") for v in (0.0, math.nan)],
    "typical_exposure": [
        (v, "typical_exposure must be in (0, inf)") for v in (0.0, -1.0, math.nan)
    ],
    "typical_offset": [
        *((value, "typical_offset must be finite") for value in (math.inf, math.nan)),
        *((value, "typical_offset must be a number") for value in ("1", True)),
    ],
    "family": [
        *((value, "family must be one of publicmoments.families") for value in ("poisson", Case)),
    ],
    "classes": [
        ((0,), "classes must be "),
        ((1, 1), "at least two different labels"),
        ((1, True), "at least two different labels"),
        *((v, "classes must be a sequence of labels") for v in ("01", {0, 1}, None)),
        *((v, "classes must not hold None or NaN") for v in ((0, None), (0, math.nan))),
    ],
}
"""By parameter: what it must not be, and the words for it; in every estimator that has it."""


def tries() -> list[Any]:
    """Every estimator with every parameter of its own, once."""
    found: dict[tuple[str, str], list[Any]] = {}
    for name, case in PRIVATE.items():
        for parameter in sorted(parameters_of(case) & set(PARAMETERS)):
            kind = name.partition(",")[0], parameter
            found.setdefault(kind, [(name, parameter, *one) for one in PARAMETERS[parameter]])
    return [one for tried in found.values() for one in tried]


@pytest.mark.parametrize(("name", "parameter", "value", "words"), tries())
def test_bad_parameters_are_refused_by_name(refusal, name, parameter, value, words):
    case = PRIVATE[name]
    assert words in refusal(case, *secret_table(case), **{parameter: value})


def test_every_rule_is_tried():
    assert {parameter for _, parameter, *_ in tries()} == set(PARAMETERS)


def with_cell(table: np.ndarray, value: float, row: int = 5) -> np.ndarray:
    """The table with another cell in its last column."""
    changed = np.array(table, dtype=float)
    changed[(row, -1) if changed.ndim == 2 else row] = value
    return changed


TABLES = {
    "a vector": (lambda X, y: (X[:, 0], y), r"2D|has shape"),
    "one row": (lambda X, y: (X[:1], y[:1]), "minimum of 2"),
    "no columns": (lambda X, y: (X[:, :0], y), "0 feature"),
    "no rows": (lambda X, y: (X[:0], y[:0]), "0 sample"),
    "texts": (lambda X, y: (X.astype(str), y), "must hold numbers"),
    "complex": (lambda X, y: (X.astype(complex), y), "Complex data not supported"),
    "NaN": (lambda X, y: (with_cell(X, math.nan), y), r"\(column 1\)"),
    "infinity": (lambda X, y: (with_cell(X, -math.inf), y), r"\(column 1\)"),
    "a text among numbers": (
        lambda X, y: (with_text(X), y),
        r"column\(s\) 1",
    ),
}
RESPONSES = {
    "too few": (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples|rows"),
    "none": (lambda X, y: (X, None), "requires y|sample_weight"),
    "NaN": (lambda X, y: (X, with_cell(y, math.nan)), "NaN or infinity"),
    "a table": (
        lambda X, y: (X, np.column_stack([y, y, y])),
        "vector|one response|one weight|columns",
    ),
}


def with_text(table: np.ndarray) -> np.ndarray:
    """The table as objects, a text with the secret among them."""
    changed = table.astype(object)
    changed[5, 1] = f"{SECRET} m"
    return changed


@pytest.mark.parametrize("change", TABLES)
@pytest.mark.parametrize("name", PRIVATE)
def test_bad_tables_are_refused(refusal, name, change):
    case, (changed, words) = PRIVATE[name], TABLES[change]
    message = refusal(case, *changed(*secret_table(case)))
    assert any(word in message for word in words.replace("\\", "").split("|"))


@pytest.mark.parametrize("change", RESPONSES)
@pytest.mark.parametrize("name", [name for name, case in PRIVATE.items() if case.kind != "none"])
def test_bad_responses_are_refused(refusal, name, change):
    if change == "none" and "weighted" in name:
        pytest.skip("weights may be left out")
    if change == "a table" and name in ("Ridge, matrix", "Ridge, nothing"):
        pytest.skip("it takes any number of responses where nothing public speaks of them")
    if "two responses" in name or "exposed" in name:
        pytest.skip("its responses are made up on the way")
    case, (changed, words) = PRIVATE[name], RESPONSES[change]
    message = refusal(case, *changed(*secret_table(case)))
    assert any(word in message for word in words.split("|")), message


@pytest.mark.parametrize("name", [name for name, case in PRIVATE.items() if case.kind != "none"])
def test_a_failed_fit_leaves_an_earlier_one_alone(name):
    case = PRIVATE[name]
    X, y = secret_table(case)
    model = case.make(privacy=GDP(1.0), random_state=0).fit(X, y)
    before = pickle.dumps(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(with_cell(X[:20], math.nan), y[:20])
    assert pickle.dumps(vars(model)) == before
