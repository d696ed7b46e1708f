"""Published noise scales against values worked out by hand, and their composition."""

import math

import numpy as np
import pytest

from publicmoments.paper import (
    glm_noise,
    gradient_noise_sd,
    logistic_noise,
    oracle_radius,
    oracle_response_radius,
    published_mu,
    response_radius,
    ridge_noise,
    second_moment_noise_sd,
    total_mu,
    truncation_radius,
)

N, MU, D = 100, 0.5, 4
# 1 + log(2n / eta) = 10, so that the radius of Algorithm 1 is sqrt(40).
ETA = 200.0 * math.exp(-9.0)
RADIUS = math.sqrt(40.0)
# log(n / eta) = 6, so that the radius without public data is sqrt(1 + 4 * 6) = 5 for trace 1.
ORACLE_ETA = 100.0 * math.exp(-6.0)


def test_second_moment_of_theorem_3_2():
    sd = second_moment_noise_sd(truncation_radius(D, N, ETA), N, MU)
    assert sd == pytest.approx(80.0 / 50.0, rel=1e-12)


def test_ridge_of_algorithm_2():
    scales = ridge_noise(truncation_radius(D, N, ETA), response_radius(N, ETA), N, MU)
    assert scales.matrix_sd == pytest.approx(1.6, rel=1e-12)
    # 2 sqrt(d) (1 + log(2n/eta)) = 2 * 2 * 10.
    assert scales.vector_sd == pytest.approx(0.8, rel=1e-12)


def test_ridge_of_theorem_4_3_and_its_remark():
    radius = oracle_radius(1.0, D, N, ORACLE_ETA)
    assert ridge_noise(radius, radius * 3.0, N, MU) == pytest.approx((1.0, 3.0), rel=1e-12)
    remark = ridge_noise(radius, oracle_response_radius(3.0, N, ORACLE_ETA), N, MU)
    # 2 sqrt(25 * 9) / (0.5 * 100); the remark prints sqrt(25 * 9) / 100 = 0.15.
    assert remark.vector_sd == pytest.approx(0.6, rel=1e-12)


def test_logistic_of_algorithm_3():
    scales = logistic_noise(truncation_radius(D, N, ETA), N, MU, iterations=9)
    assert scales.matrix_sd == pytest.approx(3.0 * 40.0 / (2.0 * 50.0), rel=1e-12)
    assert scales.vector_sd == pytest.approx(0.7589466384404111, rel=1e-12)


def test_logistic_of_algorithm_5():
    scales = logistic_noise(oracle_radius(1.0, D, N, ORACLE_ETA), N, MU, iterations=9)
    assert scales == pytest.approx((0.75, 0.6), rel=1e-12)


def test_generalised_linear_model_of_algorithm_4():
    scales = glm_noise(
        5.0, N, MU, iterations=9, mean_bound=4.0, curvature_bound=2.0, response_bound=3.0
    )
    # 2 * 3 * 25 * 2 / 50 and 2 * 3 * 5 * (3 + 4) / 50.
    assert scales == pytest.approx((6.0, 4.2), rel=1e-12)


def test_gradient_descent():
    assert gradient_noise_sd(1.5, N, MU, iterations=16) == pytest.approx(0.24, rel=1e-12)


def test_totals_follow_from_sensitivities_and_scales():
    steps, radius, limit = 7, 5.0, 3.0
    ridge = ridge_noise(radius, limit, N, MU)
    spent = (2 * radius**2 / N / ridge.matrix_sd) ** 2 + (
        2 * radius * limit / N / ridge.vector_sd
    ) ** 2
    assert math.sqrt(spent) == pytest.approx(total_mu(MU), rel=1e-12)

    logistic = logistic_noise(radius, N, MU, steps)
    update = (radius**2 / 2 / N / logistic.matrix_sd) ** 2 + (
        2 * radius / N / logistic.vector_sd
    ) ** 2
    assert math.sqrt(steps * update) == pytest.approx(total_mu(MU), rel=1e-12)
    loop = total_mu(MU, iterations=steps, updates=steps + 1)
    assert math.sqrt((steps + 1) * update) == pytest.approx(loop, rel=1e-12)

    step = 2 * radius / N / gradient_noise_sd(radius, N, MU, steps)
    assert math.sqrt(steps) * step == pytest.approx(total_mu(MU, statistics=1), rel=1e-12)


def test_logistic_sensitivities_cover_what_a_row_can_do():
    radius, rng = 2.0, np.random.default_rng(0)
    coef = rng.normal(size=(400, 1, 3))
    rows = rng.normal(size=(400, 2, 3))
    rows *= radius / np.linalg.norm(rows, axis=2, keepdims=True)
    p = 1.0 / (1.0 + np.exp(-(rows @ coef.transpose(0, 2, 1))))
    labels = rng.integers(0, 2, size=p.shape)
    gradient = rows * (p - labels)
    hessian = (p * (1.0 - p))[..., None] * rows[..., :, None] * rows[..., None, :]
    scales = logistic_noise(radius, 1, 1.0, 1)
    moved = np.linalg.norm(gradient[:, 0] - gradient[:, 1], axis=1).max()
    assert 0.75 * scales.vector_sd < moved <= scales.vector_sd
    moved = np.linalg.norm(hessian[:, 0] - hessian[:, 1], axis=(1, 2)).max()
    assert 0.5 * scales.matrix_sd < moved <= scales.matrix_sd


def test_budgets_convert_both_ways():
    assert total_mu(3.0) == pytest.approx(4.242640687119286, rel=1e-12)
    assert published_mu(4.242640687119286) == pytest.approx(3.0, rel=1e-12)
    assert total_mu(3.0, statistics=1) == 3.0
    assert published_mu(3.0, statistics=1) == 3.0
    assert total_mu(1.0, iterations=1, updates=2) == 2.0


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: second_moment_noise_sd(0.0, 10, 1.0), "radius"),
        (lambda: second_moment_noise_sd(1.0, 0, 1.0), "n"),
        (lambda: second_moment_noise_sd(1.0, 10, math.nan), "mu"),
        (lambda: ridge_noise(1.0, -1.0, 10, 1.0), "response_radius"),
        (lambda: logistic_noise(1.0, 10, 1.0, 0), "iterations"),
        (lambda: logistic_noise(math.inf, 10, 1.0, 1), "radius"),
        (lambda: gradient_noise_sd(0.0, 10, 1.0, 1), "clip"),
        (lambda: total_mu(0.0), "mu"),
        (lambda: total_mu(1.0, 0), "statistics"),
        (lambda: total_mu(1.0, updates=0), "updates"),
        (lambda: total_mu(1.0, iterations=0), "iterations"),
        (lambda: published_mu(-1.0), "total"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ValueError, match=rf"^{name} must be "):
        call()


@pytest.mark.parametrize("name", ["mean_bound", "curvature_bound", "response_bound"])
def test_bounds_of_a_generalised_linear_model_are_checked(name):
    bounds = {"mean_bound": 1.0, "curvature_bound": 1.0, "response_bound": 1.0}
    with pytest.raises(ValueError, match=rf"^{name} must be "):
        glm_noise(1.0, 10, 1.0, 1, **(bounds | {name: -1.0}))
