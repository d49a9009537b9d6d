"""What stands in the way of a remedy's commands is said before them, and nothing where nothing does."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.matrix import Matrix
from compat.need import InstallCudnn, InstallDriver, InstallPackage, InstallSystemPackage, Need
from doctor.host.root import RootHost
from doctor.prescribe.candidates import candidate
from doctor.prescribe.remedy_verifier import RemedyVerifier
from installers.plan import Plan
from installers.steps.by_hand import ByHand
from installers.steps.command import Command
from tests.machine import VENV, environment, framework, machine, seen, system

MATRIX = Matrix()
PYTHON = f"{VENV}/bin/python"
CUDNN_9, DRIVER = InstallCudnn(">=9.8,<10", cuda="12"), InstallDriver(">=580")


def said(
    root: Path,
    need: Need,
    environ: dict[str, str] | None = None,
    kind: str = "venv",
    *,
    tool: str = "pip",
    distribution: tuple[str, str] = ("ubuntu", "24.04"),
) -> str:
    """The words before the first command."""
    around = system(distribution_id=seen(distribution[0]), distribution_version=seen(distribution[1]))
    facts = machine(
        environments=seen((environment(framework(), kind=kind, installers=(tool,)),)),
        system=around,
    )
    court = RemedyVerifier(facts, (), MATRIX, {}, RootHost(str(root), {"HOME": "/root", **(environ or {})}))
    plan = candidate(need, facts, MATRIX).plan
    found = court.with_obstacles(plan)
    assert found.steps[len(found.steps) - len(plan.steps) :] == plan.steps
    first = found.steps[: len(found.steps) - len(plan.steps)]
    return "\n".join(step.text for step in first if isinstance(step, ByHand))


@pytest.mark.parametrize(
    ("held", "need", "expected"),
    [
        ("libcudnn9-cuda-12", InstallCudnn(">=9.8,<10", cuda="12"), "sudo apt-mark unhold libcudnn9-cuda-12"),
        # it must be of the very release of the one that is changed
        ("libcudnn9-dev-cuda-12", InstallCudnn(">=9.8,<10", cuda="12"), "unhold libcudnn9-dev-cuda-12"),
        ("nvidia-dkms-550", InstallDriver(">=580"), "unhold nvidia-dkms-550"),
        ("libnvidia-compute-550", InstallDriver(">=580"), "unhold libnvidia-compute-550"),
        ("g++-12", InstallSystemPackage("g++-12"), "unhold g++-12"),
        # held for other reasons, and not touched
        ("nvidia-container-toolkit", InstallDriver(">=580"), ""),
        ("libnvidia-container1", InstallDriver(">=580"), ""),
        ("firefox", InstallDriver(">=580"), ""),
        ("nvidia-driver-550", InstallCudnn(">=9.8,<10", cuda="12"), ""),
        ("libcudnn9-cuda-12", InstallPackage("nvidia-cudnn-cu12", "==9.10.2.21", PYTHON), ""),
    ],
)
def test_held_packages(tmp_path: Path, held: str, need: Need, expected: str) -> None:
    folder = tmp_path / "var/lib/dpkg"
    folder.mkdir(parents=True)
    text = "Package: bash\nStatus: install ok installed\nVersion: 5\n\n"
    (folder / "status").write_text(f"{text}Package: {held}\nStatus: hold ok installed\nVersion: 1\n\n")
    found = said(tmp_path, need)
    assert expected in found
    assert bool(found) is bool(expected)


LOCKED, LOCKED_5 = "etc/dnf/plugins/versionlock.list", "etc/dnf/versionlock.toml"
RHEL = ("rhel", "9.6")
SUSE = ("opensuse-leap", "15.6")


@pytest.mark.parametrize(
    ("distribution", "file", "need", "expected"),
    [
        (
            RHEL,
            (LOCKED, "# x\nlibcudnn9-cuda-12-0:9.5.1-1.*\n"),
            CUDNN_9,
            "versionlock delete",
        ),
        (RHEL, (LOCKED, "nvidia-driver-3:550.90-1.el9.*\n"), DRIVER, "delete nvidia-driver"),
        (RHEL, (LOCKED, "!nvidia-driver-3:550.90-1.el9.*\nbash-0:5-1.*\n"), DRIVER, ""),
        (
            RHEL,
            (LOCKED_5, '[[packages]]\nname = "kmod-nvidia-open-dkms"\n'),
            DRIVER,
            "kmod-nvidia-open",
        ),
        (SUSE, ("etc/zypp/locks", "type: package\nsolvable_name: nvidia-driver-G06*\n"), DRIVER, "removelock"),
        (SUSE, ("etc/zypp/locks", "type: package\nsolvable_name: firefox\n"), DRIVER, ""),
        (SUSE, (LOCKED_5, '[[packages]]\nname = "kmod-nvidia"\n'), DRIVER, ""),  # of another manager
    ],
)
def test_locked_packages(
    tmp_path: Path, distribution: tuple[str, str], file: tuple[str, str], need: Need, expected: str
) -> None:
    place = tmp_path / file[0]
    place.parent.mkdir(parents=True)
    place.write_text(file[1])
    found = said(tmp_path, need, distribution=distribution)
    assert expected in found
    assert bool(found) is bool(expected)


CUDNN = InstallPackage("nvidia-cudnn-cu12", "==9.10.2.21", PYTHON)


@pytest.mark.parametrize(
    ("constraint", "need", "expected"),
    [
        ("nvidia-cudnn-cu12==9.5.1.17", CUDNN, "pip refuses nvidia-cudnn-cu12==9.10.2.21: /c.txt, line 1"),
        ("NVIDIA_cudnn.cu12<9.10", CUDNN, "says NVIDIA_cudnn.cu12<9.10"),
        ("nvidia-cudnn-cu12>=9", CUDNN, ""),
        ("nvidia-cudnn-cu12<9 ; python_version < '3.8'", CUDNN, ""),  # of another Python
        ("nvidia-cudnn-cu12<9 ; extra == 'gpu'", CUDNN, ""),  # of nobody's
        ("nvidia-cudnn-cu12", CUDNN, ""),
        ("not a requirement", CUDNN, ""),
        ("torch==1.0", CUDNN, ""),
        ("nvidia-cudnn-cu12==9.5.1.17", CUDNN._replace(versions=">=9.3,<10"), ""),  # the constraint chooses within it
        ("nvidia-cudnn-cu12==8.9.2.26", CUDNN._replace(versions=">=9.3,<10"), "pip refuses nvidia-cudnn-cu12>=9.3,<10"),
        ("torch==2.8.0", InstallPackage("torch", "==2.9.1", PYTHON, "cu126"), "pip refuses torch"),
        ("torch==2.9.1", InstallPackage("torch", "==2.9.1", PYTHON, "cu126"), ""),
        # what comes along is held to it as well, unless nothing comes along
        (
            "nvidia-cudnn-cu12==9.5.1.17",
            InstallPackage("torch", "==2.9.1", PYTHON, "cu126"),
            "refuses nvidia-cudnn-cu12",
        ),
        ("nvidia-cudnn-cu12==9.5.1.17", InstallPackage("torch", "==2.9.1", PYTHON, reinstall=True), ""),
    ],
)
def test_constraints(tmp_path: Path, constraint: str, need: Need, expected: str) -> None:
    (tmp_path / "c.txt").write_text(f"{constraint}\n")
    found = said(tmp_path, need, {"PIP_CONSTRAINT": "/c.txt"})
    assert expected in found
    assert bool(found) is bool(expected)
    assert said(tmp_path, need, {"PIP_CONSTRAINT": "/c.txt"}, tool="uv") == ""  # uv reads none of pip's
    assert bool(said(tmp_path, need, {"UV_CONSTRAINT": "/c.txt"}, tool="uv")) is bool(expected)


@pytest.mark.parametrize(
    ("environ", "kind", "expected"),
    [
        ({}, "system", ""),
        ({"PIP_NO_INDEX": "1"}, "venv", "uses no package index here (PIP_NO_INDEX), only the find-links directories"),
        ({"PIP_REQUIRE_VIRTUALENV": "true"}, "venv", ""),
        ({"PIP_REQUIRE_VIRTUALENV": "true"}, "conda", "export PIP_REQUIRE_VIRTUALENV=0"),
        ({"PIP_REQUIRE_VIRTUALENV": "0"}, "system", ""),
    ],
)
def test_what_pip_was_told(tmp_path: Path, environ: dict[str, str], kind: str, expected: str) -> None:
    found = said(tmp_path, CUDNN, environ, kind)
    assert expected in found
    assert bool(found) is bool(expected)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("etc/uv/uv.toml", 'constraint-dependencies = ["nvidia-cudnn-cu12<9"]', "uv.toml, constraint-dependencies"),
        ("root/.config/uv/uv.toml", 'constraint-dependencies = ["nvidia-cudnn-cu12<9"]', "refuses nvidia-cudnn"),
        ("etc/uv/uv.toml", 'constraint-dependencies = ["nvidia-cudnn-cu12>=9", 1]', ""),
        ("etc/uv/uv.toml", 'constraint-dependencies = "nvidia-cudnn-cu12<9"', ""),
        ("etc/uv/uv.toml", "not TOML", ""),
    ],
)
def test_uv_files(tmp_path: Path, path: str, text: str, expected: str) -> None:
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(text)
    found = said(tmp_path, CUDNN, tool="uv")
    assert expected in found
    assert bool(found) is bool(expected)
    assert said(tmp_path, CUDNN) == ""  # pip reads none of uv's


def test_constraints_at_an_address_are_said_to_be_unknown(tmp_path: Path) -> None:
    found = said(tmp_path, CUDNN, {"PIP_CONSTRAINT": "https://example.org/c.txt"})
    assert "https://example.org/c.txt (PIP_CONSTRAINT) holds constraints that gpudoctor does not fetch" in found


def test_conda_pins(tmp_path: Path) -> None:
    (tmp_path / VENV.lstrip("/") / "conda-meta").mkdir(parents=True)
    pinned = tmp_path / VENV.lstrip("/") / "conda-meta/pinned"
    host = RootHost(str(tmp_path), {})
    plan = Plan("", (Command(("conda", "install", "-y", "-p", VENV, "conda-forge::cudnn>=9"), ""),), ())
    court = RemedyVerifier(machine(), (), MATRIX, {}, host)
    assert court.with_obstacles(plan) == plan
    pinned.write_text("# mine\ncudnn 8.9.*\nnumpy 1.*\n")
    first = RemedyVerifier(machine(), (), MATRIX, {}, host).with_obstacles(plan).steps[0]
    assert isinstance(first, ByHand)
    assert first.text.startswith(f"{VENV}/conda-meta/pinned pins cudnn for conda")
