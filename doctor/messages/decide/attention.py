"""xFormers: which of its operators could have served the call, and why it did not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.messages.clues import Clues
from doctor.messages.signature import Means

_USER = "not-a-stack-problem"
_OPERATOR = re.compile(
    r"`(?P<name>[\w@.+-]{1,60})` is not supported because:(?P<reasons>(?:(?!` is not)[\s\S]){0,2000})"
)
_NOT_BUILT = re.compile(r"operator wasn't built|wasn't build with CUDA")
_DEVICE = re.compile(r"requires device with capability[^\n]{0,80}")
_ON_CPU = re.compile(r"device=cpu")
# One reason a line, as `not_supported_reasons` writes them.
_REASON = re.compile(
    r"max\(|min\(|requires |dtype=|attn_bias|operator wasn't built|only |bf16 |device=|head|query\.|has |unsupported"
)


def refused(_found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """Judge by the operator that is nearest to serve: one that was built, with the fewest reasons against it."""
    operators = [(one["name"], one["reasons"]) for one in _OPERATOR.finditer(clues.text)]
    built = [one for one in operators if not _NOT_BUILT.search(one[1])]
    if not operators:
        return
    if not built:
        says = "this xFormers was built without its operators for CUDA"
        yield Means("cpu-only-wheel", says, 0.75, mends=_OTHER_XFORMERS)
        return
    name, reasons = min(built, key=lambda one: len(_REASON.findall(one[1])))
    device = _DEVICE.search(reasons)
    if _ON_CPU.search(reasons):
        yield Means(_USER, "the tensors are on the CPU, and xFormers serves GPUs only", 0.6)
        yield Means("cpu-only-wheel", "torch may be a CPU build", 0.45)
    elif device and "too new" in reasons:
        says = f"xFormers has no operator for this GPU ({name}: {device[0].strip()})"
        yield Means("extension-built-for-other-arch", says, 0.85, mends=_OTHER_XFORMERS)
    elif device:
        says = f"xFormers needs a newer GPU ({name}: {device[0].strip()})"
        yield Means("gpu-too-old-dropped", says, 0.8, mends=_OTHER_XFORMERS)
    else:
        yield Means(_USER, f"xFormers refuses the shapes, types or bias of this call ({name})", 0.85)


_OTHER_XFORMERS = (
    "Use torch's own attention instead of xFormers (for example start the program without --xformers), "
    "or install the xFormers release of your torch: `pip install -U xformers`, then `python -m xformers.info`."
)
