"""What a printed plan says around its steps: back up first, how to undo it, who may carry it out."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from compat.matrix import Matrix
from doctor.cli import execute
from installers.cuda_order import CudaOrder
from installers.methods.cuda_installer import installer_plan
from installers.plan import Plan
from installers.render import kept_first, script_powershell, step_lines, undone_by
from installers.steps.copy_tree import CopyTree
from installers.steps.refresh_loader import RefreshLoader
from tests.installers import target as machines
from tests.installers import trees
from tests.installers.target import ROOT, WINDOWS

MATRIX = Matrix()


def pasted(lines: tuple[str, ...], folder: Path, umask: str = "022") -> None:
    script = "\n".join((f"umask {umask}", *lines))
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done


@pytest.mark.parametrize(
    ("name", "slash", "umask"), [("cuda", "", "022"), ("cuda", "", "077"), ("it's a $(CUDA) dir", "/", "022")]
)
def test_what_is_pasted_before_and_after_undoes_what_is_pasted_between(
    name: str, slash: str, umask: str, tmp_path: Path
) -> None:
    """The directory of libraries is a link, as in NVIDIA's toolkits."""
    cuda = trees.toolkit(tmp_path).rename(tmp_path / name)
    for kind, files in (("include", ("cudnn.h", "cudnn_new.h")), ("lib", ("libcudnn.so.9.10.2", "libcudnn.so.9.1.0"))):
        (tmp_path / "unpacked" / kind).mkdir(parents=True)
        for file in files:
            (tmp_path / "unpacked" / kind / file).write_text("new")
    (tmp_path / "unpacked/lib/libcudnn.so").symlink_to("libcudnn.so.9.10.2")
    copies = (
        CopyTree("unpacked/include", f"{cuda}/include", ("cudnn*.h",), "headers"),
        CopyTree("unpacked/lib", f"{cuda}/lib64{slash}", ("libcudnn*", "libother*"), "libraries"),
    )
    (tmp_path / "unpacked/lib/libother.so").write_text("new")
    plan = Plan("x", copies)
    before = contents(cuda)
    pasted(kept_first(plan, ROOT), tmp_path, umask)
    for step in copies:
        pasted(step_lines(step, ROOT), tmp_path, umask)
    assert contents(cuda) != before
    pasted(undone_by(plan, ROOT), tmp_path, umask)
    assert contents(cuda) == before


def test_the_original_is_kept_once(tmp_path: Path) -> None:
    """A second plan in the same folder, and one for another directory of the same name."""
    cuda, other = trees.toolkit(tmp_path), trees.toolkit(tmp_path / "other")
    before = contents(cuda), contents(other)
    plans = [
        Plan("x", (CopyTree("unpacked", f"{root}/lib64", ("libcudnn*",), "libraries"),)) for root in (cuda, cuda, other)
    ]
    for number, plan in enumerate(plans):
        pasted(kept_first(plan, ROOT), tmp_path)
        (tmp_path / "unpacked").mkdir(exist_ok=True)
        (tmp_path / "unpacked/libcudnn.so.9").write_text(f"of plan {number}")
        pasted(step_lines(plan.steps[0], ROOT), tmp_path)
    for plan in plans[1:]:
        pasted(undone_by(plan, ROOT), tmp_path)
    assert (contents(cuda), contents(other)) == before


def test_two_directories_of_one_name_on_windows(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["install", "cudnn", "9.18.0", "--cuda-version", "12.8", "--os", "windows"]) == 0
    told = capsys.readouterr().out
    assert "CUDA-v12.8-bin-x64'" in told
    assert "CUDA-v12.8-lib-x64'" in told


def test_two_directories_that_end_alike_are_kept_apart(tmp_path: Path) -> None:
    """Each by its own backup, and a file behind a link is neither written nor lost."""
    plans, before = [], {}
    for name in ("one", "other"):
        lib = tmp_path / name / "opt/cuda/lib64"
        lib.mkdir(parents=True)
        (tmp_path / name / "kept").write_text(name)
        (lib / "libcudnn.so.9").symlink_to(tmp_path / name / "kept")
        plans.append(Plan("x", (CopyTree("unpacked", str(lib), ("libcudnn*",), "libraries"),)))
        before[name] = contents(tmp_path / name)
    (tmp_path / "unpacked").mkdir()
    (tmp_path / "unpacked/libcudnn.so.9").write_text("new")
    for plan in plans:
        pasted(kept_first(plan, ROOT), tmp_path)
        pasted(step_lines(plan.steps[0], ROOT), tmp_path)
    assert (tmp_path / "one/opt/cuda/lib64/libcudnn.so.9").read_text() == "new"
    assert (tmp_path / "one/kept").read_text() == "one"
    for plan in plans:
        pasted(undone_by(plan, ROOT), tmp_path)
    assert {name: contents(tmp_path / name) for name in before} == before


@pytest.mark.parametrize("cut", [None, 0, 60])
def test_nothing_is_removed_without_a_whole_backup(cut: int | None, tmp_path: Path) -> None:
    """Not made, empty, cut short: what is there now is all that there is."""
    cuda = trees.toolkit(tmp_path)
    plan = Plan("x", (CopyTree("unpacked", f"{cuda}/lib64", ("libcudnn*",), "libraries"),))
    pasted(kept_first(plan, ROOT), tmp_path)
    before, [kept] = contents(cuda), [*tmp_path.glob("before-*-lib64.tar.gz")]
    content = kept.read_bytes()
    kept.unlink()
    if cut is not None:
        kept.write_bytes(content[:cut])
    done = subprocess.run(["bash", "-c", "\n".join(undone_by(plan, ROOT))], cwd=tmp_path, capture_output=True)
    assert done.returncode != 0
    assert contents(cuda) == before


def contents(root: Path) -> dict[str, tuple[str, int, int]]:
    """Kinds, modes, times and contents, without the times of directories."""
    found = {}
    for path in sorted(root.rglob("*")):
        seen = path.lstat()
        text = f"-> {path.readlink()}" if path.is_symlink() else path.read_text() if path.is_file() else "directory"
        found[str(path.relative_to(root))] = (text, seen.st_mode, 0 if path.is_dir() else int(seen.st_mtime))
    return found


def test_the_loader_is_refreshed_last() -> None:
    plan = Plan("x", (CopyTree("lib", "/usr/local/cuda/lib64", ("libcudnn*",), "x"), RefreshLoader("x")))
    lines = undone_by(plan, machines.UBUNTU)
    assert lines[-1] == "sudo ldconfig"
    assert len([line for line in lines if "ldconfig" in line]) == 1


def test_a_printed_plan_says_what_to_do_before_and_how_to_undo_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["install", "cudnn", "7.6.5", "--cuda-version", "10.1", "--os", "linux"]) == 0
    told = capsys.readouterr().out
    assert told.index("First back up") < told.index(" 1. download") < told.index("To undo it by hand")
    assert "tar -czPf before-usr-local-cuda-lib64.tar.gz" in told
    assert execute(["install", "cuda", "12.8", "--distribution", "ubuntu-24.04"]) == 0
    assert "sudo apt-get remove -y cuda-toolkit-12-8" in capsys.readouterr().out.partition("To undo it by hand")[2]


def test_brackets_of_a_directory_are_no_pattern(capsys: pytest.CaptureFixture[str]) -> None:
    """PowerShell's -Path takes them for one, finds nothing, and nothing would be kept."""
    order = ["install", "cudnn", "5.1", "--cuda-version", "8.0", "--os", "windows", "--cuda-home", "D:\\a[1]\\v8.0"]
    assert execute(order) == 0
    told = capsys.readouterr().out
    assert "-Path 'D:\\a[1]" not in told.replace("-LiteralPath", "")
    found = "Get-ChildItem -LiteralPath 'D:\\a[1]\\v8.0\\bin' -Filter 'cudnn*.dll' | "
    assert f"{found}Copy-Item -Force -Destination 'before-D-a-1-v8.0-bin.part'" in told
    assert f"{found}Remove-Item" in told.partition("To undo it by hand")[2]


def test_windows_says_first_who_may(capsys: pytest.CaptureFixture[str]) -> None:
    order = ["install", "cudnn", "5.1", "--cuda-version", "8.0", "--os", "windows"]
    assert execute(order) == 0
    told = capsys.readouterr().out
    assert told.index("started as administrator") < told.index(" 1. ")
    assert "Copy-Item -Path 'before-C-Program-Files-NVIDIA-GPU-Computing-Toolkit-CUDA-v8.0-bin" in told
    undone = told.partition("To undo it by hand")[2]
    for folder in (
        "C-Program-Files-NVIDIA-GPU-Computing-Toolkit-CUDA-v8.0-bin",
        "C-Program-Files-NVIDIA-GPU-Computing-Toolkit-CUDA-v8.0-include",
        "C-Program-Files-NVIDIA-GPU-Computing-Toolkit-CUDA-v8.0-lib-x64",
    ):  # where the copies are not, the undo ends before it removes anything
        there = undone.index(f"Get-Item -LiteralPath 'before-{folder}' | Out-Null")
        assert there < undone.index("Remove-Item", there) < undone.index(f"Copy-Item -Path 'before-{folder}")
    assert execute([*order, "--script", "powershell"]) == 0
    head = capsys.readouterr().out.partition("Set-StrictMode")[0]
    assert "started as administrator" in head
    assert "-ExecutionPolicy Bypass -File" in head
    exe = installer_plan(CudaOrder("12.8"), WINDOWS, MATRIX)
    assert "started as administrator" in script_powershell.script(exe, WINDOWS).partition("Set-StrictMode")[0]
