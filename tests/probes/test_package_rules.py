"""What apt, pip and uv were told, by their own files and variables."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from doctor.host.root import RootHost
from doctor.model.facts.seen import Seen, Unseen
from doctor.probes.package_rules import held, of_pip, of_uv

STATUS = "var/lib/dpkg/status"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def stanza(name: str, status: str, first: str = "") -> str:
    return f"Package: {name}\n{first}Status: {status}\nArchitecture: amd64\nVersion: 1.0-1\n\n"


def test_what_is_held_by_dpkg(tmp_path: Path) -> None:
    told = (
        stanza("libcudnn9-cuda-12", "hold ok installed"),
        stanza("base-files", "hold ok installed", "Essential: yes\n"),
        stanza("nvidia-driver-580", "hold ok not-installed"),  # apt installs that no more than it changes the others
        stanza("bash", "install ok installed"),
    )
    write(tmp_path / STATUS, "".join(told))
    found = held(RootHost(str(tmp_path)))
    assert isinstance(found, Seen)
    assert found.value == ("base-files", "libcudnn9-cuda-12", "nvidia-driver-580")


def test_without_dpkg_nothing_is_known_of_it(tmp_path: Path) -> None:
    assert isinstance(held(RootHost(str(tmp_path))), Unseen)


FILES = {
    "etc/pip.conf": "[global]\nno-index = yes\nrequire_virtualenv = true\n[install]\nconstraint = /etc/c/one.txt\n",
    "etc/c/one.txt": "# ours\ntorch==2.8.0 \\\n  --hash=sha256:00  # why\n\n-c two.txt\n--pre\n",
    "etc/c/two.txt": "numpy<2 ; python_version < '3.13'\n",
}


@pytest.mark.parametrize(
    ("environ", "constraints", "no_index", "virtualenv"),
    [
        (
            {},
            [
                ("torch==2.8.0", "/etc/c/one.txt, line 2 (/etc/pip.conf [install] constraint)"),
                ("numpy<2 ; python_version < '3.13'", "/etc/c/two.txt, line 1 (/etc/pip.conf [install] constraint)"),
            ],
            "/etc/pip.conf [global] no-index",
            "/etc/pip.conf [global] require-virtualenv",
        ),
        (
            {"PIP_CONSTRAINT": "/etc/c/two.txt", "PIP_NO_INDEX": "0", "PIP_REQUIRE_VIRTUALENV": "1"},
            [("numpy<2 ; python_version < '3.13'", "/etc/c/two.txt, line 1 (PIP_CONSTRAINT)")],
            "",
            "PIP_REQUIRE_VIRTUALENV",
        ),
        ({"PIP_CONFIG_FILE": "/dev/null"}, [], "", ""),
    ],
)
def test_what_pip_is_told(
    tmp_path: Path, environ: dict[str, str], constraints: list[tuple[str, str]], no_index: str, virtualenv: str
) -> None:
    for name, text in FILES.items():
        write(tmp_path / name, text)
    found = of_pip(RootHost(str(tmp_path), {"HOME": "/root", **environ}), "/opt/venv")
    assert [tuple(one) for one in found.constraints] == constraints
    assert (found.no_index, found.virtualenv_only) == (no_index, virtualenv)


def test_a_constraint_at_an_address_is_not_read(tmp_path: Path) -> None:
    host = RootHost(str(tmp_path), {"PIP_CONSTRAINT": "https://a.test/c.txt", "UV_CONSTRAINT": "/c.txt"})
    assert of_pip(host, "").constraints == ()
    assert of_pip(host, "").notes
    assert "UV_CONSTRAINT" in of_uv(host).notes[0]


def test_pip_refuses_as_it_is_read(tmp_path: Path) -> None:
    """pip itself, with the same files: no package index is asked, and nothing is installed."""
    (tmp_path / "c.txt").write_text("pip==1.0\n")
    base = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environ = {**base, "PIP_NO_INDEX": "1", "PIP_CONSTRAINT": str(tmp_path / "c.txt")}
    assert [one.requirement for one in of_pip(RootHost("/", environ), "").constraints] == ["pip==1.0"]
    argv = [sys.executable, "-m", "pip", "install", "--dry-run", "pip"]
    ran = subprocess.run(argv, env=environ, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "pip==1.0" in ran.stderr + ran.stdout


HELD = "libcudnn9-cuda-12"


@pytest.mark.system
@pytest.mark.skipif(shutil.which("apt-get") is None, reason="needs apt: another system")
@pytest.mark.parametrize(("status", "refused"), [("hold ok installed", True), ("install ok installed", False)])
def test_apt_refuses_what_is_held(tmp_path: Path, status: str, refused: bool) -> None:
    """apt-get itself, on a machine of its own: a newer release is there, and the installed one is held or not."""
    control = f"Package: {HELD}\nVersion: 2.0-1\nArchitecture: all\nMaintainer: a <a@b.test>\nDescription: x\n"
    write(tmp_path / "package/DEBIAN/control", control)
    (tmp_path / "repo").mkdir()
    subprocess.run(["dpkg-deb", "-b", "package", "repo/a.deb"], cwd=tmp_path, check=True, capture_output=True)
    size = (tmp_path / "repo/a.deb").stat().st_size
    write(tmp_path / "repo/Packages", f"{control}Filename: ./a.deb\nSize: {size}\n")
    write(tmp_path / "etc/sources.list", f"deb [trusted=yes] file:{tmp_path}/repo ./\n")
    write(tmp_path / STATUS, stanza(HELD, status).replace("amd64", "all"))
    for folder in ("state/lists/partial", "cache/archives/partial", "etc/apt.conf.d"):
        (tmp_path / folder).mkdir(parents=True)
    places = {"": "", "::State": "state", "::State::status": STATUS, "::Cache": "cache", "::Etc": "etc"}
    lines = [f'Dir{name} "{tmp_path}/{place}";\n' for name, place in places.items()]
    write(tmp_path / "apt.conf", "".join(lines) + 'APT::Sandbox::User "";\n')
    environ = {**os.environ, "APT_CONFIG": str(tmp_path / "apt.conf"), "LC_ALL": "C"}
    subprocess.run(["apt-get", "update"], env=environ, check=True, capture_output=True)
    argv = ["apt-get", "install", "-y", "-s", HELD]
    ran = subprocess.run(argv, env=environ, capture_output=True, text=True, check=False)
    assert ("Held packages were changed" in ran.stderr) is refused
    found = held(RootHost(str(tmp_path)))
    assert isinstance(found, Seen)
    assert (HELD in found.value) is refused
