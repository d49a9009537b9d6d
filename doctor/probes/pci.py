"""NVIDIA's cards on the PCI bus, which shows them without any driver.

Sources: the kernel's Documentation/ABI/testing/sysfs-bus-pci; the class codes of the PCI Code and ID Assignment
Specification: 0x0300 is a VGA compatible controller, 0x0302 a 3D controller. On Windows, Microsoft's "Identifiers for
PCI Devices" (the names of the keys in the registry, and the class codes of CompatibleIDs).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from doctor.host import Host, HostError, Missing
from doctor.model.facts.gpu import PciDevice
from doctor.model.facts.seen import Fact, Place, Seen, Unseen

NVIDIA = 0x10DE
_DISPLAY_CLASSES = frozenset({0x0300, 0x0302})
_OTHER_BRIDGE = 0x0680
_DEVICES = "/sys/bus/pci/devices"
_ATTRIBUTE_AT_MOST_BYTES = 4096  # a page, as sysfs gives at most


def look(host: Host) -> Fact[tuple[PciDevice, ...]]:
    """Every NVIDIA display and 3D controller; Unseen where the bus cannot be read."""
    if not host.is_live and host.os_family == "windows":
        return _in_hive(host)
    if not host.is_live:
        return Unseen("an offline root shows no devices")
    if host.os_family == "windows":
        return _in_registry()
    if host.os_family != "linux":
        return Unseen(f"the PCI bus is not read on {host.os_family}")
    try:
        addresses = host.names(_DEVICES)
    except Missing:
        return Unseen(f"{_DEVICES} is not there: a kernel without PCI, or a sandbox that hides it")
    except HostError as error:
        return Unseen(str(error))
    found = [_device(host, address) for address in addresses]
    return Seen(tuple(device for device in found if device is not None), Place(_DEVICES))


def _device(host: Host, address: str) -> PciDevice | None:
    """The device at one address when it is NVIDIA's and a display or 3D controller."""
    folder = f"{_DEVICES}/{address}"
    if _number(host, f"{folder}/vendor") != NVIDIA:
        return None
    device_class = _number(host, f"{folder}/class")
    if device_class is None or device_class >> 8 not in _DISPLAY_CLASSES:
        return None
    device_id = _number(host, f"{folder}/device")
    if device_id is None:
        return None
    return PciDevice(address, NVIDIA, device_id, _driver(host, folder))


_ENUM = r"SYSTEM\CurrentControlSet\Enum\PCI"
_MODEL = r"(?i)VEN_([0-9A-F]{4})&DEV_([0-9A-F]{4})"
_CLASS = r"(?i)&CC_([0-9A-F]{4})"
_PLACE = r"(?i)\((\d+),(\d+),(\d+)\)|bus (\d+), device (\d+), function (\d+)"
_NO_SUCH_DEVNODE = 0x0D  # CR_NO_SUCH_DEVNODE, cfgmgr32.h


def _in_registry() -> Fact[tuple[PciDevice, ...]]:
    """The cards that Windows has written down, one key a model and below it one a card, and that are there now."""
    from doctor.host import registry  # late: only Windows has one

    where = f"HKLM\\{_ENUM}"
    try:
        if not registry.keys(_ENUM):
            return Unseen(f"{where} lists nothing")
        found = tuple(card for name, card in _written_down(registry) if _is_there(name))
    except OSError as error:
        return Unseen(f"{where} could not be read: {error.strerror or error}")
    return Seen(found, where)


def _in_hive(host: Host) -> Fact[tuple[PciDevice, ...]]:
    """A disk's cards. What was taken out stays written down: several models, or none, say nothing for sure."""
    from doctor.host.hive import PATH, Hive, HiveError  # late: only a Windows disk has one

    try:
        found = tuple(card for _, card in _written_down(Hive(host)))
    except HiveError as error:
        return Unseen(str(error))
    models = {card.device_id for card in found}
    if len(models) != 1:
        listed = ", ".join(sorted({card.label for card in found})) or "no NVIDIA card"
        return Unseen(f"{PATH} lists {listed}, also of what was taken out or moved to another machine")
    return Seen(found, f"{_ENUM} in {PATH}")


class _Registry(Protocol):
    """What is asked of a registry, a running one or a disk's."""

    def keys(self, path: str) -> tuple[str, ...]: ...

    def texts(self, path: str, name: str) -> tuple[str, ...]: ...


def _written_down(registry: _Registry) -> Iterator[tuple[str, PciDevice]]:
    """The cards of keys such as VEN_10DE&DEV_2684&SUBSYS_88E21043&REV_A1, and how Windows names them."""
    for model in registry.keys(_ENUM):
        match = re.match(_MODEL, model)
        if match is None or int(match[1], 16) != NVIDIA:
            continue
        for name in registry.keys(f"{_ENUM}\\{model}"):
            key = f"{_ENUM}\\{model}\\{name}"
            said = " ".join(registry.texts(key, "CompatibleIDs"))
            classes = {int(code, 16) for code in re.findall(_CLASS, said)}
            if classes & _DISPLAY_CLASSES:
                place = _address(" ".join(registry.texts(key, "LocationInformation")))
                driver = " ".join(registry.texts(key, "Service"))
                yield f"PCI\\{model}\\{name}", PciDevice(place, NVIDIA, int(match[2], 16), driver)


def _is_there(device: str) -> bool:
    """Whether it is in the device tree: what was taken out stays in the registry.

    Source: Microsoft, CM_Locate_DevNodeW without CM_LOCATE_DEVNODE_PHANTOM.
    """
    import ctypes  # late: slow to load, and only a Windows with such a card asks

    node = ctypes.c_uint32()
    locate = getattr(ctypes, "WinDLL")("cfgmgr32").CM_Locate_DevNodeW  # noqa: B009 - no such name outside Windows
    return bool(locate(ctypes.byref(node), device, 0) != _NO_SUCH_DEVNODE)


def _address(place: str) -> str:
    """ "0000:01:00.0" of "PCI bus 1, device 0, function 0"; "" where it says none. It names no domain."""
    match = re.search(_PLACE, place)
    if match is None:
        return ""
    bus, device, function = (int(number) for number in match.groups() if number)
    return f"0000:{bus:02x}:{device:02x}.{function}"


def _driver(host: Host, folder: str) -> str:
    try:
        return host.link_target(f"{folder}/driver").rpartition("/")[2]
    except HostError:
        return ""  # no link: no driver is bound to it


def _number(host: Host, path: str) -> int | None:
    try:
        return int(host.read_text(path, _ATTRIBUTE_AT_MOST_BYTES), 16)
    except (HostError, ValueError):
        return None


def has_nvswitch(host: Host) -> Fact[bool]:
    """Whether NVIDIA's NVSwitch, a bridge of no other kind (class 0x0680), is on the bus."""
    try:
        addresses = host.names(_DEVICES)
    except HostError as error:
        return Unseen(str(error))
    folders = [f"{_DEVICES}/{address}" for address in addresses]
    nvidia = [folder for folder in folders if _number(host, f"{folder}/vendor") == NVIDIA]
    classes = [_number(host, f"{folder}/class") or 0 for folder in nvidia]
    return Seen(any(one >> 8 == _OTHER_BRIDGE for one in classes), Place(_DEVICES))
