"""The products that a user may name in a spec."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

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
        super().__init__("product", name, known)

    @property
    def question(self) -> str:
        """See NoSuchName; torch2.9.1 means torch==2.9.1."""
        glued = re.fullmatch(r"([a-z][a-z-]*?)-?(\d+(?:-\d+)*)", self.name)
        if not glued or glued[1] not in self.known:
            return super().question
        release = glued[2].replace("-", ".")
        return f"did you mean {glued[1]}=={release}{'' if '.' in release else '.*'}?"

    @property
    def why(self) -> str:
        """Return why it is not judged."""
        return self.question or "no data about it"

    @property
    def hint(self) -> str:  # type: ignore[override]
        """See GpudoctorError."""
        return "" if self.question else "For a list: gpudoctor matrix list"


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


def named_product(spec: Spec, *also: str) -> Spec | None:
    """Return the spec by the package's own name, if the matrix has builds of it or it is one of `also`; else None.

    Raises NoRows for what is known to have none, with the reason.
    """
    shipped, frameworks, _ = _shipped()
    there = {*frameworks, *also}
    traits = traits_of(spec.name)
    if spec.name in there or (spec.name == traits.id and there.intersection(packages_of(spec, shipped))):
        return spec
    meant = spec._replace(name=meant_by(spec.name, shipped))
    if meant.name and there.intersection(packages_of(meant, shipped)):
        return meant
    if spec.name in traits.distributions and there.intersection(packages_of(spec, shipped)):
        own = ", ".join(sorted(there & {*traits.distributions}))
        raise NoRows(spec.name, f"its family has data for {own}")
    return None


def known_product(spec: Spec, *also: str) -> Spec:
    """Return what `named_product` does; raises NoSuchProduct, with names like it, and NoRows."""
    found = named_product(spec, *also)
    if found is None:
        _, frameworks, packages = _shipped()
        raise NoSuchProduct(spec.name, {*frameworks, *also, *packages})
    return found


@lru_cache(maxsize=1)
def _shipped() -> tuple[Matrix, frozenset[str], frozenset[str]]:
    """The shipped rows, what has builds, and the names of packages: a lock file asks for thirty thousand."""
    matrix = Matrix()
    return matrix, frozenset(filter(is_framework, products())), frozenset(names_of_packages(matrix))


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
