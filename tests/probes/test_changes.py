"""What machines record by themselves is read from every form that it has."""

from __future__ import annotations

import gzip
import os
import struct
import time
from pathlib import Path

import pytest

from doctor.host import Host
from doctor.model.facts.environment import Distribution, Environment
from doctor.model.facts.seen import Seen
from doctor.probes.changes import Change, local_time, records, zoned_time
from tests.machine import environment as an_environment
from tests.probes.tree import Tree, offline

APT = """
Start-Date: 2021-04-24  06:50:54
Commandline: /usr/bin/unattended-upgrade
Upgrade: libnvidia-compute-460:amd64 (460.56-0ubuntu1, 460.73.01-0ubuntu1), libc6:amd64 (2.31-0ubuntu9, 2.31-0ubuntu9.2)
End-Date: 2021-04-24  06:51:20

Start-Date: 2021-04-25  10:00:00
Commandline: apt-get install nvidia-cuda-toolkit
Requested-By: somebody (1000)
Install: nvidia-cuda-toolkit:amd64 (10.1.243-3), gcc-8:amd64 (8.4.0-3, automatic)
Remove: nvidia-dkms-460:amd64 (460.73.01-0ubuntu1)
End-Date: 2021-04-25  10:01:00
"""
DPKG = """\
2021-04-24 06:50:58 startup archives unpack
2021-04-24 06:50:59 upgrade libnvidia-compute-460:amd64 460.56-0ubuntu1 460.73.01-0ubuntu1
2021-04-24 06:51:00 status installed libnvidia-compute-460:amd64 460.73.01-0ubuntu1
2021-04-26 09:00:00 install libcudnn8:amd64 <none> 8.1.1.33-1+cuda11.2
2021-04-27 09:00:00 remove libcudnn8:amd64 8.1.1.33-1+cuda11.2 <none>
"""
DNF = """\
2024-05-01T10:00:00+0000 INFO --- logging initialized ---
2024-05-01T10:00:01+0000 SUBDEBUG Upgrade: kernel-core-5.14.0-427.el9.x86_64
2024-05-01T10:00:02+0000 SUBDEBUG Installed: kmod-nvidia-open-dkms-3:555.42.02-1.el9.x86_64
2024-05-01T10:00:03+0000 SUBDEBUG Upgraded: kernel-core-5.14.0-362.el9.x86_64
2024-05-01T10:00:04+0000 SUBDEBUG Erase: cuda-drivers-550.54-1.x86_64
"""
ZYPPER = """\
# 2024-05-01 10:00:00 kernel-default-6.4 installed ok
2024-05-01 10:00:00|command|root@host|'zypper' 'in' 'nvidia-driver-G06'|
2024-05-01 10:00:05|install|nvidia-driver-G06|550.100-1|x86_64|root@host|cuda|0123|
2024-05-01 11:00:05|remove |nvidia-driver-G05|470.1-1|x86_64|root@host|
"""
PACMAN = """\
[2024-05-01T10:00:00+0000] [PACMAN] Running 'pacman -Syu'
[2024-05-01T10:00:05+0000] [ALPM] upgraded linux (6.8.9.arch1-1 -> 6.9.1.arch1-1)
[2024-05-01T10:00:06+0000] [ALPM] installed nvidia-open (555.42-1)
[2024-05-01T10:00:07+0000] [ALPM] removed nvidia (550.78-1)
[2024-05-01T10:00:08+0000] [ALPM-SCRIPTLET] ==> dkms install
"""
CONDA = """\
==> 2024-05-01 10:00:00 <==
# cmd: /opt/conda/bin/conda create -n x numpy
+conda-forge/linux-64::numpy-1.26.4-py311h64a7726_0
+defaults/linux-64::python-3.11.8-h955ad1f_0
==> 2024-05-02 10:00:00 <==
# cmd: /opt/conda/bin/conda update numpy
-conda-forge/linux-64::numpy-1.26.4-py311h64a7726_0
+conda-forge/linux-64::numpy-2.0.0-py311h1461c94_0
==> 2024-05-03 10:00:00 <==
# cmd: /opt/conda/bin/conda remove cudnn
-conda-forge/linux-64::cudnn-8.9.7.29-hbc23b4c_3
"""


def told(host: Host, *environments: Environment, of: str = "") -> list[tuple[str, ...]]:
    """What, name, old, new, by; oldest first."""
    found = records(host, environments)
    assert found.unread == ()
    return [(one.what, one.name, one.old, one.new, one.by) for one in found.changes if of in str(one.source)]


def test_apt_and_dpkg_tell_one_change_once(tmp_path: Path) -> None:
    host = offline(tmp_path, {"var/log/apt/history.log": APT, "var/log/dpkg.log": DPKG})
    upgrade = "/usr/bin/unattended-upgrade"
    assert told(host) == [
        ("upgraded", "libnvidia-compute-460", "460.56-0ubuntu1", "460.73.01-0ubuntu1", upgrade),
        ("upgraded", "libc6", "2.31-0ubuntu9", "2.31-0ubuntu9.2", upgrade),
        ("installed", "nvidia-cuda-toolkit", "", "10.1.243-3", "apt-get install nvidia-cuda-toolkit"),
        ("installed", "gcc-8", "", "8.4.0-3", "apt-get install nvidia-cuda-toolkit"),
        ("removed", "nvidia-dkms-460", "460.73.01-0ubuntu1", "", "apt-get install nvidia-cuda-toolkit"),
        ("installed", "libcudnn8", "", "8.1.1.33-1+cuda11.2", ""),
        ("removed", "libcudnn8", "8.1.1.33-1+cuda11.2", "", ""),
    ]


def test_logs_last_written_before_a_time_stay_closed(tmp_path: Path) -> None:
    first, second = APT.strip().split("\n\n")
    host = offline(tmp_path, {"var/log/apt/history.log": second, "var/log/apt/history.log.1": first})
    [older] = tmp_path.rglob("history.log.1")
    os.utime(older, (1_000, 1_000))
    opened = [one.source.file for one in records(host, (), 2_000).changes]
    assert ({*opened}, len(opened) < len(records(host, ()).changes)) == ({"/var/log/apt/history.log"}, True)


def test_rotated_logs_are_read_oldest_first(tmp_path: Path) -> None:
    """Also one that was cut in the middle, by what it still holds."""
    first, second = APT.strip().split("\n\n")
    cut = gzip.compress((first + "\n" * 9 + os.urandom(40_000).hex()).encode())[:20_000]
    tree: Tree = {
        "var/log/apt/history.log": "",
        "var/log/apt/history.log.1": second,
        "var/log/apt/history.log.2.gz": cut,
        "var/log/apt/history.log.old": APT.replace("2021", "1999"),
        "var/log/apt/history.log.3.gz": b"no gzip at all",
    }
    found = records(offline(tmp_path, tree), ())
    assert [one.name for one in found.changes][:1] == ["libnvidia-compute-460"]
    assert len(found.changes) == 5
    assert found.begin_s == (("apt", local_time("2021-04-24 06:50:54")),)
    assert str(found.changes[-1].source) == "/var/log/apt/history.log.1:5"


@pytest.mark.parametrize(
    ("path", "text", "wanted"),
    [
        (
            "var/log/dnf.rpm.log",
            DNF,
            [
                ("installed", "kmod-nvidia-open-dkms", "", "3:555.42.02-1.el9", "dnf"),
                ("upgraded", "kernel-core", "5.14.0-362.el9", "5.14.0-427.el9", "dnf"),
                ("removed", "cuda-drivers", "550.54-1", "", "dnf"),
            ],
        ),
        (
            "var/log/zypp/history",
            ZYPPER,
            [
                ("installed", "nvidia-driver-G06", "", "550.100-1", "zypper in nvidia-driver-G06"),
                ("removed", "nvidia-driver-G05", "470.1-1", "", "zypper in nvidia-driver-G06"),
            ],
        ),
        (
            "var/log/pacman.log",
            PACMAN,
            [
                ("upgraded", "linux", "6.8.9.arch1-1", "6.9.1.arch1-1", "pacman -Syu"),
                ("installed", "nvidia-open", "", "555.42-1", "pacman -Syu"),
                ("removed", "nvidia", "550.78-1", "", "pacman -Syu"),
            ],
        ),
    ],
)
def test_other_package_managers(path: str, text: str, wanted: list[tuple[str, ...]], tmp_path: Path) -> None:
    assert sorted(told(offline(tmp_path, {path: text}))) == sorted(wanted)


def test_the_revisions_of_conda(tmp_path: Path) -> None:
    host = offline(tmp_path, {"opt/env/conda-meta/history": CONDA})
    found = told(host, an_environment(prefix="/opt/env", kind="conda"), of="conda-meta")
    assert found[2:] == [
        ("upgraded", "numpy", "1.26.4", "2.0.0", "/opt/conda/bin/conda update numpy"),
        ("removed", "cudnn", "8.9.7.29", "", "/opt/conda/bin/conda remove cudnn"),
    ]
    assert [one[1] for one in found[:2]] == ["numpy", "python"]


def wheel(root: Path, name: str, age_s: float) -> Distribution:
    metadata = f"/site/{name}-1.0.dist-info"
    folder = root / metadata.lstrip("/")
    folder.mkdir(parents=True)
    (folder / "INSTALLER").write_text("uv\n")
    (folder / "RECORD").write_text("")
    os.utime(folder / "RECORD", (time.time() - age_s,) * 2)
    return Distribution(name, "1.0", "/site", metadata, "wheel", "")


def test_what_came_last_into_an_environment(tmp_path: Path) -> None:
    wheels = (wheel(tmp_path, "torch", 9000), wheel(tmp_path, "numpy", 10))
    host = offline(tmp_path, {})
    here = an_environment(prefix="/", distributions=Seen(wheels, "test"))
    assert told(host, here)[-1] == ("installed", "numpy", "", "1.0", "uv")
    copied = here._replace(distributions=Seen(wheels[:1], "test"))
    assert told(host, copied) == []  # all of one time: copied, or made at once


def test_starts_of_the_machine(tmp_path: Path) -> None:
    def record(kind: int, at_s: int, kernel: bytes = b"") -> bytes:
        packed = bytearray(384)
        struct.pack_into("<h", packed, 0, kind)
        packed[76 : 76 + len(kernel)] = kernel
        struct.pack_into("<i", packed, 340, at_s)
        return bytes(packed)

    wtmp = record(7, 5) + record(2, 1_700_000_000, b"6.8.0-45-generic") + record(8, 6) + record(2, 1_700_100_000)[:200]
    host = offline(tmp_path, {"var/log/wtmp": wtmp})
    [found] = records(host, ()).changes
    assert (found.at_s, found.what, found.new) == (1_700_000_000, "started", "6.8.0-45-generic")


def test_the_driver_and_its_modules(tmp_path: Path) -> None:
    log = "nvidia-installer log file '/var/log/nvidia-installer.log'\ninstaller version: 550.54.14\n"
    made = "var/lib/dkms/nvidia/550.54.14/6.8.0-45-generic/x86_64/log/make.log"
    assert sorted(told(offline(tmp_path, {"var/log/nvidia-installer.log": log, made: "DKMS make.log"}))) == [
        ("built", "nvidia module for 6.8.0-45-generic", "", "550.54.14", "dkms"),
        ("installed", "NVIDIA driver", "", "550.54.14", "NVIDIA's installer"),
    ]


def test_settings_by_the_time_of_the_file(tmp_path: Path) -> None:
    host = offline(
        tmp_path, {"etc/ld.so.conf.d/cuda.conf": "/usr/local/cuda/lib64\n", "usr/local/cuda": "-> cuda-12.8"}
    )
    assert [one[:2] for one in sorted(told(host))] == [
        ("changed", "/etc/ld.so.conf.d/cuda.conf"),
        ("changed", "/usr/local/cuda"),
    ]


def test_a_machine_without_records(tmp_path: Path) -> None:
    assert records(offline(tmp_path, {}), ()) == ((), (), ())


def test_what_cannot_be_read_costs_nothing_else(tmp_path: Path) -> None:
    host = offline(tmp_path, {"var/log/apt/history.log/": "", "var/log/dpkg.log": DPKG})
    found = records(host, ())
    assert [name for name, _ in found.unread] == ["apt"]
    assert len(found.changes) == 3


def test_a_rotated_part_that_cannot_be_read_costs_no_other_part(tmp_path: Path) -> None:
    host = offline(tmp_path, {"var/log/dpkg.log": DPKG, "var/log/dpkg.log.1/": "", "var/log/dpkg.log.2": DPKG})
    found = records(host, ())
    assert len(found.changes) == 3
    assert [(name, "dpkg.log.1" in why) for name, why in found.unread] == [("dpkg", True)]


def test_hostile_logs(tmp_path: Path) -> None:
    """Noise, one endless line, times that do not exist: nothing is raised, and nothing is taken for a change."""
    noise = os.urandom(300_000) + b"Start-Date: 99999-99-99  99:99:99\nInstall: a:b (1)\n" + b"x" * 5_000_000
    names = ["apt/history.log", "dpkg.log", "dnf.rpm.log", "zypp/history", "pacman.log", "wtmp", "nvidia-installer.log"]
    found = records(offline(tmp_path, {f"var/log/{name}": noise for name in names}), ())
    assert {one.name for one in found.changes} <= {"machine", "NVIDIA driver"}
    assert found.unread == ()


@pytest.mark.parametrize("noise", [b"x" * 700_000 + b"\n", b"\0" * 700_000])
def test_what_follows_an_endless_line_or_the_zeros_of_a_crash_is_read(noise: bytes, tmp_path: Path) -> None:
    host = offline(tmp_path, {"var/log/dpkg.log": DPKG.encode() + noise + DPKG.replace("2021", "2022").encode()})
    assert [one.name for one in records(host, ()).changes][3:] == [one.name for one in records(host, ()).changes][:3]


def test_a_large_log_is_read_in_bounded_time(tmp_path: Path) -> None:
    line = "2021-04-24 06:50:59 status installed libnvidia-compute-460:amd64 460.73.01-0ubuntu1\n"
    host = offline(tmp_path, {"var/log/dpkg.log": DPKG + line * 100_000})
    before_s = time.process_time()
    assert len(records(host, ()).changes) == 3
    assert time.process_time() - before_s < 2


@pytest.mark.parametrize("piece", ["::", "a", "a-", "a:", "a ("])
def test_an_endless_line_is_read_in_bounded_time(piece: str, tmp_path: Path) -> None:
    line = piece * (64_000 // len(piece))
    files = {
        "var/log/apt/history.log": f"Start-Date: 2021-04-24  06:50:54\nInstall: {line}\n",
        "var/log/pacman.log": f"[2024-05-01T10:00:05+0000] [ALPM] installed {line}\n",
        "var/log/dnf.rpm.log": f"2024-05-01T10:00:02+0000 SUBDEBUG Installed: {line}\n",
        "var/log/dpkg.log": f"2021-04-24 06:50:59 upgrade {line}\n",
        "opt/c/conda-meta/history": f"==> 2024-05-01 10:00:00 <==\n+{line}\n",
    }
    environment = an_environment()._replace(kind="conda", prefix="/opt/c")
    before_s = time.process_time()
    records(offline(tmp_path, files), (environment,))
    assert time.process_time() - before_s < 2


def test_the_same_release_in_two_environments(tmp_path: Path) -> None:
    text = "==> 2024-05-01 10:00:00 <==\n+conda-forge/linux-64::pytorch-2.9.1-py312_0\n"
    host = offline(tmp_path, {f"opt/{name}/conda-meta/history": text for name in "ab"})
    both = [an_environment()._replace(kind="conda", prefix=f"/opt/{name}") for name in "ab"]
    assert told(host, *both) == [("installed", "pytorch", "", "2.9.1", "")] * 2


@pytest.mark.parametrize("text", ["", "yesterday", "2021-13-01 00:00:00", "0"])
def test_what_is_no_time(text: str) -> None:
    assert local_time(text) is None
    assert zoned_time(text) is None


def test_a_change_is_sorted_by_time() -> None:
    assert Change._fields[0] == "at_s"
