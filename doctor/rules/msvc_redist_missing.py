"""The Visual C++ runtime that a framework's libraries need is not there."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, InstallCppRuntime
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.builds import import_symptoms
from doctor.rules.shared.dlls import needs_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Hold the runtime DLLs that its libraries import against what the search finds."""
    dlls = [one for one in needs_of(framework, facts) if "140" in one.name]
    if not dlls:
        raise NotApplicable(f"the libraries of {framework.label} need no DLL of the Visual C++ runtime")
    lacks = tuple(dict.fromkeys(one.name for one in dlls if not one.found))
    if not lacks:
        return ok(f"{framework.label} finds the Visual C++ runtime")
    return bad(
        f"{framework.label} needs {' and '.join(lacks)} of the Visual C++ runtime, which is not installed",
        InstallCppRuntime(),
        Advice(f"Install the Visual C++ redistributable for x64: {matrix.page('msvc-redist').url}"),
        evidence=tuple(Evidence(f"imports {one.name}", file=one.asker) for one in dlls if not one.found),
        explains=import_symptoms(framework),
    )


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
