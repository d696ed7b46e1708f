"""Families of generalised linear models: what a response may be, and how it follows predictors."""

from publicmoments.families.base import Family, checked_family
from publicmoments.families.canonical import (
    Bernoulli,
    CanonicalFamily,
    Gaussian,
    Poisson,
    canonical_family,
)
from publicmoments.families.further import Gamma, Multinomial

__all__ = [
    "Bernoulli",
    "CanonicalFamily",
    "Family",
    "Gamma",
    "Gaussian",
    "Multinomial",
    "Poisson",
    "canonical_family",
    "checked_family",
]
