"""Optional libraries, imported when they are needed."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

__all__ = ["needed"]


def needed(module: str, extra: str) -> ModuleType:
    """
    Import a module of an optional library, or say how to install it.

    Examples
    --------
    >>> needed("no_such_library", "arrow")
    Traceback (most recent call last):
    ...
    ImportError: this source needs no_such_library; pip install "publicmoments[arrow]"
    """
    try:
        return import_module(module)
    except ImportError as error:
        root = module.partition(".")[0]
        raise ImportError(
            f'this source needs {root}; pip install "publicmoments[{extra}]"'
        ) from error
