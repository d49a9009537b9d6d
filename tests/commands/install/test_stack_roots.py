"""Bash scripts of `install stack`, run as root in the roots of distributions, with a local server in NVIDIA's place.

Debian 11, 12 and 13 are real. Ubuntu 24.04 and Rocky Linux 9 are Debian's root with their /etc/os-release (see
roots.py): for the one, packages of Ubuntu's names come from the local server; for the other, dnf is a program that
writes down what it is told.
"""

from __future__ import annotations

import platform
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from compat.matrix import Matrix
from doctor.commands.install.install import InstallOrder, prepare
from installers.plan import Plan
from installers.render import script_bash
from installers.step import Step
from installers.steps.fetch_keyring import FetchKeyring
from tests.commands.install.roots import package, repository, root_of, run_inside
from tests.installers.archives import served
from tests.installers.test_fetch_keyring import INSIDE, gpg, key

pytestmark = [pytest.mark.system, pytest.mark.slow]

HEADERS = f"linux-headers-{platform.release()}"
DRIVER = ("nvidia-open", "nvidia-open-560", "nvidia-driver-pinning-580", HEADERS)
TO_THE_RESTART = "bash stack.sh || test $? = 4"  # its exit status there
CHOOSER = '#!/bin/sh\necho "$@" >>/srv/told\n'
TORCH = """
version = {release!r}
class cuda:
    is_available = staticmethod(lambda: True)
class ones:
    def __init__(self, size): self.size = size
    def cuda(self): return self
    def sum(self): return self
    def item(self): return float(self.size)
"""
SMI = "#!/bin/sh\necho 580.95.05\n"
DNF = '#!/bin/sh\necho "$@" >>/srv/told\n'


class Vendor(NamedTuple):
    """What stands in NVIDIA's place."""

    url: str
    fingerprint: str


@pytest.fixture(scope="module")
def vendor(tmp_path_factory: pytest.TempPathFactory) -> object:
    """A repository, and the package that makes it and its key known."""
    folder = tmp_path_factory.mktemp("v")
    home = folder / "h"
    fingerprint = key(home, "maker")
    packages = {**{name: {} for name in DRIVER}, "ubuntu-drivers-common": {"usr/bin/ubuntu-drivers": CHOOSER}}
    repository(folder / "served/repository", packages, home, fingerprint)
    with served(folder / "served") as url:
        line = f"deb [signed-by=/usr/share/keyrings/cuda-archive-keyring.gpg] {url}/repository ./\n"
        files = {
            INSIDE.removeprefix("./"): gpg(home, "--export", fingerprint).decode("latin-1"),
            "etc/apt/sources.list.d/vendor.list": line,
        }
        package(folder / "served", "cuda-keyring", files)
        yield Vendor(url, fingerprint)


def script_for(distribution: str, vendor: Vendor) -> str:
    """The script, with the server's address and key in place of NVIDIA's."""
    card = "RTX 4090" if distribution == "debian-11" else "RTX 5090"  # for which it has no driver any more
    asked = InstallOrder("", framework="torch", gpus=(card,), distribution=distribution)
    prepared = prepare(asked, Matrix())
    steps = tuple(_here(step, vendor) for step in prepared.plan.steps)
    return script_bash.script(Plan(prepared.plan.summary, steps), prepared.target)


def _here(step: Step, vendor: Vendor) -> Step:
    if isinstance(step, FetchKeyring):
        return step._replace(url=f"{vendor.url}/cuda-keyring.deb", fingerprints=(vendor.fingerprint,))
    return step


def laid_over(folder: Path, script: str, files: dict[str, str]) -> Path:
    for name, text in {"srv/stack.sh": script, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("distribution", "suite", "driver"),
    [("debian-11", "bullseye", "nvidia-open-560"), ("debian-13", "trixie", "nvidia-open")],
)
def test_up_to_the_drivers_package(distribution: str, suite: str, driver: str, vendor: Vendor, tmp_path: Path) -> None:
    added = laid_over(tmp_path / "added", script_for(distribution, vendor), {})
    commands = f"rm -rf /var/lib/apt/lists/*; {TO_THE_RESTART}; ls /srv/installed"
    text = run_inside(root_of(suite), tmp_path / "run", added, commands)
    assert "reboot, then run this script again" in text
    assert "Done." not in text
    assert driver in text.splitlines()[-5:]


def test_after_the_restart_it_goes_on(vendor: Vendor, tmp_path: Path) -> None:
    """Driver, restart, Python, environment, framework; the third run does nothing but look."""
    script = script_for("debian-12", vendor)
    release = next(line for line in script.splitlines() if "pip install torch==" in line).partition("==")[2].split()[0]
    added = laid_over(tmp_path / "added", script, {"srv/nvidia-smi": SMI})
    _wheel(added / "srv/wheels", release)
    commands = (
        f"{TO_THE_RESTART}; test ! -e .venv; cp nvidia-smi /usr/bin/; "
        "export PIP_NO_INDEX=1 PIP_FIND_LINKS=/srv/wheels; bash stack.sh; bash stack.sh; "
        ".venv/bin/python -c 'import torch; print(torch.version)'; ls installed"
    )
    text = run_inside(root_of("bookworm"), tmp_path / "run", added, commands)
    first, second, third = text.split("the NVIDIA driver, unless")[1:]
    assert "nvidia-open" in text.splitlines()[-4:]
    assert "reboot" in first
    assert "Done." not in first
    assert "it already exists" in second
    assert "python3.11 -m venv" not in second.partition("Done.")[2]
    assert "gpudoctor verify --framework torch" in second
    assert third.count("it already exists") == 2
    assert f"\n{release}\n" in third


def _wheel(folder: Path, release: str) -> None:
    folder.mkdir(parents=True)
    info = f"torch-{release}.dist-info"
    with zipfile.ZipFile(folder / f"torch-{release}-py3-none-any.whl", "w") as packed:
        packed.writestr("torch/__init__.py", TORCH.format(release=release))
        packed.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: torch\nVersion: {release}\n")
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", f"torch/__init__.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")


def test_on_ubuntu_the_driver_is_its_own(vendor: Vendor, tmp_path: Path) -> None:
    source = f"deb [trusted=yes] {vendor.url}/repository ./\n"
    files = {
        "etc/os-release": 'ID=ubuntu\nVERSION_ID="24.04"\n',
        "etc/apt/sources.list": source,
    }
    added = laid_over(tmp_path / "added", script_for("ubuntu-24.04", vendor), files)
    text = run_inside(root_of("trixie"), tmp_path / "run", added, f"{TO_THE_RESTART}; cat told")
    assert "reboot, then run this script again" in text
    assert text.splitlines()[-1] == "install nvidia:580-open"


def test_on_rocky_dnf_is_told(vendor: Vendor, tmp_path: Path) -> None:
    files = {"etc/os-release": 'ID=rocky\nVERSION_ID="9.4"\n', "usr/local/bin/dnf": DNF, "srv/nvidia-smi": SMI}
    added = laid_over(tmp_path / "added", script_for("rocky-9", vendor), files)
    commands = f"export PATH=/usr/local/bin:$PATH; {TO_THE_RESTART}; cat told"
    text = run_inside(root_of("trixie"), tmp_path / "run", added, commands)
    told = text.splitlines()
    assert "reboot, then run this script again" in text
    assert any(line.startswith("config-manager --add-repo https://") for line in told)
    assert "module install -y nvidia-driver:580-open" in told[-1]
    assert not any("python3.12" in line for line in told)


def test_without_root_nothing_is_begun(vendor: Vendor, tmp_path: Path) -> None:
    added = laid_over(tmp_path / "added", script_for("debian-13", vendor), {})
    commands = (
        "mkdir -m 777 /tmp/home; HOME=/tmp/home setpriv --reuid 65534 --clear-groups bash stack.sh || echo refused"
    )
    text = run_inside(root_of("trixie"), tmp_path / "run", added, f"chmod 777 /tmp; {commands}")
    assert "some of these steps need root, and sudo is not installed" in text
    assert text.splitlines()[-1] == "refused"


def test_a_user_with_sudo_owns_the_environment(vendor: Vendor, tmp_path: Path) -> None:
    """In a directory with a blank in its name, twice; packages and repositories are root's."""
    script = script_for("debian-12", vendor)
    release = next(line for line in script.splitlines() if "pip install torch==" in line).partition("==")[2].split()[0]
    added = laid_over(tmp_path / "added", script, {"usr/bin/nvidia-smi": SMI, "etc/sudoers.d/u": ""})
    _wheel(added / "srv/wheels", release)
    run = "cd '/home/u/my work' && PIP_NO_INDEX=1 PIP_FIND_LINKS=/srv/wheels bash /srv/stack.sh"
    commands = (
        "echo 'u ALL=(ALL) NOPASSWD:ALL' >/etc/sudoers.d/u; chmod 440 /etc/sudoers.d/u; chown root: /etc/sudoers.d/u; "
        f'useradd -m u; install -d -o u \'/home/u/my work\'; su u -c "{run}"; su u -c "{run}"; '
        "stat -c 'owner %U' '/home/u/my work/.venv' '/home/u/my work/.venv/bin/python3'; ls /srv/installed || :"
    )
    text = run_inside(root_of("bookworm", "sudo"), tmp_path / "run", added, commands)
    assert text.count("Done.") == 2
    assert text.count("owner u") == 2
    assert text.rpartition("Done.")[0].count("it already exists") >= 3
