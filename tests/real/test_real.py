"""Healthy real environments on a GPU machine of the lab: silent, and every library predicted where it was seen."""

from __future__ import annotations

import platform
import shutil
import sys
from pathlib import Path

import pytest

from doctor.commands.which.command import Question, which
from doctor.output.document import TextStyle
from tests.lab.case import Case, complaint, host_of, run_here
from tests.lab.parts import LIB, VENV, Part, card, driver, files, linux, site_of, together, venv, without
from tests.loader_oracle.compare import predict_on, predicted_files
from tests.real.distil import distilled, lay
from tests.real.recorded import Recorded, recorded
from tests.real.usual import USUAL

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="wheels for x86-64"),
]


def environment(one: Recorded) -> Part:
    """Its wheels in the virtual environment of the lab."""
    site = site_of(VENV, f"python{one.python}").lstrip("/")
    return together(venv(VENV, f"python{one.python}"), lambda root: lay(one.wheels, root / site, one.python))


def machine(one: Recorded, *more: Part, **different: object) -> Case:
    """A healthy workstation without a toolkit around it."""
    lay_all = together(linux(), USUAL, card(), driver(), environment(one), *more)
    return Case(one.name, "a real environment", lay_all, **different)  # type: ignore[arg-type]


BROKEN = ("tensorflow-2.21",)
ALL = {one.name: one for one in recorded()}
SITE = site_of(VENV, "python3.11")
PYTHON = f"{VENV}/bin/python"


@pytest.mark.parametrize("name", [name for name, one in ALL.items() if name not in BROKEN])
def test_a_healthy_environment(name: str, tmp_path: Path) -> None:
    one = ALL[name]
    case = machine(one)
    assert complaint(case, run_here(case, tmp_path / "tree")) == ""
    for framework, observed in one.observed.items():
        assert predicted(case, tmp_path / "tree", one, framework) == observed


def predicted(case: Case, tree: Path, one: Recorded, framework: str) -> dict[str, str]:
    """Each CUDA library of a framework's process and the file that is predicted, as `recorded` writes it."""
    host = host_of(case, tree)
    _, _, simulated = predict_on(host, f"{VENV}/bin/python", framework)
    site = host.real_path(site_of(VENV, f"python{one.python}"))
    return {name: path.removeprefix(f"{site}/") for name, path in predicted_files(simulated).items()}


def test_tensorflow_2_21_lacks_its_cusolver(tmp_path: Path) -> None:
    """It was built for CUDA 12 and asks for the name that no directory of its RUNPATH leads to; cuDNN it finds."""
    outcome = run_here(machine(ALL["tensorflow-2.21"]), tmp_path)
    told = [one for one in outcome.report["findings"] if one["code"] == "tf-cannot-dlopen-gpu-libs"]
    assert "libcusolver.so.11" in told[0]["summary"], outcome.named
    assert set(outcome.named) == {"tf-cannot-dlopen-gpu-libs", "wheel-libs-not-on-loader-path"}


def test_wheels_in_dist_packages_of_the_system(tmp_path: Path) -> None:
    """torch walks sys.path where its RPATH fails: a virtual environment that sees the system's packages."""
    one = ALL["torch-2.9.1"]
    ours = [wheel for wheel in one.wheels if not wheel.startswith("nvidia-")]
    theirs = [wheel for wheel in one.wheels if wheel.startswith("nvidia-")]
    dist = "/usr/local/lib/python3.11/dist-packages"
    case = machine(
        one._replace(wheels=tuple(ours)),
        files({"/usr/lib/python3/dist-packages/": "", f"{VENV}/pyvenv.cfg": _SEES_THE_SYSTEM}),
        lambda root: lay(theirs, root / dist.lstrip("/")),
    )
    assert complaint(case, run_here(case, tmp_path)) == ""
    found = predicted(case, tmp_path, one, "torch")
    assert found["libcudnn.so.9"] == f"{dist}/nvidia/cudnn/lib/libcudnn.so.9"
    names = {path.rpartition("/")[2] for path in one.observed["torch"].values()}
    assert {path.rpartition("/")[2] for path in found.values()} == names - {"libnvrtc-builtins.so.12.8"}


def test_which_names_the_copy_in_a_repaired_wheel(tmp_path: Path) -> None:
    text, status = asked(machine(ALL["torch-1.13.1"]), tmp_path, "cudart", "torch")
    assert status == 0
    assert "torch/lib/libcudart-e409450e.so.11.0" in text


def test_cudnn_8_5_needs_the_name_without_a_version(tmp_path: Path) -> None:
    """Where only libcuda.so.1 is there, as in WSL's directory, the process of torch 2.0 is aborted."""
    case = machine(ALL["torch-2.0.1"], without(f"{LIB}/libcuda.so"))
    text, status = asked(case, tmp_path, "cuda", "torch")
    assert status == 1, text
    assert "libcuda.so\n" in text


def test_which_answers_for_the_part_of_jax_that_opens(tmp_path: Path) -> None:
    text, status = asked(machine(ALL["jax12-0.4.35-nvcc12.6"]), tmp_path, "cudnn", "jax")
    assert status == 0, text
    assert "unknown" not in text
    assert "nvidia/cudnn/lib" in text


def test_a_partial_cudnn_on_the_library_path_is_to_be_taken_out(tmp_path: Path) -> None:
    one = ALL["torch-2.9.1"]
    case = machine(one, _partial, environ={"LD_LIBRARY_PATH": "/opt/partial"})
    outcome = run_here(case, tmp_path)
    first = outcome.report["findings"][0]
    assert first["code"] in {"ld-library-path-shadowing", "cudnn-sublibrary-mixed"}, outcome.named
    assert "/opt/partial" in first["remedies"][0]["summary"]


def _partial(root: Path) -> None:
    source = distilled("nvidia-cudnn-cu12==9.13.0.50")
    (root / "opt/partial").mkdir(parents=True)
    for name in ("libcudnn_graph.so.9", "libcudnn_ops.so.9"):
        shutil.copy(source / "nvidia/cudnn/lib" / name, root / "opt/partial" / name)


def test_a_login_node_says_what_is_wrong_with_the_files(tmp_path: Path) -> None:
    """Without a card, a TensorFlow that does not find what its wheels bring is still told of."""
    lay_all = together(linux(), USUAL, environment(ALL["tensorflow-2.21"]))
    outcome = run_here(Case("login", "a node without a card", lay_all, nvml={}), tmp_path)
    assert {"no-nvidia-gpu", "tf-cannot-dlopen-gpu-libs"} <= set(outcome.named), outcome.named
    assert "cudnn-missing" not in outcome.named


_SEES_THE_SYSTEM = "home = /usr/bin\ninclude-system-site-packages = true\nversion = 3.11.4\n"


def asked(case: Case, tree: Path, library: str, framework: str) -> tuple[str, int]:
    """`gpudoctor which` over the tree."""
    case.build(tree)
    return which(Question(library, (PYTHON,), framework, str(tree)), TextStyle())
