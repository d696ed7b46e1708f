"""One fit for every family and every kind of public knowledge: look, step, explain."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from publicmoments.arrays import Array
from publicmoments.evidence.look import look_radius, looked
from publicmoments.evidence.numerics import floored_power, positive_inverse
from publicmoments.evidence.posterior import (
    Observation,
    Posterior,
    explained,
    largest_moved,
    shrunk,
    surprise,
    told,
)
from publicmoments.evidence.responses import OFFSETS, Histogram, response_edges, typical_offset
from publicmoments.evidence.standins import Secant, StandIns, enough_rows, made_up_rows
from publicmoments.evidence.start import (
    LEAST_DISPERSION,
    constant_start,
    moments_start,
    public_start,
)
from publicmoments.evidence.tails import (
    Bound,
    LengthBounds,
    Tails,
    choose_bound,
    excesses,
    normal_quantiles,
    octave_shares,
    signed_edges,
    sorted_in,
)
from publicmoments.families.factors import Ones, ScaledResponse, Slope
from publicmoments.models.penalty import penalised
from publicmoments.models.problem import Fitted, Problem, Step, sides_of
from publicmoments.rows.recipe import CountRecipe, GramRecipe
from publicmoments.session.door import Release, Session
from publicmoments.session.queries import (
    CountQuery,
    GramQuery,
    SumQuery,
    share_of,
)

HINT = 0.04
"""Relative variance of shares of influences that are guessed from the histogram of responses."""

WORSE = 1.5
"""A step is taken back half way where the next gradient's square is larger by this factor."""

MOST_PENALTY = 1e6
"""Penalties are at most so many times the curvature of a whitened row: more is lost in rounding."""

PULLS, SETTLED = 50, 1e-10
"""Rounds of finding the pull of an absolute penalty; relative change that ends them."""


def fit(problem: Problem, session: Session, mu: float) -> Fitted:
    """
    Look at the rows, step towards the solution, and explain all that was released.

    Parameters
    ----------
    problem : Problem
        What is to be fitted.
    session : Session
        The private side: rows, account and noise.
    mu : float
        Budget that the schedule is made for.

    Returns
    -------
    Fitted

    Notes
    -----
    **Releases.** A noisy second moment, noisy histograms of the responses where nothing public is
    known of them, noisy counts and a noisy gradient a step, and what follows from these.

    **Guarantee.** That of the session: all of it composes to at most the account's total.

    **Why.** What is asked next depends on public inputs and on earlier answers only, and how often
    is asked depends on public numbers alone.
    """
    return _Search(problem, session, mu).run()


class _Search:
    """The state of a fit between its releases."""

    def __init__(self, problem: Problem, session: Session, mu: float) -> None:
        self.problem, self.session, self.family = problem, session, problem.family
        self.n_rows = session.rows.n_rows
        self.plan = problem.schedule(mu, self.n_rows)
        self.recipe = problem.recipe(mu, self.n_rows)
        self.slope = Slope(self.family, problem.scale, problem.offset)
        self.steps: list[Step] = []
        self.seen: list[Observation] = []

    def run(self) -> Fitted:
        """Look, step, explain."""
        self.look_first()
        design, k = self.problem.design, self.family.n_predictors
        self.features = np.arange(design.n_columns) < design.n_columns - design.fit_intercept
        squares = self.whitener.T @ (self.features[:, None] * self.whitener)
        self.unit_penalty: Array = np.asarray(np.kron(squares, np.eye(k)), dtype=np.float64)
        most = MOST_PENALTY / max(float(np.linalg.norm(self.unit_penalty, 2)), 1e-300)
        self.ridge = min(self.problem.ridge or 0.0, most)
        self.penalty: Array = self.ridge * self.unit_penalty
        self.set_the_stage()
        coef = self.start.coef
        self.pull = np.zeros_like(coef)
        for share in self.plan.steps:
            self.step(coef, share)
            coef = self.next_point(coef)
        return self.finished(coef)

    def look_first(self) -> None:
        """Release a second moment and whiten again."""
        design = self.problem.design
        p, whitener = design.n_columns, np.asarray(design.whitener)
        mu = math.sqrt(self.plan.look) * self.session.total.mu
        radius = look_radius(mu, self.n_rows, p)
        recipe = GramRecipe(whitener, np.zeros((p, 1)), Ones(), radius, radius, self.n_rows)
        query = GramQuery("second moment", recipe)
        found = self.session.ask(query, share_of(self.plan.look))
        self.look = looked(design, found.values, found.offdiagonal_sd, radius)
        self.whitener = self.look.whitener
        self.constant = self.look.unwhitener[:, -1] if design.fit_intercept else None

    def set_the_stage(self) -> None:
        """Choose stand-ins and the start; a histogram of responses where nothing is known."""
        problem, design, family = self.problem, self.problem.design, self.family
        self.public_rows = None
        if design.rows is not None:
            self.public_rows = np.asarray(design.rows @ self.whitener)
            rows = enough_rows(self.public_rows, self.constant)
            offsets = np.zeros((len(rows), 1))
            offsets[: len(self.public_rows)] = problem.public_offsets
            self.stand_ins = StandIns(family, rows, offsets)
        else:
            self.stand_ins = StandIns(family, made_up_rows(design.n_columns, self.constant))
        if problem.by_rows:
            assert self.public_rows is not None
            assert problem.public_responses is not None
            self.start = public_start(
                family,
                self.public_rows,
                problem.public_responses,
                self.penalty,
                self.constant,
                problem.public_offsets,
            )
            spread = self.stand_ins.spread(self.start.coef) * self.start.dispersion
            self.tails = Tails.unknown(self.typical(spread), sides_of(family))
        elif problem.by_moments:
            scale = np.asarray(problem.scale)
            coef = self.look.unwhitener @ np.asarray(design.coef) / scale
            residual = np.asarray(design.residual_scale) / scale
            self.start = moments_start(coef, residual, design.n)
            normal = math.sqrt(float(residual @ residual)) * normal_quantiles()
            self.guess_tails(residual**2, normal, np.ones(len(normal)))
        else:
            self.look_at_responses()
        self.bounds = LengthBounds(self.stand_ins) if math.isfinite(family.slope_limit) else None

    def look_at_responses(self) -> None:
        """Release a histogram of each response and start from the constant model."""
        alone, problem, q = self.family.alone, self.problem, self.family.n_responses
        edges, p = response_edges(alone, problem.offset), problem.design.n_columns
        found = []
        for column in range(q):
            value = ScaledResponse(alone, problem.scale, problem.offset, column)
            released = self.histogram(value, edges)
            found.append(Histogram.of(alone, edges, released.values, released.noise_sd))
        if problem.offset:
            # Stand-ins, which have no offsets of their own, get the typical one.
            released = self.histogram(ScaledResponse(alone, problem.scale, column=-1), OFFSETS)
            typical = typical_offset(released.values, released.noise_sd)
            self.stand_ins = replace(self.stand_ins, offsets=typical)
        has_level = self.constant is not None
        levels = [h.constants(alone) if has_level else np.zeros(alone.n_predictors) for h in found]
        slopes = [h.slopes(alone, level) for h, level in zip(found, levels, strict=True)]
        spreads = np.array(
            [h.shares @ np.sum(s**2, axis=1) for h, s in zip(found, slopes, strict=True)]
        )
        dispersion = np.ones(self.family.n_predictors)
        if self.family.is_linear:
            dispersion = np.maximum(spreads, 1e-12)
        self.start = constant_start(p, np.concatenate(levels), self.constant, dispersion)
        values = math.sqrt(q) * np.concatenate([s[:, 0] for s in slopes])
        self.guess_tails(spreads, values, np.concatenate([h.shares for h in found]))

    def histogram(self, value: ScaledResponse, edges: Array) -> Release:
        """Release how many rows have values in which cell."""
        recipe = CountRecipe(
            self.whitener,
            np.zeros((len(self.whitener), 1)),
            value,
            math.inf,
            1.0,
            self.n_rows,
            edges=edges,
        )
        share = self.plan.responses / self.problem.n_histograms
        return self.session.ask(CountQuery("histogram", recipe), share_of(share))

    def typical(self, spread: Array) -> float:
        """Typical size of an influence, with slopes of such variances."""
        return math.sqrt(
            self.problem.design.n_columns * max(float(np.sum(spread)), LEAST_DISPERSION)
        )

    def guess_tails(self, spread: Array, slopes: Array, weights: Array) -> None:
        """Guess sizes of influences from slopes and rows of typical length."""
        unit, sides = self.typical(spread), sides_of(self.family)
        length = math.sqrt(self.problem.design.n_columns)
        shares = sorted_in(length * slopes, unit, sides, weights / weights.sum())
        least = 1.0 / self.n_rows
        self.tails = Tails(unit, shares, HINT * np.maximum(shares, least) + least)

    def public_slopes(self, coef: Array) -> Array | None:
        """Slopes of the public responses at some coefficients."""
        if not self.problem.by_rows:
            return None
        assert self.public_rows is not None
        with np.errstate(over="ignore"):
            alike = StandIns(self.family, self.public_rows, self.problem.public_offsets)
            predictors = alike.predictors(coef)
            return self.family.slope(predictors, np.asarray(self.problem.public_responses))

    def sizes(self, coef: Array) -> Tails:
        """What counts say of influences, and public rows as far as they agree."""
        slopes = self.public_slopes(coef)
        if slopes is None:
            return self.tails
        assert self.public_rows is not None
        lengths = _lengths(self.public_rows)
        values = lengths * (slopes[:, 0] if sides_of(self.family) == 2 else _lengths(slopes))
        shares, n = sorted_in(values, self.tails.unit, sides_of(self.family)), len(values)
        public = Tails(self.tails.unit, shares, np.maximum(shares, 1.0 / n) / n)
        return public.learned(self.tails.shares, self.tails.variances)

    def cut_off(self, coef: Array, bound: Bound) -> tuple[Array, Array]:
        """
        Return what a bound takes from a mean gradient, and a root of the covariance of its error.

        Where influences are counted, its length is at most their excess. Its direction is that of
        public rows, whose influences are made larger or smaller, all by one factor, until they are
        beyond the bound by as much. They are few, and as good as one more of any direction.
        """
        size, slopes, rows = len(coef), self.public_slopes(coef), self.public_rows
        counted = self.bounds is None
        most = bound.bias * math.sqrt(size)
        if counted:
            sizes = self.sizes(coef)
            most = (sizes.excess if slopes is None else sizes.most_excess)(bound.bound)
        cut, shape, m = np.zeros(size), np.eye(size) / size, 0.0
        if slopes is not None and rows is not None:
            lengths = np.maximum(_lengths(rows), 1e-300)
            if counted:
                influences = lengths * _lengths(slopes)
                taken = excesses(influences, bound.bound, most) / np.maximum(influences, 1e-300)
            else:
                taken = 1.0 - np.minimum(1.0, bound.bound / self.family.slope_limit / lengths)
            vectors = (rows[:, :, None] * (slopes * taken[:, None])[:, None, :]).reshape(-1, size)
            moment = vectors.T @ vectors
            squares = max(float(np.trace(moment)), 1e-300)
            cut, m = vectors.mean(axis=0), float(_lengths(vectors).sum()) ** 2 / squares
            shape = (m * moment / squares + size * shape) / (m + size)
        if counted:
            most /= math.sqrt(m + 1.0)
        return cut, most * floored_power(shape, 0.5)

    def count(self, coef: Array) -> None:
        """Count how many rows have influences of which size, where these have no limit."""
        if not self.problem.counted:
            return
        sides, k = sides_of(self.family), self.family.n_predictors
        self.tails = self.tails.reaching()
        recipe = CountRecipe(
            self.whitener,
            coef.reshape(-1, k),
            self.slope,
            math.inf,
            1.0,
            self.n_rows,
            whole_predictor=True,
            edges=signed_edges(self.tails.unit, sides),
            influence=True,
        )
        query = CountQuery("histogram", recipe)
        released = self.session.ask(query, share_of(self.plan.counts))
        shares = octave_shares(released.values, sides)
        self.tails = self.tails.learned(shares, np.full(shares.shape, released.noise_sd**2))

    def step(self, coef: Array, share: float) -> None:
        """Release a gradient with the bound that is best by what is known of influences."""
        family, size = self.family, self.stand_ins.size
        inverse = positive_inverse(self.stand_ins.curvature(coef) + self.penalty)
        noise = 2.0 / (math.sqrt(share) * self.session.total.mu * self.n_rows)
        self.count(coef)
        known = self.bounds or self.sizes(coef)
        bound = choose_bound(known, size, noise, float(np.sum(inverse**2)))
        recipe = self.recipe(
            self.whitener,
            coef.reshape(-1, family.n_predictors),
            self.slope,
            math.inf if self.problem.counted else bound.bound / family.slope_limit,
            bound.bound,
            self.n_rows,
            whole_predictor=True,
        )
        released = self.session.ask(SumQuery("gradient", recipe), share_of(share))
        self.steps.append(Step(released, bound))
        seen = Observation(
            coef,
            -released.values,
            released.noise_sd,
            bound.bias,
            bound.kept,
            *self.cut_off(coef, bound),
        )
        if self.seen:
            self.learn_curvature(self.seen[-1], seen)
        self.seen.append(seen)

    def learn_curvature(self, before: Observation, seen: Observation) -> None:
        """See how much the gradient changed by the last move."""
        move = seen.coef - before.coef
        raw = replace(self.stand_ins, secants=())
        expected = raw.between(before.coef, seen.coef) @ move
        signal = float(expected @ expected)
        variances = [(one.noise_sd**2 + one.bias**2) / one.mean_kept**2 for one in (seen, before)]
        lost = self.stand_ins.size * sum(variances)
        if not signal > 0.0:
            return
        change = before.gradient / before.mean_kept - seen.gradient / seen.mean_kept
        weight = max(0.0, signal - lost) / (signal + lost)
        secant = Secant(move, change, float(expected @ move), weight)
        self.stand_ins = replace(self.stand_ins, secants=(*self.stand_ins.secants, secant))

    def explain(self, coef: Array) -> Posterior:
        """Weigh all gradients so far."""
        start = self.start
        if self.problem.l1 > 0.0:
            hessian = self.stand_ins.curvature(start.coef) + self.penalty
            start = replace(start, coef=start.coef - positive_inverse(hessian) @ self.pull)
        return explained(self.stand_ins, start, self.pulled(), self.penalty, coef)

    def pulled(self) -> list[Observation]:
        """All gradients so far, less what an absolute penalty pulls by."""
        return [
            replace(seen, gradient=seen.gradient - seen.mean_kept * self.pull) for seen in self.seen
        ]

    def next_point(self, coef: Array) -> Array:
        """Where to take the next gradient, or, after the last, the estimate."""
        self.posterior = self.explain(coef)
        found = self.penalised() if self.problem.l1 > 0.0 else self.posterior.coef
        if self.family.is_linear:
            return found
        found = largest_moved(self.stand_ins, self.seen[-1].coef, found)
        return self.taken_back(found)

    def penalised(self) -> Array:
        """Coefficients whose gradient is what an absolute penalty pulls by."""
        problem = self.problem
        for _ in range(PULLS):
            coef = self.posterior.coef
            found, self.pull = penalised(
                self.family,
                self.stand_ins.curvature(coef) + self.penalty,
                coef,
                self.pull,
                self.whitener,
                problem.l1,
                fit_intercept=problem.design.fit_intercept,
                ridge=self.ridge,
            )
            if np.linalg.norm(found - coef) <= SETTLED * (1.0 + np.linalg.norm(coef)):
                break
            self.posterior = self.explain(found)
        return found

    def taken_back(self, coef: Array) -> Array:
        """Go half way back to the best gradient if the last one shows that it got worse."""
        left = [
            float(np.sum(told(seen, self.penalty) ** 2)) - len(coef) * seen.noise_sd**2
            for seen in self.pulled()
        ]
        noise = len(coef) * self.seen[-1].noise_sd ** 2
        if len(left) > 1 and left[-1] > WORSE * max(left[-2], noise):
            return np.asarray((coef + self.seen[int(np.argmin(left))].coef) / 2.0)
        return coef

    def finished(self, coef: Array) -> Fitted:
        """Put together what was found."""
        final = replace(self.posterior, coef=coef)
        hessian = self.stand_ins.curvature(coef)
        inverse = positive_inverse(hessian + self.penalty)
        score = self.penalty @ coef
        meat = self.mean_square_slopes(coef) - np.outer(score, score)
        own = inverse @ meat @ inverse / self.n_rows
        k, ridge = self.family.n_predictors, self.problem.ridge
        errors = final.errors(self.seen, own)
        if ridge is None:
            chosen = shrunk(coef, errors, hessian, self.unit_penalty)
            ridge, coef, errors = chosen.alpha, chosen.coef, chosen.errors
        elif ridge > self.ridge:
            # Coefficients of features fall as the inverse of so large a penalty.
            lesser = np.where(self.features, self.ridge / ridge, 1.0)[:, None] * self.whitener
            mixed = np.asarray(np.kron(self.look.unwhitener @ lesser, np.eye(k)), dtype=np.float64)
            coef, errors = mixed @ coef, errors.mixed(mixed)
        by_row = np.einsum("ajaj->j", meat.reshape(-1, k, meat.shape[0] // k, k))
        start_z = 0.0
        if self.start.informed:
            start_z = surprise(self.posterior.doubt, self.stand_ins.size)
        return Fitted(
            coef=self.whitener @ coef.reshape(-1, k),
            whitened=coef,
            whitener=self.whitener,
            posterior=final,
            errors=errors,
            alpha=ridge,
            look=self.look,
            steps=tuple(self.steps),
            spread=by_row / len(self.whitener),
            start_z=start_z,
        )

    def mean_square_slopes(self, coef: Array) -> Array:
        """
        Mean of z z^T times squared slopes: where sampling errors come from, as counted.

        Its shape is that of public residuals where there are any, and of the family otherwise; its
        size is what rows were counted to have.
        """
        stand_ins, family = self.stand_ins, self.family
        information = family.information(stand_ins.predictors(coef))
        root = np.sqrt(self.start.dispersion)
        expected = stand_ins.squares(information * np.outer(root, root)[None])
        slopes, n = self.public_slopes(coef), 0
        if slopes is not None:
            rows, n = stand_ins.rows[: len(slopes)], len(slopes)
            scores = (rows[:, :, None] * slopes[:, None, :]).reshape(n, -1)
            p = rows.shape[1]
            expected = (scores.T @ scores + p * expected) / (n + p)
        if self.bounds is not None:
            return expected
        size = self.sizes(coef).mean_square()
        return np.asarray(expected * (size / max(np.trace(expected), 1e-300)))


def _lengths(vectors: Array) -> Array:
    """Lengths of rows."""
    return np.asarray(np.sqrt(np.sum(vectors**2, axis=1)))
