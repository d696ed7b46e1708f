"""``pmt public``: moments that may be known to everyone."""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import publicmoments
from publicmoments.cli import parsing
from publicmoments.cli.columns import chosen_columns, public_rows
from publicmoments.cli.failures import CommandError, one_line
from publicmoments.cli.inputs import TableFile, open_moments, open_table
from publicmoments.cli.outputs import Screen, checked_output
from publicmoments.cli.parsing import command, group, option

MOMENTS = option("moments", "a file of pmt public make", metavar="MOMENTS")

MAKE = "  pmt public make published.csv --target cost -o public.json\n"
SHOW = "  pmt public show public.json"
CHECK = "  pmt public check public.json --table private.csv"
"""Examples."""


@command(
    "make",
    "make public moments from public rows, or from a published mean and covariance",
    f"{MAKE}"
    "  pmt public make published.parquet --target ill --classes no,yes -o public.json\n"
    "  pmt public make --mean mean.csv --covariance cov.csv --n 500 --target cost -o p.json",
    parsing.table("rows", "public rows", nargs="?"),
    option("--target", "the response, if it is public", metavar="COLUMN"),
    parsing.features,
    parsing.several("--classes", "labels of a target that holds words", parsing.classes),
    option("--mean", "published means: names, then one line", metavar="CSV"),
    option("--covariance", "published covariance: names, then one line for each", metavar="CSV"),
    option("--n", "rows behind the published moments", type=int),
    parsing.output("where to write the moments, as JSON"),
)
def _make(options: argparse.Namespace, screen: Screen) -> None:
    """Make moments and write them."""
    output = checked_output(options, options.rows, options.mean, options.covariance)
    stated = [one is not None for one in (options.mean, options.covariance, options.n)]
    if any(stated) if options.rows is not None else not all(stated):
        raise CommandError("pass public rows, or --mean, --covariance and --n together")
    public = _published(options) if options.rows is None else _from_rows(options)
    from publicmoments.public.suspicion import warn_of_identifiers

    warn_of_identifiers(public, public.columns)
    public.save(output)
    screen.text(repr(public))
    screen.done(output, **_facts(public))


def _from_rows(options: argparse.Namespace) -> publicmoments.PublicMoments:
    """Compute the moments of public rows."""
    rows = open_table(options.rows, options.delimiter)
    if options.classes is not None and options.target is None:
        raise CommandError("--classes are those of --target; name it")
    return public_rows(rows, chosen_columns(options, rows))


def _published(options: argparse.Namespace) -> publicmoments.PublicMoments:
    """Read a published mean and covariance."""
    means = open_table(options.mean, options.delimiter)
    spread = open_table(options.covariance, options.delimiter)
    columns = chosen_columns(options, means)
    spread.refuse_missing(columns.numbers, "--mean")
    mean = means.read(columns.numbers)
    if mean.num_rows != 1:
        raise CommandError(
            f"{means.path} must hold one line of means below the names, got {mean.num_rows}"
        )
    return publicmoments.PublicMoments.from_mean_cov(
        [column[0].as_py() for column in mean.columns],
        _covariance(spread, columns.numbers),
        options.n,
        columns=list(columns.numbers),
        response=columns.target,
    )


def _covariance(spread: TableFile, names: tuple[str, ...]) -> list[list[float]]:
    """Read the wanted lines and columns; lines are in the order of the columns."""
    # A first column that has no name, or is called so, holds the names of the lines.
    named = spread.names[0].strip().lower() in ("", "name", "names", "column", "variable")
    every = spread.names[1:] if named else spread.names
    table = spread.read(every, spread.names[:1] if named else ())
    if table.num_rows != len(every):
        raise CommandError(
            f"{spread.path} must have one line for each of its {len(every)} columns, got "
            f"{table.num_rows}"
        )
    if named and table.column(spread.names[0]).to_pylist() != list(every):
        raise CommandError(f"{spread.path} must name its lines as its columns, in the same order")
    lines = [every.index(name) for name in names]
    columns = [table.column(name).to_pylist() for name in names]
    return [[column[line] for column in columns] for line in lines]


@command("show", "show what public moments hold", SHOW, MOMENTS)
def _show(options: argparse.Namespace, screen: Screen) -> None:
    """Show means and standard deviations."""
    public = open_moments(options.moments)
    facts = _facts(public)
    screen.text(f"{public!r}\nfingerprint {public.fingerprint}")
    screen.table(
        "",
        ["column", "mean", "standard deviation", "root mean square"],
        [
            [one["column"], *(_shown(one[key]) for key in ("mean", "sd", "rms"))]
            for one in facts["features"]
        ],
    )
    for one in facts["responses"]:
        screen.text(f"response {one['column']}: root mean square {one['rms']:.6g}")
    screen.answer(**facts)


@command(
    "check",
    "check public moments, and whether a table has their columns; no row of it is read",
    CHECK,
    MOMENTS,
    option("--table", "a private table", metavar="TABLE"),
    parsing.flag("--no-intercept", "as in the fit to come"),
    parsing.DELIMITER,
)
def _check(options: argparse.Namespace, screen: Screen) -> None:
    """Check that moments can whiten, and that a table has their columns."""
    public = open_moments(options.moments)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        design = public.design(fit_intercept=not options.no_intercept)
    remarks = [one_line(one.message) for one in caught]
    if options.table is not None:
        table = open_table(options.table, options.delimiter)
        wanted = public.columns or ()
        table.refuse_missing(wanted, "the file of public moments")
        if not wanted:
            remarks.append("the moments name no columns, so that those of the table must be theirs")
    screen.text(f"{options.moments} is valid: a design of {design.n_columns} columns")
    for remark in remarks:
        screen.text(f"remark: {remark}")
    screen.answer(valid=True, remarks=remarks, **_facts(public))


public_group = group(
    "public", "make, show and check public moments", f"{MAKE}{SHOW}\n{CHECK}", _make, _show, _check
)


def _facts(public: publicmoments.PublicMoments) -> dict[str, Any]:
    """What moments hold, in plain numbers."""
    import numpy as np

    d = len(public.second_moment)
    names = public.columns or tuple(f"x{k}" for k in range(d))
    means = [None] * d if public.mean is None else public.mean.tolist()
    covariance = public.covariance
    sds = [None] * d if covariance is None else np.sqrt(np.diag(covariance)).tolist()
    rms = np.sqrt(np.diag(public.second_moment)).tolist()
    answer = public.response
    scales = [] if answer is None else answer.scale.tolist()
    labels = getattr(answer, "names", None) or tuple(f"y{k}" for k in range(len(scales)))
    return {
        "n": public.n,
        "fingerprint": public.fingerprint,
        "features": [
            {"column": name, "mean": mean, "sd": sd, "rms": size}
            for name, mean, sd, size in zip(names, means, sds, rms, strict=True)
        ],
        "responses": [
            {"column": name, "rms": size} for name, size in zip(labels, scales, strict=True)
        ],
    }


def _shown(value: float | None) -> str:
    """A number, or that it is unknown."""
    return "unknown" if value is None else f"{value:.6g}"
