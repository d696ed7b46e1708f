"""Standard errors by simulation: the known laws of noise and sampling, drawn again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from publicmoments.arrays import Array, ReadOnlyArrays, read_only
from publicmoments.checks import non_negative, positive_integer, share
from publicmoments.models.inference import Bootstrap
from publicmoments.models.shell import check_switches
from publicmoments.release.record import MomentRecord
from publicmoments.release.second_moment import (
    Coordinates,
    ErrorLaw,
    Evidence,
    expected_roots,
    repaired,
)
from publicmoments.release.views.moment_fit import MomentFit
from publicmoments.release.views.questions import (
    Column,
    Question,
    View,
    asked,
    net_coef,
    ridge_path,
    spread_of,
    view_of,
)
from publicmoments.release.weights import RowWeights


def redrawn(
    evidence: Evidence,
    weights: RowWeights,
    coordinates: Coordinates,
    law: ErrorLaw,
    rng: np.random.Generator,
) -> Evidence:
    """
    Simulate evidence like the one at hand, which is taken as the truth.

    Noise has its known law; sampling errors are those of Gaussian rows with the second moment at
    hand. Draws add to a release what is known about it and see no private row: they are free.
    """
    p = len(evidence.moment)
    left = expected_roots(p, weights)
    noise = np.sqrt(law.noise) * _symmetric(rng, p) / left[:, None] / left[None, :]
    sampling = np.sqrt(law.sampling) * _symmetric(rng, p)
    root = np.linalg.cholesky(evidence.moment)
    moment = evidence.moment + noise + root @ sampling @ root.T
    _, root, _, _ = repaired(moment, evidence.floor)
    return replace(evidence, root=read_only(root @ coordinates.unwhitener))


def _symmetric(rng: np.random.Generator, p: int) -> Array:
    """Symmetric noise of variance 1 off the diagonal and 2 on it."""
    square = rng.standard_normal((p, p))
    return np.asarray((square + square.T) / np.sqrt(2.0))


@dataclass(frozen=True, eq=False)
class MomentPath(ReadOnlyArrays):
    """Ridge coefficients for several penalties: one row of ``coefs`` for each of ``alphas``."""

    features: tuple[str, ...]
    alphas: Array
    coefs: Array = field(repr=False)
    intercepts: Array = field(repr=False)


class Regressions(MomentRecord):
    """The methods of a `MomentRelease` that regress a column on others."""

    def ridge(
        self,
        response: Column,
        alpha: float = 0.0,
        features: Sequence[Column] | None = None,
        fit_intercept: bool = True,
    ) -> MomentFit:
        """
        Regress a column on others.

        Minimises the weighted mean of (y - x.w - b)^2 / 2 plus alpha ||w||^2 / 2, as
        `publicmoments.Ridge` does; scikit-learn's ``Ridge(alpha=n * alpha)`` minimises the same.

        Parameters
        ----------
        response : str or int
            The column to predict, by name or position.
        alpha : float, default=0.0
            Penalty, at least 0.
        features : sequence of str or int, optional
            The columns to predict from; all others by default.
        fit_intercept : bool, default=True
            Whether to fit an unpenalised intercept.

        Returns
        -------
        MomentFit
            With standard errors.
        """
        return self.elastic_net(response, alpha, 0.0, features, fit_intercept)

    def lasso(
        self,
        response: Column,
        alpha: float,
        features: Sequence[Column] | None = None,
        fit_intercept: bool = True,
    ) -> MomentFit:
        """Regress a column on others with the penalty alpha ||w||_1; else as :meth:`ridge`."""
        return self.elastic_net(response, alpha, 1.0, features, fit_intercept)

    def elastic_net(
        self,
        response: Column,
        alpha: float,
        l1_ratio: float = 0.5,
        features: Sequence[Column] | None = None,
        fit_intercept: bool = True,
    ) -> MomentFit:
        """
        Regress a column on others with an elastic-net penalty.

        The penalty is alpha (l1_ratio ||w||_1 + (1 - l1_ratio) / 2 ||w||^2), as in scikit-learn.

        Parameters
        ----------
        response : str or int
            The column to predict.
        alpha : float
            Penalty, at least 0.
        l1_ratio : float, default=0.5
            Share of the l1 norm, in [0, 1].
        features, fit_intercept
            As in :meth:`ridge`.

        Returns
        -------
        MomentFit
            Without standard errors where the l1 norm has a share.
        """
        question = self._asked(response, features, fit_intercept)
        return self._fitted(question, non_negative("alpha", alpha), share("l1_ratio", l1_ratio))

    def path(
        self,
        response: Column,
        alphas: ArrayLike,
        features: Sequence[Column] | None = None,
        fit_intercept: bool = True,
    ) -> MomentPath:
        """
        Regress a column on others with many ridge penalties, from one decomposition.

        Parameters
        ----------
        response, features, fit_intercept
            As in :meth:`ridge`.
        alphas : array-like of shape (n_alphas,)
            Penalties.

        Returns
        -------
        MomentPath
        """
        penalties = _penalties(alphas)
        question = self._asked(response, features, fit_intercept)
        view = view_of(self.evidence, question)
        coefs = ridge_path(view, penalties)
        return MomentPath(
            features=self._names(question.features),
            alphas=read_only(penalties),
            coefs=read_only(coefs),
            intercepts=read_only(view.intercept(coefs)),
        )

    def prediction_error(
        self,
        response: Column | MomentFit,
        alpha: float = 0.0,
        features: Sequence[Column] | None = None,
        fit_intercept: bool = True,
    ) -> float:
        """
        Estimate the mean squared error of predictions for new rows.

        What the release says of it, a' S a, favours the coefficients that were fitted to that very
        S; that favour is known to first order and added back. Noise common to all penalties stays:
        the difference between two of them is better known than either.

        Parameters
        ----------
        response : str, int or MomentFit
            The column to predict, or a fit.
        alpha, features, fit_intercept
            As in :meth:`ridge`; not used for a fit.

        Returns
        -------
        float
        """
        if isinstance(response, MomentFit):
            return response.prediction_error
        return self.ridge(response, alpha, features, fit_intercept).prediction_error

    def choose_alpha(
        self,
        response: Column,
        alphas: ArrayLike,
        features: Sequence[Column] | None = None,
        fit_intercept: bool = True,
    ) -> float:
        """
        Return the ridge penalty of least :meth:`prediction_error`.

        Parameters
        ----------
        response, features, fit_intercept
            As in :meth:`ridge`.
        alphas : array-like of shape (n_alphas,)
            Penalties to choose from.

        Returns
        -------
        float
        """
        question, penalties = self._asked(response, features, fit_intercept), _penalties(alphas)
        errors = [self._fitted(question, float(a), 0.0).prediction_error for a in penalties]
        return float(penalties[int(np.argmin(errors))])

    def bootstrap(
        self,
        response: Column,
        alpha: float = 0.0,
        l1_ratio: float = 0.0,
        features: Sequence[Column] | None = None,
        fit_intercept: bool = True,
        *,
        n: int = 400,
        seed: int | np.random.Generator | None = None,
    ) -> Bootstrap:
        """
        Simulate how a regression varies with noise and sampling, whose laws are known.

        Parameters
        ----------
        response, alpha, l1_ratio, features, fit_intercept
            As in :meth:`elastic_net`.
        n : int, default=400
            Simulated releases, at least 2.
        seed : int or numpy Generator, optional
            Makes the simulation reproducible; it has nothing to do with privacy.

        Returns
        -------
        Bootstrap
            Works with an l1 penalty too, where :meth:`elastic_net` gives no standard errors.
        """
        question = self._asked(response, features, fit_intercept)
        penalty, ratio = non_negative("alpha", alpha), share("l1_ratio", l1_ratio)
        count = positive_integer("n", n)
        if count < 2:
            raise ValueError("n must be at least 2, got n=1; pass a few hundred")
        rng, law = _generator(seed), self.error_law
        draws = [
            _estimates(
                view_of(redrawn(self.evidence, self.weights, self.coordinates, law, rng), question),
                penalty,
                ratio,
            )
            for _ in range(count)
        ]
        names = self._names(question.features)
        return Bootstrap(
            names=(*names, "(intercept)") if fit_intercept else names,
            estimate=read_only(_estimates(view_of(self.evidence, question), penalty, ratio)),
            draws=read_only(draws),
        )

    def _asked(
        self, response: Column, features: Sequence[Column] | None, fit_intercept: bool
    ) -> Question:
        """Check a question."""
        check_switches(fit_intercept=fit_intercept)
        return asked(response, features, bool(fit_intercept), self.columns, self.n_columns)

    def _fitted(self, question: Question, alpha: float, l1_ratio: float) -> MomentFit:
        """Answer a question, with standard errors where no column was selected."""
        view = view_of(self.evidence, question)
        coef = net_coef(view, alpha, l1_ratio)
        selects = alpha * l1_ratio > 0.0
        used = np.flatnonzero(coef) if selects else np.arange(len(coef))
        spread = spread_of(view, coef, used, alpha * (1.0 - l1_ratio), self.error_law)
        return MomentFit(
            response=self.labels[question.response],
            features=self._names(question.features),
            coef=read_only(coef),
            intercept=float(view.intercept(coef)) if question.fit_intercept else 0.0,
            fit_intercept=question.fit_intercept,
            alpha=alpha,
            l1_ratio=l1_ratio,
            noise_covariance=None if selects else read_only(spread.noise),
            sampling_covariance=None if selects else read_only(spread.sampling),
            residual_variance=spread.residual_variance,
            prediction_error=spread.prediction_error,
            n_rows=self.n_rows,
            private=self.card.private,
            named=self.columns is not None,
            card=self.card,
        )

    def _names(self, chosen: tuple[int, ...]) -> tuple[str, ...]:
        """Names of columns."""
        return tuple(self.labels[k] for k in chosen)


def _estimates(view: View, alpha: float, l1_ratio: float) -> Array:
    """Coefficients and, last, the intercept."""
    coef = net_coef(view, alpha, l1_ratio)
    return coef if view.ones is None else np.append(coef, view.intercept(coef))


def _penalties(alphas: ArrayLike) -> Array:
    """Check penalties."""
    values = np.asarray(alphas)
    if values.ndim != 1 or not len(values) or values.dtype.kind not in "iuf":
        raise ValueError(
            f"alphas must be a sequence of numbers, got shape {values.shape} and dtype "
            f"{values.dtype}; pass at least one penalty"
        )
    if not ((values >= 0) & (values < np.inf)).all():
        raise ValueError("alphas must be in [0, inf), got another; drop negative ones and NaN")
    return values.astype(np.float64)


def _generator(seed: object) -> np.random.Generator:
    """Return the generator of a simulation."""
    if isinstance(seed, np.random.Generator):
        return seed
    if seed is None:
        return np.random.default_rng()
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not seed >= 0:
        raise TypeError(
            "seed must be None, a non-negative integer or a NumPy generator, got "
            f"{type(seed).__name__}"
        )
    return np.random.default_rng(int(seed))
