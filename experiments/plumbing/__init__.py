"""What the figures share: data, methods, stored work, tables, pictures, verdicts."""

from experiments.plumbing.commands import main
from experiments.plumbing.figures import OURS_EVERY, Design, Figure, Panel
from experiments.plumbing.methods import LOGISTIC, RIDGE, Descent
from experiments.plumbing.samples import Real, Simulated

__all__ = [
    "LOGISTIC",
    "OURS_EVERY",
    "RIDGE",
    "Descent",
    "Design",
    "Figure",
    "Panel",
    "Real",
    "Simulated",
    "main",
]
