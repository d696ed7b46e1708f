"""With fixed releases nothing that can be seen of any fit depends on the private rows."""

from __future__ import annotations

import logging
import warnings

import numpy as np
import pytest

from audit import taint
from audit.cases import CASES, Case, table_for


@pytest.mark.parametrize("name", CASES)
def test_nothing_tells(name):
    outcome = taint.examine(CASES[name])
    assert outcome.sums_differed
    assert outcome.different == ()
    # Parameters and attributes, texts, readings, warnings, logs, both streams and the file.
    assert outcome.compared >= 20


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@pytest.mark.parametrize("name", CASES)
def test_refusals_do_not_tell_where_or_what(name):
    case = CASES[name]
    texts = set()
    for seed, row in ((1, 3), (2, 17)):
        X, y = table_for(case, seed)
        X[row, 1], X[row, 0] = np.nan, taint.SENTINEL * seed
        with pytest.raises(ValueError, match="NaN or infinity") as caught:
            case.fit(X, y)
        error, chain = caught.value, []
        while error is not None:
            chain.append(repr(error))
            error = error.__cause__ or error.__context__
        texts.add(tuple(chain))
    assert len(texts) == 1


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
