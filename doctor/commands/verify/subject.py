"""Which copies of cuDNN are put to the test, and for whom."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from doctor.host import BadRequest, Host
from doctor.loader.cudnn_library import parse_name
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.loader import Way
from doctor.model.facts.seen import Seen, UnseenError, value_or
from doctor.model.resolution import describe_resolution
from doctor.probes import cudnn
from doctor.rules.shared.cudnn_use import is_main, loaded_copy, prediction, predictions, searched
from doctor.rules.shared.rule import NotApplicable

_WHEELS = ("cublas", "cuda_nvrtc", "cuda_runtime", "nvjitlink", "cu13")  # directories below nvidia/
_BELOW = ("", "lib", "lib64", "bin", "bin/x64")  # of an unpacked archive, a toolkit or a prefix


class Known(NamedTuple):
    """What is known before anything is tried."""

    host: Host
    facts: Facts
    matrix: Matrix


class Subject(NamedTuple):
    """One copy that is tried."""

    copy: CudnnCopy
    library: str  # path of the main library, as it is opened; "" where the copy has none
    frameworks: tuple[str, ...]  # labels of those who load it; () where nobody is known to
    why: str  # why this one

    @property
    def label(self) -> str:
        """How findings name it."""
        return self.copy.label


class TrialSubject(NamedTuple):
    """Whom a trial is about: a copy by itself, or a framework with the copy that it loads."""

    label: str  # how findings name it
    copy: CudnnCopy | None  # None where it is not known
    why: str = ""

    @property
    def name(self) -> str:
        """The same without its place, for a sentence whose finding names that already."""
        return self.label.partition(" in /")[0]


class Chosen(NamedTuple):
    """What is tried, and what is unknown."""

    subjects: tuple[Subject, ...]
    frameworks: tuple[Framework, ...]  # those whose cuDNN this is about
    unknown: tuple[tuple[str, str], ...]  # label of a framework, and why the copy that it loads is unknown


def named(paths: Iterable[str], host: Host, facts: Facts) -> Chosen:
    """The copies that the user names by a file or a directory; raises BadRequest."""
    found = [one for path in paths for one in _at(posixpath.normpath(path), host, facts)]
    return Chosen(tuple(dict.fromkeys(found)), (), ())


def _at(path: str, host: Host, facts: Facts) -> tuple[Subject, ...]:
    if host.is_file(path):
        return (_of_file(path, host, facts),)
    if not host.is_dir(path):
        raise BadRequest(f"--cudnn {path}: there is no such file or directory")
    for below in _BELOW:
        copies = _copies_in(posixpath.join(path, below).rstrip("/"), host, facts)
        if copies:
            return tuple(Subject(copy, library_of(copy, host), (), "--cudnn names it") for copy in copies)
    raise BadRequest(f"--cudnn {path}: it has no cuDNN library")


def _of_file(path: str, host: Host, facts: Facts) -> Subject:
    name = parse_name(posixpath.basename(path))
    if name is None or name.kind:
        raise BadRequest(f"--cudnn {path}: this is not the main library of a cuDNN (libcudnn.so.9, cudnn64_9.dll)")
    real = host.real_path(path)
    for copy in _copies_in(posixpath.dirname(path) or "/", host, facts):
        paths = {part.path for part in value_or(copy.parts, ())} | set(value_or(copy.damaged, ()))
        if {real, path} & paths:
            opened = path if name.numbers else library_of(copy, host)
            return Subject(copy, opened or path, (), "--cudnn names it")
    raise BadRequest(f"--cudnn {path}: it could not be read as a library of cuDNN")


def _copies_in(directory: str, host: Host, facts: Facts) -> tuple[CudnnCopy, ...]:
    """Those that the probes saw there, who know whose they are; else what lies there."""
    real = host.real_path(directory) if host.is_dir(directory) else directory
    known = tuple(one for one in value_or(facts.cudnn, ()) if one.path == real and value_or(one.parts, ()))
    return known or cudnn.look_in(host, facts.loader, directory)


def library_of(copy: CudnnCopy, host: Host) -> str:
    """The main library by the name that programs ask for, "" where there is none."""
    for part in value_or(copy.parts, ()):
        if is_main(part.name):
            asked = f"{copy.path}/{part.name}"
            return asked if host.is_file(asked) else part.path
    return next((path for path in value_or(copy.damaged, ()) if is_main(posixpath.basename(path))), "")


def predicted(host: Host, facts: Facts, wanted: tuple[str, ...] = ()) -> Chosen:
    """The copies that the user's frameworks load; without a framework that loads one, what any other program gets.

    `wanted` restricts it to frameworks of these names.
    """
    subjects: dict[CudnnCopy, Subject] = {}
    frameworks, unknown = [], []
    for framework in _frameworks(facts, wanted):
        try:
            if not predictions(framework, facts):
                continue
            frameworks.append(framework)
            copy, why = loaded_copy(framework, facts), describe_resolution(prediction(framework, facts).way)
        except NotApplicable:
            continue
        except UnseenError as error:
            unknown.append((framework.label, f"which cuDNN {framework.label} loads: {error}"))
            continue
        before = subjects.get(copy)
        labels = (*(before.frameworks if before else ()), framework.label)
        subjects[copy] = Subject(copy, library_of(copy, host), labels, before.why if before else why)
    return Chosen(tuple(subjects.values()) or _of_nobody(host, facts), tuple(frameworks), tuple(unknown))


def _frameworks(facts: Facts, wanted: tuple[str, ...]) -> Iterator[Framework]:
    for environment in value_or(facts.environments, ()):
        for framework in value_or(environment.frameworks, ()):
            named = any(framework.package == name or framework.package.startswith(f"{name}-") for name in wanted)
            if (named or not wanted) and not framework.is_cpu_build:
                yield framework


def _of_nobody(host: Host, facts: Facts) -> tuple[Subject, ...]:
    """The first copy that the loader comes to; else those of the environments, which a program opens by their path."""
    with_libraries = [one for one in _searched(facts) if library_of(one, host)]
    if with_libraries:
        copy = with_libraries[0]
        return (Subject(copy, library_of(copy, host), (), "the first that the loader's search comes to"),)
    return tuple(
        Subject(copy, library_of(copy, host), (), f"it is in {copy.environment}, where no program finds it by name")
        for copy in value_or(facts.cudnn, ())
        if copy.environment and value_or(copy.parts, ())
    )


def _searched(facts: Facts) -> tuple[CudnnCopy, ...]:
    try:
        return searched(facts)
    except UnseenError:
        return ()


def displacing(subject: Subject, host: Host, facts: Facts) -> tuple[tuple[str, str, Way], ...]:
    """The parts that a program which opens this copy by its path gets from elsewhere: name, path, and by what.

    Nothing where the loader's rules are not known, or the environment's interpreter does not start.
    """
    from doctor.loader.cache import whole_cache
    from doctor.loader.process import CannotOpen
    from doctor.loader.simulate import follow_habits, start  # late: only a copy that is named is asked for

    if host.os_family != "linux" or not subject.library:
        return ()
    try:
        whole = facts.loader._replace(cache=whole_cache(host))
        process = start(host, whole, _environment(subject, facts))
        process.open(subject.library, None)
        follow_habits(process)
    except (CannotOpen, UnseenError):
        return ()  # that it cannot be opened is for the trial to say
    parts = [one for one in process.mapped if one.library.name.startswith("libcudnn")]
    return tuple(
        (one.library.name, host.real_path(one.library.path), one.found.way)
        for one in parts
        if posixpath.dirname(host.real_path(one.library.path)) != subject.copy.path
    )


def _environment(subject: Subject, facts: Facts) -> Environment:
    """The copy's own, else the first, whose interpreter a program would run in; raises UnseenError."""
    environments: tuple[Environment, ...] = facts.environments.get()
    if not environments:
        raise UnseenError("no Python environment was found")
    return next((one for one in environments if one.prefix == subject.copy.environment), environments[0])


def library_dirs(subject: Subject, facts: Facts) -> tuple[str, ...]:
    """Where CUDA's other libraries lie for this copy: its environment's wheels and prefix, then the toolkits'.

    Only for what its own search does not find: they come last.
    """
    found: list[str] = []
    for environment in value_or(facts.environments, ()):
        if environment.prefix == subject.copy.environment:
            for site in value_or(environment.sites, ()):
                found += [f"{site}/nvidia/{name}/lib" for name in _WHEELS]
            found.append(f"{environment.prefix}/lib")
    for toolkit in value_or(facts.toolkit.toolkits, ()):
        if isinstance(toolkit.library_dir, Seen):
            found.append(toolkit.library_dir.value)
    return tuple(path for path in dict.fromkeys(found) if os.path.isdir(path))
