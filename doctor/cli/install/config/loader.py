"""`gpudoctor install config loader`: a directory of libraries, for every process or for a conda environment."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from doctor.cli import Command
from doctor.cli._options import with_options
from doctor.cli.install.config import AS_ROOT, CHANGE, EXITS, NAMES, STYLE, answer


@with_options(NAMES, CHANGE, AS_ROOT, STYLE)
def loader(
    directory: Annotated[
        str, typer.Argument(metavar="[DIR]", help="A directory of libraries, /usr/local/cuda/lib64 by default.")
    ] = "",
    **given: Any,
) -> None:
    """Print the steps that let Linux's loader search a directory; with --apply, carry them out (as root).

    It is a file in /etc/ld.so.conf.d and ldconfig, in place of LD_LIBRARY_PATH in every shell. With --conda, it is
    LD_LIBRARY_PATH (on Windows PATH) in hooks of that environment, and needs no root.
    """
    from doctor.commands.install.config_paths import (  # late: `gpudoctor install --help` loads this module, too
        loader as prepared,
    )

    answer(partial(prepared, directory, given.pop("name"), given.pop("conda")), **given)


COMMAND = Command(
    loader,
    "gpudoctor install config loader",
    "gpudoctor install config loader /opt/cudnn/lib --name cudnn --apply",
    "gpudoctor install config loader --conda $CONDA_PREFIX --apply",
    exits=EXITS,
)
