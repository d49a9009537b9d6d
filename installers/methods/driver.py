"""Install or update the NVIDIA driver from the distribution's or NVIDIA's packages.

Sources: Ubuntu Server documentation, "NVIDIA drivers installation" (`ubuntu-drivers install nvidia:BRANCH`); Debian
Wiki, "NvidiaGraphicsDrivers", and Debian's and Kali's own packages; NVIDIA Driver Installation Guide, chapters by
distribution, "Kernel Modules" and "Version locking" (`nvidia-open`, `cuda-drivers`, module streams `open-dkms`,
`latest-dkms`, `BRANCH-dkms`, `BRANCH-open`, `nvidia-driver-pinning-BRANCH`, `dnf versionlock`); its packaging guide for
RHEL 7 (`nvidia-driver-latest-dkms`, `nvidia-driver-branch-BRANCH`); the packages of ubuntu-drivers-common in Ubuntu
16.04 to 26.04; RPM Fusion, "Howto/NVIDIA"; zypper's manual (`NAME<VERSION`); openSUSE's SDB:NVIDIA_drivers
(`openSUSE-repos-Tumbleweed-NVIDIA`, G06 for branch 580, G07 for newer ones); Arch Wiki, "NVIDIA"; nvidia-installer's
help (`nvidia-uninstall` is the same program); AWS ParallelCluster's cookbook (kernel-modules-extra of Amazon Linux).
"""

from __future__ import annotations

from compat.matrix import Matrix, accepts
from compat.need import InstallDriver
from compat.row import BranchRow, OwnDriverRow
from installers.effect import DriverInstalled, Restarted
from installers.method import Method
from installers.methods import driver_elsewhere
from installers.packages import install, kernel_headers, manager_of, refresh
from installers.plan import Plan, Target
from installers.repository import add_repository, has_repository, system, third_party
from installers.requirement import spoken, wanted_version
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.command import Command, Inverse
from installers.steps.reboot import Reboot

_WHY = "install the NVIDIA driver"
_HOLDS = "pin the driver branch: updates stay in it"
_DNF5 = 41  # Fedora release from which dnf is dnf 5
_PINNED_FROM = 580  # branch from which NVIDIA's guide pins apt to a branch; older ones have it in the package's name
_LIKE_DEBIAN = frozenset({"kali", "devuan", "raspbian"})  # they have Debian's packages, and no tool of Ubuntu's
_AUTOINSTALL = frozenset({"16.04"})  # its ubuntu-drivers (0.4.17.7) has no `install` yet
_CHOSEN = Inverse(
    left="/var/log/apt/history.log lists its packages: remove them with apt-get purge. "
    "To restore the old driver: ubuntu-drivers install nvidia:BRANCH"
)
_RESTART = Reboot("reboot")
OPEN, PROPRIETARY = "open", "proprietary"
# NVIDIA Driver Installation Guide, "Kernel Modules": open is the default from 560 on; release 615, "Proprietary Kernel
# Modules Removed" (the row of 620 says the same).
OPEN_BY_DEFAULT_FROM, OPEN_ONLY_FROM = 560, 615
_FLAVOURS_BY_TOOL = (20, 4)  # Ubuntu release from which ubuntu-drivers takes "nvidia:580-open"


def serves(need: InstallDriver, target: Target) -> bool:
    """The driver of a Linux machine itself, where its package manager is known."""
    is_own = not target.wsl and not target.container
    return is_own and manager_of(target) != "" and not driver_elsewhere.has_own_way(target)


def plan(need: InstallDriver, target: Target, matrix: Matrix) -> Plan:
    """The kernel's headers first: without them DKMS builds nothing, and says so only in its log.

    Where any driver will do, the distribution's own choice for the card is the best.
    """
    branch = branch_for(need.versions, matrix) if need.versions or need.flavour == OPEN else 0
    steps = _WRITERS[manager_of(target)](need, target, matrix, branch)
    flavour = f"NVIDIA driver with the {need.flavour} kernel module" if need.flavour else "NVIDIA driver"
    summary = f"install the {flavour}{',' if need.versions else ''}{spoken(need.versions)}"
    done = isinstance(steps[-1], Command)  # else a person installs it
    if done:  # as late as can be: where something before fails, the machine is as it was
        steps = (*steps[:-1], *_taken_away(target), steps[-1])
    return Plan(summary, (*steps, _RESTART), (_effect(need, target, branch), Restarted()) if done else ())


def _taken_away(target: Target) -> tuple[Step, ...]:
    """What NVIDIA's runfile laid goes first: libraries of two releases would stay beside each other."""
    if target.driver_by != "runfile":
        return ()
    left = Inverse(left="only NVIDIA's .run installer can restore that driver")
    argv = ("nvidia-uninstall", "--silent")
    return (Command(argv, "NVIDIA's .run installer installed the current driver", needs_root=True, inverse=left),)


def flavour_of(need: InstallDriver, branch: int) -> str:
    """The flavour that is asked for, else NVIDIA's default for the branch; 0 is the newest."""
    return need.flavour or (OPEN if not branch or branch >= OPEN_BY_DEFAULT_FROM else PROPRIETARY)


def _is_legacy(branch: int, matrix: Matrix) -> bool:
    rows: tuple[BranchRow, ...] = matrix.rows("driver", "branches")
    return any((row.branch, row.kind) == (branch, "legacy") for row in rows)


def _effect(need: InstallDriver, target: Target, branch: int) -> DriverInstalled:
    """Arch has the open module alone, whatever was asked for; a branch that is not pinned moves on to the newest."""
    manager = manager_of(target)
    pinned = need.versions != "" and (target.distribution == "debian" or manager == "dnf")
    by_nvidia = manager in {"yum", "dnf", "zypper"} or target.distribution == "debian"
    flavour = flavour_of(need, branch) if by_nvidia else OPEN if manager == "pacman" else need.flavour
    if target.driver_by == "rpmfusion" or manager == "yum":
        flavour = need.flavour
    return DriverInstalled(f"=={branch}.*" if branch and manager != "pacman" else "", flavour, held=pinned)


def branch_for(specifier: str, matrix: Matrix) -> int:
    """The oldest branch with a future that a specifier admits, else the one it names; 0 where it names none.

    The oldest, because a newer branch may have dropped the card.
    """
    rows: tuple[BranchRow, ...] = matrix.rows("driver", "branches")
    today = matrix.as_of()
    for row in sorted(rows, key=lambda row: row.branch):
        lasting = row.kind in {"long-term", "production"} and (not row.end_of_life or row.end_of_life >= today[:7])
        # an unbounded release of the branch: ">=580.65.06" is met by branch 580
        if lasting and accepts(specifier, f"{row.branch}.999"):
            return row.branch
    named = wanted_version(specifier).partition(".")[0]
    return int(named) if named else 0


def _apt(need: InstallDriver, target: Target, matrix: Matrix, branch: int) -> tuple[Step, ...]:
    headers = install(target, *kernel_headers(target, target.kernel), why="install kernel headers")
    if target.distribution in _LIKE_DEBIAN or (target.distribution == "debian" and not has_repository(target, matrix)):
        return _unstable(need, target, matrix, headers, branch)
    if target.distribution == "debian":
        return _debian(need, target, matrix, headers, branch)
    offered = _offered(branch, target, matrix)
    flavour = "-open" if need.flavour == OPEN else ""
    name = f"nvidia-driver-{branch}{flavour}"
    if offered and (not offered.brings[target.distribution_version] or flavour not in offered.flavours):
        return (_elsewhere(name, offered, target, matrix),)
    if offered and _is_legacy(branch, matrix) and _moved(offered, target):
        return (_elsewhere(name, offered, target, matrix),)
    return (*_moved(offered, target), *_ubuntu(need, target, headers, branch))


def _ubuntu(need: InstallDriver, target: Target, headers: Command, branch: int) -> tuple[Step, ...]:
    open_too = _numbers(target.distribution_version) >= _FLAVOURS_BY_TOOL
    if need.flavour == OPEN and not open_too:
        return (*refresh(target), headers, install(target, f"nvidia-driver-{branch}-open", why=_WHY))
    if target.distribution_version in _AUTOINSTALL and branch:
        return (*refresh(target), headers, install(target, f"nvidia-{branch}", why=_WHY))
    install_it = "autoinstall" if target.distribution_version in _AUTOINSTALL else "install"
    driver = (f"nvidia:{branch}{'-open' if need.flavour == OPEN else ''}",) if branch else ()
    return (
        *refresh(target),
        install(target, "ubuntu-drivers-common", why="install ubuntu-drivers, which chooses the signed packages"),
        Command(("ubuntu-drivers", install_it, *driver), _WHY, needs_root=True, timeout_s=3600, inverse=_CHOSEN),
    )


def _offered(branch: int, target: Target, matrix: Matrix) -> OwnDriverRow | None:
    """The row of a branch, if it speaks of this release of the distribution."""
    rows: tuple[OwnDriverRow, ...] = matrix.rows("index", "drivers")
    here = [row for row in rows if (row.distribution, row.branch) == (target.distribution, branch)]
    return here[0] if here and target.distribution_version in here[0].brings else None


def _elsewhere(name: str, row: OwnDriverRow, target: Target, matrix: Matrix) -> ByHand:
    """No package of that name is there, or it brings a branch that dropped the card: what has it."""
    here = target.distribution_version
    at = [version for version, brings in row.brings.items() if brings == row.branch]
    have = f"; {', '.join(at)} have it" if at and name.endswith(str(row.branch)) else ""
    upgrade = ", or upgrade the system" if not at or max(map(_numbers, at)) > _numbers(here) else ""
    url = matrix.page("driver").url
    brings, lacks = row.brings[here], f"{_system(target)} has no {name}{have}"
    if brings not in {0, row.branch}:
        lacks = f"{name} of {_system(target)} has {brings}, which is for newer cards{have}"
    return ByHand(f"install the driver with NVIDIA's .run installer from {url}{upgrade}", lacks)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(one) for one in version.split(".") if one.isdigit())


def _system(target: Target) -> str:
    return f"{target.distribution.capitalize()} {target.distribution_version}"


def _moved(row: OwnDriverRow | None, target: Target) -> tuple[ByHand, ...]:
    """A branch that has ended is a name for the next one."""
    brings = row.brings[target.distribution_version] if row else 0
    if row is None or brings == row.branch:
        return ()
    package = f"nvidia-driver-{row.branch}"
    return (
        ByHand(
            f"check first what would change: apt-get -s install {package}",
            f"{package} of {_system(target)} now has {brings}",
        ),
    )


def _debian(need: InstallDriver, target: Target, matrix: Matrix, headers: Command, branch: int) -> tuple[Step, ...]:
    """NVIDIA's repository: a Debian release keeps the driver branch that it came with."""
    own = _offered(branch, target, matrix)
    if own:
        # Branches that NVIDIA's repository for that release never had.
        debian_own = _OF_DEBIAN[own.branch]
        if not own.brings[target.distribution_version]:
            return (_elsewhere(debian_own, own, target, matrix),)
        parts = _components("contrib", "non-free")
        return (parts, *refresh(target), headers, install(target, debian_own, why=_WHY))
    package, steps = _meta(need, branch), (_components("contrib"), *add_repository(target, matrix), headers)
    if not need.versions:
        return (*steps, install(target, package, why=_WHY))
    if branch < _PINNED_FROM:
        return (*steps, install(target, f"{package}-{branch}", why=_WHY))
    pin = install(target, f"nvidia-driver-pinning-{branch}", why=_HOLDS)
    return (*steps, pin, install(target, package, why=_WHY))


def _components(*names: str) -> Command:
    """Debian's components in a file of their own beside its sources of either form: an undo removes it.

    Sources: NVIDIA Driver Installation Guide, "Debian", "Preparation" (contrib); sources.list(5); apt-get(8).
    """
    wanted = " ".join(names)
    one_line = f"s/^(deb (\\[[^]]*\\] )?[a-z+]+:[^ ]+ [^ ]+) main( .*)?$/\\1 {wanted}/p"
    make = (
        f"cd /etc/apt/sources.list.d && {{ sed -nE '{one_line}' ../sources.list >{_OWN}.list; "
        f"sed -E 's/^Components:.*/Components: {wanted}/' debian.sources >{_OWN}.sources; }} 2>/dev/null; "
        f"find {_OWN}.list {_OWN}.sources -empty -delete; ls {_OWN}.*"
    )
    files = tuple(f"/etc/apt/sources.list.d/{_OWN}.{form}" for form in ("list", "sources"))
    return Command(
        ("sh", "-c", make),
        f"enable Debian's {' and '.join(names)}",
        needs_root=True,
        inverse=Inverse((("rm", "-f", *files),)),
        unless=("grep", "-rqsE", f"^(deb .*|Components:.*) {names[-1]}( |$)", *_SOURCES),
    )


_OWN, _SOURCES = "gpudoctor", ("/etc/apt/sources.list", "/etc/apt/sources.list.d")
_OF_DEBIAN = {390: "nvidia-legacy-390xx-driver", 470: "nvidia-tesla-470-driver"}


def _unstable(need: InstallDriver, target: Target, matrix: Matrix, headers: Command, branch: int) -> tuple[Step, ...]:
    """Kali's own packages, and those of Debian's testing and unstable: none drives what needs the open module."""
    if need.flavour == OPEN:
        return (ByHand(f"install the driver with NVIDIA's .run installer from {matrix.page('driver').url}"),)
    parts = (_components("contrib", "non-free"),) if target.distribution != "kali" else ()
    driver = install(target, _OF_DEBIAN.get(branch, "nvidia-driver"), why=_WHY)
    return (*parts, *refresh(target), headers, driver)


def _meta(need: InstallDriver, branch: int) -> str:
    return "nvidia-open" if flavour_of(need, branch) == OPEN else "cuda-drivers"


def _dnf(need: InstallDriver, target: Target, matrix: Matrix, branch: int) -> tuple[Step, ...]:
    headers = install(target, *kernel_headers(target, target.kernel), why="install kernel headers")
    by_rpm_fusion = target.driver_by == "rpmfusion" or _is_legacy(branch, matrix) or not has_repository(target, matrix)
    if target.distribution == "fedora" and by_rpm_fusion:
        return _rpm_fusion(need, target, branch)
    if target.distribution == "amzn":
        headers = install(
            target, *headers.argv[3:], "kernel-modules-extra", why="install kernel headers and DRM modules"
        )
    steps = (*add_repository(target, matrix), *third_party(target, matrix), headers)
    major = target.distribution_version.partition(".")[0]
    if target.distribution == "amzn" or (target.distribution != "fedora" and major in {"8", "9"}):
        stream = _stream(need, branch)
        argv = ("dnf", "module", "install", "-y", f"nvidia-driver:{stream}")
        reset = Command(_RESET, "disable the module stream of another driver", needs_root=True, inverse=_STREAM_STAYS)
        module = f"nvidia-driver:{stream}"
        out = (("dnf", "module", "remove", "-y", module), ("dnf", "module", "reset", "-y", "nvidia-driver"))
        driver = Command(
            argv, _WHY, needs_root=True, timeout_s=3600, inverse=Inverse(out, "the old driver is not restored; reboot")
        )
        return (*steps, reset, driver)
    lock = _locked(target, branch) if need.versions.startswith("==") else ()
    return (*steps, *lock, install(target, _meta(need, branch), why=_WHY))


_RESET = ("dnf", "module", "reset", "-y", "nvidia-driver")
_STREAM_STAYS = Inverse(left="the former stream is not enabled again")


def _rpm_fusion(need: InstallDriver, target: Target, branch: int) -> tuple[Step, ...]:
    """Its packages conflict with NVIDIA's own; a branch that dropped cards is a package apart."""
    suffix = f"-{branch}xx" if need.versions.startswith("==") else ""
    names = (f"akmod-nvidia{suffix}", f"xorg-x11-drv-nvidia{suffix}-cuda")
    enabled = ByHand("enable RPM Fusion's nonfree repository, which has the driver, if it is not enabled yet")
    if target.driver_by != "rpmfusion":
        return (enabled, install(target, *names, why=_WHY))
    undo = Inverse(left="`dnf history undo last` restores the former packages if the repository still has them")
    argv = ("dnf", "install", "--refresh", "--allowerasing", "-y", *names)
    build = Command(("akmods", "--force"), "build its module now", needs_root=True, timeout_s=1800, inverse=undo)
    return (Command(argv, "RPM Fusion's driver is here", needs_root=True, timeout_s=3600, inverse=undo), build)


def _yum(need: InstallDriver, target: Target, matrix: Matrix, branch: int) -> tuple[Step, ...]:
    """RHEL 7 has a package a branch, and one that is always the newest."""
    headers = install(target, *kernel_headers(target, target.kernel), why="install kernel headers")
    package = f"nvidia-driver-branch-{branch}" if need.versions else "nvidia-driver-latest-dkms"
    if need.flavour == OPEN or not has_repository(target, matrix):
        flavour = " and its open kernel module" if need.flavour == OPEN else ""
        lacks = f"NVIDIA has no package of it for {system(target)}"
        return (headers, ByHand(f"install the driver with NVIDIA's .run installer{flavour}", lacks))
    return (*add_repository(target, matrix), *third_party(target, matrix), headers, install(target, package, why=_WHY))


def _stream(need: InstallDriver, branch: int) -> str:
    if flavour_of(need, branch) == OPEN:
        return f"{branch}-open" if need.versions else "open-dkms"
    return f"{branch}-dkms" if branch else "latest-dkms"


def _locked(target: Target, branch: int) -> tuple[Step, ...]:
    """dnf 4 has the command in a plugin, dnf 5 of Fedora 41 and later in itself."""
    pattern = f"*nvidia*{branch}*"
    undo = Inverse((("dnf", "versionlock", "delete", pattern),))
    lock = Command(("dnf", "versionlock", "add", pattern), _HOLDS, needs_root=True, inverse=undo)
    if target.distribution == "fedora" and int(target.distribution_version.partition(".")[0] or _DNF5) >= _DNF5:
        return (lock,)
    return (install(target, "python3-dnf-plugin-versionlock", why="dnf's versionlock"), lock)


def _zypper(need: InstallDriver, target: Target, matrix: Matrix, branch: int) -> tuple[Step, ...]:
    if target.distribution == "opensuse-tumbleweed":
        return _tumbleweed(need, target, matrix, branch)
    headers = install(target, *kernel_headers(target, target.kernel), why="install kernel headers")
    name = _meta(need, branch)
    package = f"{name}<{branch + 1}" if need.versions else name
    return (*add_repository(target, matrix), headers, install(target, package, why=_WHY))


def _tumbleweed(need: InstallDriver, target: Target, matrix: Matrix, branch: int) -> tuple[Step, ...]:
    """NVIDIA's repository of graphics drivers, which a package of openSUSE names; it has no legacy branch but 580."""
    if need.versions.startswith("==") and _is_legacy(branch, matrix):
        url = matrix.page("driver").url
        return (ByHand(f"install the driver {branch} with NVIDIA's runfile from {url}", "no package has it"),)
    old = need.versions.startswith("==")
    names = (
        ("nvidia-driver-G06-kmp-meta", "nvidia-userspace-meta-G06")
        if old
        else ("nvidia-open-driver-G07-signed-kmp-meta", "nvidia-userspace-meta-G07")
    )
    keys = Command(("zypper", "--gpg-auto-import-keys", "refresh"), "its signing key", needs_root=True)
    argv = ("zypper", "--non-interactive", "install", "--auto-agree-with-licenses", *names)
    undo = Inverse((("zypper", "--non-interactive", "remove", *names),))
    return (
        install(target, "openSUSE-repos-Tumbleweed-NVIDIA", why="NVIDIA's repository for it"),
        keys._replace(inverse=Inverse(left="the accepted keys stay: rpm -qa gpg-pubkey* lists them")),
        Command(argv, _WHY, needs_root=True, timeout_s=3600, inverse=undo),
    )


def _pacman(need: InstallDriver, target: Target, matrix: Matrix, branch: int) -> tuple[Step, ...]:
    """Arch carries one release, with the open module, for Turing and newer; older cards use the AUR."""
    if need.versions.startswith("=="):
        headers = install(target, *kernel_headers(target, target.kernel), why="install kernel headers")
        text = f"install nvidia-{branch}xx-dkms and nvidia-{branch}xx-utils from the AUR, in place of nvidia-open"
        return (headers, ByHand(text, "the distribution's repositories have only the newest branch"))
    return (install(target, *kernel_headers(target, target.kernel), "nvidia-open-dkms", "nvidia-utils", why=_WHY),)


_WRITERS = {"apt": _apt, "yum": _yum, "dnf": _dnf, "zypper": _zypper, "pacman": _pacman}

METHOD = Method(InstallDriver, "the driver from packages", plan, serves)
