"""Frameworks that an installer has left half removed or half installed, from the names in the site directories.

pip renames what it removes: "torch" becomes "~orch" until the new files are there, and the dist-info directory is
written last. Where it was killed, both are left. Source: pypa/pip, src/pip/_internal/utils/temp_dir.py
(AdjacentTempDirectory) and operations/install/wheel.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from compat.traits import frameworks_by_module, module_of
from doctor.host import Host
from doctor.model.facts.environment import Distribution, HalfInstalled
from doctor.pyenv.metadata import constants_or_why

# What an import needs and a wheel unpacks late, by module: one of each. Source: pytorch/pytorch: torch/__init__.py.
_NEEDED = {
    "torch": (("version.py",), ("lib/libtorch_python.so", "lib/torch_python.dll", "lib/libtorch_python.dylib")),
}
_SITES = ("site-packages", "dist-packages")  # not a directory of somebody's own sources


def half_installed(
    host: Host, distributions: tuple[Distribution, ...], listings: Mapping[str, tuple[str, ...]]
) -> Iterator[HalfInstalled]:
    """Yield each framework of which there are files, and no installed distribution."""
    names = frameworks_by_module()
    owned = {module_of(one.name) for one in distributions}
    for site, listed in listings.items():
        if not site.endswith(_SITES):
            continue
        there = frozenset(listed)
        aside = {f"~{module[1:]}": module for module in names}
        for module in sorted(there & names.keys() | {aside[name] for name in there & aside.keys()}):
            old = f"~{module[1:]}"
            if module in owned or not _is_half(host, site, module, there):
                continue
            paths = [f"{site}/{name}" for name in (module, old) if name in there]
            yield HalfInstalled(names[module], module, tuple(paths), _version(host, paths, listed, module))


def _is_half(host: Host, site: str, module: str, there: frozenset[str]) -> bool:
    """Whether an installer was at it; somebody may also have copied a package, which can be imported."""
    needed = ("__init__.py",), *_NEEDED.get(module, ())
    aside = re.compile(rf"~{re.escape(module[1:])}(-.*\.dist-info)?")
    return any(map(aside.fullmatch, there)) or not all(
        any(host.exists(f"{site}/{module}/{name}") for name in names) for names in needed
    )


def _version(host: Host, paths: list[str], listed: tuple[str, ...], module: str) -> str:
    """The release, by its own files or by the dist-info that was renamed; "" where neither tells."""
    for path in paths:
        if host.exists(f"{path}/version.py"):
            found, _ = constants_or_why(host, f"{path}/version.py", "")
            if re.fullmatch(r"\d[\w.+]*", found.get("__version__", "")):
                return found["__version__"]
    start = f"~{module[1:]}-"
    infos = (name.removeprefix(start) for name in listed if name.startswith(start) and name.endswith(".dist-info"))
    return next((name.removesuffix(".dist-info") for name in infos), "")
