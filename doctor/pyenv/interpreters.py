"""Whose Python environments to look at: the ones asked for, the active one, or all that lie on an offline root."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from compat.base.paths import usual
from compat.base.record import NamedTuple
from doctor.host import Host, HostError
from doctor.host.optional_reads import first_names, leave_out
from doctor.pyenv.prefixes import Located, NoSuchInterpreter, Opaque, is_environment, library_tags, locate
from doctor.pyenv.project import project_environments, working_directory
from doctor.pyenv.started import interpreter_started

_ON_A_ROOT_AT_MOST = 48
_NAMES_AT_MOST = 2_000  # entries of one folder that are looked into for environments
_HOMES_AT_MOST = 50
_KERNELS_AT_MOST = 32
_KERNEL_BYTES = 64 << 10
# Where uv and pipx keep the isolated environments of tools: ours is not the user's.
_TOOL_FOLDERS = ("/uv/tools/", "/pipx/venvs/", "/uv/archive-v", "/uv/environments-v", "/uv/builds-v")
_FOLDERS_OF_ENVIRONMENTS = ("/", "/opt", "/root", "/app", "/srv", "/workspace", "/workspaces", "/content", "/data")

# Below a home: of pyenv, uv, pipx, virtualenvwrapper, pipenv, conda and poetry, by their documentation.
_FOLDERS_OF_TOOLS = (
    ".pyenv/versions",
    ".local/share/uv/python",
    ".local/share/uv/tools",
    ".local/share/pipx/venvs",
    ".virtualenvs",
    ".local/share/virtualenvs",
    ".conda/envs",
    ".cache/pypoetry/virtualenvs",
)


class InterpreterCandidate(NamedTuple):
    """An environment to look at, and why."""

    asked_by: str  # as in facts.Environment
    located: Located


def candidates(host: Host, pythons: tuple[str, ...], *, every: bool = False) -> tuple[InterpreterCandidate, ...]:
    """The environments to look at, each once; raises NoSuchInterpreter for one that was asked for and is not there.

    `every`: on a live machine, too, all in the well-known places, as on a root.

    Raises Opaque where python3 on PATH starts one that nothing names: the next one on PATH is not the one in use.
    """
    if pythons:
        found = [InterpreterCandidate("--python", locate(host, _asked_path(host, python))) for python in pythons]
        return _each_once(host, found)
    found = _default(host) if host.is_live else [*_by_path(host)]
    found += _in_places(host) if every or not host.is_live else []
    return _each_once(host, [*found, *_behind_kernels(host, found)])


def _each_once(host: Host, found: list[InterpreterCandidate]) -> tuple[InterpreterCandidate, ...]:
    known: dict[tuple[str, str], InterpreterCandidate] = {}
    for candidate in found:
        try:
            prefix = host.real_path(candidate.located.prefix)
        except HostError:
            prefix = candidate.located.prefix
        known.setdefault((prefix, candidate.located.tag), candidate)
    return tuple(known.values())


def _asked_path(host: Host, python: str) -> str:
    """An absolute path for what --python was given: a path, or the name of a program on PATH."""
    if not host.is_live:
        return usual(python) if host.os_family == "windows" else python
    if not os.path.dirname(python) and not os.path.lexists(python):
        for path in _on_path(host, (python,)):
            return path
        if host.os_family == "windows":
            from doctor.pyenv import py_launcher  # late: only Windows has it

            registered = py_launcher.named(host, python)
            if registered:
                return registered
        raise NoSuchInterpreter(python, "there is no such program on PATH, and no such file or directory")
    path = os.path.abspath(os.path.expanduser(python)).replace(os.sep, "/")
    return usual(path) if host.os_family == "windows" else path


def _on_path(host: Host, names: tuple[str, ...]) -> Iterator[str]:
    """Files with these names in the folders of PATH, name by name."""
    windows = host.os_family == "windows"
    folders = host.environ.get("PATH", "").replace("\\", "/").split(";" if windows else ":")
    for name in names:
        for folder in folders:
            path = f"{folder.rstrip('/')}/{name}{'.exe' if windows and not name.endswith('.exe') else ''}"
            if folder and host.is_file(path):
                yield path


def _default(host: Host) -> list[InterpreterCandidate]:
    """The active environment, else that of the project in the working directory, else the python3 (python) on PATH.

    conda's base is active in most shells of those who have it: a project's own environment comes before it.
    """
    active = [(name, host.environ.get(name, "")) for name in ("VIRTUAL_ENV", "CONDA_PREFIX")]
    at = 1 if host.environ.get("CONDA_DEFAULT_ENV") == "base" else 2
    for why, prefix in (*active[:at], *_of_project(host), *active[at:]):
        located = _try(host, prefix.replace("\\", "/")) if prefix else None
        if located and located.interpreter and not _is_own_tool(located.prefix):
            return [InterpreterCandidate(why, located)]
    for path in _on_path(host, ("python3", "python")):
        located = _try(host, path, raises=(Opaque,))
        if located and not _is_own_tool(located.prefix):
            return [InterpreterCandidate(f"{path.rpartition('/')[2]} on PATH", located)]
    return _of_launcher(host) if host.os_family == "windows" else []


def _of_launcher(host: Host) -> list[InterpreterCandidate]:
    """The Python that `py` starts: what python.org's installer lays is not on PATH unless it is told so."""
    from doctor.pyenv import py_launcher  # late: only Windows has it

    for prefix in py_launcher.default(host):
        located = _try(host, prefix)
        if located and not _is_own_tool(located.prefix):
            return [InterpreterCandidate("Windows' launcher (py)", located)]
    return []


def _by_path(host: Host) -> Iterator[InterpreterCandidate]:
    """What an image's command starts, then the python3 that its own PATH leads to, wherever they lie."""
    started = interpreter_started(host)
    located = _try(host, started) if started else None
    if located:
        yield InterpreterCandidate("the image's command", located)
    for path in _on_path(host, ("python3", "python")):
        located = _try(host, path)
        if located:
            yield InterpreterCandidate(f"{path.rpartition('/')[2]} on PATH", located)
            return


def _of_project(host: Host) -> Iterator[tuple[str, str]]:
    """Why, and where an environment of the project in the working directory is."""
    for one in project_environments(host, working_directory()):
        if is_environment(host, one.prefix):
            yield one.why, one.prefix


def _try(host: Host, path: str, raises: tuple[type[Opaque], ...] = ()) -> Located | None:
    try:
        return locate(host, path)
    except raises:
        raise
    except NoSuchInterpreter:
        return None


def _is_own_tool(prefix: str) -> bool:
    """Whether this is the isolated environment that gpudoctor itself runs from."""
    own = os.path.realpath(sys.prefix).replace(os.sep, "/")
    return os.path.realpath(prefix).replace(os.sep, "/") == own and any(mark in f"{own}/" for mark in _TOOL_FOLDERS)


def _behind_kernels(host: Host, known: list[InterpreterCandidate]) -> list[InterpreterCandidate]:
    """The interpreters of installed Jupyter kernels."""
    found = []
    for folder in _kernel_folders(host, known):
        for name in first_names(host, folder, _KERNELS_AT_MOST):
            interpreter = _interpreter_of_kernel(host, f"{folder}/{name}/kernel.json")
            located = _try(host, interpreter) if interpreter else None
            if located:
                found.append(InterpreterCandidate(f"Jupyter kernel {name}", located))
    return found


def _kernel_folders(host: Host, known: list[InterpreterCandidate]) -> list[str]:
    homes = [host.environ["HOME"]] if host.environ.get("HOME") else [] if host.is_live else _homes(host)
    folders = [f"{home}/.local/share/jupyter/kernels" for home in homes]
    if host.environ.get("APPDATA"):
        folders.append(host.environ["APPDATA"].replace("\\", "/") + "/jupyter/kernels")
    prefixes = [candidate.located.prefix for candidate in known]
    if host.os_family != "windows":
        prefixes += ["/usr/local", "/usr"]
    return list(dict.fromkeys([*folders, *(f"{prefix}/share/jupyter/kernels" for prefix in prefixes)]))


def _interpreter_of_kernel(host: Host, path: str) -> str:
    """The absolute path of the Python that a kernel starts, "" where it starts something else."""
    from doctor.host.documents import parse_json  # late: only machines with Jupyter need it

    try:
        spec = parse_json(host.read_text(path, _KERNEL_BYTES))
        first = spec["argv"][0].replace("\\", "/")
    except (HostError, ValueError, LookupError, TypeError, AttributeError):
        return ""  # not a kernel that Jupyter could start either
    is_python = first.rpartition("/")[2].lower().startswith(("python", "pypy"))
    return first if is_python and (first.startswith("/") or first[1:2] == ":") else ""


def _in_places(host: Host) -> Iterator[InterpreterCandidate]:
    """Every environment in the well-known places, at most 48."""
    why = "--all-environments" if host.is_live else "root"
    places = _windows_places(host) if host.os_family == "windows" else _places(host)
    found = 0
    for place in dict.fromkeys(places):
        located = _try(host, place)
        if located is None or (host.is_live and _is_own_tool(located.prefix)):
            continue
        if found == _ON_A_ROOT_AT_MOST:
            left = f"the first {found} were checked; name others with --python"
            leave_out(host, "further Python environments", left)
            return
        yield InterpreterCandidate(why, _by_its_alias(host, located))
        found += 1


def _by_its_alias(host: Host, located: Located) -> Located:
    """The Store's Python, with the name by which a user starts it: by its own path nobody may."""
    if host.os_family != "windows":
        return located
    from doctor.pyenv import store_python  # late: only Windows has it

    if not store_python.family_of(located.prefix):
        return located
    homes = (f"C:/Users/{name}" for name in first_names(host, "C:/Users", _HOMES_AT_MOST))
    aliases = (store_python.alias_of(host, located.prefix, home) for home in homes)
    return located._replace(interpreter=next(filter(None, aliases), located.interpreter))


def _places(host: Host) -> Iterator[str]:
    """Interpreters and prefixes that may be there."""
    for folder in ("/usr/bin", "/usr/local/bin"):
        yield from _newest_interpreters(host, folder)
    homes = _homes(host)
    for folder in (*_FOLDERS_OF_ENVIRONMENTS, *homes):
        for name in first_names(host, folder, _NAMES_AT_MOST):
            yield from _environments_at(host, f"{folder.rstrip('/')}/{name}")
    for home in homes:
        if home != host.environ.get("HOME"):  # whose packages every Python there sees
            yield f"{home}/.local"  # packages installed with --user
        for folder in _FOLDERS_OF_TOOLS:
            yield from _below(host, f"{home}/{folder}")


def _newest_interpreters(host: Host, folder: str) -> list[str]:
    """The python3 of a folder (else the newest python3.X, else python2) and every other that has packages."""
    prefix = folder.rpartition("/")[0]
    main = next((f"{folder}/{name}" for name in ("python3", "python") if host.is_file(f"{folder}/{name}")), "")
    tags = [tag for tag in library_tags(host, prefix)[::-1] if host.is_file(f"{folder}/{tag}")]
    return [main, *(f"{folder}/{tag}" for tag in tags)] if main else [f"{folder}/{tag}" for tag in tags]


def _homes(host: Host) -> list[str]:
    own = [host.environ["HOME"]] if host.environ.get("HOME") else []
    return [*dict.fromkeys(["/root", *(f"/home/{name}" for name in first_names(host, "/home", _HOMES_AT_MOST)), *own])]


def _environments_at(host: Host, folder: str) -> Iterator[str]:
    """The folder itself when it is an environment, with those that conda keeps in it; else a project's own."""
    if not is_environment(host, folder):
        yield from (path for path in (f"{folder}/.venv", f"{folder}/venv") if is_environment(host, path))
        return
    yield folder
    if host.is_dir(f"{folder}/conda-meta"):
        yield from _below(host, f"{folder}/envs")


def _below(host: Host, folder: str) -> Iterator[str]:
    for name in first_names(host, folder, _NAMES_AT_MOST):
        if not name.startswith("."):
            yield f"{folder}/{name}"


def _windows_places(host: Host) -> Iterator[str]:
    """Where the installers for Windows put Python, and where people keep environments."""
    for folder in ("C:/", "C:/Program Files", "C:/Program Files (x86)", "C:/ProgramData"):
        for name in first_names(host, folder, _NAMES_AT_MOST):
            if name.lower().startswith(("python3", "python2", "anaconda", "miniconda", "miniforge", "mambaforge")):
                yield from _with_conda_environments(host, f"{folder.rstrip('/')}/{name}")
    from doctor.pyenv import store_python  # late: only Windows has it

    for name in first_names(host, store_python.FOLDER, _NAMES_AT_MOST):
        if store_python.family_of(f"{store_python.FOLDER}/{name}"):
            yield f"{store_python.FOLDER}/{name}"
    for user in first_names(host, "C:/Users", _NAMES_AT_MOST):
        yield from _below(host, f"C:/Users/{user}/AppData/Local/Programs/Python")
        for name in first_names(host, f"C:/Users/{user}", _NAMES_AT_MOST):
            yield from _environments_at(host, f"C:/Users/{user}/{name}")


def _with_conda_environments(host: Host, folder: str) -> Iterator[str]:
    yield folder
    yield from _below(host, f"{folder}/envs")
