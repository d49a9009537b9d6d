"""`gpudoctor which`: the winner, who asked, every loser, exit statuses; and a real process held against it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from doctor.cli import execute
from doctor.commands.which.answer import Item, Subject, WhichAnswer
from doctor.commands.which.command import Question, which
from doctor.commands.which.document import WhichDocument
from doctor.commands.which.schema import which_schema
from doctor.host.root import RootHost
from doctor.model.schema import as_text
from doctor.output.document import TextStyle
from tests.lab.cudnn_tree import copy_of, wheel_of
from tests.lab.elf_file import elf_bytes
from tests.machine import environment, framework

COMMITTED = Path(__file__).resolve().parents[3] / "docs" / "which.schema.json"
SITE = "opt/venv/lib/python3.12/site-packages"
WHEELS = "$ORIGIN/../../nvidia/cudnn/lib:$ORIGIN"
INIT = """
def _load_global_deps():
    try:
        ctypes.CDLL(global_deps_lib_path, mode=ctypes.RTLD_GLOBAL)
    except OSError as err:
        cuda_libs = {
            "cudnn": "libcudnn.so.*[0-9]",
        }
"""


def write(path: Path, content: bytes | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def image(root: Path, *, rpath: str = WHEELS, wheel: bool = True, system: str = "") -> Path:
    """An image with torch in a virtual environment."""
    write(root / "lib64/ld-linux-x86-64.so.2", b"")
    write(root / "usr/lib/x86_64-linux-gnu/libc.so.6", elf_bytes("libc.so.6"))
    write(root / "usr/bin/python3.12", elf_bytes(needed=("libc.so.6",)))
    write(root / "opt/venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.12.4\n")
    (root / "opt/venv/bin").mkdir(parents=True)
    (root / "opt/venv/bin/python").symlink_to("/usr/bin/python3.12")
    site = root / SITE
    write(site / "torch-2.9.1+cu128.dist-info/METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 2.9.1+cu128\n")
    write(site / "torch/version.py", "__version__ = '2.9.1+cu128'\ncuda = '12.8'\nhip = None\nxpu = None\n")
    write(site / "torch/__init__.py", INIT)
    write(site / "torch/lib/libtorch_global_deps.so", elf_bytes("libtorch_global_deps.so"))
    write(site / "torch/lib/libtorch_cuda.so", elf_bytes("libtorch_cuda.so", needed=("libcudnn.so.9",), rpath=rpath))
    write(
        site / "torch/_C.cpython-312-x86_64-linux-gnu.so", elf_bytes(needed=("libtorch_cuda.so",), rpath="$ORIGIN/lib")
    )
    if wheel:
        wheel_of(site)
    if system:
        copy_of(root / system, "9.5.1")
    return root


def told(root: Path, library: str = "cudnn", **how: Any) -> tuple[dict[str, Any], int]:
    text, status = which(Question(library, root=str(root), style="json", **how), TextStyle())
    return valid(text), status


def valid(text: str) -> dict[str, Any]:
    """A document that satisfies the committed schema, as every one of these tests' does."""
    document: dict[str, Any] = json.loads(text)
    jsonschema.Draft202012Validator(json.loads(COMMITTED.read_text(encoding="utf-8"))).validate(document)
    return document


def libraries(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for subject in document["subjects"] for one in subject["libraries"]}


def test_the_whole_set_of_cudnn(tmp_path: Path) -> None:
    document, status = told(image(tmp_path))
    found = libraries(document)
    assert (status, document["answer"]) == (0, "found")
    assert {one["path"].rpartition("/")[0] for one in found.values()} == {f"/{SITE}/nvidia/cudnn/lib"}
    assert len(found) == 8
    main = found["libcudnn.so.9"]
    assert main["because"].startswith("RPATH of libtorch_cuda.so")
    assert [path.rpartition("/")[2] for path in main["chain"]] == [
        "libtorch_cuda.so",
        "_C.cpython-312-x86_64-linux-gnu.so",
    ]
    assert found["libcudnn_heuristic.so.9"]["chain"][0].endswith("libcudnn_graph.so.9")


def test_every_copy_that_lost_and_why(tmp_path: Path) -> None:
    copy_of(image(tmp_path, system="usr/lib/x86_64-linux-gnu") / "usr/local/cuda/lib64", "9.7.0")
    document, _ = told(tmp_path)
    copies = {one["path"]: one["why"] for one in libraries(document)["libcudnn.so.9"]["copies"]}
    assert copies == {
        "/usr/lib/x86_64-linux-gnu/libcudnn.so.9": "comes later: /usr/lib/x86_64-linux-gnu is a default directory",
        "/usr/local/cuda/lib64/libcudnn.so.9": "no rule of the search leads there",
    }


def test_the_wheel_behind_an_asker_without_a_search_path_is_not_found(tmp_path: Path) -> None:
    """torch has no RPATH here: its own repair opens the wheel by its path only where libtorch_global_deps fails."""
    document, status = told(image(tmp_path, rpath=""))
    assert (status, document["answer"]) == (1, "not-found")
    assert libraries(document)["libcudnn.so.9"]["path"] == ""
    assert "libcudnn.so.9" in document["subjects"][0]["failure"]


def test_the_repair_of_torch(tmp_path: Path) -> None:
    """Where libtorch_global_deps.so itself asks for cuDNN and cannot find it, torch opens the wheel by its path."""
    image(tmp_path, rpath="")
    library = elf_bytes("libtorch_global_deps.so", needed=("libcudnn.so.9",))
    write(tmp_path / SITE / "torch/lib/libtorch_global_deps.so", library)
    document, status = told(tmp_path)
    assert status == 0
    assert libraries(document)["libcudnn.so.9"]["path"] == f"/{SITE}/nvidia/cudnn/lib/libcudnn.so.9"


def test_a_system_copy_without_any_framework(tmp_path: Path) -> None:
    root = image(tmp_path, system="usr/lib/x86_64-linux-gnu")
    document, status = told(root, "libcudnn_ops.so.9", pythons=("/usr/bin/python3.12",))
    assert (status, document["subjects"][0]["framework"]) == (0, None)
    assert libraries(document)["libcudnn_ops.so.9"]["path"] == "/usr/lib/x86_64-linux-gnu/libcudnn_ops.so.9"


def test_nothing_anywhere(tmp_path: Path) -> None:
    document, status = told(image(tmp_path), "nccl")
    assert (status, document["answer"]) == (1, "not-found")


def test_text_and_json_say_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = str(image(tmp_path, system="usr/lib/x86_64-linux-gnu"))
    assert execute(["which", "cudnn", "--root", root]) == 0
    text = capsys.readouterr().out
    document, _ = told(tmp_path)
    for one in libraries(document).values():
        assert f"  {one['name']}\n" in text
        assert one["because"] in text
        assert one["path"].rpartition("/")[0] in text
    assert "torch 2.9.1+cu128 in /opt/venv (Python 3.12.4)" in text


def test_what_holds_for_another_framework_too_is_printed_once(tmp_path: Path) -> None:
    """torchvision imports torch: its process loads the same files for the same reasons."""
    environment_here = environment(framework(), framework("torchvision", "0.24.1"))
    first, second = (Subject(environment_here, one) for one in environment_here.frameworks.get())
    path = "/x/libcudnn.so.9"
    items = (Item("libcudnn.so.9", path, path, way=None, failure="", chain=(), when="when it is used", copies=()),)
    both = (WhichAnswer(first, items), WhichAnswer(second, items))
    text = WhichDocument("cudnn", both, status=0).text(TextStyle())
    assert text.count("libcudnn.so.9\n") == 2  # its name and its path, once
    assert text.endswith(f"  as        for {framework().label}\n")
    assert "as        for" not in WhichDocument("cudnn", (both[0], WhichAnswer(second)), status=0).text(TextStyle())


def test_the_committed_schema_is_current() -> None:
    current = as_text(which_schema())
    assert COMMITTED.read_text(encoding="utf-8") == current, (
        "run: python -m doctor.commands.which.schema > docs/which.schema.json"
    )


def test_a_later_release_may_add_and_not_take_away(tmp_path: Path) -> None:
    document, _ = told(image(tmp_path))
    for place in (document, document["subjects"][0], document["subjects"][0]["libraries"][0]):
        place["surprise"] = 1
        assert valid(json.dumps(document))
        del place["surprise"]
        for name in [*place]:
            kept = place.pop(name)
            with pytest.raises(jsonschema.ValidationError):
                valid(json.dumps(document))
            place[name] = kept
    assert valid(json.dumps(document))


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["which", "cudn"], "no library 'cudn'; did you mean cudnn"),
        (["which", "cudnn", "--live", "0"], "process 0 cannot be read"),
        (["which", "cudnn", "--live", "1", "--root", "/"], "give one of them"),
        (["which", "cudnn", "--root", "/no/such/dir"], "/no/such/dir: not a directory"),
        (["which", "cudnn", "--format", "yaml"], "no format 'yaml'"),
    ],
)
def test_bad_input_is_one_line(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(argv) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert len(shown.err.splitlines()) == 1


def test_a_framework_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = str(image(tmp_path))
    assert execute(["which", "cudnn", "--root", root, "--python", "/opt/venv", "--framework", "torhc"]) == 2
    assert "did you mean torch?" in capsys.readouterr().err


def test_a_framework_whose_loading_is_not_known(tmp_path: Path) -> None:
    root = image(tmp_path)
    info = root / SITE / "Theano-1.0.5.dist-info"
    write(info / "METADATA", "Metadata-Version: 2.1\nName: Theano\nVersion: 1.0.5\n")
    document, status = told(root, framework="theano")
    assert (status, document["answer"]) == (4, "unknown")
    unknown = "how theano opens CUDA's libraries is not known to gpudoctor"
    document, _ = told(root)
    said = {one["framework"].partition(" ")[0]: one["unknown"] for one in document["subjects"]}
    assert said == {"torch": None, "theano": unknown}


def test_what_runs_on_another_framework_is_not_asked_for(tmp_path: Path) -> None:
    """Keras and jax themselves open nothing: nothing about them is unknown."""
    root = image(tmp_path)
    for name in ("keras", "jax"):
        write(root / SITE / f"{name}-3.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 3.0\n")
    document, status = told(root)
    assert status == 0
    assert [one["framework"].partition(" ")[0] for one in document["subjects"]] == ["torch"]


@pytest.mark.parametrize("files", [("System/x", "Applications/x"), ("lib/ld-musl-x86_64.so.1",)])
def test_other_loaders_are_not_guessed(tmp_path: Path, files: tuple[str, ...]) -> None:
    for name in files:
        write(tmp_path / name, b"")
    document, status = told(tmp_path)
    assert (status, document["answer"]) == (4, "unknown")
    assert which(Question("cudnn", root=str(tmp_path)), TextStyle())[0].startswith("cudnn\n  unknown")


def test_a_hostile_image_ends_with_an_answer(tmp_path: Path) -> None:
    """Libraries that need each other and themselves, and a search path of thousands."""
    root = image(tmp_path, rpath=":".join(f"/x{number}" for number in range(4000)))
    site = root / SITE
    ring = elf_bytes("libtorch_cuda.so", needed=("libtorch_cuda.so", "libcudnn.so.9", "../" * 50), rpath=WHEELS)
    write(site / "torch/lib/libtorch_cuda.so", ring)
    write(site / "torch/lib/libcudnn.so.9", b"\x7fELF" + b"\xff" * 300)
    assert told(root)[1] in {0, 1, 4}
    assert isinstance(RootHost(str(root)), RootHost)


@contextmanager
def process(opens: str, environ: dict[str, str]) -> Iterator[int]:
    program = (
        "import ctypes, sys\nif sys.argv[1]: ctypes.CDLL(sys.argv[1])\nprint('ready', flush=True)\nsys.stdin.read()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program, opens], env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    yield child.pid
    child.communicate()


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in {"x86_64", "aarch64"}, reason="tiny libraries for two machines"
)
@pytest.mark.parametrize(
    ("opens", "prediction", "status"),
    [("libcudnn.so.9", "holds", 0), ("@/c/libcudnn.so.9", "does-not-hold", 1), ("", "unknown", 4)],
)
def test_a_running_process(tmp_path: Path, opens: str, prediction: str, status: int) -> None:
    root = tmp_path.resolve()
    for folder in ("b", "c"):
        copy_of(root / folder, "9.10.2" if folder == "b" else "9.5.1", machine=platform.machine())
    environ = {**os.environ, "LD_LIBRARY_PATH": f"{root}/b"}
    with process(opens.replace("@", str(root)), environ) as pid:
        text, ended = which(Question("cudnn", style="json", pid=pid), TextStyle())
    live = valid(text)["live"]
    assert (live["prediction"], ended) == (prediction, status)
    assert [one["predicted"] for one in live["libraries"]] == ([status == 0] if opens else [])
