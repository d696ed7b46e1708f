"""Sensitivity of a Gram matrix."""

import math
from fractions import Fraction

import numpy as np
import pytest

from publicmoments.privacy import gram_sensitivity


def test_values():
    assert gram_sensitivity(9, 1) == 9.0
    assert gram_sensitivity(9, 2) == pytest.approx(9 * math.sqrt(2), rel=1e-15)
    assert gram_sensitivity(9, 50) == gram_sensitivity(9, 2)


@pytest.mark.parametrize("bound", [1, 7, 2**53 + 1, 10**15 + 1, np.int64(2**40 + 1), 0.1])
def test_rounded_up_by_at_most_two_floats(bound):
    as_fraction = Fraction(bound if isinstance(bound, float) else int(bound))
    for dimension, factor in ((1, 1), (2, 2)):
        result = gram_sensitivity(bound, dimension)
        below = math.nextafter(math.nextafter(result, 0), 0)
        assert Fraction(result) ** 2 >= factor * as_fraction**2
        assert Fraction(below) ** 2 < factor * as_fraction**2


@pytest.mark.parametrize(
    ("bound", "dimension"), [(0, 2), (-1, 2), (math.nan, 2), (math.inf, 2), (1, 0)]
)
def test_arguments_are_checked(bound, dimension):
    with pytest.raises(ValueError, match="must be"):
        gram_sensitivity(bound, dimension)
