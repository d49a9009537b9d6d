"""Channels that serve builds of which the matrix has no rows: conda-forge, a project's own index, containers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from compat.base.record import NamedTuple
from compat.build import serves
from compat.matrix import Matrix, Uncovered
from compat.overlap import NO, overlap
from compat.reason import BAD, driver_runs, drives_reasons
from compat.row import ChannelRow
from compat.spec import Spec
from compat.target import TargetMachine
from compat.traits import traits_of
from compat.version import ComputeCapability, CudaVersion

THE_INDEX = "the package index"


class Offer(NamedTuple):
    """What a channel serves for a machine, as far as its row says."""

    row: ChannelRow
    cudas: tuple[CudaVersion, ...]  # those that start on the driver and know the cards
    cards: tuple[ComputeCapability, ...]  # those that it is known to have code for

    @property
    def label(self) -> str:
        """The package with its release: "tensorflow 2.19.1"."""
        return f"{self.row.package} {self.row.versions.removeprefix('==')}".rstrip()


def offers(specs: Iterable[Spec], where: TargetMachine, matrix: Matrix) -> tuple[Offer, ...]:
    """Return what channels without rows of builds serve of these packages, and is not known not to work there.

    Nothing works with a driver that does not know the card.
    """
    if any(reason.kind == BAD for reason in drives_reasons(where, matrix)):
        return ()
    found = (_offer(row, where, matrix) for spec in specs for row in _rows(spec, matrix) if not row.covered)
    return tuple(dict.fromkeys(one for one in found if one))


def covered(specs: Iterable[Spec], matrix: Matrix) -> tuple[str, ...]:
    """Return the names of the channels that the rows of these packages speak of."""
    names = (row.channel for spec in specs for row in _rows(spec, matrix) if row.covered)
    return tuple(dict.fromkeys((THE_INDEX, *names)))


def is_newer(offer: Offer, release: str) -> bool:
    """Return whether a channel is known to serve a newer release than this one; never for a range, ">=3,<4"."""
    if not offer.row.versions or not re.fullmatch(r"\d[\w.]*", release):
        return False
    return overlap((offer.row.versions, f">{release}")) != NO


def _rows(spec: Spec, matrix: Matrix) -> Iterator[ChannelRow]:
    """The rows of a package, and of what else it is published as."""
    names = {spec.name, *traits_of(spec.name).distributions}
    for row in matrix.rows("index", "channels"):
        if row.package in names and overlap((spec.versions, row.versions)) != NO:
            yield row


def _offer(row: ChannelRow, where: TargetMachine, matrix: Matrix) -> Offer | None:
    if where.os_family not in row.os or where.arch not in row.arch:
        return None
    if row.targets and not all(serves(row.targets, gpu, jetson=where.arch == "jetson") for gpu in where.capabilities):
        return None
    cudas = tuple(cuda for cuda in row.cuda if _starts(cuda, where, matrix))
    cards = where.capabilities if row.targets else ()
    return Offer(row, cudas, cards) if cudas or not row.cuda else None


def _starts(cuda: CudaVersion, where: TargetMachine, matrix: Matrix) -> bool:
    """Whether a CUDA version starts on the driver and builds for the cards; yes where nothing says it does not."""
    if where.driver is not None and driver_runs(cuda, where.driver, where.driver_family, matrix).kind == BAD:
        return False
    try:
        newest = matrix.targets(cuda)
    except Uncovered:
        return True
    return all(newest.capability_min <= gpu and gpu.major <= newest.capability_max.major for gpu in where.capabilities)
