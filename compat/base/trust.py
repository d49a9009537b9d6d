"""What this user may start: nothing that another user could have put there, or could change.

Root: every link and every directory on the way to the program, by owner, mode and POSIX ACL; for a Python also each
pyvenv.cfg beside it, its `home`, its standard library, and what it imports when it starts (.pth files, sitecustomize).
Any other user: who owns the program, its directory, the links to it and its pyvenv.cfg. Where a link or a variable of
his own leads (a cluster's modules), and who may write into what is his, he decided himself.
Sources: CPython's Modules/getpath.py and Lib/site.py; acl(5); execve(2); user_namespaces(7).
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Mapping

from compat.base.record import NamedTuple

_LINKS_AT_MOST = 40  # as the Linux kernel: MAXSYMLINKS
_SCRIPTS_AT_MOST = 4  # as the Linux kernel: scripts whose interpreter is a script
_START_BYTES = 256  # of a script, likewise
_SMALL_BYTES = 64 << 10
_ACL = "system.posix_acl_access"
_ACL_USER, _ACL_GROUP_OBJ, _ACL_GROUP = 0x02, 0x04, 0x08
_MAY_WRITE = 2
_LIBRARY = r"(?:lib-)?(?:python|pypy)[\d.]*t?(?:\.zip)?"  # "python3" holds Debian's packages
_PROGRAM = r"(?i)(?:python|pypy)(\d[\d.]*)?[a-z]*"
_CHOICES = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "CUDA_HOME", "CUDA_PATH")
_SITES = ("site-packages", "dist-packages")
_SYSTEM = ("/", "/bin", "/lib", "/lib32", "/lib64", "/sbin", "/usr")


class NotTrusted(OSError):
    """Another user could have put it there; the message names the place, `place` too."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__(errno.EPERM, why, place)
        self.place = place
        self.why = why


class Step(NamedTuple):
    """One name on the way to a file."""

    place: str
    found: os.stat_result  # by lstat
    is_last: bool = False  # of the path, or of what a link at its end leads to

    @property
    def is_link(self) -> bool:
        """Whether it leads elsewhere."""
        return stat.S_ISLNK(self.found.st_mode)


def refuse(path: str, *, uid: int | None = None, environ: Mapping[str, str] | None = None) -> None:
    """Raise NotTrusted unless this user may start a program, load a library or import a package; raises OSError.

    `uid` and `environ` replace the user and the variables of this process.
    """
    if os.name != "posix":
        return
    variables = os.environ if environ is None else environ
    who = os.geteuid() if uid is None else uid
    if who:
        _User(who, variables).refuse(path)
    else:
        _Root(variables.get("PATH", os.defpath)).refuse(path)


def owner_of(path: str, uid: int | None = None) -> int | None:
    """The other user whose file or directory this is; None where it is root's or this user's, or is unknown."""
    if os.name != "posix":
        return None
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return None if _owns(os.geteuid() if uid is None else uid, Step(path, found)) else found.st_uid


def is_ours(place: str) -> bool:
    """Return whether a link or file, not what it leads to, belongs to root or to this user; raises OSError."""
    return _owns(os.geteuid(), Step(place, os.lstat(place)))


def others_may_write(place: str | int, found: os.stat_result, group: int = 0) -> bool:
    """Return whether a user besides the owner, root and this user may write, by mode, group and ACL.

    `group` is this user's own. A sticky bit is not looked at.
    """
    if found.st_mode & stat.S_IWOTH:
        return True
    if not found.st_mode & stat.S_IWGRP:
        return False  # nor does any entry of an ACL give it: these bits are its mask
    try:
        written = os.getxattr(place, _ACL)
    except (AttributeError, OSError):  # another system; no such list, or none on this file system
        return found.st_gid != group and not _is_of_root(found.st_gid)
    entries = [written[at : at + 8] for at in range(4, len(written), 8)]
    for tag, permissions, number in ((_number(one[:2]), _number(one[2:4]), _number(one[4:])) for one in entries):
        if permissions & _MAY_WRITE and (
            (tag == _ACL_USER and number not in {0, found.st_uid, os.geteuid()})
            or (tag == _ACL_GROUP and not _is_of_root(number))
            or (tag == _ACL_GROUP_OBJ and found.st_gid != group and not _is_of_root(found.st_gid))
        ):
            return True
    return False


def _number(little_endian: bytes) -> int:
    return int.from_bytes(little_endian, "little")


def _is_of_root(gid: int) -> bool:
    """Whether nobody but root is in a local group: Debian gives /usr/local to its group staff, without members."""
    if gid == 0:
        return True
    try:
        with open("/etc/group", encoding="utf-8", errors="replace") as stream:
            groups = [line.rstrip("\n").split(":") for line in stream]
        with open("/etc/passwd", encoding="utf-8", errors="replace") as stream:
            users = [line.split(":") for line in stream]
    except OSError:
        return False
    members = [group[3] for group in groups if len(group) > 3 and group[2] == str(gid)]
    return members == [""] and not any(len(user) > 3 and user[3] == str(gid) and user[2] != "0" for user in users)


def _owns(uid: int, step: Step) -> bool:
    """Whether it belongs to root or to this user.

    In a user namespace (a rootless container) the machine's root has no number: his files are those of the system's
    directories that belong to nobody.
    """
    owner = step.found.st_uid
    if owner in {0, uid}:
        return True
    top = "/".join(step.place.split("/")[:2])
    return top in _SYSTEM and owner == _unmapped()


def _unmapped() -> int | None:
    """The number that stands for users outside this user namespace; None where there is none outside."""
    try:
        with open("/proc/self/uid_map", encoding="ascii") as stream:
            if stream.read().split() == ["0", "0", "4294967295"]:
                return None
        with open("/proc/sys/kernel/overflowuid", encoding="ascii") as stream:
            return int(stream.read())
    except (OSError, ValueError):
        return None


def way(path: str) -> Iterator[Step]:
    """Yield "/", then each directory and link that opening a path passes, at last what it leads to; raises OSError."""
    todo = _parts(path if path.startswith("/") else f"{os.getcwd()}/{path}")
    here, links = "", 0
    yield Step("/", os.lstat("/"))
    while todo:
        part = todo.pop()
        if part == "..":
            here = here.rpartition("/")[0]
            continue
        step = Step(f"{here}/{part}", os.lstat(f"{here}/{part}"), not todo)
        yield step
        if not step.is_link:
            here = step.place
            continue
        links += 1
        if links > _LINKS_AT_MOST:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        target = os.readlink(step.place)
        here = "" if target.startswith("/") else here
        todo.extend(_parts(target))


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/")[::-1] if part not in {"", "."}]


def _names_of(path: str) -> Iterator[str]:
    """Yield the path and what it is a link to, one link after the other: Python looks beside each for pyvenv.cfg."""
    for _ in range(_LINKS_AT_MOST):
        yield path
        try:
            path = os.path.join(os.path.dirname(path), os.readlink(path))
        except OSError:
            return


def _configurations(path: str) -> Iterator[str]:
    """Yield where files may lie by which a Python takes its standard library from elsewhere."""
    for name in _names_of(os.path.abspath(path)):
        folder = os.path.dirname(name)
        yield from (f"{one.rstrip('/')}/pyvenv.cfg" for one in (folder, os.path.dirname(folder)))
        yield f"{folder.rstrip('/')}/pybuilddir.txt"


class _User:
    """What a user without root's rights may start."""

    def __init__(self, uid: int, environ: Mapping[str, str]) -> None:
        self._uid = uid
        words = [word for name in _CHOICES for word in environ.get(name, "").split(":") if word.startswith("/")]
        folders = {one.rstrip("/").removesuffix("/bin") for word in words for one in (word, os.path.realpath(word))}
        self._chosen = tuple(f"{one}/" for one in folders - {""})

    def refuse(self, path: str) -> None:
        """Raise NotTrusted, OSError; what does not exist cannot be started."""
        if not os.path.lexists(path):
            return
        self._refuse_way(path)
        for one in _configurations(path):
            if os.path.lexists(one):
                self._refuse_way(one)

    def _refuse_way(self, path: str) -> None:
        for step in way(path):
            if step.is_link or step.is_last:
                self._refuse_step(step)
            if step.is_last:
                folder = os.path.dirname(step.place)
                self._refuse_step(Step(folder, os.lstat(folder)))
            if step.is_link and step.found.st_uid == self._uid:
                return

    def _refuse_step(self, step: Step) -> None:
        if not _owns(self._uid, step) and not f"{step.place}/".startswith(self._chosen):
            raise NotTrusted(step.place, f"{step.place} belongs to another user ({step.found.st_uid})")


class _Root:
    """What root may start."""

    def __init__(self, search: str) -> None:
        self._search = search

    def refuse(self, path: str, scripts: int = 0) -> None:
        """Raise NotTrusted, OSError."""
        self._refuse_way(path)
        if not os.path.isfile(path):
            return
        real = os.path.realpath(path)
        homes = list(self._homes(path))
        if interpreter := self._interpreter(real):
            if scripts == _SCRIPTS_AT_MOST:
                raise NotTrusted(path, f"{path} is a script, as is its interpreter, and so on")
            if not os.path.isfile(interpreter):
                raise NotTrusted(path, f"{path} is a script whose interpreter {interpreter} does not exist")
            self.refuse(interpreter, scripts + 1)
        elif program := re.fullmatch(_PROGRAM, os.path.basename(real)):
            for name in _names_of(os.path.abspath(path)):  # where a pyvenv.cfg could still be put
                self._refuse_open(os.path.dirname(name))
                self._refuse_open(os.path.dirname(os.path.dirname(name)))
            for folder in dict.fromkeys((*homes, os.path.dirname(real))):
                self._refuse_libraries(folder, program[1] or "")

    def _refuse_way(self, path: str) -> None:
        for step in way(path):
            self._refuse_step(step)

    def _refuse_step(self, step: Step) -> None:
        mode = step.found.st_mode
        # In a sticky directory nobody else can replace root's file.
        kept = step.is_link or (stat.S_ISDIR(mode) and mode & stat.S_ISVTX)
        if not _owns(0, step) or not (kept or not others_may_write(step.place, step.found)):
            raise NotTrusted(step.place, f"{step.place} can be changed by another user")

    def _refuse_open(self, folder: str) -> None:
        """For a directory in which a new file would count: the sticky bit keeps nobody from making one."""
        folder = os.path.realpath(folder)
        if others_may_write(folder, os.stat(folder)):
            raise NotTrusted(folder, f"{folder} can be changed by another user")

    def _homes(self, path: str) -> Iterator[str]:
        """Yield the directory that each pyvenv.cfg takes the standard library from; those are refused, too."""
        for configuration in _configurations(path):
            if not os.path.lexists(configuration):
                continue
            self._refuse_way(configuration)
            # What each line `home = ...` of a pyvenv.cfg names, read as CPython does.
            pairs = (line.partition("=") for line in re.split(r"[\r\n]", _text(configuration)))
            for home in [value.strip() for name, sign, value in pairs if sign and name.strip().lower() == "home"]:
                if not home.startswith("/"):
                    raise NotTrusted(configuration, f"{configuration} names a home that depends on where one is")
                if os.path.isdir(home):
                    self._refuse_way(home)
                    yield home
            self._refuse_packages(f"{os.path.dirname(configuration)}/lib")
            self._refuse_packages(f"{os.path.dirname(configuration)}/lib64")

    def _interpreter(self, real: str) -> str:
        """The program that a script's first line starts, "" for one that is no script."""
        try:
            with open(real, "rb") as stream:
                start = stream.read(_START_BYTES)
        except OSError:
            return ""
        words = os.fsdecode(start[2:].partition(b"\n")[0]).split() if start.startswith(b"#!") else []
        if not words or os.path.basename(words[0]) != "env":
            return words[0] if words else ""
        name = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
        places = [name] if "/" in name else [os.path.join(one or ".", name) for one in self._search.split(":")]
        return next((one for one in places if name and os.access(one, os.X_OK) and os.path.isfile(one)), words[0])

    def _refuse_libraries(self, folder: str, version: str) -> None:
        """Where Python finds its standard library: from its directory upwards, by os.py in lib/python3.X."""
        while True:
            self._refuse_open(folder)
            found = [one for lib in ("lib", "lib64") for one in _libraries(f"{folder.rstrip('/')}/{lib}")]
            if any(os.path.isfile(f"{one}/os.py") and version in one for one in found):
                break
            if folder == "/":
                return
            folder = os.path.dirname(folder)
        for one in found:
            self._refuse_way(one)
            for place, folders, files in os.walk(one):
                folders[:] = [name for name in folders if name not in _SITES]
                for name in (*folders, *files):
                    self._refuse_entry(f"{place}/{name}")
        self._refuse_packages(f"{folder.rstrip('/')}/lib")
        if folder == "/usr":
            self._refuse_packages("/usr/local/lib")

    def _refuse_packages(self, lib: str) -> None:
        """What a Python imports from its site directories when it starts, and what .pth files add to them."""
        for site in (f"{one}/{name}" for one in _libraries(lib) for name in _SITES):
            if not os.path.isdir(site):
                continue
            self._refuse_way(site)
            for name in os.listdir(site):
                self._refuse_entry(f"{site}/{name}")
                lines = _text(f"{site}/{name}").splitlines() if name.endswith(".pth") else ()
                for line in (one.strip() for one in lines if not one.startswith(("#", "import ", "import\t"))):
                    added = os.path.join(site, line)
                    if line and os.path.exists(added):
                        self._refuse_way(added)

    def _refuse_entry(self, place: str) -> None:
        """A name in a directory that was looked at already."""
        step = Step(place, os.lstat(place))
        self._refuse_step(step)
        if step.is_link and os.path.exists(place):
            self._refuse_way(place)


def _libraries(folder: str) -> list[str]:
    try:
        return [f"{folder}/{name}" for name in sorted(os.listdir(folder)) if re.fullmatch(_LIBRARY, name)]
    except OSError:
        return []


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            return stream.read(_SMALL_BYTES)
    except OSError:
        return ""
