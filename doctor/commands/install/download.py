"""What `gpudoctor install ... --download-only DIR` does: fill a bundle, and say how it is used."""

from __future__ import annotations

import os
import shlex

from compat.matrix import Matrix
from doctor.commands.install.install import BadOrder, InstallOrder, prepare
from doctor.output.document import TextStyle
from doctor.output.formats.json import encoded
from doctor.output.page import Page
from installers.bundle import SUMS, Bundled, fill, not_in_it
from installers.progress import Report
from installers.run import ExecutionOptions

SCHEMA = "gpudoctor.bundle/1"
_MIB = 1 << 20
_SHOWN = 10  # a framework brings some thirty wheels


def download(asked: InstallOrder, directory: str, report: Report, view: TextStyle) -> str:
    """Fetch the files of the plan into the directory, and return the text to print.

    Raises what `prepare` and `fill` raise.
    """
    if not directory.isprintable():
        raise BadOrder(f"--download-only {directory!r} contains characters that cannot be printed")
    prepared = prepare(asked, Matrix.of_user())
    directory = os.path.abspath(os.path.expanduser(directory))
    files = fill(prepared.plan, directory, ExecutionOptions(report=report), here=prepared.facts is not None)
    left = tuple(shlex.join(one.argv) for one in not_in_it(prepared.plan))
    if asked.style == "json":
        named = [one._asdict() for one in files]
        return encoded({"schema": SCHEMA, "directory": directory, "files": named, "not_in_it": list(left)}) + "\n"
    return _page(directory, files, left, view)


def _page(directory: str, files: tuple[Bundled, ...], left: tuple[str, ...], view: TextStyle) -> str:
    page = Page(view)
    total_bytes = sum(one.size_bytes for one in files)
    count = f"{len(files)} file{'s' if len(files) > 1 else ''}"
    page.paragraph(f"{directory} holds {count}, {total_bytes / _MIB:,.1f} MiB:", colour="bold")
    largest = sorted(files, key=lambda one: one.size_bytes, reverse=True)
    for one in largest[:_SHOWN]:
        page.verbatim(f"{one.size_bytes / _MIB:8,.1f} MiB  {one.name}", indent=2)
    if len(files) > _SHOWN:
        page.paragraph(f"  {len(files) - _SHOWN} smaller ones follow; {SUMS} lists all")
    if left:
        page.gap()
        page.paragraph("These packages of the system are not among them:", colour="yellow")
        for line in left:
            page.verbatim(line, indent=2)
    page.gap()
    page.paragraph(f"Copy the directory to the other machine. `sha256sum -c {SUMS}` checks it there.")
    page.paragraph("Then run the same command with --bundle DIR in place of --download-only DIR.")
    return page.text()
