"""The database of a ledger: its lines are read and added here, and its failures explained."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy import URL, Connection
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from publicmoments.privacy.ledger.lines import (
    SCHEMA_VERSION,
    Event,
    LedgerError,
    Standing,
    budget_of,
)
from publicmoments.privacy.ledger.schema import EVENTS, FORMAT, GUARDS, LATER, META

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


_ALL = sql.select(EVENTS).order_by(EVENTS.c.dataset, EVENTS.c.number)
_NAMES = sql.select(EVENTS.c.dataset).distinct()
_BLANK: dict[str, Any] = dict.fromkeys(["closes", "mu", "mu_squared", "stated", "private"])


def utc_now() -> str:
    """Time of the system clock in UTC; for people to read, never to order by."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def located(location: str | os.PathLike[str]) -> URL:
    """Read a path as a SQLite file and an address as a PostgreSQL database."""
    text = os.fspath(location)
    if "://" not in text:
        return _file(text)
    expected = "a ledger must be a path or an address postgresql://user@host/database, got"
    try:
        url = sql.make_url(text)
    except (ArgumentError, ValueError):
        # What cannot be read may hold a password anywhere.
        raise ValueError(f"{expected} something else that contains ://") from None
    backend = url.get_backend_name()
    if backend == "sqlite" and url.database and not url.query:
        return _file(url.database)
    if backend in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise ValueError(f"{expected} {url.render_as_string(hide_password=True)!r}")


def _file(path: str) -> URL:
    """Fix a path now, so that a later change of folder does not move the ledger."""
    if path in ("", ":memory:"):
        raise ValueError(
            f"a ledger must outlive its process, got {path!r}; pass the path of a file"
        )
    return URL.create("sqlite", database=str(Path(path).expanduser().absolute()))


class Page:
    """The lines of one dataset in one transaction, and the latest of them."""

    def __init__(self, connection: Connection, dataset: str) -> None:
        self._connection, self.dataset = connection, dataset
        latest = self._lines().order_by(None).order_by(EVENTS.c.number.desc()).limit(1)
        self.last = next(self._read(latest), None)

    @property
    def standing(self) -> Standing:
        """What is spent so far, and the cap in force."""
        if self.last is None:
            return Standing()
        latest = self._lines().where(EVENTS.c.event == "cap").order_by(None)
        cap = next(self._read(latest.order_by(EVENTS.c.number.desc()).limit(1)), None)
        try:
            budget = None if cap is None else budget_of(cap)
        except ValueError:
            raise LedgerError(
                f"the cap of dataset {self.dataset!r} is not one that a ledger writes: it has been "
                "changed by hand; restore it from a copy"
            ) from None
        return Standing(self.last.spent, self.last.extra, budget)

    def others(self) -> list[str]:
        """Names of all datasets of the ledger."""
        return sorted(self._connection.execute(_NAMES).scalars())

    def others_are_capped(self) -> bool:
        """Whether any dataset of the ledger has a cap."""
        caps = _ALL.where(EVENTS.c.event == "cap").limit(1)
        return next(self._read(caps), None) is not None

    def about(self, number: int) -> list[Event]:
        """A line, and the one that closes it if there is one."""
        either = sql.or_(EVENTS.c.number == number, EVENTS.c.closes == number)
        return list(self._read(self._lines().where(either)))

    def add(self, event: str, note: str, **columns: Any) -> Event:
        """Add a line; what it does not say of the totals is as in the line before."""
        last = self.last
        line = _BLANK | {
            "dataset": self.dataset,
            "number": 1 if last is None else last.number + 1,
            "event": event,
            "at": utc_now(),
            "note": note,
            "spent_squared": "0" if last is None else last.spent_squared,
            "cap_squared": None if last is None else last.cap_squared,
            "extra_sum": "0" if last is None else last.extra_sum,
        }
        added = Event(**(line | columns))
        self._connection.execute(sql.insert(EVENTS).values(**asdict(added)))
        return added

    def _lines(self) -> sql.Select[Any]:
        """All lines of the dataset, in order."""
        return _ALL.where(EVENTS.c.dataset == self.dataset)

    def _read(self, query: sql.Select[Any]) -> Iterator[Event]:
        """Lines as records."""
        return (Event(**row._mapping) for row in self._connection.execute(query))


class Store:
    """
    Lines in a SQLite file or a PostgreSQL database, through the same statements.

    Every operation has a connection of its own, which is closed at its end: nothing is shared with
    forked processes or other threads, and nothing is left open by a process that dies.

    Parameters
    ----------
    url : URL
        From `located`.
    busy_timeout : float
        Seconds to wait for other writers.
    """

    def __init__(self, url: URL, busy_timeout: float) -> None:
        self.url, self.busy_timeout = url, busy_timeout
        self._sqlite = url.get_backend_name() == "sqlite"
        self._engine = _sqlite_engine(url, busy_timeout) if self._sqlite else _postgres_engine(url)

    @property
    def name(self) -> str:
        """Where it is, without any password."""
        if self._sqlite:
            return str(self.url.database)
        return self.url.render_as_string(hide_password=True)

    @property
    def location(self) -> str:
        """What to open it by again, with the password if there is one."""
        return self.name if self._sqlite else self.url.render_as_string(hide_password=False)

    def prepare(self, create: bool) -> None:
        """Check that this is a ledger of a known version; make one where there is nothing yet."""
        if self._sqlite:
            self._check_path(create)
        with self._explaining(), self._engine.connect() as connection:
            tables = sql.inspect(connection).get_table_names()
        if FORMAT.name not in tables:
            self._check_vacant(tables, create)
            self._create()
        with self._explaining(), self._engine.connect() as connection:
            versions = list(connection.execute(sql.select(FORMAT.c.version)).scalars())
        if versions == [1]:
            versions = self._brought_up()
        if versions != [SCHEMA_VERSION]:
            raise LedgerError(
                f"{self.name} must be a ledger of version {SCHEMA_VERSION}, got {versions}; read "
                "it with the release of publicmoments that wrote it, or a later one"
            )

    @contextmanager
    def adding(self, dataset: str) -> Iterator[Page]:
        """
        Hold the only right to add lines to a dataset; what was added is durable at the end.

        Nothing is added where the block raises.
        """
        with self._holding(dataset) as connection:
            yield Page(connection, dataset)

    @contextmanager
    def looking(self, dataset: str) -> Iterator[Page]:
        """Look at the lines of a dataset without holding anything."""
        with self._explaining(), self._engine.connect() as connection:
            yield Page(connection, dataset)

    def events(self, dataset: str | None = None) -> list[Event]:
        """Lines of one dataset, or of all, in order."""
        query = _ALL if dataset is None else _ALL.where(EVENTS.c.dataset == dataset)
        with self._explaining(), self._engine.connect() as connection:
            return [Event(**row._mapping) for row in connection.execute(query)]

    def datasets(self) -> list[str]:
        """Names of all datasets that have a line."""
        with self._explaining(), self._engine.connect() as connection:
            return list(connection.execute(_NAMES).scalars())

    def _check_path(self, create: bool) -> None:
        """Look at the file's surroundings first: SQLite's own messages do not say what is wrong."""
        path = Path(self.name)
        if not path.parent.is_dir():
            raise LedgerError(
                f"the folder of the ledger must exist, got {self.name!r}; make the folder, or "
                "correct the path"
            )
        if path.is_dir():
            raise LedgerError(f"a ledger must be a file, got the folder {self.name!r}; add a name")
        if not create and not path.exists():
            raise LedgerError(f"there is no ledger at {self.name!r}; correct the path")

    def _check_vacant(self, tables: list[str], create: bool) -> None:
        """Refuse a file of something else; a server's database may hold other tables."""
        if not create or (tables and self._sqlite):
            raise LedgerError(
                f"{self.name} is not a ledger; pass the path of one, or of a file that does not "
                "exist yet"
            )

    def _create(self) -> None:
        """Make the tables, once, whoever else is doing the same."""
        if self._sqlite:
            with self._explaining():
                self._switch_to_wal()
        with self._holding("") as connection:
            if not sql.inspect(connection).has_table(FORMAT.name):
                META.create_all(connection, checkfirst=False)
                for statement in GUARDS[self.url.get_backend_name()]:
                    connection.exec_driver_sql(statement)
                connection.execute(
                    sql.insert(FORMAT).values(version=SCHEMA_VERSION, created_at=utc_now())
                )

    def _brought_up(self) -> list[int]:
        """Give a ledger of the first version the columns it lacks, once, whoever else does so."""
        with self._holding("") as connection:
            versions = list(connection.execute(sql.select(FORMAT.c.version)).scalars())
            if versions == [1]:
                for name in LATER:
                    connection.exec_driver_sql(f"ALTER TABLE {EVENTS.name} ADD COLUMN {name} TEXT")
                connection.execute(sql.update(FORMAT).values(version=SCHEMA_VERSION))
        return [SCHEMA_VERSION] if versions == [1] else versions

    def _switch_to_wal(self) -> None:
        """Switch the file to write-ahead logging, for which SQLite itself does not wait."""
        deadline = time.monotonic() + self.busy_timeout
        while True:
            try:
                with self._engine.connect() as connection:
                    mode = connection.exec_driver_sql("PRAGMA journal_mode=WAL").scalar()
                break
            except DBAPIError as error:
                busy = "SQLITE_BUSY" in getattr(error.orig, "sqlite_errorname", "")
                if not busy or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        if mode != "wal":
            raise LedgerError(
                f"the folder of {self.name!r} must allow write-ahead logging, got {mode!r}; put "
                "the ledger on a local disk, or on a PostgreSQL server"
            )

    @contextmanager
    def _holding(self, dataset: str) -> Iterator[Connection]:
        """A transaction that keeps other writers of the dataset out."""
        with self._explaining(), self._engine.connect() as connection, connection.begin():
            self._lock(connection, dataset)
            yield connection

    def _lock(self, connection: Connection, dataset: str) -> None:
        """Keep other writers out until the end of the transaction."""
        if self._sqlite:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            return
        wait = f"{max(round(1000 * self.busy_timeout), 1)}ms"
        connection.execute(
            sql.text(
                "SELECT set_config('lock_timeout', :wait, true), set_config('synchronous_commit', "
                "CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' "
                "ELSE current_setting('synchronous_commit') END, true)"
            ),
            {"wait": wait},
        )
        connection.execute(
            sql.text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))"),
            {"key": f"{EVENTS.name} {dataset}"},
        )

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Turn errors of the database into one that says what to do."""
        try:
            yield
        except SQLAlchemyError as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            raise explained(cause or error, self.name, self.busy_timeout) from error


def _sqlite_engine(url: URL, busy_timeout: float) -> sql.Engine:
    """Connections without implicit transactions, that wait for others and reach the disk."""
    arguments = {"isolation_level": None, "timeout": busy_timeout}
    engine = sql.create_engine(url, poolclass=NullPool, connect_args=arguments)

    def reach_the_disk(connection: Any, _: object) -> None:
        connection.execute("PRAGMA synchronous=FULL")
        # Without it, macOS calls a write durable that is still in the drive's cache.
        connection.execute("PRAGMA fullfsync=ON")

    sql.event.listen(engine, "connect", reach_the_disk)
    return engine


def _postgres_engine(url: URL) -> sql.Engine:
    """Connections whose every statement sees what was committed before it."""
    try:
        # The lock is taken by a statement. At a stricter level the snapshot would be older than the
        # lock, and miss what the last holder added.
        return sql.create_engine(url, poolclass=NullPool, isolation_level="READ COMMITTED")
    except ModuleNotFoundError as error:
        raise ImportError(
            "a ledger in PostgreSQL needs psycopg; install it with "
            "pip install 'publicmoments[ledger,postgres]'"
        ) from error
