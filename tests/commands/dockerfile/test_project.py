"""Compose files that include or extend others: only within the project's directory, and never round in a circle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor.model.encode import encode_report
from doctor.model.finding import Report
from doctor.script.parse import DockerfileError
from tests.commands.dockerfile.judged import found
from tests.commands.dockerfile.test_compose import CODE
from tests.commands.dockerfile.test_compose import report as report_of

APP = "services:\n  app:\n    extends: {file: gpu/base.yaml, service: base}\n"
BUILT = "services:\n  base:\n    build: {context: ../src, target: app}\n"


def report(folder: Path, text: str, files: dict[str, str], service: str = "", **more: Any) -> Report:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return report_of(folder, text, service, **more)


HEALTHY: dict[str, tuple[str, dict[str, str]]] = {
    "another file's GPUs": (APP, {"gpu/base.yaml": f"{BUILT}    gpus: all\n"}),
    "a chain": (
        APP,
        {
            "gpu/base.yaml": f"{BUILT}    extends: {{service: one, file: more.yaml}}\n",
            "gpu/more.yaml": "services:\n  one: {image: x, extends: {service: two}}\n  two: {runtime: nvidia}\n",
        },
    ),
    "included": ("include: [gpu/base.yaml]\n", {"gpu/base.yaml": f"{BUILT}    gpus: all\n"}),
    "included twice": (
        "include:\n- path: [gpu/base.yaml, other.yaml]\n",
        {"gpu/base.yaml": f"{BUILT}    gpus: all\n", "other.yaml": "include: [gpu/base.yaml]\n"},
    ),
    "merged by key": (
        f"{APP}    deploy: {{replicas: 2}}\n",
        {
            "gpu/base.yaml": f"{BUILT}    deploy:\n      resources:\n        reservations:\n          devices:\n"
            "          - capabilities: [gpu]\n"
        },
    ),
    "outside": (APP.replace("gpu/base", "../base") + "    build: {context: src, target: app}\n", {}),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_silent(name: str, tmp_path: Path) -> None:
    text, files = HEALTHY[name]
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "base.yaml").write_text(f"{BUILT}    gpus: all\n")
    said = report(folder, text, files)
    assert found(said, info=True) == []
    if name == "outside":
        answer = next(one for one in said.answers if one.code == CODE)
        assert "was not read" in answer.why


def test_what_the_other_file_says_is_found_in_its_line(tmp_path: Path) -> None:
    """Its Dockerfile, argument, environment and reservation; the service's own go before."""
    base = (
        f"{BUILT.replace('app}', 'app, args: [CUDA=12.8.1]}')}"
        "    environment:\n    - NVIDIA_VISIBLE_DEVICES=void\n    - A=b\n"
        "    deploy: {resources: {reservations: {devices: [{count: 1}]}}}\n"
    )
    said = encode_report(report(tmp_path, APP, {"gpu/base.yaml": base}))["findings"]
    places = {one["code"]: [link["source"] for link in one["evidence"]] for one in said}
    assert any(f"{tmp_path}/gpu/base.yaml:7" in one for one in places[CODE])
    assert any("gpu/base.yaml:5" in one for one in places["container-gpus-hidden"])
    own = f"{APP}    environment: {{NVIDIA_VISIBLE_DEVICES: all}}\n"
    said = encode_report(report(tmp_path, own, {"gpu/base.yaml": base}))["findings"]
    assert [one["code"] for one in said] == [CODE]


@pytest.mark.parametrize(
    ("text", "files"),
    [
        (APP, {"gpu/base.yaml": "services:\n  base:\n    extends: {file: ../compose.yaml, service: app}\n"}),
        (APP, {"gpu/base.yaml": "services:\n  base: {extends: other}\n  other: {extends: base}\n"}),
        ("services:\n  app: {extends: app}\n", {}),
        ("include: [compose.yaml]\n", {}),
        ("include: [a.yaml]\n", {"a.yaml": "include: [b.yaml]\n", "b.yaml": "include: [a.yaml]\n"}),
    ],
)
def test_a_circle_ends_with_one_line(text: str, files: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(DockerfileError, match="itself") as error:
        report(tmp_path, text, files)
    assert "\n" not in str(error.value)


def test_many_files_end_with_one_line(tmp_path: Path) -> None:
    files = {f"{n}.yaml": f"include: [{n + 1}.yaml, {n + 1}.yaml]\n" for n in range(100)}
    with pytest.raises(DockerfileError, match="more than 50 files"):
        report(tmp_path, "include: [0.yaml]\n", files)


def test_a_damaged_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(DockerfileError, match=r"gpu/base\.yaml:2"):
        report(tmp_path, APP, {"gpu/base.yaml": "services:\n\tx\n"})


def test_inline(tmp_path: Path) -> None:
    """A finding's line is that of the file in which the Dockerfile stands."""
    inline = (
        "services:\n  base:\n    gpus: all\n    build:\n      dockerfile_inline: |\n"
        "        FROM nvidia/cuda:12.8.1-runtime-ubuntu24.04\n        ENV NVIDIA_VISIBLE_DEVICES=void\n"
    )
    said = encode_report(report(tmp_path, APP, {"gpu/base.yaml": inline}))["findings"]
    assert "base.yaml:7" in said[0]["evidence"][0]["source"], said
