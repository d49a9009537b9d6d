"""A DLL that a framework needs is on this machine, in a directory that Windows does not search for it."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Need
from compat.traits import traits_of
from doctor.check.finding import Answer, Evidence, Symptom, bad, ok
from doctor.facts import Facts
from doctor.facts.dlls import Dll
from doctor.facts.environment import Framework
from doctor.facts.seen import value_or
from doctor.rules.shared.builds import import_symptoms, need_own_cuda
from doctor.rules.shared.dlls import needs_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Of the DLLs that the search does not find, those that lie elsewhere."""
    need_own_cuda(framework)
    dlls = [one for one in needs_of(framework, facts) if "140" not in one.name]
    if not dlls:
        raise NotApplicable(f"the libraries of {framework.label} name no DLL of CUDA's")
    astray = [one for one in (_for_its_cuda(dll, framework, facts) for dll in dlls) if not one.found and one.elsewhere]
    if not astray:
        return ok(f"no DLL that {framework.label} needs lies where it is not searched")
    folders = list(dict.fromkeys(one.elsewhere[0].rpartition("/")[0] for one in astray))
    return bad(
        f"{framework.label} needs {astray[0].name}, which lies in {folders[0]}, and nothing searches there",
        *_needs(framework, folders),
        evidence=tuple(Evidence(one.asker, f"needs {one.name}; it is {one.elsewhere[0]}") for one in astray),
        explains=(*import_symptoms(framework), *_missing(framework, astray)),
    )


def _for_its_cuda(dll: Dll, framework: Framework, facts: Facts) -> Dll:
    """Without the copies of cuDNN that are known to be for a CUDA of another major than the framework's."""
    cuda = value_or(framework.cuda, None)
    majors = {one.path: value_or(one.cuda_major, None) for one in value_or(facts.cudnn, ())}
    if cuda is None:
        return dll
    fits = (one for one in dll.elsewhere if majors.get(one.rpartition("/")[0]) in {None, cuda.major})
    return dll._replace(elsewhere=tuple(fits))


def _needs(framework: Framework, folders: list[str]) -> tuple[Need, ...]:
    """A conda environment's own directories come by its activation, and never onto the Path of all programs.

    What a program adds by os.add_dll_directory serves Python's imports; what a framework opens later it does not.
    """
    if all(one.startswith(f"{framework.environment}/Library/") for one in folders):
        return (Need("by-hand", f"Run the program after `conda activate {framework.environment}`."),)
    added = f"Call os.add_dll_directory(r'{folders[0]}') before the framework is imported."
    by_import = traits_of(framework.package).opens == "import"
    own = (Need("by-hand", added),) if by_import else ()
    return (Need("variable", f"with {';'.join(folders)}", "", "PATH"), *own)


def _missing(framework: Framework, astray: list[Dll]) -> tuple[Symptom, ...]:
    """That cuDNN, or the CUDA of that major, is not there: its DLL, whose name holds the major, is one of them."""
    codes = {"cudnn64_": "cudnn-missing", "cudart64_": "framework-wants-other-cuda"}
    names = [one.name.lower() for one in astray]
    return tuple(
        Symptom(code, framework.label) for stem, code in codes.items() if any(name.startswith(stem) for name in names)
    )


RULE = Rule(INSTALLED_FRAMEWORKS, check, matters=False)
