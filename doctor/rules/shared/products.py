"""The products that a user may name in a spec."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from compat.base.choice import NoSuchName
from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.can import packages_of
from compat.load import is_framework, products
from compat.matrix import Matrix
from compat.platform import names_of_packages, package_named
from compat.spec import Spec
from compat.traits import traits_of


class NotJudged(NamedTuple):
    """A package of a question that no row speaks of: the others are answered without it."""

    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.name} ({self.why})"


class NoSuchProduct(NoSuchName):
    """The matrix knows no such product; where none has a name like it, the list is what helps."""

    def __init__(self, name: str, known: Collection[str]) -> None:
        self.name = name
        glued = re.fullmatch(r"([a-z][a-z-]*?)-?(\d+(?:-\d+)*)", name)
        if glued and glued[1] in known:
            release = glued[2].replace("-", ".")
            meant = f"{glued[1]}=={release}" + ("" if "." in release else ".*")
            self.question = f"did you mean {meant}?"
            GpudoctorError.__init__(self, f"no product {name!r}; {self.question}")
        else:
            super().__init__("product", name, known)
        self.why = self.question or "no data about it"
        self.hint = "" if self.question else "For a list: gpudoctor matrix list"


class NoRows(GpudoctorError):
    """A package that the matrix has no rows of, and knows why: it uses no GPU, or another package's."""

    def __init__(self, name: str, why: str) -> None:
        self.name, self.why = name, why
        super().__init__(f"{name} has no data of its own: {why}")


def meant_by(name: str, matrix: Matrix) -> str:
    """The package that people mean by a name, torch by pytorch; "" where no row says. Raises NoRows."""
    named = package_named(name, matrix)
    if named and not named.package:
        raise NoRows(name, named.note)
    return named.package if named else ""


def known_product(spec: Spec, *also: str) -> Spec:
    """The spec, if the matrix has builds of it, or it is one of `also`; a name that people give it becomes its own.

    Raises NoSuchProduct, and NoRows for what is known to have none, with the reason.
    """
    shipped = Matrix()
    there = {*filter(is_framework, products()), *also}
    traits = traits_of(spec.name)
    if spec.name in there or (spec.name == traits.id and there.intersection(packages_of(spec, shipped))):
        return spec
    meant = spec._replace(name=meant_by(spec.name, shipped))
    if meant.name and there.intersection(packages_of(meant, shipped)):
        return meant
    if spec.name in traits.distributions and there.intersection(packages_of(spec, shipped)):
        own = ", ".join(sorted(there & {*traits.distributions}))
        raise NoRows(spec.name, f"its family has data for {own}")
    raise NoSuchProduct(spec.name, there | names_of_packages(shipped))


def known_products(specs: Iterable[Spec], *also: str) -> tuple[tuple[Spec, ...], tuple[NotJudged, ...]]:
    """Return the specs of which the matrix has builds, as `known_product` spells them, and the others.

    Raises NoSuchProduct or NoRows if there is no spec that can be answered.
    """
    known: list[Spec] = []
    unknown: list[NoSuchProduct | NoRows] = []
    for spec in specs:
        try:
            known.append(known_product(spec, *also))
        except (NoSuchProduct, NoRows) as error:
            unknown.append(error)
    if not known and unknown:
        raise unknown[0]
    return tuple(dict.fromkeys(known)), tuple(dict.fromkeys(NotJudged(one.name, one.why) for one in unknown))
