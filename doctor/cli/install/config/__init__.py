"""Configure Theano, Keras, TensorFlow, the loader or PATH: print steps, write a script, or apply and undo."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from doctor.cli.install import Script, Style, Sudo, System, Yes, hide_progress, show_progress

if TYPE_CHECKING:
    from doctor.commands.install.install import Prepared

_NOT_CHANGED = 2

Apply = Annotated[
    bool,
    typer.Option("--apply", help="Apply it; `gpudoctor install rollback` undoes it.", rich_help_panel="What to do"),
]
Conda = Annotated[str, typer.Option(metavar="PREFIX", help="Only while this conda environment is active.")]
Name = Annotated[str, typer.Option(metavar="NAME", help="Name of the file to write.")]
# Options that several commands have, in the order of their help.
NAMES = {"name": (Name, "gpudoctor-cuda"), "conda": (Conda, "")}
CHANGE = {"system": (System, ""), "script": (Script, ""), "apply": (Apply, False), "yes": (Yes, False)}
AS_ROOT = {"sudo": (Sudo, False)}
STYLE = {"style": (Style, "text")}
EXITS: dict[int | str, str] = {0: "printed, or done", 2: "bad usage or input, or nothing changed"}


def answer(
    prepare: Callable[..., Prepared],
    *,
    system: str,
    script: str,
    style: str,
    apply: bool,
    yes: bool,
    sudo: bool = False,
) -> None:
    """Print the plan that is prepared for a system, or carry it out and exit with what came of it."""
    from compat.matrix import Matrix  # late, as what follows: `gpudoctor install --help` loads this module, too
    from doctor.commands.install.install import BadOrder, shown
    from doctor.output.write import terminal_style

    prepared = prepare(os_family=system)
    if not apply:
        print(shown(prepared, script, style, Matrix.of_user(), terminal_style()), end="")
        return
    if script:
        raise BadOrder("use --script or --apply, not both")
    from compat.base.choice import one_of
    from doctor.commands.install.apply import apply_plan
    from installers.run import ExecutionOptions

    one_of("format", style, ("text", "json"))
    if not yes and sys.stdin.isatty() and not typer.confirm(f"{prepared.plan.summary}: apply it?", err=True):
        raise typer.Exit(_NOT_CHANGED)
    means = ExecutionOptions(report=show_progress(), as_root=("sudo",) if sudo else ())
    try:
        text, status = apply_plan(prepared, means, style, terminal_style())
    finally:
        hide_progress()
    sys.stdout.write(text)
    raise typer.Exit(status)
