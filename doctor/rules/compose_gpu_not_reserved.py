"""A compose file starts a service that computes on GPUs without giving it one."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.image import dockerfile_of, need_cuda_inside
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE

_LINES = "deploy: {resources: {reservations: {devices: [{driver: nvidia, count: all, capabilities: [gpu]}]}}}"
_FOR_DEVELOPMENT = 'add to devcontainer.json: "hostRequirements": {"gpu": true}'


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Where nvidia is the daemon's default runtime it runs all the same: a warning."""
    service = dockerfile_of(facts).service
    if service is None:
        raise NotApplicable("this is not a service of a compose file")
    if service.fault is not None:
        return bad(
            f"the service {service.name} does not start: {service.fault.what}",
            Advice(f"{service.fault.source}: {service.fault.instead}"),
            evidence=(Evidence.at(service.fault.source, service.fault.what),),
        )
    need_cuda_inside(facts)
    builds = {value_or(one.build, "") for each in facts.environments.get() for one in each.frameworks.get()}
    if builds == {"cpu"}:
        raise NotApplicable("its framework uses the CPU")
    given = service.gpus.get()
    if given:
        return ok(f"the service {service.name} gets its GPUs by {given}")
    is_dev = service.source.file.endswith("devcontainer.json")
    lines = _FOR_DEVELOPMENT if is_dev else f"add to service {service.name} in {service.source.file}: {_LINES}"
    return bad(
        f"the service {service.name} needs a GPU but gets none",
        Advice(lines),
        severity=Severity.WARNING,
        evidence=(Evidence.at(service.source, f"{service.name} has no key for a GPU"),),
    )


RULE = Rule(MACHINE, check)
