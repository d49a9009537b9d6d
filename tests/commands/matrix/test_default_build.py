"""The package index serves a CPU build of torch on some platforms: each answer follows the platform's own build."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compat.build import default_build
from compat.matrix import Matrix
from compat.need import ChangePackages, InstallPackage, Need
from doctor.cli import execute
from installers.choose import plan_for
from installers.steps.command import Command
from tests.installers import target as machines
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import files, package, venv
from tests.lab.pe_file import pe_bytes

MATRIX = Matrix()
CODE = "cpu-only-wheel"
DRIVER = ("--assume-driver", "580.95.05")
ARM, WINDOWS, INTEL = "linux-sbsa", "windows-x86_64", "linux-x86_64"
CARDS = {ARM: "GH200", WINDOWS: "RTX 4090", INTEL: "RTX 4090"}
SERVED = f"--index-url {MATRIX.wheel_index('torch', 'cu128').url.rpartition('/')[0]}"
INDEX = SERVED.split()[1]


@pytest.fixture(params=[ARM, WINDOWS, INTEL])
def platform(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def root(folder: Path, platform: str) -> str:
    """A disk of this platform, with a Python environment that is empty."""
    os_family, arch = platform.split("-")
    if os_family == "windows":
        tree: dict[str, str | bytes] = {
            "/Windows/System32/ntdll.dll": pe_bytes("ntdll.dll"),
            "/Windows/System32/kernel32.dll": pe_bytes("kernel32.dll"),
            "/venv/pyvenv.cfg": "home = C:\\Python312\nversion = 3.12.4\n",
            "/venv/Scripts/python.exe": pe_bytes("python.exe"),
            "/venv/Lib/site-packages/": "",
        }
        files(tree)(folder)
        return str(folder)
    machine = "aarch64" if arch == "sbsa" else "x86_64"
    files({"/etc/os-release": "ID=ubuntu\nVERSION_ID=24.04\n", "/bin/sh": elf_bytes(machine=machine)})(folder)
    venv("/venv")(folder)
    return str(folder)


def checked(folder: Path, platform: str, *more: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    """The exit status and the document of `check` on that disk, with the GPU of this kind of machine."""
    prefix = "C:/venv" if platform == WINDOWS else "/venv"
    given = ["--assume-gpu", CARDS[platform], *DRIVER, "--python", prefix, "--format", "json", "--policy", ""]
    status = execute(["check", "--root", root(folder, platform), *given, *more])
    return status, json.loads(capsys.readouterr().out)


def found(document: dict[str, Any]) -> dict[str, Any] | None:
    return next((one for one in document["findings"] if one["code"] == CODE), None)


def lines_of(finding: dict[str, Any]) -> str:
    return json.dumps(finding["remedies"])


def test_a_plan_is_the_build_that_pip_installs(
    platform: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, document = checked(tmp_path, platform, "--framework", "torch==2.8.0", capsys=capsys)
    finding = found(document)
    if platform == INTEL:
        assert (status != 1, finding) == (True, None)
        return
    assert status == 1
    assert finding is not None
    assert "torch 2.8.0+cpu is a CPU build" in finding["summary"]
    assert f"torch==2.8.0 {SERVED}/cu129" in lines_of(finding)


@pytest.mark.parametrize("spec", ["torch==2.8.0+cu129", "torch==2.11.0"])
def test_a_plan_that_names_the_build_or_a_release_with_cuda(
    spec: str, platform: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, document = checked(tmp_path, platform, "--framework", spec, capsys=capsys)
    assert (found(document) is not None) is (platform == WINDOWS and spec == "torch==2.11.0")


def test_the_remedy_for_an_installed_cpu_build_names_the_index(
    platform: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = "/venv/Lib/site-packages" if platform == WINDOWS else "/venv/lib/python3.12/site-packages"
    said = "__version__ = '2.8.0+cpu'\ncuda = None\nhip = None\n"
    package("torch", "2.8.0", {"torch/__init__.py": "", "torch/version.py": said}, site=site)(tmp_path)
    status, document = checked(tmp_path, platform, capsys=capsys)
    finding = found(document)
    assert status == 1
    assert finding is not None
    assert f"torch==2.8.0 {SERVED}/cu129" in lines_of(finding)


@pytest.mark.parametrize(
    ("pins", "platform", "build"),
    [
        ("torch==2.8.0", "linux/arm64", "2.8.0+cpu"),
        ("torch==2.10.0", "linux/arm64", "2.10.0+cpu"),
        ("torch==2.11.0", "linux/arm64", "2.11.0+cu130"),
        (f"torch==2.8.0 {SERVED}/cu129", "linux/arm64", "2.8.0+cu129"),
        (f"torch==2.8.0 --extra-index-url {INDEX}/cu129", "linux/arm64", "2.8.0+cu129"),
        ("torch==2.8.0", "linux/amd64", "2.8.0+cu128"),
        (f"torch==2.8.0 {SERVED}/cpu", "linux/amd64", "2.8.0+cpu"),
    ],
)
def test_a_pin_in_a_dockerfile(
    pins: str, platform: str, build: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "Dockerfile"
    file.write_text(f"FROM python:3.12-slim\nRUN pip install --no-cache-dir {pins}\n")
    given = ["--dockerfile", str(file), "--platform", platform, "--assume-gpu", CARDS[ARM]]
    status = execute(["check", *given, "--format", "json", "--policy", ""])
    document = json.loads(capsys.readouterr().out)
    assert f"torch {build}" in json.dumps(document)
    assert (status, found(document) is not None) == ((1, True) if build.endswith("cpu") else (0, False))


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ("torch==2.8.0 --gpu GH200 --arch aarch64", 0, f"{SERVED}/cu129"),
        ("torch==2.10.0 --gpu GH200 --arch aarch64", 0, f"{SERVED}/cu126"),
        ("torch==2.8.0+cu126 --gpu sm_89 --os windows", 0, f"{SERVED}/cu126"),
        ("torch==2.14.1 --gpu sm_89 --os windows", 0, f"{SERVED}/cu130"),
        ("torch==2.11.0 --gpu GH200 --arch aarch64", 0, ""),
        ("torch==2.8.0 --gpu sm_89", 0, ""),
        ("torch==2.4.1 --gpu GH200 --arch aarch64", 1, "no CUDA wheels for ARM servers before 2.5"),
        ("tensorflow==2.18.0 --gpu GH200 --arch aarch64", 1, "hold no GPU code"),
        ("tensorflow==2.11.0 --gpu sm_89 --os windows", 1, "use WSL 2"),
        ("jax==0.7.0 --gpu sm_89 --os windows", 1, "no CUDA wheels for native Windows"),
        ("onnxruntime-gpu==1.28.0 --gpu GH200 --arch aarch64", 1, "for ARM servers from 1.29 on"),
        ("vllm==0.11.0 --gpu GH200 --arch aarch64", 0, "torch 2.8.0 of the package index is a CPU build"),
        ("xformers==0.0.35 --gpu sm_89 --os windows", 0, "of the package index is a CPU build"),
        ("vllm==0.33.0 --gpu GH200 --arch aarch64", 0, ""),
        ("xformers==0.0.35 --gpu sm_89", 0, ""),
    ],
)
def test_can_names_the_index_or_the_reason(
    asked: str, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["matrix", "can", *asked.split()]) == status
    shown = " ".join(capsys.readouterr().out.split())
    assert said in shown
    assert said or "package index has" not in shown


@pytest.mark.parametrize(
    ("asked", "command"),
    [
        ("torch==2.8.0 --gpu sm_89 --os windows", f"pip install torch==2.8.0 {SERVED}/cu129"),
        ("torch==2.8.0 --gpu GH200 --arch aarch64", f"pip install torch==2.8.0 {SERVED}/cu129"),
        ("torch==2.11.0 --gpu GH200 --arch aarch64", "pip install torch==2.11.0\n"),
        ("vllm==0.11.0 --gpu GH200 --arch aarch64", f"torch==2.8.0+cu129 --extra-index-url {INDEX}/cu129"),
    ],
)
def test_solve_prints_the_command_of_the_platform(asked: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["matrix", "solve", *asked.split()]) == 0
    assert command in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ("torch 2.8.0 --os windows", 0, f"torch==2.8.0 {SERVED}/cu129"),
        ("torch 2.8.0 --os windows --any", 0, "has no CUDA on windows"),
        ("torch 2.8.0 --os linux --arch sbsa --any", 0, "has no CUDA on linux"),
        ("torch 2.8.0 --os linux --arch sbsa --cuda-version 12.6", 2, "has no build for CUDA 12.6, only for 12.9"),
        ("torch 2.4.0 --os linux --arch sbsa --cuda-version 12.4", 2, "no CUDA wheels for ARM servers before 2.5"),
        ("torch 2.11.0 --os linux --arch sbsa", 0, "pip install torch==2.11.0\n"),
        ("xformers 0.0.35 --os windows", 0, "xformers==0.0.35 torch==2.11.0+cu128 --extra-index-url"),
        ("vllm 0.11.0 --os linux --arch sbsa", 0, "vllm==0.11.0 torch==2.8.0+cu129 --extra-index-url"),
        ("vllm 0.11.0 --os linux --arch x86_64", 0, "pip install vllm==0.11.0\n"),
        ("torch 2.8.0 --os linux --arch x86_64 --any", 0, "pip install torch==2.8.0\n"),
    ],
)
def test_an_installation_for_another_machine(
    asked: str, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["install", "package", *asked.split()]) == status
    shown = capsys.readouterr()
    assert said in shown.out + shown.err


@pytest.mark.parametrize(
    ("os_family", "arch", "need", "expected"),
    [
        ("windows", "x86_64", InstallPackage("torch", "==2.7.1", "py"), f"torch==2.7.1 {SERVED}/cu128"),
        ("windows", "x86_64", InstallPackage("torch", "==2.6.0", "py"), f"torch==2.6.0 {SERVED}/cu126"),
        (
            "windows",
            "x86_64",
            ChangePackages(("torch==2.6.0", "wheel"), "py"),
            "torch==2.6.0+cu126 wheel --extra-index-url",
        ),
        ("linux", "sbsa", InstallPackage("torch", "==2.10.0", "py"), f"torch==2.10.0 {SERVED}/cu128"),
        ("linux", "sbsa", InstallPackage("torch", "==2.12.0", "py"), "torch==2.12.0"),
        ("linux", "x86_64", InstallPackage("torch", "==2.7.1", "py"), "torch==2.7.1"),
    ],
)
def test_another_release_keeps_cuda(os_family: str, arch: str, need: Need, expected: str) -> None:
    target = machines.UBUNTU._replace(os_family=os_family, arch=arch, python="py", tool="pip")
    target = target._replace(installed=frozenset({"torch"}), releases=(("torch", "2.8.0+cu128"),))
    last = [" ".join(one.argv) for one in plan_for(need, target, MATRIX).steps if isinstance(one, Command)][-1]
    assert f"{last} ".partition("install ")[2].startswith(f"{expected} ")


@pytest.mark.parametrize(
    ("release", "platform", "build"),
    [
        ("1.10.0", ("linux", "sbsa"), "cpu"),
        ("2.10.0", ("linux", "sbsa"), "cpu"),
        ("2.11.0", ("linux", "sbsa"), "cu130"),
        ("2.15.0", ("linux", "sbsa"), "cu132"),
        ("1.7.0", ("windows", "x86_64"), "cpu"),
        ("2.15.0", ("windows", "x86_64"), "cpu"),
        ("2.8.0", ("macos", "sbsa"), "cpu"),
        ("2.8.0", ("linux", "x86_64"), "cu128"),
        ("0.4.1", ("linux", "x86_64"), None),  # the package index begins with 1.0.0
        ("1.9.1", ("linux", "sbsa"), None),  # no wheel for ARM
    ],
)
def test_the_build_of_the_package_index(release: str, platform: tuple[str, str], build: str | None) -> None:
    row = default_build("torch", release, *platform, MATRIX)
    assert (row and row.build) == build


@pytest.mark.parametrize(
    ("ask", "line"),
    [
        ("keras==3.4.1", "-m pip install keras==3.4.1\n"),  # rows of ranges: the release that was asked for
        ("keras<3.5", "-m pip install 'keras>=3,<4,<3.5'\n"),
        ("opencv-python", "OpenCV with CUDA is built from source"),
        ("detectron2", "pip install git+https://github.com/facebookresearch/detectron2.git"),
        ("flash-attn==2.8.3", "pip install 'flash-attn==2.8.3' --no-build-isolation"),
        ("caffe", "Caffe is built from source"),
        ("cntk", "the package cntk-gpu"),
    ],
)
def test_the_command_installs_what_was_asked_for(ask: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The package index has no opencv, caffe2 and detectron2; its caffe is another project, its flash-attn source."""
    assert execute(["matrix", "can", ask, "--os", "linux"]) == 0
    shown = capsys.readouterr().out
    assert line in shown or line.strip() in " ".join(shown.split())
    assert ("-m pip install" in shown) is ask.startswith("keras")


@pytest.mark.parametrize(
    ("ask", "line"),
    [
        ("tensorflow-gpu==2.4", "tensorflow-gpu==2.4 'protobuf<4'"),
        ("paddlepaddle-gpu==2.6.2 --python 3.12", "paddlepaddle-gpu==2.6.2 setuptools"),
        ("torch==1.13.1", "torch==1.13.1 'numpy<2'"),
        ("jax==0.4.30 --gpu sm_61", "'jax[cuda12]==0.4.30' nvidia-cudnn-cu12==9.10.2.21"),
        ("torch==2.9.1 --gpu sm_80", "torch==2.9.1"),
    ],
)
def test_the_command_keeps_pip_from_what_does_not_work(ask: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`solve` adds the same requirements."""
    assert execute(["matrix", "can", *ask.split(), "--os", "linux"]) == 0
    assert f"python3 -m pip install {line}\n" in capsys.readouterr().out
