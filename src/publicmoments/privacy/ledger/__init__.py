"""A durable account of what was spent on which dataset, over all fits and all processes.

`book` is the ledger that users see, and opens accounts; `paying` ties one fit to it, `guards` says
what is refused before a charge, `lines` what a line means, and replays them, `squares` adds up
exactly. `database` and `schema` are where lines are kept; they need SQLAlchemy and are imported
when a ledger is made.
"""

from publicmoments.privacy.ledger.accounts import LedgerLike, open_account
from publicmoments.privacy.ledger.book import Ledger
from publicmoments.privacy.ledger.lines import Cap, Entry, LedgerError
from publicmoments.privacy.ledger.paying import LedgerAccount

__all__ = [
    "Cap",
    "Entry",
    "Ledger",
    "LedgerAccount",
    "LedgerError",
    "LedgerLike",
    "open_account",
]
