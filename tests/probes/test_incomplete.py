"""Libraries of RECORD: there, gone, cut short, stripped; what conda and others keep elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.host.root import RootHost
from doctor.model.facts.environment import Distribution, Incomplete
from doctor.probes.incomplete import incomplete_among
from tests.lab.elf_file import elf_bytes

WHOLE = elf_bytes("libx.so.1", rodata=bytes(5000))
INFO = "/site/torch-2.9.1.dist-info"


def looked(root: Path, record: str, installer: str = "pip", **changes: str) -> tuple[Incomplete, ...]:
    info = root / INFO.lstrip("/")
    info.mkdir(parents=True, exist_ok=True)
    (info / "RECORD").write_text(record)
    (info / "INSTALLER").write_text(f"{installer}\n")
    given = {"name": "torch", "version": "2.9.1", "site": "/site", "metadata": INFO, "kind": "wheel", "hidden_by": ""}
    one = Distribution(**{**given, **changes})  # type: ignore[arg-type]
    return incomplete_among(RootHost(str(root)), (one,), frozenset({"torch"})).get()


def lay(root: Path, path: str, content: bytes) -> None:
    full = root / "site" / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_bytes(content)


@pytest.mark.parametrize(
    ("content", "size", "is_damaged"),
    [
        (WHOLE, len(WHOLE), False),
        (WHOLE, len(WHOLE) + 999, False),  # stripped
        (WHOLE, 0, False),  # RECORD does not say it
        (WHOLE[:-2000], len(WHOLE), True),
        (WHOLE[:100], len(WHOLE), True),
        (b"", len(WHOLE), True),
        (b"INPUT(libx.so.1)", 99, False),  # a linker's script
    ],
)
def test_a_library_that_was_cut_short(tmp_path: Path, content: bytes, size: int, is_damaged: bool) -> None:
    lay(tmp_path, "torch/lib/libx.so.1", content)
    lay(tmp_path, "torch/__init__.py", b"")
    found = looked(tmp_path, f"torch/lib/libx.so.1,sha256=x,{size}\ntorch/__init__.py,sha256=x,10\n")
    assert [one.damaged for one in found] == [("/site/torch/lib/libx.so.1",)] * is_damaged


@pytest.mark.parametrize("line", ["torch/_C.cpython-312-x86_64-linux-gnu.so,,", "torch/lib/c10.dll,sha256=x,5\r"])
def test_one_that_is_gone(tmp_path: Path, line: str) -> None:
    record = f"torch/include/a.h,sha256=x,1\n{line}\n../../bin/lib.so,,\n/abs/lib.so,,\ntorch/some.sources,,1\n"
    assert [one.missing for one in looked(tmp_path, record)] == [(f"/site/{line.partition(',')[0]}",)]
    assert looked(tmp_path, record, installer="conda") == ()
    assert looked(tmp_path, record, name="numpy") == ()
    assert looked(tmp_path, record, name="nvidia-cudnn-cu12") == ()  # a rule of its own
    assert looked(tmp_path, record, hidden_by="/other") == ()
    assert looked(tmp_path, record, kind="egg-info") == ()


def test_without_a_list_nothing_is_said(tmp_path: Path) -> None:
    one = Distribution(name="torch", version="1", site="/site", metadata=INFO, kind="wheel", hidden_by="")
    assert incomplete_among(RootHost(str(tmp_path)), (one,), frozenset({"torch"})).get() == ()


MODULES = "".join(
    f"torch/{name},sha256=x,5\n"
    for name in (
        *("__init__.py", "nn/__init__.py", "nn/functional.py", "nn/modules/linear.py", "nn/modules/a/deep.py"),
        *("testing/x.py", "testing/_internal/y.py", "nn/benchmarks/z.py"),
    )
)
NN = ("nn/__init__.py", "nn/functional.py", "nn/modules/linear.py")


@pytest.mark.parametrize(
    ("there", "missing"),
    [
        (("__init__.py", *NN, "testing/x.py", "testing/_internal/y.py", "nn/benchmarks/z.py"), ()),
        (("__init__.py", *NN), ()),  # a slim image without tests, and what lies in them
        (("__init__.py", *NN[::2], "testing/x.py"), ("nn/functional.py",)),
        (("__init__.py", *NN[:2], "nn/modules/conv.py"), ("nn/modules/linear.py",)),
        (("__init__.py", *NN[:2]), ("nn/modules/linear.py",)),
        (("__init__.py", NN[0], "nn/functional.pyc", "nn/modules/linear.pyc"), ()),  # compiled
        (("__init__.py", *NN[::2], "nn/functional.cpython-312-x86_64-linux-gnu.so"), ()),
        (("__init__.py",), NN),
        (NN, ("__init__.py",)),
        ((), ("__init__.py", *NN)),
    ],
)
def test_modules_that_are_gone(tmp_path: Path, there: tuple[str, ...], missing: tuple[str, ...]) -> None:
    for name in there:
        lay(tmp_path, f"torch/{name}", b"")
    found = looked(tmp_path, MODULES)
    assert [path for one in found for path in one.missing] == [f"/site/torch/{name}" for name in missing]
    assert looked(tmp_path, MODULES, name="nvidia-nccl-cu12") == ()


def test_a_list_that_leaves_its_site_is_not_followed(tmp_path: Path) -> None:
    assert looked(tmp_path, '../other/x.py,,\n/etc/x.py,,\n"torch/a,b.py",,\nsix.py,,\n') == ()


INFO_FILES = "torch-2.9.1.dist-info/METADATA,sha256=x,9\ntorch-2.9.1.dist-info/RECORD,,\n"


@pytest.mark.parametrize(
    ("installer", "more"),
    [
        # pip --target: the scripts of RECORD go to TARGET/bin, and are named as if below the interpreter's prefix
        ("pip", "../../bin/torchrun,sha256=x,9\ntorch/__pycache__/__init__.cpython-312.pyc,,\n"),
        ("uv", "torch-2.9.1.dist-info/direct_url.json,sha256=x,9\n../../../bin/torchrun,sha256=x,9\n"),
        ("Poetry 2.2.1", "torch-2.9.1.dist-info/REQUESTED,sha256=x,0\n"),
        # an editable one lists its path file and its finder alone
        ("pip", "__editable__.torch-2.9.1.pth,sha256=x,9\n__editable___torch_2_9_1_finder.py,sha256=x,9\n"),
    ],
)
def test_what_other_tools_write_is_whole(tmp_path: Path, installer: str, more: str) -> None:
    lay(tmp_path, "torch/__init__.py", b"")
    lay(tmp_path, "torch/nn/modules/linear.py", b"")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/functional.py").write_bytes(b"")
    (tmp_path / "site/torch/nn/functional.py").symlink_to("/cache/functional.py")  # uv's --link-mode=symlink
    record = "".join(f"torch/{name},sha256=x,0\n" for name in ("__init__.py", "nn/functional.py", NN[2]))
    assert looked(tmp_path, f"{record}{INFO_FILES}{more}", installer) == ()
    assert looked(tmp_path, f"{record}torch/gone.py,sha256=x,0\n{more}", installer) != ()


@pytest.mark.parametrize("kind", ["egg", "egg-info"])  # Debian's python3-torch, easy_install: no RECORD
def test_what_has_no_record_is_whole(tmp_path: Path, kind: str) -> None:
    one = Distribution(name="torch", version="1", site="/site", metadata="/site/t.egg-info", kind=kind, hidden_by="")
    assert incomplete_among(RootHost(str(tmp_path)), (one,), frozenset({"torch"})).get() == ()
