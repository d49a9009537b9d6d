"""One broken or healthy machine as data, and running gpudoctor on it inside this process.

A live case's own host answers as `LiveHost` would, from the tree; NVML is really asked, in a child, over the stub.
`tests/lab/chroot.py` runs the same cases with the real `LiveHost`.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from compat.matrix import Matrix
from doctor.commands.gate.verdict import Level, verdict_of
from doctor.diagnose import exit_status
from doctor.host import READ_LIMIT_BYTES, FileStatus, Host, HostError, Missing, NotRunnable, Ran
from doctor.host.root import RootHost
from doctor.host.snapshot import Snapshot
from doctor.model.encode import encode_report
from doctor.model.facts import Facts
from doctor.model.finding import Report, Severity
from doctor.probes import ProbeRequest, look
from tests.lab import stub
from tests.lab.parts import DISK, HOME, LIB, VENV, WORKSTATION, Part, site_of
from tests.machine import report_on

PATH = f"{VENV}/bin:/usr/local/cuda/bin:/usr/bin:/bin"
HEALTHY_NVML = stub.machine_env(stub.card())
_IMPORT_WITHIN_S = 1.5  # what a healthy fake torch needs is a twentieth
SHM_BYTES = 16 << 30


class Case(NamedTuple):
    """A machine, and what must be said of it."""

    name: str  # "F01", or a word of ours
    title: str
    lay: Part
    codes: tuple[str, ...] = ()  # that must be named; a healthy control has none
    first: str = ""  # the root cause that must come first, "" for any
    where: str = "live"  # "live", "root" (offline), "pretended" (live, but never on the machine of the tests)
    environ: Mapping[str, str] = {}  # differences from a login shell in the project's environment; "" unsets
    nvml: Mapping[str, str] = HEALTHY_NVML  # what the stub says
    machine: str = "x86_64"
    deep: bool = False
    shm_bytes: int = SHM_BYTES
    closed: tuple[str, ...] = ()  # nodes that a control group closes to this process, whatever their mode says
    besides: tuple[str, ...] = ()  # codes for information that are true of a healthy control
    quiet: tuple[str, ...] = ()  # codes that would be wrong
    named_by: str = ""  # what counts as naming the cause in another tool's text (a regular expression)
    shows: tuple[str, ...] = ()  # texts that all stand there where it does not name it, but shows what is wrong

    def build(self, root: Path) -> Path:
        """Lay the tree."""
        root.mkdir(parents=True, exist_ok=True)
        usual = os.umask(0o022)
        self.lay(root)
        os.umask(usual)
        return root

    def variables(self) -> dict[str, str]:
        """The environment of the process that is judged; on an offline root only what the case itself says."""
        if self.where == "root":
            return dict(self.environ)
        usual = {"HOME": HOME, "USER": "user", "LANG": "C.UTF-8", "VIRTUAL_ENV": VENV}
        merged = {**self.nvml, **usual, "PATH": PATH, **self.environ}
        return {name: value for name, value in merged.items() if value}


def fault(name: str, title: str, *different: Part, codes: tuple[str, ...], **more: Any) -> Case:
    """A live machine that differs from the healthy workstation."""
    from tests.lab.parts import together

    return Case(name, title, together(WORKSTATION, *different), codes, **more)


def on_disk(name: str, title: str, *different: Part, codes: tuple[str, ...] = (), **more: Any) -> Case:
    """An offline root that differs from the healthy workstation's disk."""
    from tests.lab.parts import together

    return Case(name, title, together(DISK, *different), codes, where="root", **more)


class Outcome(NamedTuple):
    """A report and how it ended."""

    status: int
    report: dict[str, Any]
    level: Level | None = None  # what the gate says of it; None where it was not asked

    @property
    def named(self) -> tuple[str, ...]:
        """The codes of the findings, in their order."""
        return tuple(finding["code"] for finding in self.report["findings"])

    @property
    def roots(self) -> tuple[str, ...]:
        """The same without what another finding explains."""
        return tuple(one["code"] for one in self.report["findings"] if not one.get("explained_by"))

    @property
    def open(self) -> tuple[str, ...]:
        """Codes and reasons of what could not be told."""
        return tuple(
            f"{one['code']} ({one['subject']}): {one['why']}"
            for one in self.report["answers"]
            if one["answer"] == "unknown"
        )


def complaint(case: Case, outcome: Outcome) -> str:
    """What is wrong with an outcome, "" where it is as the case demands."""
    named = ", ".join(outcome.named)
    if "check-error" in outcome.named:
        return f"a check failed: {outcome.report['findings'][0]['summary']}"
    if not case.codes:
        wrong = [one for one in outcome.report["findings"] if one["code"] not in case.besides]
        if wrong or any(one["severity"] != "info" for one in outcome.report["findings"]):
            return f"a false alarm: {named}: {outcome.report['findings'][0]['summary']}"
        return "" if outcome.status == 0 else f"status {outcome.status}; open: {'; '.join(outcome.open)}"
    missed = [code for code in case.codes if code not in outcome.named]
    wrong = [code for code in case.quiet if code in outcome.named]
    if missed or wrong:
        return f"missed {missed}, wrong {wrong}; named: {named or 'nothing'}; open: {'; '.join(outcome.open)}"
    if case.first and outcome.roots[:1] != (case.first,):
        return f"the first root is {outcome.roots[:1]}, not {case.first}; named: {named}"
    return ""


_NVML, _CUDA = "libnvidia-ml.so.1", "libcuda.so.1"  # the second only where it is a stub that can be started
_OF_THE_SYSTEM = ("/usr/", "/opt/", "/etc/", "/dev/", "/sys/", "/proc/", "/var/", "/lib")
_DRIVER_FOLDERS = (
    LIB,
    "/usr/lib",
    "/usr/lib/wsl/lib",
    "/usr/lib/aarch64-linux-gnu/nvidia",
    "/usr/local/nvidia/lib64",
    "/usr/lib64",
)


class _Variables(dict[str, str]):
    """The case's variables, to which a child that inherits them has the way to the tree's NVML added.

    The rest of the tree's libraries must stay out of its way: they are no real ones.
    """

    def __init__(self, case: Case, root: Path) -> None:
        self._said = {**case.variables(), "GPUDOCTOR_CACHE": ""}  # its home is the tree's, not one of this machine
        folders = [*self._said.get("LD_LIBRARY_PATH", "").split(":"), *_DRIVER_FOLDERS]
        host = RootHost(str(root))
        paths = [f"{folder}/{_NVML}" for folder in folders if folder]
        found = [root / host.real_path(path).lstrip("/") for path in paths if host.is_file(path)]
        cuda = root / LIB.lstrip("/") / _CUDA
        aside = root / ".nvml"
        shutil.rmtree(aside, ignore_errors=True)  # a remedy may have put another driver there since
        aside.mkdir()
        if found:
            (aside / _NVML).symlink_to(found[0])
        if cuda.is_file() and b"cuInit" in cuda.read_bytes():
            (aside / _CUDA).symlink_to(cuda.resolve())
        super().__init__({**self._said, "LD_LIBRARY_PATH": str(aside)})

    def __getitem__(self, name: str) -> str:
        return self._said.get(name, "")

    def __contains__(self, name: object) -> bool:
        return name in self._said

    def get(self, name: str, default: Any = None) -> Any:
        return self._said.get(name, default)


class LabHost(RootHost):
    """A live Linux machine whose every file is in the tree."""

    kind = "live"
    is_live = True

    def __init__(self, root: Path, case: Case) -> None:
        super().__init__(str(root), case.variables())
        self.name = "lab"
        self._directory = root
        self._case = case
        self.environ = _Variables(case, root)

    def run(self, argv: tuple[str, ...], timeout_s: float = 5.0, env: Mapping[str, str] | None = None) -> Ran:
        """The project's interpreter is ours, with its packages; shell scripts of the tree are run by our shell."""
        from doctor.host.child import run_child

        folders = self._case.variables().get("PATH", "").split(":")
        places = argv[:1] if "/" in argv[0] else [f"{folder}/{argv[0]}" for folder in folders]
        found = next((place for place in places if self.exists(place)), None)
        if found is None:
            raise Missing(argv[0])
        real = str(self._directory) + self.real_path(found)
        inherited = dict(self.environ)
        if "python" in real.rpartition("/")[2]:
            inherited["PYTHONPATH"] = f"{self._directory}{site_of()}"
            return run_child((sys.executable, *argv[1:]), min(timeout_s, _IMPORT_WITHIN_S), inherited)
        if not self.read_bytes(found).startswith(b"#!/bin/sh"):
            raise NotRunnable(found, "not a program")
        return run_child(("/bin/sh", real, *argv[1:]), timeout_s, inherited)

    def status(self, path: str) -> FileStatus:
        """A file belongs to root, whoever laid the tree."""
        return super().status(path)._replace(uid=0, gid=0)

    def refuse_unsafe(self, path: str) -> None:
        """The tree is ours."""

    def kernel_machine(self) -> str:
        """As the case says."""
        return self._case.machine

    def libc_version(self) -> str:
        """Ubuntu 24.04's."""
        return "glibc 2.39"

    def space_bytes(self, path: str) -> int:
        """As the case says."""
        return self._case.shm_bytes

    def drain(self, path: str, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """The kernel's log is a file here."""
        return self.read_bytes(path, limit_bytes)

    def may_access(self, path: str, wanted: str) -> bool:
        """By the bits for everybody else in the system's directories, and for the owner in those of the user."""
        if path in self._case.closed:
            return False
        bits = {"r": 4, "w": 2, "x": 1}
        if not path.startswith(_OF_THE_SYSTEM):
            bits = {letter: bit << 6 for letter, bit in bits.items()}
        try:
            return all(self.status(path).mode & bits[letter] for letter in wanted)
        except HostError:
            return False


def host_of(case: Case, root: Path) -> Host:
    """The machine of a case whose tree is laid."""
    return RootHost(str(root), case.variables()) if case.where == "root" else LabHost(root, case)


class Examined(NamedTuple):
    """A case's machine, what was seen on it, and what is said of it."""

    case: Case
    host: Snapshot
    facts: Facts
    report: Report

    @property
    def outcome(self) -> Outcome:
        """As a process would tell it."""
        told = json.loads(json.dumps(encode_report(self.report)))
        level = verdict_of(self.report.facts, self.report.answers, Matrix()).level
        return Outcome(exit_status(self.report, Severity.ERROR), told, level)


def examine(case: Case, root: Path) -> Examined:
    """Look at the tree that was laid, in this process."""
    host = Snapshot(host_of(case, root))
    facts = look(host, ProbeRequest((), case.deep))
    return Examined(case, host, facts, report_on(facts, host))


def run_here(case: Case, root: Path) -> Outcome:
    """Lay the tree and examine it."""
    return examine(case, case.build(root)).outcome
