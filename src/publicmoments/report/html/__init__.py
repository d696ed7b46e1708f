"""The HTML report of a private fit: one page that needs nothing but a browser."""

from publicmoments.report.html.page import write_report

__all__ = ["write_report"]
