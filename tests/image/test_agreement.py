"""An image says what `--root` says of the unpacked tree, in every encoding."""

from __future__ import annotations

import gzip
import io
import itertools
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

from doctor.commands.check.command import CheckSubject, report_of
from doctor.model.encode import encode_report
from tests.image.pack import PACKED, config_of, encodings, tar_of, tar_with
from tests.lab.case import Case
from tests.lab.cases import CASES

WINDOWS = {"F08"}
OFFLINE = [case for case in CASES if case.where == "root" and not case.environ]


def said(options: CheckSubject, name: str) -> dict[str, Any]:
    """What was answered and found, without the name of what was looked at."""
    report = encode_report(report_of(options, time.perf_counter()))
    text = {key: report[key] for key in ("verdict", "answers", "findings")}
    for remedy in (one for finding in text["findings"] for one in finding["remedies"]):
        del remedy["commands"]  # a root is entered, an image is built anew
    anonymous: dict[str, Any] = _replaced(text, name)
    return anonymous


def _replaced(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return {key: _replaced(item, name) for key, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, name) for item in value]
    return value.replace(name, "IMAGE") if isinstance(value, str) else value


@pytest.mark.parametrize("case", OFFLINE, ids=lambda case: case.name)
@pytest.mark.parametrize("packing", ["", "gzip"])
def test_root_tar(case: Case, packing: str, tmp_path: Path) -> None:
    tree = case.build(tmp_path / "tree")
    file = tmp_path / "root.tar"
    file.write_bytes(PACKED[packing](tar_of(tree)))
    expected = said(CheckSubject(root=str(tree)), str(tree))
    assert said(CheckSubject(image=str(file)), str(file)) == expected


def test_every_encoding(tmp_path: Path) -> None:
    case = next(case for case in OFFLINE if case.name == "mixed-on-disk")
    tree = case.build(tmp_path / "tree")
    whole = tar_of(tree)
    top = tar_with({"etc/marker": b"a layer above"})
    images = encodings([whole, top], config_of([whole, top]), tmp_path / "images")
    expected = said(CheckSubject(root=str(tree)), str(tree))
    found = {kind: said(CheckSubject(image=str(path)), str(path)) for kind, path in images.items()}
    codes = [one["code"] for one in expected["findings"]]
    assert codes
    for kind, one in found.items():
        assert [item["code"] for item in one["findings"]] == codes, kind
        assert any("(layer 1: COPY layer 1)" in link["detail"] for item in one["findings"] for link in item["evidence"])


@pytest.mark.parametrize("packing", ["xz", pytest.param("zstd", marks=pytest.mark.system)])
def test_other_packings(packing: str, tmp_path: Path) -> None:
    case = next(case for case in OFFLINE if case.name == "mixed-on-disk")
    tree = case.build(tmp_path / "tree")
    file = tmp_path / "root"
    file.write_bytes(PACKED[packing](tar_of(tree)))
    assert said(CheckSubject(image=str(file)), str(file)) == said(CheckSubject(root=str(tree)), str(tree))


def test_the_oracle_is_told_apart_from_an_empty_image(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "empty.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo("etc/x"))
    assert said(CheckSubject(image=str(tmp_path / "empty.tar")), "")["findings"] == []


@pytest.mark.parametrize("name", ["mixed-on-disk", "disk"])
def test_a_layer_that_is_read_piece_by_piece(name: str, tmp_path: Path) -> None:
    """As stargz packs it: each file a member of its own, then their list, then a member of nothing that says where."""
    case = next(case for case in OFFLINE if case.name == name)
    tree = case.build(tmp_path / "tree")
    whole = tar_of(tree)
    with tarfile.open(fileobj=io.BytesIO(whole)) as archive:
        places = [one.offset for one in archive] + [archive.offset]
    members = [whole[begin:end] for begin, end in itertools.pairwise(places)]
    listed = tar_with({"stargz.index.json": b'{"version": 1, "entries": []}'})
    footer = b"\x1f\x8b\x08\x04" + bytes(5) + b"\xff\x1a\0SG\x16\0" + b"%016xSTARGZ" % 0 + b"\1\0\0\xff\xff" + bytes(8)
    file = tmp_path / "root.tar.gz"
    file.write_bytes(b"".join(gzip.compress(one, 1) for one in (*members, listed)) + footer)
    assert said(CheckSubject(image=str(file)), str(file)) == said(CheckSubject(root=str(tree)), str(tree))
