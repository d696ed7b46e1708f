"""Drawing noise and adding it to integer matrices and vectors.

Sums of integer rows and of their products are integers, and so is the noise added to them: no float
carries private low-order bits. `publicmoments.privacy.laws` says how much noise there is and
what a release with it costs.
"""

from __future__ import annotations

import math
import os
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from publicmoments.checks import positive_integer
from publicmoments.privacy.laws import ENTRY_LIMIT, NoiseLaw, VectorNoiseLaw, checked_noise_sd
from publicmoments.threads import side_by_side

# Draws beyond this are shared among threads; the sampler runs outside the interpreter lock.
_DRAWS_PER_THREAD = 1024


class NoiseSource(Protocol):
    """Where noise comes from."""

    @property
    def private(self) -> bool:
        """Whether a release with this noise has a privacy guarantee."""
        ...

    def draw(self, count: int, noise_sd: float) -> NDArray[np.int64]:
        """Draw independent integers of mean zero and the given sd."""
        ...


class SystemNoise:
    """
    Exact discrete Gaussian noise from the operating system's cryptographic entropy.

    The sampler is OpenDP's: integer arithmetic throughout, so that the law is exact and no float
    rounding is involved. The first draw imports OpenDP and enables its ``contrib`` feature, under
    which its Gaussian measurement is filed.

    Examples
    --------
    >>> SystemNoise().draw(3, noise_sd=100.0).shape
    (3,)
    """

    @property
    def private(self) -> bool:
        """True: unpredictable noise of the stated law."""
        return True

    def draw(self, count: int, noise_sd: float) -> NDArray[np.int64]:
        """
        Draw independent discrete Gaussians.

        Parameters
        ----------
        count : int
            How many; may be 0.
        noise_sd : float
            Scale parameter of the discrete Gaussian, in grid units.

        Returns
        -------
        ndarray of int64, shape (count,)
        """
        noise_sd = checked_noise_sd("noise_sd", noise_sd)
        sizes = _chunk_sizes(_checked_count(count))
        workers = min(len(sizes), os.cpu_count() or 1)
        shares = [partial(_chunks, sizes[worker::workers], noise_sd) for worker in range(workers)]
        return np.concatenate([np.empty(0, dtype=np.int64), *side_by_side(shares)])

    def __repr__(self) -> str:
        """Name the source."""
        return "SystemNoise()"


class SeededNoise:
    """
    Reproducible rounded Gaussian noise, for research runs without a privacy guarantee.

    Parameters
    ----------
    seed : int, numpy.random.Generator or numpy.random.RandomState
        A generator is used as it is and advances with every draw.

    Examples
    --------
    >>> bool((SeededNoise(7).draw(4, 50.0) == SeededNoise(7).draw(4, 50.0)).all())
    True
    """

    def __init__(self, seed: int | np.random.Generator | np.random.RandomState) -> None:
        if isinstance(seed, np.random.Generator | np.random.RandomState):
            self._generator: np.random.Generator | np.random.RandomState = seed
        elif isinstance(seed, int | np.integer) and not isinstance(seed, bool) and seed >= 0:
            self._generator = np.random.default_rng(int(seed))
        else:
            raise TypeError(
                "seed must be a non-negative integer or a NumPy generator, "
                f"got {type(seed).__name__}; use SystemNoise() for noise that protects"
            )

    @property
    def private(self) -> bool:
        """False: whoever knows or guesses the seed can subtract the noise."""
        return False

    def draw(self, count: int, noise_sd: float) -> NDArray[np.int64]:
        """
        Draw independent rounded Gaussians, as `SystemNoise.draw` does with discrete ones.

        Parameters
        ----------
        count : int
            How many; may be 0.
        noise_sd : float
            Standard deviation before rounding, in grid units.

        Returns
        -------
        ndarray of int64, shape (count,)
        """
        noise_sd, count = checked_noise_sd("noise_sd", noise_sd), _checked_count(count)
        draws = self._generator.normal(0.0, noise_sd, size=count)
        return np.rint(draws).astype(np.int64)

    def __repr__(self) -> str:
        """Name the source without its state."""
        return "SeededNoise(...)"


class UnprotectedNoise:
    """
    Noise of another source for a method that is not private whatever its noise.

    Parameters
    ----------
    source : NoiseSource
        Where the draws come from.

    Examples
    --------
    >>> UnprotectedNoise(SystemNoise()).private
    False
    """

    def __init__(self, source: NoiseSource) -> None:
        self._source = source

    @property
    def private(self) -> bool:
        """False: something else was read from the private rows without noise."""
        return False

    def draw(self, count: int, noise_sd: float) -> NDArray[np.int64]:
        """Draw from the source."""
        return self._source.draw(count, noise_sd)

    def __repr__(self) -> str:
        """Name the source."""
        return f"UnprotectedNoise({self._source!r})"


def add_gram_noise(
    exact: NDArray[np.int64], law: NoiseLaw, source: NoiseSource
) -> NDArray[np.int64]:
    """
    Return a noisy copy of an exact symmetric integer matrix.

    Parameters
    ----------
    exact : ndarray of int64, shape (d, d)
        Exact Gram matrix of integer rows.
    law : NoiseLaw
        Noise of dimension d.
    source : NoiseSource
        Where the noise comes from.

    Returns
    -------
    ndarray of int64, shape (d, d)
        Symmetric.

    Notes
    -----
    **Releases.** The noisy matrix.

    **Assumes.** Checked here: dtype, shape, symmetry, entries below 2^62 in size. Owed by the
    caller: the budget has been charged; ``law`` was made for the bound that the rows of ``exact``
    satisfy; n B < 2^62 for n rows, a public condition that makes the check on entries pass whatever
    the rows are.

    **Guarantee.** That of `gram_noise_law`, if ``source.private``; none otherwise.

    **Why.** One independent draw for each entry on and above the diagonal; mirroring them is
    post-processing.

    **Numerics.** Integer addition. Entries and noise are each below 2^62 in size, so the sum cannot
    wrap; the noise reaches that limit only beyond 64 standard deviations.
    """
    d = law.dimension
    exact = _checked_integers(exact, (d, d))
    if not np.array_equal(exact, exact.T):
        raise ValueError("exact must be symmetric; pass a Gram matrix")
    noise = np.zeros((d, d), dtype=np.int64)
    upper = np.triu_indices(d, k=1)
    noise[upper] = source.draw(len(upper[0]), law.offdiagonal_sd)
    noise = noise + noise.T
    noise[np.diag_indices(d)] = source.draw(d, law.diagonal_sd)
    return exact + _checked_noise(noise)


def add_vector_noise(
    exact: NDArray[np.int64], law: VectorNoiseLaw, source: NoiseSource
) -> NDArray[np.int64]:
    """
    Return a noisy copy of an exact integer vector.

    Parameters
    ----------
    exact : ndarray of int64, shape (dimension,)
        Exact sum of integer rows.
    law : VectorNoiseLaw
        Noise of that dimension.
    source : NoiseSource
        Where the noise comes from.

    Returns
    -------
    ndarray of int64, shape (dimension,)

    Notes
    -----
    **Releases.** The noisy vector.

    **Assumes, Numerics.** As for `add_gram_noise`.

    **Guarantee.** That of `vector_noise_law`, if ``source.private``; none otherwise.

    **Why.** One independent draw for each entry.
    """
    exact = _checked_integers(exact, (law.dimension,))
    return exact + _checked_noise(source.draw(law.dimension, law.noise_sd))


def _discrete_gaussian(count: int, noise_sd: float) -> NDArray[np.int64]:
    """Sample a vector of discrete Gaussians as noise around integer zeros."""
    # Imported late: the library costs a fifth of a second, which planning need not pay. Its prelude
    # would also pull in scikit-learn and data-frame libraries.
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    space = vector_domain(atom_domain(T="i64"), size=count), l2_distance(T="f64")
    draws = np.asarray(make_gaussian(*space, scale=noise_sd)([0] * count), dtype=np.int64)
    if draws.shape != (count,):
        raise RuntimeError("the noise sampler returned a vector of the wrong length")
    return draws


def _chunks(sizes: list[int], noise_sd: float) -> NDArray[np.int64]:
    """Draw chunk after chunk, so that an interruption need not wait for all of them."""
    return np.concatenate([_discrete_gaussian(size, noise_sd) for size in sizes])


def _chunk_sizes(count: int) -> list[int]:
    """Cut a count into nearly equal chunks for threads."""
    chunks = math.ceil(count / _DRAWS_PER_THREAD)
    return [len(range(start, count, chunks)) for start in range(chunks)]


def _checked_count(count: int) -> int:
    """Return a number of draws; zero is allowed."""
    return 0 if count == 0 else positive_integer("count", count)


def _checked_integers(exact: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Check an exact sum; messages never show its entries."""
    if not isinstance(exact, np.ndarray) or exact.dtype != np.int64:
        raise TypeError("exact must be an int64 array; sum integer rows in 64-bit integers")
    if exact.shape != shape:
        raise ValueError(
            f"exact must have shape {shape}, got {exact.shape}; "
            "make the noise law for the dimension of the rows"
        )
    if not _inside_limit(exact):
        raise ValueError("exact entries must be below 2**62; use a coarser grid or fewer rows")
    return exact


def _checked_noise(noise: NDArray[np.int64]) -> NDArray[np.int64]:
    """Refuse noise that could wrap the sum; beyond 64 standard deviations at the most."""
    if not _inside_limit(noise):
        raise ValueError("noise left the range of 64-bit integers; use a coarser grid")
    return noise


def _inside_limit(matrix: NDArray[np.int64]) -> bool:
    """Whether all entries are strictly between -2^62 and 2^62."""
    return bool(np.all((matrix > -ENTRY_LIMIT) & (matrix < ENTRY_LIMIT)))
