"""What a remedy would bring is read like what is there: every file, by every reader."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from compat.matrix import Matrix
from compat.version import CudaVersion, CudnnVersion
from doctor.host import Host
from doctor.host.overlay import Changes, Overlay
from doctor.host.root import RootHost
from doctor.host.snapshot import Snapshot, remembered
from doctor.loader.cudnn_library import foretold
from doctor.loader.library import read_library
from doctor.loader.process import Process
from doctor.loader.simulate import _release
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.environment import Extension
from doctor.model.facts.seen import Seen, value_or
from doctor.prescribe.distributions import _sharing, with_removed
from doctor.prescribe.effects.distributions_installed import apply
from doctor.prescribe.predicted_files import PredictedFiles, dlls_below
from doctor.prescribe.remedy_verifier import after
from doctor.prescribe.simulated_machine import SimulatedMachine
from doctor.probes import ProbeRequest, look
from installers.effect import CudnnInstalled, DistributionsInstalled
from tests.lab import cudnn_tree
from tests.lab.parts import UBUNTU_18, linux
from tests.machine import distribution, environment, framework, machine, seen, system, unseen

MATRIX = Matrix()
PLACE = "/usr/local/cuda-10.0/lib64"


def look_at(root: Path) -> tuple[Facts, Snapshot]:
    (root / PLACE.lstrip("/")).mkdir(parents=True, exist_ok=True)
    linux(UBUNTU_18, "5.4.0-150-generic")(root)
    host = Snapshot(RootHost(str(root)))
    return look(host, ProbeRequest(())), host


def copies(facts: Facts) -> dict[str, CudnnCopy]:
    return {str(value_or(one.version, "?")): one for one in facts.cudnn.get() if value_or(one.parts, ())}


@pytest.mark.parametrize("release", ["7.6.5.32", "8.0.5", "8.9.7", "9.1.0", "9.10.2"])
def test_a_copy_that_would_come_tells_its_release_like_one_that_is_there(release: str, tmp_path: Path) -> None:
    bare, host = look_at(tmp_path / "bare")
    laid = tmp_path / "laid"
    cudnn_tree.copy_of(laid / PLACE.lstrip("/"), release, header=laid / "usr/local/cuda-10.0/include")
    there, _ = look_at(laid)
    then = after((CudnnInstalled(f"=={release}", 10, PLACE),), SimulatedMachine(bare, MATRIX, host))
    assert not then.failures
    (mine,), (real,) = copies(then).values(), copies(there).values()
    assert str(mine.version.get()) == str(real.version.get().release) == ".".join(release.split(".")[:3])
    assert mine.header_version == real.header_version
    told = {one.name: one for one in mine.parts.get()}
    for one in real.parts.get():
        assert (told[one.name].soname, told[one.name].machine) == (one.soname, one.machine)
        if isinstance(one.version, Seen):  # some parts of a release export it, in some releases
            assert told[one.name].version == one.version


def test_beside_another_major_both_releases_are_known(tmp_path: Path) -> None:
    cudnn_tree.copy_of(tmp_path / PLACE.lstrip("/"), "8.0.5", chain=True)
    facts, host = look_at(tmp_path)
    then = after((CudnnInstalled("==7.6.5.32", 10, PLACE),), SimulatedMachine(facts, MATRIX, host))
    assert set(copies(then)) == {"7.6.5", "8.0.5"}


@pytest.mark.parametrize(
    ("name", "resource", "exported"), [("cudnn64_9.dll", True, False), ("cudnn_graph64_9.dll", True, True)]
)
def test_a_dll_has_it_as_a_resource(name: str, resource: bool, exported: bool) -> None:
    said = foretold(name, "x86_64", CudnnVersion.parse("9.10.2"))
    (form,) = [one for kind, one in said.items() if kind.startswith("part of cudnn")]
    number = 9 << 16 | 10 << 8 | 2
    assert form == ["", "x86_64", number * exported, number * resource, False]


def test_what_is_foretold_in_another_form_than_is_read_is_a_fault_of_ours(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    overlay = Overlay(RootHost(str(tmp_path)), Changes(foreseen={"/lib/libx.so": {"kind": ["of old"]}}))
    with pytest.raises(TypeError, match="another form"):
        remembered(overlay, "/lib/libx.so", "kind", lambda: 1, lambda said: isinstance(said, int))


@pytest.mark.parametrize("release", ["8.9.7", "9.10.2"])
def test_the_loader_is_told_the_release_by_the_same_libraries(release: str, tmp_path: Path) -> None:
    """What cuDNN opens by name is decided by it."""
    real = cudnn_tree.copy_of(tmp_path / "lib", release)
    facts, bare = look_at(tmp_path / "bare")
    made = PredictedFiles(facts, MATRIX)
    made.cudnn("/lib", CudnnVersion.parse(release))
    overlay = Overlay(bare, made.onto(Changes()))

    def told(host: Host) -> dict[str, str]:
        process = cast("Process", SimpleNamespace(host=host))
        libraries = (read_library(host, f"/lib/{path.name}") for path in real.iterdir())
        return {one.name: _release(process, one) for one in libraries if one}

    there = told(RootHost(str(tmp_path)))
    assert release in there.values()
    assert told(overlay) == there


@pytest.mark.parametrize(
    ("wheel", "path"),
    [
        ("nvidia-nccl-cu12", "nvidia/nccl/lib/libnccl.so.2"),
        ("nvidia-cuda-cupti-cu12", "nvidia/cuda_cupti/lib/libcupti.so.12"),
        ("nvidia-cuda-cupti", "nvidia/cu13/lib/libcupti.so.13"),
        ("nvidia-cufile", "nvidia/cu13/lib/libcufile.so.0"),
        ("nvidia-cusparselt-cu13", "nvidia/cusparselt/lib/libcusparseLt.so.0"),
        ("nvidia-cublas", "nvidia/cu13/lib/libcublas.so.13"),
        ("nvidia-nobody-knows-cu12", ""),
    ],
)
def test_what_a_wheel_brings(wheel: str, path: str) -> None:
    paths = PredictedFiles(machine(), MATRIX).wheel("/site", wheel, "1.2.3")
    assert (path in paths) if path else not paths


@pytest.mark.parametrize(
    ("cuda", "folder"),
    [("11.8", "bin"), ("12.9", "bin"), ("13.0", "bin/x64"), ("13.1", "bin/x64"), ("14.0", "bin/x64")],
)
def test_where_a_toolkit_of_windows_has_its_dlls(cuda: str, folder: str) -> None:
    made = PredictedFiles(machine(system=system(family=seen("windows"))), MATRIX)
    made.toolkit("C:/cuda", CudaVersion.parse(cuda))
    dlls = {path.rpartition("/")[0] for path in made.onto(Changes()).foreseen if path.endswith(".dll")}
    assert dlls <= {f"C:/cuda/{folder}"}
    assert bool(dlls) is (cuda != "14.0")  # of which no row tells the names
    assert dlls_below(CudaVersion.parse(cuda)) == folder


def test_the_gpu_code_of_what_is_removed_is_gone(tmp_path: Path) -> None:
    known = Extension("torchvision", "0.29.2", "/site/torchvision/_C.so", unseen(), unseen(), seen(""), seen(()))
    here = environment(extensions=seen((known, known._replace(distribution="xformers"))))
    world = SimulatedMachine(machine(environments=seen((here,))), MATRIX, None)
    _, then = with_removed(world, here, "torchvision")
    assert [one.distribution for one in then.extensions.get()] == ["xformers"]


def test_only_wheels_of_one_library_share_files() -> None:
    """nvidia-cublas is not the cu-something of nvidia."""
    there = environment(
        distributions=seen((distribution("nvidia-cublas", "13.4"), distribution("nvidia-nccl-cu13", "2")))
    )
    assert not _sharing("nvidia-cuda-nvrtc", there)
    assert _sharing("nvidia-nccl-cu12", there) == {"nvidia-nccl-cu13": "2"}


def test_what_comes_along_at_the_release_that_is_there_stays_whatever_its_build() -> None:
    """xformers 0.0.32.post1 asks for torch==2.8.0; the wheel of the package index lists no local version."""
    torch = framework(version="2.8.0+cu128")
    there = environment(torch, distributions=seen((distribution("torch", "2.8.0"),)))
    world = SimulatedMachine(machine(environments=seen((there,))), MATRIX, None)
    effect = DistributionsInstalled(there.interpreter, ("xformers==0.0.32.post1",))
    (then,) = apply(effect, world).facts.environments.get()
    assert torch in then.frameworks.get()
    assert "xformers" in {one.name for one in then.distributions.get()}
