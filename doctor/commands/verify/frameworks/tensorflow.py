"""TensorFlow, from 1.13 on: `tf.nn.conv2d` in a graph of its own, whose gradients exist in 1.x and 2.x alike.

The numbers are fed, for Grappler folds a convolution of constants on the CPU, and the graph that was executed is looked
at. Its layout on a CPU is N, H, W, C, and that of filters H, W, C, K: the lists are turned round on the way in and out.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:  # and annotations are texts: this runs under 3.6, too
    from typing import Any

# dso_loader: since 2.12 the names of libraries that are not found are logged at this level only
ENVIRONMENT = {
    "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    "TF_CUDNN_WORKSPACE_LIMIT_IN_MB": "128",
    "TF_CPP_MIN_LOG_LEVEL": "0",
    "TF_CPP_VMODULE": "dso_loader=1",
}
DIRECTIONS = ("forward", "backward-data", "backward-filter")


def load() -> "dict[str, str]":
    import tensorflow as tf

    try:
        built = tf.sysconfig.get_build_info().get("cudnn_version", "")
    except AttributeError:  # before 2.3
        built = ""
    return {"version": tf.__version__, "cudnn": str(built)}


def gpu(number: int) -> "Any":
    import tensorflow as tf

    config = getattr(tf.config, "list_physical_devices", None) or tf.config.experimental.list_physical_devices
    found = config("GPU")
    if len(found) <= number:
        raise LookupError(f"tensorflow sees {len(found)} GPU(s): {[one.name for one in found]}")
    return f"/GPU:{number}"


def _cap(options: "Any", place: str) -> None:
    """A device of 256 MiB on each GPU up to this one: TensorFlow looks no further than it is given.

    Source: tensorflow/tensorflow:tensorflow/core/common_runtime/gpu/gpu_device.cc@v2.15.0.
    """
    for _ in range(int(place.rpartition(":")[2]) + 1):
        options.experimental.virtual_devices.add().memory_limit_mb.append(256)


def cpu() -> "Any":
    return "/CPU:0"


def convolve(place: "Any", problem: "dict[str, Any]") -> "tuple[dict[str, Any], dict[str, Any]]":
    import tensorflow as tf

    v1 = tf.compat.v1
    pad = problem["padding"]
    around = [[0, 0], [pad, pad], [pad, pad], [0, 0]]
    config = v1.ConfigProto(allow_soft_placement=False)
    config.gpu_options.allow_growth = True  # all of the memory is the training's, not ours
    _cap(config.gpu_options, place)
    with tf.Graph().as_default(), v1.Session(config=config) as session, v1.device(place):
        fed = {name: v1.placeholder(tf.float32, _shape(problem[name]), name) for name in ("x", "w", "dy")}
        x, w, dy = tf.transpose(fed["x"], [0, 2, 3, 1]), tf.transpose(fed["w"], [2, 3, 1, 0]), fed["dy"]
        dy = tf.transpose(dy, [0, 2, 3, 1])
        y = tf.nn.conv2d(tf.pad(x, around), w, strides=[1, 1, 1, 1], padding="VALID")
        dx, dw = tf.gradients(y, [x, w], grad_ys=dy)
        asked = [tf.transpose(y, [0, 3, 1, 2]), tf.transpose(dx, [0, 3, 1, 2]), tf.transpose(dw, [3, 2, 0, 1])]
        told = v1.RunMetadata()
        numbers = {fed[name]: problem[name] for name in fed}
        found = session.run(asked, numbers, v1.RunOptions(output_partition_graphs=True), told)
    return dict(zip(DIRECTIONS, (one.tolist() for one in found))), dict(_used(told), memory_bytes=_taken(tf, place))


def _shape(nested: "Any") -> "list[int]":
    return [len(nested)] + _shape(nested[0]) if isinstance(nested, list) else []


def _used(told: "Any") -> "dict[str, Any]":
    """The convolutions of the graph that was executed; where XLA compiled it, the graph does not say."""
    nodes = [node for graph in told.partition_graphs for node in graph.node]
    executed = sorted(
        {(node.op, "gpu" if "GPU" in node.device.upper() else "cpu") for node in nodes if "Conv2D" in node.op}
    )
    if not executed and any("Xla" in node.op for node in nodes):
        return {"executed": None, "cudnn": None, "why": ""}
    return {"executed": executed, "cudnn": None, "why": ""}


def _taken(tf: "Any", place: str) -> "Any":
    """The peak of the GPU's memory, of TensorFlow 2.5 and later."""
    try:
        return tf.config.experimental.get_memory_info(place.strip("/"))["peak"]
    except (AttributeError, ValueError):
        return None
