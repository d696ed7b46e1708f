"""The card tells all of its numbers, and in words what matters."""

import json
from dataclasses import asdict, replace

import pytest

from publicmoments.privacy.card import Card, PassSummary

GRADIENT = PassSummary("gradient", 0.1, 0.005, 0.02, 3e6, times=40)
CURVATURE = PassSummary("curvature", 0.3, 0.045, 0.5, 2e9, times=1)


@pytest.fixture
def card() -> Card:
    """A card of forty-one releases with nothing that is optional."""
    return Card(
        guarantee="Satisfies 0.245-zCDP exactly.",
        private=True,
        neighbours="one row replaced",
        mu=0.7,
        rho=0.245,
        extra_tv=1e-12,
        epsilon_delta=((2.31, 1e-5), (2.66, 1e-6)),
        n_rows=500,
        n_features=3,
        n_responses=1,
        passes=(GRADIENT, CURVATURE),
        public_fingerprint=None,
        versions={"python": "3.11"},
    )


def test_the_essentials_in_words(card):
    assert str(card).splitlines() == [
        "Satisfies 0.245-zCDP exactly.",
        "Neighbours: one row replaced.",
        "(epsilon, delta): (2.31, 1e-05), (2.66, 1e-06)",
        "Releases: 41; rows: 500.",
    ]


def test_notes_and_predictions_are_told_where_there_are_any(card):
    lines = str(replace(card, notes=("Read this.",), predicted_error=(0.1234, 2.0))).splitlines()
    assert lines[3] == "Read this."
    assert lines[-1] == "Error that noise and bias are expected to add to predictions: 0.123, 2."


def test_predictions_of_infinite_errors_are_not_told(card):
    assert "expected to add" not in str(replace(card, predicted_error=(0.1, float("inf"))))


def test_a_card_without_a_guarantee_shows_no_curve(card):
    assert "epsilon" not in str(replace(card, private=False))


def test_every_number_survives_as_json(card):
    plain = json.loads(card.to_json())
    assert plain == card.to_dict()
    assert plain["passes"] == [asdict(GRADIENT), asdict(CURVATURE)]
    assert plain["epsilon_delta"] == [[2.31, 1e-5], [2.66, 1e-6]]
    assert plain["notes"] == plain["predicted_error"] == []
    assert plain["public_fit_z"] is plain["response_fit_z"] is None


def test_printed_pairs_promise_no_more_than_holds(card):
    told = str(replace(card, epsilon_delta=((1.00049, 1.49e-6), (2.6650001, 1e-6))))
    assert "(epsilon, delta): (1.001, 1.5e-06), (2.666, 1e-06)" in told
