"""Evidence that the library keeps its promise: `python -m audit`, or `make audit`."""
