"""``pmt fit``: private regressions of four kinds."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from publicmoments.cli.columns import (
    Chosen,
    add_columns,
    chosen_columns,
    holds_words,
    parsed_classes,
    public_input,
)
from publicmoments.cli.failures import CommandError
from publicmoments.cli.outputs import checked_output
from publicmoments.cli.parsing import (
    Commands,
    Parser,
    add_budget,
    add_command,
    add_ledger,
    add_output,
    add_table,
    check_ledger,
    checked_budget,
    listed,
    opened_ledger,
)
from publicmoments.cli.table_files import open_table

if TYPE_CHECKING:
    from publicmoments.cli.screen import Screen

KINDS = {
    "ridge": "linear regression of numbers",
    "logistic": "regression of two or more classes",
    "poisson": "regression of counts",
    "gamma": "regression of positive sizes, with a logarithmic link",
}

SEEDED = (
    "--seed makes the noise reproducible: this run has NO privacy guarantee. Never publish what it "
    "writes."
)


def add_to(commands: Commands) -> None:
    """Add the command."""
    fit: Any = commands.add_parser(
        "fit",
        help="fit a private model",
        description="Fit a private model. See pmt fit KIND --help.",
        epilog="""\
examples:
  pmt fit ridge private.csv --target cost --public public.json --mu 1 -o model.json
  pmt fit logistic private.parquet --target ill --classes no,yes --public rows.csv \\
      --epsilon 1 --delta 1e-6 -o model.json""",
    )
    kinds = fit.add_subparsers(metavar="KIND", required=True)
    for kind, purpose in KINDS.items():
        parser = add_command(kinds, kind, _fit, purpose, _examples(kind))
        parser.set_defaults(kind=kind)
        _add_options(parser, kind)


def add_noise(parser: Parser) -> None:
    """Add what fits and releases have in common beside the budget."""
    parser.add_argument(
        "--no-anchor",
        action="store_true",
        help="the public population differs: do not count its fit as evidence",
    )
    parser.add_argument(
        "--ignore-invalid",
        action="store_true",
        help="count rows with missing or infinite cells as zeros, in place of refusing them",
    )
    parser.add_argument(
        "--seed", type=int, help="reproducible noise, WITHOUT any privacy; for tests"
    )
    add_ledger(parser)


def noise_arguments(options: argparse.Namespace, screen: Screen) -> dict[str, Any]:
    """Return the arguments of a fit or release that `add_noise` is about; warn of a seed."""
    check_ledger(options)
    if options.seed is not None:
        screen.loud(SEEDED)
    return {
        "anchor": not options.no_anchor,
        "on_invalid": "ignore" if options.ignore_invalid else "raise",
        "random_state": options.seed,
    }


def penalty(text: str) -> float | str:
    """Read a penalty, or the word for having it chosen."""
    return text if text == "auto" else float(text)


def _examples(kind: str) -> str:
    """Examples of one kind."""
    extra = {"logistic": " --classes no,yes", "poisson": " --exposure years"}.get(kind, "")
    start = f"  pmt fit {kind} private.csv --target y{extra} --public public.json"
    return (
        f"{start} --mu 1 -o model.json\n{start} \\\n"
        "      --epsilon 1 --delta 1e-6 --ledger ledger.db --dataset hospital-2026 -o model.json"
    )


def _add_options(parser: Parser, kind: str) -> None:
    """Add the options of one kind."""
    add_table(parser, "table", "private rows")
    parser.add_argument("--target", required=True, metavar="COLUMN", help="what to predict")
    add_columns(parser)
    parser.add_argument(
        "--public",
        metavar="FILE",
        help="moments made by pmt public make, or a table of public rows, best with the target",
    )
    add_budget(parser)
    parser.add_argument(
        "--alpha",
        type=penalty,
        default=0.0,
        help='ridge penalty on the mean loss, or "auto" for the least predicted error',
    )
    parser.add_argument("--no-intercept", action="store_true", help="fit no intercept")
    if kind == "logistic":
        parser.add_argument(
            "--classes",
            type=listed,
            default=["0", "1"],
            metavar="A,B,...",
            help="all labels, which are public; 0,1 by default",
        )
    if kind == "poisson":
        parser.add_argument("--exposure", metavar="COLUMN", help="time or size behind each count")
    add_noise(parser)
    add_output(parser, "where to write the model")


def _fit(options: argparse.Namespace, screen: Screen) -> None:
    """Check everything that can be checked, then fit, write and show."""
    privacy = checked_budget(options)
    output = checked_output(
        options.output, force=options.force, inputs=[options.table, options.public]
    )
    shared = noise_arguments(options, screen)
    classes = parsed_classes(options.classes) if options.kind == "logistic" else None
    table = open_table(options.table, options.delimiter)
    public = public_input(options, table, classes)
    chosen = chosen_columns(options, table, public, labels=holds_words(classes))
    model = _model(options.kind)(
        alpha=options.alpha,
        fit_intercept=not options.no_intercept,
        privacy=privacy,
        public=public,
        **({} if classes is None else {"classes": classes}),
        **shared,
        **opened_ledger(options, output),
    )
    _fitted(model, table.rows(chosen.numbers, chosen.words), chosen)
    from publicmoments.models.model_file import save_model

    # Saved before it is shown: the budget is spent by now.
    save_model(model, output)
    summary = replace(model.summary(), response=chosen.target)
    screen.text(str(summary))
    screen.panel("privacy card", str(model.card_))
    screen.text(f"wrote {output}")
    screen.answer(
        {"output": str(output), "summary": summary.to_dict(), "card": model.card_.to_dict()}
    )


def _fitted(model: Any, rows: Any, chosen: Chosen) -> Any:
    """Fit a model to the rows of a dataset."""
    if chosen.others:
        return model.fit(rows, chosen.target, exposure=chosen.others[0])
    return model.fit(rows, chosen.target)


def _model(kind: str) -> Callable[..., Any]:
    """Return the maker of a model."""
    import publicmoments

    match kind:
        case "ridge":
            return publicmoments.Ridge
        case "logistic":
            return publicmoments.LogisticRegression
        case "poisson":
            return publicmoments.PoissonRegressor
        case "gamma":
            from publicmoments.families import Gamma

            return lambda **arguments: publicmoments.GLM(Gamma(), **arguments)
    raise CommandError(f"unknown kind {kind!r}")
