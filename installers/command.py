"""Run a command of a plan, and settle beforehand how it would be taken back."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Mapping

from compat.base.process import Launch, NotPrepared, Process, delayed_signals, run_process
from compat.base.trust import NotTrusted, owner_of, refuse
from installers.at_work import UNWATCHED, Watch, marked
from installers.errors import InstallError
from installers.steps.command import Command, Inverse

_LOOK_S = 60
_BEAT_S, _END_S, _POLL_S = 2.0, 3.0, 0.05
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
_ASKED_WITHIN_S = 60  # of a command that only looks
_SUDO = ("sudo",)
_ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")  # what their directories hold
_PATH_OF_ROOT = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Language, terminal, and the way to the network: none of them says what is executed.
_KEPT_FOR_ROOT = frozenset(
    {"LANG", "LANGUAGE", "TERM", "TZ", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}
)


class CommandFailed(InstallError):
    """A command failed; the files that were changed before it are as they were."""

    hint = "Run the command alone to see its message."


def run_command(command: Command, watch: Watch = UNWATCHED, output: int | None = None) -> None:
    """Run a command as a subprocess, with our terminal or its output to another descriptor; raises CommandFailed.

    What runs as root gets `environment_of` and is shown first, on standard error.
    """
    line = shlex.join(command.argv)
    require_trusted(command)
    environ, place = environment_of(command), None
    if environ is not None or _is_root():
        sys.stderr.write(f"as root: {_visible(line)}\n")
        sys.stderr.flush()
        environ, place = environ or {**os.environ, "PYTHONSAFEPATH": "1"}, _place_of_root(command)
    try:
        with _running(command, watch, environ=watch.environ(environ), folder=place, output=output) as process:
            code = _wait(process, command.timeout_s, watch)
            if code is None:
                raise CommandFailed(f"`{line}` did not finish within {command.timeout_s} s")
    except OSError as error:
        raise CommandFailed(f"`{line}` cannot be run: {command.argv[0]}: {error.strerror}") from error
    except NotPrepared as error:
        raise CommandFailed(f"`{line}` was not run: the journal cannot be written") from error
    if code:
        raise CommandFailed(f"`{line}` failed with exit status {code}")


def require_trusted(command: Command) -> None:
    """Raise CommandFailed where another user could change what the command starts."""
    line, environ = shlex.join(command.argv), environment_of(command)
    try:
        refuse_command(command, os.environ if environ is None else environ)
    except NotTrusted as error:
        raise CommandFailed(f"`{line}` was not started: {error.why}") from error
    except OSError as error:
        raise CommandFailed(f"`{line}` was not started: {error.filename}: {error.strerror}") from error


def is_done(command: Command) -> bool:
    """Whether the command of `unless` says that there is nothing to do; raises CommandFailed."""
    asking = Command(command.unless, "")
    require_trusted(asking)
    return run_process(Launch(asking.argv, environment_of(asking)), _ASKED_WITHIN_S).status == 0


def refuse_command(command: Command, environ: Mapping[str, str]) -> None:
    """Raise NotTrusted where another user could change the program, or a Python that the command is told to start."""
    by_sudo = command.argv[:1] == _SUDO
    program, *words = command.argv[by_sudo:]
    values = [word.partition("=")[2] if word.startswith("-") else word for word in words]
    environments = [one for one in values if any(os.path.exists(f"{one}/{mark}") for mark in _ENVIRONMENTS)]
    pythons = [one for one in values if os.path.basename(one).startswith("python") and os.path.isfile(one)]
    found = shutil.which(program, path=environ.get("PATH", os.defpath))
    for path in (*([found] if found else ()), *pythons, *environments, *(f"{one}/bin/python" for one in environments)):
        if os.path.exists(path):
            refuse(path, uid=0 if by_sudo else None, environ=environ)


@contextlib.contextmanager
def _running(
    command: Command, watch: Watch, environ: Mapping[str, str] | None, folder: str | None, output: int | None
) -> Iterator[Process]:
    """Start it; end it, and what it started itself, where the block is left before it ended well.

    If gpudoctor is killed, the kernel kills it as well, unless it needs root: a package manager that is killed leaves
    half an installation. That one is asked to end as by Ctrl-C, and no more.
    """
    order = Launch(command.argv, environ, folder=folder, is_foreground=True, output=output, before=watch.before)
    process = None
    try:
        with delayed_signals():
            process = Process(order._replace(ends_with_us=not command.needs_root))
        yield process
    finally:
        if process and process.wait(0) != 0:
            for number in (signal.SIGINT,) if command.needs_root else (signal.SIGTERM, _KILL):
                _end(process, watch.mark, number)


def _wait(process: Process, timeout_s: float, watch: Watch) -> int | None:
    """Return its exit status; None if it did not end in time."""
    until = time.monotonic() + timeout_s
    try:
        while True:
            watch.beat()
            left_s = until - time.monotonic()
            status = process.wait(max(0, min(_BEAT_S, left_s)))
            if status is not None or left_s <= _BEAT_S:
                return status
    finally:
        watch.beat()


def _end(process: Process, mark: str, number: int) -> None:
    """Send a signal to it and what it started itself, and wait for their end, but not for long."""

    def left() -> tuple[int, ...]:
        return (*((process.pid,) if process.wait(0) is None else ()), *(set(marked(mark)) - {process.pid}))

    for pid in left():
        with contextlib.suppress(ProcessLookupError, PermissionError):  # sudo's subprocess is root's
            os.kill(pid, number)
    until = time.monotonic() + _END_S
    while left() and time.monotonic() < until:
        time.sleep(_POLL_S)


def environment_of(command: Command) -> Mapping[str, str] | None:
    """What a command that runs as root may see of our environment; None, which is all of it, for any other.

    A user's PATH, LD_PRELOAD, PYTHONPATH, BASH_ENV or PIP_INDEX_URL would say what root executes; a HOME of his shows
    them to be his. Root's own, without sudo, stays for commands that need no root: in a container it names pip's index.
    """
    through_sudo = os.environ.get("SUDO_UID", "0") != "0" or owner_of(os.path.expanduser("~")) is not None
    if not (command.argv[:1] == _SUDO or (_is_root() and (command.needs_root or through_sudo))):
        return None
    kept = {name: value for name, value in os.environ.items() if _is_kept(name, value)}
    return {"PATH": _PATH_OF_ROOT, "HOME": os.path.expanduser("~root"), "USER": "root", "LOGNAME": "root", **kept}


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _is_kept(name: str, value: str) -> bool:
    """As sudo judges: a language or a terminal with a path in it names a file for root to load (sudoers, env_check)."""
    if name.lower().endswith("_proxy"):
        return name in _KEPT_FOR_ROOT
    if name == "TZ":
        return ".." not in value and not value.startswith(("/", ":"))
    return (name in _KEPT_FOR_ROOT or name.startswith("LC_")) and not {"/", "%"} & set(value)


def _place_of_root(command: Command) -> str | None:
    """The root directory, unless a word of the command is a path from here.

    `python -m pip` takes a pip.py of the working directory, which may be anybody's; Python before 3.11 always does.
    """
    return None if os.name != "posix" or any(map(_is_relative, command.argv)) else "/"


def _is_relative(word: str) -> bool:
    ends_as_a_file = word.endswith((".txt", ".toml", ".lock", ".whl", ".yml", ".yaml", ".run", ".deb", ".rpm"))
    below = "/" in word and not word.startswith(("/", "-")) and "://" not in word
    return word.startswith(".") or below or (ends_as_a_file and not word.startswith("/"))


def _visible(line: str) -> str:
    """A name of a file must not hide on a terminal what is run."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in line)


def as_root(command: Command, prefix: tuple[str, ...]) -> Command:
    """With what goes before commands that need root, ("sudo",)."""
    return command._replace(argv=(*prefix, *command.argv)) if command.needs_root else command


def settled(command: Command) -> Command:
    """With an inverse that leaves alone what is there already, before the command is run."""
    inverse = command.inverse
    if inverse is None or not inverse.present:
        return command
    environ = environment_of(command)
    there = tuple(name for name in inverse.names if _is_there(name, inverse.present, environ))
    if not there:
        return command
    kept = tuple(filter(None, (_without(argv, there, inverse.names) for argv in inverse.commands)))
    left = f"{', '.join(there)} {'was' if len(there) == 1 else 'were'} there before; an undo does not restore it"
    return command._replace(inverse=inverse._replace(commands=kept, left=left))


def _is_there(name: str, present: tuple[str, ...], environ: Mapping[str, str] | None) -> bool:
    """Where nobody can tell, it counts as there: nothing of the user's is removed on a guess."""
    try:
        refuse_command(Command(present, ""), os.environ if environ is None else environ)
        done = run_process(Launch((*present, name), environ), _LOOK_S)
    except OSError:
        return True
    return done.status in {0, None}


def _without(argv: tuple[str, ...], there: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """A command without those names; () where no name is left to it."""
    kept = tuple(word for word in argv if word not in there)
    return kept if set(kept) & set(names) or not set(argv) & set(names) else ()


def inverses(inverse: Inverse, command: Command) -> tuple[Command, ...]:
    """The commands that take a command back, with its privilege and patience."""
    return tuple(command._replace(argv=argv, inverse=None, staged=()) for argv in inverse.commands)
