"""Bounds on second moments against values worked out by hand."""

import math

import pytest

from publicmoments.paper import (
    GAUSSIAN_CONSTANT,
    GuidedSetting,
    OracleSetting,
    Setting,
    eigenvalue_floor,
    moment_bounds,
)

# With d = 9 and eta = e^-4, sqrt(d) + sqrt(log(1 / eta)) = 3 + 2 = 5.
D, ETA = 9, math.exp(-4.0)


def test_bounds_of_theorem_3_1():
    lower, upper = moment_bounds(100, D, ETA, constant=1.0)
    assert lower == pytest.approx(4.0 / 9.0, rel=1e-12)
    assert upper == pytest.approx(4.0, rel=1e-12)


def test_default_constant_is_that_of_gaussian_rows():
    assert math.isclose(GAUSSIAN_CONSTANT**2, 2.0)
    # 5 sqrt(2) = 7.0710678; (10 / 17.0710678)^2 and (10 / 2.9289322)^2.
    lower, upper = moment_bounds(100, D, ETA)
    assert lower == pytest.approx(0.34314575, rel=1e-7)
    assert upper == pytest.approx(11.6568542, rel=1e-7)


@pytest.mark.parametrize(("n_public", "finite"), [(24, False), (25, False), (26, True)])
def test_upper_bound_is_infinite_where_the_theorem_is_silent(n_public, finite):
    assert math.isfinite(moment_bounds(n_public, D, ETA, constant=1.0)[1]) is finite


def test_bounds_close_in_on_one():
    gaps = [moment_bounds(n, D, ETA) for n in (10**3, 10**5, 10**9)]
    lowers, uppers = zip(*gaps, strict=True)
    assert list(lowers) == sorted(lowers)
    assert list(uppers) == sorted(uppers, reverse=True)
    assert lowers[-1] == pytest.approx(1.0, abs=1e-3)
    assert uppers[-1] == pytest.approx(1.0, abs=1e-3)


def test_floor_with_public_moments():
    setting = GuidedSetting(d=D, eta=ETA, n_public=100, penalty=0.3, public_norm=2.0, constant=1.0)
    # 4/9 (1 - 5/50)^2 + 0.3/2, and with curvature 1/4.
    assert eigenvalue_floor(setting, 2500) == pytest.approx(0.36 + 0.15, rel=1e-12)
    assert eigenvalue_floor(setting, 2500, 0.25) == pytest.approx(0.09 + 0.15, rel=1e-12)


def test_floor_without_public_moments():
    setting = OracleSetting(d=D, eta=ETA, trace=10.0, min_eigenvalue=0.5, penalty=0.3, constant=1.0)
    assert eigenvalue_floor(setting, 2500) == pytest.approx(0.405 + 0.3, rel=1e-12)


@pytest.mark.parametrize("n", [1, 10, 25])
def test_too_few_rows_leave_only_the_penalty(n):
    setting = GuidedSetting(d=D, eta=ETA, n_public=100, penalty=0.3, constant=1.0)
    assert eigenvalue_floor(setting, n) == 0.3


def test_settings_know_their_radius():
    assert GuidedSetting(d=4, eta=200 * math.exp(-9), n_public=9).radius(100) == pytest.approx(
        math.sqrt(40.0)
    )
    oracle = OracleSetting(d=4, eta=100 * math.exp(-6), trace=1.0, min_eigenvalue=0.1)
    assert oracle.radius(100) == pytest.approx(5.0)


def test_a_setting_is_one_of_the_two():
    with pytest.raises(TypeError, match="abstract"):
        Setting(d=2, eta=0.1)  # type: ignore[abstract]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("d", 0),
        ("eta", 1.0),
        ("penalty", -0.1),
        ("constant", math.nan),
        ("n_public", 0),
        ("public_norm", 0.0),
    ],
)
def test_bad_guided_settings_are_refused(name, value):
    good = {"d": 2, "eta": 0.1, "n_public": 10}
    with pytest.raises(ValueError, match=rf"^{name} must be "):
        GuidedSetting(**(good | {name: value}))


@pytest.mark.parametrize(
    ("name", "value"), [("trace", 0.0), ("min_eigenvalue", -1.0), ("min_eigenvalue", 1.01)]
)
def test_bad_oracle_settings_are_refused(name, value):
    good = {"d": 2, "eta": 0.1, "trace": 2.0, "min_eigenvalue": 1.0}
    with pytest.raises(ValueError, match=rf"^{name} must be "):
        OracleSetting(**(good | {name: value}))


def test_bad_sizes_are_refused():
    with pytest.raises(ValueError, match=r"^n_public must be "):
        moment_bounds(0, 2, 0.1)
    with pytest.raises(ValueError, match=r"^constant must be "):
        moment_bounds(10, 2, 0.1, constant=-1.0)
    setting = GuidedSetting(d=2, eta=0.1, n_public=10)
    with pytest.raises(ValueError, match=r"^n must be "):
        eigenvalue_floor(setting, 0)
    with pytest.raises(ValueError, match=r"^curvature must be "):
        eigenvalue_floor(setting, 10, 0.0)
