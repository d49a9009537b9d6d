"""The commands that mount a disk image read-only, where gpudoctor does not read its file system.

Sources: mount(8), "loop device support"; xfs(5), `norecovery`; btrfs(5); vgchange(8); qemu-nbd(8); guestmount(1);
cryptsetup(8). Each leaves the image as it is.
"""

from __future__ import annotations

import shlex
import shutil

_LOOK = "gpudoctor check --root /mnt"
_OPTIONS = {"XFS": "ro,norecovery", "btrfs": "ro", "NTFS": "ro"}  # of mount, by file system
_TYPES = {"NTFS": "-t ntfs3 "}


def by_guestmount(path: str) -> str:
    """Return what mounts any disk image, where libguestfs is installed."""
    return f"sudo guestmount -a {shlex.quote(path)} -i --ro /mnt"


def of_image(path: str) -> str:
    """Return the commands for an image of a virtual machine: qcow2, VHDX, VMDK, VHD."""
    if shutil.which("guestmount"):
        return f"{by_guestmount(path)} && {_LOOK}"
    return (
        f"sudo modprobe nbd max_part=16 && sudo qemu-nbd --read-only --connect=/dev/nbd0 {shlex.quote(path)} && "
        f"lsblk -f /dev/nbd0; then sudo mount -o ro /dev/nbd0pNUMBER /mnt && {_LOOK}; "
        "at the end sudo umount /mnt && sudo qemu-nbd --disconnect /dev/nbd0"
    )


def of_partition(path: str, kind: str, place: int, size: int) -> str:
    """Return the commands for a part of a raw disk, from its byte `place` on; "" for a kind that holds no files."""
    if kind in {"LVM", "LUKS"}:
        return _through_loop(path, kind)
    if kind not in _OPTIONS:
        return ""
    if shutil.which("guestmount"):
        return f"{by_guestmount(path)} && {_LOOK}"
    where = f",offset={place},sizelimit={size}" if place else ""
    line = f"sudo mount {_TYPES.get(kind, '')}-o {_OPTIONS[kind]},loop{where} {shlex.quote(path)} /mnt && {_LOOK}"
    return f"{line} (Fedora: --root /mnt/root)" if kind == "btrfs" else line


def _through_loop(path: str, kind: str) -> str:
    """Volumes are found by the kernel on a loop device that cannot be written."""
    loop = f"sudo losetup --find --show --read-only --partscan {shlex.quote(path)}"
    if kind == "LUKS":
        opened = "sudo cryptsetup open --readonly /dev/loopNpNUMBER disk && sudo mount -o ro /dev/mapper/disk /mnt"
        return f"{loop}, then {opened} && {_LOOK}"
    mounted = "sudo mount -o ro,norecovery /dev/GROUP/VOLUME /mnt"
    return f"{loop} && sudo vgchange -ay && sudo lvs, then {mounted} && {_LOOK}"
