"""The Python that an image's own command starts.

Sources: Docker's reference ("ENTRYPOINT", "CMD"); conda's `run --help`; execve(2) on the first line of scripts.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from doctor.host import Host, HostError
from doctor.model.facts.image import ImageFacts
from doctor.model.facts.seen import Seen

_PYTHON = re.compile(r"(?:python|pypy)\d*(?:\.\d+)?")
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh"})
_CONDA = frozenset({"conda", "mamba", "micromamba"})
_ACTIVATE = "/bin/activate"
_WORDS_AT_MOST = 64
_LINE_BYTES = 256


def interpreter_started(host: Host) -> str:
    """Its path, "" where the command starts no Python that can be told, or no image is looked at."""
    told = getattr(host, "image_facts", None)
    command = told.value.command if isinstance(told, Seen) and isinstance(told.value, ImageFacts) else ()
    words = _words(command)[:_WORDS_AT_MOST]
    for number, word in enumerate(words):
        name = word.rpartition("/")[2]
        if _PYTHON.fullmatch(name):
            return _found(host, word)
        if word.endswith(_ACTIVATE):
            return f"{_absolute(host, word).removesuffix('activate')}python"
        if name in _CONDA and words[number + 1 : number + 2] == ["run"] and (inside := _of_conda(host, words[number:])):
            return inside
    return _of_script(host, _found(host, words[0])) if words else ""


def _words(command: tuple[str, ...]) -> list[str]:
    """Of a shell's script too: `/bin/sh -c "exec python app.py"`."""
    words = list(command)
    if words and words[0].rpartition("/")[2] in _SHELLS:
        scripts = [words[number + 1] for number, one in enumerate(words[:-1]) if re.fullmatch(r"-[a-z]*c", one)]
        try:
            return shlex.split(scripts[0]) if scripts else words[1:]
        except ValueError:  # a quote without an end
            return []
    return words


def _absolute(host: Host, path: str) -> str:
    return path if path.startswith("/") else f"{host.environ.get('PWD', '').rstrip('/')}/{path.removeprefix('./')}"


def _found(host: Host, word: str) -> str:
    """Where a program lies, "" for nowhere."""
    folders = [""] if "/" in word else host.environ.get("PATH", "").split(":")
    paths = (_absolute(host, word) if "/" in word else f"{one.rstrip('/')}/{word}" for one in folders)
    return next((path for path in paths if host.is_file(path)), "")


def _of_conda(host: Host, words: list[str]) -> str:
    """`conda run -n NAME`, `-p PATH`."""
    program = _found(host, words[0])
    for option, value in _pairs(words):
        if option in {"-n", "--name"} and program:
            base = program.rpartition("/")[0].rpartition("/")[0]
            return f"{base}/bin/python" if value == "base" else f"{base}/envs/{value}/bin/python"
        if option in {"-p", "--prefix"}:
            return f"{_absolute(host, value).rstrip('/')}/bin/python"
    return ""


def _pairs(words: list[str]) -> Iterator[tuple[str, str]]:
    for number, one in enumerate(words):
        name, sign, value = one.partition("=")
        if sign:
            yield name, value
        elif number + 1 < len(words):
            yield one, words[number + 1]


def _of_script(host: Host, path: str) -> str:
    """The Python in the first line of a program (torchrun, gunicorn)."""
    try:
        with host.open(path) as file:
            start = file.read(_LINE_BYTES)
    except (HostError, OSError):
        return ""
    words = start.partition(b"\n")[0].decode("utf-8", "replace").split() if start.startswith(b"#!") else []
    words = [words[0].removeprefix("#!"), *words[1:]] if words else []
    named = next((one for one in words if _PYTHON.fullmatch(one.rpartition("/")[2])), "")
    return _found(host, named) if named else ""
