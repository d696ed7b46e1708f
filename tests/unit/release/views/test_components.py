"""Principal components: with noise off those of the rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler


def aligned(components, reference):
    """The same axes with the signs of others."""
    return components * np.sign(np.sum(components * reference, axis=1))[:, None]


@pytest.mark.parametrize("features", [None, [4, 1, 0]])
@pytest.mark.parametrize("n_components", [None, 2])
def test_components_are_those_of_the_rows(exact, table, features, n_components):
    rows = table if features is None else table[:, features]
    ours, plain = exact.principal_components(n_components, features), PCA(n_components).fit(rows)
    np.testing.assert_allclose(ours.explained_variance, plain.explained_variance_, rtol=1e-5)
    np.testing.assert_allclose(
        ours.explained_variance_ratio, plain.explained_variance_ratio_, rtol=1e-5
    )
    np.testing.assert_allclose(
        aligned(ours.components, plain.components_), plain.components_, atol=1e-4
    )
    np.testing.assert_allclose(ours.mean, plain.mean_, atol=1e-5)
    largest = np.argmax(np.abs(ours.components), axis=1)
    assert (ours.components[np.arange(len(largest)), largest] > 0).all()


def test_scaled_components_are_those_of_standardised_rows(exact, table):
    ours = exact.principal_components(3, scale=True)
    scaled = StandardScaler().fit_transform(table)
    plain = PCA(3).fit(scaled)
    n = len(table)
    np.testing.assert_allclose(
        ours.explained_variance, plain.explained_variance_ * (n - 1) / n, rtol=1e-5
    )
    scores, theirs = ours.transform(table), plain.transform(scaled)
    theirs = theirs * np.sign(np.sum(scores * theirs, axis=0)) * np.sqrt((n - 1) / n)
    np.testing.assert_allclose(scores, theirs, atol=1e-3)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda r: r.principal_components(0), "n_components must be an integer >= 1"),
        (lambda r: r.principal_components(6), "n_components must be at most the 5 columns"),
        (lambda r: r.principal_components(2, [0]), "n_components must be at most the 1 columns"),
        (lambda r: r.principal_components(features=[]), "features must name at least one column"),
        (lambda r: r.principal_components(features=["size"]), "features must name a column"),
        (lambda r: r.principal_components(scale="yes"), "scale must be True or False"),
        (lambda r: r.principal_components(2).transform(np.ones((2, 2))), "X has 2 features"),
        (
            lambda r: r.principal_components(2).transform(
                pd.DataFrame(np.ones((1, 5)), columns=list("abcde"))
            ),
            "missing: age",
        ),
    ],
)
def test_refusals(noisy, ask, words):
    with pytest.raises((TypeError, ValueError)) as info:
        ask(noisy)
    assert words in str(info.value)
