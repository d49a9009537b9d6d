"""What `gpudoctor check` does, apart from reading its command line and printing."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from compat.base.choice import choose, one_of
from compat.base.record import NamedTuple
from compat.matrix import Matrix
from compat.need import BY_HAND
from doctor.commands.check.document import CheckDocument
from doctor.diagnose import exit_status, make_report
from doctor.host import BadRequest, Host
from doctor.host.choice import host_of
from doctor.host.progress import DRIVER_TIMEOUT_S
from doctor.host.snapshot import Snapshot
from doctor.model.facts import Facts
from doctor.model.facts.policy import POLICY_FILE, Policy
from doctor.model.finding import Answer, Report, Severity, Status
from doctor.output.document import TextStyle
from doctor.output.write import Delivery, deliver_all, deliveries
from doctor.probes import ProbeRequest, look
from doctor.rules.shared.engine import Rules, codes, judge, load_rules

if TYPE_CHECKING:
    from doctor.prescribe.remedy_verifier import RemedyVerifier


class Options(NamedTuple):
    """What the user asked for; the defaults are those of the command line."""

    pythons: tuple[str, ...] = ()
    root: str | None = None
    deep: bool = False
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    list_rules: bool = False
    fail_on: str = "error"
    style: str = ""  # of --format; "" where nobody said
    outputs: tuple[str, ...] = ()  # files, each in the format of its suffix; "-" is standard output
    redact: bool = False
    frameworks: tuple[str, ...] = ()  # specs to judge as if they were installed
    timeout_s: float = DRIVER_TIMEOUT_S  # that the driver may take to answer
    dockerfile: str | None = None  # a file to judge, instead of what it builds
    target: str = ""  # its stage, "" for the last one
    build_args: tuple[str, ...] = ()  # NAME=VALUE, of its ARG lines
    image: str | None = None  # a container image to look at, instead of a machine or a root
    platform: str = ""  # of the image; "" for this machine's
    assume_driver: str = ""  # the release of the driver that the image or root is to run on
    assume_gpus: tuple[str, ...] = ()  # the names of its GPUs
    no_cache: bool = False  # read every layer of the image anew
    config: str = ""  # a file with the configuration of the image, or of the container whose root it is
    policy: str | None = None  # a file; None: ./gpudoctor.toml, where there is one; "": none


def check(options: Options, terminal: TextStyle) -> tuple[str, int]:
    """Look, judge and report: the text to print ("" when it went to a file) and the exit status.

    Raises NoSuchName, BadRequest and NotWritten for what the user got wrong.
    """
    started = time.perf_counter()
    if options.list_rules:
        return _listing(options), 0
    asked, host = report_options(options), machine_of(options)
    return write_reports(report_of(options, started, host), host, asked, terminal)


class ReportOptions(NamedTuple):
    """How the report is to be given."""

    severity: Severity  # from which on a finding makes exit 1
    places: tuple[Delivery, ...]
    redact: bool


def report_options(options: Options) -> ReportOptions:
    """Raises NoSuchName, BadRequest; before anything is looked at."""
    return ReportOptions(
        severity_of(options), deliveries(options.style, options.outputs, CheckDocument), options.redact
    )


def write_reports(report: Report, host: Host, asked: ReportOptions, terminal: TextStyle) -> tuple[str, int]:
    """As `check`; the names of the host are taken out where that was asked for."""
    if asked.redact:
        from doctor.output.redact import redact  # late: only runs that ask for it pay for its patterns

        report = redact(report, host, report.facts)
    return deliver_all(CheckDocument(report), asked.places, terminal), exit_status(report, asked.severity)


def machine_of(options: Options) -> Host:
    """What is to be looked at; raises BadRequest."""
    if (options.target or options.build_args) and options.dockerfile is None:
        raise BadRequest(f"{'--target' if options.target else '--build-arg'} is for --dockerfile: give it, too")
    if options.dockerfile is not None or not (options.image is not None or options.config or options.platform):
        return host_of(options.root)
    from doctor.image.open import machine_of_image  # late: only a check of an image pays for it

    return machine_of_image(
        options.root, options.image, options.platform, options.config, uses_cache=not options.no_cache
    )


def report_of(options: Options, started: float, machine: Host | None = None) -> Report:
    """Look at the machine and judge it; `started` is a `time.perf_counter()`. Raises NoSuchName, BadRequest."""
    machine = machine or machine_of(options)
    rules, matrix, host = load_rules(_codes(options)), Matrix.of_user(), Snapshot(machine)
    policy = policy_of(options.policy)
    if options.dockerfile is not None:
        return _of_dockerfile(_under(policy, options, is_live=False), rules, matrix, policy, started)
    options = _under(policy, options, is_live=machine.is_live)
    facts = _assumed(_facts(options, matrix, host)._replace(policy=policy), options, matrix)
    answers = under_policy(facts, judge(facts, matrix, rules))
    court = verifier_for(facts, answers, matrix, rules, None if options.frameworks else host)  # a plan is on no machine
    report = make_report(facts, answers, matrix, started, court)
    if options.image is None:
        return report
    from doctor.image.open import annotate_with_layers

    return annotate_with_layers(report, machine)


def _of_dockerfile(options: Options, rules: Rules, matrix: Matrix, policy: Policy, started: float) -> Report:
    """What the file says that will be there, judged; raises BadRequest, NoSuchName."""
    from doctor.commands.dockerfile.command import as_shown, facts_of_file  # late: few checks are of a Dockerfile

    refuse(options, OF_A_MACHINE, "--dockerfile is about the image that the file describes")
    facts = facts_of_file(
        options.dockerfile or "", options.target, options.platform, options.build_args, matrix
    )._replace(policy=policy)
    facts = _assumed(facts, options, matrix)
    answers = under_policy(facts, tuple(as_shown(one, facts) for one in judge(facts, matrix, rules)))
    return make_report(facts, answers, matrix, started, verifier_for(facts, answers, matrix, rules, None))


# By the field of `Options`: what says which machine is looked at.
OF_A_MACHINE = {
    "pythons": "--python",
    "root": "--root",
    "image": "--image",
    "config": "--config",
    "deep": "--deep",
    "frameworks": "--framework",
}


def refuse(options: Options, others: Mapping[str, str], about: str) -> None:
    """Raise BadRequest for the first of these options that was given: they ask for another thing to judge."""
    for field, name in others.items():
        if getattr(options, field) != Options._field_defaults[field]:
            raise BadRequest(f"{about}; {name} does not go with it")


def _assumed(facts: Facts, options: Options, matrix: Matrix) -> Facts:
    """With the driver and the GPUs that were named; raises BadRequest, NoSuchName."""
    if not (options.assume_driver or options.assume_gpus):
        return facts
    from doctor.planned.assumed import with_assumed  # late: it is for images, roots and Dockerfiles alone

    return with_assumed(facts, matrix, options.assume_driver, options.assume_gpus)


def policy_of(asked: str | None) -> Policy:
    """Return the policy that was named, else that of the current directory, else an empty one; raises BadPolicy.

    One that was only found, and that another user could have written, demands what it likes, and allows nothing.
    """
    if asked == "" or (asked is None and not os.path.lexists(POLICY_FILE)):
        return Policy()
    from doctor.commands.policy.load import load, restrict  # late: most machines have no policy

    policy = load(asked or POLICY_FILE)
    return policy if asked else restrict(policy)


def _under(policy: Policy, options: Options, *, is_live: bool) -> Options:
    """What the policy says to look at, and to assume, where the user named nothing else."""
    if is_live:
        return options._replace(pythons=options.pythons or policy.environments)
    driver, gpus = options.assume_driver or policy.driver, options.assume_gpus or policy.gpus
    return options._replace(assume_driver=driver, assume_gpus=gpus)


def under_policy(facts: Facts, answers: tuple[Answer, ...]) -> tuple[Answer, ...]:
    """What the rules say of the facts, as the policy that is among them takes it."""
    if not facts.policy.path:
        return answers
    from doctor.commands.policy.apply import apply_policy  # late, as above

    return apply_policy(answers, facts.policy)


def verifier_for(
    facts: Facts, answers: tuple[Answer, ...], matrix: Matrix, rules: Rules, host: Host | None
) -> RemedyVerifier | None:
    """What proves the remedies, with the machine that the facts are of; only runs with a finding pay for it."""
    needs = [need for one in answers if one.kind is Status.BAD for need in one.needs]
    if all(need.product == BY_HAND for need in needs):
        return None  # nothing that could be proven
    from doctor.prescribe.remedy_verifier import RemedyVerifier

    return RemedyVerifier(facts, answers, matrix, rules, host)


def severity_of(options: Options) -> Severity:
    """The least severe finding that makes exit 1; raises NoSuchName."""
    return Severity(one_of("severity", options.fail_on, [one.value for one in Severity]))


def _codes(options: Options) -> tuple[str, ...]:
    """Of the rules to ask; raises NoSuchName."""
    return choose("rule", codes(), options.only, options.skip)


def _facts(options: Options, matrix: Matrix, host: Host) -> Facts:
    """What is seen, with the frameworks that are to be judged as if they were installed."""
    if not 0 < options.timeout_s < float("inf"):
        raise BadRequest("--timeout: a number of seconds above 0")
    request = ProbeRequest(options.pythons, options.deep, options.timeout_s)
    if not options.frameworks:
        return look(host, request)
    from doctor.planned.planned import parse_plan, planned  # late: an ordinary check has no plan

    specs = parse_plan(options.frameworks)
    return planned(look(host, request), specs, matrix)


def _listing(options: Options) -> str:
    from doctor.messages import pages  # late: an ordinary check prints no page

    return pages.listing(_codes(options))
