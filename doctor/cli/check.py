"""`gpudoctor check`: diagnose this machine, or an offline root."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, List, Optional  # noqa: UP035 - typer evaluates the annotations, also on 3.10

import typer

from doctor.cli import Command

if TYPE_CHECKING:
    from doctor.checkup import Options

Texts = Optional[List[str]]  # noqa: UP006, UP045
Text = Optional[str]  # noqa: UP045


def check(
    python: Annotated[
        Texts, typer.Option(metavar="EXE", help="Interpreter or environment to look at; repeatable.")
    ] = None,
    root: Annotated[Text, typer.Option(metavar="DIR", help="Look at a mounted image or container root.")] = None,
    deep: Annotated[bool, typer.Option("--deep", help="Also import the frameworks, in child processes.")] = False,
    only: Annotated[Texts, typer.Option(metavar="CODE", help="Ask only this rule; repeatable.")] = None,
    skip: Annotated[Texts, typer.Option(metavar="CODE", help="Do not ask this rule; repeatable.")] = None,
    framework: Annotated[
        Texts,
        typer.Option(metavar="SPEC", help="Judge torch==2.9.1 as if it were installed, alone; repeatable."),
    ] = None,
    list_rules: Annotated[bool, typer.Option("--list", help="List the rules and stop.")] = False,
    fail_on: Annotated[
        str, typer.Option(metavar="SEVERITY", help="What makes exit 1: error, warning, info.")
    ] = "error",
    style: Annotated[str, typer.Option("--format", metavar="NAME", help="text or json.")] = "text",
    output: Annotated[Text, typer.Option(metavar="FILE", help="Write the report there.")] = None,
    redact: Annotated[bool, typer.Option("--redact", help="Take out users, hosts, serial numbers, UUIDs.")] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Then mend the findings, asking before each.")] = False,
) -> None:
    """Diagnose a machine's GPU stack: what is wrong, how it is known, and the commands that mend it.

    Without --python, the environment is the active virtual or conda environment, else that of the python3 on PATH.

    Exit status: 0 no finding at or above --fail-on; 1 a finding; 2 bad usage or input; 3 a fault of gpudoctor;
    4 no finding, but something that matters could not be told. With --fix it is that of the last look.
    """
    from doctor.checkup import Options, checkup  # late: `gpudoctor --help` loads this module, too
    from doctor.output import terminal_look

    options = Options(
        tuple(python or ()),
        root,
        deep,
        tuple(only or ()),
        tuple(skip or ()),
        list_rules,
        fail_on,
        style,
        output,
        redact,
        tuple(framework or ()),
    )
    if fix:
        raise typer.Exit(_fix(options))
    text, status = checkup(options, terminal_look())
    print(text, end="")
    raise typer.Exit(status)


def _fix(options: Options) -> int:
    from doctor.cli.install import show_progress  # late, as what follows: an ordinary check changes nothing
    from doctor.installing.mend import Talk, mend
    from doctor.output import terminal_look
    from installers.apply import Means

    talk = Talk(lambda text: print(text, end="", flush=True), _ask) if sys.stdin.isatty() else None
    return mend(options, terminal_look(), talk, Means(report=show_progress()))


def _ask(question: str) -> str:
    try:
        return input(question)
    except EOFError:
        return "q"


COMMAND = Command(
    check,
    "Examples: gpudoctor check | gpudoctor check --python .venv/bin/python | gpudoctor check --root /mnt/image "
    "--format json | gpudoctor check --framework torch==2.9.1 | gpudoctor check --only cpu-only-wheel | "
    "gpudoctor check --fix",
)
