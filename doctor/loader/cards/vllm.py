"""vLLM: it follows the CUDA of the torch that it pins, unless its version names another build."""

from __future__ import annotations

from compat.version import CudaVersion, VersionError
from doctor.host import Host
from doctor.loader.cards import Card, describe
from doctor.loader.cards.torch import extension_loading
from doctor.model.facts.environment import Distribution, Framework
from doctor.model.facts.seen import Fact, Seen, Unseen
from doctor.pyenv.metadata import requires


def read(host: Host, one: Distribution, environment: str) -> Framework:
    """The build by the local version (+cu118, +cpu, +rocm...)."""
    local = one.version.partition("+")[2]
    build, cuda = _build(local, f"version {one.version}")
    return describe(one, environment, "vllm", build=build, requires=requires(host, one), cuda=cuda)


def _build(local: str, where: str) -> tuple[Fact[str], Fact[CudaVersion] | None]:
    if local == "cpu" or local.startswith(("rocm", "tpu", "xpu")):
        return Seen(local, where), None
    try:
        return Seen(local, where), Seen(CudaVersion.from_tag(local), where)
    except VersionError:
        return Seen("cuda", "its default build"), Unseen("vllm follows the CUDA of the torch release that it pins")


CARD = Card(("vllm",), read, loading=extension_loading("vllm/_C.*.so"))
