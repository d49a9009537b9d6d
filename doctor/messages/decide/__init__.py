"""Causes that are computed from what a message holds; a row of `signatures/` names the function in `decide`."""
