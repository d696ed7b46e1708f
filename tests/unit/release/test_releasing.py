"""The one call that costs: what it checks, what it charges and what it tells."""

from __future__ import annotations

import json
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from publicmoments import GDP, ZCDP, ApproxDP, PublicMoments, PublicMomentsWarning
from publicmoments.release import release_moments
from tests.helpers import refusal_of

NAMES = ["age", "height", "weight", "income", "score"]
SECRET = 123456.789
N, D = 60, 3
ROWS = np.random.default_rng(3).normal(size=(N, D))
ROWS[17, 1] = SECRET
PUBLIC_ROWS = np.random.default_rng(4).normal(size=(40, D))
PUBLIC = PublicMoments.from_rows(PUBLIC_ROWS)
NAMED = PublicMoments.from_rows(PUBLIC_ROWS, columns=NAMES[:D])


# What comes out


def test_a_release_has_a_card(table, public):
    release = release_moments(table, privacy=GDP(0.7), public=public)
    card = release.card
    assert card.private
    assert card.mu == 0.7
    assert card.rho <= 0.7**2 / 2
    assert card.rho == pytest.approx(0.7**2 / 2)
    assert (card.n_rows, card.n_features, card.n_responses) == (len(table), 5, 0)
    assert card.public_fingerprint == public.fingerprint
    assert card.public_fit_z == release.diagnostics.public_fit_z
    assert abs(card.public_fit_z) < 5
    (line,) = card.passes
    assert line.noise_sd == release.diagonal_sd
    assert line.radius == release.weights.radius
    # The Gaussian mechanism at the sensitivity of rows in a ball.
    expected = np.sqrt(2.0) * line.radius**2 / (0.7 * len(table))
    assert release.diagonal_sd == pytest.approx(expected)
    assert release.offdiagonal_sd == pytest.approx(expected / np.sqrt(2.0))
    assert json.loads(card.to_json())["mu"] == 0.7


def test_budgets_may_be_stated_in_three_ways(table, public):
    approximate = release_moments(table, privacy=ApproxDP(1.0, 1e-6), public=public)
    epsilon, delta = approximate.card.epsilon_delta[0]
    assert (epsilon, delta) == (1.0, 1e-6)
    concentrated = release_moments(table, privacy=ZCDP(0.125), public=public)
    assert concentrated.card.mu == pytest.approx(0.5)
    assert concentrated.card.rho <= 0.125


def test_a_seeded_release_says_that_it_protects_nobody(table, public):
    first, again = (
        release_moments(table, privacy=GDP(1.0), public=public, random_state=3) for _ in range(2)
    )
    np.testing.assert_array_equal(first.noisy_gram, again.noisy_gram)
    assert not first.card.private
    assert first.card.guarantee.startswith("No privacy guarantee")
    assert first.card.epsilon_delta == ()
    assert "No privacy guarantee" in str(first.ridge("age").summary())
    other = release_moments(table, privacy=GDP(1.0), public=public)
    assert "guarantee" not in str(other.ridge("age").summary())


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_data_frames_give_the_same_release(table, public, noisy, make):
    frame = make(dict(zip(NAMES, table.T, strict=True)))
    release = release_moments(frame, privacy=GDP(1.0), public=public, random_state=5)
    np.testing.assert_array_equal(release.noisy_gram, noisy.noisy_gram)
    assert release.columns == tuple(NAMES)


def test_names_come_from_the_table_the_public_moments_or_the_user(table):
    nameless = PublicMoments.from_rows(table[:100])
    options = {"privacy": GDP(1.0), "public": nameless}
    plain = release_moments(table, **options)
    assert plain.columns is None
    assert plain.ridge(4).features == ("x0", "x1", "x2", "x3")
    assert plain.ridge(4).predict(table[:3, :4]).shape == (3,)
    assert release_moments(table, columns=NAMES, **options).columns == tuple(NAMES)
    frame = pd.DataFrame(table, columns=NAMES)
    assert release_moments(frame, **options).columns == tuple(NAMES)


def test_everything_is_read_only(noisy):
    for array in (noisy.noisy_gram, noisy.coordinates.unwhitener, noisy.ridge("age").coef):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(AttributeError):
        noisy.n_rows = 3
    copy = pickle.loads(pickle.dumps(noisy))
    assert not copy.noisy_gram.flags.writeable
    np.testing.assert_array_equal(copy.ridge("age").coef, noisy.ridge("age").coef)


def test_the_representation_is_short(noisy):
    assert repr(noisy).startswith("MomentRelease(diagonal_sd=")
    assert len(repr(noisy)) < 1000


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("radius", [1.8, 2.5, 4.0])
def test_what_weights_cut_off_is_allowed_for(radius):
    """Short radii, a public sample so large that it is the population, and many rows."""
    rng = np.random.default_rng(0)
    mixing, mean = rng.normal(size=(4, 4)), rng.normal(size=4)
    public = PublicMoments.from_mean_cov(mean, mixing.T @ mixing, n=10**6)
    # Student rows of the law that is expected where no public rows show another.
    size = np.sqrt(8 / rng.chisquare(10, size=(100_000, 1)))
    rows = rng.normal(size=(100_000, 4)) * size @ mixing + mean
    release = release_moments(rows, privacy=GDP(1e6), public=public, radius=radius, anchor=False)
    truth = mixing.T @ mixing
    sizes = np.sqrt(np.diag(truth))
    error = (release.covariance - truth) / np.outer(sizes, sizes)
    assert np.abs(error).max() < 0.02
    assert release.second_moment[-1, -1] == pytest.approx(1.0, abs=0.01)
    np.testing.assert_allclose(release.mean, mean, atol=0.02 * sizes.max())
    assert release.kept < release.weights.kept_ones
    assert (release.kept < 0.7) == (radius < 2.0)


# The anchor


def test_public_moments_count_as_evidence_where_noise_is_large(public, table):
    options = {"privacy": GDP(0.01), "public": public, "random_state": 1}
    anchored = release_moments(table, **options)
    with pytest.warns(PublicMomentsWarning, match="little but noise"):
        free = release_moments(table, anchor=False, **options)
    np.testing.assert_array_equal(anchored.noisy_gram, free.noisy_gram)
    assert anchored.diagnostics.trust < 0.5
    # Where the release says nothing, the public expectation is left, for rows it has not seen.
    longer = 300 / (300 - 6 - 1)
    diagonal = np.diag(replace(anchored, offdiagonal_sd=1e6).evidence.moment)
    np.testing.assert_allclose(diagonal, [longer] * 5 + [1.0], rtol=1e-6)
    assert free.diagnostics.trust == 1.0
    assert free.diagnostics.lifted > 0
    truth = np.cov(table.T, bias=True)
    errors = [np.linalg.norm(one.covariance - truth) for one in (anchored, free)]
    assert errors[0] < errors[1] / 2
    assert anchored.ridge("age").std_err[0] < free.ridge("age").std_err[0] / 2


def test_a_budget_without_limit_leaves_the_public_moments_no_say(public, table):
    release = release_moments(table, privacy=GDP(1e5), public=public)
    assert release.diagnostics.trust == pytest.approx(1.0, abs=1e-6)


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
def test_without_a_public_mean_or_sample_there_is_no_anchor(table):
    S = table[:300].T @ table[:300] / 300
    for public in (PublicMoments.from_matrix(S, n=300), PublicMoments.identity(5)):
        release = release_moments(table, privacy=GDP(0.5), public=public)
        assert release.diagnostics.trust == 1.0
    assert release.diagnostics.public_fit_z is None
    assert release.card.public_fit_z is None
    assert release.card.public_fingerprint is None


def test_another_population_is_told(public, table):
    with pytest.warns(PublicMomentsWarning, match="do not fit the private rows"):
        release = release_moments(3.0 * table, privacy=GDP(2.0), public=public)
    assert release.card.public_fit_z > 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release_moments(3.0 * table, privacy=GDP(2.0), public=public, anchor=False)


def test_heavy_tails_are_allowed_for(noisy):
    """Public rows with heavy tails tell their second moment less well: less is out of line."""
    rng = np.random.default_rng(0)
    heavy = rng.normal(size=(2300, 5)) / np.sqrt(rng.chisquare(3, size=(2300, 1)))
    public = PublicMoments.from_rows(heavy[:300])
    release = release_moments(heavy[300:], privacy=GDP(2.0), public=public)
    assert noisy.coordinates.tail < 1.2
    assert release.coordinates.tail > 2.0
    light = replace(release, coordinates=replace(release.coordinates, tail=1.0))
    assert light.diagnostics.public_fit_z > release.diagnostics.public_fit_z + 0.5


def test_condition_numbers_fall_by_whitening(noisy):
    told = noisy.diagnostics
    assert told.public_condition > 20 > 5 > told.whitened_condition > 1
    assert told.condition == pytest.approx(told.public_condition, rel=0.5)
    assert 0.9 < told.kept <= 1.0
    assert told.kept < told.kept_ones


# What is refused, before anything is spent


def with_cell(value, dtype=float):
    changed = ROWS.astype(dtype)
    changed[5, 2] = value
    return changed


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rows": with_cell(np.nan)}, "column 2"),
        ({"rows": with_cell(np.inf)}, 'on_invalid="ignore"'),
        ({"rows": ROWS[:, 0]}, "rows has shape (60,)"),
        ({"rows": ROWS[None]}, "dim 3"),
        ({"rows": ROWS[:0]}, "0 sample"),
        ({"rows": ROWS[:1]}, "minimum of 2"),
        ({"rows": ROWS[:, :2]}, "rows has 2 columns, but the public moments have 3"),
        ({"rows": ROWS[:, :2], "public": NAMED}, "rows has 2 features"),
        ({"rows": ROWS.astype(str)}, "rows must hold numbers"),
        ({"rows": with_cell("123456.789 m", object)}, "column(s) 2"),
        ({"rows": sparse.csr_matrix(ROWS)}, "rows must be dense"),
        ({"rows": pd.DataFrame(ROWS, columns=list("abc")), "public": NAMED}, "missing: age"),
        ({"rows": pd.DataFrame(ROWS, columns=NAMES[2::-1]), "public": NAMED}, "another order"),
        ({"columns": ["a", "b"]}, "columns must have one name per variable"),
        ({"columns": ["a", "b", "b"]}, "more than one of b"),
        ({"columns": ["a", "b", "c"], "public": NAMED}, "rows must have the columns age"),
        ({"public": None}, "public must be PublicMoments, got NoneType"),
        ({"public": ROWS}, "public must be PublicMoments, got ndarray"),
        (
            {"public": PublicMoments.from_rows(PUBLIC_ROWS, response=PUBLIC_ROWS[:, 0])},
            "without response=",
        ),
        ({"privacy": None}, "privacy must be GDP(mu)"),
        ({"privacy": 1.0}, "privacy must be GDP(mu)"),
        ({"privacy": GDP(1e-12)}, "privacy must be a budget that noise on the integer grid"),
        ({"privacy": ApproxDP(200.0, 1e-6)}, "epsilon=200.0 is too large"),
        ({"random_state": -1}, "random_state must be a non-negative integer"),
        ({"anchor": "no"}, "anchor must be True or False"),
        ({"radius": -1.0}, "radius must be in (0, inf)"),
        ({"radius": np.nan}, "radius must be in (0, inf)"),
        ({"radius": 1e9}, "radius must be between"),
        ({"on_invalid": "drop"}, 'on_invalid must be "raise" or "ignore"'),
    ],
)
def test_refusals_quote_nothing_private(changes, words):
    arguments = {"rows": ROWS, "privacy": GDP(1.0), "public": PUBLIC} | changes
    assert words in refusal_of(lambda: release_moments(arguments.pop("rows"), **arguments))


def test_ignored_rows_count_as_zeros(public, table):
    spoilt = table.copy()
    spoilt[::2, 3] = np.nan
    options = {"privacy": GDP(1e5), "public": public, "anchor": False, "random_state": 0}
    spoilt_release = release_moments(spoilt, on_invalid="ignore", **options)
    half = release_moments(table[1::2], **options, radius=spoilt_release.weights.radius)
    np.testing.assert_allclose(spoilt_release.noisy_gram, half.noisy_gram / 2, atol=1e-4)
