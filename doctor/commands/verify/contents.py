"""What is in the files of a wheel's copy, held against the digests that the wheel lists.

The main library of cuDNN 9 says no release of its own, and one of another release has the very same size: only its
digest tells. The others say a release or differ in size, and are hashed where there is time for it.
"""

from __future__ import annotations

import base64
import hashlib
import posixpath
from collections.abc import Iterable, Iterator

from doctor.host import Host, HostError
from doctor.host.files import lines_of
from doctor.messages import cause as codes
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.seen import Place, how, value_or
from doctor.model.finding import Answer, Evidence, bad
from doctor.pyenv.metadata import RECORD_AT_MOST_BYTES, RECORD_LINES_AT_MOST, listed
from doctor.rules.shared.cudnn_use import is_main, reinstall_need

_RECORD = "RECORD"
_AT_ONCE = 1 << 20


def changed(copy: CudnnCopy, host: Host, *, every: bool) -> tuple[str, ...]:
    """Libraries whose content is not what the wheel lists: the main one, or all; () where no wheel lists them."""
    listed_in = how(copy.missing)
    if not isinstance(listed_in, Place) or posixpath.basename(listed_in.file) != _RECORD:
        return ()
    digests = _digests(listed_in.file, host)
    paths = [part.path for part in value_or(copy.parts, ()) if every or is_main(part.name)]
    site = posixpath.dirname(posixpath.dirname(listed_in.file))
    return tuple(
        path for path in paths if _differs(path, digests.get(posixpath.relpath(path, _real(site, host))), host)
    )


def _real(path: str, host: Host) -> str:
    return host.real_path(path) if host.is_dir(path) else path


def _digests(record: str, host: Host) -> dict[str, str]:
    """By the path as it is listed; RECORD writes them as "sha256=" and base64 without its padding (PEP 376)."""
    try:
        return dict(_digest_lines(lines_of(host, record, RECORD_AT_MOST_BYTES, RECORD_LINES_AT_MOST)))
    except HostError:
        return {}


def _digest_lines(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        path, digest, _ = listed(line)
        if digest.startswith("sha256="):
            yield path, digest.removeprefix("sha256=")


def _differs(path: str, digest: str | None, host: Host) -> bool:
    if not digest:
        return False
    found = hashlib.sha256()
    try:
        with host.open(path) as stream:
            while piece := stream.read(_AT_ONCE):
                found.update(piece)
    except (HostError, OSError):
        return False  # that it cannot be read is for the trial to say
    return base64.urlsafe_b64encode(found.digest()).rstrip(b"=").decode() != digest


def of_contents(copy: CudnnCopy, host: Host, facts: Facts, *, every: bool) -> Iterator[Answer]:
    """The finding that files of a copy are not the wheel's."""
    paths = changed(copy, host, every=every)
    if paths:
        more = f", and {len(paths) - 1} more" if len(paths) > 1 else ""
        yield bad(
            f"{copy.label} is not what {copy.owner} brought: {posixpath.basename(paths[0])} is another{more}",
            reinstall_need(copy, facts),
            evidence=tuple(Evidence("its SHA-256 is not the one that RECORD lists", file=path) for path in paths),
        )._replace(code=codes.INCOMPLETE, subject=copy.label)
