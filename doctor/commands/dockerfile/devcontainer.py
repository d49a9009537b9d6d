"""devcontainer.json: the image or Dockerfile of a development container, and the commands that run when it is made.

Source: the Development Container Specification, "Dev Container metadata reference" (image, build, dockerComposeFile,
containerEnv, features, runArgs, hostRequirements.gpu, the lifecycle commands and their order).
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator

from compat.base.record import NamedTuple
from doctor.commands.dockerfile.compose import Service
from doctor.model.facts.dockerfile import DockerfileService
from doctor.model.facts.seen import Place, Seen
from doctor.script.parse import FILE_AT_MOST_BYTES, DockerfileError, Instruction
from doctor.script.yaml import Node, parse_yaml

_NAMES = frozenset({"devcontainer.json", ".devcontainer.json"})
_COMMANDS = ("onCreateCommand", "updateContentCommand", "postCreateCommand")
_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/|\t', re.DOTALL)
_BRINGS = re.compile(
    r"cuda|nvidia|conda|mamba|python|torch|pixi", re.IGNORECASE
)  # features that may install a framework
# What is downloaded is no layer of an image.
_KEPT = "--mount=type=cache,target=/root/.cache --mount=type=cache,target=/var/lib/apt/lists "
_FOLDER = "/workspaces/project"


class Devcontainer(NamedTuple):
    """What a devcontainer.json says."""

    service: Service
    compose: str  # FILE:SERVICE that it names, "" for none
    after: tuple[Instruction, ...]  # what runs in the container, as instructions
    root: str  # the directory that is opened in it


def is_devcontainer(path: str) -> bool:
    """By the name of the file."""
    return os.path.basename(path) in _NAMES


def devcontainer_of(path: str, content: bytes) -> Devcontainer:
    """Raises DockerfileError."""
    if len(content) > FILE_AT_MOST_BYTES or b"\0" in content:
        raise DockerfileError(f"{path}: the file is not text, or has more than {FILE_AT_MOST_BYTES >> 10} KiB")
    one = parse_yaml(_COMMENT.sub(_without, content.decode("utf-8-sig", "replace")), path)
    folder = os.path.dirname(path)
    root = os.path.dirname(folder) if os.path.basename(folder) == ".devcontainer" else folder
    build = one.at("build") or Node(None, one.line)
    dockerfile, context = build.at("dockerfile") or one.at("dockerFile"), build.at("context") or one.at("context")
    image, name = one.at("image"), os.path.basename(path)
    given = Seen("hostRequirements.gpu or runArgs" if _has_gpus(one) else "", Place(name, one.line))
    directory = os.path.normpath(os.path.join(folder, context.text if context else "")) if dockerfile else ""
    variables = (one.at("containerEnv") or Node(None, 0)).fields.items()
    service = Service(
        told=DockerfileService("devcontainer", Place(name, one.line), given, None),
        context=directory,
        dockerfile=os.path.relpath(os.path.join(folder, dockerfile.text), directory) if dockerfile else "",
        inline="",
        line=(image or one).line,
        file=path,
        target=(build.at("target") or Node("", 0)).text,
        args={key: each.text for key, each in (build.at("args") or Node(None, 0)).fields.items()},
        image=image.text if image and not dockerfile else "",
        platform="",
        environment={key: (each.text, Place(name, each.line)) for key, each in variables if "${" not in each.text},
    )
    is_whole = not dockerfile or directory == os.path.normpath(root)
    return Devcontainer(service, _compose(one, folder, path), tuple(_after(one, name, is_whole=is_whole)), root or ".")


def _without(found: re.Match[str]) -> str:
    """Strings stay, comments go; lines stay where they are."""
    return found[1] or " " + "\n" * found[0].count("\n")


def _compose(one: Node, folder: str, path: str) -> str:
    files, service = one.at("dockerComposeFile"), one.at("service")
    if files is None:
        return ""
    if len(files.items) != 1 or service is None:
        raise DockerfileError(f"{path}:{files.line}: it names several compose files: check one as FILE:SERVICE")
    return f"{os.path.join(folder, files.items[0].text)}:{service.text}"


def _has_gpus(one: Node) -> bool:
    gpu, words = one.at("hostRequirements", "gpu"), one.at("runArgs")
    arguments = [each.text for each in words.items] if words else []
    return bool(
        (gpu and gpu.text != "false") or any(each.startswith("--gpus") or each == "nvidia" for each in arguments)
    )


def _after(one: Node, name: str, *, is_whole: bool) -> Iterator[Instruction]:
    """Features first, then the commands in the order in which they run; several of one name run beside each other.

    `is_whole`: the context of the build is the directory that is opened, so the files of the commands can be read.
    """
    for feature, each in (one.at("features") or Node(None, 0)).fields.items():
        if _BRINGS.search(feature):
            short = feature.rpartition("/")[2].partition(":")[0]
            yield _instruction("RUN", f"./features/{short}/install.sh", each.line, name)
    commands = [found for key in _COMMANDS if (found := one.at(key))]
    if commands and is_whole:
        yield _instruction("WORKDIR", _FOLDER, commands[0].line, name)
        yield _instruction("COPY", ". ./", commands[0].line, name)
    for command in commands:
        for each in command.fields.values() or [command]:
            words = " ".join(shlex.quote(word.text) for word in each.items) if not each.text else each.text
            yield _instruction("RUN", _KEPT + words.replace("\n", " "), each.line, name)


def _instruction(keyword: str, text: str, line: int, name: str) -> Instruction:
    return Instruction(keyword, text, starts=(0,), numbers=(line,), file=name)
