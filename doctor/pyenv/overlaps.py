"""Files that two installed distributions list as their own: only the later one's is there.

Only distributions that are known to share directories are compared, so a sound environment costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from compat.traits import traits_of
from doctor.host import Host, HostError, Unreadable
from doctor.model.facts.environment import Distribution, Overlap
from doctor.model.facts.seen import Fact, Seen, Unseen
from doctor.pyenv.metadata import Recorded, record

_AT_MOST = 64  # files reported of one group, shared libraries first
_HASH_AT_MOST_BYTES = 8 << 20
_PATHS_AT_MOST = 60_000  # in a group: tensorflow lists some 15,000
_GROUPS_AT_MOST = 64


def overlaps_among(host: Host, distributions: tuple[Distribution, ...]) -> Fact[tuple[Overlap, ...]]:
    """The files with several owners, libraries first, at most 64 for each group of packages."""
    found: list[Overlap] = []
    for group in _groups(distributions):
        try:
            found += _overlaps(host, group)
        except HostError as error:
            return Unseen(str(error))
    return Seen(tuple(found), "RECORD files")


def _groups(distributions: tuple[Distribution, ...]) -> Iterator[list[Distribution]]:
    families: dict[tuple[str, str], list[Distribution]] = {}
    for one in distributions:
        family = family_of(one.name) if one.kind == "wheel" and not one.hidden_by else ""
        if family:
            families.setdefault((one.site, family), []).append(one)
    return islice((group for group in families.values() if len(group) > 1), _GROUPS_AT_MOST)


def family_of(name: str) -> str:
    """What a distribution shares its directory with, "" for nothing known: nvidia-cudnn for nvidia-cudnn-cu12."""
    if name.startswith("nvidia-"):
        stem, _, digits = name.rpartition("-cu")
        return stem if digits.isdigit() else ""
    traits = traits_of(name)
    return traits.id if traits.one_directory else ""


def _overlaps(host: Host, group: list[Distribution]) -> list[Overlap]:
    claims: dict[str, dict[Distribution, Recorded]] = {}
    for one in group:
        for path, recorded in record(host, one).items():
            claims.setdefault(path, {})[one] = recorded
        if len(claims) > _PATHS_AT_MOST:
            raise Unreadable(f"{one.metadata}/RECORD", f"with its like, it lists more than {_PATHS_AT_MOST} files")
    shared = [path for path, owners in claims.items() if len(owners) > 1 and _differ(path, owners)]
    shared.sort(key=lambda path: (not (".so" in path or path.endswith((".dll", ".pyd", ".dylib"))), path))
    return [_overlap(host, path, claims[path]) for path in shared[:_AT_MOST]]


def _differ(path: str, owners: dict[Distribution, Recorded]) -> bool:
    """Whether the owners list different contents: an equal __init__.py in both does no harm."""
    if "__pycache__" in path or path.startswith("../"):
        return False
    return len(set(owners.values())) > 1 or not all(recorded.digest for recorded in owners.values())


def _overlap(host: Host, path: str, owners: dict[Distribution, Recorded]) -> Overlap:
    winner = _winner(host, path, owners)
    labels = sorted(f"{one.name} {one.version}" for one in owners)
    if isinstance(winner, Seen):
        labels.sort(key=lambda label: label == winner.value)
    return Overlap(path, tuple(labels), winner)


def _winner(host: Host, path: str, owners: dict[Distribution, Recorded]) -> Fact[str]:
    """The owner whose recorded size the file has, or whose digest where sizes are equal."""
    full = f"{next(iter(owners)).site}/{path}"
    try:
        size = host.status(full).size_bytes
        fitting = [one for one, recorded in owners.items() if recorded.size_bytes == str(size)]
        if len(fitting) == 1:
            return Seen(f"{fitting[0].name} {fitting[0].version}", f"size of {full}")
        if size <= _HASH_AT_MOST_BYTES:
            return _winner_by_digest(host, full, owners)
    except HostError as error:
        return Unseen(str(error))
    return Unseen(f"{full}: its size does not tell its owners apart, and it is too large to hash")


def _winner_by_digest(host: Host, full: str, owners: dict[Distribution, Recorded]) -> Fact[str]:
    import base64  # late: only environments with overlapping wheels need them
    import hashlib

    content = host.read_bytes(full, _HASH_AT_MOST_BYTES)
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    for one, recorded in owners.items():
        if recorded.digest == f"sha256={digest}":
            return Seen(f"{one.name} {one.version}", f"SHA-256 of {full}")
    return Unseen(f"{full} is what none of its owners recorded: changed after installation")
