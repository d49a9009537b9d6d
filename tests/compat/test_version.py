"""Version numbers: read once, ordered, printed as they were."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest

from compat.version import CodeTarget, ComputeCapability, CudaVersion, CudnnVersion, DriverRelease, VersionError


@pytest.mark.parametrize(
    ("parse", "text", "printed"),
    [
        (CudaVersion.parse, "12.4", "12.4"),
        (CudaVersion.parse, " 12.4.131 ", "12.4"),
        (DriverRelease.parse, "580.65.06", "580.65.06"),
        (DriverRelease.parse, "581.15", "581.15"),
        (DriverRelease.parse, "570.133.20", "570.133.20"),
        (DriverRelease.parse, "580", "580"),
        (CudnnVersion.parse, "9.10.2.21", "9.10.2.21"),
        (CudnnVersion.parse, "5.1", "5.1"),
        (ComputeCapability.parse, "12.1", "12.1"),
        (CodeTarget.parse, "sm_90a", "sm_90a"),
        (CodeTarget.parse, "compute_120", "compute_120"),
        (CodeTarget.parse, "sm_103f", "sm_103f"),
    ],
)
def test_parse(parse: Callable[[str], Any], text: str, printed: str) -> None:
    assert str(parse(text)) == printed


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (CudaVersion.parse, "12"),
        (CudaVersion.parse, ""),
        (CudaVersion.parse, "12.x"),
        (CudaVersion.parse, "1.2.3.4.5"),
        (CudaVersion.parse, "12.٤"),
        (CudaVersion.parse, "12." + "9" * 5000),
        (CudaVersion.from_tag, "cpu"),
        (CudaVersion.from_tag, "cu1234"),
        (DriverRelease.parse, "580-open"),
        (DriverRelease.parse, "580.65.06.1"),
        (CudnnVersion.parse, "v5"),
        (ComputeCapability.parse, "8"),
        (CodeTarget.parse, "8.9"),
        (CodeTarget.parse, "sm_9"),
        (CodeTarget.parse, "sm_90x"),
    ],
)
def test_refused(parse: Callable[[str], Any], text: str) -> None:
    with pytest.raises(VersionError):
        parse(text)


@pytest.mark.parametrize(
    ("encoded", "printed"), [(91002, "9.10.2"), (92800, "9.28.0"), (8907, "8.9.7"), (7605, "7.6.5"), (5005, "5.0.5")]
)
def test_cudnn_encoding(encoded: int, printed: str) -> None:
    assert str(CudnnVersion.from_encoded(encoded)) == printed


@pytest.mark.parametrize(("encoded", "printed"), [(13020, "13.2"), (12080, "12.8"), (9020, "9.2"), (11000, "11.0")])
def test_cuda_encoding(encoded: int, printed: str) -> None:
    assert str(CudaVersion.from_encoded(encoded)) == printed


@pytest.mark.parametrize(
    ("tag", "printed"), [("cu92", "9.2"), ("cu101", "10.1"), ("cu118", "11.8"), ("cu128", "12.8"), ("cu130", "13.0")]
)
def test_cuda_tag(tag: str, printed: str) -> None:
    assert str(CudaVersion.from_tag(tag)) == printed


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        (DriverRelease.parse("580"), DriverRelease.parse("580.65.06")),
        (DriverRelease.parse("580.65.06"), DriverRelease.parse("580.126.09")),
        (DriverRelease.parse("525.60.13"), DriverRelease.parse("580")),
        (CudaVersion(9, 2), CudaVersion(10, 1)),
        (CudnnVersion.parse("9.9.0"), CudnnVersion.parse("9.10.2")),
        (ComputeCapability(9, 0), ComputeCapability(12, 0)),
    ],
)
def test_order(lower: Any, higher: Any) -> None:
    assert lower < higher


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [("9.10.2", "9.10.2.21", True), ("5.1", "5.1.10", True), ("9.10.2.21", "9.10.2.22", False), ("8.9", "9.8", False)],
)
def test_cudnn_agreement(one: str, other: str, agree: bool) -> None:
    assert CudnnVersion.parse(one).agrees_with(CudnnVersion.parse(other)) is agree


@pytest.mark.parametrize(
    ("target", "gpu", "runs"),
    [
        ("sm_80", "8.6", True),
        ("sm_80", "8.9", True),
        ("sm_86", "8.0", False),
        ("sm_80", "9.0", False),
        ("sm_90", "12.0", False),
        ("sm_120", "12.1", True),
        ("compute_80", "12.0", True),
        ("compute_90", "8.9", False),
        ("sm_90a", "9.0", True),
        ("sm_100a", "10.3", False),
        ("compute_90a", "10.0", False),
        ("compute_90a", "9.0", True),
        ("sm_100f", "10.3", True),
        ("sm_100f", "11.0", False),
        ("sm_103f", "10.0", False),
        ("compute_100f", "10.3", True),
        ("compute_100f", "12.0", False),
    ],
)
def test_code_runs_on(target: str, gpu: str, runs: bool) -> None:
    assert CodeTarget.parse(target).runs_on(ComputeCapability.parse(gpu)) is runs


@pytest.mark.parametrize("other", [CudnnVersion((12, 4)), DriverRelease((12, 4)), ComputeCapability(12, 4)])
def test_kinds_are_never_equal_and_have_no_order(other: Any) -> None:
    version: Any = CudaVersion(12, 4)
    assert version != other
    assert other != version
    assert other not in {version: 1}
    assert len({version, other}) == 2
    for compare in (operator.lt, operator.le, operator.gt, operator.ge, max):
        with pytest.raises(TypeError):
            compare(version, other)


@pytest.mark.parametrize("version", [CudaVersion(12, 4), CudnnVersion((12, 4)), DriverRelease((12, 4))])
def test_a_kind_is_equal_to_itself_and_to_a_plain_bound(version: Any) -> None:
    again = type(version).parse("12.4")
    assert version == again == (12, 4)
    assert not version != again  # noqa: SIM202 - both operators
    assert hash(version) == hash(again)
    assert (11, 0) < version <= again
    assert version < type(version).parse("12.5")
