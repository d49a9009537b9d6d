"""File systems that may hang: which of the mounts on the way of a path does not answer.

A dead server lets each call wait without end, and no signal ends it. So a mount is asked once, by a child that may be
left behind, before anything below it is opened. What is asked goes to the server: a status may come from a cache.

Sources: proc_pid_mounts(5), nfs(5), the kernel's Documentation/filesystems (fuse.rst, autofs.rst).
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from functools import lru_cache

# All that needs no server and no other process. Of any other kind, known or not, a mount may hang.
_LOCAL = frozenset(
    (
        *("ext2", "ext3", "ext4", "xfs", "btrfs", "bcachefs", "f2fs", "jfs", "reiserfs", "nilfs2", "zfs", "erofs"),
        *("squashfs", "cramfs", "iso9660", "udf", "vfat", "msdos", "exfat", "ntfs", "ntfs3", "hfs", "hfsplus", "apfs"),
        *("ubifs", "jffs2", "romfs", "overlay", "aufs", "tmpfs", "ramfs", "rootfs", "devtmpfs", "devpts", "mqueue"),
        *("proc", "sysfs", "cgroup", "cgroup2", "hugetlbfs", "bpf", "debugfs", "tracefs", "securityfs", "selinuxfs"),
        *("configfs", "pstore", "efivarfs", "binfmt_misc", "fusectl", "nsfs", "rpc_pipefs", "nfsd", "resctrl"),
    )
)
_OF_THE_KERNEL = ("/proc/", "/sys/", "/dev/")  # systemd waits there with an autofs for who wants binfmt_misc
_LINKS_AT_MOST = 40  # as the Linux kernel: MAXSYMLINKS
ANSWERS_WITHIN_S = 3.0
_ALL_WITHIN_S = 10.0  # of all dead ones together; the others are given a moment
_MOMENT_S = 0.05
_STEP_S = 0.002
_NO_SUCH_NAME = ".gpudoctor-asks-whether-this-answers"
NOWHERE = "/dev/null/gpudoctor"  # a directory in which nothing can be

_answered: dict[str, bool] = {}
_waited_s = 0.0


def dead_mount(path: str) -> str:
    """Return the mount on the way of a path that does not answer, "" for none. A mount is asked once in a process."""
    mounts = hanging_mounts()
    mount = mount_on_the_way(path, mounts) if mounts else ""
    return mount if mount and not answers(mount) else ""


def reachable(directory: str) -> str:
    """Return a directory of ours, NOWHERE if its mount does not answer."""
    return NOWHERE if directory and dead_mount(directory) else directory


def answers(mount: str) -> bool:
    """Return whether a mount answers in time."""
    if mount not in _answered:
        _answered[mount] = _ask(mount)
    return _answered[mount]


def why_dead(mount: str) -> str:
    """Return the reason that a user is told."""
    return f"the file system at {mount} does not answer"


@lru_cache(maxsize=1)
def hanging_mounts() -> tuple[str, ...]:
    """Return the mount points of file systems that may hang, but "/"."""
    if sys.platform != "linux":
        return ()
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as stream:
            fields = [line.split(" ") for line in stream]
    except OSError:
        return ()
    named = {plain(field[1]) for field in fields if len(field) > 2 and field[2] not in _LOCAL}
    return tuple(sorted(one for one in named if one != "/" and not one.startswith(_OF_THE_KERNEL)))


def plain(name: str) -> str:
    """Return a mount point without the octal escapes of fstab(5)."""
    for escape, sign in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        name = name.replace(escape, sign)
    return name


def mount_on_the_way(path: str, mounts: tuple[str, ...]) -> str:
    """Return the first of some mounts that opening a path would enter, links followed; "" for none.

    It touches no mount.
    """
    todo = os.path.abspath(path).split("/")[:0:-1]
    done = ""
    links = 0
    while todo:
        part = todo.pop()
        if part in {"", ".", ".."}:
            done = os.path.dirname(done).rstrip("/") if part == ".." else done
            continue
        here = f"{done}/{part}"
        if here in mounts:
            return here
        target = _link_text(here)
        if target and links < _LINKS_AT_MOST:
            links += 1
            done = "" if target.startswith("/") else done
            todo.extend(target.split("/")[::-1])
        else:
            done = here
    return ""


@lru_cache(maxsize=8192)
def _link_text(path: str) -> str:
    try:
        return os.readlink(path)
    except (OSError, ValueError):
        return ""


def _ask(mount: str) -> bool:
    global _waited_s  # noqa: PLW0603 - of this process
    started = time.monotonic()
    within_s = ANSWERS_WITHIN_S if _waited_s < _ALL_WITHIN_S else _MOMENT_S
    from compat.base.process import forked  # late: most machines have no such mount

    # A thread would not do: a request that the server of a FUSE has read keeps its process from ending, killed or not.
    child = forked(lambda: _question(mount))
    while not os.waitpid(child, os.WNOHANG)[0]:
        if time.monotonic() - started > within_s:
            os.kill(child, signal.SIGKILL)  # which a file system may leave without effect
            _waited_s += within_s
            return False
        time.sleep(_STEP_S)
    return True


def _question(mount: str) -> None:
    for ask in (os.stat, os.statvfs, os.listdir, lambda path: os.lstat(f"{path}/{_NO_SUCH_NAME}")):
        with contextlib.suppress(OSError):  # an error is an answer
            ask(mount)
