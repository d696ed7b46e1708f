"""The data of the paper's experiments: four public tables, and simulated populations.

The tables come from the UCI Machine Learning Repository (CC BY 4.0). They are downloaded on first
use, checked against a sha256 and cached; the variable ``PUBLICMOMENTS_DATA`` names a folder to read
them from instead, and then nothing is downloaded.
"""

from __future__ import annotations

from publicmoments.datasets.records import Dataset, split
from publicmoments.datasets.simulation import (
    Choices,
    LinearPopulation,
    LogisticPopulation,
    PoissonPopulation,
    Simulation,
    simulate_linear,
    simulate_logistic,
    simulate_poisson,
)
from publicmoments.datasets.uci import load_bank, load_banknote, load_power_plant, load_wine

__all__ = [
    "Choices",
    "Dataset",
    "LinearPopulation",
    "LogisticPopulation",
    "PoissonPopulation",
    "Simulation",
    "load_bank",
    "load_banknote",
    "load_power_plant",
    "load_wine",
    "simulate_linear",
    "simulate_logistic",
    "simulate_poisson",
    "split",
]
