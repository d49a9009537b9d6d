"""Which copy of cuDNN a framework was built for and loads, what a copy lacks, and how it is mended."""

from __future__ import annotations

import posixpath
import re

from compat.matrix import Matrix, accepts
from compat.need import AGAIN, Need
from compat.version import CudnnVersion
from doctor.facts import Facts
from doctor.facts.cudnn import CudnnCopy
from doctor.facts.environment import Framework
from doctor.facts.loader import Prediction, SearchDir
from doctor.facts.seen import Seen, Unseen, UnseenError, value_or
from doctor.finding import Severity
from doctor.judging.builds import build_row, need_own_cuda
from doctor.rule import NotApplicable
from doctor.subjects import FRAMEWORKS, environment_of

_JIT_LACKS = "engines_precompiled"  # NVIDIA's JIT edition of cuDNN ships without this part
_JIT_HAS = ("libcudnn.so.", "libcudnn_graph.so.", "libcudnn_engines_runtime_compiled.so.")  # nvidia-cudnn-jit-cu12 9.27


def built_for(framework: Framework, facts: Facts, matrix: Matrix) -> Seen[CudnnVersion]:
    """The cuDNN that a framework was compiled against; raises NotApplicable where it uses none, Uncovered."""
    need_own_cuda(framework)
    _need_use_of_it(framework, facts)
    if isinstance(framework.cudnn, Seen):
        return framework.cudnn
    if not matrix.has(framework.package):
        raise NotApplicable(f"{framework.package} is not known to use cuDNN by itself")
    row = build_row(framework, facts, matrix)
    if row.cudnn_accepts == "":
        raise NotApplicable(f"{framework.label} uses no cuDNN")
    version = row.cudnn or _oldest(row.cudnn_accepts or "")
    if version is None:
        raise UnseenError(f"neither {framework.label} nor the matrix says which cuDNN it was built with")
    return Seen(version, f"matrix, {row.id}")


def _oldest(specifier: str) -> CudnnVersion | None:
    """The oldest release that a specifier of one major accepts: what it was built with is not older than that."""
    bound = re.search(r">=\s*(\d+(?:\.\d+)*)", specifier)
    if not bound:
        return None
    oldest = CudnnVersion.parse(bound[1])
    return None if accepts(specifier, CudnnVersion((oldest.major + 1,))) else oldest


def _need_use_of_it(framework: Framework, facts: Facts) -> None:
    """Raise NotApplicable for CuPy alone: there cuDNN is an extra that only `cupy.cuda.cudnn` loads, as Chainer does.

    Source: CuPy's installation guide, "Additional CUDA Libraries". Beside torch the release it was built with is
    mostly not there, and nothing is wrong.
    """
    if framework.package.startswith("cupy"):
        names = {one.name for one in value_or(environment_of(framework, facts).distributions, ())}
        if "chainer" not in names:
            raise NotApplicable(f"{framework.label} uses cuDNN only where a program asks for it")


def predictions(framework: Framework, facts: Facts) -> tuple[Prediction, ...]:
    """What the loader does when this framework asks for cuDNN, and cuDNN for its parts; raises UnseenError."""
    if isinstance(facts.loader.predictions, Unseen):
        return _of_its_own(framework, facts)
    return tuple(
        one
        for one in facts.loader.predictions.get()
        if one.environment == framework.environment and one.asker == framework.package and "cudnn" in one.soname.lower()
    )


def _of_its_own(framework: Framework, facts: Facts) -> tuple[Prediction, ...]:
    """Where the loader's rules are not known (Windows): a copy inside the package is the one that it loads.

    Source: torch/__init__.py, which opens the DLLs of its lib directory by their paths. Raises UnseenError.
    """
    for copy in value_or(facts.cudnn, ()):
        if copy.origin == "framework" and copy.path.startswith(f"{framework.path}/"):
            for part in value_or(copy.parts, ()):
                if is_main(part.name):
                    path, why = Seen(part.path, copy.path), "it lies in the framework's own package"
                    return (Prediction(framework.environment, framework.package, part.name, path, why, path),)
    facts.loader.predictions.get()
    return ()


def main_predictions(framework: Framework, facts: Facts) -> tuple[Prediction, ...]:
    """Those of the main library alone; raises UnseenError."""
    return tuple(one for one in predictions(framework, facts) if is_main(one.soname))


def is_main(name: str) -> bool:
    """Whether a library's name is the main library's, not a part's."""
    return re.match(r"libcudnn[.-]|cudnn64_", name.lower()) is not None


def prediction(framework: Framework, facts: Facts) -> Prediction:
    """The prediction that decides which cuDNN works; raises UnseenError.

    From cuDNN 8 on that is the one of its first part: the main library only opens it, by name, in a search of its
    own, and even the version that it reports is the part's.
    """
    found = sorted(predictions(framework, facts), key=lambda one: (not isinstance(one.path, Seen), is_main(one.soname)))
    if not found:
        raise UnseenError(f"which cuDNN {framework.label} loads could not be told from its files")
    return found[0]


def copy_of(path: str, facts: Facts) -> CudnnCopy | None:
    """The copy that a library file belongs to; raises UnseenError where the copies were not seen."""
    copies = facts.cudnn.get()
    for copy in copies:
        if any(part.path == path for part in value_or(copy.parts, ())):
            return copy
    return next((copy for copy in copies if copy.path == posixpath.dirname(path)), None)


def loaded_copy(framework: Framework, facts: Facts) -> CudnnCopy:
    """The copy that a framework loads; raises UnseenError where that could not be told, or nothing answers."""
    path = prediction(framework, facts).path.get()
    copy = copy_of(path, facts)
    if copy is None:
        raise UnseenError(f"{path} is not among the copies of cuDNN that were read")
    return copy


def loaders_of(copy: CudnnCopy, facts: Facts) -> tuple[Framework, ...]:
    """The frameworks that load this copy, as far as that is known."""
    found = []
    for framework in _frameworks(facts):
        try:
            told = predictions(framework, facts)
        except UnseenError:
            continue
        paths = [one.path.value for one in told if isinstance(one.path, Seen)]
        if any(copy_of(path, facts) == copy for path in paths):
            found.append(framework)
    return tuple(found)


def _frameworks(facts: Facts) -> tuple[Framework, ...]:
    try:
        return tuple(FRAMEWORKS.of(facts))
    except UnseenError:
        return ()


def severity_of(copy: CudnnCopy, facts: Facts) -> Severity:
    """A fault of a copy stops the frameworks that load it; nobody yet where none does."""
    return Severity.ERROR if loaders_of(copy, facts) else Severity.WARNING


def searched(facts: Facts) -> tuple[CudnnCopy, ...]:
    """The copies whose directory the loader searches for every process, first to last; raises UnseenError."""
    ranked = [(copy.search_rank.value, copy) for copy in facts.cudnn.get() if isinstance(copy.search_rank, Seen)]
    return tuple(copy for _, copy in sorted(ranked, key=lambda pair: pair[0]))


def variable_of(copy: CudnnCopy, facts: Facts) -> str:
    """The variable that brings a copy's directory into the search, "" where none does."""
    entry = _variable_entry(copy, facts)
    return entry.why if entry else ""


def _variable_entry(copy: CudnnCopy, facts: Facts) -> SearchDir | None:
    """By its spelling, else by its place: the loader searches a variable's directories before all others."""
    entries = [one for one in value_or(facts.loader.search, ()) if one.why in {"LD_LIBRARY_PATH", "PATH"}]
    exact = next((one for one in entries if one.path.rstrip("/") == copy.path), None)
    rank = value_or(copy.search_rank, len(entries))
    return exact or (entries[rank] if rank < len(entries) else None)


def set_in(name: str, facts: Facts) -> str:
    """Where a variable is set, "" where that is not known."""
    return next((one.set_in for one in value_or(facts.configuration.variables, ()) if one.name == name), "")


def without(copy: CudnnCopy, variable: str, facts: Facts) -> Need:
    """The need to take a copy's directory out of a variable."""
    entry = _variable_entry(copy, facts)
    return Need("variable", f"without {entry.path if entry else copy.path}", set_in(variable, facts), variable)


def part_names(copy: CudnnCopy) -> frozenset[str]:
    """The names by which a copy's libraries are asked for, lower case; raises UnseenError."""
    return frozenset(part.name.lower() for part in copy.parts.get())


def need_parts(copy: CudnnCopy) -> None:
    """Raise NotApplicable for a copy that is a header alone."""
    if not copy.parts.get():
        raise NotApplicable(f"only a header lies in {copy.path}")


def lacking(copy: CudnnCopy, facts: Facts, matrix: Matrix) -> tuple[str, ...]:
    """The libraries that a copy should have and has not; raises UnseenError, Uncovered.

    The package that owns it knows best; else the release's own list counts. A framework may ship fewer on purpose.
    """
    if copy.owner or copy.origin == "framework":
        return tuple(name for name in map(posixpath.basename, value_or(copy.missing, ())) if _is_library(name))
    row = matrix.cudnn(copy.version.get())
    windows = facts.system.family.get() == "windows"
    listed = row.parts_windows if windows else row.parts_linux
    if listed is None:
        raise UnseenError(f"the matrix does not list the libraries of cuDNN {row.version}")
    there = part_names(copy)
    main = () if windows else (row.soname,)
    lacks = tuple(name for name in (*main, *listed) if name.lower() not in there)
    return () if is_jit_edition(copy) or (len(lacks) == 1 and _JIT_LACKS in lacks[0]) else lacks


def is_jit_edition(copy: CudnnCopy) -> bool:
    """Whether it has the files of NVIDIA's JIT edition, and no others; raises UnseenError."""
    there = part_names(copy)
    return len(there) == len(_JIT_HAS) and all(any(map(one.startswith, _JIT_HAS)) for one in there)


def _is_library(name: str) -> bool:
    """Whether programs open it: not a header, nor the name without a version, which only linkers ask for."""
    lowered = name.lower()
    return "cudnn" in lowered and (".so." in lowered or lowered.endswith(".dll"))


def mending(copy: CudnnCopy, facts: Facts) -> Need:
    """The need to have this copy whole again, through whatever put it there."""
    name, _, version = copy.owner.partition(" ")
    interpreter = _interpreter(copy, facts)
    if copy.origin in {"wheel", "framework"} and name and interpreter:
        return Need(name, f"=={version}" if version else "", interpreter, AGAIN)
    if copy.origin == "distribution" and name:
        return Need("system-package", AGAIN, "", name)
    release = value_or(copy.version, None)
    cuda = value_or(copy.cuda_major, 0)
    return Need("cudnn", f"=={release.release}" if release else "", copy.path, str(cuda) if cuda else "")


def _interpreter(copy: CudnnCopy, facts: Facts) -> str:
    found = (one.interpreter for one in value_or(facts.environments, ()) if one.prefix == copy.environment)
    return next(found, "") if copy.environment else ""


def pin_of(framework: Framework) -> tuple[str, str]:
    """The cuDNN wheel that a framework always requires, and the specifier: ("nvidia-cudnn-cu12", "==9.10.2.21")."""
    for text in value_or(framework.requires, ()):
        requirement, _, marker = text.partition(";")
        found = re.match(r"\s*(nvidia-cudnn-cu\d+)\s*\(?\s*([^()\s]*)", requirement)
        if found and "extra" not in marker:
            return found[1], found[2]
    return "", ""


def right_copy(framework: Framework, built: CudnnVersion, facts: Facts) -> Need:
    """The need to have the cuDNN that a framework was built for: its wheel where it pins one."""
    name, specifier = pin_of(framework)
    if name:
        return Need(name, specifier, environment_of(framework, facts).interpreter)
    cuda = value_or(framework.cuda, None)
    floor = ".".join(map(str, built[:2]))
    return Need("cudnn", f">={floor},<{built.major + 1}", "", str(cuda.major) if cuda else "")
