"""Finding the coefficients that explain the noisy gradients released so far."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from publicmoments.models.belief import CoefBelief
from publicmoments.models.glm.stage import SHAPE_ROWS, Stage
from publicmoments.models.solve import positive_inverse, positive_solution

__all__ = ["Explanation", "Observation", "expected_belief", "explain", "information_at"]

Array = NDArray[np.float64]

ROUNDS = 4
"""How often the untruth of the stage is judged anew from how far coefficients moved."""

TURN = 0.25
"""Steps against the one before it that make up this share of it count as turning back."""

MOST_STEPS = 25
STEP_TOLERANCE = 1e-6
LEAST_STEP = 1e-3
LEAST_SLOPE = 1e-200


@dataclass(frozen=True, eq=False)
class Observation:
    """
    A released gradient.

    Parameters
    ----------
    coef : ndarray of shape (p k,)
        Whitened coefficients where it was taken.
    gradient : ndarray of shape (p k,)
        Noisy mean of the weighted slopes, without penalty.
    kept : ndarray of shape (m,)
        The weights, on the rows of the stage.
    covariance : ndarray of shape (p k, p k)
        Of its noise and of what the weights changed.
    far : float
        How far the coefficients were expected to be off, squared.
    late : bool
        Whether it was taken after a curvature was released.
    """

    coef: Array = field(repr=False)
    gradient: Array = field(repr=False)
    kept: Array = field(repr=False)
    covariance: Array = field(repr=False)
    far: float
    late: bool


@dataclass(frozen=True, eq=False)
class Explanation:
    """
    What observations taught.

    Parameters
    ----------
    belief : CoefBelief
        After all of them.
    surprise : float
        How surprising the first one was.
    unexplained : ndarray of shape (p k,)
        What the belief's mean does not explain of the last gradient and noise does not either: an
        error of the stage there.
    """

    belief: CoefBelief
    surprise: float
    unexplained: Array = field(repr=False)


def explain(
    prior: CoefBelief, observations: Sequence[Observation], stage: Stage, start: Array
) -> Explanation:
    """
    Condition a belief on released gradients.

    Parameters
    ----------
    prior : CoefBelief
        Before any release.
    observations : sequence of Observation
        At least one.
    stage : Stage
        Where gradients are predicted.
    start : ndarray of shape (p k,)
        Where to start from.

    Returns
    -------
    Explanation

    Notes
    -----
    If b are the coefficients that the private rows have, the gradient at b_j should be the mean of
    kept z (expected slope at b_j, given b) - penalty b, on the rows of the stage: an exact, curved
    function of b. The most plausible b is found by Gauss-Newton steps, each shortened until it
    helps, and the belief is conditioned on all gradients, linearised there. A gradient of long ago
    counts for less: predictions are off in proportion to how far b is from b_j, and more along
    directions of which few public rows tell.
    """
    coef, before, turned = start, np.zeros_like(start), False
    for round_ in range(ROUNDS):
        problem = _Problem(prior, observations, stage, coef, first=round_ == 0)
        step = problem.solved(coef) - coef
        # Of two gradients that contradict each other, the one nearer to b is trusted and sends it
        # to the other: where b turns back, what both allow is half way.
        turned = float(step @ before) < -TURN * float(before @ before)
        step = step / 2.0 if turned else step
        near = float(np.linalg.norm(step)) <= STEP_TOLERANCE * (1.0 + np.linalg.norm(coef))
        coef, before = coef + step, step
        if near and round_ > 0:
            break
    if turned:
        problem = _Problem(prior, observations, stage, coef, first=False)
    return problem.conditioned(coef)


def expected_belief(
    prior: CoefBelief, observations: Sequence[Observation], stage: Stage, truth: Array
) -> CoefBelief:
    """Belief that the same gradients without noise would lead to, if ``truth`` were the truth."""
    problem = _Problem(prior, observations, stage, truth, first=False)
    expected = [
        replace(seen, gradient=seen.gradient - problem._residual(j, truth))
        for j, seen in enumerate(observations)
    ]
    return explain(prior, expected, stage, truth).belief


def information_at(
    prior: CoefBelief, observations: Sequence[Observation], stage: Stage, coef: Array
) -> Array:
    """What all gradients together tell of the coefficients, as a precision."""
    problem = _Problem(prior, observations, stage, coef, first=False)
    return problem._information(problem._jacobians(coef))


class _Problem:
    """Finding the most plausible coefficients, given how far off predictions may be."""

    def __init__(
        self,
        prior: CoefBelief,
        observations: Sequence[Observation],
        stage: Stage,
        coef: Array,
        first: bool,
    ) -> None:
        self.prior, self.observations, self.stage = prior, observations, stage
        self.rows, self.penalty = stage.moving_rows, stage.full_penalty
        self.starts = [stage.predictors(seen.coef) for seen in observations]
        self.precisions, self.log_volumes = prior.precisions, prior.log_volumes
        self.last: tuple[Array, list[Array]] | None = None
        self.certainties = [
            positive_inverse(seen.covariance + self._untruth(j, coef, first))
            for j, seen in enumerate(observations)
        ]

    def solved(self, coef: Array) -> Array:
        """Descend to the most plausible coefficients."""
        value, residuals, shares = self._value(coef)
        for _ in range(MOST_STEPS):
            matrix = np.einsum("m,mij->ij", shares, self.precisions)
            uphill = -(shares @ self._pulls(coef))
            for jacobian, certainty, residual in zip(
                self._jacobians(coef), self.certainties, residuals, strict=True
            ):
                matrix = matrix + jacobian @ certainty @ jacobian
                uphill = uphill - jacobian @ (certainty @ residual)
            step = positive_solution(matrix, uphill)
            share = 1.0
            while True:
                new = self._value(coef + share * step)
                if new[0] <= value - 1e-4 * share * float(step @ uphill) or share < LEAST_STEP:
                    break
                share /= 2.0
            if not new[0] <= value:
                break
            coef = coef + share * step
            value, residuals, shares = new
            if share * np.linalg.norm(step) <= STEP_TOLERANCE * (1.0 + np.linalg.norm(coef)):
                break
        return coef

    def conditioned(self, coef: Array) -> Explanation:
        """
        Condition every component of the prior on the observations, linearised at ``coef``.

        A component is weighed by how plausible it makes the gradients themselves, at its own mean
        or at ``coef``, whichever is better: where responses saturate, a linearised gradient would
        be explained by anything.
        """
        misfit, residuals = self._misfit(coef)
        jacobians = self._jacobians(coef)
        information, pull = self._information(jacobians), np.zeros(len(coef))
        for jacobian, certainty, residual in zip(
            jacobians, self.certainties, residuals, strict=True
        ):
            pull = pull + jacobian @ (certainty @ (jacobian @ coef - residual))
        log_weights, means, covariances = [], [], []
        for log_weight, mean, precision, volume in zip(
            self.prior.log_weights, self.prior.means, self.precisions, self.log_volumes, strict=True
        ):
            covariance = positive_inverse(precision + information)
            own = covariance @ (precision @ mean + pull)
            candidates = [
                (bad + 0.5 * float((at - mean) @ precision @ (at - mean)), at)
                for at, bad in ((coef, misfit), (own, self._misfit(own)[0]))
            ]
            value, best = min(candidates, key=lambda pair: pair[0])
            evidence = 0.5 * float(np.linalg.slogdet(covariance)[1] - volume) - value
            log_weights.append(log_weight + evidence)
            means.append(best)
            covariances.append((covariance + covariance.T) / 2)
        belief = CoefBelief(np.array(log_weights), np.array(means), np.array(covariances))
        return Explanation(belief, self._first_surprise(jacobians[0]), self._left(belief.mean))

    def _information(self, jacobians: list[Array]) -> Array:
        """Precision that the observations add."""
        information = np.zeros_like(self.penalty)
        for jacobian, certainty in zip(jacobians, self.certainties, strict=True):
            information = information + jacobian @ certainty @ jacobian
        return information

    def _left(self, coef: Array) -> Array:
        """Last residual, less the part of it that its own noise is expected to have."""
        residual = self._residual(len(self.observations) - 1, coef)
        noise = self.observations[-1].covariance @ (self.certainties[-1] @ residual)
        return np.asarray(residual - noise)

    def _first_surprise(self, jacobian: Array) -> float:
        """Squared standardised distance of the first gradient from what the prior led to expect."""
        centre = self.prior.mean
        residual = self._residual(0, centre)
        expected = jacobian @ self.prior.covariance @ jacobian
        expected = expected + positive_inverse(self.certainties[0])
        return float(residual @ positive_solution(expected, residual))

    def _value(self, coef: Array) -> tuple[float, list[Array], Array]:
        """Minus the log posterior; the residuals; shares of the prior's components."""
        value, residuals = self._misfit(coef)
        away = np.sum((coef - self.prior.means) * self._pulls(coef), axis=1)
        logs = self.prior.log_weights - 0.5 * self.log_volumes - 0.5 * away
        most = float(logs.max())
        shares = np.exp(logs - most)
        value -= most + math.log(float(shares.sum()))
        return value, residuals, shares / shares.sum()

    def _pulls(self, coef: Array) -> Array:
        """How strongly each component of the prior pulls coefficients back."""
        return np.asarray((self.precisions @ (coef - self.prior.means)[:, :, None])[:, :, 0])

    def _misfit(self, coef: Array) -> tuple[float, list[Array]]:
        """Half the squared standardised residuals, and the residuals."""
        residuals = [self._residual(j, coef) for j in range(len(self.observations))]
        return 0.5 * sum(
            float(residual @ certainty @ residual)
            for residual, certainty in zip(residuals, self.certainties, strict=True)
        ), residuals

    def _residual(self, j: int, coef: Array) -> Array:
        """A released gradient less what coefficients predict."""
        predicted = self._predicted(j, self._slopes(j, coef))
        return np.asarray(self.observations[j].gradient - predicted + self.penalty @ coef)

    def _untruth(self, j: int, coef: Array, first: bool) -> Array:
        """
        Covariance of what the stage gets wrong of a gradient, if ``coef`` is the truth.

        In proportion to what it predicts, alike in all directions; and as public rows show it,
        which few of them show badly. Before the first round what is predicted may be far off.
        """
        seen, stage = self.observations[j], self.stage
        jacobian = self._jacobians(coef)[j]
        squared = jacobian @ jacobian
        predicted = seen.gradient - self._residual(j, coef) + self.penalty @ seen.coef
        # Where every slope is clipped, none tells how far off the coefficients are.
        away = float(predicted @ predicted) / max(float(np.trace(squared)), LEAST_SLOPE)
        away = max(away, seen.far / stage.size) if first else away
        untruth = stage.untruth_at(coef) if seen.late else stage.untruth
        even = untruth * away * squared
        if first or stage.n_public == 0:
            return np.asarray(even)
        shown = untruth / stage.untruth * self._sampling(j, coef)
        share = stage.n_public / (stage.n_public + SHAPE_ROWS)
        return np.asarray(share * shown + (1.0 - share) * even)

    def _sampling(self, j: int, coef: Array) -> Array:
        """
        Covariance of a predicted gradient, over samples of as many public rows.

        It is that of a mean over them. Of rows of a rare column there are few, and of labels that
        are uncertain, where linear predictors are long: along such directions it is large.
        """
        slopes = self._slopes(j, coef)
        mean = self._predicted(j, slopes)
        squares = self.stage.squares(
            self.observations[j].kept ** 2, slopes[:, :, None] * slopes[:, None, :]
        )
        return np.asarray((squares - np.outer(mean, mean)) / self.stage.n_public)

    def _slopes(self, j: int, coef: Array) -> Array:
        """Expected slopes of the stage's rows where a gradient was taken."""
        start = self.starts[j]
        truth = self.stage.after_move(start, coef - self.observations[j].coef)
        return self.stage.family.expected_slope(start, truth)

    def _predicted(self, j: int, slopes: Array) -> Array:
        """Gradient that slopes make, without penalty."""
        weights = self.observations[j].kept * self.stage.weights
        return np.asarray((self.rows.T @ (weights[:, None] * slopes)).ravel())

    def _jacobians(self, coef: Array) -> list[Array]:
        """Minus the derivatives of the predictions by the coefficients; symmetric."""
        if self.last is not None and np.array_equal(self.last[0], coef):
            return self.last[1]
        result: list[Array] = []
        for seen, start in zip(self.observations, self.starts, strict=True):
            truth = self.stage.after_move(start, coef - seen.coef)
            matrices = self.stage.family.sensitivity(start, truth)
            result.append(self.stage.squares(seen.kept, matrices) + self.penalty)
        self.last = coef, result
        return result
