"""A library that is none of CUDA's, which a framework's libraries need, is not found or is damaged."""

from __future__ import annotations

import posixpath

from compat.matrix import Matrix
from compat.need import Advice, ChangePackages, GiveGpus, InstallDriver, InstallPackage, InstallSystemLibrary, Need
from compat.traits import traits_of
from doctor.model.facts import Facts
from doctor.model.facts.driver import LINKED_TO
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.loader import Outcome, Prediction
from doctor.model.facts.seen import Unseen, value_or
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.builds import import_symptoms, installed, is_of_the_base
from doctor.rules.shared.conditions import NIX, container, loading_library, wsl
from doctor.rules.shared.cuda_libraries import absent_pins, with_directories
from doctor.rules.shared.cudnn_use import out_of_variable, predictions_for
from doctor.rules.shared.extensions import asked_of_torch
from doctor.rules.shared.pins import Pin, pin
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS, environment_of, need_linux

# glibc's own libraries, as torch's wheels ask for them (PEP 513 lists the names); musl is one file, named otherwise.
_OF_GLIBC = frozenset(("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"))


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """What its process asks for by its libraries' own lists (DT_NEEDED): without one of them a library is refused."""
    need_linux(facts)
    told = predictions_for(framework, facts)
    if not told:
        raise NotApplicable(f"the libraries that {framework.label} opens are unknown, or it opens none")
    lost = tuple(one for one in told if not one.is_cuda and not one.optional and not _lacks_for_all(one.soname, facts))
    if lost and all(is_of_the_base(one.library, framework, facts) for one in lost):
        raise NotApplicable(f"the libraries of {traits_of(framework.package).runs_on} need them, and that is checked")
    if not lost:
        for one in told:
            if not one.soname:
                one.path.get()  # the process could not be followed to its end
        return ok(f"every other library that {framework.label} needs was found")
    one = lost[0]
    what = (
        f"is too old: {one.damaged} has no {one.lacks_version}"
        if one.lacks_version
        else f"is missing{_more(lost)}"
        if one.outcome is Outcome.MISSING
        else f"is damaged: {one.damaged}"
    )
    return bad(
        f"{framework.label} cannot be imported: {one.soname} {what}",
        *_needs(one, framework, facts, matrix),
        evidence=tuple(Evidence(_why(each), file=each.library) for each in lost),
        explains=import_symptoms(framework),
    )


def _lacks_for_all(soname: str, facts: Facts) -> bool:
    """Whether it is the driver's, and libcuda was not found here by any program, of which the driver's rules judge.

    They judge neither NVML's library beside a libcuda that is found, nor a libcuda of NixOS or in a container of WSL
    that is there and not searched, nor the libraries of a Jetson.
    """
    if soname not in LINKED_TO:
        return False
    if isinstance(facts.driver.libraries, Unseen):
        return True
    if loading_library(facts, "libcuda"):
        return False
    return not facts.has_gpu or not (value_or(facts.system.jetson, "") or _in_directories_of_few(facts))


def _in_directories_of_few(facts: Facts) -> str:
    """The directory of a libcuda that only some programs look into, which no rule of the driver is about."""
    of_few = bool(value_or(facts.system.jetson, "") or (wsl(facts) and container(facts)))
    there = (one for one in value_or(facts.driver.libraries, ()) if one.stem == "libcuda" and one.origin != "stub")
    paths = (one.path for one in there if not one.loads and (of_few or one.path.startswith(NIX)))
    return next(map(posixpath.dirname, paths), "")


def _of_the_driver(one: Prediction, facts: Facts) -> Need:
    """What brings a library of the driver, which no package of Python's and none in a container may bring."""
    if folder := _in_directories_of_few(facts):
        return with_directories((folder,), facts)
    found = loading_library(facts, one.soname.partition(".")[0])
    if found and not one.damaged:
        return Advice(
            f"Create a directory with only a symlink {one.soname} to {found.path}, and add it to LD_LIBRARY_PATH. "
            f"The loader of {one.library or 'this Python'} does not search {posixpath.dirname(found.path)}."
        )
    inside = container(facts)
    if value_or(facts.system.jetson, ""):
        packages = "Install the driver libraries of Jetson Linux (nvidia-l4t-*), in the version that runs here."
        return Advice("Start the container again with --runtime nvidia." if inside else packages)
    if inside:
        return GiveGpus(inside)
    release = value_or(facts.driver.module_release, None)
    return InstallDriver(f"=={release}" if release else "")


def _more(lost: tuple[Prediction, ...]) -> str:
    return f", and {len(lost) - 1} more" if len(lost) > 1 else ""


def _why(one: Prediction) -> str:
    return one.path.why if isinstance(one.path, Unseen) else f"needs {one.soname}"


def _needs(one: Prediction, framework: Framework, facts: Facts, matrix: Matrix) -> tuple[Need, ...]:
    """What led to a damaged file goes; the system's library comes by its package, NVIDIA's by the wheel that is pinned.

    The rest comes with the framework, unless the lists of files tell that no package there has it.
    """
    from compat.platform import system_library  # late: only a finding needs its rows

    out = out_of_variable(one)
    if out:
        return (out,)
    if one.soname in _OF_GLIBC and value_or(facts.system.distribution_id, "") == "alpine":
        text = f"Use a system or container image with glibc: {framework.label} needs it, and Alpine has musl."
        return (Advice(text),)
    if one.soname in LINKED_TO:
        return (_of_the_driver(one, facts),)
    if system_library(one.soname, matrix):
        return (InstallSystemLibrary(one.soname, reinstall=bool(one.damaged)),)
    environment = environment_of(framework, facts)
    base = _cpu_base(framework, environment)
    if base and one.soname in asked_of_torch(framework.package, environment):
        text = f"{base.label} is a CPU build, but {framework.label} was compiled for CUDA"
        return (Advice(f"{text}: replace one of them, so that both are of the same kind."),)
    python = environment.interpreter
    absent = () if one.damaged else absent_pins(framework, facts, matrix)
    release, _, build = framework.version.partition("+")
    whole = InstallPackage(framework.package, f"=={release}", python, build, reinstall=not build)
    if absent:
        return (ChangePackages(tuple(absent), python), whole)
    if one.damaged or _may_be_its_own(one.soname, environment):
        return (whole,)
    if lost := _base_that_is_absent(framework, environment):
        return (InstallPackage(lost.name, lost.specifier.replace(" ", ""), python, build),)
    return (Advice(f"Install the system package with {one.soname}: no Python package has it."),)


def _base_that_is_absent(framework: Framework, environment: Environment) -> Pin | None:
    """What it runs on and requires, where no installed distribution is that: its files may be half there."""
    if traits_of(framework.package).runs_on in {one.name for one in installed(environment)}:
        return None
    asked = filter(None, map(pin, value_or(framework.requires, ())))
    return next((one for one in asked if one.name == traits_of(framework.package).runs_on), None)


def _cpu_base(framework: Framework, environment: Environment) -> Framework | None:
    """The build for the CPU that a framework runs on; None for another build, and for what runs on none."""
    base, beside = traits_of(framework.package).runs_on, value_or(environment.frameworks, ())
    return next((one for one in beside if one.package == base and one.is_cpu_build), None)


def _may_be_its_own(soname: str, environment: Environment) -> bool:
    """Whether a package lists a file of that name that is not there, or the lists were not read."""
    incomplete = value_or(environment.incomplete, None)
    return incomplete is None or any(posixpath.basename(path) == soname for one in incomplete for path in one.missing)


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
