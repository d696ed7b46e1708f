"""Parquet files larger than memory.

A fit only adds integers up, so the rows may stay in their files: they are read piece by piece, and
memory does not depend on their number. Here two small files stand for many large ones.
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from publicmoments import GDP, PublicMoments, Ridge

rng = np.random.default_rng(7)


def readings(n: int) -> pa.Table:
    """Make up sensor readings."""
    load, heat = rng.gamma(3.0, 2.0, size=n), rng.normal(20.0, 5.0, size=n)
    wear = 0.4 * load + 0.1 * heat + rng.normal(0.0, 0.5, size=n)
    return pa.table({"load": load, "heat": heat, "wear": wear, "machine": ["A7"] * n})


sample = readings(200).drop_columns("machine").to_pandas()
public = PublicMoments.from_rows(sample, response="wear")
with tempfile.TemporaryDirectory() as folder:
    for part in range(2):
        pq.write_table(readings(20_000), Path(folder) / f"part-{part}.parquet")
    model = Ridge(privacy=GDP(1.0), public=public).fit(folder, "wear")

print(model.summary())
print("Columns that the public moments do not name are not read: machine.")
