"""What is public: moments of a public sample, and the coordinates they give."""

from __future__ import annotations

from publicmoments.checks import PublicMomentsWarning
from publicmoments.public.conditioning import well_conditioned
from publicmoments.public.design import PublicDesign
from publicmoments.public.joint import PublicResponse
from publicmoments.public.moments import PublicMoments

__all__ = [
    "PublicDesign",
    "PublicMoments",
    "PublicMomentsWarning",
    "PublicResponse",
    "well_conditioned",
]
