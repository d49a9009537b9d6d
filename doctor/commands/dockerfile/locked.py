"""Commands that install what a lock file or a project of the build context lists: which file, and what of it.

Sources: `uv sync --help`, `uv run --help`; the `install --help` of poetry, pdm, pipenv and pixi; conda-lock's README.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from compat.base.record import NamedTuple
from doctor.commands.dockerfile.context import Copied
from doctor.script.expand import is_open
from doctor.script.shell import Call

ALL = "*"
_FILES = {
    "uv": ("uv.lock", "pyproject.toml"),
    "poetry": ("poetry.lock", "pyproject.toml"),
    "pdm": ("pdm.lock", "pyproject.toml"),
    "pipenv": ("Pipfile.lock", "Pipfile"),
    "pixi": ("pixi.lock", "pixi.toml"),
    "conda-lock": ("conda-lock.yml", "conda-lock.yml"),
}
TOOLS = {lock: tool for tool, (lock, _) in _FILES.items()}
# What an option chooses; its value is a name, or ALL for an option without one.
_CHOOSES = {
    "--extra": "extras", "-E": "extras", "--extras": "extras", "--all-extras": "extras",
    "--group": "groups", "-G": "groups", "--with": "groups", "--all-groups": "groups",
    "-d": "groups", "--dev": "groups",
    "--no-group": "without", "--without": "without", "--no-dev": "without", "--prod": "without",
    "--production": "without", "--no-default-groups": "without",
    "--only-group": "only", "--only": "only", "--only-dev": "only",
    "--no-install-package": "skips",
    "--package": "part", "-e": "part", "--environment": "part",
    "--project": "folder", "--directory": "folder", "-C": "folder", "-P": "folder", "-p": "folder",
    "--manifest-path": "folder",
}  # fmt: skip
_BARE = {"--all-extras": ALL, "--all-groups": ALL, "--dev": "dev", "-d": "dev", "--no-dev": "dev", "--prod": "dev",
         "--production": "dev", "--no-default-groups": ALL, "--only-dev": "dev"}  # fmt: skip
_FOREIGN = {"uv": {"--with", "-d", "-e", "-E", "-P", "-p", "-C"}, "pdm": {"-C", "-P", "-E", "-e", "--extra"},
            "poetry": {"-e", "--package", "-p"}, "pipenv": {"-e", "-p", "-C", "-P", "--extra", "--package"},
            "pixi": {"-p", "-P", "-C", "--extra"}, "conda-lock": {"-E", "-e"}}  # fmt: skip
_NO_SYNC = frozenset({"--no-sync", "--no-project", "--script", "--isolated", "--no-install-project-dependencies"})


class LockUse(NamedTuple):
    """The files that a command installs from, and what of them it chooses."""

    tool: str  # "uv", "poetry"; "pip" for a project's directory
    lock: str  # in the build context; "" if none is there
    project: str  # the manifest beside it; "" if none is there
    extras: tuple[str, ...] = ()  # ALL for every one
    groups: tuple[str, ...] = ()
    without: tuple[str, ...] = ()  # groups
    only: tuple[str, ...] = ()  # groups, and nothing else
    skips: tuple[str, ...] = ()  # packages
    part: str = ""  # the member of a workspace, or the environment of pixi


def lock_use(call: Call, there: Copied, known: Mapping[str, str]) -> LockUse:
    """Return what `uv sync` and its like install; neither file is named if none was found."""
    words = [one.text for one in call.words[1:]]
    chosen: dict[str, list[str]] = {}
    for option, value in _options(words, call.program):
        chosen.setdefault(_CHOOSES[option], []).extend(value.replace(",", " ").split())
    if call.program == "uv" and {**known, **call.given}.get("UV_NO_DEV", "") not in {"", "0", "false"}:
        chosen.setdefault("without", []).append("dev")
    folder = (chosen.get("folder") or ["."])[0]
    lock, project = _FILES[call.program]
    if call.program == "conda-lock":
        lock = next((one for one in words[1:] if one.endswith((".yml", ".yaml"))), lock)
    if folder.endswith(".toml"):
        folder = posixpath.dirname(folder) or "."
    found = _in(there, folder, lock)
    manifest = _in(there, folder, project) or (_in(there, folder, "pyproject.toml") if call.program == "pixi" else "")
    return LockUse(
        call.program,
        found,
        manifest,
        extras=tuple(chosen.get("extras", ())),
        groups=tuple(chosen.get("groups", ())),
        without=tuple(chosen.get("without", ())),
        only=tuple(chosen.get("only", ())),
        skips=tuple(chosen.get("skips", ())),
        part=(chosen.get("part") or [""])[0],
    )


def project_use(text: str, there: Copied, tool: str) -> LockUse | None:
    """Return what `pip install .`, `-e .[extra]` or `-r pyproject.toml` installs; None if no project is there."""
    found = re.fullmatch(r"(?:file://)?([^\[\]:]*?)(?:\[([\w\s,.-]*)\])?", text)
    if found is None or is_open(text) or "://" in found[1]:
        return None
    folder = posixpath.dirname(found[1]) if found[1].endswith("pyproject.toml") else found[1]
    name = _in(there, folder or ".", "pyproject.toml")
    extras = tuple(one.strip() for one in (found[2] or "").split(",") if one.strip())
    return LockUse(tool, "", name, extras, without=(ALL,)) if name else None


def environment_of(call: Call, there: Copied, known: Mapping[str, str]) -> str:
    """Return the environment that such a command installs into: "/app/.venv"; "" for that of the image's Python."""
    given = {**known, **call.given}
    words = [one.text for one in call.words]
    if call.program == "uv":
        named = given.get("UV_PROJECT_ENVIRONMENT", "")
        named = given.get("VIRTUAL_ENV", "") if "--active" in words else named
        place = there.at(named or ".venv")
        return "" if is_open(named) or named.rstrip("/") in {"/usr/local", "/usr"} or "\0" in place else place
    in_project = given.get("POETRY_VIRTUALENVS_IN_PROJECT", "").lower() in {"1", "true"}
    if call.program == "pdm" or (call.program == "poetry" and in_project):
        place = there.at(".venv")
        return "" if "\0" in place or "--global" in words else place
    if call.program == "conda-lock":
        return next((value for option, value in _pairs(words) if option in {"-n", "--name", "-p", "--prefix"}), "")
    return ""


def exported_lock(call: Call, there: Copied, known: Mapping[str, str]) -> tuple[str, LockUse] | None:
    """Return the requirements file that `uv export` and its like write, and what they select; None for another call."""
    words = [one.text for one in call.words]
    if call.program not in {"uv", "poetry", "pdm"} or words[1:2] != ["export"]:
        return None
    named = next((value for option, value in _pairs(words) if option in {"-o", "--output", "--output-file"}), "")
    target = named or (call.writes.text if call.writes else "")
    use = lock_use(call, there, known)
    if not target or is_open(target) or not use.lock:
        return None
    return there.at(target), use if call.program == "uv" or use.groups else use._replace(without=(ALL,))


def installs_nothing(call: Call) -> bool:
    """Return whether `uv run` leaves the project's environment as it is."""
    return call.program == "uv" and bool(_NO_SYNC & {one.text for one in call.words})


def _in(there: Copied, folder: str, name: str) -> str:
    """The file of the context that is in a directory of the image, "" where none is known."""
    found = there.named(there.at(posixpath.join(folder, name)))
    return found if found and there.context.text(found) is not None else ""


def _pairs(words: list[str]) -> Iterator[tuple[str, str]]:
    for number, word in enumerate(words):
        name, sign, value = word.partition("=")
        yield name, value if sign else words[number + 1] if number + 1 < len(words) else ""


def _options(words: list[str], tool: str) -> Iterator[tuple[str, str]]:
    """The options that choose; those of the command that `uv run` starts are its own."""
    end = next((number for number, one in enumerate(words[1:], 1) if _is_program(one, words[number - 1])), len(words))
    for name, value in _pairs(words[: end if words[:1] == ["run"] else len(words)]):
        if name in _CHOOSES and name not in _FOREIGN[tool]:
            yield name, _BARE.get(name, value)


def _is_program(word: str, before: str) -> bool:
    return not word.startswith("-") and (before not in _CHOOSES or before in _BARE)
