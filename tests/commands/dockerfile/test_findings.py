"""What is wrong in a Dockerfile is found in its line, in the JSON too, and is gone once the advice is followed."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.matrix import Matrix
from compat.newest import Where, newest
from compat.spec import parse_spec
from doctor.commands.check.document import CheckDocument
from doctor.host import BadRequest
from doctor.model.encode import encode_report
from doctor.model.facts.seen import value_or
from doctor.model.finding import Status
from doctor.output.document import TextStyle
from doctor.output.formats.sarif import FORMAT as SARIF
from doctor.planned.assumed import with_assumed
from tests.commands.dockerfile.judged import facts, found, report
from tests.rules.case import answer

DEVEL = "nvidia/cuda:12.8.1-devel-ubuntu24.04"
RUNTIME = "FROM nvidia/cuda:12.8.1-runtime-ubuntu24.04\n"
PLAIN = "FROM python:3.12-slim\n"
ALPINE = "FROM python:3.12-alpine3.20\n"
TORCH = "RUN pip install --no-cache-dir torch\n"
ORT = "RUN pip install --no-cache-dir onnxruntime-gpu==1.20.1\n"
RUNFILE = "cuda_12.4.1_550.54.15_linux.run"
CUDNN = "FROM nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04\n"
NVRTC = "nvidia-cuda-nvrtc-cu12==12.8.93 nvidia-cuda-runtime-cu12==12.8.90"
CUPY = "RUN pip install --no-cache-dir cupy-cuda12x==13.6.0"
# code, Dockerfile, its line, and what it is once the advice is followed
BROKEN = [
    ("dockerfile-nvcc-missing", f"{RUNTIME}RUN nvcc a.cu\n", 2, f"FROM {DEVEL}\nRUN nvcc a.cu\n"),
    ("dockerfile-nvcc-missing", f"{PLAIN}RUN cmake -DUSE_CUDA=1 .\n", 2, f"FROM {DEVEL}\nRUN cmake -DUSE_CUDA=1 .\n"),
    ("dockerfile-nvcc-missing", f"{PLAIN}RUN CMAKE_ARGS='-DGGML_CUDA=on' pip install --no-cache-dir x\n", 2, PLAIN),
    ("dockerfile-nvcc-missing", f"FROM {DEVEL} AS a\nRUN nvcc x\n{RUNTIME}COPY --from=a /x /x\nRUN <<E\nnvcc y\nE\n", 6,
     PLAIN),
    ("dockerfile-two-toolkits", f"FROM {DEVEL}\nRUN apt-get install -y cuda-toolkit-11-8\n", 2, f"FROM {DEVEL}\n"),
    ("dockerfile-two-toolkits", f"FROM {DEVEL}\nRUN yum install -y \\\n  nvidia-cuda-toolkit\n", 3, f"FROM {DEVEL}\n"),
    ("dockerfile-two-toolkits", f"FROM {DEVEL}\nRUN sh cuda_11.8.0_520.61.05_linux.run --silent --toolkit\n", 2, PLAIN),
    ("dockerfile-library-path", f"{PLAIN}RUN export LD_LIBRARY_PATH=/x\n", 2, f"{PLAIN}ENV LD_LIBRARY_PATH=/x\n"),
    ("dockerfile-library-path", f"{PLAIN}ENV A=1 \\\n LD_LIBRARY_PATH='/x:$LD_LIBRARY_PATH'\n", 3, PLAIN),
    ("dockerfile-library-path", f"{PLAIN}ENV LD_LIBRARY_PATH ~/lib\n", 2, f"{PLAIN}ENV LD_LIBRARY_PATH /root/lib\n"),
    ("dockerfile-glibc-missing", f"{ALPINE}{TORCH}", 2, f"{PLAIN}{TORCH}"),
    ("dockerfile-glibc-missing", f"FROM alpine\nRUN apk add py3-pip\n{TORCH}", 3, f"FROM debian\n{TORCH}"),
    ("dockerfile-glibc-missing", "FROM node:alpine AS a\nFROM a\nRUN uv pip install jax[cuda12]==0.7.2\n", 3, PLAIN),
    ("dockerfile-glibc-missing", f"{ALPINE}{TORCH}{PLAIN}COPY --from=0 /x /x\n", 2, PLAIN),
    ("stub-libcuda-on-path", f"FROM {DEVEL}\nENV LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs\n", 2, f"FROM {DEVEL}\n"),
    ("container-image-bakes-driver-libs", "FROM ubuntu:22.04\nRUN apt-get install -y nvidia-utils-550\n", 2, PLAIN),
    ("container-image-bakes-driver-libs", "FROM ubuntu:22.04\nRUN apt install -y cuda-12-8\n", 2,
     "FROM ubuntu:22.04\nRUN apt install -y cuda-toolkit-12-8\n"),
    ("container-image-bakes-driver-libs", f"{PLAIN}COPY lib/libcuda.so.1 /usr/lib/\n", 2, PLAIN),
    ("container-image-bakes-driver-libs", f"{PLAIN}RUN ./NVIDIA-Linux-x86_64-550.54.14.run -s\n", 2, PLAIN),
    *(
        ("container-image-bakes-driver-libs", f"{PLAIN}RUN sh {RUNFILE} --silent{options}\n", 2,
         f"{PLAIN}RUN sh {RUNFILE} --silent {only}\n")
        for options in ("", " --driver", " --toolkit --driver", " --driver --toolkit", " --samples")
        for only in ("--toolkit", "--toolkit --toolkitpath=/opt/cuda", "--toolkitpath=/opt/cuda")
    ),
    ("dockerfile-libraries-missing", f"{RUNTIME}{ORT}", 2, f"{CUDNN}{ORT}"),
    ("dockerfile-libraries-missing", f"{PLAIN}{ORT}", 2, f"{CUDNN}{ORT}"),
    ("dockerfile-libraries-missing", f"{CUDNN.replace('-cudnn-runtime', '-base')}{ORT}", 2, f"{CUDNN}{ORT}"),
    ("dockerfile-libraries-missing", f"FROM nvidia/cuda:12.3.2-cudnn8-runtime-ubuntu22.04\n{ORT}", 2, f"{CUDNN}{ORT}"),
    ("dockerfile-libraries-missing", f"FROM nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu22.04\n{ORT}", 1, f"{CUDNN}{ORT}"),
    ("dockerfile-libraries-missing", f"{PLAIN}{CUPY} {NVRTC}\n", 2, f"{RUNTIME}{CUPY}\n"),
    ("dockerfile-libraries-missing", f"{RUNTIME}RUN pip install tensorflow==2.12.0\n", 2, f"{RUNTIME}"),
    ("container-gpus-hidden", f"FROM {DEVEL}\nENV NVIDIA_VISIBLE_DEVICES=void\n", 2, f"FROM {DEVEL}\n"),
    ("container-without-compute", f"FROM {DEVEL}\n\nENV NVIDIA_DRIVER_CAPABILITIES video\n", 3, f"FROM {DEVEL}\n"),
    ("framework-not-published",
     f"{PLAIN}RUN pip install --no-cache-dir torch==2.7.1 --index-url https://download.pytorch.org/whl/cu124\n", 2,
     f"{PLAIN}RUN pip install --no-cache-dir torch==2.7.1 --index-url https://download.pytorch.org/whl/cu126\n"),
    ("python-version-no-wheel", f"{PLAIN}RUN pip install --no-cache-dir torch==1.13.1\n", 2,
     "FROM python:3.11\nRUN pip install --no-cache-dir torch==1.13.1\n"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "driver", "gpus", "kind"),
    [
        (RUNTIME, "550.54.14", ("RTX 4090",), Status.BAD),
        (RUNTIME, "570.86.15", ("RTX 4090",), Status.OK),
        (RUNTIME, "550.54.14", ("H100 PCIe",), Status.UNKNOWN),  # its branches of the driver are in no row
        (RUNTIME, "550.54.14", (), Status.UNKNOWN),
        (RUNTIME, "", (), Status.NOT_APPLICABLE),
        (f"{RUNTIME}ENV NVIDIA_DISABLE_REQUIRE=true\n", "550.54.14", ("RTX 4090",), Status.OK),
        (f"{RUNTIME}ENV NVIDIA_REQUIRE_CUDA=cuda>=12.4\n", "550.54.14", ("RTX 4090",), Status.OK),
        (f"{RUNTIME}ENV NVIDIA_REQUIRE_CUDA=\n", "550.54.14", ("H100 PCIe",), Status.BAD),  # CUDA_VERSION of its base
        (f"{RUNTIME}ARG A\nENV NVIDIA_REQUIRE_CUDA=cuda>=$A\n", "550.54.14", ("RTX 4090",), Status.NOT_APPLICABLE),
        (
            "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\n",
            "535.183.01",
            ("RTX 4090",),
            Status.UNKNOWN,
        ),  # has GeForce in it
        ("FROM pytorch/pytorch:2.9.1-cuda12.8-cudnn9-devel\n", "550.54.14", ("RTX 4090",), Status.BAD),
        ("FROM pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime\n", "550.54.14", ("RTX 4090",), Status.NOT_APPLICABLE),
        (f"{PLAIN}ENV CUDA_VERSION=cu121\n", "", (), Status.BAD),
        (f"{PLAIN}ENV CUDA_VERSION=12.1.1\n", "470.57.02", (), Status.BAD),
        ("FROM me/mine\nENV CUDA_VERSION=cu121\n", "", (), Status.NOT_APPLICABLE),  # which may require something itself
    ],
)
def test_what_a_base_image_requires(
    text: str, driver: str, gpus: tuple[str, ...], kind: Status, tmp_path: Path
) -> None:
    said = facts(tmp_path, text)
    said = with_assumed(said, Matrix(), driver, gpus) if driver or gpus else said
    assert answer("container-requirement-unmet", said).kind is kind


@pytest.mark.parametrize(("code", "text", "line", "mended"), BROKEN)
def test_the_line_is_named(code: str, text: str, line: int, mended: str, tmp_path: Path) -> None:
    said = encode_report(report(tmp_path, text, only=(code,)))
    one = next(one for one in said["findings"] if one["code"] == code)
    assert any(f"Dockerfile:{line}" in link["source"] for link in one["evidence"]), one["evidence"]
    assert one["remedies"]
    assert code not in found(report(tmp_path, mended, only=(code,)))


OPEN = [
    ("dockerfile-libraries-missing", f"FROM me/mine\n{ORT}"),
    ("dockerfile-libraries-missing", f"{RUNTIME}RUN apt-get install -y libcudnn9-cuda-12\n{ORT}"),
    ("dockerfile-libraries-missing", f"{PLAIN}COPY --from=me/mine /x /y\n{ORT}"),
    ("dockerfile-libraries-missing", f"{PLAIN}COPY lib /usr/local/lib\n{ORT}"),
    ("dockerfile-libraries-missing", f"{PLAIN}RUN ./setup.sh\n{ORT}"),
    ("dockerfile-libraries-missing", f"{PLAIN}RUN pip install torch\n{ORT}"),
    ("dockerfile-libraries-missing", f"{PLAIN}RUN pip install 'onnxruntime-gpu[cuda,cudnn]==1.20.1'\n"),
    ("dockerfile-libraries-missing", f"{PLAIN}{CUPY.replace('13.6', '14.0')} {NVRTC}\n"),
    ("dockerfile-libraries-missing", f"{PLAIN}ENV LD_LIBRARY_PATH=/x\n{CUPY} {NVRTC}\n"),
    ("dockerfile-libraries-missing", f"{PLAIN}RUN pip install onnxruntime-gpu==1.22.0 {NVRTC}\n"),
    ("dockerfile-glibc-missing", f"{ALPINE}RUN sh miniconda.sh\n{TORCH}"),
    ("dockerfile-nvcc-missing", "ARG BASE\nFROM $BASE\nRUN nvcc a.cu\n"),
    ("dockerfile-nvcc-missing", f"{RUNTIME}RUN ./setup.sh\nRUN nvcc a.cu\n"),
    ("dockerfile-two-toolkits", f"FROM {DEVEL}\nRUN apt-get install -y cuda-toolkit\n"),
    ("container-image-bakes-driver-libs", "FROM ubuntu\nARG PACKAGES\nRUN apt-get install -y $PACKAGES\n"),
    ("container-image-bakes-driver-libs", "FROM ubuntu\nARG V\nRUN apt-get install -y cuda-$V\n"),
    ("container-image-bakes-driver-libs", "FROM ubuntu\nARG V\nRUN apt-get install -y cuda-12-$V\n"),
    ("container-image-bakes-driver-libs", "FROM ubuntu\nARG V\nRUN apt-get install -y nvidia-driver-$V\n"),
    ("dockerfile-nvcc-missing", f"{RUNTIME}ARG V\nRUN apt-get install -y cuda-$V\nRUN nvcc a.cu\n"),
]
FINE = [
    ("dockerfile-libraries-missing", f"{CUDNN}COPY app.py /app/\n{ORT}"),
    ("dockerfile-libraries-missing", f"{RUNTIME}RUN pip install --no-cache-dir cupy-cuda12x==13.3.0\n"),
    (
        "dockerfile-libraries-missing",
        "FROM nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu22.04\nRUN pip install --no-cache-dir tensorflow==2.12.0\n",
    ),
    ("dockerfile-glibc-missing", f"{ALPINE}RUN pip install --no-cache-dir numba\n"),
    ("dockerfile-nvcc-missing", f"FROM {DEVEL}\nRUN nvcc a.cu\n"),
    ("dockerfile-two-toolkits", f"FROM {DEVEL}\nRUN apt-get install -y cuda-nvcc-12-8\n"),
    ("dockerfile-library-path", f"{PLAIN}ENV LD_LIBRARY_PATH=/x\n"),
    ("dockerfile-caches-left", PLAIN),
    ("container-image-bakes-driver-libs", "FROM ubuntu\nRUN apt-get install -y curl\n"),
    (
        "container-image-bakes-driver-libs",
        "FROM ubuntu\nARG V\nRUN apt-get install -y cuda-nvcc-$V libcublas-$V curl=$V\n",
    ),
    ("dockerfile-nvcc-missing", f"{RUNTIME}ARG V\nRUN apt-get install -y cuda-nvcc-$V\nRUN nvcc a.cu\n"),
]
SILENT = [
    f"{PLAIN}{TORCH}{ALPINE}COPY --from=0 /usr/local /x\n",
    f"FROM continuumio/miniconda3:4.10.3-alpine\n{TORCH}",
    f"FROM alpine\nRUN apk add py3-torch\n{TORCH}",
    f"{ALPINE}RUN conda install -y python=3.12 cudatoolkit=11.8\n{TORCH}",
    f"{ALPINE}RUN pip install numpy\n",
    f"{ALPINE}RUN pip install torch --find-links /wheels\n",
    f"{ALPINE}RUN pip install torch || true\n",
    f"{ALPINE}RUN pip install 'torch; platform_machine == \"aarch64\"'\n",
]
BAD = [
    ("dockerfile-nvcc-missing", f"{RUNTIME}RUN nvcc a.cu\n"),
    ("dockerfile-two-toolkits", f"FROM {DEVEL}\nRUN apt-get install -y cuda-toolkit-11-8\n"),
    ("dockerfile-library-path", f"{PLAIN}RUN export LD_LIBRARY_PATH=/x\n"),
    ("dockerfile-caches-left", f"{PLAIN}RUN pip install torch\n"),
]


@pytest.mark.parametrize(
    ("code", "text", "kind"),
    [(*one, kind) for kind, cases in ((Status.UNKNOWN, OPEN), (Status.OK, FINE), (Status.BAD, BAD)) for one in cases],
)
def test_answers(code: str, text: str, kind: Status, tmp_path: Path) -> None:
    assert answer(code, facts(tmp_path, text)).kind is kind


def test_the_image_of_a_row_is_named(tmp_path: Path) -> None:
    one = next(
        one for one in report(tmp_path, f"{RUNTIME}RUN nvcc a.cu\n").findings if one.code.endswith("nvcc-missing")
    )
    assert one.remedies[0].summary.startswith("instead of Dockerfile:1")
    assert one.remedies[0].summary.endswith(": FROM nvidia/cuda:12.8.1-cudnn-devel-ubuntu24.04")
    other = report(tmp_path, "FROM nvidia/cuda:10.2-base-ubuntu18.04\nRUN nvcc a.cu\n").findings[0]
    assert "nvidia/cuda:" not in other.remedies[0].summary  # no row, no tag


def test_a_stub_goes_out_of_its_own_line(tmp_path: Path) -> None:
    text = f"FROM {DEVEL}\nENV LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs:/x:$LD_LIBRARY_PATH\n"
    one = next(one for one in report(tmp_path, text).findings if one.code == "stub-libcuda-on-path")
    assert one.remedies[0].proven
    assert 'ENV LD_LIBRARY_PATH="/x:${LD_LIBRARY_PATH}"' in one.remedies[0].commands
    mended = text.replace(text.splitlines()[1], one.remedies[0].commands[-1])
    assert "stub-libcuda-on-path" not in found(report(tmp_path, mended))


def test_where_it_shall_run(tmp_path: Path) -> None:
    text = f"{PLAIN}RUN pip install --no-cache-dir torch==2.1.0 --index-url https://download.pytorch.org/whl/cu118\n"
    old = report(tmp_path, text.replace("3.12", "3.11"), assume_driver="440.33", assume_gpus=("RTX 5090",))
    assert {"driver-too-old-for-runtime", "gpu-too-new-for-cuda"} & {*found(old)}
    fitting = report(tmp_path, text.replace("3.12", "3.11"), assume_driver="550.54.14", assume_gpus=("RTX 4090",))
    assert found(fitting) == []


def test_a_stage_by_name_or_number(tmp_path: Path) -> None:
    text = "FROM ubuntu AS Full\nRUN apt-get install -y nvidia-driver-550\nFROM python:3.12\nRUN true\n"
    for target, wrong in (("full", True), ("0", True), ("1", False), ("", False)):
        assert ("container-image-bakes-driver-libs" in found(report(tmp_path, text, target=target))) is wrong


def test_what_a_stage_brings_to_another(tmp_path: Path) -> None:
    build = "FROM python:3.12 AS b\nRUN python -m venv /opt/v2 && /opt/v2/bin/pip install --no-cache-dir torch==2.9.1\n"
    whole = ("/opt/v2", "/opt/v2/", "/opt", "/opt/")
    for path in (*whole, "/opt/v", "/opt/v22", "/op", "/etc", "/opt/v2/bin"):
        seen = facts(tmp_path, f"{build}FROM ubuntu\nCOPY --from=b {path} /x\n").environments.get()
        assert sum(len(one.frameworks.get()) for one in seen) == (path in whole), path


WHL = "https://download.pytorch.org/whl"


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("ARG V=2.9.1\nRUN pip install torch==${V}", "2.9.1+cu128"),
        ("RUN V=2.9.1; pip install torch==$V --extra-index-url=https://download.pytorch.org/whl/cu126", "2.9.1+cu126"),
        ('ENV V=2.9.1\nRUN ["python3", "-m", "pip", "install", "torch==2.9.1+cpu"]', "2.9.1+cpu"),
        ("RUN pip install torch==2.8.0 && pip install 'torch==2.9.1'", "2.9.1+cu128"),
        ("ARG V\nRUN pip install torch==$V", ""),
        ("RUN pip install torch==2.9.1 && pip install torch", "2.9.1+cu128"),
        ("RUN pip install torch==2.9.1 -i https://mirror.example/simple", ""),
        (f"RUN pip install torch==2.9.1 -i {WHL}/cu126 --extra-index-url {WHL}/cu128", ""),  # it may be either
        (f"RUN pip install torch==2.9.1 -i {WHL}/cu128 --extra-index-url {WHL}/cu126/", ""),
        (f"RUN pip install torch==2.9.1 -i {WHL}/cu126 --extra-index-url {WHL}/cu126/", "2.9.1+cu126"),
        (f"ARG A\nRUN pip install torch==2.9.1 -i {WHL}/cu126 --extra-index-url {WHL}/$A", ""),
    ],
)
def test_pins(line: str, version: str, tmp_path: Path) -> None:
    seen = facts(tmp_path, f"FROM python:3.12\n{line}\n").environments.get()
    assert [one.version for each in seen for one in each.frameworks.get()] == ([version] if version else [])


X86, ARM = "linux/amd64", "linux/arm64"


@pytest.mark.parametrize(
    ("platform", "python", "line", "version"),
    [  # what `uv pip compile` says on the day of the rows
        (X86, "3.12", "pip install torch<2.11", "2.10.0+cu128"),
        (X86, "3.12", "pip install torch~=2.8.0", "2.8.0+cu128"),
        (X86, "3.12", "pip install torch==2.8.*", "2.8.0+cu128"),
        (X86, "3.8", "pip install torch", "2.4.1+cu121"),
        (ARM, "3.12", "pip install torch<2.11", "2.10.0+cpu"),
        (ARM, "3.12", "pip install torch<2.12", "2.11.0+cu130"),
        (X86, "3.12", f"pip install torch -i {WHL}/cu124", "2.6.0+cu124"),
        (X86, "3.12", f"pip install torch -i {WHL}/cu118", "2.7.1+cu118"),
        (X86, "3.12", f"pip install torch<2.9 --extra-index-url {WHL}/cu121", "2.8.0+cu128"),  # pip: the newest of both
        (X86, "3.12", f"uv pip install torch<2.9 --extra-index-url {WHL}/cu121", "2.5.1+cu121"),  # uv: the first one
        (X86, "3.12", f"uv pip install torch<2.9 --index {WHL}/cu126", "2.8.0+cu126"),
        (X86, "3.12", "uv pip install torch<2.9 --torch-backend=cu126", "2.8.0+cu126"),
        (X86, "3.12", "uv add torch<2.9", "2.8.0+cu128"),
        (X86, "3.12", "poetry add torch<2.9", "2.8.0+cu128"),
        (X86, "3.12", "pipenv install torch<2.9", "2.8.0+cu128"),
        (X86, "3.11", "pip install torch torchvision==0.15.2", "2.0.1+cu117"),
        (X86, "3.11", "pip install torch torchaudio==2.1.2", "2.1.2+cu121"),
        (X86, "3.12", "pip install torch==2.6.0 && pip install torch>=2", "2.6.0+cu124"),  # already satisfied
        (X86, "3.12", "pip install torch==2.6.0 && pip install torch>=2.7,<2.9", "2.8.0+cu128"),
        (X86, "3.12", "pip install torch==2.6.0 && pip install -U torch<2.9", "2.8.0+cu128"),
        (X86, "3.12", "pip install whisperx==3.8.6", "2.8.0+cu128"),
        (X86, "3.12", "pip install 'torch[opt-einsum]<2.9'", "2.8.0+cu128"),
    ],
)
def test_what_names_no_release_is_the_newest(
    platform: str, python: str, line: str, version: str, tmp_path: Path
) -> None:
    quoted = " ".join(
        f"'{word}'" if "torch" in word and "'" not in word and "://" not in word else word for word in line.split(" ")
    )
    seen = facts(tmp_path, f"FROM python:{python}\nRUN {quoted}\n", platform=platform).environments.get()
    assert [one.version for each in seen for one in each.frameworks.get() if one.package == "torch"] == [version]


@pytest.mark.parametrize(
    ("system", "packages", "python"),
    [
        ("nvidia/cuda:12.4.1-base-ubuntu22.04", "python3-pip", "3.10"),
        ("nvidia/cuda:12.4.1-base-ubuntu24.04", "python3-pip", "3.12"),
        ("ubuntu:22.04", "python3.12 python3.12-venv", "3.12"),
        ("ubuntu:22.04", "python3.12 python3-pip", ""),  # whose pip it is, no line tells
        ("pytorch/pytorch:2.2.0-cuda12.1-cudnn8-runtime", "git", ""),
    ],
)
def test_the_system_decides_the_python(system: str, packages: str, python: str, tmp_path: Path) -> None:
    text = f"FROM {system}\nRUN apt-get install -y {packages}\nRUN pip install -U torch\n"
    [one] = facts(tmp_path, text).environments.get()
    [torch] = one.frameworks.get()
    taken = newest(parse_spec("torch"), ("",), Where("linux", "x86_64", python), Matrix())
    assert taken is not None
    assert (value_or(one.python, ""), torch.version) == (python, f"{taken.version}+{taken.build}")
    assert torch.asked_as == "torch"


FITS = [
    ("numpy-abi-mismatch", "torch==2.0.1 numpy==2.1.0", "torch==2.0.1 numpy==1.26.4"),
    ("companion-version-mismatch", "torch==2.9.1 torchvision==0.15.0", "torch==2.9.1 torchvision==0.24.1"),
    ("companion-version-mismatch", "torch==2.9.1 torchaudio==2.8.0", "torch==2.9.1 torchaudio==2.9.1"),
    ("two-onnxruntimes", "onnxruntime==1.22.0 onnxruntime-gpu==1.22.0", "onnxruntime-gpu==1.22.0"),
    ("two-onnxruntimes", "insightface==2.1 onnxruntime-gpu==1.22.0", "onnxruntime-gpu==1.22.0"),
    ("multiple-cupy", "cupy-cuda11x==13.3.0 cupy-cuda12x==13.3.0", "cupy-cuda12x==13.3.0"),
]


@pytest.mark.parametrize(("code", "faulty", "healthy"), FITS)
def test_what_does_not_fit_together_is_found_before_the_build(
    code: str, faulty: str, healthy: str, tmp_path: Path
) -> None:
    assert code in found(report(tmp_path, f"FROM python:3.11\nRUN pip install --no-cache-dir {faulty}\n"))
    assert code not in found(report(tmp_path, f"FROM python:3.11\nRUN pip install --no-cache-dir {healthy}\n"))


def test_sarif_points_at_the_line(tmp_path: Path) -> None:
    said = SARIF.render(
        CheckDocument(report(tmp_path, f"{RUNTIME}RUN nvcc a.cu\n", only=("dockerfile-nvcc-missing",))), TextStyle()
    )
    assert '"startLine": 2' in said


@pytest.mark.parametrize(
    ("given", "release", "built_for"),
    [
        ((), "12.8.1", "cu128"),
        (("CUDA=11.8.0",), "11.8.0", "cu128"),
        (("CUDA=11.8.0", "CU=cu118", "OTHER=x"), "11.8.0", "cu118"),
        (("CU=",), "12.8.1", ""),
    ],
)
def test_the_values_of_arg_lines(given: tuple[str, ...], release: str, built_for: str, tmp_path: Path) -> None:
    text = "ARG CUDA=12.8.1\nFROM nvidia/cuda:${CUDA}-runtime-ubuntu22.04\nARG CU=cu128\nENV BUILT=$CU OTHER=$OTHER\n"
    said = facts(tmp_path, text, build_args=given)
    assert said.dockerfile.get().base.release == release
    assert {one.name: one.value for one in said.configuration.variables.get()} == {
        "BUILT": built_for,
        "OTHER": "${OTHER}",  # which no ARG line names
    }


@pytest.mark.parametrize("given", ["=x", "9=x", "a b=x", "", "A=\0"])
def test_what_is_no_value_of_an_arg_line(given: str, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="that an ARG line has"):
        facts(tmp_path, "FROM ubuntu:22.04\n", build_args=(given,))


@pytest.mark.parametrize(
    ("line", "packages"),
    [
        ("jax==0.4.25 jaxlib==0.4.25+cuda11.cudnn86", ["jaxlib"]),
        ("jax==0.4.30", []),
        ("jax[cuda12]==0.4.30", ["jax-cuda12-plugin"]),
        ("onnxruntime==1.20.1", ["onnxruntime"]),
        ("onnxruntime-gpu==1.20.1", ["onnxruntime-gpu"]),
        ("mxnet==1.9.1 tensorflow==2.17.0", ["mxnet", "tensorflow"]),
    ],
)
def test_a_package_for_the_cpu_is_not_that_for_gpus(line: str, packages: list[str], tmp_path: Path) -> None:
    environments = facts(tmp_path, f"{PLAIN}RUN pip install {line}\n").environments.get()
    assert [one.package for each in environments for one in each.frameworks.get()] == packages


@pytest.mark.parametrize("text", SILENT)
def test_what_may_bring_glibc_is_not_blamed(text: str, tmp_path: Path) -> None:
    assert "dockerfile-glibc-missing" not in found(report(tmp_path, text))


REFUSED = [
    ('ENV LD_LIBRARY_PATH="/opt/lib:/x\n', 2, 'ENV: a quote "'),
    ("ENV A=1 \\\n B='x\n", 2, "ENV: a quote '"),
    ("ENV A it's\n", 2, "ENV: a quote '"),
    ('ARG A="x\n', 2, 'ARG: a quote "'),
    ("COPY it's /x\n", 2, "COPY: a quote '"),
    ('RUN true\nFROM "debian\n', 3, 'FROM: a quote "'),
]


@pytest.mark.parametrize(("text", "line", "what"), REFUSED)
def test_a_quote_that_stays_open_ends_the_build(text: str, line: int, what: str, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=f"Dockerfile:{line}: {what} has no end"):
        report(tmp_path, f"{PLAIN}{text}")


def test_an_open_quote_where_nothing_is_built_is_none(tmp_path: Path) -> None:
    """BuildKit reads the words of a stage when it builds it; quotes within others, escaped or in a list are none."""
    text = f'{PLAIN}ENV A="x\n{PLAIN}ENV A="it\'s" B=\\" C=\'"\'\nCOPY ["it\'s", "/x"]\nRUN echo "\n'
    assert not found(report(tmp_path, text))


def pinned(folder: Path, lines: str) -> dict[str, str]:
    """Each framework by what its note says of the lines."""
    there = report(folder, lines).facts.environments.get()
    return {one.label: one.note for each in there for one in each.frameworks.get()}


TORCH = "RUN pip install --no-cache-dir torch==2.6.0"
CU118 = "--index-url https://download.pytorch.org/whl/cu118"


@pytest.mark.parametrize(
    ("lines", "label", "note"),
    [
        (f"RUN pip install torch==2.5.1\n{TORCH} {CU118}\n", "torch 2.6.0+cu118",
         "pinned in Dockerfile:3, in place of torch==2.5.1+cu124 of Dockerfile:2"),
        (f"{TORCH}\n{TORCH} {CU118}\n", "torch 2.6.0+cu124", "pinned in Dockerfile:2"),
        (f"{TORCH}\nRUN uv pip install --reinstall torch==2.6.0 {CU118}\n", "torch 2.6.0+cu118",
         "pinned in Dockerfile:3, in place of torch==2.6.0+cu124 of Dockerfile:2"),
        (f"{TORCH}\nRUN pip install torch==2.6.0+cu118 {CU118}\n", "torch 2.6.0+cu118",
         "pinned in Dockerfile:3, in place of torch==2.6.0+cu124 of Dockerfile:2"),
        (f"{TORCH}\n{TORCH}\n", "torch 2.6.0+cu124", "pinned in Dockerfile:2"),
    ],
    ids=["another release", "the same from another index", "anew", "with its build", "twice"],
)  # fmt: skip
def test_pins_that_contradict_each_other(lines: str, label: str, note: str, tmp_path: Path) -> None:
    """The later one is put in place of the other; of the same release pip and uv leave what is there."""
    assert pinned(tmp_path, f"FROM python:3.11-slim\n{lines}") == {label: note}


@pytest.mark.parametrize(
    ("lines", "code", "ends"),
    [
        ("FROM --platform=linux/amd64 nvidia/cuda:12.8.1-runtime-ubuntu24.04 AS Make\nRUN nvcc a.cu\n", "nvcc-missing",
         ": FROM --platform=linux/amd64 nvidia/cuda:12.8.1-cudnn-devel-ubuntu24.04 AS Make"),
        ("FROM python:3.12-alpine AS app\nRUN pip install torch==2.9.1\n", "glibc-missing",
         ": FROM python:3.12-slim AS app"),
        ("FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN pip install cupy-cuda12x==13.3.0\n", "libraries-missing",
         ": FROM nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04"),
        ("FROM nvidia/cuda:11.8.0-base-ubuntu22.04 AS app\nRUN pip install cupy-cuda12x==13.3.0\n", "libraries-missing",
         "-ubuntu22.04 AS app"),
    ],
    ids=["nvcc", "glibc", "libraries", "libraries of another CUDA"],
)  # fmt: skip
def test_the_line_that_mends_it(lines: str, code: str, ends: str, tmp_path: Path) -> None:
    """It can be pasted, and is silent then."""
    one = next(one for one in report(tmp_path, lines).findings if one.code.endswith(code))
    said = one.remedies[0].summary
    assert said.startswith("instead of Dockerfile:1, because ")
    assert said.endswith(ends)
    mended = lines.replace(lines.partition("\n")[0], said.rpartition(": FROM")[2].join(("FROM", "")))
    assert not [one for one in report(tmp_path, mended).findings if one.code.endswith(code)]
