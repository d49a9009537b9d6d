"""Where a remedy's wheels go: into the site in which the packages lie that it is about."""

from __future__ import annotations

from typing import Any

import pytest

from compat.matrix import Matrix
from compat.need import InstallPackage
from doctor.model.facts.environment import Base, Distribution, Environment
from doctor.model.facts.seen import Seen
from doctor.prescribe.install_location import Place, place_of
from installers.choose import plan_for
from installers.render import commands
from tests.installers.test_effects import UBUNTU
from tests.machine import environment

CUDNN = InstallPackage("nvidia-cudnn-cu12", "==9.10.2.21")
OWN, OTHER, USER, DEBIAN = (
    *("/w/lib/python3.12/site-packages", "/shared", "/home/jo/.local/lib/python3.12/site-packages"),
    "/usr/local/lib/python3.12/dist-packages",
)
APT = "/usr/lib/python3/dist-packages"
BASE = Base("/usr", "/usr/bin/python3", externally_managed=True)


def _there(site: str, **more: Any) -> Environment:
    """An environment in /w with torch and an old cuDNN in that site."""
    wheel = Distribution(
        name="nvidia-cudnn-cu12",
        version="9.0.0.312",
        site=site,
        metadata=f"{site}/x.dist-info",
        kind="wheel",
        hidden_by="",
    )
    usual: dict[str, Any] = {"prefix": "/w", "kind": "venv", "sites": Seen((OWN, USER, DEBIAN, APT, OTHER), "")}
    return environment()._replace(distributions=Seen((wheel,), ""), **{**usual, **more})


SYSTEM: dict[str, Any] = {"prefix": "/usr", "kind": "system", "externally_managed": True}


@pytest.mark.parametrize(
    ("site", "different", "place"),
    [
        (OWN, {}, Place(OWN)),
        (OWN, {"closed": (OWN,)}, Place(OWN, writable=False)),
        (OTHER, {"installers": ("pip",)}, Place(OTHER, OTHER, brings_uv=True)),
        (OTHER, {"installers": ("ensurepip",)}, Place()),
        (OTHER, {"installers": ("uv",)}, Place(OTHER, OTHER)),
        (DEBIAN, {"base": BASE}, Place(DEBIAN, runner=BASE.interpreter, externally_managed=True, by_pip=True)),
        (
            APT,
            {"base": BASE, "closed": (APT,)},
            Place(APT, runner=BASE.interpreter, externally_managed=True, writable=False),
        ),
        (DEBIAN, SYSTEM, Place(DEBIAN, externally_managed=True, by_pip=True)),
        (OTHER, {**SYSTEM, "installers": ("pip",)}, Place(OTHER, OTHER, brings_uv=True)),
        (OTHER, {**SYSTEM, "installers": ("uv",)}, Place(OTHER, OTHER)),
        (USER, SYSTEM, Place(USER, USER, externally_managed=True, by_pip=True)),
        (APT, SYSTEM, Place(APT, externally_managed=True)),
        ("/elsewhere", {}, Place()),
    ],
)
def test_where(site: str, different: dict[str, Any], place: Place) -> None:
    assert place_of(CUDNN, _there(site, **different)) == place


def test_nobody_knows_the_environment() -> None:
    assert place_of(CUDNN, None) == Place()


@pytest.mark.parametrize(
    ("different", "line"),
    [
        ({"writable": False}, "sudo /w/bin/python -m pip install nvidia-cudnn-cu12==9.10.2.21"),
        (
            {"runner": "/usr/bin/python3", "externally_managed": True, "by_pip": True},
            "/usr/bin/python3 -m pip install --break-system-packages nvidia-cudnn-cu12==9.10.2.21",
        ),
        ({"into": USER}, "/w/bin/python -m pip install --user nvidia-cudnn-cu12==9.10.2.21"),
        (
            {"into": OTHER, "installers": ("uv",)},
            "uv pip install --python /w/bin/python --target /shared nvidia-cudnn-cu12==9.10.2.21",
        ),
        (
            {"into": OTHER, "installers": ("uv",), "brings_uv": True},
            "gpudoctor-uv/bin/uv pip install --python /w/bin/python --target /shared nvidia-cudnn-cu12==9.10.2.21",
        ),
        ({"externally_managed": True}, ".venv/bin/python -m pip install nvidia-cudnn-cu12==9.10.2.21"),
    ],
)
def test_its_command(different: dict[str, Any], line: str) -> None:
    target = UBUNTU._replace(python="/w/bin/python", **different)
    lines = commands(plan_for(CUDNN, target, Matrix()), target)
    got = "/w/bin/python -m pip install --target gpudoctor-uv uv"
    first = [got] if different.get("brings_uv") else []
    assert [one for one in lines if "pip install" in one and not one.startswith("#")] == [*first, line]
