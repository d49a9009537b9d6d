"""A runtime for GPUs is named and not installed, or a CDI specification was made for another driver."""

from __future__ import annotations

from collections.abc import Iterator

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import Unseen, WhyNot
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.probes.independent import container_setup
from doctor.probes.independent.container_setup import DAEMON, CdiSpecification, ContainerSetup, Runtime
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE

_SHOWN = 3
_CONFIGURE = "sudo nvidia-ctk runtime configure --runtime={0} && sudo systemctl restart {0}"


class _Fault(NamedTuple):
    """What keeps containers from their GPUs, where, and what to do."""

    text: str
    file: str
    advice: str


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """A warning: programs outside of containers are not concerned."""
    told = container_setup.PROBE.of(facts)
    if isinstance(told, Unseen) and told.why_not is WhyNot.NOT_LOOKED_FOR:
        raise NotApplicable("an older gpudoctor wrote the report")
    setup = told.get()
    if not setup.damaged and not setup.runtimes and not setup.specifications:
        raise NotApplicable("nothing here gives GPUs to containers")
    found = [*_faults(setup)]
    if not found:
        return ok("what gives GPUs to containers is installed, and fits this driver")
    return bad(
        "; ".join(one.text for one in found),
        *(Advice(one.advice) for one in found),
        severity=Severity.WARNING,
        evidence=tuple(Evidence(one.text, file=one.file) for one in found),
    )


def _faults(setup: ContainerSetup) -> Iterator[_Fault]:
    if setup.damaged:
        yield _Fault(f"Docker cannot start: {DAEMON} cannot be used", DAEMON, f"Correct {DAEMON}: {setup.damaged}.")
    if setup.no_cri:
        yield _Fault(
            f"Kubernetes cannot start containers: {setup.no_cri} disables containerd's plugin cri",
            setup.no_cri,
            f"Remove cri from disabled_plugins in {setup.no_cri}, then run: sudo systemctl restart containerd",
        )
    yield from (_of_runtime(one) for one in setup.runtimes if not one.is_there)
    yield from (_of_specification(one) for one in setup.specifications if one.missing)


def _of_runtime(one: Runtime) -> _Fault:
    what = f"its program {one.path} is not installed" if one.path else "it is not defined there"
    who = "no container can start" if one.is_default else f"no container with the runtime {one.name} can start"
    text = f"{who}: {one.file} names the runtime {one.name}, and {what}"
    program = "docker" if one.file == DAEMON else one.file.split("/")[2]
    return _Fault(text, one.file, f"Install nvidia-container-toolkit, then run: {_CONFIGURE.format(program)}")


def _of_specification(one: CdiSpecification) -> _Fault:
    names = ", ".join(one.missing[:_SHOWN])
    text = f"{one.path} was made for another driver: {len(one.missing)} of {one.how_many} files do not exist ({names})"
    return _Fault(text, one.path, f"Make it again: sudo nvidia-ctk cdi generate --output={one.path}")


RULE = Rule(MACHINE, check, blocks_verdict=False)
