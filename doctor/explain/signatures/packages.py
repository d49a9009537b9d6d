"""Package managers: what they cannot find, or will not install together."""

from __future__ import annotations

from doctor.explain.signature import Family, Means, Signature
from doctor.explain.signatures._words import MAC

_NO_WHEEL, _APT = "python-version-no-wheel", "apt-package-conflict"
_ABOUT = (
    r"torch|tensorflow|jax|cupy|onnxruntime|nvidia|flash|xformers|vllm|paddle|mxnet|cuda|triton|tensorrt|bitsandbytes"
    r"|cudnn"
)
_NVIDIA = r"nvidia|cuda|cudnn|tensorrt|libnccl"

FAMILY = Family(
    Signature(
        r"doesn't have a source distribution or wheel for the current platform|only has wheels (?:with|for) the "
        r"following"
        r"|has no wheels with a matching|Unable to find installation candidates for|we only found wheels for"
        r"|Didn't find wheel for (?P<what>[\w-]+)|which does not exist \(perhaps a missing channel\)"
        r"|PackagesNotFoundError|is not available from current channels",
        Means("no-nvidia-gpu", "there is no wheel of it for a Mac: CUDA is not there", 0.7, given=MAC),
        Means(_NO_WHEEL, "there is no build of it for this Python, system or channel", 0.82, given=_ABOUT, unless=MAC),
        source=(
            "astral-sh/uv: crates/uv-resolver; python-poetry/poetry: installation/chooser.py; conda: exceptions.py; "
            "mamba-org/mamba: problems_graph.cpp; NVIDIA's placeholder packages: nvidia_stub"
        ),
    ),
    Signature(
        r"\bversion solving failed|package versions have conflicting dependencies|ResolutionImpossible",
        Means(
            "pip-nvidia-wheels-conflict",
            "the releases of NVIDIA's wheels that are asked for exclude each other",
            0.7,
            given=r"\bnvidia-\w+-cu1\d",
        ),
        Means(_NO_WHEEL, "the releases that are asked for exclude each other", 0.5, given=_ABOUT),
        source="python-poetry/poetry: mixology/failure.py; pypa/pip: resolvelib/factory.py",
    ),
    Signature(
        r"(?:NO_PUBKEY A4B469963BF863CC|(?:GPG error|is not signed)[^\n]{0,120}nvidia|Conflicting values set for "
        r"option "
        r"Signed-By[^\n]{0,120}nvidia|nvidia[^\n]{0,160}(?:public key is not available|is not signed))",
        Means(
            _APT, "NVIDIA's repository stands there twice, or with its old key: cuda-keyring brings the new one", 0.85
        ),
        source="apt: apt-pkg/acquire-item.cc, apt-pkg/deb/debmetaindex.cc; NVIDIA's repositories since April 2022",
    ),
    Signature(
        r"Unable to locate package (?:nvidia|cuda|libcudnn|libnccl|libnvinfer|tensorrt|datacenter)[\w.+-]*"
        r"|E: Version '[^'\n]+' for '(?:nvidia|cuda|libcudnn|libnccl|libnvinfer)[\w.+-]*' was not found"
        r"|(?:No match for argument|Unable to find a match): (?:nvidia|cuda|libcudnn)\S*",
        Means(_APT, "the repository that has this package, or this release of it, is not set up here", 0.7),
        source="apt: apt-private/private-cacheset.cc; dnf",
    ),
    Signature(
        r"dpkg: error processing archive \S*(?:libcuda|libnvidia)[^\n]{0,200}"
        r"(?:\s[^\n]{0,200})?(?:Invalid cross-device link|Device or resource busy)",
        Means(
            "container-image-bakes-driver-libs",
            "the driver is installed within a container that has the host's libraries of it mounted",
            0.88,
        ),
        source="dpkg: src/main/archives.c",
    ),
    Signature(
        r"\b(?:nvidia|cuda|libcudnn|libnv)[\w.+-]* : (?:Depends|Breaks|Conflicts|PreDepends): [^\n]{0,120}but it is "
        r"not "
        r"(?:installable|going to be installed)|dpkg: error processing (?:archive|package) \S*(?:nvidia|libcuda|cudnn)",
        Means(_APT, "packages of different repositories or releases of the driver stand in each other's way", 0.8),
        source="apt: apt-private/private-output.cc; dpkg: src/main/archives.c",
    ),
    Signature(
        r"none of the providers can be installed|filtered out by modular filtering|filtered out by exclude"
        r"|(?:breaks dependency|could not satisfy dependencies)|nothing provides (?!requested|__)\S+[^\n]{0,60} "
        r"needed by",
        Means(_APT, "packages of different repositories, or held ones, stand in the way", 0.8, given=_NVIDIA),
        source="libsolv: src/problems.c, as dnf and zypper print it; pacman: src/pacman/sync.c",
    ),
)
