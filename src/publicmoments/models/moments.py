"""The old address of `publicmoments.release`; it will be gone in the next version."""

import sys
import warnings
from importlib import import_module

MOVED = {
    "components": "views.components",
    "diagnostics": "diagnostics",
    "fit": "views.moment_fit",
    "readings": "readings",
    "regressions": "views.regression",
    "release": "releasing",
    "sites": "releasing",
}
"""Modules that were here, and where they are in the new package."""

warnings.warn(
    "publicmoments.models.moments has moved to publicmoments.release; import from there",
    DeprecationWarning,
    stacklevel=2,
)
for old, new in MOVED.items():
    sys.modules[f"{__name__}.{old}"] = import_module(f"publicmoments.release.{new}")


def __getattr__(name: str) -> object:
    """Return what the new package has under a name."""
    return getattr(import_module("publicmoments.release"), name)
