"""cuda-symlink-broken."""

from __future__ import annotations

import pytest

from compat.need import AssignVariable, ClearVariable, LinkTo, Need, RemoveFile, as_json
from doctor.model.facts import Machine
from doctor.model.facts.environment import Variable
from doctor.model.facts.toolkit import ToolkitFacts, ToolkitName
from doctor.model.finding import Severity, Status
from tests.machine import configuration, machine, seen, toolkit, toolkits, unseen
from tests.rules.case import answer

CODE = "cuda-symlink-broken"
ROOT = "/usr/local/cuda-12.8"
GOOD = ToolkitName("/usr/local/cuda", "cuda-12.8", seen(ROOT))
NVCC = ToolkitName("nvcc on PATH", f"{ROOT}/bin/nvcc", seen(ROOT))
LOST_NVCC = ToolkitName("nvcc on PATH", "/opt/bin/nvcc", unseen("belongs to no toolkit"))
BROKEN_LINK = ToolkitName("/usr/local/cuda", "/usr/local/cuda-12.1", unseen("not there"), missing=True)
BROKEN_HOME = ToolkitName("CUDA_HOME", "/usr/local/cuda-12.1", unseen("not there"), missing=True)
UNREADABLE = ToolkitName("CUDA_HOME", "/root/cuda", unseen("/root/cuda: permission denied"))


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        ((GOOD, NVCC), Status.OK),
        ((BROKEN_LINK,), Status.BAD),
        ((GOOD, BROKEN_HOME, NVCC), Status.BAD),
        ((UNREADABLE,), Status.UNKNOWN),
        ((NVCC,), Status.NOT_APPLICABLE),
        ((LOST_NVCC,), Status.NOT_APPLICABLE),
        ((), Status.NOT_APPLICABLE),
    ],
)
def test_names(names: tuple[ToolkitName, ...], kind: Status) -> None:
    assert answer(CODE, machine(toolkit=toolkits(names=seen(names)))).kind is kind


@pytest.mark.parametrize(
    ("path", "where", "kind"),
    [
        ("C:\\PROGRA~1\\NVIDIA~2\\CUDA\\v12.8", "root", Status.UNKNOWN),
        ("C:\\PROGRA~1\\NVIDIA~2\\CUDA\\v12.8", "live", Status.BAD),
        ("C:\\Program Files\\CUDA\\v12.8", "root", Status.BAD),
        ("/opt/cuda~1", "root", Status.BAD),
    ],
)
def test_short_names_are_followed_by_a_running_windows_alone(path: str, where: str, kind: Status) -> None:
    name = ToolkitName("CUDA_PATH", path, unseen("not there"), missing=True)
    assert answer(CODE, machine(machine=Machine(where, "/mnt"), toolkit=toolkits(names=seen((name,))))).kind is kind


def test_unseen_names_are_unknown() -> None:
    assert answer(CODE, machine(toolkit=toolkits(names=unseen("failed")))).kind is Status.UNKNOWN


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        (BROKEN_LINK, (LinkTo("/usr/local/cuda", ROOT), RemoveFile("/usr/local/cuda"))),
        (
            BROKEN_HOME,
            (
                AssignVariable("CUDA_HOME", ROOT, "~/.bashrc, line 3"),
                ClearVariable("CUDA_HOME", "~/.bashrc, line 3"),
            ),
        ),
    ],
)
def test_needs_point_at_the_installed_toolkit(name: ToolkitName, needs: tuple[Need, ...]) -> None:
    variables = seen((Variable("CUDA_HOME", name.value, "~/.bashrc, line 3"),))
    facts = machine(toolkit=toolkits(names=seen((name,))), configuration=configuration(variables=variables))
    found = answer(CODE, facts)
    assert (found.needs, found.severity, found.subject) == (needs, Severity.WARNING, name.name)


def test_newest_toolkit_is_compared_by_number() -> None:
    facts = machine(toolkit=toolkits(toolkit("9.2.148"), toolkit("12.8.1"), names=seen((BROKEN_LINK,))))
    assert as_json(answer(CODE, facts).needs[0]).spec == ROOT


def test_without_any_toolkit_the_name_goes() -> None:
    facts = machine(toolkit=ToolkitFacts(seen(()), seen((BROKEN_LINK,))))
    assert answer(CODE, facts).needs == (RemoveFile("/usr/local/cuda"),)


@pytest.mark.parametrize(
    ("there", "needs"),
    [
        (("13.0.2", "12.8.1"), (LinkTo("/usr/local/cuda", ROOT), RemoveFile("/usr/local/cuda"))),
        (("13.0.2",), (RemoveFile("/usr/local/cuda"),)),  # torch here is built for CUDA 12
    ],
)
def test_no_name_is_pointed_to_a_cuda_that_the_framework_cannot_use(
    there: tuple[str, ...], needs: tuple[Need, ...]
) -> None:
    facts = machine(toolkit=toolkits(*map(toolkit, there), names=seen((BROKEN_LINK,))))
    assert answer(CODE, facts).needs == needs
