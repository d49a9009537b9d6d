"""xFormers: xformers/cpp_lib.json says what its extension was compiled with."""

from __future__ import annotations

import re
from typing import Any

from compat.version import CodeTarget, CudaVersion
from doctor.host import Host, HostError
from doctor.host.documents import parse_json
from doctor.loader.cards import Card, cuda_tag, describe
from doctor.loader.cards.torch import extension_loading
from doctor.model.facts.environment import Distribution, Framework
from doctor.model.facts.seen import Fact, Place, Seen, Unseen
from doctor.pyenv.metadata import requires

_BYTES = 64 << 10


def read(host: Host, one: Distribution, environment: str) -> Framework:
    """CUDA as 100 * major + minor, the code targets as TORCH_CUDA_ARCH_LIST, and the torch it was built for."""
    path = f"{one.site}/xformers/cpp_lib.json"
    try:
        said: Any = parse_json(host.read_text(path, _BYTES))
        cuda, archs = said["version"].get("cuda"), said.get("env", {}).get("TORCH_CUDA_ARCH_LIST")
        torch = str(said["version"].get("torch", ""))
    except (HostError, ValueError, LookupError, TypeError, AttributeError) as error:
        why = str(error) if isinstance(error, HostError) else f"{path} is damaged"
        return describe(one, environment, "xformers", build=Unseen(why), requires=requires(host, one))
    return describe(
        one,
        environment,
        "xformers",
        build=_build(cuda, path),
        requires=requires(host, one),
        cuda=Seen(CudaVersion(*divmod(cuda, 100)), Place(path)) if isinstance(cuda, int) and cuda > 0 else None,
        targets=_targets(archs, path),
        note=f"built for torch {torch[:40]}" if torch else "",
    )


def _build(cuda: object, path: str) -> Fact[str]:
    if isinstance(cuda, int) and cuda > 0:
        return Seen(cuda_tag(CudaVersion(*divmod(cuda, 100))), Place(path))
    return Seen("cpu", Place(path))


def _targets(archs: object, path: str) -> Fact[tuple[CodeTarget, ...]] | None:
    """The entry "8.0+PTX" is both sm_80 and compute_80."""
    if not isinstance(archs, str):
        return None
    found = []
    for major, minor, suffix, ptx in re.findall(r"(\d{1,2})\.(\d)([af]?)(\+PTX)?", archs[:2000]):
        found.append(CodeTarget.parse(f"sm_{major}{minor}{suffix}"))
        if ptx:
            found.append(CodeTarget.parse(f"compute_{major}{minor}{suffix}"))
    return Seen(tuple(found), Place(path)) if found else None


CARD = Card(("xformers",), read, loading=extension_loading("xformers/_C*.so"))
