"""The version resource of a DLL: what Windows shows as its file version."""

from __future__ import annotations

from doctor.host import Host, HostError
from doctor.model.facts.seen import Fact, Seen, Unseen


def version_of(host: Host, path: str) -> Fact[tuple[int, ...]]:
    """Its four numbers; Unseen, with the reason, for a file that is not there, is damaged or has none."""
    from doctor.binaries.pe import Pe, PeError  # late: only Windows has DLLs

    try:
        with host.open(path) as stream:
            numbers = Pe(stream).file_version
    except (HostError, OSError) as error:
        return Unseen(str(error))
    except PeError as error:
        return Unseen(f"{path}: {error}")
    return Seen(numbers, f"version resource of {path}") if numbers else Unseen(f"{path} has no version resource")
