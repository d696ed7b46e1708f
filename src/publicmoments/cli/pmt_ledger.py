"""``pmt ledger``: what was spent on which dataset."""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import asdict, astuple
from typing import TYPE_CHECKING

from publicmoments.checks import nearest
from publicmoments.cli import parsing
from publicmoments.cli.failures import CommandError
from publicmoments.cli.outputs import Screen, optional_output
from publicmoments.cli.parsing import Commands, option
from publicmoments.io.atomic import write_atomically

if TYPE_CHECKING:
    from publicmoments import Ledger

LEDGER = option("ledger", metavar="LEDGER", help="a file, or postgresql://user@host/database")
DATASET = option("dataset", metavar="DATASET", help="its name in the ledger")

LIST = "  pmt ledger list ledger.db"
SHOW = "  pmt ledger show ledger.db hospital-2026"
CAP = "  pmt ledger cap ledger.db hospital-2026 --mu 3 --note 'board, 12 May'"
EXPORT = "  pmt ledger export ledger.db --format csv -o ledger.csv"
"""Examples."""


def add_ledger(commands: Commands) -> None:
    """Add the commands."""
    purpose, examples = "what was spent on which dataset, and caps", (CAP, LIST, SHOW, EXPORT)
    actions = parsing.add_group(commands, "ledger", purpose, "\n".join(examples))
    parsing.add_command(actions, "list", _list, "list datasets", LIST, LEDGER)
    parsing.add_command(
        actions, "show", _show, "show all charges of a dataset", SHOW, LEDGER, DATASET
    )
    parsing.add_command(
        actions,
        "cap",
        _cap,
        "set the most that may ever be spent on a dataset; makes the ledger if there is none",
        CAP,
        LEDGER,
        DATASET,
        parsing.budget(),
        option("--note", default="", help="who decided, and why"),
    )
    parsing.add_command(
        actions,
        "export",
        _export,
        "write everything that is recorded",
        EXPORT,
        LEDGER,
        option("--format", choices=("json", "csv"), default="json", metavar="FORMAT"),
        option("--dataset", help="only this one"),
        parsing.output("where to write it", required=False),
    )


def _list(options: argparse.Namespace, screen: Screen) -> None:
    """List datasets with what is spent and left."""
    ledger = _opened(options.ledger)
    names = ledger.datasets()
    told = [(ledger.spent(n), ledger.remaining(n), len(ledger.entries(n))) for n in names]
    screen.table(
        "",
        ["dataset", "spent mu", "left mu", "charges"],
        [
            [name, _cost(spent), _room(left), str(charges)]
            for name, (spent, left, charges) in zip(names, told, strict=True)
        ],
    )
    keys = ("spent_mu", "remaining_mu", "charges")
    rows = zip(names, told, strict=True)
    screen.answer(
        {"datasets": [{"dataset": n, **dict(zip(keys, row, strict=True))} for n, row in rows]}
    )


def _show(options: argparse.Namespace, screen: Screen) -> None:
    """Show the charges and caps of a dataset."""
    ledger, name = _opened(options.ledger), options.dataset
    _refuse_unknown(ledger, name)
    spent, left = ledger.spent(name), ledger.remaining(name)
    caps, entries = ledger.caps(name), ledger.entries(name)
    cap = caps[-1].stated if caps else "none"
    screen.text(f"{name}: spent mu {_cost(spent)}, left mu {_room(left)}, cap {cap}")
    screen.table(
        "",
        ["charge", "at", "mu", "stated", "state", "model", "target", "who", "output", "note"],
        [
            [str(e.number), e.at, _cost(e.mu), e.stated, e.state, *astuple(e.purpose), e.note]
            for e in entries
        ],
    )
    screen.answer(
        {
            "dataset": name,
            "spent_mu": spent,
            "remaining_mu": left,
            "extra_tv": ledger.extra_tv(name),
            "caps": [asdict(one) for one in caps],
            "entries": [asdict(one) | {"state": one.state} for one in entries],
        }
    )


def _cap(options: argparse.Namespace, screen: Screen) -> None:
    """Set a cap."""
    budget = parsing.checked_budget(options)
    cap = _opened(options.ledger, create=True).cap(options.dataset, budget, note=options.note)
    screen.text(f"{cap.dataset}: at most {cap.stated}, which is mu {_room(cap.mu)}")
    screen.answer(asdict(cap))


def _export(options: argparse.Namespace, screen: Screen) -> None:
    """Write the records."""
    output = optional_output(options, options.ledger)
    ledger = _opened(options.ledger)
    if options.dataset is not None:
        _refuse_unknown(ledger, options.dataset)
    text = ledger.export(options.format, dataset=options.dataset)
    if output is not None:
        write_atomically(output, text.encode())
        screen.done(output, format=options.format)
        return
    if not screen.as_json:
        sys.stdout.write(text)
    screen.answer({"format": options.format, "text": text})


def _opened(location: str, *, create: bool = False) -> Ledger:
    """Open a ledger."""
    from publicmoments import Ledger

    return Ledger(location, create=create)


def _refuse_unknown(ledger: Ledger, name: str) -> None:
    """Refuse a dataset that has neither charge nor cap."""
    known = ledger.datasets()
    if name not in known:
        raise CommandError(f"the ledger has no dataset {name!r}{nearest(name, known)}")


def _cost(mu: float) -> str:
    """What was spent, never less than it was."""
    from publicmoments.privacy.rounding import text_above

    return text_above(mu, 6)


def _room(mu: float) -> str:
    """What is left or allowed, never more than it is; or that there is no limit."""
    from publicmoments.privacy.rounding import text_below

    return text_below(mu, 6) if math.isfinite(mu) else "no cap"
