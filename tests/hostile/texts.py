"""Readers of bytes that no machine's tree brings to them: answers of an index, archives, journals, children's words."""

from __future__ import annotations

import bz2
import contextlib
import functools
import gzip
import hashlib
import io
import json
import os
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from compat.base.errors import GpudoctorError
from compat.load import DATA
from compat.matrix import Matrix
from doctor.commands.refresh.web import JSON, Page
from installers.digest import looks_like_page
from tests.commands.explain.wrappers import WRAPPERS
from tests.image.pack import ext, gpt, mbr, sif
from tests.lab.hive_file import hive_bytes
from tests.zstd import zstd

_URL = "https://index.example/simple/torch/"
_FILES = ("torch-2.9.1-cp312-cp312-manylinux_2_28_x86_64.whl", "torch-2.8.0-cp313-none-any.whl", "torch-1.0.tar.gz")


class _OnePage:
    """A web of one page, whatever is asked for."""

    is_over = False

    def __init__(self, content: bytes, kind: str = "") -> None:
        self._page = Page(_URL, kind, content)

    def page(self, url: str, limit_bytes: int = 0) -> Page:
        return self._page

    def file(self, url: str) -> io.BytesIO:
        return io.BytesIO(self._page.content)


def _index(kind: str) -> Callable[[bytes], None]:
    def read(content: bytes) -> None:
        from doctor.commands.refresh.index import Index
        from doctor.commands.refresh.listing import links_of, wheels_of

        web: Any = _OnePage(content, kind)
        wheels_of("torch", [Index.of("https://index.example/simple", "a test")], web)
        _refused(lambda: links_of(_URL, web))

    return read


def _manifest(content: bytes) -> None:
    from doctor.commands.refresh import components, nvidia

    web: Any = _OnePage(content)
    _refused(lambda: components.component_rows("99.9.9", _URL, _matrix(), web, "2026-11-22"))
    _refused(lambda: nvidia.manifest_rows("cudnn", _URL, _matrix(), web, "2026-11-22"))
    _refused(lambda: nvidia.manifest_rows("cuda", _URL, _matrix(), web, "2026-11-22"))
    _refused(lambda: nvidia._product_of(_URL, web))


def _variants(content: bytes) -> None:
    from doctor.pyenv.variant import properties

    with contextlib.suppress(ValueError):
        properties(content.decode("utf-8", "replace"))


def _wheel(content: bytes) -> None:
    from doctor.commands.refresh.framework import read, releases_of
    from doctor.commands.refresh.index import Index
    from doctor.commands.refresh.listing import wheels_of

    listed: Any = _OnePage(f'<a href="{_FILES[0]}">x</a>'.encode(), "text/html")
    wheels, _ = wheels_of("torch", [Index.of("https://index.example/simple", "a test")], listed)
    [release] = releases_of("torch", wheels)
    web: Any = _OnePage(content)
    _refused(lambda: read(release, web, "2026-11-22"))


def _archive(content: bytes) -> None:
    from installers.archive import damage_named, members

    if looks_like_page(content[:512]):
        return
    with _file(content) as path, open(path, "rb") as file, contextlib.suppress(GpudoctorError), damage_named(path):
        for member in members(file):
            for _ in member.chunks:
                pass


def _journal(content: bytes) -> None:
    from installers.journal import Journal, State, history

    with tempfile.TemporaryDirectory(dir=_scratch()) as folder:
        run = Path(folder) / "journal" / "20261122-101500"
        run.mkdir(parents=True, mode=0o700)
        (run / "journal.jsonl").write_bytes(content)
        journal = Journal(str(run))
        journal.entry()
        for read in (journal.changes, journal.commands, journal.kept, journal.state):
            _refused(read)
        _refused(lambda: history(State(folder)))
        journal.append({"what": "undo"})


def _pip(content: bytes) -> None:
    from doctor.commands.refresh.pip_configuration import read

    with _file(content) as path:
        _refused(lambda: read({"PIP_CONFIG_FILE": path}, ""))


def _uv(content: bytes) -> None:
    from doctor.commands.refresh.uv_configuration import read

    with _file(content) as path:
        _refused(lambda: read({"UV_CONFIG_FILE": path}, "/"))


def _keras(content: bytes) -> None:
    from installers.configuration import keras_plan

    with contextlib.suppress(ValueError, RecursionError):  # which the command says as its own
        keras_plan("/home/user/.keras/keras.json", content.decode("utf-8", "replace"), "theano")


def _theanorc(content: bytes) -> None:
    from installers.edit import merged
    from installers.steps.edit_text import EditText

    text = content.decode("utf-8", "replace")
    merged(text, EditText(path="", section="dnn", settings=(("enabled", "True"),), lines=("x = 1",), why="", once=()))


def _nvml(content: bytes) -> None:
    from doctor.probes.nvml import _events, _merged

    _merged(_events(content.decode("utf-8", "replace"))[0])


def _smoke(content: bytes) -> None:
    from doctor.commands.verify.cudnn_trial.events import read_events

    read_events(content, 1.0)


def _cache(content: bytes) -> None:
    from doctor.host.cache import _read

    with tempfile.TemporaryDirectory(dir=_scratch()) as folder:
        Path(folder, "files.json").write_bytes(content)
        os.chmod(folder, 0o700)
        _read(folder)


def _bench(content: bytes) -> None:
    from doctor.commands.bench.command import _saved
    from doctor.commands.bench.document import BenchDocument
    from doctor.output.document import TextStyle

    with _file(content) as path:
        _refused(lambda: BenchDocument(_saved(path)).text(TextStyle()))


def _overlay(content: bytes) -> None:
    with tempfile.TemporaryDirectory(dir=_scratch()) as folder:
        Path(folder, "theano.json").write_bytes(content)
        matrix = Matrix(overlay=folder)
        assert matrix.overlay_problems is not None
        matrix.rows("theano", "builds")


def _refused(read: Callable[[], object]) -> None:
    """An error of ours is an answer, too."""
    with contextlib.suppress(GpudoctorError):
        read()


@functools.cache
def _matrix() -> Matrix:
    return Matrix()


def _scratch() -> str | None:
    return "/dev/shm" if os.path.isdir("/dev/shm") else None


@contextlib.contextmanager
def _file(content: bytes) -> Iterator[str]:
    with tempfile.NamedTemporaryFile(dir=_scratch()) as file:
        file.write(content)
        file.flush()
        yield file.name


def _tar(mode: Any) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:
        for name in ("cudnn/lib/libcudnn.so.9", "cudnn/include/cudnn.h"):
            one = tarfile.TarInfo(name)
            one.size = 40
            archive.addfile(one, io.BytesIO(b"x" * 40))
        link = tarfile.TarInfo("cudnn/lib/libcudnn.so")
        link.type, link.linkname = tarfile.SYMTYPE, "libcudnn.so.9"
        archive.addfile(link)
    return made.getvalue()


def _zip(members: dict[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return made.getvalue()


_METADATA = "Metadata-Version: 2.1\nName: torch\nVersion: 2.9.1\nRequires-Dist: nvidia-cudnn-cu12==9.10.2.21\n"
_VERSION = "__version__ = '2.9.1+cu128'\ncuda = '12.8'\n"
_STAMP = ["file", 420, 1, 7, ""]
_RECORDS: tuple[dict[str, Any], ...] = (
    {"what": "begin", "summary": "install cuDNN", "when": "2026-11-22T10:15:00"},
    {"what": "change", "kind": "new", "path": "/opt/x", "before": None, "after": _STAMP, "backup": "", "aside": ""},
    {"what": "command", "number": 1, "argv": ["true"], "needs_root": False, "inverse": None},
    {"what": "ended", "number": 1},
    {"what": "commit"},
)


def _lines(*records: object) -> bytes:
    return "".join(f"{json.dumps(one)}\n" for one in records).encode()


_HTML = "".join(f'<a href="{name}#sha256=00" data-core-metadata="true" data-yanked>{name}</a>\n' for name in _FILES)
_SIMPLE = {
    "meta": {"api-version": "1.1"}, "name": "torch",
    "files": [{"filename": one, "url": one, "hashes": {}, "yanked": False} for one in _FILES],
}  # fmt: skip
_REDIST = {
    "release_date": "2026-01-01", "release_product": "cudnn",
    "cudnn": {"version": "9.10.2.21", "cuda_variant": ["12", "13"], "linux-x86_64": {"cuda12": {"sha256": "0"}}},
    "cuda_cudart": {"version": "12.8.90"}, "nvidia_driver": {"version": "570.124.06"},
}  # fmt: skip
_VARIANTS = {
    "$schema": "https://variants-schema.wheelnext.dev/v0.0.3.json",
    "variants": {"a": {"nvidia": {"b": ["1"]}}},
}
_SAID = _lines(
    {"library": "/usr/lib/libnvidia-ml.so.1", "init": {}, "driver": {"value": "580.95.05"}, "count": {"value": 1}},
    {"gpu0": {"name": "x"}, "end": 1},
)


def _of_docs() -> bytes:
    folder = Path(__file__).resolve().parent.parent.parent / "docs" / "benchmarks"
    found = sorted(folder.rglob("*.json"))
    return found[0].read_bytes() if found else b'{"schema": "gpudoctor.bench/1"}'


def _rows_of_theano() -> bytes:
    content = json.loads(Path(DATA, "theano.json").read_text())
    content["tables"] = {name: rows[:2] for name, rows in content["tables"].items()}
    return json.dumps(content).encode()


def _evidence(content: bytes) -> None:
    from doctor.commands.explain import evidence

    _refused(lambda: evidence._read(io.BytesIO(content)))


def _must_gather(mode: Any) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:
        one = tarfile.TarInfo("must-gather/nvidia-bug-report.log")
        one.size = len(_DUMP)
        archive.addfile(one, io.BytesIO(_DUMP.encode()))
    return made.getvalue()


def _zipped_log() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("must-gather/nvidia-bug-report.log", _DUMP)
    return made.getvalue()


def _explained(content: bytes) -> None:
    """What is printed of it, of which no letter may steer a terminal."""
    from doctor.commands.explain.command import explained
    from doctor.commands.explain.evidence import unpacked
    from doctor.messages.reading import read
    from doctor.output.document import TextStyle

    document = explained(read(unpacked(io.BytesIO(content))), "the text's machine", Matrix())
    document.plain()
    steering = {letter for letter in document.text(TextStyle(symbols=True)) if not letter.isprintable()}
    assert steering <= {"\n"}, steering


def _error_file(content: bytes) -> None:
    from doctor.messages.torchelastic_errors import message_of

    message_of(content)


def _configuration(content: bytes) -> None:
    from doctor.image.config import read_json

    _refused(lambda: read_json(content, "x.json"))


def _squashfs_names(content: bytes) -> None:
    from doctor.image.disk import Scratch
    from doctor.image.squash import _read
    from doctor.image.stream import Feed, Tally

    _refused(lambda: _read(Feed(iter([content]), "x"), 1 << 20, Scratch(1 << 20), Tally()))


def _sif_header(content: bytes) -> None:
    from doctor.image.disk import Scratch
    from doctor.image.squash import _main_partition

    disk = Scratch(1 << 20)
    disk.put(content)
    _refused(lambda: _main_partition(disk, "x.sif", content[:128]))


def _ext(content: bytes) -> None:
    from doctor.image.ext import read_ext
    from doctor.image.stream import Tally

    _refused(lambda: read_ext(_scratch_disk(content), "x.img", 0, Tally()))


def _partitions(content: bytes) -> None:
    from doctor.image.partition import read_disk
    from doctor.image.stream import Tally

    disk = _scratch_disk(content)
    disk.put(bytes(1 << 20))
    _refused(lambda: read_disk(disk, "x.img", "", Tally()))


def _scratch_disk(content: bytes) -> Any:
    from doctor.image.disk import Scratch

    disk = Scratch(2 << 20)
    disk.put(content)
    return disk


def _layer(content: bytes) -> None:
    """The digest before it is right: who can write the one can write the other."""
    from doctor.image.cache import _form, _read

    record = _form().encode() + hashlib.sha256(content).hexdigest().encode() + b"\n" + content
    refused = contextlib.suppress(OSError, ValueError, LookupError, TypeError, RecursionError)  # as LayerCache.get
    with _file(record) as path, refused:
        _read(os.open(path, os.O_RDONLY))


def _policy(content: bytes) -> None:
    from doctor.commands.policy.load import parse

    _refused(lambda: parse(content.decode("utf-8", "replace"), "gpudoctor.toml"))


def _run_line(content: bytes) -> None:
    from doctor.script.shell import calls

    list(calls(content.decode("utf-8", "replace"), {"CUDA": "12"}))


def _compose(content: bytes) -> None:
    from doctor.commands.dockerfile.compose import service_of

    _refused(lambda: service_of("/nowhere/compose.yaml", content))


def _requirements(content: bytes) -> None:
    from doctor.commands.dockerfile.context import Context
    from doctor.commands.dockerfile.requirements import constrained, environment, requirements

    with tempfile.TemporaryDirectory(dir=_scratch()) as folder:
        Path(folder, "r.txt").write_bytes(content)
        constrained(requirements("r.txt", Context(folder), {"A": "b"}))
        environment("r.txt", Context(folder), {})


def _hive(content: bytes) -> None:
    from doctor.host.root import RootHost
    from doctor.loader import dlls
    from doctor.probes import pci, windows_settings

    with tempfile.TemporaryDirectory(dir=_scratch()) as folder:
        config = Path(folder, "Windows/System32/config")
        config.mkdir(parents=True)
        (config / "SYSTEM").write_bytes(content)
        host = RootHost(folder)
        pci.look(host)
        dlls.known_dlls(host)
        windows_settings.long_paths(host)


_MESSAGE = (
    "CUDA error: no kernel image is available for execution on the device\nNVIDIA GeForce RTX 5090, torch 2.5.1+cu124"
)
_DUMP = "PyTorch version: 2.9.1+cu128\nOS: Debian GNU/Linux 12 (bookworm) (x86_64)\nNvidia driver version: 470.256.02\n"
_EXPLAINED = (
    *(_MESSAGE.encode(), *(wrapper(_MESSAGE).encode() for wrapper in WRAPPERS.values())),
    *(_DUMP.encode(), WRAPPERS["docker json-file"](_DUMP).encode(), gzip.compress(_MESSAGE.encode(), mtime=0)),
)
_ARCHIVES = (
    gzip.compress(_DUMP.encode(), mtime=0),
    bz2.compress(_DUMP.encode()),
    zstd.compress(_DUMP.encode()),
    *map(_must_gather, ("w", "w:gz", "w:xz")),
    _zipped_log(),
)
_CARD = "ControlSet001\\Enum\\PCI\\VEN_10DE&DEV_2684\\4&1A"
TEXTS: dict[str, tuple[Any, ...]] = {
    "SYSTEM hive": (_hive, hive_bytes({"Select": {"Current": 1}, _CARD: {"CompatibleIDs": ["PCI\\VEN_10DE&CC_0300"]}})),
    "saved for check --from": (
        _evidence,
        b'{"schema": "gpudoctor.report/1", "facts": {}}',
        b"Driver Version: 550.54",
        *_ARCHIVES,
    ),
    "text to explain": (_explained, *_EXPLAINED),
    "torchelastic's error file": (_error_file, b'{"message": {"message": "E", "extraInfo": {"py_callstack": "T"}}}'),
    "configuration of an image": (_configuration, b'{"config": {"Env": ["A=b"]}, "history": []}'),
    "what unsquashfs lists": (
        _squashfs_names,
        b"/ D 17954 755 0 0\na\\ b R 1795401044 644 0 0 3 0 0\nc L a\\ b\nd S 1 777 0 0 a\n# START OF DATA\n#\nabc",
    ),
    "header of a SIF": (_sif_header, sif(b"hsqs")[:1400]),
    "ext4": (_ext, ext({"etc/x": b"x", "usr": "etc", "a/b/c": b"c" * 3000})),
    "partitions of a disk": (_partitions, mbr(b"XFSB")[:1024], gpt(b"XFSB")[:2048]),
    "layer that was kept": (_layer, b'%016d[["etc/x", 48, 420, 0, 3, "", [[0, 3, 0]]]]abc' % 46),
    "gpudoctor.toml": (_policy, b'[require]\ndriver = ">=580"\n[findings]\nforbid = ["fallback-to-cpu"]\n'),
    "RUN of a Dockerfile": (
        _run_line,
        b'set -e; pip install "torch==$CUDA" && (cd x || exit 1) <<EOF',
        b'["sh", "-c"]',
    ),
    "compose.yaml": (
        _compose,
        b"x: &g {gpus: all}\nservices:\n  a:\n    <<: *g\n    build: {context: '.', args: [A=${B:-c}]}\n",
        b"services: {a: {image: b}}\n# c\nd:\n- capabilities: [gpu,\n  'e']\n",
    ),
    "requirements.txt": (
        _requirements,
        b"-r r.txt\n-c c.txt\n--index-url https://a.b/cu121\ntorch[x]==2.5.0 ; a<'3' --hash=sha256:aa \\\n# c\n",
        b"name: a\ndependencies:\n- a=1=b\n- pip: [-r r.txt, 'torch==${A}']\n",
    ),
    "index in HTML": (_index("text/html"), _HTML.encode()),
    "index in JSON": (_index(JSON), json.dumps(_SIMPLE).encode()),
    "index directory": (_index(""), "\n".join(_FILES).encode()),
    "NVIDIA's manifest": (_manifest, json.dumps(_REDIST).encode()),
    "variants.json": (_variants, json.dumps(_VARIANTS).encode()),
    "remote wheel": (_wheel, _zip({"torch/version.py": _VERSION, "torch-2.9.1.dist-info/METADATA": _METADATA})),
    "archive": (_archive, _tar("w:gz"), _tar("w:xz"), _zip({"cudnn/lib/x.so": "x" * 99, "cudnn/bin/": ""})),
    "journal": (_journal, _lines(*_RECORDS)),
    "pip.conf": (_pip, b"[global]\nindex-url = https://u:p@x.example/simple\nextra-index-url =\n  http://y\n  z\n"),
    "uv.toml": (_uv, b'[[index]]\nname = "x"\nurl = "https://x.example/simple"\ndefault = true\n[pip]\nno-index = 1\n'),
    "keras.json": (_keras, b'{"backend": "tensorflow", "floatx": "float32"}'),
    "theanorc to edit": (_theanorc, b"[global]\nfloatX = float32\n[dnn]\nenabled = False\n"),
    "NVML's child": (_nvml, b"?init\n" + _SAID),
    "cuDNN's child": (_smoke, _lines({"event": "begin", "stage": "load"}, {"event": "end", "stage": "load"})),
    "cache": (_cache, b'{"gpudoctor": "0.1.0", "records": {"elf:1:2:3:4.0": [1]}}'),
    "saved benchmark": (_bench, _of_docs()),
    "overlay": (_overlay, _rows_of_theano()),
}
