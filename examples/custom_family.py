"""A family of your own.

Scores out of ten: how many of ten questions each pupil answered. A family states its mean,
curvature and loss, and the range of its responses. Since a score differs from its mean by at most
ten, one row can do no more, and nothing needs to be clipped.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from publicmoments import GDP, GLM, PublicMoments
from publicmoments.families import Family


@dataclass(frozen=True)
class Score(Family):
    """Successes among a known number of trials, with log odds as the linear predictor."""

    trials: int = 10

    def mean(self, predictor):
        """Trials times the probability of a success."""
        return self.trials * expit(predictor)

    def curvature(self, predictor):
        """Variance of the score."""
        return self.trials * expit(predictor) * expit(-predictor)

    def loss(self, predictor, response):
        """Minus the log likelihood, up to a constant."""
        return self.trials * np.logaddexp(0.0, predictor) - response * predictor

    def allows(self, response):
        """Whole numbers up to the number of trials."""
        return (response >= 0) & (response <= self.trials) & (np.floor(response) == response)

    @property
    def range(self):
        """The range in words, for messages."""
        return f"whole numbers from 0 to {self.trials}"

    @property
    def slope_limit(self):
        """A score and its mean differ by at most the number of trials."""
        return float(self.trials)

    @property
    def curvature_limit(self):
        """The largest variance, at even odds."""
        return self.trials / 4


rng = np.random.default_rng(8)
X = rng.normal(size=(20_200, 3))
scores = rng.binomial(10, expit(X @ [0.8, -0.4, 0.0] + 0.3))

public = PublicMoments.from_rows(
    X[:200], response=scores[:200], columns=["hours", "class", "month"]
)
model = GLM(Score(), privacy=GDP(1.0), public=public).fit(X[200:], scores[200:])
print(model.summary())
