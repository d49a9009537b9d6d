"""What a package manager of this machine was told that makes it refuse: held packages, pip's and uv's constraints.

Only a run that prescribes something asks. Sources: dpkg(1), "Package selection states" (hold), and apt-mark(8);
dnf-versionlock(8) (versionlock.list, since DNF 5 versionlock.toml); zypper(8), "Package Lock Management", and the form
of /etc/zypp/locks; conda's documentation, "Preventing packages from updating (pinning)"; pip documentation,
"Configuration", "Constraints Files" and "Requirements File Format"; uv's documentation, "Environment variables"
(UV_CONSTRAINT), "Configuration files" and "Settings" (constraint-dependencies).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from compat.base.user_dirs import user_dir
from doctor.host import Host, HostError
from doctor.host.optional_reads import text_of
from doctor.model.facts.package_rules import Constraint, Hold, InstallerRules
from doctor.model.facts.seen import Fact, Place, Seen, Unseen
from doctor.pyenv import dpkg, pip_settings
from doctor.pyenv.project import table_of, toml_of

_SECTIONS = ("global", "install")  # the later one wins
_PLATFORMS = {"windows": "win32", "macos": "darwin"}
_TEXT_AT_MOST_BYTES = 1 << 20  # of a file of constraints; OpenStack's has 20 KiB
_FILES_AT_MOST = 16
_FOLDERS_AT_MOST = 40  # upwards from the working directory
_LINES_AT_MOST = 5_000
_LINE_AT_MOST = 1000  # characters
_INCLUDED = re.compile(r"(?:-c|--constraint|-r|--requirement)[\s=]+(\S+)")
_HOLD = b"\nStatus: hold "


def holds(host: Host, manager: str, prefix: str = "") -> tuple[Hold, ...]:
    """What one package manager was told to leave alone; nothing where its file is not there or cannot be read."""
    if manager == "apt":
        found = held(host)
        names = found.value if isinstance(found, Seen) else ()
        return tuple(Hold(manager, name, "apt-mark hold", f"sudo apt-mark unhold {name}") for name in names)
    return tuple(_READERS[manager](host, prefix)) if manager in _READERS else ()


def _of_dnf(host: Host, _: str) -> Iterator[Hold]:
    """name-epoch:version-release.arch, a pattern; from DNF 5 on a table of names."""
    for path, form in ((f"{_DNF}/plugins/versionlock.list", _NEVRA), (f"{_DNF}/versionlock.toml", _NAME_IN_TOML)):
        for line in _lines_of(host, path):
            named = form.match(line)
            if named:
                yield Hold("dnf", named[1], path, f"sudo dnf versionlock delete {named[1]}")


def _of_zypper(host: Host, _: str) -> Iterator[Hold]:
    for line in _lines_of(host, "/etc/zypp/locks"):
        key, _, name = (part.strip() for part in line.partition(":"))
        if key == "solvable_name" and name:
            yield Hold("zypper", name, "/etc/zypp/locks", f"sudo zypper removelock {name}")


def _of_conda(host: Host, prefix: str) -> Iterator[Hold]:
    path = f"{prefix}/conda-meta/pinned"
    for line in _lines_of(host, path):
        named = re.match(r"[\w.-]+", line)
        if named:
            yield Hold("conda", named[0].lower(), path, "")


def _lines_of(host: Host, path: str) -> list[str]:
    """Without comments."""
    text = text_of(host, path, _TEXT_AT_MOST_BYTES)
    lines = (line.partition("#")[0].strip() for line in text.splitlines()[:_LINES_AT_MOST])
    return [line for line in lines if line and len(line) <= _LINE_AT_MOST and not line.startswith("!")]


_DNF = "/etc/dnf"
_NEVRA = re.compile(r"(\S+?)-(?:\d+:)?[^-:\s]+-[^-\s]+$")
_NAME_IN_TOML = re.compile(r"name\s*=\s*[\"']([^\"']+)[\"']")
_READERS: dict[str, Callable[[Host, str], Iterator[Hold]]] = {
    "dnf": _of_dnf,
    "zypper": _of_zypper,
    "conda": _of_conda,
}


def held(host: Host) -> Fact[tuple[str, ...]]:
    """The packages that apt was told to leave alone, installed or not."""
    try:
        status = dpkg.status_of(host)
    except HostError as error:
        return Unseen(str(error))
    return Seen(tuple(sorted(set(_names_held(status)))), Place(dpkg.STATUS))


def _names_held(status: bytes) -> Iterator[str]:
    """By the few lines that say so: an expression over the whole file, 8 MiB on a desktop, takes ten times as long."""
    place = status.find(_HOLD)
    while place >= 0:
        start = status.rfind(b"\n\n", 0, place) + 1
        named = re.search(rb"^Package: (\S+)$", status[start:place], re.MULTILINE)
        if named:
            yield named[1].decode("utf-8", "replace")
        place = status.find(_HOLD, place + 1)


def of_pip(host: Host, prefix: str) -> InstallerRules:
    """What pip is told in the environment at `prefix`."""
    platform = _PLATFORMS.get(host.os_family, "linux")
    read = pip_settings.Files(host.is_file, lambda path: host.read_text(path, _TEXT_AT_MOST_BYTES))
    found, notes = pip_settings.options(host.environ, prefix, platform, read, _SECTIONS)
    named = found.get("constraint")
    no_index, in_environment = found.get("no-index"), found.get("require-virtualenv")
    return InstallerRules(
        constraints=_constraints(host, named.value, named.where, notes) if named else (),
        no_index=no_index.where if no_index and pip_settings.is_on(no_index) else "",
        virtualenv_only=in_environment.where if in_environment and pip_settings.is_on(in_environment) else "",
        notes=tuple(notes),
    )


def of_uv(host: Host) -> InstallerRules:
    """What uv's own variable and files say; it reads none of pip's."""
    notes: list[str] = []
    named = host.environ.get("UV_CONSTRAINT", "")
    found = (*_constraints(host, named, "UV_CONSTRAINT", notes), *_of_uv_files(host))
    return InstallerRules(found, notes=tuple(notes))


def _of_uv_files(host: Host) -> Iterator[Constraint]:
    """constraint-dependencies of the nearest project upwards, of the user and of the system: uv joins them."""
    own = user_dir(host.environ, host.os_family, "config", "uv", roaming=True)
    for path in (*_of_project(host), *([f"{own}/uv.toml"] if own else []), "/etc/uv/uv.toml"):
        content = toml_of(host, path)
        if path.endswith("/pyproject.toml"):
            content = table_of(table_of(content, "tool"), "uv")
        listed = content.get("constraint-dependencies")
        for one in listed[:_LINES_AT_MOST] if isinstance(listed, list) else ():
            if isinstance(one, str):
                yield Constraint(one, f"{path}, constraint-dependencies")


def _of_project(host: Host) -> tuple[str, ...]:
    """The nearest uv.toml, else pyproject.toml with [tool.uv], from the working directory upwards."""
    folder = host.environ.get("PWD", "") if host.is_live else ""
    for _ in range(_FOLDERS_AT_MOST):
        if not folder.startswith("/"):
            break
        if host.is_file(f"{folder}/uv.toml"):
            return (f"{folder}/uv.toml",)
        if "uv" in table_of(toml_of(host, f"{folder}/pyproject.toml"), "tool"):
            return (f"{folder}/pyproject.toml",)
        folder = folder.rpartition("/")[0]
    return ()


def _constraints(host: Host, named: str, said_by: str, notes: list[str]) -> tuple[Constraint, ...]:
    """Of files, and of those that they name themselves; an address cannot be looked at."""
    found: list[Constraint] = []
    waiting = named.split()
    read: set[str] = set()
    while waiting and len(read) < _FILES_AT_MOST:
        path = waiting.pop(0)
        if path in read:
            continue
        read.add(path)
        if "://" in path:
            notes.append(
                f"{path} ({said_by}) holds constraints that gpudoctor does not fetch: what they forbid is unknown"
            )
            continue
        try:
            lines = [*_lines(host.read_text(path, _TEXT_AT_MOST_BYTES))]
        except HostError as error:
            notes.append(f"{error} ({said_by})")
            continue
        for number, line in lines[:_LINES_AT_MOST]:
            other = _INCLUDED.fullmatch(line)
            if other:
                folder = path.rpartition("/")[0]
                waiting.append(other[1] if "/" in other[1][:1] or not folder else f"{folder}/{other[1]}")
            elif not line.startswith("-"):
                found.append(Constraint(line, f"{path}, line {number} ({said_by})"))
    return tuple(found)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """With the number of its first line; a backslash at the end goes on, and digests are no part of a requirement."""
    start, whole = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        start = start if whole else number
        whole += line
        if whole.endswith("\\"):
            whole = f"{whole[:-1]} "
            continue
        stripped = re.sub(r"(^|\s)#.*$", "", whole).partition(" --")[0].strip()
        if stripped:
            yield start, stripped
        whole = ""
