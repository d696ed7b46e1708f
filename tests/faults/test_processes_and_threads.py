"""Noise is never shared by forked processes or threads, and fits do not disturb each other."""

from __future__ import annotations

import multiprocessing
import os
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from audit.cases import CASES, table_for
from publicmoments import GDP, threads
from publicmoments.privacy import BudgetExceeded, Ledger
from publicmoments.privacy.noise import SystemNoise
from tests.faults.limits import in_child

WIDE = 2.0**40
"""So wide that two draws agree with a chance of one in a million millions."""

pytestmark = pytest.mark.filterwarnings(
    "ignore::publicmoments.PublicMomentsWarning", "ignore::DeprecationWarning"
)


def draw(pipe) -> None:
    """Send noise that was drawn in another process."""
    pipe.send((os.getpid(), SystemNoise().draw(200, WIDE).tolist()))
    pipe.close()


def drawn_in_processes(method: str, count: int) -> list:
    """Noise of several processes that were started at the same time."""
    context = multiprocessing.get_context(method)
    ends = [context.Pipe(duplex=False) for _ in range(count)]
    workers = [context.Process(target=draw, args=(sender,)) for _, sender in ends]
    for worker in workers:
        worker.start()
    drawn = [receiver.recv() for receiver, _ in ends]
    for worker in workers:
        worker.join(timeout=60)
    return drawn


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork")
def test_forked_processes_share_no_noise():
    # The parent draws first, so that a sampler with a state in memory would be copied with it.
    before = SystemNoise().draw(200, WIDE).tolist()
    drawn = drawn_in_processes("fork", 6)
    after = SystemNoise().draw(200, WIDE).tolist()
    assert len({process for process, _ in drawn}) == 6
    everything = [*before, *after, *(value for _, values in drawn for value in values)]
    assert len(set(everything)) == len(everything) == 8 * 200


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork")
def test_forked_noise_has_its_full_width():
    values = np.concatenate([values for _, values in drawn_in_processes("fork", 4)])
    assert np.std(values) == pytest.approx(WIDE, rel=0.15)


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork")
@pytest.mark.parametrize("name", ["Ridge", "release_moments", "PMTLogisticRegression"])
def test_fits_in_forked_processes_share_no_noise(name):
    case = CASES[name]
    table = table_for(case)

    def told() -> str:
        fitted = case.fit(*table)
        return str((fitted.noisy_gram if case.kind == "none" else fitted.coef_).tolist())

    fits = [told(), *(in_child(told) for _ in range(4)), told()]
    assert len(set(fits)) == 6


def test_threads_share_no_noise():
    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(lambda _: SystemNoise().draw(50, WIDE).tolist(), range(40)))
    everything = [value for values in drawn for value in values]
    assert len(set(everything)) == 2_000


def test_a_hundred_fits_at_once_have_their_own_cards_and_noise():
    names = [*["Ridge", "PMTRidge", "AdaSSP", "release_moments", "NoisyGradientDescent"]]
    tables = {name: table_for(CASES[name]) for name in names}

    def fit(number: int):
        name, mu = names[number % len(names)], 0.5 + number / 100
        fitted = CASES[name].fit(*tables[name], privacy=GDP(mu))
        if name == "release_moments":
            return name, mu, fitted.card, fitted.noisy_gram
        return name, mu, fitted.card_, fitted.coef_

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with ThreadPoolExecutor(8) as pool:
            fits = list(pool.map(fit, range(100)))
    for _, mu, card, values in fits:
        assert card.mu == mu
        assert card.private
        assert np.isfinite(values).all()
        spent = sum(line.times * line.mu**2 for line in card.passes)
        assert spent <= mu**2 * (1 + 1e-9)
    assert len({values.tobytes() for *_, values in fits}) == 100
    assert threads._LIMIT.users == 0


def test_fits_in_threads_under_one_cap_never_exceed_it(tmp_path):
    ledger, case = Ledger(tmp_path / "ledger.db"), CASES["Ridge"]
    ledger.cap("wine", GDP(2.0))
    table = table_for(case)

    def fit(_):
        try:
            return case.fit(*table, privacy=GDP(1.0), ledger=ledger, dataset="wine").card_.mu
        except BudgetExceeded:
            return None

    with ThreadPoolExecutor(6) as pool:
        spent = [mu for mu in pool.map(fit, range(8)) if mu is not None]
    assert spent == [1.0] * 4
    assert ledger.spent("wine") == 2.0
