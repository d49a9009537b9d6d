"""After a plan was carried out: whether what it promised is there now, and what is wrong with it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from compat.base.record import NamedTuple
from compat.matrix import Matrix, accepts
from compat.need import InstallCudnn, InstallDriver, InstallPackage, InstallToolkit, Need
from compat.version import CudnnVersion
from doctor.commands.install.install import Prepared, host_with
from doctor.diagnose import answers_under_policy
from doctor.host import Host
from doctor.host.paths import is_same_place
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.driver import DriverFacts
from doctor.model.facts.environment import Distribution, Environment, Framework
from doctor.model.facts.seen import Seen, value_or
from doctor.model.facts.toolkit import Toolkit
from doctor.model.finding import Answer, Status
from doctor.probes import ProbeRequest, look
from doctor.rules.shared.engine import codes, load_rules
from installers.step import Step, kind_of
from installers.steps.check import Check
from installers.steps.copy_tree import CopyTree

Thing = CudnnCopy | Toolkit | Distribution | Framework | DriverFacts
_LIBRARIES = ("libcudnn*", "cudnn*.dll")


class Verified(NamedTuple):
    """What was found when it was looked again."""

    wanted: Need | None  # what the plan promised; None: nothing that could be looked for
    found: Thing | None
    faults: tuple[Answer, ...]
    waits: str = ""  # what must come first, before it can be told; "" where it can

    @property
    def is_good(self) -> bool:
        """Whether the plan brought about what it promised."""
        return not self.waits and not self.faults and (self.found is not None or self.wanted is None)


def verify(prepared: Prepared) -> Verified:
    """Look at the machine again for what the plan promised, and ask the rules that the plan names or that are about it.

    A driver takes effect with the next start: until then nothing can be told.
    """
    wanted = _promised(prepared.plan.steps)
    interpreter = isinstance(wanted, InstallPackage) and wanted.interpreter
    facts = look(_host(wanted), ProbeRequest((interpreter,) if interpreter else ()))
    found = found_for(wanted, facts) if wanted else None
    if isinstance(wanted, InstallDriver) and found is None:
        return Verified(wanted, None, (), "reboot, then run gpudoctor check")
    return Verified(wanted, found, _faults(prepared.plan.steps, wanted, found, facts))


def _promised(steps: tuple[Step, ...]) -> Need | None:
    named = next((step.finds for step in steps if isinstance(step, Check) and step.finds), None)
    into = next((one.into for one in steps if isinstance(one, CopyTree) and set(one.patterns) & set(_LIBRARIES)), "")
    return named or (InstallCudnn(directory=into) if into else None)


def _host(wanted: Need | None) -> Host:
    if isinstance(wanted, InstallToolkit):
        return host_with(wanted.directory)
    if isinstance(wanted, InstallCudnn) and wanted.directory:
        return host_with(os.path.dirname(wanted.directory), wanted.directory)
    return host_with("")


def _faults(steps: tuple[Step, ...], wanted: Need | None, found: Thing | None, facts: Facts) -> tuple[Answer, ...]:
    """What the plan's rules find, about the very thing where it was found; of other products every rule about it."""
    expects = {code for step in steps if isinstance(step, Check) for code in step.expects}
    if not expects and not all(kind_of(step).configures for step in steps):
        expects = {code for code in codes() if code.startswith("cudnn-")} if _is_cudnn(wanted) else set()
    about = label_of(found) if found else ""
    every = about != "" and not _is_cudnn(wanted)
    answers = answers_under_policy(facts, Matrix.of_user(), load_rules(None if every else sorted(expects)))
    bad = (one for one in answers if one.kind is Status.BAD)
    if every:
        return tuple(one for one in bad if one.subject == about or one.code in expects)
    return tuple(one for one in bad if about in {"", one.subject})


def _is_cudnn(wanted: Need | None) -> bool:
    return wanted is None or isinstance(wanted, InstallCudnn)


def found_for(wanted: Need, facts: Facts) -> Thing | None:
    """What a need asks for, if it is there: where the need says, in a release that it admits."""
    if isinstance(wanted, InstallCudnn):
        there = (one for one in value_or(facts.cudnn, ()) if value_or(one.parts, ()))
        copies = (one for one in there if _is_at(wanted.directory, one.path))
        return next((one for one in copies if _is_that(wanted.versions, _release(one, facts))), None)
    if isinstance(wanted, InstallToolkit):
        toolkits = [one for one in value_or(facts.toolkit.toolkits, ()) if _is_at(wanted.directory, one.path)]
        return next((one for one in toolkits if _accepted(wanted.versions, one)), None)
    if isinstance(wanted, InstallDriver):
        return _driver(wanted, facts)
    return _package(wanted, facts) if isinstance(wanted, InstallPackage) else None


def _release(copy: CudnnCopy, facts: Facts) -> CudnnVersion | None:
    """In its libraries' own words; of a major that is one library, which need not say it, by the header beside it."""
    header = value_or(copy.header_version, None)
    alone = header and Matrix.of_user().cudnn_is_uniform(header.major, value_or(facts.system.family, ""))
    return value_or(copy.version, header if alone else None)


def _is_that(spec: str, version: CudnnVersion | None) -> bool:
    """A file tells three parts of a version, and an order may tell four."""
    if not spec:
        return True
    if version is None:
        return False
    if spec.startswith("==") and "," not in spec:
        return version.agrees_with(CudnnVersion.parse(spec[2:].removesuffix(".*")))
    return accepts(spec, str(version))


def _accepted(spec: str, toolkit: Toolkit) -> bool:
    """By the release where a file tells it, else by what the headers tell."""
    told = value_or(toolkit.release, "") or str(value_or(toolkit.cuda, ""))
    return not spec or (told != "" and accepts(spec, told))


def _driver(wanted: InstallDriver, facts: Facts) -> Thing | None:
    """The release that runs: on Linux only the loaded module's word counts, for libraries can be newer already."""
    linux = value_or(facts.system.family, "") == "linux" and not value_or(facts.system.wsl, 0)
    release = facts.driver.module_release if linux else facts.driver.release
    if not isinstance(release, Seen):
        return None
    return facts.driver if not wanted.versions or accepts(wanted.versions, str(release.value)) else None


def _package(wanted: InstallPackage, facts: Facts) -> Thing | None:
    for environment in value_or(facts.environments, ()):
        for one in _packages(environment):
            name = one.package if isinstance(one, Framework) else one.name
            if name == wanted.name and (not wanted.versions or accepts(wanted.versions, one.version)):
                return one
    return None


def _packages(environment: Environment) -> Iterator[Framework | Distribution]:
    """Frameworks first: rules are about them."""
    yield from value_or(environment.frameworks, ())
    yield from value_or(environment.distributions, ())


def _is_at(wanted: str, path: str) -> bool:
    """Whether a thing is where it is wanted, "" for anywhere."""
    return not wanted or is_same_place(wanted, path, host_with(""))


def label_of(found: Thing) -> str:
    """How findings name it; "" for what no finding is about."""
    return "" if isinstance(found, (Distribution, DriverFacts)) else found.label


def described(found: Thing) -> str:
    """A sentence of what was found and where."""
    if isinstance(found, CudnnCopy):
        return f"cuDNN {value_or(found.version, 'of an unknown version')} is in {found.path}"
    if isinstance(found, Toolkit):
        told = value_or(found.release, "") or value_or(found.cuda, "of an unknown version")
        return f"CUDA {told} is in {found.path}"
    if isinstance(found, DriverFacts):
        return f"driver {value_or(found.release, '')} is running"
    name, where = (found.package, found.path) if isinstance(found, Framework) else (found.name, found.site)
    return f"{name} {found.version} is in {where}"
