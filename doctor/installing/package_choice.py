"""`gpudoctor install NAME`: which distribution is meant, and whether its release was built for the CUDA asked for."""

from __future__ import annotations

import re

from compat.error import GpudoctorError
from compat.matrix import Matrix, accepts
from compat.need import Need
from compat.row import FrameworkRow, WheelIndexRow
from installers.choose import plan_for
from installers.methods.wheel import LABELLED, interpreter, is_distribution
from installers.plan import ByHand, Plan, Target

_CUPY_FROM = 11  # CUDA major from which one wheel serves all minors: cupy-cuda11x; source: CuPy, "Installation"


class WrongPackage(GpudoctorError):
    """Not a distribution, not a release of one, or a build that nobody made."""


def package_plan(name: str, version: str, cuda: str, target: Target, matrix: Matrix) -> tuple[Plan, Need]:
    """The steps, and the distribution that must be there afterwards; raises WrongPackage."""
    _require_a_name(name)
    version, _, local = version.partition("+")
    _require_a_release(version)
    if local.startswith("cu") and not cuda:
        cuda = _spoken_build(local)
    cuda = ".".join(cuda.split(".")[:2])
    name = _wheel_of_cupy(cuda, target) if name == "cupy" else name
    rows = _rows(name, version, target, matrix)
    known = _known(name, version, rows, matrix)
    _require_a_build(f"{name} {version}".strip(), cuda, known)
    need = Need(name, f"=={version}" if version else "", target.python, _build(name, version, cuda, known, matrix))
    plan = plan_for(need, target, matrix)
    steps = (*_without_cuda(name, version, cuda, rows, target), *plan.steps)
    return plan._replace(steps=steps), need._replace(where=interpreter(target), build="")


def _require_a_name(name: str) -> None:
    if is_distribution(name):
        return
    apart = re.match(r"([A-Za-z0-9][\w.-]*)\s*===?\s*([\w.+]+)", name)
    if apart:
        raise WrongPackage(f"{name!r}: the release is a word of its own, as in gpudoctor install {apart[1]} {apart[2]}")
    raise WrongPackage(f"{name!r} is not the name of a distribution, such as torch")


def _require_a_release(version: str) -> None:
    from packaging.version import InvalidVersion, Version  # late: only plans need it

    try:
        Version(version or "0")
    except InvalidVersion as error:
        raise WrongPackage(f"{version!r} is not a release, such as 2.9.1") from error


def _spoken_build(build: str) -> str:
    """The CUDA version of a build's name: "12.8" for "cu128"."""
    digits = build.removeprefix("cu")
    return f"{digits[:-1]}.{digits[-1]}" if len(digits) > 1 else digits


def _wheel_of_cupy(cuda: str, target: Target) -> str:
    """The wheel for a CUDA major: `cupy` itself is compiled against the toolkit that is there."""
    major = int(cuda.partition(".")[0] or target.cuda_major)
    if major < _CUPY_FROM:
        raise WrongPackage("cupy is compiled where it is installed: name a wheel, cupy-cuda12x or cupy-cuda13x")
    return f"cupy-cuda{major}x"


def _rows(name: str, version: str, target: Target, matrix: Matrix) -> tuple[FrameworkRow, ...]:
    """The builds of a release for the target's platform; none where no row knows them."""
    if not version or not matrix.has(name):
        return ()
    rows: tuple[FrameworkRow, ...] = matrix.rows(name, "builds")
    fits = [row for row in rows if target.os_family in row.os and target.arch in row.arch]
    return tuple(row for row in fits if accepts(row.versions, version))


def _known(name: str, version: str, rows: tuple[FrameworkRow, ...], matrix: Matrix) -> frozenset[str]:
    """Specifiers of the CUDA versions that a release is built for; none where no row knows."""
    plugins = _plugins(version, matrix) if name == "jax" else set()
    named = re.fullmatch(r"cupy-cuda(\d+)x", name)
    own = {f"=={named[1]}.*"} if named else set()
    return frozenset({row.cuda for row in rows if row.cuda} | _served(name, version, matrix) | plugins | own)


def _require_a_build(what: str, cuda: str, known: frozenset[str]) -> None:
    if cuda and not known:
        raise WrongPackage(f"no row knows for which CUDA {what} is built: name a known release, or no --cuda-version")
    if cuda and not any(_is_for(spec, cuda) for spec in known):
        raise WrongPackage(f"{what} is not built for CUDA {cuda}, but for {_listed(known)}")


def _build(name: str, version: str, cuda: str, known: frozenset[str], matrix: Matrix) -> str:
    """What tells this build from others where it is served; "" for a release with one build, and for any build."""
    if name == "jax" and cuda:
        return f"cuda{cuda.partition('.')[0]}"
    if name in LABELLED and cuda.isdigit():  # a major alone: the newest of its builds
        cuda = max((spec.removeprefix("==") for spec in known if _is_for(spec, cuda)), key=_numbers)
    build = f"cu{cuda.replace('.', '')}"
    rows: tuple[WheelIndexRow, ...] = matrix.rows("index", "wheels")
    own = [row for row in rows if row.package == name and row.build == build]
    return build if any(not version or accepts(row.versions, version) for row in own) else ""


def _served(name: str, version: str, matrix: Matrix) -> set[str]:
    """The CUDA versions of the builds that a framework's own index serves."""
    if name not in LABELLED:
        return set()
    rows: tuple[WheelIndexRow, ...] = matrix.rows("index", "wheels")
    own = [row for row in rows if row.package == name and row.build.startswith("cu")]
    return {f"=={_spoken_build(row.build)}" for row in own if not version or accepts(row.versions, version)}


def _plugins(version: str, matrix: Matrix) -> set[str]:
    """The CUDA majors that JAX has a plugin for, in one release or in any."""
    found = set()
    for major in ("12", "13"):
        rows: tuple[FrameworkRow, ...] = matrix.rows(f"jax-cuda{major}-plugin", "builds")
        if any(not version or accepts(row.versions, version) for row in rows):
            found.add(f"=={major}.*")
    return found


def _is_for(spec: str, cuda: str) -> bool:
    """A major alone, "12", is met by each of its minors."""
    return accepts(spec, cuda) or (cuda.isdigit() and re.search(rf"(?<![\d.]){cuda}(?![\d])", spec) is not None)


def _listed(specs: frozenset[str]) -> str:
    return ", ".join(sorted({spec.removeprefix("==").removesuffix(".*") for spec in specs}, key=_numbers))


def _numbers(text: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", text)]


def _without_cuda(
    name: str, version: str, cuda: str, rows: tuple[FrameworkRow, ...], target: Target
) -> tuple[ByHand, ...]:
    """A word where the package index serves nothing else: nobody asks a doctor of GPUs for that."""
    if cuda or not rows or any(row.cuda != "" for row in rows):
        return ()
    text = f"know that {name} {version} from the package index has no CUDA on {target.os_family}"
    if name in LABELLED:
        return (ByHand(text, "--cuda-version X.Y takes the build from the index of its own"),)
    return (ByHand(text, rows[0].note),)
