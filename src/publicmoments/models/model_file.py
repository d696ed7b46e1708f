"""
Fitted models on disk: one JSON document, no code in it.

Fields of the document, all of them required:

``format``
    ``"publicmoments-model"``.
``version``
    ``2``.
``kind``
    ``"Ridge"``, ``"LogisticRegression"``, ``"PoissonRegressor"`` or ``"GLM"``.
``parameters``
    Parameters of the estimator, the budget as ``{"kind": "GDP", "mu": 1.0}`` and the family of a
    GLM by its name. The public moments, the seed, the ledger and the dataset stay at home.
``fitted``
    Fitted attributes by name; arrays as nested lists, names and classes as lists. ``response``,
    ``features`` and ``vectors`` are the names that a summary uses, where these are not its own.
``card``
    The privacy card.
``sha256``
    SHA-256 of the others, written as JSON with sorted keys and without spaces.

Numbers keep all their digits, so that a loaded model predicts, summarises and gives intervals as
the saved one does. The digest tells damage, not forgery: whoever can write the file can write
another digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from publicmoments.arrays import read_only
from publicmoments.families import Bernoulli, Family, Gamma, Gaussian, Poisson
from publicmoments.io.envelope import FileKind, PathLike, whole
from publicmoments.models.glm import GLM
from publicmoments.models.inference import Fit
from publicmoments.models.logistic import LogisticRegression
from publicmoments.models.poisson import PoissonRegressor
from publicmoments.models.ridge import Ridge
from publicmoments.models.shell import PrivateEstimator
from publicmoments.privacy.budgets import GDP, ZCDP, ApproxDP
from publicmoments.privacy.card import BoundedPass, card_from

FIELDS = frozenset({"kind", "parameters", "fitted", "card", "sha256"})
MODEL_FILE = FileKind("publicmoments-model", 2, FIELDS, "save_model", "model")

# A file names one of these, and never a module.
MODELS = {one.__name__: one for one in (GLM, LogisticRegression, PoissonRegressor, Ridge)}
BUDGETS = {one.__name__: one for one in (GDP, ApproxDP, ZCDP)}
FAMILIES = {one.__name__: one for one in (Bernoulli, Gamma, Gaussian, Poisson)}

# Parameters that are not written. Whoever knew the seed could take the noise away.
AT_HOME = {"public", "public_exposure", "public_offset", "random_state", "ledger", "dataset"}

# Fitted attributes. All are released or public; nothing else is written.
COVARIANCES = {"noise_covariance_", "sampling_covariance_", "bias_covariance_"}
SHARED = COVARIANCES | {"coef_", "intercept_", "n_iter_", "alpha_", "n_features_in_"}
OWN = {"LogisticRegression": {"classes_"}, "Ridge": {"residual_scale_"}}
Kind = TypeVar("Kind")
NAMES = "feature_names_in_"
TOLD = ("response", "features", "vectors")


def save_model(model: PrivateEstimator, path: PathLike) -> None:
    """
    Write a fitted model to a file, which appears complete or not at all.

    Parameters
    ----------
    model : Ridge, LogisticRegression, PoissonRegressor or GLM
        Fitted; a GLM with a family of the library.
    path : path-like
        Where to write; an existing file is replaced.

    Raises
    ------
    TypeError
        For what is no such model, and for a family or labels that a file cannot hold.
    sklearn.exceptions.NotFittedError
        For a model that is not fitted.

    Notes
    -----
    **Releases.** Nothing new: the file holds what the fit released, its parameters and its card.
    It does not hold public rows, nor the seed of a reproducible fit.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from publicmoments import GDP, PublicMoments, Ridge, load_model, save_model
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1_000, 2))
    >>> public = PublicMoments.identity(2)
    >>> model = Ridge(privacy=GDP(1.0), public=public).fit(X, X @ [1.0, 2.0])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> save_model(model, path)
    >>> bool(np.array_equal(load_model(path).predict(X), model.predict(X)))
    True
    """
    MODEL_FILE.write(path, _fields(model))


def load_model(path: PathLike) -> Any:
    """
    Read a model written by `save_model`.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    Ridge, LogisticRegression, PoissonRegressor or GLM
        Fitted, without public moments, seed and ledger.

    Raises
    ------
    ValueError
        If the file is not one, is cut short or altered, or is of a version or kind that this
        library does not read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> _ = path.write_text('{"format": "publicmoments-model", "version": 9}')
    >>> load_model(path)
    Traceback (most recent call last):
    ...
    ValueError: ... must have version 2, the one this library reads, not 9; ...
    """
    document = MODEL_FILE.read(path)
    if document["kind"] not in list(MODELS):
        MODEL_FILE.refuse(path, f"be of kind {', '.join(MODELS)}, not {document['kind']!r}")
    with MODEL_FILE.checking(path):
        return _restored(document)


# Writing


def _fields(model: PrivateEstimator) -> dict[str, Any]:
    """Lay out the fields of the file, but for the digest."""
    kind = type(model).__name__
    if MODELS.get(kind) is not type(model):
        raise TypeError(
            f"model must be {', '.join(MODELS)}, got {kind}; a MomentRelease has a method "
            "save of its own"
        )
    check_is_fitted(model)
    fitted = {name: _plain(getattr(model, name)) for name in sorted(_attributes(kind))}
    if hasattr(model, NAMES):
        fitted[NAMES] = _plain(getattr(model, NAMES))
    record, usual = model.fit_, _usual_names(model)
    fitted |= {
        name: _plain(getattr(record, name)) for name in TOLD if getattr(record, name) != usual[name]
    }
    given = model.get_params(deep=False)
    parameters = {name: _parameter(name, given[name]) for name in sorted(given.keys() - AT_HOME)}
    card = model.card_.to_dict()
    return {"kind": kind, "parameters": parameters, "fitted": fitted, "card": card}


def _attributes(kind: str) -> set[str]:
    """Names of the fitted attributes of a model."""
    return SHARED | OWN.get(kind, set())


def _parameter(name: str, value: Any) -> Any:
    """Write a parameter as plain JSON."""
    kind = type(value).__name__
    if BUDGETS.get(kind) is type(value):
        return {"kind": kind, **asdict(value)}
    if isinstance(value, Family):
        if FAMILIES.get(kind) is type(value):
            return kind
        raise TypeError(
            f"the family of a model in a file must be one of {', '.join(FAMILIES)}, got {kind}; "
            "keep the coefficients of your own families yourself"
        )
    try:
        return _plain(value)
    except TypeError:
        raise TypeError(
            f"parameter {name!r} must be a number, a text or a list of them to be written to a "
            f"file, got {kind}"
        ) from None


def _plain(value: Any) -> Any:
    """Write numbers, texts and arrays of them as JSON has them."""
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"numbers and texts can be written to a file, not {type(value).__name__}")


# Reading


def _restored(document: dict[str, Any]) -> Any:
    """Turn the fields into a fitted model."""
    kind = document["kind"]
    model = MODELS[kind](**_parameters(document["parameters"]))
    given = dict(document["fitted"])
    names = given.pop(NAMES, None)
    told = {name: given.pop(name) for name in TOLD if name in given}
    if set(given) != _attributes(kind):
        raise ValueError(f"fitted attributes must be {', '.join(sorted(_attributes(kind)))}")
    found = {name: _attribute(name, value) for name, value in given.items()}
    if names is not None:
        if not all(isinstance(name, str) for name in names):
            raise ValueError("names of features must be texts")
        model.feature_names_in_ = np.array(names, dtype=object)
    _check_shapes(found, names, model.fit_intercept)
    for name in found.keys() & {"alpha_", "n_iter_", "n_features_in_", "classes_"}:
        setattr(model, name, found[name])
    model.card_ = card_from(document["card"], BoundedPass)
    model.fit_ = _record(model, found)
    model.fit_ = replace(model.fit_, **(_usual_names(model) | _checked_names(model.fit_, told)))
    return model


def _usual_names(model: Any) -> dict[str, Any]:
    """Names that a summary uses where nothing else is known."""
    count, d = model.fit_.coef.shape
    names = getattr(model, NAMES, [f"x{k}" for k in range(d)])
    classes = getattr(model, "classes_", ())
    vectors = classes if len(classes) == count else [f"y{k}" for k in range(count)]
    if count == 1 and not model.fit_.apart:
        vectors = ["y"]
    return {
        "response": "y",
        "features": tuple(str(name) for name in names),
        "vectors": tuple(str(name) for name in vectors),
    }


def _checked_names(record: Fit, told: Mapping[str, Any]) -> dict[str, Any]:
    """Read the names that a file tells."""
    found = {name: value if name == "response" else tuple(value) for name, value in told.items()}
    sizes = {"features": record.coef.shape[1], "vectors": record.coef.shape[0]}
    for name, value in found.items():
        texts = (value,) if name == "response" else value
        if not all(isinstance(text, str) for text in texts) or len(texts) != sizes.get(name, 1):
            raise ValueError(f"{name} must be as many names as there are")
    return found


def _record(model: Any, found: Mapping[str, Any]) -> Fit:
    """Put the record of a fit together again, without names."""
    coef = np.atleast_2d(found["coef_"])
    sizes = found.get("residual_scale_")
    return Fit(
        response="y",
        features=(),
        vectors=(),
        coef=read_only(coef),
        intercept=read_only(np.reshape(found["intercept_"], -1)),
        fit_intercept=bool(model.fit_intercept),
        noise=found["noise_covariance_"],
        sampling=found["sampling_covariance_"],
        bias=found["bias_covariance_"],
        alpha=found["alpha_"],
        l1_ratio=float(getattr(model, "l1_ratio", 0.0)),
        card=model.card_,
        residual_scale=None if sizes is None else read_only(np.reshape(sizes, -1)),
        apart=len(coef) > 1 if "classes_" in found else found["coef_"].ndim == 2,
    )


def _parameters(document: Mapping[str, Any]) -> dict[str, Any]:
    """Read the parameters of an estimator."""
    values = dict(document)
    budget = dict(values["privacy"])
    kind = _one_of(BUDGETS, budget.pop("kind"), "the kind of the budget")
    values["privacy"] = kind(**budget)
    if "family" in values:
        values["family"] = _one_of(FAMILIES, values["family"], "the family")()
    if "classes" in values:
        values["classes"] = tuple(values["classes"])
    return values


def _one_of(known: Mapping[str, Kind], name: str, what: str) -> Kind:
    """Find what a file names."""
    if name not in known:
        raise ValueError(f"{what} must be one of {', '.join(known)}")
    return known[name]


def _attribute(name: str, value: Any) -> Any:
    """Read a fitted attribute."""
    if name == "classes_":
        return np.array(tuple(value))
    if name in ("n_features_in_", "n_iter_"):
        return whole(name, value)
    if value is None and name in COVARIANCES | {"residual_scale_"}:
        return None
    array: NDArray[np.float64] = np.array(value, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite")
    return float(array) if array.ndim == 0 else array


def _check_shapes(found: Mapping[str, Any], names: list[str] | None, fit_intercept: bool) -> None:
    """Refuse attributes that do not fit together."""
    coef, d = found["coef_"], found["n_features_in_"]
    if not (coef.ndim in (1, 2) and coef.shape[-1] == d):
        raise ValueError("coef_ must have one entry for each feature")
    if names is not None and len(names) != d:
        raise ValueError(f"{NAMES} must have one name for each feature")
    vectors = coef.size // d
    for name in found.keys() & {"intercept_", "residual_scale_"}:
        if found[name] is not None and np.size(found[name]) != vectors:
            raise ValueError(f"{name} must have one entry for each vector of coefficients")
    m, together = d + bool(fit_intercept), "classes_" in found
    if together and vectors != (len(found["classes_"]) if len(found["classes_"]) > 2 else 1):
        raise ValueError("classes_ must have one label for each vector of coefficients")
    joint = (vectors * m, vectors * m)
    expected = joint if together or coef.ndim == 1 else (vectors, m, m)
    for name in sorted(COVARIANCES):
        if found[name] is not None and found[name].shape != expected:
            raise ValueError(f"{name} must have one row for each coefficient")
