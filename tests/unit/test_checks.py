"""Scalar checks accept what they should and refuse everything else with a helpful message."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from publicmoments.checks import fraction, non_negative, positive, positive_integer

NOT_NUMBERS = [True, False, np.bool_(True), "1", None, [1.0], 1j, Decimal(1), np.ones(1)]


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.5), np.int64(1), Fraction(1, 2), 5e-324])
def test_positive_returns_a_plain_float(value):
    result = positive("x", value)
    assert type(result) is float
    assert result == float(value)


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, -math.inf, 10**400, np.nan])
def test_positive_refuses_numbers_outside(value):
    with pytest.raises(ValueError, match=r"^x must be in \(0, inf\), got x=.*; buy more$"):
        positive("x", value, "buy more")


@pytest.mark.parametrize("check", [positive, non_negative, fraction, positive_integer])
@pytest.mark.parametrize("value", NOT_NUMBERS)
def test_checks_refuse_what_is_not_a_number(check, value):
    with pytest.raises(TypeError, match=r"^x must be an? .*, got x="):
        check("x", value)


def test_non_negative_accepts_zero_and_refuses_less():
    assert non_negative("x", 0) == 0.0
    for value in (-5e-324, math.nan, math.inf):
        with pytest.raises(ValueError, match=r"x must be in \[0, inf\)"):
            non_negative("x", value)


def test_fraction_is_open_at_both_ends():
    assert fraction("x", np.nextafter(1.0, 0.0)) < 1
    for value in (0, 1, -0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match=r"x must be in \(0, 1\)"):
            fraction("x", value)


def test_positive_integer_refuses_floats_and_less_than_one():
    assert type(positive_integer("n", np.int32(3))) is int
    with pytest.raises(TypeError, match=r"n must be an integer >= 1, got n=3\.0"):
        positive_integer("n", 3.0)
    for value in (0, -2):
        with pytest.raises(ValueError, match="n must be an integer >= 1"):
            positive_integer("n", value)
