"""The command line: one command a file, each with a `COMMAND`; only this package prints.

Only the module of the command that is asked for is loaded, so that a new command costs the others nothing.
"""

from __future__ import annotations

import errno
import gc
import importlib
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from compat.base.discover import code_of, folders_in, load_one, names_in
from compat.base.errors import DataError, GpudoctorError
from doctor.host import progress

if TYPE_CHECKING:
    import typer

EXIT_USAGE, EXIT_FAULT, EXIT_INTERRUPTED = 2, 3, 130
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
_MEMORY_AT_MOST_BYTES = 1 << 30  # of a command that only reads: six times what SECURITY.md promises
_CPU_AT_MOST_S = 600
_NEW_OBJECTS_AT_MOST = 100_000  # before garbage is looked for
_COMPLETION = "_GPUDOCTOR_COMPLETE"  # set while a shell asks for completions
_SUMMARY = "Find the root cause of a broken GPU stack, with the evidence and the commands that fix it."
# What `gpudoctor` alone prints below the verdict: the commands that a newcomer needs.
_FIRST_COMMANDS = {
    "gpudoctor check": "all findings, with the commands that fix them",
    "gpudoctor explain train.log": "the cause of an error message",
    "gpudoctor which cudnn": "the file that a process would load, and why",
    "gpudoctor install torch": "the steps for this machine",
    "gpudoctor verify": "test cuDNN with a convolution",
}


class Command:
    """One command: its function (whose docstring is the help), examples and exit statuses for its help."""

    __slots__ = ("bad_usage", "examples", "exits", "renamed", "run", "takes_command")

    def __init__(
        self,
        run: Callable[..., None],
        *examples: str,
        exits: Mapping[int | str, str] = MappingProxyType({}),
        renamed: Mapping[str, str] = MappingProxyType({}),
        takes_command: bool = False,
        bad_usage: Callable[[Sequence[str]], int] = lambda _: EXIT_USAGE,
    ) -> None:
        """`renamed`: options of older releases, and their names of today.

        `takes_command`: what follows its first argument is a command line of the user's, options and all.
        `bad_usage`: its exit status where its arguments, which this is given, or its standard output are of no use.
        """
        self.run = run
        self.examples = examples
        self.exits = exits
        self.renamed = renamed
        self.takes_command = takes_command
        self.bad_usage = bad_usage


def main() -> NoReturn:
    """The entry point of the `gpudoctor` command.

    A run leaves next to no garbage in circles, but makes enough objects to be searched for it all the time, and once
    more when the interpreter ends: together a seventh of a check.
    """
    gc.set_threshold(_NEW_OBJECTS_AT_MOST)
    is_run = sys.argv[1:2] == ["run"]
    _fill_closed()
    progress.listen(lambda text: print(f"gpudoctor: {text}", file=sys.stderr, flush=True))
    if sys.stderr.isatty():
        progress.watch(_shown)
    if sys.stdout is None:  # its descriptor is closed
        if not is_run and not any(one.startswith(("--output", "-o")) for one in sys.argv):
            raise SystemExit(
                _complain("standard output is closed; open it, or name a file with --output", _bad_usage(sys.argv[1:]))
            )
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the process ends
    if isinstance(sys.stdout, io.TextIOWrapper):
        # a path that the terminal's encoding lacks is no fault
        sys.stdout.reconfigure(encoding=_encoding_for_paths(sys.stdout), errors="replace")
    if hanging := _not_answering(sys.argv[1:]):
        raise SystemExit(_complain(hanging, _bad_usage(sys.argv[1:])))
    is_plain = _is_plain_check(sys.argv[1:]) or _is_plain_explain(sys.argv[1:])
    if not is_plain:  # a signal itself ends the everyday commands, which leave nothing behind; to load this takes time
        from compat.base import process

        process.handle_signals()
    if _is_limited(sys.argv[1:]):
        from compat.base.limits import limit_this_process

        limit_this_process(_MEMORY_AT_MOST_BYTES, _CPU_AT_MOST_S)
    status = execute(sys.argv[1:])
    try:
        print(end="", flush=True)  # sys.stdout.flush() does not fail a second time
    except OSError as error:
        missed = _not_printed(error, sys.argv[1:])
        # `run` ends as its command did, and `gate` has a status for a pipe that nobody reads
        has_own = is_run or (sys.argv[1:2] == ["gate"] and isinstance(error, BrokenPipeError))
        status = status if has_own else missed
    gc.freeze()
    raise SystemExit(status if is_plain else process.exit_status() or status)


def _shown(text: str, done_bytes: int, total_bytes: int) -> None:
    """Show it on the status line, which few runs need."""
    from doctor.cli._status_line import LINE

    progress.watch(LINE.show)
    LINE.show(text, done_bytes, total_bytes)


def _is_limited(argv: Sequence[str]) -> bool:
    """Tell whether a command only reads: it is no work of the user's that could need more."""
    return argv[:1] in (["check"], ["explain"], ["matrix"]) and not {"--deep", "--fix", "refresh"} & set(argv)


def _not_answering(argv: Sequence[str]) -> str:
    """Why nothing can be done: the working directory, or a path among the words, lies where no server answers."""
    from compat.base.mounts import dead_mount, hanging_mounts, why_dead

    if not hanging_mounts() or argv[:1] == ["run"]:  # its command is started all the same
        return ""
    try:
        here = os.getcwd()
    except OSError:  # it was removed
        here = ""
    for path in (here, *argv, *(word.rpartition("=")[2] for word in argv)):
        mount = dead_mount(path) if path else ""
        if mount:
            what = "the working directory" if path == here else path
            return f"{what}: {why_dead(mount)}"
    return ""


def _fill_closed() -> None:
    """Put /dev/null in the place of standard streams that are closed: no file of ours may get their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number; no child inherits it
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115 - until the process ends
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - likewise


def _encoding_for_paths(stream: io.TextIOWrapper) -> str | None:
    """UTF-8 for a pipe of Windows whose code page lacks letters of the user's own directories; None for as it is."""
    if os.name != "nt" or stream.isatty() or os.environ.get("PYTHONIOENCODING"):
        return None
    try:
        f"{os.path.expanduser('~')}{os.getcwd()}".encode(stream.encoding)
    except UnicodeEncodeError:
        return "utf-8"
    except OSError:  # there is no current directory
        pass
    return None


def execute(argv: Sequence[str]) -> int:
    """Run one command and return the exit status; what goes wrong is one line on standard error."""
    try:
        if _is_plain_check(argv):
            return _plain_check(tuple(argv[2:]))
        if _is_plain_explain(argv):
            return _plain_explain(*argv[1:])
        if not argv and _COMPLETION not in os.environ:
            return _overview()
        argv = _spelled_out(argv)
        answer = _app(argv)(list(argv), standalone_mode=False, prog_name="gpudoctor")
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError as error:
        return _not_printed(error, argv)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and error.filename is None and _is_nowhere():
            return _complain("the working directory was removed; go to another one", _bad_usage(argv))
        return (
            _not_printed(error, argv) if error.errno in _NO_ROOM and error.filename is None else _explain(error, argv)
        )
    except DataError as error:
        return _complain(f"{error}. {error.hint}", EXIT_FAULT)
    except MemoryError:
        return _complain(f"this needs more memory than there is, or than {_MEMORY_AT_MOST_BYTES >> 20} MiB", EXIT_FAULT)
    except GpudoctorError as error:
        return _complain(f"{error}" + (f". {error.hint}" if error.hint else ""), _bad_usage(argv))
    except Exception as error:  # noqa: BLE001 - the last resort: one clear line, never a traceback
        return _explain(error, argv)
    return answer if isinstance(answer, int) else 0


def _is_nowhere() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _bad_usage(argv: Sequence[str]) -> int:
    from doctor import cli

    name = argv[0] if argv else ""
    return load_one(cli, name, "COMMAND", Command).bad_usage(argv[1:]) if name in names_in(cli) else EXIT_USAGE


def _not_printed(error: OSError, argv: Sequence[str]) -> int:
    """Where the report was to go takes nothing; what is left of it is thrown away, so that nobody tries again."""
    if isinstance(error, BrokenPipeError):
        status = EXIT_INTERRUPTED
    else:
        status = _complain(
            f"cannot write to standard output: {(error.strerror or str(error)).lower()}", _bad_usage(argv)
        )
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # as the Python documentation advises
    return status


def _is_plain_check(argv: Sequence[str]) -> bool:
    """Tell whether it is `check` with no option but one --python."""
    command, python = list(argv[:2]), argv[2:]
    return command == ["check"] or (command == ["check", "--python"] and len(python) == 1 and python[0][:1] != "-")


def _plain_check(pythons: tuple[str, ...]) -> int:
    """The everyday run, which has no options to parse but one: typer would be half of its time."""
    from doctor.commands.check.command import CheckSubject, ReportOptions, check
    from doctor.output.write import terminal_style

    text, status = check(CheckSubject(pythons=pythons), ReportOptions(), terminal_style())
    print(text, end="")
    return status


def _is_plain_explain(argv: Sequence[str]) -> bool:
    """Tell whether it is `explain` with no option, and at most a file, "-" or a code."""
    return list(argv[:1]) == ["explain"] and len(argv) <= 2 and all(word[:1] != "-" or word == "-" for word in argv)


def _plain_explain(subject: str = "") -> int:
    """`explain` in a pipe: as above, typer would be a quarter of its time."""
    from doctor.commands.explain.command import Question, explain
    from doctor.output.write import terminal_style

    text, status = explain(Question(subject), terminal_style())
    print(text, end="")
    return status


def _overview() -> int:
    """Print the verdict line of a check and the commands to go on with; return the status of the check."""
    from doctor.commands.check.command import CheckSubject, ReportOptions, check
    from doctor.output.page import Page
    from doctor.output.write import terminal_style

    text, status = check(CheckSubject(), ReportOptions(quiet=True), terminal_style())
    width, page = max(map(len, _FIRST_COMMANDS)), Page(terminal_style())
    fits = width + max(map(len, _FIRST_COMMANDS.values())) + 4 <= page.width
    for command, what in _FIRST_COMMANDS.items():
        if fits:
            page.line(f"  {command.ljust(width)}  {what}")
        else:
            page.row(command, what)
    print(f"{text}\n{page.text()}\nAll commands: gpudoctor --help")
    return status


def _explain(error: Exception, argv: Sequence[str]) -> int:
    """Click's own errors (vendored in newer typers, so known by their shape), else a fault of ours."""
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.ctx.get_help(), file=sys.stderr)  # type: ignore[attr-defined]
        return EXIT_USAGE
    if hasattr(error, "format_message"):
        from doctor.cli._parser import complaint_of  # late: typer is loaded already

        return _complain(complaint_of(error), _bad_usage(argv))
    if type(error).__name__ == "Abort":
        return EXIT_INTERRUPTED
    if os.environ.get("GPUDOCTOR_TRACEBACK"):
        raise error
    return _complain(
        f"a fault of gpudoctor itself: {type(error).__name__}: {error}. "
        "GPUDOCTOR_TRACEBACK=1 shows where; please report it.",
        EXIT_FAULT,
    )


def _complain(message: str, status: int) -> int:
    from doctor.output.page import as_windows_writes, clean  # late: most runs have nothing to complain of

    try:
        print(f"gpudoctor: {as_windows_writes(clean(' '.join(message.split())))}", file=sys.stderr, flush=True)
    except OSError:  # SIGHUP comes when the terminal is gone; the exit status counts
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    return status


def _spelled_out(argv: Sequence[str]) -> Sequence[str]:
    """Spell out what may be left out: `install torch` is `install package torch`, `help check` is `check --help`.

    A group whose other words belong to one of its commands names it in a constant OTHERWISE.
    """
    from doctor import cli

    if argv and argv[0] == "help":
        return [*argv[1:], "--help"]
    if len(argv) < 2 or argv[1].startswith("-") or argv[0] not in folders_in(cli):
        return argv
    if argv[1] == "help":
        return [argv[0], *argv[2:], "--help"]
    group = importlib.import_module(f"{cli.__name__}.{argv[0]}")
    otherwise = getattr(group, "OTHERWISE", "")
    known = {*map(code_of, names_in(group)), *map(code_of, folders_in(group))}
    return [argv[0], otherwise, *argv[1:]] if otherwise and argv[1] not in known else argv


def _app(argv: Sequence[str]) -> typer.Typer:
    import typer  # late: 50 ms, which `import doctor.cli` alone need not cost

    from doctor import cli
    from doctor.cli import _completion
    from doctor.cli._parser import SETTINGS, HelpfulGroup

    if _COMPLETION in os.environ:
        _completion.register()
    group = type("Root", (HelpfulGroup,), {"below": staticmethod(_commands_of_groups)})
    app = typer.Typer(
        name="gpudoctor",
        cls=group,
        help=_SUMMARY,
        context_settings=SETTINGS,
        rich_markup_mode=None,
        add_completion=False,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
    )
    app.callback()(_root_options())
    words = [word.replace("-", "_") for word in argv if not word.startswith("-")]
    _add_commands(app, cli, words)
    return app


def _commands_of_groups() -> dict[str, str]:
    from doctor import cli

    below = {folder: importlib.import_module(f"{cli.__name__}.{folder}") for folder in folders_in(cli)}
    return {code_of(name): folder for folder, package in below.items() for name in names_in(package)}


def _add_commands(app: typer.Typer, package: ModuleType, words: list[str]) -> None:
    """Add the command that the first word names, otherwise all of them; a folder is a group of commands."""
    import typer

    from doctor.cli._parser import HelpfulCommand, HelpfulGroup

    commands, groups = names_in(package), folders_in(package)
    asked = words[0] if words else ""
    for name in [asked] if asked in commands else () if asked in groups else commands:
        command = load_one(package, name, "COMMAND", Command)
        settings = {"allow_interspersed_args": not command.takes_command}
        shown: Any = partial(HelpfulCommand, described=command)  # typer calls it as it would call a class
        app.command(code_of(name), cls=shown, context_settings=settings)(command.run)
    for name in [asked] if asked in groups else () if asked in commands else groups:
        below = importlib.import_module(f"{package.__name__}.{name}")
        group = typer.Typer(cls=HelpfulGroup, help=below.__doc__, rich_markup_mode=None, no_args_is_help=True)
        if name == asked or _COMPLETION in os.environ:  # the help of the whole needs only the group's own line
            _add_commands(group, below, words[1:])
        app.add_typer(group, name=code_of(name))


def _root_options() -> Callable[..., Any]:
    import typer

    from doctor.cli import _completion

    def show_version(wanted: bool) -> None:
        if wanted:
            from doctor import __version__

            print(f"gpudoctor {__version__}")
            raise typer.Exit

    def show_completion(shell: str) -> None:
        if shell:
            print(_completion.script(shell))
            raise typer.Exit

    def install_completion(shell: str) -> None:
        if shell:
            print(_completion.install(shell))
            raise typer.Exit

    def option(
        default: Any, *names: str, callback: Callable[[Any], None], text: str, metavar: str | None = None
    ) -> Any:
        return typer.Option(default, *names, callback=callback, is_eager=True, help=text, metavar=metavar)

    shells = "bash, zsh, fish or powershell"

    def root(
        version: bool = option(False, "--version", "-V", callback=show_version, text="Print the version."),
        show: str = option(
            "", "--show-completion", callback=show_completion, text=f"Print completion for {shells}.", metavar="SHELL"
        ),
        install: str = option(
            "", "--install-completion", callback=install_completion, text="Install it for that shell.", metavar="SHELL"
        ),
    ) -> None:
        """Find the root cause of a broken GPU stack, with the evidence and the commands that fix it."""

    return root
