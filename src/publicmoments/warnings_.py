"""Warnings issued by the library, so that users can filter them by class."""

from __future__ import annotations

__all__ = ["PublicMomentsWarning"]


class PublicMomentsWarning(UserWarning):
    """The public moments had to be repaired or completed before use.

    Privacy never depends on the public moments; accuracy does.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", PublicMomentsWarning)
    """
