"""Healthy machines whose paths are spelled through links: the toolkit's lib64, alternatives, lib64 of an environment.

NVIDIA's packages for Debian and Ubuntu lay a toolkit below targets/x86_64-linux and lead to it by lib64, by
/usr/local/cuda and /usr/local/cuda-12 through /etc/alternatives, and by the same to cuDNN's header and library.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.lab import cudnn_tree
from tests.lab.case import Case
from tests.lab.cases.libraries import FINDING
from tests.lab.parts import LIB, VENV, WORKSTATION, Part, files, package, site_of, together, without

CUDA = "/usr/local/cuda-12.8"
LIB64 = "/usr/local/cuda/lib64"


def _targets(root: Path) -> None:
    """The toolkit's directories where NVIDIA's packages have them."""
    toolkit = root / CUDA.lstrip("/")
    (toolkit / "targets/x86_64-linux").mkdir(parents=True)
    for name, target in (("lib64", "lib"), ("include", "include")):
        shutil.move(toolkit / name, toolkit / "targets/x86_64-linux" / target)
        (toolkit / name).symlink_to(f"targets/x86_64-linux/{target}")


def _other_home(root: Path) -> None:
    """/home is a link to another disk."""
    (root / "data").mkdir()
    shutil.move(root / "home", root / "data/home")
    (root / "home").symlink_to("data/home")


def _cudnn(root: Path) -> None:
    """NVIDIA's package of cuDNN, whose names for linkers are alternatives."""
    cudnn_tree.debian_of(root, "9.3.0.75-1")
    header = root / "usr/include/x86_64-linux-gnu/cudnn_version.h"
    header.rename(header.with_name("cudnn_version_v9.h"))
    (root / LIB.lstrip("/") / "libcudnn.so").unlink()


ALTERNATIVES = files(
    {
        "/usr/local/cuda": "-> /etc/alternatives/cuda",
        "/etc/alternatives/cuda": f"-> {CUDA}",
        "/usr/local/cuda-12": "-> /etc/alternatives/cuda-12",
        "/etc/alternatives/cuda-12": f"-> {CUDA}",
    }
)
LINKED = together(WORKSTATION, _targets, ALTERNATIVES, files({f"{VENV}/lib64": "-> lib"}))
SYSTEM_CUDNN = together(
    _cudnn,
    files(
        {
            f"{LIB}/libcudnn.so": "-> /etc/alternatives/libcudnn_so",
            "/etc/alternatives/libcudnn_so": f"-> {LIB}/libcudnn.so.9",
            "/usr/include/cudnn_version.h": "-> /etc/alternatives/cudnn_version_h",
            "/etc/alternatives/cudnn_version_h": "-> /usr/include/x86_64-linux-gnu/cudnn_version_v9.h",
        }
    ),
)
TENSORFLOW: Part = together(
    LINKED,
    without(f"{site_of()}/torch*", f"{site_of()}/nvidia*"),
    package("tensorflow", "2.18.0", FINDING),
    SYSTEM_CUDNN,
)

CASES = (
    Case("links-toolkit", "LD_LIBRARY_PATH by the link that packages make", LINKED, environ={"LD_LIBRARY_PATH": LIB64}),
    Case(
        "links-two-spellings",
        "one toolkit by three names",
        LINKED,
        environ={
            "LD_LIBRARY_PATH": "/usr/local/cuda-12/lib64:/usr/local/cuda/targets/x86_64-linux/lib",
            "CUDA_HOME": "/usr/local/cuda-12",
            "CUDA_PATH": "/etc/alternatives/cuda/",
        },
    ),
    Case(
        "links-lib64-of-the-environment",
        "PYTHONPATH and LD_LIBRARY_PATH through the environment's own lib64",
        LINKED,
        environ={
            "PYTHONPATH": site_of().replace("/lib/", "/lib64/"),
            "LD_LIBRARY_PATH": f"{site_of()}/nvidia/cudnn/lib".replace("/lib/python", "/lib64/python"),
        },
    ),
    Case(
        "links-home",
        "/home is a link, and a variable names what it leads to",
        together(LINKED, _other_home),
        environ={"PYTHONPATH": f"/data{site_of()}", "LD_LIBRARY_PATH": f"/data{site_of()}/nvidia/cudnn/lib"},
    ),
    Case(
        "links-system-cudnn",
        "TensorFlow with the system's CUDA and cuDNN, all of them alternatives",
        TENSORFLOW,
        environ={"LD_LIBRARY_PATH": LIB64},
    ),
)
