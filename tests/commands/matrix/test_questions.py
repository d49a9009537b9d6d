"""Questions that users ask, answered from the command line.

Every expectation was taken from the source beside it (a maker's document, a file at a tag, a wheel), not from what the
program said. A question is a command line, its exit status (yes 0, no 1, unknown 4), and words of the answer.
"""

from __future__ import annotations

import shlex
from typing import NamedTuple

import pytest

from compat.matrix import Matrix
from doctor.cli import execute
from tests.commands.matrix.forum_questions import FORUM_QUESTIONS

YES, NO, UNKNOWN = 0, 1, 4


class Question(NamedTuple):
    """What a user asks, and what the source says."""

    ask: str  # the words after `gpudoctor matrix can`
    status: int
    says: tuple[str, ...]
    source: str  # where the expectation comes from
    shown: str = ""  # part of the source that the answer must show


NOTES = "NVIDIA, CUDA Toolkit Release Notes, table 3, and CUDA Compatibility, minor version compatibility"
MATRIX = "NVIDIA, CUDA Toolkit, Driver and Architecture Matrix (last toolkit and driver branch of each generation)"
SUPPORT = "NVIDIA, cuDNN support matrix; cubins read in libcudnn of 8.7.0 to 9.11.0"
RELEASE_MD = "pytorch/pytorch:RELEASE.md, Release Compatibility Matrix"
MINOR = "minor-version-compatibility"

QUESTIONS = (
    # Theano
    Question(
        "theano==0.8.2 cudnn==5.1",
        YES,
        ("theano 0.8.2: yes", "; with 5.1.10 it warns and continues"),
        "theano/sandbox/cuda/__init__.py@rel-0.8.2, lines 584-590: a warning above 5100; refused below 4007",
        "Theano/Theano:theano/sandbox/cuda/__init__.py@rel-0.8.2",
    ),
    Question(
        "theano==0.8.1 cudnn==5.1",
        NO,
        ("needs cuDNN >=3.0.7,<5",),
        "doc/library/sandbox/cuda/dnn.txt@rel-0.9.0: 0.8.0 and 0.8.1 support only cuDNN v3 and v4",
        "Theano/Theano",
    ),
    Question(
        "theano==0.8.2 cudnn==3.0",
        NO,
        ("3.0.7 is installed",),
        "theano/sandbox/cuda/__init__.py@rel-0.8.2, lines 329-333: below 4007 is too old",
        "Theano/Theano:theano/sandbox/cuda/__init__.py@rel-0.8.2",
    ),
    Question(
        "theano==1.0.5 cudnn==7.6.5",
        UNKNOWN,
        ("with 7.6.5 it warns and continues, untested",),
        "theano/gpuarray/dnn.py@rel-1.0.0, lines 179-189: accepted to 7.1, from 7200 on a warning",
        "Theano/Theano:theano/gpuarray/dnn.py@rel-1.0.5",
    ),
    # Kepler and its time
    Question(
        'cuda==7.5 --gpu "GT 640M" --driver 352.63',
        YES,
        ("CUDA 7.5 supports sm_30", "the oldest is 352.31"),
        f"{NOTES}: 7.5 from 352.31 on; {MATRIX}: Kepler 3.0 to 10.2",
        "release-notes",
    ),
    Question(
        'cuda==11.0 --gpu "GT 640M"',
        NO,
        ("no longer supports sm_30", "What does fit: CUDA 10.2"),
        f"{MATRIX}: Kepler 3.0 ends with 10.2",
    ),
    Question(
        'cuda==10.2 --gpu "GT 640"',
        UNKNOWN,
        ("it depends on the chip", "(sm_21)", "(sm_30)", "(sm_35)"),
        f"pci.ids: the name is on GF108, GK107 and GK208; {MATRIX}: Fermi ends with 8.0, Kepler 3.0 with 10.2",
    ),
    Question(
        'torch==1.2.0 --gpu "GT 640M"',
        NO,
        ("has no code for sm_30",),
        "pytorch/builder:manywheel/build.sh@08b8b238: the arch list starts at 3.5",
        "pytorch/builder",
    ),
    Question(
        'torch==2.3.1 --gpu "Tesla K80" --driver 470.256.02',
        YES,
        ("torch 2.3.1 (cu118): yes", "has code for sm_37"),
        f"{RELEASE_MD}: cu118 with 3.7 and cuDNN 8.7.0.84; {SUPPORT}: 8.7 is the last with Kepler",
        "RELEASE.md",
    ),
    Question(
        'torch==2.6.0 --gpu "Tesla K80"',
        NO,
        ("contains cuDNN 9.1.0 for CUDA 11, which has no code for sm_37",),
        f"{RELEASE_MD}: cu118 has code for 3.7, its cuDNN is 9.1.0.70; {SUPPORT}: 9.x starts at 5.0",
    ),
    Question(
        'cudnn==8.8.0 cuda==11.8 --gpu "Tesla K80"',
        NO,
        ("has no code for sm_37",),
        f"{SUPPORT}: 8.8.0 starts at sm_50",
    ),
    Question(
        'cudnn==8.7.0 cuda==11.8 --gpu "Tesla K80"',
        YES,
        ("cuDNN 8.7.0 for CUDA 11: yes",),
        f"{SUPPORT}: 8.7.0.84 has sm_35",
    ),
    # Pascal
    Question(
        'torch==2.9.1 --gpu "GTX 1080 Ti" --driver 580.95.05',
        YES,
        ("torch 2.9.1 (cu126): yes", "torch 2.9.1 (cu128), torch 2.9.1 (cu129), torch 2.9.1 (cu130): no"),
        f"{RELEASE_MD}: cu126 has 6.0, whose code runs on 6.1; cu128 starts at 7.0, cu130 at 7.5",
        "RELEASE.md",
    ),
    Question(
        'torch==2.9.1 --gpu "GTX 1080 Ti" --driver 595.71.05',
        NO,
        ("branch 580 is its last",),
        f"{MATRIX}: R580 is the last branch for Pascal",
        "cuda-toolkit-driver-and-architecture-matrix",
    ),
    Question(
        'torch==2.15.0 --gpu "GTX 1080 Ti"',
        NO,
        ("has no code for sm_61",),
        "arch string in libtorch_python.so of torch-2.15.0-cp315-cp315-manylinux_2_28_x86_64.whl: from sm_75 on",
        "torch-2.15.0-cp315-cp315-manylinux_2_28_x86_64.whl",
    ),
    Question(
        'cuda==13.0 --gpu "GTX 1080 Ti"',
        NO,
        ("no longer supports sm_61", "CUDA 12.9"),
        f"{MATRIX}: Pascal ends with 12.9",
    ),
    Question(
        'cudnn==9.11.0 --gpu "GTX 1080 Ti"',
        NO,
        ("has no code for sm_61, only from sm_75", "What does fit: cuDNN 9.10.2 for CUDA 12"),
        f"{SUPPORT}: 9.11 has no cubin below sm_75, 9.10.2 has sm_50 to sm_70",
    ),
    Question(
        'tensorflow==2.19.0 --gpu "GTX 1080 Ti"',
        YES,
        ("has code for sm_61",),
        "build_info.py of tensorflow 2.19.0: sm_60, sm_70, sm_80, sm_89, compute_90",
    ),
    Question(
        'tensorflow==2.19.0 --gpu "GTX 970"',
        NO,
        ("has no code for sm_52",),
        "build_info.py of tensorflow 2.19.0: sm_60, sm_70, sm_80, sm_89, compute_90",
    ),
    # Drivers: the floor is not the driver of the toolkit
    Question(
        'torch==2.9.1 --gpu "RTX 4090" --driver 550.54.14',
        YES,
        ("torch 2.9.1 (cu128): yes", "the oldest is 525.60.13"),
        f"{NOTES}: every CUDA 12 starts on 525.60.13; {RELEASE_MD}: cu128 has 8.6, whose code runs on 8.9",
        MINOR,
    ),
    Question(
        'torch==2.9.1 --gpu "RTX 4090" --driver 470.256.02',
        NO,
        ("needs driver 525.60.13 or newer",),
        f"{NOTES}: CUDA 12 from 525.60.13 on",
        MINOR,
    ),
    Question(
        "cuda==13.2 --driver 580.65.06",
        YES,
        ("driver 580.65.06 supports CUDA 13.2",),
        f"{NOTES}: every CUDA 13 starts on 580; 595.45.04 is only the driver that 13.2 was released with",
        MINOR,
    ),
    Question(
        'tensorflow==2.15.0 --gpu "RTX 4090" --driver 525.60.13',
        YES,
        ("has code for sm_89", "driver 525.60.13 supports CUDA 12.2"),
        "libtensorflow_cc.so.2 of tensorflow 2.15.0: machine code for 8.0, which 8.9 runs; CUDA 12 starts on 525.60.13",
    ),
    Question(
        'tensorflow==2.15.0 --gpu "RTX 4090" --driver 535.183.01',
        YES,
        ("has code for sm_89",),
        "the same; R535 is the branch of CUDA 12.2",
    ),
    # Blackwell
    Question(
        'torch==2.6.0 --gpu "RTX 5090" --driver 570.86',
        NO,
        ("has no code for sm_120", "What does fit: torch 2.7.0 (cu128)"),
        f"{RELEASE_MD}: 2.6.0 ends at 9.0 in every build; 2.7.0 cu128 is the first with 12.0",
        "RELEASE.md",
    ),
    Question(
        'torch==2.7.0 --gpu "RTX 5090" --driver 570.86.10',
        YES,
        ("torch 2.7.0 (cu128): yes",),
        f"{RELEASE_MD}: 2.7.0 cu128 has 12.0",
        "RELEASE.md",
    ),
    Question(
        'cuda==12.4 --gpu "RTX 5090"',
        NO,
        ("12.8 is the first that does",),
        f"{MATRIX}: Blackwell starts with 12.8",
    ),
    Question(
        "torch==2.15.0 --gpu B200 --driver 580.95.05 --python 3.13",
        YES,
        ("torch 2.15.0 (cu132): yes", "has code for sm_100"),
        "torch-2.15.0-cp315-cp315-manylinux_2_28_x86_64.whl: sm_75 to sm_120; file names of the release: 3.11 to 3.15t",
        "torch-2.15.0-cp315-cp315-manylinux_2_28_x86_64.whl",
    ),
    Question(
        "torch==2.15.0 --gpu B200 --driver 575.57.08",
        NO,
        ("CUDA 13.2 needs driver 580 or newer",),
        f"{NOTES}: CUDA 13 from 580 on",
        MINOR,
    ),
    Question(
        'torch==2.9.1 --gpu "RTX 5090" --gpu "GTX 1080 Ti"',
        NO,
        ("has no code for",),
        f"{RELEASE_MD}: no build of 2.9.1 has both 6.x and 12.0",
        "RELEASE.md",
    ),
    # Windows, Python, the C library
    Question(
        'tensorflow==2.10.1 --os windows --gpu "RTX 3080"',
        YES,
        ("has code for sm_86",),
        "source_windows.md: 2.10 is tested with CUDA 11.2; the library of the Windows wheel has machine code for 8.0",
        "source_windows.md",
    ),
    Question(
        'tensorflow==2.15.0 --os windows --gpu "RTX 3080"',
        NO,
        ("TensorFlow 2.10 was the last with GPU code for native Windows",),
        "https://www.tensorflow.org/install/pip: nothing above 2.10 uses the GPU on native Windows",
        "tensorflow.org/install/pip",
    ),
    Question(
        'jax==0.7.0 --os windows --gpu "RTX 4090"',
        NO,
        ("windows",),
        "jax-ml/jax:docs/installation.md: no wheels for NVIDIA GPUs on Windows",
    ),
    Question(
        'jax==0.11.0 --gpu "RTX 4090" --python 3.11',
        NO,
        ("no wheel for Python 3.11",),
        "jax-ml/jax:CHANGELOG.md: jaxlib 0.11.0 drops Python 3.11",
        "jax-ml/jax:CHANGELOG.md",
    ),
    Question(
        "torch==2.9.1 --gpu 8.9 --glibc 2.17",
        NO,
        ("needs glibc 2.28 or newer",),
        "torch-2.9.1-cp314-cp314-manylinux_2_28_x86_64.whl, PEP 600",
        "manylinux_2_28",
    ),
    # cuDNN and CUDA of the system
    Question(
        "tensorflow-gpu==1.15.0 cuda==10.1 cudnn==7.6.5",
        NO,
        ("needs CUDA ==10.0; 10.1 is installed",),
        "build_info.py of tensorflow_gpu-1.15.0-cp37-cp37m-win_amd64.whl: CUDA 10.0, cudart64_100.dll",
    ),
    Question(
        "onnxruntime-gpu==1.20.1 cuda==12.6 cudnn==8.9.7",
        NO,
        ("needs cuDNN", "8.9.7 is installed"),
        "ONNX Runtime, CUDA Execution Provider: 1.20 with CUDA 12.x is built with cuDNN 9.x, which 8.x cannot replace",
        "onnxruntime.ai",
    ),
    Question(
        "cupy-cuda13x==14.1.1 --driver 575.57.08",
        NO,
        ("needs driver 580 or newer",),
        f"{NOTES}: CUDA 13 from 580 on",
        MINOR,
    ),
    Question(
        'jax[cuda12]==0.8.0 --gpu "GTX 750"',
        NO,
        ("supports cards from sm_52 on",),
        "jax-ml/jax:docs/installation.md@jax-v0.8.0: CUDA 12 from SM 5.2 on, CUDA 13 from 7.5 on",
        "jax-ml/jax:docs/installation.md@jax-v0.8.0",
    ),
    Question(
        'cupy-cuda12x==14.1.1 --gpu "GTX 750"',
        YES,
        ("is compiled for sm_50 at run time",),
        "cupy/cupy:docs/source/upgrade.rst: v14 from compute capability 5.0 on; CUDA 12 builds for it",
        "upgrade.rst",
    ),
    # What nobody knows
    Question("torch==99.0", UNKNOWN, ("no matrix row covers torch 99.0", "the nearest is 2.15.0"), "no such release"),
    Question('torch==2.9.1 --gpu "RTX 9090"', UNKNOWN, ("no matrix row covers the GPU 'RTX 9090'",), "no such card"),
)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.ask)
def test_a_users_question(question: Question, capsys: pytest.CaptureFixture[str]) -> None:
    sources = ["--sources"] if question.shown else []
    status = execute(["matrix", "can", *shlex.split(question.ask), *sources])
    shown = capsys.readouterr()
    answer = " ".join(shown.out.split())
    assert shown.err == ""
    assert status == question.status, answer
    for words in question.says:
        assert words in answer
    assert question.shown in answer


@pytest.fixture
def one_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """One for all questions: the tables are read once."""
    monkeypatch.setattr(Matrix, "of_user", lambda: MATRIX_OF_ALL)


MATRIX_OF_ALL = Matrix()


@pytest.mark.no_cover  # other tests run the same lines
@pytest.mark.usefixtures("one_matrix")
def test_questions_as_people_ask_them(capsys: pytest.CaptureFixture[str]) -> None:
    """None is answered wrongly, and at most one in twenty with "unknown"."""
    given = {one: execute(["matrix", "can", *shlex.split(one.ask)]) for one in FORUM_QUESTIONS}
    capsys.readouterr()
    assert {one.ask: status for one, status in given.items() if status not in {one.right, UNKNOWN}} == {}
    unknown = [one.ask for one, status in given.items() if status == UNKNOWN]
    assert len(unknown) <= 0.05 * (len(FORUM_QUESTIONS) + len(QUESTIONS)), unknown


def test_an_answer_names_its_sources() -> None:
    assert len(QUESTIONS) + len(FORUM_QUESTIONS) >= 150
    asked = [*(one.ask for one in QUESTIONS), *(one.ask for one in FORUM_QUESTIONS)]
    assert len(set(asked)) == len(asked)
    assert all([*(one.source for one in QUESTIONS), *(one.source for one in FORUM_QUESTIONS)])
