"""Tables of a ledger, the same in SQLite and PostgreSQL."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Integer, MetaData, Table, Text, UniqueConstraint

LATER = ("extra_tv", "extra_sum", "model", "target", "who", "output")
"""Columns that ledgers of the first version do not have."""

META = MetaData()
FORMAT = Table(
    "publicmoments_ledger",
    META,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("created_at", Text, nullable=False),
)
EVENTS = Table(
    "publicmoments_ledger_events",
    META,
    # Should a lock ever fail, two writers still cannot both add the same line.
    Column("dataset", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("event", Text, nullable=False),
    Column("closes", Integer),
    Column("at", Text, nullable=False),
    Column("mu", Text),
    Column("mu_squared", Text),
    Column("stated", Text),
    Column("private", Boolean),
    Column("note", Text, nullable=False),
    Column("spent_squared", Text, nullable=False),
    Column("cap_squared", Text),
    *(Column(name, Text) for name in LATER),
    # A charge is closed once.
    UniqueConstraint("dataset", "closes"),
)
_REFUSAL = "a ledger is added to, never changed"
# The database itself refuses to change or delete lines, by whatever program.
GUARDS = {
    "sqlite": [
        f"CREATE TRIGGER publicmoments_ledger_no_{verb} BEFORE {verb} ON {EVENTS.name} "
        f"BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
        for verb in ("UPDATE", "DELETE")
    ],
    "postgresql": [
        "CREATE OR REPLACE FUNCTION publicmoments_ledger_refuse() RETURNS trigger "
        f"LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '{_REFUSAL}'; END $$",
        "CREATE TRIGGER publicmoments_ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE "
        f"ON {EVENTS.name} FOR EACH STATEMENT EXECUTE FUNCTION publicmoments_ledger_refuse()",
    ],
}
