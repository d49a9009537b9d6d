"""The DLLs that a framework needs on Windows."""

from __future__ import annotations

from doctor.facts import Facts
from doctor.facts.dlls import Dll
from doctor.facts.environment import Framework
from doctor.rules.shared.rule import NotApplicable


def needs_of(framework: Framework, facts: Facts) -> tuple[Dll, ...]:
    """Those of CUDA and of the C++ runtime; raises NotApplicable elsewhere than on Windows, UnseenError."""
    if facts.system.family.get() != "windows":
        raise NotApplicable("only on Windows")
    for one in facts.dlls.get():
        if (one.environment, one.package) == (framework.environment, framework.package):
            return one.dlls.get()
    raise NotApplicable(f"the libraries of {framework.label} are not known to name any")
