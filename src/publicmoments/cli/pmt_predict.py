"""``pmt predict``: predictions and intervals for the rows of a table."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from typing import TYPE_CHECKING, Any

from publicmoments.cli.failures import CommandError
from publicmoments.cli.outputs import checked_output, open_artefact, write_text
from publicmoments.cli.parsing import Commands, add_command, add_output, add_table
from publicmoments.cli.table_files import TableFile, open_table

if TYPE_CHECKING:
    from publicmoments.cli.screen import Screen


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "predict",
        _predict,
        "predict, with intervals, from the rows of a table",
        "  pmt predict model.json new.csv -o predicted.csv\n"
        "  pmt predict model.json new.parquet --level 0.9 | head",
    )
    parser.add_argument("model", metavar="MODEL", help="a file of pmt fit")
    add_table(parser, "table", "rows to predict from")
    parser.add_argument("--level", type=float, default=0.95, help="coverage of intervals")
    parser.add_argument("--exposure", metavar="COLUMN", help="of a Poisson model; 1 by default")
    add_output(parser, "where to write predictions as CSV", required=False)


def _predict(options: argparse.Namespace, screen: Screen) -> None:
    """Read, predict and write."""
    output = None
    if options.output is not None:
        inputs = [options.table, options.model]
        output = checked_output(options.output, force=options.force, inputs=inputs)
    model = open_artefact(options.model)
    if not hasattr(model, "predict"):
        raise CommandError(f"{options.model} is a release; fit a regression to predict with")
    exposure = options.exposure
    if exposure is not None and type(model).__name__ != "PoissonRegressor":
        raise CommandError("--exposure is for Poisson models; leave it out")
    table = open_table(options.table, options.delimiter)
    features = _features(model, table, options.table)
    columns = _columns(model)
    numbers = list(dict.fromkeys([*features, *([] if exposure is None else [exposure])]))
    table.refuse_missing([] if exposure is None else [exposure], "--exposure")
    rows: list[list[Any]] = []
    for batch in table.batches(numbers):
        rows.extend(_lines(model, batch, features, exposure, options.level))
    if output is None:
        if not screen.as_json:
            sys.stdout.write(_csv(columns, rows))
        screen.answer({"columns": columns, "rows": rows})
        return
    write_text(output, _csv(columns, rows))
    screen.text(f"{len(rows)} predictions\nwrote {output}")
    screen.answer({"output": str(output), "columns": columns, "n_rows": len(rows)})


def _features(model: Any, table: TableFile, path: str) -> list[str]:
    """Columns to predict from: by name, or all of them for a model without names."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        table.refuse_missing(list(names), "the model")
        return list(names)
    if len(table.names) != model.n_features_in_:
        raise CommandError(
            f"{path} must have the {model.n_features_in_} features of the model, which have no "
            f"names, and nothing else; got {len(table.names)} columns"
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


def _csv(columns: list[str], rows: list[list[Any]]) -> str:
    """Lay out as CSV, numbers with all their digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()
