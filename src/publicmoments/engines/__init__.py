"""Who sums the bounded rows. Engines only sum: they know no noise, budget or model."""

from publicmoments.engines.exact import ExactGram, ExactTotal
from publicmoments.engines.numpy_engine import sum_gram, sum_total

__all__ = ["ExactGram", "ExactTotal", "sum_gram", "sum_total"]
