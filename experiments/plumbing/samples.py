"""The data of the experiments: simulated rows, and four public tables split at random.

A sample depends on its repeat and on the number of private rows alone, so that all methods, budgets
and penalties of a repeat meet the same rows, and all sizes the same population and public rows.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from experiments.plumbing.plain import logistic_fit, ridge_fit
from publicmoments.datasets import (
    Dataset,
    LinearPopulation,
    LogisticPopulation,
    load_bank,
    load_banknote,
    load_power_plant,
    load_wine,
    split,
)
from publicmoments.datasets.bank import LEVELS

Array = NDArray[np.float64]
Family = Literal["linear", "logistic"]

DATA_SEED = 2602
"""Seed of all data, next to the number of the repeat."""


@dataclass(frozen=True)
class Sample:
    """Private and public rows, and the coefficients that estimates are compared with."""

    X: Array
    y: Array
    X_public: Array
    y_public: Array
    target: Array


@dataclass(frozen=True)
class Simulated:
    """
    Gaussian rows as in the paper, which leaves their mean and covariance open.

    The mean and the coefficients are standard normal, the axes of the covariance have a random
    orientation and its eigenvalues go in geometric progression from 1/sqrt(condition) to
    sqrt(condition). Every repeat draws its own population. The target is the true coefficients.
    """

    family: Family
    d: int
    n_public: int
    condition: float = 100.0

    def population(self, repeat: int) -> LinearPopulation | LogisticPopulation:
        """Draw the population of a repeat."""
        law = LinearPopulation if self.family == "linear" else LogisticPopulation
        return law.draw(_rng(repeat, 1), self.d, condition=self.condition)

    def sample(self, repeat: int, n: int) -> Sample:
        """Draw a population, its public rows and its private rows."""
        population = self.population(repeat)
        X_public, y_public = population.sample(_rng(repeat, 2), self.n_public)
        X, y = population.sample(_rng(repeat, 3), n)
        return Sample(X, y, X_public, y_public, population.coef)

    def describe(self) -> str:
        """Say what is drawn."""
        return f"Gaussian rows, d = {self.d}, condition {self.condition:g}"


@dataclass(frozen=True)
class Real:
    """
    A public table of which some rows stay public; the target is a non-private fit of the others.

    Parameters
    ----------
    name : str
        A key of ``TABLES``.
    n_public : int
        Public rows.
    reference : float
        Penalty of the non-private fit that estimates are compared with.
    scaled : bool
        Whether features are divided by the root mean square of their public column.
    """

    name: str
    n_public: int
    reference: float = 0.0
    scaled: bool = False

    @property
    def family(self) -> Family:
        """Of the responses."""
        return "logistic" if self.name in ("bank", "banknote") else "linear"

    def sample(self, repeat: int, n: int) -> Sample:
        """Split the table and keep n of the private rows."""
        private, public = split(table(self.name), self.n_public, _rng(repeat, 4))
        X, y, X_public = private.X[:n], private.y[:n], public.X
        if self.scaled:
            unit = np.sqrt(np.mean(X_public**2, axis=0))
            unit = np.where(unit > 0, unit, 1.0)
            X, X_public = X / unit, X_public / unit
        fit = ridge_fit if self.family == "linear" else logistic_fit
        return Sample(X, y, X_public, public.y, fit(X, y, self.reference))

    def describe(self) -> str:
        """Say how many features there are, and in which units."""
        units = "public units" if self.scaled else "raw units"
        return f"d = {table(self.name).X.shape[1]}, {units}"


Source = Simulated | Real


def coded_bank() -> Dataset:
    """Bank marketing with d = 16 as in the paper: one column for each of the file's features.

    A categorical column becomes the index of its level in the documented order, from 0; the rule is
    public and never looks at the rows. Numbers, yes and no are as in `load_bank`.
    """
    bank = load_bank()
    columns: dict[str, Array] = {}
    for name, values in zip(bank.columns, bank.X.T, strict=True):
        feature, _, level = name.partition("=")
        code = LEVELS[feature].index(level) if level else 1
        columns[feature] = columns.get(feature, 0.0) + code * values
    X = np.column_stack(list(columns.values()))
    return Dataset("bank", X, bank.y, tuple(columns), bank.response, bank.doi)


def banknote_with_ones() -> Dataset:
    """Banknotes with a column of ones, d = 5 as in the paper."""
    note = load_banknote()
    X = np.column_stack([note.X, np.ones(len(note))])
    return Dataset("banknote", X, note.y, (*note.columns, "one"), note.response, note.doi)


TABLES = {
    "wine": load_wine,
    "power plant": load_power_plant,
    "bank": coded_bank,
    "banknote": banknote_with_ones,
}


@cache
def table(name: str) -> Dataset:
    """Load a table, from a folder beside the project where there is one."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "datasets"
    if beside.is_dir():
        os.environ.setdefault("PUBLICMOMENTS_DATA", str(beside))
    return TABLES[name]()


def available(source: Source) -> bool:
    """Whether a source can be read or downloaded."""
    try:
        return isinstance(source, Simulated) or len(table(source.name)) > 0
    except (ImportError, OSError):
        return False


def _rng(repeat: int, part: int) -> np.random.Generator:
    """Randomness of one part of a repeat's data."""
    return np.random.default_rng([DATA_SEED, repeat, part])
