"""Whitening again from a first release of second moments, and how these differ from public ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from publicmoments.arrays import Array
from publicmoments.evidence.numerics import LEAST_VALUE, beyond_chance, floored_power
from publicmoments.evidence.standins import enough_rows
from publicmoments.public import PublicDesign

LEAST_RADIUS = 3.0
"""Rows keep at least this many times their mean squared length, whatever it costs."""

LOOK_NOISE = 23.0
"""The radius grows with the root of mu n over this and p^(3/2)."""

MOST_DRAWN, LEAST_SPREAD = 2_000, 0.05
"""Rows drawn to see how far second moments vary; least relative spread of their distance."""

NOISE_MARGIN = 2.0
"""A direction's second moment is not believed below this many times what noise alone would show."""


@dataclass(frozen=True, eq=False)
class Look:
    """
    Coordinates in which private rows have a second moment near the identity.

    Parameters
    ----------
    whitener, unwhitener : ndarray of shape (p, p)
        As those of a `PublicDesign`.
    ratio : ndarray of shape (p, p)
        Released second moment in public whitened coordinates, over what public data led to expect.
    noise_sd : float
        Noise of its entries.
    z_score : float
        How far it is from the identity, in standard errors; 0 where nothing is public.
    """

    whitener: Array = field(repr=False)
    unwhitener: Array = field(repr=False)
    ratio: Array = field(repr=False)
    noise_sd: float
    z_score: float


def look_radius(mu: float, n_rows: int, p: int) -> float:
    """Bound on whitened rows in the first release: wider, the less noise there is."""
    room = math.sqrt(mu * n_rows / (LOOK_NOISE * p**1.5))
    return math.sqrt(p * LEAST_RADIUS * max(room, 1.0))


def looked(design: PublicDesign, noisy_moment: Array, noise_sd: float, radius: float) -> Look:
    """
    Compare a released second moment with the public one and whiten by what both say.

    Parameters
    ----------
    design : PublicDesign
        Public coordinates.
    noisy_moment : ndarray of shape (p, p)
        Released second moment of rows in them, shortened to the radius.
    noise_sd : float
        Noise of its off-diagonal entries.
    radius : float
        Of the release.

    Returns
    -------
    Look

    Notes
    -----
    An entry differs from the public one by noise of known variance and by what populations and
    samples differ in, of a variance that the entries themselves tell: the difference is shrunk by
    the ratio of the two. What the radius cuts off is taken to be the same part of both.
    """
    p = len(noisy_moment)
    expected, sampling = _expected(design, noisy_moment, radius)
    off = noisy_moment - expected
    noise = noise_sd**2
    entries = np.full(p * (p + 1) // 2, 2.0 * noise)
    spread = max(sampling, beyond_chance(float(np.sum(off**2)), entries) / p**2)
    believed = expected + off * (spread / (spread + noise))
    root = floored_power(expected, -0.5, 1e-6)
    ratio = root @ believed @ root
    values, vectors = np.linalg.eigh((ratio + ratio.T) / 2)
    least = min(max(NOISE_MARGIN * noise_sd * math.sqrt(p), LEAST_VALUE), 1.0)
    values = np.maximum(values, least)
    roots = np.sqrt(values)
    return Look(
        whitener=np.asarray(design.whitener @ (vectors / roots) @ vectors.T),
        unwhitener=np.asarray((vectors * roots) @ vectors.T @ design.unwhitener),
        ratio=root @ noisy_moment @ root,
        noise_sd=noise_sd,
        z_score=_z_score(design, root @ noisy_moment @ root, noise_sd, least),
    )


def _expected(design: PublicDesign, noisy_moment: Array, radius: float) -> tuple[Array, float]:
    """What public data lead to expect, and the mean sampling variance of its entries."""
    p = len(noisy_moment)
    if design.rows is None:
        kept = min(max(float(np.trace(noisy_moment)) / p, 0.2), 1.2)
        return kept * np.eye(p), 2.0 / (design.n or p)
    constant = design.unwhitener[:, -1] if design.fit_intercept else None
    rows = enough_rows(np.asarray(design.rows @ design.whitener), constant)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    rows = rows * np.minimum(1.0, radius / np.maximum(lengths, 1e-300))[:, None]
    moment, squares = (power.T @ power / len(rows) for power in (rows, rows**2))
    return moment, max(float(np.mean(squares - moment**2)), 1e-12) / len(design.rows)


def _z_score(design: PublicDesign, ratio: Array, noise_sd: float, least: float) -> float:
    """
    How far second moments differ in ratio, in standard errors of what chance makes of it.

    Its law under agreement is simulated, with rows drawn again from the public ones, or from
    Gaussian ones, in place of the public ones: these rows are few, and what whitens them whitens
    others less well.
    """
    if design.rows is None and design.n is None:
        return 0.0
    p = len(ratio)
    rng = np.random.default_rng(p)
    if design.rows is None:
        # A Gaussian sample as large as the public one, and not larger than is worth drawing.
        rows = rng.standard_normal((min(int(design.n or 2), MOST_DRAWN), p))
    else:
        rows = np.asarray(design.rows @ design.whitener)
    n, moment = len(rows), rows.T @ rows / len(rows)
    distances = []
    for _ in range(max(8, min(64, 10_000_000 // (n * p * p)))):
        drawn = rows[rng.integers(0, n, n)]
        root = floored_power(drawn.T @ drawn / n, -0.5, 1e-6)
        noise = rng.standard_normal((p, p)) * noise_sd
        again = root @ moment @ root + (noise + noise.T) / math.sqrt(2.0)
        distances.append(_distance(again, least))
    centre, spread = float(np.mean(distances)), float(np.std(distances))
    return (_distance(ratio, least) - centre) / max(spread, LEAST_SPREAD * centre, 1e-300)


def _distance(ratio: Array, least: float) -> float:
    """Distance of a ratio of second moments from the identity, by factors."""
    values = np.linalg.eigvalsh((ratio + ratio.T) / 2)
    return math.sqrt(float(np.sum(np.log(np.maximum(values, least)) ** 2)))
