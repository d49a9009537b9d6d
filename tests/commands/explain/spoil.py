"""What is done to an environment to break it; all that is changed is a file of its own, for trees are hard links."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from tests.built import built
from tests.commands.verify.damage import emptied, missing
from tests.lab.stub import compiled

Spoil = Callable[[Path], object]
_CUDAS = re.compile(r"lib(?:cu(?!da\.|dart)|nccl|nvrtc|nvshmem|nvJitLink|nvToolsExt|torch_nvshmem)")
_ASKED = re.compile(rb"(?:cu(?!da)[a-z]+[A-Z]|cuFile|nccl[A-Z]|nvrtc[A-Z]|nvshmem|nvJitLink|__nvJitLink)\w*")


def gone(pattern: str) -> Spoil:
    """Files that are not there."""
    return lambda site: _each(site, pattern, missing)


def empty(pattern: str) -> Spoil:
    """Files without content."""
    return lambda site: _each(site, pattern, emptied)


def _each(site: Path, pattern: str, damage: Spoil) -> None:
    for path in _these(site, pattern):
        damage(path)


def hollow(site: Path, pattern: str) -> None:
    """Put libraries of CUDA beside those of this pattern, which need them: with the names that are asked, and no code.

    For what would otherwise take gigabytes only to be opened. The runtime (cudart), which speaks to the driver, is left
    out.
    """
    files = _these(site, pattern)
    needed, asked = set[str](), set[str]()
    by_version: dict[str, set[str]] = {}  # as NVIDIA versions the names of a library
    for path in files:
        with path.open("rb") as stream:
            elf: Any = ELFFile(stream)
            needed |= {tag.needed for tag in elf.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")}
            names = elf.get_section_by_name(".dynstr").data().split(b"\0")
            for need, versions in getattr(elf.get_section_by_name(".gnu.version_r"), "iter_versions", list)():
                by_version.setdefault(need.name, set()).update(one.name for one in versions)
        asked |= {name.decode() for name in names if _ASKED.fullmatch(name)}
    there = {path.name for path in files}
    source = _source(asked)
    for name in sorted(one for one in needed - there if _CUDAS.match(one)):
        options = ("-w", f"-Wl,-soname,{name}", f"-Wl,--version-script={_map(name, by_version.get(name, ()))}")
        shutil.copyfile(compiled(source, *options), files[0].parent / name)


def _source(names: set[str]) -> Path:
    shown = '__attribute__((visibility("default"))) int'
    return _written("hollow.c", "".join(f"{shown} {name}(void) {{ return 1; }}\n" for name in sorted(names)))


def _map(name: str, versions: Iterable[str]) -> Path:
    first, *others = sorted(versions) or [name]
    return _written(f"{name}.map", f"{first} {{ global: *; }};\n" + "".join(f"{one} {{ }};\n" for one in others))


def _written(name: str, text: str) -> Path:
    place = built(name)
    unfinished = place.with_name(f"{name}.{os.getpid()}")
    unfinished.write_text(text)
    unfinished.rename(place)
    return place


def _these(site: Path, pattern: str) -> list[Path]:
    found = sorted(site.glob(pattern))
    assert found, pattern
    return found
