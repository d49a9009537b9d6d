"""The SYSTEM hive of a Windows disk, and what the probes make of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from doctor.host.hive import Hive, HiveError
from doctor.host.root import RootHost
from doctor.loader import dlls
from doctor.model.facts.gpu import PciDevice
from doctor.model.facts.seen import Seen, Unseen
from doctor.probes import pci
from tests.lab.hive_file import Value, hive_bytes

CONFIG = "Windows/System32/config"
BUS = "Enum\\PCI"
GEFORCE, KEPLER, INTEL = "VEN_10DE&DEV_2684&SUBSYS_88E21043&REV_A1", "VEN_10DE&DEV_1180", "VEN_8086&DEV_46A6"
KNOWN = "Control\\Session Manager\\KnownDLLs"


def card(model: str, control: int = 1, code: str = "0300", place: str = "4&1A&0&0008") -> dict[str, dict[str, Value]]:
    key = f"ControlSet{control:03d}\\{BUS}\\{model}\\{place}"
    ids: list[str] = [f"PCI\\VEN_10DE&CC_{code}00", f"PCI\\VEN_10DE&CC_{code}"]
    return {key: {"CompatibleIDs": ids, "Service": "nvlddmkm", "LocationInformation": "@pci.sys,#65536;(1,0,0)"}}


def disk(folder: Path, content: bytes | None) -> RootHost:
    (folder / CONFIG).mkdir(parents=True)
    if content is not None:
        (folder / CONFIG / "SYSTEM").write_bytes(content)
    return RootHost(str(folder))


def hive(*keys: dict[str, dict[str, Value]], current: int = 1) -> bytes:
    return hive_bytes({"Select": {"Current": current}} | {name: one[name] for one in keys for name in one})


CARD = PciDevice("0000:01:00.0", 0x10DE, 0x2684, "nvlddmkm")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (hive(card(GEFORCE)), (CARD,)),
        (hive(card(GEFORCE), card(INTEL)), (CARD,)),  # a laptop
        (hive(card(GEFORCE), card(GEFORCE, place="5&2B&0&0010")), (CARD, CARD)),
        (hive(card(KEPLER), card(GEFORCE, control=2), current=2), (CARD,)),  # another set was left behind
        (hive(card(GEFORCE), card("VEN_10DE&DEV_22BA", code="0403")), (CARD,)),  # its sound function
        (hive(card(GEFORCE), card(KEPLER)), "of what was taken out"),
        (hive(card(INTEL)), "lists no NVIDIA card"),
        (hive_bytes(card(GEFORCE)), "which control set is the current one"),
        (hive(card(GEFORCE), current=3), "lists no NVIDIA card"),
        (None, "SYSTEM"),
        (b"regf" + b"\xff" * 9000, "cannot be read"),
        (hive(card(GEFORCE))[:5000], "cannot be read"),
        (b"", "cannot be read"),
    ],
)
def test_cards_of_a_disk(tmp_path: Path, content: bytes | None, expected: tuple[PciDevice, ...] | str) -> None:
    found = pci.look(disk(tmp_path, content))
    if isinstance(expected, str):
        assert isinstance(found, Unseen)
        assert expected in found.why
    else:
        assert isinstance(found, Seen)
        assert found.value == expected


def test_dlls_that_windows_knows(tmp_path: Path) -> None:
    known: dict[str, Value] = {"kernel32": "KERNEL32.dll", "_more": "cudnn64_9.dll", "number": 1}
    host = disk(tmp_path, hive({f"ControlSet001\\{KNOWN}": known}))
    assert dlls.known_dlls(host) == {"kernel32.dll", "cudnn64_9.dll"}
    assert Hive(host).number("SYSTEM\\CurrentControlSet\\control\\session manager\\knowndlls", "NUMBER") == 1


def test_without_the_extra_its_name_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "regipy.registry", None)
    host = disk(tmp_path, hive(card(GEFORCE)))
    found = pci.look(host)
    assert isinstance(found, Unseen)
    assert "gpudoctor[hive]" in found.why
    assert dlls.known_dlls(host) == frozenset()


def test_every_cut_and_spoilt_byte_is_an_answer_or_a_refusal(tmp_path: Path) -> None:
    whole = hive(card(GEFORCE))
    host = disk(tmp_path, whole)
    for at in range(4096, len(whole), 203):
        spoilt = bytearray(whole)
        spoilt[at] ^= 0xFF
        (tmp_path / CONFIG / "SYSTEM").write_bytes(spoilt)
        assert isinstance(pci.look(host), (Seen, Unseen))


@pytest.mark.system
def test_libhivex_reads_the_same(tmp_path: Path) -> None:
    """The tests' own hives are what an independent reader takes for one."""
    program = shutil.which("hivexget")
    assert program is not None, "libhivex-bin is missing: .ci/run installs it"
    (tmp_path / "SYSTEM").write_bytes(hive(card(GEFORCE, control=2), current=2))
    key = f"\\ControlSet002\\{BUS}\\{GEFORCE}\\4&1A&0&0008"
    said = [
        subprocess.run([program, str(tmp_path / "SYSTEM"), *one], capture_output=True, text=True, check=True).stdout
        for one in (("\\Select", "Current"), (key, "Service"), (key, "CompatibleIDs"))
    ]
    assert said[1].strip() == "nvlddmkm"
    assert "2" in said[0]
    assert said[2].split() == ["PCI\\VEN_10DE&CC_030000", "PCI\\VEN_10DE&CC_0300"]


def test_a_hive_error_says_the_path(tmp_path: Path) -> None:
    with pytest.raises(HiveError, match="config/SYSTEM"):
        Hive(disk(tmp_path, None))
