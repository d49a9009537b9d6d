"""How GPUs get into containers: runtimes of Docker, containerd and CRI-O, and CDI specifications.

Sources: Docker's reference, "dockerd" (daemon.json: runtimes, default-runtime); containerd's docs/cri/config.md
(runtimes.NAME.options.BinaryName, default_runtime_name, disabled_plugins) and CRI-O's docs/crio.conf.5.md
(crio.runtime.runtimes.NAME, runtime_path, default_runtime); Container Device Interface, SPEC.md
(directories, hostPath); NVIDIA Container Toolkit documentation, "Support for Container Device Interface".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from compat.base.record import NamedTuple
from doctor.host import Host, HostError, Missing
from doctor.host.optional_reads import names_of, text_of
from doctor.model.facts import IndependentProbe
from doctor.model.facts.seen import Fact, Seen, Unseen

DAEMON = "/etc/docker/daemon.json"
CONTAINERD, CRIO = "/etc/containerd/config.toml", "/etc/crio/crio.conf"
_SETTINGS_AT_MOST = 16  # files of one program
_CDI_FOLDERS = ("/etc/cdi", "/var/run/cdi")
_DAEMON_BYTES, _SPEC_BYTES = 1 << 20, 4 << 20
_SPECS_AT_MOST, _PATHS_AT_MOST, _RUNTIMES_AT_MOST = 20, 2_000, 50
# Where dockerd looks for a program without a directory: the PATH of systemd's units, and snap's.
_PROGRAMS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/snap/bin")
_HOST_PATH = re.compile(r"""["']?hostPath["']?\s*:\s*["']?([^"',\s}]+)""")
_KIND = "nvidia.com/gpu"
_COMMENT = re.compile(r"(?m)^\s*#.*$")
_SECTION = re.compile(
    r"""(?m)^\s*\[[^\]\n]*runtimes\.["']?([\w-]+)["']?(?:\.options)?\]\s*\n((?:(?!\s*\[)[^\n]*\n?)*)"""
)
_DEFAULT = re.compile(r"""(?m)^\s*default_runtime(?:_name)?\s*=\s*["']([\w-]+)["']""")
_NO_CRI = re.compile(r"""(?m)^\s*disabled_plugins\s*=\s*\[[^\]]*["'](?:io\.containerd\.grpc\.v1\.)?cri["']""")
_BUILT_IN = frozenset({"runc", "io.containerd.runc.v2"})


class Runtime(NamedTuple):
    """A runtime for NVIDIA's GPUs."""

    name: str  # "nvidia"
    path: str  # of its program as it is written, "" where no file defines it
    is_there: bool
    is_default: bool
    file: str = DAEMON  # that names it


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
    no_cri: str = ""  # the file that turns containerd's part for Kubernetes off beside a runtime for GPUs


def look(host: Host) -> Fact[ContainerSetup]:
    """Read daemon.json and the specifications; on Linux, where containers are started."""
    if host.os_family != "linux":
        return Seen(ContainerSetup("", (), ()), "only Linux gives GPUs to containers in this way")
    try:
        damaged, runtimes = _docker(host)
    except HostError as error:
        return Unseen(str(error))
    containerd = _settings(host, CONTAINERD, "/etc/containerd/conf.d")
    crio = _settings(host, CRIO, "/etc/crio/crio.conf.d")
    others = (*_of_toml(host, containerd, "BinaryName"), *_of_toml(host, crio, "runtime_path"))
    off = [path for path, text in containerd.items() if others and _NO_CRI.search(text)]
    return Seen(
        ContainerSetup(damaged, (*runtimes, *others), tuple(_specifications(host)), "".join(off[:1])),
        f"{DAEMON}, {CONTAINERD}, {CRIO}, {', '.join(_CDI_FOLDERS)}",
    )


def _settings(host: Host, main: str, folder: str) -> dict[str, str]:
    """The settings of a program as text, by file: its own, and those that are added to it."""
    more = [f"{folder}/{name}" for name in names_of(host, folder) if name.endswith((".toml", ".conf"))]
    texts = {path: text_of(host, path, _DAEMON_BYTES) for path in (main, *more[:_SETTINGS_AT_MOST])}
    return {path: _COMMENT.sub("", text) for path, text in texts.items() if text}


def _of_toml(host: Host, texts: dict[str, str], key: str) -> Iterator[Runtime]:
    """Yield NVIDIA's runtimes; the program stands in the section of a runtime, or in its options."""
    default = next((found[1] for text in reversed(texts.values()) if (found := _DEFAULT.search(text))), "")
    defined = set()
    for path, text in texts.items():
        for name, body in _SECTION.findall(text):
            program = re.search(rf"""(?m)^\s*{key}\s*=\s*["']([^"'\n]+)""", body)
            defined.add(name)
            if program and "nvidia" in program[1]:
                yield Runtime(
                    name, program[1], is_there=_is_program(host, program[1]), is_default=name == default, file=path
                )
    if "nvidia" in default and default not in defined:
        yield Runtime(default, "", is_there=False, is_default=True, file=next(reversed(texts)))


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
