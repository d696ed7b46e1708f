"""All pages, by name."""

from __future__ import annotations

from . import accuracy, coverage, others

PAGES = {page.name: page for one in (accuracy, coverage, others) for page in one.PAGES}
