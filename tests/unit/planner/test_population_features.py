"""Made-up rows have the moments, the values and the tails that public data show or state."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments import PublicMoments
from publicmoments.planner.population import EllipticalRows, PublicRows, features_of


def mixed(count, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=count)
    return np.column_stack(
        [np.exp(z), z > 0.5, rng.poisson(2.0 + z**2), 10.0 * z + rng.normal(size=count)]
    )


def moment(X, weights=None):
    rows = np.column_stack([X, np.ones(len(X))])
    return (rows.T * (1.0 / len(X) if weights is None else weights)) @ rows


class TestPublicRows:
    def test_second_moments_stay(self):
        law = features_of(PublicMoments.from_rows(mixed(300)), None)
        law = law.drawn(np.random.default_rng(1))
        X, _ = law.sample(np.random.default_rng(2), 400_000)
        expected = moment(law.rows, law.weights)
        sizes = np.sqrt(np.diag(expected))
        assert moment(X) / np.outer(sizes, sizes) == pytest.approx(
            expected / np.outer(sizes, sizes), abs=0.02
        )

    def test_few_valued_columns_are_kept_and_others_smoothed(self):
        B = mixed(300)
        X, picked = features_of(PublicMoments.from_rows(B), None).sample(
            np.random.default_rng(2), 500
        )
        assert np.array_equal(X[:, 1:3], B[picked, 1:3])
        assert not np.isin(X[:, [0, 3]], B[:, [0, 3]]).any()

    def test_the_public_rows_stay_as_they_are(self):
        B = np.round(mixed(50)[:, 1:3])
        law = features_of(PublicMoments.from_rows(B), None)
        X, _ = law.sample(np.random.default_rng(0), 100)
        X += 1.0
        assert np.array_equal(law.rows, B)

    def test_weights_vary_as_much_as_so_many_rows_do(self):
        # Of 8,000 rows, 2,000 are kept, and every one counts for two.
        law = features_of(PublicMoments.from_rows(mixed(8_000)), None)
        draws = [law.drawn(np.random.default_rng(k)) for k in range(200)]
        means = [draw.weights @ draw.rows[:, 3] for draw in draws]
        assert np.std(means) == pytest.approx(np.std(law.rows[:, 3]) / np.sqrt(16_000), rel=0.2)


class TestEllipticalRows:
    @pytest.mark.parametrize("kurtosis", [1.0, 1.08, 1.5])
    def test_moments_and_tails_are_those_stated(self, kurtosis):
        root = np.diag([1.0, 3.0])
        X, picked = EllipticalRows(np.array([5.0, 0.0]), root, kurtosis, None).sample(
            np.random.default_rng(0), 400_000
        )
        z = (X - [5.0, 0.0]) / [1.0, 3.0]
        assert z.T @ z / len(z) == pytest.approx(np.eye(2), abs=0.02)
        assert np.mean(np.sum(z**2, axis=1) ** 2) / 8.0 == pytest.approx(kurtosis, rel=0.06)
        assert set(picked) == {-1}

    def test_classes_leave_mean_and_variance(self):
        axis = np.array([0.6, 0.8])
        law = EllipticalRows(np.zeros(2), np.eye(2), 1.0, None, axis, apart=0.9, upper=0.2)
        X, _ = law.sample(np.random.default_rng(0), 200_000)
        assert np.mean(X, axis=0) == pytest.approx(0.0, abs=0.02)
        assert X.T @ X / len(X) == pytest.approx(np.eye(2), abs=0.02)
        assert np.mean(X @ axis > 0.7) == pytest.approx(0.2, abs=0.02)

    def test_drawn_moments_are_about_the_public_ones(self):
        law = EllipticalRows(np.array([5.0, 1.0]), np.array([[2.0, 1.0], [0.0, 0.5]]), 1.0, 400)
        draws = [law.drawn(np.random.default_rng(k)) for k in range(200)]
        about = np.mean([draw.root.T @ draw.root for draw in draws], axis=0)
        assert about == pytest.approx(law.root.T @ law.root, rel=0.05)
        assert np.std([draw.mean[0] for draw in draws]) == pytest.approx(2.0 / 20.0, rel=0.2)

    def test_assumed_moments_are_taken_as_they_are(self):
        law = features_of(PublicMoments.identity(3), None)
        assert law.drawn(np.random.default_rng(0)) is law
        assert isinstance(features_of(PublicMoments.from_rows(mixed(9)), None), PublicRows)
