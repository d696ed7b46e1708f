"""``pmt plan``: what a fit will be worth, before any budget is spent."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from publicmoments.cli import parsing
from publicmoments.cli.columns import parsed_classes, public_input
from publicmoments.cli.failures import CommandError
from publicmoments.cli.outputs import Screen
from publicmoments.cli.parsing import Commands, option

if TYPE_CHECKING:
    from publicmoments import PublicMoments
    from publicmoments.privacy.budgets import Budget

EXAMPLES = """\
  pmt plan --rows 30000 --public public.json --mu 0.3 1 3
  pmt plan --rows 30000 --n-features 6 --r2 0.4 --epsilon 0.5 1 2 --delta 1e-6
  pmt plan --rows 30000 --public public.json --error 50    (the smallest budget)
  pmt plan --mu 1 --public public.json --error 50          (the fewest rows)"""

SIZES = {
    "--r2": "expected share of variance, or of the deviance of labels, explained",
    "--residual-sd": "expected size of residuals",
    "--predictor-sd": "expected size of the linear predictor",
    "--response-mean": "expected share of the second class, or mean count",
    "--kurtosis": "how heavy the tails of the features are; 1 for Gaussian ones",
}
"""Numbers that may be known of the population, where public rows do not tell."""


def add_plan(commands: Commands) -> None:
    """Add the command."""
    parsing.add_command(
        commands,
        "plan",
        _plan,
        "predict the accuracy of a private fit; reads no private row and costs no budget",
        EXAMPLES,
        option("--rows", type=int, help="number of private rows"),
        option(
            "--public",
            metavar="FILE",
            help="moments made by pmt public make, or a table of public rows",
        ),
        option("--target", metavar="COLUMN", help="the response among public rows"),
        parsing.features,
        parsing.names("--classes", "labels of the target"),
        parsing.DELIMITER,
        option("--n-features", type=int, help="where nothing else is public"),
        option(
            "--model", choices=("ridge", "logistic", "poisson"), default="ridge", metavar="MODEL"
        ),
        parsing.budget(several=True, required=False),
        option("--error", type=float, help="wanted root mean square error of predictions"),
        option("--alpha", type=float, default=0.0, help="ridge penalty"),
        parsing.NO_INTERCEPT,
        *(option(name, type=float, help=purpose) for name, purpose in SIZES.items()),
        option("--mean-exposure", type=float, default=1.0, help="mean exposure of rows of counts"),
        option("--rehearsals", type=int, default=6, help="made-up populations; 6 by default"),
    )


def _plan(options: argparse.Namespace, screen: Screen) -> None:
    """Answer whichever question was asked."""
    budgets = None
    if any(value is not None for value in (options.mu, options.epsilon, options.rho)):
        budgets = parsing.checked_budgets(options)
    elif options.delta is not None:
        raise CommandError("--epsilon and --delta go together; pass both, or neither")
    classes = None if options.classes is None else parsed_classes(options.classes)
    public, rest = public_input(options, classes=classes), _question(options)
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


def _question(options: argparse.Namespace) -> dict[str, Any]:
    """Arguments that all questions share."""
    return {
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
    options: argparse.Namespace,
    budgets: list[Budget] | None,
    public: PublicMoments | None,
    rest: dict[str, Any],
    screen: Screen,
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
