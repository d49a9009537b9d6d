"""`matrix can`, `matrix solve` and `check --framework`: what would work on a machine, before anything is installed."""
