"""``pmt plan``: what a fit will be worth, before any budget is spent."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from publicmoments.cli.columns import add_columns, parsed_classes, public_input
from publicmoments.cli.failures import CommandError
from publicmoments.cli.parsing import (
    Commands,
    add_budget,
    add_command,
    add_delimiter,
    checked_budgets,
    listed,
)

if TYPE_CHECKING:
    from publicmoments.cli.screen import Screen


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "plan",
        _plan,
        "predict the accuracy of a private fit; reads no private row and costs no budget",
        "  pmt plan --rows 30000 --public public.json --mu 0.3 1 3\n"
        "  pmt plan --rows 30000 --n-features 6 --r2 0.4 --epsilon 0.5 1 2 --delta 1e-6\n"
        "  pmt plan --rows 30000 --public public.json --error 50    (the smallest budget)\n"
        "  pmt plan --mu 1 --public public.json --error 50          (the fewest rows)",
    )
    parser.add_argument("--rows", type=int, help="number of private rows")
    parser.add_argument(
        "--public",
        metavar="FILE",
        help="moments made by pmt public make, or a table of public rows",
    )
    parser.add_argument("--target", metavar="COLUMN", help="the response among public rows")
    add_columns(parser)
    parser.add_argument("--classes", type=listed, metavar="A,B,...", help="labels of the target")
    add_delimiter(parser)
    parser.add_argument("--n-features", type=int, help="where nothing else is public")
    parser.add_argument(
        "--model", choices=("ridge", "logistic", "poisson"), default="ridge", metavar="MODEL"
    )
    add_budget(parser, several=True, required=False)
    parser.add_argument("--error", type=float, help="wanted root mean square error of predictions")
    parser.add_argument("--alpha", type=float, default=0.0, help="ridge penalty")
    parser.add_argument("--no-intercept", action="store_true", help="fit no intercept")
    parser.add_argument(
        "--r2",
        type=float,
        help="expected share of variance, or of the deviance of labels, explained",
    )
    parser.add_argument("--residual-sd", type=float, help="expected size of residuals")
    parser.add_argument("--predictor-sd", type=float, help="expected size of the linear predictor")
    parser.add_argument(
        "--response-mean", type=float, help="expected share of the second class, or mean count"
    )
    parser.add_argument(
        "--kurtosis",
        type=float,
        help="how heavy the tails of the features are; 1 for Gaussian ones",
    )
    parser.add_argument(
        "--mean-exposure", type=float, default=1.0, help="mean exposure of rows of counts"
    )
    parser.add_argument(
        "--rehearsals", type=int, default=6, help="made-up populations; 6 by default"
    )


def _plan(options: argparse.Namespace, screen: Screen) -> None:
    """Answer whichever question was asked."""
    budgets = None
    if any(value is not None for value in (options.mu, options.epsilon, options.rho)):
        budgets = checked_budgets(options)
    elif options.delta is not None:
        raise CommandError("--epsilon and --delta go together; pass both, or neither")
    public, rest = _question(options)
    if options.error is not None:
        _inverse(options, budgets, public, rest, screen)
        return
    if options.rows is None or budgets is None:
        raise CommandError("pass --rows and a budget, or --error with one of them")
    from publicmoments import plan

    answer = plan(options.rows, budgets, public, **rest)
    screen.text(str(answer))
    screen.answer(
        {
            "n_rows": answer.n_rows,
            "model": answer.model,
            "forecasts": answer.to_dict(),
            "non_private": answer.non_private.prediction_error,
            "public_only": getattr(answer.public_only, "prediction_error", None),
            "recommendation": answer.recommendation,
        }
    )


def _question(options: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """Public moments, and the arguments that all questions share."""
    classes = None if options.classes is None else parsed_classes(options.classes)
    return public_input(options, classes=classes), {
        "n_features": options.n_features,
        "model": options.model,
        "alpha": options.alpha,
        "fit_intercept": not options.no_intercept,
        "r2": options.r2,
        "residual_sd": options.residual_sd,
        "predictor_sd": options.predictor_sd,
        "response_mean": options.response_mean,
        "kurtosis": options.kurtosis,
        "exposure": options.mean_exposure,
        "rehearsals": options.rehearsals,
    }


def _inverse(
    options: argparse.Namespace, budgets: Any, public: Any, rest: dict[str, Any], screen: Screen
) -> None:
    """Find the smallest budget for some rows, or the fewest rows for a budget."""
    from publicmoments.planner import smallest_budget, smallest_n
    from publicmoments.privacy.rounding import text_above

    if (options.rows is None) == (budgets is None) or (budgets and len(budgets) > 1):
        raise CommandError("with --error, pass either --rows or one budget; the other is found")
    if budgets is None:
        found = smallest_budget(options.error, options.rows, public, **rest)
        screen.text(f"the smallest budget is about mu {text_above(found.mu, 3)}")
        screen.answer({"mu": found.mu, "n_rows": options.rows, "error": options.error})
        return
    n_rows = smallest_n(options.error, budgets[0], public, **rest)
    screen.text(f"the fewest rows are about {n_rows}")
    screen.answer({"mu": budgets[0].to_gdp().mu, "n_rows": n_rows, "error": options.error})
