"""``pmt ledger``: what was spent on which dataset."""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import asdict, astuple
from typing import TYPE_CHECKING, Any

from publicmoments.checks import nearest
from publicmoments.cli.failures import CommandError
from publicmoments.cli.outputs import checked_output, write_text
from publicmoments.cli.parsing import (
    Commands,
    Parser,
    add_budget,
    add_command,
    add_output,
    checked_budget,
)

if TYPE_CHECKING:
    from publicmoments.cli.screen import Screen
    from publicmoments.privacy.ledger import Ledger


def add_to(commands: Commands) -> None:
    """Add the commands."""
    group: Any = commands.add_parser(
        "ledger",
        help="what was spent on which dataset, and caps",
        description="What was spent on which dataset, and caps.",
        epilog="examples:\n"
        "  pmt ledger cap ledger.db hospital-2026 --mu 3 --note 'board, 12 May'\n"
        "  pmt ledger list ledger.db\n"
        "  pmt ledger show ledger.db hospital-2026\n"
        "  pmt ledger export ledger.db --format csv -o ledger.csv",
    )
    actions = group.add_subparsers(metavar="ACTION", required=True)
    _add(actions, "list", _list, "list datasets", "  pmt ledger list ledger.db")
    show = _add(
        actions,
        "show",
        _show,
        "show all charges of a dataset",
        "  pmt ledger show ledger.db hospital-2026",
    )
    show.add_argument("dataset", metavar="DATASET", help="its name in the ledger")
    _add_cap(actions)
    export = _add(
        actions,
        "export",
        _export,
        "write everything that is recorded",
        "  pmt ledger export ledger.db --format csv -o ledger.csv",
    )
    export.add_argument("--format", choices=("json", "csv"), default="json", metavar="FORMAT")
    export.add_argument("--dataset", help="only this one")
    add_output(export, "where to write it", required=False)


def _add_cap(actions: Commands) -> None:
    """Add the action that sets a cap."""
    cap = _add(
        actions,
        "cap",
        _cap,
        "set the most that may ever be spent on a dataset; makes the ledger if there is none",
        "  pmt ledger cap ledger.db hospital-2026 --mu 3 --note 'board, 12 May'",
    )
    cap.add_argument("dataset", metavar="DATASET", help="its name in the ledger")
    add_budget(cap)
    cap.add_argument("--note", default="", help="who decided, and why")


def _add(commands: Commands, name: str, run: Any, purpose: str, examples: str) -> Parser:
    """Add an action on a ledger."""
    parser = add_command(commands, name, run, purpose, examples)
    parser.add_argument(
        "ledger", metavar="LEDGER", help="a file, or postgresql://user@host/database"
    )
    return parser


def _list(options: argparse.Namespace, screen: Screen) -> None:
    """List datasets with what is spent and left."""
    ledger = _opened(options.ledger)
    datasets = [
        {
            "dataset": name,
            "spent_mu": ledger.spent(name),
            "remaining_mu": ledger.remaining(name),
            "charges": len(ledger.entries(name)),
        }
        for name in ledger.datasets()
    ]
    screen.table(
        "",
        ["dataset", "spent mu", "left mu", "charges"],
        [
            [
                str(one["dataset"]),
                _cost(one["spent_mu"]),
                _room(one["remaining_mu"]),
                str(one["charges"]),
            ]
            for one in datasets
        ],
    )
    screen.answer({"datasets": datasets})


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
    budget = checked_budget(options)
    cap = _opened(options.ledger, create=True).cap(options.dataset, budget, note=options.note)
    screen.text(f"{cap.dataset}: at most {cap.stated}, which is mu {_room(cap.mu)}")
    screen.answer(asdict(cap))


def _export(options: argparse.Namespace, screen: Screen) -> None:
    """Write the records."""
    output = None
    if options.output is not None:
        output = checked_output(options.output, force=options.force, inputs=[options.ledger])
    ledger = _opened(options.ledger)
    if options.dataset is not None:
        _refuse_unknown(ledger, options.dataset)
    text = ledger.export(options.format, dataset=options.dataset)
    if output is not None:
        write_text(output, text)
        screen.text(f"wrote {output}")
        screen.answer({"output": str(output), "format": options.format})
    elif screen.as_json:
        screen.answer({"format": options.format, "text": text})
    else:
        sys.stdout.write(text)


def _opened(location: str, *, create: bool = False) -> Ledger:
    """Open a ledger."""
    from publicmoments.privacy.ledger import Ledger

    return Ledger(location, create=create)


def _refuse_unknown(ledger: Ledger, name: str) -> None:
    """Refuse a dataset that has neither charge nor cap."""
    known = ledger.datasets()
    if name not in known:
        raise CommandError(f"the ledger has no dataset {name!r}{nearest(name, known)}")


def _cost(mu: Any) -> str:
    """What was spent, never less than it was."""
    from publicmoments.privacy.rounding import text_above

    return text_above(mu, 6)


def _room(mu: Any) -> str:
    """What is left or allowed, never more than it is; or that there is no limit."""
    from publicmoments.privacy.rounding import text_below

    return text_below(mu, 6) if math.isfinite(mu) else "no cap"
