"""`gpudoctor check`: diagnose this machine, or an offline root."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from doctor.cli import Command
from doctor.cli._options import FindingsFormat, Outputs, Policy, Pythons, Redact, Root, Text, Texts

if TYPE_CHECKING:
    from doctor.commands.check.command import CheckSubject, ReportOptions


Only = Annotated[Texts, typer.Option(metavar="CODE", help="Ask only this rule; repeatable.")]
Skip = Annotated[Texts, typer.Option(metavar="CODE", help="Do not ask this rule; repeatable.")]
FailOn = Annotated[str, typer.Option(metavar="SEVERITY", help="What makes exit 1: error, warning, info.")]
Timeout = Annotated[float, typer.Option("--timeout", metavar="S", help="Seconds that the driver may take to answer.")]
Frameworks = Annotated[
    Texts,
    typer.Option("--framework", metavar="SPEC", help="Judge torch==2.9.1 as if it were installed, alone; repeatable."),
]
Image = Annotated[
    Text, typer.Option(metavar="REF", help="Look at a container image: an archive, a layout, a tar; FILE:NAME.")
]
Platform = Annotated[str, typer.Option(metavar="OS/ARCH", help="Which image of several, linux/arm64.")]
Dockerfile = Annotated[
    Text, typer.Option(metavar="FILE", help="Judge a Dockerfile before it is built; compose.yaml:SERVICE.")
]
Target = Annotated[str, typer.Option(metavar="STAGE", help="Which stage of it; the last one by default.")]
BuildArgs = Annotated[
    Texts, typer.Option("--build-arg", metavar="NAME=VALUE", help="The value of an ARG line of it; repeatable.")
]
Config = Annotated[
    str, typer.Option(metavar="FILE", help="The image's configuration, or what docker image inspect prints.")
]
AssumeDriver = Annotated[
    str, typer.Option(metavar="RELEASE", help="Judge whether the image or root runs on this driver, 550.54.14.")
]
AssumeGpus = Annotated[
    Texts, typer.Option("--assume-gpu", metavar="NAME", help="The same for this GPU, RTX 4090; repeatable.")
]
Source = Annotated[
    Text,
    typer.Option("--from", metavar="FILE", help="Judge a saved report, a pasted dump, a bug report, - for a pipe."),
]


def check(
    pythons: Pythons = None,
    root: Root = None,
    image: Image = None,
    dockerfile: Dockerfile = None,
    target: Target = "",
    build_args: BuildArgs = None,
    platform: Platform = "",
    config: Config = "",
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Read every layer of an image anew.")] = False,
    assume_driver: AssumeDriver = "",
    assume_gpus: AssumeGpus = None,
    deep: Annotated[bool, typer.Option("--deep", help="Also start CUDA and the frameworks, in children.")] = False,
    only: Only = None,
    skip: Skip = None,
    frameworks: Frameworks = None,
    list_rules: Annotated[bool, typer.Option("--list", help="List the rules and stop.")] = False,
    fail_on: FailOn = "error",
    style: FindingsFormat = "",
    outputs: Outputs = None,
    redact: Redact = False,
    timeout_s: Timeout = 15.0,
    policy: Policy = None,
    source: Source = None,
    fix: Annotated[bool, typer.Option("--fix", help="Then fix the findings, asking before each.")] = False,
) -> None:
    """Diagnose a machine's GPU stack: what is wrong, how it is known, and the commands that fix it.

    Without --python it is the active virtual or conda environment, else ./.venv or what uv, pixi, poetry or hatch keeps
    for the project here, else that of the python3 on PATH, on Windows else the one that `py` starts.

    Exit status: 0 no finding at or above --fail-on; 1 a finding; 2 bad usage or input; 3 a fault of gpudoctor;
    4 no finding, but something that matters could not be told. With --fix it is that of the last report.
    """
    given = locals()  # the options have the names of the fields of `CheckSubject` and `ReportOptions`
    from doctor.commands.check import command  # late: `gpudoctor --help` loads this module, too
    from doctor.output.write import terminal_style

    subject = command.CheckSubject(**_of(command.CheckSubject, given))
    options = command.ReportOptions(**_of(command.ReportOptions, given))
    if fix:
        raise typer.Exit(_fix(subject, options))
    text, status = command.check(subject, options, terminal_style())
    print(text, end="")
    raise typer.Exit(status)


def _of(kind: type[CheckSubject | ReportOptions], given: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of this kind that were given, lists as tuples."""
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in given.items()
        if value is not None and name in kind._fields
    }


def _fix(subject: CheckSubject, options: ReportOptions) -> int:
    from doctor.cli.install import show_progress  # late, as what follows: an ordinary check changes nothing
    from doctor.commands.install.fix import Talk, fix
    from doctor.output.write import terminal_style
    from installers.run import ExecutionOptions

    talk = Talk(lambda text: print(text, end="", flush=True), _ask) if sys.stdin.isatty() else None
    return fix(subject, options, terminal_style(), talk, ExecutionOptions(report=show_progress()))


def _ask(question: str) -> str:
    try:
        return input(question)
    except EOFError:
        return "q"


COMMAND = Command(
    check,
    "Examples: gpudoctor check | gpudoctor check --python .venv/bin/python | gpudoctor check --root /mnt/image "
    "--format json | gpudoctor check --from nvidia-bug-report.log.gz | gpudoctor check --dockerfile Dockerfile | "
    "gpudoctor check --framework torch==2.9.1 | gpudoctor check --only cpu-only-wheel | gpudoctor check --fix",
)
