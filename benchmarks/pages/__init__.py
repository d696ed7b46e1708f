"""Pages of results: tables as CSV files, and a page with a picture made from each of them.

Benchmarks, experiments and the audit write tables; what is here reads them and writes pages, so
that nothing is measured again for a word. It imports nothing of the library.
"""
