"""Several sites, one model.

Three hospitals may not pool their rows. Each releases noisy moments of its own rows, at a budget of
its own; the releases are files, and are put together anywhere. The sites agree beforehand on the
public moments and on a radius.
"""

import tempfile
from pathlib import Path

import numpy as np

from publicmoments import GDP, MomentRelease, PublicMoments, combine, release_moments

rng = np.random.default_rng(5)


def patients(n: int) -> np.ndarray:
    """Make up age, dose and response."""
    age, dose = rng.uniform(20, 80, size=n), rng.gamma(2.0, 1.0, size=n)
    return np.column_stack([age, dose, 0.1 * age - 1.5 * dose + rng.normal(size=n)])


agreed = PublicMoments.from_rows(patients(250), columns=["age", "dose", "response"])
with tempfile.TemporaryDirectory() as folder:
    for name, n, mu in [("north", 8_000, 1.0), ("south", 3_000, 1.0), ("east", 5_000, 0.5)]:
        release = release_moments(patients(n), privacy=GDP(mu), public=agreed, radius=6.0)
        release.save(Path(folder) / f"{name}.moments")
    sites = [MomentRelease.load(path) for path in sorted(Path(folder).glob("*.moments"))]

together = combine(sites)
print(together.ridge("response").summary())
print(together.card)
