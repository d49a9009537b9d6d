"""The binding, on the stand-ins of every era and, in slow tests, on the real releases up to cudnnCreate."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from doctor.commands.verify.cudnn_trial.cudnn_api import NOT_EXPORTED, Cudnn, CudnnError
from doctor.commands.verify.cudnn_trial.cudnn_parts import parts_of
from doctor.commands.verify.cudnn_trial.cudnn_prototypes import PROTOTYPES
from tests.commands.verify.cudnn_trial import stub
from tests.wheels import fetch, unpack

VERSIONS = ("5.1.10", "6.0.21", "7.6.5", "8.9.7", "9.10.2")


@pytest.fixture(scope="module", params=VERSIONS)
def copy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Cudnn]:
    version: str = request.param
    folder = stub.build(tmp_path_factory.mktemp("copy"), version)
    return version, Cudnn(str(folder / f"libcudnn.so.{version[0]}"))


def test_a_copy_says_what_it_is(copy: tuple[str, Cudnn]) -> None:
    version, cudnn = copy
    assert (cudnn.version, cudnn.major, cudnn.raw_version) == (version, int(version[0]), stub.encoded(version))
    assert (cudnn.cudart_version is None) is (cudnn.major < 6)
    assert (cudnn.max_device_version is None) is (cudnn.major < 8)


def test_a_release_has_the_functions_of_its_era(copy: tuple[str, Cudnn]) -> None:
    _, cudnn = copy
    expected = {name for name, one in PROTOTYPES.items() if one.since <= cudnn.major <= one.until}
    assert {name for name in PROTOTYPES if cudnn.has(name)} == expected


def test_its_own_parts_are_opened_and_checked(copy: tuple[str, Cudnn]) -> None:
    version, cudnn = copy
    folder = os.path.dirname(cudnn.path)
    parts = stub.PARTS.get(cudnn.major, {})
    assert {os.path.basename(one) for one in cudnn.preloaded} == {f"libcudnn_{part}.so.{version[0]}" for part in parts}
    assert {os.path.dirname(one) for one in cudnn.preloaded} <= {folder}
    assert cudnn.preload_errors == {}
    assert set(cudnn.check_parts()) == {part for part in parts if not part.startswith(("engines", "heuristic"))}
    assert set(cudnn.check_parts().values()) <= {""}


def test_handles_come_and_go(copy: tuple[str, Cudnn]) -> None:
    _, cudnn = copy
    cudnn.create_handle()
    assert cudnn.handle
    cudnn.destroy_handle()
    assert cudnn.handle == 0
    cudnn.destroy_handle()  # nothing is left to destroy


def test_a_failure_has_a_name_and_words(copy: tuple[str, Cudnn]) -> None:
    _, cudnn = copy
    with pytest.raises(CudnnError) as caught:
        cudnn.call("cudnnSetStream", 0, 0)
    assert caught.value.function == "cudnnSetStream"
    assert caught.value.name == "CUDNN_STATUS_BAD_PARAM"
    assert caught.value.is_declined
    assert ("no handle" in caught.value.text) is (cudnn.major >= 9)  # which has last words


def test_what_a_release_does_not_have_is_no_crash(copy: tuple[str, Cudnn]) -> None:
    _, cudnn = copy
    with pytest.raises(CudnnError) as caught:
        cudnn.call("cudnnNoSuchFunction")
    assert caught.value.name == NOT_EXPORTED
    assert not caught.value.is_declined


@pytest.mark.parametrize("part", ["ops", "cnn", "adv", "graph"])
def test_a_missing_part_of_9_is_a_status(part: str, tmp_path: Path) -> None:
    folder = stub.build(tmp_path, "9.13.0", without=[part])
    checked = in_a_child(str(folder / "libcudnn.so.9"))["parts"]
    assert {name for name, said in checked.items() if said} == {part}
    assert checked[part] == "CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE"


def test_a_part_of_another_release_is_a_mismatch(tmp_path: Path) -> None:
    mine, other = stub.build(tmp_path / "a", "9.13.0"), stub.build(tmp_path / "b", "9.10.2")
    shutil.copy(other / "libcudnn_cnn.so.9", mine)
    assert in_a_child(str(mine / "libcudnn.so.9"))["parts"] == {
        "graph": "", "ops": "", "cnn": "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH", "adv": "",
    }  # fmt: skip


def test_a_missing_part_of_8_is_an_abort(tmp_path: Path) -> None:
    folder = stub.build(tmp_path, "8.9.7", without=["cnn_infer"])
    ran = child(str(folder / "libcudnn.so.8"))
    assert ran.returncode == -6
    assert "Could not load library libcudnn_cnn_infer.so.8. Error:" in ran.stderr


def test_another_copy_on_the_path_does_not_get_in(tmp_path: Path) -> None:
    """Its own parts are opened first, by their paths, so that the loader's search does not come to the other copy."""
    mine, other = stub.build(tmp_path / "a", "9.13.0"), stub.build(tmp_path / "b", "9.10.2")
    said = in_a_child(str(mine / "libcudnn.so.9"), LD_LIBRARY_PATH=str(other))
    assert set(said["parts"].values()) == {""}
    assert said["version"] == "9.13.0"


def test_damage_of_a_part_is_kept_for_the_judge(tmp_path: Path) -> None:
    folder = stub.build(tmp_path, "9.10.2")
    (folder / "libcudnn_engines_precompiled.so.9").write_bytes(b"")
    cudnn = Cudnn(str(folder / "libcudnn.so.9"))
    assert list(cudnn.preload_errors) == ["engines_precompiled"]
    assert "file too short" in cudnn.preload_errors["engines_precompiled"]


def test_no_library_is_an_error_in_the_loader_s_words(tmp_path: Path) -> None:
    (tmp_path / "libcudnn.so.9").write_text("no library")
    with pytest.raises(OSError, match=r"file too short|invalid ELF header"):
        Cudnn(str(tmp_path / "libcudnn.so.9"))


def test_parts_come_after_those_that_they_need(tmp_path: Path) -> None:
    folder = stub.build(tmp_path, "9.10.2")
    (folder / "libcudnn_new_thing.so.9").touch()
    kinds = [one.kind for one in parts_of(str(folder / "libcudnn.so.9"))]
    assert kinds[:4] == ["graph", "ops", "cnn", "adv"]
    assert kinds[-1] == "new_thing"


PROGRAM = """
import json, os, sys
from doctor.commands.verify.cudnn_trial.cudnn_api import Cudnn, CudnnError
cudnn = Cudnn(sys.argv[1])
said = {"version": cudnn.version, "parts": cudnn.check_parts(), "cudart": cudnn.cudart_version}
said["preloaded"], said["errors"] = [os.path.basename(one) for one in cudnn.preloaded], cudnn.preload_errors
try:
    cudnn.create_handle()
    said["create"] = [0, "CUDNN_STATUS_SUCCESS"]
except CudnnError as error:
    said["create"] = [error.status, error.name]
print(json.dumps(said), flush=True)
os._exit(0)
"""


def child(library: str, **environ: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", PROGRAM, library]
    return subprocess.run(argv, capture_output=True, text=True, timeout=120, env={**os.environ, **environ})


def in_a_child(library: str, **environ: str) -> dict[str, Any]:
    ran = child(library, **environ)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("requirement", "python", "folder", "name", "version", "cudart"),
    [
        ("cupy-cuda101==7.8.0", "3.7", "cupy/.data/lib", "libcudnn.so.7", "7.6.5", 10010),
        ("nvidia-cudnn-cu12==8.9.7.29", "3.11", "nvidia/cudnn/lib", "libcudnn.so.8", "8.9.7", 12020),
        ("nvidia-cudnn-cu12==9.10.2.21", "3.11", "nvidia/cudnn/lib", "libcudnn.so.9", "9.10.2", 12090),
        ("nvidia-cudnn-cu13==9.13.0.50", "3.11", "nvidia/cudnn/lib", "libcudnn.so.9", "9.13.0", 13000),
    ],
)
def test_the_real_ones_up_to_their_handle(  # noqa: PLR0917
    requirement: str, python: str, folder: str, name: str, version: str, cudart: int, tmp_path: Path
) -> None:
    """Without a GPU cudnnCreate is NOT_INITIALIZED, 1 or 1001; with one it is fine: nothing else passes."""
    unpack(fetch(requirement, python=python), tmp_path, [folder])
    said = in_a_child(str(tmp_path / folder / name))
    major = int(version[0])
    assert (said["version"], said["cudart"]) == (version, cudart)
    assert said["errors"] == {}
    assert len(said["parts"]) == {7: 0, 8: 6, 9: 4}[major]
    assert set(said["parts"].values()) <= {""}
    without_gpu = [1001 if major >= 9 else 1, "CUDNN_STATUS_NOT_INITIALIZED"]
    assert said["create"] in (without_gpu, [0, "CUDNN_STATUS_SUCCESS"])
