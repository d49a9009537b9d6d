"""`gpudoctor install`, from the command line on."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from compat.matrix import Matrix
from doctor.cli import execute
from doctor.commands.install.install import BadOrder, InstallOrder, prepare
from installers.step import kind_of
from tests.installers.archives import LINUX, Era, pack
from tests.installers.trees import digest_of
from tests.lab.elf_file import elf_bytes
from tests.machine import environment as an_environment
from tests.machine import machine as a_machine
from tests.machine import seen, system, toolkit, toolkits, unseen

ERA = next(era for era in LINUX if era.version == "9.10.2")
ARTICLE = """\
Install cuDNN 7.6.5.32 for CUDA 10.1 in /usr/local/cuda

First back up the files that will be replaced (--apply does this automatically):
      tar -tzPf before-usr-local-cuda-include.tar.gz >/dev/null 2>&1 || find {cuda}/include/ -maxdepth 1 -name 'cudnn*.h' -print0 2>/dev/null | tar -czPf before-usr-local-cuda-include.tar.gz --null -T - &&
      tar -tzPf before-usr-local-cuda-lib64.tar.gz >/dev/null 2>&1 || find {cuda}/lib64/ -maxdepth 1 -name 'libcudnn*' -print0 2>/dev/null | tar -czPf before-usr-local-cuda-lib64.tar.gz --null -T -

 1. download cudnn-10.1-linux-x64-v7.6.5.32.tgz (checksum confirmed by
    independent packagers)
    cuDNN 7.6.5.32 for CUDA 10.1, linux x86_64
      curl -fL --retry 3 --proto =https -o cudnn-10.1-linux-x64-v7.6.5.32.tgz {url} &&
      echo '{sha256}  cudnn-10.1-linux-x64-v7.6.5.32.tgz' | sha256sum -c -

 2. unpack cudnn-10.1-linux-x64-v7.6.5.32.tgz
    it is an archive, not an installer
      mkdir -p unpacked &&
      tar -xf cudnn-10.1-linux-x64-v7.6.5.32.tgz -C unpacked

 3. copy cudnn*.h to /usr/local/cuda/include
    all headers: since cuDNN 8, cudnn.h includes the others
      sudo cp --remove-destination -P unpacked/cuda/include/cudnn*.h /usr/local/cuda/include/

 4. copy libcudnn* to /usr/local/cuda/lib64
    cp -P keeps symlinks; otherwise an upgrade leaves old files behind
      sudo cp --remove-destination -P unpacked/cuda/lib64/libcudnn* /usr/local/cuda/lib64/

 5. add the mode a+r to /usr/local/cuda/include/cudnn*.h,
    /usr/local/cuda/lib64/libcudnn*
    make the files readable for all users
      sudo chmod a+r /usr/local/cuda/include/cudnn*.h /usr/local/cuda/lib64/libcudnn*

 6. update the loader's cache
    the loader then finds the libraries
      sudo ldconfig

 7. if `ldconfig -p | grep cudnn` shows nothing, add this line to ~/.bashrc
    NVIDIA's CUDA packages set this path, the .run installer needs this line
      export LD_LIBRARY_PATH=/usr/local/cuda/lib64"${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"

 8. check the machine again
    expected: cuDNN 7.6.5.32 in /usr/local/cuda/lib64, complete
      gpudoctor check

To undo it by hand (after --apply: gpudoctor install rollback):
      tar -tzPf before-usr-local-cuda-lib64.tar.gz > /dev/null &&
      sudo find /usr/local/cuda/lib64/ -maxdepth 1 -name 'libcudnn*' -delete &&
      sudo tar -xzpPf before-usr-local-cuda-lib64.tar.gz &&
      tar -tzPf before-usr-local-cuda-include.tar.gz > /dev/null &&
      sudo find /usr/local/cuda/include/ -maxdepth 1 -name 'cudnn*.h' -delete &&
      sudo tar -xzpPf before-usr-local-cuda-include.tar.gz &&
      sudo ldconfig
"""  # noqa: E501 - as printed
Shown = pytest.CaptureFixture[str]


def test_the_articles_own_case(capsys: Shown) -> None:
    from tests.installers.archives import MATRIX

    [row] = (one for one in MATRIX.rows("cudnn-archive", "archives") if one.id == "cudnn-10.1-linux-x64-v7.6.5.32.tgz")
    assert execute(["install", "cudnn", "7.6.5", "--cuda-version", "10.1", "--os", "linux"]) == 0
    assert capsys.readouterr().out == ARTICLE.format(url=row.url, sha256=row.sha256[0], cuda="/usr/local/cuda")


def test_json_holds_the_plan_and_its_commands(capsys: Shown) -> None:
    assert execute(["install", "cudnn", "8.9.7", "--cuda-version", "12.2", "--os", "windows", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "gpudoctor.plan/1"
    kinds = [step["kind"] for step in told["plan"]["steps"]]
    assert kinds == ["Download", "Extract", "CopyTree", "CopyTree", "CopyTree", "AddToPath", "Check"]
    assert told["plan"]["steps"][0]["size_bytes"] == 708408517
    assert "\n".join(told["commands"]).count("Copy-Item") == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("cudnn", "9.10.2", "--cuda-version", "12.8", "--os", "linux", "--script", "bash"), "set -euo pipefail"),
        (("cudnn", "9.10.2", "--cuda-version", "12.8", "--os", "windows", "--script", "powershell"), "'Stop'"),
        (("cudnn", "9.10.2", "--cuda-version", "12.8", "--os", "linux", "--method", "packages"), "cudnn-downloads"),
        (("torch", "2.9.1", "--cuda-version", "12.8", "--os", "linux"), "-m pip install torch==2.9.1\n"),
        (("package", "numpy", "--any", "--os", "linux"), "-m pip install numpy"),
        (("cuda", "12.8", "--os", "linux"), "CUDA toolkit"),
        (("driver", "580", "--os", "windows"), "driver"),
    ],
)
def test_what_is_printed(words: tuple[str, ...], said: str, capsys: Shown) -> None:
    assert execute(["install", *words]) == 0
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("cudnn", "7.6.5", "--cuda-version", "9.1", "--os", "linux"), "; there are archives for"),
        (
            ("cudnn", "--os", "linux"),
            "for another machine, give the cuDNN version, as in gpudoctor install cudnn 9.10.2",
        ),
        (("cudnn", "9", "--os", "macos"), "no operating system 'macos'"),
        (("cudnn", "9.10.2", "--os", "linux", "--arch", "sparc"), "no architecture 'sparc'"),
        (("cudnn", "9.10.2", "--os", "linux", "--method", "snap"), "no method 'snap'"),
        (("cudnn", "x", "--os", "linux"), "is not a cuDNN version"),
        (("cudnn", "9.10.2", "--cuda-version", "12.x", "--os", "linux"), "is not a CUDA version"),
        (("cudnn", "9.10.2", "--cuda-version", "new", "--os", "linux"), "is not a CUDA version"),
        (("cudnn", "9.10.2", "--os", "linux", "--sha256", "abc"), "64 hexadecimal digits"),
        (("cudnn", "9.10.2", "--os", "linux", "--script", "powershell"), "needs a bash script"),
        (("cudnn", "9.10.2", "--os", "linux", "--script", "zsh"), "no kind of script 'zsh'"),
        (
            ("cudnn", "9.10.2", "--cuda-version", "12.8", "--os", "linux", "--apply"),
            "--apply changes this machine: omit --os, --arch and --distribution",
        ),
        (("cudnn", "9.10.2", "--os", "linux", "--format", "xml"), "no format 'xml'"),
        (
            ("cudnn", "9.10.2", "--os", "linux", "--script", "bash", "--format", "json"),
            "--script prints a script: omit --format",
        ),
        (("cudnn", "9.10.2", "--os", "linux", "--method", "wheel", "--archive", "x"), "has no option --"),
        (("cudnn", "9.10.2", "--cuda-version", "\u0661\u0662", "--os", "linux"), "is not a CUDA version"),
        (
            ("cudnn", "9.10.2", "--cuda-version", "12.8", "--os", "windows", "--arch", "sbsa"),
            "for Windows, gpudoctor knows only x86_64, not",
        ),
        (("cudnn", "99", "--cuda-version", "13.0", "--os", "linux"), "cuDNN 99 is unknown"),
        (("cuda", "12.8", "--method", "archive", "--components", ",", "--os", "linux"), "--components needs names"),
        (("cuda", "new", "--os", "linux"), "is not a CUDA version"),
        (("torch==2.9.1", "--os", "linux"), "write the version as a separate word, as in gpudoctor install"),
        (("by-hand", "--os", "linux"), "no product 'by-hand'"),
    ],
)
def test_mistakes_are_one_line(words: tuple[str, ...], said: str, capsys: Shown) -> None:
    assert execute(["install", *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert told.err.count("\n") == 1


class Machine:
    """A CUDA directory, an archive for it, and a state directory, all of the test's own."""

    def __init__(self, folder: Path, era: Era, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = folder / "cuda"
        (self.home / "include").mkdir(parents=True)
        (self.home / "lib64").mkdir()
        (self.home / "lib64/libcudart.so.12").write_bytes(elf_bytes("libcudart.so.12"))
        (self.home / "version.json").write_text('{"cuda": {"name": "CUDA SDK", "version": "12.8.0"}}\n')
        (folder / "archives").mkdir()
        self.archive = pack(era, folder / "archives")
        self.digest = hashlib.sha256(self.archive.read_bytes()).hexdigest()
        monkeypatch.setenv("GPUDOCTOR_STATE", str(folder / "state"))
        monkeypatch.setenv("HOME", str(folder))

    def apply(self, *more: str, cuda: str = "12.8", digest: str = "") -> int:
        where = ("--cuda-version", cuda, "--cuda-home", str(self.home), "--archive", str(self.archive))
        words = ("install", "cudnn", "9.10.2", *where, "--sha256", digest or self.digest, "--apply")
        return execute([*words, *more])


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, ERA, monkeypatch)


def test_apply_ends_with_what_is_found_and_rollback_takes_it_back(machine: Machine, capsys: Shown) -> None:
    before = digest_of(machine.home)
    assert machine.apply("--format", "json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["good"], told["faults"]) == ("gpudoctor.applied/1", True, [])
    assert told["found"]["version"]["value"] == "9.10.2"
    assert told["found"]["path"] == str(machine.home / "lib64")
    assert os.readlink(machine.home / "lib64/libcudnn.so.9") == "libcudnn.so.9.10.2"
    assert execute(["install", "history"]) == 0
    assert f"{told['id']}  done" in capsys.readouterr().out
    assert execute(["install", "rollback", told["id"]]) == 0
    assert "undone" in capsys.readouterr().out
    assert digest_of(machine.home) == before
    assert execute(["install", "history", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["state"] == "undone"


def test_a_directory_of_its_own_is_made_filled_and_removed(machine: Machine, tmp_path: Path, capsys: Shown) -> None:
    prefix = tmp_path / "own"
    order = ("install", "cudnn", "9.10.2", "--cuda-version", "12.8", "--prefix", str(prefix))
    file = ("--archive", str(machine.archive), "--sha256", machine.digest)
    assert execute([*order, *file, "--apply"]) == 0
    assert f"Done: cuDNN 9.10.2 is in {prefix}/lib64, complete." in " ".join(capsys.readouterr().out.split())
    shown = 'printf "%s\n" "$CUDNN_PATH" "$CPATH" "$LD_LIBRARY_PATH"'
    line = ["bash", "-c", f". {prefix}/cudnn-env.sh; {shown}"]
    done = subprocess.run(line, env={"PATH": "/usr/bin:/bin", "CPATH": "/a"}, capture_output=True, text=True)
    assert done.stdout.split() == [str(prefix), f"{prefix}/include:/a", f"{prefix}/lib64"]
    assert execute(["install", "rollback"]) == 0
    assert not prefix.exists()
    capsys.readouterr()
    assert execute([*order, *file, "--script", "bash"]) == 0
    script = subprocess.run(["bash", "-s"], input=capsys.readouterr().out, capture_output=True, text=True)
    assert (script.returncode, script.stderr) == (0, "")
    assert os.readlink(prefix / "lib64/libcudnn.so.9") == "libcudnn.so.9.10.2"
    assert (prefix / "cudnn-env.sh").exists()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            InstallOrder("cudnn", "9.10.2", cuda="12"),
            "/usr/local/cuda contains another CUDA: add --cuda-version 12.Y, --cuda-home or --prefix",
        ),
        (InstallOrder("cudnn", "9.10.2"), "(/usr/local/cuda contains CUDA 13.0; for another one, use --cuda-version)"),
        (InstallOrder("cudnn", "9.10.2", "conda"), "is not a conda environment"),
    ],
)
def test_what_does_not_suit_this_machine(asked: InstallOrder, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its /usr/local/cuda holds CUDA 13: nothing for 12 is printed for that directory."""
    facts = a_machine(toolkit=toolkits(toolkit("13.0.0")))
    monkeypatch.setattr("doctor.probes.look", lambda *_: facts)
    with pytest.raises(BadOrder, match=re.escape(said)):
        prepare(asked, Matrix())


SHORT = an_environment(frameworks=seen(()), machine=seen("i386"))


@pytest.mark.parametrize(
    ("asked", "built_for", "is_refused"),
    [
        (InstallOrder("torch"), "i386", True),
        (InstallOrder("torch", "2.9.1", cuda="12.8"), "i386", True),
        (InstallOrder("onnxruntime-gpu"), "i386", True),
        (InstallOrder("cudnn", "9.10.2", "wheel", "12.8"), "i386", True),
        (InstallOrder("torch"), "x86_64", False),
        (InstallOrder("torch"), "", False),
        (InstallOrder("torch", "2.9.1", any_name=True), "i386", False),
        (InstallOrder("cudnn", "9.10.2", cuda="12.8", prefix="C:/cuda"), "i386", False),
    ],
)
def test_no_wheel_goes_into_a_python_of_32_bits(
    asked: InstallOrder, built_for: str, is_refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = SHORT._replace(machine=seen(built_for) if built_for else unseen("not read"))
    facts = a_machine(system=system(family=seen("windows"), machine=seen("AMD64")), environments=seen((here,)))
    monkeypatch.setattr("doctor.probes.look", lambda *_: facts)
    if not is_refused:
        assert prepare(asked, Matrix()).plan.steps
        return
    with pytest.raises(
        BadOrder, match="is a 32-bit Python, and CUDA wheels need a 64-bit Python: give one with --python"
    ):
        prepare(asked, Matrix())


@pytest.mark.parametrize("cuda", ["12.8", "10.1"])
def test_another_cuda_is_no_reason_to_refuse_instructions(cuda: str, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = a_machine(toolkit=toolkits(toolkit("13.0.0")))
    monkeypatch.setattr("doctor.probes.look", lambda *_: facts)
    version = "7.6.5" if cuda == "10.1" else "9.10.2"
    plan = prepare(InstallOrder("cudnn", version, cuda=cuda), Matrix()).plan
    assert f"in /usr/local/cuda-{cuda}" in plan.summary
    first = plan.steps[0]
    assert kind_of(first).title(first) == "Note: /usr/local/cuda is CUDA 13.0 and is not changed"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("cudnn 7.6.5 --cuda-version 10.1 --distribution ubuntu-18.04", "libcudnn7=7.6.5.32-1+cuda10.1"),
        ("cudnn 8.0.5 --cuda-version 11.0 --distribution ubuntu-20.04", "libcudnn8=8.0.5.39-1+cuda11.0"),
        ("cudnn 9.10.2 --cuda-version 12.8 --distribution debian-12", "libcudnn9-cuda-12=9.10.2.21-1"),
        ("cuda 12.8 --distribution rocky-9", "sudo dnf install -y cuda-toolkit-12-8"),
        ("cuda 11.3 --distribution ubuntu-16.04", "sudo apt-get install -y cuda-toolkit-11-3"),
        ("cuda 12.9 --distribution ubuntu-20.04", "sudo apt-get install -y cuda-toolkit-12-9"),
        ("driver 580 --distribution opensuse-leap-15.6", "zypper"),
    ],
)
def test_plans_for_another_distribution(words: str, line: str, capsys: Shown) -> None:
    more = ("--method", "packages") if words.startswith("cudnn") else ()
    assert execute(["install", *words.split(), *more]) == 0
    assert line in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("cuda 13.0 --distribution ubuntu-16.04", "11.1, 11.2, 11.3, not 13.0"),
        ("cuda 13.0 --distribution ubuntu-20.04", "12.8, 12.9, not 13.0"),
        ("cuda 12.8 --distribution ubuntu-26.04", "have CUDA 13.3, 13.4, 13.5, not 12.8"),
        ("cuda 12.8 --distribution plan9-4", "is not a Linux distribution such as ubuntu-24.04 or rocky-9"),
        ("cuda 12.8 --distribution templeos-5", "no distribution 'templeos'"),
        ("cudnn 7.6.5 --cuda-version 11.0 --method packages --distribution ubuntu-18.04", "it is for 9.0, 9.2, 10.0"),
        ("cudnn 8.2.1 --cuda-version 11.3 --method wheel --os linux", "cuDNN 8.2.1 has no wheel for CUDA"),
        ("cudnn 7.6.5 --cuda-version 10.1 --method wheel --os linux", "wheels exist for CUDA 11 and later"),
    ],
)
def test_what_no_row_says_is_not_planned(words: str, said: str, capsys: Shown) -> None:
    assert execute(["install", *words.split()]) == 2
    assert said in capsys.readouterr().err


def test_a_wheel_is_asked_for_by_its_full_release(capsys: Shown) -> None:
    assert execute(["install", "cudnn", "9.10.2", "--cuda-version", "12.8", "--method", "wheel", "--os", "linux"]) == 0
    assert "nvidia-cudnn-cu12==9.10.2.21" in capsys.readouterr().out


@pytest.mark.parametrize(("place", "is_said"), [("ubuntu-24.04", True), ("debian-13", False), ("fedora-42", False)])
def test_a_package_of_that_release_is_named(place: str, is_said: bool, capsys: Shown) -> None:
    """The repositories of Debian 13 and Fedora 42 are younger than cuDNN 9.10.2."""
    assert execute(["install", "cudnn", "9.10.2", "--distribution", place]) == 0
    told = " ".join(capsys.readouterr().out.split())
    word = f"gpudoctor install cudnn 9.10.2 --distribution {place} --method packages"
    assert (word in told) is is_said
    assert execute(["install", "cudnn", "9.10.2", "--distribution", place, "--method", "packages"]) == (
        0 if is_said else 2
    )


@pytest.mark.parametrize(
    "words",
    [
        "7.6.5 --cuda-version 9.0 --os windows",
        "9.28.0 --cuda-version 12.8 --os linux",
        "9.28.0 --cuda-version 13.0 --os windows",
    ],
)
def test_the_name_of_an_archive_without_a_row_is_unknown(words: str, capsys: Shown) -> None:
    assert execute(["install", "cudnn", *words.split()]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "gpudoctor does not know the file's name. Then: gpudoctor install cudnn" in told
    assert "--archive FILE" in told
    assert "archive.tar.xz" not in told


@pytest.mark.parametrize(
    ("words", "product", "where"),
    [
        (("cudnn", "9.10.2", "--method", "wheel"), "nvidia-cudnn-cu12", "/v/bin/python"),
        (("torch", "2.9.1"), "torch", "/v/bin/python"),
        (("cuda", "12.8", "--method", "wheel"), "nvidia-cuda-runtime-cu12", "/v/bin/python"),
        (("cuda", "12.8", "--method", "runfile"), "cuda", "/usr/local/cuda-12.8"),
    ],
)
def test_the_plan_says_what_is_looked_for(words: tuple[str, ...], product: str, where: str, capsys: Shown) -> None:
    assert execute(["install", *words, "--os", "linux", "--python", "/v/bin/python", "--format", "json"]) == 0
    last = json.loads(capsys.readouterr().out)["plan"]["steps"][-1]
    assert (last["kind"], last["finds"]["product"], last["finds"]["where"]) == ("Check", product, where)


def test_a_toolkit_that_is_not_there_is_refused_by_both(machine: Machine, tmp_path: Path, capsys: Shown) -> None:
    """Before anything is fetched: a directory with nothing but cuDNN in it is no CUDA directory."""
    missing = tmp_path / "mistyped"
    order = ("install", "cudnn", "9.10.2", "--cuda-version", "12.8", "--cuda-home", str(missing))
    file = ("--archive", str(machine.archive), "--sha256", machine.digest)
    assert execute([*order, *file, "--apply"]) == 2
    assert capsys.readouterr().err.startswith(f"gpudoctor: {missing} is not there. Install the CUDA toolkit first")
    assert execute([*order, *file, "--script", "bash"]) == 0
    script = subprocess.run(["bash", "-s"], input=capsys.readouterr().out, capture_output=True, text=True)
    assert (script.returncode, script.stderr) == (
        1,
        f"stopped: {missing} does not exist: install the CUDA toolkit first\n",
    )
    assert not missing.exists()


def test_apply_says_what_is_left(machine: Machine, capsys: Shown) -> None:
    assert machine.apply() == 0
    told = capsys.readouterr().out
    assert " ".join(told.split()).startswith(f"Done: cuDNN 9.10.2 is in {machine.home}/lib64, complete. ")
    assert "export LD_LIBRARY_PATH=" in told
    assert "gpudoctor install rollback" in told


def test_a_fault_that_is_left_is_exit_1(machine: Machine, capsys: Shown) -> None:
    (machine.home / "lib64/libcudnn_odd.so.9").symlink_to("libcudnn_odd.so.9.1.0")  # leads nowhere, before and after
    assert machine.apply() == 1
    assert "cudnn-link-broken" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("cuda", "digest", "said"),
    [("12.8", "0" * 64, "expected 0000"), ("11.8", "", "does not work there")],
    ids=["digest", "another major"],
)
def test_what_is_refused_changes_nothing(machine: Machine, cuda: str, digest: str, said: str, capsys: Shown) -> None:
    before = digest_of(machine.home)
    assert machine.apply(cuda=cuda, digest=digest) == 2
    assert said in capsys.readouterr().err
    assert digest_of(machine.home) == before


def test_rollback_of_nothing(machine: Machine, capsys: Shown) -> None:
    assert execute(["install", "rollback"]) == 2
    assert "no finished run" in capsys.readouterr().err
    assert execute(["install", "history"]) == 0
    assert capsys.readouterr().out == "nothing was installed with --apply\n"


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["install", "torch"], ["install", "package", "torch"]),
        (["install", "cudnn"], ["install", "cudnn"]),
        (["install", "--help"], ["install", "--help"]),
        (["install"], ["install"]),
        (["matrix", "no-such"], ["matrix", "no-such"]),
        (["check"], ["check"]),
    ],
)
def test_a_name_is_a_package(argv: list[str], expected: list[str]) -> None:
    from doctor.cli import _spelled_out

    assert list(_spelled_out(argv)) == expected


@pytest.mark.parametrize(
    ("release", "cuda", "system"),
    [
        ("6.0", "8.0", "rocky-9"),
        ("7.6.5", "10.1", "debian-12"),
        ("8.0.5", "11.1", "rocky-9"),
        ("8.9.7", "12", "ubuntu-16.04"),
        ("9.10.2", "12.8", "ubuntu-16.04"),
    ],
)
def test_no_package_of_cudnn_for_a_cuda_that_the_repository_never_had(
    release: str, cuda: str, system: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Red on the old code: `dnf install libcudnn6-6.0.21-1.cuda8.0` on Rocky 9, `libcudnn9-cuda-12` on Ubuntu 16.04."""
    order = ["install", "cudnn", release, "--cuda-version", cuda, "--distribution", system, "--method", "packages"]
    assert execute(order) == 2
    assert f"none is cuDNN {release} for CUDA {cuda}" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("release", "cuda", "system"),
    [
        ("7.6.5", "10.1", "ubuntu-16.04"),
        ("8.0.5", "11.1", "ubuntu-20.04"),
        ("8.9.7", "12.2", "rocky-9"),
        ("9.10.2", "12", "debian-12"),
        ("9.10.2", "11", "rocky-9"),
    ],
)
def test_a_cudnn_of_the_repositorys_time_is_planned(release: str, cuda: str, system: str) -> None:
    order = ["install", "cudnn", release, "--cuda-version", cuda, "--distribution", system, "--method", "packages"]
    assert execute(order) == 0
