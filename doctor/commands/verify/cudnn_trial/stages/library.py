"""The stages that need neither CuPy nor a GPU: the copy is opened, asked, and seen to be the one that is mapped."""

from __future__ import annotations

import os
from typing import Any

from doctor.binaries.elf import Elf, ElfError
from doctor.commands.verify.cudnn_trial.cudnn_api import Cudnn
from doctor.commands.verify.cudnn_trial.cudnn_parts import parts_of
from doctor.commands.verify.cudnn_trial.mapped_files import mapped_libraries, strangers
from doctor.commands.verify.cudnn_trial.outcome import Fault
from doctor.commands.verify.cudnn_trial.stub_libcuda import LIBCUDA, stand_in
from doctor.commands.verify.cudnn_trial.trial import StageFailed, Trial


def load(trial: Trial) -> dict[str, Any]:
    """Open the copy's parts and its main library.

    Facts: `path`, `real_path` of the main library; `preloaded`, the paths of the parts that were opened;
    `preload_errors`, by part the loader's words. A part that is damaged itself fails the stage; one that lacks another
    library (the engines of a machine without a driver lack libcuda.so.1) does not; `stands_in`, whether something was
    put in libcuda's place, so that they could be opened all the same.
    """
    facts: dict[str, Any] = {"path": trial.order.library, "real_path": os.path.realpath(trial.order.library)}
    try:
        trial.cudnn = Cudnn(trial.order.library, trial.events.doing)
    except OSError as refused:
        raise StageFailed(
            Fault(kind="loader", function="dlopen", status=0, name=type(refused).__name__, text=str(refused)), facts
        ) from refused
    facts["preload_errors"] = dict(trial.cudnn.preload_errors)
    facts["stands_in"] = _stands_in(trial)
    facts["preloaded"] = list(trial.cudnn.preloaded)
    own = [text for text in trial.cudnn.preload_errors.values() if _is_of_the_copy(text, trial.cudnn.path)]
    if own:
        raise StageFailed(Fault(kind="loader", function="dlopen", status=0, name="OSError", text=own[0]), facts)
    return facts


def _stands_in(trial: Trial) -> bool:
    """Where parts lack the driver's libcuda, one that stands in for it, with the functions that they name."""
    lacking = {kind: text for kind, text in trial.cudnn.preload_errors.items() if text.startswith(f"{LIBCUDA}:")}
    paths = [part.path for part in parts_of(trial.cudnn.path) if part.kind in lacking]
    try:
        named = {name for path in paths for name in _functions(path)}
    except (OSError, ElfError):
        return False
    if not paths or not stand_in(named):
        return False
    trial.without_driver = next(iter(lacking.values()))
    trial.cudnn.preload()
    return True


def _functions(path: str) -> tuple[str, ...]:
    """Of the driver's API, those that a library names: cuModuleLoadData, not cudnnCreate."""
    with open(path, "rb") as stream:
        return tuple(one for one in Elf(stream).names("cu") if one[2:3].isupper())


def _is_of_the_copy(text: str, path: str) -> bool:
    """Whether the loader blames a file of cuDNN's: its words begin with the file's path or bare name (glibc, musl)."""
    blamed = text.split(":", 1)[0]
    return os.path.basename(blamed).startswith("libcudnn") or os.path.dirname(blamed) == os.path.dirname(path)


def version(trial: Trial) -> dict[str, Any]:
    """Ask for the release.

    Facts: `version` ("9.10.2"), `raw_version` (91002), `cudart_version` (12090: built with CUDA 12.9; null where it
    does not say), `max_device_version` (1210: has code for compute capability 12.1; null before cuDNN 8).
    """
    cudnn = trial.cudnn
    return {
        "version": cudnn.version,
        "raw_version": cudnn.raw_version,
        "cudart_version": cudnn.cudart_version,
        "max_device_version": cudnn.max_device_version,
    }


def parts(trial: Trial) -> dict[str, Any]:
    """Let each part that has an API compare its release with the others'.

    Facts: `parts`, by part "" or the name of the status; empty before cuDNN 8. The engines have no such check.
    """
    facts = {"parts": trial.cudnn.check_parts()}
    bad = {part: name for part, name in facts["parts"].items() if name}
    if bad:
        part, name = next(iter(bad.items()))
        text = ", ".join(f"{part}: {name}" for part, name in bad.items())
        raise StageFailed(
            Fault(kind="cudnn", function=f"VersionCheck of {part}", status=0, name=name, text=text), facts
        )
    return facts


def mapped(trial: Trial) -> dict[str, Any]:
    """See which files are mapped: each of cuDNN's must be this copy's.

    Facts: `cudnn`, their paths; `called`, those of cuBLAS, NVRTC and the CUDA runtime that are mapped too; and
    `memory_bytes`, what the trial holds of the GPU's memory, once it computes.
    """
    cudnn, called = mapped_libraries()
    facts: dict[str, Any] = {"cudnn": list(cudnn), "called": list(called)}
    if trial.has_memory:
        facts["memory_bytes"] = trial.memory.taken_bytes()
    alien = strangers(cudnn, trial.cudnn.path)
    if alien:
        raise StageFailed(Fault(kind="other-copy", function="", status=0, name="", text=", ".join(alien)), facts)
    if not cudnn:
        raise StageFailed(
            Fault(kind="other-copy", function="", status=0, name="", text=f"{trial.cudnn.path} is not mapped"), facts
        )
    return facts
