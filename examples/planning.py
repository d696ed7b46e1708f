"""Planning before spending.

What will a budget buy? The planner rehearses the fit on made-up tables that the public data could
have come from. It reads no private row and costs nothing.
"""

import numpy as np

from publicmoments import GDP, PublicMoments, Ridge, plan
from publicmoments.planner import smallest_budget

rng = np.random.default_rng(6)
X = rng.normal(10.0, [1.0, 3.0, 5.0], size=(8_150, 3))
y = X @ [2.0, -1.0, 0.3] + rng.normal(0.0, 4.0, size=8_150)
public = PublicMoments.from_rows(X[:150], response=y[:150])

forecast = plan(
    n_rows=8_000, privacy=[GDP(mu) for mu in (0.1, 0.3, 1.0)], public=public, rehearsals=6
)
print(forecast)

enough = smallest_budget(0.15, 8_000, public, rehearsals=3)
print("Smallest budget for an error of predictions of 0.15:", enough)

model = Ridge(privacy=enough, public=public).fit(X[150:], y[150:])
print(model.summary())
