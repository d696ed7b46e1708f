"""Promises that every noise source keeps."""

import math

import numpy as np
import pytest

from publicmoments.privacy.noise import NoiseSource, SeededNoise, SystemNoise, UnprotectedNoise

SOURCES = [SystemNoise(), SeededNoise(20), UnprotectedNoise(SystemNoise())]


@pytest.fixture(params=SOURCES, ids=repr)
def source(request: pytest.FixtureRequest) -> NoiseSource:
    return request.param


def test_draws_are_a_vector_of_int64(source):
    for count in (0, 1, 5000, 9001):
        draws = source.draw(count, 1000.0)
        assert draws.shape == (count,)
        assert draws.dtype == np.int64


@pytest.mark.parametrize("noise_sd", [2.0**-40, 0.6, 2.0**20, 2.0**45, 2.0**56])
def test_scale_is_right_over_the_whole_range(source, noise_sd):
    draws = source.draw(2000, noise_sd).astype(float)
    if noise_sd < 0.01:
        assert not draws.any()
    else:
        assert np.std(draws) == pytest.approx(noise_sd, rel=0.25)
        assert abs(np.mean(draws)) < 7 * noise_sd / math.sqrt(2000)


def test_draws_are_not_repeated(source):
    draws = source.draw(9000, 2.0**45)
    assert len(np.unique(draws)) > 8990
    assert (source.draw(50, 2.0**45) != draws[:50]).any()


@pytest.mark.parametrize("noise_sd", [0.0, -1.0, math.nan, math.inf, 2.0**57])
def test_bad_scales_are_refused(source, noise_sd):
    with pytest.raises(ValueError, match="noise_sd must be"):
        source.draw(3, noise_sd)


@pytest.mark.parametrize("count", [-1, 1.5])
def test_bad_counts_are_refused(source, count):
    with pytest.raises((TypeError, ValueError), match="count must be an integer"):
        source.draw(count, 1.0)


def test_only_system_noise_claims_privacy():
    assert SystemNoise().private is True
    assert SeededNoise(0).private is False
    assert UnprotectedNoise(SystemNoise()).private is False
    with pytest.raises(AttributeError):
        SeededNoise(0).private = True  # type: ignore[misc]
