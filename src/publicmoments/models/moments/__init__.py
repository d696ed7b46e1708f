"""One paid release of a table's second moments, and any number of free regressions from it."""

from __future__ import annotations

from publicmoments.models.moments.readings import MomentRelease
from publicmoments.models.moments.release import release_moments
from publicmoments.models.moments.sites import combine

__all__ = ["MomentRelease", "combine", "release_moments"]
