"""Adding up the releases of several sites or periods."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations

import numpy as np

from publicmoments.arrays import read_only
from publicmoments.release.moment_card import combined_card
from publicmoments.release.readings import MomentRelease
from publicmoments.release.releasing import told

SAME = 1e-9
"""Relative difference that another linear algebra library may leave in public coordinates."""


def combine(releases: Iterable[MomentRelease]) -> MomentRelease:
    """
    Add up the releases of several sites or periods with rows of their own.

    Parameters
    ----------
    releases : iterable of MomentRelease
        At least one, all with the same public moments, columns, radius and anchor.

    Returns
    -------
    MomentRelease
        Of all rows together, each site's noise included: the mean of the releases weighted by
        their rows n_k, with noise sd sqrt(sum_k n_k^2 sd_k^2) / sum_k n_k.

    Raises
    ------
    ValueError
        Where the releases do not go together; the message names what differs.

    Notes
    -----
    **Guarantee.** Sites have disjoint rows, so that each row has the guarantee of its own site; the
    card states all of them, and the worst as its own. It is the caller who knows whether a person
    has rows at several sites; see `combined_card`.

    Sites that differ in size or budget would choose different radii: agree on one and pass it as
    ``radius`` to `release_moments` everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> from publicmoments import GDP, PublicMoments
    >>> from publicmoments.release import combine, release_moments
    >>> table = np.random.default_rng(0).normal(size=(4_200, 3))
    >>> public = PublicMoments.from_rows(table[:200])
    >>> sites = [
    ...     release_moments(part, privacy=GDP(1.0), public=public)
    ...     for part in np.split(table[200:], 4)
    ... ]
    >>> whole = combine(sites)
    >>> whole.n_rows, round(whole.diagonal_sd / sites[0].diagonal_sd, 3)
    (4000, 0.5)
    """
    sites = list(releases)
    if not sites:
        raise ValueError("releases must hold at least one release, got none")
    for site in sites:
        if not isinstance(site, MomentRelease):
            raise TypeError(
                f"releases must hold MomentRelease objects, got {type(site).__name__}; make them "
                "with release_moments or MomentRelease.load"
            )
    for number, site in enumerate(sites[1:], start=1):
        _refuse_difference(sites[0], site, number)
    if any(np.array_equal(a.noisy_gram, b.noisy_gram) for a, b in combinations(sites, 2)):
        raise ValueError("releases must be different ones, got the same release twice; drop one")
    n_rows = sum(site.n_rows for site in sites)
    shares = [site.n_rows / n_rows for site in sites]
    whole = replace(
        sites[0],
        noisy_gram=read_only(sum(w * s.noisy_gram for w, s in zip(shares, sites, strict=True))),
        diagonal_sd=_together(shares, [site.diagonal_sd for site in sites]),
        offdiagonal_sd=_together(shares, [site.offdiagonal_sd for site in sites]),
        n_rows=n_rows,
        card=combined_card([site.card for site in sites]),
    )
    return told(whole)


def _together(shares: list[float], noise_sds: list[float]) -> float:
    """Noise sd of a weighted mean."""
    return math.hypot(*(w * s for w, s in zip(shares, noise_sds, strict=True)))


def _refuse_difference(first: MomentRelease, other: MomentRelease, number: int) -> None:
    """Name what two releases differ in, and what to do about it."""
    remedies = {
        "public moments": "release with the same public moments, saved to one file, everywhere",
        "columns": "release the same columns in the same order everywhere",
        "radius": "agree on a radius and pass radius= to release_moments everywhere",
        "expected weights": "load the public moments from one file everywhere",
        "anchor": "pass the same anchor= everywhere",
    }
    same = {
        "public moments": first.coordinates.fingerprint == other.coordinates.fingerprint
        and _close(first.coordinates.unwhitener, other.coordinates.unwhitener),
        "columns": first.columns == other.columns,
        "radius": _close(first.weights.radius, other.weights.radius),
        "expected weights": _close(first.weights.kept, other.weights.kept)
        and _close(first.weights.second, other.weights.second),
        "anchor": first.anchor == other.anchor,
    }
    for what, agrees in same.items():
        if not agrees:
            raise ValueError(
                f"releases must agree in their {what}, which differ between releases 0 and "
                f"{number}; {remedies[what]}"
            )


def _close(one: object, other: object) -> bool:
    """Tell equality up to rounding; arrays of other shapes differ."""
    a, b = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    size = float(np.max(np.abs(a), initial=0.0))
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= SAME * size))
