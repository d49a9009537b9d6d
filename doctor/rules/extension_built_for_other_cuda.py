"""A compiled extension of torch was linked with another CUDA than torch's."""

from __future__ import annotations

from collections.abc import Iterator

from compat.matrix import Matrix, accepts
from compat.need import Need
from compat.row import FrameworkRow
from doctor.check.finding import Answer, Evidence, bad, ok
from doctor.facts import Facts
from doctor.facts.environment import Extension
from doctor.facts.seen import how, value_or
from doctor.rules.shared.builds import other_builds
from doctor.rules.shared.extensions import (
    EXTENSION_PACKAGES,
    ExtensionPackage,
    Runtime,
    building_again,
    chosen_by_name,
    runtime_of,
    taken,
    wanted_name,
)
from doctor.rules.shared.pins import keeps, release_of
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
        raise NotApplicable(f"{package.label} asks for no CUDA runtime beside its own")
    if any(runtime.is_of(cuda) for runtime in asked.values()):
        return ok(f"{package.label} and {package.torch.label} use the runtime of CUDA {cuda}")
    return _bad(package, asked, facts)


def _chosen(package: ExtensionPackage, by_name: dict[str, Extension], facts: Facts, matrix: Matrix) -> Answer:
    wanted = wanted_name(package, facts)
    if found := taken(package, by_name, facts):
        return ok(f"{package.label} takes its library for CUDA {_dotted(found)}")
    present = ", ".join(sorted(map(_dotted, by_name), key=lambda text: [int(part) for part in text.split(".")]))
    folder = next(iter(by_name.values())).path.rpartition("/")[0]
    return bad(
        f"{package.label} has no library for CUDA {_dotted(wanted)}, which {package.torch.label} was built with",
        *_releases_with(wanted, package, facts, matrix),
        Need("by-hand", f"install a release of {package.modules[0].distribution} that has one for {_dotted(wanted)}"),
        evidence=(_torch_evidence(package), Evidence(folder, f"has libraries for CUDA {present}")),
    )


def _releases_with(wanted: str, package: ExtensionPackage, facts: Facts, matrix: Matrix) -> Iterator[Need]:
    """The nearest release with a library for that CUDA which goes with the torch that is there."""
    name, environment = package.modules[0].distribution, environment_of(package.torch, facts)
    own = next((one for one in value_or(environment.frameworks, ()) if one.package == name), None)

    def fits(row: FrameworkRow) -> bool:
        asked = (row.pins or {}).get(package.torch.package, "")
        return accepts(row.cuda or "<0", _dotted(wanted)) and keeps(asked, release_of(package.torch.version))

    rows = other_builds(own, facts, matrix, fits, driver=False) if own else ()
    yield from (Need(name, row.versions, environment.interpreter) for row in rows[:1])


def _dotted(digits: str) -> str:
    return f"{digits[:-1]}.{digits[-1]}"


def _bad(package: ExtensionPackage, asked: dict[Extension, Runtime], facts: Facts) -> Answer:
    cuda = package.torch.cuda.get()
    linked = ", ".join(sorted({str(runtime) for runtime in asked.values()}))
    advice = (
        f"install the build of {package.modules[0].distribution} for torch with CUDA {cuda}, or "
        f"{building_again(package, facts)}"
    )
    files = tuple(Evidence(one.path, f"asks for {one.cudart.get()}") for one in asked)
    return bad(
        f"{package.label} was linked with CUDA {linked}, {package.torch.label} with CUDA {cuda}",
        Need("by-hand", advice),
        evidence=(*files, _torch_evidence(package)),
    )


def _torch_evidence(package: ExtensionPackage) -> Evidence:
    return Evidence(how(package.torch.cuda), f"{package.torch.label} was built with CUDA {package.torch.cuda.get()}")


RULE = Rule(EXTENSION_PACKAGES, check, matters=False)
