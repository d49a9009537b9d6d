"""A DLL that a framework needs is on this machine, in a directory that Windows does not search for it."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, Need, PutOnPath
from compat.traits import traits_of
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.loader import Dll
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.builds import import_symptoms, need_own_cuda, preload
from doctor.rules.shared.dlls import astray, needs_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS, environment_of


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Of the DLLs that the search does not find, those that lie elsewhere."""
    need_own_cuda(framework)
    if all("140" in one.name for one in needs_of(framework, facts)):
        raise NotApplicable(f"the libraries of {framework.label} need no CUDA DLL")
    lost = astray(framework, facts)
    if not lost:
        return ok(f"every DLL that {framework.label} needs is on its search path")
    folders = list(dict.fromkeys(one.elsewhere[0].rpartition("/")[0] for one in lost))
    by_program = _by_program(framework, lost, facts)
    unless = ", unless the program opens it first" if by_program else ""
    return bad(
        f"{framework.label} needs {lost[0].name}, but it does not search {folders[0]}{unless}",
        *by_program,
        *(() if by_program and _of_another(folders, framework, facts) else _needs(framework, folders)),
        severity=Severity.INFO if by_program else Severity.ERROR,
        evidence=tuple(Evidence(f"needs {one.name}; found as {one.elsewhere[0]}", file=one.asker) for one in lost),
        explains=(*import_symptoms(framework), *_missing(framework, lost)),
    )


def _by_program(framework: Framework, lost: list[Dll], facts: Facts) -> tuple[Need, ...]:
    """What a program does so that DLLs of its own environment are open before: most do so, and need no Path.

    A name that a process has open answers at once; torch opens all of its DLLs when it is imported.
    """
    environment = environment_of(framework, facts)
    if traits_of(framework.package).opens != "call":
        return ()
    early = (one for one in value_or(environment.frameworks, ()) if traits_of(one.package).opens == "import")
    other = next((one.package for one in early if all(_lies_below((one.path,), dll) for dll in lost)), "")
    first = (Advice(f"In the program, import {other} before {framework.package}."),) if other else ()
    in_wheels = all(_lies_below(value_or(environment.sites, ()), dll) for dll in lost)
    return (*first, *(preload(framework) if in_wheels else ()))


def _of_another(folders: list[str], framework: Framework, facts: Facts) -> bool:
    """Whether a folder is another framework's own, which is nothing for the Path of all programs."""
    beside = value_or(environment_of(framework, facts).frameworks, ())
    return any(folder.startswith(f"{one.path}/") for folder in folders for one in beside if one.path)


def _lies_below(folders: tuple[str, ...], dll: Dll) -> bool:
    return any(path.startswith(f"{one}/") for one in folders if one for path in dll.elsewhere)


def _needs(framework: Framework, folders: list[str]) -> tuple[Need, ...]:
    """A conda environment's own directories come by its activation, and never onto the Path of all programs.

    What a program adds by os.add_dll_directory serves Python's imports; what a framework opens later it does not.
    """
    if all(one.startswith(f"{framework.environment}/Library/") for one in folders):
        return (Advice(f"Run the program after `conda activate {framework.environment}`."),)
    added = f"Call os.add_dll_directory(r'{folders[0]}') before the framework is imported."
    by_import = traits_of(framework.package).opens == "import"
    own = (Advice(added),) if by_import else ()
    return (PutOnPath(tuple(folders)), *own)


def _missing(framework: Framework, lost: list[Dll]) -> tuple[Symptom, ...]:
    """That cuDNN, or the CUDA of that major, is not there: its DLL, whose name holds the major, is one of them."""
    codes = {"cudnn64_": "cudnn-missing", "cudart64_": "framework-wants-other-cuda"}
    names = [one.name.lower() for one in lost]
    return tuple(
        Symptom(code, framework.label) for stem, code in codes.items() if any(name.startswith(stem) for name in names)
    )


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
