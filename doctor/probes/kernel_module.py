"""The nvidia kernel module as it lies on disk: files for each kernel, DKMS, module options.

Sources: modinfo(8) and the kernel's include/linux/module.h for .modinfo; include/linux/module_signature.h for the
trailer; dkms(8) for its tree; modprobe.d(5). The licence tells the flavours apart (NVIDIA's driver README, "Open
Linux Kernel Modules": modinfo says "Dual MIT/GPL" for the open one and "NVIDIA" for the proprietary one).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import BinaryIO

from compat.base.record import NamedTuple
from compat.version import DriverRelease, VersionError
from doctor.host import Host, HostError, Missing
from doctor.host.optional_reads import names_of, text_of
from doctor.model.facts.driver import DkmsBuild, ModuleFile
from doctor.model.facts.seen import Fact, Place, Seen, Unseen

_KERNELS_AT_MOST = 8
_FOLDERS_AT_MOST = 64
_FILES_AT_MOST = 200
_CONF_AT_MOST_BYTES = 64 << 10
_DEP_AT_MOST_BYTES = 8 << 20
_MODINFO_AT_MOST_BYTES = 64 << 10
_SECTIONS_AT_MOST = 1 << 16
_NAMES_AT_MOST_BYTES = 4 << 20
_UNPACKED_AT_MOST_BYTES = 128 << 20
_PIECE_BYTES = 1 << 20
_WINDOW_AT_MOST_BYTES = 64 << 20  # of memory; the kernel's own makefiles need 8 MiB
_SIGNATURE = b"~Module signature appended~\n"

# nvidia.ko and what distributions call it (Debian: nvidia-current, old Ubuntu: nvidia-384), but none of its siblings
# nvidia-drm, nvidia-modeset, nvidia-uvm, nvidia-peermem, nor the kernel's own nvidiafb.
_NAME = (
    r"nvidia(?:[-_](?:open|\d+\w*|current|current-open|tesla|tesla-open|(?:tesla|legacy)-\d+\w*))?"
    r"\.ko(?:\.(?:xz|gz|zst))?"
)
# Below /lib/modules/<kernel>: DKMS, Fedora's and RHEL's kmods, SUSE, Arch, NVIDIA's own installer, Ubuntu's ready ones.
_FOLDERS = (
    "updates/dkms",
    "updates",
    "extra",
    "extra/nvidia",
    "extramodules",
    "kernel/drivers/video",
    "kernel/drivers/video/nvidia",
)
_PARENTS = (("kernel", "nvidia-"), ("weak-updates", ""), ("extra", "nvidia"), ("updates", "nvidia"))


def files(host: Host, kernels: list[str], unpack: str) -> Fact[tuple[ModuleFile, ...]]:
    """The nvidia.ko of these kernels; a compressed one only for the kernel `unpack`: that takes up to a second."""
    found = [
        _file(host, path, kernel, unpack=kernel == unpack)
        for kernel in kernels[-_KERNELS_AT_MOST:]
        for path in _paths(host, f"/lib/modules/{kernel}")
    ]
    return Seen(tuple(found), Place("/lib/modules"))


def _paths(host: Host, base: str) -> list[str]:
    folders = [f"{base}/{folder}" for folder in _FOLDERS]
    for parent, prefix in _PARENTS:
        inside = (name for name in names_of(host, f"{base}/{parent}") if name.startswith(prefix))
        folders.extend(f"{base}/{parent}/{name}" for name in inside)
    found = {
        f"{folder}/{name}"
        for folder in dict.fromkeys(folders[:_FOLDERS_AT_MOST])
        for name in names_of(host, folder)
        if name.startswith("nvidia") and re.fullmatch(_NAME, name)
    }
    return sorted(found)[:_FILES_AT_MOST] or _paths_by_depmod(host, base)


def _paths_by_depmod(host: Host, base: str) -> list[str]:
    """From modules.dep, where the file is in no usual place."""
    try:
        text = host.read_bytes(f"{base}/modules.dep", _DEP_AT_MOST_BYTES)
    except HostError:
        return []
    found = re.findall(rb"^([^:\n]{0,4000}/%b):" % _NAME.encode(), text, re.MULTILINE)
    return sorted(f"{base}/{path.decode('utf-8', 'replace')}" for path in found[:_FILES_AT_MOST])


def _file(host: Host, path: str, kernel: str, *, unpack: bool) -> ModuleFile:
    try:
        with host.open(path) as stream:
            told, signed = _read(stream, path, unpack=unpack)
    except (HostError, OSError, EOFError, OverflowError, ValueError, struct.error) as error:
        why = Unseen(
            str(error) if isinstance(error, HostError) else f"{path} cannot be read as a kernel module: {error}"
        )
        return ModuleFile(path=path, kernel=kernel, release=why, flavour=why, signed=why)
    if isinstance(told, Unseen):
        return ModuleFile(path=path, kernel=kernel, release=told, flavour=told, signed=told)
    return ModuleFile(
        path=path, kernel=kernel, release=_release(told.value, path), flavour=_flavour(told.value, path), signed=signed
    )


def _read(stream: BinaryIO, path: str, *, unpack: bool) -> tuple[Fact[dict[str, str]], Fact[bool]]:
    """The module's information and whether a signature is appended; Unseen for one that stays packed."""
    if not path.endswith(".ko"):
        if not unpack:
            why = Unseen(f"{path} is compressed, and was not worth the time to unpack; `modinfo {path}` reads it")
            return why, why
        import tempfile  # late: few modules are compressed, and only one of them is read

        with tempfile.TemporaryFile() as unpacked:
            why_not = _unpack(stream, unpacked, path)
            return (Unseen(why_not), Unseen(why_not)) if why_not else _told_and_signed(unpacked, path)
    return _told_and_signed(stream, path)


def _told_and_signed(stream: BinaryIO, path: str) -> tuple[Fact[dict[str, str]], Fact[bool]]:
    information = _information(stream)
    stream.seek(0, 2)
    stream.seek(max(0, stream.tell() - len(_SIGNATURE)))
    return Seen(information, Place(path)), Seen(stream.read(len(_SIGNATURE)) == _SIGNATURE, Place(path))


def _unpack(stream: BinaryIO, into: BinaryIO, path: str) -> str:
    """Unpack a compressed module; why not, where this Python has no such decompressor, or it is too large."""
    from compat.base.compression import NoUnpacker, Unpackable, unpacked  # late: few modules are compressed

    packed = iter(lambda: stream.read(_PIECE_BYTES), b"")
    packing = {"xz": "xz", "gz": "gzip"}.get(path.rpartition(".")[2], "zstd")
    try:
        for piece in unpacked(packed, packing, window_bytes=_WINDOW_AT_MOST_BYTES, behind="unread"):
            into.write(piece)
            if into.tell() > _UNPACKED_AT_MOST_BYTES:
                return f"{path} unpacks to more than {_UNPACKED_AT_MOST_BYTES} bytes"
    except NoUnpacker as error:
        return f"{path} is compressed ({error}); `modinfo {path}` reads it"
    except Unpackable as error:
        return f"{path} cannot be unpacked: {error}"
    into.seek(0)
    return ""


def _information(stream: BinaryIO) -> dict[str, str]:
    """The first value of each name in .modinfo; raises ValueError, struct.error for what is no 64-bit ELF module."""
    header = stream.read(64)
    if header[:5] != b"\x7fELF\x02" or len(header) < 64:
        raise ValueError("not a 64-bit ELF file")
    order = ">" if header[5] == 2 else "<"
    table, entry_bytes, entries, names_at = struct.unpack_from(order + "40xQ10xHHH", header)
    if entry_bytes != 64 or not 0 < entries <= _SECTIONS_AT_MOST or names_at >= entries:
        raise ValueError("a section table of an unusual form")
    sections = _part(stream, table, entries * entry_bytes)
    places = [struct.unpack_from(order + "I20xQQ", sections, number * 64) for number in range(entries)]
    _, names_offset, names_bytes = places[names_at]
    names = _part(stream, names_offset, min(names_bytes, _NAMES_AT_MOST_BYTES))
    wanted = b".modinfo\0"
    for name, offset, size in places:
        if names[name : name + len(wanted)] == wanted:
            return _entries(_part(stream, offset, min(size, _MODINFO_AT_MOST_BYTES)))
    raise ValueError("no section .modinfo")


def _part(stream: BinaryIO, offset: int, size: int) -> bytes:
    stream.seek(offset)
    content = stream.read(size)
    if len(content) < size:
        raise ValueError("truncated")
    return content


def _entries(content: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in content.split(b"\0"):
        name, equals, value = entry.decode("utf-8", "replace").partition("=")
        if equals:
            found.setdefault(name, value)
    return found


def _release(information: dict[str, str], path: str) -> Fact[DriverRelease]:
    try:
        return Seen(DriverRelease.parse(information.get("version", "")), Place(path))
    except VersionError:
        return Unseen(f"{path} does not say its version")


def _flavour(information: dict[str, str], path: str) -> Fact[str]:
    licence = information.get("license", "")
    if "GPL" in licence:
        return Seen("open", Place(path))
    return Seen("proprietary", Place(path)) if licence == "NVIDIA" else Unseen(f"{path} names no licence of NVIDIA's")


# DKMS

_DKMS = "/var/lib/dkms"


def dkms(host: Host) -> Fact[tuple[DkmsBuild, ...]]:
    """What DKMS has added, built and installed of NVIDIA's modules; nothing where there is no DKMS."""
    try:
        modules = [name for name in host.names(_DKMS) if name.startswith("nvidia") and name != "nvidia-fs"]
    except Missing:
        return Seen((), f"no {_DKMS}")
    except HostError as error:
        return Unseen(str(error))
    found = [build for module in modules[:_FOLDERS_AT_MOST] for build in _builds(host, module)]
    return Seen(tuple(found[:_FILES_AT_MOST]), Place(_DKMS))


def _builds(host: Host, module: str) -> Iterator[DkmsBuild]:
    base = f"{_DKMS}/{module}"
    names = names_of(host, base)[:_FILES_AT_MOST]
    installed = {_target(host, f"{base}/{name}") for name in names if name.startswith("kernel-")}
    for release in (name for name in names if not name.startswith("kernel-") and name[:1].isdigit()):
        built = [*_built(host, module, release, installed), *_failed(host, module, release)]
        yield from built or [DkmsBuild(module, release, "", "added")]


def _built(host: Host, module: str, release: str, installed: set[str]) -> Iterator[DkmsBuild]:
    """<release>/<kernel>/<architecture>/module; beside them lie source, and build while and after a build fails."""
    base = f"{_DKMS}/{module}/{release}"
    for kernel in (name for name in names_of(host, base)[:_FILES_AT_MOST] if name not in {"source", "build"}):
        for machine in names_of(host, f"{base}/{kernel}")[:_FOLDERS_AT_MOST]:
            if host.is_dir(f"{base}/{kernel}/{machine}/module"):
                state = "installed" if f"{release}/{kernel}/{machine}" in installed else "built"
                yield DkmsBuild(module, release, kernel, state)


_LOG_AT_MOST_BYTES = 4 << 20
_LOG_OF = r"make\.log for \S{1,100} for kernel (\S{1,100})"  # its first line
_WRONG = r"(?m)^.{0,300}?(?:\berror:|: not found|No such file or directory|\bfatal:).{0,200}$"


def _failed(host: Host, module: str, release: str) -> Iterator[DkmsBuild]:
    """The directory of a build is kept, with its log, where it failed."""
    text = text_of(host, f"{_DKMS}/{module}/{release}/build/make.log", _LOG_AT_MOST_BYTES)
    kernel, wrong = re.search(_LOG_OF, text[:1000]), re.search(_WRONG, text)
    if kernel:
        yield DkmsBuild(module, release, kernel[1], "failed")._replace(why=wrong[0].strip() if wrong else "")


def _target(host: Host, path: str) -> str:
    """The last three parts of where a link leads: release, kernel, architecture."""
    try:
        return "/".join(host.link_target(path).rstrip("/").split("/")[-3:])
    except HostError:
        return ""


# Who brings it

_READY = r"/kernel/(nvidia-\d+(?:-server)?(?:-open)?)/"


def source(host: Host, paths: list[str], *, has_dkms: bool) -> str:
    """By where the module lies for other kernels, and who is there to make one; see DriverFacts.module_source.

    Sources: dkms(8); kmodtool of akmods (extra/NAME); Ubuntu's linux-modules-nvidia-*; NVIDIA's
    yum-packaging-precompiled-kmod; openSUSE's SDB:NVIDIA_drivers; Arch's nvidia-open; nvidia-installer's help.
    """
    running = text_of(host, "/proc/sys/kernel/osrelease", _CONF_AT_MOST_BYTES).strip() if host.is_live else ""
    if running and paths and not names_of(host, f"/lib/modules/{running}"):
        return "gone"
    if has_dkms or any("/dkms/" in path for path in paths):
        return "dkms"
    ready = next((found for path in paths if (found := re.search(_READY, path))), None)
    if ready:
        return f"linux-modules-{ready[1]}"
    if any("/extra/nvidia" in path for path in paths) and _is_program(host, "akmods"):
        return "akmods"
    if any("/kernel/drivers/video/" in path for path in paths) and _is_program(host, "nvidia-installer"):
        return "runfile"
    return next((name for part, name in _BY_FOLDER if any(part in path for path in paths)), "")


# Below /lib/modules/<kernel>, in this order: SUSE's are in the same directory as those of DKMS' parent.
_BY_FOLDER = (
    ("/extra/drivers/video/nvidia/", "kmod"),
    ("/extramodules/", "pacman"),
    ("/weak-updates/updates/", "kmp"),
    ("/updates/nvidia", "kmp"),
)


def _is_program(host: Host, name: str) -> bool:
    return any(host.exists(f"{folder}/{name}") for folder in ("/usr/sbin", "/usr/bin"))


# Options

_CONF_FOLDERS = (
    "/etc/modprobe.d",
    "/run/modprobe.d",
    "/usr/local/lib/modprobe.d",
    "/usr/lib/modprobe.d",
    "/lib/modprobe.d",
)
_OPTIONS = r"\s*options\s+nvidia(?:[-_]current\w*)?\s"
# What keeps the module from being loaded: by its alias on the bus, or at all.
_BLOCKS = r"\s*(?:blacklist\s+nvidia|alias\s+nvidia\s+off|install\s+nvidia\s+\S*/(?:false|true))\s*(?:#.*)?"


# Sources: Documentation/admin-guide/kernel-parameters.txt (module_blacklist); modprobe(8) (modprobe.blacklist). The
# second alone does not stop modprobe from loading a module that is named.
_COMMAND_LINE = "/proc/cmdline"
_WORDS = ("module_blacklist=", "modprobe.blacklist=")


def _keeps(word: str) -> bool:
    return word.startswith(_WORDS) and "nvidia" in word.partition("=")[2].split(",")


class Modprobe(NamedTuple):
    """What modprobe.d says of the module nvidia."""

    options: Fact[tuple[str, ...]]  # the lines that set its options, as written
    blocked: Fact[tuple[str, ...]]  # "/lib/modprobe.d/blacklist-nvidia.conf: blacklist nvidia"


def modprobe(host: Host) -> Modprobe:
    """Its lines about the module; a file hides its namesakes below."""
    if host.os_family != "linux":
        why = Unseen("only Linux has modprobe.d")
        return Modprobe(why, why)
    chosen: dict[str, str] = {}
    for folder in _CONF_FOLDERS:
        for name in names_of(host, folder)[:_FILES_AT_MOST]:
            if name.endswith(".conf"):
                chosen.setdefault(name, f"{folder}/{name}")
    paths = [chosen[name] for name in sorted(chosen)]
    lines = [(path, line.strip()) for path in paths for line in _lines(host, path) if "nvidia" in line]
    options = tuple(line for _, line in lines if re.match(_OPTIONS, f"{line} "))
    words = text_of(host, _COMMAND_LINE, _CONF_AT_MOST_BYTES).split() if host.is_live else []
    blocked = (
        *(f"{path}: {line}" for path, line in lines if re.fullmatch(_BLOCKS, line)),
        *(f"{_COMMAND_LINE}: {word}" for word in words if _keeps(word)),
    )
    return Modprobe(Seen(options, "modprobe.d"), Seen(blocked, "modprobe.d"))


def _lines(host: Host, path: str) -> list[str]:
    return text_of(host, path, _CONF_AT_MOST_BYTES).splitlines()
