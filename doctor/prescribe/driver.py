"""What an installed driver is to a machine, and whether its module starts there."""

from __future__ import annotations

from compat.matrix import Matrix, Uncovered, accepts
from compat.row import BranchRow
from compat.version import CudaVersion, DriverRelease
from doctor.model.facts import Facts
from doctor.model.facts.driver import DeviceNode, DriverFacts, DriverLibrary, ModuleFile, Nvml
from doctor.model.facts.gpu import Gpu, GpuNow
from doctor.model.facts.seen import Fact, Seen, Unseen, all_unseen, value_or
from doctor.prescribe.simulated_machine import SimulatedMachine
from doctor.rules.shared import cards
from installers.requirement import exact_version

_HOW = "a remedy"
_MODULES = ("nvidia", "nvidia_uvm", "nvidia_modeset", "nvidia_drm")
_LATEST = 999  # the newest release of a branch, whatever it is: packages bring that one
_RIVALS = ("nouveau", "nova_core")
_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")


def release_of(spec: str, matrix: Matrix) -> DriverRelease | None:
    """The release that packages bring for a specifier; None where the matrix has no branch for it."""
    exact = exact_version(spec)
    if exact:
        return DriverRelease.parse(exact)
    rows: tuple[BranchRow, ...] = matrix.rows("driver", "branches")
    known = [row.branch for row in rows if not spec or accepts(spec, f"{row.branch}.{_LATEST}")]
    lasting = [row.branch for row in rows if row.branch in known and _lasts(row, matrix)]
    found = max(lasting or known, default=None)
    return DriverRelease((found, _LATEST)) if found else None


def _lasts(row: BranchRow, matrix: Matrix) -> bool:
    return row.kind in {"long-term", "production"} and (row.end_of_life or "9999") >= matrix.as_of()[:7]


def installed(world: SimulatedMachine, release: DriverRelease, flavour: str) -> SimulatedMachine:
    """With the packages of a release: its libraries, and its module for the kernel that runs."""
    facts, kernel = world.facts, value_or(world.facts.system.kernel, "")
    kept = tuple(one for one in value_or(facts.driver.libraries, ()) if one.origin not in {"system"})
    folder = "/usr/lib/x86_64-linux-gnu"
    made = tuple(
        DriverLibrary(
            path=f"{folder}/{stem}.so.{release}",
            stem=stem,
            release=release,
            origin="system",
            loads=not any(one.loads for one in kept),
        )
        for stem in ("libcuda", "libnvidia-ml", "libnvidia-ptxjitcompiler")
    )
    module = ModuleFile(
        path=f"/lib/modules/{kernel}/updates/dkms/nvidia.ko",
        kernel=kernel,
        release=Seen(release, _HOW),
        flavour=Seen(flavour, _HOW) if flavour else Unseen("the package manager chooses the module type"),
        signed=_signature(facts),
    )
    driver = facts.driver._replace(
        libraries=Seen((*kept, *made), _HOW), module_files=Seen((module,), _HOW), dkms=Seen((), _HOW)
    )
    return world._replace(facts=facts._replace(driver=driver), has_new_driver=True)


def _signature(facts: Facts) -> Fact[bool]:
    if value_or(facts.system.secure_boot, False):
        return Unseen("the next boot shows whether its key is enrolled")
    return Seen(False, _HOW)


def refused(facts: Facts, release: DriverRelease, flavour: str, matrix: Matrix) -> str:
    """Why a driver does not start some card here, "" where nothing is known against it."""
    whys = (cards.refused(row, release, flavour, matrix) for row in cards.generations(facts, matrix))
    return next(filter(None, whys), "")


def started(world: SimulatedMachine) -> SimulatedMachine:
    """The module that is installed for this kernel runs, if it can; else all stays as it is."""
    facts, kernel = world.facts, value_or(world.facts.system.kernel, "")
    files = [one for one in value_or(facts.driver.module_files, ()) if one.kernel == kernel]
    if not files or not isinstance(files[0].release, Seen):
        return world
    file = files[0]
    release, flavour = file.release.get(), value_or(file.flavour, "")
    if refused(facts, release, flavour, world.matrix) or _is_refused_by_firmware(world, file):
        return world
    pci = tuple(
        card._replace(driver="nvidia") if card.driver in {"", *_RIVALS} else card for card in value_or(facts.pci, ())
    )
    facts = facts._replace(
        driver=_running(facts.driver, release, file, len(pci) or len(value_or(facts.gpus, ())), world.matrix),
        pci=Seen(pci, _HOW) if isinstance(facts.pci, Seen) else facts.pci,
        gpus=_named(facts.gpus) if value_or(facts.gpus, ()) else Seen(tuple(_card(n) for n in range(len(pci))), _HOW),
        system=facts.system._replace(kernel_log=Seen((), _HOW)),
    )
    return world._replace(facts=facts)


def _is_refused_by_firmware(world: SimulatedMachine, file: ModuleFile) -> bool:
    return (
        value_or(world.facts.system.secure_boot, False) and not world.trusts_module and not value_or(file.signed, True)
    )


def _running(driver: DriverFacts, release: DriverRelease, file: ModuleFile, cards: int, matrix: Matrix) -> DriverFacts:
    rivals = tuple(one for one in value_or(driver.modules_loaded, ()) if one not in {*_MODULES, *_RIVALS})
    return driver._replace(
        release=Seen(release, _HOW),
        module_release=Seen(release, _HOW),
        flavour=file.flavour,
        cuda=_cuda(release, matrix),
        modules_loaded=Seen((*_MODULES, *rivals), _HOW),
        nodes=Seen(nodes(cards), _HOW),
        nvml=Seen(Nvml("libnvidia-ml.so.1", "ok", "", 0), _HOW),
    )


def _cuda(release: DriverRelease, matrix: Matrix) -> Fact[CudaVersion]:
    try:
        newest = matrix.branch(release).cuda_max
        return (
            Seen(newest, _HOW) if newest else Unseen(f"the CUDA version of driver branch {release.branch} is unknown")
        )
    except Uncovered as error:
        return Unseen(str(error))


def nodes(cards: int) -> tuple[DeviceNode, ...]:
    """The device nodes of a driver, open to everybody, as the driver makes them by default."""
    paths = (*(f"/dev/nvidia{number}" for number in range(cards)), *_NODES)
    return tuple(
        DeviceNode(path=path, mode=0o666, uid=0, gid=0, group="root", openable=Seen(True, _HOW))
        for path in sorted(paths)
    )


def _card(number: int) -> Gpu:
    """A card that no driver has shown yet."""
    why = "the driver is not running yet"
    blank: Gpu = all_unseen(Gpu, why)
    return blank._replace(number=number, now=all_unseen(GpuNow, why))


def _named(gpus: Fact[tuple[Gpu, ...]]) -> Fact[tuple[Gpu, ...]]:
    """The same cards, none of them refused."""
    if isinstance(gpus, Unseen):
        return gpus
    return Seen(tuple(one._replace(refused="", refused_code=0) for one in gpus.value), gpus.how)
