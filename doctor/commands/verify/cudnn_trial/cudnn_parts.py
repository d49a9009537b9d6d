"""The files of one copy of cuDNN: the main library and the parts that it opens while it works.

The main library of 8 and 9 is a front that opens its parts by bare name ("libcudnn_ops.so.9"). A path therefore does
not choose a copy: LD_LIBRARY_PATH wins over the RUNPATH of 8.5 to 9.19, and Windows looks along PATH. The loader takes
a part that is open already under that name, so this copy's own are opened first, by absolute path.
"""

from __future__ import annotations

import ctypes
import os
import sys

from compat.base.record import NamedTuple
from doctor.loader.cudnn_library import LibraryName, parse_name

# A part comes after those that it needs (DT_NEEDED of 8.9.7, 9.10.2 and 9.13.0).
_ORDER = (
    *("graph", "ops", "cnn", "adv", "heuristic", "engines_precompiled", "engines_runtime_compiled"),  # 9
    *("ops_infer", "ops_train", "cnn_infer", "cnn_train", "adv_infer", "adv_train"),  # 8
)
_ALTERED_SEARCH_PATH = 0x8  # LOAD_WITH_ALTERED_SEARCH_PATH: what a DLL needs is looked for beside it


class PartFile(NamedTuple):
    """One part of a copy."""

    kind: str  # "ops", "cnn_infer"
    path: str


def parts_of(library: str) -> tuple[PartFile, ...]:
    """The parts beside a main library, those first that others need.

    Where none lies beside the path, those beside the file that it links to. Raises OSError for a directory that
    cannot be listed.
    """
    found = _parts_beside(os.path.abspath(library))
    return found or _parts_beside(os.path.realpath(library))


def _parts_beside(library: str) -> tuple[PartFile, ...]:
    directory, base = os.path.split(library)
    main = parse_name(base)
    if main is None:
        return ()
    best: dict[str, tuple[int, str]] = {}
    for entry in sorted(os.listdir(directory)):
        name = parse_name(entry)
        if name and name.kind and _agree(name, main):
            rank = abs(len(name.numbers) - len(main.numbers))
            best[name.kind] = min(best.get(name.kind, (99, "")), (rank, entry))
    return tuple(PartFile(kind, os.path.join(directory, best[kind][1])) for kind in sorted(best, key=_rank))


def _agree(name: LibraryName, main: LibraryName) -> bool:
    """Whether both can be of one release: libcudnn_ops.so.9 and libcudnn.so.9.10.2."""
    known = min(len(name.numbers), len(main.numbers))
    return name.numbers[:known] == main.numbers[:known]


def _rank(kind: str) -> tuple[int, str]:
    """Parts that a newer release adds come last: they need those of the list, none of it needs them."""
    return (_ORDER.index(kind) if kind in _ORDER else len(_ORDER), kind)


def open_library(path: str) -> ctypes.CDLL:
    """dlopen or LoadLibrary by path, every symbol bound at once; raises OSError in the loader's words."""
    if sys.platform == "win32":
        return ctypes.CDLL(path, winmode=_ALTERED_SEARCH_PATH)
    return ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
