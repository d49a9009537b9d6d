"""Run a command beside a FUSE that hangs: `unshare --mount python -m tests.host.dead_fuse DIRECTORY KIND COMMAND ...`.

KIND `silent` answers nothing. `half` tells what its directory is, as a cache of the kernel may, and no more. What the
command prints passes; its exit status and its seconds follow as a last line. Source: the kernel's fuse.h, version 7.31.
"""

from __future__ import annotations

import ctypes
import os
import struct
import subprocess
import sys
import threading
import time

_PRIVATE_AND_BELOW = 0x44000  # MS_REC | MS_PRIVATE
_GETATTR, _INIT, _ROOT = 3, 26, 1
_BUFFER_BYTES = 256 << 10
_WITHIN_S = 30


def _mounted(directory: str) -> int:
    """The descriptor by which the kernel asks."""
    system = ctypes.CDLL(None, use_errno=True)
    system.mount(b"none", b"/", None, _PRIVATE_AND_BELOW, None)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0"
    if system.mount(b"dead", os.fsencode(directory), b"fuse", 0, options.encode()):
        raise SystemExit(f"no FUSE here: {os.strerror(ctypes.get_errno())}")
    return device


def _serve(device: int) -> None:
    while True:
        asked = os.read(device, _BUFFER_BYTES)
        _, kind, number, node = struct.unpack_from("<IIQQ", asked)
        answer = b""
        if kind == _INIT:
            answer = struct.pack("<IIIIHHI8I", 7, 31, 0, 0, 12, 10, 4096, *[0] * 8) + bytes(8)
        elif kind == _GETATTR and node == _ROOT:
            times = (int(time.time()),) * 3
            answer = struct.pack("<QII6Q10I", 3600, 0, 0, 1, 4096, 8, *times, 0, 0, 0, 0o40755, 2, 0, 0, 0, 4096, 0)
        if answer:
            os.write(device, struct.pack("<IiQ", 16 + len(answer), 0, number) + answer)


def main() -> None:
    """Mount, run, report."""
    directory, kind, *command = sys.argv[1:]
    device = _mounted(directory)
    if kind == "half":
        threading.Thread(target=_serve, args=(device,), daemon=True).start()
    started = time.monotonic()
    ran = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        status = ran.wait(_WITHIN_S)
    except subprocess.TimeoutExpired:
        ran.kill()
        status = -9
    sys.stdout.write(f"\nstatus {status} after {time.monotonic() - started:.1f} s\n")
    sys.stdout.flush()
    os._exit(0)  # the kernel ends the file system, and whoever waits for it


if __name__ == "__main__":
    main()
