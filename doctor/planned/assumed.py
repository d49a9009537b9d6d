"""The driver and the GPUs that an image or root is to run on, as the user names them."""

from __future__ import annotations

from compat.base.choice import NoSuchName
from compat.cards import GpuCard, NoGpuName, OtherMakersGpu, gpu_cards_of
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
        cards = [card for name in gpus for card in _cards(name, matrix)]
        found = tuple(_gpu(number, card) for number, card in enumerate(cards))
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


def _cards(name: str, matrix: Matrix) -> tuple[GpuCard, ...]:
    """The cards that a name stands for, several for "A100, V100"; raises NoSuchName, BadRequest."""
    try:
        return gpu_cards_of((name,), matrix)
    except OtherMakersGpu as error:
        raise BadRequest(f"{_GPU}: {error}") from error
    except (Uncovered, NoGpuName):
        known = [row.name.removeprefix("NVIDIA ") for row in matrix.rows("gpu", "products")]
        has_family = "geforce" in name.casefold()
        raise NoSuchName(
            "GPU", name, known if has_family else [one.removeprefix("GeForce ") for one in known]
        ) from None


def _gpu(number: int, card: GpuCard) -> Gpu:
    """A GPU of which nothing but its compute capability is known."""
    capability = card.capabilities[0] if len(card.capabilities) == 1 else None
    blank: Gpu = all_unseen(Gpu, "the GPU is assumed")
    return blank._replace(
        number=number,
        name=Seen(card.name, _GPU) if card.row else blank.name,
        capability=Seen(capability, "matrix, gpu.products") if capability else Unseen(f"{card.name} has several"),
        now=all_unseen(GpuNow, "the GPU is assumed"),
    )
