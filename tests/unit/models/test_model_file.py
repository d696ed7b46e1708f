"""Fitted models that are written and read."""

import json
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from publicmoments import (
    GDP,
    GLM,
    ZCDP,
    ApproxDP,
    LogisticRegression,
    PoissonRegressor,
    PublicMoments,
    Ridge,
    load_model,
    save_model,
)
from publicmoments.families import Bernoulli, Gamma, Gaussian, Poisson
from publicmoments.io.envelope import digest_of

N, D = 400, 3
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D))
SCORE = X @ [0.5, -0.4, 0.3]
LABELS = (SCORE + RNG.logistic(size=N) > 0.0).astype(int)
WORDS = np.array(["red", "green", "blue"])[RNG.integers(0, 3, size=N)]
COUNTS = RNG.poisson(np.exp(SCORE))
SHARED: dict[str, Any] = {
    "privacy": GDP(2.0),
    "public": PublicMoments.identity(D),
    "passes": 1,
}

FITS = {
    "ridge": lambda: Ridge(0.1, **SHARED).fit(X, SCORE),
    "ridge of two": lambda: Ridge(
        privacy=ApproxDP(1.0, 1e-6), public=PublicMoments.identity(D, response_scale=[1.0, 1.0])
    ).fit(X, np.stack([SCORE, -SCORE], axis=1)),
    "no intercept": lambda: Ridge(fit_intercept=False, **SHARED).fit(X, SCORE),
    "two classes": lambda: LogisticRegression(**SHARED).fit(X, LABELS),
    "true and false": lambda: LogisticRegression(classes=(False, True), **SHARED).fit(
        X, LABELS > 0
    ),
    "three words": lambda: LogisticRegression(classes=("red", "green", "blue"), **SHARED).fit(
        X, WORDS
    ),
    "selected": lambda: LogisticRegression(0.1, l1_ratio=0.5, **SHARED).fit(X, LABELS),
    "counts": lambda: PoissonRegressor(typical_exposure=2.0, **SHARED).fit(X, COUNTS),
    "Gaussian": lambda: GLM(Gaussian(), **SHARED).fit(X, SCORE),
    "Bernoulli": lambda: GLM(Bernoulli(), **SHARED).fit(X, LABELS),
    "Poisson": lambda: GLM(Poisson(), **(SHARED | {"privacy": ZCDP(0.3)})).fit(X, COUNTS),
    "Gamma": lambda: GLM(Gamma(), **SHARED).fit(X, np.exp(SCORE)),
}


@pytest.fixture(scope="module")
def fitted() -> dict[str, BaseEstimator]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: fit() for name, fit in FITS.items()}


@pytest.mark.parametrize("name", FITS)
def test_loaded_models_are_the_saved_ones(name, fitted, tmp_path):
    model, path = fitted[name], tmp_path / "model.json"
    save_model(model, path)
    loaded = load_model(path)
    assert type(loaded) is type(model)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert loaded.predict(X).dtype == model.predict(X).dtype
    assert loaded.card_ == model.card_
    if model.noise_covariance_ is None:
        with pytest.raises(ValueError, match=r"l1_ratio=0\.5"):
            loaded.summary()
        return
    assert loaded.summary() == model.summary()
    assert np.array_equal(loaded.conf_int(0.9), model.conf_int(0.9))
    assert np.array_equal(loaded.predict_interval(X), model.predict_interval(X))


@pytest.mark.parametrize("name", FITS)
def test_no_fitted_attribute_is_forgotten(name, fitted, tmp_path):
    model, path = fitted[name], tmp_path / "model.json"
    save_model(model, path)
    assert _learned(load_model(path)) == _learned(model)


def _learned(model: Any) -> set[str]:
    return {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}


def test_names_of_features_are_kept(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(X, columns=["age", "größe", "c, d"])
    model = Ridge(privacy=GDP(1.0), public=PublicMoments.identity(D)).fit(frame, SCORE)
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.feature_names_in_.tolist() == ["age", "größe", "c, d"]
    assert np.array_equal(loaded.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"age": "Age"}))


def test_parameters_are_kept_but_what_stays_at_home(tmp_path):
    ledger = str(tmp_path / "ledger.db")
    model = Ridge(0.25, random_state=7, ledger=ledger, dataset="toy", **SHARED)
    model.fit(X, SCORE)
    save_model(model, tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text()
    loaded = load_model(tmp_path / "model.json")
    assert (loaded.alpha, loaded.passes, loaded.privacy) == (0.25, 1, GDP(2.0))
    assert (loaded.random_state, loaded.public, loaded.ledger, loaded.dataset) == (None,) * 4
    assert "ledger.db" not in text
    assert "random_state" not in json.loads(text)["parameters"]
    assert loaded.card_.private is False
    assert "No privacy guarantee" in str(loaded.summary())


def test_models_that_a_file_cannot_hold_are_refused(fitted, tmp_path):
    class Own(Gaussian):
        pass

    class Mine(Ridge):
        pass

    path = tmp_path / "model.json"
    with pytest.raises(TypeError, match="must be one of Bernoulli, Gamma, Gaussian, Poisson"):
        save_model(GLM(Own(), **SHARED).fit(X, SCORE), path)
    with pytest.raises(TypeError, match="got Mine"):
        save_model(Mine(**SHARED).fit(X, SCORE), path)
    with pytest.raises(NotFittedError):
        save_model(Ridge(), path)
    odd = load_copy(fitted["two classes"], tmp_path)
    odd.set_params(classes=(frozenset([1]), frozenset([2])))
    with pytest.raises(TypeError, match="'classes'"):
        save_model(odd, path)
    assert not path.exists()


def load_copy(model: Any, folder: Any) -> Any:
    """A copy by way of a file."""
    save_model(model, folder / "copy.json")
    return load_model(folder / "copy.json")


def test_damaged_files_are_refused(fitted, tmp_path):
    path = tmp_path / "model.json"
    save_model(fitted["ridge"], path)
    text = path.read_text()
    for length in (0, 1, len(text) // 2, len(text) - 3):
        path.write_text(text[:length])
        with pytest.raises(ValueError, match="must be a whole JSON file written by save_model"):
            load_model(path)
    digits = json.dumps(json.loads(text)["fitted"]["coef_"][0])
    path.write_text(text.replace(digits, "0.125", 1))
    with pytest.raises(ValueError, match="digest does not match"):
        load_model(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="written by save_model"):
        load_model(path)


CHANGES = {
    "another version": (lambda d: d | {"version": 1}, "have version 2"),
    "another format": (lambda d: d | {"format": "other"}, "written by save_model"),
    "another kind": (lambda d: d | {"kind": "os.system"}, "be of kind GLM"),
    "no card": (lambda d: {k: v for k, v in d.items() if k != "card"}, "have the fields"),
    "a field too many": (lambda d: d | {"more": 1}, "have the fields"),
    "unknown parameter": (
        lambda d: d | {"parameters": d["parameters"] | {"more": 1}},
        "unexpected keyword",
    ),
    "unknown budget": (
        lambda d: d | {"parameters": d["parameters"] | {"privacy": {"kind": "Path"}}},
        "kind of the budget",
    ),
    "budget of zero": (
        lambda d: d | {"parameters": d["parameters"] | {"privacy": {"kind": "GDP", "mu": 0.0}}},
        "mu must be in",
    ),
    "attribute too many": (
        lambda d: d | {"fitted": d["fitted"] | {"predict": 1}},
        "fitted attributes must be",
    ),
    "coefficients too few": (
        lambda d: d | {"fitted": d["fitted"] | {"coef_": [1.0, 2.0]}},
        "one entry for each feature",
    ),
    "intercepts too many": (
        lambda d: d | {"fitted": d["fitted"] | {"intercept_": [1.0, 2.0]}},
        "intercept_ must have",
    ),
    "covariance too small": (
        lambda d: d | {"fitted": d["fitted"] | {"noise_covariance_": [[1.0]]}},
        "noise_covariance_ must have",
    ),
    "no bias": (
        lambda d: d | {"fitted": {k: v for k, v in d["fitted"].items() if k != "bias_covariance_"}},
        "fitted attributes must be",
    ),
    "bias too large": (
        lambda d: d | {"fitted": d["fitted"] | {"bias_covariance_": [[1.0] * 5] * 5}},
        "bias_covariance_ must have",
    ),
    "half a gradient": (
        lambda d: d | {"fitted": d["fitted"] | {"n_iter_": 1.5}},
        "n_iter_ must be",
    ),
    "words as coefficients": (
        lambda d: d | {"fitted": d["fitted"] | {"coef_": ["a", "b", "c"]}},
        "valid fields",
    ),
    "no features": (
        lambda d: d | {"fitted": d["fitted"] | {"n_features_in_": 0}},
        "n_features_in_ must be",
    ),
    "names too few": (
        lambda d: d | {"fitted": d["fitted"] | {"feature_names_in_": ["a"]}},
        "one name for each feature",
    ),
    "numbers as names": (
        lambda d: d | {"fitted": d["fitted"] | {"feature_names_in_": [1, 2, 3]}},
        "must be texts",
    ),
    "card without guarantee": (
        lambda d: d | {"card": d["card"] | {"guarantee": None}},
        "guarantee",
    ),
    "pass of another kind": (
        lambda d: d | {"card": d["card"] | {"passes": [{"mu": 1.0}]}},
        "valid fields",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_files_with_wrong_fields_are_refused(change, fitted, tmp_path):
    path = tmp_path / "model.json"
    save_model(fitted["ridge"], path)
    make, expected = CHANGES[change]
    document = make(json.loads(path.read_text()))
    # A digest of their own, so that the fields themselves are what is refused.
    path.write_text(json.dumps(document | {"sha256": digest_of(document)}))
    with pytest.raises(ValueError, match=expected):
        load_model(path)


def test_classes_must_fit_the_coefficients(fitted, tmp_path):
    path = tmp_path / "model.json"
    save_model(fitted["three words"], path)
    document = json.loads(path.read_text())
    document["fitted"]["classes_"] = ["red", "green"]
    path.write_text(json.dumps(document | {"sha256": digest_of(document)}))
    with pytest.raises(ValueError, match="classes_ must have"):
        load_model(path)


def test_nan_is_neither_written_nor_read(fitted, tmp_path):
    path = tmp_path / "model.json"
    model = load_copy(fitted["ridge"], tmp_path)
    model.fit_ = replace(model.fit_, intercept=np.array([np.nan]))
    with pytest.raises(ValueError, match="JSON compliant"):
        save_model(model, path)
    assert not path.exists()
    text = (tmp_path / "copy.json").read_text()
    path.write_text(text.replace('"version": 2', '"version": NaN'))
    with pytest.raises(ValueError, match="whole JSON file"):
        load_model(path)


def test_files_are_replaced_whole_or_not_at_all(fitted, tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    save_model(fitted["ridge"], path)
    before = path.read_bytes()

    def broken(source, target):
        raise OSError("disk")

    monkeypatch.setattr("publicmoments.io.atomic.os.replace", broken)
    with pytest.raises(OSError, match="disk"):
        save_model(fitted["counts"], path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_cards_come_back_with_passes_of_their_kind(fitted, tmp_path):
    for name in ("ridge", "counts"):
        loaded = load_copy(fitted[name], tmp_path)
        kinds = [type(one) for one in loaded.card_.passes]
        assert kinds == [type(one) for one in fitted[name].card_.passes]
    assert replace(loaded.card_, notes=("x",)) != fitted["counts"].card_
