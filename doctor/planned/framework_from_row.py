"""A framework that is not there yet, as facts from its matrix row: the rules judge it as any other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compat.build import covers, is_cuda_row, oldest_cuda
from compat.matrix import Matrix, Uncovered
from compat.row import FrameworkRow
from compat.spec import Spec
from compat.specifier import first_release
from compat.traits import traits_of
from compat.version import CudaVersion
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import Fact, Seen, Unseen


def framework_of_row(row: FrameworkRow, spec: Spec, prefix: str, matrix: Matrix, note: str) -> Framework:
    """The build of a row in an environment; it has no path, for it has no files."""
    how = f"{note}: matrix, {row.id}"
    unknown = Unseen(f"the matrix row {row.id} does not say")
    cuda: Fact[CudaVersion] = unknown
    if is_cuda_row(row):
        try:
            cuda = Seen(oldest_cuda(row, matrix), how)
        except Uncovered as error:
            cuda = Unseen(str(error))
    return Framework(
        package=row.package,
        version=version_of(row, spec),
        path="",
        build=Seen(row.build, how),
        cuda=cuda,
        cudnn=unknown if row.cudnn is None else Seen(row.cudnn, how),
        targets=unknown if row.targets is None else Seen(row.targets, how),
        requires=unknown if row.pins is None else Seen(tuple(_requirements(row.package, row.pins)), how),
        environment=prefix,
        note=note,
    )


def _requirements(package: str, pins: Mapping[str, str]) -> Iterator[str]:
    """As its metadata has them: libraries that only its extra asks for carry that extra's marker."""
    asked = traits_of(package).asked_as.get(package, "")
    extra = asked.partition("[")[2].rstrip("]") if asked.startswith(f"{package}[") else ""
    for name, specifier in pins.items():
        yield f"{name}{specifier};extra=='{extra}'" if extra and name.startswith("nvidia-") else f"{name}{specifier}"


def framework_of_no_row(spec: Spec, prefix: str, note: str) -> Framework:
    """A release of which the matrix has no row: only what was asked for is known of it."""
    why = Unseen(f"no matrix row covers {spec}")
    version = first_release(spec.versions) + (f"+{spec.build}" if spec.build else "")
    build: Fact[str] = Seen(spec.build, note) if spec.build else why
    return Framework(
        package=spec.name,
        version=version,
        path="",
        build=build,
        cuda=why,
        cudnn=why,
        targets=why,
        requires=why,
        environment=prefix,
        note=note,
    )


def version_of(row: FrameworkRow, spec: Spec) -> str:
    """The version that an environment would list: "2.9.1+cu128"."""
    asked = first_release(spec.versions)
    is_exact = row.versions.startswith("==") and "*" not in row.versions
    release = asked if asked and not is_exact and covers(row, asked) else first_release(row.versions)
    tag = f"+{row.build}" if row.build and traits_of(row.package).tagged else ""
    return release + tag
