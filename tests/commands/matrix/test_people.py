"""Questions as people ask them in 2025 and 2026, each with the verdict that was written down before it was asked.

The expectations are from the makers' documents: RELEASE.md of PyTorch, the installation pages of JAX, TensorFlow, vLLM
and CuPy, NVIDIA's tables of drivers and compute capabilities.
"""

from __future__ import annotations

import shlex
from statistics import median

import pytest

from compat.matrix import Matrix
from doctor.cli import execute

MATRIX = Matrix()
YES, NO, REFUSED, UNKNOWN = 0, 1, 2, 4
ASKED = {
    YES: (
        "solve flash-attn torch --gpu 'RTX 4090'",  # a wheel of its releases: 2.8.3 beside torch 2.8
        "can torch --gpu 'RTX 5090'",
        "can torch==2.7.0+cu128 --gpu 'RTX 5080' --os windows",
        "can torch==2.7.1 --gpu 'RTX 5070' --python 3.9",
        "can torch==2.9.1 --gpu V100 --driver 550.54.14",
        "can torch --gpu 'GTX 1080'",
        "solve torch --gpu V100",
        "can torch --gpu T4 --python 3.13",
        "can torch --gpu B200",
        "can torch --gpu GB10",
        "can torch --gpu 'DGX Spark'",
        "can torch --gpu 'Jetson AGX Thor'",
        "can torch --os macos",
        "can torch --os wsl --gpu 'RTX 4070'",
        "can torch --gpu 'RTX 4070 Laptop'",
        "can torchvision --gpu 'RTX 5090'",
        "solve torch torchvision torchaudio --gpu 'RTX 5090' --os windows",
        "solve torch torchvision --gpu 'RTX 3060' --driver 535.183.01",
        "solve torch --gpu A100 --driver 470.82.01",
        "solve vllm --gpu 'RTX 5090'",
        "solve vllm --gpu V100",
        "solve vllm --gpu T4",
        "solve vllm --gpu GB10",
        "solve sglang --gpu H100",
        "can flash-attn --gpu T4",  # README of FlashAttention: 1.x for Turing
        "can flash-attn --gpu A100",
        "solve xformers --gpu 'RTX 5090'",
        "can bitsandbytes --os windows --gpu 'RTX 4060'",
        "can bitsandbytes --gpu 'GTX 1080'",
        "can tensorflow --os windows --gpu 'RTX 4090'",
        "solve tensorflow --gpu T4 --python 3.13",
        "solve jax[cuda12] --gpu 'RTX 4090' --driver 535.183.01",
        "can jax --gpu 'GTX 1080'",
        "solve cupy --gpu 'RTX 5090'",
        "can onnxruntime-gpu --gpu 'RTX 5080' --os windows",
        "solve ctranslate2 --gpu 'RTX 5090'",  # PTX for 8.6 in its wheel
        "can mxnet --gpu A100",
        "can keras==2.3.1 --gpu V100",
        "can torch --gpu T4 --driver 440.33.01",
        "solve torch cuda==12.4 --gpu 'RTX 3090'",
        "can torch --python 3.14 --gpu 'RTX 4090'",
        "solve torch transformers accelerate bitsandbytes --gpu 'RTX 3090'",
        "solve faster-whisper --gpu 'RTX 3060'",
        "solve torch tensorflow --gpu 'RTX 4090'",
        "can torch --arch aarch64 --gpu GH200",
        "can numba --gpu 'RTX 5090'",
        "can xgboost --gpu H100",
        "solve paddleocr --gpu 'RTX 3060'",
        "solve onnxruntime-gpu torch faster-whisper --gpu 'RTX 4090' --os windows",
        "solve xgboost lightgbm catboost --gpu 'RTX 3070'",
        "can lightgbm --gpu 'RTX 3060'",
        "solve lightgbm --os windows --gpu 'RTX 3060'",
        "can xgboost==3.0.0 --gpu 'GTX 1080'",
        "can xgboost==3.0.0 --gpu 'RTX 3070' --driver 550.54.14",
        "can catboost --gpu 'RTX 3070'",
    ),
    NO: (
        "can torch==2.6.0 --gpu 'RTX 5090'",
        "can torch==2.9.1 --gpu T4 --python 3.9",
        "can torch==2.14.1+cu130 --gpu 'GTX 1080'",
        "can torch==2.6.0 --gpu B200",
        "can torch --os macos --gpu 'RTX 4090'",
        "can torchvision==0.20.1 --gpu 'RTX 5090'",
        "solve vllm --gpu 'RTX 4090' --os windows",
        "can xformers --os macos",
        "can tensorflow==2.16.1 --os windows --gpu 'RTX 3080'",
        "solve tensorflow --gpu T4 --python 3.14",
        "can tensorflow==2.15.0 --python 3.12",
        "can jax --os windows --gpu 'RTX 3090'",
        "can jax[cuda13] --gpu V100",
        "can onnxruntime-gpu --os macos",
        "can mxnet --gpu T4 --python 3.12",
        "can torch --gpu 'RTX 5070 Ti' --driver 560.35.03",
        "solve sglang --gpu 'RTX 4090' --os windows",  # sgl-project/sglang#7188: Linux and CUDA
        "can lightgbm==3.3.5 --gpu 'RTX 3060'",  # its README: OpenCL for Windows only
        "can lightgbm==4.7.0 --os windows --gpu 'RTX 3060'",  # lib_lightgbm.dll: no OpenCL in this release
    ),
    UNKNOWN: (
        "can torch==2.9.1 --gpu 'Jetson AGX Orin'",
        "can tensorflow --gpu 'RTX 5090'",  # PTX only, and reports differ; conda-forge has code
        "can cupy-cuda11x --gpu 'RTX 5090'",  # CUDA 11 does not know the card
        "can paddlepaddle-gpu==3.2.0 --gpu 'RTX 5090'",
        "can theano --gpu 'RTX 3090'",
        "can xgboost==3.0.2 --os windows --gpu 'RTX 4070' --driver 576.02",  # the CUDA inside its DLL was not read
    ),
    REFUSED: ("can torch --gpu H200 --driver 13.0",),
}
QUESTIONS = [(ask, status) for status, asks in ASKED.items() for ask in asks]
# What an answer must say besides its verdict.
SAYS = {
    "can tensorflow --gpu 'RTX 5090'": "from conda-forge",
    "can torch --gpu H200 --driver 13.0": "13.0 is nvidia-smi's CUDA Version",
    "can torch --gpu 'RTX 5070 Ti' --driver 560.35.03": "(Blackwell), which CUDA 12.8 added",
    "solve vllm --gpu 'RTX 4090' --os windows": "use WSL 2",
    "solve torch --gpu A100 --driver 470.82.01": "torch 2.7.1 (cu118)",
    "can flash-attn --gpu T4": "'flash-attn==1.*'",
    "solve onnxruntime-gpu torch faster-whisper --gpu 'RTX 4090' --os windows": "faster-whisper==1.2.1",
    "solve sglang --gpu 'RTX 4090' --os windows": "use WSL 2",
    "solve xgboost lightgbm catboost --gpu 'RTX 3070'": "lightgbm 4.7.0 (opencl): OpenCL of the driver, no CUDA",
    "can lightgbm --gpu 'RTX 3060'": "lightgbm=4.7.0=*cuda129*",
    "solve lightgbm --os windows --gpu 'RTX 3060'": "lightgbm==4.6.0",
}


@pytest.fixture(autouse=True)
def one_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """One for all questions: the tables are read once."""
    monkeypatch.setattr(Matrix, "of_user", lambda: MATRIX)


@pytest.mark.parametrize(("ask", "status"), QUESTIONS)
def test_the_verdict(ask: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["matrix", *shlex.split(ask)]) == status
    said = capsys.readouterr()
    assert SAYS.get(ask, "") in " ".join((said.out + said.err).split())


def test_an_answer_is_short(capsys: pytest.CaptureFixture[str]) -> None:
    lengths = []
    for ask, _ in QUESTIONS:
        execute(["matrix", *shlex.split(ask)])
        lengths.append(len(capsys.readouterr().out.splitlines()))
    assert median(lengths) <= 20
