"""MXNet: the build is in the distribution's name, mxnet-cu112.

Source: mxnet/libinfo.py (find_lib_path) and libmxnet.so of 1.9.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.version import CudaVersion
from doctor.host import Host
from doctor.loader.cards import Card, Loading, describe
from doctor.loader.steps import Package, Step
from doctor.model.facts.environment import Distribution, Framework
from doctor.model.facts.seen import Seen
from doctor.pyenv.metadata import requires

_LIBRARY = "libmxnet.so"


def read(host: Host, one: Distribution, environment: str) -> Framework:
    """mxnet-cu112 and mxnet-cu90mkl are builds for CUDA, mxnet, mxnet-mkl and mxnet-native for the CPU."""
    where = "name of the distribution"
    needs = requires(host, one)
    tag = re.fullmatch(r"mxnet-(cu\d{2,3})(mkl)?", one.name)
    if not tag:
        return describe(one, environment, "mxnet", build=Seen("cpu", where), requires=needs)
    cuda = Seen(CudaVersion.from_tag(tag[1]), where)
    return describe(one, environment, "mxnet", build=Seen(tag[1], where), requires=needs, cuda=cuda)


def steps(package: Package) -> Iterator[Step]:
    """The import opens one library, which names all of CUDA's; a variable, or LD_LIBRARY_PATH, may name another."""
    environ = package.host.environ
    named = environ.get("MXNET_LIBRARY_PATH", "")
    folders = (one.strip() for one in environ.get("LD_LIBRARY_PATH", "").split(":"))
    places = (named, *(f"{folder}/{_LIBRARY}" for folder in folders if folder), f"{package.path}/{_LIBRARY}")
    there = tuple(path for path in places if path.startswith("/") and package.host.is_file(path))
    yield Step(there[:1], "import mxnet", needed=True)


CARD = Card(
    ("mxnet", "mxnet-cu*", "mxnet-mkl", "mxnet-native"),
    read,
    loading=Loading(steps),
    kernels=(_LIBRARY,),
    cudnn_in=("",),
    proof="import mxnet; print(mxnet.nd.ones(2, mxnet.gpu()).sum())",
)
