"""``pmt release``, ``pmt combine`` and ``pmt path``: moments released once, read many times."""

from __future__ import annotations

import argparse
import csv
import io
from typing import TYPE_CHECKING, Any

from publicmoments.cli.columns import add_columns, chosen_columns, public_input
from publicmoments.cli.failures import CommandError
from publicmoments.cli.outputs import checked_output, existing, write_text
from publicmoments.cli.parsing import (
    Commands,
    add_budget,
    add_command,
    add_output,
    add_table,
    checked_budget,
    listed,
    numbers,
    opened_ledger,
)
from publicmoments.cli.pmt_fit import add_noise, noise_arguments
from publicmoments.cli.table_files import open_table

if TYPE_CHECKING:
    from publicmoments.cli.screen import Screen
    from publicmoments.release.views.regression import MomentPath

ALPHAS = [0.0, 0.0001, 0.001, 0.01, 0.1, 1.0, 10.0]
"""Penalties of a path by default."""


def add_to(commands: Commands) -> None:
    """Add the commands."""
    _add_release(commands)
    combine = add_command(
        commands,
        "combine",
        _combine,
        "add up the releases of several sites with rows of their own; costs no budget",
        "  pmt combine site-a.pmr site-b.pmr -o both.pmr",
    )
    combine.add_argument("releases", nargs="+", metavar="RELEASE", help="files of pmt release")
    add_output(combine, "where to write the combined release")
    _add_path(commands)


def _add_release(commands: Commands) -> None:
    """Add the command that spends."""
    release = add_command(
        commands,
        "release",
        _release,
        "release the second moments of all columns, once, for any number of regressions",
        "  pmt release private.parquet --public public.csv --mu 1 -o moments.pmr\n"
        "  pmt release site-a.csv --public public.json --mu 1 --radius 4 -o site-a.pmr",
    )
    add_table(release, "table", "private rows")
    add_columns(release)
    release.set_defaults(target=None)
    release.add_argument(
        "--public",
        required=True,
        metavar="FILE",
        help="moments of all columns, made by pmt public make without --target, or public rows",
    )
    add_budget(release)
    release.add_argument(
        "--radius", type=float, help="longest row of full weight; sites that combine agree on one"
    )
    add_noise(release)
    add_output(release, "where to write the release")


def _add_path(commands: Commands) -> None:
    """Add the command that reads regressions off a release."""
    path = add_command(
        commands,
        "path",
        _path,
        "regress one column of a release on others, with many penalties; costs no budget",
        "  pmt path moments.pmr --target cost\n"
        "  pmt path moments.pmr --target cost --features age,bmi --alphas 0,0.1,1 -o path.csv",
    )
    path.add_argument("release", metavar="RELEASE", help="a file of pmt release or pmt combine")
    path.add_argument("--target", required=True, metavar="COLUMN", help="what to predict")
    path.add_argument(
        "--features", type=listed, metavar="A,B,...", help="only these; all others by default"
    )
    path.add_argument(
        "--alphas", type=numbers, default=ALPHAS, metavar="A,B,...", help="ridge penalties"
    )
    path.add_argument("--no-intercept", action="store_true", help="fit no intercept")
    add_output(path, "where to write the coefficients as CSV", required=False)


def _release(options: argparse.Namespace, screen: Screen) -> None:
    """Check everything that can be checked, then release, write and show."""
    privacy = checked_budget(options)
    output = checked_output(
        options.output, force=options.force, inputs=[options.table, options.public]
    )
    shared = noise_arguments(options, screen)
    table = open_table(options.table, options.delimiter)
    public = public_input(options, table)
    chosen = chosen_columns(options, table, public)
    from publicmoments import release_moments

    assert public is not None, "the option is required"
    released = release_moments(
        table.rows(chosen.numbers),
        privacy=privacy,
        public=public,
        radius=options.radius,
        **shared,
        **opened_ledger(options, output),
    )
    released.save(output)
    _tell(released, output, screen)


def _combine(options: argparse.Namespace, screen: Screen) -> None:
    """Add up releases."""
    output = checked_output(options.output, force=options.force, inputs=options.releases)
    from publicmoments import combine

    whole = combine([_opened(path) for path in options.releases])
    whole.save(output)
    _tell(whole, output, screen)


def _path(options: argparse.Namespace, screen: Screen) -> None:
    """Show coefficients by penalty, and the summary at the penalty that predicts best."""
    target = None
    if options.output is not None:
        target = checked_output(options.output, force=options.force, inputs=[options.release])
    release = _opened(options.release)
    asked = {"features": options.features, "fit_intercept": not options.no_intercept}
    path = release.path(options.target, options.alphas, **asked)
    best = release.choose_alpha(options.target, options.alphas, **asked)
    summary = release.ridge(options.target, best, **asked).summary()
    if target is not None:
        write_text(target, _csv(path))
    _show_path(path, options.target, screen)
    screen.text(f"\nleast expected error of predictions at alpha {best:g}:\n{summary}")
    if target is not None:
        screen.text(f"wrote {target}")
    screen.answer(
        {
            "output": None if target is None else str(target),
            "features": list(path.features),
            "alphas": path.alphas.tolist(),
            "coefs": path.coefs.tolist(),
            "intercepts": path.intercepts.tolist(),
            "best_alpha": best,
            "summary": summary.to_dict(),
        }
    )


def _show_path(path: MomentPath, target: str, screen: Screen) -> None:
    """Show coefficients, with one column for each penalty."""
    names = (*path.features, "(intercept)")
    screen.table(
        f"coefficients of {target} by penalty",
        ["", *(f"{alpha:g}" for alpha in path.alphas)],
        [
            [name, *(f"{value:.5g}" for value in row)]
            for name, row in zip(names, _rows(path), strict=True)
        ],
    )


def _rows(path: MomentPath) -> list[list[float]]:
    """Coefficients by feature and, last, intercepts."""
    rows: list[list[float]] = [*path.coefs.T.tolist(), path.intercepts.tolist()]
    return rows


def _csv(path: MomentPath) -> str:
    """One line for each penalty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["alpha", *path.features, "(intercept)"])
    columns = zip(*_rows(path), strict=True)
    writer.writerows([a, *c] for a, c in zip(path.alphas.tolist(), columns, strict=True))
    return text.getvalue()


def _opened(path: str) -> Any:
    """Load a release."""
    from publicmoments import MomentRelease

    found = existing(path)
    if found.is_dir():
        raise CommandError(f"{path} is a folder; name a file of pmt release")
    return MomentRelease.load(found)


def _tell(release: Any, output: Any, screen: Screen) -> None:
    """Show a release."""
    screen.text(f"{release.n_rows} rows, columns {', '.join(release.labels)}")
    screen.panel("privacy card", str(release.card))
    screen.text(f"wrote {output}")
    screen.answer(
        {
            "output": str(output),
            "n_rows": release.n_rows,
            "columns": list(release.labels),
            "card": release.card.to_dict(),
        }
    )
