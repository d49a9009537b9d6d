"""Installed distributions, from the names in the site directories: one listing each, no file opened per package."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from doctor.host import Host, HostError
from doctor.host.optional_reads import names_of
from doctor.model.facts.environment import Distribution
from doctor.pyenv.metadata import fields, header, normal, start_of
from doctor.pyenv.sites import path_lines, resolve

_AT_MOST = 5_000  # an environment has some hundreds
_LINK_BYTES = 4096
# Records of conda packages that carry CUDA libraries or say what a framework was built with; Python packages of conda
# have a dist-info directory as everywhere else.
_CONDA_PREFIXES = (
    "cuda", "cudnn", "nccl", "libcu", "libnv", "libnpp", "nvidia-", "cutensor", "libcutensor", "pytorch", "libtorch",
    "tensorflow-base", "tensorflow-gpu", "libtensorflow", "pygpu", "libgpuarray", "magma",
)  # fmt: skip


def installed(host: Host, prefix: str, listings: Mapping[str, tuple[str, ...]]) -> tuple[Distribution, ...]:
    """Every distribution on the search path, the copy that wins first; conda's own records last."""
    found: list[Distribution] = []
    metadata: set[str] = set()
    for site, names in listings.items():
        for one in _in_site(host, site, names):
            if one.metadata not in metadata and len(found) < _AT_MOST:
                metadata.add(one.metadata)
                found.append(one)
    return (*_shadowed(found), *_of_conda(host, prefix))


def _in_site(host: Host, site: str, names: tuple[str, ...]) -> Iterator[Distribution]:
    if "EGG-INFO" in names and site.endswith(".egg"):
        folder, _, split = site.rpartition("/")
        yield from _egg(host, *(folder, split))
    for name in names:
        suffix = name.rpartition(".")[2]
        if suffix in _READERS and not name.startswith("~"):  # "~" marks what pip could not remove
            yield from _READERS[suffix](host, site, name)


def _wheel(host: Host, site: str, name: str) -> Iterator[Distribution]:
    project, _, version = name[: -len(".dist-info")].partition("-")
    if not version:  # a name that no installer writes: the fields decide
        version = _version_in(host, f"{site}/{name}/METADATA")
    yield Distribution(
        name=normal(project), version=version, site=site, metadata=f"{site}/{name}", kind="wheel", hidden_by=""
    )


def _egg_info(host: Host, site: str, name: str) -> Iterator[Distribution]:
    project, _, rest = name[: -len(".egg-info")].partition("-")
    version = re.split(r"-py\d", rest)[0]
    path = f"{site}/{name}"
    if not version:
        version = _version_in(host, f"{path}/PKG-INFO")
    yield Distribution(name=normal(project), version=version, site=site, metadata=path, kind="egg-info", hidden_by="")


def _egg(host: Host, site: str, name: str) -> Iterator[Distribution]:
    project, _, rest = name[: -len(".egg")].partition("-")
    path = f"{site}/{name}"
    version = re.split(r"-py\d", rest)[0] or _version_in(host, f"{path}/EGG-INFO/PKG-INFO")
    yield Distribution(name=normal(project), version=version, site=path, metadata=path, kind="egg", hidden_by="")


def _egg_link(host: Host, site: str, name: str) -> Iterator[Distribution]:
    """A development install of setuptools: the link's first line is the directory with the egg-info."""
    try:
        lines = path_lines(start_of(host, f"{site}/{name}", _LINK_BYTES))
        folder = resolve(site, lines[0])
        project = normal(name[: -len(".egg-link")])
        infos = [one for one in host.names(folder) if one.endswith(".egg-info") and normal(one[:-9]) == project]
    except (HostError, IndexError):
        return  # the link leads nowhere: Python does not see it either
    metadata = f"{folder}/{infos[0]}" if infos else f"{site}/{name}"
    version = _version_in(host, f"{metadata}/PKG-INFO") if infos else ""
    yield Distribution(name=project, version=version, site=folder, metadata=metadata, kind="develop", hidden_by="")


_READERS = {"dist-info": _wheel, "egg-info": _egg_info, "egg": _egg, "egg-link": _egg_link}


def _version_in(host: Host, path: str) -> str:
    """The version in a PKG-INFO; an old egg-info is itself that file."""
    for candidate in (path, path.rpartition("/")[0]):
        try:
            return next(iter(fields(header(host, candidate), "Version")), "")
        except HostError:
            continue
    return ""


def _shadowed(found: list[Distribution]) -> list[Distribution]:
    """The same with `hidden_by` filled in: the first on the path wins; in one directory, the newer metadata."""
    winners: dict[str, Distribution] = {}
    for one in found:
        winner = winners.setdefault(one.name, one)
        if winner is not one and winner.site == one.site and _key(one.version) > _key(winner.version):
            winners[one.name] = one
    return [one if winners[one.name] is one else one._replace(hidden_by=winners[one.name].metadata) for one in found]


def _key(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d{1,9}", version)]


def _of_conda(host: Host, prefix: str) -> Iterator[Distribution]:
    """Conda's records of CUDA's libraries and of frameworks' builds; `site` is the prefix, where their files lie."""
    folder = f"{prefix}/conda-meta"
    for name in names_of(host, folder):
        if not name.startswith(_CONDA_PREFIXES) or not name.endswith(".json"):
            continue
        parts = name[: -len(".json")].rsplit("-", 2)
        if len(parts) == 3:
            yield Distribution(
                name=normal(parts[0]),
                version=parts[1],
                site=prefix,
                metadata=f"{folder}/{name}",
                kind="conda",
                hidden_by="",
            )


def with_editables(
    host: Host, found: tuple[Distribution, ...], listings: Mapping[str, tuple[str, ...]]
) -> tuple[Distribution, ...]:
    """Wheels that are editable installs (PEP 660) marked as such, `site` being the directory their code is in."""
    marks = {
        (site, normal(name[len("__editable__.") : -len(".pth")])): f"{site}/{name}"
        for site, names in listings.items()
        for name in names
        if name.startswith("__editable__.") and name.endswith(".pth")
    }
    if not marks:
        return found
    return tuple(_marked(host, one, marks.get((one.site, normal(f"{one.name}-{one.version}")), "")) for one in found)


def _marked(host: Host, one: Distribution, path_file: str) -> Distribution:
    if not path_file:
        return one
    try:
        lines = path_lines(start_of(host, path_file, _LINK_BYTES))
    except HostError:
        lines = []
    return one._replace(kind="develop", site=resolve(one.site, lines[0]) if lines else one.site)
