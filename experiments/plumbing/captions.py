"""Captions: the settings of a figure in words, from its designs."""

from __future__ import annotations

from experiments.plumbing.figures import Design, Figure, shown, total_budget
from experiments.plumbing.samples import Real

CENTRES = {
    "mean": "Lines are means, bands one standard deviation.",
    "median": "Lines are medians, bands hold the middle four fifths.",
}


def caption(figure: Figure, repeats: int, centre: str) -> str:
    """Settings of all panels, then how lines and bands are to be read."""
    parts = [f"{panel.name}: {settings(figure, panel.design)}." for panel in figure.panels]
    ending = f"{repeats} repeats. {CENTRES[centre]}"
    return " ".join([*parts, "Total budget √2 μ for every method.", ending])


def settings(figure: Figure, design: Design) -> str:
    """Settings that do not vary within the figure."""
    parts = [design.data.describe(), f"$n_B$ = {design.data.n_public}", f"η = {shown(design.eta)}"]
    for label, values in (("$n_A$", design.sizes), ("μ", design.mus), ("λ", design.alphas)):
        if len(values) == 1:
            total = f" (total {total_budget(values[0]):.3g})" if label == "μ" else ""
            parts.append(f"{label} = {shown(values[0])}{total}")
    if figure.x == "iteration":
        parts.append(f"T = {design.iterations}")
    if design.descent is not None:
        tuning = design.descent
        parts.append(f"DP-GD T = {tuning.iterations}, c = {tuning.clip:g}, lr = {tuning.step:g}")
    if isinstance(design.data, Real) and design.data.reference:
        parts.append(f"reference λ = {shown(design.data.reference)}")
    return ", ".join(parts)
