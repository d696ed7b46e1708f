"""Commands, the options that they share, described once, and how options are read."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias

from publicmoments.checks import nearest
from publicmoments.cli.failures import CommandError
from publicmoments.cli.outputs import Screen

if TYPE_CHECKING:
    from publicmoments.privacy.budgets import Budget

SEEDED = (
    "--seed makes the noise reproducible: this run has NO privacy guarantee. Never publish what it "
    "writes."
)


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


Option: TypeAlias = Callable[[Parser], object]
"""An argument or several of them, to be added to the parsers of commands."""


def add_group(
    commands: Commands,
    name: str,
    purpose: str,
    examples: str,
    *,
    description: str | None = None,
    metavar: str = "ACTION",
) -> Commands:
    """Add a group of commands, and return what they are added to."""
    group: Any = commands.add_parser(
        name,
        help=purpose,
        description=description or _sentence(purpose),
        epilog=f"examples:\n{examples}",
    )
    actions: Commands = group.add_subparsers(metavar=metavar, required=True)
    return actions


def add_command(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace, Screen], None],
    purpose: str,
    examples: str,
    *options: Option,
    **defaults: object,
) -> None:
    """Add a command with its help and options; every command can answer in JSON."""
    parser = commands.add_parser(
        name, help=purpose, description=_sentence(purpose), epilog=f"examples:\n{examples}"
    )
    parser.set_defaults(run=run, **defaults)
    for add in (flag("--json", "one JSON document, for programs"), *options):
        add(parser)


def option(*names: str, **how: Any) -> Option:
    """Describe an option or an argument, as `add_argument` takes it."""
    return lambda parser: parser.add_argument(*names, **how)


def flag(name: str, purpose: str) -> Option:
    """Describe an option that is there or not."""
    return option(name, action="store_true", help=purpose)


def names(option_name: str, purpose: str, **how: Any) -> Option:
    """Describe an option that takes names separated by commas."""
    return option(option_name, type=listed, metavar="A,B,...", help=purpose, **how)


def table(name: str, purpose: str, **how: Any) -> Option:
    """Describe a table, and the delimiter of CSV files."""
    purpose = f"{purpose}: a CSV file, a Parquet file or a folder of them"
    return together(option(name, metavar=name.upper(), help=purpose, **how), DELIMITER)


def output(what: str, *, required: bool = True) -> Option:
    """Describe the file to write."""
    purpose = what if required else f"{what}; standard output by default"
    return together(
        option("-o", "--output", required=required, metavar="FILE", help=purpose),
        flag("--force", "replace an existing file"),
    )


def budget(*, several: bool = False, required: bool = True) -> Option:
    """Describe the three ways to state a budget."""

    def add(parser: Parser) -> None:
        group = parser.add_argument_group(
            "budget",
            "total privacy budget, for replacing one row; state it in one of three ways"
            + ("" if required else ", or not at all"),
        )
        many: dict[str, Any] = {"nargs": "+"} if several else {}
        group.add_argument("--mu", type=float, **many, help="Gaussian differential privacy")
        group.add_argument("--epsilon", type=float, **many, help="with --delta")
        group.add_argument("--delta", type=float, help="well below one over the number of rows")
        group.add_argument(
            "--rho", type=float, **many, help="zero-concentrated differential privacy"
        )

    return add


def features(parser: Parser) -> None:
    """Add the choice of features."""
    group: Any = parser.add_mutually_exclusive_group()
    names("--features", "only these; all others by default")(group)
    names("--drop", "all others but these")(group)


def together(*options: Option) -> Option:
    """Describe several options as one."""
    return lambda parser: [add(parser) for add in options]


DELIMITER = option("--delimiter", help="of CSV files; a comma by default, for .tsv a tab")
NO_INTERCEPT = flag("--no-intercept", "fit no intercept")
TARGET = option("--target", required=True, metavar="COLUMN", help="what to predict")

NOISE = together(
    flag("--no-anchor", "the public population differs: do not count its fit as evidence"),
    flag(
        "--ignore-invalid",
        "count rows with missing or infinite cells as zeros, in place of refusing them",
    ),
    option("--seed", type=int, help="reproducible noise, WITHOUT any privacy; for tests"),
    option("--ledger", help="charge this ledger: a file, or postgresql://user@host/database"),
    option("--dataset", help="name of the private table in the ledger"),
    flag("--new-dataset", "begin this dataset without a cap, in a ledger that has caps for others"),
)
"""What fits and releases have in common beside the budget; read by `noise_arguments`."""


def noise_arguments(options: argparse.Namespace, screen: Screen) -> dict[str, Any]:
    """Return the arguments of a fit or release that `NOISE` is about; warn of a seed."""
    if (options.ledger is None) != (options.dataset is None):
        raise CommandError("--ledger and --dataset go together; pass both, or neither")
    if options.new_dataset and options.ledger is None:
        raise CommandError("--new-dataset is about a ledger; pass --ledger and --dataset")
    if options.seed is not None:
        screen.loud(SEEDED)
    return {
        "anchor": not options.no_anchor,
        "on_invalid": "ignore" if options.ignore_invalid else "raise",
        "random_state": options.seed,
    }


def opened_ledger(options: argparse.Namespace, output: Path) -> dict[str, Any]:
    """
    Return the arguments of a fit about its ledger, which is opened, or made where there is none.

    Parameters
    ----------
    options : Namespace
        Looked at by `noise_arguments` before.
    output : Path
        Where the result will be written, which the ledger keeps.
    """
    if options.ledger is None:
        return {}
    from publicmoments.privacy.ledger import Ledger

    shown = str(output) if str(output).isprintable() else ""
    ledger = Ledger(options.ledger, new_datasets=options.new_dataset, output=shown)
    return {"ledger": ledger, "dataset": options.dataset}


def checked_budget(options: argparse.Namespace) -> Budget:
    """
    Return the budget that was stated.

    Examples
    --------
    >>> checked_budget(argparse.Namespace(mu=1.0, epsilon=None, delta=None, rho=None))
    GDP(mu=1.0)
    """
    (stated,) = checked_budgets(options)
    return stated


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


def listed(text: str) -> list[str]:
    """
    Split names at commas; quotes keep a comma in a name.

    Examples
    --------
    >>> listed('age, "weight, kg"')
    ['age', 'weight, kg']
    """
    parts = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    if not parts or not all(parts):
        raise argparse.ArgumentTypeError("expected names separated by commas")
    return parts


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


def penalty(text: str) -> float | str:
    """Read a penalty, or the word for having it chosen."""
    return text if text == "auto" else float(text)


def _sentence(words: str) -> str:
    """Words as a sentence."""
    return f"{words[0].upper()}{words[1:]}."


def _called(action: argparse.Action) -> str:
    """What an argument is called in a message."""
    if action.option_strings:
        return action.option_strings[-1]
    return str(action.metavar or action.dest).lower()
