"""Reading a user's table or vector, one block of rows at a time.

Every input of the library passes through :func:`as_table`, :func:`as_responses` or
:func:`as_labels`. They look at shapes, dtypes and names once; cells are converted later, block by
block, so that memory stays bounded by the block and not by the table. Error messages name
parameters, columns, shapes and dtypes, never the contents of a cell: the table may be private.
"""

from publicmoments.tables.derived import beside, filled, no_columns, within
from publicmoments.tables.device import device_array, device_table, on_device, to_host
from publicmoments.tables.labels import as_labels
from publicmoments.tables.names import listing, match_columns, refuse_duplicates
from publicmoments.tables.naming import by_name
from publicmoments.tables.reading import as_responses, as_table
from publicmoments.tables.table import Table

__all__ = [
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
    "match_columns",
    "no_columns",
    "on_device",
    "refuse_duplicates",
    "to_host",
    "within",
]
