"""The privacy card of a moment release, of several combined, and of one read from a file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from publicmoments.privacy.card import Card, PassSummary
from publicmoments.privacy.rounding import text_above
from publicmoments.public import PublicMoments
from publicmoments.release.weights import RowWeights
from publicmoments.session.door import Session

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
        As in `publicmoments.release.weights.RowWeights`.
    """

    n_rows: int
    radius: float
    kept: float
    predicted_noise: float
    predicted_bias: float


def moment_card(session: Session, weights: RowWeights, public: PublicMoments) -> Card:
    """Write the card of one release; everything on it is public or released."""
    (released,) = session.releases
    line = MomentPass(
        **vars(released.line),
        n_rows=released.n_rows,
        radius=weights.radius,
        kept=weights.kept,
        predicted_noise=weights.predicted_noise,
        predicted_bias=weights.predicted_bias,
    )
    return Card(
        **session.claim(),
        n_rows=released.n_rows,
        n_features=released.query.recipe.dimension - 1,
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


def _worst_curve(cards: Sequence[Card]) -> tuple[tuple[float, float], ...]:
    """At each delta that all cards state, the largest epsilon."""
    curves = [{delta: epsilon for epsilon, delta in card.epsilon_delta} for card in cards]
    shared = [delta for delta in curves[0] if all(delta in curve for curve in curves)]
    return tuple((max(curve[delta] for curve in curves), delta) for delta in shared)
