"""ONNX Runtime: a model of one Conv node through the CUDA execution provider. It has no gradients.

The model is written out here, so that the package `onnx` is not needed. Source of the field numbers:
onnx/onnx:onnx/onnx.proto@v1.17.0; of Conv, operator set 11, docs/Operators.md there.
"""

import json
import os
import tempfile

TYPE_CHECKING = False
if TYPE_CHECKING:  # and annotations are texts: this runs under 3.6, too
    from typing import Any

DIRECTIONS = ("forward",)  # an inference engine
_FLOATS = 1  # TensorProto.DataType FLOAT
_INTS = 7  # AttributeProto.AttributeType INTS


def load() -> "dict[str, str]":
    import onnxruntime

    built = ""
    if hasattr(onnxruntime, "get_build_info"):
        built = onnxruntime.get_build_info()
    return {"version": onnxruntime.__version__, "cudnn": "", "build": built}


def gpu(number: int) -> "Any":
    import onnxruntime

    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        raise LookupError("this onnxruntime has no CUDAExecutionProvider: it is a CPU build")
    return ("CUDAExecutionProvider", {"device_id": number, "gpu_mem_limit": 256 << 20})


def cpu() -> "Any":
    return "CPUExecutionProvider"


def convolve(place: "Any", problem: "dict[str, Any]") -> "tuple[dict[str, Any], dict[str, Any]]":
    import numpy as np  # onnxruntime requires it
    import onnxruntime

    name = place if isinstance(place, str) else place[0]
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.enable_profiling = True
        options.profile_file_prefix = os.path.join(folder, "profile")
        session = onnxruntime.InferenceSession(_model(problem), options, providers=[place])
        if name not in session.get_providers():
            raise LookupError(f"{name} could not be used; onnxruntime fell back to {session.get_providers()}")
        fed = {one: np.array(problem[one], dtype="float32") for one in ("x", "w")}
        results = {"forward": session.run(["y"], fed)[0].tolist()}
        with open(session.end_profiling(), encoding="utf-8") as stream:
            events = json.load(stream)
    return results, {"executed": _executed(events), "cudnn": None, "why": "", "memory_bytes": None}


def _executed(events: "list[dict[str, Any]]") -> "list[tuple[str, str]]":
    """The nodes of the profile that convolved, and where: CUDA's provider does it by cuDNN alone."""
    ran = [
        one["args"] for one in events if one.get("cat") == "Node" and "Conv" in one.get("args", {}).get("op_name", "")
    ]
    return sorted({(one["op_name"], "gpu" if "CUDA" in one.get("provider", "") else "cpu") for one in ran})


def _model(problem: "dict[str, Any]") -> bytes:
    """A ModelProto: y = Conv(x, w) with both as inputs."""
    pad = problem["padding"]
    pads = _attribute("pads", [pad] * 4)
    kernel = _attribute("kernel_shape", [len(problem["w"][0][0]), len(problem["w"][0][0][0])])
    node = (
        _field(1, b"x") + _field(1, b"w") + _field(2, b"y") + _field(4, b"Conv") + _field(5, pads) + _field(5, kernel)
    )
    graph = _field(1, node) + _field(2, b"g")
    graph += _field(11, _value("x", problem["x"])) + _field(11, _value("w", problem["w"]))
    graph += _field(12, _value("y", problem["dy"]))
    return _field(1, 7) + _field(8, _field(2, 11)) + _field(7, graph)  # IR version 7, operator set 11


def _attribute(name: str, numbers: "list[int]") -> bytes:
    return _field(1, name.encode()) + b"".join(_field(8, one) for one in numbers) + _field(20, _INTS)


def _value(name: str, nested: "Any") -> bytes:
    dims = b""
    while isinstance(nested, list):
        dims += _field(1, _field(1, len(nested)))
        nested = nested[0]
    tensor = _field(1, _FLOATS) + _field(2, dims)
    return _field(1, name.encode()) + _field(2, _field(1, tensor))


def _field(number: int, content: "int | bytes") -> bytes:
    """One field on the wire: a varint for a number, else length and bytes."""
    if isinstance(content, int):
        return _varint(number << 3) + _varint(content)
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
