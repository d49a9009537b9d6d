"""What lies at a path: the prefix of a Python environment, its interpreter and version, read from files."""

from __future__ import annotations

import re

from compat.base.record import NamedTuple
from doctor.host import BadRequest, Host, HostError
from doctor.host.optional_reads import names_of, text_of
from doctor.model.facts.seen import Fact, Place, Seen, Unseen

_NESTED_AT_MOST = 8
_SMALL_FILE_BYTES = 64 << 10
_LINKS_AT_MOST = 16  # shims and wrappers that lead to each other
_INTERPRETERS = ("bin/python", "bin/python3", "bin/python2", "Scripts/python.exe", "python.exe")
_STORE_ALIASES = "/microsoft/windowsapps/"  # below a user's AppData/Local


class NoSuchInterpreter(BadRequest):
    """What was named is this is neither a Python interpreter nor the directory of an environment."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path if path.strip() else repr(path)}: {why}")


class Located(NamedTuple):
    """A Python environment by its files."""

    prefix: str
    interpreter: str  # "" where it has none
    kind: str  # as in facts.Environment
    python: Fact[str]
    tag: str  # name of its library directory, "python3.12"; "" on Windows and where it has none
    base: str  # prefix of the Python it is made from; its own for all but virtual environments
    uses_base_sites: bool  # include-system-site-packages


class Opaque(NoSuchInterpreter):
    """A script starts an interpreter, and its text does not say which one."""


def locate(host: Host, path: str) -> Located:
    """The environment of an interpreter or of a directory; raises NoSuchInterpreter."""
    try:
        if host.is_dir(path):
            return _of_prefix(host, path.rstrip("/") or "/")
        host.link_status(path)  # not what it leads to: an environment outlives the Python it was made from
        return _of_interpreter(host, path)
    except HostError as error:
        raise NoSuchInterpreter(path, error.why) from error


def is_environment(host: Host, prefix: str) -> bool:
    """Whether a directory is a virtual or conda environment."""
    return host.is_file(f"{prefix}/pyvenv.cfg") or host.is_dir(f"{prefix}/conda-meta")


def _of_interpreter(host: Host, path: str) -> Located:
    """Follow an interpreter as CPython does: pyvenv.cfg beside the name it is called by, then the real file."""
    if _STORE_ALIASES in path.lower() and host.is_live and host.os_family == "windows":
        return _of_alias(host, path)
    for _ in range(_LINKS_AT_MOST):
        for prefix in (_parent(_parent(path)), _parent(path)):
            if is_environment(host, prefix):
                return _of_prefix(host, prefix, path)
        real = host.real_path(path)
        target = _behind_wrapper(host, real, _name(path))
        if target is None:
            return _of_real(host, path, real)
        path = target
    raise NoSuchInterpreter(path, "a wrapper that leads to itself")


def _of_alias(host: Host, path: str) -> Located:
    """Find the Python of Microsoft's Store: its alias cannot be opened, and opens the Store without one.

    The alias stays the interpreter, for the program behind it cannot be started by its path.
    """
    from doctor.pyenv.store_python import behind  # late: only Windows has it

    prefixes = behind(host, _parent(path))
    if len(prefixes) != 1:
        why = (
            "several Pythons are installed from it: name its own folder" if prefixes else ("it has installed no Python")
        )
        raise NoSuchInterpreter(path, f"this is an alias of Microsoft's Store, and {why}")
    return _of_prefix(host, prefixes[0], path)


def _behind_alias(host: Host, alias: str) -> str:
    """The directory of the Store's Python that a virtual environment was made from; the alias' own where none tells."""
    from doctor.pyenv.store_python import behind  # late: only Windows has it

    return (*behind(host, alias), alias)[0]


def _of_real(host: Host, path: str, real: str) -> Located:
    if not re.match(r"(python|pypy)[\d.]*[a-z]*(\.exe)?$", _name(real).lower()):
        raise NoSuchInterpreter(path, "not a Python interpreter")
    if real.lower().endswith(".exe"):
        return _of_prefix(host, _parent(real), path)
    return _of_prefix(host, _parent(_parent(real)), path)


def _of_prefix(host: Host, prefix: str, interpreter: str = "") -> Located:
    names = host.names(prefix)
    interpreter = interpreter or _interpreter_in(host, prefix)
    if "pyvenv.cfg" in names:
        return _virtual(host, prefix, interpreter)
    tag = library_tag(host, prefix, interpreter)
    if not interpreter and not tag:
        raise NoSuchInterpreter(prefix, "this is neither a Python interpreter nor the directory of an environment")
    base = _legacy_base(host, prefix, tag)
    if base:
        uses_base = not host.exists(f"{prefix}/lib/{tag}/no-global-site-packages.txt")
        return Located(
            prefix=prefix,
            interpreter=interpreter,
            kind="venv",
            python=_version(host, base, "system", tag),
            tag=tag,
            base=base,
            uses_base_sites=uses_base,
        )
    kind = _kind(host, prefix, names)
    return Located(
        prefix=prefix,
        interpreter=interpreter,
        kind=kind,
        python=_version(host, prefix, kind, tag),
        tag=tag,
        base=prefix,
        uses_base_sites=False,
    )


def _virtual(host: Host, prefix: str, interpreter: str) -> Located:
    """A virtual environment, by its pyvenv.cfg (PEP 405; uv and virtualenv add `version_info`)."""
    path = f"{prefix}/pyvenv.cfg"
    settings = _venv_settings(host, prefix)
    written = _release(settings.get("version_info") or settings.get("version", ""))
    base = _base(host, settings)
    if _STORE_ALIASES in f"{base}/".lower():
        base = _behind_alias(host, base)
    tag = library_tag(host, prefix, interpreter, ".".join(written.split(".")[:2]))
    python = Seen(written, Place(path)) if written else _version(host, base, "system", tag)
    uses_base = settings.get("include-system-site-packages", "").lower() == "true"
    return Located(
        prefix=prefix,
        interpreter=interpreter,
        kind="venv",
        python=python,
        tag=tag,
        base=base or prefix,
        uses_base_sites=uses_base,
    )


def _venv_settings(host: Host, prefix: str) -> dict[str, str]:
    return _settings(text_of(host, f"{prefix}/pyvenv.cfg", _SMALL_FILE_BYTES))


def base_of(host: Host, prefix: str) -> str:
    """The prefix of the Python that a virtual environment is made from; of any other its own."""
    return _base(host, _venv_settings(host, prefix)) or prefix


def _base(host: Host, settings: dict[str, str]) -> str:
    """The prefix that `home` leads to; before Python 3.11, a `home` may itself be a virtual environment."""
    base = ""
    for _ in range(_NESTED_AT_MOST):
        home = settings.get("home", "").replace("\\", "/").rstrip("/")
        base = home if host.os_family == "windows" else _parent(home)
        settings = _venv_settings(host, base)
        if not settings:
            break
    return base


def _release(text: str) -> str:
    """The first three numbers of "3.12.4.final.0", "" where it has not even two."""
    parts = text.split(".")[:3]
    while parts and not parts[-1].isdigit():
        parts.pop()
    return ".".join(parts) if len(parts) > 1 and all(part.isdigit() for part in parts) else ""


def _settings(text: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _interpreter_in(host: Host, prefix: str) -> str:
    """The python of a prefix; a dangling link counts, because its environment is still there."""
    candidates = [f"{prefix.rstrip('/')}/{name}" for name in _INTERPRETERS]
    for candidate in candidates:
        if host.is_file(candidate):
            return candidate
    for candidate in candidates:
        try:
            host.link_status(candidate)
        except HostError:
            continue
        return candidate
    return ""


def library_tag(host: Host, prefix: str, interpreter: str, minor: str = "") -> str:
    """The name of the library directory ("python3.12"), "" where there is none.

    Known from the version, else from the interpreter's real name, else the newest that lies there.
    """
    guesses = [f"python{minor}", f"python{minor}t"] if minor else []
    if interpreter and not minor:
        try:
            guesses.append(_name(host.real_path(interpreter)))
        except HostError:
            pass  # a dangling link: the listing below tells
    for guess in guesses:
        if _is_tag(guess) and (host.is_dir(f"{prefix}/lib/{guess}") or host.is_dir(f"{prefix}/lib64/{guess}")):
            return guess
    tags = library_tags(host, prefix)
    return tags[-1] if tags else ""


def library_tags(host: Host, prefix: str) -> tuple[str, ...]:
    """Every library directory of a Python below a prefix, oldest first."""
    for folder in ("lib", "lib64"):
        tags = [name for name in names_of(host, f"{prefix}/{folder}") if _is_tag(name)]
        if tags:
            return tuple(sorted(tags, key=lambda tag: tuple(map(int, re.findall(r"\d{1,4}", tag)))))
    return ()


def _is_tag(name: str) -> bool:
    major, _, minor = name.removeprefix("python").removeprefix("pypy").partition(".")
    return name.startswith(("python", "pypy")) and f"{major}{minor.removesuffix('t')}".isdigit() and minor != ""


def _legacy_base(host: Host, prefix: str, tag: str) -> str:
    """The base of a virtual environment from before pyvenv.cfg (virtualenv up to 19), "" for any other prefix."""
    path = f"{prefix}/lib/{tag}/orig-prefix.txt"
    if not tag or prefix in {"/usr", "/usr/local"} or not host.is_file(path):
        return ""
    return text_of(host, path, _SMALL_FILE_BYTES).strip()


def _kind(host: Host, prefix: str, names: tuple[str, ...]) -> str:
    if "conda-meta" in names:
        return "conda"
    if "/versions/" in prefix and "pyenv" in prefix:
        return "pyenv"
    return "windows" if host.os_family == "windows" else "system"


class _Place(NamedTuple):
    """Where the version of a Python is looked for."""

    host: Host
    prefix: str
    kind: str
    tag: str


def _version(host: Host, prefix: str, kind: str, tag: str) -> Fact[str]:
    """X.Y.Z from what is in the prefix, else X.Y from the library directory."""
    tag = tag or library_tag(host, prefix, "")
    place = _Place(host, prefix, kind, tag)
    for look in (_from_conda, _from_folder, _from_header, _from_dll):
        found = look(place)
        if found is not None:
            return found
    if tag:
        return Seen(re.sub(r"[a-z]", "", tag), Place(f"{prefix}/lib/{tag}"))
    return Unseen(f"no file in {prefix} tells the version of its Python, which is not started")


def _from_conda(place: _Place) -> Fact[str] | None:
    if place.kind != "conda":
        return None
    folder = f"{place.prefix}/conda-meta"
    for name in place.host.names(folder):
        found = re.match(r"python-(\d+\.\d+\.\d+)-[^-]+\.json$", name)
        if found:
            return Seen(found[1], Place(f"{folder}/{name}"))
    return None


def _from_folder(place: _Place) -> Fact[str] | None:
    """Pyenv ("3.11.7") and uv ("cpython-3.11.7-linux-x86_64-gnu") name the folder after the version."""
    found = re.match(r"(?:cpython-)?(\d+\.\d+\.\d+)(?:[-+]|$)", _name(place.prefix))
    return Seen(found[1], Place(place.prefix)) if found else None


def _from_header(place: _Place) -> Fact[str] | None:
    for folder in (f"include/{place.tag}", f"include/{place.tag}m", "include"):
        path = f"{place.prefix}/{folder}/patchlevel.h"
        text = text_of(place.host, path, _SMALL_FILE_BYTES)
        found = re.search(r'#define\s+PY_VERSION\s+"(\d+\.\d+\.\d+)', text)
        if found:
            return Seen(found[1], Place(path))
    return None


def _from_dll(place: _Place) -> Fact[str] | None:
    if place.host.os_family != "windows":
        return None
    for name in place.host.names(place.prefix):
        found = re.fullmatch(r"python(\d)(\d{1,2})\.dll", name.lower())
        if found:
            return Seen(f"{found[1]}.{found[2]}", Place(f"{place.prefix}/{name}"))
    return None


def _behind_wrapper(host: Host, real: str, called: str) -> str | None:
    """The interpreter that a script starts (pyenv's shims, wrappers that exec), None for a program."""
    try:
        with host.open(real) as stream:
            start = stream.read(4096)
    except (HostError, OSError) as error:
        raise NoSuchInterpreter(real, getattr(error, "why", "it cannot be read")) from error
    if not start.startswith(b"#!"):
        return None
    text = start.decode("utf-8", "replace")
    root = re.search(r'PYENV_ROOT="?([^"\n]+)"?', text)
    if root and "pyenv" in text:
        return _behind_shim(host, root[1], called)
    target = re.search(r"""^\s*exec\s+["']?(/[^"'\s]*/(?:python|pypy)[\w.]*)""", text, re.MULTILINE)
    if target:
        return target[1]
    if re.search(r"^# asdf-plugin: python ", text, re.MULTILINE):
        return _behind_asdf(host, _parent(_parent(real)), called)
    raise Opaque(real, "a script that does not show its Python: give the Python with --python")


def _behind_shim(host: Host, root: str, called: str) -> str:
    """The interpreter that a pyenv shim starts: PYENV_VERSION, .python-version upwards, the global version file."""
    for wanted in _pyenv_versions(host, root):
        if wanted == "system":
            break
        folder = f"{root}/versions/{_best_version(host, root, wanted)}"
        for name in (called, "python"):
            if host.exists(f"{folder}/bin/{name}"):
                return f"{folder}/bin/{name}"
    return _after_shims(host, f"{root}/shims/{called}")


def _behind_asdf(host: Host, root: str, called: str) -> str:
    """The interpreter that a shim of asdf starts: ASDF_PYTHON_VERSION, else .tool-versions upwards, else of HOME."""
    named = host.environ.get("ASDF_PYTHON_VERSION", "").split()
    for path in (
        () if named else (*_upwards(host, "PWD", ".tool-versions"), f"{host.environ.get('HOME', '')}/.tool-versions")
    ):
        lines = text_of(host, path, _SMALL_FILE_BYTES).splitlines()
        named = next((line.partition("#")[0].split()[1:] for line in lines if line.split()[:1] == ["python"]), [])
        if named:
            break
    for wanted in named:
        if wanted == "system":
            break
        if host.exists(path := f"{root}/installs/python/{wanted}/bin/{called}"):
            return path
    return _after_shims(host, f"{root}/shims/{called}")


def _after_shims(host: Host, shim: str) -> str:
    """The program of the same name that PATH has besides shims; raises NoSuchInterpreter."""
    for folder in host.environ.get("PATH", "/usr/local/bin:/usr/bin").split(":"):
        if folder.startswith("/") and "/shims" not in folder and host.is_file(f"{folder}/{_name(shim)}"):
            return f"{folder}/{_name(shim)}"
    raise NoSuchInterpreter(shim, "no version is set that has this program")


def _upwards(host: Host, variable: str, name: str) -> list[str]:
    """The files of this name in the directory of a variable and above it, the nearest first."""
    folder = host.environ.get(variable) or host.environ.get("PWD", "")
    parts = folder.split("/") if folder.startswith("/") else []
    return [f"{'/'.join(parts[:depth])}/{name}" for depth in range(len(parts), 0, -1)][:40]


def _pyenv_versions(host: Host, root: str) -> list[str]:
    named = host.environ.get("PYENV_VERSION", "")
    if named:
        return named.split(":")
    files = [*_upwards(host, "PYENV_DIR", ".python-version"), f"{root}/version"]
    for path in files:
        words = text_of(host, path, _SMALL_FILE_BYTES).split()
        if words:
            return words[:20]
    return ["system"]


def _best_version(host: Host, root: str, wanted: str) -> str:
    """An installed version by its name, or the newest below a prefix ("3.11" is 3.11.7)."""
    wanted = wanted.removeprefix("python-")
    if host.is_dir(f"{root}/versions/{wanted}"):
        return wanted
    names = [name for name in names_of(host, f"{root}/versions") if name.startswith(f"{wanted}.")]
    return max(names, key=lambda name: [int(part) for part in re.findall(r"\d{1,6}", name)], default=wanted)


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _name(path: str) -> str:
    return path.rpartition("/")[2]
