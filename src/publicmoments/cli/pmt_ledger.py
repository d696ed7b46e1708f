"""``pmt ledger``: what was spent on which dataset."""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import asdict, astuple
from typing import Any

import publicmoments
from publicmoments.checks import nearest
from publicmoments.cli import parsing
from publicmoments.cli.failures import CommandError
from publicmoments.cli.outputs import Screen, optional_output, write_text
from publicmoments.cli.parsing import command, group, option

LEDGER = option("ledger", "a file, or postgresql://user@host/database", metavar="LEDGER")
DATASET = option("dataset", "its name in the ledger", metavar="DATASET")

LIST = "  pmt ledger list ledger.db"
SHOW = "  pmt ledger show ledger.db hospital-2026"
CAP = "  pmt ledger cap ledger.db hospital-2026 --mu 3 --note 'board, 12 May'"
EXPORT = "  pmt ledger export ledger.db --format csv -o ledger.csv"
"""Examples."""


@command("list", "list datasets", LIST, LEDGER)
def _list(options: argparse.Namespace, screen: Screen) -> None:
    """List datasets with what is spent and left."""
    ledger = _opened(options.ledger)
    datasets: list[dict[str, Any]] = [
        {
            "dataset": name,
            "spent_mu": ledger.spent(name),
            "remaining_mu": ledger.remaining(name),
            "charges": len(ledger.entries(name)),
        }
        for name in ledger.datasets()
    ]
    lines = [[n, _cost(mu), _room(left), str(k)] for n, mu, left, k in map(dict.values, datasets)]
    screen.table("", ["dataset", "spent mu", "left mu", "charges"], lines)
    screen.answer(datasets=datasets)


@command("show", "show all charges of a dataset", SHOW, LEDGER, DATASET)
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
        dataset=name,
        spent_mu=spent,
        remaining_mu=left,
        extra_tv=ledger.extra_tv(name),
        caps=[asdict(one) for one in caps],
        entries=[asdict(one) | {"state": one.state} for one in entries],
    )


@command(
    "cap",
    "set the most that may ever be spent on a dataset; makes the ledger if there is none",
    CAP,
    LEDGER,
    DATASET,
    parsing.budget(),
    option("--note", "who decided, and why", default=""),
)
def _cap(options: argparse.Namespace, screen: Screen) -> None:
    """Set a cap."""
    budget = parsing.checked_budget(options)
    cap = _opened(options.ledger, create=True).cap(options.dataset, budget, note=options.note)
    screen.text(f"{cap.dataset}: at most {cap.stated}, which is mu {_room(cap.mu)}")
    screen.answer(**asdict(cap))


@command(
    "export",
    "write everything that is recorded",
    EXPORT,
    LEDGER,
    option("--format", choices=("json", "csv"), default="json", metavar="FORMAT"),
    option("--dataset", "only this one"),
    parsing.output("where to write it", required=False),
)
def _export(options: argparse.Namespace, screen: Screen) -> None:
    """Write the records."""
    output = optional_output(options, options.ledger)
    ledger = _opened(options.ledger)
    if options.dataset is not None:
        _refuse_unknown(ledger, options.dataset)
    text = ledger.export(options.format, dataset=options.dataset)
    if output is not None:
        write_text(output, text)
        screen.done(output, format=options.format)
        return
    if not screen.as_json:
        sys.stdout.write(text)
    screen.answer(format=options.format, text=text)


EXAMPLES = "\n".join((CAP, LIST, SHOW, EXPORT))
PURPOSE = "what was spent on which dataset, and caps"
ledger_group = group("ledger", PURPOSE, EXAMPLES, _list, _show, _cap, _export)


def _opened(location: str, *, create: bool = False) -> publicmoments.Ledger:
    """Open a ledger."""
    return publicmoments.Ledger(location, create=create)


def _refuse_unknown(ledger: publicmoments.Ledger, name: str) -> None:
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
