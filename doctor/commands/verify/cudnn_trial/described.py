"""GPUs as cuDNN takes them by description, so that it plans for one that is not there.

Source of the figures: what the cards themselves answer (deviceQuery's output of a T4, an RTX 4090 and an RTX 5090;
openxla/xla:xla/backends/gpu/target_config/specs of the A100 and the B200); blocks a multiprocessor holds: CUDA
Programming Guide, "Technical Specifications per Compute Capability". Of the members: openxla/xla:
xla/backends/gpu/target_config/cudnn_device_props.cc. Asked: releases from 9.8 on take more than they want; 9.14 and
later want maxThreadsPerBlock, 9.28 memoryBusWidth.
"""

from __future__ import annotations

import json

from compat.base.record import NamedTuple
from compat.version import ComputeCapability


class Described(NamedTuple):
    """One card, in the units of cudaDeviceProp."""

    name: str
    capability: ComputeCapability
    multiprocessors: int
    threads: int  # a multiprocessor holds
    blocks: int  # a multiprocessor holds
    shared_bytes: int  # a block may ask for
    l2_bytes: int
    memory_bytes: int
    clock_khz: int
    memory_clock_khz: int
    bus_bits: int

    def text(self, capability: ComputeCapability) -> bytes:
        """JSON for CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, of this card or one of another capability."""
        return json.dumps(
            {
                "deviceVer": capability.major * 100 + capability.minor * 10,
                "driverVer": 13000,
                "deviceName": self.name,
                "cudaDeviceId": 0,
                "pciDeviceId": 0,
                "maxGridSize": [2147483647, 65535, 65535],
                "maxBlockSize": [1024, 1024, 64],
                "maxThreadsPerBlock": 1024,
                "warpSize": 32,
                "multiProcessorCount": self.multiprocessors,
                "maxCtasPerSM": self.blocks,
                "maxThreadsPerSM": self.threads,
                "maxRegistersPerSM": 65536,
                "regsPerBlock": 65536,
                "maxSharedMemoryPerBlock": 49152,
                "maxSharedMemoryPerBlockOptin": self.shared_bytes,
                "reservedSharedMemoryPerBlock": 1024 if self.capability.major > 7 else 0,
                "l2CacheSize": self.l2_bytes,
                "totalGlobalMem": self.memory_bytes,
                "smClockRateKHz": self.clock_khz,
                "memClockRateKHz": self.memory_clock_khz,
                "memoryBusWidth": self.bus_bits,
                "isTccDriver": 0,
                "supportCoopLaunch": 1,
            }
        ).encode()


_CARDS = tuple(
    Described(name, ComputeCapability(*capability), *numbers)
    for name, capability, *numbers in (
        ("Tesla T4", (7, 5), 40, 1024, 16, 65536, 4194304, 15843721216, 1590000, 5001000, 256),
        ("NVIDIA A100-SXM4-40GB", (8, 0), 108, 2048, 32, 166912, 41943040, 42331013120, 1410000, 1215000, 5120),
        ("NVIDIA GeForce RTX 4090", (8, 9), 128, 1536, 24, 101376, 75497472, 25250627584, 2520000, 10501000, 384),
        ("NVIDIA H200", (9, 0), 132, 2048, 32, 232448, 62914560, 150000000000, 1980000, 3201000, 6144),
        ("NVIDIA B200", (10, 0), 148, 2048, 32, 232448, 132644864, 191514411008, 1965000, 3996000, 7680),
        ("NVIDIA GeForce RTX 5090", (12, 0), 170, 1536, 24, 101376, 100663296, 33660534784, 2407000, 14001000, 512),
    )
)
USUAL = ComputeCapability(9, 0)  # every release that plans for a described GPU has engines for it


def described(capability: ComputeCapability) -> Described:
    """The card of that capability, else the next older one, else the oldest: only the engines' order depends on it."""
    older = [one for one in _CARDS if one.capability <= capability]
    return older[-1] if older else _CARDS[0]
