"""A real cuDNN: its wheel's libraries packed as NVIDIA's archive, served, installed, found whole, and taken back."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest

from compat.version import CudaVersion
from doctor.commands.install.apply import apply_plan
from doctor.commands.install.history import taken_back
from doctor.commands.install.install import Prepared, host_with
from doctor.commands.install.verify_installed import verify
from doctor.model.facts.cudnn import CudnnCopy
from doctor.output.document import TextStyle
from doctor.probes import ProbeRequest, look
from installers.render import script_bash
from installers.run import ExecutionOptions
from tests.installers.archives import LINUX, Era, plan_of, served
from tests.installers.trees import digest_of
from tests.lab.elf_file import elf_bytes
from tests.wheels import fetch, unpack

pytestmark = pytest.mark.slow
ERA = next(era for era in LINUX if era.version == "9.10.2" and "x86_64" in era.name)
CUDA = CudaVersion(12, 8)


def packed(wheel: Path, folder: Path, era: Era = ERA) -> Path:
    """As NVIDIA packs it: libcudnn_ops.so.9.10.2 and the links to it. Quickly: gzip, which is known by its content."""
    tree = unpack(wheel, folder / "wheel", ["nvidia/cudnn/"]) / "nvidia/cudnn"
    archive = folder / era.name
    with tarfile.open(archive, "w:gz", compresslevel=1) as content:
        for path in sorted((tree / "include").glob("*.h")):
            content.add(path, f"{era.headers}/{path.name}")
        for path in sorted((tree / "lib").glob("lib*.so.9")):
            full = f"{path.name}.{era.version.partition('.')[2]}"
            content.add(path, f"{era.libraries}/{full}")
            for name, text in ((path.name, full), (path.name.removesuffix(".9"), path.name)):
                link = tarfile.TarInfo(f"{era.libraries}/{name}")
                link.type, link.linkname = tarfile.SYMTYPE, text
                content.addfile(link)
    return archive


def toolkit(home: Path) -> Path:
    (home / "include").mkdir(parents=True)
    (home / "lib64").mkdir()
    (home / "include/cuda.h").write_text("#define CUDA_VERSION 12080\n")
    (home / "lib64/libcudart.so.12").write_bytes(elf_bytes("libcudart.so.12"))
    (home / "version.json").write_text(f'{{"cuda": {{"name": "CUDA SDK", "version": "{CUDA}.0"}}}}\n')
    return home


def test_it_is_installed_found_whole_and_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUDOCTOR_STATE", str(tmp_path / "state"))
    archive = packed(fetch("nvidia-cudnn-cu12==9.10.2.21"), tmp_path)
    by_apply, by_script = toolkit(tmp_path / "apply/cuda"), toolkit(tmp_path / "script/cuda")
    before = digest_of(by_apply)
    facts = look(host_with(str(by_apply)), ProbeRequest())
    with served(tmp_path) as url:
        prepared = Prepared(plan_of(ERA, str(by_apply), archive, url), ERA.target, facts)
        text, status = apply_plan(prepared, ExecutionOptions(), "text", TextStyle())
        assert status == 0, text
        plan = plan_of(ERA, str(by_script), archive, url)
        path = tmp_path / "script.sh"
        path.write_text(script_bash.script(plan, ERA.target))
        environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        done = subprocess.run(["bash", str(path)], env=environ, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    verified = verify(prepared._replace(plan=plan))
    assert verified.is_good
    assert isinstance(verified.found, CudnnCopy)
    assert str(verified.found.version.get()) == "9.10.2"
    same = subprocess.run(["diff", "-r", "--no-dereference", str(by_apply), str(by_script)], capture_output=True)
    assert same.stdout == b""
    taken_back("")
    assert digest_of(by_apply) == before
