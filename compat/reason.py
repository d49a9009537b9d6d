"""Reasons for and against, each with its rows: what a toolkit, a driver and cuDNN do for the cards of a machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from compat.build import serves
from compat.matrix import Matrix, Uncovered
from compat.platform import extras_lacking
from compat.row import BranchRow, CudnnBuildRow, FrameworkRow, GenerationRow
from compat.target import TargetMachine
from compat.version import ComputeCapability, CudaVersion, DriverRelease

if TYPE_CHECKING:
    from compat.artefact import ForwardCompatRow  # only a question asks for these
    from compat.spec import Spec

OK, BAD, UNKNOWN = "ok", "bad", "unknown"
YES, NO = "yes", "no"


class Reason(NamedTuple):
    """One thing that speaks for a build, against it, or that is unknown."""

    kind: str  # "ok", "bad" or "unknown"
    what: str
    rows: tuple[str, ...]  # "torch.builds[torch-2.9.1-cu128-linux]"
    source: str
    is_expected: bool = False  # nobody asks why: builds for no or other GPUs, pre-releases, a wheel that exists
    short: str = ""  # `what` without its particulars, where it has some

    @property
    def brief(self) -> str:
        """It for a person who did not ask for sources."""
        return self.short or self.what


def verdict_of(reasons: tuple[Reason, ...]) -> str:
    """ "no" for one bad reason, else "unknown" for one unknown one, else "yes"."""
    kinds = {reason.kind for reason in reasons}
    return NO if BAD in kinds else UNKNOWN if UNKNOWN in kinds else YES


def extra_reasons(spec: Spec, row: FrameworkRow, matrix: Matrix) -> Iterator[Reason]:
    """An extra that other releases have alone: an installer warns, and leaves out what it would bring."""
    for known in extras_lacking(spec, row, matrix):
        there = " or ".join(one.versions for one in known)
        what = f"{spec.name} has the extra {known[0].extra} only in {there}; pip ignores it here"
        names = tuple(row_name("package", "extras", one) for one in known)
        yield Reason(BAD, what, names, known[0].source)


def reaches(driver: DriverRelease, floor: DriverRelease) -> bool:
    """Whether a driver is at or above a floor; "580" alone stands for the releases of its branch."""
    return driver >= floor or (len(driver) == 1 and driver.branch == floor.branch)


def row_name(product: str, table: str, row: object) -> str:
    """How an answer names a row: "torch.builds[torch-2.9.1-cu128-linux]"."""
    return f"{product}.{table}[{getattr(row, 'id', '')}]"


def driver_drives(gpu: ComputeCapability, driver: DriverRelease, matrix: Matrix, os_family: str = "linux") -> Reason:
    """Whether a driver knows a card: from the branch of the first CUDA that builds for it to the last that has it.

    A driver's libcuda knows the architectures of the CUDA version it reports; raises Uncovered.
    """
    generation, branch = matrix.generation(gpu), matrix.branch(driver, os_family)
    rows = (row_name("driver", "branches", branch), row_name("gpu", "generations", generation))
    last = generation.driver_last
    if generation.driver_dropped and last is not None and branch.branch > last:
        what = f"driver {driver} no longer supports {gpu.sm} ({generation.name}); branch {last} is its last"
        return Reason(BAD, what, rows, generation.source)
    return _knows_card(gpu, driver, generation, branch, rows)


def _knows_card(
    gpu: ComputeCapability, driver: DriverRelease, generation: GenerationRow, branch: BranchRow, rows: tuple[str, ...]
) -> Reason:
    first, knows = generation.cuda_first, branch.cuda_max
    if first is None or knows is None:
        return Reason(UNKNOWN, f"unknown: does driver {driver} support {gpu.sm}?", rows, branch.source)
    if knows < first:
        what = (
            f"driver {driver} has CUDA {knows} and is older than {gpu.sm} ({generation.name}), which CUDA {first} added"
        )
        return Reason(BAD, what, rows, f"{branch.source}; {generation.source}")
    return Reason(OK, f"driver {driver} supports {gpu.sm} ({generation.name})", rows, generation.source)


def toolkit_reasons(cuda: CudaVersion, circumstances: TargetMachine, matrix: Matrix) -> Iterator[Reason]:
    """Whether a toolkit builds for the cards, its programs start on the driver, and that drives the cards."""
    for gpu in circumstances.capabilities:
        yield _toolkit_builds_for(gpu, cuda, matrix)
    yield from driver_reasons(cuda, circumstances, matrix)
    yield from drives_reasons(circumstances, matrix)


def drives_reasons(circumstances: TargetMachine, matrix: Matrix) -> Iterator[Reason]:
    """Whether the driver knows the cards at all; that of a Jetson comes with its system, and is not judged."""
    driver, family = circumstances.driver, circumstances.driver_family
    if driver is None or circumstances.arch == "jetson":
        return
    for gpu in circumstances.capabilities:
        try:
            yield driver_drives(gpu, driver, matrix, family)
        except Uncovered as error:
            yield Reason(UNKNOWN, _of_windows(driver, family, matrix) or str(error), (), "")


def _of_windows(driver: DriverRelease, family: str, matrix: Matrix) -> str:
    """What to say of a release that only Windows has: whoever names it for Linux may mean WSL."""
    try:
        branch = matrix.branch(driver, "windows").branch
    except Uncovered:
        return ""
    if family != "linux" or branch == driver.branch:
        return ""
    return f"driver {driver} is a Windows driver of branch {branch}: add --os windows, or --os wsl"


def driver_reasons(cuda: CudaVersion, circumstances: TargetMachine, matrix: Matrix) -> Iterator[Reason]:
    """Whether programs of a CUDA version start on the driver; where not, whether NVIDIA's package would help."""
    if circumstances.driver is None:
        return
    reason = driver_runs(cuda, circumstances.driver, circumstances.driver_family, matrix)
    package = _forward_compat(cuda, circumstances, matrix) if reason.kind == BAD else None
    if package is None:
        yield reason
        return
    beside = circumstances.forward == package.cuda
    start = f"CUDA {cuda} starts with {package.id} beside driver {circumstances.driver}"
    yield reason._replace(
        kind=OK if beside else BAD,
        what=start if beside else f"{reason.what}; it would start with the package {package.id}",
        rows=(*reason.rows, row_name("forward-compat", "packages", package)),
        source=f"{reason.source}; {package.source}",
    )


def _forward_compat(cuda: CudaVersion, circumstances: TargetMachine, matrix: Matrix) -> ForwardCompatRow | None:
    """The forward-compatibility package that is there, else the oldest that serves a CUDA version here."""
    serving = [
        row
        for row in forward_packages(circumstances, matrix)
        if row.cuda.major == cuda.major and row.cuda >= cuda and circumstances.forward in {None, row.cuda}
    ]
    return min(serving, key=lambda row: row.cuda, default=None)


def forward_packages(circumstances: TargetMachine, matrix: Matrix) -> tuple[ForwardCompatRow, ...]:
    """The forward-compatibility packages that NVIDIA supports on this driver's branch and these cards.

    Source: CUDA Compatibility, "Forward Compatibility": Linux, data-centre cards, base branches of NVIDIA's table.
    """
    driver = circumstances.driver
    if driver is None or circumstances.driver_family != "linux" or set(circumstances.families) != {"datacenter"}:
        return ()
    rows: tuple[ForwardCompatRow, ...] = matrix.rows("forward-compat", "packages")
    return tuple(row for row in rows if driver.branch in (row.base_branches or ()))


def _toolkit_builds_for(gpu: ComputeCapability, cuda: CudaVersion, matrix: Matrix) -> Reason:
    """Machine code for a lower minor version will do; the toolkit's own libraries hold no more than that either."""
    try:
        row = matrix.targets(cuda)
    except Uncovered as error:
        return Reason(UNKNOWN, str(error), (), "")
    name = (row_name("cuda", "targets", row),)
    if row.capability_min <= gpu <= row.capability_max and serves(row.sm, gpu):
        return Reason(OK, f"CUDA {cuda} supports {gpu.sm}", name, row.source)
    if gpu < row.capability_min:
        what = f"CUDA {cuda} no longer supports {gpu.sm}; {row.capability_min.sm} is its oldest"
        return Reason(BAD, what, name, row.source)
    if serves(row.sm, gpu):
        near = max(target.capability for target in row.sm if target.runs_on(gpu))
        return Reason(OK, f"CUDA {cuda} supports {near.sm}, whose code runs on {gpu.sm}", name, row.source)
    return _too_old_for(gpu, cuda, matrix, Reason(BAD, f"CUDA {cuda} does not support {gpu.sm}", name, row.source))


def _too_old_for(gpu: ComputeCapability, cuda: CudaVersion, matrix: Matrix, reason: Reason) -> Reason:
    try:
        first = matrix.first_cuda_for(gpu)
    except Uncovered:
        return reason
    return reason._replace(what=f"{reason.what}; {first} is the first that does" if first > cuda else reason.what)


def driver_runs(cuda: CudaVersion, driver: DriverRelease, os_family: str, matrix: Matrix) -> Reason:
    """The driver's floor under minor-version compatibility, not the driver that the toolkit came with."""
    try:
        toolkit = matrix.toolkit(cuda)
        floor = matrix.driver_floor(cuda, os_family)
    except Uncovered as error:
        return Reason(UNKNOWN, str(error), (), "")
    name = (row_name("cuda", "toolkits", toolkit),)
    if reaches(driver, floor):
        return Reason(OK, f"driver {driver} supports CUDA {cuda} (the oldest is {floor})", name, toolkit.source)
    return Reason(BAD, f"CUDA {cuda} needs driver {floor} or newer; {driver} is installed", name, toolkit.source)


def _compilable(cuda: CudaVersion | None, matrix: Matrix) -> ComputeCapability | None:
    """The newest card that a CUDA's compiler builds for; None where unknown."""
    try:
        return None if cuda is None else matrix.targets(cuda).capability_max
    except Uncovered:
        return None


def cudnn_reasons(build: CudnnBuildRow, circumstances: TargetMachine, matrix: Matrix) -> Iterator[Reason]:
    """Whether a build of cuDNN has code for the cards; no newer one than the compiler of its newest CUDA knows."""
    name = (row_name("cudnn", "builds", build),)
    oldest, newest = build.capability_min, build.capability_max or _compilable(build.cuda_max, matrix)
    which = f"cuDNN {build.version} for CUDA {build.cuda_major}"
    for gpu in circumstances.capabilities:
        if oldest is not None and gpu < oldest:
            yield Reason(BAD, f"{which}, which has no code for {gpu.sm}, only from {oldest.sm} on", name, build.source)
        elif newest is not None and gpu.major > newest.major:
            what = f"{which}, which was released for cards up to {newest.sm}; unknown if it works on {gpu.sm}"
            yield Reason(UNKNOWN, what, name, build.source)
        elif oldest is None:
            yield Reason(UNKNOWN, f"{which}: the cards that it has code for are unknown", name, build.source)
        else:
            yield Reason(OK, f"{which}, which has code for {gpu.sm}", name, build.source)
