"""The paper's third section, measured: the private second moment and its inverse.

A script for each study, run alone or all together by ``python -m experiments.moments``.
"""
