"""The proof: cuDNN loaded, asked and made to convolve, in a child process that may crash, hang or be cut off.

Flow: `run.run(Order)` starts one child a copy (`worker`), which goes through the stages of `outcome.STAGES` and writes
an event before and after each; what it said, and how it ended, comes back as an `Outcome`. Nothing here judges:
`doctor/commands/verify/` makes findings of it.

The child's side: `worker` goes through `stages/`, which work on a `trial`; `cudnn_api` (ctypes binding) ->
`convolution` (problems, passes, algorithms) on `memory` (CuPy's, or the host's for a library that computes there);
`attempt` compares one algorithm's answer with `reference`, within what `numbers` allows. `events` is what it writes.
"""
