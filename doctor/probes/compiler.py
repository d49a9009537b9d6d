"""The C++ compilers that nvcc would call, in the order in which it prefers them.

nvcc takes the compiler of `-ccbin` (NVCC_PREPEND_FLAGS, since CUDA 13 also NVCC_CCBIN), else a gcc beside itself (its
nvcc.profile puts its own directory first on PATH), else gcc on PATH; on Windows cl. CUDAHOSTCXX, CC and CXX are asked
by build systems around it. Source: CUDA Compiler Driver NVCC, "Compiler Environment Variables" and "File and Path
Specifications".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.host import Host, HostError
from doctor.host.optional_reads import names_of, on_path, real_path_of, search_path
from doctor.model.facts.seen import Fact, Place, Seen, Unseen, value_or
from doctor.model.facts.system import Compiler
from doctor.model.facts.toolkit import Toolkit

_CACHES = ("ccache", "sccache", "distcc", "icecc")
_BUILD_VARIABLES = ("CUDAHOSTCXX", "CXX", "CC")
_COMPILERS_AT_MOST = 32
_VISUAL_STUDIO = ("C:/Program Files/Microsoft Visual Studio", "C:/Program Files (x86)/Microsoft Visual Studio")


def look(host: Host, toolkits: Fact[tuple[Toolkit, ...]] | None = None) -> Fact[tuple[Compiler, ...]]:
    """Compilers by path: what variables tell nvcc to take, what lies beside an nvcc, what is on PATH, the rest."""
    beside = value_or(toolkits, ()) if toolkits else ()
    found: dict[str, Compiler] = {}
    for path, chosen_by in _candidates(host, beside):
        if len(found) < _COMPILERS_AT_MOST and path not in found:
            compiler = _compiler(host, path)
            if compiler:
                found[path] = compiler._replace(chosen_by=chosen_by)
    return Seen(tuple(found.values()), "variables and PATH")


def _candidates(host: Host, toolkits: tuple[Toolkit, ...]) -> Iterator[tuple[str, str]]:
    """Paths of compilers that are there and what chooses them, the likeliest first; some are told twice."""
    yield from _chosen(host)
    for toolkit in toolkits:
        directory = value_or(toolkit.nvcc, "").rpartition("/")[0]
        if directory not in {"", "/usr/bin"} and host.is_file(f"{directory}/gcc"):
            yield f"{directory}/gcc", "beside nvcc"
    default, others = ("cl", ()) if host.os_family == "windows" else ("gcc", ("g++", "clang"))
    yield from ((path, "PATH") for path in _first_real(host, default))
    for variable in _BUILD_VARIABLES:
        yield from ((path, variable) for path in _named(host, host.environ.get(variable, "")))
    installed = _visual_studio(host) if host.os_family == "windows" else _numbered(host)
    yield from ((path, "") for name in others for path in _first_real(host, name))
    yield from ((path, "") for path in installed)


def _chosen(host: Host) -> Iterator[tuple[str, str]]:
    """What nvcc itself is told by variables."""
    flags = host.environ.get("NVCC_PREPEND_FLAGS", "")
    match = re.search(r"(?:-ccbin|--compiler-bindir)[= ]+(\S+)", flags) if flags else None
    if match:
        yield from ((path, "NVCC_PREPEND_FLAGS") for path in _named(host, match[1].strip("\"'")))
    yield from ((path, "NVCC_CCBIN") for path in _named(host, host.environ.get("NVCC_CCBIN", "")))


def _named(host: Host, value: str) -> Iterator[str]:
    """The compiler that a variable names: a path, a directory of compilers, or a name on PATH; perhaps with options."""
    value = value.strip() if host.os_family == "windows" else value.partition(" ")[0]
    value = value.replace("\\", "/")
    if "/" not in value:
        if value:
            yield from _first_real(host, value)
    elif host.is_file(value):
        yield value
    elif host.is_file(f"{value}/gcc"):
        yield f"{value}/gcc"


def _first_real(host: Host, name: str) -> Iterator[str]:
    """The first program of this name on PATH that is no compiler cache."""
    for path in on_path(host, name):
        if not real_path_of(host, path).rpartition("/")[2].startswith(_CACHES):
            yield path
            return


def _numbered(host: Host) -> Iterator[str]:
    """gcc-12 and clang-17 of the distribution: what a remedy can point nvcc at."""
    if "/usr/bin" not in search_path(host):
        return
    for triplet in names_of(host, "/usr/lib/gcc")[:16]:
        for version in names_of(host, f"/usr/lib/gcc/{triplet}")[:16]:
            if host.is_file(f"/usr/bin/gcc-{version}"):
                yield f"/usr/bin/gcc-{version}"
    for name in names_of(host, "/usr/lib"):
        if name.startswith("llvm-") and host.is_file(f"/usr/bin/clang-{name[5:]}"):
            yield f"/usr/bin/clang-{name[5:]}"


def _compiler(host: Host, path: str) -> Compiler | None:
    """The compiler at this path; None for one that nvcc knows nothing of."""
    real = real_path_of(host, path)
    name = real.rpartition("/")[2].lower()
    if name == "cl.exe":
        # _MSC_VER, which follows from the toolset's version in the path: 14.39 is 1939.
        #
        # Source: Microsoft's C++ documentation, "Predefined macros" and "Compiler versioning" (14.x is 19xx).
        match = re.search(r"/MSVC/14\.(\d{1,2})\d*\.", real, re.IGNORECASE)
        msvc_version = (
            Unseen(f"the path {real} does not name its MSVC toolset")
            if not match
            else Seen(str(1900 + int(match[1])), Place(real))
        )
        return Compiler(path, "msvc", msvc_version)
    kind = _kind(name) or _kind(path.rpartition("/")[2])
    return Compiler(path, kind, _version(host, kind, real)) if kind else None


def _kind(name: str) -> str:
    if "clang" in name:
        return "clang"
    is_gnu = "gcc" in name or "g++" in name or name in {"cc", "c++"} or name.endswith(("-cc", "-c++"))
    return "gcc" if is_gnu else ""


def _version(host: Host, kind: str, real: str) -> Fact[str]:
    """The version from the program's name, from the directories beside it, at last from the program itself."""
    match = re.search(r"-(\d+(?:\.\d+)*)$", real) or re.search(r"/llvm-(\d+(?:\.\d+)*)/", real)
    if match:
        return Seen(match[1], Place(real))
    if kind == "gcc":
        directory, version = _library_version(host, real)
        if version:
            return Seen(version, Place(directory))
    return _asked(host, real, kind)


def _library_version(host: Host, real: str) -> tuple[str, str]:
    """The version by which gcc's own library directory is called, where there is only one."""
    base = f"{real.rpartition('/')[0].rpartition('/')[0]}/lib/gcc"
    found = {}
    for triplet in names_of(host, base)[:16]:
        for version in names_of(host, f"{base}/{triplet}")[:16]:
            place = f"{base}/{triplet}/{version}"
            if version[:1].isdigit() and (host.is_file(f"{place}/cc1") or host.is_file(f"{place}/libgcc.a")):
                found[version.partition(".")[0]] = (place, version)
    return next(iter(found.values())) if len(found) == 1 else ("", "")


def _asked(host: Host, real: str, kind: str) -> Fact[str]:
    """The last resort: the program's own answer."""
    options = ("-dumpfullversion", "-dumpversion") if kind == "gcc" else ("--version",)
    try:
        text = host.run((real, *options), timeout_s=2.0).stdout
    except HostError as error:
        return Unseen(f"the version of {real} is unknown: {error}")
    match = re.search(r"\d{1,9}(?:\.\d{1,9})+|^\d{1,9}$", text, re.MULTILINE)
    return (
        Seen(match[0], Place(real, label=f"{real} {options[0]}"))
        if match
        else Unseen(f"{real} {options[0]} names no version")
    )


def _visual_studio(host: Host) -> Iterator[str]:
    """cl.exe of every installed toolset, newest first: year/edition/VC/Tools/MSVC/version."""
    for base in _VISUAL_STUDIO:
        for year in reversed(names_of(host, base)[:16]):
            for edition in names_of(host, f"{base}/{year}")[:16]:
                tools = f"{base}/{year}/{edition}/VC/Tools/MSVC"
                for version in reversed(names_of(host, tools)[:16]):
                    path = f"{tools}/{version}/bin/Hostx64/x64/cl.exe"
                    if host.is_file(path):
                        yield path
