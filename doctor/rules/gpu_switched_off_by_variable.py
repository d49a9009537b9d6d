"""A framework's own variable keeps it off the GPU, though its build can use one."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import ClearVariable
from doctor.loader.cards import switches_of
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.conditions import variable
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS, need_where


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Read each variable as the framework does; only a build that can use the GPU is kept from it."""
    need_where(facts, "gpus")
    switches = switches_of(framework.package)
    if not switches or framework.is_cpu_build:
        raise NotApplicable(f"no variable is known that turns the GPU off only for {framework.label}")
    for switch in switches:
        setting = variable(facts, switch.name)
        then = switch.then(setting.value) if setting else ""
        if setting and then:
            return bad(
                f"{setting.name}={setting.value} is set: {then}",
                ClearVariable(setting.name, setting.set_in),
                severity=Severity.ERROR if switch.ends else Severity.WARNING,
                evidence=(
                    Evidence.at(setting.set_at, f"{setting.name}={setting.value}", setting.set_in or "environment"),
                ),
            )
    return ok(f"none of {', '.join(dict.fromkeys(one.name for one in switches))} keeps it off the GPU")


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
