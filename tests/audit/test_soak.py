"""Memory stays flat over many fits."""

from __future__ import annotations

import mmap

import pytest

from audit.cases import Case
from audit.soak import STATUS, Soaked, soak

pytestmark = pytest.mark.skipif(not STATUS.exists(), reason="needs Linux to tell resident memory")


def test_sixty_fits_leave_nothing_behind():
    outcome = soak(fits=60, warm_up=28)
    assert outcome.fits == 60
    # A bound for so few fits: what one of them left behind would add up to more.
    assert outcome.end_mib - outcome.warm_mib < 12.0


def test_a_leak_is_noticed(monkeypatch):
    leaked, fit = [], Case.fit

    def leaking(self, *table, **parameters):
        # Pages of its own: what was freed before must not hide it.
        leaked.append(mmap.mmap(-1, 2**20))
        leaked[-1].write(b"x" * 2**20)
        return fit(self, *table, **parameters)

    monkeypatch.setattr(Case, "fit", leaking)
    outcome = soak(fits=60, warm_up=14)
    assert len(leaked) == 74
    assert outcome.end_mib - outcome.warm_mib > 40.0
    assert not outcome.sound


def test_growth_is_noticed():
    assert Soaked(10, 100.0, 104.0, 1.0).sound
    assert not Soaked(10, 100.0, 106.0, 1.0).sound
