"""What could not be measured, in sentences that say what to do about it."""

from __future__ import annotations

from doctor.commands.bench.outcome import Lack
from doctor.model.facts import Facts
from doctor.model.facts.seen import value_or

_EXTRAS = {12: "'gpudoctor[cuda12]'", 13: "'gpudoctor[cuda13]'"}
_NO_COPY = ("cudnn", "")
_NO_GPU = "an NVIDIA GPU, which this machine does not have"


def explained(lack: Lack, facts: Facts | None) -> Lack:
    """With the extra to install, or the thing that is not there; `facts` of this machine, where it was looked at."""
    what = _needed(lack, facts)
    if not what:
        return lack
    has_no_gpu = facts is not None and facts.has_gpu is False and lack.path not in {"", "cpu"}
    others = [_NO_GPU] if has_no_gpu and what != _NO_GPU else []
    return lack._replace(why=f"needs {' and '.join([*others, what])}")


def _needed(lack: Lack, facts: Facts | None) -> str:
    """What is missing, "" where the reason that was given says it best."""
    if lack.needs == "numpy":
        return "NumPy, which is not installed beside gpudoctor: install 'gpudoctor[bench]'"
    if lack.needs == "cupy":
        return f"CuPy, which does not load beside gpudoctor: install {_extra(facts)}"
    if lack.needs in {"gpu", "driver"} and facts is not None and facts.has_gpu is False:
        return _NO_GPU
    return "a copy of cuDNN, none is found: name one with --cudnn" if (lack.needs, lack.network) == _NO_COPY else ""


def _extra(facts: Facts | None) -> str:
    """The one for the driver's CUDA; both where that is not known."""
    cuda = value_or(facts.driver.cuda, None) if facts else None
    return _EXTRAS.get(cuda.major if cuda else 0, f"{_EXTRAS[13]}, or {_EXTRAS[12]} for a driver of CUDA 12")
