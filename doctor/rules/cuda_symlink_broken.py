"""/usr/local/cuda, CUDA_HOME or CUDA_PATH names a toolkit that is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.matrix import Matrix
from compat.need import AssignVariable, ClearVariable, LinkTo, Need, RemoveFile, SetAlternative
from doctor.model.facts import Facts
from doctor.model.facts.seen import Seen, UnseenError, value_or
from doctor.model.facts.toolkit import Toolkit, ToolkitName
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.rule import Rule, Subjects
from doctor.rules.shared.subjects import of_their_cuda

_ALTERNATIVES = "/etc/alternatives/"
_NVCC = "nvcc on PATH"
_SHORT_NAME = r"(?i)^[a-z]:.*[\\/][^\\/]{1,6}~\d"  # PROGRA~1


def _asked(facts: Facts) -> Iterator[ToolkitName]:
    return (name for name in facts.toolkit.names.get() if name.name != _NVCC)


def check(name: ToolkitName, facts: Facts, matrix: Matrix) -> Answer:
    """Whether the name leads to a toolkit; one that could not be followed stays unknown."""
    if not name.missing:
        return ok(f"{name.name} points to {name.leads_to.get()}")
    if not facts.machine.is_running and re.search(_SHORT_NAME, name.value):
        raise UnseenError(f"{name.value} contains a short (8.3) name, which only a running Windows can resolve")
    return bad(
        getattr(name.leads_to, "why", f"{name.name} points to a path that does not exist"),
        *_needs(name, facts),
        severity=Severity.WARNING,
        evidence=(
            Evidence.at(name.place, f"is {name.value}", name.name),
            Evidence(_present(facts), label="directories"),
        ),
    )


def _present(facts: Facts) -> str:
    toolkits = facts.toolkit.toolkits.get()
    return "; ".join(toolkit.label for toolkit in toolkits) or "no CUDA toolkit is installed"


def _needs(name: ToolkitName, facts: Facts) -> Iterator[Need]:
    """Let it lead to a toolkit that the frameworks here can use, by default remove the name."""
    toolkit = _best(facts)
    if name.name.startswith("/"):
        if toolkit and toolkit.kind == "directory":
            if name.value.startswith(_ALTERNATIVES):
                yield SetAlternative(name.name, toolkit.path)
                return
            yield LinkTo(name.name, toolkit.path)
        yield RemoveFile(name.name)
        return
    variables = value_or(facts.configuration.variables, ())
    set_in = next((one.set_in for one in variables if one.name == name.name), "")
    if toolkit:
        yield AssignVariable(name.name, toolkit.path, set_in)
    yield ClearVariable(name.name, set_in)


def _best(facts: Facts) -> Toolkit | None:
    """The toolkit of the nvcc on PATH, by default the newest that can compile; of the frameworks' CUDA major only."""
    toolkits = [one for one in facts.toolkit.toolkits.get() if of_their_cuda(one, facts)]
    path = next((value_or(one.leads_to, "") for one in facts.toolkit.names.get() if one.name == _NVCC), "")
    able = [one for one in toolkits if isinstance(one.cuda, Seen) and isinstance(one.nvcc, Seen)]
    by_path = next((one for one in toolkits if one.path == path), None)
    return by_path or max(able, key=lambda one: one.cuda.get(), default=None)


RULE = Rule(Subjects("path or variable for a CUDA toolkit", _asked), check, blocks_verdict=False)
