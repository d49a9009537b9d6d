"""`gpudoctor check`: find what is wrong with this machine, or with one that is only described."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from doctor.cli import Command, _completion
from doctor.cli._options import REPORT, FindingsFormat, Outputs, Redact, Text, Texts, record_of, seconds_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from doctor.commands.check.command import CheckSubject, ReportOptions
    from doctor.output.document import TextStyle

_WHAT, _BUILD, _RULES, _FIX = "What to check", "Images, Dockerfiles and lock files", "Rules", "Fix"


def _what(*names: str, panel: str = _WHAT, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel=panel, **settings)


Python = Annotated[Texts, _what("--python", metavar="EXE", help="Interpreter or environment; repeatable.")]
AllEnvironments = Annotated[bool, _what("--all-environments", help="Every environment of this machine.")]
Root = Annotated[Text, _what(metavar="DIR", help="A mounted image or container root.")]
Image = Annotated[Text, _what(metavar="REF", help="A container image: an archive, a layout, a tar, FILE:NAME.")]
Dockerfile = Annotated[
    Text, _what(metavar="FILE", help="A Dockerfile before it is built, compose.yaml:SERVICE, or devcontainer.json.")
]
Lock = Annotated[Text, _what(metavar="FILE", help="A lock file or requirements, before they are installed.")]
Source = Annotated[
    Text,
    _what(
        "--from",
        metavar="FILE",
        help="A saved report, collect_env or nvidia-smi text, or bug report; '-' = stdin.",
    ),
]
Frameworks = Annotated[
    Texts, _what("--framework", metavar="SPEC", help="Test a version before installing it: torch==2.9.1; repeatable.")
]
Deep = Annotated[bool, _what("--deep", help="Also import the frameworks (in subprocesses).")]
ExpectGpu = Annotated[bool, _what("--expect-gpu", help="Report an error if this machine has no NVIDIA GPU.")]
AssumeDriver = Annotated[str, _what(metavar="RELEASE", help="Use this driver: 550.54.14.")]
AssumeGpus = Annotated[
    Texts,
    _what("--assume-gpu", metavar="NAME", help="Use this GPU: RTX 4090; repeatable.", autocompletion=_completion.gpu),
]
Target = Annotated[str, _what(panel=_BUILD, metavar="STAGE", help="Stage of the Dockerfile (default: the last).")]
BuildArgs = Annotated[
    Texts, _what("--build-arg", panel=_BUILD, metavar="NAME=VALUE", help="Value of an ARG line; repeatable.")
]
Platform = Annotated[str, _what(panel=_BUILD, metavar="OS/ARCH", help="Which image of several: linux/arm64.")]
Config = Annotated[
    str, _what(panel=_BUILD, metavar="FILE", help="The image's configuration, or the output of docker image inspect.")
]
PythonVersion = Annotated[
    str, _what("--python-version", panel=_BUILD, metavar="X.Y", help="Python that the lock file is read for: 3.12.")
]
Extras = Annotated[Texts, _what("--extra", panel=_BUILD, metavar="NAME", help="Extra of the lock file; repeatable.")]
Groups = Annotated[Texts, _what("--group", panel=_BUILD, metavar="NAME", help="Group of the lock file; repeatable.")]
NoCache = Annotated[bool, _what("--no-cache", panel=_BUILD, help="Read every layer of an image again.")]
Only = Annotated[
    Texts,
    _what(panel=_RULES, metavar="CODE", help="Run only this rule; repeatable.", autocompletion=_completion.rule),
]
Skip = Annotated[
    Texts, _what(panel=_RULES, metavar="CODE", help="Skip this rule; repeatable.", autocompletion=_completion.rule)
]
Policy = Annotated[Text, _what(panel=_RULES, metavar="FILE", help="Policy file (default: ./gpudoctor.toml).")]
FailOn = Annotated[
    str,
    _what(
        panel=_RULES,
        metavar="SEVERITY",
        help="Exit 1 from this severity on: error, warning, info.",
        autocompletion=_completion.fixed("error", "warning", "info"),
    ),
]
ListRules = Annotated[bool, _what("--list", panel=_RULES, help="List the rules and stop.")]
Timeout = Annotated[float, seconds_option("15s", "Time limit for the driver", _RULES)]
Verbose = Annotated[bool, _what("--verbose", "-v", panel=REPORT, help="Also list every unknown with its reason.")]
Quiet = Annotated[bool, _what("--quiet", "-q", panel=REPORT, help="Print the verdict line only.")]
Fix = Annotated[bool, _what("--fix", panel=_FIX, help="Then fix the findings; ask before each.")]
Yes = Annotated[bool, _what("--yes", "-y", panel=_FIX, help="With --fix: answer every question with yes.")]


def check(
    pythons: Python = None,
    all_environments: AllEnvironments = False,
    root: Root = None,
    image: Image = None,
    dockerfile: Dockerfile = None,
    lock: Lock = None,
    python_version: PythonVersion = "",
    extras: Extras = None,
    groups: Groups = None,
    target: Target = "",
    build_args: BuildArgs = None,
    platform: Platform = "",
    config: Config = "",
    no_cache: NoCache = False,
    assume_driver: AssumeDriver = "",
    assume_gpus: AssumeGpus = None,
    deep: Deep = False,
    expect_gpu: ExpectGpu = False,
    only: Only = None,
    skip: Skip = None,
    frameworks: Frameworks = None,
    list_rules: ListRules = False,
    fail_on: FailOn = "error",
    style: FindingsFormat = "",
    outputs: Outputs = None,
    quiet: Quiet = False,
    redact: Redact = False,
    verbose: Verbose = False,
    timeout_s: Timeout = 15.0,
    policy: Policy = None,
    source: Source = None,
    fix: Fix = False,
    yes: Yes = False,
) -> None:
    """Find what is wrong with a GPU stack, with the evidence and the commands that fix it.

    Without --python, gpudoctor checks the first of these environments that exists:

    \b
    - the active virtual or conda environment, ./.venv
    - the one that uv, pixi, poetry or hatch keeps here
    - that of python3 on PATH (on Windows: of py)
    """  # noqa: D301 - \b keeps click from joining the lines of a list
    subject, options, answer, terminal = _prepared(locals())
    if fix:
        raise typer.Exit(_fix(subject, options, yes=yes))
    report, status = answer(subject, options, terminal)
    print(report, end="")
    raise typer.Exit(status)


def _each(codes: list[str] | None) -> list[str]:
    """Return the codes of a repeated option; commas between several are read, too."""
    return [code for one in codes or () for code in one.split(",")]


def _prepared(given: dict[str, Any]) -> tuple[CheckSubject, ReportOptions, Callable[..., tuple[str, int]], TextStyle]:
    """Return the options, which have the names of the fields of two records, the command, and the terminal's style."""
    from doctor.commands.check import command  # late: `gpudoctor --help` loads this module, too
    from doctor.output.write import terminal_style

    given |= {name: _each(given[name]) for name in ("only", "skip")}
    others = ("fix", "yes")
    subject = record_of(command.CheckSubject, given, (*others, *command.ReportOptions._fields))
    options = record_of(command.ReportOptions, given, (*others, *command.CheckSubject._fields))
    if subject.lock is None:
        return subject, options, command.check, terminal_style()
    from doctor.commands.check.targets import check_targets  # late: few checks are of a lock file

    return subject, options, check_targets, terminal_style()


def _fix(subject: CheckSubject, options: ReportOptions, *, yes: bool) -> int:
    from doctor.cli.install import (  # late, as what follows: an ordinary check changes nothing
        hide_progress,
        show_progress,
    )
    from doctor.commands.install.fix import Talk, fix
    from doctor.output.write import terminal_style
    from installers.run import ExecutionOptions

    def tell(text: str) -> None:
        hide_progress()
        print(text, end="", flush=True)

    can_ask = yes or sys.stdin.isatty()
    talk = Talk(tell, _ask, agrees=yes) if can_ask else None
    return fix(subject, options, terminal_style(), talk, ExecutionOptions(report=show_progress()))


def _ask(question: str) -> str:
    try:
        return input(question)
    except EOFError:
        return "q"


COMMAND = Command(
    check,
    "gpudoctor check",
    "gpudoctor check --python .venv",
    "gpudoctor check --all-environments -o report.html",
    "gpudoctor check --root /mnt/image --format json",
    "gpudoctor check --from nvidia-bug-report.log.gz",
    "gpudoctor check --dockerfile Dockerfile",
    "gpudoctor check --framework torch==2.9.1",
    "gpudoctor check --only cpu-only-wheel",
    "gpudoctor check --fix",
    exits={
        0: "no finding at or above --fail-on",
        1: "a finding",
        2: "bad usage or input",
        3: "an error in gpudoctor itself",
        4: "no problem found, but an important check could not run",
        "--fix": "exit status of the final check",
    },
)
