"""The account of a fit never lets more out than its total."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest

from publicmoments.privacy import GDP, ZCDP, Account, BudgetExceeded


def test_charges_compose():
    account = Account(GDP(5))
    assert (account.spent, account.remaining) == (0.0, 5.0)
    account.charge(GDP(3))
    assert (account.spent, account.remaining) == (3.0, 4.0)
    account.charge(GDP(4))
    assert (account.spent, account.remaining) == (5.0, 0.0)
    assert account.total == GDP(5)


def test_refusal_changes_nothing_and_says_what_is_left():
    account = Account(GDP(1.0))
    account.charge(GDP(0.6))
    with pytest.raises(BudgetExceeded, match=r"got mu=0\.9 with mu=0\.8 left of mu=1\.0"):
        account.charge(GDP(0.9))
    assert account.spent == 0.6
    account.charge(GDP(0.8))


def test_tolerance_covers_rounding_and_no_more():
    Account(GDP(1.0)).charge(GDP(1.0 + 1e-13))
    with pytest.raises(BudgetExceeded):
        Account(GDP(1.0)).charge(GDP(1.0 + 1e-11))


@pytest.mark.parametrize("shares", [(1,) * 7, (1, 2, 3), (1e-6, 1), tuple(range(1, 200))])
def test_parts_of_a_split_fit(shares):
    account = Account(GDP(0.37))
    for part in GDP(0.37).split(*shares):
        account.charge(part)
    assert account.spent == pytest.approx(0.37, rel=1e-12)
    with pytest.raises(BudgetExceeded):
        account.charge(GDP(1e-3))


def test_only_gdp_is_accepted():
    with pytest.raises(TypeError, match="total must be a GDP budget, got float"):
        Account(1.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="cost must be a GDP budget, got ZCDP"):
        Account(GDP(1)).charge(ZCDP(0.1))  # type: ignore[arg-type]


def test_concurrent_charges_cannot_overdraw():
    account = Account(GDP(math.sqrt(50)))

    def accepted(_: int) -> bool:
        try:
            account.charge(GDP(1.0))
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(accepted, range(400))) == 50


def test_a_refused_budget_is_not_taken_for_bad_input():
    assert not issubclass(BudgetExceeded, ValueError | TypeError)
