"""FlashAttention: ready-made wheels name their CUDA and torch in the version, 2.8.3+cu12torch2.8cxx11abitrue."""

from __future__ import annotations

import re

from compat.version import CudaVersion, VersionError
from doctor.host import Host
from doctor.loader.cards import Card, describe
from doctor.loader.cards.torch import extension_loading
from doctor.model.facts.environment import Distribution, Framework
from doctor.model.facts.seen import Fact, Seen, Unseen
from doctor.pyenv.metadata import requires


def read(host: Host, one: Distribution, environment: str) -> Framework:
    """The build by the local version; what was compiled at home has none."""
    tag = re.search(r"\+cu(\d+)(?:torch(\d+\.\d+))?", one.version)
    where = f"version {one.version}"
    build: Fact[str] = Seen(f"cu{tag[1]}", where) if tag else Seen("cuda", "it has CUDA builds only")
    note = f"built for torch {tag[2]}" if tag and tag[2] else ""
    cuda = _cuda(tag[1], where) if tag else None
    return describe(one, environment, "flash_attn", build=build, requires=requires(host, one), cuda=cuda, note=note)


def _cuda(digits: str, where: str) -> Fact[CudaVersion]:
    try:
        if len(digits) > 2:
            return Seen(CudaVersion.from_tag(f"cu{digits}"), where)
    except VersionError:
        pass  # not a tag as wheels have it: the sentence below says so
    return Unseen(f"{where} names CUDA {digits} without a minor version")


CARD = Card(("flash-attn",), read, loading=extension_loading("flash_attn_2_cuda.*.so"))
