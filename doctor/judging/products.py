"""The products that a user may name in a spec."""

from __future__ import annotations

from compat.can import packages_of
from compat.load import is_framework, products
from compat.spec import Spec
from doctor.choice import NoSuchName


def known_product(spec: Spec, *also: str) -> Spec:
    """The spec, if the matrix has builds of it, or it is one of `also`; raises NoSuchName."""
    there = {*filter(is_framework, products()), *also}
    if not there.intersection(packages_of(spec)):
        raise NoSuchName("product", spec.name, there)
    return spec
