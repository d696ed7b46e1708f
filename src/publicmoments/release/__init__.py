"""One paid release of a table's second moments, and any number of free regressions from it."""

from __future__ import annotations

from publicmoments.release.readings import MomentRelease
from publicmoments.release.releasing import combine, release_moments

__all__ = ["MomentRelease", "combine", "release_moments"]
