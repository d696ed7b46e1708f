"""From public moments to the coordinates in which private rows are bounded."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np

from publicmoments.arrays import Array, ReadOnlyArrays, read_only
from publicmoments.checks import PublicMomentsWarning
from publicmoments.public.conditioning import SINGULAR, too_few_rows, well_conditioned
from publicmoments.public.joint import PublicRecord
from publicmoments.public.validation import unit_diagonal

PERFECT_FIT = 1e-6


@dataclass(frozen=True, eq=False)
class PublicDesign(ReadOnlyArrays):
    """Public moments of the design, intercept included, ready for use.

    Rows are whitened from the right, ``Z = X @ whitener``, and come back by
    ``X = Z @ unwhitener``; coefficients go the other way, ``coef = whitener @ coef_z`` and
    ``coef_z = unwhitener @ coef``. The whitener satisfies
    ``whitener.T @ second_moment @ whitener = I``. It is the symmetric inverse root of the matrix
    scaled to unit diagonal (about the public mean when there is an intercept), then unscaled: so
    whitened rows depend neither on the units of the columns nor, with an intercept, on their
    origin. It differs from the symmetric inverse root of the second moment by a rotation only,
    which changes no norm, no bound and no noise.

    Parameters
    ----------
    second_moment : ndarray of shape (p, p)
        Well-conditioned second moment of the design; the intercept is the last column.
    n : int or None
        Number of public rows; None when the moments are assumed.
    shrinkage : float
        Weight given to the diagonal to make the matrix invertible; 0 when none was needed.
    whitener, unwhitener : ndarray of shape (p, p)
        Inverse of each other.
    coef : ndarray of shape (p, q) or None
        Least-squares fit of the public responses.
    residual_scale : ndarray of shape (q,) or None
        Root mean square of the public residuals, corrected for degrees of freedom. The response
        scale where no fit is known, or where ``n <= p`` leaves no residual to judge it by.
    response_scale : ndarray of shape (q,) or None
        Root mean square of the responses.
    rows : ndarray of shape (k, p) or None
        Kept public rows, with the column of ones.
    responses : ndarray of shape (k, q) or None
        Their responses.
    fit_intercept : bool
        Whether the last column is the intercept.

    Examples
    --------
    >>> import numpy as np
    >>> from publicmoments.public import PublicMoments
    >>> B = np.random.default_rng(0).normal(5.0, 2.0, size=(100, 3))
    >>> design = PublicMoments.from_rows(B).design(fit_intercept=True)
    >>> W = design.whitener
    >>> bool(np.allclose(W.T @ design.second_moment @ W, np.eye(4)))
    True
    """

    second_moment: Array = field(repr=False)
    n: int | None
    shrinkage: float
    whitener: Array = field(repr=False)
    unwhitener: Array = field(repr=False)
    coef: Array | None
    residual_scale: Array | None
    response_scale: Array | None
    rows: Array | None = field(repr=False)
    responses: Array | None = field(repr=False)
    fit_intercept: bool

    @property
    def n_columns(self) -> int:
        """Number of columns of the design, p."""
        return len(self.second_moment)


@dataclass(frozen=True, eq=False)
class _Centred:
    """Moments about the centre the whitener uses: the mean with an intercept, zero without."""

    centre: Array
    about: Array
    cross: Array | None
    response_about: Array | None
    response_centre: Array


def build_design(public: PublicRecord, fit_intercept: bool) -> PublicDesign:
    """Whiten the design and fit the public responses; see :class:`PublicDesign`."""
    moments = _about_mean(public) if fit_intercept else _about_zero(public)
    matrix, shrinkage = well_conditioned(
        moments.about,
        public.n,
        None if public.rows is None else public.rows - moments.centre,
        columns=public.columns,
        sizes=np.diag(public.second_moment),
    )
    whitener, unwhitener = _roots(matrix)
    response = public.response
    coef = _public_fit(moments, public.n, whitener)
    residual_scale = None if response is None else response.scale
    if response is not None and coef is not None:
        p = len(matrix) + fit_intercept
        residual_scale = _residual_scale(moments, coef, public.n, p, response.scale)
    if fit_intercept:
        matrix, whitener, unwhitener = _with_intercept(matrix, whitener, unwhitener, moments.centre)
        coef = None if coef is None else _with_constant(coef, moments)
    return PublicDesign(
        second_moment=read_only(matrix),
        n=public.n,
        shrinkage=shrinkage,
        whitener=read_only(whitener),
        unwhitener=read_only(unwhitener),
        coef=None if coef is None else read_only(coef),
        residual_scale=None if residual_scale is None else read_only(residual_scale),
        response_scale=None if response is None else response.scale,
        rows=_with_ones(public.rows) if fit_intercept else public.rows,
        responses=public.response_rows,
        fit_intercept=fit_intercept,
    )


def _about_zero(public: PublicRecord) -> _Centred:
    """Moments for a design without intercept."""
    response, d = public.response, len(public.second_moment)
    if response is None or response.cross is None or response.moment is None:
        return _Centred(np.zeros(d), public.second_moment, None, None, np.zeros(0))
    origin = np.zeros(len(response.scale))
    return _Centred(np.zeros(d), public.second_moment, response.cross, response.moment, origin)


def _about_mean(public: PublicRecord) -> _Centred:
    """Moments for a design with intercept; an unknown mean is taken to be zero."""
    if public.mean is None or public.covariance is None:
        warnings.warn(
            "the public mean is unknown, so the intercept assumes columns (and responses) of mean "
            "zero; pass mean=..., use from_mean_cov or from_rows, or set fit_intercept=False",
            PublicMomentsWarning,
            stacklevel=4,
        )
        return _about_zero(public)
    response = public.response
    if response is None or response.mean is None:
        return _Centred(public.mean, public.covariance, None, None, np.zeros(0))
    return _Centred(
        public.mean,
        public.covariance,
        response.cross_covariance,
        response.covariance,
        response.mean,
    )


def _roots(matrix: Array) -> tuple[Array, Array]:
    """Inverse and direct root of a positive definite matrix, accurate in any units."""
    scales, unit = unit_diagonal(matrix)
    eigenvalues, vectors = np.linalg.eigh(unit)
    roots = np.sqrt(eigenvalues)
    whitener = (vectors / roots) @ vectors.T / scales[:, None]
    return whitener, (vectors * roots) @ vectors.T * scales[None, :]


def _public_fit(moments: _Centred, n: int | None, whitener: Array) -> Array | None:
    """Least-squares coefficients without the intercept.

    With enough rows this is plain least squares, of minimal norm among collinear columns: shrinking
    the matrix for the whitener's sake must not bend the fit. With too few rows it is the fit of the
    shrunk matrix.
    """
    if moments.cross is None:
        return None
    if too_few_rows(n, len(whitener)):
        return np.asarray(whitener @ (whitener.T @ moments.cross))
    scales, unit = unit_diagonal(moments.about)
    eigenvalues, vectors = np.linalg.eigh(unit)
    kept = eigenvalues > SINGULAR * max(eigenvalues[-1], 0.0)
    part = vectors[:, kept]
    fit = (part / eigenvalues[kept]) @ (part.T @ (moments.cross / scales[:, None]))
    return np.asarray(fit / scales[:, None])


def _residual_scale(
    moments: _Centred, coef: Array, n: int | None, p: int, response_scale: Array
) -> Array:
    """Root mean square of y - x.b, from moments: y'y - 2 c'b + b'S b per response."""
    if moments.cross is None or moments.response_about is None or (n is not None and n <= p):
        return response_scale
    scales, unit = unit_diagonal(moments.about)
    fit = coef * scales[:, None] / response_scale
    cross = moments.cross / scales[:, None] / response_scale
    total = np.diag(moments.response_about) / response_scale**2
    share = total - 2 * np.sum(cross * fit, axis=0) + np.sum(fit * (unit @ fit), axis=0)
    correction = 1.0 if n is None else n / (n - p)
    # A perfect fit would leave no scale to bound residuals with; none is worse than no fit.
    return np.asarray(response_scale * np.sqrt(np.clip(share * correction, PERFECT_FIT**2, 1.0)))


def _with_intercept(
    matrix: Array, whitener: Array, unwhitener: Array, centre: Array
) -> tuple[Array, Array, Array]:
    """Extend the matrices by the column of ones, which whitens to itself."""
    nought, one = np.zeros((len(centre), 1)), np.ones((1, 1))
    row = centre[None, :]
    return (
        np.block([[matrix + np.outer(centre, centre), row.T], [row, one]]),
        np.block([[whitener, nought], [-row @ whitener, one]]),
        np.block([[unwhitener, nought], [row, one]]),
    )


def _with_constant(coef: Array, moments: _Centred) -> Array:
    """Append the intercept of the fit: the response mean less the fit at the feature mean."""
    constant = moments.response_centre - moments.centre @ coef
    return np.vstack([coef, constant[None, :]])


def _with_ones(rows: Array | None) -> Array | None:
    """Append the column of ones to kept rows."""
    return None if rows is None else read_only(np.column_stack([rows, np.ones(len(rows))]))
