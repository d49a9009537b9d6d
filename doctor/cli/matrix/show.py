"""`gpudoctor matrix show`: what the matrix says of a product, with its sources."""

from __future__ import annotations

from typing import Annotated

import typer

from compat.matrix import Matrix
from doctor.cli import Command, _completion
from doctor.cli._options import Output, TableFormat, Text
from doctor.commands.matrix.show import shown


def show(
    product: Annotated[
        str,
        typer.Argument(
            metavar="PRODUCT", help="A name from `gpudoctor matrix list`.", autocompletion=_completion.product
        ),
    ],
    name: Annotated[
        Text,
        typer.Argument(
            metavar="[VERSION|NAME]",
            help="One version, GPU, driver or code.",
            autocompletion=_completion.release_of_named,
        ),
    ] = None,
    style: TableFormat = "text",
    output: Output = None,
) -> None:
    """Show the rows of a product, or of one version, with their sources ('?' = unknown)."""
    text, status = shown(product, name or "", style, Matrix.of_user(), output)
    print(text, end="")
    raise typer.Exit(status)


COMMAND = Command(
    show,
    "gpudoctor matrix show torch 2.9.1",
    "gpudoctor matrix show cudnn 9.10.2",
    "gpudoctor matrix show cuda 12.4",
    'gpudoctor matrix show gpu "RTX 5090"',
    "gpudoctor matrix show driver 535.183",
    "gpudoctor matrix show xid 79",
    exits={
        0: "shown",
        2: "no such product",
        4: "no row for it (gpudoctor names the nearest)",
    },
)
