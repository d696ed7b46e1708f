"""``pmt fit``, ``pmt predict`` and ``pmt report``: a private model, from the rows to the page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from publicmoments.cli import parsing
from publicmoments.cli.columns import chosen_columns, holds_words, parsed_classes, public_input
from publicmoments.cli.failures import CommandError
from publicmoments.cli.inputs import TableFile, open_artefact, open_table
from publicmoments.cli.outputs import Screen, checked_output, csv_text, optional_output
from publicmoments.cli.parsing import Commands, option
from publicmoments.io.atomic import write_atomically

KINDS = {
    "ridge": "linear regression of numbers",
    "logistic": "regression of two or more classes",
    "poisson": "regression of counts",
    "gamma": "regression of positive sizes, with a logarithmic link",
}

OWN = {
    "logistic": [
        parsing.names(
            "--classes", "all labels, which are public; 0,1 by default", default=["0", "1"]
        )
    ],
    "poisson": [
        option("--exposure", metavar="COLUMN", help="time or size behind each count"),
    ],
}
"""Options that one kind has and others have not."""


def add_fit(commands: Commands) -> None:
    """Add the command that spends, one for each kind of model."""
    kinds = parsing.add_group(
        commands,
        "fit",
        "fit a private model",
        """\
  pmt fit ridge private.csv --target cost --public public.json --mu 1 -o model.json
  pmt fit logistic private.parquet --target ill --classes no,yes --public rows.csv \\
      --epsilon 1 --delta 1e-6 -o model.json""",
        description="Fit a private model. See pmt fit KIND --help.",
        metavar="KIND",
    )
    for kind, purpose in KINDS.items():
        parsing.add_command(
            kinds, kind, _fit, purpose, _examples(kind), *_fit_options(kind), kind=kind
        )


def add_predict(commands: Commands) -> None:
    """Add the command that predicts."""
    parsing.add_command(
        commands,
        "predict",
        _predict,
        "predict, with intervals, from the rows of a table",
        "  pmt predict model.json new.csv -o predicted.csv\n"
        "  pmt predict model.json new.parquet --level 0.9 | head",
        option("model", metavar="MODEL", help="a file of pmt fit"),
        parsing.table("table", "rows to predict from"),
        option("--level", type=float, default=0.95, help="coverage of intervals"),
        option("--exposure", metavar="COLUMN", help="of a Poisson model; 1 by default"),
        parsing.output("where to write predictions as CSV", required=False),
    )


def add_report(commands: Commands) -> None:
    """Add the command that writes a page."""
    parsing.add_command(
        commands,
        "report",
        _report,
        "write a page in HTML about a model or a release; costs no budget",
        "  pmt report model.json -o report.html\n  pmt report moments.pmr -o report.html",
        option("model", metavar="MODEL", help="a file of pmt fit, release or combine"),
        parsing.output("where to write the page"),
    )


def _examples(kind: str) -> str:
    """Examples of one kind."""
    extra = {"logistic": " --classes no,yes", "poisson": " --exposure years"}.get(kind, "")
    start = f"  pmt fit {kind} private.csv --target y{extra} --public public.json"
    return (
        f"{start} --mu 1 -o model.json\n{start} \\\n"
        "      --epsilon 1 --delta 1e-6 --ledger ledger.db --dataset hospital-2026 -o model.json"
    )


def _fit_options(kind: str) -> list[parsing.Option]:
    """Options of one kind."""
    return [
        parsing.table("table", "private rows"),
        parsing.TARGET,
        parsing.features,
        option(
            "--public",
            metavar="FILE",
            help="moments made by pmt public make, or a table of public rows, best with the target",
        ),
        parsing.budget(),
        option(
            "--alpha",
            type=parsing.penalty,
            default=0.0,
            help='ridge penalty on the mean loss, or "auto" for the least predicted error',
        ),
        parsing.NO_INTERCEPT,
        *OWN.get(kind, []),
        parsing.NOISE,
        parsing.output("where to write the model"),
    ]


def _fit(options: argparse.Namespace, screen: Screen) -> None:
    """Check everything that can be checked, then fit, write and show."""
    privacy = parsing.checked_budget(options)
    output = checked_output(options, options.table, options.public)
    shared = parsing.noise_arguments(options, screen)
    classes = parsed_classes(options.classes) if options.kind == "logistic" else None
    table = open_table(options.table, options.delimiter)
    public = public_input(options, table, classes)
    chosen = chosen_columns(options, table, public, labels=holds_words(classes))
    model = _maker(options.kind)(
        alpha=options.alpha,
        fit_intercept=not options.no_intercept,
        privacy=privacy,
        public=public,
        **({} if classes is None else {"classes": classes}),
        **shared,
        **parsing.opened_ledger(options, output),
    )
    exposure = {"exposure": chosen.others[0]} if chosen.others else {}
    model.fit(table.rows(chosen.numbers, chosen.words), chosen.target, **exposure)
    from publicmoments import save_model

    # Saved before it is shown: the budget is spent by now.
    save_model(model, output)
    summary = replace(model.summary(), response=chosen.target)
    screen.text(str(summary))
    screen.panel("privacy card", str(model.card_))
    screen.done(output, summary=summary.to_dict(), card=model.card_.to_dict())


def _maker(kind: str) -> Callable[..., Any]:
    """Return the maker of a model."""
    import publicmoments
    from publicmoments.families import Gamma

    makers: dict[str, Callable[..., Any]] = {
        "ridge": publicmoments.Ridge,
        "logistic": publicmoments.LogisticRegression,
        "poisson": publicmoments.PoissonRegressor,
        "gamma": partial(publicmoments.GLM, Gamma()),
    }
    return makers[kind]


def _predict(options: argparse.Namespace, screen: Screen) -> None:
    """Read, predict and write."""
    output = optional_output(options, options.table, options.model)
    model: Any = open_artefact(options.model)
    if not hasattr(model, "predict"):
        raise CommandError(f"{options.model} is a release; fit a regression to predict with")
    exposure = options.exposure
    if exposure is not None and type(model).__name__ != "PoissonRegressor":
        raise CommandError("--exposure is for Poisson models; leave it out")
    table = open_table(options.table, options.delimiter)
    features = _features(model, table)
    table.refuse_missing([exposure], "--exposure")
    columns = _columns(model)
    wanted = dict.fromkeys([*features, *([] if exposure is None else [exposure])])
    rows = [
        line
        for batch in table.batches(list(wanted))
        for line in _lines(model, batch, features, exposure, options.level)
    ]
    if output is not None:
        write_atomically(output, csv_text(columns, rows).encode())
        screen.text(f"{len(rows)} predictions")
        screen.done(output, columns=columns, n_rows=len(rows))
        return
    if not screen.as_json:
        sys.stdout.write(csv_text(columns, rows))
    screen.answer({"columns": columns, "rows": rows})


def _features(model: Any, table: TableFile) -> list[str]:
    """Columns to predict from: by name, or all of them for a model without names."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        table.refuse_missing(list(names), "the model")
        return list(names)
    if len(table.names) != model.n_features_in_:
        raise CommandError(
            f"{table.path} must have the {model.n_features_in_} features of the model, which have "
            f"no names, and nothing else; got {len(table.names)} columns"
        )
    return list(table.names)


def _columns(model: Any) -> list[str]:
    """Headings of the predictions."""
    classes = getattr(model, "classes_", None)
    ends = [] if model.noise_covariance_ is None else ["low", "high"]
    if classes is None:
        if model.coef_.ndim == 1:
            return ["prediction", *ends]
        marks = range(len(model.coef_))
        return [f"{name} {k}" for k in marks for name in ("prediction", *ends)]
    shown = [str(label) for label in classes]
    shown = shown[1:] if len(shown) == 2 else shown
    return ["prediction"] + [f"{name} {one}" for one in shown for name in ("probability", *ends)]


def _lines(
    model: Any, batch: Any, features: list[str], exposure: str | None, level: float
) -> list[list[Any]]:
    """Predictions of one batch, in the order of `_columns`."""
    import numpy as np

    X = batch.select(features)
    if not hasattr(model, "feature_names_in_"):
        X = np.column_stack([column.to_numpy() for column in X.columns])
    given = {}
    if exposure is not None:
        given["exposure"] = batch.column(exposure).to_numpy()
        if not (given["exposure"] > 0.0).all():
            raise CommandError("--exposure must hold positive numbers; drop other rows")
    first: list[Any] = []
    if hasattr(model, "classes_"):
        first = [model.predict(X)]
        chances = model.predict_proba(X)
        centres = chances[:, 1:] if chances.shape[1] == 2 else chances
    else:
        centres = model.predict(X, **given).reshape(batch.num_rows, -1)
    parts = [centres[:, :, None]]
    if model.noise_covariance_ is not None:
        ends = model.predict_interval(X, level, **given)
        parts.append(ends.reshape(batch.num_rows, -1, 2))
    numbers = np.concatenate(parts, axis=2).reshape(batch.num_rows, -1)
    columns = [*(column.tolist() for column in first), *numbers.T.tolist()]
    return [list(line) for line in zip(*columns, strict=True)]


def _report(options: argparse.Namespace, screen: Screen) -> None:
    """Load and write."""
    output = checked_output(options, options.model)
    from publicmoments.report.html import write_report

    write_report(open_artefact(options.model), output)
    screen.done(output)
