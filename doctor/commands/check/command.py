"""What `gpudoctor check` does, apart from reading its command line and printing."""

from __future__ import annotations

import os
import time

from compat.base.choice import choose, one_of
from compat.base.record import NamedTuple
from compat.matrix import Matrix
from doctor.commands.check.document import CheckDocument
from doctor.diagnose import Observation, Revision, diagnose, exit_status
from doctor.host import BadRequest, Host
from doctor.host.choice import host_of
from doctor.host.progress import DRIVER_TIMEOUT_S
from doctor.host.snapshot import Snapshot
from doctor.model.facts import Facts
from doctor.model.facts.policy import POLICY_FILE, Policy
from doctor.model.finding import Answer, Report, Severity
from doctor.output.document import TextStyle
from doctor.output.write import Delivery, deliver_all, deliveries
from doctor.probes import ProbeRequest, look
from doctor.rules.shared.engine import codes, load_rules

_CHANGED_DAYS = 14  # what is older is rarely what broke a machine that worked


class CheckSubject(NamedTuple):
    """What is checked, and by which rules; the defaults are those of the command line, and mean this machine."""

    source: str | None = None  # a file that shows another machine: a saved report, a dump, a bug report
    dockerfile: str | None = None  # a file that is checked before it is built
    lock: str | None = None  # a lock file or list of requirements
    image: str | None = None  # a container image
    root: str | None = None  # a directory with the files of another machine
    pythons: tuple[str, ...] = ()
    all_environments: bool = False  # of this machine, not only the one in use
    deep: bool = False
    expect_gpu: bool = False  # a machine without an NVIDIA GPU is an error
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()  # specs, checked as if they were installed
    timeout_s: float = DRIVER_TIMEOUT_S  # that the driver may take to answer
    target: str = ""  # stage of the Dockerfile, "" for the last one
    build_args: tuple[str, ...] = ()  # NAME=VALUE, of its ARG lines
    python_version: str = ""  # that a lock file is read for
    extras: tuple[str, ...] = ()  # of the lock file's project
    groups: tuple[str, ...] = ()
    platform: str = ""  # of the image; "" for this machine's
    assume_driver: str = ""  # the release of the driver that the image or root is to run on
    assume_gpus: tuple[str, ...] = ()  # the names of its GPUs
    no_cache: bool = False  # read every layer of the image again
    config: str = ""  # a file with the configuration of the image, or of the container whose root it is
    policy: str | None = None  # a file; None: ./gpudoctor.toml, if it exists; "": none


class ReportOptions(NamedTuple):
    """How it is reported; the defaults are those of the command line."""

    fail_on: str = "error"
    style: str = ""  # of --format; "" if not given
    outputs: tuple[str, ...] = ()  # files, each in the format of its suffix; "-" is standard output
    redact: bool = False
    verbose: bool = False  # list every unknown in the text
    list_rules: bool = False  # list the rules, and check nothing
    quiet: bool = False  # print the verdict line only; files hold the whole report

    @property
    def severity(self) -> Severity:
        """The least severe finding that makes exit 1; raises NoSuchName."""
        return Severity(one_of("severity", self.fail_on, [one.value for one in Severity]))

    @property
    def places(self) -> tuple[Delivery, ...]:
        """The files, each with its format; raises NoSuchName, BadRequest."""
        return deliveries(self.style, self.outputs, CheckDocument)


def check(subject: CheckSubject, options: ReportOptions, terminal: TextStyle) -> tuple[str, int]:
    """Return the text to print ("" when it went to a file) and the exit status.

    Raises NoSuchName, BadRequest and NotWritten for what the user got wrong.
    """
    started = time.perf_counter()
    if options.list_rules:
        from doctor.messages import pages  # late: an ordinary check prints no page

        return pages.listing(_codes(subject)), 0
    severity, places = options.severity, options.places  # before anything is looked at
    if options.quiet and options.style and not options.outputs:
        raise BadRequest("-q prints one line of text: omit --format, or add --output FILE")
    host, matrix = host_for(subject), Matrix.of_user()
    wanted = [one for one in places if one.output or not options.quiet]
    report = report_of(subject, started, host, matrix, with_remedies=bool(wanted))
    if subject.source is None:  # else it has the time of the check that the file holds
        report = report._replace(made_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    if options.redact:
        from doctor.output.redact import redact  # late: only runs that ask for it pay for its patterns

        report = redact(report, host, report.facts)
    status = exit_status(report, severity)
    changes = _changes(subject, report, host, matrix, redacted=options.redact) if wanted else {}
    text = deliver_all(CheckDocument(report, options.verbose, changes), wanted, terminal)
    if options.quiet:
        from doctor.commands.check.text import verdict_line  # late: the gate reads facts with this module, too

        return verdict_line(report, terminal), status
    return text, status


def _changes(subject: CheckSubject, report: Report, host: Host, matrix: Matrix, *, redacted: bool) -> dict[str, str]:
    """By the code of a finding of a machine, the newest change that may explain it; a healthy one is not asked."""
    codes = {one.code for one in report.findings if not one.explained_by and one.severity is not Severity.INFO}
    if not codes or {subject.source, subject.dockerfile, subject.lock, subject.image} != {None}:
        return {}
    from doctor.changes import DAY_S, history_of, latest_for

    try:
        history = history_of(host, report, time.time() - _CHANGED_DAYS * DAY_S, matrix, begins=False)
    except Exception:  # noqa: BLE001 - it is an addition: `gpudoctor changed` says what is wrong with the records
        return {}
    if redacted:
        from doctor.output.redact import redact

        history = redact(history, host, report.facts)
    return {code: latest_for(history, code) for code in codes}


def report_of(
    subject: CheckSubject,
    started: float,
    machine: Host | None = None,
    matrix: Matrix | None = None,
    *,
    with_remedies: bool = True,
) -> Report:
    """Return the report on a subject; `started` is a `time.perf_counter()`. Raises NoSuchName, BadRequest."""
    machine, matrix = machine or host_for(subject), matrix or Matrix.of_user()
    rules = load_rules(_codes(subject))
    if subject.source is not None:
        from doctor.commands.explain.from_file import report_of_file  # late: few checks are of a file

        return report_of_file(subject.source, rules, matrix, started)
    policy = policy_of(subject.policy)
    if subject.dockerfile is not None or subject.lock is not None:
        subject = _under(policy, subject, is_live=False)
        seen = _of_lock(subject, matrix) if subject.lock is not None else _of_dockerfile(subject, matrix)
    else:
        subject = _under(policy, subject, is_live=machine.is_live)
        seen = _of_machine(subject, Snapshot(machine), matrix)
    expected_by = "--expect-gpu" if subject.expect_gpu else ""
    facts = _assumed(seen.facts._replace(policy=policy, gpu_expected_by=expected_by), subject, matrix)
    seen = seen._replace(facts=facts, revise=_that_was_named(seen.revise, subject.only))
    if not with_remedies:
        seen = seen._replace(revise=_that_need_nothing(seen.revise))
    report = diagnose(seen, matrix, rules, started)
    if subject.image is None:
        return report
    from doctor.image.open import annotate_with_layers

    return annotate_with_layers(report, machine)


# By the subject's field: the fields that do not go with it, and the message about the first that was given.
_OF_A_MACHINE = ("pythons", "all_environments", "root", "image", "config", "deep", "frameworks", "expect_gpu")
_OF_A_BUILD = dict.fromkeys(("target", "build_args"), "{} is for --dockerfile: give it, too")
_OF_A_LOCK = dict.fromkeys(("python_version", "extras", "groups"), "{} is for --lock: give it, too")
_OF_AN_IMAGE = {**_OF_A_BUILD, **_OF_A_LOCK, "platform": "{} is for --image, --dockerfile or --lock: give one, too"}
_OF_THIS_MACHINE = {
    "expect_gpu": "{} is about this machine: files do not show its GPU; --assume-gpu names one",
    "all_environments": "{} is about this machine: of an image or root, all are checked anyway",
}
_REFUSED = {
    "source": dict.fromkeys(
        (
            *_OF_A_MACHINE,
            "dockerfile",
            "lock",
            *_OF_A_BUILD,
            *_OF_A_LOCK,
            "platform",
            "assume_driver",
            "assume_gpus",
            "policy",
        ),
        "--from is about the machine that the file shows; {} does not go with it",
    ),
    "dockerfile": dict.fromkeys(
        (*_OF_A_MACHINE, "lock", *_OF_A_LOCK),
        "--dockerfile is about the image that the file describes; {} does not go with it",
    ),
    "lock": dict.fromkeys(
        (*_OF_A_MACHINE, *_OF_A_BUILD), "--lock is about what the file installs; {} does not go with it"
    ),
    "image": {**_OF_A_BUILD, **_OF_A_LOCK, **_OF_THIS_MACHINE, "root": "--image and {}: give one of them"},
    "root": {**_OF_AN_IMAGE, **_OF_THIS_MACHINE},
    "": {**_OF_AN_IMAGE, "config": "{} is the configuration of --image or --root: give one of them, too"},
}
# Options that have not the name of their field.
_OPTIONS = {
    "pythons": "python",
    "frameworks": "framework",
    "build_args": "build-arg",
    "extras": "extra",
    "groups": "group",
    "assume_gpus": "assume-gpu",
}


def host_for(subject: CheckSubject) -> Host:
    """Return the machine, root or image, this machine for a file; raises BadRequest for what does not go together."""
    given = subject._replace(policy=subject.policy or None)  # "" is none
    named = next((field for field in _REFUSED if field and getattr(given, field) is not None), "")
    for field, message in _REFUSED[named].items():
        if getattr(given, field) != CheckSubject._field_defaults[field]:
            raise BadRequest(message.format("--" + _OPTIONS.get(field, field.replace("_", "-"))))
    if named in {"source", "dockerfile", "lock"} or not (named == "image" or subject.config):
        return host_of(subject.root)
    from doctor.image.open import machine_of_image  # late: only a check of an image pays for it

    return machine_of_image(
        subject.root, subject.image, subject.platform, subject.config, uses_cache=not subject.no_cache
    )


def _that_was_named(revise: Revision | None, only: tuple[str, ...]) -> Revision | None:
    """Return what also leaves the verdict open if a rule that the user named is unknown."""
    if not only:
        return revise

    def named(answers: tuple[Answer, ...]) -> tuple[Answer, ...]:
        known = revise(answers) if revise else answers
        return tuple(one._replace(blocks_verdict=True) if one.code in only else one for one in known)

    return named


def _that_need_nothing(revise: Revision | None) -> Revision:
    """Return what also leaves out how faults are fixed: to prove that takes longer than to find them."""
    return lambda answers: tuple(one._replace(needs=()) for one in (revise(answers) if revise else answers))


def _of_machine(subject: CheckSubject, host: Host, matrix: Matrix) -> Observation:
    """Probe a machine, a root or an image; with a plan, remedies are tried on no machine."""
    if not 0 < subject.timeout_s < float("inf"):
        raise BadRequest("--timeout: give a number of seconds above 0")
    if subject.pythons and subject.all_environments:
        raise BadRequest("--python and --all-environments: give one of them")
    request = ProbeRequest(subject.pythons, subject.deep, subject.timeout_s, every=subject.all_environments)
    if not subject.frameworks and host.kind == "image":
        from doctor.commands.check.selected import by_selection  # late: few checks are of an image

        facts = look(host, request)
        return Observation(facts, host, lambda answers: by_selection(answers, facts))
    if not subject.frameworks:
        return Observation(look(host, request), host)
    from doctor.planned.planned import parse_plan, planned  # late: an ordinary check has no plan

    specs = parse_plan(subject.frameworks)
    return Observation(planned(look(host, request), specs, matrix))


def _of_dockerfile(subject: CheckSubject, matrix: Matrix) -> Observation:
    """Read what the file says that the image will hold; what no Dockerfile can show is left open."""
    from doctor.commands.dockerfile.command import as_shown, facts_of_file  # late: few checks are of a Dockerfile

    facts = facts_of_file(subject.dockerfile or "", subject.target, subject.platform, subject.build_args, matrix)
    return Observation(facts, revise=lambda answers: tuple(as_shown(one, facts) for one in answers))


def _of_lock(subject: CheckSubject, matrix: Matrix) -> Observation:
    """Read what the file selects for a platform; what no lock file can show is left open."""
    from doctor.commands.dockerfile.command import as_shown  # late: few checks are of a lock file
    from doctor.commands.lock.command import LockRequest, facts_of_lock

    asked = LockRequest(
        subject.lock or "",
        platform=subject.platform,
        python=subject.python_version,
        extras=subject.extras,
        groups=subject.groups,
        driver=subject.assume_driver,
    )
    facts = facts_of_lock(asked, matrix)
    return Observation(facts, revise=lambda answers: tuple(as_shown(one, facts) for one in answers))


def _assumed(facts: Facts, subject: CheckSubject, matrix: Matrix) -> Facts:
    """Add the driver and the GPUs that were named; raises BadRequest, NoSuchName."""
    if not (subject.assume_driver or subject.assume_gpus):
        return facts
    from doctor.planned.assumed import with_assumed  # late: it is only for images, roots and Dockerfiles

    return with_assumed(facts, matrix, subject.assume_driver, subject.assume_gpus)


def policy_of(named: str | None) -> Policy:
    """Return the policy that was named, by default that of the current directory or an empty one; raises BadPolicy.

    One that was only found, and that another user could have written, demands what it likes, and allows nothing.
    """
    if named == "" or (named is None and not os.path.lexists(POLICY_FILE)):
        return Policy()
    from doctor.commands.policy.load import load, restrict  # late: most machines have no policy

    policy = load(named or POLICY_FILE)
    return policy if named else restrict(policy)


def _under(policy: Policy, subject: CheckSubject, *, is_live: bool) -> CheckSubject:
    """Take from the policy what to look at, and to assume, where the user named nothing else."""
    if is_live:
        return subject if subject.all_environments else subject._replace(pythons=subject.pythons or policy.environments)
    driver, gpus = subject.assume_driver or policy.driver, subject.assume_gpus or policy.gpus
    return subject._replace(assume_driver=driver, assume_gpus=gpus)


def _codes(subject: CheckSubject) -> tuple[str, ...]:
    """Return the codes of the rules to ask; raises NoSuchName."""
    return choose("rule", codes(), subject.only, subject.skip)
