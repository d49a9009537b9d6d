"""The one module for a job: to start processes, to unpack, to write JSON. The syntax trees tell who does it besides."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.no_cover  # it reads, and runs nothing of ours
ROOT = Path(__file__).resolve().parent.parent
STARTS = ("fork", "exec", "posix_spawn", "spawn", "system", "popen", "startfile")  # how names in `os` begin
STARTING = {"subprocess", "multiprocessing", "_posixsubprocess", "pty"}
PACKED = {"zlib", "gzip", "lzma", "bz2"}
NO_UNPACKING = {"crc32", "adler32", "error", "LZMAError"}
WORDS = re.compile(rf"os\.({'|'.join(STARTS)})|from os |json|zipfile|tarfile|{'|'.join((*STARTING, *PACKED))}|\.zstd")
_WORKER = "a worker of ours, which answers in lines of JSON and loads nothing else of ours"
_STORE = "what gpudoctor keeps in a file"
_TO_CHILD = "an order to a worker of ours"
_SCHEMA = "a schema, as its committed file holds it"
_WORD = "one quoted word of a file in another format"
JSON_BESIDES = {
    "compat.schema": _SCHEMA,
    "doctor.model.schema": _SCHEMA,
    "doctor.output.toml": _WORD,
    "gpudoctor": _WORD,
    "doctor.commands.matrix.manifests.environment": _WORD,
    "installers.configuration": "Keras's own configuration file",
    "installers.methods.cuda_archive": "version.json, as NVIDIA's installer writes it",
    "installers.journal": _STORE,
    "doctor.host.cache": _STORE,
    "doctor.image.cache": _STORE,
    "doctor.commands.refresh.table": _STORE,
    "doctor.commands.mcp.server": "the protocol's lines",
    "installers.render.ansible": "a playbook: JSON is YAML",
    "doctor.probes.cuda_worker": _WORKER,
    "doctor.probes.nvml_worker": _WORKER,
    "doctor.commands.verify.child": _WORKER,
    "doctor.commands.verify.cudnn_trial.events": _WORKER,
    "doctor.commands.verify.cudnn_trial.stages.meeting": _WORKER,
    "doctor.commands.bench.worker": _WORKER,
    "doctor.commands.bench.torch_program": _WORKER,
    "doctor.commands.bench.pictures_worker": _WORKER,
    "doctor.commands.bench.pictures": _TO_CHILD,
    "doctor.commands.bench.job": _TO_CHILD,
    "doctor.commands.verify.trial": _TO_CHILD,
    "doctor.commands.verify.cudnn_trial.run": _TO_CHILD,
    "doctor.commands.verify.encode": "plain values out of a worker's answer, which are no text",
    "doctor.commands.verify.cudnn_trial.described": "the JSON that cuDNN's interface takes",
}


def _imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {one.name.partition(".")[0] for one in node.names}
    return {node.module.partition(".")[0]} if isinstance(node, ast.ImportFrom) and node.module else set()


def _of(node: ast.AST, modules: set[str]) -> str:
    """Return X of `module.X`, and of `from module import X`."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
        return node.attr
    if isinstance(node, ast.ImportFrom) and node.module in modules:
        return node.names[0].name
    return ""


def starts(node: ast.AST) -> bool:
    return bool(_imported(node) & STARTING) or _of(node, {"os"}).startswith(STARTS)


def unpacks(node: ast.AST) -> bool:
    named = isinstance(node, ast.Constant) and node.value in {"lzma", "bz2", "compression.zstd", "backports.zstd"}
    return named or (_of(node, PACKED) or "error") not in NO_UNPACKING


def unpacks_zip(node: ast.AST) -> bool:
    """Tell whether it opens a zip file: Python unpacks the members of one itself."""
    return _of(node, {"zipfile"}) == "ZipFile" and isinstance(node, ast.Attribute)


def unpacks_tar(node: ast.AST) -> bool:
    """Tell whether a tar file may be unpacked by tarfile itself, by its mode."""
    if not isinstance(node, ast.Call) or _of(node.func, {"tarfile"}) != "open":
        return False
    return all(one.arg != "mode" or ast.unparse(one.value) not in {"'r|'", "'r:'"} for one in node.keywords)


def writes_json(node: ast.AST) -> bool:
    return _of(node, {"json"}) in {"dump", "dumps", "JSONEncoder"}


@cache
def nodes() -> dict[str, list[ast.AST]]:
    found = {"gpudoctor": list(ast.walk(ast.parse((ROOT / "gpudoctor.py").read_text(encoding="utf-8"))))}
    for path in (one for room in ("compat", "doctor", "installers") for one in (ROOT / room).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if WORDS.search(text):
            found[".".join(path.relative_to(ROOT).with_suffix("").parts)] = list(ast.walk(ast.parse(text)))
    return found


@pytest.mark.parametrize(
    ("does", "modules"),
    [
        (starts, {"compat.base.process", "doctor.commands.run.start", "gpudoctor"}),
        (unpacks, {"compat.base.compression"}),
        (unpacks_zip, {"installers.archive", "doctor.commands.refresh.wheel_host"}),
        (unpacks_tar, set()),
        (writes_json, {"doctor.output.formats.json", *JSON_BESIDES}),
    ],
)
def test_one_module_does_it(does: Callable[[ast.AST], bool], modules: set[str]) -> None:
    assert {name for name, found in nodes().items() if any(map(does, found))} == modules


@pytest.mark.parametrize(
    ("does", "code"),
    [
        (starts, "import subprocess"),
        (starts, "def f():\n    from multiprocessing.pool import Pool"),
        (starts, "os.execvpe('x', (), {})"),
        (starts, "from os import fork"),
        (unpacks, "zlib.decompressobj(31)"),
        (unpacks, "from gzip import GzipFile"),
        (unpacks, "import_module('lzma')"),
        (unpacks_zip, "zipfile.ZipFile('x')"),
        (unpacks_tar, "tarfile.open('x')"),
        (unpacks_tar, "tarfile.open(fileobj=x, mode='r:*')"),
        (writes_json, "json.dumps({})"),
    ],
)
def test_what_does_it_is_found(does: Callable[[ast.AST], bool], code: str) -> None:
    assert any(map(does, ast.walk(ast.parse(code))))
