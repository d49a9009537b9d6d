"""Showing the matrix: `shown` for one product, `listed` for all of them."""

from __future__ import annotations

import re

from compat.base.choice import one_of
from compat.build import release_key
from compat.load import is_framework, products, tables_of
from compat.matrix import Matrix, Uncovered
from compat.spec import normal
from doctor.commands.matrix.choose import tables_for
from doctor.commands.matrix.shown import Shown
from doctor.commands.matrix.summary import summary_of
from doctor.commands.matrix.view import Line, Sheet, View
from doctor.commands.matrix.view_document import UncoveredDocument, ViewDocument
from doctor.output.write import deliver, format_for, terminal_style
from doctor.rules.shared.products import meant_by

EXIT_UNKNOWN = 4
_PINNED = re.compile(r"\s*([\w.-]+)\s*==?\s*([\d.]+)\s*")  # as pip and conda write it: torch==2.6.0, torch=2.6
ABOUT = {
    "compiler": "host compilers that each CUDA toolkit accepts",
    "conflicts": "packages that do not work together",
    "cuda": "CUDA toolkits: the drivers they need, the GPUs they build for",
    "cuda-installer": "installers of the CUDA toolkit, with digests",
    "chip": "PCI device ids of the cards that carry a chip",
    "cudnn": "cuDNN releases and builds",
    "libraries": "names of CUDA's libraries, programs and libraries that frameworks need",
    "cudnn-archive": "cuDNN archives, with checksums and layout",
    "driver": "driver branches: their CUDA version and their support",
    "frameworks": "what is true of a framework whatever its release",
    "forward-compat": "forward-compatibility packages: a newer libcuda on an older driver",
    "gpu": "GPUs by name, and their generations",
    "index": "package indexes, repositories and pages",
    "package": "names that people give packages, and what only an extra of them brings",
    "platform": "cards of one kind of machine, and platforms that there is no build for",
    "redist": "NVIDIA's redistributable manifests, with digests",
    "redist-component": "the components of each CUDA release as archives, with digests",
    "status": "error codes of the CUDA driver and runtime, NVML, cuDNN, cuBLAS, NCCL and others",
    "variable": "environment variables: the values that programs accept",
    "xid": "error codes of the kernel module",
}


def view(product: str, name: str, matrix: Matrix) -> View:
    """What the matrix says of a product (and of one version or name of it).

    Raises NoSuchName for an unknown product, NoRows for what is known to have none, Uncovered for what no row covers,
    VersionError for a name that cannot be one.
    """
    pinned = None if name else _PINNED.fullmatch(product)
    if pinned:
        product, name = pinned[1], pinned[2]
    product = _product(normal(product), matrix)
    tables = tables_for(product, name, matrix)
    return View(
        product=product,
        name=name,
        as_of=matrix.as_of(product),
        summary=summary_of(product, name, tables, matrix),
        tables=tables,
    )


def _product(name: str, matrix: Matrix) -> str:
    """The product of that name, or of that which people call so: torch for pytorch."""
    known = products()
    meant = name if name in known else meant_by(name, matrix)
    return meant if meant in known else one_of("product", name, known)


def shown(product: str, name: str, style: str, matrix: Matrix, output: str | None = None) -> tuple[str, int]:
    """The text to print ("" when it went to `output`), and the exit status: 4 where no row covers what was asked for.

    Raises what `view` raises, and NotWritten.
    """
    chosen = format_for(style, ViewDocument)
    document: ViewDocument | UncoveredDocument
    try:
        document, status = ViewDocument(Shown.of(view(product, name, matrix))), 0
    except Uncovered as error:
        document, status = UncoveredDocument(normal(product), name, str(error)), EXIT_UNKNOWN
    return deliver(document, chosen, output, terminal_style()), status


def listed(style: str, matrix: Matrix, output: str | None = None) -> str:
    """Every product for a reader: how many rows, of which day, what they are."""
    sheets = (listing(matrix),)
    document = ViewDocument(Shown(product="", name="", as_of="", summary=(), sheets=sheets, tables=()))
    return deliver(document, format_for(style, ViewDocument), output, terminal_style())


def listing(matrix: Matrix) -> Sheet:
    """Every product, one a line: frameworks after the stack itself."""
    lines = (
        Line((product, str(_row_count(product, matrix)), matrix.as_of(product), about(product, matrix)))
        for product in sorted(products(), key=lambda name: (is_framework(name), name))
    )
    return Sheet("The matrix", ("product", "rows", "as of", "what it holds"), tuple(lines))


def _row_count(product: str, matrix: Matrix) -> int:
    return sum(len(matrix.rows(product, table)) for table in tables_of(product))


def about(product: str, matrix: Matrix) -> str:
    """What a product's tables hold, in a few words."""
    if product in ABOUT:
        return ABOUT[product]
    versions = (re.search(r"\d[\w.]*", row.versions) for row in matrix.rows(product, "builds"))
    names = sorted({found[0].rstrip(".") for found in versions if found}, key=_order)
    return f"builds of {product} {names[0]}" + (f" to {names[-1]}" if len(names) > 1 else "")


def _order(version: str) -> tuple[tuple[int, ...], bool, tuple[int, ...]]:
    """A pre-release before its release, and rc9 before rc10; a post-release (1.7.0.post97) after it."""
    whole = version.replace(".", "").isdigit() or ".post" in version
    return release_key(version), whole, tuple(map(int, re.findall(r"\d+", version)))
