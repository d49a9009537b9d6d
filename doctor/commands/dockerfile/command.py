"""A file as the facts of the image that it describes, and which answers it leaves open."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from compat.matrix import Matrix
from doctor.commands.dockerfile.build import Dockerfile
from doctor.commands.dockerfile.compose import Service, compose_parts, is_compose, service_of
from doctor.commands.dockerfile.context import Context
from doctor.commands.dockerfile.devcontainer import Devcontainer, devcontainer_of, is_devcontainer
from doctor.commands.dockerfile.facts import Asked, facts_of
from doctor.host.files import read_regular
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import WhyNot, value_or
from doctor.model.finding import Answer, Evidence, Status
from doctor.script.expand import VALUE_AT_MOST_CHARS
from doctor.script.parse import FILE_AT_MOST_BYTES, DockerfileError, Instruction, parse


def facts_of_file(path: str, target: str, platform: str, build_args: tuple[str, ...], matrix: Matrix) -> Facts:
    """What the stage of a Dockerfile becomes, or the service of a compose file; raises DockerfileError."""
    given = _given(build_args)
    container = devcontainer_of(path, _content(path)) if is_devcontainer(path) else None
    if container and container.compose:
        return facts_of_file(container.compose, target, platform, build_args, matrix)
    if not container and not is_compose(path):
        return facts_of(Asked(_read(path, given), target, platform, path), matrix)
    file = path if container else compose_parts(path)[0]
    service = container.service if container else service_of(path, _content(file))
    found, name = _of_service(service, file, {**service.args, **given}, container)
    asked = Asked(found, target or service.target, platform or service.platform, name=name, service=service)
    return facts_of(asked, matrix)


def _read(path: str, given: Mapping[str, str], context: str = "", after: tuple[Instruction, ...] = ()) -> Dockerfile:
    """Without a context that is named, the Dockerfile's directory is it; `after` are instructions that follow."""
    name = os.path.basename(path.rstrip("/")) or path
    folder = context or os.path.dirname(path) or "."
    script = parse(_content(path), path)
    return Dockerfile(script._replace(instructions=script.instructions + after), name, given, Context(folder))


def _of_service(
    service: Service, file: str, given: Mapping[str, str], container: Devcontainer | None = None
) -> tuple[Dockerfile, str]:
    """The Dockerfile of a service, and the file in which it stands; one without is its image alone."""
    after = container.after if container else ()
    if service.context and not service.inline:
        path = os.path.join(service.context, service.dockerfile)
        return _read(path, given, service.context, after), path
    text = service.inline or f"FROM {service.image}"
    if not service.inline and not service.image:
        raise DockerfileError(f"{file}:{service.line}: the service {service.told.name} has no image and no build")
    file = service.file or file
    script = parse(text.encode("utf-8", "replace"), file)
    first = service.line if service.inline else service.line - 1
    moved = tuple(one._replace(numbers=tuple(first + each for each in one.numbers)) for one in script.instructions)
    context = Context(container.root if container else service.context if service.inline else "")
    return Dockerfile(script._replace(instructions=moved + after), os.path.basename(file), given, context), file


def _given(build_args: tuple[str, ...]) -> dict[str, str]:
    """NAME=VALUE each; a bare NAME takes the builder's own variable, as `docker build` does."""
    found: dict[str, str] = {}
    for one in build_args:
        name, is_set, value = one.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*", name) or "\0" in value or len(value) > VALUE_AT_MOST_CHARS:
            raise DockerfileError(f"--build-arg {one[:80]}: write NAME=VALUE, with a NAME that an ARG line has")
        if is_set or name in os.environ:
            found[name] = value if is_set else os.environ[name]
    return found


def as_shown(answer: Answer, facts: Facts) -> Answer:
    """What no Dockerfile can show leaves no doubt about this one; only the image that is built can answer it.

    What is wrong with a framework names the line that pins it.
    """
    if answer.kind is Status.UNKNOWN and answer.why_not is WhyNot.NOT_SHOWN:
        return answer._replace(blocks_verdict=False)
    if answer.kind is not Status.BAD:
        return answer
    if last := _last_line_of(answer, facts):
        return answer._replace(evidence=(*answer.evidence, Evidence.at(last.pinned_at, f"installs {last.label}")))
    pins = [one for each in value_or(facts.environments, ()) for one in value_or(each.frameworks, ())]
    pinned = next((one.pinned_at for one in pins if one.label == answer.subject), None)
    if pinned is None or any((one.file, one.line) == (pinned.file, pinned.line) for one in answer.evidence):
        return answer
    return answer._replace(evidence=(*answer.evidence, Evidence.at(pinned, answer.subject)))


def _last_line_of(answer: Answer, facts: Facts) -> Framework | None:
    """The framework of the last line, where an answer is about all that lines install into one environment."""
    if any(one.line for one in answer.evidence):
        return None
    environment = next((one for one in value_or(facts.environments, ()) if one.label == answer.subject), None)
    placed = [one for one in value_or(environment.frameworks, ()) if one.pinned_at] if environment else []
    return max(placed, key=lambda one: one.pinned_at.line if one.pinned_at else 0, default=None)


def _content(path: str) -> bytes:
    """Raises DockerfileError; a pipe or a device is never waited for."""
    try:
        return read_regular(path, FILE_AT_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise DockerfileError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
