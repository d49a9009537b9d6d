"""What conda-forge serves today for a package without a release: its CPU build where conda sees no driver."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.model.finding import Severity
from tests.commands.dockerfile.judged import found, report
from tests.commands.lock.test_lock import builds, checked

BLACKWELL = {"assume_gpus": ("RTX 5090",), "assume_driver": "580.65.06"}
FORGE = "FROM condaforge/miniforge3\n"
OVERRIDE = f"{FORGE}ENV CONDA_OVERRIDE_CUDA=12.9\n"
YML = "channels: [{channels}]\ndependencies:\n  - python=3.12\n  - {package}\n"


@pytest.mark.parametrize(
    ("text", "codes", "status"),
    [
        (f"{FORGE}RUN mamba install -y pytorch\n", ["cpu-only-wheel", "framework-not-pinned"], {"2.13.0+cpu"}),
        (f"{OVERRIDE}RUN mamba install -y pytorch\n", ["framework-not-pinned"], {"2.13.0"}),
        ("FROM mambaorg/micromamba\nRUN CONDA_OVERRIDE_CUDA=12.9 micromamba install -c conda-forge tensorflow\n",
         ["framework-not-pinned"], {"2.19.1"}),
        ("FROM continuumio/miniconda3\nRUN conda install conda-forge::onnxruntime\n",
         ["cpu-only-wheel", "framework-not-pinned"], {"1.26.0"}),
        (f"{FORGE}RUN mamba install -y pytorch-gpu\n", [], set()),
        (f"{FORGE}RUN mamba install -y 'pytorch>=2'\n", [], set()),
        ("FROM continuumio/miniconda3\nRUN conda install pytorch\n", [], set()),
        ("FROM continuumio/miniconda3\nRUN conda install -c other -c conda-forge pytorch\n", [], set()),
    ],
)  # fmt: skip
def test_a_dockerfile(text: str, codes: list[str], status: set[str], tmp_path: Path) -> None:
    said = report(tmp_path, text, **BLACKWELL)
    assert found(said) == codes
    held = {one.version for each in said.facts.environments.get() for one in each.frameworks.get()}
    assert held == status
    assert bool(said.facts.dockerfile.get().unjudged) == (not status), "what is not known is listed"


@pytest.mark.parametrize(
    ("channels", "package", "driver", "cuda"),
    [
        ("conda-forge", "pytorch", "580.65.06", "13.0"),
        ("conda-forge", "pytorch-gpu", "550.54.14", "12.9"),
        ("nvidia, conda-forge", "jax", "580.65.06", "12.9"),
        ("conda-forge", "cupy", "550.54.14", "12.9"),
        ("conda-forge", "pytorch", "", "13.0"),
    ],
)
def test_an_environment_file_is_for_its_driver(
    channels: str, package: str, driver: str, cuda: str, tmp_path: Path
) -> None:
    text = YML.format(channels=channels, package=package)
    said = checked(tmp_path, "environment.yml", text, assume_driver=driver)
    [framework] = said.facts.environments.get()[0].frameworks.get()
    assert str(framework.cuda.get()) == cuda
    assert list(builds(said).values()) == ["4"]
    assert [one.code for one in said.findings if one.severity is Severity.ERROR] == []


def test_an_old_driver_gets_the_cpu_build(tmp_path: Path) -> None:
    text = YML.format(channels="conda-forge", package="pytorch")
    said = checked(tmp_path, "environment.yml", text, assume_driver="470.57.02", assume_gpus=("T4",))
    assert "cpu-only-wheel" in found(said)
