"""The steps that make NVIDIA's package repository known to a distribution.

Source: CUDA Installation Guide for Linux, "Package Manager Installation" (network repositories); the addresses are
rows of the matrix.
"""

from __future__ import annotations

from compat.matrix import Matrix, Uncovered
from compat.row import RepositoryRow, SigningKeyRow
from installers.packages import install, refresh, removal
from installers.plan import Target
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.command import Command, Inverse
from installers.steps.fetch_keyring import FetchKeyring

REBUILDS_OF_RHEL = frozenset({"rhel", "centos", "rocky", "almalinux", "ol"})
_KEYRING = "cuda-keyring.deb"
_TOOLS = ("ca-certificates", "curl", "gnupg")
_STAY = Inverse(left=f"{', '.join(_TOOLS)} stay: much else needs them")
_INSIDE = "./usr/share/keyrings/cuda-archive-keyring.gpg"
_WHY = "make NVIDIA's package repository known"
_FETCH = "fetch the package with NVIDIA's repository and its signing key"
_WITHOUT_KEYRING = removal("apt", ("cuda-keyring",))._replace(commands=(("dpkg", "--purge", "cuda-keyring"),))


def repository_row(target: Target, matrix: Matrix) -> RepositoryRow:
    """The repository for this machine; raises Uncovered."""
    return matrix.repository(_distribution(target), target.distribution_version)


def local_row(target: Target, matrix: Matrix) -> RepositoryRow:
    """The package that holds a whole repository, for this machine; raises Uncovered."""
    rows: tuple[RepositoryRow, ...] = matrix.rows("index", "local")
    name, version = _distribution(target), target.distribution_version
    among = {version, version.partition(".")[0]}
    found = [row for row in rows if row.distribution == name and (not row.versions or among & {*row.versions})]
    if not found:
        raise Uncovered(f"a local repository for {target.distribution} {version}".strip())
    return found[0]


def _distribution(target: Target) -> str:
    if target.wsl and target.distribution in {"ubuntu", "debian"}:
        return "wsl"
    return "rhel" if target.distribution in REBUILDS_OF_RHEL else target.distribution


def add_repository(target: Target, matrix: Matrix) -> tuple[Step, ...]:
    """The steps, or where to read them for a distribution that no row covers."""
    try:
        row = repository_row(target, matrix)
    except Uncovered:
        return (ByHand(f"add NVIDIA's package repository for this system: {matrix.page('cuda').url}"),)
    major = target.distribution_version.partition(".")[0]
    arch = "sbsa" if target.arch == "sbsa" else "x86_64"
    url = row.url.replace("{arch}", arch).replace("{version}", major)
    return _STEPS[row.manager](url, target, matrix)


def _apt(url: str, target: Target, matrix: Matrix) -> tuple[Step, ...]:
    rows: tuple[SigningKeyRow, ...] = matrix.rows("index", "keys")
    return (
        install(target, *_TOOLS, why="what fetches the package, and what reads its key")._replace(inverse=_STAY),
        FetchKeyring(
            url=url, to=_KEYRING, keyring=_INSIDE, fingerprints=tuple(row.fingerprint for row in rows), why=_FETCH
        ),
        Command(("dpkg", "-i", _KEYRING), _WHY, needs_root=True, inverse=_WITHOUT_KEYRING, staged=(_KEYRING,)),
        *refresh(target),
    )


def _dnf(url: str, target: Target, _: Matrix) -> tuple[Step, ...]:
    return (
        install(target, "dnf-plugins-core", why="dnf's config-manager"),
        Command(("dnf", "config-manager", "--add-repo", url), _WHY, needs_root=True, inverse=_without_file(url)),
    )


def _dnf5(url: str, _: Target, __: Matrix) -> tuple[Step, ...]:
    argv = ("dnf", "config-manager", "addrepo", f"--from-repofile={url}")
    return (Command(argv, _WHY, needs_root=True, inverse=_without_file(url)),)


def _zypper(url: str, target: Target, _: Matrix) -> tuple[Step, ...]:
    return (
        Command(("zypper", "addrepo", url), _WHY, needs_root=True, inverse=_without_alias(url, target)),
        Command(
            ("zypper", "--gpg-auto-import-keys", "refresh"),
            _WHY,
            needs_root=True,
            inverse=Inverse(left="the keys that were taken in stay: rpm -qa gpg-pubkey* lists them"),
        ),
    )


def _without_file(url: str) -> Inverse:
    """dnf keeps the file under its own name."""
    path = f"/etc/yum.repos.d/{url.rpartition('/')[2]}"
    return Inverse((("rm", "-f", path),), names=(path,), present=("test", "-e"))


def _without_alias(url: str, target: Target) -> Inverse:
    """The alias is the section's name in NVIDIA's file: cuda-sles15.repo has [cuda-sles15-x86_64]."""
    alias = f"{url.rpartition('/')[2].removesuffix('.repo')}-{'sbsa' if target.arch == 'sbsa' else 'x86_64'}"
    return Inverse((("zypper", "removerepo", alias),), names=(alias,), present=("zypper", "lr"))


_STEPS = {"apt": _apt, "dnf": _dnf, "dnf5": _dnf5, "zypper": _zypper}
