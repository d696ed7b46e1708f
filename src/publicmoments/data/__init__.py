"""Reading a user's table or vector, wherever it is, one block or piece of rows at a time."""

from publicmoments.data.asking import located
from publicmoments.data.frame import Columns, Frame
from publicmoments.data.labels import as_labels
from publicmoments.data.memory import device_array, device_table, on_device, to_host
from publicmoments.data.names import listing, refuse_duplicates
from publicmoments.data.opening import by_name, open_frame
from publicmoments.data.reading import as_responses, as_table
from publicmoments.data.table import Table, beside, filled, match_columns, no_columns, within

__all__ = [
    "Columns",
    "Frame",
    "Table",
    "as_labels",
    "as_responses",
    "as_table",
    "beside",
    "by_name",
    "device_array",
    "device_table",
    "filled",
    "listing",
    "located",
    "match_columns",
    "no_columns",
    "on_device",
    "open_frame",
    "refuse_duplicates",
    "to_host",
    "within",
]
