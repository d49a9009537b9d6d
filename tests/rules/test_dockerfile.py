"""What only a Dockerfile shows: downloads that stay, LD_LIBRARY_PATH without effect, nvcc that lacks, two toolkits."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import as_json
from doctor.model.facts.dockerfile import (
    DockerfileAsked,
    DockerfileBase,
    DockerfileCompile,
    DockerfileFacts,
    DockerfileLine,
    DockerfileService,
    DockerfileTree,
)
from doctor.model.facts.environment import Variable
from doctor.model.facts.seen import Fact, Place
from doctor.model.finding import Answer, Status
from tests.machine import configuration, environment, framework, machine, seen, toolkits, unseen
from tests.rules.case import answer

RUNTIME = DockerfileBase(
    "nvidia/cuda:12.8.1-runtime-ubuntu24.04", Place("Dockerfile", 1), "12.8.1", "runtime", "ubuntu24.04"
)
PIP = DockerfileLine("pip's downloads", Place("Dockerfile", 4), "--no-cache-dir")
EXPORT = DockerfileLine("export ends with its RUN", Place("Dockerfile", 3), "ENV LD_LIBRARY_PATH=/x")
BASE_TREE = DockerfileTree("the base image nvidia/cuda:12.8.1-devel-ubuntu24.04", Place("Dockerfile", 1), "12.8")


def judged(code: str, variables: tuple[Variable, ...] = (), **what: Any) -> Answer:
    """The answer about a Dockerfile that does nothing but this."""
    bare = DockerfileFacts(stage="0", base=RUNTIME, drivers=(), trees=(), compiles=(), paths=(), caches=(), unread=())
    settings = configuration(variables=seen(variables))
    return answer(code, machine(dockerfile=seen(bare._replace(**what)), configuration=settings))


def tree(cuda: str) -> DockerfileTree:
    return DockerfileTree("the package cuda-toolkit", Place("Dockerfile", 2), cuda)


@pytest.mark.parametrize(
    "code",
    [
        "compose-gpu-not-reserved",
        "dockerfile-caches-left",
        "dockerfile-glibc-missing",
        "dockerfile-libraries-missing",
        "dockerfile-library-path",
        "dockerfile-nvcc-missing",
        "dockerfile-two-toolkits",
    ],
)
def test_no_machine_has_them(code: str) -> None:
    assert answer(code, machine()).kind is Status.NOT_APPLICABLE


def test_dockerfile_caches_left() -> None:
    assert judged("dockerfile-caches-left").kind is Status.OK
    found = judged("dockerfile-caches-left", caches=(PIP, PIP))
    assert (found.kind, found.why) == (Status.BAD, "Dockerfile:4 leaves pip's downloads in the image")
    assert [one.source for one in found.evidence] == ["Dockerfile:4"]


def test_dockerfile_library_path() -> None:
    found = judged("dockerfile-library-path", paths=(EXPORT,))
    assert (found.kind, "without effect" in found.why) == (Status.BAD, True)
    fine = Variable("LD_LIBRARY_PATH", "/opt/lib", "Dockerfile:3", Place("Dockerfile", 3))
    assert judged("dockerfile-library-path", (fine,)).kind is Status.OK
    assert judged("dockerfile-library-path").kind is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("image", "may_bring", "there", "kind", "said"),
    [
        ("12.8.1-cudnn-runtime-ubuntu24.04", (), None, Status.OK, "has the libraries that"),
        ("12.8.1-runtime-ubuntu24.04", (), None, Status.BAD, "has no cuDNN 9"),
        ("12.8.1-base-ubuntu24.04", (), None, Status.BAD, "has no cuBLAS"),
        ("11.8.0-cudnn8-runtime-ubuntu22.04", (), None, Status.BAD, "has no CUDA 12"),
        ("12.8.1-runtime-ubuntu24.04", (PIP,), None, Status.UNKNOWN, ", which may install CUDA libraries"),
        ("12.8.1-runtime-ubuntu24.04", (), unseen("not pulled"), Status.UNKNOWN, "is unknown"),
    ],
)
def test_dockerfile_libraries_missing(
    image: str, may_bring: tuple[DockerfileLine, ...], there: Fact[Any] | None, kind: Status, said: str
) -> None:
    release, variant = image.split("-", maxsplit=1)[0], image.rpartition("-")[0].partition("-")[2]
    base = RUNTIME._replace(image=f"nvidia/cuda:{image}", release=release, variant=variant)
    told = DockerfileFacts(stage="0", base=base, drivers=(), trees=(), compiles=(), paths=(), caches=(), unread=())
    facts = machine(
        dockerfile=seen(told._replace(may_bring=may_bring)),
        environments=seen(
            (environment(framework("onnxruntime-gpu", "1.20.1")._replace(note="pinned in Dockerfile:2")),)
        ),
        **({} if there is None else {"toolkit": toolkits()._replace(toolkits=there)}),
    )
    found = answer("dockerfile-libraries-missing", facts)
    assert (found.kind, said in found.why) == (kind, True)


@pytest.mark.parametrize(
    ("has_nvcc", "kind", "said"),
    [
        (seen(True), Status.OK, "has nvcc"),
        (seen(False), Status.BAD, "Dockerfile:3 compiles CUDA code"),
        (unseen("a script before it may bring nvcc"), Status.UNKNOWN, "a script before it"),
    ],
)
def test_dockerfile_nvcc_missing(has_nvcc: Fact[bool], kind: Status, said: str) -> None:
    one = DockerfileCompile("nvcc a.cu", Place("Dockerfile", 3), has_nvcc, RUNTIME)
    found = judged("dockerfile-nvcc-missing", compiles=(one,))
    assert (found.kind, said in found.why) == (kind, True)
    assert judged("dockerfile-nvcc-missing").kind is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("cuda", "kind", "said"),
    [
        ("12.8", Status.OK, "CUDA 12.8"),
        ("11.8", Status.BAD, "Dockerfile:2 installs CUDA 11.8 beside CUDA 12.8"),
        ("distribution", Status.BAD, "the distribution's own CUDA"),
        ("", Status.UNKNOWN, "is known only at build time"),
    ],
)
def test_dockerfile_two_toolkits(cuda: str, kind: Status, said: str) -> None:
    found = judged("dockerfile-two-toolkits", trees=(BASE_TREE, tree(cuda)))
    assert (found.kind, said in found.why) == (kind, True)
    assert judged("dockerfile-two-toolkits", trees=(BASE_TREE,)).kind is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("gpus", "kind", "said"),
    [
        (seen("gpus"), Status.OK, "gets its GPUs by"),
        (seen(""), Status.BAD, "needs a GPU but gets none"),
        (unseen("what it extends lies in another file"), Status.UNKNOWN, "another file"),
    ],
)
def test_compose_gpu_not_reserved(gpus: Fact[str], kind: Status, said: str) -> None:
    found = judged("compose-gpu-not-reserved", service=DockerfileService("app", Place("compose.yaml", 2), gpus, None))
    assert (found.kind, said in found.why) == (kind, True)
    refused = DockerfileService(
        "app", Place("compose.yaml", 2), gpus, DockerfileLine("it lacks capabilities", Place("compose.yaml", 9))
    )
    found = judged("compose-gpu-not-reserved", service=refused)
    assert (found.kind, "does not start:" in found.why) == (Status.BAD, True)
    assert judged("compose-gpu-not-reserved").kind is Status.NOT_APPLICABLE


def test_dockerfile_glibc_missing() -> None:
    code = "dockerfile-glibc-missing"
    base = DockerfileBase("public.ecr.aws/docker/library/python:3.12-alpine3.20", Place("Dockerfile", 1), "", "", "")
    torch, numpy = (DockerfileAsked(name, "", Place("Dockerfile", 2), base) for name in ("torch", "numpy"))
    assert judged(code).kind is Status.NOT_APPLICABLE
    assert judged(code, on_musl=(numpy,)).kind is Status.OK
    found = judged(code, on_musl=(numpy, torch))
    assert (found.kind, found.evidence[0].source) == (Status.BAD, "Dockerfile:2")
    assert "public.ecr.aws/docker/library/python:3.12-slim" in as_json(found.needs[0]).spec
    script = DockerfileLine("runs ./miniconda.sh", Place("Dockerfile", 2))
    assert judged(code, on_musl=(torch,), unread=(script,)).kind is Status.UNKNOWN
