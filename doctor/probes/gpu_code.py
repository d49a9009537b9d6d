"""Which GPUs the installed binaries have code for: frameworks' own libraries, and what extends them.

A binary says it better than any list: it is what runs. Only headers are read (`doctor.binaries.fatbin`), and what was
read is remembered for the next run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, BinaryIO

from compat.base.record import NamedTuple
from compat.traits import traits_of
from compat.version import CodeTarget
from doctor.binaries import NotRead
from doctor.binaries.elf import Elf, ElfError
from doctor.binaries.fatbin import FatbinError, FatbinNotRead, GpuCode, Piece, gpu_code_of, unbuffered
from doctor.host import Host, HostError
from doctor.host.cache import Cache
from doctor.host.optional_reads import names_of, text_of
from doctor.host.snapshot import memory_of
from doctor.loader.cards import card_of
from doctor.model.facts.environment import Distribution, Environment, Extension, Framework
from doctor.model.facts.seen import Fact, Place, Seen, Unseen, value_or
from doctor.probes import torch_symbols
from doctor.pyenv.metadata import RECORD_AT_MOST_BYTES, fields, header, normal, unquoted

_NVIDIA_LIBRARIES = ("libcublas", "libcudnn")

_ENDINGS = (b".so,", b".pyd,")  # of a library's name in RECORD, whose digest follows
_NAME_AT_MOST_BYTES = 1024
_RECORDED_AT_MOST = 2_000
# How extensions are named whose package does not say what it extends (detectron2, mmcv, apex, sgl-kernel, torchcodec).
_USUAL_NAME = r"(?:.*/)?(?:_C|_ext|[^/]*(?:cuda|torch|fbgemm|_ops)[^/]*)(?:\.[^/]*)?$|[^/]*$"
_LIBRARIES_AT_MOST = 64  # of one distribution
_FILES_AT_MOST = 256  # libraries looked at in one environment


class _Binary(NamedTuple):
    """What is read of a library."""

    code: GpuCode
    needed: tuple[str, ...] | None  # None for a Windows library
    glibc: str = ""  # newest version of the C library that it asks for, "2.27"; "" for none


class _Library(NamedTuple):
    """A library that may be an extension."""

    distribution: str
    version: str
    path: str
    is_for: bool  # its distribution requires the framework


def look(host: Host, environments: Fact[tuple[Environment, ...]]) -> Fact[tuple[Environment, ...]]:
    """The same environments, with what their binaries say in place of what lists say."""
    if isinstance(environments, Unseen):
        return environments
    memory = memory_of(host)
    return Seen(tuple(_with_code(host, memory, one) for one in environments.value), environments.how)


def _with_code(host: Host, memory: Cache, environment: Environment) -> Environment:
    if isinstance(environment.frameworks, Unseen):
        return environment._replace(extensions=environment.frameworks)
    frameworks = tuple(_coded(host, memory, one) for one in environment.frameworks.value)
    coded = environment._replace(frameworks=Seen(frameworks, environment.frameworks.how))
    return coded._replace(extensions=_extensions(host, memory, coded))


def _coded(host: Host, memory: Cache, framework: Framework) -> Framework:
    """The framework with the targets of its own libraries; as it was where they do not tell."""
    card = card_of(framework.package)
    paths = [f"{framework.path}/{name}" for name in (card.kernels if card else ())]
    binaries = {path: binary for path in paths if (binary := _try_binary(host, memory, path))}
    asked = {path: binary.glibc for path, binary in binaries.items() if binary.glibc}
    if asked:
        framework = framework._replace(glibc=Seen(max(asked.values(), key=_numbers), _files(asked)))
    with_code = {path: binary for path, binary in binaries.items() if binary.code.pieces}
    if not with_code or any(binary.code.gap or binary.code.others for binary in with_code.values()):
        return framework
    needed = {name for binary in binaries.values() for name in binary.needed or ()}
    if not any(name.startswith(_NVIDIA_LIBRARIES) for name in needed):
        return (
            framework  # cuBLAS and cuDNN are inside, and their code cannot be distinguished from its own (torch 1.10)
        )
    targets = _merged(binary.code for binary in with_code.values()).main_targets
    return framework._replace(targets=Seen(targets, _files(with_code)))


def _files(paths: Iterable[str]) -> Place:
    return Place(next(iter(paths)), label=", ".join(paths))


def _merged(codes: Iterable[GpuCode]) -> GpuCode:
    """The code of several libraries as if it were one's."""
    entries: dict[CodeTarget, Piece] = {}
    for code in codes:
        for piece in code.pieces:
            so_far = entries.get(piece.target, Piece(piece.target, 0, 0))
            entries[piece.target] = Piece(
                piece.target, so_far.entries + piece.entries, so_far.containers + piece.containers
            )
    return GpuCode(tuple(entries[target] for target in sorted(entries, key=_place)))


def _place(target: CodeTarget) -> tuple[object, ...]:
    return target.capability, target.kind != "sm", target.suffix


# Libraries


def _try_binary(host: Host, memory: Cache, path: str) -> _Binary | None:
    """None for what is not there or no library."""
    try:
        return _binary(host, memory, path)
    except (HostError, FatbinError):
        return None


_NO_LIBRARY = _Binary(GpuCode(()), ())


def _binary(host: Host, memory: Cache, path: str) -> _Binary:
    """Raises HostError, FatbinError."""
    status = host.status(path)
    remembered = memory.get("binary", status)
    found = _decoded(remembered)
    if found is None:
        found = _read(host, path)
        memory.put("binary", status, _encoded(found))
    return found


def _read(host: Host, path: str) -> _Binary:
    with host.open(path) as stream:
        file = unbuffered(stream)
        try:
            if file.read(2) == b"MZ":
                return _of_dll(file)
            elf = Elf(file)
            return _Binary(gpu_code_of(elf, file), elf.needed, _glibc(elf))
        except OSError as error:
            raise FatbinNotRead(f"{path}: {error.strerror}") from error
        except NotRead as error:
            raise FatbinNotRead(f"{path}: {error}") from error
        except ElfError:
            return _NO_LIBRARY  # a linker's script, or beyond help: remembered all the same


def _of_dll(file: BinaryIO) -> _Binary:
    from doctor.binaries.pe import Pe, PeError  # late: only Windows has them

    try:
        return _Binary(gpu_code_of(Pe(file), file), None)
    except PeError:
        return _NO_LIBRARY


def _glibc(elf: Elf) -> str:
    """The newest version of the C library that it asks for, by its symbol versions (GLIBC_2.27); "" for none."""
    versions = (version.removeprefix("GLIBC_") for _, version in elf.needed_versions if version.startswith("GLIBC_"))
    return max((version for version in versions if version[:1].isdigit()), key=_numbers, default="")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _encoded(binary: _Binary) -> Any:
    pieces = [[str(piece.target), piece.entries, piece.containers] for piece in binary.code.pieces]
    return {
        "pieces": pieces,
        "others": binary.code.others,
        "damage": binary.code.damage,
        "unread": binary.code.unread,
        "needed": binary.needed,
        "glibc": binary.glibc,
    }


def _decoded(said: Any) -> _Binary | None:
    """What a cache holds; None for nothing, and for what we did not write."""
    try:
        pieces = tuple(Piece(CodeTarget.parse(name), int(entries), int(held)) for name, entries, held in said["pieces"])
        needed = None if said["needed"] is None else tuple(map(str, said["needed"]))
        code = GpuCode(pieces, int(said["others"]), str(said["damage"]), str(said["unread"]))
        return _Binary(code, needed, str(said["glibc"]))
    except (LookupError, TypeError, ValueError, AttributeError):
        return None


# Extensions


def _extensions(host: Host, memory: Cache, environment: Environment) -> Fact[tuple[Extension, ...]]:
    """Libraries that belong to a framework's extensions."""
    extended = _extended(environment)
    if extended is None:
        return Unseen("they were not looked for: no framework is there for them to extend")
    if isinstance(environment.distributions, Unseen):
        return environment.distributions
    framework, linked = extended
    name = framework.package
    libraries = list(islice(_libraries(host, memory, environment, name), _FILES_AT_MOST + 1))
    if len(libraries) > _FILES_AT_MOST:
        return Unseen(f"{environment.prefix} has more than {_FILES_AT_MOST} libraries that may extend {name}")
    found, unread = [], []
    for library in libraries:
        try:
            binary = _binary(host, memory, library.path)
        except (HostError, FatbinError) as error:
            unread.append(str(error))
            continue
        if _is_extension(library, binary, linked):
            found.append(_extension(library, binary, linked))
    if found and not framework.is_cpu_build:
        torch = torch_symbols.libraries_of(host, environment, framework)
        paths = {one.path: one.distribution for one in libraries}
        found = [_held_against(host, memory, one, torch, paths) for one in found]
    how = "RECORD files and the libraries' own headers"
    return Seen(tuple(sorted(found, key=lambda one: one.path)), "; ".join([how, *sorted(unread)[:3]]))


def _held_against(
    host: Host, memory: Cache, one: Extension, torch: torch_symbols.Torch | None, paths: dict[str, str]
) -> Extension:
    """With what torch does not define for it; `paths` are all libraries that may be extensions, and their packages."""
    if isinstance(one.torch_libraries, Unseen):
        return one._replace(lacking=one.torch_libraries)
    if torch is None:
        return one._replace(lacking=Unseen("torch's own libraries were not found"))
    beside = tuple(path for path, package in paths.items() if package == one.distribution and path != one.path)
    lacking = torch_symbols.lacking(host, memory, one.path, torch, beside)
    is_wrong = isinstance(lacking, Seen) and lacking.value.how_many > 0
    return one._replace(lacking=lacking, is_named_in_init=is_wrong and _is_named_in_init(host, one.path))


def _is_named_in_init(host: Host, path: str) -> bool:
    """Whether the package that holds a library names it when it is imported, as fbgemm_gpu's list does."""
    folder, _, name = path.rpartition("/")
    stem = re.escape(name.partition(".")[0])
    return re.search(rf"\b{stem}\b", text_of(host, f"{folder}/__init__.py")) is not None


def _extended(environment: Environment) -> tuple[Framework, tuple[str, ...]] | None:
    """The framework that extensions are compiled for, and how the libraries that they are linked with are named."""
    for one in value_or(environment.frameworks, ()):
        card = card_of(one.package)
        if card and card.extended_by:
            return one, card.extended_by
    return None


def _is_extension(library: _Library, binary: _Binary, linked: tuple[str, ...]) -> bool:
    """Whether itself asks for the framework, or has GPU code and its package asks."""
    asks = any(name.startswith(linked) for name in binary.needed or ())
    has_code = bool(binary.code.pieces or binary.code.others or binary.code.gap)
    return asks or (has_code and library.is_for)


def _extension(library: _Library, binary: _Binary, linked: tuple[str, ...]) -> Extension:
    code, path = binary.code, library.path
    main: Fact[tuple[CodeTarget, ...]] = Seen(code.main_targets, Place(path))
    every: Fact[tuple[CodeTarget, ...]] = Seen(code.targets, Place(path))
    if code.gap or (code.others and not code.pieces):
        main = every = Unseen(f"{path}: {code.gap or 'it holds GPU code of a kind that is not read'}")
    elif code.others:
        every = Unseen(f"{path}: {code.others} pieces of its GPU code are neither SASS nor PTX")
    cudart: Fact[str]
    asked: Fact[tuple[str, ...]]
    if binary.needed is None:
        cudart = asked = Unseen(f"{path}: what a Windows library asks for is not read yet")
    else:
        cudart = Seen(next((name for name in binary.needed if name.startswith("libcudart")), ""), Place(path))
        asked = Seen(tuple(name for name in binary.needed if name.startswith(linked)), Place(path))
    return Extension(
        distribution=library.distribution,
        version=library.version,
        path=path,
        targets=main,
        every_target=every,
        cudart=cudart,
        torch_libraries=asked,
    )


def _libraries(host: Host, memory: Cache, environment: Environment, extended: str) -> Iterator[_Library]:
    """Libraries that may be extensions: of distributions that require the framework, or named as extensions are."""
    claimed = set()
    for one in value_or(environment.distributions, ()):
        if one.hidden_by or one.kind == "conda" or one.name == extended:
            continue
        is_for, paths = _of_distribution(host, memory, one, extended)
        for path in paths:
            claimed.add(path)
            yield _Library(one.name, one.version, path, is_for)
    for site in value_or(environment.sites, ()):  # `setup.py install` leaves no RECORD
        for path in _in_folder(host, site):
            if path not in claimed:
                yield _Library(path.rpartition("/")[2].partition(".")[0], "", path, False)


def _of_distribution(host: Host, memory: Cache, one: Distribution, extended: str) -> tuple[bool, list[str]]:
    """Whether it requires the framework, and its libraries; nothing where its files cannot be read."""
    if one.kind in {"develop", "egg"}:
        folders = (one.site, f"{one.site}/{one.name.replace('-', '_')}")
        return False, [path for folder in folders for path in _in_folder(host, folder)]
    if one.kind != "wheel":
        return False, []
    try:
        status = host.status(f"{one.metadata}/RECORD")
        kind = f"package for {extended}"
        said = memory.get(kind, status)
        if not _is_package_record(said):
            said = _read_package(host, one, extended)
            memory.put(kind, status, said)
    except HostError:
        return False, []
    return said["requires"], [f"{one.site}/{name}" for name in said["libraries"]]


def _is_package_record(said: Any) -> bool:
    return (
        isinstance(said, dict)
        and isinstance(said.get("requires"), bool)
        and isinstance(said.get("libraries"), list)
        and all(isinstance(name, str) for name in said["libraries"])
    )


def _read_package(host: Host, one: Distribution, extended: str) -> dict[str, Any]:
    """Raises HostError."""
    content = unquoted(host.read_bytes(f"{one.metadata}/RECORD", RECORD_AT_MOST_BYTES))
    inside = [
        name for name in islice(_recorded(content), _RECORDED_AT_MOST) if ".." not in name and not name.startswith("/")
    ]
    if not inside:
        return {"requires": False, "libraries": []}
    is_for = traits_of(one.name).runs_on == extended or _requires(
        host, one, extended
    )  # bitsandbytes up to 0.42 does not
    wanted = [name for name in inside if is_for or re.match(_USUAL_NAME, name)]
    return {"requires": is_for, "libraries": wanted[:_LIBRARIES_AT_MOST]}


def _recorded(content: bytes) -> Iterator[str]:
    """The libraries in a RECORD; most have none, and only lines with one are looked at."""
    for ending in _ENDINGS:
        place = content.find(ending)
        while place >= 0:
            start = content.rfind(b"\n", max(place - _NAME_AT_MOST_BYTES, 0), place) + 1
            name = content[start : place + len(ending) - 1]
            if start or place < _NAME_AT_MOST_BYTES:
                yield name.decode("utf-8", "replace")
            place = content.find(ending, place + len(ending))


def _requires(host: Host, one: Distribution, extended: str) -> bool:
    """Whether a framework is among its requirements, extras aside."""
    try:
        lines = fields(header(host, f"{one.metadata}/METADATA"), "Requires-Dist")
    except HostError:
        return False
    names = (re.match(r"[\w.-]+", line) for line in lines if "extra ==" not in line)
    return any(normal(name[0]) == extended for name in names if name)


def _in_folder(host: Host, folder: str) -> list[str]:
    names = names_of(host, folder)
    return [f"{folder}/{name}" for name in names if name.endswith((".so", ".pyd"))][:_LIBRARIES_AT_MOST]
