"""Frameworks: CPU builds, wheels of other systems or Pythons, packages that do not belong together."""

from __future__ import annotations

from doctor.explain.signature import Family, Means, Signature
from doctor.explain.signatures._words import JETSON, MAC, OTHER_MAKER, TOOLKIT

_CPU, _JETSON, _PLUGIN, _WINDOWS_TF = (
    "cpu-only-wheel",
    "jetson-wrong-wheel",
    "jax-plugin-version-mismatch",
    "tf-native-windows-after-2-10",
)
_NO_WHEEL, _TWO_ORT, _OLD = "python-version-no-wheel", "two-onnxruntimes", "driver-too-old-for-runtime"
_PLUGIN_FAILED = (
    r"plugin configuration error|Unable to load cu\w+\. Is it installed|failed to initialize: Unable to"
    r"|versions_helpers\.cc:\d+: operation"
)
_NUMPY = "it is compiled for the ABI of NumPy 1, and NumPy 2 is installed"
_GOES_ON = r"Error: (?:Unexpected error from cuda|CUDA|No CUDA|Found no NVIDIA|The NVIDIA driver)"
_UV_JAX, _UV_NVIDIA = r"depends on jaxlib\b", r"depends on nvidia-[a-z]"
_ANY = r"torch|cuda|nvidia|nvinfer|tensorrt|ctranslate2|onnxruntime|tensorflow|jax"
_HAVE_CPU = r"you have [\d.]+\+cpu"

FAMILY = Family(
    Signature(
        r"Torch not compiled with CUDA enabled|\b(?:Py)?Torch(?: version)? ?[:=]* ?v?\d+(?:\.\d+)+\+cpu"
        r"|not compiled with CUDA support|torch==?\s?[\d.]+\+cpu"
        r"|CUDA used to build PyTorch *: (?:Could not collect|None)",
        Means(_JETSON, "on a Jetson, pip's own torch is not the one for its JetPack", 0.9, given=JETSON),
        Means(_CPU, "this is the CPU build of torch", 0.94, unless=f"{JETSON}|{OTHER_MAKER}|{MAC}"),
        Means("no-nvidia-gpu", "this is a Mac, for which no torch is built with CUDA", 0.94, given=MAC),
        Means("no-nvidia-gpu", "this is a CPU build, and the card is of another maker", 0.9, given=OTHER_MAKER),
        source="pytorch/pytorch: torch/cuda/__init__.py, torch/utils/collect_env.py",
    ),
    Signature(
        r"torch\.cuda\.is_available\(\)\)?[\s.>)]*False",
        Means(_JETSON, "on a Jetson, pip's own torch is not the one for its JetPack", 0.75, given=JETSON),
        Means(_CPU, "on a Jetson, pip's own torch is a CPU build", 0.78, given=JETSON),
        source="Python",
    ),
    Signature(
        r"a CUDA-enabled jaxlib is not installed|No GPU/TPU found, falling back to CPU|CUDA-enabled jaxlib",
        Means(_CPU, "this jaxlib is a CPU build", 0.93, unless=_PLUGIN_FAILED),
        source="jax-ml/jax: jax/_src/xla_bridge.py",
    ),
    Signature(
        r"Specified provider 'CUDAExecutionProvider' is not in available provider names"
        r"|CUDAExecutionProvider[^\n]{0,80}not (?:available|enabled)"
        r"|TensorrtExecutionProvider' is not in available",
        Means(
            _TWO_ORT,
            "onnxruntime and onnxruntime-gpu are in one environment",
            0.9,
            given=r"onnxruntime-gpu[ =][\s\S]{0,300}onnxruntime[ =]|onnxruntime[ =][\s\S]{0,300}onnxruntime-gpu[ =]",
        ),
        Means(_CPU, "this ONNX Runtime is the CPU package (onnxruntime instead of onnxruntime-gpu)", 0.9),
        Means(_TWO_ORT, "or the CPU package overwrote the GPU one", 0.5),
        asks="What does `pip list | grep -i onnxruntime` say?",
        source="microsoft/onnxruntime: onnxruntime/python/onnxruntime_inference_collection.py",
    ),
    Signature(
        r"get_available_providers\(\)[\s.>)]*\[(?:'AzureExecutionProvider', )?'CPUExecutionProvider'\]",
        Means(
            _TWO_ORT,
            "onnxruntime and onnxruntime-gpu are in one environment: the CPU package overwrote the other",
            0.9,
            given=r"both[^\n]{0,20}onnxruntime|onnxruntime-gpu[\s\S]{0,300}\bonnxruntime[ =]=?",
        ),
        Means(_CPU, "this ONNX Runtime is the CPU package (onnxruntime instead of onnxruntime-gpu)", 0.85),
        source="microsoft/onnxruntime",
    ),
    Signature(
        r"Failed to create CUDAExecutionProvider|onnxruntime_providers_cuda\.(?:dll|so)",
        Means(
            "framework-wants-other-cuda",
            "this ONNX Runtime is built for another CUDA or cuDNN than is installed",
            0.88,
            given=TOOLKIT,
        ),
        Means(
            "windows-dll-path",
            "a DLL that it needs (of CUDA, cuDNN or the Visual C++ runtime) is not found",
            0.85,
            given=r"error 126|WinError 126|\.dll",
        ),
        Means(
            "framework-wants-other-cuda",
            "the CUDA or cuDNN that this ONNX Runtime is built for is not found",
            0.7,
            unless=TOOLKIT,
        ),
        source="microsoft/onnxruntime: onnxruntime/core/session/provider_bridge_ort.cc",
    ),
    Signature(
        r"jaxlib version (?P<jaxlib>[\d.]+) is (?:newer"
        r"|older) than and incompatible with jax version (?P<jax>[\d.]+)|jax requires jaxlib version"
        r"|jaxlib is version [\d.]+, but this version of jax requires"
        r"|Mismatched PJRT plugin PJRT API version|plugin version [\d.]+,? is not compatible with|(?:jax_plugins"
        r"|xla_cuda\d+)[^\n]{0,120}not compatible with (?:the installed )?jaxlib",
        Means(_PLUGIN, "jax, jaxlib and the CUDA plugin are of different releases", 0.95),
        source="jax-ml/jax: jax/_src/lib/__init__.py, jax_plugins; openxla/xla: xla/pjrt/pjrt_api.cc",
    ),
    Signature(
        r"jax-cuda1\d-(?:pjrt|plugin)[^\n]{0,80}(?:with (?:an )?older|with (?:a )?newer|mismatch)",
        Means(_PLUGIN, "jax, jaxlib and the CUDA plugin are of different releases", 0.85),
        source="as people describe it",
    ),
    Signature(
        r"Found (?:CUDA|cuBLAS|cuFFT|cuSOLVER|cuSPARSE"
        r"|CUPTI) (?:version )?(?P<found>[\d.]+),? but JAX was built against version (?P<built>[\d.]+)"
        r"|Outdated (?:CUDA|cuBLAS|cuFFT|cuSOLVER|cuSPARSE|CUPTI)[^\n]{0,60}installation found",
        Means(
            "jax-cuda-older-than-built",
            "the CUDA library that JAX found ({found}) is older than it was built against ({built})",
            0.94,
        ),
        Means("ld-library-path-shadowing", "an older library may come first by LD_LIBRARY_PATH", 0.7),
        source="jax-ml/jax: jax_plugins/cuda/__init__.py, _check_cuda_versions",
    ),
    Signature(
        r"Tensor ?[Ff]low[^\n]{0,40}\b2\.(?:1[1-9]|[2-9]\d)\b|TF (?:Python )?version[^\n]{0,6}2\.(?:1[1-9]"
        r"|[2-9]\d)|tensorflow[-=~ ]*==? ?2\.(?:1[1-9]|[2-9]\d)",
        Means(
            _WINDOWS_TF,
            "TensorFlow after 2.10 has no GPU build for Windows itself; WSL has",
            0.9,
            given=r"windows",
            unless=r"\bWSL|No matching distribution",
        ),
        source="tensorflow/docs: site/en/install/pip.md",
    ),
    Signature(
        r"(?:No matching distribution found for|satisfies the requirement"
        r"|there is no version of) [\w.\[\]-]+==[\w.]+\+(?P<tag>cu\d+|cpu)",
        Means(
            _NO_WHEEL, "the index that was asked has no {tag} build of it: each such build has an index of its own", 0.9
        ),
        source="pip",
    ),
    Signature(
        r"No matching distribution found for (?P<what>[\w.\[\]-]+)"
        r"|Could not find a version that satisfies the requirement (?P<which>[\w.\[\]-]+)"
        r"|there is no version of (?P<uv>[\w.\[\]-]+)"
        r"|is not a supported wheel on this platform|requires a different Python"
        r"|has no wheels with a matching Python",
        Means(_JETSON, "for this Jetson, wheels come from NVIDIA's own index", 0.8, given=JETSON + r"|aarch64"),
        Means(
            _NO_WHEEL,
            "there is no wheel for this Python version or system",
            0.85,
            given=r"torch|tensorflow|jax|cupy|onnxruntime|nvidia|flash|xformers|vllm|paddle|mxnet",
        ),
        source="pip, uv",
    ),
    Signature(
        r"CuPy may not function correctly because multiple CuPy packages are installed"
        r"|multiple (?:versions of )?CuPy packages",
        Means("multiple-cupy", "several CuPy packages are in one environment", 0.95),
        source="cupy/cupy: cupy/_environment.py, _detect_duplicate_installation",
    ),
    Signature(
        r"operator torchvision::\w+ does not exist|torchvision::nms|Couldn't load custom C\+\+ ops"
        r"|Failed to load image Python extension: '?(?:Could not load this library|[^\n]{0,200}undefined symbol)"
        r"|torch(?:vision|audio) (?:version )?(?:==)?[\d.+\w]+ (?:has requirement|requires) torch=="
        r"|PyTorch and torchvision (?:versions|were) (?:are |compiled )",
        Means("companion-version-mismatch", "torchvision or torchaudio is of another torch", 0.92),
        source="pytorch/vision: torchvision/extension.py, torchvision/io/image.py",
    ),
    Signature(
        r"Could not find the bitsandbytes CUDA binary at|Could not load bitsandbytes native library"
        r"|CUDA Setup failed despite (?:GPU|CUDA) being available|CUDA SETUP: (?:CUDA detection failed"
        r"|Required library version not found)|bitsandbytes[^\n]{0,120}compiled without GPU support"
        r"|libbitsandbytes_cuda\d+\w*\.so[^\n]{0,60}(?:not found|No such file|cannot open)",
        Means(
            "extension-built-for-other-cuda",
            "bitsandbytes has no library for this CUDA, or does not find its own",
            0.85,
        ),
        Means(_CPU, "bitsandbytes takes its CPU library", 0.6, given=r"without GPU support"),
        source="bitsandbytes-foundation/bitsandbytes: bitsandbytes/cextension.py",
    ),
    Signature(
        r"xFormers was built for: PyTorch (?P<built>[\w.+]+)(?: with CUDA \w+)? \(you have (?P<have>[\w.+]+)\)",
        Means(_CPU, "this is the CPU build of torch ({have}), and xFormers is for {built}", 0.93, given=_HAVE_CPU),
        Means(
            "extension-built-for-other-cuda",
            "xFormers is built for torch {built}, and torch {have} is installed",
            0.9,
            unless=_HAVE_CPU,
        ),
        source="facebookresearch/xformers: xformers/_cpp_lib.py",
    ),
    Signature(
        r"No solution found when resolving dependencies(?=[\s\S]{0,900}\bdepends on)",
        Means(_PLUGIN, "the releases of jax and jaxlib that are asked for exclude each other", 0.85, given=_UV_JAX),
        Means(
            "pip-nvidia-wheels-conflict",
            "the releases of NVIDIA's wheels that are asked for exclude each other",
            0.85,
            given=_UV_NVIDIA,
        ),
        source="astral-sh/uv: crates/uv-resolver/src/pubgrub/report.rs",
    ),
    Signature(
        r"conflict is caused by:(?=[\s\S]{0,600}\bjaxlib)(?=[\s\S]{0,600}\bjax\b)",
        Means(
            "jax-plugin-version-mismatch", "the releases of jax and jaxlib that are asked for exclude each other", 0.85
        ),
        source="pypa/pip: src/pip/_internal/resolution/resolvelib/factory.py",
    ),
    Signature(
        r"conflict is caused by:(?=[\s\S]{0,600}\bnvidia-[a-z-]+)",
        Means(
            "pip-nvidia-wheels-conflict", "the releases of NVIDIA's wheels that are asked for exclude each other", 0.85
        ),
        source="pypa/pip: src/pip/_internal/resolution/resolvelib/factory.py",
    ),
    Signature(
        r"xla_bridge\.py[\s\S]{0,160}assert _default_backend is not None",
        Means(
            "cpu-only-wheel",
            "JAX_PLATFORMS names a backend for which JAX has no plugin installed",
            0.7,
            unless=r"cudart_stub|plugin configuration error",
        ),
        source="jax-ml/jax: jax/_src/xla_bridge.py, backends",
    ),
    Signature(
        r"unmet dependencies|held broken packages|pkgProblemResolver"
        r"|trying to overwrite '[^'\n]*', which is also in package|conflicts? with[^\n]{0,40}(?:nvidia|cuda"
        r"|libcudnn)|nothing provides (?!(?:requested )?__cuda)[^\n]{0,60}(?:nvidia|cuda)",
        Means(
            "apt-package-conflict",
            "packages of different repositories, or held ones, stand in the way",
            0.9,
            given=r"nvidia|cuda|cudnn|libcufile|libnv",
        ),
        source="apt, dpkg, dnf",
    ),
    Signature(
        r"No module named '?torch\._C'?|cannot import name '\w+' from partially initialized module 'torch"
        r"|module 'torch' has no attribute|DLL load failed while importing _C"
        r"|WARNING: Ignoring invalid distribution",
        Means("corrupted-install", "the Python environment is damaged: a package is there in part only", 0.7),
        source="CPython; pip",
    ),
    Signature(
        r"compiled using NumPy 1\.x cannot be run in|_ARRAY_API not found"
        r"|Failed to initialize NumPy: (?!No module named)"
        r"|Numba needs NumPy 1\.\d+ or less|RuntimeError: Numpy is not available",
        Means("numpy-abi-mismatch", _NUMPY, 0.9, unless=_GOES_ON),
        Means("numpy-abi-mismatch", f"{_NUMPY}: a warning, after which the program went on", 0.45, given=_GOES_ON),
        source="numpy/numpy: numpy/_core/src/multiarray/_multiarraymodule; pytorch/pytorch: tensor_numpy.cpp; numba",
    ),
    Signature(
        r"libcurand\.so\.10: cannot open|libcublas\.so\.10: cannot open",
        Means(_JETSON, "a torch built for a Jetson looks for JetPack's libraries", 0.9, given=r"_load_global_deps"),
        source="NVIDIA's torch wheels for Jetson",
    ),
    Signature(
        r"Is CUDA available *: (?:True|Yes)",
        Means(
            "not-a-stack-problem",
            "the dump itself shows a framework that sees its GPU",
            0.6,
            unless=r"error\b|traceback|exception|fail|not compatible|mismatch|cannot|could not (?!collect)",
        ),
        source="pytorch/pytorch: torch/utils/collect_env.py",
    ),
    Signature(
        r"Segmentation fault",
        Means(_PLUGIN, "the CUDA plugin and jaxlib are of different releases", 0.7, given=r"jax-cuda1\d|jax_cuda1\d"),
        source="the shell",
    ),
    Signature(
        r"CUDA used to build PyTorch *: (?P<built>1?\d\.\d)",
        Means(
            "framework-bug",
            "torch 1.8.0 with CUDA 10.2 has a cuDNN fault of its own; 1.8.1 mends it",
            0.9,
            given=r"PyTorch version: 1\.8\.0",
            unless=r"no kernel image",
        ),
        source="pytorch/pytorch#53896",
    ),
    Signature(
        r"(?:os|platform)[^\n]{0,40}windows",
        Means(
            _WINDOWS_TF,
            "TensorFlow after 2.10 has no GPU build for Windows itself; WSL has",
            0.85,
            given=r"tensorflow[^\n]{0,40}2\.(?:1[1-9]|2\d)|\bTF 2\.(?:1[1-9]|2\d)",
            unless=r"\bWSL|No matching distribution",
        ),
        source="tensorflow/docs: site/en/install/pip.md",
    ),
    Signature(
        r"package (?:torchvision|torchaudio|torchtext)-\S+ requires (?:pytorch|cudatoolkit)\b"
        r"|(?:torchvision|torchaudio|torchtext) [\d.]+ +is not installable",
        Means("companion-version-mismatch", "this torchvision or torchaudio excludes the torch or CUDA", 0.85),
        source="mamba-org/mamba: libmamba/src/solver/problems_graph.cpp",
    ),
    Signature(
        r"cannot enable executable stack as shared object requires",
        Means(
            "framework-bug", "this build wants an executable stack, which glibc 2.41 and later refuse", 0.9, given=_ANY
        ),
        source="glibc: sysdeps/unix/sysv/linux/dl-execstack.c",
    ),
    Signature(
        r"engine plan file is (?:generated on an incompatible device|not compatible with this version of TensorRT)"
        r"|Serialized Engine Version|engine plan file is not compatible, expecting",
        Means("not-a-stack-problem", "the engine is of another TensorRT or for another card: build it here", 0.9),
        source="TensorRT 5 to 10: runtime.cpp, deserializeCudaEngine",
    ),
)
