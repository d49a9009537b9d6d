"""A library that was built for another CUDA major than the framework that loads it: how every rule of it says so."""

from __future__ import annotations

from compat.need import Need
from compat.version import CudaVersion
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import Place, Seen
from doctor.model.finding import Answer, Evidence, Severity, bad


def other_cuda(  # noqa: PLR0913 - one argument for each thing that is told
    framework: Framework,
    own: Seen[CudaVersion] | None,
    what: str,
    theirs: Seen[int],
    *needs: Need,
    label: str,
    source: str | Place,
    severity: Severity = Severity.ERROR,
) -> Answer:
    """The finding; `what` is the product ("cuDNN"), `label` the very copy, `source` what says its CUDA."""
    built = f" is built for CUDA {own.value.major}, and" if own else ""
    return bad(
        f"{framework.label}{built} loads {what} for CUDA {theirs.value}: {label}",
        *needs,
        severity=severity,
        evidence=(
            *([Evidence.of(own, f"built with CUDA {own.value}")] if own else []),
            Evidence.at(source, f"for CUDA {theirs.value}"),
        ),
    )
