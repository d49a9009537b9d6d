"""Dockerfiles, and the trees that their lines really build: the same facts, the same verdict.

pip or uv installs the packages into an environment below a root, by the user's configuration and cache.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from doctor.commands.check.command import CheckSubject, report_of
from doctor.diagnose import EXIT_BAD, EXIT_UNKNOWN, exit_status
from doctor.model.facts.seen import Seen
from doctor.model.finding import Report, Severity
from tests.commands.dockerfile.judged import report

pytestmark = pytest.mark.slow
L4: dict[str, Any] = {"assume_gpus": ("L4",), "assume_driver": "580.65.06"}
PYTHON = f"3.{sys.version_info.minor}"
UV = str(Path(sys.executable).with_name("uv"))


class Built(NamedTuple):
    lines: tuple[str, ...]  # of requirements, each the arguments of one RUN
    files: dict[str, str] = {}  # noqa: RUF012 - a default that nobody changes


def one(*lines: str, **files: str) -> Built:
    return Built(lines, {f"{name}.txt": text for name, text in files.items()})


CASES = {
    "onnxruntime-gpu": one("onnxruntime-gpu==1.22.0"),
    "onnxruntime": one("onnxruntime==1.22.0"),
    "two ONNX Runtimes": one("onnxruntime==1.22.0 onnxruntime-gpu==1.22.0"),
    "two lines of ONNX Runtimes": one("onnxruntime-gpu==1.22.0", "onnxruntime==1.22.0"),
    "onnxruntime-gpu, a newer line": one("onnxruntime-gpu==1.20.2", "onnxruntime-gpu==1.22.0"),
    "numba and cuDNN's front": one("numba==0.61.2 nvidia-cudnn-frontend==1.12.0"),
    "onnxruntime and its tools": one("onnxruntime==1.22.0 flatbuffers"),
    "cupy": one("cupy-cuda12x==13.6.0"),
    "two CuPys": one("cupy-cuda12x==13.6.0", "cupy-cuda11x==13.6.0"),
    "cupy with its libraries": one(
        "cupy-cuda12x==13.6.0 nvidia-cuda-nvrtc-cu12==12.8.93 nvidia-cuda-runtime-cu12==12.8.90"
    ),
    "cupy and NumPy": one("cupy-cuda12x==13.6.0 numpy==2.2.6"),
    "cupy, an older line": one("cupy-cuda12x==13.6.0", "cupy-cuda12x==13.4.1"),
    "jax": one("jax==0.7.2 jaxlib==0.7.2"),
    "jax with an extra": one("'jax[k8s]==0.7.2' jaxlib==0.7.2"),
    "an older jaxlib": one("jax==0.7.2 jaxlib==0.7.2", "jaxlib==0.6.2"),
    "numba": one("numba==0.61.2"),
    "numba and a newer NumPy": one("numba==0.60.0", "numpy==2.2.6"),
    "numba and its NumPy": one("numba==0.61.2 numpy==2.2.6"),
    "xgboost": one("xgboost==1.7.6"),
    "lightgbm": one("lightgbm==4.6.0"),
    "ctranslate2": one("ctranslate2==4.5.0"),
    "a marker that holds": one("-r a.txt", a="onnxruntime-gpu==1.22.0 ; sys_platform == 'linux'\n"),
    "a marker that does not": one("-r a.txt", a="onnxruntime-gpu==1.22.0 ; sys_platform == 'win32'\nnumba==0.61.2\n"),
    "constraints": one("-c a.txt numba onnxruntime", a="numba==0.61.2\nonnxruntime==1.22.0\n"),
    "a list in a list": one("-r a.txt", a="-r b.txt\nnumba==0.61.2\n", b="cupy-cuda12x==13.6.0\n"),
    "a range": one("'onnxruntime-gpu>=1.20,<1.22.1'"),
}


def installed(case: Built, folder: Path, *, by_uv: bool) -> str:
    """Install the lines one after the other into an environment of a root; return its directory there."""
    prefix = folder / "opt/venv"
    prefix.parent.mkdir(parents=True)
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, str(prefix)], check=True)
    for name, text in case.files.items():
        (folder / name).write_text(text)
    python = str(prefix / "bin/python")
    for line in case.lines:
        by_pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check")
        start = (UV, "pip", "install", "--quiet", "--python", python) if by_uv else by_pip
        words = [word.strip("'") for word in line.split()]
        ran = subprocess.run([*start, *words], cwd=folder, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            pytest.fail(f"the index does not serve it: {ran.stderr[-200:]}")
    return "/opt/venv"


def told(said: Report) -> dict[str, dict[str, Any]]:
    """Each framework with its release, whether it is a CPU build, and its CUDA major; a row tells a range of CUDA."""
    found = {}
    for one in (each for environment in said.facts.environments.get() for each in environment.frameworks.get()):
        facts: dict[str, Any] = {"version": one.version.partition("+")[0], "cpu": one.is_cpu_build}
        found[one.package] = {**facts, "cuda": one.cuda.value.major} if isinstance(one.cuda, Seen) else facts
    return found


LACKS = {  # where the two differ, and nobody is told what is wrong
    "an older jaxlib": "the plan lists jaxlib, which holds the build, and not jax",
    "xgboost": "a package without a card is a framework of a plan, and a plain package of a tree",
    "lightgbm": "likewise",
    "a range": "the newest ONNX Runtime of a range is unknown to the plan",
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xfail(reason=LACKS[name], strict=True) if name in LACKS else ())
        for name in CASES
    ],
)
def test_the_plan_is_the_tree(name: str, tmp_path: Path) -> None:
    case, by_uv = CASES[name], "numba" not in name  # large wheels by uv, which keeps them unpacked
    root, context = tmp_path / "root", tmp_path / "context"
    context.mkdir()
    for file, text in case.files.items():
        (context / file).write_text(text)
    command = "uv pip install --system" if by_uv else "pip install --no-cache-dir"
    lines = "".join(f"RUN {command} {line}\n" for line in case.lines)
    planned = report(context, f"FROM python:{PYTHON}\nWORKDIR /a\nCOPY *.txt ./\n{lines}", **L4)
    prefix = installed(case, root, by_uv=by_uv)
    subject = CheckSubject(root=str(root), pythons=(prefix,), policy="", platform="", **L4)
    built = report_of(subject, time.perf_counter())
    try:
        ours, theirs = told(planned), told(built)
        for each in (ours, theirs):
            each.pop("jax", None)  # a front: what holds the build counts
        assert ours.keys() == theirs.keys()
        for package, facts in ours.items():
            both = facts.keys() & theirs[package].keys()
            if {"onnxruntime", "onnxruntime-gpu"} <= ours.keys():  # the later one overwrites the other's files
                both -= {"cpu"}
            same = {key: theirs[package][key] for key in both}
            assert {key: facts[key] for key in same} == same, package
        codes = [sorted({f.code for f in each.findings if f.severity is Severity.ERROR}) for each in (planned, built)]
        status = [exit_status(each, Severity.ERROR) for each in (planned, built)]
        # The interpreter lies outside of the root: what only it tells of the tree is open, and no other answer.
        assert status[1] == EXIT_UNKNOWN or (status[0] == EXIT_BAD) == (status[1] == EXIT_BAD), codes
    finally:
        shutil.rmtree(root)
