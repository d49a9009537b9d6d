"""When two spellings of a path are one: Windows knows no case, two slashes, and prefixes for long paths.

Sources: Microsoft, "Naming Files, Paths, and Namespaces"; "Maximum Path Length Limitation" for its prefixes.
"""

from __future__ import annotations

import os
import sys

_LONG = {"//?/unc/": "//", "//?/": "", "//./": ""}


def key_of(path: str, os_family: str) -> str:
    """What spellings of one path have in common; links and short names (PROGRA~1) are not followed."""
    if os_family != "windows":
        return path.rstrip("/") or path[:1]
    plain = usual(path.strip('" ')).casefold()
    share = "//" if plain.startswith("//") else ""
    return share + "/".join(part for part in plain.split("/") if part not in {"", "."})


def usual(path: str) -> str:
    """A path of Windows with slashes, and without a prefix for long paths."""
    plain = path.replace("\\", "/")
    for prefix, instead in _LONG.items():
        if plain.casefold().startswith(prefix):
            return instead + plain[len(prefix) :]
    return plain


def import_path() -> list[str]:
    """Return the directories from which a subprocess of ours imports: that of our packages, then those of this process.

    In a wheel our packages are in the directory of `gpudoctor`, which is on no sys.path.
    """
    ours = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return [ours, *map(os.path.abspath, sys.path)]


def text_beside(module: str, name: str) -> str:
    """Return the text of a file of ours that stands beside a module; `module` is its `__file__`."""
    with open(os.path.join(os.path.dirname(os.path.abspath(module)), name), encoding="utf-8") as file:
        return file.read()


def is_below(path: str, root: str) -> bool:
    """Return whether a path is a directory, or below it; links are not followed."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)
