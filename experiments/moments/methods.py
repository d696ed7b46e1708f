"""How the inverse is estimated: published, oracle, ours, non-private, from public rows alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from experiments.moments.studies import Line, Repeat, Study, Style
from publicmoments import GDP, PublicMoments, release_moments
from publicmoments.paper import (
    GuidedSetting,
    OracleSecondMoment,
    OracleSetting,
    PMTSecondMoment,
    Setting,
    inverse_error_bound,
    robustness_condition,
)

Array = NDArray[np.float64]


def _matrix(repeat: Repeat) -> PublicMoments:
    """Public second moments alone."""
    return PublicMoments.from_matrix(repeat.public_moment, n=repeat.setting.n_public)


def _published(repeat: Repeat) -> Array:
    """Theorem 3.3."""
    one = repeat.setting
    model = PMTSecondMoment(
        one.alpha,
        eta=one.eta,
        privacy=GDP(one.mu),
        public=_matrix(repeat),
        random_state=repeat.seed("published"),
    )
    return model.fit(repeat.sample.X).inverse_


def _oracle(repeat: Repeat) -> Array:
    """Theorem 3.4."""
    one = repeat.setting
    model = OracleSecondMoment(
        one.alpha, eta=one.eta, privacy=GDP(one.mu), random_state=repeat.seed("oracle")
    )
    return model.fit(repeat.sample.X).inverse_


def _ours(rows: bool) -> Callable[[Repeat], Array]:
    """A moment release with public rows, or with their second moments alone."""

    def invert(repeat: Repeat) -> Array:
        one = repeat.setting
        public = PublicMoments.from_rows(repeat.sample.X_public) if rows else _matrix(repeat)
        seed = repeat.seed(f"ours {rows}")
        release = release_moments(
            repeat.sample.X, privacy=GDP(one.mu), public=public, random_state=seed
        )
        return release.precision(one.alpha, center=False).matrix

    return invert


METHODS: dict[str, Callable[[Repeat], Array]] = {
    "published": _published,
    "oracle": _oracle,
    "matrix": _ours(False),
    "rows": _ours(True),
    "plain": lambda repeat: repeat.inverse(repeat.moment),
    "public": lambda repeat: repeat.inverse(repeat.public_moment),
}

STYLES = {
    "published": Style("PMT (paper)", "#1f77b4", "o"),
    "oracle": Style("no public data (oracle)", "#ff7f0e", "s"),
    "matrix": Style("ours, matrix only", "#9467bd", "D"),
    "rows": Style("ours, public rows", "#d62728", "*"),
    "plain": Style("non-private", "#000000", "", "--"),
    "public": Style("public only", "#7f7f7f", "x", ":"),
    "bound": Style("bound, Theorem 3.3", "#17becf", "", "-."),
    "printed": Style("the same as printed", "#17becf", "", ":"),
    "oracle bound": Style("bound, Theorem 3.4", "#bcbd22", "", "-."),
}

SAMPLE, POPULATION, WHITENED = "to the private rows' own", "to the population's", "whitened"
CONDITION = "condition of stability"
"""Measures: relative spectral errors of the inverse to two targets; the first of them in whitened
coordinates, where no direction is smaller than others; and the left side of the conditions."""


def spectral(matrix: Array) -> float:
    """Spectral norm; what is no number has diverged."""
    return float(np.linalg.norm(matrix, 2)) if np.isfinite(matrix).all() else float("inf")


def inverse_errors(study: Study, repeat: Repeat) -> Iterator[Line]:
    """Errors of every method in every measure, and the bounds beside them."""
    own, true = repeat.inverse(repeat.moment), repeat.inverse(repeat.truth)
    values, vectors = np.linalg.eigh(repeat.moment)
    root = (vectors * np.sqrt(values)) @ vectors.T
    for name in study.methods:
        found = METHODS[name](repeat)
        away = found - own
        for measure, value in (
            (SAMPLE, spectral(away) / spectral(own)),
            (POPULATION, spectral(found - true) / spectral(true)),
            (WHITENED, spectral(root @ away @ root)),
        ):
            yield Line(repeat.setting, repeat.number, name, measure, value)
    yield from _bounds(repeat, spectral(own))


def _bounds(repeat: Repeat, size: float) -> Iterator[Line]:
    """Bounds on the error to the private rows' own inverse, and left sides of their conditions."""
    one = repeat.setting
    public, true = np.linalg.eigvalsh(repeat.public_moment), np.linalg.eigvalsh(repeat.truth)
    guided = GuidedSetting(
        d=one.d, eta=one.eta, penalty=one.alpha, n_public=one.n_public, public_norm=public[-1]
    )
    oracle = OracleSetting(
        d=one.d, eta=one.eta, penalty=one.alpha, trace=float(true.sum()), min_eigenvalue=true[0]
    )

    def bound(setting: Setting, inverse_norm: float = 1.0, as_published: bool = False) -> float:
        return inverse_error_bound(
            setting, one.n, one.mu, inverse_norm=inverse_norm, as_published=as_published
        )

    for name, measure, value in (
        ("bound", SAMPLE, bound(guided, 1.0 / public[0]) / size),
        ("printed", SAMPLE, bound(guided, 1.0 / public[0], True) / size),
        ("oracle bound", SAMPLE, bound(oracle) / size),
        ("bound", WHITENED, bound(guided)),
        ("published", CONDITION, robustness_condition(guided, one.n, one.mu)),
        ("oracle", CONDITION, robustness_condition(oracle, one.n, one.mu)),
    ):
        yield Line(one, repeat.number, name, measure, float(value))
