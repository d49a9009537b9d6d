"""Advice that was seen to be wrong, and what holds it right now: a real environment, or a machine of the lab.

A remedy that only a package manager, a driver or a card could carry out is proven by its effect on the lab's machine.
"""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One kind of wrong advice."""

    seen: str
    real: tuple[str, ...]  # scenarios of tests/real/remedies.py: pasted where real wheels lie
    lab: tuple[str, ...]  # machines of the lab, carried out there
    why: str = ""  # why nothing real
    tests: tuple[str, ...] = ()  # of the remedy's commands: "tests/commands/install/test_package_choice.py"


ROWS = (
    Row("a CPU build of ONNX Runtime or JAX beside torch", ("torch-onnxruntime-cpu", "torch-jax-cpu"), ()),
    Row(
        "an old cuDNN in LD_LIBRARY_PATH",
        ("jax-old-cudnn-first", "tensorflow-old-cudnn-first", "torch-old-cudnn-first", "jax-old-cudnn-by-a-module"),
        ("jax-old-cudnn-first", "tensorflow-old-cudnn-first", "cluster-module"),
    ),
    Row("TensorFlow with a cuDNN of an older minor", ("tensorflow-cudnn-old",), ("tensorflow-2.19-older-cudnn",)),
    Row(
        "the driver branch and flavour that a card needs",
        (),
        ("pascal-no-driver", "pascal-upgraded", "pascal-open", "blackwell-no-driver", "blackwell-proprietary"),
        "a card, and a kernel to load a module; in a chroot of Ubuntu 24.04 `ubuntu-drivers install nvidia:580` with "
        "the modalias of a GTX 1080, and apt for `nvidia-driver-580-open`, chose these flavours of 580.178.04",
    ),
    Row(
        "fabric manager of another release than the driver",
        (),
        ("fabric-of-another-release",),
        "NVSwitch and a service manager; in a chroot of Ubuntu 24.04 apt installed "
        "`nvidia-fabricmanager-580=580.178.04*`, and refused a release that its archive has no more (2026-11-23)",
    ),
    Row(
        "wheels of the user's own directory come first",
        ("torch-leftovers-of-the-users-own",),
        ("leftovers-of-the-users-own",),
    ),
    Row(
        "an environment inside another one",
        ("torch-in-an-inner-environment",),
        (),
        tests=("tests/prescribe/test_remedies.py",),
    ),
    Row(
        "cuDNN that an extra brings",
        ("jax-cudnn-removed", "tensorflow-cudnn-removed"),
        ("tensorflow-without-cudnn",),
    ),
    Row("TensorFlow that finds none of its wheels", ("tensorflow-wheels-not-found",), ("tensorflow-finds-no-wheel",)),
    Row(
        "a pinned wheel that is absent",
        ("torch-cusolver-removed", "torch-curand-removed", "jax-cusolver-removed"),
        ("cufft-wheel-gone", "two-wheels-gone"),
    ),
    Row("ONNX Runtime that finds none of its wheels", ("onnxruntime-wheels-not-found",), ("onnxruntime-wheels",)),
    Row(
        "dist-info without files",
        ("torch-cudnn-files-lost", "jax-cudnn-files-lost", "jax-cudnn-part-lost"),
        ("cudnn-wheel-without-files",),
    ),
    Row(
        "cuDNN for an older CUDA",
        ("onnxruntime-cuda-11-no-cudnn",),
        ("onnxruntime-cuda-11", "tensorflow-1.15-cudnn-8", "theano-other-cudnn"),
    ),
    Row(
        "CUDA's wheels where the framework looks",
        ("cupy-no-cuda", "onnxruntime-no-cuda"),
        ("onnxruntime-no-cuda", "cluster-cupy"),
    ),
    Row(
        "a distribution's nvcc first in PATH",
        (),
        ("F04", "cuda-home-gone"),
        "no scenario, as it takes a system of its own: pasted into a chroot of Debian 12 with its package's nvcc 11.8 "
        "in /usr/bin and nvcc 12.4.131 in CUDA_HOME, which came first then (2026-11-23)",
    ),
    Row(
        "nvcc too old for the compiler",
        (),
        ("new-compiler",),
        "no scenario, for it takes a system of its own: pasted into a chroot of Debian 12, where apt's own g++-11 came "
        "and the real nvcc 11.8.89 compiled, which had refused gcc 12 (2026-11-23)",
    ),
    Row("nova_core holds the card", (), ("nova",), "a kernel that has this module, a driver and a card"),
    Row(
        "CUDA 12 and 13 mixed",
        ("torch-cudnn-of-13-over", "torch-two-cudas"),
        ("two-cudnn-wheels", "cudnn-for-cuda-13"),
    ),
    Row("ONNX Runtime 1.18 with CUDA 12", ("onnxruntime-1.18-cuda-12",), ()),
    Row(
        "`install NAME` takes what fits",
        ("install-cupy-beside-torch",),
        (),
        tests=("tests/commands/install/test_package_choice.py", "tests/commands/install/test_install_package.py"),
    ),
    Row("a CPU build alone beside a GPU", ("onnxruntime-cpu", "jax-cpu"), ()),
    Row(
        "the environment's own tool and place",
        (),
        (),
        "pasted by `python -m tests.real.homes` on 2026-11-23, and silent then: a cuDNN wheel missing in "
        "environments of venv, uv projects, poetry, pdm, pipenv, hatch, conda, pixi, beside an editable one, in a "
        "managed Python (PEP 668), the user's own directory, the Python that an environment is made from, and in "
        "directories of --target and .pth; in each of these, and beside apt's cuDNN, also an old one, and one that "
        "LD_LIBRARY_PATH puts first. In a directory of --target or .pth by uv, fetched beside it where only pip is "
        "there: pip's --target would replace all of nvidia/",
        ("tests/prescribe/test_install_location.py",),
    ),
)
