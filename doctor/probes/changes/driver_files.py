"""What NVIDIA's installer and DKMS did, by their logs.

Sources: nvidia-installer's log, whose first lines name its release; dkms(8): make.log of each module, kernel, machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.host import Host, HostError
from doctor.host.optional_reads import names_of, text_of
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import Place
from doctor.probes.changes import Change, Source

_INSTALLER = "/var/log/nvidia-installer.log"
_UNINSTALLER = "/var/log/nvidia-uninstall.log"
_DKMS = "/var/lib/dkms/nvidia"


def _read(host: Host, _: tuple[Environment, ...], _since_s: float) -> Iterator[Change]:
    for path, what in ((_INSTALLER, "installed"), (_UNINSTALLER, "removed")):
        release = re.search(r"^installer version: (\d[\d.]*)", text_of(host, path), re.MULTILINE)
        yield from _of_file(
            host,
            path,
            Change(0, what, "NVIDIA driver", Place(path), new=release[1] if release else "", by="NVIDIA's installer"),
        )
    for release_name in names_of(host, _DKMS):
        for kernel in names_of(host, f"{_DKMS}/{release_name}"):
            for machine in names_of(host, f"{_DKMS}/{release_name}/{kernel}"):
                log = f"{_DKMS}/{release_name}/{kernel}/{machine}/log/make.log"
                yield from _of_file(
                    host,
                    log,
                    Change(0, "built", f"nvidia module for {kernel}", Place(log), new=release_name, by="dkms"),
                )


def _of_file(host: Host, path: str, change: Change) -> Iterator[Change]:
    try:
        yield change._replace(at_s=host.status(path).mtime)
    except HostError:
        return


SOURCE = Source("driver installers", _read, is_log=False)
