"""Fits that are paid for by a ledger: charged before noise, refused beyond the cap."""

import numpy as np
import pytest

from audit.door import Scripted, noise_from
from publicmoments import (
    GDP,
    GLM,
    BudgetExceeded,
    Ledger,
    LogisticRegression,
    PoissonRegressor,
    PublicMoments,
    Ridge,
    release_moments,
)
from publicmoments.families import Gaussian

N, D = 300, 2
X = np.random.default_rng(0).normal(size=(N, D))
PUBLIC = PublicMoments.from_rows(X[:50], response_scale=1.0)
ROWS = PublicMoments.from_rows(X[:50])
Y = (X[:, 0] > 0).astype(int)


def ridge(**parameters):
    return Ridge(public=PUBLIC, **parameters).fit(X, X[:, 0])


def logistic(**parameters):
    return LogisticRegression(public=ROWS, passes=2, **parameters).fit(X, Y)


def poisson(**parameters):
    return PoissonRegressor(public=ROWS, passes=2, **parameters).fit(X, Y)


def gaussian(**parameters):
    return GLM(Gaussian(), public=PUBLIC, passes=2, **parameters).fit(X, X[:, 0])


def moments(**parameters):
    return release_moments(X, public=ROWS, **parameters)


FITS = [ridge, logistic, poisson, gaussian, moments]
QUIET = pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")


@pytest.fixture
def book(tmp_path):
    return Ledger(tmp_path / "ledger.db")


@QUIET
@pytest.mark.parametrize("fit", FITS)
def test_a_fit_is_charged_once_with_its_total(book, fit):
    fit(privacy=GDP(0.7), ledger=book, dataset="wards")
    (entry,) = book.entries("wards")
    assert book.spent("wards") == pytest.approx(0.7, rel=1e-9)
    assert (entry.closed_by, entry.private) == ("released", True)


@QUIET
@pytest.mark.parametrize("fit", FITS)
def test_a_fit_beyond_the_cap_draws_no_noise(book, fit):
    source = Scripted()
    book.cap("wards", GDP(0.5))
    with noise_from(source), pytest.raises(BudgetExceeded, match="wards"):
        fit(privacy=GDP(0.7), ledger=book, dataset="wards")
    assert source.events == []
    assert book.spent("wards") == 0.0


@QUIET
@pytest.mark.parametrize("fit", FITS)
def test_a_ledger_needs_a_dataset_and_the_other_way_round(book, fit):
    with pytest.raises(ValueError, match="pass dataset as well"):
        fit(privacy=GDP(0.7), ledger=book)
    with pytest.raises(ValueError, match="pass ledger as well"):
        fit(privacy=GDP(0.7), dataset="wards")


@QUIET
def test_the_charge_is_on_the_disk_when_noise_is_drawn(tmp_path):
    path, seen = tmp_path / "ledger.db", []

    class Looking(Scripted):
        """Looks into the ledger before it draws."""

        def draw(self, count, noise_sd):
            seen.append(Ledger(path, create=False).spent("wards"))
            return super().draw(count, noise_sd)

    with noise_from(Looking()):
        ridge(privacy=GDP(0.7), ledger=path, dataset="wards")
    assert seen == [pytest.approx(0.7)] * len(seen)
    assert len(seen) >= 1


@QUIET
def test_invalid_rows_cost_nothing(book):
    bad = X.copy()
    bad[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        Ridge(privacy=GDP(0.7), public=PUBLIC, ledger=book, dataset="wards").fit(bad, X[:, 0])
    assert len(book.entries("wards")) == 0


@QUIET
def test_reproducible_fits_are_marked_as_such(book):
    ridge(privacy=GDP(0.7), ledger=book, dataset="wards", random_state=0)
    (entry,) = book.entries("wards")
    assert (entry.closed_by, entry.private) == ("finished", False)
