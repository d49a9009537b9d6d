"""For people and scripts: the exit statuses of every command of gpudoctor."""

from __future__ import annotations

from doctor.commands.gate.dialect import Dialect, told
from doctor.commands.gate.verdict import Level

DIALECT = Dialect(
    "0 ready, 1 not ready, 4 not known",
    {Level.READY: 0, Level.WARNED: 0, Level.NOT_READY: 1, Level.UNKNOWN: 4},
    no_verdict=3,
    render=told,
)
