"""jax-plugin-version-mismatch."""

from __future__ import annotations

import pytest

from compat.need import InstallPackage
from doctor.model.finding import Status
from tests.machine import VENV, distribution, environment, framework, machine, seen, unseen
from tests.rules.case import answer

CODE = "jax-plugin-version-mismatch"
PLUGIN, PJRT = "jax-cuda12-plugin", "jax-cuda12-pjrt"
JAXLIB = framework("jaxlib", "0.9.0", build=seen("cpu"), refuses_others=("jax-cuda",))


@pytest.mark.parametrize(
    ("versions", "kind"),
    [
        ({"jax": "0.9.0", "jaxlib": "0.9.0", PLUGIN: "0.9.0", PJRT: "0.9.0"}, Status.OK),
        ({"jax": "0.4.37", "jaxlib": "0.4.36", PLUGIN: "0.4.36", PJRT: "0.4.36"}, Status.OK),
        ({"jax": "0.9.0", "jaxlib": "0.9.0"}, Status.OK),
        ({"jax": "0.4.25", "jaxlib": "0.4.25+cuda12.cudnn89"}, Status.OK),
        ({"jax": "0.9.0", "jaxlib": "0.9.0", PLUGIN: "0.9.0.dev20260317", PJRT: "0.9.0"}, Status.OK),
        ({"jax": "0.9.0", "jaxlib": "0.9.0", "jax-rocm60-plugin": "0.6.0"}, Status.OK),
        ({"jax": "0.9.0", "jaxlib": "0.9.0", PLUGIN: "0.9.2", PJRT: "0.9.2"}, Status.BAD),
        ({"jax": "0.9.0.1", "jaxlib": "0.9.0.1", PLUGIN: "0.9.0", PJRT: "0.9.0"}, Status.BAD),
        ({"jax": "0.9.0", "jaxlib": "0.9.0", PLUGIN: "0.9.0", PJRT: "0.8.0"}, Status.BAD),
        ({"jax": "0.4.13", "jaxlib": "0.4.30"}, Status.BAD),
        ({"jax": "0.9.0", "jaxlib": "0.8.0"}, Status.BAD),
        ({"jaxlib": "0.9.0", PLUGIN: "0.8.0"}, Status.BAD),
        ({"torch": "2.9.1"}, Status.NOT_APPLICABLE),
        ({"jaxlib": "0.9.0"}, Status.NOT_APPLICABLE),
    ],
)
def test_versions(versions: dict[str, str], kind: Status) -> None:
    version = versions.get("jax", "0.9.0")
    floor = {"0.9.0": ">=0.9.0", "0.4.37": ">=0.4.36"}.get(version, ">=0.4")
    jax = framework("jax", version, build=seen(""), requires=seen((f"jaxlib<={version},{floor}", "ml_dtypes>=0.5")))
    installed = tuple(distribution(name, version) for name, version in versions.items())
    here = environment(jax, JAXLIB, distributions=seen(installed))
    assert answer(CODE, machine(environments=seen((here,)))).kind is kind


def test_a_jaxlib_that_checks_no_plugin_takes_another_release() -> None:
    """`pip install jax[cuda12]==0.4.35` brings exactly these: its metadata asks for them, and nothing compares."""
    versions = {"jax": "0.4.35", "jaxlib": "0.4.34", PLUGIN: "0.4.35", PJRT: "0.4.35"}
    jax = framework("jax", "0.4.35", build=seen(""), requires=seen(("jaxlib<=0.4.35,>=0.4.34",)))
    installed = seen(tuple(distribution(*one) for one in versions.items()))
    for jaxlib, kind in ((JAXLIB._replace(refuses_others=()), Status.OK), (JAXLIB, Status.BAD)):
        here = environment(jax, jaxlib, distributions=installed)
        assert answer(CODE, machine(environments=seen((here,)))).kind is kind


@pytest.mark.parametrize(("plugin", "kind"), [("0.4.36", Status.OK), ("0.7.2", Status.BAD), ("0.4.34", Status.BAD)])
def test_a_plugin_that_no_extra_of_jax_takes(plugin: str, kind: Status) -> None:
    """The extras of jax 0.4.36 as its METADATA has them; its jaxlib compares nothing."""
    extras = tuple(f'{PLUGIN}[with_cuda]<=0.4.36,>=0.4.36; extra == "{one}"' for one in ("cuda", "cuda12"))
    jax = framework("jax", "0.4.36", build=seen(""), requires=seen(("jaxlib<=0.4.36,>=0.4.36", *extras)))
    versions = {"jax": "0.4.36", "jaxlib": "0.4.36", PLUGIN: plugin, PJRT: plugin}
    there = seen(tuple(distribution(*one) for one in versions.items()))
    here = environment(jax, JAXLIB._replace(refuses_others=()), distributions=there)
    assert answer(CODE, machine(environments=seen((here,)))).kind is kind


def test_the_extra_brings_what_belongs_together() -> None:
    versions = {"jax": "0.9.0", "jaxlib": "0.9.0", PLUGIN: "0.9.2", PJRT: "0.9.2"}
    here = environment(JAXLIB, distributions=seen(tuple(distribution(*one) for one in versions.items())))
    found = answer(CODE, machine(environments=seen((here,))))
    assert found.needs == (InstallPackage("jax", "==0.9.0", f"{VENV}/bin/python", "cuda12"),)


def test_unseen_distributions_are_unknown() -> None:
    here = environment(distributions=unseen("not readable"))
    assert answer(CODE, machine(environments=seen((here,)))).kind is Status.UNKNOWN


@pytest.mark.parametrize(("names", "kind"), [((PLUGIN, PJRT), Status.OK), ((PLUGIN,), Status.BAD)])
def test_a_plugin_without_its_other_half(names: tuple[str, ...], kind: Status) -> None:
    """METADATA of jax-cuda12-plugin 0.4.30 asks for jax-cuda12-pjrt==0.4.30."""
    plugin = framework(PLUGIN, "0.9.0", requires=seen((f"{PJRT}==0.9.0", f"{PJRT}==1;extra=='with-cuda'")))
    there = seen(tuple(distribution(name, "0.9.0") for name in ("jax", "jaxlib", *names)))
    here = environment(JAXLIB, plugin, distributions=there)
    assert answer(CODE, machine(environments=seen((here,)))).kind is kind
