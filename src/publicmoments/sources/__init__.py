"""Private rows that live elsewhere: files, streams and clusters, read piece by piece.

All of them are a :class:`Frame`: columns with names and types, a public number of rows, and one
thing to do with them, which is to turn each piece into integers and add those up. What the integers
are is the affair of `publicmoments.engines`; the pieces never leave where they are.
"""

from publicmoments.sources.asking import located
from publicmoments.sources.frame import Columns, Frame, Work
from publicmoments.sources.opening import open_arrays, open_frame, pick

__all__ = ["Columns", "Frame", "Work", "located", "open_arrays", "open_frame", "pick"]
