"""The taint check hears every channel and sees every attribute; `tests/contract` runs it."""

from __future__ import annotations

import logging
import warnings

import numpy as np
import pytest

from audit import taint
from audit.cases import CASES, Case

LEAKS = {
    "warnings": lambda X: warnings.warn(f"{np.nanmax(X)}", stacklevel=1),
    "logs": lambda X: logging.getLogger("somewhere").debug("%s", np.nanmax(X)),
    "standard output": lambda X: print(np.nanmax(X)),
}


@pytest.mark.parametrize("channel", LEAKS)
def test_the_check_hears_every_channel(channel):
    def make(**parameters):
        model = CASES["AdaSSP"].make(**parameters)
        fit = type(model).fit

        class Chatty(type(model)):
            def fit(self, X, y):
                LEAKS[channel](X)
                return fit(model, X, y)

        return Chatty()

    outcome = taint.examine(Case("chatty", make, "real", CASES["AdaSSP"].responses))
    assert outcome.different == (channel,)


def test_the_check_sees_an_attribute():
    def make(**parameters):
        model = CASES["AdaSSP"].make(**parameters)
        fit = model.fit

        def telling(X, y):
            fitted = fit(X, y)
            del fitted.fit
            fitted.share_ = float(np.mean(np.abs(X) > 2.0))
            return fitted

        model.fit = telling
        return model

    outcome = taint.examine(Case("telling", make, "real", CASES["AdaSSP"].responses))
    assert "attribute share_" in outcome.different
    assert "file" in outcome.different
