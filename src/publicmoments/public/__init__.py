"""What is public: moments of a public sample, and the coordinates they give."""

from __future__ import annotations

from publicmoments.public.design import PublicDesign
from publicmoments.public.moments import PublicMoments, PublicResponse
from publicmoments.public.shrinkage import well_conditioned
from publicmoments.warnings_ import PublicMomentsWarning

__all__ = [
    "PublicDesign",
    "PublicMoments",
    "PublicMomentsWarning",
    "PublicResponse",
    "well_conditioned",
]
