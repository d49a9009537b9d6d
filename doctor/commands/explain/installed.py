"""What dumps show of the toolkit, the variables and cuDNN, as facts; a part of a list is no list, and stays unseen."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from compat.base.errors import GpudoctorError
from compat.matrix import Matrix
from compat.version import CudaVersion
from doctor.commands.explain.dump import Field, Said, Told
from doctor.loader.cudnn_library import LibraryName, parse_name
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy, CudnnPart
from doctor.model.facts.environment import ConfigurationFacts, Variable
from doctor.model.facts.seen import Fact, Seen, Unseen
from doctor.model.facts.toolkit import Toolkit, ToolkitFacts, ToolkitName
from doctor.rules.shared.cudnn_use import lacking

_HIDDEN = Unseen("the text does not show it")
_SEVERAL = Unseen("the text shows several, maybe of several machines")
_MAYBE_MORE = Unseen("the text may not list all of them")
_NVCC, _VARIABLES = "nvcc on PATH", ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")
_SOMEWHERE = "the directory of nvcc"  # where the text names its release, and not its path


def toolkit_of(told: Told) -> ToolkitFacts:
    """The toolkit of the nvcc that the dump asked, else those of the runtimes that it found; and the names shown."""
    releases, paths = told.of(Field.NVCC), told.of(Field.NVCC_PATH)
    if not releases and not paths:
        found = [_of_runtime(one) for one in told.of(Field.CUDART)]
        found += [_toolkit("the directory of torch's nvcc", one) for one in told.of(Field.BUILDER)]
        lines = (*told.of(Field.CUDART), *told.of(Field.BUILDER))
        return ToolkitFacts(Seen(tuple(found), lines[0].at) if found else _HIDDEN, _HIDDEN)
    roots = {_root(one.value) for one in paths}
    if len(releases) > 1 or len(roots) > 1:
        return ToolkitFacts(_SEVERAL, _SEVERAL)
    root, how = next(iter(roots), "") or _SOMEWHERE, (*releases, *paths)[0].at
    path = paths[0].value if paths else "nvcc"
    toolkit = _toolkit(root, releases[0] if releases else None)._replace(nvcc=Seen(path, how))
    names = [ToolkitName(_NVCC, path, Seen(root, how))]
    names += [
        ToolkitName(one.name, one.value, Seen(root, how) if one.value.rstrip("/") == root else _HIDDEN)
        for one in _variables(told)
        if one.name in _VARIABLES
    ]
    return ToolkitFacts(Seen((toolkit,), how), Seen(tuple(names), how))


def _of_runtime(said: Said) -> Toolkit:
    """/usr/local/cuda-11.0/targets/x86_64-linux/lib/libcudart.so.11.0.221."""
    folder, _, name = said.value.rpartition("/")
    root = re.sub(r"/(?:targets/[^/]+/lib|lib64|lib)$", "", folder)
    return _toolkit(root, said._replace(value=name.partition(".so.")[2]))


def _toolkit(root: str, said: Said | None) -> Toolkit:
    try:
        cuda: Fact[CudaVersion] = Seen(CudaVersion.parse(said.value), said.at) if said else _HIDDEN
    except (GpudoctorError, ValueError):
        cuda = _HIDDEN
    return Toolkit(
        path=root,
        links=(),
        kind="directory",
        cuda=cuda,
        release=Seen(said.value, said.at) if said else _HIDDEN,
        nvcc=_HIDDEN,
        has_headers=_HIDDEN,
        library_dir=_HIDDEN,
    )


def _root(nvcc: str) -> str:
    """/usr/local/cuda of /usr/local/cuda/bin/nvcc."""
    return posixpath.dirname(posixpath.dirname(nvcc.replace("\\", "/")))


def configuration_of(told: Told) -> ConfigurationFacts:
    """The variables; where the dump lists all of those that it knows, what is not among them is not set."""
    lists, shown = told.of(Field.ALL_VARIABLES), tuple(_variables(told))
    if len({one.name for one in shown}) < len(shown):  # of several machines
        return ConfigurationFacts(_HIDDEN, _HIDDEN)
    if len(lists) != 1:
        some = Seen(shown, told.of(Field.VARIABLE)[0].at) if shown else _HIDDEN
        return ConfigurationFacts(_HIDDEN, _HIDDEN, shown=some)
    return ConfigurationFacts(Seen(shown, lists[0].at), _HIDDEN)


def _variables(told: Told) -> Iterator[Variable]:
    for one in told.of(Field.VARIABLE):
        name, _, value = one.value.partition("=")
        yield Variable(name, value, "")  # the text says that it is set, and not where


def cudnn_of(told: Told, facts: Facts, matrix: Matrix) -> Fact[tuple[CudnnCopy, ...]]:
    """A copy a directory, from the files that the loader's cache or the toolkit has."""
    by_folder: dict[str, list[tuple[LibraryName, str, Said]]] = {}
    for one in told.of(Field.CUDNN_FILE):
        path = one.value.replace("\\", "/")
        named = parse_name(posixpath.basename(path))
        if named:
            by_folder.setdefault(posixpath.dirname(path), []).append((named, path, one))
    if not by_folder:
        return _HIDDEN
    copies = tuple(_copy(folder, files) for folder, files in by_folder.items())
    seen = Seen(copies, told.of(Field.CUDNN_FILE)[0].at)
    whole = facts._replace(cudnn=seen)
    return Seen(tuple(_with_sure_parts(copy, whole, matrix) for copy in copies), seen.how)


def _copy(folder: str, files: Iterable[tuple[LibraryName, str, Said]]) -> CudnnCopy:
    files = sorted(files, key=lambda one: (one[0].kind != "", one[1]))
    parts = tuple(_part(*one) for one in files)
    version = parts[0].version
    return CudnnCopy(
        path=folder,
        origin="windows" if ":" in folder else "directory",
        owner="",
        environment="",
        version=version,
        how_versions=(("file name", str(version.value)),) if isinstance(version, Seen) else (),
        header_version=_HIDDEN,
        header_path=_HIDDEN,
        cuda_major=_HIDDEN,
        parts=Seen(parts, files[0][2].at),
        missing=_HIDDEN,
        damaged=_HIDDEN,
        broken_links=_HIDDEN,
        search_rank=_HIDDEN,
    )


def _part(named: LibraryName, path: str, said: Said) -> CudnnPart:
    version = Seen(named.version, said.at) if named.version else _HIDDEN
    return CudnnPart(name=named.asked_as, path=path, version=version, soname=_HIDDEN, machine=_HIDDEN, readable=True)


def _with_sure_parts(copy: CudnnCopy, facts: Facts, matrix: Matrix) -> CudnnCopy:
    """People shorten what they paste: that a part is not listed says nothing."""
    try:
        return copy._replace(parts=_MAYBE_MORE) if lacking(copy, facts, matrix) else copy
    except GpudoctorError:
        return copy._replace(parts=_MAYBE_MORE)
