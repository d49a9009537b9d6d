"""Which packages are planned on which distribution: what a repository has, by its row, and nothing else."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from compat.matrix import Matrix
from compat.need import InstallCudnn, InstallDriver, InstallToolkit
from compat.row import OwnPackageRow, RepositoryRow
from compat.specifier import accepts
from installers.choose import plan_for
from installers.cuda_order import NoSuchToolkit
from installers.methods import cuda_toolkit, cudnn_system, driver
from installers.methods.cudnn_system import NoSuchPackage
from installers.packages import manager_of
from installers.plan import Plan, Target
from installers.render import commands, step_lines
from installers.repository import add_repository, require_toolkit, toolkits
from installers.steps.by_hand import ByHand
from installers.steps.command import Command
from installers.steps.fetch_keyring import FetchKeyring
from tests.installers import target as machines
from tests.installers.target import UBUNTU

MATRIX = Matrix()
ROWS: tuple[RepositoryRow, ...] = MATRIX.rows("index", "repositories")
CUDA = sorted({row.cuda for row in MATRIX.rows("cuda", "toolkits")})


def machine(distribution: str, version: str, arch: str = "x86_64", cuda_major: int = 0) -> Target:
    wsl = distribution == "wsl"
    name = "ubuntu" if wsl else distribution
    return UBUNTU._replace(
        distribution=name,
        distribution_version=version or "24.04",
        arch=arch,
        wsl=wsl,
        cuda_major=cuda_major,
        kernel="",
        environment_kind="",
    )


def installed(plan: Plan) -> str:
    """The last command, which installs what was asked for."""
    return " ".join([step.argv for step in plan.steps if isinstance(step, Command)][-1])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_release_is_planned_where_its_row_has_it_and_nowhere_else(row: RepositoryRow) -> None:
    assert row.cuda is not None
    for version in row.versions or ("",):
        for arch in row.arches:
            target = machine(row.distribution, version, arch)
            planned = 0
            for cuda in CUDA:
                need = InstallToolkit(f"=={cuda}.*")
                if accepts(row.cuda, cuda):
                    plan = cuda_toolkit.plan(need, target, MATRIX)
                    assert installed(plan).endswith(f"cuda-toolkit-{cuda.major}-{cuda.minor}")
                    assert url(plan).startswith(row.url.partition("{arch}")[0].partition("x86_64")[0])
                    assert not any(isinstance(step, ByHand) for step in plan.steps)
                    planned += 1
                else:
                    with pytest.raises(NoSuchToolkit, match=f"not {cuda}"):
                        cuda_toolkit.plan(need, target, MATRIX)
            assert planned


def url(plan: Plan) -> str:
    for step in plan.steps:
        if isinstance(step, FetchKeyring):
            return step.url
        if isinstance(step, Command) and (found := re.search(r"https://\S+", " ".join(step.argv))):
            return found[0]
    raise AssertionError(plan)


@pytest.mark.parametrize(
    ("distribution", "version", "arch", "said"),
    [
        ("debian", "9", "x86_64", "debian 10"),
        ("fedora", "38", "x86_64", "fedora 37 "),
        ("ubuntu", "25.04", "x86_64", "ubuntu 24.04 "),
        ("ubuntu", "16.04", "sbsa", r"ubuntu 16.04 \(x86_64\)"),
        ("opensuse-leap", "15.6", "sbsa", r"opensuse-leap 15 \(x86_64\)"),
        ("amzn", "2", "x86_64", "amzn 2023"),
        ("linuxmint", "22", "x86_64", "linuxmint 22"),
    ],
)
def test_a_system_without_a_repository_is_told_which_there_are(
    distribution: str, version: str, arch: str, said: str
) -> None:
    target = machine(distribution, version, arch)
    with pytest.raises(NoSuchToolkit, match=said):
        cuda_toolkit.plan(InstallToolkit("==12.8.*"), target, MATRIX)
    with pytest.raises(NoSuchPackage):
        cudnn_system.plan(InstallCudnn("==9.10.2", cuda="12"), target, MATRIX)


@pytest.mark.parametrize(
    ("distribution", "version", "driver", "spec", "package"),
    [
        ("ubuntu", "24.04", 0, "", "cuda-toolkit"),
        ("ubuntu", "24.04", 12, "", "cuda-toolkit-12"),
        ("ubuntu", "20.04", 13, "", "cuda-toolkit-12-9"),  # its repository stands still, and never had CUDA 13
        ("ubuntu", "16.04", 12, "", "cuda-toolkit-11-3"),
        ("ubuntu", "24.04", 13, ">=12.8", "cuda-toolkit-12-8"),
        ("ubuntu", "26.04", 13, ">=12.8", "cuda-toolkit-13-3"),  # the oldest that will do
        ("fedora", "43", 0, "==13.*", "cuda-toolkit-13-2"),
        ("debian", "12", 0, "==12.*", "cuda-toolkit-12"),
        ("arch", "", 0, "", "cuda"),
    ],
)
def test_no_release_named(distribution: str, version: str, driver: int, spec: str, package: str) -> None:
    plan = cuda_toolkit.plan(InstallToolkit(spec), machine(distribution, version, cuda_major=driver), MATRIX)
    assert installed(plan).endswith(f" {package}")


@pytest.mark.parametrize(
    ("distribution", "version", "driver", "spec"),
    [
        ("ubuntu", "26.04", 12, ""),
        ("ubuntu", "20.04", 0, "==13.*"),
        ("rhel", "7", 13, ">=12.8"),
        ("arch", "", 0, "==12.8.*"),
    ],
)
def test_nothing_that_will_do(distribution: str, version: str, driver: int, spec: str) -> None:
    with pytest.raises(NoSuchToolkit):
        cuda_toolkit.plan(InstallToolkit(spec), machine(distribution, version, cuda_major=driver), MATRIX)


@pytest.mark.parametrize(
    ("distribution", "version", "release", "there"),
    [
        ("ubuntu", "22.04", "8.9.7", True),
        ("ubuntu", "24.04", "8.9.7", False),
        ("ubuntu", "24.04", "9.10.2", True),
        ("rhel", "10", "8.9.7", False),
        ("rocky", "8.10", "8.9.7", True),
    ],
)
def test_cudnn_is_planned_where_its_row_has_it(distribution: str, version: str, release: str, there: bool) -> None:
    need, target = InstallCudnn(f"=={release}", cuda="12"), machine(distribution, version)
    if there:
        assert release in installed(cudnn_system.plan(need, target, MATRIX))
        return
    with pytest.raises(NoSuchPackage, match=f"not {release}"):
        cudnn_system.plan(need, target, MATRIX)


@pytest.mark.parametrize(
    ("distribution", "version", "manager"),
    [
        ("rhel", "7.9", "yum"),
        ("centos", "7", "yum"),
        ("amzn", "2", "yum"),
        ("amzn", "2023", "dnf"),
        ("rocky", "8.10", "dnf"),
        ("fedora", "39", "dnf"),
        ("ubuntu", "16.04", "apt"),
    ],
)
def test_package_managers_of_their_time(distribution: str, version: str, manager: str) -> None:
    assert manager_of(machine(distribution, version)) == manager


@pytest.mark.parametrize(
    ("distribution", "version", "arch", "argv"),
    [
        ("fedora", "39", "x86_64", "dnf config-manager --add-repo "),
        ("fedora", "41", "x86_64", "dnf config-manager addrepo --from-repofile="),
        ("centos", "7", "x86_64", "yum-config-manager --add-repo "),
        ("rhel", "9.4", "x86_64", "subscription-manager repos --enable=codeready-builder-for-rhel-9-x86_64-rpms"),
        ("rhel", "9.4", "sbsa", "subscription-manager repos --enable=codeready-builder-for-rhel-9-aarch64-rpms"),
        ("rhel", "8", "x86_64", "dnf install -y https://"),
        ("rocky", "8.10", "x86_64", "dnf config-manager --set-enabled powertools"),
        ("almalinux", "10", "x86_64", "dnf config-manager --set-enabled crb"),
        ("ol", "9", "x86_64", "dnf install -y oracle-epel-release-el9"),
        ("centos", "7", "x86_64", "yum install -y nvidia-driver-branch-470"),
        ("ubuntu", "16.04", "x86_64", "apt-get install -y nvidia-470"),
        ("ubuntu", "18.04", "x86_64", "ubuntu-drivers install nvidia:470"),
    ],
)
def test_what_a_driver_needs_there(distribution: str, version: str, arch: str, argv: str) -> None:
    need = InstallDriver("==580.*" if distribution == "fedora" else "==470.*")  # NVIDIA has no 470 for Fedora
    plan = plan_for(need, machine(distribution, version, arch), MATRIX)
    found = [" ".join(step.argv) for step in plan.steps if isinstance(step, Command)]
    assert any(line.startswith(argv) for line in found), found
    assert distribution != "rhel" or any(
        line.endswith(f"epel-release-latest-{version[0]}.noarch.rpm") for line in found
    )


def test_ubuntu_drivers_of_its_time() -> None:
    old = plan_for(InstallDriver(), machine("ubuntu", "16.04"), MATRIX)
    new = plan_for(InstallDriver(), machine("ubuntu", "26.04"), MATRIX)
    assert (installed(old), installed(new)) == ("ubuntu-drivers autoinstall", "ubuntu-drivers install")


def test_a_refusal_says_what_the_distribution_itself_has() -> None:
    with pytest.raises(NoSuchToolkit, match=r"its own nvidia-cuda-toolkit is 11\.8\."):
        cuda_toolkit.plan(InstallToolkit("==11.8.*"), machine("debian", "12"), MATRIX)


def test_repositories_that_move_on_have_the_newest_toolkit() -> None:
    assert toolkits(machine("ubuntu", "24.04"), MATRIX)[-1] == CUDA[-1]


SUITES = {"11": "bullseye", "12": "bookworm", "13": "trixie"}


@pytest.mark.system
@pytest.mark.parametrize("version", sorted(SUITES))
def test_the_rows_of_debian_are_what_its_index_says(version: str, tmp_path: Path) -> None:
    """apt reads the real index, in directories of its own."""
    assert shutil.which("apt-get")
    assert shutil.which("apt-cache")
    rows: tuple[OwnPackageRow, ...] = MATRIX.rows("index", "own")
    mine = [row for row in rows if (row.distribution, row.version) == ("debian", version)]
    apt = options(tmp_path, f"deb {mirror()} {SUITES[version]} contrib non-free")
    subprocess.run(["apt-get", *apt, "update"], check=True, capture_output=True, timeout=300)
    for row in mine:
        told = subprocess.run(["apt-cache", *apt, "madison", row.package], check=True, capture_output=True, text=True)
        found = {tuple(part.strip() for part in line.split("|")[:2]) for line in told.stdout.splitlines()}
        assert (row.package, row.release) in found, told.stdout
        assert f"/{row.component} " in told.stdout
    known = {row.package for row in mine}
    for package in {"nvidia-cuda-toolkit", "nvidia-cudnn"} - known:  # what no row has is not there
        told = subprocess.run(["apt-cache", *apt, "madison", package], check=True, capture_output=True, text=True)
        assert told.stdout == ""


def mirror() -> str:
    """Where this machine reads Debian's packages from."""
    argv = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI)"]
    told = subprocess.run(argv, check=True, capture_output=True, text=True).stdout.splitlines()
    found = [line.partition(" ")[2] for line in told if line.startswith("Debian ") and "security" not in line]
    assert found, "run apt-get update first: this test needs Debian's own sources"
    return found[0]


def options(folder: Path, source: str) -> tuple[str, ...]:
    """apt's options for an index beside that of this machine."""
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    (folder / "status").write_text("")
    (folder / "sources.list").write_text(f"{source}\n")
    set_to = {
        "Dir::State::lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
        "Dir::Etc::sourcelist": folder / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "APT::Architecture": "amd64",
        "Acquire::Languages": "none",
        "APT::Sandbox::User": "root",
    }
    return tuple(word for name, value in set_to.items() for word in ("-o", f"{name}={value}"))


@pytest.mark.parametrize(
    ("version", "need", "said"),
    [
        ("24.04", InstallDriver("==580.*"), "ubuntu-drivers install nvidia:580"),
        ("22.04", InstallDriver("==580.*", "open"), "ubuntu-drivers install nvidia:580-open"),
        ("20.04", InstallDriver("==580.*"), "Ubuntu 20.04 has no nvidia-driver-580; 22.04, 24.04, 26.04 have it"),
        ("18.04", InstallDriver("==570.*"), "Ubuntu 18.04 has no nvidia-driver-570"),
        ("18.04", InstallDriver("==580.*", "open"), "Ubuntu 18.04 has no nvidia-driver-580-open"),
        ("22.04", InstallDriver("==470.*", "open"), "Ubuntu 22.04 has no nvidia-driver-470-open"),
        ("24.04", InstallDriver("==590.*"), "nvidia-driver-590 of Ubuntu 24.04 now has 595"),
        ("24.04", InstallDriver("==590.*"), "ubuntu-drivers install nvidia:590"),
        ("24.04", InstallDriver("==999.*"), "ubuntu-drivers install nvidia:999"),  # of which no row speaks
    ],
)
def test_a_driver_branch_that_ubuntu_has_not_is_not_planned(version: str, need: InstallDriver, said: str) -> None:
    target = UBUNTU._replace(distribution_version=version)
    made = driver.plan(need, target, MATRIX)
    words = [f"{' '.join(getattr(step, 'argv', ()))} {step.why} {getattr(step, 'text', '')}" for step in made.steps]
    assert any(said in one for one in words)
    runs = any(isinstance(step, Command) for step in made.steps)
    assert runs is ("has no" not in said)
    assert bool(made.effects) is runs  # what nobody carried out is not true afterwards


def test_rows_of_driver_branches_agree() -> None:
    """A branch is moved to one that the same release has, and is never older than it."""
    rows = {row.branch: row for row in MATRIX.rows("index", "drivers") if row.distribution == "ubuntu"}
    for row in rows.values():
        assert row.id == f"ubuntu-{row.branch}"
        for version, brings in row.brings.items():
            assert brings in {0, row.branch} or (brings > row.branch and rows[brings].brings[version] == brings)


def test_a_repository_is_added_once_where_a_script_runs_twice(tmp_path: Path) -> None:
    """Red on the old code: the second `zypper addrepo` ends with status 4, and `set -e` ends the script."""
    known = tmp_path / "known"
    zypper = tmp_path / "zypper"
    zypper.write_text(
        f"#!/bin/sh\ncase $1 in repos) [ -e {known} ];; addrepo) [ ! -e {known} ] && touch {known} || exit 4;; esac\n"
    )
    zypper.chmod(0o755)
    target = machines.LINUX["sles"]._replace(is_root=True)
    step = add_repository(target, MATRIX)[0]
    [line] = step_lines(step, target)
    for _ in range(2):
        subprocess.run(["bash", "-ec", line], check=True, env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert "--overwrite" in commands(Plan("x", add_repository(machines.LINUX["fedora"], MATRIX)), target)[0]


def test_a_way_that_was_refused_is_not_offered_again() -> None:
    with pytest.raises(NoSuchToolkit) as refused:
        require_toolkit("11.8", UBUNTU._replace(distribution_version="24.04"), MATRIX)
    assert refused.value.hint == "Choose another way with --method: runfile, archive, wheel, conda, container or local."
