"""Questions as people asked them in issue threads and forums of 2023 to 2026, with the source of the right answer.

A line: the words after `gpudoctor matrix can`; the right answer, taken from the source and not from the program; where
it was asked, or one like it ("" for one that follows from the maker's own table); and the source.
"""

from __future__ import annotations

from typing import NamedTuple

Y, N = 0, 1  # the exit status of yes and no


class ForumQuestion(NamedTuple):
    """One question with its right answer."""

    ask: str
    right: int
    asked_in: str
    source: str


RELEASE_MD = "pytorch/pytorch:RELEASE.md, Release Compatibility Matrix and PyTorch CUDA Support Matrix"
PASCAL = "pytorch/pytorch release notes of 2.8.0: Maxwell and Pascal are left to CUDA 12.6 builds"
VOLTA = "pytorch/pytorch#172352: from 2.11 on CUDA 12.8 starts at 7.5, 12.6 keeps 5.0 to 9.0"
WHEELS = "file names of the release's wheels on the package index"
TF_PAGE = "https://www.tensorflow.org/install/source#gpu, tested build configurations"
TF_WINDOWS = "https://www.tensorflow.org/install/pip#windows-native: 2.10 is the last with a GPU on native Windows"
JAX_PAGE = "jax-ml/jax:docs/installation.md: platforms; CUDA 12 from driver 525 and SM 5.2, 13 from 580 and SM 7.5"
ORT_PAGE = "https://onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html, requirements"
TRT_PAGE = "NVIDIA, TensorRT release notes 10.5.0 (Volta was removed), and file names of its wheels"
NOTES = (
    "NVIDIA, CUDA Toolkit Release Notes, minor version compatibility: 11 from 450.80.02, 12 from 525.60.13, 13 from 580"
)
NOTES_WINDOWS = "NVIDIA, CUDA Toolkit Release Notes, table 2: CUDA 12 on Windows from 528.33 on"
MATRIX = "NVIDIA, CUDA Toolkit, Driver and Architecture Matrix: first and last toolkit and driver of each generation"
CUDNN = "NVIDIA, cuDNN support matrix"
MACOS = "NVIDIA, CUDA 10.2 Release Notes: the last to support macOS"
VLLM = "vllm-project/vllm:docs, requirements: Linux, compute capability 7.0 or higher"
RAPIDS = "https://docs.rapids.ai/notices/rsn0034/: from 24.02 on compute capability 7.0 or higher"
FLASH = "Dao-AILab/flash-attention:README.md: FlashAttention-2 supports Ampere, Ada or Hopper; Turing takes 1.x"
FORWARD = "NVIDIA, CUDA Compatibility, Forward Compatibility: data-centre cards; 13.0 on 535, 570, 13.4 on 535 to 610"
JETSON = "https://forums.developer.nvidia.com/t/pytorch-for-jetson-version-1-9-0-now-available/72048: wheels by JetPack"
JETPACK_6 = "https://forums.developer.nvidia.com/t/jetpack-6-1-install-pytorch-2-5-1/318629/7: for Orin, CUDA 12.6"
SBSA = "pytorch/pytorch:.ci/aarch64_linux/aarch64_ci_build.sh: the code of each build for ARM"
BNB = "code in the libraries of the release's wheel: 12.6 and older from 6.0 (0.45: 5.0), 12.8 and 13 up to 12.0"
ORT_CODE = "code in libonnxruntime_providers_cuda of the release's wheel"
CUPY = "cupy/cupy:docs/source/install.rst, and the CUDA that the package is named for"

CTRANSLATE2 = "https://github.com/OpenNMT/CTranslate2/releases: 4.0.0 with CUDA 12, 4.5.0 with cuDNN 9"
TRITON = "torch/_inductor/scheduler.py: Triton only supports devices of CUDA Capability >= 7.0"

LINES: tuple[tuple[str, int, str, str], ...] = (
    # systems and cards that a wheel's name does not tell
    (
        "bitsandbytes==0.34.0 --os windows --gpu 'RTX 3060'",
        N,
        "",
        "the wheel: .so files only, and file names from 0.43",
    ),
    ("triton==3.1.0 --os windows", N, "", "triton's wheels (file names); its README: Linux"),
    ("paddlepaddle-gpu==2.6.1 --os macos", N, "", MACOS),
    ("flash-attn==2.6.3 --gpu L4", Y, "", FLASH),
    ("flash-attn==3 --gpu A100", Y, "Dao-AILab/flash-attention#1481", "its author: the latest version supports A100"),
    ("vllm==0.2.3 --gpu 'Quadro P6000'", N, "", VLLM),
    ("vllm==0.5.3.post1 --python 3.12", N, "", "it pins vllm-flash-attn 2.5.9.post1: wheels to cp311 (file names)"),
    ("torch==2.6.0+cu126 --glibc 2.17", N, "", "PyTorch 2.6 release blog: CUDA 12.6.3 is built on manylinux 2.28"),
    ("torch==2.0.1+cu118 --gpu 'Tesla K40c'", N, "", RELEASE_MD),
    # the draw of 2026-11-23 (docs/matrix-audit.md)
    (
        "torch==2.10.0+cu128 --gpu V100 --driver 570.86.10",
        Y,
        "FlashML-org/FreeToken#253",
        "the thread: 2.10.0+cu128 is the last with code for sm_70, on driver 570",
    ),
    ("torch==2.10.0+cu130 --gpu V100", N, "unslothai/unsloth#5876", VOLTA),
    ("torch==2.10.0+cu130 --gpu T4", Y, "unslothai/unsloth#5876", VOLTA),
    ("onnxruntime-gpu==1.19.2 cuda==12.1 cudnn==8.9", N, "microsoft/onnxruntime#22198", ORT_PAGE),
    ("onnxruntime-gpu==1.17.1 cuda==12.1", N, "microsoft/onnxruntime#22198", ORT_PAGE),
    ("onnxruntime-gpu==1.16.3 cuda==12.1 cudnn==8.9", N, "microsoft/onnxruntime#21684", ORT_PAGE),
    ("onnxruntime-gpu==1.18.1 cuda==11.7 cudnn==8.9.7 --os windows", Y, "microsoft/onnxruntime#21769", ORT_PAGE),
    ("onnxruntime-gpu==1.19.0 cuda==11.7 --os windows", N, "microsoft/onnxruntime#21769", ORT_PAGE),
    ("onnxruntime-gpu==1.16.2 cuda==12.1", N, "microsoft/onnxruntime#19292", ORT_PAGE),
    ('vllm==0.6.1 --gpu "Tesla P100"', N, "vllm-project/vllm#8626", VLLM),
    ('vllm==0.8.1 --gpu "Tesla P40"', N, "sasha0552/pascal-pkgs-ci#21", VLLM),
    ('tensorflow==2.10.1 --os windows --gpu "RTX 3060"', Y, "tensorflow/tensorflow#60650", TF_WINDOWS),
    (
        'tensorflow==2.17.0 --os windows --gpu "RTX 4050 Laptop GPU" --driver 555.99',
        N,
        "tensorflow/tensorflow#73368",
        TF_WINDOWS,
    ),
    ('tensorflow==2.13.0 --os windows --gpu "GTX 1050 Ti"', N, "tensorflow/tensorflow#61288", TF_WINDOWS),
    ('cudf-cu12==25.2.0 --gpu "GTX 1080"', N, "rapidsai/nx-cugraph#203", RAPIDS),
    (
        "cudf-cu13==26.2.1 --gpu H100 --driver 570.86.10",
        N,
        "NVIDIA/cudf-spark#15984",
        "the thread: CUDA 13 from R580 on",
    ),
    ('jax[cuda13] --gpu "RTX 4090" --driver 580.95.05 --python 3.10', N, "jax-ml/jax#32233", WHEELS),
    ('torch==2.7.0+cu128 --gpu "RTX 5090"', Y, "lllyasviel/FramePack#550", RELEASE_MD),
    ('torch==2.9.0+cu130 --gpu "RTX 4090" --driver 570.133.20', N, "pytorch/pytorch#162531", NOTES),
    ('cupy-cuda13x --gpu "GTX 1080"', N, "cupy/cupy#9475", MATRIX),
    ("bitsandbytes==0.47.0 --gpu V100", Y, "bitsandbytes-foundation/bitsandbytes#1715", BNB),
    ("cuda==12.2 --driver 535.288.01", Y, "NVIDIA/gpu-operator#2620", NOTES),
    ('cuda==12.1 --driver 450.142.00 --gpu "RTX 3090"', N, "IEIT-Yuan/Yuan-2.0#65", NOTES),
    # CTranslate2 and Triton
    ("ctranslate2==4.4.0 cudnn==9.1.0", N, "OpenNMT/CTranslate2#1780", CTRANSLATE2),
    ("ctranslate2==4.5.0 cuda==12.4 cudnn==9.1.0", Y, "SYSTRAN/faster-whisper#1086", CTRANSLATE2),
    ("ctranslate2==4.5.0 cudnn==8.9.7", N, "SYSTRAN/faster-whisper#1080", CTRANSLATE2),
    ("ctranslate2==3.24.0 cuda==12.1", N, "OpenNMT/CTranslate2#1806", CTRANSLATE2),
    ('triton==2.1.0 --gpu "GTX 1080 Ti"', N, "2noise/ChatTTS#341", TRITON),
    ('triton==2.0.0 --gpu "GTX 1080"', N, "karpathy/nanoGPT#157", TRITON),
    ('triton==3.2.0 --gpu "Tesla P100"', N, "vllm-project/vllm#14547", TRITON),
    # torch and Blackwell
    ('torch==2.0.1 --gpu "RTX 5080"', N, "deepseek-ai/DeepSeek-VL2#59", RELEASE_MD),
    ('torch==2.4.0 --os windows --gpu "RTX 5080"', N, "Pikurrot/whisper-gui#45", "the thread itself"),
    ('torch==2.10.0+cu128 --gpu "RTX 6000 Ada" --driver 525.60.13', Y, "", f"{NOTES}; {RELEASE_MD}"),
    ('torch==2.6.0 --gpu "RTX 5090"', N, "pytorch/pytorch#150733", RELEASE_MD),
    ('torch==2.6.0+cu124 --gpu "RTX 5090" --driver 572.16 --os windows', N, "lllyasviel/FramePack#550", RELEASE_MD),
    ('torch==2.7.0+cu128 --gpu "RTX 5090" --driver 570.133.07', Y, "Hellod035/LeggedLab#26", RELEASE_MD),
    ('torch==2.0.1+cu118 --gpu "RTX 5090"', N, "pBFSLab/DeepPrep#233", RELEASE_MD),
    ('torch==2.7.0 --gpu "RTX 5080"', Y, "pytorch/pytorch#151376", RELEASE_MD),
    ('torch==2.7.1 --gpu "RTX 5070 Ti" --driver 570.133.07', Y, "xorbitsai/inference#3603", RELEASE_MD),
    ('torch==2.7.1+cu126 --gpu "RTX 5090"', N, "FlyMyAI/flymyai-lora-trainer#47", RELEASE_MD),
    ('torch==2.9.1+cu126 --gpu "RTX 5090"', N, "", RELEASE_MD),
    ('torch==2.7.1 --gpu "RTX PRO 6000"', Y, "", RELEASE_MD),
    ('torch==2.6.0 --gpu "RTX PRO 6000 Blackwell Workstation Edition"', N, "", RELEASE_MD),
    ('pytorch==2.7.1 --gpu "RTX 5070 Laptop GPU"', Y, "", RELEASE_MD),
    ("torch==2.6.0 --gpu B200", N, "", RELEASE_MD),
    ("torch==2.7.0+cu128 --gpu B200 --driver 570.124.06", Y, "", RELEASE_MD),
    # torch and old cards
    ('torch==2.8.0+cu128 --gpu "GTX 1080 Ti"', N, "easydiffusion/torchruntime#22", PASCAL),
    ('torch==2.8.0+cu126 --gpu "GTX 1080 Ti"', Y, "easydiffusion/torchruntime#22", PASCAL),
    ('torch==2.8.0 --gpu "Tesla P40"', Y, "jhj0517/Whisper-WebUI#653", PASCAL),
    ('torch==2.9.1 --gpu "GTX 1060"', Y, "", PASCAL),
    ('torch==2.9.1 --gpu "GTX 1080Ti"', Y, "", PASCAL),
    ("torch==2.8.0+cu128 --gpu V100", Y, "jhj0517/Whisper-WebUI#653", RELEASE_MD),
    ("torch==2.11.0+cu128 --gpu V100", N, "pytorch/pytorch#172352", VOLTA),
    ("torch==2.11.0+cu126 --gpu V100", Y, "pytorch/pytorch#172352", VOLTA),
    ("torch==2.11.0+cu130 --gpu V100", N, "pytorch/pytorch#172352", VOLTA),
    ('torch==2.10.0+cu126 --gpu "GTX 970"', Y, "jhj0517/Whisper-WebUI#653", RELEASE_MD),
    ('torch==2.9.1 --gpu "Tesla K80"', N, "", RELEASE_MD),
    ('torch==1.12.1+cu113 --gpu "Tesla K80"', Y, "", "moi90/pytorch_compute_capabilities#1: sm_37 in the 11.3 build"),
    ('torch==2.4.1 --gpu "Tesla M40"', Y, "", RELEASE_MD),
    (
        'torch==1.6.0 --gpu "RTX 3090"',
        N,
        "pytorch/pytorch#45028",
        "the thread itself: a build of CUDA 11.0 is the remedy",
    ),
    # torch, drivers and cards
    ('torch==2.9.1+cu130 --gpu "RTX 2080 Ti" --driver 580.65.06', Y, "", f"{NOTES}; {RELEASE_MD}"),
    ('torch==2.9.1+cu130 --gpu "RTX 2080 Ti" --driver 570.86.10', N, "", NOTES),
    ('torch==2.9.1+cu128 --gpu "RTX 3090" --driver 535.183.01', Y, "", NOTES),
    ("torch==2.9.1 --gpu L40S --driver 550.90.07", Y, "", NOTES),
    ('torch==2.9.1 --gpu "A100 MIG 1g.5gb"', Y, "", RELEASE_MD),
    ("torch==2.4.1 --gpu rtx4090", Y, "", RELEASE_MD),
    ('torch==2.5.1 --gpu "RTX 4070"', Y, "", RELEASE_MD),
    ('torch==2.9.1+cu130 --gpu "RTX 4090" --driver 575.57.08', N, "", NOTES),
    ('torch==2.3.1 --gpu "RTX 3090" --driver 470.256.02', Y, "", f"{NOTES}; {RELEASE_MD}: cu118"),
    ('torch==2.7.1+cu118 --gpu "RTX 3060" --driver 470.256.02', Y, "", f"{NOTES}; {RELEASE_MD}"),
    ('torch==2.7.1+cu128 --gpu "RTX 3060" --driver 470.256.02', N, "", NOTES),
    ("torch==2.5.1 --gpu H200 --driver 550.127.05", Y, "", RELEASE_MD),
    # torch, Pythons, C libraries, systems
    ("torch==2.9.1 --gpu 8.9 --python 3.9", N, "", f"{RELEASE_MD}: 2.9 from Python 3.10 on"),
    ("torch==2.8.0 --gpu 8.9 --python 3.9", Y, "", f"{RELEASE_MD}: 2.8 from Python 3.9 on"),
    ("torch==2.2.2 --gpu 8.6 --python 3.12", Y, "", WHEELS),
    ("torch==2.1.2 --gpu 8.6 --python 3.12", N, "pytorch/pytorch#110436", f"{WHEELS}; the thread: 3.12 from 2.2 on"),
    ("torch==2.0.1 --gpu 8.6 --python 3.11", Y, "", WHEELS),
    ("torch==2.6.0 --gpu 8.9 --python 3.13", Y, "", WHEELS),
    ("torch==2.4.1 --gpu 8.9 --python 3.13", N, "pytorch/pytorch#130249", f"{WHEELS}; the thread: 3.13 from 2.5 on"),
    (
        "torch==2.7.0 --gpu 8.9 --glibc 2.17",
        N,
        "",
        "the only Linux wheels of 2.7.0 on the package index are manylinux_2_28",
    ),
    ("torch==2.9.1 --os macos --gpu 8.9", N, "", MACOS),
    (
        "torch==2.13.0+cu130 --gpu GB200 --driver 580.95.05",
        Y,
        "NVIDIA-NeMo/labs-molt#122",
        "the thread itself",
    ),
    ('torch==2.9.1 --gpu "Jetson Orin Nano"', N, "pinokiocomputer/pinokio#1027", "its wheels for ARM know no 8.7"),
    # TensorFlow
    ('tensorflow==2.19.0 --gpu "RTX 5090" --driver 570.133.07', N, "tensorflow/tensorflow#97387", "the thread itself"),
    ('tensorflow==2.11.0 --os windows --gpu "RTX 3060"', N, "", TF_WINDOWS),
    ('tensorflow==2.10.0 --os windows --gpu "RTX 3060"', Y, "", TF_WINDOWS),
    ('tensorflow==2.20.0 --os windows --gpu "RTX 4090"', N, "", TF_WINDOWS),
    ("tensorflow==2.16.1 --gpu 8.9 --python 3.13", N, "", WHEELS),
    ("tensorflow==2.20.0 --gpu 8.9 --python 3.13", Y, "", WHEELS),
    ("tensorflow==2.21.0 --gpu 8.9 --python 3.9", N, "", WHEELS),
    ("tensorflow==2.18.0 cudnn==8.9.7", N, "", f"{TF_PAGE}: 2.18 with cuDNN 9.3"),
    ("tensorflow[and-cuda]==2.18.0 cudnn==8.9.7", Y, "", "METADATA of the wheel: and-cuda brings cuDNN 9.3"),
    ("tensorflow==2.15.0 cuda==12.2 cudnn==8.9.7", Y, "", f"{TF_PAGE}: 2.15 with CUDA 12.2 and cuDNN 8.9"),
    ("tensorflow==2.13.0 cuda==11.8 cudnn==8.6.0", Y, "", TF_PAGE),
    ("tensorflow==2.13.0 cuda==12.1", N, "", f"{TF_PAGE}: 2.13 with CUDA 11.8"),
    ("tensorflow==2.10.0 cuda==11.2 cudnn==8.1.0", Y, "", TF_PAGE),
    ("tensorflow==2.4.0 cuda==10.1", N, "", f"{TF_PAGE}: 2.4 with CUDA 11.0"),
    ("tensorflow==2.3.0 cuda==10.1 cudnn==7.6.5", Y, "", TF_PAGE),
    ("tensorflow-gpu==1.12.0 cuda==10.0", N, "", f"{TF_PAGE}: 1.12 with CUDA 9.0"),
    ('tensorflow==2.17.0 --gpu "RTX 4090" --driver 470.256.02', N, "", NOTES),
    ('tensorflow==2.20.0 --gpu "RTX 4090" --driver 535.183.01', Y, "", f"{NOTES}; build_info.py: sm_89"),
    ("tensorflow==2.19.0 --os macos --gpu 8.9", N, "", MACOS),
    ('tf==2.19.0 --gpu "GTX 1650"', Y, "", "build_info.py of 2.19.0: sm_70, whose code runs on 7.5"),
    ('tensorflow==2.18.0 --gpu "GTX 1050 Ti"', Y, "", "build_info.py of 2.18.0: sm_60, whose code runs on 6.1"),
    ('tensorflow==2.16.1 --gpu "RTX 3090" --python 3.12', Y, "", WHEELS),
    # JAX
    ("jax[cuda13]==0.8.0 --gpu V100", N, "", JAX_PAGE),
    ("jax[cuda12]==0.8.0 --gpu V100 --driver 535.183.01", Y, "", JAX_PAGE),
    ("jax[cuda13]==0.8.0 --gpu 8.9 --driver 570.86.10", N, "jax-ml/jax#31293", JAX_PAGE),
    ("jax[cuda13]==0.8.0 --gpu 8.9 --driver 580.65.06", Y, "jax-ml/jax#31293", JAX_PAGE),
    ("jax[cuda12]==0.6.0 --os windows --gpu 8.9", N, "", JAX_PAGE),
    ("jax==0.7.0 --os macos --gpu 8.9", N, "", JAX_PAGE),
    ('jax[cuda12]==0.7.0 --gpu "GTX 960"', Y, "", JAX_PAGE),
    ('jax[cuda12]==0.7.0 --gpu "GTX 750 Ti"', N, "", JAX_PAGE),
    ("jax[cuda12]==0.7.0 --gpu 8.9 --python 3.10", N, "", "jax-ml/jax:CHANGELOG.md: 0.7.0 drops Python 3.10"),
    ("jax[cuda12]==0.4.35 --gpu 8.9 --python 3.9", N, "", "jax-ml/jax:CHANGELOG.md: 0.4.31 drops Python 3.9"),
    ("jax[cuda12_local]==0.4.34 cudnn==9.0.0", N, "", "METADATA of the plugin: with_cuda asks for cuDNN from 9.1 on"),
    ("jax[cuda12_local]==0.4.34 cudnn==9.1.0", Y, "", "METADATA of the plugin: with_cuda asks for cuDNN from 9.1 on"),
    ("jax[cuda12]==0.4.34 cudnn==9.0.0", Y, "", "METADATA of jax: its extra cuda12 brings cuDNN"),
    ("jax[cuda]==0.5.3 cudnn==8.9.7", Y, "", "METADATA of jax: its extra cuda brings cuDNN"),
    ("jax[cuda13_local]==0.8.0 cudnn==8.9.7", N, "", "METADATA of the plugin: with-cuda asks for cuDNN from 9.12 on"),
    ("jax[cuda12]==0.4.35 --driver 470.256.02 --gpu 8.6", N, "", JAX_PAGE),
    # ONNX Runtime
    ("onnxruntime-gpu==1.16.0 cuda==12.1 cudnn==8.9.7", N, "microsoft/onnxruntime#21684", ORT_PAGE),
    ("onnxruntime-gpu==1.17.0 cuda==12.2", N, "microsoft/onnxruntime#19602", ORT_PAGE),
    (
        "onnxruntime-gpu==1.18.1 --os windows cuda==12.5 cudnn==8.9.7",
        N,
        "microsoft/onnxruntime#21215",
        f"{ORT_PAGE}: 1.18 on the package index is of CUDA 11.8",
    ),
    ("onnxruntime-gpu==1.19.2 cuda==12.1 cudnn==8.9.7", N, "microsoft/onnxruntime#22198", ORT_PAGE),
    ("onnxruntime-gpu==1.18.1 cuda==11.8 cudnn==8.9.7", Y, "microsoft/onnxruntime#22198", ORT_PAGE),
    ("onnxruntime-gpu==1.17.1 cudnn==9.0.0", N, "microsoft/onnxruntime#20223", ORT_PAGE),
    ("onnxruntime-gpu==1.19.0 cuda==12.6 cudnn==9.3.0", Y, "microsoft/onnxruntime#21825", ORT_PAGE),
    ("onnxruntime-gpu==1.19.2 cuda==12.6 cudnn==8.9.7 --os windows", N, "dme-compunet/YoloSharp#74", ORT_PAGE),
    ("onnxruntime-gpu==1.23.0 cudnn==8.9", N, "", ORT_PAGE),
    ("onnxruntime-gpu[cuda,cudnn]==1.23.0 cudnn==8.9.7", Y, "", "METADATA of the wheel: the extras bring cuDNN 9"),
    ("onnxruntime-gpu==1.20.1 --os windows cuda==12.6 cudnn==9.5.1", Y, "", ORT_PAGE),
    ("onnxruntime-gpu==1.20.1 cuda==11.8", N, "", ORT_PAGE),
    ("onnxruntime-gpu==1.16.3 cuda==11.8 cudnn==8.9.7", Y, "microsoft/onnxruntime#18973", ORT_PAGE),
    ("onnxruntime-gpu==1.16.3 cuda==12.1", N, "", ORT_PAGE),
    # TensorRT: NVIDIA's wheels, of which the package index has the part for Python
    ("tensorrt==10.7.0 --gpu 8.9 --python 3.10", Y, "", TRT_PAGE),
    ("tensorrt-cu12==10.8.0.43 --gpu 12.0 --os windows --python 3.11", Y, "", TRT_PAGE),
    ("tensorrt==10.5.0 --gpu V100", N, "", f"{TRT_PAGE}: Volta was removed"),
    ("tensorrt==11.4.0.106 --python 3.8 --driver 550.54", N, "", f"{TRT_PAGE}; {NOTES}: plain tensorrt is of CUDA 13"),
    ("torch==2.9.1+cu129 --gpu 12.0 --driver 575.57", Y, "", "wheels of the vendor's index, seen on RTX 50"),
    ("torch==2.12.1+cu129 --gpu 12.0", Y, "", "runpod/containers: 2.12 has no cu128, 2.12.0 no cu129"),
    # of November 2026
    ("torch==2.12.1+cu130 --gpu 'RTX 5070' --driver 580.65", Y, "", RELEASE_MD),
    ("torch==2.10.0+cu126 --gpu 'RTX 5090'", N, "", RELEASE_MD),
    ("torch==2.7.0+cu126 --gpu 'RTX 5060 Ti'", N, "", RELEASE_MD),
    ("torch==2.9.1+cu126 --gpu 'GTX 1080'", Y, "", PASCAL),
    ("torch==2.2.2 --python 3.12 --os windows --gpu 'RTX 3060'", Y, "", WHEELS),
    ("torch==2.2.2 --python 3.13 --os windows --gpu 'RTX 3060'", N, "", WHEELS),
    ("torch==2.3.1 --python 3.13 --gpu 'RTX 3060'", N, "", WHEELS),
    ("torch==2.6.0+cu126 --arch aarch64 --python 3.12", Y, "", SBSA),
    ("tensorflow==2.18.0 --python 3.13", N, "", WHEELS),
    ("tensorflow==2.20.0 --python 3.13", Y, "", WHEELS),
    ("tensorflow==2.11.0 --os windows --gpu 'RTX 3080'", N, "", TF_WINDOWS),
    ("jax[cuda13]==0.8.0 --gpu 'GTX 1080'", N, "", JAX_PAGE),
    ("jax[cuda12]==0.7.0 --gpu 'GTX 1080'", Y, "", JAX_PAGE),
    ("vllm==0.8.5 --gpu P100", N, "", VLLM),
    ("vllm==0.10.0 --gpu T4", Y, "", VLLM),
    ("flash-attn==2.7.4 --gpu 'RTX 2080 Ti'", N, "", FLASH),
    ("cudf-cu12==25.2.0 --gpu 'GTX 1080'", N, "", RAPIDS),
    (
        "cupy-cuda11x==13.6.0 cuda==12.4",
        N,
        "",
        "cupy/cupy:docs/source/install.rst: cuda11x is CUDA 11.2 to 11.8",
    ),
    ("onnxruntime-gpu==1.22.0 cuda==11.8", N, "", ORT_PAGE),
    ("cuda==11.8 --gpu 'RTX 4090' --driver 450.80.02", N, "", MATRIX),
    ("numba==0.60.0 --python 3.13", N, "", WHEELS),
    # ARM, Windows, Jetson, laptops and old sets, from threads of 2020 to 2026 (docs/matrix-audit.md)
    ("torch==2.9.0+cu130 --gpu GB10 --driver 580.95.05", Y, "GeeeekExplorer/nano-vllm#130", "the thread: it computes"),
    (
        "torch==2.11.0+cu130 --gpu 'DGX Spark' --driver 580.126.09",
        Y,
        "vllm-project/vllm#36835",
        "the thread: it computes",
    ),
    ("torch==2.2.1+cu121 --os windows --gpu 'RTX 5080 Laptop GPU'", N, "erew123/alltalk_tts#636", RELEASE_MD),
    ("torch==2.6.0+cu124 --os windows --gpu 'RTX 5060 Ti'", N, "invoke-ai/InvokeAI#7934", RELEASE_MD),
    (
        "torch==2.7.0+cu128 --os windows --gpu 'RTX 5060'",
        Y,
        "RVC-Project/Retrieval-based-Voice-Conversion-WebUI#2615",
        RELEASE_MD,
    ),
    ("torch==2.6.0+cu126 --os windows --gpu 'RTX 5070 Ti'", N, "lllyasviel/FramePack#805", RELEASE_MD),
    ("onnxruntime-gpu==1.17.1 cudnn==9.0.0 --os windows", N, "microsoft/onnxruntime#20223", "the maintainer there"),
    ("onnxruntime-gpu==1.17.1 cuda==12.4 --os windows", N, "microsoft/onnxruntime#20223", f"{ORT_PAGE}: 11.8"),
    (
        "onnxruntime-gpu==1.18.1 cuda==12.1 --os windows --gpu 'RTX 3050 Laptop GPU' --driver 555.85",
        N,
        "microsoft/onnxruntime#21215",
        f"{ORT_PAGE}: 11.8",
    ),
    ("onnxruntime-gpu==1.18.1 cuda==11.8 cudnn==8.9.7 --os windows --driver 555.85", Y, "", ORT_PAGE),
    ("onnxruntime-gpu==1.19.2 cuda==12.4 cudnn==9.2.1 --os windows", Y, "microsoft/onnxruntime#21965", ORT_PAGE),
    ("onnxruntime-gpu==1.5.1 cuda==10.1", N, "microsoft/onnxruntime#6379", "the maintainer there"),
    ("onnxruntime-gpu==1.6.0 cuda==10.2 cudnn==8.0.5", Y, "microsoft/onnxruntime#6379", "the maintainer there"),
    ("onnxruntime-gpu==1.4.0 cuda==10.1 cudnn==7.6.5", Y, "microsoft/onnxruntime#6379", "the maintainer there"),
    (
        "tensorflow==2.11.0 --os windows --python 3.9 --gpu 'RTX 3080 Laptop GPU'",
        N,
        "tensorflow/tensorflow#60156",
        TF_WINDOWS,
    ),
    ("tensorflow==2.12.1 --os windows --gpu 'RTX 4060'", N, "tensorflow/tensorflow#62322", TF_WINDOWS),
    ("tensorflow-gpu==2.11.0 --os windows --python 3.10", N, "nicknochnack/TFODCourse#118", WHEELS),
    (
        "tensorflow==2.10.0 cuda==11.2 cudnn==8.1.0 --os windows --python 3.10 --gpu 'RTX 3050 Ti Laptop GPU'",
        Y,
        "tensorflow/tensorflow#58729",
        TF_PAGE,
    ),
    ("tensorflow==2.17.0 --os windows --gpu 'RTX 4050 Laptop GPU'", N, "tensorflow/tensorflow#73368", TF_WINDOWS),
    ("tensorflow==2.18.0 --os windows --python 3.11 --gpu 'RTX 4080'", N, "tensorflow/tensorflow#85006", TF_WINDOWS),
    ("tensorflow==2.10.1 --os windows --python 3.11", N, "", WHEELS),
    (
        "tensorflow==2.3.0 cuda==11.1 cudnn==8.0.5 --os windows --gpu 'GTX 1650'",
        N,
        "tensorflow/tensorflow#45258",
        TF_PAGE,
    ),
    ("torch==2.9.1 --gpu 'Jetson TX2'", N, "", JETSON),
    (
        "cuda==12.6 --gpu 'Jetson TX2'",
        N,
        "",
        "Qengineering/TensorFlow-JetsonNano: JetPack 4 has CUDA 10.2, and no later",
    ),
    ("cuda==10.2 --gpu 'Jetson TX2'", Y, "", "Qengineering/TensorFlow-JetsonNano: JetPack 4 has CUDA 10.2"),
    ("vllm==0.7.2 --gpu V100", Y, "vllm-project/vllm#13116", VLLM),
    ("vllm==0.4.1 --python 3.11 --gpu A100", Y, "vllm-project/vllm#2747", "the thread: it works with torch 2.2.1"),
    ("torch==2.9.1 --gpu 'H100 MIG 1g.10gb'", Y, "", RELEASE_MD),
    ("torch==2.5.1+cu121 --gpu V100 --python 3.11", Y, "vllm-project/vllm#13116", RELEASE_MD),
    ("tensorflow==2.12.0 --os windows --python 3.11 --gpu 8.6", N, "tensorflow/tensorflow#60172", TF_WINDOWS),
    ("tensorflow==2.13.0 --os windows --python 3.10 --gpu 'GTX 1050 Ti'", N, "tensorflow/tensorflow#61288", TF_WINDOWS),
    ("xformers==0.0.30 --gpu 'RTX 4090' --python 3.11", Y, "vllm-project/vllm#21081", WHEELS),
    ("vllm==0.5.4 --os windows --gpu 8.9", N, "", VLLM),
    # CUDA, drivers and cards
    ('cuda==12.9 --gpu "GTX 1060" --driver 575.57.08', Y, "", MATRIX),
    ('cuda==13.1 --gpu "GTX 1660"', Y, "", MATRIX),
    ('cudnn==9.10.2 cuda==12.9 --gpu "GTX 1080"', Y, "", CUDNN),
    ("cuda==13.0 --driver 575.57.08", N, "JuliaGPU/CUDA.jl#2831", NOTES),
    ("cuda==13.1 --driver 580.82.07", Y, "EricLBuehler/mistral.rs#1858", NOTES),
    ('cuda==13.1 --gpu "RTX 5090" --driver 580.82.07', Y, "EricLBuehler/mistral.rs#1858", f"{NOTES}; {MATRIX}"),
    ('cuda==13.0 --gpu "RTX 2070"', Y, "JuliaGPU/CUDA.jl#2934", MATRIX),
    ("cuda==13.0 --gpu V100", N, "JuliaGPU/CUDA.jl#2940", MATRIX),
    ("cuda==12.9 --gpu V100 --driver 580.95.05", Y, "JuliaGPU/CUDA.jl#2940", MATRIX),
    ("cuda==12.8 --gpu V100 --driver 590.44.01", N, "JuliaGPU/CUDA.jl#2940", MATRIX),
    ('cuda==12.8 --gpu "RTX 5090" --driver 535.183.01', N, "", MATRIX),
    ('cuda==12.4 --gpu "GTX 1080 Ti" --driver 550.54.14', Y, "", MATRIX),
    ("cuda==11.8 --gpu H100 --driver 520.61.05", Y, "", MATRIX),
    ("cuda==11.7 --gpu H100", N, "", MATRIX),
    ('cuda==10.2 --gpu "RTX 3090"', N, "", MATRIX),
    ("cuda==12.2 --driver 525.60.13", Y, "ComputeCanada/software-stack-config#59", NOTES),
    ("cuda==11.4 --driver 450.80.02", Y, "ComputeCanada/software-stack-config#59", NOTES),
    ("cuda==11.4 --driver 418.87.01", N, "", NOTES),
    ("cuda==12.8 --driver 470.256.02", N, "", NOTES),
    ('cuda==11.8 --driver 470.256.02 --gpu "RTX 3060"', Y, "", f"{NOTES}; {MATRIX}"),
    ("cuda==12.6 --os windows --driver 560.94", Y, "", NOTES_WINDOWS),
    ("cuda==12.6 --os windows --driver 526.98", N, "", NOTES_WINDOWS),
    ('cuda==12.8 --os windows --driver 572.16 --gpu "RTX 5090"', Y, "", f"{NOTES_WINDOWS}; {MATRIX}"),
    ('cuda==12.8 --os windows --driver 566.36 --gpu "RTX 5080"', N, "", MATRIX),
    ('cuda==12.6 --os windows --driver 591.44 --gpu "GTX 1080 Ti"', N, "", MATRIX),
    ('cuda==12.6 --os windows --driver 581.57 --gpu "GTX 1080 Ti"', Y, "tensorflow/tensorflow#101746", MATRIX),
    ("cuda==12.4 --gpu B200", N, "", MATRIX),
    ("cuda==12.8 --gpu B200 --driver 570.124.06", Y, "", MATRIX),
    ('cuda==13.0 --gpu "DGX Spark" --driver 580.95.05', Y, "bitsandbytes-foundation/bitsandbytes#1829", MATRIX),
    ('cuda==12.0 --gpu "Tesla K80"', N, "", MATRIX),
    ('cuda==11.4 --gpu "Tesla K80" --driver 470.57.02', Y, "jax-ml/jax#15961", MATRIX),
    ("cuda==12.4 --os macos", N, "", MACOS),
    ('nvcc==13.0 --gpu "GTX 1650"', Y, "", MATRIX),
    # cuDNN
    ("cudnn==9.11.0 --gpu V100", N, "pytorch/pytorch#172352", CUDNN),
    ('cudnn==9.1.0 --gpu "Tesla K80"', N, "", CUDNN),
    ("cudnn==9.10.2 --gpu V100", Y, "pytorch/pytorch#172352", CUDNN),
    ("cudnn==8.9.7 cuda==12.1", Y, "microsoft/onnxruntime#22198", CUDNN),
    ('cudnn==9.7.0 --gpu "RTX 5090"', Y, "", CUDNN),
    # what stands on torch or on the toolkit
    ('vllm==0.9.1 --gpu "GTX 1080 Ti"', N, "vllm-project/vllm#19542", VLLM),
    ('vllm==0.6.0 --gpu "Tesla P100"', N, "vllm-project/vllm#8626", VLLM),
    ('vllm==0.9.1 --os windows --gpu "RTX 4090"', N, "", VLLM),
    ('cudf-cu12==25.10.0 --gpu "GTX 1080"', N, "NVIDIA/cudf#14629", RAPIDS),
    ("cudf==25.10.0 --os windows --gpu 8.9", N, "NVIDIA/cudf#9753", "https://docs.rapids.ai/install/: Linux and WSL 2"),
    ('flash-attn==2.8.3 --gpu "RTX 3060"', Y, "", FLASH),
    ("vllm==0.9.1 --gpu T4", Y, "", f"{VLLM}; its examples name the T4"),
    ('bitsandbytes==0.48.2 --os windows --gpu "RTX 5090"', Y, "", BNB),
    ("flash-attn==2.8.3 --gpu T4", N, "Dao-AILab/flash-attention#887", FLASH),
    ('flash-attn==2.7.4 --gpu "RTX 2080 Ti"', N, "Dao-AILab/flash-attention#1514", FLASH),
    ('flash-attn==2.3.0 --gpu "Quadro RTX 8000"', N, "Dao-AILab/flash-attention#562", FLASH),
    ("cupy-cuda13x==14.1.1 --gpu V100", N, "", f"{CUPY}; {MATRIX}"),
    ("cupy-cuda12x==13.4.0 --gpu 8.9 --python 3.13", Y, "ray-project/ray#58985", WHEELS),
    ("cupy-cuda12x==13.6.0 --os windows --gpu 8.6 --driver 560.94", Y, "", CUPY),
    ('cupy-cuda11x==13.6.0 --gpu "RTX 4090" --driver 470.256.02', N, "", MATRIX),
    ("cupy-cuda13x==13.6.0 --driver 575.57.08", N, "NVIDIA/cutlass#2866", NOTES),
    ('cupy-cuda12x==13.6.0 --gpu "RTX 5090" --driver 570.133.07', Y, "", f"{CUPY}; {MATRIX}"),
    ("numba==0.56.4 --gpu 8.6 --python 3.11", N, "numba/numba#8825", "numba 0.57.0 is the first with Python 3.11"),
    (
        "numba==0.59.1 cuda==12.2 --gpu 8.9",
        Y,
        "",
        "numba/numba:docs/source/cuda/overview.rst@0.59.0: from 11.2",
    ),
    ("caffe==1.0.0 cudnn==8.0.5", N, "BVLC/caffe#6970", "the thread itself: 1.0.0 does not build against cuDNN 8"),
    # an older driver with NVIDIA's package, and where there is none
    ("torch==2.14.1+cu130 --gpu H100 --driver 535.183.01", N, "", f"{NOTES}; {FORWARD}"),
    ("torch==2.12.0+cu132 --gpu A100 --driver 590.48.01", Y, "", NOTES),
    ("cuda==13.4 --gpu T4 --driver 570.86.10", N, "", f"{NOTES}; {FORWARD}"),
    ('cuda==13.0 --gpu "RTX 4090" --driver 570.86.10', N, "", NOTES),
    ("torch==2.9.1+cu130 --gpu L40S --driver 550.163.01", N, "", NOTES),
    # Jetson, Thor, GB10
    ('torch==2.8.0 --gpu "Jetson Orin Nano"', Y, "", JETPACK_6),
    ('torch==2.1.0 --gpu "Jetson AGX Xavier"', Y, "", f"{JETSON}; JetPack 5.1"),
    ('torch==2.5.0 --gpu "Jetson AGX Xavier"', N, "", f"{JETPACK_6}; JetPack 6 knows no Xavier"),
    ('torch==1.10.0 --gpu "Jetson Nano"', Y, "", f"{JETSON}; JetPack 4"),
    (
        'torch==2.1.0 --gpu "Jetson Nano"',
        N,
        "Qengineering/PyTorch-Jetson-Nano",
        "the page itself: the Nano ends with 10.2",
    ),
    ('onnxruntime-gpu==1.23.0 --gpu "Jetson Orin NX"', Y, "", "NVIDIA's Jetson AI Lab, index for JetPack 6"),
    ('torch==2.9.1+cu130 --gpu "Jetson Thor"', Y, "", SBSA),
    ('torch==2.9.1+cu126 --gpu "DGX Spark"', N, "", SBSA),
    ('torch==2.10.0+cu130 --gpu "DGX Spark" --driver 580.95.05', Y, "", SBSA),
    # builds of CUDA 12.9, and what a wheel has code for
    ('torch==2.13.0+cu129 --gpu "RTX 5090" --driver 575.57.08', Y, "", "get_arch_list of that build: 7.5 to 12.0"),
    ("torch==2.13.0+cu129 --gpu V100", N, "", "get_arch_list of that build: 7.5 to 12.0"),
    ('bitsandbytes==0.50.2 --gpu "RTX 5090"', Y, "", BNB),
    ('bitsandbytes==0.50.2 --gpu "GTX 970"', N, "", BNB),
    ('bitsandbytes==0.45.5 --gpu "GTX 970"', Y, "", BNB),
    ('onnxruntime-gpu==1.26.0 --gpu "GTX 1080"', Y, "", f"{ORT_CODE}: from 6.0"),
    ("onnxruntime-gpu==1.31.0 --gpu V100", N, "", f"{ORT_CODE}: from 7.5"),
    ("onnxruntime-gpu==1.30.0 --gpu B200", N, "", f"{ORT_CODE}: 7.5 to 8.9, 9.0a and 12.0a, no PTX"),
    # a second reader's questions, with releases and systems that the others do not name
    ("cudnn==8.4.1 cuda==11.6 --gpu A100", Y, "", CUDNN),
    ('cudnn==8.7.0 cuda==11.8 --gpu "Tesla K80" --driver 470.82.01', Y, "", f"{CUDNN}: 8.7.0 is the last for Kepler"),
    ('cudnn==8.9.7 cuda==11.8 --gpu "Tesla K80" --driver 470.82.01', N, "", f"{CUDNN}: 8.7.0 is the last for Kepler"),
    ("torch==1.8.0 --python 3.10", N, "", WHEELS),
    ("torch==2.1.0 --python 3.12", N, "", WHEELS),
    ("torch==2.4.0 --python 3.13", N, "", WHEELS),
    ("torch==2.8.0 --python 3.14", N, "", WHEELS),
    ("torch==2.9.0 --python 3.9", N, "", WHEELS),
    ("torch==2.9.1 --python 3.14 --os windows", Y, "", WHEELS),
    ("jax==0.4.35 --python 3.9", N, "", WHEELS),
    ("jax==0.4.30 --python 3.9", Y, "", WHEELS),
    ("jax==0.7.0 --python 3.10", N, "", WHEELS),
    ("jax[cuda12] --os macos", N, "", MACOS),
    ("torch==2.5.1+cu124 --os macos", N, "", MACOS),
    ("cupy-cuda12x --os macos", N, "", MACOS),
    ("tensorflow-cpu==2.15.0 --gpu A100", N, "", "it is named for what it is: TensorFlow without GPU code"),
    ("tensorflow-gpu==1.2.0 cuda==8.0 cudnn==6.0", N, "", TF_PAGE),
    ("tensorflow==2.5.0 cuda==11.2 cudnn==8.1 --gpu A100", Y, "", TF_PAGE),
    ('torch==2.6.0+cu126 --gpu "GTX 980"', Y, "", RELEASE_MD),
    ("torch==1.2.0 --driver 384.81 --gpu V100", N, "", NOTES),
)
FORUM_QUESTIONS = tuple(ForumQuestion(*line) for line in LINES)
