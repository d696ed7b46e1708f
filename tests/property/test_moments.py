"""Whatever matrix noise makes of a release, what is read off it is sound."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays

from publicmoments import GDP, PublicMoments
from publicmoments.release import MomentRelease, release_moments

D = 3
ROWS = np.random.default_rng(0).normal(size=(120, D)) * [1.0, 50.0, 1e-3] + [0.0, 1e3, 1.0]
PUBLIC = PublicMoments.from_rows(ROWS[:40], columns=["a", "b", "c"])
RELEASE = release_moments(ROWS[40:], privacy=GDP(1.0), public=PUBLIC, random_state=0)

symmetric = arrays(np.float64, (D + 1, D + 1), elements=st.floats(-1e6, 1e6)).map(
    lambda square: square + square.T
)


def with_gram(gram, anchor, offdiagonal_sd):
    fields = {name: getattr(RELEASE, name) for name in RELEASE.__dataclass_fields__}
    changed = {
        "noisy_gram": gram,
        "anchor": anchor,
        "offdiagonal_sd": offdiagonal_sd,
        "diagonal_sd": offdiagonal_sd * math.sqrt(2.0),
    }
    return MomentRelease(**(fields | changed))


@settings(max_examples=60)
@given(symmetric, st.booleans(), st.floats(1e-9, 1e3), st.integers(0, D - 1))
def test_readings_are_finite_and_moments_positive(gram, anchor, offdiagonal_sd, response):
    release = with_gram(gram, anchor, offdiagonal_sd)
    sizes = np.sqrt(np.diag(release.second_moment))
    unit = release.second_moment / np.outer(sizes, sizes)
    assert np.linalg.eigvalsh(unit)[0] > -1e-9
    assert np.linalg.eigvalsh(release.evidence.moment)[0] > 0.0
    assert 0.0 <= release.evidence.trust <= 1.0
    fit = release.ridge(response, 1e-3)
    assert np.isfinite(fit.coef).all()
    assert np.isfinite(fit.std_err).all()
    assert (fit.std_err >= 0.0).all()
    assert fit.prediction_error >= fit.residual_variance >= 0.0
    X, y = release.pseudo_rows(response, center=False)
    both = np.column_stack([X, y]) / np.sqrt(release.n_rows)
    order = [k for k in range(D) if k != response] + [response]
    expected = release.second_moment[np.ix_(order, order)]
    spread = np.outer(sizes[order], sizes[order])
    np.testing.assert_allclose(both.T @ both / spread, expected / spread, atol=1e-9)


@settings(max_examples=40)
@given(
    st.integers(0, 39),
    arrays(np.float64, (D,), elements=st.floats(allow_nan=True, allow_infinity=True)),
)
def test_one_row_moves_the_release_by_at_most_its_sensitivity(place, row):
    """With the noise of a seed, which is the same for both, the change is that of the exact sum."""
    changed = ROWS[40:].copy()
    changed[place] = row
    options = {"privacy": GDP(1.0), "public": PUBLIC, "random_state": 0, "on_invalid": "ignore"}
    other = release_moments(changed, **options)
    change = np.linalg.norm(other.noisy_gram - RELEASE.noisy_gram)
    # The noise sd is the sensitivity at mu = 1.
    assert change <= RELEASE.diagonal_sd * (1 + 1e-9)


def test_that_bound_is_reached():
    """Two long rows at right angles: no smaller noise would do."""
    whitener = PUBLIC.design(fit_intercept=True).whitener
    back = np.linalg.inv(whitener)
    ends = []
    for axis in (0, 1):
        changed = ROWS[40:].copy()
        # In whitened units 1e4 along an axis: the one at the end of the row no longer matters.
        changed[7] = (1e4 * np.eye(D + 1)[axis] @ back)[:D] + PUBLIC.mean
        ends.append(release_moments(changed, privacy=GDP(1.0), public=PUBLIC, random_state=0))
    change = np.linalg.norm(ends[0].noisy_gram - ends[1].noisy_gram)
    assert change == pytest.approx(RELEASE.diagonal_sd, rel=1e-3)


names = st.lists(st.text(max_size=12), min_size=D, max_size=D, unique=True)


@settings(max_examples=40)
@given(symmetric, names, st.floats(1e-300, 1e300), st.booleans())
def test_files_keep_every_bit(tmp_path_factory, gram, columns, offdiagonal_sd, anchor):
    release = with_gram(gram, anchor, offdiagonal_sd)
    object.__setattr__(release, "columns", tuple(columns))
    path = tmp_path_factory.mktemp("release") / "one.pmr"
    release.save(path)
    loaded = MomentRelease.load(path)
    assert loaded.noisy_gram.tobytes() == gram.tobytes()
    assert loaded.columns == tuple(columns)
    assert loaded.offdiagonal_sd == offdiagonal_sd
    assert repr(loaded) == repr(release)
    path.unlink()
