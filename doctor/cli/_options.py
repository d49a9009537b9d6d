"""The options that several commands have, each written once: its names, its help, its type, its group in the help.

Typer evaluates the annotations, also on Python 3.10, which is why they are spelled the old way.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any, List, Optional, Tuple, TypeVar  # noqa: UP035

import typer

from compat.base.duration import seconds
from doctor.cli import _completion
from doctor.output.write import format_names

Texts = Optional[List[str]]  # noqa: UP006, UP045
Text = Optional[str]  # noqa: UP045
REPORT = "Report"


def said(context: typer.Context, parameter: typer.CallbackParam, value: str) -> str:
    """Return what was typed; an empty text is a variable that was not set, not a question about any machine."""
    source = context.get_parameter_source(str(parameter.name))
    if not value and source is not None and source.name == "COMMANDLINE":
        raise typer.BadParameter("is empty")
    return value


R = TypeVar("R", bound=Tuple[Any, ...])  # noqa: UP006

Pythons = Annotated[Texts, typer.Option("--python", metavar="EXE", help="Interpreter or environment; repeatable.")]
Root = Annotated[Text, typer.Option(metavar="DIR", help="A mounted image or container root.")]
Output = Annotated[
    Text, typer.Option("--output", "-o", metavar="FILE", help="Write the report to a file.", rich_help_panel=REPORT)
]
Policy = Annotated[Text, typer.Option(metavar="FILE", help="Policy file (default: ./gpudoctor.toml).")]
Redact = Annotated[
    bool,
    typer.Option(
        "--redact",
        help="Remove users, hosts, serials, addresses and secrets that have a known name or form (no others).",
        rich_help_panel=REPORT,
    ),
]


def seconds_option(shown: str, text: str, panel: str | None = None) -> Any:
    """`--timeout`; `shown` is its default as people type it."""
    return typer.Option(
        "--timeout",
        metavar="TIME",
        help=f"{text}: 5s, 500ms, 2m.",
        parser=lambda typed: seconds(str(typed), "--timeout"),
        show_default=shown,
        rich_help_panel=panel,
    )


def format_option(*views: str) -> Any:
    """`--format`; `views` are those that the command's document has (doctor.output.document)."""
    names = format_names(*views)
    return typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help=f"{', '.join(names[:-1])} or {names[-1]}. --json is short for --format json.",
        rich_help_panel=REPORT,
        show_default=False,
        autocompletion=_completion.fixed(*names),
    )


Format = Annotated[str, format_option()]
FindingsFormat = Annotated[str, format_option("findings", "markdown")]
Outputs = Annotated[
    Texts,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the report to a file; repeatable, - is standard output.",
        rich_help_panel=REPORT,
    ),
]
TableFormat = Annotated[str, format_option("rows", "markdown")]
ChartFormat = Annotated[str, format_option("chart", "markdown")]


def record_of(kind: type[R], given: dict[str, Any], others: Collection[str] = ()) -> R:
    """Return a NamedTuple of this kind from the parameters of a command that have the names of its fields.

    Lists become tuples; what was not given keeps the default of the record. `others` are parameters that are no fields.
    """
    unknown = given.keys() - {*kind._fields, *others}  # type: ignore[attr-defined]
    if unknown:
        raise TypeError(f"{kind.__name__} has no {', '.join(sorted(unknown))}")
    fields = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in given.items()
        if value is not None and name in kind._fields  # type: ignore[attr-defined]
    }
    return kind(**fields)


def with_options(*groups: Mapping[str, tuple[Any, Any]]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command, after its own parameters, those that several have: type and default by name.

    The function gets them as keywords.
    """
    shared = {name: option for group in groups for name, option in group.items()}

    def extended(run: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(run, eval_str=True)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in shared.items()
        ]
        run.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        run.__annotations__ |= {name: kind for name, (kind, _) in shared.items()}
        return run

    return extended
