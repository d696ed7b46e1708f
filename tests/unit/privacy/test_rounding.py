"""Numbers in print bound what they stand for."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publicmoments.privacy.rounding import text_above, text_below

numbers = st.floats(min_value=1e-300, max_value=1e300)


@given(numbers, st.integers(1, 9))
def test_what_is_printed_is_on_the_right_side_and_near(number, digits):
    above, below = text_above(number, digits), text_below(number, digits)
    assert float(below) <= number <= float(above)
    gap = Fraction(float(above)) - Fraction(float(below))
    assert gap <= Fraction(number) * Fraction(2, 10 ** (digits - 1))


@pytest.mark.parametrize("number", [0.1, 1.0, 1e-5, 1e-6, 0.25, 3.0, 1e22])
def test_short_numbers_are_printed_as_they_are(number):
    assert float(text_above(number)) == float(text_below(number)) == number


def test_what_is_not_finite_is_said_to_be_so():
    assert (text_above(float("inf")), text_below(float("inf"))) == ("inf", "inf")
    assert text_above(0.0) == "0"
