"""Who sums the bounded rows. Engines only sum: they know no noise, budget or model."""

from publicmoments.engines.anywhere import sum_gram, sum_total
from publicmoments.engines.exact import ExactGram, ExactTotal

__all__ = ["ExactGram", "ExactTotal", "sum_gram", "sum_total"]
