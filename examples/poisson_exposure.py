"""Poisson regression with exposures.

Claims of insured drivers, who were insured for different lengths of time. Rates are per year. The
public rows have neither claims nor exposures.
"""

import numpy as np

from publicmoments import GDP, PoissonRegressor, PublicMoments

rng = np.random.default_rng(3)


def drivers(n: int) -> np.ndarray:
    """Make up age, power and mileage."""
    return np.column_stack(
        [rng.uniform(18, 80, size=n), rng.gamma(8.0, 12.0, size=n), rng.gamma(3.0, 4.0, size=n)]
    )


X = drivers(40_000)
years = rng.uniform(0.1, 1.0, size=40_000)
rate = np.exp(X @ [-0.02, 0.004, 0.03] - 1.0)
claims = rng.poisson(years * rate)

public = PublicMoments.from_rows(drivers(200), columns=["age", "power", "mileage"])
model = PoissonRegressor(privacy=GDP(1.0), public=public, typical_exposure=0.5)
model.fit(X, claims, exposure=years)
print(model.summary())
print("Claims a year at 40, 100 kW, 12,000 km:", model.predict([[40.0, 100.0, 12.0]]).round(3))
