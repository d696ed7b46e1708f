"""Releasing the moments of a table: the one call here that sees private rows and costs budget."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from publicmoments.arrays import RandomState, read_only
from publicmoments.data import Table, as_table, by_name, match_columns, no_columns
from publicmoments.families.factors import Ones
from publicmoments.models.shell import (
    check_seed,
    check_switches,
    checked_bound,
    checked_budget,
    ignores_invalid,
)
from publicmoments.privacy.budgets import Budget
from publicmoments.privacy.ledger import LedgerLike
from publicmoments.public import PublicDesign, PublicMoments
from publicmoments.public.arguments import table_names
from publicmoments.public.suspicion import refuse_private_as_public, warn_of_identifiers
from publicmoments.release.diagnostics import warn_of
from publicmoments.release.moment_card import STATISTIC, combined_card, moment_card
from publicmoments.release.readings import MomentRelease
from publicmoments.release.second_moment import Coordinates
from publicmoments.release.weights import RowLengths, RowWeights, choose_weights
from publicmoments.rows.recipe import GramRecipe
from publicmoments.session.door import open_session, private_rows
from publicmoments.session.queries import GramQuery, everything, gram_demand


def release_moments(
    rows: Any,
    *,
    privacy: Budget,
    public: PublicMoments,
    columns: Sequence[str] | None = None,
    random_state: RandomState = None,
    anchor: bool = True,
    radius: float | None = None,
    on_invalid: Literal["raise", "ignore"] = "raise",
    ledger: LedgerLike = None,
    dataset: str | None = None,
) -> MomentRelease:
    """
    Release the second moments of a private table, once, for any number of regressions.

    Parameters
    ----------
    rows : array, data frame or source of shape (n_rows, d)
        Private rows with all columns, features and possible responses alike: NumPy, pandas, polars
        or Arrow; or a table that is read where it lies, such as the path of a Parquet file, a Dask
        or a Spark DataFrame, of which columns that the public moments do not name are not read.
    privacy : GDP, ApproxDP or ZCDP
        What the release may cost; nothing that is read off it costs more.
    public : PublicMoments
        Public moments of the same columns, made without ``response``.
    columns : sequence of str, optional
        Names of the columns, where neither table has any.
    random_state : int, numpy RandomState or Generator, optional
        Makes the noise reproducible. Such a release has no privacy guarantee, and its card says so.
    anchor : bool, default=True
        Whether public moments count as evidence about the private population. Set False if the
        populations are known to differ; they then serve as coordinates only.
    radius : float, optional
        Longest whitened row of full weight, otherwise chosen by predicted error. Sites that want
        to `combine` their releases agree on one beforehand.
    on_invalid : {"raise", "ignore"}, default="raise"
        Private rows with cells of no use, such as NaN, text among numbers or labels that are no
        class: refuse, or count each such row as zeros. The latter is absolute: then no cell can
        cause an error, a warning or a message.
    ledger : Ledger, path or URL, optional
        Durable account that the budget is charged to before any noise is drawn.
    dataset : str, optional
        Name of the private data in the ledger; needed with one.

    Returns
    -------
    MomentRelease

    Notes
    -----
    **Releases.** One noisy Gram matrix of the whitened and weighted rows, and what follows from it.

    **Assumes.** Checked here: names and shapes agree, the budget can be met, the rows are finite
    unless they are to be ignored. Owed by the caller: the public moments are not computed from the
    private rows, and the radius, if given, is public.

    **Guarantee.** The stated budget, for replacing one row; the number of rows is public. The zCDP
    statement is exact; the Gaussian DP statement carries the extra delta on the card.

    **Why.** A row z = (whitened columns, 1) is shortened to the radius R, which depends on public
    numbers and the shape of the table only. Replacing a row then changes the sum of z z^T by at
    most sqrt(2) R^2 in Frobenius norm, and the noise is fitted to that in
    `publicmoments.session.door.release`. All else is a function of that one release.

    Examples
    --------
    >>> import numpy as np
    >>> from publicmoments import GDP, PublicMoments
    >>> table = np.random.default_rng(0).normal(5.0, 2.0, size=(5_200, 4))
    >>> public = PublicMoments.from_rows(table[:200])
    >>> release = release_moments(table[200:], privacy=GDP(1.0), public=public)
    >>> release.n_rows, release.card.private
    (5000, True)
    """
    budget = checked_budget(privacy)
    check_seed(random_state)
    check_switches(anchor=anchor)
    wanted, ignore = checked_bound("radius", radius), ignores_invalid(on_invalid)
    table, names = _table(rows, public, columns)
    private = private_rows(table, no_columns(table), fit_intercept=True, ignore_invalid=ignore)
    design = public.design(fit_intercept=True)
    n, p = private.n_rows, private.n_design
    with open_session(
        private,
        budget,
        [gram_demand(n, p, everything)],
        random_state=random_state,
        ledger=ledger,
        dataset=dataset,
        model="release_moments",
    ) as session:
        weights = choose_weights(RowLengths.expected(design), p, n, session.total.mu, wanted)
        released = session.ask(GramQuery(STATISTIC, _recipe(design, weights, n)), everything)
    return told(
        MomentRelease(
            noisy_gram=read_only(released.values),
            diagonal_sd=released.noise_sd,
            offdiagonal_sd=released.offdiagonal_sd,
            n_rows=n,
            columns=names,
            weights=weights,
            coordinates=_coordinates(design, public),
            anchor=bool(anchor),
            card=moment_card(session, weights, public),
        )
    )


def told(release: MomentRelease) -> MomentRelease:
    """Warn of what a release shows of its own quality, and note it on its card."""
    warn_of(release.diagnostics, release.anchor)
    z_score = release.diagnostics.public_fit_z
    return replace(release, card=replace(release.card, public_fit_z=z_score))


def _table(
    rows: Any, public: object, columns: Sequence[str] | None
) -> tuple[Table, tuple[str, ...] | None]:
    """Read a table and match it with the public moments; return the names of columns, if any."""
    refuse_private_as_public(public, rows, "rows")
    known = public.columns if isinstance(public, PublicMoments) else None
    (rows,) = by_name(rows, known, what="rows")
    table = as_table(rows, "rows")
    return table, _matched(table, public, columns)


def _matched(table: Table, public: object, columns: Sequence[str] | None) -> tuple[str, ...] | None:
    """Match the table with the public moments; return the names of the columns, if any."""
    if not isinstance(public, PublicMoments):
        raise TypeError(
            f"public must be PublicMoments, got {type(public).__name__}; make it of all columns "
            "with PublicMoments.from_rows, from_matrix, from_mean_cov or load, or assume columns "
            "of size 1 with PublicMoments.identity"
        )
    if public.response is not None and public.response.cross is not None:
        raise ValueError(
            "public must hold the response as a column like any other; make the public moments of "
            "all columns, without response="
        )
    names = table_names(table, columns, "rows")
    match_columns(replace(table, columns=names), public.columns, "rows")
    d = len(public.second_moment)
    if table.n_columns != d:
        raise ValueError(
            f"rows has {table.n_columns} columns, but the public moments have {d}; pass the same "
            "columns to both"
        )
    names = public.columns if names is None else names
    warn_of_identifiers(public, names)
    return names


def _recipe(design: PublicDesign, weights: RowWeights, n_rows: int) -> GramRecipe:
    """Rows shortened to the radius, and multiplied by one."""
    return GramRecipe(
        whitener=np.asarray(design.whitener),
        coef=np.zeros((design.n_columns, 1)),
        factor=Ones(),
        radius=weights.radius,
        l2_bound=weights.radius,
        n_rows=n_rows,
    )


def _coordinates(design: PublicDesign, public: PublicMoments) -> Coordinates:
    """Keep what readings need of the public moments."""
    return Coordinates(
        unwhitener=design.unwhitener,
        n=design.n,
        fingerprint=public.fingerprint,
        mean_known=public.mean is not None,
        tail=_tail(design),
    )


def _tail(design: PublicDesign) -> float:
    """Fourth moment of the public rows, as a multiple of that of Gaussian ones; at least 1."""
    if design.rows is None:
        return 1.0
    p = design.n_columns
    squared = np.sum((design.rows @ design.whitener) ** 2, axis=1)
    return max(float(np.mean(squared**2)) / (p * (p + 2)), 1.0)


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
