"""What is read off fitted things."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from publicmoments import Card, MomentRelease, save_model
from publicmoments.report.html import write_report

__all__ = [
    "card_figures",
    "model_figures",
    "named",
    "page",
    "release_figures",
    "saved",
    "told",
    "undated",
]

FITTED = (
    "coef_",
    "intercept_",
    "noise_covariance_",
    "sampling_covariance_",
    "bias_covariance_",
    "residual_scale_",
    "n_iter_",
    "alpha_",
    "classes_",
    "feature_names_in_",
    "coef_path_",
    "radius_",
    "response_radius_",
    "penalty_",
    "noise_sd_",
    "second_moment_",
    "transformed_",
    "transformed_inverse_",
    "inverse_",
    "condition_",
)
CARD = ("public_fit_z", "response_fit_z", "predicted_error")


def told(function: Callable[[], Any]) -> Any:
    """Return what a function returns, or the words with which it refuses."""
    try:
        return function()
    except (AttributeError, TypeError, ValueError) as refusal:
        return f"{type(refusal).__name__}: {refusal}"


def named(prefix: str, figures: Any) -> dict[str, Any]:
    """Put a word before the names of figures."""
    return {f"{prefix} {name}": value for name, value in figures.items()}


def card_figures(card: Card) -> dict[str, Any]:
    """Some figures of the card, and the whole but for the versions of libraries."""
    found = {f"card {name}": getattr(card, name) for name in CARD}
    found["card noise_sd"] = [line.noise_sd for line in card.passes]
    whole = card.to_dict()
    del whole["versions"]
    return found | {
        "card text": str(card),
        "card data": json.dumps(whole),
    }


def model_figures(model: Any, X: Any, **given: Any) -> dict[str, Any]:
    """Everything that a fitted estimator tells, and what it predicts at some rows."""
    found = {name: getattr(model, name) for name in FITTED if hasattr(model, name)}
    for name in ("predict", "predict_interval", "predict_proba", "decision_function"):
        if hasattr(model, name):
            found[name] = told(lambda name=name: getattr(model, name)(X, **given))
    if hasattr(model, "conf_int"):
        found |= _inference(model)
    return found | card_figures(model.card_)


def _inference(model: Any) -> dict[str, Any]:
    """Intervals, the summary and simulated coefficients."""
    return {
        "conf_int 0.95": told(model.conf_int),
        "conf_int 0.5": told(lambda: model.conf_int(0.5).tobytes()),
        "summary": told(lambda: str(model.summary())),
        "summary 0.8": told(lambda: json.dumps(model.summary(0.8).to_dict())),
        "bootstrap": told(lambda: model.bootstrap(20, random_state=3).std_err),
    }


def release_figures(release: MomentRelease) -> dict[str, Any]:
    """What released moments are, before anything is asked of them."""
    names = ("n_rows", "noisy_gram", "diagonal_sd", "offdiagonal_sd", "labels", "kept", "mean")
    found = {name: getattr(release, name) for name in (*names, "second_moment", "covariance")}
    quality = release.diagnostics
    for name in (
        "public_fit_z",
        "public_condition",
        "condition",
        "whitened_condition",
        "smallest_eigenvalue",
        "lifted",
        "trust",
        "kept_ones",
    ):
        found[f"diagnostics {name}"] = getattr(quality, name)
    found["error_law"] = [release.error_law.noise, release.error_law.sampling]
    return found | card_figures(release.card)


def undated(told_of: Any) -> Any:
    """The same model or release, whose card does not say which versions made it."""
    if isinstance(told_of, MomentRelease):
        return replace(told_of, card=replace(told_of.card, versions={}))
    told_of.card_ = replace(told_of.card_, versions={})
    return told_of


def page(told_of: Any, **choices: Any) -> bytes:
    """The report on a model or a release."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        write_report(undated(told_of), path, **choices)
        return path.read_bytes()


def saved(model: Any, path: Path) -> bytes:
    """Save a model without the versions that made it."""
    save_model(undated(model), path)
    return path.read_bytes()
