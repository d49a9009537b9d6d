"""Every copy of cuDNN: where it lies, whose it is, which release its files, links and header say it is.

Libraries of one major in one directory are one copy: Debian's libcudnn8 and libcudnn9 lie side by side and are two.
"""

from collections.abc import Iterable, Iterator, Mapping

from compat.base.record import NamedTuple
from compat.version import CudnnVersion
from doctor.host import Host, HostError, Missing
from doctor.host.optional_reads import real_path_of
from doctor.loader.cudnn_library import RESOURCE, LibraryName, Reading, parse_name, read_library, text_version
from doctor.model.facts.cudnn import CudnnCopy, CudnnLink
from doctor.model.facts.environment import Environment
from doctor.model.facts.loader import FoundBy, LoaderFacts
from doctor.model.facts.seen import Fact, Place, Seen, Unseen, value_or
from doctor.model.facts.toolkit import ToolkitFacts
from doctor.probes.cudnn_header import Header, header_in, header_of
from doctor.probes.cudnn_owner import Package, owner_among, packages_of
from doctor.probes.cudnn_places import CudnnPlace, named_place, places

_COMPANION, _COMPANION_MACHINE = "zlibwapi.dll", "x86_64"
_LATER = Unseen("it was not asked yet")
_LIBRARIES_AT_MOST = 200  # in one directory; a release has 9, each under three names
# The part that speaks for a copy: the one whose symbol is read first, and the order in which parts are shown.
_SPEAKERS = ("graph", "ops_infer", "ops", "adv", "adv_infer", "cnn", "cnn_infer", "ops_train")


class _Entry(NamedTuple):
    """A name in a directory that is one of a cuDNN library."""

    name: LibraryName
    path: str  # as it is named
    real: str  # the regular file it leads to, "" for none
    target: str  # what the link says, "" for a regular file
    trouble: str  # why it leads nowhere


class _Directory(NamedTuple):
    """A directory that holds a copy, and what is known around it."""

    place: CudnnPlace
    path: str  # real path
    groups: Mapping[int, list[_Entry]]  # names of libraries by major
    packages: Fact[tuple[Package, ...]]
    searched: tuple[str, ...]  # directories of the loader's path, for what others bring


def look(
    host: Host, search: LoaderFacts, toolkit: ToolkitFacts, environments: Fact[tuple[Environment, ...]]
) -> Fact[tuple[CudnnCopy, ...]]:
    """Every copy, in the order of their directories."""
    if host.os_family == "macos":
        return Seen((), "there is no CUDA for macOS")
    ranks = _ranks(host, search)
    on_path = tuple(one.path for one in value_or(search.search, ()))
    found: list[CudnnCopy] = []
    seen: set[str] = set()
    headers: dict[str, CudnnPlace] = {}
    for place in places(host, search, toolkit, environments):
        headers.update((path, place) for path in place.headers if path not in headers)
        real = real_path_of(host, place.path)
        if real in seen:
            continue
        seen.add(real)
        found += _ranked(host, place, real, ranks, on_path)
    found += _headers_alone(host, headers, found)
    return Seen(tuple(sorted(found, key=lambda one: (one.path, str(value_or(one.version, ""))))), "files")


def look_in(host: Host, search: LoaderFacts, directory: str) -> tuple[CudnnCopy, ...]:
    """The copies in one directory that a user names, wherever it lies; none where no library of cuDNN is there."""
    on_path = tuple(one.path for one in value_or(search.search, ()))
    real = real_path_of(host, directory)
    found = _ranked(host, named_place(host, real), real, _ranks(host, search), on_path)
    return tuple(one for one in found if value_or(one.parts, ()) or isinstance(one.parts, Unseen))


def _ranks(host: Host, search: LoaderFacts) -> Fact[Mapping[str, int]]:
    """The places of directories in the loader's order: LD_LIBRARY_PATH or PATH, the cache, the default directories."""
    if isinstance(search.search, Unseen):
        return search.search
    listed = [one.path for one in search.search.value if one.why is not FoundBy.DEFAULT]
    listed += [one.path.rpartition("/")[0] for one in value_or(search.cache, ()) if one.soname.startswith("libcudnn")]
    listed += [one.path for one in search.search.value if one.why is FoundBy.DEFAULT]
    ranks: dict[str, int] = {}
    for rank, path in enumerate(listed):
        ranks.setdefault(real_path_of(host, path), rank)
    return Seen(ranks, search.search.how)


def _ranked(
    host: Host, place: CudnnPlace, directory: str, ranks: Fact[Mapping[str, int]], on_path: tuple[str, ...]
) -> list[CudnnCopy]:
    """The copies in one directory, with its place in the loader's order."""
    found = _copies_in(host, place, directory, on_path)
    return [one._replace(search_rank=_rank(ranks, one.path)) if one.search_rank is _LATER else one for one in found]


def _copies_in(host: Host, place: CudnnPlace, directory: str, on_path: tuple[str, ...]) -> list[CudnnCopy]:
    """The copies in one directory, one for each major; their place in the loader's order is not told yet."""
    try:
        names = host.names(directory)
    except Missing:
        names = ()
    except HostError as error:
        return [_closed(place, error)] if place.is_named else []
    libraries = [name for name in map(parse_name, names) if name][:_LIBRARIES_AT_MOST]
    groups = _by_major(_entry(host, directory, name) for name in libraries)
    if not groups and not place.is_named:
        return []
    packages = packages_of(host, place)
    if not groups and not _lists_files_in(directory, value_or(packages, ())):
        return []
    around = _Directory(place=place, path=directory, groups=groups, packages=packages, searched=on_path)
    return [_copy(host, around, major) for major in sorted(groups) or [0]]


def _lists_files_in(directory: str, packages: Iterable[Package]) -> bool:
    return any(path.rpartition("/")[0] == directory for package in packages for path in package.files)


def _entry(host: Host, directory: str, name: LibraryName) -> _Entry:
    path = f"{directory}/{name.text}"
    target = ""
    try:
        if host.link_status(path).kind == "link":
            target = host.link_target(path)
        kind = host.status(path).kind
        if kind != "file":
            return _Entry(
                name=name,
                path=path,
                real="",
                target=target,
                trouble=f"is a {kind}, not a library" if kind == "dir" else "is not a file",
            )
        return _Entry(name=name, path=path, real=host.real_path(path) if target else path, target=target, trouble="")
    except HostError as error:
        return _Entry(name=name, path=path, real="", target=target, trouble=error.why)


def _by_major(entries: Iterable[_Entry]) -> dict[int, list[_Entry]]:
    """Names without a number go with the file that they lead to, else with the newest major of the directory."""
    groups: dict[int, list[_Entry]] = {}
    unnumbered = []
    for entry in entries:
        major = _major_of(entry)
        if major is None:
            unnumbered.append(entry)
        else:
            groups.setdefault(major, []).append(entry)
    if unnumbered:
        groups.setdefault(max(groups, default=0), []).extend(unnumbered)
    return groups


def _major_of(entry: _Entry) -> int | None:
    for text in (entry.name.text, entry.real.rpartition("/")[2], entry.target.rpartition("/")[2]):
        name = parse_name(text)
        if name and name.major is not None:
            return name.major
    return None


def _copy(host: Host, around: _Directory, major: int) -> CudnnCopy:
    place, packages = around.place, around.packages
    entries = around.groups.get(major, [])
    chosen = _chosen(entries)
    readings = [read_library(host, entry.name, entry.real) for entry in chosen]
    sizes = _sizes(host, (entry.path for entry in entries if not entry.target))
    owner = owner_among(value_or(packages, ()), sizes, sizes)
    header = header_of(host, place.headers, major, alone=len(around.groups) < 2)
    said = _said(host, chosen, readings, header, owner)
    missing, wrong_size = _against_list(host, owner, packages)
    damage = [reading.part.path for reading in readings if reading.damage]
    damage += [entry.path for entry in entries if not entry.real and not entry.target]
    return CudnnCopy(
        path=around.path,
        origin=place.origin,
        owner=owner.label if owner else "",
        environment=place.environment,
        version=_version(chosen, readings, said),
        how_versions=tuple((source, str(version)) for source, version in said),
        header_version=header.version,
        header_path=header.path,
        cuda_major=_cuda_major(owner, place),
        parts=Seen(tuple(reading.part for reading in readings), Place(around.path)),
        missing=missing,
        damaged=_damaged({*damage, *wrong_size}, readings),
        broken_links=Seen(tuple(_broken_links(around.path, entries, chosen, readings)), Place(around.path)),
        search_rank=_LATER,
        companions=_companions(host, around),
        foreign_companion=next((path for path in _named_companion(host, around) if _is_foreign(host, path)), ""),
    )


def _damaged(found: set[str], readings: list[Reading]) -> Fact[tuple[str, ...]]:
    """The damaged files; that there is none is not known where one could not be read."""
    unread = next((f"{one.part.path}: {one.unread}" for one in readings if one.unread), "")
    if unread and not found:
        return Unseen(unread)
    return Seen(tuple(sorted(found)), "sizes and headers of the files")


def _companions(host: Host, around: _Directory) -> Fact[tuple[str, ...]]:
    """Libraries of others that cuDNN on Windows loads, in its directory, the system's or one of PATH's."""
    if host.os_family != "windows":
        return Seen((), "none is known but on Windows")
    for path in _named_companion(host, around):
        if not _is_foreign(host, path):
            return Seen((_COMPANION,), Place(path.rpartition("/")[0]))
    if not host.is_live and not around.searched:
        return Unseen("the PATH of an image is not known")
    return Seen((), "PATH")


def _named_companion(host: Host, around: _Directory) -> Iterator[str]:
    folders = (around.path, "C:/Windows/System32", *around.searched) if host.os_family == "windows" else ()
    return (path for path in (f"{folder}/{_COMPANION}" for folder in folders) if host.is_file(path))


def _is_foreign(host: Host, path: str) -> bool:
    """Whether a DLL is known to be for another machine than cuDNN's, of which all from 7 on are for x86-64.

    Windows passes over it, and goes on with the search (`doctor.loader.dlls`).
    """
    from doctor.binaries.pe import Pe, PeError  # late: only Windows has them

    try:
        with host.open(path) as stream:
            return Pe(stream).machine != _COMPANION_MACHINE
    except (HostError, PeError):
        return False


def _rank(ranks: Fact[Mapping[str, int]], directory: str) -> Fact[int]:
    if isinstance(ranks, Unseen):
        return ranks
    rank = ranks.value.get(directory)
    return Unseen("its directory is not on the loader's path") if rank is None else Seen(rank, ranks.how)


def _cuda_major(owner: Package | None, place: CudnnPlace) -> Fact[int]:
    if owner and owner.cuda_major is not None:
        return Seen(owner.cuda_major, owner.label)
    return place.cuda_major


def _chosen(entries: Iterable[_Entry]) -> list[_Entry]:
    """For each library the entry that programs get: the name they ask for, else the file that carries a number."""
    best: dict[str, _Entry] = {}
    for entry in entries:
        if not entry.real or (entry.target and not entry.name.numbers):
            continue
        rival = best.get(entry.name.kind)
        if rival is None or _precedence(entry) > _precedence(rival):
            best[entry.name.kind] = entry
    return [best[kind] for kind in sorted(best)]


def _precedence(entry: _Entry) -> tuple[bool, tuple[int, ...]]:
    return entry.name.text == entry.name.asked_as and bool(entry.name.numbers), entry.name.numbers


def _sizes(host: Host, paths: Iterable[str]) -> dict[str, int]:
    found = {}
    for path in paths:
        try:
            found[path] = host.status(path).size_bytes
        except HostError:
            continue  # `_entry` has told what is wrong with it
    return found


def _said(
    host: Host, chosen: list[_Entry], readings: list[Reading], header: Header, owner: Package | None
) -> list[tuple[str, CudnnVersion]]:
    """What every source says of the release, each different word once."""
    said = [("header", header.version.value)] if isinstance(header.version, Seen) else []
    said += [("file name", reading.file_name) for reading in readings if reading.file_name]
    said += [("symbol", reading.symbol) for reading in readings if reading.symbol]
    said += [(RESOURCE, reading.resource) for reading in readings if reading.resource]
    if len(said) == len([one for one in said if one[0] == "header"]):
        said += [
            ("text in the library", version)
            for entry in chosen
            if not entry.name.kind and (version := text_version(host, entry.real))
        ]
    if owner and owner.version:
        said.append(("package", owner.version))
    return list(dict.fromkeys(said))


def _version(chosen: list[_Entry], readings: list[Reading], said: list[tuple[str, CudnnVersion]]) -> Fact[CudnnVersion]:
    """The release of the libraries: the word of the binary before that of names and lists."""
    if not chosen:
        return Unseen("no library of it is there")
    symbols = {entry.name.kind: reading.symbol for entry, reading in zip(chosen, readings, strict=True)}
    for kind in _SPEAKERS:
        symbol = symbols.get(kind)
        if symbol:
            return Seen(symbol, "symbol")
    for source in (RESOURCE, "text in the library", "file name", "package"):
        for one, version in said:
            if one == source:
                return Seen(version, source)
    return Unseen("neither file names nor symbols in the libraries say the release")


def _against_list(
    host: Host, owner: Package | None, packages: Fact[tuple[Package, ...]]
) -> tuple[Fact[tuple[str, ...]], list[str]]:
    """Files that the owner lists: those that are not there, and those of another size."""
    if owner is None:
        return packages if isinstance(packages, Unseen) else Unseen("no package lists these files"), []
    missing, wrong = [], []
    for path, listed in owner.files.items():
        try:
            size = host.status(path).size_bytes
        except Missing:
            missing.append(path)
            continue
        except HostError:
            wrong.append(path)
            continue
        if listed not in (None, size):
            wrong.append(path)
    return Seen(tuple(sorted(missing)), Place(owner.listed_in)), wrong


def _broken_links(
    directory: str, entries: list[_Entry], chosen: list[_Entry], readings: list[Reading]
) -> list[CudnnLink]:
    """Links that lead nowhere or astray, and the links that a loader needs and that are not there."""
    loaded = {entry.name.kind: entry for entry in chosen}
    found = []
    for entry in entries:
        if entry.target:
            why = entry.trouble or _astray(entry, loaded.get(entry.name.kind))
            if why:
                found.append(CudnnLink(entry.path, entry.target, why))
    named = {entry.name.text for entry in entries}
    for entry, reading in zip(chosen, readings, strict=True):
        asked = entry.name.asked_as
        if asked not in named and value_or(reading.part.soname, "") == asked:
            found.append(CudnnLink(f"{directory}/{asked}", "", f"no such link, though {entry.name.text} is there"))
    return found


def _astray(entry: _Entry, loaded: _Entry | None) -> str:
    """Why a link that leads to a file leads to the wrong one, "" for the right one."""
    real = parse_name(entry.real.rpartition("/")[2])
    if real is None:
        return ""  # a store with names of its own (a cache of packages, blobs)
    if real.kind != entry.name.kind:
        return f"leads to another library: {real.text}"
    known = min(len(real.numbers), len(entry.name.numbers))
    if real.numbers[:known] != entry.name.numbers[:known]:
        return f"leads to a library of another release: {real.text}"
    main = parse_name(loaded.real.rpartition("/")[2]) if loaded else None
    if main and loaded and not entry.name.numbers and main.version and real.version not in (None, main.version):
        return f"leads to {real.text}, while {loaded.name.text} leads to {main.text}"
    return ""


def _closed(place: CudnnPlace, error: HostError) -> CudnnCopy:
    """A copy that is recorded and cannot be read."""
    why = Unseen(str(error))
    return CudnnCopy(
        path=place.path,
        origin=place.origin,
        owner="",
        environment=place.environment,
        version=why,
        how_versions=(),
        header_version=why,
        header_path=why,
        cuda_major=place.cuda_major,
        parts=why,
        missing=why,
        damaged=why,
        broken_links=why,
        search_rank=why,
    )


def _headers_alone(host: Host, headers: Mapping[str, CudnnPlace], found: list[CudnnCopy]) -> list[CudnnCopy]:
    """Headers that belong to no copy: a build would take them, and link against something else."""
    used = {real_path_of(host, value_or(one.header_path, "")).rpartition("/")[0] for one in found}
    alone: list[CudnnCopy] = []
    for path, place in headers.items():
        header = header_in(host, path, None)
        if header is None or (real := real_path_of(host, path)) in used:
            continue
        used.add(real)
        nothing = Unseen("there are only headers")
        said = (("header", str(header.version.value)),) if isinstance(header.version, Seen) else ()
        alone.append(
            CudnnCopy(
                path=real,
                origin=place.origin,
                owner="",
                environment=place.environment,
                version=nothing,
                how_versions=said,
                header_version=header.version,
                header_path=header.path,
                cuda_major=nothing,
                parts=Seen((), Place(real)),
                missing=nothing,
                damaged=Seen((), Place(real)),
                broken_links=Seen((), Place(real)),
                search_rank=nothing,
            )
        )
    return alone
