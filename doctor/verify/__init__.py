"""What `gpudoctor verify` does: which copy of cuDNN, put to the test, and what its failure comes from.

Flow: `subject` (which copies: predicted or named) -> `doctor.smoke.run` (one child a copy and GPU) and `through` (one
child a framework, `trial`) -> `findings` (from what a trial came to, by `cause`, to answers with `needs`) ->
`verification` -> `text`, `encode`. `command` holds it together.
"""
