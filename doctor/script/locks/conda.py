"""pixi.lock and conda-lock.yml: packages of conda and of pip, listed by platform."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.spec import normal
from doctor.model.facts.seen import Place
from doctor.script.locks.package import LockError, Package, build_of, of_wheel
from doctor.script.yaml import Node

_CONDA = re.compile(r"/([^/]+)-([^-/]+)-([^-/]+)\.(?:conda|tar\.bz2)$")
_CUDA = re.compile(r"(?:^|_)cuda_?(\d\d)\.?(\d)?")


def pixi(document: Node, platform: str, file: str, named: str = "") -> tuple[Package, ...]:
    """Return the packages of an environment, `default` for "", on a platform, "linux-64"; raises LockError."""
    environments = document.at("environments") or Node(None, 0)
    chosen = environments.at(named or "default") or next(iter(environments.fields.values()), Node(None, 0))
    listed = chosen.at("packages", platform)
    if listed is None:
        there = ", ".join((chosen.at("packages") or Node(None, 0)).fields)
        raise LockError(f"{file}: nothing is locked for {platform}; it has {there or 'no platform'}")
    versions = {
        address.text: (each.at("name") or each).text + "==" + (each.at("version") or each).text
        for each in (document.at("packages") or Node(None, 0)).items
        if (address := each.at("pypi"))
    }
    return tuple(_all_of_pixi(listed.items, versions, file))


def _all_of_pixi(items: list[Node], versions: dict[str, str], file: str) -> Iterator[Package]:
    for one in items:
        address = one.at("conda") or one.at("pypi")
        if address is None:
            continue
        place = Place(file, one.line)
        if one.at("conda"):
            yield from _of_conda(address.text, place)
        elif named := of_wheel(address.text):
            index = build_of(address.text.rpartition("/")[0]) if "/whl/" in address.text else ""
            yield Package(*named, place, index)
        else:
            name, _, version = versions.get(address.text, "").partition("==")
            yield Package(normal(name), version, place, None)


def conda_lock(document: Node, platform: str, file: str) -> tuple[Package, ...]:
    """Return the packages of a platform; raises LockError where it has none."""
    found: list[Package] = []
    rows = (document.at("package") or Node(None, 0)).items
    here = [one for one in rows if (one.at("platform") or one).text == platform]
    if not here:
        there = sorted({(one.at("platform") or one).text for one in rows} - {""})
        raise LockError(f"{file}: nothing is locked for {platform}; it has {', '.join(there) or 'no platform'}")
    for one in here:
        address, place = (one.at("url") or one).text, Place(file, one.line)
        if (one.at("manager") or one).text == "conda":
            found += _of_conda(address, place)
        elif name := (one.at("name") or one).text:
            named = of_wheel(address)
            index = build_of(address.rpartition("/")[0]) if "/whl/" in address else ""
            found.append(Package(normal(name), named[1] if named else (one.at("version") or one).text, place, index))
    return tuple(found)


def _of_conda(address: str, place: Place) -> Iterator[Package]:
    """A package of conda's, whose file name has its version and its build: "cuda126_...", "cpu_..."."""
    found = _CONDA.search(address)
    if found is None:
        return
    name, version, build = found[1], found[2], found[3]
    cuda = _CUDA.search(build.replace("py3.", "py3"))
    if build.startswith("cpu") or "_cpu" in build:
        yield Package(normal(name), f"{version}+cpu", place, None, tool="conda")
    elif cuda:
        minor = cuda[2] if cuda[2] else ""
        yield Package(normal(name), version, place, None, cuda=f"{cuda[1]}.{minor or 0}", tool="conda")
    else:
        yield Package(normal(name), version, place, None, tool="conda")
