"""``pmt plan``: what a fit will be worth, before any budget is spent."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import publicmoments
from publicmoments.cli import parsing
from publicmoments.cli.columns import public_input
from publicmoments.cli.failures import CommandError
from publicmoments.cli.outputs import Screen
from publicmoments.cli.parsing import command, option

if TYPE_CHECKING:
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

AS_THEY_ARE = ["n_features", "model", "alpha", "r2", "residual_sd", "predictor_sd"]
AS_THEY_ARE += ["response_mean", "kurtosis", "rehearsals"]
"""Options that are arguments of all questions under the same name."""


@command(
    "plan",
    "predict the accuracy of a private fit; reads no private row and costs no budget",
    EXAMPLES,
    option("--rows", "number of private rows", type=int),
    parsing.public("moments made by pmt public make, or a table of public rows"),
    option("--target", "the response among public rows", metavar="COLUMN"),
    parsing.features,
    parsing.several("--classes", "labels of the target", parsing.classes),
    parsing.DELIMITER,
    option("--n-features", "where nothing else is public", type=int),
    option("--model", choices=("ridge", "logistic", "poisson"), default="ridge", metavar="MODEL"),
    parsing.budget(required=False, nargs="+"),
    option("--error", "wanted root mean square error of predictions", type=float),
    option("--alpha", "ridge penalty", type=float, default=0.0),
    parsing.NO_INTERCEPT,
    *(option(name, purpose, type=float) for name, purpose in SIZES.items()),
    option("--mean-exposure", "mean exposure of rows of counts", type=float, default=1.0),
    option("--rehearsals", "made-up populations; 6 by default", type=int, default=6),
)
def plan_command(options: argparse.Namespace, screen: Screen) -> None:
    """Answer whichever question was asked."""
    budgets = None
    if any(value is not None for value in (options.mu, options.epsilon, options.rho)):
        budgets = parsing.checked_budgets(options)
    elif options.delta is not None:
        raise CommandError("--epsilon and --delta go together; pass both, or neither")
    question = {name: getattr(options, name) for name in AS_THEY_ARE} | {
        "public": public_input(options),
        "fit_intercept": not options.no_intercept,
        "exposure": options.mean_exposure,
    }
    if options.error is not None:
        _inverse(options, budgets, question, screen)
        return
    if options.rows is None or budgets is None:
        raise CommandError("pass --rows and a budget, or --error with one of them")
    answer = publicmoments.plan(options.rows, budgets, **question)
    screen.text(str(answer))
    screen.answer(
        n_rows=answer.n_rows,
        model=answer.model,
        forecasts=answer.to_dict(),
        non_private=answer.non_private.prediction_error,
        public_only=getattr(answer.public_only, "prediction_error", None),
        recommendation=answer.recommendation,
    )


def _inverse(
    options: argparse.Namespace,
    budgets: list[Budget] | None,
    question: dict[str, Any],
    screen: Screen,
) -> None:
    """Find the smallest budget for some rows, or the fewest rows for a budget."""
    from publicmoments.planner import smallest_budget, smallest_n
    from publicmoments.privacy.rounding import text_above

    if (options.rows is None) == (budgets is None) or (budgets and len(budgets) > 1):
        raise CommandError("with --error, pass either --rows or one budget; the other is found")
    if budgets is None:
        found = smallest_budget(options.error, options.rows, **question)
        screen.text(f"the smallest budget is about mu {text_above(found.mu, 3)}")
        screen.answer(mu=found.mu, n_rows=options.rows, error=options.error)
        return
    n_rows = smallest_n(options.error, budgets[0], **question)
    screen.text(f"the fewest rows are about {n_rows}")
    screen.answer(mu=budgets[0].to_gdp().mu, n_rows=n_rows, error=options.error)
