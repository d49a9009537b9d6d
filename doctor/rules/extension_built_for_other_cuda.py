"""A compiled extension of torch was linked with another CUDA than torch's."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from compat.build import covers, oldest_cuda
from compat.matrix import Matrix, accepts
from compat.need import Advice, ClearVariable, InstallPackage, Need
from compat.row import FrameworkRow
from compat.specifier import keeps
from doctor.model.facts import Facts
from doctor.model.facts.environment import Extension, Variable
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.builds import fits_dependents, need_of, other_builds, riders
from doctor.rules.shared.extensions import (
    EXTENSION_PACKAGES,
    ExtensionPackage,
    Runtime,
    building_again,
    chosen_by_name,
    runtime_of,
    taken,
    variable,
    wanted_name,
)
from doctor.rules.shared.pins import release_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import environment_of


def check(package: ExtensionPackage, facts: Facts, matrix: Matrix) -> Answer:
    """BAD when none of its libraries asks for the CUDA runtime that torch brings, or can be chosen for it."""
    by_name = chosen_by_name(package)
    if by_name:
        return _chosen(package, by_name, facts, matrix)
    cuda = package.torch.cuda.get()
    asked = {one: runtime for one in package.modules if (runtime := runtime_of(one))}
    if not asked:
        raise NotApplicable(f"{package.label} needs no CUDA runtime except its own")
    if any(runtime.is_of(cuda) for runtime in asked.values()):
        return ok(f"{package.label} and {package.torch.label} use the runtime of CUDA {cuda}")
    return _bad(package, asked, facts, matrix)


def _chosen(package: ExtensionPackage, by_name: dict[str, Extension], facts: Facts, matrix: Matrix) -> Answer:
    wanted, found = wanted_name(package, facts), taken(package, by_name, facts)
    said = variable(facts)
    lost = _lost(package, by_name[found], facts) if found else ""
    if said and (lost or not found):
        return _led_astray(package, by_name, said, lost)
    if found:
        return ok(f"{package.label} uses its library for CUDA {_dotted(found)}")
    folder = next(iter(by_name.values())).path.rpartition("/")[0]
    return bad(
        f"{package.label} has no library for CUDA {_dotted(wanted)}, which {package.torch.label} was built with",
        *_releases_with(wanted, package, facts, matrix),
        Advice(f"install a {package.modules[0].distribution} version with one for {_dotted(wanted)}"),
        evidence=(_torch_evidence(package), Evidence(f"has libraries for CUDA {_present(by_name)}", file=folder)),
    )


def _present(by_name: dict[str, Extension]) -> str:
    return ", ".join(sorted(map(_dotted, by_name), key=lambda text: [int(part) for part in text.split(".")]))


def _lost(package: ExtensionPackage, library: Extension, facts: Facts) -> str:
    """The first of CUDA's libraries that one of the package asks for in vain, "" for none."""
    name = library.distribution
    told = (one for one in value_or(facts.loader.predictions, ()) if one.environment == package.environment)
    return next((one.soname for one in told if one.asker == name and one.is_cuda and one.missing), "")


def _led_astray(package: ExtensionPackage, by_name: dict[str, Extension], said: Variable, lost: str) -> Answer:
    """The variable names a CUDA that is not torch's, and whose library or whose runtime is not here."""
    why = f"and {lost} was not found" if lost else "and it has none"
    return bad(
        (
            f"{said.name}={said.value} makes {package.label} use its library for CUDA {_dotted(said.value)}, "
            f"{why}; {package.torch.label} has CUDA {package.torch.cuda.get()}"
        ),
        ClearVariable(said.name, said.set_in),
        evidence=(
            Evidence.at(said.set_at, said.value, f"{said.name}, set in {said.set_in}" if said.set_in else said.name),
            _torch_evidence(package),
            Evidence(f"has libraries for CUDA {_present(by_name)}", file=package.modules[0].path.rpartition("/")[0]),
        ),
    )


def _releases_with(wanted: str, package: ExtensionPackage, facts: Facts, matrix: Matrix) -> Iterator[Need]:
    """The nearest release with a library for that CUDA which goes with the torch that is there."""
    return _releases(package, facts, matrix, lambda row: accepts(row.cuda or "<0", _dotted(wanted)))


def _releases(
    package: ExtensionPackage, facts: Facts, matrix: Matrix, fits: Callable[[FrameworkRow], bool]
) -> Iterator[Need]:
    name, environment = package.modules[0].distribution, environment_of(package.torch, facts)
    own = next((one for one in value_or(environment.frameworks, ()) if one.package == name), None)

    def goes_with(row: FrameworkRow) -> bool:
        asked = (row.pins or {}).get(package.torch.package, "")
        return fits(row) and keeps(asked, release_of(package.torch.version))

    rows = other_builds(own, facts, matrix, goes_with, driver=False) if own else ()
    yield from (InstallPackage(name, row.versions, environment.interpreter) for row in rows[:1])


def _pins_torch(row: FrameworkRow, package: ExtensionPackage) -> bool:
    """Whether it is a wheel, made for one torch: what everybody compiles himself has no such pin."""
    return package.torch.package in (row.pins or {})


def _builds_of_torch(package: ExtensionPackage, majors: set[int], facts: Facts, matrix: Matrix) -> Iterator[Need]:
    """The build of torch for the extension's CUDA: of the same release, or where no build of the extension is for it.

    That nobody publishes one for this torch is known of packages with rows alone: what was built at home for an older
    torch is built again.
    """
    torch, environment = package.torch, environment_of(package.torch, facts)
    name = package.modules[0].distribution
    rows: tuple[FrameworkRow, ...] = matrix.rows(name, "builds") if matrix.has(name) else ()
    is_rider = any(one.package == name for one in riders(torch, environment))
    is_published = is_rider and any(_pins_torch(row, package) for row in rows)

    def fits(row: FrameworkRow) -> bool:
        near = covers(row, torch.version) or is_published
        return near and oldest_cuda(row, matrix).major in majors and fits_dependents(row, torch, environment)

    yield from (need_of(row, torch, facts) for row in other_builds(torch, facts, matrix, fits)[:1])


def _dotted(digits: str) -> str:
    return f"{digits[:-1]}.{digits[-1]}"


def _bad(package: ExtensionPackage, asked: dict[Extension, Runtime], facts: Facts, matrix: Matrix) -> Answer:
    cuda = package.torch.cuda.get()
    linked = ", ".join(sorted({str(runtime) for runtime in asked.values()}))
    advice = (
        f"install the build of {package.modules[0].distribution} for torch with CUDA {cuda}, or "
        f"{building_again(package, facts)}"
    )

    def is_for(row: FrameworkRow) -> bool:
        return _pins_torch(row, package) and oldest_cuda(row, matrix).major == cuda.major

    releases = tuple(_releases(package, facts, matrix, is_for))
    majors = {runtime.major for runtime in asked.values()}
    files = tuple(Evidence(f"needs {one.cudart.get()}", file=one.path) for one in asked)
    return bad(
        f"{package.label} was linked with CUDA {linked}, {package.torch.label} with CUDA {cuda}",
        *(releases or _builds_of_torch(package, majors, facts, matrix)),
        Advice(advice),
        evidence=(*files, _torch_evidence(package)),
    )


def _torch_evidence(package: ExtensionPackage) -> Evidence:
    return Evidence.of(package.torch.cuda, f"{package.torch.label} was built with CUDA {package.torch.cuda.get()}")


RULE = Rule(EXTENSION_PACKAGES, check, blocks_verdict=False)
