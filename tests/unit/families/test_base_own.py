"""A family of one's own: what it must state, and that a fit takes it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from publicmoments import GDP, GLM, PublicMoments
from publicmoments.families import CanonicalFamily, Family, Poisson


@dataclass(frozen=True)
class NegativeBinomial(Family):
    """Counts of variance m + m^2 / size, the logarithm of whose mean m is the linear predictor."""

    size: float = 2.0

    def mean(self, predictor):
        return np.exp(predictor)

    def curvature(self, predictor):
        mean = np.exp(predictor)
        return mean / (1.0 + mean / self.size)

    def loss(self, predictor, response):
        mean = np.exp(predictor)
        return (response + self.size) * np.log(self.size + mean) - response * predictor

    def allows(self, response):
        return Poisson().allows(response)

    @property
    def range(self):
        return "counts"

    def slope(self, predictor, response):
        return (self.mean(predictor) - response) / (1.0 + self.mean(predictor) / self.size)


@dataclass(frozen=True)
class Counts(Family):
    """Poisson counts once more, with no more than a family must state."""

    def mean(self, predictor):
        return np.exp(predictor)

    def curvature(self, predictor):
        return np.exp(predictor)

    def loss(self, predictor, response):
        return np.exp(predictor) - response * predictor

    def allows(self, response):
        return Poisson().allows(response)

    @property
    def range(self):
        return "counts"


def test_a_family_of_ones_own_fits():
    rng = np.random.default_rng(7)
    coef, family = np.array([0.5, -0.3]), NegativeBinomial()
    X = rng.normal(size=(12_200, 2))
    mean = np.exp(X @ coef + 0.5)
    y = rng.poisson(mean * rng.gamma(family.size, 1.0 / family.size, size=len(X)))
    public = PublicMoments.from_rows(X[:200], response=y[:200])
    model = GLM(family, privacy=GDP(1.0), public=public, random_state=0).fit(X[200:], y[200:])
    # About four standard errors of 0.014 each.
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), [*coef, 0.5], atol=0.06)
    assert model.predict(X[:5]).shape == (5,)
    assert model.score(X, y) > 0.05


def test_the_same_family_under_another_name_gives_the_same_fit():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(500, 2))
    y = rng.poisson(np.exp(0.5 * X[:, 0]))
    chosen = {"privacy": GDP(1.0), "public": PublicMoments.from_rows(X[:100]), "random_state": 0}
    own, known = (GLM(family, **chosen).fit(X, y) for family in (Counts(), Poisson()))
    np.testing.assert_allclose(own.coef_, known.coef_, rtol=1e-12)
    assert not isinstance(Counts(), CanonicalFamily)
