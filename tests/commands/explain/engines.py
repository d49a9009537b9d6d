"""What container engines print where no GPU can be passed on: recorded from Debian 12, on a host without one.

They need a daemon and rights that tests do not have, so that they are recordings: the command stands beside each.
"""

from __future__ import annotations

from tests.commands.explain.broken import Broken

ENGINES = (
    Broken(
        "podman-4.3-no-cdi",
        ("container-without-gpu-runtime",),
        "$ podman run --device nvidia.com/gpu=all t:1 /bin/true",
    ),
    Broken(
        "podman-4.3-other-gpu",
        ("container-without-gpu-runtime",),
        "$ podman run --device nvidia.com/gpu=7 t:1 /bin/true, and a specification of GPU 0",
    ),
    Broken(
        "podman-4.3-stale-cdi",
        ("container-without-gpu-runtime", "no-device-nodes"),
        "$ podman run --device nvidia.com/gpu=all t:1 /bin/true, and a specification with /dev/nvidia0",
    ),
    Broken("podman-4.3-no-runtime", ("container-without-gpu-runtime",), "$ podman run --runtime nvidia t:1 /bin/true"),
    Broken(
        "podman-4.3-no-node",
        ("no-device-nodes", "no-kernel-module"),
        "$ podman run --device /dev/nvidia0 t:1 /bin/true",
    ),
    Broken("buildah-1.28-no-cdi", ("container-without-gpu-runtime",), "$ buildah bud --device nvidia.com/gpu=all -"),
    Broken("docker-20.10-no-toolkit", ("container-without-gpu-runtime",), "$ docker run --gpus all t:1 /bin/true"),
    Broken(
        "docker-20.10-no-runtime", ("container-without-gpu-runtime",), "$ docker run --runtime nvidia t:1 /bin/true"
    ),
    Broken(
        "docker-20.10-no-cdi",
        ("container-without-gpu-runtime",),
        "$ docker run --device nvidia.com/gpu=all t:1 /bin/true",
    ),
    Broken(
        "docker-20.10-no-node",
        ("no-device-nodes", "no-kernel-module"),
        "$ docker run --device /dev/nvidia0 t:1 /bin/true",
    ),
    Broken("docker-20.10-no-smi", ("container-without-gpu-runtime",), "$ docker run t:1 nvidia-smi (by runc 1.1.5)"),
    Broken("containerd-1.6-no-toolkit", ("container-without-gpu-runtime",), "$ ctr run --gpus 0 t:1 a /bin/true"),
    Broken(
        "containerd-1.6-no-node",
        ("no-device-nodes", "no-kernel-module"),
        "$ ctr run --device /dev/nvidia0 t:1 a /bin/true",
    ),
)
