"""The image's own configuration: its variables decide, the line that set them is named, and remedies are for it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from doctor.commands.check.command import CheckSubject, report_of
from doctor.host import BadRequest
from doctor.image.config import parse_config
from doctor.model.encode import encode_report
from tests.image.pack import config_of, in_folder, oci, tar_of, tar_with
from tests.lab.cudnn_tree import copy_of
from tests.lab.parts import DISK, at, python_at, together

ABOVE = "usr/lib/x86_64-linux-gnu"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A disk with torch and its cuDNN, another cuDNN that nothing leads to, and a Python where nobody looks."""
    root = tmp_path_factory.mktemp("image") / "tree"
    root.mkdir()
    together(DISK, at("/opt/cudnn/lib", copy_of, "9.5.1"), python_at("/strange/place"))(root)
    return root


def checked(folder: Path, layers: list[bytes], env: Mapping[str, str], **more: Any) -> dict[str, Any]:
    in_folder(oci(layers, config_of(layers, env, **more)), folder / "layout")
    report = report_of(CheckSubject(image=str(folder / "layout")), time.perf_counter())
    encoded: dict[str, Any] = encode_report(report)
    return encoded


def found(report: dict[str, Any], code: str) -> dict[str, Any]:
    return next(one for one in report["findings"] if one["code"] == code)


@pytest.mark.slow
def test_without_a_variable_nothing_is_wrong(tree: Path, tmp_path: Path) -> None:
    assert checked(tmp_path, [tar_of(tree)], {})["findings"] == []


def test_a_shadowing_variable(tree: Path, tmp_path: Path) -> None:
    report = checked(tmp_path, [tar_of(tree)], {"LD_LIBRARY_PATH": "/opt/cudnn/lib:/usr/lib"})
    one = found(report, "ld-library-path-shadowing")
    line = "the image's history, line 2: ENV LD_LIBRARY_PATH=/opt/cudnn/lib:/usr/lib"
    assert line in json.dumps(one["evidence"])
    assert "ENV LD_LIBRARY_PATH=/usr/lib" in one["remedies"][0]["commands"]
    assert not any("chroot" in text or "sudo" in text for text in one["remedies"][0]["commands"])


@pytest.mark.slow
def test_files_that_a_build_under_the_runtime_leaves_behind(tree: Path, tmp_path: Path) -> None:
    left = tar_with({f"{ABOVE}/libcuda.so.550.54.14": b"", f"{ABOVE}/libnvidia-ml.so.550.54.14": b""})
    disk = tar_of(tree)
    kept = tar_with({"lib/.wh.modules": b"", "boot/.wh..wh..opq": b""})  # an image has no kernel
    one = found(checked(tmp_path, [disk, kept, left], {}), "container-image-bakes-driver-libs")
    assert "(layer 3: COPY layer 3)" in json.dumps(one["evidence"])


@pytest.mark.slow
def test_a_whiteout_hides_a_library_of_a_wheel(tree: Path, tmp_path: Path) -> None:
    wheel = next(tree.rglob("nvidia/cudnn/lib")).relative_to(tree)
    hidden = tar_with({f"{wheel}/.wh.libcudnn_ops.so.9": b""})
    codes = {one["code"] for one in checked(tmp_path, [tar_of(tree), hidden], {})["findings"]}
    assert codes & {"corrupted-install", "cudnn-sublibrary-missing", "cudnn-install-incomplete"}


@pytest.mark.slow
def test_python_by_path(tree: Path, tmp_path: Path) -> None:
    report = checked(tmp_path, [tar_of(tree)], {"PATH": "/strange/place/bin:/usr/bin"})
    first = report["facts"]["environments"][0]
    assert (first["prefix"], first["asked_by"]) == ("/strange/place", "python3 on PATH")


PASSWD = b"root:x:0:0:root:/root:/bin/sh\njo:x:1000:100::/home/jo:/bin/sh\n"
STARTED = {
    "by its path": (["/opt/a/bin/python3.12", "app.py"], "/opt/a"),
    "by PATH": (["python", "app.py"], "/opt/b"),
    "in the working directory": (["./bin/python"], "/opt/a"),
    "by an init": (["tini", "--", "python", "-m", "app"], "/opt/b"),
    "by a shell": (["/bin/sh", "-c", "cd / && exec /opt/a/bin/python app.py"], "/opt/a"),
    "after an activation": (["bash", "-lc", ". /opt/a/bin/activate && python app.py"], "/opt/a"),
    "by a script": (["serve", "--port", "80"], "/opt/a"),
    "by conda": (["conda", "run", "--no-capture-output", "-n", "c", "python", "app.py"], "/opt/b/envs/c"),
    "by something else": (["nginx"], ""),
    "by a quote without an end": (["sh", "-c", "python 'app.py"], ""),
    "by nothing": ([], ""),
}


@pytest.mark.parametrize("name", STARTED)
def test_the_python_that_the_command_starts(name: str, tmp_path: Path) -> None:
    command, prefix = STARTED[name]
    files: dict[str, bytes | str | None] = {}
    for one in ("opt/a", "opt/b", "opt/b/envs/c"):
        files |= {f"{one}/bin/python3.12": b"\x7fELF", f"{one}/bin/python": "python3.12", f"{one}/conda-meta": None}
        files |= {f"{one}/lib/python3.12/site-packages": None}
    files |= {"opt/b/bin/serve": b"#!/opt/a/bin/python\nimport x\n", "opt/b/bin/conda": b"#!/opt/b/bin/python\n"}
    report = checked(tmp_path, [tar_with(files)], {"PATH": "/opt/b/bin"}, Cmd=command, WorkingDir="/opt/a")
    first = report["facts"]["environments"][0]
    expected = (prefix, "the image's command") if prefix else ("/opt/b", "python on PATH")
    assert (first["prefix"], first["asked_by"]) == expected


@pytest.mark.parametrize(("user", "is_seen"), [("jo", True), ("1000:100", True), ("", False), ("nobody", False)])
def test_packages_of_the_user_that_it_runs_as(user: str, *, is_seen: bool, tmp_path: Path) -> None:
    site = "home/jo/.local/lib/python3.12/site-packages"
    files: dict[str, bytes | str | None] = {
        "etc/passwd": PASSWD, "usr/bin/python3.12": b"\x7fELF", "usr/bin/python3": "python3.12",
        "usr/lib/python3.12": None, f"{site}/torch/__init__.py": b"", f"{site}/torch-2.9.1.dist-info/METADATA":
        b"Name: torch\nVersion: 2.9.1\n", f"{site}/torch/version.py": b"__version__ = '2.9.1+cpu'\ncuda = None\n",
    }  # fmt: skip
    report = checked(tmp_path, [tar_with(files)], {"PATH": "/usr/bin"}, User=user)
    system = next(one for one in report["facts"]["environments"] if one["prefix"] == "/usr")
    assert bool(system["frameworks"]["value"]) is is_seen
    assert sum(len(one["frameworks"]["value"]) for one in report["facts"]["environments"]) == 1


@pytest.mark.slow
def test_config_of_a_root(tree: Path, tmp_path: Path) -> None:
    said = tmp_path / "inspect.json"
    said.write_text(json.dumps([{"Config": {"Env": ["LD_LIBRARY_PATH=/opt/cudnn/lib"]}}]))
    report = encode_report(report_of(CheckSubject(root=str(tree), config=str(said)), time.perf_counter()))
    assert found(report, "ld-library-path-shadowing")
    for options in (
        CheckSubject(config=str(said)),
        CheckSubject(root="/", image="x"),
        CheckSubject(root="/", platform="linux/arm64"),
    ):
        with pytest.raises(BadRequest):
            report_of(options, time.perf_counter())


def test_history_of_older_builders() -> None:
    content = {
        "config": {"Env": ["A=1"]},
        "history": [
            {"created_by": "/bin/sh -c #(nop) ADD file:0 in / "},
            {"created_by": "/bin/sh -c #(nop)  ENV A=1", "empty_layer": True},
            {"created_by": "/bin/sh -c apt-get install x"},
        ],
    }
    config = parse_config(json.dumps(content).encode(), "c")
    assert [(one.text, one.layer) for one in config.history] == [
        ("ADD file:0 in /", 1),
        ("ENV A=1", 0),
        ("RUN apt-get install x", 2),
    ]
    assert config.set_by("A") == "the image's history, line 2: ENV A=1"
