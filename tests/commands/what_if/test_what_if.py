"""Install commands on planted environments: what breaks is foretold, and what is harmless is silent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from doctor.cli import execute
from doctor.commands.what_if.request import command_of
from doctor.host import BadRequest
from tests.lab.cases.frameworks import FAKE_ONNX, TF
from tests.lab.cases.libraries import JAX
from tests.lab.parts import (
    VENV,
    Part,
    cuda_wheels,
    cudnn_wheel,
    offline_linux,
    package,
    together,
    torch,
    venv,
)

WHL = "https://download.pytorch.org/whl"
# Their requirements are those of the real releases' METADATA.
SERVER = (
    torch("2.6.0+cu124", "9.1.0.70"),
    cudnn_wheel("9.1.0.70"),
    cuda_wheels("12.4"),
    package("vllm", "0.8.5", {"vllm/__init__.py": ""}, requires=("torch==2.6.0", "numba==0.61.2")),
    package("torchvision", "0.21.0", {"torchvision/__init__.py": ""}, requires=("torch==2.6.0", "numpy")),
    package("torchaudio", "2.6.0", {"torchaudio/__init__.py": ""}, requires=("torch==2.6.0",)),
    package("numpy", "1.26.4", {"numpy/__init__.py": ""}),
    package("numba", "0.60.0", {"numba/__init__.py": ""}, requires=("numpy<2.1,>=1.22",)),
)
OLD_TORCH = (torch("2.2.0+cu121", "8.9.2.26"), cudnn_wheel("8.9.2.26"), cuda_wheels("12.1"), package("numpy", "1.26.4"))
NEW_TORCH = (torch("2.11.0+cu130", "9.19.0.56"), cudnn_wheel("9.19.0.56", 13))
TENSORFLOW = (
    package("tensorflow", "2.18.0", TF,
            requires=("numpy<2.1.0,>=1.26.0", "nvidia-cudnn-cu12==9.3.0.75; extra == 'and-cuda'")),
    cudnn_wheel("9.3.0.75"),
    cuda_wheels("12.5"),
    package("numpy", "1.26.4"),
)  # fmt: skip
ONNX = (package("onnxruntime-gpu", "1.20.1", FAKE_ONNX), package("cupy-cuda12x", "13.4.1", {"cupy/__init__.py": ""}),
        cudnn_wheel("9.3.0.75"), cuda_wheels("12.5"))  # fmt: skip
BASES: dict[str, tuple[Part, ...]] = {
    "server": SERVER,
    "old torch": OLD_TORCH,
    "new torch": NEW_TORCH,
    "tensorflow": TENSORFLOW,
    "jax": (JAX,),
    "onnx": ONNX,
    "empty": (),
}
ADA, BLACKWELL, PASCAL = ("RTX 4090", "550.54.14"), ("RTX 5090", "580.65.06"), ("GTX 1080", "580.65.06")
# environment, GPU and driver, command, a code (or a word of a requirement) that is named
BREAKS = [
    ("server", ADA, "pip install -U torch", "driver-too-old-for-runtime"),
    ("server", ADA, "uv pip install --upgrade torch", "companion-version-mismatch"),
    ("server", ADA, "pip install torch==2.9.1", "companion-version-mismatch"),
    ("server", ADA, "pip install torch==2.5.1", "companion-version-mismatch"),
    ("server", ADA, "pip install torchvision==0.24.1", "companion-version-mismatch"),
    ("server", ADA, "pip install torchaudio==2.9.1", "companion-version-mismatch"),
    ("server", ADA, "pip install xformers==0.0.33", "companion-version-mismatch"),
    ("server", ADA, "pip install torchtext==0.18.0", "companion-version-mismatch"),
    ("server", ADA, "pip install -U vllm", "driver-too-old-for-runtime"),
    ("server", ADA, "pip install numpy==2.1.0", "numpy-abi-mismatch"),
    ("server", ADA, "pip install nvidia-cudnn-cu12==8.9.7.29", "pip-nvidia-wheels-conflict"),
    ("server", ADA, "pip install onnxruntime-gpu==1.31.1", "driver-too-old-for-runtime"),
    ("server", ADA, "pip install 'jax[cuda13]'", "driver-too-old-for-runtime"),
    ("server", ADA, "pip install 'jax[cuda12]==0.6.0'", "torch 2.6.0+cu124 requires nvidia-cudnn-cu12==9.1.0.70"),
    ("server", ADA, f"pip install --force-reinstall torch==2.6.0 --index-url {WHL}/cpu", "cpu-only-wheel"),
    ("server", ADA, "pip uninstall -y torch", "requires torch"),
    ("server", ADA, "pip install --pre torch==2.7.1", "companion-version-mismatch"),
    ("old torch", ADA, "pip install numpy==2.0.2", "numpy-abi-mismatch"),
    ("old torch", ADA, "pip install 'bitsandbytes==0.50.2'", "driver-too-old-for-runtime"),
    ("new torch", ("RTX 4090", "580.65.06"), "apt-get install -y nvidia-driver-570", "driver-too-old-for-runtime"),
    ("tensorflow", ADA, "pip install nvidia-cudnn-cu12==8.9.7.29", "cudnn"),
    ("jax", ADA, "pip install jax-cuda12-plugin==0.5.0", "jax-plugin-version-mismatch"),
    ("jax", ADA, "pip install jaxlib==0.4.30", "jax-plugin-version-mismatch"),
    ("onnx", ADA, "pip install onnxruntime==1.20.1", "two-onnxruntimes"),
    ("onnx", ADA, "pip install cupy-cuda11x==13.4.1", "multiple-cupy"),
    ("empty", BLACKWELL, "pip install torch==2.5.1", "gpu-too-new-for-cuda"),
    ("empty", BLACKWELL, f"pip install torch --index-url {WHL}/cu124", "gpu-too-new-for-cuda"),
    ("empty", PASCAL, "pip install torch==2.9.1", "gpu-too-old-dropped"),
    ("empty", ADA, "pip install vllm", "driver-too-old-for-runtime"),
    ("empty", ADA, "pip install torch==1.13.1", "python-version-no-wheel"),
    ("empty", ADA, "pip install cupy-cuda13x==13.6.0", "driver-too-old-for-runtime"),
]
HARMLESS = [
    ("server", ADA, "pip install torch==2.6.0"),
    ("server", ADA, "pip install torch"),
    ("server", ADA, "pip install vllm"),
    ("server", ADA, "pip install 'torch>=2.4,<2.7'"),
    ("server", ADA, "pip install numpy==2.0.2"),
    ("server", ADA, "pip install accelerate==1.15.0"),
    ("server", ADA, "pip install peft==0.21.2"),
    ("server", ADA, "pip install timm==1.0.15"),
    ("server", ADA, "pip install bitsandbytes==0.45.5"),
    ("server", ADA, "pip install flash-attn==2.7.4.post1"),
    ("server", ADA, "pip install xformers==0.0.29.post3"),
    ("server", ADA, "pip install cupy-cuda12x==13.4.1"),
    ("server", ADA, "pip install nvidia-cudnn-cu12==9.1.0.70"),
    ("server", ADA, f"pip install --force-reinstall torch==2.6.0 torchvision==0.21.0 -i {WHL}/cu124"),
    ("server", ADA, "apt install -y nvidia-driver-580"),
    ("server", ADA, "pip install transformers==4.51.3"),
    ("server", ADA, "conda install -y xgboost=2.1.4"),
    ("old torch", ADA, "pip install peft==0.15.2"),
    ("new torch", BLACKWELL, "pip install numpy==2.2.0"),
    ("tensorflow", ADA, "pip install keras==3.6.0"),
    ("jax", ADA, "pip install flax==0.10.4"),
    ("onnx", ADA, "pip install onnxruntime-gpu==1.20.1"),
    ("empty", ADA, "pip install torch==2.9.1 torchvision==0.24.1"),
    ("empty", ADA, f"pip install torch --index-url {WHL}/cu126"),
    ("empty", BLACKWELL, f"pip install torch==2.7.1 --index-url {WHL}/cu128"),
    ("empty", PASCAL, f"pip install torch==2.7.1 --index-url {WHL}/cu126"),
    ("empty", ADA, "uv pip install vllm==0.8.5"),
]


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    made = {}
    for name, parts in BASES.items():
        folder = tmp_path_factory.mktemp(name.replace(" ", "-"))
        together(offline_linux(), venv(), *parts)(folder)
        made[name] = str(folder)
    return made


def asked(capsys: pytest.CaptureFixture[str], root: str, machine: tuple[str, str], command: str) -> dict[str, Any]:
    gpu, driver = machine
    argv = ["what-if", command, "--root", root, "--python", VENV, "--assume-gpu", gpu, "--assume-driver", driver]
    status = execute([*argv, "--json"])
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert status == {"harmless": 0, "breaks": 1, "unknown": 4}[answer["answer"]]
    return answer


@pytest.mark.parametrize("case", BREAKS, ids=lambda case: case[2])
def test_a_breakage_is_foretold(
    case: tuple[str, tuple[str, str], str, str], roots: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    base, machine, command, named = case
    answer = asked(capsys, roots[base], machine, command)
    assert answer["answer"] == "breaks"
    assert any(named in one["code"] or named in one["summary"] for one in answer["breaks"]), answer["breaks"]


@pytest.mark.parametrize(("base", "machine", "command"), HARMLESS)
def test_what_is_harmless_is_silent(
    base: str, machine: tuple[str, str], command: str, roots: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    answer = asked(capsys, roots[base], machine, command)
    assert answer["breaks"] == []
    assert answer["answer"] == "harmless", answer["unknown"]


def test_what_to_install_instead(roots: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """The command that is named breaks nothing itself."""
    for base, machine, command in (
        ("empty", ADA, "pip install vllm"),
        ("empty", BLACKWELL, "pip install torch==2.5.1"),
        ("server", ADA, "uv pip install xformers==0.0.33"),
    ):
        instead = asked(capsys, roots[base], machine, command)["instead"]
        assert instead.startswith(("pip install ", "uv pip install "))
        assert asked(capsys, roots[base], machine, instead)["answer"] == "harmless", instead


def test_what_is_not_known_is_said(roots: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    for command in (
        "pip install some-package",
        "pip install -r nowhere.txt",
        "apt install libfoo",
        "pip install ./here",
        "apt install nvidia-driver-999",
        "pip install --upgrade numpy",
        "pip install 'numpy>=2'",
    ):
        answer = asked(capsys, roots["server"], ADA, command)
        assert (answer["answer"], answer["breaks"]) == ("unknown", [])
        assert answer["unknown"]


def test_the_text_says_what_breaks_changes_and_helps(roots: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--root", roots["server"], "--python", VENV, "--assume-gpu", "RTX 4090", "--assume-driver", "550.54.14"]
    assert execute(["what-if", "pip install -U vllm", *given]) == 1
    text = capsys.readouterr().out
    assert "pip install -U vllm breaks something" in text
    assert "vllm 0.8.5 → 0.33.0" in text
    assert "torch 2.6.0+cu124 → 2.14.0+cu130 (required by vllm 0.33.0)" in text
    assert "Install this instead:\n    pip install vllm==0.8.5.post1\n" in text


@pytest.mark.parametrize(
    ("command", "tool", "specs"),
    [
        ("python3 -m pip install 'torch>=2'", "pip", ["torch>=2"]),
        ("sudo pip3 install torch==2.6.0", "pip", ["torch==2.6.0"]),
        ("mamba install -c conda-forge pytorch=2.5.1 numpy", "conda", ["pytorch==2.5.1", "numpy"]),
        ("uv add vllm", "uv", ["vllm"]),
    ],
)
def test_commands(command: str, tool: str, specs: list[str], tmp_path: Path) -> None:
    found = command_of(command, {}, str(tmp_path))
    assert (found.tool, [one.spec for one in found.lines]) == (tool, specs)


@pytest.mark.parametrize(
    "command", ["", "ls", "pip", "pip list", "pip install a && pip install b", "x" * 5_000, "pip install '"]
)
def test_other_commands_are_refused(command: str) -> None:
    with pytest.raises(BadRequest):
        command_of(command, {})


PIP = """#!/bin/sh
case "$*" in
  *nowhere*) echo "ERROR: No matching distribution found for nowhere" >&2; exit 1 ;;
  *"-m pip install --dry-run"*"--report -"*) cat "$(dirname "$0")/report" ;;
  *) echo "unexpected: $*" >&2; exit 9 ;;
esac
"""


def environment_with_pip(folder: Path, *found: tuple[str, str]) -> Path:
    """An environment whose Python answers as pip's dry run does."""
    prefix = folder / "venv"
    (prefix / "lib/python3.12/site-packages").mkdir(parents=True)
    (prefix / "bin").mkdir()
    (prefix / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.4\n")
    (prefix / "bin/python").write_text(PIP)
    (prefix / "bin/python").chmod(0o755)
    install = [{"metadata": {"name": name, "version": version}} for name, version in found]
    (prefix / "bin/report").write_text(json.dumps({"version": "1", "install": install}))
    return prefix


@pytest.mark.parametrize(
    ("command", "found", "answer"),
    [
        ("pip install vllm", (("vllm", "0.33.0"), ("torch", "2.14.0"), ("nvidia-cudnn-cu13", "9.24.0.43")), "breaks"),
        ("pip install requests", (("requests", "2.32.0"), ("idna", "3.10")), "harmless"),
        ("pip install nowhere", (), "breaks"),
    ],
)
def test_the_installer_itself_is_asked(
    command: str,
    found: tuple[tuple[str, str], ...],
    answer: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    prefix = environment_with_pip(tmp_path, *found)
    given = ["--python", str(prefix), "--assume-gpu", "RTX 4090", "--assume-driver", "550.54.14", "--online", "--json"]
    execute(["what-if", command, *given])
    told = json.loads(capsys.readouterr().out)
    assert (told["answer"], told["unknown"]) == (answer, [])
    assert [(one["name"], one["after"]) for one in told["changes"] if one["required_by"] == ""] == [*found]
    if command.endswith("nowhere"):
        assert "No matching distribution found for nowhere" in told["breaks"][0]["summary"]


def test_a_root_has_no_dry_run(roots: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["what-if", "pip install vllm", "--root", roots["empty"], "--python", VENV, "--online"]) == 2
    assert "it does not work with --root or conda" in capsys.readouterr().err


def test_a_quote_without_an_end_is_one_line() -> None:
    with pytest.raises(BadRequest, match="a quote has no end"):
        command_of("pip install 'torch", {})
