"""Which machine is looked at."""

from __future__ import annotations

from doctor.host import Host


def host_of(root: str | None) -> Host:
    """This machine, or the one whose files lie under `root`; raises NotADirectory."""
    if root is None:
        from doctor.host.live import LiveHost  # late: only one of them is needed

        return LiveHost()
    from doctor.host.root import RootHost

    return RootHost(root)
