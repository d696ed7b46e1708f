"""Who sums the bounded rows. Engines only sum: they know no noise, budget or model."""

from publicmoments.engines.dispatch import exact_sum
from publicmoments.engines.host import KeptBlock

__all__ = ["KeptBlock", "exact_sum"]
