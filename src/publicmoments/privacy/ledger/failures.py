"""What to do when the database of a ledger fails."""

from __future__ import annotations

from publicmoments.privacy.ledger.records import LedgerError

__all__ = ["explained"]

_LOCKED = "another process holds the ledger; wait, or open it with a longer busy_timeout"
_READ_ONLY = (
    "the ledger, its folder and the files beside it must be writable by this user, even to read; "
    "change their permissions, or work on a copy"
)
_NO_SPACE = "free space on the disk, or repair it"
_NOT_A_LEDGER = "this is not a ledger, or a damaged one; correct the path, or restore a copy"
_SERVER = "check the address, that the server runs, and what this user may do there"

# Beginnings of SQLite's error names and of PostgreSQL's error codes; the first that fits holds.
_ADVICE = {
    "SQLITE_BUSY": _LOCKED,
    "SQLITE_LOCKED": _LOCKED,
    "SQLITE_PROTOCOL": _LOCKED,
    "SQLITE_READONLY": _READ_ONLY,
    "SQLITE_CANTOPEN": _READ_ONLY,
    "SQLITE_PERM": _READ_ONLY,
    "SQLITE_FULL": _NO_SPACE,
    "SQLITE_IOERR": _NO_SPACE,
    "SQLITE_NOTADB": _NOT_A_LEDGER,
    "SQLITE_CORRUPT": _NOT_A_LEDGER,
    # Whatever else: a missing table, above all, of a file that was deleted after it was opened.
    "SQLITE_": _NOT_A_LEDGER,
    "55P03": _LOCKED,
    "25006": "the server accepts no writing; connect to the primary",
    "53100": _NO_SPACE,
}


def explained(cause: BaseException, name: str, busy_timeout: float) -> LedgerError:
    """Return an error that says what failed, what that means for the charge, and what to do."""
    code = str(getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None) or "")
    advice = next((text for start, text in _ADVICE.items() if code.startswith(start)), _SERVER)
    waited = f" after {busy_timeout:g} s" if advice is _LOCKED else ""
    # What fails while it is being confirmed may have been written, which is the safe side.
    unharmed = advice in (_LOCKED, _READ_ONLY)
    kept = "nothing was charged" if unharmed else "a charge under way may count as spent"
    said = " ".join(str(cause).split())
    return LedgerError(
        f"the ledger {name} could not be used{waited} ({said}); {kept} and nothing may be "
        f"released; {advice}"
    )
