"""Files of a framework have paths that Windows refuses, because long paths are switched off."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import ENVIRONMENTS

_LOADED = (".py", ".pyd", ".dll")
_SWITCH = (
    r"As an administrator: reg add HKLM\SYSTEM\CurrentControlSet\Control\FileSystem /v LongPathsEnabled /t REG_DWORD"
    " /d 1 /f, then restart the program"
)


def check(environment: Environment, facts: Facts, matrix: Matrix) -> Answer:
    """An error where a module or library is concerned, a warning for headers and the like."""
    if facts.system.family.get() != "windows":
        raise NotApplicable("only on Windows")
    paths = environment.too_long.get()
    if not paths:
        return ok("no file of its frameworks has a path that is too long")
    if facts.system.long_paths.get():
        return ok("long paths are switched on")
    loaded = [path for path in paths if path.endswith(_LOADED)]
    longest = max(loaded or paths, key=len)
    lost = {path for one in value_or(environment.incomplete, ()) for path in one.paths}
    return bad(
        f"Windows refuses {len(paths)} of its files: their paths have up to {max(map(len, paths))} characters"
        f" ({'modules or libraries among them' if loaded else 'none is a module or a library'})",
        Advice(f"{_SWITCH}. Or create the environment in a shorter path, such as C:\\v."),
        severity=Severity.ERROR if loaded else Severity.WARNING,
        evidence=(
            Evidence.of(
                environment.too_long, (f"{longest} has {len(longest)} characters; without long paths the limit is 259")
            ),
            Evidence.of(facts.system.long_paths, "long paths are switched off"),
        ),
        explains=(Symptom("corrupted-install", environment.label),) if lost and lost <= {*paths} else (),
        places=paths,
    )


RULE = Rule(ENVIRONMENTS, check)
