"""``pmt fit``, ``pmt predict`` and ``pmt report``: a private model, from the rows to the page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import publicmoments
from publicmoments.cli import parsing
from publicmoments.cli.columns import chosen_columns, public_input
from publicmoments.cli.failures import CommandError
from publicmoments.cli.inputs import TableFile, open_artefact, open_table
from publicmoments.cli.outputs import Screen, checked_output, csv_text, optional_output, write_text
from publicmoments.cli.parsing import Adds, Option, command, group, option


def _fit(options: argparse.Namespace, screen: Screen) -> None:
    """Check everything that can be checked, then fit, write and show."""
    privacy = parsing.checked_budget(options)
    output = checked_output(options, options.table, options.public)
    shared = parsing.noise_arguments(options, screen)
    table = open_table(options.table, options.delimiter)
    public = public_input(options, table)
    chosen = chosen_columns(options, table, public)
    model = _maker(options.kind)(
        alpha=options.alpha,
        fit_intercept=not options.no_intercept,
        privacy=privacy,
        public=public,
        **({} if chosen.classes is None else {"classes": chosen.classes}),
        **shared,
        **parsing.opened_ledger(options, output),
    )
    exposure = {"exposure": chosen.others[0]} if chosen.others else {}
    model.fit(table.rows(chosen.numbers, chosen.words), chosen.target, **exposure)
    # Saved before it is shown: the budget is spent by now.
    publicmoments.save_model(model, output)
    summary = model.summary()
    screen.text(str(summary))
    screen.panel("privacy card", str(model.card_))
    screen.done(output, summary=summary.to_dict(), card=model.card_.to_dict())


def _examples(kind: str) -> str:
    """Examples of one kind."""
    extra = {"logistic": " --classes no,yes", "poisson": " --exposure years"}.get(kind, "")
    start = f"  pmt fit {kind} private.csv --target y{extra} --public public.json"
    return (
        f"{start} --mu 1 -o model.json\n{start} \\\n"
        "      --epsilon 1 --delta 1e-6 --ledger ledger.db --dataset hospital-2026 -o model.json"
    )


def _fit_command(kind: str, purpose: str, *own: Option) -> Adds:
    """Fit models of one kind, which may have options of its own."""
    return command(
        kind,
        purpose,
        _examples(kind),
        parsing.table("table", "private rows"),
        parsing.TARGET,
        parsing.features,
        parsing.public(
            "moments made by pmt public make, or a table of public rows, best with the target"
        ),
        parsing.budget(),
        option(
            "--alpha",
            'ridge penalty on the mean loss, or "auto" for the least predicted error',
            type=parsing.penalty,
            default=0.0,
        ),
        parsing.NO_INTERCEPT,
        *own,
        parsing.NOISE,
        parsing.output("where to write the model"),
        kind=kind,
    )(_fit)


CLASSES = parsing.several(
    "--classes", "all labels, which are public; 0,1 by default", parsing.classes, default=(0, 1)
)
EXPOSURE = option("--exposure", "time or size behind each count", metavar="COLUMN")

fit_group = group(
    "fit",
    "fit a private model",
    """\
  pmt fit ridge private.csv --target cost --public public.json --mu 1 -o model.json
  pmt fit logistic private.parquet --target ill --classes no,yes --public rows.csv \\
      --epsilon 1 --delta 1e-6 -o model.json""",
    _fit_command("ridge", "linear regression of numbers"),
    _fit_command("logistic", "regression of two or more classes", CLASSES),
    _fit_command("poisson", "regression of counts", EXPOSURE),
    _fit_command("gamma", "regression of positive sizes, with a logarithmic link"),
    description="Fit a private model. See pmt fit KIND --help.",
    metavar="KIND",
)


def _maker(kind: str) -> Callable[..., Any]:
    """Return the maker of a model."""
    from publicmoments.families import Gamma

    makers: dict[str, Callable[..., Any]] = {
        "ridge": publicmoments.Ridge,
        "logistic": publicmoments.LogisticRegression,
        "poisson": publicmoments.PoissonRegressor,
        "gamma": partial(publicmoments.GLM, Gamma()),
    }
    return makers[kind]


@command(
    "predict",
    "predict, with intervals, from the rows of a table",
    "  pmt predict model.json new.csv -o predicted.csv\n"
    "  pmt predict model.json new.parquet --level 0.9 | head",
    option("model", "a file of pmt fit", metavar="MODEL"),
    parsing.table("table", "rows to predict from"),
    option("--level", "coverage of intervals", type=float, default=0.95),
    option("--exposure", "of a Poisson model; 1 by default", metavar="COLUMN"),
    parsing.output("where to write predictions as CSV", required=False),
)
def predict_command(options: argparse.Namespace, screen: Screen) -> None:
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
        write_text(output, csv_text(columns, rows))
        screen.text(f"{len(rows)} predictions")
        screen.done(output, columns=columns, n_rows=len(rows))
        return
    if not screen.as_json:
        sys.stdout.write(csv_text(columns, rows))
    screen.answer(columns=columns, rows=rows)


def _features(model: Any, table: TableFile) -> list[str]:
    """Columns to predict from: by name, or all of them for a model without names."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        table.refuse_missing(list(names), "the model")
        return list(names)
    if set(model.fit_.features) <= set(table.names):
        # Fitted to rows without names: these are the names of the public columns.
        return list(model.fit_.features)
    if len(table.names) != model.n_features_in_:
        raise CommandError(
            f"{table.path} must have the {model.n_features_in_} features of the model, which have "
            f"no names, and nothing else; got {len(table.names)} columns"
        )
    return list(table.names)


def _columns(model: Any) -> list[str]:
    """Headings of the predictions."""
    ends = [] if model.noise_covariance_ is None else ["low", "high"]
    classes = getattr(model, "classes_", None)
    if classes is not None:
        shown = classes[1:] if len(classes) == 2 else classes
        return ["prediction", *(f"{n} {one}" for one in shown for n in ("probability", *ends))]
    if model.coef_.ndim == 1:
        return ["prediction", *ends]
    return [f"{name} {k}" for k in range(len(model.coef_)) for name in ("prediction", *ends)]


def _lines(
    model: Any, batch: Any, features: list[str], exposure: str | None, level: float
) -> list[list[Any]]:
    """Predictions of one batch, in the order of `_columns`."""
    import numpy as np

    X, n = batch.select(features), batch.num_rows
    if not hasattr(model, "feature_names_in_"):
        X = np.column_stack([column.to_numpy() for column in X.columns])
    given = {}
    if exposure is not None:
        given["exposure"] = batch.column(exposure).to_numpy()
        if not (given["exposure"] > 0.0).all():
            raise CommandError("--exposure must hold positive numbers; drop other rows")
    labels = model.predict(X).tolist() if hasattr(model, "classes_") else None
    centres = model.predict(X, **given) if labels is None else model.predict_proba(X)
    if labels is not None and centres.shape[1] == 2:
        centres = centres[:, 1:]
    values = centres.reshape(n, -1, 1)
    if model.noise_covariance_ is not None:
        ends = model.predict_interval(X, level, **given).reshape(n, -1, 2)
        values = np.concatenate([values, ends], axis=2)
    lines: list[list[Any]] = values.reshape(n, -1).tolist()
    if labels is None:
        return lines
    return [[label, *line] for label, line in zip(labels, lines, strict=True)]


@command(
    "report",
    "write a page in HTML about a model or a release; costs no budget",
    "  pmt report model.json -o report.html\n  pmt report moments.pmr -o report.html",
    option("model", "a file of pmt fit, release or combine", metavar="MODEL"),
    parsing.output("where to write the page"),
)
def report_command(options: argparse.Namespace, screen: Screen) -> None:
    """Load and write."""
    output = checked_output(options, options.model)
    from publicmoments.report.html import write_report

    write_report(open_artefact(options.model), output)
    screen.done(output)
