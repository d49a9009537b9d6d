"""A plugin of Nagios, Icinga, Naemon and Checkmk.

0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN; one line, of which "|" would begin performance data.
Source: Nagios Core, "Plugin API"; Monitoring Plugins, "Development Guidelines".
"""

from __future__ import annotations

from doctor.commands.gate.dialect import Dialect, told
from doctor.commands.gate.verdict import Level, Verdict

_WORDS = {Level.READY: "OK", Level.WARNED: "WARNING", Level.NOT_READY: "CRITICAL", Level.UNKNOWN: "UNKNOWN"}


def render(verdict: Verdict) -> str:
    """The service's name, the word, the text."""
    return f"GPU {_WORDS[verdict.level]} - {told(verdict).replace('|', '/')}"


DIALECT = Dialect(
    "0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN",
    {Level.READY: 0, Level.WARNED: 1, Level.NOT_READY: 2, Level.UNKNOWN: 3},
    no_verdict=3,
    bad_usage=3,  # "Invalid command line arguments were supplied to the plugin" is UNKNOWN
    render=render,
)
