"""Files of settings that say which libraries and devices programs use, by the time of their last change."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.host import Host, HostError
from doctor.host.optional_reads import names_of
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import Place
from doctor.probes.changes import Change, Source

_FILES = (
    *("/etc/environment", "/etc/profile", "/etc/bash.bashrc", "/etc/ld.so.conf", "/etc/ld.so.preload", "/etc/modules"),
    *(
        "/etc/default/grub",
        "/etc/docker/daemon.json",
        "/etc/cdi/nvidia.yaml",
        "/etc/nvidia-container-runtime/config.toml",
    ),
    "/usr/local/cuda",
)
_FOLDERS = ("/etc/profile.d", "/etc/ld.so.conf.d", "/etc/modprobe.d", "/etc/modules-load.d", "/etc/X11/xorg.conf.d")
_AT_HOME = (".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".config/fish/config.fish", ".theanorc")


def _read(host: Host, _: tuple[Environment, ...], _since_s: float) -> Iterator[Change]:
    """A link's own time: /usr/local/cuda leads elsewhere when it was made again."""
    home = host.environ.get("HOME", "")
    paths = [*_FILES, *(f"{home}/{name}" for name in _AT_HOME if home)]
    paths += [f"{folder}/{name}" for folder in _FOLDERS for name in names_of(host, folder)]
    for path in paths:
        try:
            yield Change(host.link_status(path).mtime, "changed", path, Place(path))
        except HostError:
            continue


SOURCE = Source("settings", _read, is_log=False)
