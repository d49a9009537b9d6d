"""What each stage does. A stage answers with its facts, or raises `StageFailed`, `Lacking` or a library's exception.

The keys of the facts are listed in the docstring of each stage's function, and in docs/verify.md.
"""
