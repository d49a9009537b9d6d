"""The products that a user may name in a spec."""

from __future__ import annotations

from compat.can import packages_of
from compat.choice import NoSuchName
from compat.error import GpudoctorError
from compat.load import is_framework, products
from compat.matrix import Matrix
from compat.platform import names_of_packages, package_named
from compat.spec import Spec


class NotCuda(GpudoctorError):
    """A package that has nothing to do with CUDA."""


def known_product(spec: Spec, *also: str) -> Spec:
    """The spec, if the matrix has builds of it, or it is one of `also`; a name that people give it becomes its own.

    Raises NoSuchName, and NotCuda for what is known to use no GPU.
    """
    there = {*filter(is_framework, products()), *also}
    if there.intersection(packages_of(spec)):
        return spec
    named = package_named(spec.name, Matrix())
    if named and not named.package:
        raise NotCuda(f"{spec.name} is no package for CUDA: {named.note}")
    if named and there.intersection(packages_of(spec._replace(name=named.package))):
        return spec._replace(name=named.package)
    raise NoSuchName("product", spec.name, there | names_of_packages(Matrix()))
