"""cudnn-link-broken."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import InstallCudnn, LinkTo, Need, as_json
from doctor.model.facts.cudnn import CudnnCopy, CudnnLink
from doctor.model.finding import Severity, Status
from tests.machine import cudnn_copy, cudnn_part, machine, seen, unseen
from tests.rules.case import answer
from tests.rules.cudnn import OPT, loading, other

CODE = "cudnn-link-broken"
DEV = CudnnLink(f"{OPT}/libcudnn.so", "libcudnn.so.9.1.0", "no such file")
SONAME = CudnnLink(f"{OPT}/libcudnn_ops.so.9", "libcudnn_ops.so.9.1.0", "no such file")
ABSENT = CudnnLink(f"{OPT}/libcudnn_ops.so.9", "", "no such link, though libcudnn_ops.so.9.5.1 is there")


def archive(*links: CudnnLink, **changes: Any) -> CudnnCopy:
    """An unpacked archive, whose SONAMEs are links to files with the full version."""
    files = (
        cudnn_part("libcudnn.so.9", "9.5.1", OPT, path=f"{OPT}/libcudnn.so.9.5.1"),
        cudnn_part("libcudnn_ops.so.9", "9.5.1", OPT, path=f"{OPT}/libcudnn_ops.so.9.5.1"),
    )
    return other(broken_links=seen(links), parts=seen(files), **changes)


@pytest.mark.parametrize(
    ("links", "kind", "severity", "first"),
    [
        ((), Status.OK, Severity.ERROR, None),
        ((DEV,), Status.BAD, Severity.WARNING, LinkTo(DEV.path, "libcudnn.so.9")),
        ((SONAME,), Status.BAD, Severity.ERROR, LinkTo(SONAME.path, "libcudnn_ops.so.9.5.1")),
        ((ABSENT,), Status.BAD, Severity.ERROR, LinkTo(ABSENT.path, "libcudnn_ops.so.9.5.1")),
        ((DEV, SONAME), Status.BAD, Severity.ERROR, InstallCudnn("==9.5.1", OPT, "12")),
    ],
)
def test_links(links: tuple[CudnnLink, ...], kind: Status, severity: Severity, first: Need | None) -> None:
    found = answer(CODE, loading(archive(*links)))
    assert (found.kind, found.severity) == (kind, severity)
    assert next(iter(found.needs), None) == first


def test_a_copy_that_nobody_loads_is_a_warning() -> None:
    found = answer(CODE, machine(cudnn=seen((cudnn_copy(), archive(SONAME)))))
    assert (found.kind, found.severity) == (Status.BAD, Severity.WARNING)


def test_a_dangling_link_with_no_library_left_asks_for_the_release() -> None:
    found = answer(CODE, machine(cudnn=seen((archive(SONAME)._replace(parts=seen(())),))))
    assert [as_json(need).product for need in found.needs] == ["cudnn"]


def test_unread_links_are_unknown() -> None:
    assert answer(CODE, machine(cudnn=seen((other(broken_links=unseen()),)))).kind is Status.UNKNOWN
