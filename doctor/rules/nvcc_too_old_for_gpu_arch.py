"""The nvcc that would be used does not know a GPU of this machine: extensions for it cannot be built."""

from __future__ import annotations

from compat.build import compilers_for
from compat.matrix import Matrix
from compat.need import Advice, InstallToolkit, Need
from compat.traits import traits_of
from compat.version import ComputeCapability, CudaVersion
from doctor.model.facts import Facts
from doctor.model.facts.seen import Seen, value_or
from doctor.model.facts.toolkit import Toolkit
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import TOOLKITS, need_where


def check(toolkit: Toolkit, facts: Facts, matrix: Matrix) -> Answer:
    """A warning beside a framework that builds extensions for the card; else information: PTX for it still starts.

    Of a Dockerfile, its own lines say what is compiled: they have rules of their own.
    """
    need_where(facts, "gpus")
    name = facts.toolkit.chosen
    if not isinstance(toolkit.nvcc, Seen) or name is None or name.leads_to.get() != toolkit.path:
        raise NotApplicable(f"{toolkit.label} is not the one that compiles unless another is named")
    cuda = toolkit.cuda.get()
    gpus = facts.gpus.get()
    capabilities = {one.label: one.capability.get() for one in gpus}
    known = {label: _is_known(cuda, gpu, matrix) for label, gpu in capabilities.items()}
    lacking = [label for label, is_known in known.items() if not is_known]
    if not lacking:
        return ok(f"nvcc of {toolkit.label} compiles for every GPU here")
    gpu = capabilities[lacking[0]]
    return bad(
        f"nvcc of {toolkit.label} cannot compile for {lacking[0]}: it does not know sm_{gpu.major}{gpu.minor}",
        *_needs(gpu, matrix),
        severity=Severity.WARNING if _has_builder(facts) and facts.machine.kind != "dockerfile" else Severity.INFO,
        evidence=(
            Evidence.at(name.place, f"{name.value} is in {toolkit.label}", name.name),
            Evidence(f"CUDA {cuda}, compute capability {gpu}", label="matrix, cuda.targets"),
        ),
    )


def _is_known(cuda: CudaVersion, gpu: ComputeCapability, matrix: Matrix) -> bool:
    builders, rows = compilers_for(gpu, (cuda,), matrix)
    if not rows:
        matrix.toolkit(cuda)  # raises Uncovered for one that no row is about
        raise NotApplicable(f"what nvcc of CUDA {cuda} compiles for is not recorded")
    return bool(builders)


def _needs(gpu: ComputeCapability, matrix: Matrix) -> tuple[Need, ...]:
    """The first toolkit that knows the card and, if newer ones dropped it, the last."""
    every = tuple(sorted({row.cuda for row in matrix.rows("cuda", "targets")}))
    able, _ = compilers_for(gpu, every, matrix)
    if not able:
        return (Advice(f"No CUDA is known that compiles for compute capability {gpu}."),)
    later = [one for one in every if one > able[-1]]
    return (InstallToolkit(f">={able[0]}" + (f",<={able[-1]}" if later else "")),)


def _has_builder(facts: Facts) -> bool:
    told = value_or(facts.environments, ())
    return any(traits_of(one.package).extended for each in told for one in value_or(each.frameworks, ()))


RULE = Rule(TOOLKITS, check, blocks_verdict=False)
