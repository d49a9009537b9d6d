"""The DLLs that a framework needs on Windows."""

from __future__ import annotations

from collections.abc import Callable

from compat.matrix import Matrix
from compat.need import Advice, InstallToolkit
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.loader import Dll
from doctor.model.facts.seen import UnseenError, value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.builds import need_own_cuda
from doctor.rules.shared.cuda_libraries import known_cuda
from doctor.rules.shared.rule import NotApplicable

_OF_OTHER_RULES = ("cudnn", "msvcp140", "vcruntime140")
_WITHOUT_CUDA = ("cudnn-missing", "cudnn-wrong-major")  # a cuDNN goes into the CUDA that is to come


def needs_of(framework: Framework, facts: Facts) -> tuple[Dll, ...]:
    """Those of CUDA and of the C++ runtime; raises NotApplicable elsewhere than on Windows, UnseenError."""
    if facts.system.family.get() != "windows":
        raise NotApplicable("only on Windows")
    for one in facts.dlls.get():
        if (one.environment, one.package) == (framework.environment, framework.package):
            return one.dlls.get()
    raise NotApplicable(f"the libraries of {framework.label} are not known to need any")


def astray(framework: Framework, facts: Facts) -> list[Dll]:
    """Those that the search does not find, and that lie elsewhere; raises as `needs_of`."""
    dlls = (_for_its_cuda(one, framework, facts) for one in needs_of(framework, facts) if "140" not in one.name)
    return [one for one in dlls if not one.found and one.elsewhere]


def _for_its_cuda(dll: Dll, framework: Framework, facts: Facts) -> Dll:
    """Without the copies of cuDNN that are known to be for a CUDA of another major than the framework's."""
    cuda = value_or(framework.cuda, None)
    majors = {one.path: value_or(one.cuda_major, None) for one in value_or(facts.cudnn, ())}
    if cuda is None:
        return dll
    fits = (one for one in dll.elsewhere if majors.get(one.rpartition("/")[0]) in {None, cuda.major})
    return dll._replace(elsewhere=tuple(fits))


def nowhere(framework: Framework, facts: Facts) -> list[Dll]:
    """CUDA's DLLs that are in no directory of this machine that was looked at.

    Raises NotApplicable where a framework needs none, and as `needs_of`.
    """
    asked = [one for one in needs_of(framework, facts) if not one.name.lower().startswith(_OF_OTHER_RULES)]
    if not asked:
        raise NotApplicable(f"the libraries of {framework.label} need no CUDA DLL")
    return [one for one in asked if not (one.found or one.elsewhere or one.foreign)]


def if_known(find: Callable[[Framework, Facts], list[Dll]], framework: Framework, facts: Facts) -> list[Dll]:
    """What `astray` or `nowhere` finds; none where that does not apply, or is not known."""
    try:
        return find(framework, facts)
    except (NotApplicable, UnseenError):
        return []


def cuda_there(framework: Framework, facts: Facts, matrix: Matrix, explains: tuple[Symptom, ...] = ()) -> Answer:
    """BAD for DLLs of CUDA's that are in no directory of this machine that was looked at.

    Raises NotApplicable where a framework needs none, UnseenError.
    """
    need_own_cuda(framework)
    lost = nowhere(framework, facts)
    if not lost:
        return ok(f"every CUDA DLL that {framework.label} needs exists")
    more = f" and {len(lost) - 1} more, which are" if len(lost) > 1 else ", which is"
    cuda = known_cuda(framework, facts, matrix)
    there = InstallToolkit(f"=={cuda}.*") if cuda else Advice(f"Install the CUDA version with {lost[0].name}.")
    return bad(
        f"{framework.label} needs {lost[0].name}{more} not on Path and not in a CUDA toolkit here",
        there,
        evidence=tuple(Evidence(f"needs {one.name}", file=one.asker) for one in lost),
        explains=(*explains, *(Symptom(code, framework.label) for code in _WITHOUT_CUDA)),
    )
