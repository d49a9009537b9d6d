"""CUDA's own libraries (cuBLAS, the runtime, NVRTC ...) as a framework's process would load them."""

from __future__ import annotations

import re

from compat.matrix import Matrix, Uncovered, accepts
from compat.need import AssignVariable, ChangePackages, InstallPackage, InstallToolkit, Need
from compat.row import LibraryRow
from compat.traits import is_for_gpus, traits_of
from compat.version import CudaVersion
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.loader import Outcome, Prediction
from doctor.model.facts.seen import Seen, UnseenError, value_or
from doctor.rules.shared.builds import cuda_of, distribution_of, installed, need_own_cuda
from doctor.rules.shared.cudnn_use import predictions_for, set_in
from doctor.rules.shared.nvidia_wheels import pins_of
from doctor.rules.shared.pins import applies
from doctor.rules.shared.rule import NotApplicable
from doctor.rules.shared.subjects import environment_of, need_gpu, need_linux

_PATH = "LD_LIBRARY_PATH"
# What no row of CUDA's own libraries names: the beginning of the name of the wheels that bring it, from CUDA 11 on.
# Source: RECORD of nvidia-nccl-cu11 2.21.5 and nvidia-nvtx-cu11 11.8.86.
NCCL = "libnccl.so.2"
_BESIDE = {NCCL: "nvidia-nccl-cu", "libnvToolsExt.so.1": "nvidia-nvtx-cu"}
_WHEELS_SINCE = 11


def predicted(framework: Framework, facts: Facts, *, cudnn: bool = False) -> tuple[Prediction, ...]:
    """What the loader does for each of CUDA's libraries; for cuDNN's too where that is asked for.

    Raises NotApplicable where the framework asks for none, UnseenError.
    """
    need_linux(facts)
    need_own_cuda(framework)
    told = (one for one in predictions_for(framework, facts) if one.is_cuda)
    found = tuple(one for one in told if cudnn or "cudnn" not in one.soname)
    if not found:
        raise NotApplicable(f"{framework.label} is not known to open CUDA libraries by name")
    return found


def need_use(framework: Framework, facts: Facts) -> None:
    """Raise NotApplicable for a framework that can be imported all the same, where nothing shows that a GPU is meant.

    Without a card (a container, a login node) NVIDIA's wheels in its environment show it, and so does a package that
    is published for GPUs only: the files are right or wrong all the same.
    """
    if (
        traits_of(framework.package).opens != "import"
        and facts.machine.kind == "live"
        and "gpus" not in facts.assumed
        and not is_for_gpus(framework.package)
        and not has_wheels(framework, facts)
    ):
        need_gpu(facts)


def has_wheels(framework: Framework, facts: Facts) -> bool:
    """Whether a wheel of NVIDIA's libraries is installed beside a framework."""
    distributions = value_or(environment_of(framework, facts).distributions, ())
    return any(one.name.startswith("nvidia-") and one.kind == "wheel" for one in distributions)


def not_found(framework: Framework, facts: Facts, *, cudnn: bool = False) -> tuple[Prediction, ...]:
    """Those of which the whole search was walked in vain; raises NotApplicable, UnseenError."""
    found = predicted(framework, facts, cudnn=cudnn)
    missing = tuple(one for one in found if one.missing)
    if not missing:
        for one in found:
            if one.outcome is not Outcome.DAMAGED:  # a finding of its own: cuda-library-damaged
                one.path.get()  # what was unknown must be said
    return missing


def displaced(framework: Framework, facts: Facts) -> tuple[Prediction, ...]:
    """Those for which another file is loaded than the framework ships or requires; raises NotApplicable."""
    return tuple(
        one
        for one in predicted(framework, facts)
        if isinstance(one.path, Seen) and isinstance(one.intended, Seen) and one.path.value != one.intended.value
    )


def release_of(path: str, soname: str, facts: Facts, matrix: Matrix) -> tuple[int, ...]:
    """The release of a library, from its file's name, else from the wheel that brings it; () where neither tells."""
    stem, _, number = path.rpartition("/")[2].partition(".so.")
    if stem == soname.partition(".so.")[0] and re.fullmatch(r"\d+(?:\.\d+){2,3}", number):
        return tuple(map(int, number.split(".")))
    try:
        wheel = matrix.library_named(soname).wheel
    except Uncovered:
        return ()
    for environment in value_or(facts.environments, ()):
        for one in installed(environment):
            digits = one.version.split(".")
            if one.name == wheel and path.startswith(f"{one.site}/") and all(part.isdigit() for part in digits):
                return tuple(map(int, digits))
    return ()


def is_older(one: Prediction, facts: Facts, matrix: Matrix) -> bool:
    """Whether the file that is loaded is known to be of an older release than the one that is meant."""
    loaded, own = both_releases(one, facts, matrix)
    return bool(loaded and own and loaded < own)


def both_releases(one: Prediction, facts: Facts, matrix: Matrix) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Of the file that is loaded and of the one that is meant, () for unknown; else of both by what is in them."""
    loaded, own = (release_of(path.get(), one.soname, facts, matrix) for path in (one.path, one.intended))
    if not (loaded and own) and all(one.releases):
        first, second = (tuple(map(int, text.split("."))) for text in one.releases)
        return first, second
    return loaded, own


def dotted(release: tuple[int, ...]) -> str:
    """As it is written; "of unknown version" for ()."""
    return ".".join(map(str, release)) or "of unknown version"


def is_wheel(framework: Framework, facts: Facts) -> bool:
    """Whether a framework was installed by pip, not by conda."""
    found = distribution_of(framework, facts)
    return found is not None and found.kind == "wheel"


def own_extra(framework: Framework, facts: Facts, matrix: Matrix) -> tuple[InstallPackage, ...]:
    """The framework itself with the extra that brings CUDA's wheels, onnxruntime-gpu[cuda,cudnn]; () without one."""
    named = traits_of(framework.package).asked_as.get(framework.package, "").startswith(f"{framework.package}[")
    brings = (one.optional and one.name.startswith("nvidia-") for one in pins_of(framework, facts, matrix))
    python = environment_of(framework, facts).interpreter
    return (InstallPackage(framework.package, f"=={framework.version}", python),) if named and any(brings) else ()


def wheels_for(
    missing: tuple[Prediction, ...], framework: Framework, facts: Facts, matrix: Matrix
) -> tuple[ChangePackages, ...]:
    """The need for the wheels that bring these libraries; () where nothing names them all."""
    wheels = [requirement_for(one.soname, framework, facts, matrix) for one in missing]
    absent = absent_pins(framework, facts, matrix)
    if not all(wheels) and not absent:
        return ()
    both = dict.fromkeys((*filter(None, wheels), *absent))
    return (ChangePackages(tuple(both), environment_of(framework, facts).interpreter),)


def toolkit_for(soname: str, framework: Framework, facts: Facts, matrix: Matrix) -> tuple[Need, ...]:
    """What makes a toolkit bring a library: one that is here first, then one to install; () where rows know neither.

    Where a library's name carries the minor version, as until CUDA 10, no other minor version serves.
    """
    cuda = known_cuda(framework, facts, matrix)
    rows = _rows_of(cuda, matrix) if cuda else ()
    names = {name for row in rows for name in (row.soname, f"{row.stem}.so")}  # the second for linkers: PaddlePaddle
    if cuda is None or soname not in names:
        return ()
    by_minor = any(row.cuda == f"=={cuda}" for row in rows if row.stem == "libcudart")
    wanted = f"=={cuda}.*" if by_minor else f"=={cuda.major}.*"
    here = _toolkits_here(wanted, facts) if not _has_own_wheels(framework, facts, matrix) else ()
    return (*(with_directories((one,), facts) for one in here), InstallToolkit(wanted))


def _rows_of(cuda: CudaVersion, matrix: Matrix) -> tuple[LibraryRow, ...]:
    rows: tuple[LibraryRow, ...] = matrix.rows("libraries", "sonames")
    return tuple(row for row in rows if accepts(row.cuda, cuda))


def _toolkits_here(wanted: str, facts: Facts) -> tuple[str, ...]:
    """The directories of the system's toolkits that fit, and that the loader does not search."""
    if value_or(facts.system.family, "") != "linux":
        return ()
    searched = {one.path for one in value_or(facts.loader.search, ())}
    fitting = (
        value_or(one.library_dir, "")
        for one in value_or(facts.toolkit.toolkits, ())
        if one.kind in {"directory", "hpc-sdk"} and isinstance(one.cuda, Seen) and accepts(wanted, one.cuda.value)
    )
    return tuple(one for one in fitting if one and one not in searched)


def _has_own_wheels(framework: Framework, facts: Facts, matrix: Matrix) -> bool:
    """Whether it requires CUDA's libraries as wheels, or some of them are there."""
    required = any(one.name.startswith("nvidia-") and not one.optional for one in pins_of(framework, facts, matrix))
    return required or any(isinstance(one.intended, Seen) for one in predictions_for(framework, facts))


def of_own_cuda(
    missing: tuple[Prediction, ...], framework: Framework, facts: Facts, matrix: Matrix
) -> tuple[Prediction, ...]:
    """Those of the CUDA that a build is for; all where none is: cuda.pathfinder tries the names of 13 in one for 12."""
    cuda = known_cuda(framework, facts, matrix)
    names = {row.soname for row in _rows_of(cuda, matrix)} if cuda else set()
    return tuple(one for one in missing if one.soname in names) or missing


def absent_pins(framework: Framework, facts: Facts, matrix: Matrix) -> list[str]:
    """What a framework always requires of NVIDIA's wheels, and is not there: a process ends at the first."""
    environment = environment_of(framework, facts)
    there = {one.name for one in installed(environment)}
    asked = (one for one in pins_of(framework, facts, matrix) if one.name.startswith("nvidia-") and not one.optional)
    return [
        f"{one.name}{one.specifier.replace(' ', '')}"
        for one in asked
        if one.name not in there and applies(one, facts.system, environment)
    ]


def requirement_for(soname: str, framework: Framework, facts: Facts, matrix: Matrix) -> str:
    """The wheel that brings a library to a framework, at the release that it asks for; "" where unknown.

    Several CUDA majors share a SONAME (libcusolver.so.11): what the framework requires decides, then its CUDA.
    """
    rows: tuple[LibraryRow, ...] = matrix.rows("libraries", "sonames")
    rows = tuple(row for row in rows if soname == row.soname)
    if soname in _BESIDE:
        return _beside(_BESIDE[soname], framework, facts, matrix)
    asked = {one.name: one.specifier for one in pins_of(framework, facts, matrix)}
    pinned = next((row.wheel for row in rows if row.wheel in asked), "")
    if pinned:
        return f"{pinned}{asked[pinned].replace(' ', '')}"
    if len({row.wheel for row in rows}) > 1:
        cuda = known_cuda(framework, facts, matrix)
        rows = tuple(row for row in rows if cuda and accepts(row.cuda, cuda))
    if not rows or not rows[0].wheel or "-cu1" in rows[0].wheel:
        return rows[0].wheel if rows else ""
    return f"{rows[0].wheel}=={soname.rpartition('.')[2]}.*"  # from CUDA 13 on the wheel has the number of the SONAME


def wheels_beside_cuda(framework: Framework, facts: Facts, matrix: Matrix) -> tuple[str, ...]:
    """What a whole CUDA in wheels does not bring of what the loader does not find for a framework: NCCL."""
    lost = (one.soname for one in predictions_for(framework, facts) if one.missing and one.soname in _BESIDE)
    return tuple(filter(None, (_beside(_BESIDE[one], framework, facts, matrix) for one in dict.fromkeys(lost))))


def _beside(wheels: str, framework: Framework, facts: Facts, matrix: Matrix) -> str:
    """The wheel of such a library that a framework asks for, else that for its CUDA; "" where there is none."""
    pinned = next((one for one in pins_of(framework, facts, matrix) if one.name.startswith(wheels)), None)
    if pinned:
        return f"{pinned.name}{pinned.specifier.replace(' ', '')}"
    cuda = known_cuda(framework, facts, matrix)
    return f"{wheels}{cuda.major}" if cuda and cuda.major >= _WHEELS_SINCE else ""


def known_cuda(framework: Framework, facts: Facts, matrix: Matrix) -> CudaVersion | None:
    """See `cuda_of`; None where unknown."""
    try:
        return cuda_of(framework, facts, matrix).value
    except (Uncovered, UnseenError, NotApplicable):
        return None


def with_directories(directories: tuple[str, ...], facts: Facts) -> Need:
    """The need to have directories first in LD_LIBRARY_PATH, what is in it kept."""
    said = next((one.value for one in value_or(facts.configuration.variables, ()) if one.name == _PATH), "")
    value = ":".join((*directories, *([said] if said else [])))
    return AssignVariable(_PATH, value, set_in(_PATH, facts))


def stops_import(framework: Framework) -> bool:
    """Whether a framework opens CUDA's libraries when it is imported, so that it cannot be without them."""
    return traits_of(framework.package).opens == "import"


def cannot(framework: Framework) -> str:
    """Return for a sentence what a framework cannot do without a library that it opens."""
    return "cannot be imported" if stops_import(framework) else "cannot use the GPU"


def names_of(missing: tuple[Prediction, ...]) -> str:
    """For a sentence: "libcudart.so.12 and 3 more"."""
    names = [one.soname for one in missing]
    return (
        names[0]
        if len(names) == 1
        else " and ".join(names)
        if len(names) == 2
        else f"{names[0]} and {len(names) - 1} more"
    )
