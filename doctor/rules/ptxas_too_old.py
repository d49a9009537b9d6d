"""The ptxas that a framework starts does not know this GPU."""

from __future__ import annotations

from compat.base.record import NamedTuple
from compat.build import release_key
from compat.matrix import Matrix
from compat.need import AssignVariable, ClearVariable, DropFromPath, InstallPackage, Need
from compat.version import ComputeCapability, CudaVersion
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import Seen
from doctor.model.facts.toolkit import CodeTools, Tool
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.code_tools import (
    capabilities,
    cuda_major_of,
    interpreter_of,
    needs_of_nvcc,
    tool_for,
    tools_of,
)
from doctor.rules.shared.cudnn_use import set_in
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS, need_gpu


class _Case(NamedTuple):
    """A card, and the ptxas that a framework starts for it."""

    framework: Framework
    tools: CodeTools
    tool: Tool
    gpu: ComputeCapability


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Hold the release of the ptxas that is started against what its compiler can build for."""
    need_gpu(facts)
    tools = _accepted(tools_of(framework, facts, matrix), framework, matrix)
    for gpu in capabilities(facts):
        tool = tool_for(tools, gpu)
        if tool is None:
            raise NotApplicable(f"{framework.label} finds no ptxas that it would use")
        if not _knows(tool, gpu, matrix):
            return _bad(_Case(framework, tools, tool, gpu), facts, matrix)
    return ok(f"the ptxas of {framework.label} supports every GPU of this machine")


def _accepted(tools: CodeTools, framework: Framework, matrix: Matrix) -> CodeTools:
    """Without those that the framework passes over in its search."""
    if not isinstance(framework.cuda, Seen) and not cuda_major_of(framework):
        return tools
    cuda = framework.cuda.value if isinstance(framework.cuda, Seen) else CudaVersion(cuda_major_of(framework), 0)
    limit = matrix.tool("ptxas", tools.family, cuda)
    if limit is None or not isinstance(tools.ptxas, Seen):
        return tools
    kept = tuple(
        one
        for one in tools.ptxas.value
        if not isinstance(one.release, Seen)
        or (one.release.value not in limit.refused and release_key(one.release.value) >= release_key(limit.oldest))
    )
    return tools._replace(ptxas=Seen(kept, tools.ptxas.how))


def _cuda(tool: Tool) -> CudaVersion:
    return CudaVersion.parse(".".join(tool.release.get().split(".")[:2]))


def _knows(tool: Tool, gpu: ComputeCapability, matrix: Matrix) -> bool:
    return any(target.capability == gpu for target in matrix.targets(_cuda(tool)).sm)


def _bad(case: _Case, facts: Facts, matrix: Matrix) -> Answer:
    tool, gpu = case.tool, case.gpu
    return bad(
        (
            f"{case.framework.label} compiles with {tool.path} (CUDA {_cuda(tool)}), "
            f"which does not support compute capability {gpu}"
        ),
        *_needs(case, facts, matrix),
        severity=Severity.WARNING,
        evidence=(
            Evidence.of(tool.release, f"release {tool.release.get()}; it is used because: {tool.why}"),
            Evidence(f"has no sm_{gpu.major}{gpu.minor}", label=f"matrix, {matrix.targets(_cuda(tool)).id}"),
        ),
    )


def _needs(case: _Case, facts: Facts, matrix: Matrix) -> tuple[Need, ...]:
    """Take away what chose it, where the next one is good enough; else name a better one; else a newer wheel."""
    tool = case.tool
    if _another_knows(case, matrix):
        if tool.set_by and tool.why == tool.set_by:
            return (ClearVariable(tool.why, set_in(tool.why, facts)),)
        if tool.why == "PATH":
            return (DropFromPath("PATH", tool.path.rpartition("/")[0], set_in("PATH", facts)),)
    if not tool.set_by:
        return needs_of_nvcc(case.framework, facts)
    better = _toolkit_that_knows(case.gpu, facts, matrix)
    if better:
        return (AssignVariable(tool.set_by, f"{better}/bin/ptxas", set_in(tool.set_by, facts)),)
    public = case.framework.version.partition("+")[0]
    return (InstallPackage(case.framework.package, f">{public}", interpreter_of(case.framework, facts)),)


def _another_knows(case: _Case, matrix: Matrix) -> bool:
    others = (one for one in case.tools.ptxas.get() if one.is_for_blackwell == case.tool.is_for_blackwell)
    return any(
        _knows(one, case.gpu, matrix) for one in others if one.why != case.tool.why and isinstance(one.release, Seen)
    )


def _toolkit_that_knows(gpu: ComputeCapability, facts: Facts, matrix: Matrix) -> str:
    toolkits = facts.toolkit.toolkits.value if isinstance(facts.toolkit.toolkits, Seen) else ()
    for one in toolkits:
        if isinstance(one.nvcc, Seen) and isinstance(one.cuda, Seen) and one.kind in {"directory", "conda"}:
            row = matrix.targets(one.cuda.value)
            if any(target.capability == gpu for target in row.sm):
                return one.path
    return ""


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
