"""`gpudoctor install stack`: whole stacks of all eras, each held against the rows that it comes from."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from compat.build import brings_libraries, gpu_packages, oldest_cuda, serves
from compat.cards import gpu_card_of
from compat.matrix import Matrix, accepts
from compat.need import InstallPackage, as_json
from compat.row import FrameworkRow
from compat.spec import normal, parse_spec
from compat.version import CudaVersion, CudnnVersion, DriverRelease
from doctor.cli import execute
from doctor.commands.install.apply import apply_plan, up_to_a_pause
from doctor.commands.install.install import BadOrder, InstallOrder, Prepared, prepare
from doctor.commands.install.stack import StackOrder, stack_plan
from doctor.commands.install.stack_environment import system_row
from doctor.model.facts import Facts
from doctor.output.document import TextStyle
from doctor.prescribe.target import target_of
from installers.plan import Plan
from installers.render import commands, script_bash, script_powershell
from installers.run import ExecutionOptions
from installers.step import kind_of
from installers.steps.already import Already
from installers.steps.by_hand import ByHand
from installers.steps.check import Check
from installers.steps.command import Command
from installers.steps.copy_tree import CopyTree
from installers.steps.download import Download
from installers.steps.extract import Extract
from installers.steps.pause import Pause
from installers.steps.unless import Unless
from installers.steps.write_file import WriteFile
from tests.installers.test_methods import shellcheck
from tests.installers.test_scripts import mistakes, unknown_calls
from tests.machine import driver, environment, gpu, machine, seen, system, toolkits, unseen

MATRIX = Matrix()
NO_DRIVER = driver()._replace(
    release=unseen(),
    module_release=unseen(),
    cuda=unseen(),
    flavour=unseen(),
    module_files=seen(()),
    libraries=seen(()),
)


class Case(NamedTuple):
    """One stack, and what its plan must hold beside what every plan must."""

    framework: str
    gpu: str
    place: str  # a distribution, "windows"
    holds: tuple[str, ...] = ()  # parts of its commands, in this order


# A row a stack: framework x GPU x system x era.
TABLE = (
    Case(
        "torch",
        "RTX 5090",
        "ubuntu-24.04",
        ("nvidia:580-open", "python3.12 -m venv", "pip install torch==2."),
    ),
    Case(
        "torch",
        "RTX 5090",
        "ubuntu-22.04",
        ("nvidia:580-open", ".uv/bin/uv venv --seed --python 3."),
    ),
    Case("torch", "RTX 5090", "ubuntu-26.04", ("ubuntu-drivers install nvidia:", "python3.14 -m venv")),
    Case("torch", "RTX 5090", "debian-12", ("dpkg -i", "nvidia-open", "python3.11 -m venv")),
    Case("torch", "RTX 5090", "debian-13", ("nvidia-open", "python3.13 -m venv")),
    Case("torch", "RTX 5090", "rocky-9", ("nvidia-driver:580-open", "python3.12 python3.12-pip", "python3.12 -m venv")),
    Case("torch", "RTX 5090", "almalinux-8", ("cuda-rhel8.repo", "python3.12 -m venv")),
    Case("torch", "RTX 5090", "fedora-41", ("cuda-fedora41.repo", "nvidia-open", "python3.13 -m venv")),
    Case("torch", "RTX 5090", "windows", ("winget install --exact --id Python.Python.3.14", "-m pip install torch==")),
    Case("torch", "RTX 4090", "ubuntu-24.04", ("ubuntu-drivers install nvidia:", "pip install torch==")),
    Case("torch", "RTX 4090", "debian-11", ("dpkg -i", ".uv/bin/python -m pip install uv")),
    Case("torch", "H100", "rhel-9", ("cuda-rhel9.repo", "python3.12 -m venv")),
    Case("torch", "A100", "rocky-8", ("cuda-rhel8.repo",)),
    Case("torch", "GTX 1080", "ubuntu-24.04", ("ubuntu-drivers install nvidia:580", "--index-url")),
    Case("torch==1.13", "GTX 1080", "ubuntu-20.04", ("ubuntu-drivers install", "python3.8 -m venv", "torch==1.13.0")),
    Case("torch==1.13", "GTX 1080", "ubuntu-22.04", ("python3.10 -m venv", "torch==1.13.0")),
    Case("torch==1.13", "GTX 1080", "rocky-9", ("nvidia-driver:580-dkms", "python3.11 -m venv", "torch==1.13.0")),
    Case("torch==1.13", "GTX 1080", "windows", ("Python.Python.3.10", "torch==1.13.0")),
    Case("torch==1.13.1+cu117", "RTX 3090", "debian-12", ("python3.11 -m venv", "torch==1.13.1")),
    Case("torch", "K80", "ubuntu-22.04", ("nvidia:470", "torch==2.3.1", "cu118")),
    Case("torch", "GTX 980", "debian-12", ("580", "--index-url")),
    Case("torch", "V100", "ubuntu-22.04", ("nvidia:580",)),
    Case("torch>=2.4,<2.6", "RTX 3090", "ubuntu-22.04", ("python3.10 -m venv", "torch==2.5")),
    Case("jax", "RTX 5090", "ubuntu-24.04", ("python3.12 -m venv", "jax[cuda13]")),
    Case("jax[cuda12]", "RTX 4090", "rocky-9", ("python3.12 -m venv", "jax[cuda12]")),
    Case("jax", "GTX 1080", "debian-13", ("jax[cuda12]", "nvidia-cudnn-cu12==9.10.2.21")),
    Case("jax", "RTX 4090", "fedora-41", ("cuda-fedora41.repo", "python3.13 -m venv", "jax[cuda")),
    Case("jax==0.4.30", "A100", "ubuntu-22.04", ("python3.10 -m venv", "jax[cuda12]==0.4.30")),
    Case(
        "mxnet", "GTX 1080", "ubuntu-18.04", ("cuda-toolkit-11-2", "cudnn-", "python3.6 -m venv", "mxnet-cu112==1.9.1")
    ),
    Case("tensorflow", "RTX 4090", "ubuntu-24.04", ("python3.12 -m venv", "tensorflow[and-cuda]==")),
    Case("tensorflow", "GTX 1080", "ubuntu-22.04", ("python3.10 -m venv", "nvidia-cudnn-cu12==9.10.2.21")),
    Case("tensorflow", "RTX 3090", "windows", ("cuda_11.2", "cudnn-windows-x86_64-8.9", "tensorflow==2.10")),
    Case("tensorflow==2.4", "RTX 3090", "ubuntu-18.04", ("11-0", "cudnn-", "python3.6 -m venv", "==2.4")),
    Case(
        "tensorflow==1.15",
        "GTX 1080",
        "ubuntu-18.04",
        ("toolkit-10-0", "cudnn-10.0", "python3.6 -m venv", "==1.15"),
    ),
    Case("tensorflow==1.4", "GTX 1080", "ubuntu-18.04", ("cuda_8.0", "cudnn-8.0-linux-x64-v6.0", "python3.6", "==1.4")),
    Case(
        "tensorflow==1.4",
        "GTX 1080",
        "ubuntu-16.04",
        ("toolkit-8-0", "python3.5 -m venv", "--upgrade 'pip<21'", "==1.4"),
    ),
    Case("tensorflow==1.4", "GTX 1080", "ubuntu-24.04", ("cuda_8.0.61", "conda create", "python=3.6", "==1.4")),
    Case("tensorflow==1.4", "GTX 1080", "windows", ("cuda_8.0.61", "Python.Python.3.6", "==1.4")),
    Case("tensorflow==1.13", "GTX 1060", "windows", ("cuda_10.0.130", "Python.Python.3.7", "==1.13")),
    Case(
        "theano",
        "GTX 1080",
        "ubuntu-16.04",
        ("toolkit-9-2", "cudnn-9.2", "python=3.8", "pygpu", "theano>=1.0"),
    ),
    Case("theano==1.0.2", "GTX 1080", "ubuntu-16.04", ("python=3.6", "pygpu", "theano==1.0.2")),
    Case("theano==0.8.2", "GTX 1060", "ubuntu-16.04", ("cuda-toolkit-8-0", "cudnn-8.0-linux-x64-v5.", "theano==0.8.2")),
    Case(
        "theano==0.8.2",
        "GTX 1060",
        "windows",
        ("cuda_8.0.61_win10", "conda.exe create", "libpython m2w64-toolchain", "theano==0.8.2", "cnmem = 0.8"),
    ),
    Case("theano==0.9.0", "GTX 1080", "ubuntu-18.04", ("cuda_8.0.61", "cudnn-8.0", "theano==0.9.0")),
    Case("onnxruntime-gpu", "RTX 4090", "ubuntu-24.04", ("onnxruntime-gpu",)),
    Case("cupy", "RTX 4090", "ubuntu-24.04", ("cuda", "cupy-cuda13x")),
    Case("numba", "RTX 4090", "debian-12", ("cuda", "numba")),
    Case("torch", "sm_89", "ubuntu-24.04", ("torch==",)),
    Case("torch", "RTX 4090", "rhel-7", ("nvidia-driver-branch-550", "conda create", "torch==2.6")),
    Case(
        "torch",
        "RTX 4090",
        "fedora-43",
        ("cuda-fedora43.repo", "install -y python3 python3-pip", "python3.14 -m"),
    ),
    Case("torch", "RTX 4090", "rhel-10", ("cuda-rhel10.repo", "install -y python3 python3-pip", "python3.12 -m")),
)


def ordered(case: Case) -> InstallOrder:
    asked = InstallOrder("", framework=case.framework, gpus=(case.gpu,))
    if case.place == "windows":
        return asked._replace(os_family=case.place)
    return asked._replace(distribution=case.place)


def argvs(plan: Plan) -> list[str]:
    return [" ".join(step.argv) for step in plan.steps if isinstance(step, Command)]


def row_of(plan: Plan, case: Case) -> FrameworkRow:
    """The row of builds that the command which installs the framework names."""
    names = {*gpu_packages(parse_spec(case.framework).name), parse_spec(case.framework).name}
    for line in argvs(plan):
        for word in line.partition(" install ")[2].split():
            if re.match(r"[A-Za-z]", word) and normal(re.split(r"[\[=<>+]", word)[0]) in names:
                return _row(word, line, case)
    raise AssertionError(argvs(plan))


def _row(word: str, line: str, case: Case) -> FrameworkRow:
    spec = parse_spec(word)
    plugin = re.match(r"cuda\d+", spec.extras[0]) if spec.extras else None
    package = f"{spec.name}-{spec.extras[0]}-plugin" if plugin else spec.name
    index = re.search(r"/(cu\d+)$", line)
    family = "windows" if case.place == "windows" else "linux"
    rows: list[FrameworkRow] = [
        row
        for row in MATRIX.rows(package, "builds")
        if family in row.os and accepts(row.versions, spec.versions.lstrip("=<>").partition(",")[0].removesuffix(".*"))
    ]
    return next(row for row in rows if not index or row.build == index[1])


@pytest.mark.parametrize("case", TABLE, ids=lambda case: f"{case.framework} {case.gpu} {case.place}")
def test_a_stack_is_what_rows_say(case: Case) -> None:
    prepared = prepare(ordered(case), MATRIX)
    plan, target = prepared.plan, prepared.target
    text = "\n".join(commands(plan, target))
    at = -1
    for one in case.holds:
        at = text.find(one, at + 1)
        assert at >= 0, (one, text)
    row, chips = row_of(plan, case), gpu_card_of(case.gpu, MATRIX).capabilities
    assert target.os_family in row.os
    assert target.arch in row.arch
    assert not row.targets or all(serves(row.targets, chip) for chip in chips)
    system = system_row(target, MATRIX)
    if system and system.glibc and row.glibc:
        assert DriverRelease.parse(system.glibc) >= DriverRelease.parse(row.glibc)
    _python_is_published(text, row)
    _driver_drives(plan, row, case)
    _libraries_fit(plan, row, case)
    _script_is_sound(prepared)


def _python_is_published(text: str, row: FrameworkRow) -> None:
    found = re.search(
        r"python(\d\.\d+) -m (?:venv|virtualenv) \.venv|--python (3\.\d+)|python=(\d\.\d+)|Python(3\d+)\\python", text
    )
    assert found, text
    python = next(filter(None, found.groups()))
    python = python if "." in python else f"3.{python[1:]}"
    declared = [one for one in MATRIX.rows("platform", "declared") if one.package == row.package]
    assert python in (row.python or tuple(name for one in declared for name in one.python))


def _driver_drives(plan: Plan, row: FrameworkRow, case: Case) -> None:
    """The branch that is installed, and the release that is asked for, drive the card and start the CUDA."""
    generations = [MATRIX.generation(chip) for chip in gpu_card_of(case.gpu, MATRIX).capabilities]
    first, *others = plan.steps
    assert isinstance(first, Unless)
    floor = DriverRelease.parse(first.driver)
    end = next(number for number, step in enumerate(others) if isinstance(step, Unless))
    assert isinstance(others[end - 1], Pause)
    named = " ".join(argvs(plan._replace(steps=tuple(others[:end]))))
    branches = [int(one) for one in re.findall(r"(?:nvidia:|driver-|pinning-|driver:)(\d{3})", named)]
    for one in generations:
        assert not one.driver_dropped or floor.branch <= (one.driver_last or 0)
        if one.driver_dropped and case.place != "windows":
            assert branches in ([one.driver_last], [])
        assert one.open_module != "only" or "open" in named or case.place == "windows"
        assert one.open_module != "no" or "open" not in named
    if brings_libraries(row, MATRIX):
        family = "windows" if case.place == "windows" else "linux"
        assert floor >= MATRIX.driver_floor(oldest_cuda(row, MATRIX), family)


def _libraries_fit(plan: Plan, row: FrameworkRow, case: Case) -> None:
    """A toolkit and cuDNN only where the build brings none, and then what it takes and what builds for the card."""
    names = [step.to for step in plan.steps if isinstance(step, Download) and step.to.startswith(("cuda_", "cudnn"))]
    packages = re.findall(r"cuda-toolkit-(\d+)-(\d+)", " ".join(argvs(plan)))
    copies = [step for step in plan.steps if isinstance(step, CopyTree)]
    if brings_libraries(row, MATRIX):
        assert (names, packages, copies) == ([], [], [])
        return
    toolkit = [re.match(r"cuda_(\d+)\.(\d+)", name) for name in names]
    versions = [one.groups() for one in toolkit if one] + packages
    [cuda] = [CudaVersion.parse(f"{major}.{minor}") for major, minor in versions]
    assert row.cuda is None or accepts(row.cuda, cuda)
    targets = MATRIX.targets(cuda)
    assert all(targets.capability_min <= chip for chip in gpu_card_of(case.gpu, MATRIX).capabilities)
    assert all(serves(targets.sm, chip) for chip in gpu_card_of(case.gpu, MATRIX).capabilities)
    if row.cudnn_accepts:
        text = " ".join((*names, *(step.archive for step in plan.steps if isinstance(step, Extract))))
        by_person = " ".join(step.text for step in plan.steps if isinstance(step, ByHand))
        found = re.search(r"cudnn-(?:\d+\.\d+-)?(?:linux|windows)[^ ]*?(?:-v|x86_64-)(\d+(?:\.\d+)+)", text)
        found = found or re.search(r"choose cuDNN (\d+(?:\.\d+)+)", by_person)
        assert found, text
        version = CudnnVersion.parse(found[1])
        assert accepts(row.cudnn_accepts, version) or accepts(row.cudnn_accepts, f"{version}.9")
        assert all(f"{cuda}" in step.into for step in copies)


def _script_is_sound(prepared: Prepared) -> None:
    """Beginnings and ends of parts go together."""
    marks = [step.ends for step in prepared.plan.steps if isinstance(step, Unless)]
    assert marks == [False, True] * (len(marks) // 2)


def test_the_table_is_of_all_eras() -> None:
    assert len(TABLE) >= 40
    assert len({case.place for case in TABLE}) >= 10
    assert len({case.gpu for case in TABLE}) >= 10


def test_bash_scripts_have_no_mistakes(tmp_path: Path) -> None:
    cases = (Case("tensorflow==1.15", "GTX 1080", "ubuntu-18.04"), Case("torch", "GTX 1080", "debian-11"))
    paths = []
    for case in cases:
        prepared = prepare(ordered(case), MATRIX)
        text = script_bash.script(prepared.plan, prepared.target)
        assert text.index("if driver_runs ") < text.index("\nexit 4\nfi\n") < text.index("-m venv")
        paths.append(tmp_path / f"{case.place}.sh")
        paths[-1].write_text(text)
    assert subprocess.run([shellcheck(), *map(str, paths)], capture_output=True, text=True).stdout == ""


@pytest.mark.parametrize("name", ["torch", "tensorflow==2.10", "theano==0.8.2", "tensorflow==1.4"])
def test_powershell_scripts_parse_and_call_what_5_1_has(name: str) -> None:
    prepared = prepare(ordered(Case(name, "GTX 1080", "windows")), MATRIX)
    text = script_powershell.script(prepared.plan, prepared.target)
    assert mistakes(text) == []
    assert unknown_calls(text) == []
    made = min(at for at in map(text.find, ("conda create", "conda.exe create", "-m venv")) if at > 0)
    assert text.index("if (Test-Driver '") < text.index("\nexit 4\n") < made


def test_what_a_later_part_needs_is_looked_at_there() -> None:
    """cuDNN's directory comes with the toolkit: at the beginning of the script it is not there yet."""
    prepared = prepare(ordered(Case("tensorflow==1.4", "GTX 1080", "ubuntu-18.04")), MATRIX)
    text = script_bash.script(prepared.plan, prepared.target)
    assert (
        text.index('sh "$staging"/cuda_8.0.61')
        < text.index("writable /usr/local/cuda-8.0/lib64\n")
        < text.index("cudnn-8.0")
    )


@pytest.mark.parametrize(
    ("name", "place", "host", "settings"),
    [
        ("keras==1.2.2", "windows", "theano==0.8.2", ".keras/keras.json"),
        ("keras==1.2.2", "ubuntu-16.04", "theano==0.8.2", ".keras/keras.json"),
        ("keras", "ubuntu-24.04", "tensorflow[and-cuda]", ""),
        ("transformers", "ubuntu-24.04", "torch", ""),
    ],
)
def test_what_has_no_gpu_code_comes_upon_its_host(name: str, place: str, host: str, settings: str) -> None:
    prepared = prepare(ordered(Case(name, "GTX 1060" if settings else "RTX 4090", place)), MATRIX)
    text = "\n".join(commands(prepared.plan, prepared.target))
    assert text.index(host) < text.index(f"install {name}" if "==" in name else name) < text.index("gpudoctor check")
    assert settings in text
    assert f"import {name.partition('=')[0]}" in text


def test_settings_of_theano_on_windows_are_complete() -> None:
    prepared = prepare(ordered(Case("theano==0.8.2", "GT 640M", "windows")), MATRIX)
    [written] = [step for step in prepared.plan.steps if isinstance(step, WriteFile)]
    keys = {line.partition(" = ")[0] for line in written.lines if not line.startswith("[")}
    assert keys == {
        *("device", "floatX", "optimizer_including", "allow_input_downcast", "cnmem", "root"),
        *("fastmath", "compiler_bindir", "flags", "cxxflags"),
    }
    assert "compiler_bindir = C:\\Program Files (x86)\\Microsoft Visual Studio 14.0\\VC\\bin" in written.lines
    assert any("Visual Studio 2015" in getattr(step, "text", "") for step in prepared.plan.steps)


# --- what no rows make ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["torch", "--gpu", "RTX 9999", "--distribution", "ubuntu-24.04"], "no matrix row covers the GPU"),
        (["torch", "--gpu", "GTX 480", "--distribution", "ubuntu-24.04"], "no longer supports sm_20"),
        (["torch==2.15", "--gpu", "RTX 4090", "--distribution", "ubuntu-16.04"], "needs glibc 2.28"),
        (["jax", "--gpu", "RTX 4090", "--os", "windows"], "JAX has no CUDA wheels for native Windows; use WSL 2"),
        (["tensorflow==2.15", "--gpu", "RTX 4090", "--os", "windows"], "TensorFlow 2.10 was the last"),
        (
            ["tensorflow==1.4", "--gpu", "RTX 5090", "--distribution", "ubuntu-18.04"],
            "which CUDA 12.8 added",
        ),
        (["theano", "--gpu", "RTX 5090", "--distribution", "debian-13"], "no toolkit is known"),
        (["theano", "--gpu", "GTX 1080", "--distribution", "ubuntu-24.04"], "no toolkit is known"),
        (
            ["caffe", "--gpu", "GTX 1080", "--distribution", "ubuntu-16.04"],
            "is known. People use `docker run",
        ),
        (["torch7", "--gpu", "GTX 1080", "--distribution", "ubuntu-16.04"], "gpudoctor install stack torch"),
        (["tensorflow", "--gpu", "RTX 5090", "--os", "windows"], "with --os wsl"),
        (["jax", "--gpu", "RTX 4090", "--os", "windows"], "with --os wsl"),
        (["torch", "--gpu", "RTX 4090", "--distribution", "ubuntu-99.04"], "ubuntu 99.04 on x86_64 is unknown"),
        (["torch", "--gpu", "RTX 4090", "--distribution", "ubuntu"], "give the release"),
        (["jax[cuda11]", "--gpu", "RTX 4090", "--os", "linux"], "the extra cuda11 of"),
        (["torch[foo]", "--gpu", "RTX 4090", "--os", "linux"], "is unknown; known:"),
        (
            ["torch", "--gpu", "Jetson AGX Orin", "--distribution", "ubuntu-22.04"],
            "on Jetson boards JetPack contains driver, CUDA and cuDNN: use gpudoctor install",
        ),
        (["torch", "--gpu", "RTX 4090", "--os", "linux", "--python", "/a\nb"], "cannot be printed"),
        (
            ["mxnet-cu90==1.1.0", "--gpu", "A100", "--distribution", "ubuntu-18.04"],
            "is known to work on sm_80: has PTX for sm_80, but CUDA 9.0",
        ),
        (
            ["tensorflow==1.4", "--gpu", "A100", "--distribution", "ubuntu-18.04"],
            "CUDA 8.0, whose libraries it calls, does not support sm_80",
        ),
        (["torch", "--distribution", "ubuntu-24.04"], "the GPU on another machine is unknown"),
        (["torch==9.9", "--gpu", "RTX 4090", "--distribution", "ubuntu-24.04"], "is unknown for it"),
        (["torch==2.9.1", "2.9.1", "--gpu", "RTX 4090", "--os", "linux"], "already contains a version: omit"),
        (["frobnicate", "--gpu", "RTX 4090", "--os", "linux"], "no product 'frobnicate'"),
        (["cudnn", "--gpu", "RTX 4090", "--os", "linux"], "no product 'cudnn'"),
        (["torch", "--gpu", "RTX 4090", "--distribution", "windows-11"], "no distribution"),
        (
            ["torch", "--gpu", "RTX 4090", "--os", "windows", "--arch", "sbsa"],
            "for Windows, gpudoctor knows only x86_64, not",
        ),
        (["torch", "--gpu", "RTX 5090", "--gpu", "GTX 1080", "--os", "linux"], "is known to work on sm_120 and sm_61"),
        (["torch", "--gpu", "RTX 4090", "--os", "windows", "--script", "bash"], "needs a powershell script"),
    ],
)
def test_what_no_rows_make_is_one_line_and_2(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["install", "stack", *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err
    assert shown.err.count("\n") == 1
    assert "--any" not in shown.err


# --- this machine -----------------------------------------------------------------------------------------------------


def planned(facts: Facts, framework_name: str = "torch", *gpus: str) -> tuple[Plan, Prepared]:
    target = target_of(facts, InstallPackage("", interpreter=environment().interpreter))
    stack = stack_plan(StackOrder(framework_name, gpus=gpus), target, facts, MATRIX)
    return stack.plan, Prepared(stack.plan, stack.target, facts)


def already(plan: Plan) -> list[str]:
    return [step.what for step in plan.steps if isinstance(step, Already)]


def test_on_a_machine_that_has_it_all_nothing_is_done() -> None:
    plan, _ = planned(machine())
    assert not any(isinstance(step, (Command, Pause, Unless)) for step in plan.steps)
    assert [one.partition(" ")[0] for one in already(plan)] == ["the", "the", "torch"]
    assert any(isinstance(step, Check) and step.finds and as_json(step.finds).product == "torch" for step in plan.steps)


def test_a_driver_that_is_too_old_is_replaced_and_the_rest_waits() -> None:
    facts = machine(driver=driver("390.157", "9.1"))
    plan, _ = planned(facts)
    assert already(plan)[0].startswith("the environment")
    first = up_to_a_pause(plan)
    assert any(isinstance(step, Pause) for step in first.steps)
    assert not any("pip" in line for line in argvs(first))
    check = first.steps[-1]
    assert isinstance(check, Check)
    assert check.finds is not None
    assert as_json(check.finds).product == "driver"


def test_the_driver_that_runs_decides_before_a_newer_one_is_asked_for() -> None:
    """Something of what was asked for works on it: an older torch, and no new driver."""
    bare = environment(frameworks=seen(()), distributions=seen(()))
    plan, _ = planned(machine(driver=driver("535.104.05", "12.2"), environments=seen((bare,))))
    assert already(plan)[0] == "the NVIDIA driver 535.104.05"
    row = row_of(plan, Case("torch", "RTX 4090", "ubuntu-24.04"))
    assert oldest_cuda(row, MATRIX).major <= 12


def test_an_environment_of_the_systems_is_left_alone() -> None:
    own = environment(frameworks=seen(()), distributions=seen(()), kind="system", interpreter="/usr/bin/python3")
    facts = machine(environments=seen((own,)))
    target = target_of(facts, InstallPackage("", interpreter="/usr/bin/python3"))
    stack = stack_plan(StackOrder("torch"), target, facts, MATRIX)
    assert stack.target.python == ".venv/bin/python"
    assert any(".venv/bin/python -m pip install torch" in line for line in argvs(stack.plan))


def test_a_card_that_only_pci_shows_will_do() -> None:
    facts = machine(gpus=unseen("no driver"), driver=NO_DRIVER)
    with pytest.raises(Exception, match="the GPU on this machine"):
        planned(facts._replace(pci=seen(())))
    plan, _ = planned(facts)
    assert any(isinstance(step, Pause) for step in plan.steps)


def test_a_toolkit_and_a_cudnn_that_are_there_are_taken() -> None:
    from tests.machine import cudnn_copy, toolkit

    bare = environment(frameworks=seen(()), distributions=seen(()), python=seen("3.6.9"))
    home = "/usr/local/cuda-10.0"
    there = toolkit("10.0.130", path=home, cuda=seen(CudaVersion.parse("10.0")))
    facts = machine(
        gpus=seen((gpu("NVIDIA GeForce GTX 1080", "6.1"),)),
        toolkit=toolkits(there),
        cudnn=seen((cudnn_copy("7.6.5", f"{home}/lib64"),)),
        environments=seen((bare,)),
        system=system(),
    )
    plan, _ = planned(facts, "tensorflow==1.15")
    assert f"CUDA 10.0 in {home}" in already(plan)
    assert f"cuDNN 7.6.5 in {home}" in already(plan)
    assert not any(isinstance(step, Download) for step in plan.steps)


def test_apply_stops_at_the_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUDOCTOR_STATE", str(tmp_path))
    facts = machine(driver=NO_DRIVER)
    _, prepared = planned(facts)
    prepared = prepared._replace(target=prepared.target._replace(is_root=True))
    ran: list[str] = []
    text, status = apply_plan(
        prepared, ExecutionOptions(run=lambda one, _: ran.append(" ".join(one.argv))), "json", TextStyle()
    )
    told = json.loads(text)
    assert status == 4
    assert told["waits"].startswith("reboot")
    assert ran
    assert not any("pip" in one or "venv" in one for one in ran)
    assert any("reboot" in one for one in told["left"])


def test_another_machines_plan_is_not_applied(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["install", "stack", "torch", "--gpu", "RTX 4090", "--distribution", "rocky-9", "--apply"]
    assert execute(words) == 2
    assert "--apply changes this machine: omit --os, --arch and --distribution" in capsys.readouterr().err


def test_in_wsl_the_driver_comes_from_windows() -> None:
    facts = machine(system=system(wsl=seen(2)), driver=NO_DRIVER)
    plan, prepared = planned(facts, "torch", "RTX 4090")
    first = up_to_a_pause(plan)
    assert any(isinstance(step, ByHand) and "on Windows, install" in step.text for step in first.steps)
    assert "restart Windows" in next(kind_of(step).title(step) for step in first.steps if isinstance(step, Pause))
    with pytest.raises(BadOrder, match="gpudoctor cannot run these steps from here:"):
        apply_plan(prepared, ExecutionOptions(), "text", TextStyle())


def test_a_script_of_a_user_asks_for_root_step_by_step() -> None:
    """Red on the old code: it ran as root as a whole, and .venv and torch were root's."""
    prepared = prepare(ordered(Case("torch", "RTX 4090", "ubuntu-24.04")), MATRIX)
    lines = script_bash.script(prepared.plan, prepared.target).splitlines()
    assert "as_root apt-get update" in lines
    assert "as_user python3.12 -m venv .venv" in lines
    assert any(line.startswith("as_user .venv/bin/python -m pip install torch==") for line in lines)
    [proof] = [line for line in lines if "torch.cuda.is_available()" in line]
    assert proof.startswith("as_user .venv/bin/python -c ")
    assert lines.index("exit 4") < lines.index("as_user python3.12 -m venv .venv")
    assert not any(line.startswith('[ "$(id -u)" -eq 0 ] || stop') for line in lines)
    assert "bench lenet" not in "\n".join(lines)


@pytest.mark.parametrize(("card", "pinned"), [("RTX 4090", False), ("GTX 1080", True)])
def test_only_a_card_that_was_dropped_pins_the_driver(
    card: str, pinned: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """That newer drivers may not support the GPU is true of a GTX 1080 only."""
    assert execute(["install", "stack", "torch", "--gpu", card, "--distribution", "fedora-43"]) == 0
    assert ("versionlock" in capsys.readouterr().out) is pinned


def test_venv_is_installed_inside_wsl(capsys: pytest.CaptureFixture[str]) -> None:
    """WSL's Ubuntu of whichever release keeps venv in a package apart."""
    assert execute(["install", "stack", "torch", "--gpu", "RTX 4090", "--os", "wsl"]) == 0
    text = capsys.readouterr().out
    assert 0 < text.find("apt-get install -y python3-venv") < text.find("python3 -m venv .uv")
