"""The options that several commands have, each said once: its name, its help, its type.

Typer evaluates the annotations, also on Python 3.10, which is why they are spelled the old way.
"""

from __future__ import annotations

from typing import Annotated, Any, List, Optional  # noqa: UP035

import typer

from doctor.output.write import format_names

Texts = Optional[List[str]]  # noqa: UP006, UP045
Text = Optional[str]  # noqa: UP045

Pythons = Annotated[Texts, typer.Option("--python", metavar="EXE", help="Interpreter or environment; repeatable.")]
Root = Annotated[Text, typer.Option(metavar="DIR", help="Look at a mounted image or container root.")]
Output = Annotated[Text, typer.Option(metavar="FILE", help="Write the report there.")]
Policy = Annotated[Text, typer.Option(metavar="FILE", help="Judge by it; else by ./gpudoctor.toml, if it is there.")]
Redact = Annotated[bool, typer.Option("--redact", help="Take out users, hosts, serials, UUIDs, addresses, secrets.")]


def format_option(*views: str) -> Any:
    """`--format`; `views` are those that the command's document has (doctor.output.document)."""
    *others, last = format_names(*views)
    return typer.Option("--format", metavar="NAME", help=f"{', '.join(others)} or {last}.")


Format = Annotated[str, format_option()]
FindingsFormat = Annotated[str, format_option("findings", "markdown")]
Outputs = Annotated[
    Texts, typer.Option("--output", metavar="FILE", help="Write it there; repeatable, - is standard output.")
]
TableFormat = Annotated[str, format_option("rows", "markdown")]
ChartFormat = Annotated[str, format_option("chart", "markdown")]
