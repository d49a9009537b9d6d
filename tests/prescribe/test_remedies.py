"""From a need and the machine's facts to a remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compat.matrix import Matrix
from compat.need import (
    Advice,
    AssignVariable,
    ChangePackages,
    InstallCudnn,
    InstallDriver,
    InstallPackage,
    InstallSystemPackage,
    InstallToolkit,
    LinkTo,
    Need,
    as_json,
)
from compat.version import CudaVersion
from doctor.model.facts import Facts, Machine
from doctor.model.finding import bad
from doctor.prescribe.candidates import Candidate, with_more
from doctor.prescribe.remedies import _undoes, prescribe
from doctor.prescribe.target import target_of
from doctor.rules.shared.cuda_libraries import requirement_for, wheels_for
from installers.choose import plan_for
from installers.plan import Target
from installers.render import commands
from tests.installers import target as machines
from tests.lab import cudnn_tree
from tests.lab.case import fault, run_here
from tests.lab.cases import CASES
from tests.lab.cases.eras import tensorflow as old_tensorflow
from tests.lab.cases.frameworks import EMPTY
from tests.lab.cases.known import ONNX_GPU
from tests.lab.parts import Part, at, files, package, site_of, toolkit, without
from tests.machine import SITE, VENV, driver, environment, framework, machine, prediction, seen, system, unseen

MATRIX = Matrix()
PYTHON = f"{VENV}/bin/python"


def pasted(remedy: dict[str, Any]) -> list[str]:
    """Its commands, without what is only read."""
    return [line for line in remedy["commands"] if not line.startswith("#")]


@pytest.mark.parametrize(
    ("changes", "field", "expected"),
    [
        ({}, "os_family", "linux"),
        ({}, "distribution", "ubuntu"),
        ({}, "cuda_major", 13),
        ({}, "arch", "x86_64"),
        ({"machine": seen("aarch64")}, "arch", "sbsa"),
        ({"machine": seen("aarch64"), "jetson": seen("36.3.0")}, "arch", "jetson"),
        ({"wsl": seen(2)}, "wsl", True),
        ({"wsl": unseen()}, "wsl", False),
        ({"container": seen("docker")}, "container", "docker"),
        ({"sudo_user": seen("ada"), "user": seen("root")}, "user", "ada"),
        ({"distribution_id": unseen()}, "distribution", ""),
    ],
)
def test_target(changes: dict[str, Any], field: str, expected: object) -> None:
    facts = machine(system=system()._replace(**changes))
    assert getattr(target_of(facts, InstallDriver()), field) == expected


def test_unknown_driver_has_no_cuda_major() -> None:
    facts = machine(driver=driver()._replace(cuda=unseen()))
    assert target_of(facts, InstallDriver()).cuda_major == 0


@pytest.mark.parametrize("where", [PYTHON, VENV, f"{SITE}/nvidia/cudnn/lib"])
def test_the_environment_is_found_by_any_path_inside_it(where: str) -> None:
    found = target_of(machine(), InstallCudnn(directory=where))
    assert (found.python, found.prefix, found.environment_kind) == (PYTHON, VENV, "venv")
    assert "torch" in found.installed


@pytest.mark.parametrize("where", ["", "/usr/local/cuda/lib64", f"{VENV}-other/bin/python"])
def test_other_paths_name_no_environment(where: str) -> None:
    assert target_of(machine(), InstallCudnn(directory=where)).python == ""


def test_a_system_environment_does_not_own_all_of_usr() -> None:
    facts = machine(environments=seen((environment(prefix="/usr", kind="system", interpreter="/usr/bin/python3"),)))
    assert target_of(facts, InstallCudnn(directory="/usr/lib/x86_64-linux-gnu")).python == ""
    assert target_of(facts, InstallPackage("torch", interpreter="/usr/bin/python3")).python == "/usr/bin/python3"


def test_remedies_keep_the_order_of_the_needs() -> None:
    needs = (InstallDriver(">=580"), InstallPackage("torch", "==2.9.1", PYTHON, "cu126"))
    first, second = prescribe(bad("broken", *needs), machine(), MATRIX)
    assert first.need == needs[0]
    assert any("ubuntu-drivers" in line for line in first.commands)
    assert second.summary == "install torch==2.9.1 built for cu126"
    assert second.plan.steps


def test_a_need_that_nobody_serves_is_shown_all_the_same() -> None:
    (remedy,) = prescribe(bad("broken", InstallPackage("no such thing", "x")), machine(), MATRIX)
    (line,) = remedy.commands
    assert line.startswith("# needed here: no such thing x: gpudoctor has no installation method for ")


def test_nothing_to_do_reads_no_method(tmp_path: Path) -> None:
    assert prescribe(bad("broken"), machine(), MATRIX) == ()


def test_what_was_not_seen_still_gets_a_plan() -> None:
    facts: Facts = machine(
        system=system()._replace(family=unseen(), distribution_id=unseen(), kernel=unseen()),
        driver=driver()._replace(cuda=seen(CudaVersion(12, 4))),
        environments=unseen(),
    )
    (remedy,) = prescribe(bad("broken", InstallDriver(">=580")), facts, MATRIX)
    assert remedy.commands


@pytest.mark.parametrize(
    ("where", "prefix"),
    [
        ("/opt/conda/bin/python", "/opt/conda"),
        ("/opt/conda/envs/t/lib", "/opt/conda/envs/t"),
        ("/opt/conda/lib", "/opt/conda"),
    ],
)
def test_the_innermost_environment_is_meant(where: str, prefix: str) -> None:
    outer = environment(prefix="/opt/conda", kind="conda", interpreter="/opt/conda/bin/python")
    inner = environment(prefix="/opt/conda/envs/t", kind="conda", interpreter="/opt/conda/envs/t/bin/python")
    assert target_of(machine(environments=seen((outer, inner))), InstallCudnn(directory=where)).prefix == prefix


def test_a_release_that_nobody_can_read_costs_no_finding() -> None:
    needs = (
        ChangePackages(("cupy-cuda12x==13.0_dirty",), PYTHON, ("cupy-cuda11x",)),
        InstallPackage("torch", "==2.9.1", PYTHON, "cu126"),
    )
    first, second = prescribe(bad("two copies", *needs), machine(), MATRIX)
    assert first.commands[0].startswith("# remove cupy-cuda11x, then install cupy-cuda12x==13.0_dirty")
    assert second.summary == "install torch==2.9.1 built for cu126"


def test_commands_for_an_image_are_run_inside_of_it() -> None:
    facts = machine(machine=Machine("root", "/mnt/my image"))
    (remedy,) = prescribe(bad("broken", InstallSystemPackage("libcudnn9-cuda-12", reinstall=True)), facts, MATRIX)
    assert remedy.commands[:2] == ("# inside the image:", "sudo chroot '/mnt/my image' /bin/bash -es <<'INSIDE'")
    assert remedy.commands[-1] == "INSIDE"
    assert not any("sudo" in line for line in remedy.commands[2:])


def test_a_variable_of_an_image_is_set_in_the_image() -> None:
    facts = machine(machine=Machine("root", "/mnt/image"))
    (remedy,) = prescribe(bad("broken", AssignVariable("CUDA_HOME", "/a b")), facts, MATRIX)
    assert remedy.commands == (
        "# inside the image:",
        "sudo chroot /mnt/image /bin/bash -es <<'INSIDE'",
        "# in a container image, set it in the Dockerfile: ENV CUDA_HOME='/a b'",
        "printf '%s\\n' 'CUDA_HOME=/a b' >> /etc/environment",
        "INSIDE",
    )


def test_the_host_looks_again_at_what_was_mended_inside() -> None:
    facts = machine(machine=Machine("root", "/mnt/image"))
    need = InstallCudnn("==9.10.2", "/usr/local/cuda-12.8/lib64", "12")
    (remedy,) = prescribe(bad("broken", need), facts, MATRIX)
    assert remedy.commands[-2:] == ("INSIDE", "gpudoctor check --root /mnt/image")
    assert remedy.commands.count("gpudoctor check") == 0


def test_advice_about_an_image_is_no_command() -> None:
    facts = machine(machine=Machine("root", "/mnt/image"))
    (remedy,) = prescribe(bad("broken", Advice("build it without the driver")), facts, MATRIX)
    assert remedy.commands == ("# build it without the driver",)


@pytest.mark.parametrize(
    ("soname", "requires", "cuda", "wheel"),
    [
        ("libcusolver.so.11", ("nvidia-cusolver-cu12==11.7.3.90",), (12, 8), "nvidia-cusolver-cu12==11.7.3.90"),
        ("libcurand.so.10", ("nvidia-curand-cu12==10.3.9.90",), (12, 8), "nvidia-curand-cu12==10.3.9.90"),
        ("libcurand.so.10", ("nvidia-cusolver-cu12==11.7.3.90",), (12, 8), "nvidia-curand-cu12"),
        ("libcurand.so.10", ("nvidia-cublas==13.0.0.19",), (13, 0), "nvidia-curand==10.*"),
        ("libcurand.so.10", ("nvidia-cublas-cu11==11.11.3.6",), (11, 8), "nvidia-curand-cu11"),
        ("libmade-up.so.1", (), (12, 8), ""),
    ],
)
def test_a_library_that_several_cuda_releases_share_comes_from_the_wheel_that_is_asked_for(
    soname: str, requires: tuple[str, ...], cuda: tuple[int, int], wheel: str
) -> None:
    one = framework(requires=seen(requires), cuda=seen(CudaVersion(*cuda)))
    assert requirement_for(soname, one, machine(), MATRIX) == wheel


def test_every_pinned_wheel_that_is_absent_comes_at_once() -> None:
    """A process ends at the first library that it does not find, and would end at the next one then."""
    asks = ("nvidia-curand-cu12==10.3.9.90", "nvidia-cusolver-cu12==11.7.3.90; platform_system == 'Linux'")
    one = framework(requires=seen((*asks, "nvidia-nvtx-cu12==12.8.90; platform_system == 'Windows'")))
    facts = machine(environments=seen((environment(one),)))
    missing = (prediction(soname="libcurand.so.10", path=unseen()),)
    (need,) = wheels_for(missing, one, facts, MATRIX)
    assert as_json(need).spec == "nvidia-curand-cu12==10.3.9.90 nvidia-cusolver-cu12==11.7.3.90"


def remedies_of(name: str, code: str, tree: Path) -> list[dict[str, Any]]:
    case = next(case for case in CASES if case.name == name)
    found = run_here(case, tree).report["findings"]
    remedies: list[dict[str, Any]] = next(one["remedies"] for one in found if one["code"] == code)
    return remedies


def test_wheels_serve_where_no_package_of_the_system_does(tmp_path: Path) -> None:
    (only,) = remedies_of("onnxruntime-cuda-11", "framework-wants-other-cuda", tmp_path / "tree")
    assert only["proven"]
    assert [line.partition(" --python")[0] for line in pasted(only)[:2]] == ["uv pip install"] * 2
    assert pasted(only)[2].startswith("export LD_LIBRARY_PATH=")
    assert "nvidia/cudnn/lib" in pasted(only)[2]


def test_an_archive_comes_in_the_place_of_another_cudnn(tmp_path: Path) -> None:
    first, *_ = remedies_of("tensorflow-1.15-cudnn-8", "cudnn-wrong-major", tmp_path / "tree")
    assert first["proven"]
    assert "then install cuDNN 7.6.5.32 for CUDA 10.0 in /usr/local/cuda-10.0" in first["summary"]
    unpacked, moved, copied = (
        next(place for place, line in enumerate(first["commands"]) if text in line)
        for text in ("tar -xf", "-name 'libcudnn*'", "cp --remove-destination -P unpacked/cuda/lib64/libcudnn*")
    )
    assert unpacked < moved < copied
    assert first["commands"][moved].endswith(" &&"), "after a download that failed nothing is moved"


def test_a_release_for_the_cuda_that_is_there_comes_before_wheels_of_another(tmp_path: Path) -> None:
    first, *_ = remedies_of("onnxruntime-1.18-cuda-12", "framework-wants-other-cuda", tmp_path / "tree")
    assert first["summary"].startswith("install onnxruntime-gpu==1.19.*")


def test_what_several_parts_lean_on_is_brought_once() -> None:
    """Debian without pip: ensurepip serves all that pip installs after it."""
    target = machines.UBUNTU._replace(installers=("none",))
    lines = both(
        target,
        InstallPackage("jax", "==0.6.2", target.python, "cuda12"),
        InstallPackage("torch", interpreter=target.python),
    )
    assert [line.split()[-1] for line in lines[:3]] == ["update", "python3-venv", "--upgrade"]
    assert [line for line in lines[3:] if "pip install" not in line] == []
    assert len(lines) == 5


def test_a_repository_is_added_once() -> None:
    lines = both(machines.UBUNTU, InstallToolkit("==12.8.*"), InstallCudnn(">=9.10", cuda="12"))
    assert sum('dpkg -i "$keyring"/cuda-keyring.deb' in line for line in lines) == 1
    assert [line.split()[-1] for line in lines[-3:]] == ["update", "cuda-toolkit-12-8", "cudnn9-cuda-12"]


def test_no_link_is_turned_away_from_the_toolkit_that_was_installed() -> None:
    target, matrix = machines.UBUNTU, Matrix()
    needs = (InstallToolkit("==12.8.*"), LinkTo("/usr/local/cuda", "/usr/local/cuda-13.0"), InstallDriver(">=570"))
    cuda, link, driver = (Candidate(need, plan_for(need, target, matrix), target) for need in needs)
    assert [_undoes(more, one) for one, more in ((cuda, link), (driver, link), (driver, driver))] == [True, False, True]


def both(target: Target, *needs: Need) -> tuple[str, ...]:
    first, more = (Candidate(need, plan_for(need, target, Matrix()), target) for need in needs)
    return commands(with_more(first, more).plan, target)


@pytest.mark.parametrize("release", ["gentoo", "ubuntu"])
def test_cudnn_is_a_wheel_before_it_is_a_package_or_an_archive(release: str, tmp_path: Path) -> None:
    name = files({"/etc/os-release": f'NAME=x\nID={release}\nVERSION_ID="24.04"\n'})
    case = fault("q", "q", EMPTY, package("onnxruntime-gpu", "1.20.1", ONNX_GPU), name, codes=("cudnn-missing",))
    (found,) = [one for one in run_here(case, tmp_path).report["findings"] if one["code"] == "cudnn-missing"]
    assert pasted(found["remedies"][0])[0].startswith("uv pip install")
    assert pasted(found["remedies"][0])[1].startswith("export LD_LIBRARY_PATH=")


def test_what_is_enough_by_itself_is_not_a_part_of_more(tmp_path: Path) -> None:
    """Windows: the archive alone, not a wheel and then the archive."""
    case = next(one for one in CASES if one.name == "win-onnxruntime-without-cudnn")
    (found,) = [one for one in run_here(case, tmp_path).report["findings"] if one["code"] == "cudnn-missing"]
    assert [one["summary"].partition(" ")[2][:8] for one in found["remedies"]] == ["cuDNN 9."]


NO_PYTHON_PACKAGES = without(f"{site_of()}/*", "/usr/local/cuda*")


def test_what_a_forgotten_path_hides_is_not_fetched_again(tmp_path: Path) -> None:
    """CUDA and cuDNN lie in /usr/local/cuda-11.2, as the runfile and the archive put them."""
    lies = at("/usr/local/cuda-11.2/lib64", cudnn_tree.copy_of, "8.1.1", chain=True)
    parts = (NO_PYTHON_PACKAGES, toolkit("11.2.2"), lies, old_tensorflow("2.10.0", "11.2", "8"))
    (found,) = remedies_on("cudnn-missing", tmp_path, *parts)
    assert pasted(found[0]) == ["export LD_LIBRARY_PATH=/usr/local/cuda-11.2/lib64"]


def test_a_part_of_cudnn_for_another_machine_is_that_of_its_wheel(tmp_path: Path) -> None:
    part = cudnn_tree.part_bytes("cnn", "9.10.2", machine="aarch64")
    wrong = files({f"{site_of()}/nvidia/cudnn/lib/libcudnn_cnn.so.9": part})
    (found,) = remedies_on("wrong-machine-library", tmp_path, wrong)
    assert found[0]["commands"][0].endswith("--reinstall --no-deps nvidia-cudnn-cu12==9.10.2.21")


@pytest.mark.parametrize(("version", "found"), [("8.6.0", []), ("9.1.0", ["unset LD_PRELOAD"])])
def test_a_preloaded_cudnn(version: str, found: list[str], tmp_path: Path) -> None:
    """One of another major is mapped beside the right one, and takes no name of it."""
    soname = f"/opt/cudnn/libcudnn.so.{version[0]}"
    case = fault("q", "q", at("/opt/cudnn", cudnn_tree.copy_of, version, chain=True), codes=())
    outcome = run_here(case._replace(environ={"LD_PRELOAD": soname}), tmp_path)
    roots = [one for one in outcome.report["findings"] if not one["explained_by"]]
    assert [line for one in roots for line in pasted(one["remedies"][0])] == found
    assert outcome.status == bool(found)
    assert [text for text in outcome.open if "cudnn" in text] == []


def remedies_on(code: str, root: Path, *different: Part) -> list[list[dict[str, Any]]]:
    findings = run_here(fault("q", "q", *different, codes=(code,)), root).report["findings"]
    return [one["remedies"] for one in findings if one["code"] == code]
