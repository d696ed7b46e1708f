"""A pytest plugin that makes sure that the mutated copy of the library is the one under test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_sessionstart() -> None:
    """Stop with a code that no failing test has, if another copy would be tested."""
    import publicmoments

    here, wanted = Path(publicmoments.__file__).resolve(), Path(os.environ["AUDIT_COPY"]).resolve()
    if wanted not in here.parents:
        pytest.exit(f"the copy in {wanted} must be tested, got {here}", returncode=99)
