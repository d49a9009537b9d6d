"""A libcuda for machines that have none: cuDNN's engines of 9.28 and later are linked with it, and only plan here.

Without it they could not be opened where no driver is, and a damaged copy would pass. It is a shared object of a few
functions that all answer CUDA_ERROR_NO_DEVICE. Source of the layout: System V ABI, "Object Files", "Dynamic Linking".
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Iterable

LIBCUDA = "libcuda.so.1"
# e_machine, and a function that returns 100, by platform.machine()
_CODE = {
    "x86_64": (62, bytes.fromhex("b864000000c3")),  # mov eax, 100; ret
    "aarch64": (183, bytes.fromhex("800c8052c0035fd6")),  # mov w0, #100; ret
}
_PAGE = 0x10000  # the largest of both architectures
_DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_SYMENT, _DT_SONAME = 4, 5, 6, 10, 11, 14
_HEADER_BYTES, _PROGRAM_BYTES, _SYMBOL_BYTES = 64, 56, 24


def shared_object(functions: Iterable[str], machine: str) -> bytes:
    """An ELF file that exports these functions as libcuda.so.1; raises KeyError for a machine that is not known."""
    e_machine, code = _CODE[machine]
    names = sorted(set(functions))
    texts = b"\0" + b"".join(one.encode() + b"\0" for one in (LIBCUDA, *names))
    offsets = [texts.index(b"\0" + one.encode() + b"\0") + 1 for one in names]
    code_at = _HEADER_BYTES + 3 * _PROGRAM_BYTES
    symbols_at = code_at + 16
    hash_at = symbols_at + _SYMBOL_BYTES * (len(names) + 1)
    count = len(names) + 1
    chain = [*range(2, count), 0] if names else []
    hashes = struct.pack(f"<{3 + count}I", 1, count, min(1, len(names)), 0, *chain)  # one bucket for all
    texts_at = hash_at + len(hashes)
    symbols = bytes(_SYMBOL_BYTES) + b"".join(
        struct.pack("<IBBHQQ", at, 0x12, 0, 1, code_at, len(code)) for at in offsets
    )
    end = texts_at + len(texts)
    dynamic_at = (end + _PAGE - 1) // _PAGE * _PAGE
    tags = (
        *((_DT_SONAME, 1), (_DT_HASH, hash_at), (_DT_STRTAB, texts_at), (_DT_SYMTAB, symbols_at)),
        *((_DT_STRSZ, len(texts)), (_DT_SYMENT, _SYMBOL_BYTES), (0, 0)),
    )
    dynamic = b"".join(struct.pack("<QQ", *one) for one in tags)
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    header = ident + struct.pack(
        "<HHIQQQIHHHHHH", 3, e_machine, 1, 0, _HEADER_BYTES, 0, 0, _HEADER_BYTES, _PROGRAM_BYTES, 3, 0, 0, 0
    )
    size = len(dynamic)
    programs = b"".join(
        struct.pack("<IIQQQQQQ", kind, flags, at, at, at, length, length, align)
        for kind, flags, at, length, align in (
            (1, 5, 0, end, _PAGE),  # PT_LOAD, to be read and executed
            (1, 6, dynamic_at, size, _PAGE),  # PT_LOAD, to be written: the loader adjusts it
            (2, 6, dynamic_at, size, 8),  # PT_DYNAMIC
        )
    )
    first = header + programs + code.ljust(16, b"\0") + symbols + hashes + texts
    return first.ljust(dynamic_at, b"\0") + dynamic


def stand_in(functions: Iterable[str]) -> bool:
    """Open one under the name of the driver's library, for as long as this process lives; False where that fails."""
    if sys.platform != "linux" or platform.machine() not in _CODE:
        return False
    descriptor = os.memfd_create("libcuda-stand-in", os.MFD_CLOEXEC)
    try:
        os.write(descriptor, shared_object(functions, platform.machine()))
        ctypes.CDLL(f"/proc/self/fd/{descriptor}", mode=os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
