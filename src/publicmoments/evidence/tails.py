"""How large influences are: what public rows and noisy counts say together."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.special import erfcx, ndtri

from publicmoments.arrays import Array
from publicmoments.evidence.numerics import beyond_chance
from publicmoments.evidence.standins import StandIns

FIRST_OCTAVE, OCTAVES = -14, 21
"""Cells are octaves of the size of an influence, from 2^-14 of its size at the start to 2^6."""

REACH = OCTAVES - 1 + FIRST_OCTAVE
"""Octaves from the size of an influence at the start to the last."""

TAIL = 3.0
"""The share of rows above a size is expected to fall with its third power: the least whole power
with which the error of a bound falls faster than the bound grows."""

SLOWEST_TAIL = 2.0
"""The same where the worst is to be allowed for: with any less, sampling errors have no end."""

SIGNIFICANT = 3.0
"""Standard errors up to which influences as large as many octaves may still be noise."""

COHERENCE = 0.5
"""Share of what a bound cuts off that points the same way, besides what two sides differ by."""


@dataclass(frozen=True, eq=False)
class Tails:
    """
    Shares of rows whose influence lies in each octave, by sign, and how well they are known.

    Parameters
    ----------
    unit : float
        Typical size of an influence.
    shares, variances : ndarray of shape (sides, octaves)
        Expected shares and their error variances; two sides where influences have a sign.
    reached : int
        How many octaves larger they are than at the start.
    """

    unit: float
    shares: Array = field(repr=False)
    variances: Array = field(repr=False)
    reached: int = 0

    @classmethod
    def unknown(cls, unit: float, sides: int) -> Tails:
        """Nothing is known but the unit."""
        shape = (sides, OCTAVES)
        return cls(unit, np.zeros(shape), np.full(shape, np.inf))

    def learned(self, shares: Array, variances: Array) -> Tails:
        """
        Weigh further shares with those so far.

        Influences grow and shrink with the distance of a fit from the best one: first all of them
        are made larger or smaller, by octaves each of which is taken to be e times less likely than
        the one before; what the likelihoods of all sizes make of it is averaged. Where shares then
        still differ by more than both variances expect, those so far count as if they were of fewer
        rows.
        """
        if not np.isfinite(self.variances).all():
            return replace(self, shares=shares, variances=variances)
        before = self._resized(shares, variances)
        apart = float(np.sum((shares - before.shares) ** 2))
        beyond = beyond_chance(apart, variances + before.variances)
        either = (np.abs(shares) + np.abs(before.shares)) / 2.0
        doubted = before.variances + beyond * either / max(float(np.sum(either)), 1e-300)
        old, new = 1.0 / doubted, 1.0 / variances
        mean = (old * before.shares + new * shares) / (old + new)
        return replace(self, shares=mean, variances=1.0 / (old + new))

    def reaching(self) -> Tails:
        """
        Return the same in larger octaves if most rows are in the last, which has no end.

        How they are spread beyond its lower edge remains unknown until the next count. Once large
        influences are gone, octaves are as small as they were.
        """
        if float(self.shares[:, -1].sum()) > 0.5:
            return self._moved(REACH)
        large, error = self.shares[:, -REACH:].sum(), self.variances[:, -REACH:].sum()
        if self.reached > 0 and large < SIGNIFICANT * math.sqrt(float(error)):
            return self._moved(-REACH)
        return self

    def _moved(self, octaves: int) -> Tails:
        """Octaves larger by as many; nothing is known of new ones, nor of what had no end."""
        shares, variances = np.zeros_like(self.shares), np.ones_like(self.variances)
        if octaves > 0:
            shares[:, :-octaves] = self.shares[:, octaves:]
            variances[:, : -octaves - 1] = self.variances[:, octaves:-1]
        else:
            shares[:, -octaves:] = self.shares[:, :octaves]
            variances[:, -octaves:] = self.variances[:, :octaves]
        return Tails(self.unit * 2.0**octaves, shares, variances, self.reached + octaves)

    def _resized(self, shares: Array, variances: Array) -> Tails:
        """All influences larger or smaller, as likely as further shares make it."""
        octaves = np.arange(-OCTAVES, OCTAVES, 0.25)
        places = np.arange(OCTAVES) - octaves[:, None]
        whole = np.floor(places).astype(int)

        def moved(values: Array, outside: float) -> Array:
            padded = np.pad(values, ((0, 0), (1, 1)), constant_values=outside)
            low, high = (padded[:, np.clip(whole + k, 0, OCTAVES + 1)] for k in (1, 2))
            return np.asarray(low + (places - whole) * (high - low))

        mean, spread = moved(self.shares, 0.0), moved(self.variances, float(self.variances.max()))
        both = spread + variances[:, None]
        apart = np.sum((mean - shares[:, None]) ** 2 / both + np.log(both), axis=(0, 2))
        score = apart / 2.0 + np.abs(octaves)
        weights = np.exp(score.min() - score)
        weights /= weights.sum()
        average = np.tensordot(weights, np.moveaxis(mean, 1, 0), 1)
        doubt = np.moveaxis(spread + (mean - average[:, None]) ** 2, 1, 0)
        return replace(self, shares=average, variances=np.tensordot(weights, doubt, 1))

    def excess(self, bound: float) -> float:
        """Expected excess of influences beyond a bound, on both sides together."""
        return sum(side.excess(bound) for side in self._sides)

    def most_excess(self, bound: float) -> float:
        """Return the same where shares may fall as slowly as with their second power."""
        return _side(self.unit, *self._sums, SLOWEST_TAIL).excess(bound)

    def bias(self, bound: float) -> float:
        """Length of the mean of what a bound cuts off, at most as likely as not."""
        excesses = [side.excess(bound) for side in self._sides]
        apart = excesses[-1] - excesses[0] if len(excesses) == 2 else 0.0
        return math.hypot(apart, COHERENCE * sum(excesses))

    def inside(self, bound: float) -> float:
        """Share of rows that a bound leaves as they are."""
        return 1.0 - min(self._together.above(bound), 0.95)

    def mean_square(self) -> float:
        """Mean square influence, taken to be even in logarithms within an octave."""
        side = self._together
        shares = side.shares[:-1] - side.shares[1:]
        inner = 3.0 / (2.0 * math.log(2.0)) * float(shares @ side.sizes[:-1] ** 2)
        return inner + TAIL / (TAIL - 2.0) * float(side.shares[-1] * side.sizes[-1] ** 2)

    def bounds(self) -> Array:
        """Bounds to choose from, in steps of a quarter octave."""
        return np.asarray(self.unit * 2.0 ** np.arange(FIRST_OCTAVE, 14.0, 0.25))

    @cached_property
    def _sides(self) -> list[_Side]:
        """Each side by itself."""
        pairs = zip(self.shares, self.variances, strict=True)
        return [_side(self.unit, *pair, TAIL) for pair in pairs]

    @cached_property
    def _together(self) -> _Side:
        """Both sides as one."""
        return _side(self.unit, *self._sums, TAIL)

    @property
    def _sums(self) -> tuple[Array, Array]:
        """Shares of both sides together, and their error variances."""
        return self.shares.sum(axis=0), self.variances.sum(axis=0)


@dataclass(frozen=True, eq=False)
class _Side:
    """Shares above sizes, as far as they can be seen; a power law beyond."""

    sizes: Array
    shares: Array
    tail: float

    def above(self, size: float) -> float:
        """Share of rows above a size."""
        last = float(self.sizes[-1])
        if size >= last:
            return float(self.shares[-1] * (size / last) ** -self.tail)
        return float(np.interp(size, self.sizes, self.shares))

    def excess(self, bound: float) -> float:
        """Integral of the share above, from a bound on."""
        last, share = float(self.sizes[-1]), float(self.shares[-1])
        if bound >= last:
            return float(share * last * (bound / last) ** (1.0 - self.tail) / (self.tail - 1.0))
        beyond = self.sizes[np.searchsorted(self.sizes, bound, side="right") :]
        sizes = np.append(bound, beyond)
        above = np.interp(sizes, self.sizes, self.shares)
        inner = float(np.diff(sizes) @ (above[1:] + above[:-1])) / 2.0
        return inner + share * last / (self.tail - 1.0)


def _side(unit: float, shares: Array, variances: Array, tail: float) -> _Side:
    """
    Share above each octave's lower edge, from the lowest upwards.

    Up to the median it is what counts say. Beyond, given the share above one edge, that above the
    next is expected to follow the power law; it has an exponential law about that expectation, and
    the sum of all counts from there on tells the rest.
    """
    above = np.cumsum(shares[::-1])[::-1]
    errors = np.sqrt(np.cumsum(variances[::-1])[::-1])
    falling = np.maximum.accumulate(np.clip(above, 0.0, 1.0)[::-1])[::-1]
    if not falling[0] > 0.0:
        # Nothing at all is seen: rows are as large as at the start.
        falling[: 1 - FIRST_OCTAVE] = 1.0
    found, last = falling.copy(), 1.0
    for octave in range(OCTAVES):
        if falling[octave] <= falling[0] / 2.0:
            expected = last * 2.0**-tail
            seen = _positive_mean(float(above[octave]), float(errors[octave]), expected)
            found[octave] = min(seen, last)
        last = found[octave]
    return _Side(_octaves(unit), found, tail)


def _positive_mean(seen: float, error: float, expected: float) -> float:
    """Mean of what has an exponential law, once it was seen with a normal error."""
    if not error > 0.0:
        return max(seen, 0.0)
    if not expected > 0.0:
        return 0.0
    place = seen / error - error / expected
    if place < -1e3:
        return -error / place
    return error * (place + math.sqrt(2.0 / math.pi) / float(erfcx(-place / math.sqrt(2.0))))


def _octaves(unit: float) -> Array:
    """Lower edges of the octaves."""
    return np.asarray(unit * 2.0 ** np.arange(FIRST_OCTAVE, FIRST_OCTAVE + OCTAVES))


def signed_edges(unit: float, sides: int) -> Array:
    """
    Edges of the cells that rows are counted in.

    With two sides there are cells for negative influences, largest first, one for those that are
    too small to matter, and cells for positive ones; with one side the latter only.
    """
    octaves = _octaves(unit)
    if sides == 1:
        return octaves
    return np.concatenate([[-np.inf], -octaves[::-1], octaves])


def excesses(influences: Array, bound: float, expected: float) -> Array:
    """Excess of influences over a bound, all scaled so that its mean is as expected."""
    if not float(influences.max()) > 1e-200:
        return np.zeros_like(influences)
    low, high = 0.0, 1.0
    while float(np.mean(np.maximum(high * influences - bound, 0.0))) < expected:
        low, high = high, 2.0 * high
    for _ in range(50):
        middle = (low + high) / 2.0
        if float(np.mean(np.maximum(middle * influences - bound, 0.0))) < expected:
            low = middle
        else:
            high = middle
    return np.maximum(high * influences - bound, 0.0)


def normal_quantiles() -> Array:
    """Values that stand for a normal law, a thousand of them."""
    return np.asarray(ndtri((np.arange(1_000) + 0.5) / 1_000))


def sorted_in(values: Array, unit: float, sides: int, weights: Array | None = None) -> Array:
    """Shares of values in each octave, by sign."""
    edges = signed_edges(unit, sides)
    cells = np.searchsorted(edges, values, side="right") - 1
    sound = (cells >= 0) & (values == values)
    even = np.full(len(values), 1.0 / len(values)) if weights is None else weights
    counts = np.bincount(cells[sound], weights=even[sound], minlength=len(edges))
    return octave_shares(np.asarray(counts, dtype=np.float64), sides)


def octave_shares(counts: Array, sides: int) -> Array:
    """Rearrange counts in the cells of `signed_edges` by side, and octaves upwards."""
    if sides == 1:
        return counts[None, :]
    below, above = counts[:OCTAVES][::-1], counts[OCTAVES + 1 :]
    return np.stack([below, above])


ROW_COHERENCE = 0.03
"""The same share for weights that know nothing of the response, which move only wrong models."""


@dataclass(frozen=True, eq=False)
class Bound:
    """
    A bound and what it is expected to do to a gradient.

    Parameters
    ----------
    bound : float
        Longest influence.
    bias : float
        What it moves an entry by.
    kept : float or ndarray
        Share of the curvature that it leaves.
    error : float
        Root mean square error of a coefficient that noise and bias together make.
    """

    bound: float
    bias: float
    kept: float | Array
    error: float


class LengthBounds:
    """
    Bounds on rows of a family whose slopes are bounded anyway.

    A weight that depends on the row alone leaves the equations of a right model right, so that
    little is lost; a bound on influences would silence rare classes first.
    """

    def __init__(self, stand_ins: StandIns) -> None:
        self.lengths, self.limit = stand_ins.lengths, stand_ins.family.slope_limit

    def bounds(self) -> Array:
        """Bounds to choose from."""
        typical = math.sqrt(float(np.mean(self.lengths**2))) * self.limit
        return np.asarray(typical * 2.0 ** np.arange(-5, 13, 0.25))

    def bias(self, bound: float) -> float:
        """Length of the mean of what a bound cuts off."""
        radius, longest = bound / self.limit, float(self.lengths.max())
        inside = float(np.mean(np.maximum(self.lengths - radius, 0.0)))
        share = 1.0 / len(self.lengths)
        beyond = share * longest * max(radius / longest, 1.0) ** (1.0 - TAIL) / (TAIL - 1.0)
        return float(ROW_COHERENCE * self.limit * (inside + beyond))

    def kept(self, bound: float) -> Array:
        """Weight of each stand-in."""
        return np.minimum(1.0, bound / self.limit / np.maximum(self.lengths, 1e-300))


def choose_bound(
    known: Tails | LengthBounds, size: int, noise_per_bound: float, solved: float
) -> Bound:
    """
    Return the bound with the least squared error of noise and bias together.

    Parameters
    ----------
    known : Tails or LengthBounds
        What bounds are expected to cut off.
    size : int
        Entries of a gradient.
    noise_per_bound : float
        Noise of an entry over the bound.
    solved : float
        Trace of the squared inverse curvature, which turns errors of entries into those of
        coefficients.

    Returns
    -------
    Bound
    """
    best: Bound | None = None
    for bound in known.bounds():
        kept = known.inside(bound) if isinstance(known, Tails) else known.kept(bound)
        bias = known.bias(float(bound)) / math.sqrt(size)
        spread = math.hypot(noise_per_bound * float(bound), bias) / float(np.mean(kept))
        if best is None or spread * math.sqrt(solved / size) < best.error:
            best = Bound(float(bound), bias, kept, spread * math.sqrt(solved / size))
    assert best is not None, "there are bounds to choose from"
    return best
