"""Questions to a machine of which no answer is expected: what is not there and what cannot be read are the same.

For looking around. Where it matters why there is no answer, ask the host itself and keep the reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.host import READ_LIMIT_BYTES, Host, HostError
from doctor.model.facts.failure import Unread

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def names_of(host: Host, directory: str) -> tuple[str, ...]:
    """The sorted names in a directory, none where it cannot be listed."""
    try:
        return host.names(directory)
    except HostError:
        return ()


def first_names(host: Host, directory: str, at_most: int) -> tuple[str, ...]:
    """The first names in a directory; the report says what is left out."""
    names = names_of(host, directory)
    if len(names) > at_most:
        leave_out(host, directory, f"only the first {at_most} of its {len(names)} entries were searched")
    return names[:at_most]


def leave_out(host: Host, what: str, why: str) -> None:
    """Note for the report what a bound of ours leaves out; a host that is asked outside of a look notes nothing."""
    noted: dict[Unread, None] = getattr(host, "left_out", {})
    noted[Unread(what, why)] = None


def text_of(host: Host, path: str, limit_bytes: int = READ_LIMIT_BYTES) -> str:
    """The text of a file, "" where it cannot be read."""
    try:
        return host.read_text(path, limit_bytes)
    except HostError:
        return ""


def real_path_of(host: Host, path: str) -> str:
    """The path with links resolved, the path itself where they lead nowhere."""
    try:
        return host.real_path(path)
    except HostError:
        return path


def search_path(host: Host) -> tuple[str, ...]:
    """The directories of PATH, or those of a login shell where no environment is known (an offline root)."""
    separator = ";" if host.os_family == "windows" else ":"
    value = host.environ.get("PATH") or ("" if host.os_family == "windows" else DEFAULT_PATH)
    parts = (part.replace("\\", "/").rstrip("/") for part in value.split(separator)[:256])
    return tuple(part for part in parts if part and not (host.os_family == "linux" and _is_windows_drive(part)))


def _is_windows_drive(directory: str) -> bool:
    """Whether WSL shows a Windows directory here: a look into it costs milliseconds and shows no Linux program."""
    return directory.startswith("/mnt/") and (len(directory) == 6 or directory[6:7] == "/")


def on_path(host: Host, program: str) -> Iterator[str]:
    """Every executable file of this name on PATH, in order."""
    suffix = ".exe" if host.os_family == "windows" else ""
    for directory in search_path(host):
        path = f"{directory}/{program}{suffix}"
        try:
            status = host.status(path)
        except HostError:
            continue
        if status.kind == "file" and (suffix or status.mode & 0o111):
            yield path
