"""From public inputs and what a user states to a law of the private population."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from publicmoments.checks import fraction, positive
from publicmoments.planner.evidence import ResponseLaw
from publicmoments.planner.features import feature_law
from publicmoments.planner.fits import Task, with_ones
from publicmoments.planner.population import Population
from publicmoments.planner.predictors import PredictorLaw
from publicmoments.planner.truths import CoefLaw, SignalLaw, TruthLaw
from publicmoments.public import PublicDesign, PublicMoments

__all__ = ["Stated", "population_of", "public_only"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Stated:
    """
    What a user states of what is not public.

    Parameters
    ----------
    r2 : float, optional
        Share of the mean square of the responses that the features explain, or of the deviance of
        labels.
    residual_sd : float, optional
        Root mean square of what they leave.
    predictor_sd : float, optional
        Root mean square of the linear predictor of a generalised linear model.
    response_mean : float, optional
        Mean of its responses.
    kurtosis : float, optional
        Mean fourth power of the length of whitened features, over that of Gaussian ones.
    """

    r2: float | None = None
    residual_sd: float | None = None
    predictor_sd: float | None = None
    response_mean: float | None = None
    kurtosis: float | None = None

    def checked(self) -> Stated:
        """Return itself, or say what is wrong with a number."""
        if self.r2 is not None:
            fraction("r2", self.r2, "pass the share of the response that the features explain")
        if self.residual_sd is not None:
            positive("residual_sd", self.residual_sd)
        if self.predictor_sd is not None:
            positive("predictor_sd", self.predictor_sd)
        if self.response_mean is not None:
            positive("response_mean", self.response_mean)
        if self.kurtosis is not None:
            positive("kurtosis", self.kurtosis)
        return self

    @property
    def given(self) -> list[str]:
        """Names of what was stated of responses."""
        stated = [name for name, value in vars(self).items() if value is not None]
        return [name for name in stated if name != "kurtosis"]


def population_of(public: PublicMoments, task: Task, stated: Stated) -> Population:
    """
    Put together what is known of the private population.

    Parameters
    ----------
    public : PublicMoments
        Public inputs.
    task : Task
        What is going to be fitted.
    stated : Stated
        What the user states where responses are not public.

    Returns
    -------
    Population
    """
    if public.response is not None and len(public.response.scale) != 1:
        raise ValueError(
            f"public must have one response, got {len(public.response.scale)}; make moments with "
            "the response that is to be planned for"
        )
    features = feature_law(public, stated.kurtosis)
    if features.rank == 0:
        raise ValueError(
            "public must have a feature that varies, got none; without one there is nothing to plan"
        )
    known = _known_law(public, task)
    if known is not None and stated.given:
        raise ValueError(
            f"{stated.given[0]} follows from the public responses; leave it out, or pass public "
            "moments without responses"
        )
    law = _stated_law(public, task, stated) if known is None else known
    if public.rows is not None and stated.kurtosis is not None:
        raise ValueError("kurtosis follows from the public rows; leave it out")
    return Population(features, law, task)


def public_only(public: PublicMoments, task: Task) -> Array | None:
    """Coefficients of the public data alone, where these have responses."""
    if task.model != "ridge":
        if public.rows is None or public.response_rows is None:
            return None
        return task.plain_fit(np.asarray(public.rows), np.asarray(public.response_rows)[:, 0])
    design = _design(public, task)
    if design.coef is None:
        return None
    coef = np.array(design.coef[:, 0])
    penalty = np.diag(task.penalty(len(coef)))
    moment = np.asarray(design.second_moment)
    return np.asarray(np.linalg.solve(moment + penalty, moment @ coef)) if task.alpha else coef


def _known_law(public: PublicMoments, task: Task) -> TruthLaw | None:
    """Law of the coefficients around the fit of public responses; None where there are none."""
    if task.model != "ridge":
        if public.rows is None or public.response_rows is None:
            return None
        y = np.asarray(public.response_rows)[:, 0]
        if not task.family.allows(y).all():
            raise ValueError(
                f"public responses must be {task.family.range} for model={task.model!r}; give "
                "labels by their position among the classes"
            )
        return ResponseLaw.of_rows(task, np.asarray(public.rows), y)
    design = _design(public, task)
    if design.coef is None or design.residual_scale is None or design.n is None:
        return None
    coef, p = np.array(design.coef[:, 0]), design.n_columns
    return CoefLaw(
        centre=coef,
        root=np.asarray(design.whitener) / math.sqrt(design.n),
        residual_sd=float(design.residual_scale[0]),
        freedom=float(max(design.n - p, 1)),
        residuals=_residuals(design, coef),
    )


def _residuals(design: PublicDesign, coef: Array) -> Array | None:
    """
    Residuals of the public rows about the public fit, of mean square 1.

    They are made orthogonal to the rows and to the ones: shuffled, or on rows that are moved, they
    then leave the coefficients of the population what they are.
    """
    if design.rows is None or design.responses is None or len(design.rows) <= design.n_columns + 1:
        return None
    rows = with_ones(np.asarray(design.rows))
    left = np.asarray(design.responses)[:, 0] - rows[:, :-1] @ coef
    left = left - rows @ np.linalg.lstsq(rows, left, rcond=None)[0]
    size = math.sqrt(float(np.mean(left**2)))
    return left / size if size > 0.0 else None


def _predictor_law(public: PublicMoments, task: Task, stated: Stated) -> PredictorLaw:
    """Law of labels or counts from what the user states."""
    may = ["response_mean", "r2"] if task.model == "logistic" else ["response_mean"]
    if stated.predictor_sd is None or set(stated.given) - {"predictor_sd", *may}:
        raise ValueError(
            f"without public responses, model={task.model!r} needs predictor_sd, the expected root "
            f"mean square of the linear predictor, and may have {' and '.join(may)}, got "
            f"{' and '.join(stated.given) or 'nothing'}; 1 is a moderate signal, 3 a strong one"
        )
    if stated.r2 is not None and public.rows is not None:
        raise ValueError(
            "r2 tells how far the classes are apart where nothing else does; with public rows "
            "leave it out"
        )
    mean = stated.response_mean
    if mean is not None and task.model == "logistic" and not mean < 1.0:
        raise ValueError(
            f"response_mean must be between 0 and 1 for model='logistic', got {mean!r}; pass the "
            "expected share of the second class"
        )
    return PredictorLaw(stated.predictor_sd, mean, stated.r2, task)


def _stated_law(public: PublicMoments, task: Task, stated: Stated) -> TruthLaw:
    """Law of the coefficients from what the user states."""
    if task.model != "ridge":
        return _predictor_law(public, task, stated)
    if {"predictor_sd", "response_mean"} & set(stated.given) or len(stated.given) != 1:
        raise ValueError(
            "without public responses, a plan needs one of r2 and residual_sd, got "
            f"{' and '.join(stated.given) or 'neither'}; state what you expect of the fit, such as "
            "r2=0.5"
        )
    response = public.response
    scale = 1.0 if response is None else float(response.scale[0])
    level = 0.0
    if task.fit_intercept and response is not None and response.mean is not None:
        level = float(response.mean[0])
    square = max(scale**2 - level**2, 0.0)
    if stated.residual_sd is not None and not stated.residual_sd**2 < square:
        raise ValueError(
            f"residual_sd must be below the size of the responses, {math.sqrt(square):.4g}, got "
            f"residual_sd={stated.residual_sd!r}; state the public response_scale, or less"
        )
    left = (1.0 - stated.r2) * square if stated.r2 is not None else (stated.residual_sd or 0.0) ** 2
    return SignalLaw(math.sqrt(square - left), math.sqrt(left), level, task.fit_intercept)


def _design(public: PublicMoments, task: Task) -> PublicDesign:
    """Public design; what is wrong with it, the fit itself will say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return public.design(fit_intercept=task.fit_intercept)
