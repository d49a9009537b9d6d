"""Start subprocesses without a shell, bound their time and output, and end them: the one door to the operating system.

It starts nothing that `compat.base.trust` refuses. It also turns the signals that ask gpudoctor to end into
KeyboardInterrupt. Sources: signal(7), prctl(2) (PR_SET_PDEATHSIG), memfd_create(2), fcntl(2) (F_ADD_SEALS).
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any, BinaryIO

from compat.base.errors import GpudoctorError
from compat.base.limits import lifted_limits
from compat.base.record import NamedTuple
from compat.base.trust import refuse

OUTPUT_AT_MOST_BYTES = 4 << 20
_LAST_WORDS_S = 0.5
_FEW_BYTES = 4096
_DESCRIPTORS_AT_MOST = 4096
_NUMBERS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_PDEATHSIG = 1  # PR_SET_PDEATHSIG, linux/prctl.h
_received: list[int] = []


def handle_signals() -> None:
    """Let SIGTERM and SIGHUP raise KeyboardInterrupt, as Ctrl-C does; what is ignored (nohup) stays ignored."""
    for number in _NUMBERS:
        if signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler}:
            signal.signal(number, _interrupt)


def exit_status() -> int:
    """Return what a shell reports of a process that a signal ended (143 for SIGTERM); 0 where no signal came."""
    return 128 + _received[0] if _received else 0


def _interrupt(number: int, _: FrameType | None) -> None:
    """Raise KeyboardInterrupt; only Ctrl-C a second time: `timeout` sends its signal twice, and undoing must go on."""
    _received.append(number)
    if len(_received) == 1 or number == signal.SIGINT:
        raise KeyboardInterrupt


@contextlib.contextmanager
def delayed_signals() -> Iterator[None]:
    """Deliver signals at the end of the block: a `Popen` that is interrupted has started what nobody can end."""
    came: list[int] = []
    replaced = [one for one in _NUMBERS if signal.getsignal(one) not in {signal.SIG_IGN, None}]
    try:
        before = {one: signal.signal(one, lambda number, _: came.append(number)) for one in replaced}
    except ValueError:  # this is not the main thread, and signals are delivered only there
        before = {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


def with_parent() -> Callable[[], None] | None:
    """Return a `preexec_fn` by which the kernel kills the subprocess when this thread ends; None where it cannot."""
    if sys.platform != "linux":
        return None
    try:
        import ctypes  # late: most subprocesses are short
    except ImportError:  # Python was built without it
        return None
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def bind() -> None:
        prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it ended before the line above
            os._exit(1)

    return bind


class NotPrepared(GpudoctorError):
    """What was to be done in the subprocess before its program starts failed; the program was not started."""


class Launch(NamedTuple):
    """A program to start, and how."""

    argv: tuple[str, ...]
    environ: Mapping[str, str] | None = None  # None: the variables of this process
    program: str | None = None  # the file to execute, if it is not argv[0]
    folder: str | None = None  # working directory
    given: bytes = b""  # its standard input
    is_piped: bool = False  # `chunks` reads its output while it runs
    is_foreground: bool = False  # it has our session and standard streams
    output: int | None = None  # descriptor that takes a foreground process's output, None for ours
    ends_with_us: bool = False  # the kernel kills it if gpudoctor is killed (Linux)
    before: Callable[[], None] | None = None  # called in the subprocess before the program (POSIX)


class Ended(NamedTuple):
    """How a process ended, and what it wrote."""

    status: int | None  # exit status, negative for a signal; None if its time was over, and it was killed
    stdout: bytes
    stderr: bytes


class Process:
    """A started process; its output is collected when it ends.

    The output goes to unnamed files, so that neither a full pipe nor a grandchild that keeps the pipe open can stop
    us. Unless it is in the foreground, it leads its own session, so that the whole group can be killed.
    """

    def __init__(self, launch: Launch) -> None:
        """Start it; raises OSError, NotTrusted, NotPrepared."""
        _refuse(launch)
        import subprocess  # late: slow to load, and many commands start nothing

        self._is_leader = not launch.is_foreground
        with contextlib.ExitStack() as files:
            options: dict[str, Any] = {"stdout": launch.output}
            if self._is_leader:
                given = files.enter_context(_unnamed_file(launch.given)) if launch.given else subprocess.DEVNULL
                self._stdout, self._stderr = (files.enter_context(_unnamed_file()) for _ in range(2))
                stdout = subprocess.PIPE if launch.is_piped else self._stdout
                options = {"stdin": given, "stdout": stdout, "stderr": self._stderr, "start_new_session": True}
            try:
                with delayed_signals(), lifted_limits():
                    self._process = subprocess.Popen(
                        launch.argv,
                        executable=launch.program,
                        env=None if launch.environ is None else dict(launch.environ),
                        cwd=launch.folder,
                        preexec_fn=_preparation(launch),  # noqa: PLW1509 - the callers see to it that no thread runs
                        **options,
                    )
            except KeyboardInterrupt:
                self.kill()
                raise
            except ValueError as error:  # a NUL byte in an argument or variable
                raise OSError(errno.EINVAL, str(error)) from error
            except subprocess.SubprocessError as error:
                raise NotPrepared(str(error)) from error
            self._files = files.pop_all()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        """Kill it if it still runs: the terminal's Ctrl-C does not reach a process with its own session."""
        self.kill()
        self._files.close()
        if self._process.stdout:
            self._process.stdout.close()

    def end_within(self, timeout_s: float) -> Ended:
        """Wait for its end, and kill it and its group if that takes longer."""
        with self:
            status = self.wait(timeout_s)
            self.kill()
            return Ended(status, self.stdout(), self.stderr())

    def wait(self, timeout_s: float | None) -> int | None:
        """Return how it ended, the number of a signal negative; None if it did not end in that time."""
        import subprocess

        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """Kill it and its group, if it still runs; one that is stuck in the kernel (D state) is abandoned."""
        if self._process.poll() is not None:
            return
        import subprocess

        try:
            if self._is_leader and os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
            self._process.wait(_LAST_WORDS_S)
        except (OSError, subprocess.TimeoutExpired):
            self._process.returncode = -signal.SIGTERM  # do not let the finaliser wait for it

    def chunks(self, size: int) -> Iterator[bytes]:
        """Yield what a piped process writes, to its end."""
        pipe = self._process.stdout
        while pipe and (chunk := pipe.read(size)):
            yield chunk

    def stdout(self) -> bytes:
        """Return what it has written to its output by now."""
        return self._written(self._stdout)

    def stderr(self) -> bytes:
        """Return what it has written to its error output by now."""
        return self._written(self._stderr)

    def _written(self, file: BinaryIO) -> bytes:
        """Return what stands in front of the place at which the process writes, and behind it what is not padding.

        It shares the place with us: to move it spoils what comes. Without pread it is read when the process has ended.
        """
        at, content = os.lseek(file.fileno(), 0, os.SEEK_CUR), b""
        if hasattr(os, "pread"):
            content = os.pread(file.fileno(), OUTPUT_AT_MOST_BYTES, 0)
        elif self._process.returncode is not None:
            file.seek(0)
            content = file.read(OUTPUT_AT_MOST_BYTES)
        return content[:at] + without_padding(content[at:])


def run_process(launch: Launch, timeout_s: float) -> Ended:
    """Start a process and wait for its end; raises OSError, NotPrepared."""
    return Process(launch).end_within(timeout_s)


def _refuse(launch: Launch) -> None:
    """Raise NotTrusted where another user could change the program, by each name; this Python runs already."""
    environ = os.environ if launch.environ is None else launch.environ
    for name in dict.fromkeys(one for one in (launch.argv[0], launch.program) if one and one != sys.executable):
        path: str | None = os.path.join(launch.folder or "", name)
        if "/" not in name and os.name == "posix":
            import shutil  # late: slow to load

            path = shutil.which(name, path=environ.get("PATH", os.defpath))
        if path and os.path.exists(path):
            refuse(path, environ=environ)


def command_line(argv: tuple[str, ...]) -> str:
    """Return the command as this system's shell reads it."""
    if os.name == "posix":
        import shlex  # late: it loads `re`

        return shlex.join(argv)
    import subprocess

    return subprocess.list2cmdline(argv)


def _preparation(launch: Launch) -> Callable[[], None] | None:
    steps = [one for one in (with_parent() if launch.ends_with_us else None, launch.before) if one]

    def prepare() -> None:
        for step in steps:
            step()

    return prepare if steps and os.name == "posix" else None


def _unnamed_file(given: bytes = b"") -> BinaryIO:
    """Return a file without a name: with what is given, or one that takes OUTPUT_AT_MOST_BYTES (no limit off Linux)."""
    if hasattr(os, "memfd_create"):
        import fcntl  # late: POSIX only

        descriptor = os.memfd_create("gpudoctor-child", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        if not given:
            os.ftruncate(descriptor, OUTPUT_AT_MOST_BYTES)  # takes no memory until it is written
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW)
        file: BinaryIO = os.fdopen(descriptor, "w+b")
    else:
        import tempfile  # late: slow to load, and not needed on Linux

        file = tempfile.TemporaryFile()  # noqa: SIM115 - the process closes it
    file.write(given)
    file.seek(0)
    return file


def without_padding(content: bytes) -> bytes:
    """Return it without the NUL bytes at its end; halves of it first, for `rstrip` takes them one by one."""
    while len(content) > _FEW_BYTES and content.endswith(bytes(half := len(content) // 2)):
        content = content[:-half]
    return content.rstrip(b"\0")


def forked(work: Callable[[], None]) -> int:
    """Return the number of a copy of this process that does some work, which takes no lock, and ends.

    It holds none of our descriptors: who reads our output does not wait for it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads
        child = os.fork()
    if child:
        return child
    try:
        os.closerange(0, _DESCRIPTORS_AT_MOST)
        work()
    finally:
        os._exit(0)
