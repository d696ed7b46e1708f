"""Who sums the bounded rows. Engines only sum: they know no noise, budget or model."""

from publicmoments.engines.exact import ExactSum
from publicmoments.engines.numpy_engine import sum_rows

__all__ = ["ExactSum", "sum_rows"]
