"""A plan is data: printing, scripting and applying use this same object.

Steps that change files carry no inverse: the journal keeps what was there. A command carries one (`Inverse`).
"""

from __future__ import annotations

from typing import Union

from compat.need import Need
from compat.record import NamedTuple


class Target(NamedTuple):
    """What a plan is made for; never read from the machine by `installers` itself. "" is not known."""

    os_family: str  # "linux", "windows"
    distribution: str  # "ubuntu", "debian", "rhel", "fedora", ...
    distribution_version: str  # "24.04"
    arch: str  # "x86_64", "sbsa", "jetson"
    wsl: bool
    live: bool  # the machine is the one we run on
    python: str  # interpreter of the environment concerned
    environment_kind: str  # "venv", "conda", "system", ...
    cuda_major: int  # newest CUDA major that the driver runs; 0 where nobody knows
    prefix: str = ""  # directory of the environment concerned
    installed: frozenset[str] = frozenset()  # distributions in that environment, normalised names
    externally_managed: bool = False  # PEP 668: pip refuses to change that environment
    is_root: bool = False  # commands run as root already
    container: str = ""  # "" none, "docker", "podman", "kubernetes", ...: the driver belongs to its host
    user: str = ""  # login name
    kernel: str = ""  # kernel release that runs, "6.8.0-87-generic"
    tool: str = ""  # who makes environments and installs into them: "pip", "uv", "conda"; "" for whoever is there
    releases: tuple[tuple[str, str], ...] = ()  # the release of each of `installed`, where it is known


class Inverse(NamedTuple):
    """How a person takes a command back. A rollback runs it only where the user agrees, and never claims more."""

    commands: tuple[tuple[str, ...], ...] = ()  # in order, with the privilege of the command itself
    left: str = ""  # what they do not bring back, or why there are none; "" where nothing is left
    afterwards: bool = False  # it makes something anew from files: it comes after those are put back
    # What the command may find there already, and the command that tells so (with one of these as its last word,
    # exit status 0): what was there before is taken out of the inverse when the command is run.
    names: tuple[str, ...] = ()
    present: tuple[str, ...] = ()


NOTHING_TO_TAKE_BACK = Inverse()


class Command(NamedTuple):
    """One command, never a shell string."""

    argv: tuple[str, ...]
    why: str
    needs_root: bool = False
    timeout_s: int = 600
    place: str = ""  # "" this machine; else a person types it there: "the container's host", "Windows"
    inverse: Inverse | None = None  # None: nobody thought about it, which is said as such
    staged: tuple[str, ...] = ()  # words of `argv` that are names in the staging directory: downloaded installers


class WriteFile(NamedTuple):
    """A small text file to write, in place of what is there."""

    path: str
    lines: tuple[str, ...]
    why: str
    needs_root: bool = False


class ByHand(NamedTuple):
    """Something only a person can do: a firmware setting, an edit in a file of their own, a restart."""

    text: str
    why: str = ""


class SetVariable(NamedTuple):
    """An environment variable to set for later processes."""

    name: str
    value: str
    why: str
    set_in: str = ""  # file and line that sets it now, "~/.bashrc, line 118"; "" where that is not known


class UnsetVariable(NamedTuple):
    """An environment variable to remove."""

    name: str
    why: str
    set_in: str = ""


class RemoveFromPath(NamedTuple):
    """A directory to take out of a path-like variable."""

    name: str
    directory: str
    why: str
    set_in: str = ""


class Download(NamedTuple):
    """A file to fetch into the staging directory; a file with another digest is refused."""

    url: str
    to: str  # name in the staging directory
    sha256: tuple[str, ...]  # any of these; () is refused when applied
    size_bytes: int | None
    digest_from: str  # how far the digest can be trusted, see `compat.artefact`
    why: str


class UseFile(NamedTuple):
    """An archive that the user has already, verified as a download is."""

    path: str
    to: str  # name in the staging directory
    sha256: tuple[str, ...]
    why: str


class Extract(NamedTuple):
    """Unpack a .tar.gz, .tar.xz or .zip of the staging directory into a directory of it."""

    archive: str
    to: str  # "" is the staging directory itself
    why: str
    renames: tuple[tuple[str, str], ...] = ()  # below `to`: what is there under the first name gets the second one


class CopyTree(NamedTuple):
    """Copy from the staging directory into a real one as `cp -P` does; what is replaced is backed up.

    A pattern is a path below `source` whose parts may be globs; a last part "**" is everything below. Each must match.
    """

    source: str  # directory in the staging directory
    into: str
    patterns: tuple[str, ...]
    why: str
    needs_root: bool = False
    arch: str = ""  # as in Target: libraries for another processor are refused; "" takes all
    cuda_major: int = 0  # a directory with the headers of another CUDA is refused; 0 takes all
    is_new: bool = False  # the directory need not be there yet


class ChangeMode(NamedTuple):
    """Add permissions to files that are no links."""

    paths: tuple[str, ...]  # globs, "/usr/local/cuda/include/cudnn*.h"
    add: str  # "a+r", "a+rx"
    why: str
    needs_root: bool = False


class MakeLink(NamedTuple):
    """A symbolic link, in place of what is there."""

    path: str
    text: str  # what it points to
    why: str
    needs_root: bool = False


class RefreshLoader(NamedTuple):
    """Let the loader read its directories anew: `ldconfig`."""

    why: str
    needs_root: bool = True


class EditText(NamedTuple):
    """Settings merged into a text file: what stands there stays, in its order. A file that is missing is made."""

    path: str
    section: str  # "[section]" of an INI file that the settings belong to; "" for those before every section
    settings: tuple[tuple[str, str], ...]  # key, value: the key's line is replaced, or added at the section's end
    lines: tuple[str, ...]  # added to the end of the section unless one is there already
    why: str
    needs_root: bool = False
    once: tuple[str, ...] = ()  # keys of `settings` that must stand once: their other lines are taken out


class Check(NamedTuple):
    """Probe and judge again."""

    why: str
    expects: tuple[str, ...]  # codes of the findings that must be gone
    finds: Need | None = None  # what must be there: "cudnn", "cuda", "driver" or a distribution; None is nothing new


Step = Union[
    Command,
    WriteFile,
    ByHand,
    SetVariable,
    UnsetVariable,
    RemoveFromPath,
    Download,
    UseFile,
    Extract,
    CopyTree,
    ChangeMode,
    MakeLink,
    RefreshLoader,
    EditText,
    Check,
]


class Plan(NamedTuple):
    """Steps in order, and what they bring about."""

    summary: str  # imperative, one line: "install NVIDIA driver 580 or newer"
    steps: tuple[Step, ...]
