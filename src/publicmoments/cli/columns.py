"""Which columns of a table take part, and what is public of them."""

from __future__ import annotations

import argparse
import filecmp
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import publicmoments
from publicmoments.cli.failures import CommandError
from publicmoments.cli.inputs import TableFile, existing, open_moments, open_table


@dataclass(frozen=True)
class Chosen:
    """
    Columns of a table that take part.

    Parameters
    ----------
    features : tuple of str
        Columns to predict from.
    target : str or None
        Column to predict.
    classes : tuple or None
        Labels of the target, where they were stated.
    others : tuple of str
        Further columns of numbers, such as an exposure.
    """

    features: tuple[str, ...]
    target: str | None
    classes: tuple[Any, ...] | None = None
    others: tuple[str, ...] = ()

    @property
    def numbers(self) -> tuple[str, ...]:
        """Columns that must hold numbers."""
        numeric = () if self.target is None or self.words else (self.target,)
        return (*self.features, *numeric, *self.others)

    @property
    def words(self) -> tuple[str, ...]:
        """Columns that hold labels: the target, where its classes are words."""
        worded = self.classes is not None and isinstance(self.classes[0], str)
        return (self.target,) if self.target is not None and worded else ()


def chosen_columns(
    options: argparse.Namespace,
    table: TableFile,
    public: publicmoments.PublicMoments | None = None,
) -> Chosen:
    """
    Decide which columns take part: those asked for, those that are public, or all.

    Parameters
    ----------
    options : Namespace
        With ``target``, ``features``, ``drop`` and, where there are any, ``exposure`` and
        ``classes``.
    table : TableFile
        The table.
    public : PublicMoments, optional
        Moments whose columns the features must be.

    Returns
    -------
    Chosen
    """
    target, exposure = options.target, getattr(options, "exposure", None)
    taken = [name for name in (target, exposure) if name is not None]
    table.refuse_missing([target], "--target")
    table.refuse_missing([exposure], "--exposure")
    features = _features(options, table, public, taken)
    if len(set(taken)) != len(taken) or set(features) & set(taken):
        raise CommandError("target, exposure and features must be different columns")
    if not features:
        raise CommandError("no feature is left; name other columns")
    classes = getattr(options, "classes", None)
    return Chosen(tuple(features), target, classes, () if exposure is None else (exposure,))


def public_input(
    options: argparse.Namespace, table: TableFile | None = None
) -> publicmoments.PublicMoments | None:
    """
    Read what is public: moments from a JSON file, or rows from a table.

    Rows are read with the columns of the private table, where there is one; a target that they lack
    is then left out.
    """
    if options.public is None:
        return None
    if existing(options.public).suffix.lower() == ".json":
        return open_moments(options.public)
    rows = open_table(options.public, options.delimiter)
    if table is not None:
        _refuse_private(rows, table, contents=not options.ignore_invalid)
    private = chosen_columns(options, table or rows)
    rows.refuse_missing(private.features, "--public: the private table")
    target = private.target if private.target in rows.names else None
    return public_rows(rows, replace(private, target=target, others=()))


def public_rows(rows: TableFile, chosen: Chosen) -> publicmoments.PublicMoments:
    """Compute the moments of public rows, labels by their position among the classes."""
    table = rows.read(chosen.numbers, chosen.words)
    features = table.select(list(chosen.features))
    if chosen.target is None:
        return publicmoments.PublicMoments.from_rows(features)
    target = table.column(chosen.target)
    if chosen.words:
        target = _coded(target, chosen.classes, rows)
    every = features.append_column(chosen.target, target)
    return publicmoments.PublicMoments.from_rows(every, response=chosen.target)


def _coded(labels: Any, classes: Sequence[Any] | None, rows: TableFile) -> Any:
    """Turn words into their positions among the classes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    codes = pc.index_in(labels.cast(pa.string()), value_set=pa.array(classes, pa.string()))
    if codes.null_count:
        raise CommandError(
            f"{rows.path} has public rows whose label is missing or not among --classes; state "
            "every class, or drop such rows"
        )
    return codes.cast(pa.float64())


def _refuse_private(public: TableFile, private: TableFile, *, contents: bool) -> None:
    """
    Refuse the private table as the public one.

    Notes
    -----
    **Guarantee.** Without ``contents`` only the places of files are compared. With it whether two
    files are the same to the last byte is told, as a refusal of invalid rows tells that there are
    some; `--ignore-invalid` promises that no cell does that.
    """
    mine, theirs = public.path.resolve(), private.path.resolve()
    same = mine == theirs or theirs in mine.parents or mine in theirs.parents
    same = same or mine.samefile(theirs)
    if not same and contents and mine.is_file() and theirs.is_file():
        same = filecmp.cmp(mine, theirs, shallow=False)
    if same:
        raise CommandError(
            f"--public must not be the private table, and {public.path} is the same as "
            f"{private.path}; all that is computed from public rows counts as known to everyone"
        )


def _features(
    options: argparse.Namespace,
    table: TableFile,
    public: publicmoments.PublicMoments | None,
    taken: Sequence[str],
) -> list[str]:
    """Names of the features."""
    known = None if public is None else public.columns
    if options.features is not None:
        table.refuse_missing(options.features, "--features")
        wanted = list(options.features)
        if len(set(wanted)) != len(wanted):
            raise CommandError("--features names a column twice; name each once")
    elif options.drop is not None or known is None:
        table.refuse_missing(options.drop or [], "--drop")
        wanted = [n for n in table.names if n not in taken and n not in (options.drop or [])]
    else:
        wanted = list(known)
        table.refuse_missing(wanted, "the file of public moments")
    if known is not None and set(known) != set(wanted):
        differ = sorted(set(known) ^ set(wanted))
        raise CommandError(
            f"features must be those of the public moments; these are in one of them only: "
            f"{', '.join(differ[:8])}{' ...' if len(differ) > 8 else ''}; make public moments of "
            "the same columns"
        )
    return wanted if known is None else list(known)
