"""``pmt release``, ``pmt combine`` and ``pmt path``: moments released once, read many times."""

from __future__ import annotations

import argparse
from pathlib import Path

import publicmoments
from publicmoments.cli import parsing
from publicmoments.cli.columns import chosen_columns, public_input
from publicmoments.cli.inputs import open_release, open_table
from publicmoments.cli.outputs import Screen, checked_output, csv_text, optional_output, write_text
from publicmoments.cli.parsing import command, option

ALPHAS = [0.0, 0.0001, 0.001, 0.01, 0.1, 1.0, 10.0]
"""Penalties of a path by default."""


@command(
    "release",
    "release the second moments of all columns, once, for any number of regressions",
    "  pmt release private.parquet --public public.csv --mu 1 -o moments.pmr\n"
    "  pmt release site-a.csv --public public.json --mu 1 --radius 4 -o site-a.pmr",
    parsing.table("table", "private rows"),
    parsing.features,
    parsing.public(
        "moments of all columns, made by pmt public make without --target, or public rows",
        required=True,
    ),
    parsing.budget(),
    option("--radius", "longest row of full weight; sites that combine agree on one", type=float),
    parsing.NOISE,
    parsing.output("where to write the release"),
    target=None,
)
def release_command(options: argparse.Namespace, screen: Screen) -> None:
    """Check everything that can be checked, then release, write and show."""
    privacy = parsing.checked_budget(options)
    output = checked_output(options, options.table, options.public)
    shared = parsing.noise_arguments(options, screen)
    table = open_table(options.table, options.delimiter)
    public = public_input(options, table)
    chosen = chosen_columns(options, table, public)
    assert public is not None, "the option is required"
    released = publicmoments.release_moments(
        table.rows(chosen.numbers),
        privacy=privacy,
        public=public,
        radius=options.radius,
        **shared,
        **parsing.opened_ledger(options, output),
    )
    _keep(released, output, screen)


@command(
    "combine",
    "add up the releases of several sites with rows of their own; costs no budget",
    "  pmt combine site-a.pmr site-b.pmr -o both.pmr",
    option("releases", "files of pmt release", nargs="+", metavar="RELEASE"),
    parsing.output("where to write the combined release"),
)
def combine_command(options: argparse.Namespace, screen: Screen) -> None:
    """Add up releases."""
    output = checked_output(options, *options.releases)
    _keep(publicmoments.combine([open_release(path) for path in options.releases]), output, screen)


def _keep(release: publicmoments.MomentRelease, output: Path, screen: Screen) -> None:
    """Write a release, then show it: its budget is spent by now."""
    release.save(output)
    screen.text(f"{release.n_rows} rows, columns {', '.join(release.labels)}")
    screen.panel("privacy card", str(release.card))
    card = release.card.to_dict()
    screen.done(output, n_rows=release.n_rows, columns=list(release.labels), card=card)


@command(
    "path",
    "regress one column of a release on others, with many penalties; costs no budget",
    "  pmt path moments.pmr --target cost\n"
    "  pmt path moments.pmr --target cost --features age,bmi --alphas 0,0.1,1 -o path.csv",
    option("release", "a file of pmt release or pmt combine", metavar="RELEASE"),
    parsing.TARGET,
    parsing.FEATURES,
    parsing.several("--alphas", "ridge penalties", parsing.numbers, default=ALPHAS),
    parsing.NO_INTERCEPT,
    parsing.output("where to write the coefficients as CSV", required=False),
)
def path_command(options: argparse.Namespace, screen: Screen) -> None:
    """Show coefficients by penalty, and the summary at the penalty that predicts best."""
    output = optional_output(options, options.release)
    release = open_release(options.release)
    asked = {"features": options.features, "fit_intercept": not options.no_intercept}
    path = release.path(options.target, options.alphas, **asked)
    best = release.choose_alpha(options.target, options.alphas, **asked)
    summary = release.ridge(options.target, best, **asked).summary()
    names, alphas = [*path.features, "(intercept)"], path.alphas.tolist()
    by_name = [*path.coefs.T.tolist(), path.intercepts.tolist()]
    if output is not None:
        rows = zip(alphas, *by_name, strict=True)
        write_text(output, csv_text(["alpha", *names], rows))
    screen.table(
        f"coefficients of {options.target} by penalty",
        ["", *(f"{alpha:g}" for alpha in alphas)],
        [
            [name, *(f"{value:.5g}" for value in row)]
            for name, row in zip(names, by_name, strict=True)
        ],
    )
    screen.text(f"\nleast expected error of predictions at alpha {best:g}:\n{summary}")
    screen.done(
        output,
        features=list(path.features),
        alphas=alphas,
        coefs=path.coefs.tolist(),
        intercepts=path.intercepts.tolist(),
        best_alpha=best,
        summary=summary.to_dict(),
    )
