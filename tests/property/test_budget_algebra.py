"""Splitting and composing budgets are inverse up to rounding, on the safe side."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publicmoments.privacy import GDP, ZCDP, ApproxDP, compose, gdp_delta, gdp_epsilon, gdp_mu
from publicmoments.privacy.rounding import exact, float_above, float_below

AMOUNTS = st.floats(1e-6, 1e6)
SHARES = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=12)


@given(AMOUNTS, SHARES)
def test_gdp_split_recomposes_and_never_exceeds(mu, shares):
    parts = GDP(mu).split(*shares)
    assert sum(exact(part.mu) ** 2 for part in parts) <= exact(mu) ** 2
    assert compose(*parts).mu <= mu
    assert compose(*parts).mu == pytest.approx(mu, rel=1e-14)
    for part, share in zip(parts, shares, strict=True):
        assert part.mu**2 / mu**2 == pytest.approx(share / math.fsum(shares), rel=1e-12)


@given(AMOUNTS, SHARES)
def test_zcdp_split_recomposes_and_never_exceeds(rho, shares):
    parts = ZCDP(rho).split(*shares)
    assert sum(exact(part.rho) for part in parts) <= exact(rho)
    assert compose(*parts).rho <= rho
    assert compose(*parts).rho == pytest.approx(rho, rel=1e-14)


@given(st.floats(1e-2, 50), st.floats(1e-12, 0.5), SHARES)
def test_approx_dp_split_keeps_the_promise(epsilon, delta, shares):
    whole = compose(*ApproxDP(epsilon, delta).split(*shares))
    assert gdp_delta(whole.mu, epsilon) <= delta * (1 + 1e-9)


@given(AMOUNTS, AMOUNTS)
def test_gdp_composition_matches_zcdp_composition(first, second):
    composed = compose(GDP(first), GDP(second)).to_zcdp().rho
    assert composed == pytest.approx(
        compose(GDP(first).to_zcdp(), GDP(second).to_zcdp()).rho, rel=1e-12
    )


@given(st.floats(1e-3, 1e3), st.floats(1e-12, 1e-2))
def test_curve_round_trip(mu, delta):
    epsilon = gdp_epsilon(mu, delta)
    assert gdp_delta(mu, epsilon) <= delta * (1 + 1e-9)
    # Near epsilon = 0 the curve is flat in epsilon but not in mu, which is recovered throughout.
    if epsilon > 0:
        assert gdp_mu(epsilon, delta) == pytest.approx(mu, rel=1e-9)


@given(st.fractions(min_value=-(10**30), max_value=10**30))
def test_directed_rounding_encloses(number):
    below, above = float_below(number), float_above(number)
    assert exact(below) <= number <= exact(above)
    assert above in (below, math.nextafter(below, math.inf))
