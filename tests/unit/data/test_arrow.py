"""Arrow files and streams: only what is wanted is read, and no message quotes a cell."""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from publicmoments import GDP, Ridge
from publicmoments.data import open_frame
from publicmoments.data.arrow import StreamFrame
from publicmoments.data.pieces import piece_rows

TABLE = pa.table(
    {
        "a": np.arange(1_000) / 7.0,
        "region": np.arange(1_000) % 3,
        "word": [str(number) for number in range(1_000)],
        "b": np.arange(1_000),
    }
)


def gathered(frame):
    """Rows of a frame in order of ``a``, and the columns that its pieces have."""
    seen, names = [], set()

    def work(piece):
        names.update(piece.schema.names)
        seen.extend(piece.to_pylist())
        return np.array([piece.num_rows])

    assert frame.map_add(work).tolist() == [len(seen)] == [frame.n_rows]
    return sorted(seen, key=lambda row: row.get("a") or 0.0), names


@pytest.fixture
def hive(tmp_path):
    """A dataset in folders that are named after regions."""
    pq.write_to_dataset(TABLE, tmp_path / "hive", partition_cols=["region"])
    return tmp_path / "hive"


def test_only_wanted_columns_are_read(tmp_path):
    pq.write_table(TABLE, tmp_path / "t.parquet")
    frame = open_frame(tmp_path / "t.parquet")
    assert frame.names == ("a", "region", "word", "b")
    rows, names = gathered(frame.only(["b", "a"]))
    assert names == {"a", "b"}
    assert [row["b"] for row in rows] == list(range(1_000))


def test_columns_that_folders_are_named_after(hive):
    frame = open_frame(str(hive))
    assert [kind for kind, _ in frame.types(["a", "region", "word"])] == [
        "number",
        "number",
        "other",
    ]
    rows, _ = gathered(frame.only(["region", "a", "b"]))
    assert [row["region"] for row in rows] == [number % 3 for number in range(1_000)]
    rows, names = gathered(frame.only(["region"]))
    assert names == {"region"}
    assert sorted(row["region"] for row in rows) == sorted(TABLE["region"].to_pylist())


def test_columns_that_some_files_lack(tmp_path):
    pq.write_table(TABLE.slice(0, 600), tmp_path / "0.parquet")
    pq.write_table(TABLE.slice(600).drop(["b"]), tmp_path / "1.parquet")
    rows, _ = gathered(open_frame(tmp_path).only(["a", "b"]))
    assert [row["b"] for row in rows] == [*range(600), *[None] * 400]


@pytest.mark.parametrize("chosen", [ds.field("b") < 10, ds.field("region") == 1])
def test_filters_of_a_dataset_hold(hive, chosen):
    dataset = ds.dataset(hive, partitioning="hive").filter(chosen)
    rows, _ = gathered(open_frame(dataset).only(["b", "a"]))
    wanted = TABLE.filter(chosen)["b"].to_pylist()
    assert [row["b"] for row in rows] == wanted
    assert 0 < len(wanted) < 1_000


def test_row_groups_that_a_dataset_leaves_out(tmp_path):
    pq.write_table(TABLE, tmp_path / "t.parquet", row_group_size=100)
    (whole,) = ds.dataset(tmp_path / "t.parquet").get_fragments()
    format_ = ds.ParquetFileFormat()
    part = ds.FileSystemDataset(
        [whole.subset(row_group_ids=[2, 5])], TABLE.schema, format_, whole.filesystem
    )
    rows, _ = gathered(open_frame(part).only(["a", "b"]))
    assert [row["b"] for row in rows] == [*range(200, 300), *range(500, 600)]


def test_pieces_are_small(tmp_path):
    wide = pa.table({f"c{i}": np.zeros(30_000) for i in range(300)})
    pq.write_table(wide, tmp_path / "t.parquet")
    most = []
    frame = open_frame(tmp_path / "t.parquet")
    frame.map_add(lambda piece: np.array([most.append(piece.num_rows) or 0]))
    assert max(most) <= piece_rows(300) < 30_000
    assert piece_rows(10**9) == 2**10


def test_streams_are_read_when_rows_are_counted():
    read = []

    def batches(names):
        read.append(names)
        return TABLE.select(names).to_batches(max_chunksize=300)

    types = open_frame(TABLE.to_reader()).column_types
    frame = StreamFrame(types, batches).only(["b", "a"])
    assert read == []
    assert frame.n_rows == 1_000
    gathered(frame)
    gathered(frame)
    assert read == [["b", "a"]]


def test_files_that_do_not_exist(tmp_path):
    with pytest.raises(FileNotFoundError):
        open_frame(tmp_path / "nothing.parquet")


@pytest.mark.parametrize("module", ["pyarrow.dataset", "pyarrow.csv"])
def test_a_missing_library_is_named(monkeypatch, module, tmp_path):
    monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(ImportError, match=r'pip install "publicmoments\[arrow\]"'):
        open_frame(tmp_path / "t.csv")


def test_a_truncated_file_in_a_folder_is_refused_without_arrows_words(tmp_path):
    table = pa.table({"x": np.arange(1000.0), "y": np.arange(1000.0)})
    pq.write_table(table, tmp_path / "a.parquet")
    pq.write_table(table, tmp_path / "b.parquet")
    whole = (tmp_path / "b.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="could not be read") as caught:
        Ridge(privacy=GDP(1.0)).fit(str(tmp_path), "y")
    assert not isinstance(caught.value, pa.ArrowInvalid)
