"""The loaded kernel module and the driver's libraries are of different releases."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import (
    Advice,
    InstallDriver,
    InstallModulePackage,
    Need,
    RemoveDriverLeftovers,
    RestartMachine,
    SetGlxAlternative,
)
from compat.version import DriverRelease
from doctor.model.facts import Facts, Machine
from doctor.model.facts.driver import DriverLibrary, ModuleFile, kernel_order
from doctor.model.facts.seen import Seen, Unseen, value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.conditions import (
    container,
    loading_library,
    module_is_loaded,
    need_kernel_driver,
    nvml_code,
    nvml_evidence,
    nvml_works,
)
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE

_MISMATCH = 18  # NVML_ERROR_LIB_RM_VERSION_MISMATCH, nvml.h
_STEMS = ("libcuda", "libnvidia-ml", "libnvidia-ptxjitcompiler")
_RELOAD = (
    "Or, if no program and no screen uses the GPU, reload the module: 'sudo modprobe -r nvidia_drm "
    "nvidia_modeset nvidia_uvm nvidia', then 'sudo modprobe nvidia'."
)
_ANEW = "Create this container again: the GPU runtime then adds the libraries of the loaded driver."
_READY = r"/kernel/nvidia-\d+((?:-server)?(?:-open)?)/"
_OWN_LIBRARIES = (
    "Install the libraries of the host's driver {release} in this container, without the kernel module: 'sudo sh "
    "./NVIDIA-Linux-*-{release}.run --no-kernel-modules'; or let LXD or Incus add them: 'lxc config set CONTAINER "
    "nvidia.runtime=true', and restart it."
)


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Compare the module's own release with that of each library that loads; NVML's word counts first."""
    need_kernel_driver(facts)
    if nvml_code(facts) == _MISMATCH:
        return _mismatch(facts, _others(facts, value_or(facts.driver.module_release, None)))
    if not module_is_loaded(facts):
        raise NotApplicable("no nvidia kernel module is loaded")
    if nvml_works(facts) and (isinstance(facts.driver.module_release, Unseen) or _unlisted(facts)):
        return ok("NVML works, and it refuses another version")
    release = facts.driver.module_release.get()
    if all(loading_library(facts, stem) is None for stem in _STEMS):
        raise NotApplicable("no driver library with a known version was found")
    others = _others(facts, release)
    return _mismatch(facts, others) if others else ok(f"module and libraries have version {release}")


def _unlisted(facts: Facts) -> bool:
    return isinstance(facts.driver.libraries, Unseen)


def _others(facts: Facts, release: DriverRelease | None) -> tuple[DriverLibrary, ...]:
    """Libraries that load and are not of this release; cuda-compat and stubs are other rules' business."""
    if not isinstance(facts.driver.libraries, Seen) or release is None:
        return ()
    found = (loading_library(facts, stem) for stem in _STEMS)
    return tuple(one for one in found if one and one.origin == "system" and one.release != release)


def _mismatch(facts: Facts, others: tuple[DriverLibrary, ...]) -> Answer:
    module = facts.driver.module_release
    loaded = (
        f"the loaded kernel module is {module.value}" if isinstance(module, Seen) else "the kernel module is loaded"
    )
    libraries = f"{others[0].stem} is {others[0].release}" if others else "the driver libraries have another version"
    why, needs = _cause(facts, others)
    return bad(
        f"{loaded}, but {libraries}: {why}",
        *needs,
        evidence=(
            *nvml_evidence(facts),
            *((Evidence.of(module, f"module {module.value}"),) if isinstance(module, Seen) else ()),
            *(Evidence(f"version {one.release}, the loaded one", file=one.path) for one in others),
            *(
                Evidence(f"version {one.release.get()}, for this kernel", file=one.path)
                for one in _unlike(facts, others)
            ),
        ),
        explains=(Symptom("fabric-manager-not-running"), Symptom("nvml-error")),
        places=tuple(one.path for one in [_aside(facts, others)] if one),
    )


def _cause(facts: Facts, others: tuple[DriverLibrary, ...]) -> tuple[str, tuple[Need, ...]]:
    """A restart fixes it where the module on disk is that of the libraries, or it is unknown that it is another."""
    aside = _aside(facts, others)
    if aside:
        # Its directory is called as that of the alternative: lib/x86_64-linux-gnu/nvidia/current.
        name = aside.path.rpartition("/")[0].rpartition("/")[2]
        return f"Debian's alternative 'nvidia' does not point to {aside.path}", (
            SetGlxAlternative(str(aside.release), f"/usr/lib/nvidia/{name}"),
        )
    if container(facts) or not _unlike(facts, others):
        return "the driver was updated, but the old module is still loaded", _needs(facts)
    right = _beside(facts, others[0])
    if right:
        pattern = f"lib*.so.{others[0].release}"
        runfile = value_or(facts.driver.brought_by, "") == "runfile"
        needs = (RemoveDriverLeftovers(others[0].path, pattern, by_runfile=runfile),)
        return f"{others[0].path} is from another installation and comes before {right.path}", needs
    why = "packages of two drivers are mixed; a reboot loads the same module again"
    return why, (_of_libraries(others[0].release, _unlike(facts, others)),)


def _of_libraries(release: DriverRelease, modules: tuple[ModuleFile, ...]) -> Need:
    """Ubuntu's ready modules stay at the release that they had when their kernel came: DKMS builds the other one."""
    import re  # late: few machines have such a fault

    ready = next((found for one in modules if (found := re.search(_READY, one.path))), None)
    if ready is None:
        return InstallDriver(f"=={release}")
    return InstallModulePackage(modules[0].kernel, f"nvidia-dkms-{release.branch}{ready[1]}", str(release))


def _unlike(facts: Facts, others: tuple[DriverLibrary, ...]) -> tuple[ModuleFile, ...]:
    """The modules that the next start would take, where they are of another release than the libraries, too."""
    kernel = value_or(facts.system.kernel, "")
    here = [one for one in value_or(facts.driver.module_files, ()) if one.kernel == kernel]
    known = [one for one in here if isinstance(one.release, Seen)]
    newest = max((one.kernel for one in value_or(facts.driver.module_files, ())), key=kernel_order, default="")
    if not others or len(known) < len(here) or newest != kernel:
        return ()
    return tuple(known) if all(one.release.get() != others[0].release for one in known) else ()


def _beside(facts: Facts, other: DriverLibrary) -> DriverLibrary | None:
    """The library of the module's release, in the same directory as the one that loads."""
    release, folder = value_or(facts.driver.module_release, None), other.path.rpartition("/")[0]
    return next(
        (
            one
            for one in value_or(facts.driver.libraries, ())
            if one.stem == other.stem and one.release == release and one.path.rpartition("/")[0] == folder
        ),
        None,
    )


def _aside(facts: Facts, others: tuple[DriverLibrary, ...]) -> DriverLibrary | None:
    """The library of the module's release, where Debian's alternatives lead to another driver's directory beside it.

    Source: README.alternatives of Debian's nvidia-graphics-drivers: several drivers are in lib/*/nvidia/NAME.
    """
    release = value_or(facts.driver.module_release, None)
    chosen = {(one.stem, _collection(one)) for one in others if _collection(one)}
    for one in value_or(facts.driver.libraries, ()):
        if not one.loads and one.release == release and (one.stem, _collection(one)) in chosen:
            return one
    return None


def _collection(library: DriverLibrary) -> str:
    """The directory that holds the directories of several drivers, "" where it is in none."""
    folder = library.path.rpartition("/")[0].rpartition("/")[0]
    return folder if folder.endswith("/nvidia") else ""


def _needs(facts: Facts) -> tuple[Need, ...]:
    """A restart loads the module that belongs to the libraries; nothing is to be installed."""
    release = value_or(facts.driver.module_release, None)
    if container(facts) == "lxc" and release:
        return (Advice(_OWN_LIBRARIES.format(release=release)),)
    if container(facts):
        return (Advice(_ANEW),)
    return (RestartMachine(), Advice(_RELOAD))


RULE = Rule(MACHINE, check)
