"""The toolkit that torch builds extensions with is of another CUDA major than torch itself."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import AssignVariable, InstallToolkit, Need
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import Seen, Unseen, value_or
from doctor.model.facts.toolkit import Toolkit, ToolkitName
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.cudnn_use import set_in
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS, environment_of

_BUILDERS = ("ninja", "deepspeed")
_ORDER = ("CUDA_HOME", "CUDA_PATH", "nvcc on PATH", "/usr/local/cuda")


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Follow the names in torch's own order; another minor version of the same major is only remarked on by torch.

    Source: torch/utils/cpp_extension.py, _find_cuda_home and _check_cuda_version.
    """
    if framework.package != "torch" or not isinstance(framework.cuda, Seen):
        raise NotApplicable("only a CUDA build of torch builds extensions with nvcc")
    # Whether somebody builds extensions here: torch's own builder, or a package that compiles when it is imported.
    if not any(one.name in _BUILDERS for one in value_or(environment_of(framework, facts).distributions, ())):
        raise NotApplicable("nothing in the environment builds extensions (ninja, deepspeed)")
    name = _first(facts.toolkit.names.get())
    toolkit = _toolkit_of(name, facts)
    cuda = toolkit.cuda.get()
    if isinstance(toolkit.nvcc, Unseen):
        raise NotApplicable(f"{toolkit.label} has no nvcc: it cannot compile")
    if cuda.major == framework.cuda.value.major:
        return ok(f"{name.name} points to CUDA {cuda}, {framework.label} was built with {framework.cuda.value}")
    return bad(
        f"torch would build extensions with CUDA {cuda} ({name.name}), but was built with {framework.cuda.value}",
        *_needs(framework, name, facts),
        severity=Severity.WARNING,
        evidence=(
            Evidence.at(name.place, f"{name.value} is in {toolkit.label}", name.name),
            Evidence.of(framework.cuda, f"CUDA {framework.cuda.value}"),
        ),
    )


def _first(names: tuple[ToolkitName, ...]) -> ToolkitName:
    for wanted in _ORDER:
        for one in names:
            if one.name == wanted:
                return one
    raise NotApplicable("no variable, PATH entry or symlink points to a CUDA toolkit")


def _toolkit_of(name: ToolkitName, facts: Facts) -> Toolkit:
    if name.missing:
        raise NotApplicable(f"{name.name} points to no toolkit")
    root = name.leads_to.get()
    found = next((one for one in facts.toolkit.toolkits.get() if one.path == root), None)
    if found is None:
        raise NotApplicable(f"{name.name} points to no toolkit")
    return found


def _needs(framework: Framework, name: ToolkitName, facts: Facts) -> tuple[Need, ...]:
    """Point CUDA_HOME at a toolkit of the right major; install one where none is there."""
    cuda = framework.cuda.get()
    fitting = [
        one
        for one in value_or(facts.toolkit.toolkits, ())
        if isinstance(one.nvcc, Seen) and isinstance(one.cuda, Seen) and one.cuda.value.major == cuda.major
    ]
    best = max(fitting, key=lambda one: (one.cuda.get() == cuda, one.cuda.get()), default=None)
    if best:
        return (AssignVariable("CUDA_HOME", best.path, set_in("CUDA_HOME", facts)),)
    return (InstallToolkit(f"=={cuda}.*"),)


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
