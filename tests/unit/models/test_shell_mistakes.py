"""Mistakes that cost privacy are refused or announced at the moment they are made."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from publicmoments import (
    GDP,
    LogisticRegression,
    PublicMoments,
    PublicMomentsWarning,
    Ridge,
    release_moments,
)
from publicmoments.models import shell
from publicmoments.paper import PMTRidge
from publicmoments.privacy import Ledger

RNG = np.random.default_rng(8)
X, B = RNG.normal(size=(80, 3)), RNG.normal(size=(40, 3))
Y = X @ [1.0, 2.0, 3.0]
PUBLIC = PublicMoments.from_rows(B, response=B @ [1.0, 2.0, 3.0])


class TestPublicThatIsPrivate:
    @pytest.mark.parametrize("again", [lambda X: X, lambda X: X[:], lambda X: X.view()])
    def test_arrays(self, again):
        public = PublicMoments.from_rows(X, response_scale=1.0)
        for model in (Ridge(privacy=GDP(1.0)), LogisticRegression(privacy=GDP(1.0))):
            with pytest.raises(ValueError, match="public must not be made from the private rows"):
                model.set_params(public=public).fit(again(X), (Y > 0).astype(float))

    def test_frames(self):
        frame = pd.DataFrame({"a": X[:, 0], "y": Y})
        public = PublicMoments.from_rows(frame, response="y")
        with pytest.raises(ValueError, match="very table that is X"):
            Ridge(privacy=GDP(1.0), public=public).fit(frame, "y")

    def test_releases_and_published_methods(self):
        public = PublicMoments.from_rows(X)
        with pytest.raises(ValueError, match="very table that is rows"):
            release_moments(X, privacy=GDP(1.0), public=public)
        with pytest.raises(ValueError, match="very table that is X"):
            PMTRidge(privacy=GDP(1.0), public=PublicMoments.from_rows(X, response=Y)).fit(X, Y)

    def test_other_rows_of_the_same_array_are_allowed(self):
        public = PublicMoments.from_rows(X[:30], response=Y[:30])
        model = Ridge(privacy=GDP(1.0), public=public, random_state=0)
        assert model.fit(X[30:], Y[30:]).card_.n_rows == 50
        # Equal cells elsewhere: no cell is looked at, so that none can be told by a refusal.
        assert model.fit(X[:30].copy(), Y[:30]).card_.n_rows == 30


class TestIdentifiers:
    def told(self, act) -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            act()
        texts = [str(one.message) for one in caught if one.category is PublicMomentsWarning]
        return [text for text in texts if "look like identifiers" in text]

    def fit(self, frame, public):
        model = Ridge(privacy=GDP(1.0), public=public, random_state=0)
        return lambda: model.fit(frame, Y)

    def test_names(self):
        columns = ["age", "patient_id", "bmi"]
        public = PublicMoments.from_rows(B, response=B[:, 0], columns=columns)
        (text,) = self.told(self.fit(pd.DataFrame(X, columns=columns), public))
        assert text.startswith("column(s) patient_id look like identifiers")
        (text,) = self.told(self.fit(X, public))
        assert "patient_id" in text
        (text,) = self.told(self.fit(pd.DataFrame(X, columns=columns), None))
        assert "patient_id" in text

    def test_public_values(self):
        rows = B.copy()
        rows[:, 2] = RNG.permutation(len(B)) + 70_000
        (text,) = self.told(self.fit(X, PublicMoments.from_rows(rows, response=B[:, 0])))
        assert text.startswith("column(s) 2 look like identifiers")
        public = PublicMoments.from_rows(rows)
        release = lambda: release_moments(X, privacy=GDP(1.0), public=public)  # noqa: E731
        assert len(self.told(release)) == 1

    def test_private_values_are_not_looked_at(self):
        table = X.copy()
        table[:, 2] = np.arange(len(X))
        assert self.told(self.fit(table, PUBLIC)) == []

    def test_counts_that_repeat_and_few_rows_are_no_identifiers(self):
        rows = B.copy()
        rows[:, 2] = np.arange(len(B)) // 2
        assert self.told(self.fit(X, PublicMoments.from_rows(rows, response=B[:, 0]))) == []
        few = np.column_stack([B[:15, :2], np.arange(15)])
        assert self.told(self.fit(X, PublicMoments.from_rows(few, response=few[:, 0]))) == []


class TestClones:
    @pytest.fixture(autouse=True)
    def first_time(self):
        shell.warn_of_clones.cache_clear()

    def heard(self, act) -> int:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            act()
        return sum(bool(re.search("copy that scikit-learn made", str(w.message))) for w in caught)

    def test_cross_validation_is_told_what_it_costs_once(self):
        model = Ridge(privacy=GDP(1.0), public=PUBLIC, random_state=0)
        assert self.heard(lambda: cross_val_score(model, X, Y, cv=4)) == 1
        assert self.heard(lambda: clone(model).fit(X, Y)) == 0

    def test_published_methods_too(self):
        model = PMTRidge(privacy=GDP(1.0), public=PUBLIC, random_state=0)
        assert self.heard(lambda: cross_val_score(model, X, Y, cv=2)) == 1

    def test_with_a_ledger_every_fit_is_counted_and_nothing_told(self, tmp_path):
        ledger = Ledger(tmp_path / "ledger.db", new_datasets=True)
        model = Ridge(privacy=GDP(1.0), public=PUBLIC, ledger=ledger, dataset="d")
        assert self.heard(lambda: cross_val_score(model, X, Y, cv=4)) == 0
        assert ledger.spent("d") == 2.0

    def test_a_model_that_was_made_by_hand_is_not_told(self):
        model = Ridge(privacy=GDP(1.0), public=PUBLIC, random_state=0)
        assert self.heard(lambda: model.fit(X, Y)) == 0
