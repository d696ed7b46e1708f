"""Commands, the options that they share, described once, and how options are read."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias

import publicmoments
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
        plain = argparse.RawDescriptionHelpFormatter
        super().__init__(formatter_class=plain, allow_abbrev=False, **arguments)

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
"""An option, an argument or several of them, to be added to the parsers of commands."""

Run: TypeAlias = Callable[[argparse.Namespace, Screen], None]

Adds: TypeAlias = Callable[[Commands], None]
"""A command or a group of them, to be added to others."""


def command(
    name: str, purpose: str, examples: str, *options: Option, **defaults: object
) -> Callable[[Run], Adds]:
    """Describe what a function runs as a command; every command can answer in JSON."""

    def described(run: Run) -> Adds:
        def add(commands: Commands) -> None:
            parser = commands.add_parser(name, **_help(purpose, examples))
            parser.set_defaults(run=run, **defaults)
            together(flag("--json", "one JSON document, for programs"), *options)(parser)

        return add

    return described


def group(
    name: str, purpose: str, examples: str, *actions: Adds, metavar: str = "ACTION", **how: str
) -> Adds:
    """Describe a group of commands."""

    def add(commands: Commands) -> None:
        parser: Any = commands.add_parser(name, **(_help(purpose, examples) | how))
        added = parser.add_subparsers(metavar=metavar, required=True)
        for action in actions:
            action(added)

    return add


def option(names: str, purpose: str | None = None, **how: Any) -> Option:
    """Describe an option by its names, or an argument, with its help; see `add_argument`."""
    return lambda parser: parser.add_argument(*names.split(), help=purpose, **how)


def flag(name: str, purpose: str) -> Option:
    """Describe an option that is there or not."""
    return option(name, purpose, action="store_true")


def several(name: str, purpose: str, kind: Callable[[str], Any], **how: Any) -> Option:
    """Describe an option that takes several values of a kind, separated by commas."""
    return option(name, purpose, type=kind, metavar="A,B,...", **how)


def public(purpose: str, **how: Any) -> Option:
    """Describe what is public: moments, or rows."""
    return option("--public", purpose, metavar="FILE", **how)


def table(name: str, purpose: str, **how: Any) -> Option:
    """Describe a table, and the delimiter of CSV files."""
    purpose = f"{purpose}: a CSV file, a Parquet file or a folder of them"
    return together(option(name, purpose, metavar=name.upper(), **how), DELIMITER)


def output(what: str, *, required: bool = True) -> Option:
    """Describe the file to write."""
    purpose = what if required else f"{what}; standard output by default"
    return together(
        option("-o --output", purpose, required=required, metavar="FILE"),
        flag("--force", "replace an existing file"),
    )


def budget(*, required: bool = True, **many: str) -> Option:
    """Describe the three ways to state a budget, or several budgets with ``nargs="+"``."""

    def add(parser: Parser) -> None:
        ways = "total privacy budget, for replacing one row; state it in one of three ways"
        shown: Any = parser.add_argument_group(
            "budget", ways if required else f"{ways}, or not at all"
        )
        option("--mu", "Gaussian differential privacy", type=float, **many)(shown)
        option("--epsilon", "with --delta", type=float, **many)(shown)
        option("--delta", "well below one over the number of rows", type=float)(shown)
        option("--rho", "zero-concentrated differential privacy", type=float, **many)(shown)

    return add


def features(parser: Parser) -> None:
    """Add the choice of features."""
    choice: Any = parser.add_mutually_exclusive_group()
    FEATURES(choice)
    several("--drop", "all others but these", listed)(choice)


def together(*options: Option) -> Option:
    """Describe several options as one."""
    return lambda parser: [add(parser) for add in options]


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
    shown = str(output) if str(output).isprintable() else ""
    ledger = publicmoments.Ledger(options.ledger, new_datasets=options.new_dataset, output=shown)
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
    stated = getattr(options, ways[0])
    values = stated if isinstance(stated, list) else [stated]
    if ways == ["epsilon"]:
        return [publicmoments.ApproxDP(value, options.delta) for value in values]
    kind = publicmoments.GDP if ways == ["mu"] else publicmoments.ZCDP
    return [kind(value) for value in values]


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


def classes(text: str) -> tuple[Any, ...]:
    """
    Split labels at commas, and read them as numbers if all of them are, else as words.

    Examples
    --------
    >>> classes("0,1"), classes("no,1")
    ((0, 1), ('no', '1'))
    """
    labels = listed(text)
    for convert in (int, float):
        with suppress(ValueError):
            return tuple(convert(label) for label in labels)
    return tuple(labels)


def penalty(text: str) -> float | str:
    """Read a penalty, or the word for having it chosen."""
    return text if text == "auto" else float(text)


def _help(purpose: str, examples: str) -> dict[str, str]:
    """What a list of commands says of one of them, and what its own help says before and after."""
    sentence = f"{purpose[0].upper()}{purpose[1:]}."
    return {"help": purpose, "description": sentence, "epilog": f"examples:\n{examples}"}


def _called(action: argparse.Action) -> str:
    """What an argument is called in a message."""
    if action.option_strings:
        return action.option_strings[-1]
    return str(action.metavar or action.dest).lower()


FEATURES = several("--features", "only these; all others by default", listed)
DELIMITER = option("--delimiter", "of CSV files; a comma by default, for .tsv a tab")
NO_INTERCEPT = flag("--no-intercept", "fit no intercept")
TARGET = option("--target", "what to predict", required=True, metavar="COLUMN")

NOISE = together(
    flag("--no-anchor", "the public population differs: do not count its fit as evidence"),
    flag(
        "--ignore-invalid",
        "count rows with missing or infinite cells as zeros, in place of refusing them",
    ),
    option("--seed", "reproducible noise, WITHOUT any privacy; for tests", type=int),
    option("--ledger", "charge this ledger: a file, or postgresql://user@host/database"),
    option("--dataset", "name of the private table in the ledger"),
    flag("--new-dataset", "begin this dataset without a cap, in a ledger that has caps for others"),
)
"""What fits and releases have in common beside the budget; read by `noise_arguments`."""
