"""What a report says can be told without HTML, and old addresses of the card still work."""

import importlib
import subprocess
import sys
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

from publicmoments import GDP, PublicMoments, Ridge, release_moments
from publicmoments.privacy import card as home
from publicmoments.report.content import report_on

ROWS = np.random.default_rng(0).normal(size=(1_200, 3))


def _texts(said):
    """Every string of a record, or of what it consists of."""
    if isinstance(said, str):
        yield said
    elif is_dataclass(said):
        for field in fields(said):
            yield from _texts(getattr(said, field.name))
    elif isinstance(said, tuple | list):
        for one in said:
            yield from _texts(one)


@pytest.fixture(params=["fit", "release"])
def reported(request):
    if request.param == "release":
        public = PublicMoments.from_rows(ROWS[:200], columns=["a", "b", "c"])
        return release_moments(ROWS[200:], privacy=GDP(1.0), public=public)
    public = PublicMoments.from_rows(ROWS[:200, :2], response=ROWS[:200, 2])
    return Ridge(privacy=GDP(1.0), public=public).fit(ROWS[200:, :2], ROWS[200:, 2])


def test_content_is_words_and_numbers(reported):
    report = report_on(reported)
    texts = list(_texts(report))
    assert len(report.sections) == 6
    assert len(texts) > 50
    assert not any("</" in text or "&amp;" in text or "class=" in text for text in texts)


def test_content_needs_no_html():
    script = (
        "import sys, publicmoments.report.content\n"
        "sys.exit(any(name.startswith('publicmoments.report.html') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize("name", ["BoundedPass", "Card", "PassSummary"])
def test_the_old_address_of_the_card_works_and_warns(name):
    old = importlib.import_module("publicmoments.report.card")
    with pytest.warns(DeprecationWarning, match=r"publicmoments\.privacy\.card"):
        assert getattr(old, name) is getattr(home, name)


def test_the_old_address_has_nothing_else():
    old = importlib.import_module("publicmoments.report.card")
    with pytest.raises(AttributeError, match="asdict"):
        _ = old.asdict
