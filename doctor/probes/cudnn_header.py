"""The release that a cuDNN header says: the macros of cudnn_version.h, of cudnn.h before 8."""

from collections.abc import Iterable

from compat.base.record import NamedTuple
from compat.version import CudnnVersion
from doctor.host import Host, HostError
from doctor.model.facts.seen import Fact, Place, Seen, Unseen

_HEADER_AT_MOST_BYTES = 2 << 20
_MACROS = ("CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL")


class Header(NamedTuple):
    """A header of cuDNN and the release it says."""

    path: Fact[str]
    version: Fact[CudnnVersion]


def header_of(host: Host, directories: Iterable[str], major: int, *, alone: bool) -> Header:
    """The header that belongs to libraries of a major; the only ones in their directory if `alone`."""
    for directory in directories:
        found = header_in(host, directory, None if alone else major)
        if found:
            return found
    nothing = Unseen("no header belongs to these libraries")
    return Header(nothing, nothing)


def header_in(host: Host, directory: str, major: int | None) -> Header | None:
    """The header that a build finds in a directory, of this major if one is asked for; None where there is none.

    Debian's packages of several majors also install it as cudnn_version_v9.h, and link the plain name to one of them.
    """
    names = ["cudnn_version.h", "cudnn.h"]
    if major is not None:
        names = ["cudnn_version.h", f"cudnn_version_v{major}.h", "cudnn.h", f"cudnn_v{major}.h"]
    for name in names:
        path = f"{directory}/{name}"
        if not host.is_file(path):
            continue
        version = _read(host, path)
        if version is None:
            continue  # from 8 on cudnn.h only includes the other
        if major is None or isinstance(version, Unseen) or version.value.major == major:
            return Header(Seen(path, path), version)
    return None


def _read(host: Host, path: str) -> Fact[CudnnVersion] | None:
    """What the macros say; None for a header without them."""
    try:
        text = host.read_text(path, _HEADER_AT_MOST_BYTES)
    except HostError as error:
        return Unseen(str(error))
    macros = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) >= 3 and fields[0] == "#define" and _is_number(fields[2]):
            macros[fields[1]] = int(fields[2])
    if all(name in macros for name in _MACROS):
        return Seen(CudnnVersion(macros[name] for name in _MACROS), Place(path))
    if "CUDNN_VERSION" in macros:
        return Seen(CudnnVersion.from_encoded(macros["CUDNN_VERSION"]), Place(path))
    return None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10
