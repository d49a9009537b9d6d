"""toolkit-path-conflict."""

from __future__ import annotations

import pytest

from compat.need import Advice, AssignVariable, Need
from compat.version import CudaVersion
from doctor.model.facts.environment import Variable
from doctor.model.facts.toolkit import ToolkitName
from doctor.model.finding import Severity, Status
from tests.machine import configuration, environment, framework, machine, seen, toolkit, toolkits, unseen
from tests.rules.case import answer

CODE = "toolkit-path-conflict"
OLD = toolkit("11.8.0", links=())
NEW = toolkit("12.8.1", links=("/usr/local/cuda",))
SAME = toolkit("12.8.0", path="/opt/cuda-12.8", links=())
CONDA = toolkit("12.4.1", path="/opt/conda/envs/a", kind="conda", links=())
SILENT = toolkit("12.0", path="/opt/silent", cuda=unseen("nothing says"), links=())
ALL = (OLD, NEW, SAME, CONDA, SILENT)


def named(name: str, root: str) -> ToolkitName:
    return ToolkitName(name, f"{root}/bin/nvcc" if name.startswith("nvcc") else root, seen(root))


NVCC_NEW, NVCC_OLD = named("nvcc on PATH", NEW.path), named("nvcc on PATH", OLD.path)
HOME_NEW, HOME_OLD = named("CUDA_HOME", NEW.path), named("CUDA_HOME", OLD.path)
LINK_NEW = named("/usr/local/cuda", NEW.path)


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        ((LINK_NEW, NVCC_NEW), Status.OK),  # /usr/local/cuda/bin on PATH
        ((HOME_NEW, LINK_NEW, NVCC_NEW), Status.OK),
        ((NVCC_NEW, named("CUDA_HOME", SAME.path)), Status.OK),  # one version in two places
        ((NVCC_OLD, HOME_NEW), Status.BAD),
        ((NVCC_NEW, HOME_NEW, named("CUDA_PATH", OLD.path)), Status.BAD),
        ((NVCC_OLD, LINK_NEW), Status.BAD),
        ((NVCC_OLD, HOME_OLD, LINK_NEW), Status.OK),  # chosen on purpose, twice; the link is only the fallback
        ((named("nvcc on PATH", CONDA.path), LINK_NEW), Status.NOT_APPLICABLE),  # an activated environment
        ((named("nvcc on PATH", CONDA.path), HOME_NEW), Status.BAD),
        ((NVCC_NEW,), Status.NOT_APPLICABLE),
        ((), Status.NOT_APPLICABLE),
        ((NVCC_NEW, named("CUDA_HOME", SILENT.path)), Status.UNKNOWN),
        ((NVCC_NEW, ToolkitName("CUDA_HOME", "/gone", unseen("not there"), missing=True)), Status.NOT_APPLICABLE),
    ],
)
def test_names(names: tuple[ToolkitName, ...], kind: Status) -> None:
    found = answer(CODE, machine(toolkit=toolkits(*ALL, names=seen(names))))
    assert found.kind is kind
    assert found.severity is Severity.WARNING or kind is not Status.BAD


def test_wheels_of_another_cuda_are_no_conflict() -> None:
    thirteen = toolkit("13.0.2")  # beside torch 2.9.1+cu128, which brings its own
    assert answer(CODE, machine(toolkit=toolkits(thirteen))).kind is Status.OK


@pytest.mark.parametrize(
    ("build", "first"),
    [
        ("2.9.1+cpu", (AssignVariable("CUDA_HOME", OLD.path),)),
        ("2.9.1+cu118", (AssignVariable("CUDA_HOME", OLD.path),)),
        ("2.9.1+cu128", ()),
    ],
)
def test_needs_follow_the_frameworks_and_then_the_nvcc_on_path(build: str, first: tuple[AssignVariable, ...]) -> None:
    cuda = {"2.9.1+cu118": seen(CudaVersion(11, 8)), "2.9.1+cu128": seen(CudaVersion(12, 8))}.get(build, unseen("CPU"))
    facts = machine(
        toolkit=toolkits(*ALL, names=seen((NVCC_OLD, HOME_NEW))),
        environments=seen((environment(framework(version=build, cuda=cuda)),)),
    )
    needs: tuple[Need, ...] = (*first, Advice(f"put {NEW.path}/bin first in PATH"))
    assert answer(CODE, facts).needs == needs


def test_the_link_leads_to_what_the_framework_needs() -> None:
    thirteen = toolkit("13.0.2", links=())
    facts = machine(toolkit=toolkits(thirteen, NEW, names=seen((named("nvcc on PATH", thirteen.path), LINK_NEW))))
    assert answer(CODE, facts).needs == (Advice(f"put {NEW.path}/bin first in PATH"),)
    facts = facts._replace(configuration=PATH)
    assert answer(CODE, facts).needs == (AssignVariable("PATH", f"{NEW.path}/bin:/usr/bin:/bin"),)


DISTRIBUTION = toolkit("12.0.1", path="/usr", kind="distribution", links=())
NVCC_USR = named("nvcc on PATH", DISTRIBUTION.path)
PATH = configuration(variables=seen((Variable("PATH", f"/usr/bin:{NEW.path}/bin:/bin", ""),)))


@pytest.mark.parametrize(
    "names",
    [
        (NVCC_USR, HOME_NEW, named("CUDA_PATH", NEW.path), LINK_NEW),  # three places against a distribution's nvcc
        (NVCC_OLD, HOME_NEW, LINK_NEW),
        (NVCC_USR, LINK_NEW),
    ],
)
def test_what_most_names_say_comes_first_in_path(names: tuple[ToolkitName, ...]) -> None:
    facts = machine(toolkit=toolkits(*ALL, DISTRIBUTION, names=seen(names)), configuration=PATH)
    (need,) = answer(CODE, facts).needs
    assert need == AssignVariable("PATH", f"{NEW.path}/bin:/usr/bin:/bin")


def test_nothing_is_made_to_follow_usr() -> None:
    facts = machine(toolkit=toolkits(NEW, DISTRIBUTION, names=seen((NVCC_USR, HOME_NEW))))
    (need,) = answer(CODE, facts).needs
    assert need == Advice(f"put {NEW.path}/bin first in PATH")


def test_unseen_is_unknown() -> None:
    assert answer(CODE, machine(toolkit=toolkits(names=unseen("failed")))).kind is Status.UNKNOWN


@pytest.mark.parametrize(
    ("names", "explained"),
    [
        ((named("nvcc on PATH", NEW.path), named("CUDA_HOME", OLD.path), LINK_NEW), [OLD.label]),
        # a name that does not compete leads to the old one still
        ((named("nvcc on PATH", NEW.path), named("CUDA_HOME", OLD.path), named("/usr/local/cuda", OLD.path)), []),
        ((NVCC_OLD, HOME_NEW, LINK_NEW), []),  # PATH is what changes
    ],
)
def test_the_compiler_of_a_toolkit_that_is_left_matters_no_more(
    names: tuple[ToolkitName, ...], explained: list[str]
) -> None:
    found = answer(CODE, machine(toolkit=toolkits(*ALL, names=seen(names)), configuration=PATH))
    assert [(one.code, one.subject) for one in found.explains] == [
        ("host-compiler-unsupported", one) for one in explained
    ]
