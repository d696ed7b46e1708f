"""Which columns of a table take part, and what is public of them."""

from __future__ import annotations

import argparse
import filecmp
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from publicmoments.cli.failures import CommandError
from publicmoments.cli.inputs import TableFile, existing, open_moments, open_table

if TYPE_CHECKING:
    from publicmoments.public import PublicMoments


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
    labels : bool
        Whether the target holds words.
    others : tuple of str
        Further columns of numbers, such as an exposure.
    """

    features: tuple[str, ...]
    target: str | None
    labels: bool = False
    others: tuple[str, ...] = ()

    @property
    def numbers(self) -> tuple[str, ...]:
        """Columns that must hold numbers."""
        numeric = () if self.target is None or self.labels else (self.target,)
        return (*self.features, *numeric, *self.others)

    @property
    def words(self) -> tuple[str, ...]:
        """Columns that hold labels."""
        return (self.target,) if self.target is not None and self.labels else ()


def chosen_columns(
    options: argparse.Namespace,
    table: TableFile,
    public: PublicMoments | None = None,
    *,
    labels: bool = False,
) -> Chosen:
    """
    Decide which columns take part: those asked for, those that are public, or all.

    Parameters
    ----------
    options : Namespace
        With ``target``, ``features``, ``drop`` and, where there is one, ``exposure``.
    table : TableFile
        The table.
    public : PublicMoments, optional
        Moments whose columns the features must be.
    labels : bool
        Whether the target holds words.

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
    return Chosen(tuple(features), target, labels, () if exposure is None else (exposure,))


def public_input(
    options: argparse.Namespace,
    table: TableFile | None = None,
    classes: Sequence[Any] | None = None,
) -> PublicMoments | None:
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
    labels = holds_words(classes)
    private = chosen_columns(options, table or rows, labels=labels)
    rows.refuse_missing(private.features, "--public: the private table")
    target = private.target if private.target in rows.names else None
    return public_rows(rows, Chosen(private.features, target, labels), classes)


def parsed_classes(names: Sequence[str]) -> tuple[Any, ...]:
    """
    Read labels as numbers if all of them are, else as words.

    Examples
    --------
    >>> parsed_classes(["0", "1"]), parsed_classes(["no", "1"])
    ((0, 1), ('no', '1'))
    """
    for convert in (int, float):
        try:
            return tuple(convert(name) for name in names)
        except ValueError:
            continue
    return tuple(names)


def holds_words(classes: Sequence[Any] | None) -> bool:
    """Whether there are classes, and they are words."""
    return classes is not None and isinstance(classes[0], str)


def public_rows(
    rows: TableFile, chosen: Chosen, classes: Sequence[Any] | None = None
) -> PublicMoments:
    """Compute the moments of public rows, labels by their position among the classes."""
    from publicmoments.public import PublicMoments

    table = rows.read(chosen.numbers, chosen.words)
    features = table.select(list(chosen.features))
    if chosen.target is None:
        return PublicMoments.from_rows(features)
    target = table.column(chosen.target)
    if chosen.labels and classes is not None:
        target = _coded(target, classes, rows)
    every = features.append_column(chosen.target, target)
    return PublicMoments.from_rows(every, response=chosen.target)


def _coded(labels: Any, classes: Sequence[Any], rows: TableFile) -> Any:
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
    public: PublicMoments | None,
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
