"""The privacy card of a moment release, of several combined, and of one read from a file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from publicmoments.models.guarantee import Spendable, claim
from publicmoments.models.moments.weights import RowWeights
from publicmoments.privacy.budgets import Budget
from publicmoments.privacy.rounding import text_above
from publicmoments.public import PublicMoments
from publicmoments.release import NoisyGram
from publicmoments.report.card import Card, PassSummary

__all__ = ["MomentPass", "card_from", "combined_card", "moment_card"]

STATISTIC = "second moments of all columns and a column of ones"


@dataclass(frozen=True)
class MomentPass(PassSummary):
    """
    The release of one table's moments.

    Parameters
    ----------
    statistic, mu, rho, noise_sd, noise_sd_grid_units, times
        As in `PassSummary`.
    n_rows : int
        Rows of the table.
    radius, kept, predicted_noise, predicted_bias : float
        As in `publicmoments.models.moments.weights.RowWeights`.
    """

    n_rows: int
    radius: float
    kept: float
    predicted_noise: float
    predicted_bias: float


def moment_card(
    released: NoisyGram,
    weights: RowWeights,
    bought: Spendable,
    privacy: Budget,
    public: PublicMoments,
) -> Card:
    """Write the card of one release; everything on it is public or released."""
    line = MomentPass(
        statistic=STATISTIC,
        mu=released.cost.mu,
        rho=released.rho,
        noise_sd=released.diagonal_sd,
        noise_sd_grid_units=released.law.diagonal_sd,
        times=1,
        n_rows=released.n_rows,
        radius=weights.radius,
        kept=weights.kept,
        predicted_noise=weights.predicted_noise,
        predicted_bias=weights.predicted_bias,
    )
    return Card(
        **claim([released], bought, privacy, released.private),
        n_rows=released.n_rows,
        n_features=released.recipe.dimension - 1,
        n_responses=0,
        passes=(line,),
        public_fingerprint=None if public.assumed else public.fingerprint,
    )


def combined_card(cards: Sequence[Card]) -> Card:
    """
    Write the card of several releases of disjoint rows.

    Notes
    -----
    **Guarantee.** A row is in one table: replacing it changes that table's release only, whatever
    was released of the others. The guarantee of a row is that of its own site, and the worst of
    them is one for all rows.

    **Why.** Given the other tables, the combination is a function of one site's release and of
    independent ones: post-processing (parallel composition, McSherry 2009; with the sizes of the
    tables public it holds for replacing a row).
    """
    worst = max(cards, key=lambda card: card.mu)
    private = all(card.private for card in cards)
    lines = tuple(line for card in cards for line in card.passes)
    everywhere = math.hypot(*(line.mu for line in lines))
    budgets = ", ".join(text_above(line.mu, 6) for line in lines)
    return replace(
        worst,
        guarantee=next((card.guarantee for card in cards if not card.private), worst.guarantee),
        private=private,
        rho=max(card.rho for card in cards),
        extra_tv=max(card.extra_tv for card in cards),
        epsilon_delta=_worst_curve(cards) if private else (),
        n_rows=sum(card.n_rows for card in cards),
        passes=lines,
        notes=(
            f"{len(lines)} sites of disjoint rows, their numbers public: a row has the guarantee "
            f"of its own site, of which the worst is stated. mu by site: {budgets}.",
            "A person with rows at several sites has the composition of their guarantees: the root "
            f"of the sum of their squared mu, at all sites {text_above(everywhere, 6)}.",
        ),
    )


def card_from(document: dict[str, Any]) -> Card:
    """Read a card from its dictionary; fields must be those of a moment release's card."""
    values = dict(document)
    known = {one.name for one in fields(Card)}
    if set(values) != known:
        raise ValueError("the fields of the card are not those this version writes")
    if not isinstance(values["private"], bool) or not isinstance(values["guarantee"], str):
        raise ValueError("the card must state a guarantee and whether it is private")
    if not all(isinstance(values[name], float) for name in ("mu", "rho", "extra_tv")):
        raise ValueError("the card must state mu, rho and extra_tv as numbers")
    values["passes"] = tuple(MomentPass(**line) for line in values["passes"])
    values["epsilon_delta"] = tuple((float(e), float(d)) for e, d in values["epsilon_delta"])
    values["notes"] = tuple(str(note) for note in values["notes"])
    values["predicted_error"] = tuple(float(error) for error in values["predicted_error"])
    return Card(**values)


def _worst_curve(cards: Sequence[Card]) -> tuple[tuple[float, float], ...]:
    """At each delta that all cards state, the largest epsilon."""
    curves = [{delta: epsilon for epsilon, delta in card.epsilon_delta} for card in cards]
    shared = [delta for delta in curves[0] if all(delta in curve for curve in curves)]
    return tuple((max(curve[delta] for curve in curves), delta) for delta in shared)
