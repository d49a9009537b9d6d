"""What a person who pastes a text, or keeps a policy, is told first: one answer, and commands that then work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from doctor.cli import execute
from tests.lab.case import run_here
from tests.lab.cases import CASES
from tests.machine import environment as python_with
from tests.machine import framework, machine, seen
from tests.rules.case import answer

COLLECTED = """\
Collecting environment information...
PyTorch version: {torch}
CUDA used to build PyTorch: {cuda}
OS: Ubuntu 24.04.1 LTS (x86_64)
Libc version: glibc-2.39
Python version: {python} (main, Nov  6 2024, 18:32:19) [GCC 13.2.0] (64-bit runtime)
Is CUDA available: True
GPU models and configuration: GPU 0: NVIDIA {gpu}
Nvidia driver version: 570.86.16
Versions of relevant libraries:
[pip3] torch=={release}
"""


RTX_5090 = {"torch": "2.6.0+cu124", "cuda": "12.4", "python": "3.12.3", "gpu": "GeForce RTX 5090"}
H100 = {"torch": "1.13.1+cu117", "cuda": "11.7", "python": "3.10.12", "gpu": "H100 80GB HBM3"}


@pytest.mark.parametrize(("said", "wanted"), [(RTX_5090, "torch==2.7.0"), (H100, "torch==2.0.0")])
def test_a_pasted_text_gets_one_command_and_no_contradiction(
    said: dict[str, str], wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The headline named a release that has code for the card, and the remedy called it none."""
    text = COLLECTED.format(**said, release=said["torch"].partition("+")[0])
    (tmp_path / "collected.txt").write_text(text)
    assert execute(["check", "--from", str(tmp_path / "collected.txt")]) == 1
    shown = capsys.readouterr().out
    assert f"pip install {wanted} --index-url" in shown
    assert "No remedy is known" not in shown


def environment_in(folder: Path, **releases: str) -> Path:
    """A virtual environment with these distributions."""
    site = folder / "lib/python3.12/site-packages"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/python").symlink_to("/usr/bin/env")
    (folder / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.4\n")
    for name, release in releases.items():
        info = site / f"{name}-{release}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {release}\n")
    return folder


def test_a_policy_asks_for_no_older_numpy_than_the_newest_release_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`numba>=0.60` brings a release for the NumPy that is there: 0.60 itself, for which numpy<2.1, need not come."""
    (tmp_path / "gpudoctor.toml").write_text('[require.frameworks]\nnumba = ">=0.60"\n')
    there = environment_in(tmp_path / "e", numpy="2.4.6", pip="24.0")
    policy = str(tmp_path / "gpudoctor.toml")
    execute(["check", "--python", str(there), "--policy", policy, "--only", "policy-not-met"])
    shown = capsys.readouterr().out
    assert "pip install 'numba>=0.60'" in shown
    assert "numpy<" not in shown


BROKEN = next(one for one in CASES if one.first == "needed-library-missing")


def test_a_library_that_an_import_lacks_is_finding_number_1(tmp_path: Path) -> None:
    """A warning about triton stood first, and what keeps torch from being imported was explained by it."""
    findings = run_here(BROKEN, tmp_path).report["findings"]
    assert (findings[0]["code"], findings[0]["severity"]) == ("needed-library-missing", "error")
    assert findings[0]["explained_by"] == ""


@pytest.mark.parametrize("options", ["", "--skip no-nvidia-gpu", "--only needed-library-missing", "--skip {first}"])
def test_counts_and_status_agree(options: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = BROKEN.build(tmp_path / "tree")
    words = options.format(first=BROKEN.first).split()
    status = execute(["check", "--root", str(root), *words])
    errors = re.search(r"^(\d+) errors?", capsys.readouterr().out, re.MULTILINE)
    assert errors is not None
    assert status == (1 if int(errors[1]) else status)
    assert status != 1 or int(errors[1]) > 0


def test_explain_suggests_a_check_that_shows_the_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`check --only CODE` prints nothing where another rule reports the finding."""
    (tmp_path / "log").write_text(
        "OSError: libcudart.so.12: cannot open shared object file: No such file or directory\n"
    )
    execute(["explain", str(tmp_path / "log")])
    shown = capsys.readouterr().out
    assert "gpudoctor check" in shown
    assert "--only" not in shown


def test_what_is_true_of_the_files_is_true_without_a_card() -> None:
    """ONNX Runtime's missing libraries were "not applicable: no NVIDIA GPU", those of torch were not."""
    ort = framework("onnxruntime-gpu", "1.22.0")
    bare = machine(pci=seen(()), gpus=seen(()), environments=seen((python_with(ort),)), cudnn=seen(()))
    for code in ("cudart-soname-missing", "needed-library-missing", "numpy-abi-mismatch"):
        assert "NVIDIA GPU" not in answer(code, bare).why


def test_a_laptop_is_asked_about_the_machine_with_the_card(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """ "Will this environment work on the 4090?" was refused: this machine has a driver to ask, and it had none."""
    there = environment_in(tmp_path / "e", numpy="2.4.6")
    where = ["--assume-gpu", "RTX 4090", "--assume-driver", "580"]
    assert execute(["check", "--python", str(there), *where]) in {0, 4}
    shown = capsys.readouterr().out
    assert "NVIDIA GeForce RTX 4090" in shown
    assert "no NVIDIA GPU" not in shown
