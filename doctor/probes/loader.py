"""Where the dynamic loader of this machine searches: variables, its cache, its default directories.

Sources: ld.so(8); musl's manual for its search path.
"""

from doctor.host import Host, HostError, Missing
from doctor.loader.cache import cuda_in_cache
from doctor.model.facts.loader import PRELOAD_FILE, FoundBy, LoaderFacts, SearchDir
from doctor.model.facts.seen import Fact, Seen, Unseen
from doctor.probes.configuration import SetIn, entries_in, module_of

_ELEMENTS_AT_MOST = 5000  # directories in one variable: Linux passes no more than 128 KiB
# A loader that is there says the architecture; its C library is in the directories that it was built to search.
_LOADERS = (
    ("/lib64/ld-linux-x86-64.so.2", "x86_64-linux-gnu"),
    ("/lib/ld-linux-aarch64.so.1", "aarch64-linux-gnu"),
    ("/lib64/ld64.so.2", "powerpc64le-linux-gnu"),
)
_MUSL_LOADERS = ("/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-aarch64.so.1")
_MUSL_DEFAULT = ("/lib", "/usr/local/lib", "/usr/lib")


def look(host: Host) -> LoaderFacts:
    """The search path, CUDA's part of the cache, and preloaded libraries."""
    return LoaderFacts(_search(host), cuda_in_cache(host), _preload(host), Unseen("not predicted yet"))


def _search(host: Host) -> Fact[tuple[SearchDir, ...]]:
    if host.os_family == "windows":
        listed = host.environ.get("PATH", host.environ.get("Path", "")).split(";")
        return _in_order(host, FoundBy.PATH, [(_windows(one), one) for one in listed if _windows(one)], [])
    if host.os_family != "linux":
        return Unseen(f"the loader of {host.os_family} is not known to gpudoctor")
    return _in_order(host, FoundBy.LIBRARY_PATH, library_path(host), _default_directories(host))


def _windows(element: str) -> str:
    return element.strip('" ').replace("\\", "/")


def _in_order(
    host: Host, variable: FoundBy, listed: list[tuple[str, str]], default: list[str]
) -> Fact[tuple[SearchDir, ...]]:
    """The directories of a variable, then those that every program searches."""
    name = variable.value
    if len(listed) > _ELEMENTS_AT_MOST:
        return Unseen(f"{name} has {len(listed)} directories, of which {_ELEMENTS_AT_MOST} are read")
    elements = (written for _, written in listed)
    places = entries_in(host, name, elements) if listed and variable is FoundBy.LIBRARY_PATH else {}
    found = [
        SearchDir(
            path=path,
            why=variable,
            exists=host.is_dir(path),
            written=written,
            set_in=place.text,
            set_at=place.at,
        )
        for path, written in listed
        for place in [_of_module(host, path) or places.get(written.rstrip("/"), SetIn())]
    ]
    found += [SearchDir(path, FoundBy.DEFAULT, host.is_dir(path)) for path in default]
    return Seen(tuple(found), f"{name}, ld.so(8)" if default else name)


def _of_module(host: Host, path: str) -> SetIn | None:
    name = module_of(host, path)
    return SetIn(name) if name else None


def library_path(host: Host) -> list[tuple[str, str]]:
    """The directories of LD_LIBRARY_PATH, and each as it is written.

    An empty element is the current directory, an empty variable is none.
    """
    value = host.environ.get(FoundBy.LIBRARY_PATH.value, "")
    if not value:
        return []
    here = host.environ.get("PWD", ".")
    return [((element.rstrip("/") or element[:1]) or here, element) for element in value.replace(";", ":").split(":")]


def _default_directories(host: Host) -> list[str]:
    """The directories built into the loader that is there; where there is none, those that exist of the usual ones."""
    for loader, triplet in _LOADERS:
        if host.exists(loader):
            return _of_architecture(host, triplet)
    if is_musl(host):
        return list(_MUSL_DEFAULT)
    usual = (f"/usr/lib/{_LOADERS[0][1]}", f"/usr/lib/{_LOADERS[1][1]}", "/usr/lib64", "/usr/lib")
    return [path for path in usual if host.is_dir(path)]


def is_musl(host: Host) -> bool:
    """Whether the only C library is musl, whose loader has rules of its own (and for which no CUDA wheel is made)."""
    return not any(host.exists(loader) for loader, _ in _LOADERS) and any(map(host.exists, _MUSL_LOADERS))


def _of_architecture(host: Host, triplet: str) -> list[str]:
    """Debian's glibc searches its multiarch directories, Red Hat's and SUSE's lib64, Arch's lib."""
    multiarch = [f"/lib/{triplet}", f"/usr/lib/{triplet}"]
    if any(host.exists(f"{path}/libc.so.6") for path in multiarch):
        return [*multiarch, "/lib", "/usr/lib"]
    if host.exists("/lib64/libc.so.6") or host.exists("/usr/lib64/libc.so.6"):
        return ["/lib64", "/usr/lib64"]
    return ["/lib", "/usr/lib"]


def _preload(host: Host) -> Fact[tuple[str, ...]]:
    """LD_PRELOAD, then /etc/ld.so.preload; both are separated by white space or colons."""
    listed = host.environ.get("LD_PRELOAD", "").replace(":", " ").split()
    try:
        listed += host.read_text(PRELOAD_FILE).replace(":", " ").split()
    except Missing:
        pass  # mostly there is none
    except HostError as error:
        return Unseen(str(error))
    return Seen(tuple(listed), f"LD_PRELOAD, {PRELOAD_FILE}")
