"""What a plan of pip's installs, written into the lines of a Dockerfile or requirements file that install it now."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.base.record import NamedTuple
from compat.spec import normal
from compat.traits import traits_of
from doctor.model.facts import Facts
from doctor.model.facts.dockerfile import DockerfileBase, DockerfileLine
from doctor.model.facts.seen import Seen, value_or
from installers.plan import Plan
from installers.steps.command import Command

_REQUIREMENT = re.compile(
    r"(?<![\w./=:-])([\"']?)([A-Za-z][\w.-]*)((?:\[[^\]]*\])?(?:\s*[=<>!~]=?=?\s*[\w.*+!,<>=~]+)?)\1(?=[\s;&|)\"']|$)"
)
_INDEX = re.compile(r"\s(?:-i|--index-url|--extra-index-url)[\s=]\S*/whl/\S+")
_PIP = re.compile(r"(?:\bpip[\d.]*|\buv pip) install\b")
_DECIDES = (".lock", "pyproject.toml", "conda-lock.yml", "Pipfile")
_COMMAND_END = re.compile(r"\s{0,40}(?:&&|\|\||;|\\\s*$|$)")


class _Change(NamedTuple):
    """What pip does in a plan."""

    install: dict[str, str]  # name -> requirement
    remove: frozenset[str]
    address: str  # of the package index, "" for the default one


def corrected(plan: Plan, facts: Facts) -> tuple[str, ...]:
    """Return the lines, each with its place above it; () if the plan does more, or no line names what it changes."""
    lines = corrections(plan, facts)
    return tuple(text for one, edited in lines for text in (f"# {one.source}, corrected:", *edited.split("\n")))


def corrections(plan: Plan, facts: Facts) -> tuple[tuple[DockerfileLine, str], ...]:
    """Return each line that changes, with its new text."""
    change = _change(plan)
    if change is None or not isinstance(facts.dockerfile, Seen):
        return ()
    found = [(one, _edited(one, change)) for one in facts.dockerfile.value.lines]
    lines = tuple((one, text) for one, text in found if text != one.what)
    named = {name for one, _ in lines for name in _names(one.what)}
    if not change.install.keys() <= named:
        return ()
    return lines


def manifest(plan: Plan, facts: Facts) -> tuple[str, ...]:
    """Return what the project must say instead, as a lock file is never edited; () if no lock or project decides."""
    change = _change(plan)
    files = _decided_in(change, facts) if change else ""
    if change is None or not files:
        return ()
    asked = {name: spec for name, spec in change.install.items() if not name.startswith("nvidia-")}
    change = change._replace(install=asked or change.install)  # a lock takes the wheels that torch requires
    if not files.endswith(("uv.lock", "pyproject.toml")):
        if files.endswith("pixi.lock"):
            return _of_pixi(change)
        if files.endswith("poetry.lock"):
            return _of_poetry(change)
        specs = " ".join(change.install.values())
        index = f" from {change.address}" if change.address else ""
        return (f"# in the project of {files}, write {specs}{index}, then lock again",)
    lines = ["# in pyproject.toml, then run `uv lock`:"]
    lines += [f'# dependencies: "{spec}"' for spec in change.install.values()]
    if change.address:
        index = f"pytorch-{change.address.rstrip('/').rpartition('/')[2]}"
        lines += ["[tool.uv.sources]", *(f'{name} = {{ index = "{index}" }}' for name in change.install)]
        lines += ["[[tool.uv.index]]", f'name = "{index}"', f'url = "{change.address}"', "explicit = true"]
    return tuple(lines)


def _of_pixi(change: _Change) -> tuple[str, ...]:
    """Source: pixi's manifest reference, "pypi-dependencies"."""
    lines = []
    for name, spec in change.install.items():
        version = re.sub(r"^[\w.-]+(?:\[[^\]]*\])?", "", spec).strip() or "*"
        index = f', index = "{change.address}"' if change.address else ""
        lines.append(f'{name} = {{ version = "{version}"{index} }}')
    return ("# under pypi-dependencies of the pixi project, then run `pixi lock`:", *lines)


def _of_poetry(change: _Change) -> tuple[str, ...]:
    """Source: poetry's documentation, "source add" and "add"."""
    specs = " ".join(f'"{spec}"' if re.search(r"[<>\[ ]", spec) else spec for spec in change.install.values())
    if not change.address:
        return (f"poetry add {specs}",)
    name = f"pytorch-{change.address.rstrip('/').rpartition('/')[2]}"
    return (f"poetry source add --priority explicit {name} {change.address}", f"poetry add --source {name} {specs}")


def in_base(plan: Plan, facts: Facts) -> DockerfileBase | None:
    """Return the base image that holds what a plan of pip's changes; None if a line installs it."""
    change = _change(plan)
    if change is None or not isinstance(facts.dockerfile, Seen):
        return None
    base = facts.dockerfile.value.base
    every = (each for one in value_or(facts.environments, ()) for each in value_or(one.frameworks, ()))
    return base if any(one.package in change.install and one.pinned_at == base.source for one in every) else None


def _decided_in(change: _Change, facts: Facts) -> str:
    """The lock file or project that names what a plan changes; "" for another file, as a list of requirements."""
    if facts.machine.kind == "lock":
        return facts.machine.name if facts.machine.name.endswith(".lock") else ""
    named = {*change.install, *change.remove}
    for each in value_or(facts.environments, ()):
        for one in value_or(each.distributions, ()):
            if one.name in named and one.pinned_at and one.pinned_at.file.endswith(_DECIDES):
                return one.pinned_at.file
    return ""


def _change(plan: Plan) -> _Change | None:
    """What its commands of pip install and remove; None if it has another step."""
    install: dict[str, str] = {}
    removed: set[str] = set()
    index = ""
    for step in plan.steps:
        if not isinstance(step, Command) or step.argv[1:3] != ("-m", "pip") or len(step.argv) < 4:
            return None
        verb, words = step.argv[3], list(step.argv[4:])
        if "--index-url" in words:
            at = words.index("--index-url")
            index, words = words[at + 1], words[:at] + words[at + 2 :]
        specs = [word for word in words if not word.startswith("-")]
        if verb == "uninstall":
            removed.update(map(_name, specs))
        elif verb == "install":
            install.update({_name(spec): spec for spec in specs})
        else:
            return None
    return _Change(install, frozenset(removed - install.keys()), index)


def _name(spec: str) -> str:
    return normal(re.split(r"[\[=<>!~ ]", spec, maxsplit=1)[0])


def _names(text: str) -> Iterator[str]:
    return (normal(found[2]) for found in _REQUIREMENT.finditer(text))


def _edited(one: DockerfileLine, change: _Change) -> str:
    """The line with other requirements, and with the package index that serves them."""

    def put(found: re.Match[str]) -> str:
        name = normal(found[2])
        if name in change.remove:
            return ""
        if name not in change.install:
            return found[0]
        spec = change.install[name] if change.install[name] != name else found[2]
        quote = found[1] or ("'" if re.search(r"[<>!\[]", spec) and is_run else "")
        return f"{quote}{spec}{quote}"

    is_run = not one.source.file.endswith((".txt", ".in", ".yml", ".yaml"))
    start = _command_start(one.what, change) if is_run else 0
    head, body = one.what[:start], one.what[start:]
    made = _REQUIREMENT.sub(put, body)
    if change.remove & {*_names(body)}:
        made = re.sub(r"(?<! )  +(?=\S)", " ", made)
    named = change.install.keys() & {*_names(body)}
    if not change.address and any(traits_of(name).tagged for name in named):
        return head + _INDEX.sub("", made)  # the default index serves the build: another one of PyTorch's has it not
    if not change.address or not named:
        return head + made
    if not is_run:
        return f"--extra-index-url {change.address}\n{_tagged(made, change)}"
    return head + _with_index(made, change, is_command=bool(start))


def _command_start(text: str, change: _Change) -> int:
    """Where the words of the command of pip begin that names a package of the plan; 0 on a line that goes on."""
    for found in _PIP.finditer(text):
        end = _COMMAND_END.search(text, found.end())
        rest = text[found.end() : end.start() if end else len(text)]
        if {*_names(rest)} & {*change.install, *change.remove}:
            return found.end()
    return 0


def _with_index(text: str, change: _Change, *, is_command: bool) -> str:
    """With the index: in place of another of PyTorch's; beside the default one where other packages need that."""
    if _INDEX.search(text):
        return _INDEX.sub(f" --index-url {change.address}", text, count=1)
    end = _COMMAND_END.search(text)
    at = end.start() if end else len(text)
    words, rest = text[:at], text[at:]
    is_whole = is_command and not rest.lstrip().startswith("\\")
    if is_whole and {*_names(words)} <= {one for name in change.install for one in (name, *traits_of(name).followers)}:
        return f"{words} --index-url {change.address}{rest}"
    return f"{_tagged(words, change)} --extra-index-url {change.address}{rest}"


def _tagged(text: str, change: _Change) -> str:
    """With the build in the version, so that an index beside the default one decides."""
    build = change.address.rstrip("/").rpartition("/")[2]

    def put(found: re.Match[str]) -> str:
        exact = re.fullmatch(r"==[\d.]+", found[3])
        is_ours = normal(found[2]) in change.install and exact and traits_of(normal(found[2])).tagged
        return f"{found[1]}{found[2]}{found[3]}+{build}{found[1]}" if is_ours else found[0]

    return _REQUIREMENT.sub(put, text)
