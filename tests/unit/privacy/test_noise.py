"""Adding noise to a matrix: what is checked, and that the right law reaches the right entry."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import publicmoments.privacy
from publicmoments.privacy.noise import NoiseLaw, SeededNoise, add_gram_noise


class ScriptedNoise:
    """Returns its scale as every draw, to show which law reached which entry."""

    private = False

    def draw(self, count: int, noise_sd: float) -> np.ndarray:
        return np.full(count, round(noise_sd), dtype=np.int64)


def test_each_law_reaches_its_entries():
    exact = np.arange(9, dtype=np.int64).reshape(3, 3)
    exact = exact + exact.T
    noisy = add_gram_noise(exact, NoiseLaw(700.0, 500.0, 3), ScriptedNoise())
    expected = np.full((3, 3), 500) + 200 * np.eye(3, dtype=np.int64)
    np.testing.assert_array_equal(noisy - exact, expected)


def test_result_is_a_symmetric_copy():
    exact = np.zeros((6, 6), dtype=np.int64)
    noisy = add_gram_noise(exact, NoiseLaw(1e6, 7e5, 6), SeededNoise(3))
    assert noisy.dtype == np.int64
    np.testing.assert_array_equal(noisy, noisy.T)
    assert len(np.unique(noisy)) == 21
    assert not exact.any()


def test_one_dimension():
    noisy = add_gram_noise(
        np.zeros((1, 1), dtype=np.int64), NoiseLaw(50.0, 50.0, 1), SeededNoise(1)
    )
    assert noisy.shape == (1, 1)


@pytest.mark.parametrize(
    ("exact", "error", "message"),
    [
        (np.zeros((2, 2)), TypeError, "int64"),
        (np.zeros((2, 2), dtype=np.int32), TypeError, "int64"),
        ([[0, 0], [0, 0]], TypeError, "int64"),
        (np.zeros((3, 3), dtype=np.int64), ValueError, r"shape \(2, 2\), got \(3, 3\)"),
        (np.array([[0, 1], [2, 0]]), ValueError, "symmetric"),
        (np.array([[2**62, 0], [0, 0]]), ValueError, r"below 2\*\*62"),
        (np.array([[-(2**63), 0], [0, 0]]), ValueError, r"below 2\*\*62"),
    ],
)
def test_matrix_is_checked(exact, error, message):
    with pytest.raises(error, match=message):
        add_gram_noise(exact, NoiseLaw(10.0, 10.0, 2), SeededNoise(0))


def test_messages_do_not_show_private_entries():
    exact = np.array([[987654321, 1], [2, 0]])
    with pytest.raises(ValueError, match="symmetric") as caught:
        add_gram_noise(exact, NoiseLaw(10.0, 10.0, 2), SeededNoise(0))
    assert "987654321" not in str(caught.value)


def test_largest_entries_do_not_wrap():
    exact = np.array([[2**62 - 1, 2**62 - 1], [2**62 - 1, 2**62 - 1]])
    noisy = add_gram_noise(exact, NoiseLaw(2.0**56, 2.0**56, 2), SeededNoise(0))
    assert (noisy > 2**61).all()


def test_noise_out_of_range_is_refused():
    class Huge:
        private = False

        def draw(self, count: int, noise_sd: float) -> np.ndarray:
            return np.full(count, 2**62, dtype=np.int64)

    with pytest.raises(ValueError, match="range of 64-bit integers"):
        add_gram_noise(np.zeros((2, 2), dtype=np.int64), NoiseLaw(10.0, 10.0, 2), Huge())


def test_seeds_reproduce_and_generators_advance():
    np.testing.assert_array_equal(SeededNoise(5).draw(9, 1e3), SeededNoise(5).draw(9, 1e3))
    assert (SeededNoise(5).draw(9, 1e3) != SeededNoise(6).draw(9, 1e3)).any()
    source = SeededNoise(np.random.default_rng(5))
    assert (source.draw(9, 1e3) != source.draw(9, 1e3)).any()
    legacy = [SeededNoise(np.random.RandomState(5)).draw(9, 1e3) for _ in range(2)]
    np.testing.assert_array_equal(*legacy)


@pytest.mark.parametrize("seed", [None, True, "7", 1.5, -1])
def test_bad_seeds_are_refused(seed):
    with pytest.raises(TypeError, match="seed must be a non-negative integer"):
        SeededNoise(seed)


def test_sampler_is_imported_on_the_first_draw_only():
    script = (
        "import sys, publicmoments.privacy.noise as noise\n"
        "assert 'opendp' not in sys.modules\n"
        "noise.SystemNoise().draw(2, 5.0)\n"
        "assert 'opendp' in sys.modules and 'opendp.prelude' not in sys.modules\n"
    )
    source = Path(publicmoments.privacy.__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    finished = subprocess.run([sys.executable, "-c", script], env=environment, check=False)
    assert finished.returncode == 0
