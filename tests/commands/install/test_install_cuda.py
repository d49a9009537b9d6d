"""`gpudoctor install cuda`, from the order to the toolkit that is found: archives, installers, one's own directory."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from compat.matrix import Matrix
from doctor.cli import execute
from doctor.commands.install.apply import apply_plan
from doctor.commands.install.history import taken_back
from doctor.commands.install.install import BadOrder, InstallOrder, Prepared, prepare
from doctor.output.document import TextStyle
from installers.cuda_order import CudaOrder, NoSuchToolkit
from installers.methods.container_image import container_plan
from installers.methods.cuda_archive import archive_plan
from installers.methods.cuda_installer import installer_plan
from installers.methods.cuda_wheel import wheel_plan
from installers.methods.local_repository import local_plan
from installers.plan import Plan, Target
from installers.render import script_bash, script_powershell
from installers.run import ExecutionOptions
from installers.steps.command import Command
from installers.steps.download import Download
from tests.installers import cuda_archives
from tests.installers import target as machines
from tests.installers.archives import PPC, SBSA, served
from tests.installers.namespace import run as run_as_root
from tests.installers.test_methods import shellcheck
from tests.installers.test_scripts import mistakes
from tests.installers.trees import digest_of
from tests.lab.elf_file import elf_bytes

MATRIX = Matrix()
COMPONENTS = {"cuda_cudart": "12.8.90", "cuda_nvcc": "12.8.93", "libcublas": "12.8.4.1"}
Shown = pytest.CaptureFixture[str]


class Setting(NamedTuple):
    """A served manifest with its archives, and the tables that name them."""

    matrix: Matrix
    folder: Path

    def prepared(self, *, components: str = "", home: str = "") -> Prepared:
        prefix = "" if home else str(self.folder / "own")
        asked = InstallOrder("cuda", "12.8", "archive", home=home, prefix=prefix, components=components)
        return prepare(asked, self.matrix)


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Setting]:
    monkeypatch.setenv("GPUDOCTOR_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    root = tmp_path / "served"
    packed = {}
    for name, version in COMPONENTS.items():
        content = cuda_archives.tree(tmp_path / "trees" / name, name, "12.8.1")
        packed[name] = cuda_archives.pack(content, name, version, root)
    manifest = cuda_archives.manifest(root, "12.8.1", packed)
    with served(root) as url:
        yield Setting(cuda_archives.matrix_of([manifest], url, tmp_path / "data"), tmp_path)


def test_archives_become_a_toolkit_that_is_found_and_taken_back(setting: Setting) -> None:
    prepared = setting.prepared()
    text, status = apply_plan(prepared, ExecutionOptions(), "json", TextStyle())
    told = json.loads(text)
    assert (status, told["good"], told["faults"]) == (0, True, []), text
    home = setting.folder / "own"
    assert (told["found"]["path"], told["found"]["release"]["value"]) == (str(home), "12.8.1")
    assert os.readlink(home / "lib64/libcudart.so.12") == "libcudart.so.12.8.90"
    assert os.access(home / "bin/nvcc", os.X_OK)
    assert (home / "share/licenses/cuda_nvcc.txt").read_text() == "licence of cuda_nvcc\n"
    assert not (home / "lib").exists()
    assert json.loads((home / "version.json").read_text())["libcublas"]["version"] == "12.8.4.1"
    assert taken_back("")[1] == 0
    assert not home.exists()


def test_the_environment_file_works_in_a_shell(setting: Setting) -> None:
    apply_plan(setting.prepared(), ExecutionOptions(), "text", TextStyle())
    home = setting.folder / "own"
    show = 'printf "%s\\n" "$CUDA_HOME" "$PATH" "$LD_LIBRARY_PATH"; nvcc'
    line = f". {home}/cuda-env.sh; {show}"
    done = subprocess.run(["bash", "-c", line], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
    assert done.stdout.splitlines() == [str(home), f"{home}/bin:/usr/bin:/bin", f"{home}/lib64", "nvcc"]


def test_the_script_leaves_what_apply_leaves(setting: Setting) -> None:
    prepared = setting.prepared()
    path = setting.folder / "script.sh"
    path.write_text(script_bash.script(prepared.plan, prepared.target))
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(setting.folder)}
    for _ in range(2):  # running it again does no harm
        done = subprocess.run(["bash", str(path)], env=environ, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
    home = setting.folder / "own"
    by_script = digest_of(home, new_times=False)
    shutil.rmtree(home)
    apply_plan(prepared, ExecutionOptions(), "text", TextStyle())
    assert digest_of(home, new_times=False) == by_script


def test_components_join_a_toolkit_that_is_there(setting: Setting) -> None:
    """A toolkit as NVIDIA's packages lay it out: its lib64 is a link, and stays one."""
    home = setting.folder / "cuda-12.8"
    lib = home / "targets/x86_64-linux/lib"
    shutil.copytree(setting.folder / "trees/cuda_cudart/lib", lib, symlinks=True)
    shutil.copytree(setting.folder / "trees/cuda_cudart/include", home / "include")
    (home / "lib64").symlink_to("targets/x86_64-linux/lib")
    before = digest_of(home)
    prepared = setting.prepared(components="cublas", home=str(home))
    assert [step.to for step in prepared.plan.steps if isinstance(step, Download)] == [
        "libcublas-linux-x86_64-12.8.4.1-archive.tar.xz"
    ]
    text, status = apply_plan(prepared, ExecutionOptions(), "text", TextStyle())
    assert status == 0, text
    assert (home / "lib64").is_symlink()
    assert (lib / "libcublas.so.12.4.1").exists()
    taken_back("")
    assert digest_of(home) == before


@pytest.mark.system
def test_root_installs_where_every_process_finds_it(setting: Setting) -> None:
    """In /usr/local and /etc/ld.so.conf.d of a mount namespace, with ldconfig; the rollback runs that once more."""
    argv = (sys.executable, "-m", "tests.installers.cuda_namespace", str(setting.folder / "data"))
    seen = json.loads(run_as_root(setting.folder / "namespace", 12080, *argv))
    assert seen["statuses"] == [0, 0], seen
    assert {"libcudart.so.12", "libcublas.so.12"} <= set(seen["during"])
    assert (seen["after"], seen["left"]) == ([], [])
    assert "Done: CUDA 12.8.1 is in /usr/local/cuda-12.8, complete." in " ".join(seen["text"].split())


def test_a_file_that_is_not_the_manifests_changes_nothing(setting: Setting) -> None:
    path = next((setting.folder / "served").rglob("libcublas*.tar.xz"))
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(Exception, match="expected"):
        apply_plan(setting.prepared(), ExecutionOptions(), "text", TextStyle())
    assert not (setting.folder / "own").exists()


@pytest.mark.parametrize(
    ("header", "version"),
    [("#define CUDA_VERSION 12060\n", "12.6"), ("#define CUDA_VERSION 11080\n", "11.8")],
)
def test_another_toolkit_is_not_mixed_with(header: str, version: str, setting: Setting) -> None:
    include = setting.folder / "own/include"
    include.mkdir(parents=True)
    (include / "cuda.h").write_text(header)
    (include / "cuda_runtime.h").write_text("// runtime\n")
    (setting.folder / "own/lib64").mkdir()
    (setting.folder / "own/lib64/libcudart.so.12").write_bytes(elf_bytes("libcudart.so.12"))
    with pytest.raises(BadOrder, match=f"contains CUDA {version}"):
        setting.prepared()


@pytest.mark.parametrize("method", ["packages", "conda", "runfile", "archive", "container", "wheel"])
@pytest.mark.parametrize("version", ["12.7", "99.9"])  # there never was a 12.7
def test_a_release_that_there_is_none_of_is_not_planned(
    version: str, method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["install", "cuda", version, "--method", method, "--os", "linux"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("version", ["11.4", "11.8", "12.0", "12.4.1", "12.8", "12.9", "13.0"])
@pytest.mark.parametrize("target", [machines.ROOT, SBSA, machines.WINDOWS])
def test_every_release_has_a_compiler_and_a_runtime(version: str, target: Target) -> None:
    plan = archive_plan(CudaOrder(version), target, MATRIX)
    names = {step.to.partition("-")[0] for step in plan.steps if isinstance(step, Download)}
    assert {"cuda_cudart", "cuda_nvcc", "libcublas", "libcufft", "libcusparse"} <= names
    assert not {"nvidia_driver", "fabricmanager", "nsight_systems"} & names
    assert all(step.size_bytes and step.sha256 for step in plan.steps if isinstance(step, Download))


def test_cuda_13_brings_what_its_compiler_was_taken_apart_into() -> None:
    plan = archive_plan(CudaOrder("13.0"), machines.ROOT, MATRIX)
    names = {step.to.partition("-")[0] for step in plan.steps if isinstance(step, Download)}
    assert {"cuda_crt", "libnvvm", "libnvptxcompiler"} <= names


@pytest.mark.parametrize(
    ("order", "target", "said"),
    [
        (CudaOrder("10.1"), machines.ROOT, "CUDA 10.1 is unknown as a set of archives"),
        (CudaOrder(""), machines.ROOT, "give the CUDA version, as in gpudoctor install cuda 12.8; known as"),
        (CudaOrder("12.8", components=("cudnn",)), machines.ROOT, "no component 'cudnn'; known are cccl, cublas"),
        (CudaOrder("12.8"), machines.JETSON, "no CUDA archives are known for linux jetson"),
        (
            CudaOrder("12.8", archive="x.tar.xz"),
            machines.ROOT,
            "a toolkit has many archives: omit --archive, gpudoctor downloads them",
        ),
    ],
)
def test_what_no_archive_brings(order: CudaOrder, target: Target, said: str) -> None:
    with pytest.raises(NoSuchToolkit, match=said):
        archive_plan(order, target, MATRIX)


@pytest.mark.parametrize(
    ("version", "target", "argv"),
    [
        ("8.0", machines.ROOT, "sh # --silent --toolkit --override --verbose --toolkitpath=/usr/local/cuda-8.0"),
        ("10.0", machines.ROOT, "sh # --silent --toolkit --override --verbose --toolkitpath=/usr/local/cuda-10.0"),
        ("10.1", machines.ROOT, "sh # --silent --toolkit --override --installpath=/usr/local/cuda-10.1"),
        ("13.0", SBSA, "sh # --silent --toolkit --override --installpath=/usr/local/cuda-13.0"),
        ("12.4", PPC, "sh # --silent --toolkit --override --installpath=/usr/local/cuda-12.4"),
        ("8.0", machines.WINDOWS, "# -s compiler_8.0 cublas_8.0"),
        ("10.0", machines.WINDOWS, "# -s nvcc_10.0 cuobjdump_10.0"),
        ("11.1", machines.WINDOWS, "# -s nvcc_11.1 cudart_11.1 cublas_11.1"),
        ("13.0", machines.WINDOWS, "# -s nvcc_13.0 crt_13.0 nvvm_13.0 cudart_13.0 thrust_13.0"),
        ("12.8", machines.WINDOWS, "# -s nvcc_12.8 cudart_12.8 thrust_12.8"),
    ],
)  # fmt: skip
def test_installers_ask_nothing(version: str, target: Target, argv: str) -> None:
    plan = installer_plan(CudaOrder(version), target, MATRIX)
    [command] = (step for step in plan.steps if isinstance(step, Command))
    [download] = (step for step in plan.steps if isinstance(step, Download))
    assert command.staged == (download.to,)
    assert " ".join(command.argv).startswith(argv.replace("#", download.to))
    assert target.os_family == "linux" or download.to.endswith(".exe")


@pytest.mark.parametrize("version", ["8.0", "9.2", "10.0", "10.1", "10.2", "11.0", "11.3", "12.9", "13.0"])
def test_every_exe_brings_the_libraries_of_frameworks(version: str) -> None:
    [command] = (
        one for one in installer_plan(CudaOrder(version), machines.WINDOWS, MATRIX).steps if isinstance(one, Command)
    )
    for library in ("cublas", "cufft", "curand", "cusolver", "cusparse"):
        assert {f"{library}_{version}", f"{library}_dev_{version}"} <= {*command.argv}


@pytest.mark.parametrize("version", ["6.0", "7.5", "9.2", "11.3", "12.9", "13.3"])
def test_every_runfile_has_its_options(version: str) -> None:
    assert installer_plan(CudaOrder(version), machines.ROOT, MATRIX)


def test_old_installers_of_windows_may_stop_over_the_driver() -> None:
    plan = installer_plan(CudaOrder("8.0"), machines.WINDOWS, MATRIX)
    assert "remove the NVIDIA display driver" in getattr(plan.steps[0], "text", "")


RUNFILE = """\
#!/bin/sh
# what a runfile does, as far as programs look at it
for word in "$@"; do case $word in --installpath=*) home=${word#--installpath=} ;; esac; done
[ "$1 $2 $3" = "--silent --toolkit --override" ] || exit 3
mkdir -p "$home/bin" "$home/include" "$home/lib64"
printf '#define CUDA_VERSION 12080\\n' >"$home/include/cuda.h"
printf '// x\\n' >"$home/include/cuda_runtime.h"
cp "$LIBRARY" "$home/lib64/libcudart.so.12"
printf '#!/bin/sh\\n' >"$home/bin/nvcc"
printf '#!/bin/sh\\nrm -r "%s"\\n' "$home" >"$home/bin/cuda-uninstaller"
chmod +x "$home/bin/nvcc" "$home/bin/cuda-uninstaller"
"""


def test_an_installer_is_verified_run_looked_after_and_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Shown
) -> None:
    library = cuda_archives.tree(tmp_path / "tree", "cuda_cudart", "12.8.1") / "lib/libcudart.so.12.8.90"
    monkeypatch.setenv("LIBRARY", str(library))
    monkeypatch.setenv("GPUDOCTOR_STATE", str(tmp_path / "state"))
    runfile, home = tmp_path / "cuda.run", tmp_path / "cuda-12.8"
    runfile.write_text(RUNFILE)
    order = ("install", "cuda", "12.8", "--method", "runfile", "--prefix", str(home), "--archive", str(runfile))
    assert execute([*order, "--apply"]) == 2
    assert "expected 228f6bca" in capsys.readouterr().err, "the digest of the matrix is what counts"
    assert not home.exists()
    digest = hashlib.sha256(runfile.read_bytes()).hexdigest()
    assert execute([*order, "--sha256", digest, "--apply"]) == 0, capsys.readouterr()
    assert f"Done: CUDA 12.8 is in {home}, complete." in " ".join(capsys.readouterr().out.split())
    assert execute(["install", "history"]) == 0
    assert f"back: {home}/bin/cuda-uninstaller" in capsys.readouterr().out
    assert execute(["install", "rollback"]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "was not undone; undo it with" in told
    assert (home / "bin/nvcc").exists()
    assert not (home / "cuda-env.sh").exists()


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (machines.UBUNTU, "cuda-repo-ubuntu2404-12-8-local_12.8.1-570.124.06-1_amd64.deb"),
        (machines.UBUNTU._replace(arch="sbsa"), "cuda-repo-ubuntu2404-12-8-local_12.8.1-570.124.06-1_arm64.deb"),
        (machines.DEBIAN, "cuda-repo-debian12-12-8-local_12.8.1-570.124.06-1_amd64.deb"),
        (machines.WSL, "cuda-repo-wsl-ubuntu-12-8-local_12.8.1-1_amd64.deb"),
        (machines.ROCKY, "cuda-repo-rhel9-12-8-local-12.8.1_570.124.06-1.x86_64.rpm"),
        (machines.FEDORA, "cuda-repo-fedora41-12-8-local-12.8.1_570.124.06-1.x86_64.rpm"),
        (machines.SLES, "cuda-repo-sles15-12-8-local-12.8.1_570.124.06-1.x86_64.rpm"),
    ],
)
def test_local_repositories(target: Target, expected: str) -> None:
    plan = local_plan(CudaOrder("12.8"), target, MATRIX)
    [download] = (step for step in plan.steps if isinstance(step, Download))
    assert (download.to, download.url.rpartition("/")[2], download.sha256) == (expected, expected, ())
    argv = [" ".join(step.argv) for step in plan.steps if isinstance(step, Command)]
    assert argv[0] in {f"dpkg -i {expected}", f"rpm -i {expected}"}
    assert argv[-1].endswith("cuda-toolkit-12-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--os", "linux", "--method", "container"), "docker run --rm --gpus all nvidia/cuda:12.8.1-cudnn-devel-"),
        (("--os", "windows", "--method", "container"), "WSL 2 engine"),
        (("--os", "linux", "--method", "wheel"), "nvidia-cuda-runtime-cu12==12.8.90"),
        (("--os", "windows", "--method", "exe"), "Start-Process -Wait"),
        (("--os", "windows", "--method", "archive", "--script", "powershell"), "Copy-All"),
        (("--os", "linux", "--method", "runfile", "--script", "bash"), 'sh "$staging"/cuda_12.8.1_570.124'),
        (("--os", "linux", "--prefix", "/home/u/c", "--components", "nvrtc"), "/home/u/c/cuda-env.sh"),
        (("--os", "linux", "--prefix", "/opt/c", "--components", "nvrtc"), "ld.so.conf.d/gpudoctor-cuda.conf"),
    ],
)  # fmt: skip
def test_what_is_printed(words: tuple[str, ...], said: str, capsys: Shown) -> None:
    assert execute(["install", "cuda", "12.8", *words]) == 0
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("12.8", "--os", "windows", "--method", "runfile"), "runfile is for linux, but this plan is for windows"),
        (
            ("12.8", "--os", "linux", "--prefix", "/a", "--cuda-home", "/b"),
            "use only one of --prefix",
        ),
        (("12.8", "--os", "linux", "--prefix", "/a", "--method", "packages"), "has no option --"),
        (("12.8", "--os", "linux", "--method", "runfile", "--components", "nvcc"), "has no option --components"),
        (("12.8", "--os", "linux", "--method", "local"), "no local repository is known for linux"),
        (("12.8", "--os", "linux", "--archive", "x.run"), "give the kind of the file: --method runfile, exe or local"),
        (("99.9", "--os", "linux", "--method", "container"), "CUDA 99.9 is unknown as a container image"),
        (
            ("12.8", "--method", "archive", "--apply", "--script", "bash"),
            "not both",
        ),
        (
            ("12.8", "--os", "windows", "--method", "exe", "--cuda-home", "C:\\x"),
            "NVIDIA's installer has a fixed directory: omit the option, or add --method archive",
        ),
    ],
)
def test_mistakes_are_one_line(words: tuple[str, ...], said: str, capsys: Shown) -> None:
    assert execute(["install", "cuda", *words]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert said in told.err


def test_cudnn_in_a_directory_of_its_own(capsys: Shown) -> None:
    order = ("cudnn", "9.10.2", "--cuda-version", "12.8", "--os", "linux", "--prefix", "/home/u/cudnn")
    assert execute(["install", *order, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    [written] = (step for step in told["plan"]["steps"] if step["kind"] == "WriteFile")
    assert written["path"] == "/home/u/cudnn/cudnn-env.sh"
    assert "RefreshLoader" not in {step["kind"] for step in told["plan"]["steps"]}


def plans_of(target: Target) -> Iterator[Plan]:
    """Every way to a toolkit that this machine has."""
    for ordered in (archive_plan, installer_plan, local_plan, wheel_plan, container_plan):
        for order in (CudaOrder("12.8"), CudaOrder("12.8", "/home/a user/it's", own=True)):
            try:
                yield ordered(order, target, MATRIX)
            except NoSuchToolkit:
                continue


@pytest.mark.parametrize("name", ["ubuntu", "rocky", "sles"])
def test_shellcheck_finds_nothing_in_scripts(name: str, tmp_path: Path) -> None:
    target = machines.LINUX[name]
    paths = []
    for number, plan in enumerate(plans_of(target)):
        paths.append(tmp_path / f"{number}.sh")
        paths[-1].write_text(script_bash.script(plan, target))
    assert len(paths) >= 7
    assert subprocess.run([shellcheck(), *map(str, paths)], capture_output=True, text=True).stdout == ""


def test_scripts_that_need_root_say_so_first(tmp_path: Path) -> None:
    plan = container_plan(CudaOrder("12.8"), machines.UBUNTU, MATRIX)
    text = script_bash.script(plan, machines.UBUNTU)
    assert text.index("run this script as root") < text.index("docker pull")


@pytest.mark.parametrize("version", ["8.0", "10.2", "12.8", "13.0"])
def test_scripts_for_windows_parse(version: str) -> None:
    plans = [installer_plan(CudaOrder(version), machines.WINDOWS, MATRIX)]
    if version in {"12.8", "13.0"}:
        plans += [archive_plan(CudaOrder(version, "C:\\it's\\cuda", own=True), machines.WINDOWS, MATRIX)]
    for plan in plans:
        assert mistakes(script_powershell.script(plan, machines.WINDOWS)) == []
