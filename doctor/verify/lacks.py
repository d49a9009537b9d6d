"""What a trial had not got: CuPy, NumPy, the driver, the GPU; in one sentence that names what to install."""

from __future__ import annotations

from doctor.facts import Facts
from doctor.facts.seen import value_or
from doctor.smoke.outcome import Outcome
from doctor.verify.subject import Subject
from doctor.verify.trial import Trial

_EXTRAS = {12: "cuda12", 13: "cuda13"}


def lacks_of(outcome: Outcome, subject: Subject, facts: Facts) -> str:
    """Why a trial stopped where nothing is wrong, "" where it did not."""
    stage = next((one for one in outcome.stages if one.status == "missing"), None)
    if stage is None:
        return ""
    parts = [_part(stage.lacks, _cuda_major(outcome, subject), outcome.gpu)]
    if stage.lacks in {"cupy", "numpy"} and facts.has_gpu is False:
        parts.append("an NVIDIA GPU, which this machine has not got")
    return f"level {outcome.level} needs {' and '.join(parts)}"


def lacks_of_framework(trial: Trial, facts: Facts) -> str:
    """The same of a framework's trial, whose own libraries are there."""
    stage = next((one for one in trial.stages if one.status == "missing"), None)
    if stage is None:
        return ""
    none = "an NVIDIA GPU, which this machine has not got" if facts.has_gpu is False else f"GPU {trial.gpu}"
    return f"{trial.framework} needs {none}" + (f": {stage.lacks}" if stage.lacks else "")


def _part(what: str, cuda_major: int, gpu: int) -> str:
    if what in {"cupy", "numpy"}:
        name = "CuPy" if what == "cupy" else "NumPy"
        return f"{name} beside gpudoctor: {_installed_by(cuda_major)}"
    if what == "driver":
        return "the NVIDIA driver: no libcuda is found"
    return f"a GPU: CUDA sees no GPU {gpu}"


def _installed_by(cuda_major: int) -> str:
    """The extra for the copy's CUDA; where there is none, what there is to know."""
    extra = _EXTRAS.get(cuda_major)
    if extra:
        return f"install 'gpudoctor[{extra}]', as this cuDNN is built for CUDA {cuda_major}"
    if cuda_major:
        return (
            f"install a CuPy for CUDA {cuda_major}, which this cuDNN is built for (gpudoctor's extras are for 12, 13)"
        )
    return "install 'gpudoctor[cuda12]' or 'gpudoctor[cuda13]', whichever this cuDNN is built for"


def _cuda_major(outcome: Outcome, subject: Subject) -> int:
    stage = outcome.stage("version")
    told = stage.facts.get("cudart") if stage else None
    return told // 1000 if isinstance(told, int) and told > 0 else value_or(subject.copy.cuda_major, 0)
