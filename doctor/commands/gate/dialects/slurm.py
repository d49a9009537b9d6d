"""Slurm's Prolog and HealthCheckProgram.

A Prolog that does not exit with 0 drains the node and requeues the job; while slurmd starts, HealthCheckProgram is run
again until it exits with 0, and is killed after 60 s. The line is a reason for `scontrol update State=DRAIN Reason=`.
Source: Slurm, "Prolog and Epilog Guide" (prolog_epilog.html); slurm.conf(5), HealthCheckProgram. Accounting
keeps a reason as a "tinytext" (SchedMD/slurm, src/plugins/accounting_storage/mysql, event_table_fields), which a strict
database refuses when it is longer.
"""

from __future__ import annotations

from doctor.commands.gate.dialect import Dialect, told
from doctor.commands.gate.verdict import Level, Verdict

_BYTES = 255


def render(verdict: Verdict) -> str:
    """As a reason: quotes and backslashes would end it in the scripts that pass it on."""
    text = f"gpudoctor: {told(verdict)}".translate({ord(sign): None for sign in "\"'\\`$"})
    return text if len(text.encode()) <= _BYTES else text.encode()[: _BYTES - 3].decode(errors="ignore") + "..."


DIALECT = Dialect(
    "0 ready, 1 drain",
    {Level.READY: 0, Level.WARNED: 0, Level.NOT_READY: 1, Level.UNKNOWN: 1},
    no_verdict=1,
    render=render,
)
