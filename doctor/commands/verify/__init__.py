"""What `gpudoctor verify` does: which copy of cuDNN, put to the test, and what its failure comes from.

Flow: `subject` (which copies: predicted or named) -> `doctor.commands.verify.cudnn_trial.run` (a child a copy and GPU),
`via_framework` (a child a framework, `trial`) and, at level node, `node` (a child a GPU) -> `findings` (from what a
trial came to, by `doctor.messages.cause`, to answers with `needs`) -> `verification` -> `text`, `node_text`, `encode`.
`command` holds it together.
"""
