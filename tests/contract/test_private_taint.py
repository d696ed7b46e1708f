"""
Nothing derived from private rows gets around the door, in any private estimator.

The released sums are replaced by fixed ones, so that different private tables must lead to the same
in every bit: attributes, texts, readings, warnings, logs, streams and files.
"""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

from audit import taint
from audit.cases import released_by, table_for
from publicmoments import GDP, ApproxDP
from tests.contract.private import PRIVATE

# The largest record that a fit of two features may be: no table hangs on it.
LARGEST = 20_000


@pytest.mark.parametrize("name", PRIVATE)
def test_nothing_tells(name):
    outcome = taint.examine(PRIVATE[name])
    assert outcome.sums_differed
    assert outcome.different == ()
    # Parameters and attributes, texts, readings, warnings, logs, both streams and the file.
    assert outcome.compared >= 20


@pytest.mark.parametrize("privacy", [GDP(30.0), ApproxDP(1.0, 1e-6)], ids=repr)
@pytest.mark.parametrize("name", ["Ridge", "LogisticRegression", "release_moments", "PMTRidge"])
def test_nothing_tells_at_other_budgets(name, privacy):
    outcome = taint.examine(PRIVATE[name], privacy=privacy)
    assert outcome.sums_differed
    assert outcome.different == ()


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@pytest.mark.parametrize("name", PRIVATE)
def test_refusals_do_not_tell_where_or_what(name):
    case = PRIVATE[name]
    texts = set()
    for seed, row in ((1, 3), (2, 17)):
        X, y = table_for(case, seed)
        X[row, 1], X[row, 0] = np.nan, taint.SENTINEL * seed
        with pytest.raises(ValueError, match="NaN or infinity") as caught:
            case.fit(X, y)
        error, chain = caught.value, []
        while error is not None:
            chain.append(repr(error))
            error = error.__cause__ or error.__context__
        texts.add(tuple(chain))
    assert len(texts) == 1


@pytest.mark.parametrize("name", PRIVATE)
def test_different_releases_give_different_fits_without_their_rows(name):
    case = PRIVATE[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = [case.fit(*table_for(case, seed, 400), random_state=0) for seed in (1, 2)]
    assert not np.array_equal(*(released_by(fit) for fit in fits))
    assert all(len(pickle.dumps(fit)) < LARGEST for fit in fits)
