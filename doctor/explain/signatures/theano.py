"""Theano and its compilers."""

from __future__ import annotations

from doctor.explain.signature import Family, Means, Signature

FAMILY = Family(
    Signature(
        r"ERROR \(theano\.(?:gpuarray|sandbox\.cuda)[^)]*\):[^\n]{0,160}"
        r"|Could not initialize pygpu, support disabled|Failed to compile cuda_ndarray\.cu"
        r"|CUDA is installed, but (?:device gpu is not available|GPU device is not available)"
        r"|nvcc compiler not found on \$PATH",
        Means("theanorc-misconfigured", "Theano does not find CUDA, or its device is not named: .theanorc, PATH", 0.75),
        source="Theano/Theano: theano/sandbox/cuda/__init__.py, theano/gpuarray/__init__.py",
    ),
    Signature(
        r"\.theanorc(?:\.txt)?|THEANO_FLAGS|dnn\.(?:include|library)_path",
        Means(
            "theanorc-misconfigured",
            "Theano's configuration decides where it looks for CUDA and cuDNN",
            0.55,
            given=r"cudnn|nvcc|error|not (?:found|available)",
        ),
        source="Theano/Theano: theano/configdefaults.py",
    ),
    Signature(
        r"The cuda backend is (?:deprecated|no longer)|use the gpuarray backend",
        Means("not-a-stack-problem", "Theano's old back end (device=gpu) is gone: device=cuda", 0.6),
        source="Theano/Theano: theano/sandbox/cuda/__init__.py",
    ),
)
