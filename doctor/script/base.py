"""What the name of a base image says of it.

Sources: NVIDIA's container-images/cuda, doc/supported-tags.md and README (base: the CUDA runtime; runtime: the
libraries as well; devel: compiler and headers as well); pytorch/pytorch, .github/scripts and docker.Makefile (devel is
built on nvidia/cuda's devel); Docker's official images, whose tags are `RELEASE-VARIANT`.
"""

from __future__ import annotations

import re

from compat.base.record import NamedTuple
from doctor.model.facts.dockerfile import DockerfileBase
from doctor.model.facts.seen import Place
from doctor.script.expand import is_open, shown

_HOSTS = re.compile(r"^(?:docker\.io/(?:library/)?|index\.docker\.io/|nvcr\.io/|public\.ecr\.aws/docker/library/)")
_CUDA = re.compile(
    r"nvidia/cuda:(\d+\.\d+(?:\.\d+)?)(?:-cudnn\d*|-tensorrt)?-(base|runtime|devel)(?:-cudnn\d*)?(?:-([a-z]+[\d.]+))?"
)
_FRAMEWORK = re.compile(r"([a-z-]+)/\1:(\d+\.\d+\.\d+)-cuda(\d+\.\d+)-cudnn\d+-(runtime|devel)")
_FRAMEWORK_ALONE = re.compile(r"([a-z-]+)/\1:(\d+\.\d+\.\d+)-gpu(?:-jupyter)?")
_PYTHON = re.compile(r"python:(3\.\d+)(?:\.\d+)?(?:-.*)?")
_SYSTEM = re.compile(r"(ubuntu|debian|rockylinux|almalinux|fedora):(\d+(?:\.\d+)?)(?:[.-].*)?")
_ALPINE = re.compile(r"alpine(?::(\d+\.\d+)?.*)?|[a-z\d]+:(?:.+-)?alpine(\d+\.\d+)?")  # official images: no slash
# Images that hold a Python, conda or uv, and no framework. An official image, which has no slash, holds none either.
_WITHOUT_FRAMEWORK = re.compile(
    r"(?:continuumio|condaforge)/(?:miniconda3|anaconda3|miniforge3|mambaforge)|mambaorg/micromamba"
    r"|ghcr\.io/(?:astral-sh/uv|prefix-dev/pixi)|mcr\.microsoft\.com/devcontainers/(?:base|python|miniconda)"
)
_CONDA, _WITH_CONDA = "/opt/conda", re.compile(r"(?:continuumio|condaforge|mambaorg)/")
# Sources: uv's documentation, "Available images"; devcontainers/images, src/python/README.md (2.0-3.13-bookworm).
_UV = re.compile(
    r"(?:ghcr\.io/astral-sh/uv:(?:.*-)?python|mcr\.microsoft\.com/devcontainers/python:(?:\d[\d.]*-)?)(3\.\d+)(?:-.*)?"
)
_SERVER = re.compile(r"([a-z]+)/\1-openai:v(\d+\.\d+\.\d+)(?:-.*)?")  # named as the framework that serves
# Names that tags have for releases. Sources: Debian's "Releases"; Ubuntu's "List of releases".
_NAMES = {"buster": ("debian", "10"), "bullseye": ("debian", "11"), "bookworm": ("debian", "12"),
          "trixie": ("debian", "13"), "bionic": ("ubuntu", "18.04"), "focal": ("ubuntu", "20.04"),
          "jammy": ("ubuntu", "22.04"), "noble": ("ubuntu", "24.04")}  # fmt: skip
_PLAIN = frozenset({"python", "ubuntu", "debian", "rockylinux", "almalinux", "fedora", "alpine"})


class Base(NamedTuple):
    """What is known of a base image."""

    told: DockerfileBase
    nvcc: bool | None  # whether nvcc is in it, None where that is not known
    python: str = ""  # "3.11"
    framework: str = ""  # a spec, named as the image is: "pytorch==2.9.1+cu128"
    distribution: tuple[str, str] = ("", "")  # id and release
    is_known: bool = True  # whether its name tells which frameworks it holds
    prefix: str = ""  # of its conda, "/opt/conda"
    is_plain: bool = False  # an official image of a system or of Python: without a variable of the loader


def base_of(name: str, source: Place) -> Base:
    """What an image's name says."""
    text = shown(name)
    told = DockerfileBase(image=text, source=source, release="", variant="", system="")
    bare = _HOSTS.sub("", name.partition("@")[0])
    if name == "scratch":
        return Base(told, False, is_plain=True)
    if is_open(name):
        return Base(told, None, is_known=False)
    if found := _CUDA.fullmatch(bare):
        told = told._replace(release=found[1], variant=found[2], system=found[3] or "")
        return Base(told, found[2] == "devel", distribution=_distribution(found[3] or ""))
    if found := _FRAMEWORK.fullmatch(bare):
        told = told._replace(release=found[3] if found[4] == "devel" else "", variant=found[4])
        framework = f"{found[1]}=={found[2]}+cu{found[3].replace('.', '')}"
        return Base(told, found[4] == "devel", framework=framework, prefix=_prefix(found[1], found[2]))
    if found := _FRAMEWORK_ALONE.fullmatch(bare):
        return Base(told, None, framework=f"{found[1]}=={found[2]}")
    if found := _SERVER.fullmatch(bare):
        return Base(told, None, framework=f"{found[1]}=={found[2]}")
    alpine = _ALPINE.fullmatch(bare)
    repository = bare.partition(":")[0]
    if repository in _PLAIN:
        python, system = _PYTHON.fullmatch(bare), _SYSTEM.fullmatch(bare)
        identity = _IDS.get(system[1], system[1]) if system else ""
        return Base(
            told,
            False,
            python=python[1] if python else "",
            distribution=_alpine(alpine) if alpine else (identity, system[2]) if system else _named(bare),
            is_plain=True,
        )
    uv = _UV.fullmatch(bare)
    return Base(
        told,
        False if uv else None,
        python=uv[1] if uv else "",
        distribution=_alpine(alpine) if alpine else _named(bare) if uv else ("", ""),
        is_known="/" not in repository or bool(_WITHOUT_FRAMEWORK.fullmatch(repository)),
        prefix=_CONDA if _WITH_CONDA.match(repository) else "",
    )


def _prefix(name: str, release: str) -> str:
    """PyTorch's images had a conda of their own. Source: pytorch/pytorch:Dockerfile@01343dcd and its forks of 2025."""
    return _CONDA if name == "pytorch" and tuple(map(int, release.split("."))) < (2, 9) else ""


def _named(bare: str) -> tuple[str, str]:
    """The system that a tag names: debian:bookworm-slim, python:3.12-slim-bookworm."""
    words = bare.partition(":")[2].split("-")
    return next((_NAMES[one] for one in words if one in _NAMES), ("", ""))


_IDS = {"rockylinux": "rocky"}


def _alpine(found: re.Match[str]) -> tuple[str, str]:
    return "alpine", found[1] or found[2] or ""


def _distribution(system: str) -> tuple[str, str]:
    found = re.fullmatch(r"([a-z]+?)([\d.]+)", system)
    if not found:
        return "", ""
    named = {"ubi": "rhel", "rockylinux": "rocky", "oraclelinux": "ol", "opensuse": "opensuse-leap"}
    return named.get(found[1], found[1]), found[2]
