"""TensorFlow, from 1.13 on: `tf.nn.conv2d` in a graph of its own, whose gradients exist in 1.x and 2.x alike.

Its layout on a CPU is N, H, W, C, and that of filters H, W, C, K: the lists are turned round on the way in and out.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:  # and annotations are texts: this runs under 3.6, too
    from typing import Any

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


def cpu() -> "Any":
    return "/CPU:0"


def convolve(place: "Any", problem: "dict[str, Any]") -> "dict[str, Any]":
    import tensorflow as tf

    v1 = tf.compat.v1
    pad = problem["padding"]
    around = [[0, 0], [pad, pad], [pad, pad], [0, 0]]
    config = v1.ConfigProto(allow_soft_placement=False)
    config.gpu_options.allow_growth = True  # all of the memory is the training's, not ours
    with tf.Graph().as_default(), v1.Session(config=config) as session, v1.device(place):
        x = tf.transpose(tf.constant(problem["x"], tf.float32), [0, 2, 3, 1])
        w = tf.transpose(tf.constant(problem["w"], tf.float32), [2, 3, 1, 0])
        dy = tf.transpose(tf.constant(problem["dy"], tf.float32), [0, 2, 3, 1])
        y = tf.nn.conv2d(tf.pad(x, around), w, strides=[1, 1, 1, 1], padding="VALID")
        dx, dw = tf.gradients(y, [x, w], grad_ys=dy)
        asked = [tf.transpose(y, [0, 3, 1, 2]), tf.transpose(dx, [0, 3, 1, 2]), tf.transpose(dw, [3, 2, 0, 1])]
        found = session.run(asked)
    return dict(zip(("forward", "backward-data", "backward-filter"), (one.tolist() for one in found)))
