"""What a trial had not got: CuPy, NumPy, the driver, the GPU; in one sentence that names what to install."""

from __future__ import annotations

from doctor.commands.verify.cudnn_trial.outcome import Outcome
from doctor.commands.verify.trial import Trial
from doctor.model.facts import Facts

_OF_COPY = {
    "classic": "cuDNN's classic functions, which NVIDIA's JIT edition leaves out",
    "engines": "an engine for a plain convolution, of which NVIDIA's JIT edition names none here",
}
_LIBRARIES = {"cublas": "cuBLAS", "nvrtc": "NVRTC", "nccl": "NCCL"}
_NO_GPU = "an NVIDIA GPU (this machine has none)"


def lacks_of(outcome: Outcome, facts: Facts) -> str:
    """Why a trial stopped where nothing is wrong, "" where it did not."""
    missing = [one for one in outcome.stages if one.status == "missing"]
    if not missing:
        return ""
    stage = missing[0]
    lacking = (*(one.lacks for one in missing), *stage.facts.get("also_lacks", ()))
    is_without = facts.has_gpu is False and stage.lacks not in _OF_COPY
    parts = [_NO_GPU] if is_without else [_of_machine(one, outcome.gpu) for one in lacking]
    parts += [str(one.facts.get("why")) for one in missing if one.lacks == "partner"]
    if {"cupy", "numpy", *_LIBRARIES}.intersection(lacking):
        parts.append(_of_ours(lacking, str(stage.facts.get("extra", ""))))
    return f"level {outcome.level} needs {' and '.join(filter(None, parts))}"


def lacks_of_framework(trial: Trial, facts: Facts) -> str:
    """The same of a framework's trial, whose own libraries are there."""
    stage = next((one for one in trial.stages if one.status == "missing"), None)
    if stage is None:
        return ""
    none = _NO_GPU if facts.has_gpu is False else f"GPU {trial.gpu}"
    return f"{trial.framework} needs {none}" + (f": {stage.lacks}" if stage.lacks else "")


def _of_machine(what: str, gpu: int) -> str:
    return {
        **_OF_COPY,
        "driver": "the NVIDIA driver, whose libcuda is not found",
        "gpu": f"a GPU: CUDA sees none numbered {gpu}",
    }.get(what, "")


def _of_ours(lacking: tuple[str, ...], extra: str) -> str:
    """The extra brings all of them but NCCL, which one GPU does not need."""
    found = ["CuPy"] if "cupy" in lacking else ["NumPy"] if "numpy" in lacking else []
    what = " and ".join([*found, *(name for key, name in _LIBRARIES.items() if key in lacking)])
    if what == "NCCL":
        return "NCCL beside gpudoctor (install PyTorch there, or what CuPy's guide says of NCCL)"
    wanted = f"'gpudoctor[{extra}]'" if extra else "'gpudoctor[cuda12]' or 'gpudoctor[cuda13]'"
    return f"{what} beside gpudoctor (install {wanted})"
