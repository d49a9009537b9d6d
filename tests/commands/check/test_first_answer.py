"""What a person who pastes a text, or keeps a policy, is told first: one answer, and commands that then work."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.cli import execute

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
