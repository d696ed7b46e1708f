"""What is told about a fit: the privacy card."""

from publicmoments.privacy.card import Card

__all__ = ["Card"]
