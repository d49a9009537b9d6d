"""The products that a user may name in a spec."""

from __future__ import annotations

from collections.abc import Collection

from compat.can import packages_of
from compat.choice import NoSuchName
from compat.error import GpudoctorError
from compat.load import is_framework, products
from compat.matrix import Matrix
from compat.platform import names_of_packages, package_named
from compat.spec import Spec


class NoSuchProduct(NoSuchName):
    """The matrix knows no such product; where none has a name like it, the list is what helps."""

    def __init__(self, name: str, known: Collection[str]) -> None:
        super().__init__("product", name, known)
        self.hint = "" if str(self).endswith("?") else "gpudoctor matrix list names them"


class NotCuda(GpudoctorError):
    """A package that has nothing to do with CUDA."""


def known_product(spec: Spec, *also: str) -> Spec:
    """The spec, if the matrix has builds of it, or it is one of `also`; a name that people give it becomes its own.

    Raises NoSuchProduct, and NotCuda for what is known to use no GPU.
    """
    shipped = Matrix()
    there = {*filter(is_framework, products()), *also}
    if there.intersection(packages_of(spec, shipped)):
        return spec
    named = package_named(spec.name, shipped)
    if named and not named.package:
        raise NotCuda(f"{spec.name} is no package for CUDA: {named.note}")
    if named and there.intersection(packages_of(spec._replace(name=named.package), shipped)):
        return spec._replace(name=named.package)
    raise NoSuchProduct(spec.name, there | names_of_packages(shipped))
