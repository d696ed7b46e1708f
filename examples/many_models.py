"""One release, many models.

The second moments of all columns are paid for once. Regressions of any column on any others,
penalties chosen by predicted error, the lasso and principal components then cost nothing.
"""

import numpy as np
import pandas as pd

from publicmoments import GDP, PublicMoments, release_moments

rng = np.random.default_rng(4)
age = rng.uniform(20, 80, size=25_300)
pressure = 90 + 0.5 * age + rng.normal(0, 10, size=25_300)
weight = 60 + 0.2 * age + rng.normal(0, 12, size=25_300)
cost = 20 * age + 5 * pressure + rng.normal(0, 400, size=25_300)
table = pd.DataFrame({"age": age, "pressure": pressure, "weight": weight, "cost": cost})

public = PublicMoments.from_rows(table[:300])
release = release_moments(table[300:], privacy=GDP(0.5), public=public)

print(release.ridge("cost").summary())
print(release.ridge("pressure", features=["age", "weight"]).summary())
print("penalty:", release.choose_alpha("cost", [0.0, 0.1, 1.0, 10.0]))
print("lasso:", release.lasso("cost", alpha=50.0).coef.round(2))
print("axes:", release.principal_components(2, scale=True).explained_variance_ratio.round(3))
print(release.card)
