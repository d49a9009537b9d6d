"""host-compiler-unsupported."""

from __future__ import annotations

import pytest

from compat.need import AssignVariable, as_json
from doctor.model.facts.environment import Variable
from doctor.model.facts.system import Compiler
from doctor.model.facts.toolkit import Toolkit, ToolkitName
from doctor.model.finding import Severity, Status
from tests.machine import configuration, machine, seen, system, toolkit, toolkits, unseen
from tests.rules.case import answer, answers

CODE = "host-compiler-unsupported"


def gcc(version: str, path: str = "/usr/bin/gcc", chosen_by: str = "PATH") -> Compiler:
    return Compiler(path, "gcc", seen(version), chosen_by)


@pytest.mark.parametrize(
    ("release", "version", "kind"),
    [
        ("12.8.1", "14.2.0", Status.OK),
        ("12.8.1", "15.1.0", Status.BAD),
        ("12.4", "13", Status.OK),
        ("12.4", "14", Status.BAD),
        ("13.0", "12", Status.OK),
        ("11.8.0", "5.4.0", Status.BAD),  # too old
        ("10.1.243", "8.4.0", Status.OK),
        ("10.1.243", "9", Status.BAD),
        ("99.0", "12", Status.UNKNOWN),
    ],
)
def test_gcc(release: str, version: str, kind: Status) -> None:
    found = answer(CODE, machine(toolkit=toolkits(toolkit(release)), compilers=seen((gcc(version),))))
    assert found.kind is kind
    assert found.severity is Severity.WARNING or kind is not Status.BAD


@pytest.mark.parametrize(
    ("compiler", "release", "kind"),
    [
        (Compiler("/usr/bin/clang", "clang", seen("19"), "NVCC_CCBIN"), "12.8.1", Status.OK),
        (Compiler("/usr/bin/clang", "clang", seen("20"), "NVCC_CCBIN"), "12.8.1", Status.BAD),
        (Compiler("/usr/bin/clang", "clang", seen("20"), ""), "12.8.1", Status.NOT_APPLICABLE),  # nvcc does not take it
        (Compiler("C:/cl.exe", "msvc", seen("1939")), "12.3.2", Status.OK),
        (Compiler("C:/cl.exe", "msvc", seen("1940")), "12.3.2", Status.BAD),
        (Compiler("C:/cl.exe", "msvc", seen("1940")), "12.4.1", Status.OK),
    ],
)
def test_other_compilers(compiler: Compiler, release: str, kind: Status) -> None:
    assert answer(CODE, machine(toolkit=toolkits(toolkit(release)), compilers=seen((compiler,)))).kind is kind


BESIDE = gcc("13", "/usr/local/cuda-12.4/bin/gcc", "beside nvcc")
ELSEWHERE = gcc("13", "/opt/cuda/bin/gcc", "beside nvcc")


@pytest.mark.parametrize(
    ("compilers", "kind"),
    [
        ((BESIDE, gcc("14")), Status.OK),  # how distributions and users mend it
        ((ELSEWHERE, gcc("14")), Status.BAD),
        ((gcc("13", "/usr/bin/gcc-13", "NVCC_PREPEND_FLAGS"), gcc("14")), Status.OK),
        ((gcc("13", "/usr/bin/gcc-13", "NVCC_CCBIN"), gcc("14")), Status.BAD),  # 12.4's nvcc does not read it
        ((gcc("14"), gcc("13", "/usr/bin/gcc-13", "CXX")), Status.BAD),
        ((), Status.NOT_APPLICABLE),
    ],
)
def test_the_one_that_nvcc_takes(compilers: tuple[Compiler, ...], kind: Status) -> None:
    assert answer(CODE, machine(toolkit=toolkits(toolkit("12.4.1")), compilers=seen(compilers))).kind is kind


def test_accepted_compiler_that_is_installed_is_the_remedy() -> None:
    both = seen((gcc("14"), gcc("12", "/usr/bin/gcc-12", "")))
    found = answer(CODE, machine(toolkit=toolkits(toolkit("12.4.1")), compilers=both))
    assert found.needs == (AssignVariable("NVCC_PREPEND_FLAGS", "-ccbin /usr/bin/gcc-12"),)


def test_the_other_flags_stay() -> None:
    both = seen((gcc("14"), gcc("12", "/usr/bin/gcc-12", "")))
    flags = Variable("NVCC_PREPEND_FLAGS", "-ccbin=gcc -O2", "~/.bashrc, line 1")
    facts = machine(
        toolkit=toolkits(toolkit("12.4.1")), compilers=both, configuration=configuration(variables=seen((flags,)))
    )
    assert as_json(answer(CODE, facts).needs[0]).spec == "=-ccbin /usr/bin/gcc-12 -O2"


def test_an_old_nvcc_reads_no_variable() -> None:
    """That of 10.1 and of 9.1 has no such name in its program."""
    there = seen((gcc("14"), gcc("7", "/usr/bin/gcc-7", "")))
    found = answer(CODE, machine(toolkit=toolkits(toolkit("10.1.243")), compilers=there))
    assert [as_json(one).product for one in found.needs] == ["by-hand"]
    assert "-ccbin /usr/bin/gcc-7" in as_json(found.needs[0]).spec


@pytest.mark.parametrize(
    ("distribution", "products"), [("ubuntu", ["host-compiler", "by-hand"]), ("fedora", ["by-hand"])]
)
def test_else_one_is_installed(distribution: str, products: list[str]) -> None:
    facts = machine(
        toolkit=toolkits(toolkit("12.4.1")),
        compilers=seen((gcc("14"),)),
        system=system(distribution_id=seen(distribution)),
    )
    assert [as_json(need).product for need in answer(CODE, facts).needs] == products


def test_runtime_only_and_unnamed_toolkits_do_not_apply() -> None:
    runtime = toolkit("12.4.1", nvcc=unseen("no nvcc"))
    assert answer(CODE, machine(toolkit=toolkits(runtime))).kind is Status.NOT_APPLICABLE
    kept = toolkit("10.2.89", links=())
    found = answers(CODE, machine(toolkit=toolkits(toolkit(), kept)))
    assert [one.kind for one in found] == [Status.NOT_APPLICABLE, Status.OK]  # by their labels
    wheels = toolkit("12.4.1", kind="wheels", links=())
    facts = machine(toolkit=toolkits(wheels, names=seen(())), compilers=seen((gcc("99"),)))
    assert answer(CODE, facts).kind is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("found", "compilers"),
    [
        (toolkit("12.4.1")._replace(release=unseen("nothing says")), seen((gcc("12"),))),
        (toolkit("12.4.1"), seen((Compiler("/usr/bin/gcc", "gcc", unseen("not run")),))),
        (toolkit("12.4.1"), unseen("failed")),
    ],
)
def test_unseen_is_unknown(found: Toolkit, compilers: object) -> None:
    assert answer(CODE, machine(toolkit=toolkits(found), compilers=compilers)).kind is Status.UNKNOWN


def test_names_that_lead_nowhere_do_not_hide_the_only_toolkit() -> None:
    lost = ToolkitName("CUDA_HOME", "/gone", unseen("not there"), missing=True)
    facts = machine(toolkit=toolkits(toolkit("12.4.1"), names=seen((lost,))), compilers=seen((gcc("14"),)))
    assert answer(CODE, facts).kind is Status.BAD


@pytest.mark.parametrize(
    ("distribution", "version", "package"),
    [("ubuntu", "24.04", "g++-13"), ("ubuntu", "22.04", "g++-12"), ("debian", "12", "g++-12"), ("debian", "99", "")],
)
def test_only_a_compiler_that_the_release_has_is_named(distribution: str, version: str, package: str) -> None:
    around = system(distribution_id=seen(distribution), distribution_version=seen(version))
    facts = machine(toolkit=toolkits(toolkit("12.4.1")), compilers=seen((gcc("14"),)), system=around)
    named = [as_json(need).build for need in answer(CODE, facts).needs if as_json(need).product == "host-compiler"]
    assert named == ([package] if package else [])
