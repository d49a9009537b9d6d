"""The steps that make NVIDIA's package repository known to a distribution.

Source: CUDA Installation Guide for Linux, "Package Manager Installation" (network repositories); the addresses are
rows of the matrix.
"""

from __future__ import annotations

from compat.artefact import ManifestRow
from compat.base.errors import GpudoctorError
from compat.matrix import Matrix, Uncovered
from compat.row import OwnPackageRow, RepositoryRow, SigningKeyRow, ThirdPartyRow, ToolkitRow
from compat.specifier import accepts
from compat.version import CudaVersion, CudnnVersion, DriverRelease
from installers.cuda_order import NoSuchToolkit
from installers.packages import install, manager_of, refresh, removal
from installers.plan import Target
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.command import Command, Inverse
from installers.steps.fetch_keyring import FOLDER, FetchKeyring

REBUILDS_OF_RHEL = frozenset({"rhel", "centos", "rocky", "almalinux", "ol"})
ENDLESS = "99.0"  # a CUDA that only a repository which goes on takes
_KEYRING = "cuda-keyring.deb"
_TOOLS = ("ca-certificates", "curl", "gnupg")
_STAY = Inverse(left=f"{', '.join(_TOOLS)} stay: other programs need them")
_INSIDE = "./usr/share/keyrings/cuda-archive-keyring.gpg"
_WHY = "add NVIDIA's package repository"
_FETCH = "it adds NVIDIA's repository and its signing key"
_WITHOUT_KEYRING = removal("apt", ("cuda-keyring",))._replace(commands=(("dpkg", "--purge", "cuda-keyring"),))


class NoSuchBranch(GpudoctorError):
    """A driver branch that NVIDIA's packages for a system never had."""

    hint = "Choose another branch (list: gpudoctor matrix show driver), or use NVIDIA's .run installer."


def repository_row(target: Target, matrix: Matrix, table: str = "repositories") -> RepositoryRow:
    """The repository for this machine; raises Uncovered."""
    return matrix.repository(_distribution(target), target.distribution_version, target.arch or "x86_64", table)


def has_repository(target: Target, matrix: Matrix, table: str = "repositories") -> bool:
    """Return whether there is a repository for this machine."""
    try:
        repository_row(target, matrix, table)
    except Uncovered:
        return False
    return True


def local_row(target: Target, matrix: Matrix) -> RepositoryRow:
    """The package that holds a whole repository, for this machine; raises Uncovered."""
    return repository_row(target, matrix, "local")


def _distribution(target: Target) -> str:
    if target.wsl and target.distribution in {"ubuntu", "debian"}:
        return "wsl"
    return "rhel" if target.distribution in REBUILDS_OF_RHEL else target.distribution


def system(target: Target) -> str:
    """The machine as a message names it: "ubuntu 24.04 on x86_64"."""
    return f"{target.distribution} {target.distribution_version}".strip() + f" on {target.arch or 'x86_64'}"


def toolkits(target: Target, matrix: Matrix) -> tuple[CudaVersion, ...]:
    """The CUDA releases that NVIDIA's packages for this system have, ascending; raises NoSuchToolkit."""
    try:
        row = repository_row(target, matrix)
    except Uncovered as error:
        there = "; ".join(_known(_distribution(target), matrix))
        known = f"; one exists for {there}" if there else ""
        raise NoSuchToolkit(f"{error}{known}{own_package('cuda', target, matrix)}", "packages") from error
    rows: tuple[ToolkitRow, ...] = matrix.rows("cuda", "toolkits")
    return tuple(one for one in sorted({one.cuda for one in rows}) if row.cuda is None or accepts(row.cuda, one))


def require_toolkit(cuda: str, target: Target, matrix: Matrix) -> None:
    """Raise NoSuchToolkit for a release, "12.8", that NVIDIA's packages for this system never were."""
    has = ", ".join(map(str, toolkits(target, matrix)))
    if cuda not in has.split(", "):
        own = own_package("cuda", target, matrix)
        raise NoSuchToolkit(f"NVIDIA's packages for {system(target)} have CUDA {has}, not {cuda}{own}", "packages")


def require_branch(branch: int, target: Target, matrix: Matrix) -> None:
    """Raise NoSuchBranch for a driver that cannot be in NVIDIA's packages for this system.

    A branch that was over before the first CUDA of the repository came was never put there, nor one that is newer than
    the driver of the last CUDA of a repository that is not continued. Ubuntu and Arch have packages of their own.
    """
    if not _has_nvidias_driver(target):
        return
    try:
        first = toolkits(target, matrix)[0]
        over = matrix.branch(DriverRelease.parse(str(branch))).end_of_life or ""
    except Uncovered:
        return
    began = _came(first, matrix)
    if over and began and over[:7] < began[:7]:
        raise NoSuchBranch(
            f"driver {branch} ended by {over}. NVIDIA's packages for {system(target)} never had it: "
            f"they start with CUDA {first} of {began[:7]}"
        )
    require_driver_as_new(branch, target, matrix)


def require_driver_as_new(branch: int, target: Target, matrix: Matrix) -> None:
    """Raise NoSuchBranch where NVIDIA's packages for this system ended before this branch."""
    if not _has_nvidias_driver(target):
        return
    try:
        row, last = repository_row(target, matrix), toolkits(target, matrix)[-1]
        newest = matrix.toolkit(last).toolkit_driver_linux
    except Uncovered:
        return
    if not accepts(row.cuda or "", ENDLESS) and newest and branch > newest.branch:
        raise NoSuchBranch(
            f"NVIDIA's packages for {system(target)} end with driver {newest.branch} and have no {branch}"
        )


def _has_nvidias_driver(target: Target) -> bool:
    if target.wsl or target.container or target.os_family != "linux":
        return False
    return manager_of(target) in {"yum", "dnf", "zypper"} or target.distribution == "debian"


def _came(cuda: CudaVersion, matrix: Matrix) -> str:
    """When NVIDIA first listed the archives of a CUDA version; "" where no row says."""
    rows: tuple[ManifestRow, ...] = matrix.rows("redist", "manifests")
    days = [row.released for row in rows if row.product == "cuda" and f"{row.release}.".startswith(f"{cuda}.")]
    return min((day for day in days if day), default="")


def is_older(cudnn: str, target: Target, matrix: Matrix) -> bool:
    """Whether a cuDNN release came before the repository for this system began: it was never put there."""
    rows: tuple[ManifestRow, ...] = matrix.rows("redist", "manifests")
    first = toolkits(target, matrix)[0]
    all_toolkits: tuple[ToolkitRow, ...] = matrix.rows("cuda", "toolkits")
    began = max((_came(one.cuda, matrix) for one in all_toolkits if one.cuda <= first), default="")
    wanted = CudnnVersion.parse(cudnn)
    later = (
        one for one in rows if one.product == "cudnn" and one.released and CudnnVersion.parse(one.release) >= wanted
    )
    came = min((one.released or "" for one in later), default="")  # at the latest
    return bool(began and came) and came[:7] < began[:7]


def _known(distribution: str, matrix: Matrix) -> tuple[str, ...]:
    """The releases of a distribution that have a repository, with the machines: "24.04 (x86_64, sbsa)"."""
    rows: tuple[RepositoryRow, ...] = matrix.rows("index", "repositories")
    same = [row for row in rows if row.distribution == distribution]
    return tuple(
        f"{distribution} {', '.join(row.versions)} ({', '.join(row.arches)})".replace("  ", " ") for row in same
    )


def own_package(product: str, target: Target, matrix: Matrix) -> str:
    """What the distribution itself has, as an aside: its names and releases are its own."""
    rows: tuple[OwnPackageRow, ...] = matrix.rows("index", "own")
    among = {target.distribution_version, target.distribution_version.partition(".")[0]}
    found = [row for row in rows if (row.distribution, row.product) == (target.distribution, product)]
    return "".join(f" (its own {one.package} is {one.release})" for one in found if one.version in among)


def third_party(target: Target, matrix: Matrix) -> tuple[Step, ...]:
    """EPEL, which has DKMS, and what EPEL itself leans on; () where NVIDIA's driver packages need neither.

    Source: CUDA Installation Guide for Linux, "Satisfy third-party package dependency" of RHEL and its rebuilds.
    """
    rows: tuple[ThirdPartyRow, ...] = matrix.rows("index", "third-party")
    major = target.distribution_version.partition(".")[0]
    row = next((one for one in rows if target.distribution in one.distributions and major in one.versions), None)
    if row is None:
        return ()
    machine = "aarch64" if target.arch == "sbsa" else "x86_64"
    names = (row.package.format(version=major, machine=machine), row.builder.format(version=major, machine=machine))
    return (*((_enabled(names[1], target),) if names[1] else ()), _epel(names[0], target))


def _epel(package: str, target: Target) -> Step:
    step = install(target, package, why="EPEL has DKMS, which builds the kernel module")
    return step._replace(inverse=Inverse(left="EPEL stays enabled: other packages may come from it"))


def _enabled(name: str, target: Target) -> Command:
    by_subscription = target.distribution == "rhel"
    argv = ("subscription-manager", "repos", f"--enable={name}") if by_subscription else (*_SET, name)
    return Command(
        argv, "EPEL needs the CodeReady repository", needs_root=True, inverse=Inverse(left=f"{name} stays enabled")
    )


_SET = ("dnf", "config-manager", "--set-enabled")


def add_repository(target: Target, matrix: Matrix) -> tuple[Step, ...]:
    """The steps, or where to read them for a distribution that no row covers."""
    try:
        row = repository_row(target, matrix)
    except Uncovered:
        return (ByHand(f"add NVIDIA's package repository for this system: {matrix.page('cuda').url}"),)
    major = target.distribution_version.partition(".")[0]
    arch = {"sbsa": "sbsa", "jetson": "arm64"}.get(target.arch, "x86_64")
    url = row.url.replace("{arch}", arch).replace("{version}", major)
    return _STEPS[row.manager](url, target, matrix)


def _apt(url: str, target: Target, matrix: Matrix) -> tuple[Step, ...]:
    rows: tuple[SigningKeyRow, ...] = matrix.rows("index", "keys")
    return (
        *refresh(target),
        install(target, *_TOOLS, why="install curl and gnupg")._replace(inverse=_STAY),
        FetchKeyring(
            url=url, to=_KEYRING, keyring=_INSIDE, fingerprints=tuple(row.fingerprint for row in rows), why=_FETCH
        ),
        Command(
            ("dpkg", "-i", _KEYRING),
            _WHY,
            needs_root=True,
            inverse=_WITHOUT_KEYRING,
            staged=(_KEYRING,),
            folder=FOLDER,
        ),
        *refresh(target),
    )


def _dnf(url: str, target: Target, _: Matrix) -> tuple[Step, ...]:
    return (
        install(target, "dnf-plugins-core", why="install dnf's config-manager"),
        Command(("dnf", "config-manager", "--add-repo", url), _WHY, needs_root=True, inverse=_without_file(url)),
    )


def _yum(url: str, target: Target, _: Matrix) -> tuple[Step, ...]:
    return (
        install(target, "yum-utils", why="install yum's config-manager"),
        Command(("yum-config-manager", "--add-repo", url), _WHY, needs_root=True, inverse=_without_file(url)),
    )


def _dnf5(url: str, _: Target, __: Matrix) -> tuple[Step, ...]:
    argv = ("dnf", "config-manager", "addrepo", f"--from-repofile={url}", "--overwrite")
    return (Command(argv, _WHY, needs_root=True, inverse=_without_file(url)),)


def _zypper(url: str, target: Target, _: Matrix) -> tuple[Step, ...]:
    return (
        Command(
            ("zypper", "addrepo", url),
            _WHY,
            needs_root=True,
            inverse=_without_alias(url, target),
            unless=("zypper", "repos", _alias(url, target)),
        ),
        Command(
            ("zypper", "--gpg-auto-import-keys", "refresh"),
            "accept its signing key",
            needs_root=True,
            inverse=Inverse(left="the accepted keys stay: rpm -qa gpg-pubkey* lists them"),
        ),
    )


def _without_file(url: str) -> Inverse:
    """dnf keeps the file under its own name."""
    path = f"/etc/yum.repos.d/{url.rpartition('/')[2]}"
    return Inverse((("rm", "-f", path),), names=(path,), present=("test", "-e"))


def _alias(url: str, target: Target) -> str:
    """The section's name in NVIDIA's file: cuda-sles15.repo has [cuda-sles15-x86_64]."""
    return f"{url.rpartition('/')[2].removesuffix('.repo')}-{'sbsa' if target.arch == 'sbsa' else 'x86_64'}"


def _without_alias(url: str, target: Target) -> Inverse:
    alias = _alias(url, target)
    return Inverse((("zypper", "removerepo", alias),), names=(alias,), present=("zypper", "lr"))


_STEPS = {"apt": _apt, "yum": _yum, "dnf": _dnf, "dnf5": _dnf5, "zypper": _zypper}
