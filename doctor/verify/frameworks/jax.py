"""JAX: `lax.conv_general_dilated` and its vector-Jacobian product."""

TYPE_CHECKING = False
if TYPE_CHECKING:  # and annotations are texts: this runs under 3.6, too
    from typing import Any

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


def cpu() -> "Any":
    import jax

    return jax.devices("cpu")[0]


def convolve(place: "Any", problem: "dict[str, Any]") -> "dict[str, Any]":
    import jax
    import jax.numpy as jnp

    pad = problem["padding"]

    def forward(x: "Any", w: "Any") -> "Any":
        return jax.lax.conv_general_dilated(x, w, (1, 1), ((pad, pad), (pad, pad)))

    x, w, dy = (jax.device_put(jnp.array(problem[name], jnp.float32), place) for name in ("x", "w", "dy"))
    y, backward = jax.vjp(forward, x, w)
    dx, dw = backward(dy)
    found = {"forward": y, "backward-data": dx, "backward-filter": dw}
    return {direction: jax.device_get(result).tolist() for direction, result in found.items()}
