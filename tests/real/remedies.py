"""`python -m tests.real.remedies FOLDER [NAME ...]`: remedies pasted into real environments, judged again.

Each scenario is an environment of real wheels (`distil.py` emptied their machine code, `wheelhouse.py` packs them for
installers) with one fault. `gpudoctor check` of a GPU machine of the lab must name it; the commands of its first remedy
are pasted into bash as they stand, where the real uv or pip carries them out; the second check must not name it again,
nor anything new. Exit 1 where one does not.

The environment lies in the machine's tree at the path that leads to it on this machine too, so that the same commands
mean the same thing on both.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from compat.matrix import Matrix
from compat.need import InstallPackage
from doctor.commands.install.package_choice import PackageOrder, package_plan
from doctor.host.snapshot import Snapshot
from doctor.prescribe.target import target_of
from doctor.probes import ProbeRequest, look
from installers.render import commands
from tests.lab.carried_out import MODULE
from tests.lab.case import Case, host_of, run_here
from tests.lab.cases.clusters import NO_ROOT
from tests.lab.parts import HOME, Part, card, driver, files, linux, together
from tests.real.distil import lay
from tests.real.machine import site_of
from tests.real.recorded import recorded
from tests.real.usual import USUAL
from tests.real.wheelhouse import wheelhouse

WHEELS = {one.name: one.wheels for one in recorded()}

TORCH, JAX, TENSORFLOW = WHEELS["torch-2.9.1"], WHEELS["jax12-0.4.35-nvcc12.6"], WHEELS["tensorflow-2.20"]


def of(wheels: tuple[str, ...], *names: str) -> tuple[str, ...]:
    """Some of them."""
    return tuple(one for one in wheels if one.partition("==")[0] in names)


JAX_CPU = ("jax==0.7.2", "jaxlib==0.7.2")
CUSOLVER, CURAND = "nvidia-cusolver-cu12", "nvidia-curand-cu12"
NCCL, CUSPARSELT = "nvidia-nccl-cu12", "nvidia-cusparselt-cu12"
JAX_OWN = ("jax", "jaxlib", "jax-cuda12-plugin", "jax-cuda12-pjrt")
CUDNN, CUDNN_FILES = "nvidia-cudnn-cu12", "nvidia/cudnn/lib/*.so*"
OLD_CUDNN = "nvidia-cudnn-cu12==9.0.0.312"
ONNX = "onnxruntime==1.22.0"
ONNX_GPU = ("onnxruntime-gpu==1.22.0",)
CUPY = ("cupy-cuda12x==13.6.0", "fastrlock==0.8.3")
CUDA_12_9 = (
    *("nvidia-cuda-runtime-cu12==12.9.79", "nvidia-cuda-nvcc-cu12==12.9.86", "nvidia-cuda-nvrtc-cu12==12.9.86"),
    *("nvidia-cublas-cu12==12.9.1.4", "nvidia-cufft-cu12==11.4.1.4", "nvidia-curand-cu12==10.3.10.19"),
    *("nvidia-cusolver-cu12==11.7.5.82", "nvidia-cusparse-cu12==12.5.10.65", "nvidia-nvjitlink-cu12==12.9.86"),
)
CUDA_11_8 = (
    *("nvidia-cuda-runtime-cu11==11.8.89", "nvidia-cublas-cu11==11.11.3.6", "nvidia-cufft-cu11==10.9.0.58"),
    "nvidia-curand-cu11==10.3.0.86",
)
_OF_11_8 = tuple(f"nvidia/{name}/lib" for name in ("cuda_runtime", "cublas", "cufft", "curand"))
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
_MINE = "{prefix}/.."  # a directory beside the environment
_SHELL_OWN = {"_", "SHLVL", "PWD", "OLDPWD", "HOME", "PATH", *("UV_CACHE_DIR", "UV_FIND_LINKS", "UV_LINK_MODE")}


class Scenario(NamedTuple):
    """An environment, what is done to it, and what must be found."""

    code: str
    wheels: tuple[str, ...]
    spoil: Callable[[Path], None] = lambda _: None
    environ: Mapping[str, str] = {}  # {prefix} is the environment's
    more: tuple[Part, ...] = ()
    offers: tuple[str, ...] = ()  # small wheels that the remedy may want; all others come from the package index
    row: int = 0  # of the table in tests/lab/rows.py
    installer: str = "uv"
    order: str = ""  # `install NAME` is pasted in place of a remedy: nothing is wrong, and nothing may be afterwards
    inside: str = ""  # the environment is this one of conda's, in that of another environment: "envs/t"


def over(*wheels: str) -> Callable[[Path], None]:
    """Other wheels over those that are there."""

    def spoil(prefix: Path) -> None:
        lay(wheels, site_of(prefix))

    return spoil


def instead(name: str, wheel: str) -> Callable[[Path], None]:
    """Another release of a wheel."""

    def spoil(prefix: Path) -> None:
        gone(name)(prefix)
        over(wheel)(prefix)

    return spoil


def gone(*names: str) -> Callable[[Path], None]:
    """Wheels taken away as pip takes them, every file of their RECORD."""

    def spoil(prefix: Path) -> None:
        for name in names:
            (info,) = site_of(prefix).glob(f"{name.replace('-', '_')}-*.dist-info")
            for line in (info / "RECORD").read_text().splitlines():
                (site_of(prefix) / line.rsplit(",", 2)[0].strip('"')).unlink(missing_ok=True)
            shutil.rmtree(info)

    return spoil


def lost(pattern: str) -> Callable[[Path], None]:
    """Files that are lost, their wheel's dist-info stays."""

    def spoil(prefix: Path) -> None:
        found = [*site_of(prefix).glob(pattern)]
        assert found, pattern
        for path in found:
            path.unlink()

    return spoil


def of_the_user(*wheels: str) -> Part:
    """Wheels in ~/.local, where `pip install --user` puts them."""
    site = f"{HOME.lstrip('/')}/.local/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"

    def put(root: Path) -> None:
        if not (root / site).exists():
            lay(wheels, root / site)

    return put


def sees_the_user(prefix: Path) -> None:
    """As `python -m venv --system-site-packages` makes it."""
    config = prefix / "pyvenv.cfg"
    config.write_text(config.read_text().replace("site-packages = false", "site-packages = true"))


def beside(name: str, wheel: str = OLD_CUDNN) -> Callable[[Path], None]:
    """Another cuDNN in a directory of its own, beside the environment."""
    return lambda prefix: lay((wheel,), prefix.parent / name)


def for_the_cpu(prefix: Path) -> None:
    """torch as the index of builds for the CPU has it: without the libraries with GPU code, and named so."""
    site = site_of(prefix)
    lost("torch/lib/*cuda*.so*")(prefix)
    (info,) = site.glob("torch-*.dist-info")
    version = info.name.removeprefix("torch-").removesuffix(".dist-info")
    metadata = re.sub(
        r"(?m)^(Version: .*)$|^Requires-Dist: (?:nvidia|triton).*\n", _as_of_cpu, (info / "METADATA").read_text()
    )
    record = (line for line in (info / "RECORD").read_text().splitlines(keepends=True) if "cuda" not in line)
    for path, text in (
        (
            site / "torch/version.py",
            f"__version__ = '{version}+cpu'\ndebug = False\ncuda = None\nhip = None\nxpu = None\n",
        ),
        (info / "METADATA", metadata),
        (info / "RECORD", "".join(record).replace(info.name, f"torch-{version}+cpu.dist-info")),
    ):
        path.unlink()  # a link to the distilled wheel
        path.write_text(text)
    info.rename(site / f"torch-{version}+cpu.dist-info")


def _as_of_cpu(found: re.Match[str]) -> str:
    return f"{found[1]}+cpu" if found[1] else ""


OLD = f"{_MINE}/old/nvidia/cudnn/lib"
SCENARIOS: Mapping[str, Scenario] = {
    "torch-onnxruntime-cpu": Scenario(
        "cpu-only-wheel", (*TORCH, ONNX), more=(NO_ROOT,), offers=("onnxruntime-gpu==1.22.0",), row=1
    ),
    "torch-jax-cpu": Scenario("cpu-only-wheel", (*TORCH, *JAX_CPU), row=1),
    "jax-old-cudnn-first": Scenario("ld-library-path-shadowing", JAX, beside("old"), {"LD_LIBRARY_PATH": OLD}, row=2),
    "tensorflow-old-cudnn-first": Scenario(
        "ld-library-path-shadowing", TENSORFLOW, beside("old"), {"LD_LIBRARY_PATH": OLD}, row=2
    ),
    "torch-old-cudnn-first": Scenario("ld-library-path-shadowing", TORCH, beside("old"), {"LD_LIBRARY_PATH": OLD}),
    "jax-old-cudnn-by-a-module": Scenario(
        "ld-library-path-shadowing",
        JAX,
        beside("cudnn/9.0.0"),
        {"LD_LIBRARY_PATH": f"{_MINE}/cudnn/9.0.0/nvidia/cudnn/lib", "LOADEDMODULES": "gcc/12.2:cudnn/9.0.0"},
        (NO_ROOT,),
        row=2,
    ),
    "tensorflow-cudnn-old": Scenario(
        "cudnn-version-mismatch-loaded-vs-compiled",
        TENSORFLOW,
        instead(CUDNN, OLD_CUDNN),
        offers=of(TENSORFLOW, CUDNN),
        row=3,
    ),
    "jax-cudnn-removed": Scenario("cudnn-missing", JAX, gone(CUDNN), offers=of(JAX, CUDNN), row=8),
    "tensorflow-cudnn-removed": Scenario("cudnn-missing", TENSORFLOW, gone(CUDNN), offers=of(TENSORFLOW, CUDNN), row=8),
    "tensorflow-wheels-not-found": Scenario("wheel-libs-not-on-loader-path", WHEELS["tensorflow-2.21"], row=9),
    "torch-cusolver-removed": Scenario(
        "cudart-soname-missing", TORCH, gone(CUSOLVER), offers=of(TORCH, CUSOLVER), row=10
    ),
    "torch-curand-removed": Scenario(
        "cudart-soname-missing",
        TORCH,
        gone(CURAND),
        offers=of(TORCH, CURAND),
        row=10,
        installer="pip",
    ),
    "torch-nccl-removed": Scenario("cudart-soname-missing", TORCH, gone(NCCL), offers=of(TORCH, NCCL), row=10),
    "torch-cusparselt-removed": Scenario(
        "needed-library-missing", TORCH, gone(CUSPARSELT), offers=of(TORCH, CUSPARSELT), row=10, installer="pip"
    ),
    "jax-cusolver-removed": Scenario("cudart-soname-missing", JAX, gone(CUSOLVER), offers=of(JAX, CUSOLVER), row=10),
    "onnxruntime-wheels-not-found": Scenario(
        "wheel-libs-not-on-loader-path",
        (*ONNX_GPU, *(one for one in TORCH if one.startswith("nvidia-"))),
        more=(NO_ROOT,),
        row=11,
    ),
    "torch-cudnn-files-lost": Scenario(
        "cudnn-missing", TORCH, lost(CUDNN_FILES), offers=of(TORCH, CUDNN), row=12, installer="pip"
    ),
    "jax-cudnn-files-lost": Scenario("cudnn-missing", JAX, lost(CUDNN_FILES), offers=of(JAX, CUDNN), row=12),
    "jax-cudnn-part-lost": Scenario(
        "cudnn-install-incomplete", JAX, lost("nvidia/cudnn/lib/libcudnn_ops.so.9"), offers=of(JAX, CUDNN), row=12
    ),
    "cupy-no-cuda": Scenario("framework-wants-other-cuda", CUPY, more=(NO_ROOT,), offers=CUDA_12_9, row=14),
    "onnxruntime-no-cuda": Scenario("framework-wants-other-cuda", ONNX_GPU, more=(NO_ROOT,), offers=CUDA_12_9, row=14),
    "ctranslate2-no-cuda": Scenario(
        "framework-wants-other-cuda",
        ("ctranslate2==3.24.0", "numpy==1.26.4"),
        more=(NO_ROOT,),
        offers=("nvidia-cublas-cu11==11.11.3.6",),
    ),
    "ctranslate2-3-cuda-12": Scenario(
        "framework-wants-other-cuda",
        ("ctranslate2==3.24.0", "numpy==1.26.4", *(one for one in TORCH if one.startswith("nvidia-"))),
        more=(NO_ROOT,),
        offers=("ctranslate2==4.8.5",),
    ),
    "onnxruntime-cuda-11-no-cudnn": Scenario(
        "cudnn-missing",
        ("onnxruntime-gpu==1.18.1", *CUDA_11_8),
        environ={"LD_LIBRARY_PATH": ":".join(f"{{prefix}}/lib/{PYTHON}/site-packages/{one}" for one in _OF_11_8)},
        more=(NO_ROOT,),
        offers=("nvidia-cudnn-cu11==8.9.6.50",),
        row=13,
    ),
    "torch-cudnn-of-13-over": Scenario(
        "wheel-files-overwritten", TORCH, over("nvidia-cudnn-cu13==9.13.0.50"), offers=of(TORCH, CUDNN), row=18
    ),
    "torch-two-cudas": Scenario(
        "wheel-files-overwritten",
        TORCH,
        over("nvidia-cudnn-cu13==9.13.0.50", "nvidia-nccl-cu13==2.27.7"),
        offers=of(TORCH, CUDNN),
        row=18,
        installer="pip",
    ),
    "onnxruntime-1.18-cuda-12": Scenario(
        "framework-wants-other-cuda",
        ("onnxruntime-gpu==1.18.1", *(one for one in TORCH if one.startswith("nvidia-"))),
        offers=("onnxruntime-gpu==1.22.0",),
        more=(NO_ROOT,),
        row=19,
    ),
    "onnxruntime-cpu": Scenario("cpu-only-wheel", (ONNX,), more=(NO_ROOT,), offers=ONNX_GPU, row=21),
    "jax-cpu": Scenario("cpu-only-wheel", JAX_CPU, row=21),
    "two-cupys": Scenario("multiple-cupy", CUPY, over("cupy-cuda11x==13.6.0"), more=(NO_ROOT,), offers=CUPY),
    "two-onnxruntimes": Scenario("two-onnxruntimes", ONNX_GPU, over(ONNX), more=(NO_ROOT,), offers=ONNX_GPU),
    "torch-leftovers-of-the-users-own": Scenario(
        "pip-nvidia-wheels-conflict", TORCH, sees_the_user, more=(of_the_user("nvidia-cudnn-cu13==9.13.0.50"),), row=6
    ),
    "torch-in-an-inner-environment": Scenario(
        "cudnn-missing", TORCH, lost(CUDNN_FILES), offers=of(TORCH, CUDNN), row=7, installer="pip", inside="envs/t"
    ),
    # the driver runs CUDA 13, and torch beside it is for 12
    "install-cupy-beside-torch": Scenario(
        "", TORCH, offers=("cupy-cuda12x==14.2.0", "cuda-pathfinder==1.9.0"), row=20, order="cupy"
    ),
    "torchaudio-newest": Scenario(
        "companion-version-mismatch", (*TORCH, "torchaudio==2.11.0"), offers=(*of(TORCH, "torch"), "torchaudio==2.9.1")
    ),
    "torch-cpu-below-xformers": Scenario(
        "cpu-only-wheel", ("torch==2.9.1", "xformers==0.0.33.post2"), for_the_cpu, offers=TORCH
    ),
    "jax-plugin-old": Scenario(
        "jax-plugin-version-mismatch",
        JAX,
        instead("jax-cuda12-plugin", "jax-cuda12-plugin==0.4.34"),
        offers=of(JAX, *JAX_OWN),
    ),
}


class Outcome(NamedTuple):
    """What the remedy did."""

    wrong: str  # "" for nothing
    commands: tuple[str, ...]
    summary: str


def run(name: str, folder: Path) -> Outcome:
    """Spoil, check, paste, check again, in a folder of its own, which is left empty."""
    scenario = SCENARIOS[name]
    folder = folder / name
    shutil.rmtree(folder, ignore_errors=True)
    try:
        return _cured(scenario, Place(folder, scenario))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Place:
    """A tree with a real environment in it."""

    def __init__(self, folder: Path, scenario: Scenario) -> None:
        self.tree = folder / "tree"
        outer = folder / "project" / ".venv"  # as commands name it; a link leads into the tree
        self.prefix = outer / scenario.inside
        self.inside = Path(f"{self.tree}{self.prefix}")
        project = Path(f"{self.tree}{outer.parent}")
        project.mkdir(parents=True)
        outer.parent.symlink_to(project)
        self.house, self.cache = folder / "wheels", folder / "cache"
        venv = [sys.executable, "-m", "venv", *(["--without-pip"] if scenario.installer == "uv" else [])]
        for prefix in dict.fromkeys((outer, self.prefix)):
            subprocess.run([*venv, str(prefix)], check=True)
            if scenario.inside:  # what tells conda's own environments, the outer one and those below its envs
                (prefix / "conda-meta").mkdir()
                (prefix / "conda-meta" / "history").touch()
        lay(scenario.wheels, site_of(self.inside))
        scenario.spoil(self.inside)

    def case(self, scenario: Scenario, environ: Mapping[str, str]) -> Case:
        """The machine around it."""
        python = Path(os.path.realpath(self.prefix / "bin/python"))
        release = f"{sys.version_info.major}.{sys.version_info.minor}"
        programs: dict[str, str | bytes] = {str(python): b"\x7fELF", f"/usr/lib/python{release}/os.py": ""}
        tool: dict[str, str | bytes] = {"/usr/bin/uv": b"\x7fELF"} if scenario.installer == "uv" else {}
        active = "CONDA_PREFIX" if scenario.inside else "VIRTUAL_ENV"
        usual = {active: str(self.prefix), "PATH": f"{self.prefix}/bin:/usr/bin:/bin"}
        lay_all = together(linux(), USUAL, card(), driver(), files({**programs, **tool}), *scenario.more)
        return Case("real", "a real environment", lay_all, environ={**usual, **environ})

    def checked(self, scenario: Scenario, environ: Mapping[str, str]) -> list[dict[str, Any]]:
        """Findings that count, and the scenario's own, though it be information only."""
        report = run_here(self.case(scenario, environ), self.tree).report
        found = [one for one in report["findings"] if not one["explained_by"]]
        return [one for one in found if one["severity"] != "info" or one["code"] == scenario.code]

    def ordered(self, scenario: Scenario, environ: Mapping[str, str]) -> list[str]:
        """The commands of `gpudoctor install NAME` on that machine."""
        host = Snapshot(host_of(self.case(scenario, environ), self.tree))
        facts = look(host, ProbeRequest())
        target = target_of(facts, InstallPackage(scenario.order, interpreter=str(self.prefix / "bin/python")))
        plan, _ = package_plan(PackageOrder(scenario.order), target, facts, Matrix())
        return list(commands(plan, target))

    def pasted(self, commands: list[str], environ: Mapping[str, str], offers: tuple[str, ...]) -> dict[str, str]:
        """The variables of the shell that the commands were pasted into."""
        house = wheelhouse(offers, self.house)
        lines = [line for line in commands if line != "gpudoctor check"]  # it would look at this machine
        lines = [re.sub(r" --(extra-)?index-url \S+", "", line) for line in lines]  # the wheels lie in the house
        script = "\n".join((MODULE, *lines, "env -0"))
        links = " ".join(filter(None, (str(house), os.environ.get("PIP_FIND_LINKS", ""))))
        tools = {
            "UV_FIND_LINKS": str(house),
            "PIP_FIND_LINKS": links,
            "UV_CACHE_DIR": str(self.cache),
            "UV_LINK_MODE": "hardlink",
        }
        path = f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}"
        whole = {**os.environ, **tools, "PATH": path, **environ, "HOME": f"{self.tree}{HOME}"}
        ran = subprocess.run(
            ["bash", "-ec", script], cwd=self.tree.parent, env=whole, stdout=subprocess.PIPE, check=True
        )
        pairs = dict(
            item.rpartition("\n")[2].partition("=")[::2] for item in ran.stdout.decode().split("\0") if "=" in item
        )
        known = {*os.environ, *tools} - {*environ}
        return {name: text for name, text in pairs.items() if text and name not in known | _SHELL_OWN}


def _cured(scenario: Scenario, place: Place) -> Outcome:
    environ = {key: value.replace("{prefix}", str(place.prefix)) for key, value in scenario.environ.items()}
    environ = {key: os.path.normpath(value) if "/.." in value else value for key, value in environ.items()}
    before = place.checked(scenario, environ)
    if scenario.order:
        told, summary = place.ordered(scenario, environ), f"install {scenario.order}"
    else:
        finding = next((one for one in before if one["code"] == scenario.code), None)
        if finding is None:
            return Outcome(f"it is not named, but {[(one['code'], one['summary']) for one in before]}", (), "")
        told, summary = finding["remedies"][0]["commands"], finding["remedies"][0]["summary"]
    environ = place.pasted(told, environ, scenario.offers)
    after = place.checked(scenario, environ)
    known = {one["code"] for one in before} - {scenario.code}
    left = [f"{one['code']}: {one['summary']}" for one in after if one["code"] not in known]
    if scenario.order and not [*site_of(place.inside).glob(f"{scenario.order}*.dist-info")]:
        left.append(f"{scenario.order} is not there")
    return Outcome("; ".join(left), tuple(told), summary)


def main(argv: list[str]) -> int:
    """Each scenario, or those that are named."""
    folder, *names = argv
    failed = 0
    for name in names or SCENARIOS:
        try:
            outcome = run(name, Path(folder).absolute())
        except subprocess.CalledProcessError as error:
            outcome = Outcome(f"a command failed: {error}", (), "")
        failed += bool(outcome.wrong)
        told = "".join(f"    {line}\n" for line in outcome.commands)
        sys.stdout.write(
            f"{name}\n  {outcome.summary}\n{told}  {f'NOT CURED: {outcome.wrong}' if outcome.wrong else 'cured'}\n"
        )
        sys.stdout.flush()
    return failed


if __name__ == "__main__":
    raise SystemExit(bool(main(sys.argv[1:])))
