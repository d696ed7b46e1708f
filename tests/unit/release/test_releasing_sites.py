"""Releases of several sites add up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from publicmoments import GDP, ApproxDP, PublicMoments
from publicmoments.release import combine, release_moments


def released(rows, public, mu=1.0, **options):
    return release_moments(rows, privacy=GDP(mu), public=public, radius=4.0, **options)


@pytest.mark.usefixtures("silent")
def test_without_noise_the_parts_make_the_whole(table, public):
    parts = [released(part, public, anchor=False) for part in np.split(table, [200, 900])]
    together, whole = combine(parts), released(table, public, anchor=False)
    np.testing.assert_allclose(together.noisy_gram, whole.noisy_gram, atol=1e-12)
    assert together.n_rows == whole.n_rows
    fits = together.ridge("score"), whole.ridge("score")
    np.testing.assert_allclose(fits[0].coef, fits[1].coef, rtol=1e-6)
    # Each site brings its own noise: three of them, as much of it in the sum as each had.
    assert together.diagonal_sd == pytest.approx(whole.diagonal_sd * np.sqrt(3))
    assert together.offdiagonal_sd == pytest.approx(whole.offdiagonal_sd * np.sqrt(3))


def test_noise_laws_add_up_by_rows(table, public):
    sites = [released(table[:300], public, 0.5), released(table[300:], public, 2.0)]
    together = combine(sites)
    expected = np.hypot(300 * sites[0].diagonal_sd, 1200 * sites[1].diagonal_sd) / 1500
    assert together.diagonal_sd == pytest.approx(expected)
    mean = (300 * sites[0].noisy_gram + 1200 * sites[1].noisy_gram) / 1500
    np.testing.assert_allclose(together.noisy_gram, mean)


def test_the_card_states_every_site_and_the_worst(table, public):
    mus = [0.5, 2.0, 1.0]
    parts = np.split(table, 3)
    sites = [released(part, public, mu) for part, mu in zip(parts, mus, strict=True)]
    card = combine(sites).card
    assert card.private
    assert card.mu == 2.0
    assert card.rho == max(site.card.rho for site in sites)
    assert card.n_rows == 1500
    assert [line.mu for line in card.passes] == mus
    assert [line.n_rows for line in card.passes] == [500, 500, 500]
    assert card.epsilon_delta == sites[1].card.epsilon_delta
    assert "mu by site: 0.5, 2, 1" in str(card)
    assert f"at all sites {np.linalg.norm(mus):.6g}" in str(card)
    assert "replaced by another" in card.neighbours
    assert "Releases: 3; rows: 1500." in str(card)


def test_cards_of_combinations_combine(table, public):
    sites = [released(part, public) for part in np.split(table, 3)]
    nested, flat = combine([combine(sites[:2]), sites[2]]), combine(sites)
    np.testing.assert_allclose(nested.noisy_gram, flat.noisy_gram, rtol=1e-12)
    assert nested.diagonal_sd == pytest.approx(flat.diagonal_sd)
    assert nested.card.passes == flat.card.passes
    assert nested.card.guarantee == flat.card.guarantee
    assert combine(sites[:1]).noisy_gram.tolist() == sites[0].noisy_gram.tolist()


def test_only_points_that_all_sites_state_are_stated(table, public):
    approximate = release_moments(
        table[:700], privacy=ApproxDP(2.0, 1e-7), public=public, radius=4.0
    )
    card = combine([approximate, released(table[700:], public, 0.1)]).card
    deltas = [delta for _, delta in card.epsilon_delta]
    assert 1e-6 in deltas
    assert 1e-7 not in deltas
    assert (1e-7 in [delta for _, delta in approximate.card.epsilon_delta]) is True


def test_one_seeded_site_takes_the_guarantee_of_all(table, public):
    sites = [released(table[:700], public), released(table[700:], public, random_state=1)]
    for order in (sites, sites[::-1]):
        card = combine(order).card
        assert not card.private
        assert card.guarantee.startswith("No privacy guarantee")
        assert card.epsilon_delta == ()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"public": PublicMoments.from_rows(np.eye(5)[[0, 1, 2, 3, 4] * 9])}, "public moments"),
        ({"columns": list("abcde")}, "columns"),
        ({"radius": 5.0}, "radius"),
        ({"anchor": False}, "anchor"),
    ],
)
@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
def test_differences_are_named(table, change, words):
    nameless = PublicMoments.from_rows(table[:300])
    options = {"privacy": GDP(1.0), "public": nameless, "radius": 4.0}
    one = release_moments(table[300:800], **options)
    other = release_moments(table[800:], **(options | change))
    with pytest.raises(ValueError, match=f"agree in their {words}.*releases 0 and 1"):
        combine([one, other])


def test_expected_weights_must_agree(table, public):
    """From public rows at one site and a file without them at another."""
    one, other = released(table[:700], public), released(table[700:], public)
    differing = replace(other, weights=replace(other.weights, kept=other.weights.kept * 0.99))
    with pytest.raises(ValueError, match=r"agree in their expected weights.*one file"):
        combine([one, differing])


def test_other_things_are_refused(table, public):
    one = released(table, public)
    with pytest.raises(ValueError, match="at least one release"):
        combine([])
    with pytest.raises(TypeError, match="MomentRelease objects, got ndarray"):
        combine([one, table])
    with pytest.raises(ValueError, match="same release twice"):
        combine([one, one])
