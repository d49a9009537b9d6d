"""What a project's file is made from; the kinds of files are in `doctor/commands/matrix/manifests/`, one each."""

from __future__ import annotations

import os
from collections.abc import Callable

from compat.base.discover import load_one, names_in
from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.build import is_served_by_default
from compat.matrix import Matrix, Uncovered
from compat.solve.search import Solution
from compat.spec import Spec, parse_spec
from compat.target import TargetMachine
from compat.version import CudaVersion
from doctor.commands.matrix.solve_answer import requirement
from installers.methods.wheel import index_of, index_options


class Unwritable(GpudoctorError):
    """There is no such kind of file, it is there already, or it cannot hold this set."""


class Wheel(NamedTuple):
    """One distribution to install."""

    spec: Spec  # its build is the local version that names it, "" for none
    address: str  # of the index that serves this build, "" for the user's own


class Project(NamedTuple):
    """An environment that was solved, as data for a file."""

    wheels: tuple[Wheel, ...]
    python: str  # "3.12", never "3.13t"; "" where no row says any
    where: TargetMachine
    cuda: CudaVersion | None  # that the driver must be able to run; None where nothing uses CUDA
    image: str  # a container image with the CUDA that is taken from the system; "" where the wheels bring it

    @property
    def indexes(self) -> tuple[tuple[str, str], ...]:
        """pip's options for all indexes that are needed, each with its address."""
        return index_options((one.spec.build, one.address) for one in self.wheels)


class Manifest:
    """One kind of file: by which names it goes, and its text."""

    __slots__ = ("is_named", "render", "usual")

    def __init__(self, usual: str, is_named: Callable[[str], bool], render: Callable[[Project], str]) -> None:
        """`usual` is the name it mostly has; `render` raises Unwritable for what such a file cannot hold.

        `is_named` takes no other case of a name by which its tool finds the file.
        """
        self.usual = usual
        self.is_named = is_named
        self.render = render


def manifest_for(path: str) -> Manifest:
    """The kind of a file by its name; raises Unwritable for a name of none, and for a file that is there already."""
    from doctor.commands.matrix import manifests  # late: only --write needs them

    known = [load_one(manifests, name, "MANIFEST", Manifest) for name in names_in(manifests)]
    found = next((one for one in known if one.is_named(os.path.basename(path))), None)
    if found is None:
        raise Unwritable(f"{path}: the name must be one of {', '.join(one.usual for one in known)}")
    if os.path.lexists(path):
        raise Unwritable(f"{path} is there already: name a file that is not")
    return found


def project_of(solution: Solution, where: TargetMachine, matrix: Matrix) -> Project:
    """What a solution comes to in a file."""
    requirements = dict.fromkeys((*map(requirement, solution.chosen), *solution.pins))
    wheels = []
    for spec in map(parse_spec, requirements):
        is_default = is_served_by_default(spec, where.os_family, where.arch, matrix)
        label, url = ("", "") if is_default else index_of(spec, matrix)
        wheels.append(Wheel(spec._replace(build=label), url))
    return Project(
        wheels=tuple(wheels),
        python=solution.python.rstrip("t"),
        where=where,
        cuda=_driver_cuda(solution, where, matrix),
        image=_image(solution, matrix),
    )


def _driver_cuda(solution: Solution, where: TargetMachine, matrix: Matrix) -> CudaVersion | None:
    """The CUDA that a driver must report: a build runs on every driver of its own major (minor-version compatibility).

    PTX is excepted from that; a driver that was named has been judged, and its own CUDA is taken.
    """
    if where.driver is not None:
        try:
            return matrix.branch(where.driver, where.driver_family).cuda_max
        except Uncovered:
            pass
    majors = [int(digits) for one in solution.chosen if (digits := _major(one.row.cuda or ""))]
    return CudaVersion(max(majors), 0) if majors else None


def _major(specifier: str) -> str:
    return specifier.lstrip("=<>!~ ").partition(".")[0].partition(",")[0]


def _image(solution: Solution, matrix: Matrix) -> str:
    """The newest container image whose CUDA is accepted by all that takes it from the system."""
    from compat.matrix import accepts

    wanted = [one.row.cuda for one in solution.chosen if one.row.libraries == "system" and one.row.cuda]
    rows = matrix.rows("index", "images") if wanted else ()
    fitting = [row for row in rows if all(accepts(specifier, row.release) for specifier in wanted)]
    return fitting[-1].image if fitting else ""
