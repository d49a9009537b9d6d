"""The driver and the GPUs that an image or root is to run on, as the user names them."""

from __future__ import annotations

from compat.base.choice import NoSuchName
from compat.driver_name import NotADriver, driver_named
from compat.matrix import Matrix, Uncovered
from compat.version import CudaVersion, VersionError
from doctor.host import BadRequest
from doctor.model.facts import Facts
from doctor.model.facts.gpu import Gpu, GpuNow
from doctor.model.facts.seen import Fact, Seen, Unseen, all_unseen

_DRIVER, _GPU = "--assume-driver", "--assume-gpu"
_GPUS_AT_MOST = 64


def with_assumed(facts: Facts, matrix: Matrix, driver: str, gpus: tuple[str, ...]) -> Facts:
    """The facts with what is assumed; raises BadRequest, NoSuchName for a GPU that no row has."""
    if facts.machine.kind == "live" and isinstance(facts.driver.release, Seen):
        raise BadRequest(
            f"{_DRIVER if driver else _GPU}: this machine has driver {facts.driver.release.value}. "
            "Use it with --image, --root or --dockerfile"
        )
    if len(gpus) > _GPUS_AT_MOST:
        raise BadRequest(f"{_GPU}: {_GPUS_AT_MOST} GPUs at most")
    if driver:
        facts = _with_driver(facts, matrix, driver)
    if gpus:
        found = tuple(_gpu(number, name, matrix) for number, name in enumerate(gpus))
        facts = facts._replace(gpus=Seen(found, _GPU), assumed=(*facts.assumed, "gpus"))
    return facts


def _with_driver(facts: Facts, matrix: Matrix, name: str) -> Facts:
    try:
        release = driver_named(name, matrix)
    except VersionError as error:
        raise BadRequest(f"{_DRIVER} {name}: a release such as 550.54.14, or 550.54") from error
    except NotADriver as error:
        raise BadRequest(f"{_DRIVER}: {error}") from error
    try:
        newest = matrix.branch(release).cuda_max
        cuda: Fact[CudaVersion] = Seen(newest, "matrix, driver.branches") if newest else Unseen("no data about it")
    except Uncovered as error:
        cuda = Unseen(str(error))
    driver = facts.driver._replace(release=Seen(release, _DRIVER), module_release=Seen(release, _DRIVER), cuda=cuda)
    return facts._replace(driver=driver, assumed=(*facts.assumed, "driver"))


def _gpu(number: int, name: str, matrix: Matrix) -> Gpu:
    """A GPU of that name, of which nothing but its compute capability is known."""
    try:
        row = matrix.gpu(name)
    except Uncovered:
        names = [row.name.removeprefix("NVIDIA ") for row in matrix.rows("gpu", "products")]
        raise NoSuchName("GPU", name, names) from None
    capability = row.capabilities[0] if len(row.capabilities) == 1 else None
    blank: Gpu = all_unseen(Gpu, "the GPU is assumed")
    return blank._replace(
        number=number,
        name=Seen(row.name, _GPU),
        capability=Seen(capability, "matrix, gpu.products") if capability else Unseen(f"{row.name} has several"),
        now=all_unseen(GpuNow, "the GPU is assumed"),
    )
