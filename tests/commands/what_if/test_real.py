"""Install commands on environments with the METADATA of real wheels: breakages, and harmless upgrades.

Each line of metadata.jsonl is one wheel: its file name, name, version, Requires-Python and Requires-Dist. Extras are
left out, those of NVIDIA's wheels excepted.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from doctor.commands.check.command import host_for, report_of
from doctor.commands.what_if import command
from tests.commands.what_if.test_what_if import ADA, BLACKWELL, WHL, asked
from tests.lab.cases.frameworks import FAKE_ONNX, TF
from tests.lab.cases.libraries import JAX
from tests.lab.parts import Part, cuda_wheels, cudnn_wheel, offline_linux, package, site_of, together, torch, venv

ROWS = [json.loads(line) for line in Path(__file__).with_name("metadata.jsonl").read_text().splitlines()]
NEWER = ("RTX 4090", "580.65.06")


class Base(NamedTuple):
    """What an environment holds: code of the lab's, and the METADATA of these wheels, "torch==2.9.1"."""

    code: tuple[Part, ...]
    wheels: str


CU128 = (
    "nvidia-cudnn-cu12==9.10.2.21 nvidia-cublas-cu12==12.8.4.1 nvidia-cuda-runtime-cu12==12.8.90"
    " nvidia-cuda-nvrtc-cu12==12.8.93 nvidia-nccl-cu12==2.27.5 nvidia-cufft-cu12==11.3.3.83"
    " nvidia-cusparse-cu12==12.5.8.93 nvidia-cusolver-cu12==11.7.3.90 nvidia-curand-cu12==10.3.9.90"
    " nvidia-cusparselt-cu12==0.7.1 nvidia-nvjitlink-cu12==12.8.93 nvidia-cufile-cu12==1.13.1.3"
    " nvidia-nvtx-cu12==12.8.90 nvidia-nvshmem-cu12==3.3.20 nvidia-cuda-cupti-cu12==12.8.90"
)
CU125 = (
    "nvidia-cudnn-cu12==9.3.0.75 nvidia-cublas-cu12==12.5.3.2 nvidia-cuda-runtime-cu12==12.5.82"
    " nvidia-cuda-nvrtc-cu12==12.5.82 nvidia-nccl-cu12==2.23.4 nvidia-cufft-cu12==11.2.3.61"
    " nvidia-cusparse-cu12==12.5.1.3 nvidia-cusolver-cu12==11.6.3.83 nvidia-curand-cu12==10.3.6.82"
    " nvidia-nvjitlink-cu12==12.5.82 nvidia-cuda-cupti-cu12==12.5.82 nvidia-cuda-nvcc-cu12==12.5.82"
)
PLAIN = (
    " filelock==3.19.1 typing-extensions==4.15.0 setuptools==80.9.0 sympy==1.14.0 networkx==3.5 jinja2==3.1.6"
    " fsspec==2025.9.0 pillow==11.3.0 mpmath==1.3.0 markupsafe==3.0.3"
)
BASES = {
    "torch": Base(
        (torch("2.9.1+cu128"), cudnn_wheel("9.10.2.21"), cuda_wheels("12.8", nvcc=False)),
        "torch==2.9.1 torchvision==0.24.1 torchaudio==2.9.1 triton==3.5.1 xformers==0.0.33.post2 bitsandbytes==0.48.2"
        " numpy==2.2.6 transformers==4.57.1 accelerate==1.11.0 peft==0.17.1 diffusers==0.35.2 torchmetrics==1.8.2"
        f" {CU128}{PLAIN}",
    ),
    "vllm": Base(
        (torch("2.9.0+cu128"), cudnn_wheel("9.10.2.21"), cuda_wheels("12.8", nvcc=False)),
        "vllm==0.11.2 torch==2.9.0 torchvision==0.24.0 torchaudio==2.9.0 numba==0.61.2 llvmlite==0.44.0"
        " triton==3.5.0 xgrammar==0.1.25 flashinfer-python==0.5.2 compressed-tensors==0.12.2 numpy==2.2.6"
        f" transformers==4.57.1 {CU128}{PLAIN}",
    ),
    "old": Base(
        (torch("2.2.2+cu121", "8.9.2.26"), cudnn_wheel("8.9.2.26"), cuda_wheels("12.1", nvcc=False)),
        "torch==2.2.2 torchvision==0.17.2 torchaudio==2.2.2 numpy==1.26.4 numba==0.59.1 llvmlite==0.42.0 scipy==1.12.0"
        " triton==2.2.0 bitsandbytes==0.43.1 lightning==2.2.5 torchmetrics==1.4.0"
        " transformers==4.41.2 pandas==2.2.2 nvidia-cudnn-cu12==8.9.2.26"
        f"{PLAIN}",
    ),
    "tensorflow": Base(
        (package("tensorflow", "2.19.0", TF), cudnn_wheel("9.3.0.75"), cuda_wheels("12.5")),
        f"tensorflow==2.19.0 keras==3.10.0 numpy==2.1.3 ml-dtypes==0.5.1 protobuf==5.29.4 h5py==3.13.0 {CU125}",
    ),
    "jax": Base(
        (JAX, cuda_wheels("12.9")),
        "jax==0.7.2 jaxlib==0.7.2 jax-cuda12-plugin==0.7.2 jax-cuda12-pjrt==0.7.2 flax==0.12.0 optax==0.2.6"
        " ml-dtypes==0.5.3 scipy==1.16.2 numpy==2.3.3",
    ),
    "onnx": Base(
        (package("onnxruntime-gpu", "1.22.0", FAKE_ONNX), cudnn_wheel("9.10.2.21"), cuda_wheels("12.8")),
        f"onnxruntime-gpu==1.22.0 cupy-cuda12x==13.6.0 numpy==2.2.6 xgboost==3.0.5 ctranslate2==4.6.0 {CU128}",
    ),
    "numba": Base((), "numba==0.61.2 llvmlite==0.44.0 numpy==2.2.6 pandas==2.3.3"),
}
CASES: list[tuple[str, tuple[str, str], str, str]] = [
    # environment, GPU and driver, command, a code or a word of what breaks; "" for a harmless one
    ("torch", ADA, "pip install 'tensorflow[and-cuda]==2.19.0'", "pip-nvidia-wheels-conflict"),
    ("torch", ADA, "pip install nvidia-cudnn-cu12==9.14.0.64", "pip-nvidia-wheels-conflict"),
    ("torch", ADA, "pip install -U nvidia-cudnn-cu12", "pip-nvidia-wheels-conflict"),
    ("torch", NEWER, "pip install torchvision==0.25.0", "companion-version-mismatch"),
    ("torch", NEWER, "pip install triton==3.4.0", "triton"),
    ("torch", NEWER, "pip install nvidia-nccl-cu12==2.28.3", "nvidia-nccl-cu12"),
    ("torch", NEWER, "uv add torch==2.8.0", "companion-version-mismatch"),
    ("torch", ADA, f"uv pip install --reinstall torch==2.9.1 --index-url {WHL}/cu130", "driver-too-old-for-runtime"),
    ("torch", NEWER, "pip uninstall -y nvidia-cudnn-cu12", "cudnn"),
    ("torch", BLACKWELL, "apt-get install -y nvidia-driver-535", "driver"),
    ("torch", ADA, "sudo apt install nvidia-driver-470", "driver"),
    ("old", ADA, "conda install -y numpy=2.2.6", "numpy-abi-mismatch"),
    ("old", ADA, "pip install llvmlite==0.44.0", "numba"),
    ("old", ADA, "pip install -U bitsandbytes", "companion-version-mismatch"),
    ("old", ADA, "uv pip install --upgrade xformers", "companion-version-mismatch"),
    ("vllm", NEWER, "pip install torch==2.9.1", "vllm"),
    ("vllm", NEWER, "pip install numba==0.62.1", "numba"),
    ("vllm", NEWER, "pip install flashinfer-python==0.4.1", "flashinfer-python"),
    ("vllm", ADA, "uv pip install -U vllm", "driver-too-old-for-runtime"),
    ("tensorflow", ADA, "pip install numpy==2.3.3", "numpy"),
    ("tensorflow", ADA, "pip install protobuf==6.31.1", "protobuf"),
    ("tensorflow", ADA, "pip install keras==2.15.0", "keras"),
    ("tensorflow", ADA, "pip install ml-dtypes==0.4.1", "ml-dtypes"),
    ("torch", ADA, "pip install torchvision==0.23.0", "companion-version-mismatch"),
    ("jax", ADA, "pip install -U jax", "jax-plugin-version-mismatch"),
    ("jax", ADA, "pip install numpy==1.26.4", "numpy"),
    ("jax", ADA, "pip install nvidia-cudnn-cu12==9.1.0.70", "cudnn"),
    ("onnx", ADA, "pip install faster-whisper==1.2.0", "two-onnxruntimes"),
    ("onnx", ADA, "pip install cupy-cuda13x==13.6.0", "multiple-cupy"),
    ("onnx", ADA, "pip install onnxruntime-gpu==1.18.1", "numpy"),
    ("numba", ADA, "pip install numpy==2.3.3", "numba"),
    ("numba", NEWER, "pip install cupy-cuda12x==13.6.0", "framework-wants-other-cuda"),
    # harmless
    ("torch", ADA, "pip install torchvision==0.24.1 torchaudio==2.9.1", ""),
    ("torch", ADA, "pip install bitsandbytes==0.49.0", ""),
    ("torch", ADA, "pip install transformers==4.57.3", ""),
    ("torch", ADA, "pip install accelerate==1.12.0 peft==0.18.0", ""),
    ("torch", ADA, "pip install numpy==2.3.5", ""),
    ("torch", ADA, "pip install numpy==1.26.4", ""),
    ("torch", NEWER, "pip install onnxruntime-gpu==1.23.2", ""),
    ("torch", NEWER, "pip install vllm==0.11.2", ""),
    ("torch", NEWER, "pip install cupy-cuda12x==13.6.0", ""),
    ("torch", NEWER, "pip install xgboost==3.1.1 lightgbm==4.6.0", ""),
    ("torch", NEWER, "apt-get install -y nvidia-driver-550-server", ""),
    ("vllm", NEWER, "pip install vllm==0.11.2", ""),
    ("vllm", NEWER, "pip install transformers==4.57.3", ""),
    ("old", ADA, "conda install -y 'numpy<2'", ""),
    ("old", ADA, "pip install lightning==2.3.3", ""),
    ("tensorflow", ADA, "pip install keras==3.11.3", ""),
    ("tensorflow", ADA, "pip install numpy==2.0.2", ""),
    ("tensorflow", ADA, "pip install protobuf==5.29.5", ""),
    ("tensorflow", ADA, "pip install tensorflow==2.19.1", ""),
    ("jax", ADA, "pip install optax==0.2.5", ""),
    ("jax", ADA, "uv pip install flax==0.11.2", ""),
    ("jax", NEWER, "pip install -U 'jax[cuda12]'", ""),
    (
        "onnx",
        ADA,
        "pip install cupy-cuda12x==13.5.1",
        "wheel-libs-not-on-loader-path",
    ),  # CuPy before 14 does not look for them
    ("numba", ADA, "pip install numpy==2.1.3", ""),
    ("numba", ADA, "pip install numba==0.62.1", ""),
]


def with_metadata(wheels: str) -> Part:
    """The dist-info directories of wheels; one that the lab made for its code gets the real name and METADATA."""
    wanted = {tuple(one.split("==")) for one in wheels.split()}
    rows = [row for row in ROWS if (row["name"], row["version"]) in wanted]
    assert len(rows) == len(wanted), wanted - {(row["name"], row["version"]) for row in rows}

    def lay(root: Path) -> None:
        site = root / site_of().lstrip("/")
        for row in rows:
            stem = row["name"].replace("-", "_")
            made = next(iter([*site.glob(f"{stem}-*.dist-info"), *site.glob(f"{row['name']}-*.dist-info")]), None)
            if made is None:
                package(row["name"], row["version"])(root)
                made = next(site.glob(f"{stem}-*.dist-info"))
            real = site / f"{stem}-{row['version']}.dist-info"
            record = (made / "RECORD").read_text().replace(made.name, real.name)
            made.rename(real)
            (real / "RECORD").write_text(record)
            lines = [f"Name: {row['name']}", f"Version: {row['version']}", f"Requires-Python: {row['python']}"]
            lines += [f"Requires-Dist: {one}" for one in row["requires"]]
            (real / "METADATA").write_text("\n".join(["Metadata-Version: 2.1", *lines, ""]))

    return lay


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    made = {}
    for name, base in BASES.items():
        folder = tmp_path_factory.mktemp(name)
        together(offline_linux(), venv(), *base.code, with_metadata(base.wheels))(folder)
        made[name] = str(folder)
    return made


@pytest.fixture(scope="module", autouse=True)
def _each_machine_once() -> Iterator[None]:
    """Read each machine once; what to install instead is tested elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        reports = functools.cache(lambda subject, host: report_of(subject, 0.0, host))
        patch.setattr(f"{command.__name__}.report_of", lambda subject, _, host: reports(subject, host))
        patch.setattr(f"{command.__name__}.host_for", functools.cache(host_for))
        patch.setattr(command._Simulation, "_instead", lambda *_: "")
        yield


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}: {case[2]}")
def test_the_answer(
    case: tuple[str, tuple[str, str], str, str], roots: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    base, machine, text, named = case
    told: dict[str, Any] = asked(capsys, roots[base], machine, text)
    broken = [f"{one['code']}: {one['summary']}" for one in told["breaks"]]
    assert (told["answer"], bool(broken)) == ("breaks" if named else "harmless", bool(named)), (broken, told["unknown"])
    assert not named or any(named in one for one in broken), broken
