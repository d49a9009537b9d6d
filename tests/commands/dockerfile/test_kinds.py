"""Faulty files by kind: each is named with its line, and its healthy twin is silent."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.diagnose import exit_status
from doctor.model.finding import Severity
from tests.commands.dockerfile.judged import found, report

PIP = "RUN pip install --no-cache-dir"
MINICONDA = "FROM continuumio/miniconda3\n"
PYTHON, PYTHON_311 = "FROM python:3.12\n", "FROM python:3.11\n"
CUDA = "FROM nvidia/cuda:12.4.1-{}-ubuntu22.04\n"
BASE, RUNTIME, DEVEL = (CUDA.format(variant) for variant in ("base", "runtime", "devel"))
CUDNN = CUDA.format("cudnn-runtime")
WHL = "https://download.pytorch.org/whl"
VENV = "RUN python3 -m venv /opt/v && /opt/v/bin/pip install --no-cache-dir onnxruntime-gpu==1.20.1\n"
COPIED = "COPY --from=b /opt/v /opt/v\n"
TORCH = f"{PIP} torch==2.6.0 --index-url {WHL}/cu124\n"
CLONE = "git clone https://github.com/Dao-AILab/flash-attention.git f"
GIT = "git+https://github.com"
FLASH = "https://example.org/flash_attn-2.8.3+cu12torch{}cxx11abiFALSE-{}-{}-linux_x86_64.whl"
FLASH_WHEEL = "releases/flash_attn-2.7.4.post1+cu12torch2.6cxx11abiFALSE-cp310-cp310-linux_x86_64.whl"
GLIBC = "https://example.org/a-1.0-cp38-cp38-manylinux_2_{}_x86_64.whl"
# kind: code, faulty, its line, healthy twin
KINDS = {
    "TensorFlow without its libraries": (
        "dockerfile-libraries-missing", f"{BASE}{PIP} tensorflow==2.15.0\n", 2,
        f"{BASE}{PIP} 'tensorflow[and-cuda]==2.15.0'\n"),
    "two ONNX Runtimes": (
        "two-onnxruntimes", f"{PYTHON}{PIP} onnxruntime==1.22.0 onnxruntime-gpu==1.22.0\n", 2,
        f"{CUDNN}{PIP} onnxruntime-gpu==1.22.0\n"),
    "an ONNX Runtime that another package brings": (
        "two-onnxruntimes", f"{PYTHON}{PIP} onnxruntime-gpu==1.22.0\n{PIP} insightface==2.1\n", 3,
        f"{PYTHON}{PIP} insightface==2.1\n"),
    "NumPy 2 beside an old torch": (
        "numpy-abi-mismatch", f"{PYTHON_311}{PIP} torch==2.0.1\n{PIP} numpy==2.1.0\n", 3,
        f"{PYTHON_311}{PIP} torch==2.0.1 numpy==1.26.4\n"),
    "a CPU index on a CUDA image": (
        "cpu-only-wheel", f"{RUNTIME}{PIP} torch==2.9.1 --index-url {WHL}/cpu\n", 2,
        f"{PYTHON}{PIP} torch==2.9.1 --index-url {WHL}/cpu\n"),
    "torchvision of another torch": (
        "companion-version-mismatch", f"{PYTHON}{PIP} torch==2.9.1 torchvision==0.15.0\n", 2,
        f"{PYTHON}{PIP} torch==2.9.1 torchvision==0.24.1\n"),
    "torchaudio that takes torch out": (
        "framework-replaced", f"{PYTHON}{PIP} torch==2.9.1\n{PIP} torchaudio==2.6.0\n", 3,
        f"{PYTHON}{PIP} torch==2.9.1\n{PIP} torchaudio==2.9.1\n"),
    "two CUDA majors in one environment": (
        "wheel-files-overwritten", f"{PYTHON}{PIP} 'jax[cuda12]==0.6.0'\n{PIP} torch==2.6.0 -i {WHL}/cu118\n", 3,
        f"{PYTHON}{PIP} 'jax[cuda12]==0.6.0'\n{PIP} torch==2.6.0 -i {WHL}/cu124\n"),
    "a CUDA that does not exist": (
        "base-image-unknown", "FROM nvidia/cuda:99.4.1-runtime-ubuntu22.04\n", 1, RUNTIME),
    "a release that never was": ("base-image-unknown", "FROM nvidia/cuda:12.4.7-runtime-ubuntu22.04\n", 1, RUNTIME),
    "a tag with two parts": ("base-image-unknown", "FROM nvidia/cuda:11.8-devel-ubuntu22.04\n", 1,
                             "FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\n"),
    "no tag": ("base-image-unknown", "FROM nvidia/cuda\n", 1, RUNTIME),
    "no variant": ("base-image-unknown", "FROM nvidia/cuda:12.4.1-ubuntu22.04\n", 1, RUNTIME),
    "cudnn with a number": ("base-image-unknown", "FROM nvidia/cuda:12.4.1-cudnn8-runtime-ubuntu22.04\n", 1, CUDNN),
    "cuDNN's wheel of another major": (
        "pip-nvidia-wheels-conflict", f"{PYTHON}{PIP} torch==2.9.1\n{PIP} nvidia-cudnn-cu12==8.9.7.29\n", 3,
        f"{PYTHON}{PIP} torch==2.9.1\n{PIP} nvidia-cudnn-cu12==9.10.2.21\n"),
    "a torchtext that brings another torch": (
        "framework-replaced", f"FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime\n{PIP} torchtext==0.17.2\n", 2,
        f"FROM pytorch/pytorch:2.2.2-cuda12.1-cudnn8-runtime\n{PIP} torchtext==0.17.2\n"),
    "a clone that is compiled without nvcc": (
        "dockerfile-nvcc-missing",
        f"{RUNTIME}RUN {CLONE} && cd f && python setup.py install\n",
        2, f"{DEVEL}RUN {CLONE} && cd f && python setup.py install\n"),
    "a clone that pip compiles without nvcc": (
        "dockerfile-nvcc-missing",
        f"{RUNTIME}RUN git clone https://github.com/NVlabs/tiny-cuda-nn\n{PIP} ./tiny-cuda-nn\n",
        3, f"{DEVEL}RUN git clone https://github.com/NVlabs/tiny-cuda-nn\n{PIP} ./tiny-cuda-nn\n"),
    "a source build without nvcc": (
        "dockerfile-nvcc-missing", f"{RUNTIME}{PIP} {GIT}/facebookresearch/detectron2.git\n", 2,
        f"{DEVEL}{PIP} {GIT}/facebookresearch/detectron2.git\n"),
    "a source build by its name": (
        "dockerfile-nvcc-missing", f"{PYTHON}{PIP} 'pytorch3d @ {GIT}/facebookresearch/pytorch3d@stable'\n", 2,
        f"{DEVEL}{PIP} 'pytorch3d @ {GIT}/facebookresearch/pytorch3d@stable'\n"),
    "kernels that are compiled in use": (
        "nvcc-missing-in-use", f"{RUNTIME}RUN apt-get install -y python3-pip\n{PIP} vllm==0.31.0\n", 3,
        f"{DEVEL}RUN apt-get install -y python3-pip\n{PIP} vllm==0.31.0\n"),
    "a script that brings a driver": (
        "container-image-bakes-driver-libs", f"{RUNTIME}RUN curl -fsSL https://ollama.com/install.sh | sh\n", 2,
        f"{RUNTIME}RUN curl -LsSf https://astral.sh/uv/install.sh | sh\n"),
    "a wheel of a newer glibc": (
        "wheel-does-not-fit", f"FROM ubuntu:20.04\n{PIP} {GLIBC.format(32)}\n", 2,
        f"FROM ubuntu:20.04\n{PIP} {GLIBC.format(31)}\n"),
    "a wheel of another Python": (
        "wheel-does-not-fit", f"{PYTHON}{PIP} {FLASH.format('2.9', 'cp311', 'cp311')}\n", 2,
        f"{PYTHON}{PIP} {FLASH.format('2.9', 'cp312', 'cp312')}\n"),
    "a wheel of another torch": (
        "wheel-does-not-fit", f"{PYTHON}{PIP} torch==2.8.0 {FLASH.format('2.6', 'cp312', 'cp312')}\n", 2,
        f"{PYTHON}{PIP} torch==2.8.0 {FLASH.format('2.8', 'cp312', 'cp312')}\n"),
    "GPUs that a variable hides": (
        "cuda-visible-devices-empty-or-invalid", f"{PYTHON}ENV CUDA_VISIBLE_DEVICES=-1\n{PIP} torch==2.9.1\n", 2,
        f"{PYTHON}ENV CUDA_VISIBLE_DEVICES=0\n{PIP} torch==2.9.1\n"),
    "a last stage without cuDNN": (
        "dockerfile-libraries-missing", f"{CUDA.format('cudnn-devel')[:-1]} AS b\n{VENV}{BASE}{COPIED}", 2,
        f"{CUDA.format('cudnn-devel')[:-1]} AS b\n{VENV}{CUDNN}{COPIED}"),
    "flash-attn, which has no wheel on the index": (
        "dockerfile-nvcc-missing", f"{RUNTIME}{TORCH}{PIP} flash-attn==2.7.4.post1 --no-build-isolation\n", 3,
        f"{DEVEL}{TORCH}{PIP} flash-attn==2.7.4.post1 --no-build-isolation\n"),
    "flash-attn's source": (
        "dockerfile-nvcc-missing", f"{RUNTIME}{TORCH}{PIP} {GIT}/Dao-AILab/flash-attention@v2.7.4\n", 3,
        f"{RUNTIME}{TORCH}{PIP} https://github.com/Dao-AILab/flash-attention/{FLASH_WHEEL}\n"),
    "flash-attn that may not compile": (
        "dockerfile-nvcc-missing", f"{PYTHON}{TORCH}{PIP} flash-attn\n", 3,
        f"{PYTHON}{TORCH}RUN FLASH_ATTENTION_SKIP_CUDA_BUILD=TRUE{PIP.removeprefix('RUN')} flash-attn\n"),
    "CTranslate2 without its cuDNN": (
        "dockerfile-libraries-missing", f"{RUNTIME}{PIP} ctranslate2==4.5.0\n", 2,
        f"{CUDNN}{PIP} ctranslate2==4.5.0\n"),
    "CTranslate2 with torch's libraries": (
        "dockerfile-libraries-missing", f"{BASE}{PIP} ctranslate2==4.8.5\n", 2,
        f"{BASE}{PIP} torch==2.9.1 ctranslate2==4.5.0\n"),
    "wheels of one command that do not fit": (
        "pip-nvidia-wheels-conflict", f"{PYTHON}{PIP} nvidia-cudnn-cu12==8.9.7.29 torch==2.6.0\n", 2,
        f"{PYTHON}{PIP} nvidia-cudnn-cu12==8.9.7.29\n{PIP} torch==2.6.0\n"),  # pip replaces it
    "a triton that a later line takes out": (
        "companion-version-mismatch", f"{PYTHON}{PIP} torch==2.6.0\n{PIP} triton==3.0.0\n", 2,
        f"{PYTHON}{PIP} triton==3.0.0\n{PIP} torch==2.6.0\n"),
    "cuDNN's wheel before JAX": (
        "pip-nvidia-wheels-conflict", f"{PYTHON_311}{PIP} 'jax[cuda12]==0.5.0'\n{PIP} nvidia-cudnn-cu12==8.9.7.29\n", 3,
        f"{PYTHON_311}{PIP} nvidia-cudnn-cu12==8.9.7.29\n{PIP} 'jax[cuda12]==0.5.0'\n"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_the_faulty_one_is_named(kind: str, tmp_path: Path) -> None:
    code, faulty, line, _ = KINDS[kind]
    said = report(tmp_path, faulty)
    [finding] = [one for one in said.findings if one.code == code]
    assert f"Dockerfile:{line}" in {f"{one.file}:{one.line}" for one in finding.evidence}, finding.evidence
    assert finding.severity is not Severity.INFO


@pytest.mark.parametrize("kind", KINDS)
def test_its_twin_is_silent(kind: str, tmp_path: Path) -> None:
    said = report(tmp_path, KINDS[kind][3])
    assert found(said) == []
    assert exit_status(said, Severity.ERROR) == 0, [
        one for one in said.answers if one.kind.value == "unknown" and one.blocks_verdict
    ]


@pytest.mark.parametrize(
    "lines",
    [
        f"{PIP} torch torchvision torchaudio --index-url {WHL}/cu128",
        f"{PIP} torch torchvision",
        f"{PIP} torch==2.6.0 torchvision torchaudio",
        f"{PIP} torch==2.6.0 accelerate timm",
        f"{PIP} 'torch<2.9' 'torchvision<0.24'",
    ],
)
def test_companions_of_the_same_command_fit(lines: str, tmp_path: Path) -> None:
    assert found(report(tmp_path, f"{PYTHON}{lines}\n")) == []


def test_a_release_newer_than_the_rows_is_unknown(tmp_path: Path) -> None:
    said = report(tmp_path, "FROM nvidia/cuda:14.0.0-runtime-ubuntu24.04\n")
    assert (found(said), exit_status(said, Severity.ERROR)) == ([], 4)


@pytest.mark.parametrize("makes", ["python3 -m venv /opt/v", "uv venv /opt/v", "virtualenv -p python3 /opt/v"])
def test_the_environment_that_path_selects_is_checked(makes: str, tmp_path: Path) -> None:
    old = "FROM pytorch/pytorch:1.13.1-cuda11.6-cudnn8-runtime\n"
    own = f"RUN {makes}\nENV PATH=/opt/v/bin:$PATH\n{PIP} torch==2.9.1\n"
    given = {"assume_gpus": ("RTX 5090",)}
    assert "gpu-too-new-for-cuda" in found(report(tmp_path, old, **given))
    assert found(report(tmp_path, old + own, **given)) == []


def test_condas_own_channel_ends_with_a_release(tmp_path: Path) -> None:
    """Which torch it brings is known without a release."""
    for packages, expected in (("pytorch torchvision pytorch-cuda=12.1", True), ("pytorch==2.5.1", False)):
        text = f"{MINICONDA}RUN conda install -y {packages} -c pytorch -c nvidia\n"
        said = report(tmp_path, text, assume_gpus=("RTX 5090",))
        assert ("gpu-too-new-for-cuda" in found(said)) is expected
        assert found(report(tmp_path, text, assume_gpus=("L4",), assume_driver="535.129.03")) == []


def test_a_base_image_needs_no_driver_that_nobody_named(tmp_path: Path) -> None:
    said = report(tmp_path, f"{RUNTIME}{PIP} torch==2.9.1\n", assume_gpus=("RTX 4090",))
    assert exit_status(said, Severity.ERROR) == 0, [one.why for one in said.answers if one.blocks_verdict]


@pytest.mark.parametrize("follower", ["torchvision==0.21.0", "torchaudio==2.6.0", "torchvision"])
def test_what_follows_torch_comes_in_its_line(follower: str, tmp_path: Path) -> None:
    text = f"{PYTHON}{PIP} torch==2.6.0 {follower} --index-url {WHL}/cu124\n"
    [finding] = report(tmp_path, text, assume_gpus=("RTX 5090",), only=("gpu-too-new-for-cuda",)).findings
    name = follower.partition("=")[0]
    line, bounded = (f"{PIP} torch==2.7.0 {one} --index-url {WHL}/cu128" for one in (name, f"'{name}<2.11'"))
    assert finding.remedies[0].commands in (
        ("# Dockerfile:2, corrected:", line),
        ("# Dockerfile:2, corrected:", bounded),
    )


def test_no_remedy_moves_torch_for_what_follows_it(tmp_path: Path) -> None:
    text = f"FROM python:3.13\n{PIP} torch==2.4.1 torchvision==0.19.1 --index-url {WHL}/cu121\n"
    findings = report(tmp_path, text, only=("python-version-no-wheel",)).findings
    lines = [line for each in findings for one in each.remedies for line in one.commands]
    assert [line for line in lines if "triton" in line] == []
    corrected = [line for line in lines if "torch==" in line]
    assert [line for line in corrected if "cu121" in line] == []  # which has not the release that is installed then
    assert corrected


@pytest.mark.parametrize(
    ("spec", "codes"),
    [
        ("'tensorflow[and-cuda]==2.14.0'", []),
        ("'tensorflow[and-cuda]==2.18.0'", []),
        ("'jax[cuda12]==0.5.0'", []),
        ("'onnxruntime-gpu[cuda,cudnn]==1.22.0'", []),
        ("'tensorflow==2.18.0'", ["framework-wants-other-cuda"]),
        ("'onnxruntime-gpu==1.22.0'", ["dockerfile-libraries-missing"]),
    ],
)
def test_an_extra_brings_its_libraries_on_a_plain_image(spec: str, codes: list[str], tmp_path: Path) -> None:
    said = report(tmp_path, f"{PYTHON_311}{PIP} {spec}\n", assume_gpus=("RTX 4090",))
    assert [one.code for one in said.findings if one.severity is Severity.ERROR and not one.explained_by] == codes
