"""variable-misspelled, and the names that are near."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor.model.facts.environment import NearName
from doctor.model.finding import Severity, Status
from doctor.probes import configuration as probe
from tests.machine import configuration, machine, seen, unseen
from tests.probes.pretend import PretendHost
from tests.rules.case import answer

CODE = "variable-misspelled"


@pytest.mark.parametrize(
    ("near", "kind"),
    [
        (seen(()), Status.OK),
        (seen((NearName("CUDA_VISIBLE_DEVICE", "CUDA_VISIBLE_DEVICES"),)), Status.BAD),
        (unseen(), Status.UNKNOWN),
        (None, Status.NOT_APPLICABLE),
    ],
)
def test_kinds(near: Any, kind: Status) -> None:
    found = answer(CODE, machine(configuration=configuration(near=near)))
    assert found.kind is kind
    if kind is Status.BAD:
        assert found.severity is Severity.INFO


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("CUDA_VISIBLE_DEVICE", "CUDA_VISIBLE_DEVICES"),
        ("CUDA_VISBLE_DEVICES", "CUDA_VISIBLE_DEVICES"),
        ("CUDA_VISIBEL_DEVICES", "CUDA_VISIBLE_DEVICES"),
        ("PYTORCH_CUDA_ALLOC_CONFF", "PYTORCH_CUDA_ALLOC_CONF"),
        ("LD_LIBARY_PATH", "LD_LIBRARY_PATH"),
        ("NCCL_P2P_DISABLED", "NCCL_P2P_DISABLE"),
        ("NCCL_SOCKET_IFNAMF", "NCCL_SOCKET_IFNAME"),
        ("CUDA_VISIBLE_DEVICES", ""),
        ("CUDA_PATH_V12_8", ""),
        ("CUDA_HOME2", ""),  # somebody's second toolkit
        ("NCCL_IB_TC", ""),
        ("TORCH_HOME", ""),
        ("LD_RUN_PATH", ""),
        ("CUDA_BIN", ""),
        ("MY_CUDA_HOME", ""),
    ],
)
def test_names(tmp_path: Path, name: str, meant: str) -> None:
    near = probe.look(PretendHost(tmp_path, {}, environ={name: "1"})).near
    assert near is not None
    assert near.get() == ((NearName(name, meant),) if meant else ())


def test_no_two_known_names_are_near() -> None:
    known = sorted(probe._NAMES)
    assert [
        (one, other) for one in known for other in known if one != other and probe._is_one_letter_off(one, other)
    ] == []
