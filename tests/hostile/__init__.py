"""Hostile input by the thousand: trees for `check --root`, and mutants for every reader.

`python -m tests.hostile trees 50000` and `python -m tests.hostile mutants 1000000` are the long runs of SECURITY.md.
"""
