"""The system probe: distribution, kernel, WSL, container, firmware, user, kernel log."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from doctor.host.live import LiveHost
from doctor.model.facts.seen import Seen, Unseen
from doctor.probes import system
from tests.probes.pretend import PretendHost
from tests.probes.tree import offline

OS_RELEASE = 'NAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\nPRETTY_NAME="Ubuntu 24.04.3 LTS"\n'
EFI = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
UNSEEN = object()


def value(fact: Any) -> Any:
    return fact.value if isinstance(fact, Seen) else UNSEEN


def elf(machine: int, data: int = 1) -> bytes:
    order = ">" if data == 2 else "<"
    return b"\x7fELF" + bytes([2, data, 1]) + bytes(9) + struct.pack(order + "HH", 3, machine) + bytes(44)


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ({"/etc/os-release": OS_RELEASE}, ("Ubuntu 24.04.3 LTS", "ubuntu", "24.04")),
        ({"/usr/lib/os-release": OS_RELEASE}, ("Ubuntu 24.04.3 LTS", "ubuntu", "24.04")),
        ({"/etc/os-release": "NAME='Arch Linux'\nID=arch\n"}, ("Arch Linux", "arch", UNSEEN)),
        ({"/etc/os-release": b"\xff\xfe\x00ID"}, (UNSEEN, UNSEEN, UNSEEN)),
        ({"/etc/": ""}, (UNSEEN, UNSEEN, UNSEEN)),
        ({"/Windows/System32/": ""}, (UNSEEN, UNSEEN, UNSEEN)),
    ],
)
def test_distribution(tmp_path: Path, tree: Any, expected: Any) -> None:
    seen = system.look(offline(tmp_path, tree))
    assert (value(seen.distribution), value(seen.distribution_id), value(seen.distribution_version)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('ID=linuxmint\nVERSION_ID="22.1"\nID_LIKE="ubuntu debian"\nUBUNTU_CODENAME=noble\n', ("ubuntu", "24.04")),
        ('ID=pop\nVERSION_ID="22.04"\nID_LIKE="ubuntu debian"\nUBUNTU_CODENAME=jammy\n', ("ubuntu", "22.04")),
        ("ID=linuxmint\nVERSION_ID=6\nID_LIKE=debian\nDEBIAN_CODENAME=bookworm\n", ("debian", "12")),
        ("ID=devuan\nVERSION_ID=6\nID_LIKE=debian\nVERSION_CODENAME=excalibur\n", ("debian", "13")),
        ("ID=kali\nVERSION_ID=2025.3\nID_LIKE=debian\nVERSION_CODENAME=kali-rolling\n", ("debian", "")),
        ("ID=odd\nID_LIKE=ubuntu\nUBUNTU_CODENAME=zany\n", ("", "")),
        ("ID=ubuntu\nID_LIKE=debian\nVERSION_ID=24.04\nUBUNTU_CODENAME=noble\n", ("", "")),
        ("ID=rocky\nID_LIKE='rhel centos fedora'\nVERSION_ID=9.4\n", ("", "")),
    ],
)
def test_what_a_distribution_is_made_of(tmp_path: Path, text: str, expected: Any) -> None:
    assert value(system.look(offline(tmp_path, {"/etc/os-release": text})).base) == expected


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, ("", "")),
        ({"SLURM_JOB_ID": "7"}, ("Slurm", "")),
        ({"SLURM_JOB_ID": "7", "SLURM_STEP_GPUS": "2"}, ("Slurm", "2")),
        ({"PBS_JOBID": "7.head"}, ("PBS", "")),
        ({"LSB_JOBID": "7"}, ("LSF", "")),
    ],
)
def test_the_job_of_a_scheduler(tmp_path: Path, environ: dict[str, str], expected: Any) -> None:
    host = PretendHost(tmp_path, {}, environ=environ)
    assert value(system.look(host).job) == expected


def test_without_a_release_nothing_is_known_of_it(tmp_path: Path) -> None:
    assert value(system.look(offline(tmp_path, {"/etc/hostname": "x"})).base) == UNSEEN


@pytest.mark.parametrize(
    ("tree", "family", "expected"),
    [
        ({"/bin/sh": elf(62)}, "linux", "x86_64"),
        ({"/bin/sh": elf(183)}, "linux", "aarch64"),
        ({"/bin/sh": elf(22, data=2)}, "linux", "s390x"),
        ({"/usr/bin/dash": elf(62), "/bin/sh": "-> /usr/bin/dash"}, "linux", "x86_64"),
        ({"/bin/sh": b"\x7fELF"}, "linux", UNSEEN),
        ({"/bin/sh": "#!/bin/busybox\n"}, "linux", UNSEEN),
        (
            {"/Windows/System32/ntdll.dll": b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"PE\0\0\x64\x86"},
            "windows",
            "x86_64",
        ),
        ({"/Windows/System32/ntdll.dll": b"MZ".ljust(60, b"\0") + b"\xff\xff\xff\xff"}, "windows", UNSEEN),
    ],
)
def test_machine_of_a_root(tmp_path: Path, tree: Any, family: str, expected: Any) -> None:
    seen = system.look(offline(tmp_path, tree))
    assert (value(seen.family), value(seen.machine)) == (family, expected)


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ({"/lib/modules/5.15.0-9-generic/": "", "/lib/modules/5.15.0-119-generic/": ""}, "5.15.0-119-generic"),
        ({"/lib/modules/6.8.0/": "", "/lib/modules/extramodules/": ""}, "6.8.0"),
        ({"/etc/": ""}, UNSEEN),
    ],
)
def test_newest_kernel_of_a_root(tmp_path: Path, tree: Any, expected: Any) -> None:
    assert value(system.look(offline(tmp_path, tree)).kernel) == expected


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ({"/lib/x86_64-linux-gnu/libc.so.6": "-> libc-2.31.so", "/lib/x86_64-linux-gnu/libc-2.31.so": "x"}, "2.31"),
        ({"/lib64/libc.so.6": b"\0GNU C Library (Debian GLIBC 2.36-9+deb12u8) stable release version 2.36.\n"}, "2.36"),
        ({"/lib64/libc.so.6": b"\0GNU C Library stable release version 2.17, by Roland McGrath et al.\n"}, "2.17"),
        ({"/lib64/libc.so.6": b"nothing"}, UNSEEN),
        ({"/lib/ld-musl-x86_64.so.1": b""}, UNSEEN),
    ],
)
def test_glibc_of_a_root(tmp_path: Path, tree: Any, expected: Any) -> None:
    assert value(system.look(offline(tmp_path, tree)).glibc) == expected


@pytest.mark.parametrize(
    ("release", "more", "expected"),
    [
        ("6.8.0-87-generic", {}, 0),
        ("5.15.167.4-microsoft-standard-WSL2", {}, 2),
        ("4.19.104-microsoft-standard", {}, 2),
        ("4.4.0-19041-Microsoft", {}, 1),
        ("3.4.0+", {"/proc/version": "Linux version 3.4.0-Microsoft (Microsoft@Microsoft.com) (gcc)"}, 1),
        ("4.4.0-210-generic", {"/proc/version": "Linux version 4.4.0-210-generic (buildd@lgw01)"}, 0),
        ("6.6.36-own", {"/dev/dxg": "", "/usr/lib/wsl/lib/": ""}, 2),
    ],
)
def test_wsl(tmp_path: Path, release: str, more: Any, expected: int) -> None:
    host = PretendHost(tmp_path, {"/proc/sys/kernel/osrelease": f"{release}\n", **more})
    seen = system.look(host)
    assert value(seen.wsl) == expected
    assert value(seen.kernel) == release


@pytest.mark.parametrize(
    ("tree", "environ", "expected"),
    [
        ({}, {}, ""),
        ({"/.dockerenv": ""}, {}, "docker"),
        ({"/run/.containerenv": ""}, {}, "podman"),
        ({"/.dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ({"/.singularity.d/": ""}, {}, "apptainer"),
        ({"/run/systemd/container": "lxc\n"}, {}, "lxc"),
        ({"/run/systemd/container": "systemd-nspawn\n"}, {}, "container"),
        ({"/run/systemd/container": "wsl\n"}, {}, ""),
        ({"/proc/1/cgroup": "0::/kubepods/burstable/pod1\n"}, {}, "kubernetes"),
        ({"/proc/1/cgroup": "12:pids:/docker/0123\n"}, {}, "docker"),
        ({"/proc/1/cgroup": "0::/init.scope\n"}, {}, ""),
        ({}, {"container": "oci"}, "container"),
    ],
)
def test_container(tmp_path: Path, tree: Any, environ: dict[str, str], expected: str) -> None:
    host = PretendHost(tmp_path, {"/etc/": "", **tree}, environ=environ)
    assert value(system.container_of(host)) == expected


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ({EFI: b"\x06\0\0\0\x01"}, True),
        ({EFI: b"\x06\0\0\0\x00"}, False),
        ({EFI: b"\x06\0"}, UNSEEN),
        ({"/etc/": ""}, False),
        ({"/sys/firmware/efi/efivars/": ""}, UNSEEN),
        ({"/sys/firmware/efi/efivars/BootOrder-x": b"\0"}, False),
        ({"/.dockerenv": ""}, UNSEEN),
    ],
)
def test_secure_boot(tmp_path: Path, tree: Any, expected: Any) -> None:
    assert value(system.look(PretendHost(tmp_path, tree)).secure_boot) == expected


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ({"/etc/nv_tegra_release": "# R36 (release), REVISION: 3.0, GCID: 36191598, BOARD: generic\n"}, "36.3.0"),
        ({"/etc/nv_tegra_release": "# R32 (release), REVISION: 7.1, GCID: 29818004, BOARD: t210ref\n"}, "32.7.1"),
        ({"/proc/device-tree/model": b"NVIDIA Jetson AGX Orin Developer Kit\0"}, UNSEEN),
        ({"/etc/nv_tegra_release": "something else"}, UNSEEN),
        ({"/etc/": ""}, ""),
    ],
)
def test_jetson(tmp_path: Path, tree: Any, expected: Any) -> None:
    assert value(system.look(PretendHost(tmp_path, tree)).jetson) == expected


STATUS = "Name:\tpython\nUid:\t1000\t{euid}\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nGroups:\t44 1000 4242 \n"
PEOPLE = {
    "/etc/passwd": "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n",
    "/etc/group": "root:x:0:\nvideo:x:44:user\nuser:x:1000:\nbroken\n::x:\n",
}


def test_user(tmp_path: Path) -> None:
    tree = {"/proc/self/status": STATUS.format(euid=1000), **PEOPLE}
    seen = system.look(PretendHost(tmp_path, tree, environ={"SUDO_USER": "someone"}))
    assert (value(seen.user), value(seen.is_root), value(seen.sudo_user)) == ("user", False, "someone")
    assert value(seen.groups) == ("video", "user", "4242")


@pytest.mark.parametrize(("environ", "name"), [({"USER": "ldap"}, "ldap"), ({}, "uid 7")])
def test_user_of_a_directory_service(tmp_path: Path, environ: dict[str, str], name: str) -> None:
    host = PretendHost(tmp_path, {"/proc/self/status": STATUS.format(euid=7), **PEOPLE}, environ=environ)
    assert value(system.look(host).user) == name


@pytest.mark.parametrize("status", ["", "Uid:\tx\n", "Uid:\t1\nGid:\t1\nGroups:\n"])
def test_a_strange_status_is_unseen(tmp_path: Path, status: str) -> None:
    assert value(system.look(PretendHost(tmp_path, {"/proc/self/status": status})).is_root) is UNSEEN


KMSG = (
    b"6,1,100,-;Linux version 6.8.0\n"
    b"4,2,200,-;nouveau 0000:01:00.0: unknown chipset (b92000a1)\n SUBSYSTEM=pci\n DEVICE=+pci:0000:01:00.0 nvidia\n"
    b"3,3,300,-;NVRM: Xid (PCI:0000:01:00): 79, pid=1, GPU has fallen off the bus.\n"
    b"6,4,400,-;usb 1-1: new device\n"
    b"4,5,500,-;Loading of module with unavailable key is rejected\n"
    b"3,5,550,-;NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:1b38)\\x0aNVRM: installed in this system is not\\x0a\n"
    b"3,5,560,-;oom-kill:task_memcg=/nvidia\\x0aNVRM: Xid (PCI:0000:01:00): 79\n"
    b"4,6,600,-;nvidia: module verification failed: signature and/or required key missing - tainting kernel\n"
)
KMSG_LINES = (
    "nouveau 0000:01:00.0: unknown chipset (b92000a1)",
    "NVRM: Xid (PCI:0000:01:00): 79, pid=1, GPU has fallen off the bus.",
    "Loading of module with unavailable key is rejected",
    "NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:1b38)",
    "NVRM: installed in this system is not",
    "oom-kill:task_memcg=/nvidia\\x0aNVRM: Xid (PCI:0000:01:00): 79",  # a name that a user chose
    "nvidia: module verification failed: signature and/or required key missing - tainting kernel",
)
KERN_LOG = "old kernel: NVRM: Xid 13\nnow kernel: Linux version 6.8.0\nnow kernel: NVRM: loading\nnow kernel: eth0 up\n"


@pytest.mark.parametrize(
    ("tree", "log", "expected"),
    [
        ({}, KMSG, KMSG_LINES),
        ({}, b"", ()),
        ({"/var/log/kern.log": KERN_LOG}, None, ("now kernel: NVRM: loading",)),
        ({"/var/log/kern.log": "kernel: NVRM: loading\n"}, None, ("kernel: NVRM: loading",)),
        ({}, None, UNSEEN),
    ],
)
def test_kernel_log(tmp_path: Path, tree: Any, log: bytes | None, expected: Any) -> None:
    host = PretendHost(tmp_path, {"/etc/": "", **tree}, kernel_log=log)
    assert value(system.look(host).kernel_log) == expected


def test_kernel_log_keeps_the_last_of_a_storm(tmp_path: Path) -> None:
    storm = b"".join(b"3,%d,1,-;NVRM: Xid %d\n" % (number, number) for number in range(2000))
    lines = value(system.look(PretendHost(tmp_path, {"/etc/": ""}, kernel_log=storm)).kernel_log)
    assert (len(lines), lines[-1]) == (500, "NVRM: Xid 1999")


def test_a_storm_hides_no_other_xid(tmp_path: Path) -> None:
    xids = (b"01:00): 79, old", b"01:00): 79, new", b"02:00): 48, x")
    records = (*xids, *(b"01:00): 31, pid=%d" % number for number in range(2000)))
    log = b"".join(b"3,1,1,-;NVRM: Xid (PCI:0000:%b\n" % one for one in records)
    lines = value(system.look(PretendHost(tmp_path, {"/etc/": ""}, kernel_log=log)).kernel_log)
    named = [line.rpartition("0000:")[2] for line in lines]
    assert named[:3] == ["01:00): 79, new", "02:00): 48, x", "01:00): 31, pid=1499"]
    assert named[3:] == [f"01:00): 31, pid={number}" for number in range(1500, 2000)]


def test_container_runtime_variables(tmp_path: Path) -> None:
    environ = {"NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_TOKEN": "secret", "PATH": "/bin"}
    found = system.look(PretendHost(tmp_path, {"/etc/": ""}, environ=environ)).gpu_runtime_env
    assert value(found) == (("NVIDIA_VISIBLE_DEVICES", "all"),)


def test_an_empty_root_says_why(tmp_path: Path) -> None:
    seen = system.look(offline(tmp_path, {}))
    facts = seen._asdict()
    assert [name for name, fact in facts.items() if isinstance(fact, Seen)] == ["family", "jetson", "ostree"]
    assert all(fact.why for fact in facts.values() if isinstance(fact, Unseen))


def test_this_machine() -> None:
    seen = system.look(LiveHost())
    assert value(seen.machine) in {"x86_64", "aarch64", "ppc64le"}
    assert value(seen.family) in {"linux", "macos", "windows"}
