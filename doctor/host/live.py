"""This machine, seen by this process."""

from __future__ import annotations

import os
from collections.abc import Mapping

from compat.base.mounts import answers, hanging_mounts, mount_on_the_way, why_dead
from compat.base.trust import NotTrusted, refuse
from compat.base.user_dirs import this_family
from doctor.host import READ_LIMIT_BYTES, HostError, Missing, NotRunnable, Ran, Unreadable
from doctor.host.base import FileHost
from doctor.host.files import drain, reason
from doctor.host.tree import Place
from doctor.model.facts.failure import Unread


class LiveHost(FileHost):
    """The machine on which gpudoctor runs."""

    kind = "live"
    is_live = True

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        """`environ` replaces the process's own environment in every judgement."""
        self.environ: Mapping[str, str] = dict(os.environ if environ is None else environ)
        self.os_family = this_family()
        self._dead: dict[str, None] = {}  # mounts on the way of what was asked for, that do not answer

    @property
    def name(self) -> str:
        """The host name."""
        return os.uname().nodename if os.name == "posix" else self.environ.get("COMPUTERNAME", "")

    def _real(self, path: str) -> Place:
        return Place(self._allowed(path))

    def _real_link(self, path: str) -> Place:
        return Place(self._allowed(path))

    def _allowed(self, path: str) -> str:
        """The path, if the operating system may be asked for it; raises HostError."""
        if "\0" in path:
            raise Unreadable(path.replace("\0", "\\0"), "the path has a NUL byte")
        if not path:
            raise Missing(path)
        self._refuse_dead_mount(path)
        return path

    def real_path(self, path: str) -> str:
        """See Host."""
        try:
            return os.path.realpath(self._allowed(path), strict=True).replace(os.sep, "/")
        except OSError as error:
            raise reason(path, error) from error

    def may_access(self, path: str, wanted: str) -> bool:
        """See Host: asked of the kernel, for the effective user."""
        bits = {"r": os.R_OK, "w": os.W_OK, "x": os.X_OK}
        mode = 0
        for letter in wanted:
            mode |= bits[letter]
        try:
            return os.access(self._allowed(path), mode, effective_ids=os.access in os.supports_effective_ids)
        except (HostError, ValueError):
            return False

    def run(self, argv: tuple[str, ...], timeout_s: float = 5.0, env: Mapping[str, str] | None = None) -> Ran:
        """See Host. A child that outlives its time is killed, and abandoned if it cannot be."""
        found = self._allowed(self._program(argv[0]))
        from doctor.host.child import run_child  # late: a check that runs nothing need not load subprocess

        return run_child((found, *argv[1:]), timeout_s, self.environ if env is None else env, os.path.realpath(found))

    def _program(self, name: str) -> str:
        """The absolute path of a command; raises Missing."""
        if not name or "\0" in name:
            raise Missing(name.replace("\0", "\\0"))
        path = self.environ.get("PATH", os.defpath)
        if os.name != "posix":
            import shutil  # late: slow to load, and only Windows needs its PATHEXT rules

            found = shutil.which(name, path=path)
        else:
            places = [name] if "/" in name else [os.path.join(folder, name) for folder in path.split(os.pathsep)]
            found = next((one for one in places if os.access(one, os.X_OK) and os.path.isfile(one)), None)
        if found is None:
            raise Missing(name)
        return os.path.abspath(found)

    def refuse_unsafe(self, path: str) -> None:
        """See Host: `compat.base.trust` decides."""
        try:
            refuse(path, environ=self.environ)
        except NotTrusted as refused:
            raise NotRunnable(path, f"not started: {refused.why}") from refused
        except OSError as error:
            raise reason(path, error) from error

    def kernel_machine(self) -> str:
        """See Host."""
        if os.name != "posix":
            return self.environ.get("PROCESSOR_ARCHITECTURE", "")
        return os.uname().machine

    def libc_version(self) -> str:
        """See Host."""
        try:
            return os.confstr("CS_GNU_LIBC_VERSION") or ""
        except (AttributeError, ValueError, OSError):
            raise Unreadable("the C library in use", "this Python is not built on the GNU C library") from None

    def space_bytes(self, path: str) -> int:
        """See Host."""
        try:
            found = os.statvfs(self._allowed(path))
        except AttributeError:
            raise Unreadable(path, "this operating system does not say") from None
        except OSError as error:
            raise reason(path, error) from error
        return found.f_frsize * found.f_blocks

    def drain(self, path: str, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """See Host."""
        return drain(self._allowed(path), path, limit_bytes)

    @property
    def unread(self) -> tuple[Unread, ...]:
        """The file systems that were asked for something and do not answer."""
        return tuple(Unread(mount, f"{why_dead(mount)}: nothing below it was read") for mount in self._dead)

    def _refuse_dead_mount(self, path: str) -> None:
        """Raise Unreadable for a path that leads into a mount that does not answer; asked once a mount."""
        mounts = hanging_mounts()
        mount = mount_on_the_way(path, mounts) if mounts else ""
        if mount and not answers(mount):
            self._dead[mount] = None
            raise Unreadable(path, why_dead(mount))
