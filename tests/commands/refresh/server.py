"""A package index on this machine for the tests, and the wheels that it serves."""

from __future__ import annotations

import base64
import json
import re
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

JSON = "application/vnd.pypi.simple.v1+json"
TORCH_VERSION = """
__version__ = '{version}+{tag}'
debug = False
cuda: Optional[str] = {cuda!r}
git_version = 'abc'
hip: Optional[str] = None
"""
TORCH_REQUIRES = (
    "filelock",
    'nvidia-cuda-runtime-cu12==12.8.90; platform_system == "Linux"',
    'nvidia-cudnn-cu12==9.10.2.21; platform_system == "Linux"',
    'cuda-bindings<14,>=13.0.3; platform_system == "Linux" and python_version < "3.13"',
    'triton==3.9.0; platform_system == "Linux"',
)


class Manners(NamedTuple):
    """How the server behaves."""

    has_json: bool = False
    has_metadata: bool = False
    has_ranges: bool = True
    credentials: str = ""  # "user:password" that it asks for


class Server(NamedTuple):
    """A running server."""

    url: str
    requests: list[str]  # "GET /simple/torch/ bytes=-65536"


def wheel(
    folder: Path, name: str, members: Mapping[str, str | bytes], requires: tuple[str, ...] = (), python: str = ""
) -> Path:
    """A small wheel with these members and requirements ("x; extra == 'y'" needs no other line)."""
    project, version = name.split("-")[:2]
    lines = ["Metadata-Version: 2.1", f"Name: {project}", f"Version: {version}"]
    lines += [f"Requires-Python: {python}"] * bool(python)
    extras = dict.fromkeys(re.findall(r'extra == "([^"]+)"', " ".join(requires)))
    lines += [f"Provides-Extra: {extra}" for extra in extras]
    lines += [f"Requires-Dist: {one}" for one in requires]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
        archive.writestr(f"{project}-{version}.dist-info/METADATA", "\n".join([*lines, "", "Words: about it."]))
    return path


def torch_wheel(folder: Path, version: str, *, python: str = "cp312", tag: str = "cu128", local: str = "") -> Path:
    """A wheel with the facts of a torch for CUDA 12.8, or for the CPU."""
    cuda = None if tag == "cpu" else f"{tag[2:-1]}.{tag[-1]}"
    name = f"torch-{version}{local}-{python}-{python.rstrip('t')}-manylinux_2_28_x86_64.whl".replace(
        f"{python}-{python.rstrip('t')}", f"{python.rstrip('t')}-{python}"
    )
    members: dict[str, str | bytes] = {
        "torch/version.py": TORCH_VERSION.format(version=version, tag=tag, cuda=cuda),
        "torch/lib/libtorch_python.so": b"\0" * 3_000_000 + b"sm_80 sm_90 sm_120 compute_120\0" + b"\1" * 5000,
        "torch/lib/libtorch_cuda.so": b"",
    }
    return wheel(folder, name, members, () if tag == "cpu" else TORCH_REQUIRES)


@contextmanager
def serving(root: Path, manners: Manners = Manners()) -> Iterator[Server]:  # noqa: B008 - a frozen value
    """Serve root/files/*.whl as an index at /simple/, and root/other as it lies."""
    seen: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, root, manners, seen))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield Server(f"http://127.0.0.1:{server.server_address[1]}", seen)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, root: Path, manners: Manners, seen: list[str], *rest: Any) -> None:
        self._root, self._manners, self._seen = root, manners, seen
        super().__init__(*rest)

    def log_message(self, *words: Any) -> None:
        """Silence."""

    def do_GET(self) -> None:
        self._seen.append(f"GET {self.path} {self.headers.get('Range', '')}".strip())
        wanted = base64.b64encode(self._manners.credentials.encode()).decode()
        if self._manners.credentials and self.headers.get("Authorization") != f"Basic {wanted}":
            return self._send(401, b"who are you", {"WWW-Authenticate": "Basic"})
        project = re.fullmatch(r"/simple/([\w.-]+)/", self.path.partition("?")[0])
        if project:
            return self._project(project[1])
        return self._file(self.path.lstrip("/"))

    def _project(self, name: str) -> None:
        files = sorted(self._root.glob(f"files/{name.replace('-', '_')}-*.whl"))
        if not files:
            return self._send(404, b"no such project", {})
        if self._manners.has_json and JSON in self.headers.get("Accept", ""):
            entries = [
                {"filename": one.name, "url": f"../../files/{one.name}", "core-metadata": self._manners.has_metadata}
                for one in files
            ]
            content = json.dumps({"meta": {"api-version": "1.0"}, "name": name, "files": entries})
            return self._send(200, content.encode(), {"Content-Type": JSON})
        mark = ' data-core-metadata="true"' if self._manners.has_metadata else ""
        links = [f'<a href="../../files/{one.name}#sha256=00"{mark}>{one.name}</a>' for one in files]
        return self._send(200, "\n".join(links).encode(), {"Content-Type": "text/html; charset=utf-8"})

    def _file(self, name: str) -> None:
        path = self._root / name
        if name.endswith(".whl.metadata") and self._manners.has_metadata:
            return self._send(200, _metadata(self._root / name.removesuffix(".metadata")), {})
        if path.is_dir() and (path / "index.html").is_file():
            return self._send(200, (path / "index.html").read_bytes(), {"Content-Type": "text/html"})
        if not path.is_file():
            return self._send(404, b"no such file", {})
        content = path.read_bytes()
        span = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if not span or not self._manners.has_ranges:
            return self._send(200, content, {})
        start = int(span[1]) if span[1] else max(len(content) - int(span[2]), 0)
        stop = min(int(span[2]) + 1, len(content)) if span[1] and span[2] else len(content)
        return self._send(206, content[start:stop], {"Content-Range": f"bytes {start}-{stop - 1}/{len(content)}"})

    def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


def _metadata(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return archive.read(next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA")))
