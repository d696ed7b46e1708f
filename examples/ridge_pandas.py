"""Ridge regression from a pandas frame.

Prices of flats, with columns that have no honest bounds. A few hundred sales were published, which
is where the public moments come from. The model keeps the names of the columns, gives intervals
and writes its own report.
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from publicmoments import ApproxDP, PublicMoments, Ridge
from publicmoments.report.html import write_report


def sales(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Make up n sales."""
    table = pd.DataFrame(
        {
            "area": np.exp(rng.normal(4.3, 0.4, size=n)),
            "age": rng.gamma(2.0, 20.0, size=n),
            "distance": rng.exponential(6.0, size=n),
        }
    )
    price = 4.0 * table["area"] - 0.5 * table["age"] - 6.0 * table["distance"] + 60.0
    return table.assign(price=price + 40.0 * rng.standard_t(5, size=n))


rng = np.random.default_rng(1)
published, confidential = sales(300, rng), sales(20_000, rng)
features = ["area", "age", "distance"]

public = PublicMoments.from_rows(published[features], response=published["price"])
model = Ridge(privacy=ApproxDP(epsilon=1.0, delta=1e-6), public=public)
model.fit(confidential[features], confidential["price"])

print(model.summary())
print(model.card_)
with tempfile.TemporaryDirectory() as folder:
    report = Path(folder) / "report.html"
    write_report(model, report)
    print(f"The report has {report.stat().st_size / 1000:.0f} kB; open it in a browser.")
