"""Real CUDA 13.0: a real cuDNN goes into a copy of a toolkit and out again, and real components make a toolkit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from compat.load import DATA
from compat.matrix import Matrix
from compat.version import CudnnVersion
from doctor.commands.install.apply import apply_plan
from doctor.commands.install.history import taken_back
from doctor.commands.install.install import InstallOrder, prepare
from doctor.output.document import TextStyle
from installers.cuda_order import CudaOrder
from installers.fetch import Limits
from installers.methods.cuda_wheel import wheel_plan
from installers.run import ExecutionOptions
from installers.steps.command import Command
from tests.commands.install.test_real_install import packed
from tests.installers import cuda_archives
from tests.installers.archives import Era, served
from tests.installers.server import serving
from tests.installers.target import ROOT, UBUNTU
from tests.installers.trees import digest_of
from tests.wheels import fetch, unpack

pytestmark = pytest.mark.slow
STEM = "cudnn-linux-x86_64-9.13.0.50_cuda13-archive"
ERA = Era("9.13.0", "13.0", ROOT, f"{STEM}.tar.xz", f"{STEM}/include", f"{STEM}/lib")
# the components of CUDA 13.0 that compile and run a program, as the wheels that hold them
WHEELS = {
    "cuda_cudart": ("nvidia-cuda-runtime", "13.0.96"),
    "cuda_nvcc": ("nvidia-cuda-nvcc", "13.0.88"),
    "cuda_crt": ("nvidia-cuda-crt", "13.0.88"),
    "libnvvm": ("nvidia-nvvm", "13.0.88"),
}


def component(name: str, folder: Path) -> Path:
    """What a wheel holds, as the archive of the component has it: bin, include, lib, nvvm."""
    project, version = WHEELS[name]
    site = unpack(fetch(f"{project}=={version}"), folder / name, ["nvidia/cu13/"])
    for path in (site / "nvidia/cu13").glob("**/bin/*"):
        path.chmod(0o755)  # a .zip that Python unpacks keeps no modes
    (site / "nvidia/cu13/LICENSE").write_text(f"licence of {name}\n")
    return site / "nvidia/cu13"


def toolkit(folder: Path) -> Path:
    """A copy of the machine's own CUDA 13.0 where there is one, else one laid out from the wheels."""
    home = folder / "cuda-13.0"
    machines_own = Path("/usr/local/cuda-13.0")
    if (machines_own / "bin/nvcc").exists():
        shutil.copytree(machines_own, home, symlinks=True)
        return home
    for name in WHEELS:
        shutil.copytree(component(name, folder / "wheels"), home, symlinks=True, dirs_exist_ok=True)
    (home / "lib64").symlink_to("lib")
    return home


def matrix_for(url: str, archive: Path, folder: Path) -> Matrix:
    """The shipped tables, with the manifest's row of this archive led to the server and to the packed file."""
    shutil.copytree(DATA, folder)
    path = folder / "cudnn-archive.json"
    content = json.loads(path.read_text())
    [row] = (one for one in content["tables"]["archives"] if one["id"] == archive.name)
    digest = subprocess.run(["sha256sum", str(archive)], capture_output=True, text=True, check=True).stdout.split()[0]
    row.update(url=f"{url.rpartition('/')[0]}/{archive.name}", sha256=[digest], size_bytes=archive.stat().st_size)
    path.write_text(json.dumps(content))
    return Matrix(data=str(folder))


def checked(home: Path) -> dict[str, Any]:
    """What `gpudoctor check` finds in a process of its own that is told of the toolkit."""
    libraries = f"{home}/lib64"
    environ = {"PATH": f"{home}/bin:/usr/bin:/bin", "HOME": str(home.parent), "CUDA_HOME": str(home)}
    environ["LD_LIBRARY_PATH"] = libraries
    code = "from doctor.cli import main; main()"
    argv = [sys.executable, "-c", code, "check", "--format", "json"]
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, cwd=Path(__file__).parents[3])
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_cudnn_goes_into_a_real_toolkit_and_out_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUDOCTOR_STATE", str(tmp_path / "state"))
    home = toolkit(tmp_path)
    before = digest_of(home)
    archive = packed(fetch("nvidia-cudnn-cu13==9.13.0.50"), tmp_path, ERA)
    # The connection breaks halfway: what follows is asked for as a range, and the digest is of both parts.
    with serving(archive.read_bytes(), "cut", "") as server:
        asked = InstallOrder("cudnn", "9.13.0", cuda="13.0", home=str(home))
        prepared = prepare(asked, matrix_for(server.url, archive, tmp_path / "data"))
        text, status = apply_plan(prepared, ExecutionOptions(limits=Limits(pause_s=0.01)), "json", TextStyle())
    told = json.loads(text)
    assert (status, told["good"], told["faults"]) == (0, True, []), text
    assert [ranged != "" for _, ranged in server.seen] == [False, True]
    assert digest_of(home) != before

    report = checked(home)
    [copy] = (one for one in report["facts"]["cudnn"] if one["path"] == os.path.realpath(home / "lib64"))
    row = Matrix().cudnn(CudnnVersion.parse("9.13.0"))
    assert copy["version"]["value"] == "9.13.0"
    assert {*(row.parts_linux or ()), row.soname} <= {part["soname"]["value"] for part in copy["parts"]["value"]}
    codes = {one["code"] for one in report["findings"] if one["subject"].startswith("cuDNN 9.13.0")}
    assert codes == set(), report["findings"]

    assert taken_back("")[1] == 0
    assert digest_of(home) == before


def test_a_toolkit_of_real_components_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUDOCTOR_STATE", str(tmp_path / "state"))
    root = tmp_path / "served"
    entries = {
        name: cuda_archives.pack(component(name, tmp_path / "wheels"), name, WHEELS[name][1], root, quickly=True)
        for name in WHEELS
    }
    manifest = cuda_archives.manifest(root, "13.0.2", entries)
    home = tmp_path / "own"
    with served(root) as url:
        matrix = cuda_archives.matrix_of([manifest], url, tmp_path / "data")
        prepared = prepare(InstallOrder("cuda", "13.0", prefix=str(home)), matrix)
        text, status = apply_plan(prepared, ExecutionOptions(), "text", TextStyle())
    assert status == 0, text
    nvcc = subprocess.run([str(home / "bin/nvcc"), "--version"], capture_output=True, text=True, check=True)
    assert "release 13.0" in nvcc.stdout
    source = tmp_path / "add.cu"
    source.write_text("#include <cuda_runtime.h>\n__global__ void add(float *a) { a[threadIdx.x] += 1; }\n")
    done = subprocess.run(
        ["bash", "-c", f". {home}/cuda-env.sh && nvcc -cubin -arch=sm_90 -o add.cubin {source}"],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    if shutil.which("gcc", path="/usr/bin:/bin"):
        assert (done.returncode, done.stderr) == (0, "")
        assert (tmp_path / "add.cubin").read_bytes()[:4] == b"\x7fELF"
    taken_back("")
    assert not home.exists()


@pytest.mark.parametrize("version", ["12.8", "13.0"])
def test_the_wheels_of_a_release_are_on_the_index(version: str) -> None:
    plan = wheel_plan(CudaOrder(version), UBUNTU._replace(python=sys.executable), Matrix())
    [command] = (step for step in plan.steps if isinstance(step, Command))
    argv = (*command.argv, "--dry-run", "--no-deps", "--ignore-installed", "--quiet")
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
