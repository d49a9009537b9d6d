"""CuPy, up to 13: the functions of `cupyx.cudnn` (`cupy.cudnn` before 8). CuPy 14 has no binding of cuDNN.

Source: cupy/cupy:cupyx/cudnn.pyx@v13.6.0 for the arguments.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:  # and annotations are texts: this runs under 3.6, too
    from typing import Any

DIRECTIONS = ("forward", "backward-data", "backward-filter")


def load() -> "dict[str, str]":
    import cupy

    return {"version": cupy.__version__, "cudnn": ""}


def _bind() -> None:
    """Load CuPy's binding of cuDNN; raises LookupError where there is none, ImportError where it lacks a library."""
    import importlib

    for name in ("cupy_backends.cuda.libs.cudnn", "cupy.cuda.cudnn"):  # since 8, and before
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        return
    raise LookupError("this CuPy has no binding of cuDNN (14 and later have none): it convolves without it", "MEANT")


def gpu(number: int) -> "Any":
    import cupy

    _bind()
    try:
        found = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise LookupError(str(error)) from error
    if found <= number:
        raise LookupError(f"cupy sees {found} GPU(s)")
    return number


def cpu() -> "Any":
    raise LookupError("CuPy computes on GPUs only")


def convolve(place: "Any", problem: "dict[str, Any]") -> "tuple[dict[str, Any], dict[str, Any]]":
    import cupy

    try:
        from cupyx import cudnn
    except ImportError:  # before 8
        from cupy import cudnn
    pad = (problem["padding"],) * 2
    shape = pad, (1, 1), (1, 1), 1  # stride, dilation, groups
    with cupy.cuda.Device(place):
        cupy.get_default_memory_pool().set_limit(size=256 << 20)
        x, w, dy = (cupy.array(problem[name], dtype="float32") for name in ("x", "w", "dy"))
        y, dx, dw = (cupy.empty_like(one) for one in (dy, x, w))
        cudnn.convolution_forward(x, w, None, y, *shape, auto_tune=False, tensor_core="auto")
        how = {"deterministic": False, "auto_tune": False, "tensor_core": "auto"}
        cudnn.convolution_backward_data(w, dy, None, dx, *shape, **how)
        cudnn.convolution_backward_filter(x, dy, dw, *shape, **how)
        found = {"forward": y, "backward-data": dx, "backward-filter": dw}
        results = {direction: cupy.asnumpy(result).tolist() for direction, result in found.items()}
        taken = cupy.get_default_memory_pool().total_bytes()
    executed = [("cupyx.cudnn, " + direction, "gpu") for direction in found]
    return results, {"executed": executed, "cudnn": True, "why": "", "memory_bytes": taken}
