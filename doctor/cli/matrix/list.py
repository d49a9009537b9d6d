"""`gpudoctor matrix list`: the products that the matrix knows."""

from __future__ import annotations

from compat.matrix import Matrix
from doctor.cli import Command
from doctor.cli._options import Output, TableFormat
from doctor.commands.matrix.show import listed


def list_products(style: TableFormat = "text", output: Output = None) -> None:
    """List the products of the matrix: number of rows, date, content."""
    print(listed(style, Matrix.of_user(), output), end="")


COMMAND = Command(
    list_products,
    "gpudoctor matrix list",
)
