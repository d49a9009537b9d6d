"""A GPU machine of the lab around a real environment: the very files, bound in at their own path.

The driver's libcuda is the stub of the loader's oracle, laid where a driver's package lays it, so a framework finds it
as on a real machine. The machine has no toolkit: an environment of pip's brings what it needs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.lab.case import Case, Outcome
from tests.lab.chroot import OURS, PROJECT, Ran, enter, libraries, outcome_of, prepare, programs
from tests.lab.parts import HOME, LIB, Part, card, driver, files, gcc, linux, together, toolkit, without
from tests.loader_oracle.replay import templates
from tests.loader_oracle.stub import stub

DRIVER = "580.95.05"
_TOOLS = ("cat", "env", "grep", "ldconfig", "ls", "uname")  # that frameworks call when they are imported
_STUBS = "/opt/stubs"
_ENDS_WITHIN_S = 900.0
# What a distribution's own packages bring, and nobody ships in a wheel.
_DISTRIBUTION = ("libstdc++.so.6", "libgcc_s.so.1", "libgomp.so.1", "libz.so.1", "libatomic.so.1", "libquadmath.so.0")
# Files whose texts name the functions of the driver that a framework needs.
_ASK_THE_DRIVER = (
    "torch/lib/libc10_cuda.so",
    "torch/lib/libcaffe2_nvrtc.so",
    "torch/lib/libtorch_cuda.so",
    "tensorflow/libtensorflow_framework.so.2",
    "tensorflow/libtensorflow_cc.so.2",
    "jax_plugins/xla_cuda*/xla_cuda_plugin.so",
    "onnxruntime/capi/libonnxruntime_providers_cuda.so",
    "cupy_backends/cuda/api/driver*.so",
    "mxnet/libmxnet.so",
    "paddle/base/libpaddle.so",
    "nvidia/dali/*.so",
)
_START = f"import sys; sys.path[:0] = ['{OURS}/lib', '{OURS}/site']; "
_CHECK = _START + "from doctor.cli import main; main()"
_ORACLE = _START + "from tests.loader_oracle.__main__ import main; raise SystemExit(main(sys.argv[1:]))"
_PYTHON = f"/usr/bin/python3.{sys.version_info.minor}"


class Machine(NamedTuple):
    """A prepared tree with a real environment in it."""

    case: Case
    tree: Path
    prefix: str
    bind: tuple[tuple[str, str], ...]

    def run(self, code: str, *argv: str) -> Ran:
        """A program of ours as a process of the machine."""
        command = [_PYTHON, "-I", "-B", "-c", code, *argv]
        variables = {"GPUDOCTOR_TEST_CACHE": _STUBS}
        return enter(self.case, self.tree, command, bind=self.bind, variables=variables, timeout_s=_ENDS_WITHIN_S)

    @property
    def python(self) -> str:
        """The environment's interpreter."""
        return f"{self.prefix}/bin/python"

    def check(self) -> Outcome:
        """`gpudoctor check` of the environment."""
        return outcome_of(self.run(_CHECK, "check", "--python", self.python, "--format", "json"))

    def oracle(self, framework: str) -> Ran:
        """The framework's predicted and observed libraries, as JSON."""
        said = {"HOME": HOME, **{name: text for name, text in self.case.environ.items() if name.startswith("LD_")}}
        return self.run(_ORACLE, self.python, framework, "--json", *map("=".join, said.items()))


class Toolkit(NamedTuple):
    """CUDA as NVIDIA's packages lay it, on the loader's path."""

    release: str  # "12.8.1"
    libraries: Path  # a directory of real ones, of cuDNN as well


def machine(
    prefix: Path,
    folder: Path,
    *,
    environ: Mapping[str, str] | None = None,
    cuda: Toolkit | None = None,
    more: tuple[Part, ...] = (),
) -> Machine:
    """Lay the machine in a folder; in the values of `environ`, {site} is the environment's site-packages."""
    prefix = Path(os.path.abspath(prefix))
    site = site_of(prefix)
    variables = {name: value.replace("{site}", str(site)) for name, value in (environ or {}).items()}
    asking = [path for pattern in _ASK_THE_DRIVER for path in site.glob(pattern)]
    libcuda = stub(folder / "libcuda", [*asking, *(cuda.libraries.glob("*.so*") if cuda else ())])
    case = Case(
        prefix.name,
        "a real environment",
        together(
            linux(),
            card(),
            driver(DRIVER),
            files({f"{LIB}/libcuda.so.{DRIVER}": (libcuda / "libcuda.so.1").read_bytes()}),
            *([partial(_lay_toolkit, cuda)] if cuda else []),
            *more,
        ),
        environ={"VIRTUAL_ENV": str(prefix), "PATH": f"{prefix}/bin:/usr/bin:/bin", **variables},
    )
    tree = prepare(case, folder / "tree")
    return Machine(case, tree, str(prefix), tuple(_binds(prefix)))


def site_of(prefix: Path) -> Path:
    """The environment's own packages."""
    return next(iter(sorted(prefix.glob("lib/python*/site-packages"))))


def _lay_toolkit(cuda: Toolkit, root: Path) -> None:
    """The real libraries in place of the lab's, in ld.so.cache; links where they can be, else copies."""
    home = f"/usr/local/cuda-{'.'.join(cuda.release.split('.')[:2])}"
    together(
        toolkit(cuda.release),
        gcc("11.4.0"),
        without(f"{home}/lib64"),
        files({"/etc/ld.so.conf": "/usr/local/cuda/lib64\n"}),
    )(root)

    def link(source: str, target: str) -> None:
        try:
            os.link(source, target)
        except OSError:
            shutil.copy2(source, target)

    shutil.copytree(cuda.libraries, root / f"{home}/lib64".lstrip("/"), symlinks=True, copy_function=link)


def _binds(prefix: Path) -> Iterator[tuple[str, str]]:
    """What the machine gets of this one: the environment and its interpreter, libraries of the distribution, ours."""
    bases = {prefix, Path(os.path.realpath(prefix / "bin/python")).parent.parent}
    for base in bases - {Path("/usr")}:
        yield str(base), str(base)
        for path in libraries(*map(str, base.glob("lib/python*/lib-dynload/*.so"))):
            if not path.startswith(str(base)) and "ld-linux" not in path:
                yield os.path.realpath(path), f"{LIB}/{os.path.basename(path)}"
    for name, path in _in_the_cache():
        if name in _DISTRIBUTION:
            yield os.path.realpath(path), f"{LIB}/{name}"
    yield from programs(_TOOLS)
    for name in ("compat", "doctor", "installers", "tests"):
        yield str(PROJECT / name), f"{OURS}/lib/{name}"
    yield sysconfig.get_path("purelib"), f"{OURS}/site"
    yield str(templates()[0].parent), f"{_STUBS}/stubs"


def _in_the_cache() -> list[tuple[str, str]]:
    """Names and paths of this machine's ld.so.cache."""
    text = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^\s+(\S+) \(libc6,x86-64[^)]*\) => (\S+)$", text, re.MULTILINE)
