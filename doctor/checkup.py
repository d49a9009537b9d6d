"""What `gpudoctor check` does, apart from reading its command line and printing."""

from __future__ import annotations

import time

from compat.record import NamedTuple
from doctor.choice import choose, one_of
from doctor.examine import diagnose, examine, host_of
from doctor.finding import Report, Severity
from doctor.formats import Look
from doctor.judge import codes, load_rules
from doctor.output import format_of, write_file
from doctor.probes import Request
from doctor.report import exit_status


class Options(NamedTuple):
    """What the user asked for; the defaults are those of the command line."""

    pythons: tuple[str, ...] = ()
    root: str | None = None
    deep: bool = False
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    list_rules: bool = False
    fail_on: str = "error"
    style: str = "text"
    output: str | None = None
    redact: bool = False
    frameworks: tuple[str, ...] = ()  # specs to judge as if they were installed


def checkup(options: Options, look: Look) -> tuple[str, int]:
    """Examine and report: the text to print ("" when it went to a file) and the exit status.

    Raises NoSuchName, BadRequest and NotWritten for what the user got wrong.
    """
    started = time.perf_counter()
    wanted = wanted_rules(options)
    if options.list_rules:
        return _listing(wanted), 0
    severity = severity_of(options)
    chosen = format_of(options.style)
    report = report_of(options, wanted, started)
    if options.redact:
        from doctor.redact import redact  # late: only runs that ask for it pay for its patterns

        report = redact(report)
    status = exit_status(report, severity)
    if options.output is None:
        return chosen.render(report, look), status
    write_file(options.output, chosen.render(report, Look()))
    return "", status


def wanted_rules(options: Options) -> tuple[str, ...]:
    """The codes of the rules to ask; raises NoSuchName."""
    return choose("rule", codes(), options.only, options.skip)


def severity_of(options: Options) -> Severity:
    """The least severe finding that makes exit 1; raises NoSuchName."""
    return Severity(one_of("severity", options.fail_on, [one.value for one in Severity]))


def report_of(options: Options, wanted: tuple[str, ...], started: float) -> Report:
    """Look at the machine and judge it; `started` is a `time.perf_counter()`."""
    host, request = host_of(options.root), Request(options.pythons, options.deep)
    if not options.frameworks:
        return examine(host, request, wanted, started)
    from compat.matrix import Matrix  # late, as what follows: an ordinary check has no plan
    from doctor.probes import look
    from doctor.solving.planned import parse_plan, planned

    specs = parse_plan(options.frameworks)
    return diagnose(planned(look(host, request), specs, Matrix.of_user()), wanted, started)


def _listing(wanted: tuple[str, ...]) -> str:
    width = max(map(len, wanted), default=0)
    return "".join(f"{code.ljust(width)}  {rule.title}\n" for code, rule in load_rules(wanted).items())
