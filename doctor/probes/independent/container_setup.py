"""How Docker gives GPUs to containers here: its runtimes, and the CDI specifications for NVIDIA's GPUs.

Sources: Docker's reference, "dockerd" (daemon.json: runtimes, default-runtime); Container Device Interface, SPEC.md
(directories, hostPath); NVIDIA Container Toolkit documentation, "Support for Container Device Interface".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from compat.base.record import NamedTuple
from doctor.host import Host, HostError, Missing
from doctor.host.optional_reads import names_of
from doctor.model.facts import IndependentProbe
from doctor.model.facts.seen import Fact, Seen, Unseen

DAEMON = "/etc/docker/daemon.json"
_CDI_FOLDERS = ("/etc/cdi", "/var/run/cdi")
_DAEMON_BYTES, _SPEC_BYTES = 1 << 20, 4 << 20
_SPECS_AT_MOST, _PATHS_AT_MOST, _RUNTIMES_AT_MOST = 20, 2_000, 50
# Where dockerd looks for a program without a directory: the PATH of systemd's units, and snap's.
_PROGRAMS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/snap/bin")
_HOST_PATH = re.compile(r"""["']?hostPath["']?\s*:\s*["']?([^"',\s}]+)""")
_KIND = "nvidia.com/gpu"
_BUILT_IN = frozenset({"runc", "io.containerd.runc.v2"})


class Runtime(NamedTuple):
    """A runtime of Docker's for NVIDIA's GPUs."""

    name: str  # "nvidia"
    path: str  # of its program as it is written, "" where daemon.json does not define it
    is_there: bool
    is_default: bool


class CdiSpecification(NamedTuple):
    """A CDI specification for NVIDIA's GPUs."""

    path: str
    how_many: int  # files of the host that it names
    missing: tuple[str, ...]  # of those, the ones that do not exist


class ContainerSetup(NamedTuple):
    """What containers are given GPUs by."""

    damaged: str  # why daemon.json cannot be used, "" if it can
    runtimes: tuple[Runtime, ...]
    specifications: tuple[CdiSpecification, ...]


def look(host: Host) -> Fact[ContainerSetup]:
    """Read daemon.json and the specifications; on Linux, where containers are started."""
    if host.os_family != "linux":
        return Seen(ContainerSetup("", (), ()), "only Linux gives GPUs to containers in this way")
    try:
        damaged, runtimes = _docker(host)
    except HostError as error:
        return Unseen(str(error))
    return Seen(ContainerSetup(damaged, runtimes, tuple(_specifications(host))), f"{DAEMON}, {', '.join(_CDI_FOLDERS)}")


def _docker(host: Host) -> tuple[str, tuple[Runtime, ...]]:
    """Raises HostError for a file that is there and cannot be read."""
    try:
        text = host.read_text(DAEMON, _DAEMON_BYTES)
    except Missing:
        return "", ()
    if not text.strip():
        return "", ()
    from doctor.host.documents import parse_json  # late: most machines have no such file

    try:
        said = parse_json(text)
    except ValueError as error:
        return f"it is not JSON: {error}", ()
    if not isinstance(said, dict):
        return "it is not a JSON object", ()
    return "", tuple(_runtimes(host, said))


def _runtimes(host: Host, said: dict[str, Any]) -> Iterator[Runtime]:
    defined = said.get("runtimes")
    programs = {str(name): _program(one) for name, one in defined.items()} if isinstance(defined, dict) else {}
    default = said.get("default-runtime")
    default = default if isinstance(default, str) else ""
    for name, path in list(programs.items())[:_RUNTIMES_AT_MOST]:
        if path and "nvidia" in f"{name} {path}":
            yield Runtime(name, path, _is_program(host, path), name == default)
    if default and default not in programs and default not in _BUILT_IN and "nvidia" in default:
        yield Runtime(default, "", is_there=False, is_default=True)


def _program(defined: Any) -> str:
    path = defined.get("path") if isinstance(defined, dict) else None
    return path if isinstance(path, str) else ""


def _is_program(host: Host, path: str) -> bool:
    return any(host.is_file(one) for one in ((path,) if "/" in path else (f"{each}/{path}" for each in _PROGRAMS)))


def _specifications(host: Host) -> Iterator[CdiSpecification]:
    for folder in _CDI_FOLDERS:
        for name in names_of(host, folder)[:_SPECS_AT_MOST]:
            if name.endswith((".yaml", ".yml", ".json")):
                yield from _specification(host, f"{folder}/{name}")


def _specification(host: Host, path: str) -> Iterator[CdiSpecification]:
    """A device node may be missing until the driver's module is loaded: nodes are left to other rules."""
    try:
        text = host.read_text(path, _SPEC_BYTES)
    except HostError:
        return
    if _KIND in text:
        named = dict.fromkeys(one for one in _HOST_PATH.findall(text)[:_PATHS_AT_MOST] if not one.startswith("/dev/"))
        yield CdiSpecification(path, len(named), tuple(one for one in named if not host.exists(one)))


PROBE = IndependentProbe("container set-up", ContainerSetup, look)
