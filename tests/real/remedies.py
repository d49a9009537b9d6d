"""`python -m tests.real.remedies FOLDER [NAME ...]` (as root): remedies pasted into real environments, judged again.

Each scenario is a real environment (real wheels by uv, kept in FOLDER, some GB) with one fault. `gpudoctor check` of a
GPU machine of the lab (`machine.py`) must name it; the commands of its first remedy are pasted into bash as they
stand; the second check must not name it again, nor anything new. Exit 1 where one does not.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.lab.carried_out import MODULE
from tests.lab.cases.clusters import NO_ROOT
from tests.lab.parts import HOME, Part, files
from tests.real.machine import machine, site_of

JAX = ("jax[cuda12]==0.6.2",)
ONNX_GPU = ("onnxruntime-gpu==1.22.0",)
_SHELL_OWN = {"_", "SHLVL", "PWD", "OLDPWD", "HOME", "PATH", "UV_CACHE_DIR", "UV_LINK_MODE"}


class Scenario(NamedTuple):
    """An environment, what is done to it, and what must be found."""

    code: str
    wheels: tuple[str, ...]
    spoil: Callable[[Path], None] = lambda _: None
    environ: Mapping[str, str] = {}  # {prefix} is the environment's
    more: tuple[Part, ...] = ()


def _uv(*argv: str) -> None:
    subprocess.run(["uv", "-q", *argv], check=True, stdout=subprocess.DEVNULL)


def over(*wheels: str) -> Callable[[Path], None]:
    """Other wheels over those that are there."""
    return lambda prefix: _uv("pip", "install", "--no-deps", "--python", f"{prefix}/bin/python", *wheels)


def gone(name: str) -> Callable[[Path], None]:
    """One wheel taken away."""
    return lambda prefix: _uv("pip", "uninstall", "--python", f"{prefix}/bin/python", name)


def lost(pattern: str) -> Callable[[Path], None]:
    """Files that are lost, their wheel's dist-info stays."""

    def spoil(prefix: Path) -> None:
        found = [*site_of(prefix).glob(pattern)]
        assert found, pattern
        for path in found:
            path.unlink()

    return spoil


def old_cudnn(name: str) -> Callable[[Path], None]:
    """Another cuDNN in a directory of its own."""
    return lambda prefix: _uv(
        "pip", "install", "--no-deps", "--target", f"{prefix}/{name}", "nvidia-cudnn-cu12==9.1.0.70"
    )


OLD = "{prefix}/old/nvidia/cudnn/lib"
SCENARIOS: Mapping[str, Scenario] = {
    "two-cupys": Scenario("multiple-cupy", ("cupy-cuda12x==13.6.0",), over("cupy-cuda11x==13.6.0"), more=(NO_ROOT,)),
    "cupy-no-cuda": Scenario("framework-wants-other-cuda", ("cupy-cuda12x==13.6.0",), more=(NO_ROOT,)),
    "two-onnxruntimes": Scenario("two-onnxruntimes", ONNX_GPU, over("onnxruntime==1.22.0"), more=(NO_ROOT,)),
    "onnxruntime-cpu": Scenario("cpu-only-wheel", ("onnxruntime==1.22.0",), more=(NO_ROOT,)),
    "onnxruntime-no-cuda": Scenario("framework-wants-other-cuda", ONNX_GPU, more=(NO_ROOT,)),
    "jax-cudnn-part-lost": Scenario("cudnn-install-incomplete", JAX, lost("nvidia/cudnn/lib/libcudnn_ops.so.9")),
    "jax-cudnn-files-lost": Scenario("cudnn-missing", JAX, lost("nvidia/cudnn/lib/*.so*")),
    "jax-cudnn-removed": Scenario("cudnn-missing", JAX, gone("nvidia-cudnn-cu12")),
    "jax-cudnn-old": Scenario("pip-nvidia-wheels-conflict", JAX, over("nvidia-cudnn-cu12==9.1.0.70")),
    "jax-cudnn-of-13-over": Scenario("wheel-files-overwritten", JAX, over("nvidia-cudnn-cu13==9.13.0.50")),
    "jax-old-cudnn-first": Scenario("ld-library-path-shadowing", JAX, old_cudnn("old"), {"LD_LIBRARY_PATH": OLD}),
    "jax-old-cudnn-by-a-module": Scenario(
        "ld-library-path-shadowing",
        JAX,
        old_cudnn("cudnn/9.1.0"),
        {"LD_LIBRARY_PATH": "{prefix}/cudnn/9.1.0/nvidia/cudnn/lib", "LOADEDMODULES": "gcc/12.2:cudnn/9.1.0"},
        (NO_ROOT,),
    ),
    "jax-plugin-old": Scenario("jax-plugin-version-mismatch", JAX, over("jax-cuda12-plugin==0.6.0")),
    "jax-cusolver-removed": Scenario("cudart-soname-missing", JAX, gone("nvidia-cusolver-cu12")),
    "jax-cpu": Scenario("cpu-only-wheel", ("jax==0.6.2",)),
}


def base(folder: Path, wheels: tuple[str, ...]) -> Path:
    """The environment of these wheels, made once."""
    prefix = folder / "bases" / re.sub(r"[^\w.]+", "-", "+".join(wheels))
    if not prefix.exists():
        _uv("venv", "--python", f"3.{sys.version_info.minor}", str(prefix))
        _uv("pip", "install", "--python", f"{prefix}/bin/python", *wheels)
    return prefix


def run(name: str, folder: Path) -> str:
    """What is wrong with the remedy of a scenario, "" for nothing."""
    scenario = SCENARIOS[name]
    prefix = folder / name
    shutil.rmtree(prefix, ignore_errors=True)
    subprocess.run(["cp", "-al", str(base(folder, scenario.wheels)), str(prefix)], check=True)
    scenario.spoil(prefix)
    environ = {key: value.replace("{prefix}", str(prefix)) for key, value in scenario.environ.items()}
    before, tree = _checked(prefix, environ, scenario.more)
    finding = next((one for one in before if one["code"] == scenario.code), None)
    if finding is None:
        return f"it is not named, but {[one['code'] for one in before]}"
    remedy = finding["remedies"][0]
    sys.stdout.write(f"  {remedy['summary']}\n" + "".join(f"    {line}\n" for line in remedy["commands"]))
    environ = _pasted(remedy["commands"], environ, tree)
    after, _ = _checked(prefix, environ, scenario.more)
    known = {one["code"] for one in before} - {scenario.code}
    left = [f"{one['code']}: {one['summary']}" for one in after if one["code"] not in known]
    shutil.rmtree(prefix)
    return "; ".join(left)


def _checked(prefix: Path, environ: Mapping[str, str], more: tuple[Part, ...]) -> tuple[list[dict[str, Any]], Path]:
    """Findings that count, and the tree of the machine."""
    folder = Path(tempfile.mkdtemp(prefix="gpudoctor-real-"))
    uv = files({"/usr/bin/uv": (Path(shutil.which("uv") or "/nowhere").read_bytes())[:64]})
    outcome = machine(prefix, folder, environ=environ, more=(uv, *more)).check()
    found = [one for one in outcome.report["findings"] if one["severity"] != "info" and not one["explained_by"]]
    return found, folder / "tree"


def _pasted(commands: list[str], environ: Mapping[str, str], tree: Path) -> dict[str, str]:
    """The variables of the shell that the commands were pasted into."""
    script = "\n".join((MODULE, *commands, "env -0"))
    whole = {**os.environ, **environ, "HOME": f"{tree}{HOME}"}
    ran = subprocess.run(["bash", "-ec", script], env=whole, stdout=subprocess.PIPE, check=True)
    text = ran.stdout.decode().rpartition("\n")[2] if b"\n" in ran.stdout.partition(b"\0")[0] else ran.stdout.decode()
    pairs = dict(item.partition("=")[::2] for item in text.split("\0") if "=" in item)
    names = ({*environ, "LD_LIBRARY_PATH"} & {*pairs}) - _SHELL_OWN
    return {name: pairs[name] for name in names if pairs[name]}


def main(argv: list[str]) -> int:
    """Each scenario, or those that are named."""
    folder, *names = argv
    failed = 0
    for name in names or SCENARIOS:
        sys.stdout.write(f"{name}\n")
        try:
            wrong = run(name, Path(folder).absolute())
        except subprocess.CalledProcessError as error:
            wrong = f"a command failed: {error}"
        failed += bool(wrong)
        sys.stdout.write(f"  {'NOT CURED: ' + wrong if wrong else 'cured'}\n")
        sys.stdout.flush()
    return failed


if __name__ == "__main__":
    raise SystemExit(bool(main(sys.argv[1:])))
