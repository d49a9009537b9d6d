"""Scripts fetch with the tool that is there, go on after an earlier run, and keep nothing that is not the file."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from installers.plan import Plan
from installers.render import script_bash
from installers.steps.download import Download
from tests.installers.server import Server, serving
from tests.installers.target import ROOT
from tests.installers.test_methods import shellcheck

NEEDED = ("bash", "cat", "date", "grep", "head", "mkdir", "mv", "rm", "sha256sum", "sleep", "stat")
TOOLS = [pytest.param(one, marks=pytest.mark.system) for one in ("curl",)] + [pytest.param("python3")]
CONTENT = bytes(range(256)) * 4096  # 1 MiB
HALF = len(CONTENT) // 2
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Run:
    """One script that fetches one file, with one tool to do so."""

    def __init__(self, folder: Path, tool: str) -> None:
        self.staging = folder / "staging"
        self.staging.mkdir()
        self.file, self.part = self.staging / "cudnn.tgz", self.staging / "cudnn.tgz.part"
        self.script = folder / "script.sh"
        self.tools = folder / "bin"
        self.tools.mkdir()
        for name in (*NEEDED, tool):
            found = os.path.realpath(sys.executable) if name == "python3" else shutil.which(name)
            assert found, f"{name} is missing: .ci/run installs it"
            (self.tools / name).symlink_to(found)

    def start(self, url: str, *sha256: str, environ: dict[str, str] | None = None) -> subprocess.Popen[str]:
        download = Download(url, self.file.name, sha256, len(CONTENT), "manifest", "for the test")
        self.script.write_text(script_bash.script(Plan("fetch", (download,)), ROOT))
        return subprocess.Popen(
            ["bash", str(self.script)],
            env={"PATH": str(self.tools), "GPUDOCTOR_STAGING": str(self.staging), **(environ or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __call__(self, url: str, *sha256: str, environ: dict[str, str] | None = None) -> tuple[int, str, str]:
        with self.start(url, *(sha256 or (DIGEST,)), environ=environ) as process:
            out, err = process.communicate(timeout=60)
        return process.returncode, out, err


@pytest.fixture(params=TOOLS)
def run(tmp_path: Path, request: pytest.FixtureRequest) -> Run:
    return Run(tmp_path, request.param)


@pytest.mark.parametrize(
    ("part", "faults", "seen"),
    [
        (b"", ("",), [""]),
        (CONTENT[:HALF], ("",), [f"bytes={HALF}-"]),
        (b"", ("cut", ""), ["", f"bytes={HALF}-"]),
        (b"x" * HALF, ("",), [f"bytes={HALF}-", ""]),
        (CONTENT, ("",), []),
        (CONTENT + b"more", ("",), [f"bytes={len(CONTENT) + 4}-", ""]),
        (CONTENT[:HALF], ("whole",), None),
        (b"x" * HALF, ("whole",), None),
        (CONTENT[:HALF], ("other range", ""), None),
        (b"", ("redirect", ""), ["", ""]),
    ],
    ids=["all", "resumed", "cut", "another's", "whole", "longer", "200", "another's, 200", "other range", "redirect"],
)
def test_the_file_arrives(run: Run, part: bytes, faults: tuple[str, ...], seen: list[str] | None) -> None:
    """Whatever lies there and whatever the server does; `seen` are the ranges that it is asked for."""
    if part:
        run.part.write_bytes(part)
    with serving(CONTENT, *faults) as server:
        status, out, err = run(server.url)
    assert status == 0, (out, err)
    assert run.file.read_bytes() == CONTENT
    assert not run.part.exists()
    if seen is not None:
        assert [wanted for _, wanted in server.seen] == seen


@pytest.mark.parametrize("run", ["python3", pytest.param("curl", marks=pytest.mark.system)], indirect=True)
def test_a_server_that_is_busy_is_asked_again(run: Run) -> None:
    run.part.write_bytes(CONTENT[:HALF])
    with serving(CONTENT, "status 503", "") as server:
        assert run(server.url)[0] == 0
    assert [wanted for _, wanted in server.seen] == [f"bytes={HALF}-"] * 2
    assert run.file.read_bytes() == CONTENT


@pytest.mark.parametrize("fault", ["flip", "page", "status 404"])
def test_what_is_not_the_file_never_gets_its_name(run: Run, fault: str) -> None:
    """Nor does a part of it, which a second run throws away."""
    with serving(CONTENT, fault) as server:
        status, _, err = run(server.url)
    assert status == 1
    said = {"flip": "another digest", "page": "is a web page: log in", "status 404": "404"}
    assert said[fault] in err
    assert not run.file.exists()
    with serving(CONTENT, "") as server:
        assert run(server.url)[0] == 0
    assert run.file.read_bytes() == CONTENT


def test_a_404_leaves_what_has_arrived(run: Run) -> None:
    run.part.write_bytes(CONTENT[:HALF])
    with serving(CONTENT, "status 404") as server:
        assert run(server.url)[0] == 1
    assert run.part.read_bytes() == CONTENT[:HALF]


def test_a_killed_script_goes_on_where_it_was(run: Run) -> None:
    with serving(CONTENT, "stall", "") as server:
        with run.start(server.url, DIGEST) as process:
            for _ in wait_for(lambda: run.part.exists() and run.part.stat().st_size > 0):
                pass
            os.killpg(process.pid, signal.SIGKILL)
        there = run.part.stat().st_size
        assert 0 < there < len(CONTENT)
        assert run(server.url)[0] == 0
        assert asked(server) == ["", f"bytes={there}-"]
    assert run.file.read_bytes() == CONTENT


def wait_for(done: object) -> Iterator[float]:
    end = time.monotonic() + 30
    while not done():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.02)
        yield end


def asked(server: Server) -> list[str]:
    return [wanted for _, wanted in server.seen]


def test_a_digest_that_is_told_later_fetches_nothing_again(tmp_path: Path) -> None:
    run = Run(tmp_path, "python3")
    with serving(CONTENT, "") as server:
        with run.start(server.url) as process:
            out, err = process.communicate(timeout=60)
        assert process.returncode == 1
        assert f"its SHA-256 is {DIGEST}" in out
        assert "set GPUDOCTOR_SHA256" in err
        assert not run.file.exists()
        for said in ("", "it already exists"):
            with run.start(server.url, environ={"GPUDOCTOR_SHA256": DIGEST}) as process:
                out, err = process.communicate(timeout=60)
            assert process.returncode == 0, err
            assert said in out
        assert len(server.seen) == 1
    assert subprocess.run([shellcheck(), str(run.script)], capture_output=True, text=True).stdout == ""
