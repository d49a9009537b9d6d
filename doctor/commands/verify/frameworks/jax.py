"""JAX: `lax.conv_general_dilated` and its vector-Jacobian product, in one compiled program whose HLO is looked at.

Source: openxla/xla:xla/service/gpu/cublas_cudnn.h for the names of the calls of cuDNN.
"""

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:  # and annotations are texts: this runs under 3.6, too
    from typing import Any

ENVIRONMENT = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TF_CPP_MIN_LOG_LEVEL": "0"}
DIRECTIONS = ("forward", "backward-data", "backward-filter")


def load() -> "dict[str, str]":
    import jax
    import jaxlib

    return {"version": jax.__version__, "jaxlib": getattr(jaxlib, "__version__", ""), "cudnn": ""}


def gpu(number: int) -> "Any":
    import jax

    try:
        found = jax.devices("gpu")
    except RuntimeError as error:
        raise LookupError(str(error).strip().splitlines()[0]) from error
    if len(found) <= number:
        raise LookupError(f"jax sees {len(found)} GPU(s)")
    return found[number]


def take_at_most(share: float) -> None:
    """Before jaxlib 0.4.1 the share was one of the memory that happens to be free. It is read with the first device.

    Both names of the variable together are refused. Source: "GPU memory allocation" in JAX's documentation, and the
    notes on jaxlib 0.4.1.
    """
    import jaxlib

    release = getattr(jaxlib, "__version__", "0").split(".")[:3]
    if [int(re.sub(r"\D.*", "", one) or "0") for one in release] >= [0, 4, 1]:
        os.environ.pop("XLA_CLIENT_MEM_FRACTION", None)
        os.environ["XLA_PYTHON_CLIENT_MEM_FRACTION"] = f"{min(share, 1.0):.6f}"


def cpu() -> "Any":
    import jax

    return jax.devices("cpu")[0]


def convolve(place: "Any", problem: "dict[str, Any]") -> "tuple[dict[str, Any], dict[str, Any]]":
    import jax
    import jax.numpy as jnp

    pad = problem["padding"]

    def forward(x: "Any", w: "Any") -> "Any":
        return jax.lax.conv_general_dilated(x, w, (1, 1), ((pad, pad), (pad, pad)))

    def step(x: "Any", w: "Any", dy: "Any") -> "Any":
        y, backward = jax.vjp(forward, x, w)
        return (y, *backward(dy))

    given = [jax.device_put(jnp.array(problem[name], jnp.float32), place) for name in ("x", "w", "dy")]
    program = jax.jit(step)
    text = ""
    if hasattr(program, "lower"):  # since 0.3
        program = program.lower(*given).compile()
        text = program.as_text() or ""
    found = dict(zip(DIRECTIONS, program(*given)))
    results = {direction: jax.device_get(result).tolist() for direction, result in found.items()}
    stats = place.memory_stats() if hasattr(place, "memory_stats") else None
    return results, dict(_used(text, place.platform), memory_bytes=(stats or {}).get("peak_bytes_in_use"))


def _used(text: str, platform: str) -> "dict[str, Any]":
    """What the compiled program calls: of convolutions, what XLA gave to cuDNN and what it left to itself."""
    if not text:
        return {"executed": None, "cudnn": None, "why": ""}
    calls = re.findall(r"__cudnn\$\w+", text)
    own = re.findall(r"\bconvolution(?=\()|__onednn\$\w*conv\w*", text)
    where = "cpu" if platform == "cpu" else "gpu"
    why = "" if calls else "XLA compiled the convolution without a call of cuDNN"
    return {"executed": [(one, where) for one in sorted({*calls, *own})], "cudnn": bool(calls), "why": why}
