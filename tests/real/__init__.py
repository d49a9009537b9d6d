"""Real environments on a machine of the lab: what `check` says of them, and what the real loader does with them.

`python -m tests.real ENVIRONMENT ... [NAME=VALUE ...]`, as root, on Linux.
"""
