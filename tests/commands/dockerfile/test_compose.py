"""Compose files: the service's Dockerfile, its arguments and variables, and how it is given GPUs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from doctor.commands.check.command import CheckSubject, report_of
from doctor.host import BadRequest
from doctor.model.encode import encode_report
from doctor.model.facts.seen import Place
from doctor.model.finding import Report
from doctor.output.finding_views import place_of
from doctor.script.parse import DockerfileError
from doctor.script.yaml import Node, parse_yaml
from tests.commands.dockerfile.judged import found

CODE = "compose-gpu-not-reserved"
# ruff: noqa: E501 - lines of YAML
CUDA = "ARG CUDA=12.8.1\nFROM nvidia/cuda:${CUDA}-runtime-ubuntu24.04 AS app\nFROM python:3.12\n"
APP = "services:\n  app:\n    build: {context: src, target: app}\n"
DEVICES = "    deploy:\n      resources:\n        reservations:\n          devices:\n"
GIVEN = {
    "reservation": f"{DEVICES}            - driver: nvidia\n              count: all\n              capabilities: [gpu]\n",
    "reservation, block list": f"{DEVICES}          - capabilities:\n            - gpu\n            - utility\n",
    "flow": "    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: ['gpu']}]}}}\n",
    "gpus": "    gpus: all\n",
    "as a text": f"{DEVICES}            - {{capabilities: [gpu], count: '2'}}\n",
    "of any case": f"{DEVICES}            - {{capabilities: [gpu], count: ALL}}\n",
    "a count nobody knows": f"{DEVICES}            - {{capabilities: [gpu], count: '$${{N}}'}}\n",
    "gpus, listed": "    gpus:\n      - driver: nvidia\n        count: 2\n",
    "runtime": "    runtime: nvidia  # and the variables of the image\n",
    "CDI": "    devices:\n      - nvidia.com/gpu=all\n",
    "swarm": "    deploy:\n      resources:\n        reservations:\n          generic_resources:\n"
    "            - discrete_resource_spec: {kind: 'NVIDIA-GPU', value: 1}\n",
    "a variable": "    runtime: ${RUNTIME:-nvidia}\n",
    "extends": "    extends: {service: base}\n  base:\n    image: x\n    gpus: all\n",
    "merge": "    <<: *gpu\nx-later: 1\n",
}


def report(folder: Path, text: str, service: str = "", dockerfile: str = CUDA, **more: Any) -> Report:
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src" / "Dockerfile").write_text(dockerfile)
    (folder / "compose.yaml").write_text(text)
    path = f"{folder / 'compose.yaml'}:{service}" if service else str(folder / "compose.yaml")
    options = CheckSubject(dockerfile=path, **{"platform": "linux/amd64", "policy": "", **more})
    return report_of(options, time.perf_counter())


@pytest.mark.parametrize("name", GIVEN)
def test_a_service_that_is_given_gpus(name: str, tmp_path: Path) -> None:
    text = f"x-gpu: &gpu\n  gpus: all\n{APP}{GIVEN[name]}"
    assert found(report(tmp_path, text), info=True) == []


@pytest.mark.parametrize(
    ("more", "line", "says"),
    [
        ("", 2, "app needs a GPU but gets none"),
        ("    gpus: []\n    runtime: runc\n", 2, "gets none"),
        (f"{DEVICES}            - driver: nvidia\n              count: 1\n", 8, "app does not start: .*capabilities"),
        (
            f"{DEVICES}            - {{capabilities: [gpu], count: 1, device_ids: ['0']}}\n",
            8,
            "Compose refuses count together",
        ),
        (f"{DEVICES}            - capabilities: [tpu]\n", 2, "gets none"),
        (f"{DEVICES}            - {{capabilities: [gpu], count: two}}\n", 8, "count: two is not 'all' and not a whole"),
        (f"{DEVICES}            - {{capabilities: [gpu], count: 1.5}}\n", 8, "count: 1.5 is not 'all'"),
        (f"{DEVICES}            - {{capabilities: [gpu], count: [1]}}\n", 8, "a count that is a list or a mapping is"),
        ("    gpus:\n      - count: some\n", 5, "count: some is not 'all' and not a whole number"),
    ],
)
def test_a_service_that_is_not(more: str, line: int, says: str, tmp_path: Path) -> None:
    import re

    said = encode_report(report(tmp_path, APP + more))["findings"]
    assert [one["code"] for one in said] == [CODE]
    assert re.search(says, said[0]["summary"])
    assert said[0]["evidence"][0]["source"] in {f"{tmp_path}/compose.yaml:{each}" for each in (line, line + 1)}
    assert said[0]["remedies"]


def test_what_is_advised_mends_it(tmp_path: Path) -> None:
    advice = report(tmp_path, APP).findings[0].remedies[0].summary
    lines = advice.partition("compose.yaml: ")[2]
    assert found(report(tmp_path, f"{APP}    {lines}\n")) == []


def test_nothing_is_asked_of_what_computes_on_no_gpu(tmp_path: Path) -> None:
    plain = "FROM python:3.12\nRUN pip install --no-cache-dir flask torch==2.9.1 --index-url http://x/whl/cpu\n"
    assert found(report(tmp_path, "services: {app: {build: ./src}}\n", dockerfile=plain)) == []
    assert found(report(tmp_path, "services: {app: {image: 'redis:7'}}\n")) == []


def test_arguments_targets_and_variables(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("# of the project\nRELEASE='11.8.0'\n")
    text = (
        "services:\n  db: {image: postgres}\n  app:\n    gpus: all\n    build:\n      context: ./src\n      target: app\n"
        "      args:\n        - CUDA=${RELEASE:-12.4.1}\n    environment:\n      - NVIDIA_VISIBLE_DEVICES=void\n      - HOME\n"
    )
    said = report(tmp_path, text)
    assert said.facts.dockerfile.get().base.release == "11.8.0"
    one = next(one for one in said.findings if one.code == "container-gpus-hidden")
    assert one.evidence[0].source == f"{tmp_path}/compose.yaml:11"
    given = report(tmp_path, text, build_args=("CUDA=12.6.3",)).facts.dockerfile.get()
    assert (given.base.release, given.stage) == ("12.6.3", "app")
    assert report(tmp_path, text, target="1").facts.dockerfile.get().base.image == "python:3.12"


def test_an_image_and_a_dockerfile_within(tmp_path: Path) -> None:
    inline = (
        "services:\n  app:\n    gpus: all\n    build:\n      dockerfile_inline: |\n        FROM nvidia/cuda:12.8.1-runtime-ubuntu24.04\n"
        "        # a comment\n\n        RUN nvcc a.cu\n"
    )
    one = next(one for one in report(tmp_path, inline).findings if one.code == "dockerfile-nvcc-missing")
    assert one.evidence[0].source == "compose.yaml:9"
    said = report(tmp_path, "services:\n  app:\n    image: nvidia/cuda:12.8.1-base-ubuntu24.04\n")
    assert (found(said), said.facts.dockerfile.get().base.source) == ([CODE], Place("compose.yaml", 3))


def test_its_place_is_the_file_as_it_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deploy").mkdir()
    report(tmp_path / "deploy", APP)
    monkeypatch.chdir(tmp_path)
    said = report_of(
        CheckSubject(dockerfile="deploy/compose.yaml", platform="linux/amd64", policy=""), time.perf_counter()
    )
    assert place_of(said.findings[0], said.facts.machine) == Place("deploy/compose.yaml", 3)


def test_one_of_several_services(tmp_path: Path) -> None:
    text = "services:\n  a: {build: src, gpus: all}\n  b: {build: src}\n"
    with pytest.raises(BadRequest, match=r"several services; choose one as FILE:SERVICE: a, b"):
        report(tmp_path, text)
    with pytest.raises(BadRequest, match=r"has no service c: a, b"):
        report(tmp_path, text, "c")
    assert report(tmp_path, text, "b").facts.dockerfile.get().service


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "services:\n  app:\n    extends: {file: other.yaml, service: x}\n    build: {context: src, target: app}\n",
            "",
        ),
        ("services: {}\n", "no services"),
        ("services:\n  app: {build: 'https://github.com/a/b.git'}\n", "does not download"),
        ("services:\n  app: {command: x}\n", "no image and no build"),
        ("services:\n  app: {build: elsewhere}\n", "elsewhere/Dockerfile: "),
    ],
)
def test_what_is_not_known(text: str, says: str, tmp_path: Path) -> None:
    if not says:
        said = next(one for one in report(tmp_path, text).answers if one.code == CODE)
        assert (said.kind.value, "another file" in said.why) == ("unknown", True)
        return
    with pytest.raises(BadRequest, match=says):
        report(tmp_path, text)


YAML = {
    "scalars": "a: b c\nd: 'it''s'\ne: \"x: \\\"y\\\" # z\"\nf: http://x:80/#y  # comment\ng:\nh: ~\n",
    "sequences": "a:\n- b\n-  c: d\n   e: f\n- - g\n  - h\n-\n  - i\nj:\n  - k: [l, 'm, n', {o: p}]\n",
    "flow": "a: {b: [c, d], e: 'f',}\ng: [\n  h,\n  i ]\nj: []\nk: {}\nl: [a b, http://c:80]\n",
    "literal": "a: |\n  b\n    c\n\n  # d\ne: f\n",
    "anchors": "a: &x {b: c}\nd: *x\ne: &y\n  - f\ng: *y\nh: &z i\nj: [*z, k]\n",
    "plain scalars that go on": "a: b\n  c\n  d\ne:\n  f g\n  h\n",
    "a document": "---\n# c\na: b\n...\n",
    "odd keys": "'a b': 1\n\"c\": 2\nx.y/z-1: 3\na=b: 4\n",
    "a list": "- a\n- b\n",
}


def plain(node: Node) -> object:
    if isinstance(node.value, dict):
        return {name: plain(one) for name, one in node.value.items()}
    return [plain(one) for one in node.value] if isinstance(node.value, list) else node.value or ""


@pytest.mark.parametrize("loader", ["C", "Python"])
@pytest.mark.parametrize("name", YAML)
def test_yaml_as_others_read_it(name: str, loader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if loader == "Python":
        monkeypatch.delattr(yaml, "CSafeLoader")
    expected = yaml.load(YAML[name], Loader=yaml.BaseLoader)  # every scalar as its text
    assert str(plain(parse_yaml(YAML[name], "c"))) == str(expected).replace("'~'", "''")


@pytest.mark.parametrize(
    "text",
    ["a: b\n\tc: d\n", "a: [b\n", "a: 'b\n", "a: *nobody\n", "? a\n: b\n", "a: b\n---\nc: d\n", "a: b: c\n  d: e\n",
     "a: {b: [c}\n", "\n".join(" " * n + "a:" for n in range(200)), "[" * 5000, "a: " + "{" * 5000,
     "\n".join(f"a{n}: &a{n} [*a{n - 1}]" if n else "a0: &a0 [x]" for n in range(500)) + "\nservices: *a499\n"],
)  # fmt: skip
def test_what_is_no_compose_file_is_one_line(text: str, tmp_path: Path) -> None:
    with pytest.raises(DockerfileError) as raised:
        report(tmp_path, text)
    assert "\n" not in str(raised.value)


def test_laughs_are_few(tmp_path: Path) -> None:
    started = time.process_time()
    text = "a0: &a0 x\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}]\n" for n in range(1, 60))
    assert report(tmp_path, f"{text}{APP}").findings
    merged = "k0: &k0 {a0: 1}\n" + "".join(f"k{n}: &k{n}\n  <<: *k{n - 1}\n  a{n}: 1\n" for n in range(1, 3000))
    with pytest.raises(DockerfileError, match="endless merges"):
        report(tmp_path, f"{merged}{APP}")
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("environment", "code", "says"),
    [
        (
            "NVIDIA_DRIVER_CAPABILITIES: video",
            "container-without-compute",
            "NVIDIA_DRIVER_CAPABILITIES: compute,utility,video",
        ),
        ("NVIDIA_VISIBLE_DEVICES: void", "container-gpus-hidden", "NVIDIA_VISIBLE_DEVICES: all"),
        ("NVIDIA_REQUIRE_CUDA: cuda >= 12.0", "container-requirement-unmet", 'NVIDIA_REQUIRE_CUDA: "cuda>=12.0"'),
    ],
)
def test_a_variable_of_the_service_is_mended_there(environment: str, code: str, says: str, tmp_path: Path) -> None:
    said = report(tmp_path, f"{APP}    gpus: all\n    environment:\n      {environment}\n", only=(code,))
    remedies = encode_report(said)["findings"][0]["remedies"]
    assert f"compose.yaml:6, set {says} under environment" in str(remedies)
