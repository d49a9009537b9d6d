"""The PCI probe: which functions on the bus are NVIDIA's cards."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from doctor.host.live import LiveHost
from doctor.model.facts.gpu import PciDevice
from doctor.model.facts.seen import Seen, Unseen
from doctor.probes import pci
from tests.probes.pretend import PretendHost
from tests.probes.tree import offline
from tests.pyenv.test_windows_python import Registry, running

BUS = "/sys/bus/pci/devices"


def function(address: str, vendor: str, device_class: str, device: str = "0x2684", driver: str = "") -> dict[str, str]:
    tree = {
        f"{BUS}/{address}/vendor": f"{vendor}\n",
        f"{BUS}/{address}/class": f"{device_class}\n",
        f"{BUS}/{address}/device": f"{device}\n",
    }
    if driver:
        tree[f"{BUS}/{address}/driver"] = f"-> ../../../bus/pci/drivers/{driver}"
    return tree


CARD = PciDevice("0000:01:00.0", 0x10DE, 0x2684, "nvidia")


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (function("0000:01:00.0", "0x10de", "0x030000", driver="nvidia"), (CARD,)),
        (function("0000:01:00.0", "0x10de", "0x030200", driver="nouveau"), (CARD._replace(driver="nouveau"),)),
        (function("0000:01:00.0", "0x10de", "0x030200"), (CARD._replace(driver=""),)),
        (function("0000:01:00.1", "0x10de", "0x040300"), ()),  # the card's sound function
        (function("0000:05:00.0", "0x10de", "0x068000"), ()),  # an NVSwitch
        (function("0000:00:02.0", "0x8086", "0x030000"), ()),
        (function("0000:01:00.0", "0x10de", "not a number"), ()),
        (function("0000:01:00.0", "", "0x030000"), ()),
        ({f"{BUS}/": ""}, ()),
    ],
)
def test_cards_on_the_bus(tmp_path: Path, tree: dict[str, str], expected: tuple[PciDevice, ...]) -> None:
    found = pci.look(PretendHost(tmp_path, tree))
    assert isinstance(found, Seen)
    assert found.value == expected


def test_no_bus_is_not_no_card(tmp_path: Path) -> None:
    assert isinstance(pci.look(PretendHost(tmp_path, {"/etc/": ""})), Unseen)


def test_a_root_has_no_devices(tmp_path: Path) -> None:
    assert isinstance(pci.look(offline(tmp_path, function("0000:01:00.0", "0x10de", "0x030000"))), Unseen)


@pytest.mark.parametrize(("device_class", "expected"), [("0x068000", True), ("0x060400", False)])
def test_nvswitch(tmp_path: Path, device_class: str, expected: bool) -> None:
    found = pci.has_nvswitch(PretendHost(tmp_path, function("0000:05:00.0", "0x10de", device_class)))
    assert found.get() is expected


@pytest.mark.parametrize(
    ("answers", "present"),
    [
        ({"a": 0, "b": 0}, "ab"),
        ({"a": 0, "b": 0x0D}, "a"),  # taken out: CR_NO_SUCH_DEVNODE
        ({"a": 0x0D, "b": 0x0D}, ""),
        ({"a": 0x0D, "b": 0x05}, "b"),  # another complaint does not say that it is gone
    ],
)
def test_cards_that_windows_wrote_down_are_there_or_were_taken_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: dict[str, int], present: str
) -> None:
    bus = "HKLM\\SYSTEM\\CurrentControlSet\\Enum\\PCI"
    models = {"a": "VEN_10DE&DEV_2684&SUBSYS_88E21043&REV_A1", "b": "VEN_10DE&DEV_1180"}
    values: dict[str, object] = {"CompatibleIDs": ["PCI\\VEN_10DE&CC_0300"], "Service": "nvlddmkm"}
    keys = {f"{bus}\\{model}\\{name}": values for name, model in models.items()}

    def locate(node: object, device: str, flags: int) -> int:
        return answers[device.rpartition("\\")[2]]

    monkeypatch.setitem(sys.modules, "winreg", Registry(keys))
    library = SimpleNamespace(CM_Locate_DevNodeW=locate)
    monkeypatch.setattr(ctypes, "WinDLL", {"cfgmgr32": library}.__getitem__, raising=False)
    found = pci.look(running(tmp_path)).get()
    assert [one.device_id for one in found] == [{"a": 0x2684, "b": 0x1180}[name] for name in present]


def test_this_machine_answers() -> None:
    assert isinstance(pci.look(LiveHost()), (Seen, Unseen))
