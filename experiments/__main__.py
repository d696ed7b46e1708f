"""All experiments: ``python -m experiments``."""

from __future__ import annotations

from experiments import (
    conditions,
    figure_01,
    figure_02,
    figure_03,
    figure_04,
    figure_05,
    figure_06,
    figure_07,
    figure_08,
    figure_09,
    figure_10,
    theory,
)
from experiments.plumbing import main

MODULES = (
    figure_01,
    conditions,
    theory,
    figure_02,
    figure_03,
    figure_04,
    figure_05,
    figure_06,
    figure_07,
    figure_08,
    figure_09,
    figure_10,
)

if __name__ == "__main__":
    main(*(module.FIGURE for module in MODULES), page=True)
