"""Lines are added up exactly, and lines that do not follow from others are refused."""

import math
import sqlite3
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publicmoments.privacy import GDP, ZCDP, Ledger, LedgerError
from publicmoments.privacy.ledger.squares import allowed_square, room, root_above, root_below

pytest.importorskip("sqlalchemy")

positive_floats = st.floats(min_value=5e-324, allow_infinity=False)


@given(positive_floats)
def test_roots_of_squares_are_exact(mu):
    assert root_below(Fraction(mu) ** 2) == mu == root_above(Fraction(mu) ** 2)


@given(positive_floats.filter(lambda mu: mu < 1e308), st.floats(min_value=0.0, max_value=1.0))
def test_what_fits_is_the_largest_float_that_does(cap, share):
    whole, spent = Fraction(cap) ** 2, Fraction(cap * share) ** 2
    fits = room(spent, whole)
    assert spent + Fraction(fits) ** 2 <= whole
    assert spent + Fraction(math.nextafter(fits, math.inf)) ** 2 > whole


@given(st.lists(positive_floats.filter(lambda mu: mu < 1e150), min_size=1, max_size=5))
def test_what_is_spent_is_rounded_up_and_no_further(mus):
    exact = sum(Fraction(mu) ** 2 for mu in mus)
    shown = root_above(exact)
    assert Fraction(math.nextafter(shown, 0.0)) ** 2 < exact <= Fraction(shown) ** 2


def test_nothing_fits_above_a_cap():
    assert room(Fraction(2), Fraction(1)) == 0.0
    assert room(Fraction(2), None) == math.inf
    assert root_above(Fraction(0)) == 0.0


def test_sums_beyond_the_largest_float_are_infinite():
    beyond = 2 * Fraction(1.7e308) ** 2
    assert root_above(beyond) == math.inf
    assert root_below(beyond) == math.nextafter(math.inf, 0.0)


def test_squares_that_budgets_allow():
    assert allowed_square(GDP(3.0)) == 9
    assert allowed_square(ZCDP(0.1)) == 2 * Fraction(0.1)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE events SET mu = '0x1p-9' WHERE number = 2",
        "UPDATE events SET mu_squared = '1/9' WHERE number = 2",
        "UPDATE events SET mu_squared = '1/0' WHERE number = 2",
        "UPDATE events SET mu = NULL WHERE number = 2",
        "UPDATE events SET mu = '0x1p-9', mu_squared = '1/262144' WHERE number = 2",
        "UPDATE events SET spent_squared = '0' WHERE number = 4",
        "UPDATE events SET cap_squared = '100' WHERE number = 4",
        "UPDATE events SET event = 'refunded' WHERE number = 2",
        "UPDATE events SET closes = 4 WHERE number = 3",
        "UPDATE events SET closes = NULL WHERE number = 3",
        "DELETE FROM events WHERE number = 2",
        "DELETE FROM events WHERE number = 3",
    ],
)
def test_lines_changed_by_hand_are_noticed(tmp_path, change):
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.cap("wine", GDP(9.0))
    ledger.released(ledger.charge("wine", GDP(1.0)))
    ledger.charge("wine", GDP(2.0))
    assert ledger.spent("wine") == pytest.approx(5**0.5)
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        for verb in ("UPDATE", "DELETE"):
            connection.execute(f"DROP TRIGGER publicmoments_ledger_no_{verb}")
        connection.execute(change.replace("events", "publicmoments_ledger_events"))
    with pytest.raises(LedgerError, match="does not follow from the lines before it"):
        ledger.spent("wine")
