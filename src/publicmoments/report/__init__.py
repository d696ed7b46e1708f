"""What is told about a fit: the privacy card."""

from publicmoments.report.card import Card

__all__ = ["Card"]
