"""Options that commands share, and how they are read."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from publicmoments.checks import nearest
from publicmoments.cli.failures import CommandError

if TYPE_CHECKING:
    from pathlib import Path

    from publicmoments.cli.screen import Screen
    from publicmoments.privacy.budgets import Budget


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, with a suggestion where a word is nearly known."""

    def __init__(self, **arguments: Any) -> None:
        shared: dict[str, Any] = {
            "formatter_class": argparse.RawDescriptionHelpFormatter,
            "allow_abbrev": False,
        }
        super().__init__(**(shared | arguments))

    def error(self, message: str) -> NoReturn:
        """Raise in place of printing the usage."""
        raise CommandError(f"{message}; see {self.prog} --help")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse an unknown word, naming the one that was probably meant."""
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        raise argparse.ArgumentError(
            None, f"unknown {_called(action)} {value!r}{nearest(str(value), known)}"
        )


class Commands(Protocol):
    """What `argparse` returns for a group of commands."""

    def add_parser(self, name: str, **arguments: Any) -> Parser:
        """Add a command."""
        ...


def add_command(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace, Screen], None],
    purpose: str,
    examples: str,
) -> Parser:
    """Add a command with its help; every command can answer in JSON."""
    parser = commands.add_parser(
        name,
        help=purpose,
        description=f"{purpose[0].upper()}{purpose[1:]}.",
        epilog=f"examples:\n{examples}",
    )
    parser.add_argument("--json", action="store_true", help="one JSON document, for programs")
    parser.set_defaults(run=run)
    return parser


def add_table(parser: Parser, name: str, purpose: str, *, optional: bool = False) -> None:
    """Add a table and the delimiter of CSV files."""
    parser.add_argument(
        name,
        metavar=name.upper(),
        nargs="?" if optional else None,
        help=f"{purpose}: a CSV file, a Parquet file or a folder of them",
    )
    add_delimiter(parser)


def add_delimiter(parser: Parser) -> None:
    """Add the delimiter of CSV files."""
    parser.add_argument("--delimiter", help="of CSV files; a comma by default, for .tsv a tab")


def add_output(parser: Parser, what: str, *, required: bool = True) -> None:
    """Add the file to write."""
    parser.add_argument(
        "-o",
        "--output",
        required=required,
        metavar="FILE",
        help=what if required else f"{what}; standard output by default",
    )
    parser.add_argument("--force", action="store_true", help="replace an existing file")


def add_budget(parser: Parser, *, several: bool = False, required: bool = True) -> None:
    """Add the three ways to state a budget."""
    group = parser.add_argument_group(
        "budget",
        "total privacy budget, for replacing one row; state it in one of three ways"
        + ("" if required else ", or not at all"),
    )
    many: dict[str, Any] = {"nargs": "+"} if several else {}
    group.add_argument("--mu", type=float, **many, help="Gaussian differential privacy")
    group.add_argument("--epsilon", type=float, **many, help="with --delta")
    group.add_argument("--delta", type=float, help="well below one over the number of rows")
    group.add_argument("--rho", type=float, **many, help="zero-concentrated differential privacy")


def add_ledger(parser: Parser) -> None:
    """Add the ledger that pays."""
    parser.add_argument(
        "--ledger", help="charge this ledger: a file, or postgresql://user@host/database"
    )
    parser.add_argument("--dataset", help="name of the private table in the ledger")
    parser.add_argument(
        "--new-dataset",
        action="store_true",
        help="begin this dataset without a cap, in a ledger that has caps for others",
    )


def checked_budget(options: argparse.Namespace) -> Budget:
    """
    Return the budget that was stated.

    Examples
    --------
    >>> checked_budget(argparse.Namespace(mu=1.0, epsilon=None, delta=None, rho=None))
    GDP(mu=1.0)
    """
    (budget,) = checked_budgets(options)
    return budget


def checked_budgets(options: argparse.Namespace) -> list[Budget]:
    """Return the budgets that were stated, in one way and at least one."""
    ways = [name for name in ("mu", "epsilon", "rho") if getattr(options, name) is not None]
    if len(ways) != 1:
        stated = " and ".join(f"--{way}" for way in ways) or "nothing"
        raise CommandError(
            f"state the budget in one way, got {stated}; pass --mu, or --epsilon with --delta, or "
            "--rho"
        )
    if (ways == ["epsilon"]) != (options.delta is not None):
        raise CommandError("--epsilon and --delta go together; pass both, or neither")
    from publicmoments.privacy.budgets import GDP, ZCDP, ApproxDP

    stated = getattr(options, ways[0])
    values = stated if isinstance(stated, list) else [stated]
    if ways == ["epsilon"]:
        return [ApproxDP(value, options.delta) for value in values]
    return [(GDP if ways == ["mu"] else ZCDP)(value) for value in values]


def check_ledger(options: argparse.Namespace) -> None:
    """Refuse a ledger without a dataset, and the other way round."""
    if (options.ledger is None) != (options.dataset is None):
        raise CommandError("--ledger and --dataset go together; pass both, or neither")
    if options.new_dataset and options.ledger is None:
        raise CommandError("--new-dataset is about a ledger; pass --ledger and --dataset")


def opened_ledger(options: argparse.Namespace, output: Path) -> dict[str, Any]:
    """
    Return the arguments of a fit about its ledger, which is opened, or made where there is none.

    Parameters
    ----------
    options : Namespace
        Looked at by `check_ledger` before.
    output : Path
        Where the result will be written, which the ledger keeps.
    """
    if options.ledger is None:
        return {}
    from publicmoments.privacy.ledger import Ledger

    shown = str(output) if str(output).isprintable() else ""
    ledger = Ledger(options.ledger, new_datasets=options.new_dataset, output=shown)
    return {"ledger": ledger, "dataset": options.dataset}


def listed(text: str) -> list[str]:
    """
    Split names at commas; quotes keep a comma in a name.

    Examples
    --------
    >>> listed('age, "weight, kg"')
    ['age', 'weight, kg']
    """
    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    if not names or not all(names):
        raise argparse.ArgumentTypeError("expected names separated by commas")
    return names


def numbers(text: str) -> list[float]:
    """
    Split numbers at commas.

    Examples
    --------
    >>> numbers("0, 0.1")
    [0.0, 0.1]
    """
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError("expected numbers separated by commas") from None


def _called(action: argparse.Action) -> str:
    """What an argument is called in a message."""
    if action.option_strings:
        return action.option_strings[-1]
    return str(action.metavar or action.dest).lower()
