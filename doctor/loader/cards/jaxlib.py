"""jaxlib: JAX's compiled half; the CPU's since GPU code lives in plugins (0.4.26), with CUDA inside before."""

from __future__ import annotations

import re

from compat.version import CudaVersion, CudnnVersion
from doctor.host import Host, HostError
from doctor.loader.cards import Card, describe
from doctor.loader.cards.jax import SWITCHES
from doctor.model.facts.environment import Distribution, Framework
from doctor.model.facts.seen import Fact, Seen, Unseen
from doctor.pyenv.metadata import constants, requires

_CHECKS_PLUGINS = "jaxlib/plugin_support.py"  # check_plugin_version; jaxlib 0.4.34 has no such file
_PLUGINS = ("jax-cuda",)


def read(host: Host, one: Distribution, environment: str) -> Framework:
    """The local version says the build: 0.4.13+cuda12.cudnn89; without one it is for the CPU."""
    version, needs = _version(host, one), requires(host, one)
    where = f"version {version}"
    local = re.search(r"\+(cuda(\d{2,3})(?:\.cudnn(\d{1,4}))?)", version)
    if not local:
        cpu = Seen("cpu", where)
        found = describe(one, environment, "jaxlib", build=cpu, requires=needs, version=version)
        checks = host.is_file(f"{one.site}/{_CHECKS_PLUGINS}")
        return found._replace(refuses_others=_PLUGINS) if checks else found
    return describe(
        one,
        environment,
        "jaxlib",
        build=Seen(local[1], where),
        requires=needs,
        version=version,
        cuda=_cuda(local[2], where),
        cudnn=Seen(CudnnVersion(map(int, local[3])), where) if local[3] else None,
    )


def _version(host: Host, one: Distribution) -> str:
    """The version with its local part, which jaxlib/version.py may know and the metadata not."""
    try:
        said = constants(host, f"{one.site}/jaxlib/version.py")
    except HostError:
        return one.version
    own = said.get("__version__") or said.get("_release_version", "")
    return own if own.partition("+")[0] == one.version.partition("+")[0] else one.version


def _cuda(digits: str, where: str) -> Fact[CudaVersion]:
    """cuda110 is 11.0, cuda11 is some 11.x; cudnn82 beside it is 8.2 and cudnn805 8.0.5."""
    if len(digits) == 3:
        return Seen(CudaVersion(int(digits[:2]), int(digits[2])), where)
    return Unseen(f"{where} names CUDA {digits} without a minor version")


CARD = Card(("jaxlib",), read, switches=SWITCHES)
