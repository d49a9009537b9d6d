"""The user's Python environments, read from their files; only --deep starts an interpreter."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from doctor.host import Host, HostError, Ran, TooSlow, progress
from doctor.host.optional_reads import text_of
from doctor.loader.cards import read_all
from doctor.model.facts.environment import (
    Base,
    Distribution,
    Environment,
    Framework,
    HidingModule,
    Import,
    Incomplete,
    Overlap,
    Unmet,
    WheelRequirement,
)
from doctor.model.facts.seen import Fact, Place, Seen, Unseen, value_or
from doctor.probes import interpreter
from doctor.probes.incomplete import incomplete_among
from doctor.pyenv import package_tools
from doctor.pyenv.distributions import installed, with_editables
from doctor.pyenv.half_installed import half_installed
from doctor.pyenv.interpreters import InterpreterCandidate, candidates
from doctor.pyenv.metadata import metadata_file, required_wheels, unmet_of
from doctor.pyenv.overlaps import overlaps_among
from doctor.pyenv.prefixes import Located, Opaque
from doctor.pyenv.sites import SearchPath, search_path

IMPORT_WITHIN_S = 10.0
_LAST_LINES = 6
_LAST_CHARACTERS = 1000
# The directory that gpudoctor is called from must not shadow packages, as it would not for a script elsewhere; a
# framework that breaks when it is unloaded has been imported all the same.
_IMPORT = """
import sys
if sys.path[:1] == [""]:  # the working directory's modules are not the environment's
    del sys.path[0]
import os
import {module}
sys.stdout.write("imported")
sys.stdout.flush()
os._exit(0)
"""


def look(host: Host, pythons: tuple[str, ...], *, every: bool = False) -> Fact[tuple[Environment, ...]]:
    """The environments that were asked for (--python), else the active one and those behind Jupyter kernels.

    On an offline root, or for `every`, all environments in the well-known places. Raises NoSuchInterpreter for a path
    that was asked for and is none.
    """
    try:
        found = candidates(host, pythons, every=every)
    except Opaque as error:
        if pythons:
            raise
        return Unseen(str(error))
    return Seen(tuple(_describe(host, candidate) for candidate in found), "files of the environments")


def _describe(host: Host, candidate: InterpreterCandidate) -> Environment:
    located = candidate.located
    path = search_path(host, located)
    distributions, frameworks, overlaps, incomplete, unmet = _packages(host, located, path)
    tools = package_tools.look(host, located, value_or(distributions, ()))
    described = Environment(
        prefix=located.prefix,
        asked_by=candidate.asked_by,
        interpreter=located.interpreter,
        kind=located.kind,
        python=located.python,
        sites=Seen(path.sites, "site directories and their .pth files"),
        distributions=distributions,
        frameworks=frameworks,
        overlaps=overlaps,
        externally_managed=located.kind != "venv" and _is_managed(host, located.prefix, located.tag),
        incomplete=incomplete,
        installers=tools.installers,
        keeper=tools.keeper,
        project=tools.project,
        declared=tools.declared,
        conda=tools.conda,
        base=_base(host, located),
        closed=tuple(site for site in path.sites if host.is_live and not host.may_access(site, "w")),
        owner=_owner(host, located.prefix),
        half_installed=distributions
        if isinstance(distributions, Unseen)
        else Seen(tuple(half_installed(host, distributions.value, path.listings)), "names in the site directories"),
        leftovers=tuple(f"{site}/{name}" for site, names in path.listings.items() for name in names if name[0] == "~"),
        unmet=unmet,
        wheel_requirements=_wheel_requirements(host, value_or(distributions, ())),
        start=interpreter.look(host, located),
        hiding=tuple(_hiding(host, path, value_or(frameworks, ()))),
        not_read=tuple(_not_read(host, value_or(distributions, ()), value_or(frameworks, ()))),
    )
    if host.os_family != "windows":
        return described
    from doctor.probes import long_paths
    from doctor.pyenv import windows_program  # late: only Windows has such questions

    return described._replace(
        program=windows_program.folder_of(host, located),
        machine=windows_program.machine_of(host, located),
        too_long=long_paths.look(host, distributions, frameworks),
    )


_Packages = tuple[
    Fact[tuple[Distribution, ...]],
    Fact[tuple[Framework, ...]],
    Fact[tuple[Overlap, ...]],
    Fact[tuple[Incomplete, ...]],
    Fact[tuple[Unmet, ...]],
]


def _packages(host: Host, located: Located, path: SearchPath) -> _Packages:
    """Distributions, frameworks, overlaps, what is incomplete; unseen where a site directory cannot be listed."""
    if path.unreadable:
        unseen = Unseen("; ".join(path.unreadable))
        return unseen, unseen, unseen, unseen, unseen
    found = installed(host, located.prefix, path.listings)
    found = with_editables(host, found, path.listings)
    how = f"names in {', '.join(path.sites)}"
    frameworks = read_all(host, found, located.prefix)
    packages = frozenset(one.package for one in frameworks)
    overlaps, incomplete = overlaps_among(host, found), incomplete_among(host, found, packages)
    return Seen(found, how), Seen(frameworks, how), overlaps, incomplete, _unmet(host, found, frameworks, located)


def _hiding(host: Host, path: SearchPath, frameworks: tuple[Framework, ...]) -> Iterator[HidingModule]:
    """Yield modules named as a framework in directories that Python searches first; only on a running machine.

    Source: Python's documentation, "The initialization of the sys.path module search path".
    """
    if not host.is_live:
        return
    separator = ";" if host.os_family == "windows" else ":"
    listed = host.environ.get("PYTHONPATH", "").replace("\\", "/").split(separator)
    folders = {one.rstrip("/"): "PYTHONPATH" for one in listed if one.rstrip("/")}
    if not host.environ.get("PYTHONSAFEPATH"):
        with suppress(OSError):  # the working directory was removed
            folders.setdefault(os.getcwd().replace(os.sep, "/"), "")
    modules = {each.path: each.package for each in frameworks if each.path}
    for folder, by in folders.items():
        if folder in path.sites and not by:
            continue
        for place, package in modules.items():
            name = place.rpartition("/")[2]
            found = (f"{folder}/{name}/__init__.py", f"{folder}/{name}.py")
            file = next((one for one in found if host.is_file(one)), "")
            if file and _real(host, file) != _real(host, f"{place}/__init__.py"):
                yield HidingModule(package, file, by)


def _real(host: Host, path: str) -> str:
    try:
        return host.real_path(path)
    except HostError:
        return path


def _not_read(host: Host, distributions: tuple[Distribution, ...], frameworks: tuple[Framework, ...]) -> Iterator[str]:
    """Yield what says which release and build a framework is, which files it has and what it needs, if it is closed."""
    if not host.is_live:
        return  # a root has no user
    packages = {one.package: one.path for one in frameworks}
    for one in (each for each in distributions if each.name in packages and not each.hidden_by):
        files = (metadata_file(one), *((f"{one.metadata}/RECORD",) if one.kind == "wheel" else ()))
        for path in (*files, packages[one.name], f"{packages[one.name]}/version.py"):
            if path and host.exists(path) and not host.may_access(path, "r"):
                yield path


def _unmet(
    host: Host, found: tuple[Distribution, ...], frameworks: tuple[Framework, ...], located: Located
) -> Fact[tuple[Unmet, ...]]:
    """What packages require and is not installed, or another release; only where a framework is.

    Of a framework, what belongs to a GPU stack has rules of its own, and a newer release mostly works.
    """
    if not frameworks:
        return Seen((), "no framework was found")
    from doctor.pyenv.requirements import unmet_among  # late: only an environment with a framework needs it

    names = {one.name: one.version for one in found if not one.hidden_by}
    paths = {one.package: one.path for one in frameworks}
    asking = (one for one in found if one.kind == "wheel" and one.name in paths and not one.hidden_by)
    others = (one for one in unmet_among(host, found, value_or(located.python, "")) if one.distribution not in paths)
    try:
        return Seen(
            (
                *(
                    lacking._replace(imported_at=_imported_at(host, paths[one.name], lacking.name))
                    for one in asking
                    for lacking in unmet_of(host, one, names)
                ),
                *others,
            ),
            "METADATA files",
        )
    except HostError as error:
        return Unseen(str(error))


def _imported_at(host: Host, package: str, name: str) -> Place | None:
    """The line that is not indented, so that it always runs, and imports a module of a distribution's own name."""
    import re  # late: few environments lack a requirement

    path = f"{package}/__init__.py"
    start = re.compile(rf"(?:from|import) {re.escape(name.replace('-', '_'))}\b")
    lines = enumerate(text_of(host, path).splitlines(), 1)
    return next((Place(path, number) for number, line in lines if start.match(line)), None)


def _wheel_requirements(host: Host, found: tuple[Distribution, ...]) -> Fact[tuple[WheelRequirement, ...]]:
    """Who requires NVIDIA's wheels, from every METADATA: only where wheels of two CUDA majors may be here.

    The names of most wheels for CUDA 13 have no major.
    """
    wheels = {one.name for one in found if one.name.startswith("nvidia-")} - {"nvidia-ml-py"}
    majors = {name.rpartition("-cu")[2] if "-cu" in name[-5:] else "13" for name in wheels}
    if len(majors) < 2:
        return Unseen("they are read where wheels of two CUDA majors are")
    asking = (one for one in found if one.kind == "wheel" and not one.hidden_by)
    return Seen(
        tuple(
            WheelRequirement(one.name, name)
            for one in asking
            for name in dict.fromkeys(required_wheels(host, one))
            if name in wheels
        ),
        "METADATA files",
    )


def _is_managed(host: Host, prefix: str, tag: str) -> bool:
    """Whether the distribution forbids pip to install there (PEP 668)."""
    folder = "Lib" if host.os_family == "windows" else f"lib/{tag}"
    return host.is_file(f"{prefix}/{folder}/EXTERNALLY-MANAGED")


def _owner(host: Host, prefix: str) -> str:
    try:
        number = host.status(prefix).uid
    except HostError:
        return ""
    if not host.is_live or os.name != "posix" or number in {0, os.geteuid()}:
        return ""
    from doctor.probes.system import names_by_id  # late: it is for what belongs to others

    return names_by_id(host, "/etc/passwd").get(number, str(number))


def _base(host: Host, located: Located) -> Base | None:
    if not located.uses_base_sites:
        return None
    program = "python.exe" if host.os_family == "windows" else "bin/python3"
    prefix = located.base.rstrip("/")
    return Base(located.base, f"{prefix}/{program}", _is_managed(host, prefix, located.tag))


def try_imports(
    host: Host, environments: Fact[tuple[Environment, ...]], *, deep: bool, timeout_s: float = IMPORT_WITHIN_S
) -> Fact[tuple[Import, ...]]:
    """Import every framework in a child of its own interpreter, each for at most `timeout_s`; only with --deep."""
    if not deep:
        return Seen((), "not asked for: --deep")
    if not host.is_live:
        return Seen((), "nothing is run on a root directory")
    if isinstance(environments, Unseen):
        return environments
    found, refused = [], []
    for environment in environments.value:
        for framework in _importable(environment):
            progress.show(f"importing {framework.package} in {environment.prefix}")
            try:
                found.append(_try_import(host, environment, framework, timeout_s))
            except HostError as error:
                refused.append(f"{framework.package} was not imported: {error}")
            finally:
                progress.show("")
    if refused and not found:
        return Unseen("; ".join(refused))
    return Seen(tuple(found), "; ".join(["children of the environments' interpreters", *refused]))


def _importable(environment: Environment) -> list[Framework]:
    """One framework for each module; plugins are imported by what they plug into."""
    modules: dict[str, Framework] = {}
    for framework in environment.frameworks.value if isinstance(environment.frameworks, Seen) else ():
        module = _module(framework)
        if module.isidentifier() and "plugin" not in framework.path:
            modules.setdefault(module, framework)
    return list(modules.values())


def _module(framework: Framework) -> str:
    return framework.path.rpartition("/")[2]


def _try_import(host: Host, environment: Environment, framework: Framework, timeout_s: float) -> Import:
    """Raises HostError where the import must not be tried."""
    from doctor.host.child_search_path import safe_environ  # late: only --deep imports

    sites = (site for site in value_or(environment.sites, ()) if host.exists(site))
    for path in (environment.interpreter, framework.path, *sites):
        host.refuse_unsafe(path)
    code = _IMPORT.format(module=_module(framework))
    # -B: looking must not write bytecode into the user's environment
    argv = (environment.interpreter, "-B", "-c", code)
    try:
        state, detail = _judge(host.run(argv, timeout_s, safe_environ(host)))
    except TooSlow as error:
        state, detail = "hung", f"did not end within {timeout_s:g} s; last words: {_last_lines(error.stderr)}"
    return Import(framework.package, environment.prefix, state, detail)


def _judge(ran: Ran) -> tuple[str, str]:
    if ran.status == 0 and ran.stdout.endswith("imported"):
        return "ok", ""
    said = _last_lines(ran.stderr)
    if ran.status < 0:
        return "crashed", f"{_signal_name(-ran.status)}; {said}".rstrip("; ")
    if ran.status >= 0x80000000:  # how Windows reports an exception, 0xC0000005 for an access violation
        return "crashed", f"0x{ran.status:08X}; {said}".rstrip("; ")
    return "failed", said or f"ended with status {ran.status} and no word"


def _signal_name(number: int) -> str:
    import signal  # late: only a crash needs it

    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_lines(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-_LAST_LINES:])[-_LAST_CHARACTERS:]
