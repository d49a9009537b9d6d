"""What `gpudoctor matrix` answers: rows shown, can, solve, and a plan judged as if it were installed."""
