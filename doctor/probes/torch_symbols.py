"""Whether the torch that is installed defines what a compiled extension asks of it.

An extension that was built against another torch, or with the other ABI of `std::string`, asks for names that this one
does not define, and its import ends with "undefined symbol". Every such family is told by the two files alone: the
undefined names of torch's namespaces against the hash tables of torch's libraries.

Sources: glibc's `elf/dl-lookup.c` (CPython opens modules with RTLD_NOW, so that each name must be found); Itanium C++
ABI, "Mangling" (nested names, special names); PyTorch, `torch/csrc/inductor/aoti_torch/c/shim.h` (C names begin with
torch_ and aoti_torch_); the GCC manual, "Dual ABI" (`std::__cxx11::basic_string`).
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from typing import Any

from compat.base.record import NamedTuple
from doctor.binaries import NotRead
from doctor.binaries.elf import Elf, ElfError
from doctor.binaries.fatbin import unbuffered
from doctor.host import Host, HostError
from doctor.host.cache import Cache
from doctor.host.optional_reads import names_of
from doctor.model.facts.environment import Environment, Framework, Lacking
from doctor.model.facts.seen import Fact, Place, Seen, Unseen, UnseenError

# A name in one of torch's namespaces, or one of its C interface. Other namespaces may hold c10 in their arguments.
_OF_TORCH = re.compile(r"_Z(?:T[VTISCW]|GV)?N[rVKRO]*(?:3c10|2at|5torch|6caffe2)|(?:aoti_)?torch_")
_LIBRARIES = re.compile(r"lib(?:c10|torch|caffe2|shm)\w*\.so")
_FIRST = "libc10.so", "libtorch_cpu.so", "libtorch.so", "libtorch_python.so"  # where most names are
_LIBRARIES_AT_MOST = 32  # torch 2.9.1 has 12
_KEPT = 3  # names, for the report
_NEW_STRING, _OLD_STRING = "__cxx11", re.compile(r"(?:R?K|E|_)Ss")
# What defines no name of torch's: libraries of the system, NVIDIA, Python, FFmpeg, and copies that a wheel grafted.
_STRANGERS = re.compile(
    r"ld-linux|lib(?:c|m|rt|dl|util|pthread|stdc\+\+|gcc_s|g?omp\w*|z|cu\w+|nv\w+|nccl|python[\d.]+|av\w+|sw\w+)(?:[-.]|$)"
    r"|.*[-.][0-9a-f]{8}\.so"
)


class Torch(NamedTuple):
    """The libraries of one torch."""

    paths: tuple[str, ...]
    marks: tuple[str, ...]  # what tells these files from others


def libraries_of(host: Host, environment: Environment, framework: Framework) -> Torch | None:
    """None where none is found, or a directory for them cannot be looked at."""
    folders = [f"{framework.path}/lib", *([f"{environment.prefix}/lib"] if environment.kind == "conda" else [])]
    found = {
        name: f"{folder}/{name}" for folder in reversed(folders) for name in names_of(host, folder) if _is_library(name)
    }
    if "libc10.so" not in found or len(found) > _LIBRARIES_AT_MOST:
        return None
    order = sorted(found, key=lambda name: (_FIRST.index(name) if name in _FIRST else len(_FIRST), name))
    paths = tuple(found[name] for name in order)
    try:
        return Torch(paths, tuple(host.status(path).mark for path in paths))
    except HostError:
        return None


def _is_library(name: str) -> bool:
    return _LIBRARIES.fullmatch(name) is not None


def lacking(host: Host, memory: Cache, path: str, torch: Torch, beside: tuple[str, ...]) -> Fact[Lacking]:
    """What an extension asks of torch and does not get; `beside` are the other libraries of its package."""
    try:
        status = host.status(path)
        found = _decoded(memory.get("asked of torch", status), torch)
        if found is None:
            found = _read(host, path, torch, beside)
            lacks = [list(found.names), found.how_many, found.other_abi]
            memory.put("asked of torch", status, {"of": list(torch.marks), "lacks": lacks})
    except (HostError, NotRead, UnseenError) as error:
        return Unseen(f"{path}: {error}")
    except ElfError as error:
        return Unseen(f"{path} or a library of torch is unreadable: {error}")
    return Seen(found, Place(path))


def _decoded(said: Any, torch: Torch) -> Lacking | None:
    """What was remembered for these very libraries of torch; None for nothing, and for what we did not write."""
    try:
        if said["of"] != list(torch.marks):
            return None
        names, count, other_abi = said["lacks"]
        return Lacking(tuple(map(str, names)), int(count), bool(other_abi))
    except (LookupError, TypeError, ValueError):
        return None


def _read(host: Host, path: str, torch: Torch, beside: tuple[str, ...]) -> Lacking:
    """What is not defined; raises HostError, ElfError, UnseenError."""
    with ExitStack() as opened:
        own = _open(host, path, opened)
        asked = [name for name in own.asked() if _OF_TORCH.match(name)]
        left = asked
        for library in torch.paths:
            if not left:
                break
            left = _not_in(_open(host, library, opened), left)
        if not left:
            return Lacking((), 0)
        known = {one.rpartition("/")[2]: one for one in beside}
        folder = path.rpartition("/")[0]
        for name in own.needed:
            there = known.get(name) or f"{folder}/{name}"
            if host.is_file(there):
                left = _not_in(_open(host, there, opened), left)
            elif left and not _is_library(name) and not _STRANGERS.match(name):
                raise UnseenError(f"it asks for {left[0]}, which {name} may define, and that was not found")
        strings = [name for name in asked if _NEW_STRING in name]
        has_strings = bool(strings) or any(_OLD_STRING.search(name) for name in left)
        other = has_strings and bool(left) and bool(strings) != _has_new_strings(_open(host, torch.paths[0], opened))
        return Lacking(tuple(left[:_KEPT]), len(left), other)


def _open(host: Host, path: str, opened: ExitStack) -> Elf:
    return Elf(unbuffered(opened.enter_context(host.open(path))))


def _not_in(library: Elf, names: list[str]) -> list[str]:
    return [name for name in names if not library.defines(name)] if names else []


def _has_new_strings(library: Elf) -> bool:
    """Whether libc10 names std::string by the new ABI."""
    return any(_NEW_STRING in name for name in library.names("_ZN3c10"))
