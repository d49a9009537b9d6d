"""Which rows answer a question about a product: `tables_for` is the only door."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from compat.build import covers, gpu_packages, release_key
from compat.load import is_framework, tables_of
from compat.matrix import Matrix, Uncovered, accepts
from compat.version import CodeTarget, ComputeCapability, CudaVersion, CudnnVersion, DriverRelease, VersionError
from doctor.commands.matrix.view import Table

Choose = Callable[[str, Matrix], list[Table]]


def tables_for(product: str, name: str, matrix: Matrix) -> tuple[Table, ...]:
    """The tables that speak of this product and name, "" for all of it.

    Raises Uncovered, with the nearest that is covered, and VersionError for a name that cannot be one.
    """
    name = name.strip()
    if not name:
        return tuple(Table(f"{product}.{table}", _all(product, table, matrix)) for table in tables_of(product))
    if product in _CHOICES:
        chosen = _CHOICES[product](name, matrix)
    else:
        chosen = (_framework if is_framework(product) else _by_names)(product, name, matrix)
    return tuple(table for table in chosen if table.rows)


def _all(product: str, table: str, matrix: Matrix) -> tuple[Any, ...]:
    rows = matrix.rows(product, table)
    if not is_framework(product):
        return rows
    return tuple(sorted(rows, key=lambda row: release_key(row.versions), reverse=True))


def _framework(product: str, name: str, matrix: Matrix) -> list[Table]:
    rows: tuple[Any, ...] = matrix.rows(product, "builds")
    public, _, build = re.sub(r"\.[x*]$", "", name).partition("+")
    if any(row.build == name for row in rows):  # releases that only their build distinguishes: "r5" of torch7
        return [Table(f"{product}.builds", tuple(row for row in rows if row.build == name))]
    if not re.fullmatch(r"\d[\w.]*", public):
        raise VersionError(name, f"release of {product}")
    found = [row for row in rows if _speaks_of(row, public) and build in {"", row.build}]
    if not found:
        names = dict.fromkeys(row.versions.removeprefix("==") for row in rows)
        raise Uncovered(f"{product} {name}", nearest(name, names))
    return [*_with_gpu_code(product, public, matrix), Table(f"{product}.builds", tuple(found))]


def _with_gpu_code(product: str, version: str, matrix: Matrix) -> list[Table]:
    """The plugins that carry the GPU code of a release, under its number: jax-cuda12-plugin for jax."""
    plugins = [name for name in gpu_packages(product) if name.endswith("-plugin") and matrix.has(name)]
    return [
        Table(f"{name}.builds", tuple(row for row in matrix.rows(name, "builds") if _speaks_of(row, version)))
        for name in plugins
    ]


def _speaks_of(row: Any, version: str) -> bool:
    """Whether a row is of this release, or of one within it: 2.9.1 is within 2.9."""
    name = row.versions.removeprefix("==")
    return covers(row, version) or _within(name, version) or _lies_within(row.versions, version)


def _lies_within(specifier: str, version: str) -> bool:
    """Whether a row of many releases begins within the one named: ">=4.2,<5" within 4."""
    return specifier.startswith(">=") and _within(specifier[2:].partition(",")[0], version)


def nearest(wanted: str, names: Iterable[str]) -> str:
    """The name whose number is the largest at or below the wanted one, else the smallest."""
    ordered = sorted(names, key=release_key)
    below = [name for name in ordered if release_key(name) <= release_key(wanted)]
    return below[-1] if below else ordered[0] if ordered else ""


def _cudnn(name: str, matrix: Matrix) -> list[Table]:
    version = CudnnVersion.parse(name)
    releases = [row for row in matrix.rows("cudnn", "releases") if row.version.agrees_with(version.release)]
    if not releases:
        raise Uncovered(f"cuDNN {name}", nearest(name, (str(row.version) for row in matrix.rows("cudnn", "releases"))))
    found = {row.version for row in releases}
    companions = matrix.rows("cudnn", "companions")
    return [
        Table("cudnn.releases", tuple(releases)),
        Table("cudnn.builds", tuple(row for row in matrix.rows("cudnn", "builds") if row.version in found)),
        Table("cudnn.companions", tuple(row for row in companions if any(accepts(row.versions, one) for one in found))),
        *_archives(name, matrix),
    ]


def _archives(name: str, matrix: Matrix) -> list[Table]:
    version = CudnnVersion.parse(name)
    rows = tuple(row for row in matrix.rows("cudnn-archive", "archives") if row.version.agrees_with(version))
    used = {row.layout for row in rows}
    layouts = tuple(row for row in matrix.rows("cudnn-archive", "layouts") if row.id in used)
    return [Table("cudnn-archive.archives", rows), Table("cudnn-archive.layouts", layouts)]


def _cudnn_archive(name: str, matrix: Matrix) -> list[Table]:
    tables = _archives(name, matrix)
    if not tables[0].rows:
        names = (str(row.version) for row in matrix.rows("cudnn-archive", "archives"))
        raise Uncovered(f"an archive of cuDNN {name}", nearest(name, names))
    return tables


def _within(release: str, name: str) -> bool:
    """Whether a release is the one named, or one of the version named: 12.4.1 is within 12.4 and within 12."""
    return f"{release}.".startswith(f"{name}.")


def _cuda(name: str, matrix: Matrix) -> list[Table]:
    toolkits = tuple(row for row in matrix.rows("cuda", "toolkits") if _within(row.release, name))
    if not toolkits:
        CudaVersion.parse(name)
        raise Uncovered(f"CUDA {name}", nearest(name, (row.release for row in matrix.rows("cuda", "toolkits"))))
    versions = {row.cuda for row in toolkits}
    hosts = {row.id: row for toolkit in toolkits for row in _hosts(toolkit.release, matrix)}
    installers = tuple(row for row in matrix.rows("cuda-installer", "installers") if _within(row.release, name))
    return [
        Table("cuda.toolkits", toolkits),
        Table("cuda.targets", tuple(row for row in matrix.rows("cuda", "targets") if row.cuda in versions)),
        Table("compiler.hosts", tuple(hosts.values())),
        Table("cuda-installer.installers", installers),
    ]


def _hosts(release: str, matrix: Matrix) -> tuple[Any, ...]:
    try:
        return (matrix.compilers(release),)
    except Uncovered:
        return ()


def _compiler(name: str, matrix: Matrix) -> list[Table]:
    within = (row.release for row in matrix.rows("cuda", "toolkits") if _within(row.release, name))
    found = {row.id: row for release in within for row in _hosts(release, matrix)}
    if not found:
        CudaVersion.parse(name)
        row = matrix.compilers(name)
        found = {row.id: row}
    return [Table("compiler.hosts", tuple(found.values()))]


def _installers(name: str, matrix: Matrix) -> list[Table]:
    rows = matrix.rows("cuda-installer", "installers")
    found = tuple(row for row in rows if _within(row.release, name))
    if not found:
        raise Uncovered(f"an installer of CUDA {name}", nearest(name, (row.release for row in rows)))
    options = tuple(matrix.rows("cuda-installer", "options"))
    return [Table("cuda-installer.installers", found), Table("cuda-installer.options", options)]


def _gpu(name: str, matrix: Matrix) -> list[Table]:
    products = _named_products(name, matrix)
    try:
        capabilities = set() if products else {_capability(name)}
    except VersionError:
        raise Uncovered(f"the GPU {name!r}", _close(name, matrix)) from None
    products = products or tuple(row for row in matrix.rows("gpu", "products") if capabilities & set(row.capabilities))
    capabilities |= {capability for row in products for capability in row.capabilities}
    generations = {row.id: row for row in map(matrix.generation, sorted(capabilities))}
    return [Table("gpu.products", products), Table("gpu.generations", tuple(generations.values()))]


def _capability(name: str) -> ComputeCapability:
    """Of "8.9" or "sm_89"; raises VersionError."""
    return CodeTarget.parse(name).capability if "_" in name else ComputeCapability.parse(name)


def _named_products(name: str, matrix: Matrix) -> tuple[Any, ...]:
    """The product of this name, else every one whose name has all of its words."""
    try:
        return (matrix.gpu(name),)
    except Uncovered:
        words = set(name.casefold().split())
        rows = matrix.rows("gpu", "products")
        return tuple(row for row in rows if words <= set(" ".join((row.name, *row.aliases)).casefold().split()))


def _close(name: str, matrix: Matrix) -> str:
    from difflib import get_close_matches  # late: only for mistakes

    rows = matrix.rows("gpu", "products")
    names = {known.casefold(): row.name for row in rows for known in (row.name, *row.aliases)}
    near = get_close_matches(name.casefold(), names, n=1, cutoff=0.3)
    return names[near[0]] if near else ""


def _driver(name: str, matrix: Matrix) -> list[Table]:
    return [Table("driver.branches", (matrix.branch(DriverRelease.parse(name)),))]


def _xid(name: str, matrix: Matrix) -> list[Table]:
    found = tuple(row for row in matrix.rows("xid", "codes") if name in {str(row.xid), row.mnemonic})
    if not found:
        raise Uncovered(f"Xid {name}", nearest(name, (str(row.xid) for row in matrix.rows("xid", "codes"))))
    return [Table("xid.codes", found)]


def _status(name: str, matrix: Matrix) -> list[Table]:
    rows = matrix.rows("status", "codes")
    found = tuple(row for row in rows if str(row.code) == name or name.casefold() in row.name.casefold())
    found = found or tuple(row for row in rows if row.library == name.casefold())
    if not found:
        raise Uncovered(f"the status {name}", nearest(name, (str(row.code) for row in rows)))
    return [Table("status.codes", found)]


def _conflicts(name: str, matrix: Matrix) -> list[Table]:
    known = tuple(row for row in matrix.conflicts() if name in {row.id, *row.when})
    abi = tuple(row for row in matrix.rows("conflicts", "abi") if name in {row.id, row.package, *row.needs})
    companions = tuple(
        row for row in matrix.rows("conflicts", "companions") if name in {row.id, row.package, *row.needs}
    )
    if not (known or abi or companions):
        raise Uncovered(f"a conflict of {name}")
    return [
        Table("conflicts.known", known),
        Table("conflicts.abi", abi),
        Table("conflicts.companions", companions),
    ]


def _index(name: str, matrix: Matrix) -> list[Table]:
    keys = {
        "wheels": "package",
        "channels": "package",
        "repositories": "distribution",
        "local": "distribution",
        "machine-learning": "distribution",
        "third-party": "id",
        "own": "distribution",
        "drivers": "distribution",
        "keys": "fingerprint",
        "images": "release",
        "pages": "id",
    }
    tables = [
        Table(
            f"index.{table}", tuple(row for row in matrix.rows("index", table) if name in {row.id, getattr(row, key)})
        )
        for table, key in keys.items()
    ]
    if not any(table.rows for table in tables):
        raise Uncovered(f"an address for {name}")
    return tables


def _forward_compat(name: str, matrix: Matrix) -> list[Table]:
    return _by_field("forward-compat.packages", f"forward compatibility for CUDA {name}", ("cuda",), name, matrix)


def _redist_component(name: str, matrix: Matrix) -> list[Table]:
    return _by_field(
        "redist-component.components", f"components of CUDA {name}", ("release", "component"), name, matrix
    )


def _redist(name: str, matrix: Matrix) -> list[Table]:
    return _by_field("redist.manifests", f"a manifest of {name}", ("release", "product"), name, matrix)


def _by_field(table: str, what: str, fields: tuple[str, ...], name: str, matrix: Matrix) -> list[Table]:
    """Return the rows with this id or a field of this value; names like it are those of the first field."""
    rows = matrix.rows(*table.split("."))
    found = tuple(row for row in rows if name in {row.id, *(str(getattr(row, field)) for field in fields)})
    if not found:
        raise Uncovered(what, nearest(name, (str(getattr(row, fields[0])) for row in rows)))
    return [Table(table, found)]


def _by_names(product: str, name: str, matrix: Matrix) -> list[Table]:
    """Return the rows of any product that bear this name: a package, a card, a platform, a library."""
    tables = [
        Table(f"{product}.{table}", tuple(row for row in matrix.rows(product, table) if name in _names(row)))
        for table in tables_of(product)
    ]
    if not any(table.rows for table in tables):
        raise Uncovered(f"{name} in {product}")
    return tables


def _names(row: Any) -> set[str]:
    """Return what a row is found by."""
    fields = (
        "id",
        "name",
        "package",
        "distributions",
        "arch",
        "os",
        "cards",
        "extra",
        "stem",
        "soname",
        "dll",
        "variables",
    )
    columns = (getattr(row, field, "") for field in fields)
    return {one for column in columns for one in (column if isinstance(column, tuple) else (column,))}


_CHOICES: dict[str, Choose] = {
    "compiler": _compiler,
    "conflicts": _conflicts,
    "cuda": _cuda,
    "cuda-installer": _installers,
    "cudnn": _cudnn,
    "cudnn-archive": _cudnn_archive,
    "driver": _driver,
    "forward-compat": _forward_compat,
    "gpu": _gpu,
    "index": _index,
    "redist": _redist,
    "redist-component": _redist_component,
    "status": _status,
    "xid": _xid,
}
