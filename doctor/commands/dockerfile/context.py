"""The files of a build's context, and where in the image its instructions put them: nothing outside of it is read.

Sources: the Dockerfile reference ("COPY", "WORKDIR", "RUN --mount=type=bind"); pip's documentation, "Requirements File
Format".
"""

from __future__ import annotations

import glob
import itertools
import os
import posixpath
import re

from compat.base.paths import is_below
from compat.base.record import NamedTuple
from doctor.host.files import read_regular
from doctor.model.facts.seen import Place
from doctor.script.expand import is_open
from doctor.script.parse import FILE_AT_MOST_BYTES
from doctor.script.shell import Call

_FILES_AT_MOST, _PLACES_AT_MOST, _MATCHES_AT_MOST = 200, 500, 100
_LOOKUPS_AT_MOST = 2_000
_LOCKS, _LOCK_AT_MOST_BYTES = (".lock", "conda-lock.yml", "conda-lock.yaml"), 8 << 20
_BASE = "/\0base"  # the working directory of a base image, which its name does not tell
_CHANGES_NOTHING = frozenset({"cat", "rm", "ls", "chmod", "chown", "echo", "test", "head", "grep", "pip", "pip3", "uv",
                              "conda", "mamba", "micromamba"})  # fmt: skip


class Context:
    """A directory of this machine that a build may copy from; "" for none."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        try:
            self._inside = os.path.realpath(folder) if folder else ""
        except OSError:  # the working directory is gone
            self._inside = ""
        self._left, self.lookups_left = _FILES_AT_MOST, _LOOKUPS_AT_MOST
        self._read: dict[str, str | None] = {}
        self._made: dict[str, str] = {}  # files that lines write: the file in which they stand

    def shown(self, name: str) -> str:
        """How evidence names a file of it: as this machine reaches it."""
        if name in self._made:
            return self._made[name]
        return os.path.normpath(os.path.join(self._folder, name)).replace(os.sep, "/")

    def path(self, name: str) -> str:
        """Where a file or directory of it lies, "" where nothing of that name is in it."""
        if not self._inside or "\0" in name or is_open(name):
            return ""
        try:
            found = os.path.realpath(os.path.join(self._inside, name.lstrip("/")))
            return found if is_below(found, self._inside) and os.path.exists(found) else ""
        except (OSError, ValueError):
            return ""

    def is_folder(self, name: str) -> bool:
        """Whether it is a directory of the context."""
        return os.path.isdir(self.path(name))

    def matches(self, pattern: str) -> list[str]:
        """The names that a pattern of COPY stands for, itself where it is none."""
        if not re.search(r"[*?\[]", pattern) or ".." in pattern:
            return [pattern]
        found = glob.iglob(os.path.join(glob.escape(self._inside), pattern.lstrip("/")))
        return [os.path.relpath(one, self._inside) for one in itertools.islice(found, _MATCHES_AT_MOST)]

    def make(self, name: str, text: str, first: Place) -> str:
        """Take in a file that lines of the Dockerfile write, whose first line is there; return its name here."""
        made = f"{first.line}/{name}"
        self._made[made] = first.file
        self._read[made] = "\n" * (first.line - 1) + text
        return made

    def holds(self, name: str) -> bool:
        """Whether there is such a file or directory."""
        return name in self._made or bool(self.path(name))

    def line(self, place: Place) -> str:
        """A line of a file that was read, by how evidence names it; "" for any other."""
        text = next((text for name, text in self._read.items() if text and self.shown(name) == place.file), "")
        lines = text.splitlines()
        return lines[place.line - 1] if 0 < place.line <= len(lines) else ""

    def keep(self, name: str, text: str) -> None:
        """Keep what was read of a file already."""
        self._read[name] = text

    def text(self, name: str) -> str | None:
        """What a file of it holds, None for what is not there, is no file, or is too large."""
        if name not in self._read:
            self._left -= 1
            at_most = _LOCK_AT_MOST_BYTES if name.endswith(_LOCKS) else FILE_AT_MOST_BYTES
            self._read[name] = _text(self.path(name), at_most) if self._left >= 0 else None
        return self._read[name]


def _text(path: str, at_most: int) -> str | None:
    try:
        content = read_regular(path, at_most + 1)
    except (OSError, ValueError):
        return None
    return None if len(content) > at_most or b"\0" in content else content.decode("utf-8-sig", "replace")


class _Place(NamedTuple):
    """A path of the image, and the path of the context that was copied to it."""

    path: str
    name: str | None  # None for unknown: it comes from an image, or was changed since


class Copied:
    """What of the context lies where in an image that is being built."""

    def __init__(self, context: Context, *, is_plain: bool = False) -> None:
        """`is_plain` says that the base is an image without a working directory of its own."""
        self.context = context
        self.workdir = "/" if is_plain else _BASE
        self._places: list[_Place] = []

    def copy(self) -> Copied:
        """The same, for what starts from it."""
        made = Copied(self.context)
        made.workdir, made._places = self.workdir, list(self._places)
        return made

    def at(self, path: str) -> str:
        """A path of the image, from its working directory."""
        return posixpath.normpath(posixpath.join(self.workdir, path))

    def put(self, sources: list[str], target: str) -> None:
        """COPY from the context."""
        names = [name for one in sources for name in self.context.matches(one)]
        for name in names:
            is_into = target.endswith("/") or target in {".", ".."} or len(names) > 1
            place = self.at(target)
            if is_into and not self.context.is_folder(name):
                place = posixpath.join(place, posixpath.basename(name))
            known = not is_open(target) and bool(self.context.path(name))
            self.add(place, posixpath.normpath(name.lstrip("/") or ".") if known else None)

    def take(self, other: Copied, sources: list[str], target: str) -> None:
        """COPY from another stage."""
        for one in sources:
            source, place = other.at(one), self.at(target)
            if target.endswith("/") or target in {".", ".."}:
                name = other.named(source)
                if name is None or not other.context.is_folder(name):
                    place = posixpath.join(place, posixpath.basename(source))
            self.add(place, other.named(source))
            for each in list(other._places):
                if each.path.startswith(source.rstrip("/") + "/"):
                    self.add(place + each.path[len(source.rstrip("/")) :], each.name)

    def write(self, path: str, text: str, first: Place) -> None:
        """What a line writes to a file; `first` is where its text begins."""
        place = self.at(path)
        self.add(place, self.context.make(posixpath.basename(place), text, first))

    def hide(self, target: str) -> None:
        """COPY from an image: what lies there is not known."""
        self.add(self.at(target), None)

    def add(self, path: str, name: str | None) -> None:
        """What lies there from now on."""
        if len(self._places) < _PLACES_AT_MOST:
            self._places.append(_Place(path, name))

    def named(self, path: str) -> str | None:
        """The path of the context that lies at a path of the image, None where that is not known."""
        self.context.lookups_left -= 1
        for one in reversed(self._places) if self.context.lookups_left >= 0 else ():
            if path != one.path and not path.startswith(one.path.rstrip("/") + "/"):
                continue
            if one.name is None:
                return None
            name = posixpath.normpath(posixpath.join(one.name, posixpath.relpath(path, one.path)))
            if self.context.holds(name):
                return name
        return None

    def mounted(self, mounts: str) -> Copied:
        """With what `--mount=type=bind` shows a RUN line; `mounts` are the values of the flags."""
        made = self.copy()
        for one in mounts.split():
            said = dict(part.partition("=")[::2] for part in one.split(","))
            target = said.get("target") or said.get("dst") or said.get("destination") or ""
            if said.get("type", "bind") == "bind" and target:
                source = said.get("source") or said.get("src") or "."
                made.add(made.at(target), None if "from" in said else posixpath.normpath(source.lstrip("/") or "."))
        return made

    def changed(self, text: str, calls: list[Call]) -> None:
        """What commands of a RUN line may have written is not known from then on."""
        words = " ".join(word.text for call in calls if not _changes_nothing(call) for word in call.words)
        words += " ".join(re.findall(r">\s*[\"']?([^\s;&|<>\"']+)", text))
        for one in list(self._places):
            last = posixpath.basename(one.path)
            if one.name is not None and not self.context.is_folder(one.name) and last and last in words:
                self.add(one.path, None)


def _changes_nothing(call: Call) -> bool:
    is_pip = call.program.startswith("python") and [one.text for one in call.words[1:3]] == ["-m", "pip"]
    return is_pip or call.program in _CHANGES_NOTHING


def moved(call: Call, workdir: str) -> str:
    """The working directory after a command, `cd` among them."""
    if call.program != "cd" or call.may_not_run or len(call.words) < 2 or is_open(call.words[1].text):
        return workdir
    return posixpath.normpath(posixpath.join(workdir, call.words[1].text))
