"""The gate: fail-closed, one verdict, one line, in each scheduler's dialect."""

from __future__ import annotations

import errno
import inspect
import io
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import pytest

import doctor.probes
from compat.base.duration import BadDuration, seconds
from compat.matrix import Matrix
from doctor.cli import execute
from doctor.commands.gate import command
from doctor.commands.gate.command import Options, dialect_names, dialect_of, gate
from doctor.commands.gate.dialect import told
from doctor.commands.gate.verdict import Level, Reason, Verdict, failure, verdict_of
from doctor.commands.gate.xids import xid_events
from doctor.diagnose import apply_policy
from doctor.host.snapshot import Snapshot
from doctor.model.facts import Facts, Machine
from doctor.model.facts.failure import Failure
from doctor.model.facts.gpu import Gpu
from doctor.model.facts.policy import Policy, PolicyException
from doctor.model.facts.seen import Place, Seen, Unseen, WhyNot, all_unseen
from doctor.model.facts.system import OperatorState
from doctor.model.finding import Answer, Severity, Status
from doctor.probes import Guard, ProbeRequest, independent_probes, independent_unseen, look
from doctor.rules.shared.engine import codes, judge, load_rules
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE
from tests.lab.case import host_of
from tests.lab.cases import CASES
from tests.machine import driver, gpu, machine, nvml, pci_device, seen, system, unseen

MATRIX = Matrix()
HEALTHY = machine()


def verdict(facts: Facts) -> Verdict:
    return verdict_of(facts, judge(facts, MATRIX, load_rules()), MATRIX)


@cache
def healthy_answers() -> tuple[Answer, ...]:
    return judge(HEALTHY, MATRIX, load_rules())


def test_a_healthy_node_is_ready() -> None:
    found = verdict(HEALTHY)
    assert (found.level, found.reasons) == (Level.READY, ())
    assert told(found) == "ready: 1 GPU, driver 580.95.05"


def answered(kind: Status, severity: Severity = Severity.ERROR, code: str = "cudnn-missing", **changes: Any) -> Answer:
    """An answer of a rule, with nothing else against the node."""
    return Answer(kind=kind, why="said", severity=severity, code=code, subject="machine")._replace(**changes)


@pytest.mark.parametrize(
    ("answer", "level"),
    [
        (answered(Status.OK), Level.READY),
        (answered(Status.NOT_APPLICABLE), Level.READY),
        (answered(Status.UNKNOWN), Level.UNKNOWN),
        (answered(Status.UNKNOWN, Severity.INFO), Level.UNKNOWN),
        (answered(Status.UNKNOWN, blocks_verdict=False), Level.READY),
        (answered(Status.BAD), Level.NOT_READY),
        (answered(Status.BAD, Severity.WARNING), Level.WARNED),
        (answered(Status.BAD, Severity.INFO), Level.READY),
        (answered(Status.BAD, Severity.WARNING, "gpu-operator-not-ready"), Level.NOT_READY),
        (answered(Status.BAD, Severity.INFO, "gpu-operator-not-ready"), Level.READY),
        (answered(Status.OK, Severity.WARNING, "gpu-operator-not-ready"), Level.READY),
        (answered(Status.BAD, Severity.WARNING, "check-error"), Level.UNKNOWN),
        (answered(Status.BAD, Severity.INFO, "check-error"), Level.UNKNOWN),
        (answered(Status.OK, Severity.WARNING, "check-error"), Level.READY),
    ],
)
def test_one_answer_decides(answer: Answer, level: Level) -> None:
    found = verdict_of(HEALTHY, (*healthy_answers(), answer), MATRIX)
    assert (found.level, [one.level for one in found.reasons]) == (level, [level] * (level is not Level.READY))
    assert found.is_ready is (level in {Level.READY, Level.WARNED})


@pytest.mark.parametrize(
    ("facts", "subject"),
    [
        (HEALTHY._replace(machine=Machine("root", "/mnt")), "machine"),
        (HEALTHY._replace(driver=driver()._replace(release=unseen("said"))), "the driver"),
        (HEALTHY._replace(driver=driver(nvml=unseen("said"))), "NVML"),
        (HEALTHY._replace(driver=driver(nvml=seen(nvml(state="hung", error="said")))), "NVML"),
        (HEALTHY._replace(gpus=unseen("said")), "the GPUs"),
        (HEALTHY._replace(gpus=seen(()), pci=seen(())), "the GPUs"),
        (HEALTHY._replace(pci=seen((pci_device(), pci_device(address="0000:02:00.0")))), "the GPUs"),
        (HEALTHY._replace(gpus=seen((gpu(uuid=unseen("said")),))), "GPU 0"),
        (HEALTHY._replace(system=system(kernel_log=unseen("said"))), "the kernel's log"),
        (HEALTHY._replace(failures=(Failure("gpus", "said", "x.py:1"),)), "the gpus probe"),
    ],
)
def test_one_prerequisite_that_was_not_seen_decides(facts: Facts, subject: str) -> None:
    """Whatever the rules say: they found nothing wrong."""
    found = verdict_of(facts, healthy_answers(), MATRIX)
    assert (found.level, [one.code for one in found.reasons]) == (Level.UNKNOWN, ["prerequisite"])
    assert found.reasons[0].subject.startswith(subject)


WARNED = answered(Status.BAD, Severity.WARNING)


@pytest.mark.parametrize(
    ("answers", "level"),
    [
        ((WARNED, answered(Status.UNKNOWN)), Level.UNKNOWN),
        ((answered(Status.UNKNOWN), answered(Status.BAD)), Level.NOT_READY),
        ((WARNED, answered(Status.BAD)), Level.NOT_READY),
    ],
)
def test_the_worst_answer_decides(answers: tuple[Answer, ...], level: Level) -> None:
    found = verdict_of(HEALTHY, (*healthy_answers(), *answers), MATRIX)
    assert [one.level for one in found.reasons] == [level, *({one.level for one in found.reasons} - {level})]
    assert (found.level, len(found.reasons)) == (level, 2)


def test_without_any_answer_that_is_ok_nothing_is_known() -> None:
    (reason,) = verdict_of(HEALTHY, (answered(Status.NOT_APPLICABLE),), MATRIX).reasons
    assert (reason.level, reason.subject) == (Level.UNKNOWN, "the rules")


# Fail-closed


def broken(subject: object, facts: Facts, matrix: Matrix) -> Answer:
    raise RuntimeError("forced to fail")


# A node is no Dockerfile and no lock file: the rules about these are not asked of it.
OF_A_NODE = [code for code in codes() if not code.startswith(("dockerfile-", "lock-"))]


@pytest.mark.parametrize("code", OF_A_NODE)
def test_no_rule_that_fails_is_ready(code: str) -> None:
    """Each is asked of the machine, whatever it is about: of its own subjects there may be none here."""
    rule = load_rules([code])[code]
    failing = Rule(MACHINE, broken, blocks_verdict=rule.blocks_verdict, never=rule.never)
    others = tuple(one for one in healthy_answers() if one.code != code)
    answers = (*others, *judge(HEALTHY, MATRIX, {code: failing}))
    tolerant = Policy(exceptions=(PolicyException("check-error", "why", "2999-01-31", False, Place("p.toml", 1)),))
    for said in (answers, apply_policy(answers, tolerant)):
        found = verdict_of(HEALTHY, said, MATRIX)
        assert not found.is_ready
        assert "forced to fail" in told(found)


NOT_PROBED = {"machine", "gpu_expected_by", "failures", "policy", "assumed", "unread"}


@pytest.mark.parametrize("field", [one for one in Facts._fields if one not in NOT_PROBED])
def test_no_probe_that_fails_is_ready(field: str) -> None:
    """As `look` leaves it: its facts unseen, and a failure beside them."""
    failed = Failure(field, "RuntimeError: forced to fail", "x.py:1")
    kind = type(getattr(HEALTHY, field))
    why = Unseen("forced to fail")
    value: Any = why if kind in {Seen, Unseen} else all_unseen(kind, why.why) if field != "independent" else None
    changed: dict[str, Any] = {field: value or independent_unseen(why), "failures": (failed,)}
    facts = HEALTHY._replace(**changed)
    assert not verdict(facts).is_ready
    assert not verdict_of(facts, healthy_answers(), MATRIX).is_ready


NAMED = tuple(re.findall(r"\bguard\.(one|group)\(\s*\"([^\"]+)\"", inspect.getsource(doctor.probes)))
PROBES = (*NAMED, *(("one", probe.title) for probe in independent_probes().values()))


class Lab(NamedTuple):
    """A healthy machine of the lab, and what each of its probes answered."""

    host: Snapshot
    told: dict[tuple[str, str], Any]
    children: list[tuple[str, ...]]  # the command lines that the look started


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    case = next(one for one in CASES if one.where == "live" and not one.codes)
    tree = case.build(tmp_path_factory.mktemp("lab") / "tree")
    found = Lab(Snapshot(host_of(case, tree)), {}, [])

    class Counted(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, argv: Sequence[str], *args: Any, **options: Any) -> None:
            found.children.append(tuple(argv))
            super().__init__(argv, *args, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(subprocess, "Popen", Counted)
        patched.setattr(doctor.probes, "Guard", lambda: Told(found.told))
        assert verdict(look(found.host, ProbeRequest())).level is Level.READY
    return found


class Told(Guard):
    """Asks each probe once for all looks, and lets one of them fail."""

    def __init__(self, told: dict[tuple[str, str], Any], failing: tuple[str, str] = ("", "")) -> None:
        super().__init__()
        self._told, self._failing = told, failing

    def _ask(self, key: tuple[str, str], look: Callable[[], Any]) -> Any:
        if key == self._failing:
            raise RuntimeError("forced to fail")
        if key not in self._told:
            self._told[key] = look()
        return self._told[key]

    def group(self, name: str, kind: Any, look: Callable[[], Any]) -> Any:
        return super().group(name, kind, lambda: self._ask(("group", name), look))

    def one(self, name: str, look: Callable[[], Any]) -> Any:
        return super().one(name, lambda: self._ask(("one", name), look))


def test_a_look_at_a_healthy_node_starts_one_child(lab: Lab) -> None:
    """The one that asks NVML, and may hang."""
    (argv,) = lab.children
    assert any(one.endswith("nvml_worker.py") for one in argv)


def test_every_probe_is_made_to_fail(lab: Lab) -> None:
    assert set(lab.told) == set(PROBES)
    calls = re.findall(r"\bguard\.(?:one|group)\(", inspect.getsource(doctor.probes))
    assert len(NAMED) + 1 == len(calls) > 15  # one call is for all the independent ones


@pytest.mark.parametrize("probe", PROBES, ids=" ".join)
def test_no_probe_that_really_fails_is_ready(probe: tuple[str, str], lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that is ready otherwise, and with its name."""
    monkeypatch.setattr(doctor.probes, "Guard", lambda: Told(lab.told, probe))
    found = verdict(look(lab.host, ProbeRequest()))
    assert not found.is_ready
    assert any(probe[1] in one.subject and "RuntimeError: forced to fail" in one.why for one in found.reasons)


def log(*lines: str) -> Facts:
    return machine(system=system(kernel_log=seen(lines)))


def cards(*gpus: Gpu) -> Facts:
    return machine(gpus=seen(gpus))


@pytest.mark.parametrize(
    ("facts", "level", "says"),
    [
        (machine(system=system(kernel_log=unseen("permission denied"))), Level.UNKNOWN, "kernel's log"),
        (machine(driver=driver(nvml=seen(nvml(state="hung", error="nvmlInit hung")))), None, "nvmlInit"),
        (cards(), None, "NVML shows none"),
        (cards(gpu(uuid=unseen("NVML: unknown error"))), Level.UNKNOWN, "UUID is not known"),
        (cards(gpu()._replace(name=unseen("NVML: NVMLError_Unknown (999)"))), Level.UNKNOWN, "name is not known"),
        (
            cards(gpu()._replace(capability=unseen("NVML: NVMLError_Timeout (10)"))),
            Level.UNKNOWN,
            "capability is not known",
        ),
        (cards(gpu(memory_bytes=unseen("NVML: NVMLError_Unknown (999)"))), Level.UNKNOWN, "memory is not known"),
        (cards(gpu(memory_bytes=Unseen("NVML: x", WhyNot.NOT_SUPPORTED))), Level.READY, "ready"),  # shared memory
        (cards(gpu(refused="Unknown Error (999)", refused_code=999)), None, "999"),
        (machine(pci=seen((pci_device(), pci_device(address="0000:02:00.0")))), None, "2 are on PCI"),
        (machine(gpus=unseen("NVML did not answer")), None, "did not answer"),
        (machine(pci=seen(()), gpus=seen(())), Level.NOT_READY, "no NVIDIA GPU"),
        (cards(gpu(compute_mode=seen("prohibited"))), Level.NOT_READY, "prohibited"),
        (cards(gpu(recovery=seen("reset"))), Level.NOT_READY, "reset"),
        (cards(gpu(remapping_failed=seen(True))), Level.NOT_READY, "could not be remapped"),
        (cards(gpu(retired_pages_pending=seen(True))), Level.WARNED, "must be retired"),
        (cards(gpu(recovery=unseen("NVML: Not Supported"))), Level.READY, "ready"),
        (
            machine(system=system(gpu_operator=seen(OperatorState(True, ("driver-ready",))))),
            Level.NOT_READY,
            "toolkit-ready",
        ),
    ],
)
def test_what_keeps_work_away(facts: Facts, level: Level | None, says: str) -> None:
    found = verdict(facts)
    assert found.level is level or (level is None and not found.is_ready)
    lines = [f"{one.subject}: {one.why}" for one in found.reasons] or [told(found)]
    assert any(says in one for one in lines), lines


@pytest.mark.parametrize(
    ("line", "action", "level"),
    [
        ("NVRM: Xid (PCI:0000:01:00): 13, pid=1, Graphics", "application", Level.WARNED),
        ("NVRM: Xid (PCI:0000:01:00): 43, pid=1", "nothing", Level.READY),
        ("NVRM: Xid (PCI:0000:01:00): 119, Timeout", "reset", Level.NOT_READY),
        ("NVRM: Xid (PCI:0000:01:00): 48, DBE", "reset", Level.NOT_READY),
        ("NVRM: Xid (PCI:0000:01:00): 79, fallen off", "restart", Level.NOT_READY),
        ("NVRM: Xid (PCI:0000:01:00): 54, power", "replacement", Level.NOT_READY),
        ("NVRM: Xid (PCI:0000:01:00): 154, GPU recovery action changed", "reset", Level.NOT_READY),
        ("NVRM: Xid (PCI:0000:01:00): 998, from tomorrow", "", Level.UNKNOWN),
        ("NVRM: Xid (0000:01:00): 79, as before release 343", "restart", Level.NOT_READY),
        ("Nov  3 05:52:20 n1 kernel: [   12.345678] NVRM: Xid (PCI:0000:01:00): 48, DBE", "reset", Level.NOT_READY),
        ("2026-11-23T05:52:20.1+00:00 n1 kernel: NVRM: Xid (PCI:0000:01:00): 48", "reset", Level.NOT_READY),
        ("Nov  3 05:52:20 n1 kernel: [   12.3][ T1234] NVRM: Xid (PCI:0000:01:00): 48", "reset", Level.NOT_READY),
        ("[   12.345678] [    C17] NVRM: Xid (PCI:0000:01:00): 48", "reset", Level.NOT_READY),
        ("NVRM: Xid (PCI:0000:01:00 GPU-I:05): 95, pid=1", "reset", Level.NOT_READY),
        ("NVRM: Xid (PCI:0000:01:00 GPU-I:05 GPU-CI:00): 95, pid=1", "reset", Level.NOT_READY),
    ],
)
def test_what_an_xid_asks_for(line: str, action: str, level: Level) -> None:
    facts = log(line)
    assert [one.action for one in xid_events(facts, MATRIX)] == [action]
    assert verdict(facts).level is level
    if action not in {"nothing", ""}:
        assert any(one.action == action for one in verdict(facts).reasons)


@pytest.mark.parametrize(
    "before", ["oom-kill:task_memcg=/user.slice/", "2026-11-23T05:52:20 n1 kernel: oom: /a kernel: "]
)
def test_a_users_words_in_the_log_are_no_xid(before: str) -> None:
    """A user names control groups, which the kernel writes down when their memory is used up."""
    facts = log(f"{before}NVRM: Xid (PCI:0000:01:00): 79, pid=1")
    assert xid_events(facts, MATRIX) == ()
    assert verdict(facts).level is Level.READY


@pytest.mark.parametrize(
    ("number", "recovery", "action"),
    [
        (119, "none", "nothing"),  # reset since: the driver asks for nothing more
        (154, "none", "nothing"),
        (119, "reset", "reset"),
        (48, "none", "reset"),  # a fault of the hardware stays one
        (79, "none", "restart"),
    ],
)
def test_the_drivers_word_of_now_is_newer_than_its_log(number: int, recovery: str, action: str) -> None:
    facts = log(f"NVRM: Xid (PCI:0000:01:00): {number}, x")._replace(gpus=seen((gpu(recovery=seen(recovery)),)))
    assert [one.action for one in xid_events(facts, MATRIX)] == [action]


def test_every_xid_of_the_catalogue_asks_for_something_known() -> None:
    rows = MATRIX.rows("xid", "codes")
    facts = log(*(f"NVRM: Xid (PCI:0000:01:00): {row.xid}, x" for row in rows))
    found = {one.xid: one.action for one in xid_events(facts, MATRIX)}
    assert set(found) == {row.xid for row in rows}
    assert all(found[row.xid] for row in rows if row.resolution)


# Dialects

REASON = Reason(Level.NOT_READY, "gpu-compute-mode", "GPU 0", 'GPU 0 "x" | is\nprohibited $(x) `y`')
STATUSES = {
    "plain": (0, 0, 1, 4, 3),
    "slurm": (0, 0, 1, 1, 1),
    "npd": (0, 0, 1, 2, 2),
    "nagios": (0, 1, 2, 3, 3),
    "nhv": (0, 0, 1, 1, 2),
}
BEGINS = {
    "plain": ("ready: ", "ready, with warnings: ", "not ready: ", "not known to be ready: "),
    "slurm": ("gpudoctor: ready", "gpudoctor: ready, with", "gpudoctor: not ready", "gpudoctor: not known"),
    "npd": ("ready: ", "GPU 0", "GPU 0", "GPU 0"),
    "nagios": ("GPU OK - ", "GPU WARNING - ", "GPU CRITICAL - ", "GPU UNKNOWN - "),
    "nhv": tuple(f'{{"overall_severity": "{word}"' for word in ("PASS", "WARNING", "CRITICAL", "UNKNOWN")),
}


def test_every_dialect_has_its_table() -> None:
    assert set(dialect_names()) == set(STATUSES) == set(BEGINS)


@pytest.mark.parametrize("name", sorted(STATUSES))
@pytest.mark.parametrize("level", list(Level))
def test_exit_statuses_and_the_one_line(name: str, level: Level) -> None:
    chosen, place = dialect_of(name), list(Level).index(level)
    reasons = () if level is Level.READY else (REASON._replace(level=level),)
    text = chosen.render(Verdict(level, reasons, "1 GPU, driver 580.95.05"))
    assert chosen.statuses[level] == STATUSES[name][place]
    assert chosen.no_verdict == STATUSES[name][4] != 0
    assert "\n" not in text
    assert text.startswith(BEGINS[name][place])
    assert name != "nagios" or "|" not in text
    assert name != "slurm" or not set("\"'`$\\") & set(text)
    if name == "nhv" and reasons:
        said = json.loads(text)
        (part,) = said["affected_components"]
        assert (part["check_ids"], part["entities"]) == (["gpu-compute-mode"], ["GPU 0"])
        assert part["max_severity"] == said["overall_severity"]


@pytest.mark.parametrize("sign", ["x", "ß", "日"])
def test_slurms_accounting_keeps_the_whole_reason(sign: str) -> None:
    """Its column is a tinytext: 255 bytes, and a strict database refuses more."""
    text = dialect_of("slurm").render(Verdict(Level.NOT_READY, (REASON._replace(why=sign * 300),), ""))
    assert 250 < len(text.encode()) <= 255
    assert text.endswith(f"{sign}...")


# Time


def crash(options: Options) -> Verdict:
    raise RuntimeError("forced to fail")


def test_a_look_that_does_not_end_is_not_waited_for() -> None:
    end = threading.Event()

    def look_until_the_end(options: Options) -> Verdict:
        end.wait(60)
        raise AssertionError

    found = gate(Options(within_s=0.2), look_until_the_end)
    end.set()
    assert (found.level, "within 0.2 s" in told(found)) == (Level.UNKNOWN, True)
    assert found.is_stuck


def test_a_look_that_is_stuck_does_not_change_the_status() -> None:
    """The interpreter does not end around a thread in its way: it is aborted where libgcc_s.so.1 is missing."""
    code = (
        "import sys, time; from doctor.cli import execute; from doctor.commands.gate import command\n"
        "import atexit; atexit.register(lambda: print('ended as usual'))\n"
        "command.gate.__defaults__ = (lambda _: time.sleep(60),)\n"
        "sys.exit(execute(['gate', '--as', 'npd', '--timeout', '100ms']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "gpudoctor: no verdict within 0.1 s [prerequisite]\n", "")


def test_a_look_that_fails_is_a_verdict() -> None:
    assert "forced to fail" in told(gate(Options(), crash))


UNSEEN_YET = Reason(Level.UNKNOWN, "prerequisite", "NVML", "it did not start")


OF_A_DRIVER_THAT_LOADS = (
    *("no-kernel-module", "no-device-nodes", "driver-libraries-missing", "nvml-error", "driver-hang"),
    *("fabric-manager-not-running", "gpu-operator-not-ready", "driver-library-mismatch"),
)


@pytest.mark.parametrize(
    ("reasons", "waits"),
    [
        ([UNSEEN_YET], True),
        ([UNSEEN_YET, REASON._replace(level=Level.UNKNOWN, code="policy-not-met")], True),  # for want of the driver
        ([UNSEEN_YET, REASON], False),  # what is certain does not go away
        ([REASON._replace(level=Level.UNKNOWN, code="policy-not-met")], False),
        ([UNSEEN_YET._replace(subject="gpudoctor", why="/etc/gpudoctor.toml: no such file")], False),
        ([UNSEEN_YET._replace(subject="the kernel's log", why="permission denied")], False),
        ([UNSEEN_YET, UNSEEN_YET._replace(subject="the kernel's log")], True),
        *(([REASON._replace(code=code)], True) for code in OF_A_DRIVER_THAT_LOADS),
        *(([UNSEEN_YET._replace(subject=subject)], False) for subject in ("machine", "the rules")),
        ([UNSEEN_YET._replace(level=Level.WARNED)], False),
    ],
)
def test_what_is_waited_for(reasons: Sequence[Reason], waits: bool) -> None:
    level = min((one.level for one in reasons), key=(Level.NOT_READY, Level.UNKNOWN, Level.WARNED).index)
    assert Verdict(level, tuple(reasons), "").may_be_loading is waits


def test_it_waits_for_a_driver_that_is_loading_only_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doctor.commands.gate.command._PAUSE_S", 0.01)
    ready = Verdict(Level.READY, (), "1 GPU")
    loading = Verdict(Level.NOT_READY, (REASON._replace(code="no-kernel-module"),), "")
    ill = Verdict(Level.NOT_READY, (REASON,), "")
    unseen_yet = Verdict(Level.UNKNOWN, (UNSEEN_YET, REASON._replace(level=Level.UNKNOWN, code="policy-not-met")), "")

    def looks(*verdicts: Verdict) -> Callable[[Options], Verdict]:
        left = list(verdicts)
        return lambda _: left.pop(0)

    assert gate(Options(retry_for_s=5), looks(loading, unseen_yet, ready)) == ready
    assert gate(Options(retry_for_s=5), looks(failure("slow")._replace(is_stuck=True), ready))[:3] == ready[:3]
    assert gate(Options(), looks(loading, ready)) == loading
    assert gate(Options(retry_for_s=5), looks(ill, ready)) == ill
    assert gate(Options(retry_for_s=0.05), lambda _: loading) == loading


@pytest.mark.parametrize(
    ("text", "found"), [("5s", 5), ("500ms", 0.5), ("2m", 120), ("7", 7), ("0s", 0), ("86399s", 86399)]
)
def test_times(text: str, found: float) -> None:
    assert seconds(text, "--timeout") == found


@pytest.mark.parametrize("text", ["", "s", "86400s", "-5s", "5h", "inf", "nan", "1e9"])
def test_no_times(text: str) -> None:
    with pytest.raises(BadDuration, match="--timeout"):
        seconds(text, "--timeout")


NOT_LOADED = (
    "doctor.prescribe",
    "installers.method",
    "doctor.commands.check.text",
    "doctor.commands.explain",
    "doctor.commands.policy",
)


@pytest.mark.parametrize("name", ["plain", "slurm"])
def test_by_the_command_line(name: str) -> None:
    """On whatever machine the tests run on: one line, a status of its dialect, and nothing loaded for a report."""
    argv = [sys.executable, "-X", "importtime", "-m", "gpudoctor", "gate", "--as", name]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode in STATUSES[name], done.stderr
    assert done.stdout.count("\n") == 1
    assert (done.returncode == 0) == (done.stdout.startswith(BEGINS[name][:2]))
    loaded = set(re.findall(r"\| +(\S+)$", done.stderr, re.MULTILINE))
    assert "doctor.commands.gate.verdict" in loaded
    assert loaded & {*NOT_LOADED, *(f"doctor.commands.gate.dialects.{one}" for one in STATUSES if one != name)} == set()


@pytest.mark.parametrize("wrong", [("--as", "x"), ("--timeout", "x"), ("--nonsense",), ("--timeout",)])
@pytest.mark.parametrize(("name", "status"), [("plain", 2), ("slurm", 2), ("npd", 2), ("nagios", 3), ("nhv", 2)])
def test_bad_usage_is_never_ready(
    wrong: tuple[str, ...], name: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """For Nagios 2 is CRITICAL: whoever calls a plugin in a wrong way knows nothing of the node."""
    assert execute(["gate", f"--as={name}", *wrong]) == (2 if "--as" in wrong else status)
    assert execute(["gate", "--as", name, *wrong]) == (2 if "--as" in wrong else status)
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 2)


class Full(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "no space left on device")


@pytest.mark.parametrize("name", sorted(STATUSES))
def test_what_nobody_hears_is_not_ready(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "gate", lambda _: Verdict(Level.READY, (), "1 GPU"))
    monkeypatch.setattr(sys, "stdout", Full())
    assert execute(["gate", "--as", name]) == STATUSES[name][4]


@pytest.mark.parametrize(("name", "status"), [("plain", 2), ("slurm", 2), ("npd", 2), ("nagios", 3), ("nhv", 2)])
@pytest.mark.parametrize("ending", [">/dev/full", ">&-"])
def test_an_output_that_takes_nothing_is_not_ready(name: str, status: int, ending: str) -> None:
    command_line = f"exec '{sys.executable}' -m gpudoctor gate --as {name} {ending}"
    done = subprocess.run(["/bin/sh", "-c", command_line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (status, 1), done.stderr


def test_a_warning_is_ready_and_says_so() -> None:
    answers = (*healthy_answers(), Answer(Status.BAD, "slow", severity=Severity.WARNING, code="x", subject="GPU 0"))
    found = verdict_of(HEALTHY, answers, MATRIX)
    assert (found.level, told(found)) == (Level.WARNED, "ready, with warnings: slow [x]")


READY = (
    "import sys, doctor.commands.gate.command as command; from doctor.commands.gate.verdict import Level, Verdict; "
    "command.gate = lambda options: Verdict(Level.READY, (), 'all'); sys.argv[1:] = ['gate']; "
    "from doctor.cli import main; main()"
)


@pytest.mark.parametrize(
    ("where", "closed", "status"),
    [("", "2>&- <&-", 0), (">&-", "", 2), (">&-", "2>&- <&-", 2), (">/dev/full", "2>&-", 2), (">&9", "", 3)],
)
def test_ready_is_no_answer_that_nobody_hears(where: str, closed: str, status: int) -> None:
    """Without arguments a closed standard output ended in a traceback; nobody reads from the pipe 9."""
    script = f"exec 9> >(:); wait $!; exec '{sys.executable}' -c \"$0\" {where} {closed}"
    done = subprocess.run(["bash", "-c", script, READY], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert done.stderr.count("\n") == (status == 2 and not closed)
