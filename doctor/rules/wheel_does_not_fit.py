"""A plan installs a wheel whose file name contradicts the Python, the system or the torch of the plan."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, bad, ok, unknown
from doctor.rules.shared.image import dockerfile_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE

# PEP 427: name-version(-build)-python-abi-platform.whl
_NAME = re.compile(
    r"(?P<name>[^-]+)-(?P<version>[^-]+)(?:-\d[^-]*)?-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl"
)
_ARCHES = ("x86_64", "aarch64", "ppc64le")


class _Wheel(NamedTuple):
    version: str
    python: str  # "cp312"
    abi: str  # "cp312", "abi3", "none"
    platform: str  # "manylinux_2_32_x86_64"


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Compare tags and local version of each wheel with what the plan installs and where."""
    wheels = dockerfile_of(facts).wheels
    if not wheels:
        raise NotApplicable("no line installs a wheel by its file")
    open_names = []
    for one in wheels:
        found = _NAME.fullmatch(one.what)
        if found is None:
            open_names.append(one)
            continue
        wheel = _Wheel(found["version"], found["python"], found["abi"], found["platform"])
        for wrong in (*_of_python(wheel, dockerfile_of(facts).python), *_wrong(wheel, facts, matrix)):
            return bad(
                f"{one.what} does not fit: {wrong}",
                Advice(f"{one.source}: use a wheel that fits, or let pip choose"),
                evidence=(Evidence.at(one.source, one.what),),
            )
    if open_names:
        return unknown(f"{open_names[0].source}: {open_names[0].what} is not a wheel name")
    return ok("the wheels fit the plan")


def _wrong(wheel: _Wheel, facts: Facts, matrix: Matrix) -> Iterator[str]:
    yield from _of_system(wheel, facts, matrix)
    for each in value_or(facts.environments, ()):
        for one in value_or(each.frameworks, ()):
            if one.package == "torch":
                yield from _of_torch(wheel, one)


def _of_python(wheel: _Wheel, python: str) -> Iterator[str]:
    exact = re.fullmatch(r"cp3(\d+)", wheel.python)
    if python and exact and wheel.abi != "abi3" and f"3.{exact[1]}" != python:
        yield f"it is for Python 3.{exact[1]}, but the plan has Python {python}"


def _of_system(wheel: _Wheel, facts: Facts, matrix: Matrix) -> Iterator[str]:
    machine = value_or(facts.system.machine, "")
    arch = next((one for one in _ARCHES if wheel.platform.endswith(one)), "")
    if arch and machine in _ARCHES and arch != machine:
        yield f"it is for {arch}, but the image is for {machine}"
    wanted = [tuple(map(int, one)) for one in re.findall(r"manylinux_(\d+)_(\d+)_", wheel.platform)]
    name = f"{value_or(facts.system.distribution_id, '')}-{value_or(facts.system.distribution_version, '')}"
    row = next((one for one in matrix.rows("platform", "systems") if one.id == name), None)
    if wanted and row and row.glibc and min(wanted) > tuple(map(int, row.glibc.split("."))):
        glibc = ".".join(map(str, min(wanted)))
        yield f"it needs glibc {glibc} or newer, but {name.replace('-', ' ')} has glibc {row.glibc}"


def _of_torch(wheel: _Wheel, torch: Framework) -> Iterator[str]:
    """By the names that flash-attn and others give their wheels: +cu12torch2.6cxx11abiFALSE, +cu128torch2.11."""
    local = wheel.version.partition("+")[2]
    built = re.search(r"torch(\d+\.\d+)", local) or re.search(r"pt(\d)(\d+)", local)
    public = ".".join(torch.version.partition("+")[0].split(".")[:2])
    for_torch = ".".join(built.groups()) if built else ""
    if for_torch and for_torch != public:
        yield f"it is compiled for torch {for_torch}, but the plan has torch {torch.version}"
    cuda, major = value_or(torch.cuda, None), re.search(r"cu(1\d)", local)
    if cuda and major and int(major[1]) != cuda.major:
        yield f"it is compiled for CUDA {major[1]}, but torch {torch.version} for CUDA {cuda}"


RULE = Rule(MACHINE, check)
