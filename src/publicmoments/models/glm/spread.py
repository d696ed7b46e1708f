"""How far off the coefficients of a generalised linear model may be."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from publicmoments.families import Bernoulli, Multinomial
from publicmoments.models.belief import CoefBelief
from publicmoments.models.glm.explain import expected_belief, information_at
from publicmoments.models.glm.passes import Fitted, Start
from publicmoments.models.solve import positive_inverse, positive_solution
from publicmoments.models.spread import ErrorParts, error_parts

__all__ = ["glm_parts"]

Array = NDArray[np.float64]

NEGLIGIBLE_PULL = 0.01
"""Squared pull of the prior, in units of the error and per coefficient, below which errors are as
good as linear."""

UNPULLED_STEPS = 2
"""Steps from the estimate to the coefficients it is expected of; more would amplify noise."""


def glm_parts(start: Start, fitted: Fitted, n_rows: int) -> ErrorParts:
    """
    Return the error of the whitened coefficients, flattened, of a fit without absolute penalty.

    Parameters
    ----------
    start : Start
        What was believed before the fit.
    fitted : Fitted
        What it found.
    n_rows : int
        Private rows.

    Returns
    -------
    ErrorParts

    Notes
    -----
    The law of the error depends on the coefficients themselves. Where a prior pulls them and
    responses saturate, the estimate lies nearer to the prior than the truth, and there curvature is
    larger than where the truth is: the law at the estimate would be too narrow. So

    * noise-free gradients of some truth t are explained as the released ones were, which gives T(t)
      without private data; t with T(t) near the estimate is found by steps t + estimate - T(t);
    * beyond t, one standard error further from the estimate, the law is taken, as the far end of an
      interval must allow for it; the pull there, T - t, counts as an error too, squared.

    Where the prior hardly pulls, as with a fair budget, the law at the estimate is as good, and is
    taken.
    """
    law = _Law(start, fitted, n_rows)
    estimate = fitted.coef.ravel()
    nearby, pull = law.at(estimate), law.pull(estimate)
    size = float(pull @ positive_solution(nearby.total, pull))
    if not size > NEGLIGIBLE_PULL * len(pull):
        return nearby
    truth = estimate
    for _ in range(UNPULLED_STEPS):
        truth = truth + estimate - law.expected(truth)
    back = estimate - truth
    length = max(float(np.linalg.norm(back)), 1e-300)
    reach = math.sqrt(max(float(back @ law.at(truth).total @ back), 0.0)) / length
    far = truth - back * (reach / length)
    pulled = law.expected(far) - far
    return law.at(far).plus(np.zeros_like(nearby.noise), np.outer(pulled, pulled))


class _Law:
    """The law of the error, as a function of the coefficients."""

    def __init__(self, start: Start, fitted: Fitted, n_rows: int) -> None:
        self.start, self.fitted, self.n_rows = start, fitted, n_rows
        self.dispersion = _dispersion(start, fitted)

    def at(self, coef: Array) -> ErrorParts:
        """Parts of the error, if these were the coefficients."""
        prior, found = self.start.belief, self.fitted.belief
        information = information_at(prior, self.fitted.observations, self.fitted.stage, coef)
        covariances = np.array([positive_inverse(one + information) for one in prior.precisions])
        posterior = CoefBelief(found.log_weights, found.means, covariances)
        parts = error_parts(prior, posterior, self._own_sampling(coef))
        # The last move may have been cut short.
        short = self.fitted.coef.ravel() - found.mean
        return replace(parts, sampling=parts.sampling + np.outer(short, short))

    def pull(self, coef: Array) -> Array:
        """How far the prior draws coefficients, to first order."""
        prior, found = self.start.belief, self.fitted.belief
        drawn = np.einsum("mjk,mk->mj", prior.precisions, prior.means - coef)
        return np.asarray(np.einsum("m,mij,mj->i", found.weights, found.covariances, drawn))

    def expected(self, truth: Array) -> Array:
        """Estimate that is expected of a truth."""
        belief = expected_belief(
            self.start.belief, self.fitted.observations, self.fitted.stage, truth
        )
        return belief.mean

    def _own_sampling(self, coef: Array) -> Array:
        """Covariance of what the private rows have about what the population has: a sandwich."""
        stage, kept = self.fitted.stage, self.fitted.observations[-1].kept
        inverse = positive_inverse(stage.hessian(coef, kept))
        scores = stage.squares(kept**2, stage.family.information(stage.predictors(coef)))
        return np.asarray(inverse @ scores @ inverse * (self.dispersion / self.n_rows))


def _dispersion(start: Start, fitted: Fitted) -> float:
    """
    Variance of slopes over what the family says of it.

    Classes leave no choice. Other responses may vary more, or less, than their family says: public
    ones tell. Without any the family is believed, which for responses that come in no unit of their
    own means a residual variance as large as their mean square.
    """
    family, responses = fitted.stage.family, start.public_responses
    if responses is None or isinstance(family, Bernoulli | Multinomial):
        return 1.0
    predictors = fitted.stage.predictors(fitted.coef.ravel())[: len(responses)]
    slopes = family.slope(predictors, responses)
    return float(np.sum(slopes**2) / np.sum(family.information(predictors)))
