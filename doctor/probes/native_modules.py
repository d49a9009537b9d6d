"""Compiled modules of installed packages that the interpreter cannot load, by their names and their own files.

The names of a package's modules say for which Python they are. Read are those modules that importing the package
certainly imports (they lie beside the packages, or the `__init__.py` beside them imports them, not indented), at most
eight; of a package without such a module the first two. What is listed nowhere else in the environment, and is found by
no rule of the loader, is missing: a package may open a library by its path before it imports the module that needs it.

Sources: CPython, Python/dynload_shlib.c (the endings of modules); PEP 3149; ld.so(8); glibc, elf/dl-version.c; NumPy,
numpy/_core/code_generators/generate_numpy_api.py (`import_array` says what it fails to import; from 2.0 on
`_import_array` looks for numpy._core first).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from compat.base.record import NamedTuple
from doctor.binaries.elf import Elf, ElfError
from doctor.host import Host, HostError, Missing
from doctor.host.optional_reads import text_of
from doctor.host.snapshot import remembered
from doctor.loader.cache import whole_cache
from doctor.loader.library import read_library, read_program
from doctor.loader.search import Nowhere, Search
from doctor.loader.symbol_versions import defined_versions
from doctor.model.facts.environment import Distribution, Environment, NativeFault, Unloadable
from doctor.model.facts.loader import LoaderFacts
from doctor.model.facts.seen import Fact, Seen, Unseen, UnseenError, value_or
from doctor.probes.incomplete import listed_libraries
from doctor.pyenv.metadata import fields, header, metadata_file, normal

_MEMORY = "native modules, 2"
_SURE_AT_MOST, _OTHERS_AT_MOST = 8, 2
_INIT_BYTES = 256 << 10
_RODATA_AT_MOST_BYTES = 64 << 20
_MODULE = re.compile(r"(.+?)(?:\.(?:cpython-(\d)(\d+)(t?)-([\w-]+)|abi3))?\.so")
_OF_GLIBC = re.compile(r"lib(?:c|m|dl|rt|util|pthread|resolv)\.so\.\d|ld-linux|ld64\.so|linux-vdso|libc\.musl")
# What other rules are about: CUDA's libraries and the driver's; and what the interpreter itself brings.
_OF_OTHER_RULES = re.compile(r"lib(?:cu|nv|npp|nccl|OpenCL|python)")
# Packages that import compiled modules below their first directory: numpy/__init__.py imports numpy._core at once.
_ALL_COMPILED = frozenset(("numpy", "pandas", "scipy"))
_LIBC, _STDCXX = "libc.so.6", "libstdc++.so.6"
_NUMPY_1, _NUMPY_2 = b"numpy.core.multiarray failed to import", b"numpy._core._multiarray_umath"


class _Module(NamedTuple):
    """A compiled module that was read."""

    path: str  # below the site directory
    is_sure: bool
    machine: str
    glibc: str
    of_stdcxx: tuple[str, ...]  # "GLIBCXX_3.4.32", "CXXABI_1.3.13": all that it asks for
    needed: tuple[str, ...]  # neither glibc's nor of other rules
    for_numpy_1: bool


class _Package(NamedTuple):
    """What is remembered of a package."""

    pythons: tuple[str, ...]  # of each module the Pythons that load it, "3.12 3.13t"; "" for any
    libraries: tuple[str, ...]  # names of its libraries and modules
    modules: tuple[_Module, ...]


def look(
    host: Host, environments: Fact[tuple[Environment, ...]], search: LoaderFacts, glibc: Fact[str]
) -> Fact[tuple[Environment, ...]]:
    """Return the same environments, with what cannot be loaded; only where a framework is, and on Linux."""
    if isinstance(environments, Unseen) or host.os_family != "linux":
        return environments
    found = tuple(one._replace(native_faults=_of(host, one, search, glibc)) for one in environments.value)
    return Seen(found, environments.how)


def _of(host: Host, one: Environment, search: LoaderFacts, glibc: Fact[str]) -> Fact[tuple[NativeFault, ...]] | None:
    start = value_or(one.start, None) if one.start else None
    if start is None or start.fault or not start.machine or not value_or(one.frameworks, ()):
        return None
    installed = [each for each in value_or(one.distributions, ()) if each.kind == "wheel" and not each.hidden_by]
    packages = {each: found for each in installed if (found := _package(host, each))}
    frameworks = frozenset(each.package for each in value_or(one.frameworks, ()))
    judge = _Judge(_Search(host, one, search, start.machine), start.machine, value_or(glibc, ""), packages, frameworks)
    faults = [fault for each, package in packages.items() if (fault := judge.of(each, package))]
    return Seen(tuple(_with_riders(host, one, fault) for fault in faults), "RECORD files and the modules' own headers")


def _with_riders(host: Host, environment: Environment, fault: NativeFault) -> NativeFault:
    """With the frameworks that require the package, extras aside."""
    frameworks = {one.package for one in value_or(environment.frameworks, ())}
    installed = (one for one in value_or(environment.distributions, ()) if one.name in frameworks)
    names = (one.name for one in installed if _requires(host, one, fault.distribution))
    return fault._replace(required_by=tuple(dict.fromkeys(names)))


def _requires(host: Host, one: Distribution, name: str) -> bool:
    try:
        lines = fields(header(host, metadata_file(one)), "Requires-Dist")
    except HostError:
        return False
    asked = (re.match(r"[\w.-]+", line) for line in lines if "extra" not in line)
    return any(normal(found[0]) == name for found in asked if found)


class _Search:
    """The loader's search for the modules of one environment, made where it is needed."""

    def __init__(self, host: Host, environment: Environment, facts: LoaderFacts, machine: str) -> None:
        self.host, self._machine = host, machine
        self._interpreter, self._facts = environment.interpreter, facts

    @cached_property
    def _search(self) -> Search:
        facts = self._facts._replace(cache=whole_cache(self.host))
        return Search(self.host, facts, read_program(self.host, self._interpreter))

    @cached_property
    def is_known(self) -> bool:
        """Whether the search leads to the C library, which every program finds: else it is another than we think."""
        return not isinstance(self._search.find(_LIBC, None, (), self._machine), (Nowhere, Unseen))

    def path(self, name: str, asker: str = "") -> str:
        """Return the file that is found, "" for none; raises UnseenError."""
        if not self.is_known:
            raise UnseenError("the search path of this Python's loader is not known")
        library = read_library(self.host, asker) if asker else None
        if asker and library is None:
            raise UnseenError(f"{asker} could not be read")
        found = self._search.find(name, library, (), self._machine)
        return "" if isinstance(found, Nowhere) else found.get().path


class _Judge:
    """What packages of one environment ask for, against what is there."""

    def __init__(
        self,
        search: _Search,
        machine: str,
        glibc: str,
        packages: dict[Distribution, _Package],
        frameworks: frozenset[str],
    ) -> None:
        """`frameworks` are followed by the rules of their own processes: only Python and machine are looked at."""
        self._search, self._machine, self._glibc, self._frameworks = search, machine, glibc, frameworks
        self._listed = {name for one in packages.values() for name in one.libraries}
        self._numpy = next((one.version for one in packages if one.name == "numpy"), "")
        self._found: dict[str, bool] = {}

    def of(self, one: Distribution, package: _Package) -> NativeFault | None:
        """Return what keeps modules of a package from being loaded."""
        fault = NativeFault(
            distribution=one.name,
            version=one.version,
            path=one.metadata,
            why=Unloadable.PYTHON,
            what="",
            is_sure=one.name in self._frameworks,
        )
        python = re.search(r"/python(\d\.\d+t?)/", f"{one.site}/")
        others = package.pythons and all(each and python and python[1] not in each.split() for each in package.pythons)
        if others:
            is_sure = fault.is_sure or one.name in _ALL_COMPILED or any(each.is_sure for each in package.modules)
            return fault._replace(what=package.pythons[0], is_sure=is_sure)
        for module in package.modules:
            fault = fault._replace(path=f"{one.site}/{module.path}", is_sure=fault.is_sure or module.is_sure)
            try:
                found = self._foreign(fault, module)
                if not found and one.name not in self._frameworks:
                    found = self._of_module(fault, module)
            except UnseenError:
                continue  # the search is not known to its end
            if found:
                return found
        return None

    def _foreign(self, fault: NativeFault, module: _Module) -> NativeFault | None:
        is_foreign = module.machine != self._machine
        return fault._replace(why=Unloadable.MACHINE, what=module.machine) if is_foreign else None

    def _of_module(self, fault: NativeFault, module: _Module) -> NativeFault | None:
        """Raises UnseenError."""
        if self._glibc and _numbers(module.glibc) > _numbers(self._glibc):
            return fault._replace(why=Unloadable.VERSION, what=f"GLIBC_{module.glibc}", lacks=f"glibc {self._glibc}")
        if module.of_stdcxx and _STDCXX not in self._listed:
            path, defined = self._stdcxx
            lacking = [one for one in module.of_stdcxx if defined and one not in defined]
            if lacking:
                return fault._replace(why=Unloadable.VERSION, what=lacking[0], lacks=path)
        if not module.is_sure:
            return None
        for name in module.needed:
            if name not in self._listed and not self._is_found(name, fault.path):
                return fault._replace(why=Unloadable.LIBRARY, what=name)
        if module.for_numpy_1 and _numbers(self._numpy) >= [2]:
            return fault._replace(why=Unloadable.NUMPY, what=self._numpy)
        return None

    def _is_found(self, name: str, asker: str) -> bool:
        """Whether any program finds the library, or this module by its own search path; raises UnseenError."""
        if name not in self._found:
            self._found[name] = bool(self._search.path(name))
        return self._found[name] or bool(self._search.path(name, asker))

    @cached_property
    def _stdcxx(self) -> tuple[str, tuple[str, ...]]:
        """The libstdc++ that is found, and the versions that it defines; raises UnseenError."""
        path = self._search.path(_STDCXX)
        return path, tuple(defined_versions(self._search.host, path)) if path else ()


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d{1,6}", version)]


# What is remembered


def _package(host: Host, one: Distribution) -> _Package | None:
    """Return what is known of its modules; None where its files cannot be read, or it has none."""
    try:
        said = remembered(host, f"{one.metadata}/RECORD", _MEMORY, lambda: _said(host, one), _is_said)
    except HostError:
        return None
    modules = (
        _Module(
            path=path,
            is_sure=is_sure,
            machine=machine,
            glibc=glibc,
            of_stdcxx=tuple(of_stdcxx),
            needed=tuple(needed),
            for_numpy_1=for_numpy_1,
        )
        for path, is_sure, machine, glibc, of_stdcxx, needed, for_numpy_1 in said[2]
    )
    return _Package(tuple(said[0]), tuple(said[1]), tuple(modules)) if said[1] else None


def _said(host: Host, one: Distribution) -> list[Any]:
    """Raises HostError."""
    paths = [path for path, _ in listed_libraries(host, one)]
    names = sorted({path.rpartition("/")[2] for path in paths})
    files: dict[str, set[str]] = {}
    for path in paths:
        if (found := _MODULE.fullmatch(path)) and not path.rpartition("/")[2].startswith("lib"):
            files.setdefault(found[1], set()).add(f"{found[2]}.{found[3]}{found[4]}" if found[2] else "")
    pythons = ["" if "" in each else " ".join(sorted(each)) for each in files.values()]
    return [pythons, names, [*_modules(host, one, [path for path in paths if _is_module(path)])]]


def _is_module(path: str) -> bool:
    return _MODULE.fullmatch(path) is not None and not path.rpartition("/")[2].startswith("lib")


def _modules(host: Host, one: Distribution, paths: list[str]) -> Iterator[list[Any]]:
    """Raises HostError where a file cannot be read; one that is no module is passed over."""
    sure = [path for path in paths if _is_sure(host, one, path)][:_SURE_AT_MOST]
    for path in sure or sorted(paths)[:_OTHERS_AT_MOST]:
        try:
            with host.open(f"{one.site}/{path}") as stream:
                yield _of_file(Elf(stream), path, is_sure=bool(sure))
        except (Missing, ElfError, OSError):
            continue  # other rules are about what is gone or damaged


def _is_sure(host: Host, one: Distribution, path: str) -> bool:
    """Whether importing its package imports it: it is itself what is imported, or the package names it."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    if not folder:
        return True
    if folder.rpartition("/")[2] == stem and "/" not in folder:
        return True  # cv2/cv2.abi3.so
    text = text_of(host, f"{one.site}/{folder}/__init__.py", _INIT_BYTES)
    plain = rf"from\s+(?:\.|{re.escape(folder.replace('/', '.'))})\s+import\b.*\b{re.escape(stem)}\b"
    dotted = rf"(?:from|import)\s+(?:\.|{re.escape(folder.replace('/', '.'))}\.){re.escape(stem)}\b"
    return "/" not in folder and re.search(rf"^(?:{plain}|{dotted})", text, re.MULTILINE) is not None


def _of_file(elf: Elf, path: str, *, is_sure: bool) -> list[Any]:
    """Raises ElfError."""
    versions = [version for _, version in elf.needed_versions]
    glibc = (one.removeprefix("GLIBC_") for one in versions if re.fullmatch(r"GLIBC_[\d.]+", one))
    of_stdcxx = [one for name, one in elf.needed_versions if name == _STDCXX and one.startswith(("GLIBCXX", "CXXABI"))]
    needed = [one for one in elf.needed if not _OF_GLIBC.match(one) and not _OF_OTHER_RULES.match(one)]
    for_numpy_1 = is_sure and _names_numpy_1_alone(elf)
    return [
        path,
        is_sure,
        elf.machine,
        max(glibc, key=_numbers, default=""),
        of_stdcxx,
        [one for one in needed if one != _STDCXX],
        for_numpy_1,
    ]


def _names_numpy_1_alone(elf: Elf) -> bool:
    old, new = (elf.find_text(".rodata", text, _RODATA_AT_MOST_BYTES) for text in (_NUMPY_1, _NUMPY_2))
    return bool(old) and not new


def _is_said(said: Any) -> bool:
    if not isinstance(said, list) or len(said) != 3 or not all(isinstance(one, list) for one in said):
        return False
    pythons, names, modules = said
    return all(isinstance(one, str) for one in (*pythons, *names)) and all(map(_is_module_said, modules))


def _is_module_said(said: Any) -> bool:
    if not isinstance(said, list) or [*map(type, said)] != [str, bool, str, str, list, list, bool]:
        return False
    return all(isinstance(one, str) for one in (*said[4], *said[5]))
