"""One cuDNN library: what its file name says, what its links say, what its inside says."""

from typing import TYPE_CHECKING, Any

from compat.base.record import NamedTuple
from compat.version import CudnnVersion
from doctor.binaries import NotRead
from doctor.binaries.elf import Elf, ElfError, ElfNotRead
from doctor.host import Host, HostError
from doctor.host.snapshot import remembered
from doctor.loader.library import memory_of_text, text_among_constants
from doctor.model.facts.cudnn import CudnnPart
from doctor.model.facts.seen import Fact, Seen, Unseen

if TYPE_CHECKING:
    from doctor.binaries.pe import Pe

# Libraries of cuDNN 2 and 3 carry the CUDA version of their build in place of their own:
# libcudnn.so.6.5 (.48), libcudnn.so.7.0 (.64), cudnn64_65.dll, cudnn64_70.dll.
_NAMED_AFTER_CUDA = {(6, 5): 2, (7, 0): 3, (6, 5, 48): 2, (7, 0, 64): 3, (65,): 2, (70,): 3}

# What a library exports of its version: major << 16 | minor << 8 | patch. The main library, the engines, the
# heuristics and the training halves of 8 but one export none. Read from 8.5 to 9.28.
_SYMBOLS = {
    "graph": "cudnn_graph_version",
    "ops": "cudnn_ops_infer_version",
    "adv": "cudnn_adv_infer_version",
    "cnn": "cudnn_cnn_infer_version",
    "ops_infer": "cudnn_ops_infer_version",
    "adv_infer": "cudnn_adv_infer_version",
    "cnn_infer": "cudnn_cnn_infer_version",
    "ops_train": "cudnn_ops_train_version",
}
# "cudnn_version_7_6_5_32_c27521968_m0_e0" is among the constants of the library that has cudnnGetVersion.
_TEXT_PREFIX = b"cudnn_version_"
_TEXT_WITHIN_BYTES = 64 << 20
RESOURCE = "version resource"  # of a DLL
_NO_VERSION = "neither its file name nor a symbol in it says the release"


class LibraryName(NamedTuple):
    """The file name of a cuDNN library, taken apart."""

    text: str
    kind: str  # "" for the main library, "ops", "cnn_infer", "engines_precompiled"
    numbers: tuple[int, ...]  # (9, 10, 2) of libcudnn.so.9.10.2; () of libcudnn.so
    asked_as: str  # the name that programs ask for: "libcudnn_ops.so.9"

    @property
    def major(self) -> int | None:
        """The cuDNN major, None where the name does not say."""
        return _NAMED_AFTER_CUDA.get(self.numbers, self.numbers[0]) if self.numbers else None

    @property
    def version(self) -> CudnnVersion | None:
        """The release, where the name carries three numbers."""
        if len(self.numbers) < 3:
            return None
        return CudnnVersion((_NAMED_AFTER_CUDA[self.numbers],) if self.numbers in _NAMED_AFTER_CUDA else self.numbers)


def parse_name(name: str) -> LibraryName | None:
    """Read the name of a shared cuDNN library; None for any other file."""
    if name.startswith("libcudnn"):
        return _parse_so(name)
    lowered = name.lower()
    if lowered.startswith("cudnn") and lowered.endswith(".dll"):
        return _parse_dll(name, lowered[5:-4])
    return None


def _parse_so(name: str) -> LibraryName | None:
    stem, found, rest = name.partition(".so")
    numbers = _numbers(rest.removeprefix("."))
    if not found or numbers is None or (rest and not rest.startswith(".")):
        return None
    kind, _, digest = stem.removeprefix("libcudnn").partition("-")  # auditwheel renames: libcudnn-7a90c13f.so.7.6.5
    if kind and not kind.startswith("_"):
        return None
    asked = numbers[:2] if numbers in _NAMED_AFTER_CUDA else numbers[:1]
    return LibraryName(name, kind[1:], numbers, name if digest or not numbers else f"{stem}.so.{_dotted(asked)}")


def _parse_dll(name: str, middle: str) -> LibraryName | None:
    kind, found, number = middle.rpartition("64_")
    numbers = _numbers(number)
    if not found or not numbers:
        return None
    return LibraryName(name, kind.removeprefix("_"), numbers, name)


def _numbers(text: str) -> tuple[int, ...] | None:
    """Dotted numbers; None for anything else."""
    if not text:
        return ()
    parts = text.split(".")
    if len(parts) > 4 or not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        return None
    return tuple(map(int, parts))


def _dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))


class Reading(NamedTuple):
    """A library that was opened."""

    part: CudnnPart
    damage: str  # "" or what is wrong with the file itself
    unread: str  # "" or why its inside was not read, which says nothing about the file
    symbol: CudnnVersion | None  # what its exported symbol says
    resource: CudnnVersion | None  # what the version resource of a DLL says
    file_name: CudnnVersion | None  # what the name of the file says


def read_library(host: Host, name: LibraryName, path: str) -> Reading:
    """Open the library that is asked for by `name` and lies at `path`."""
    real = parse_name(path.rpartition("/")[2])
    file_name = real.version if real else None
    try:
        identity = _identity(host, name.kind, path)
    except HostError as error:  # a part that this user may not read is told of by itself (`CudnnPart.readable`)
        identity = _Identity(Unseen(error.why), Unseen(error.why))
    except NotRead as error:
        identity = _Identity(Unseen(str(error)), Unseen(str(error)), unread=str(error))
    except ElfError as error:
        identity = _Identity(Unseen(str(error)), Unseen(str(error)), damage=str(error))
    return _reading(host, name, path, identity, file_name)


class _Identity(NamedTuple):
    """What the inside of a library says."""

    soname: Fact[str]
    machine: Fact[str]
    symbol: CudnnVersion | None = None
    resource: CudnnVersion | None = None
    damage: str = ""
    unread: str = ""


def _identity(host: Host, kind: str, path: str) -> _Identity:
    """Raises HostError, ElfError, ElfNotRead."""
    is_dll = path.lower().endswith(".dll")
    says = _dll_says if is_dll else _elf_says
    said = remembered(host, path, _memory_of(kind), lambda: says(host, kind, path), _is_said)
    soname, machine, number, resource, is_truncated = said
    return _Identity(
        soname=Unseen("a DLL is asked for by its file name") if is_dll else Seen(soname, "DT_SONAME"),
        machine=Seen(machine, "PE header" if is_dll else "ELF header"),
        symbol=_version_of(number),
        resource=_version_of(resource),
        damage=_truncated(is_truncated),
    )


def _memory_of(kind: str) -> str:
    return f"part of cudnn: {kind}"


def foretold(name: str, machine: str, release: CudnnVersion) -> dict[str, Any]:
    """What is remembered of a library of cuDNN that is not there yet, by kind of memory; {} for a name of no library.

    The release stands where it does in life: in the symbol of a part, among the constants of the main library, in the
    version resource of a DLL. `release` is padded to three numbers.
    """
    parsed = parse_name(name)
    if parsed is None:
        return {}
    numbers = (*release, 0, 0)[:3]
    encoded = numbers[0] << 16 | numbers[1] << 8 | numbers[2]
    is_dll = name.lower().endswith(".dll")
    from doctor.loader.simulate import release_foretold  # late: only what is judged before it is done needs it

    exported = encoded if parsed.kind in _SYMBOLS else 0
    text = "" if parsed.kind else f"{_TEXT_PREFIX.decode()}{'_'.join(map(str, numbers))}"
    return {
        _memory_of(parsed.kind): ["" if is_dll else name, machine, exported, encoded if is_dll else 0, False],
        memory_of_text(_TEXT_PREFIX): text,
        **release_foretold(name, exported),
    }


def _elf_says(host: Host, kind: str, path: str) -> list[Any]:
    """SONAME, machine, the releases that it exports and has as a resource (0 for none), whether it is truncated."""
    with host.open(path) as stream:
        elf = Elf(stream)
        return [elf.soname, elf.machine, _number(elf, kind), 0, elf.is_truncated]


def _is_said(said: Any) -> bool:
    return isinstance(said, list) and [*map(type, said)] == [str, str, int, int, bool]


def _dll_says(host: Host, kind: str, path: str) -> list[Any]:
    """The same of a DLL, which has no SONAME; raises ElfError for a damaged one too."""
    from doctor.binaries.pe import Pe, PeError  # late: only Windows has DLLs

    try:
        with host.open(path) as stream:
            pe = Pe(stream)
            return ["", pe.machine, _number(pe, kind), _of_resource(pe, path), pe.is_truncated]
    except NotRead as error:
        raise ElfNotRead(str(error)) from error
    except PeError as error:
        raise ElfError(str(error)) from error


def _of_resource(pe: "Pe", path: str) -> int:
    """The release in its version resource: 8.9.7.29 of cudnn64_8.dll. Libraries of CUDA's have 6.14.11.12040 there."""
    name = parse_name(path.rpartition("/")[2])
    numbers = pe.file_version
    is_cudnns = numbers is not None and name is not None and numbers[0] == name.major
    return numbers[0] << 16 | numbers[1] << 8 | numbers[2] if numbers and is_cudnns else 0


def _truncated(is_truncated: bool) -> str:
    return "truncated: its headers speak of bytes beyond its end" if is_truncated else ""


def _number(library: "Elf | Pe", kind: str) -> int:
    return (library.value(_SYMBOLS[kind]) or 0) if kind in _SYMBOLS else 0


def _version_of(encoded: int) -> CudnnVersion | None:
    return CudnnVersion((encoded >> 16, encoded >> 8 & 0xFF, encoded & 0xFF)) if encoded else None


def _reading(host: Host, name: LibraryName, path: str, identity: _Identity, file_name: CudnnVersion | None) -> Reading:
    symbol = identity.symbol
    version: Fact[CudnnVersion] = Unseen(_NO_VERSION)
    if symbol:
        version = Seen(symbol, "symbol")
    elif identity.resource:
        version = Seen(identity.resource, RESOURCE)
    elif file_name:
        version = Seen(file_name, "file name")
    part = CudnnPart(
        name=name.asked_as,
        path=path,
        version=version,
        soname=identity.soname,
        machine=identity.machine,
        readable=_is_readable(host, path),
    )
    return Reading(
        part=part,
        damage=identity.damage,
        unread=identity.unread,
        symbol=symbol,
        resource=identity.resource,
        file_name=file_name,
    )


def _is_readable(host: Host, path: str) -> bool:
    if host.is_live:
        return host.may_access(path, "r")
    try:
        return bool(host.status(path).mode & 0o004)  # an image has no user: can every user read it?
    except HostError:
        return False


def text_version(host: Host, path: str) -> CudnnVersion | None:
    """The release that the library names among its constants; reads some MiB, for libraries that have no symbol."""
    try:
        text = text_among_constants(host, path, _TEXT_PREFIX, _TEXT_WITHIN_BYTES)
    except (HostError, ElfError):
        return None
    fields = text[len(_TEXT_PREFIX) :].split("_")  # four numbers, then those of the build
    numbers = _numbers(".".join(fields[:4]).rstrip("."))
    return CudnnVersion(numbers) if numbers and len(numbers) >= 3 else None
