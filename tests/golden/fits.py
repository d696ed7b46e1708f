"""All cases, by name."""

from __future__ import annotations

from tests.golden import cases_counts as _counts
from tests.golden import cases_keeping as _keeping
from tests.golden import cases_labels as _labels
from tests.golden import cases_moments as _moments
from tests.golden import cases_paper as _paper
from tests.golden import cases_plans as _plans
from tests.golden import cases_ridge as _ridge
from tests.golden import cases_sources as _sources
from tests.golden.registry import CASES, Case

__all__ = ["CASES", "Case"]

# Each module has put its cases on the list when it was imported.
_MODULES = (_counts, _keeping, _labels, _moments, _paper, _plans, _ridge, _sources)
