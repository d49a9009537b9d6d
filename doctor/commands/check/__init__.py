"""Judging a machine: from its facts to the report of `gpudoctor check`."""
