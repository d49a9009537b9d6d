"""What `doctor.loader.simulate` predicts, held against what the real loader does with the same files.

`python -m tests.loader_oracle ENVIRONMENT FRAMEWORK [NAME=VALUE ...]` imports the framework for real, with LD_DEBUG,
and compares every CUDA library: predicted, observed, equal. `docs/which.md` has the table of the last full run.
"""
