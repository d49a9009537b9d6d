"""cuda-compat's libcuda is loaded where it cannot work."""

from __future__ import annotations

from compat.matrix import Matrix, Uncovered
from compat.need import Advice, DropFromPath, Need
from doctor.model.facts import Facts, Machine
from doctor.model.facts.driver import DriverLibrary
from doctor.model.facts.gpu import Gpu
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.cards import newer_driver
from doctor.rules.shared.conditions import CUDA_DOES_NOT_START, loading_library, variable
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE, need_where

_PATH = "LD_LIBRARY_PATH"
_ANYWHERE = ("datacenter", "jetson")  # families for which NVIDIA supports forward compatibility


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """It must be newer than the kernel module (else error 803), on a GPU that allows it (else 804).

    Source: NVIDIA, "CUDA Compatibility", section "Forward Compatibility".
    """
    need_where(facts, "driver")
    need_where(facts, "gpus")
    library = loading_library(facts, "libcuda")
    if not library or library.origin != "compat":
        raise NotApplicable("no cuda-compat libcuda is loaded")
    module = facts.driver.module_release.get()
    if library.release == module:
        return ok("cuda-compat and the kernel module have the same version")
    if library.release < module:
        return _mistake(facts, library, matrix, f"is older than the driver {module}: CUDA fails with error 803")
    refused = next((gpu for gpu in facts.gpus.get() if _family(gpu, matrix) == "geforce"), None)
    if refused:
        return _mistake(facts, library, matrix, f"cannot run on {refused.label}: CUDA fails with error 804")
    for gpu in facts.gpus.get():
        if _family(gpu, matrix) not in _ANYWHERE:
            raise Uncovered(f"forward compatibility on {gpu.label}, which only selected workstation boards have")
    return ok(f"cuda-compat {library.release} on data-center GPUs")


def _family(gpu: Gpu, matrix: Matrix) -> str:
    """The product's family; what the driver itself calls GeForce is GeForce, whatever rows there are."""
    name = gpu.name.get()
    return "geforce" if "GeForce" in name else matrix.gpu(name).family


def _mistake(facts: Facts, library: DriverLibrary, matrix: Matrix, why: str) -> Answer:
    folder = library.path.rpartition("/")[0]
    setting = variable(facts, _PATH) if isinstance(facts.configuration.variables, Seen) else None
    listed = setting is not None and folder in [part.rstrip("/") for part in setting.value.split(":")]
    away = (
        DropFromPath(_PATH, folder, setting.set_in)
        if setting and listed
        else Advice(
            f"Remove {folder} from the loader's path: uninstall the cuda-compat "
            "package, or delete its line in ld.so.conf.d."
        )
    )
    return bad(
        f"cuda-compat's libcuda {library.release} is loaded, but {why}",
        away,
        *_newer(facts, library, matrix),
        evidence=(
            Evidence(f"version {library.release}, the loaded libcuda", file=library.path),
            Evidence.of(facts.driver.module_release, f"kernel module {value_or(facts.driver.module_release, '')}"),
        ),
        explains=CUDA_DOES_NOT_START,
    )


def _newer(facts: Facts, library: DriverLibrary, matrix: Matrix) -> tuple[Need, ...]:
    """A driver that needs no cuda-compat: nothing to advise where it is newer already."""
    if library.release < facts.driver.module_release.get():
        return ()
    return newer_driver(facts, library.release, matrix)


RULE = Rule(MACHINE, check)
