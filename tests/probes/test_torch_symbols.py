"""What compiled extensions ask of torch, against what torch's libraries define: real wheels, and damaged ones."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from doctor.host import Host
from doctor.host.live import LiveHost
from doctor.host.root import RootHost
from doctor.host.snapshot import Snapshot
from doctor.model.facts.environment import Extension, Lacking
from doctor.model.facts.seen import Place, Seen, Unseen
from tests.lab.elf_file import elf_bytes
from tests.probes.test_gpu_code import SITE, look, planted, torch, wheel
from tests.real.distil import lay

_NEW = "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
_OLD = "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs"
_CALL = "_ZN2at4_ops5zeros4callEv"
_ALL_THERE = Lacking((), 0)


def c10(*names: str, content: bytes | None = None) -> dict[str, str | bytes]:
    """torch's own libraries, of which libc10 defines these names."""
    one = elf_bytes("libc10.so", values=dict.fromkeys(names, 1)) if content is None else content
    other = elf_bytes("libtorch_cpu.so", values={_CALL: 1})
    return {f"{SITE}/torch/lib/libc10.so": one, f"{SITE}/torch/lib/libtorch_cpu.so": other}


def asking(*names: str, needed: tuple[str, ...] = ("libc10.so",), **defined: int) -> bytes:
    return elf_bytes("_C.so", needed=needed, undefined=names, values={"PyInit__C": 1, **defined})


def lacking(tmp_path: Path, *trees: dict[str, str | bytes], name: str = "_C.so") -> object:
    """What is said of one of the extensions."""
    found = look(planted(tmp_path, torch(), *trees)).extensions
    assert isinstance(found, Seen)
    return next(one.lacking for one in found.value if one.path.endswith(f"/{name}"))


@pytest.mark.parametrize(
    ("asks", "defines", "what"),
    [
        ((_NEW, _CALL), (_NEW,), _ALL_THERE),
        ((_CALL, "_ZN3foo3c10E", "PyList_New", "_ZN3fooEN3c106TensorE"), (_NEW,), _ALL_THERE),
        ((_NEW, "_ZNK3c1010gone"), (_NEW,), Lacking(("_ZNK3c1010gone",), 1)),
        ((_NEW, "_ZTVN5torch4goneE"), (_NEW,), Lacking(("_ZTVN5torch4goneE",), 1)),
        ((_NEW, "aoti_torch_gone", "torch_gone"), (_NEW,), Lacking(("aoti_torch_gone", "torch_gone"), 2)),
        ((_OLD,), (_NEW,), Lacking((_OLD,), 1, other_abi=True)),
        ((_NEW,), (_OLD,), Lacking((_NEW,), 1, other_abi=True)),
        ((_NEW, *(f"_ZN2at{number}gone" for number in range(5))), (_NEW,), 5),
    ],
)
def test_what_is_lacking(tmp_path: Path, asks: tuple[str, ...], defines: tuple[str, ...], what: Lacking | int) -> None:
    found = lacking(tmp_path, c10(*defines), wheel("x", "1", {"x/_C.so": asking(*asks)}))
    assert isinstance(found, Seen)
    assert (found.value.how_many if isinstance(what, int) else found.value) == what


def test_the_libraries_of_its_own_package_count(tmp_path: Path) -> None:
    own = {"x/_C.so": asking("_ZN2at4oursE", needed=("libc10.so", "libx_cuda.so"))}
    other = {"x/libx_cuda.so": asking(needed=("libc10.so",), _ZN2at4oursE=1)}
    assert lacking(tmp_path, c10(_NEW), wheel("x", "1", own | other)) == Seen(_ALL_THERE, Place(f"/{SITE}/x/_C.so"))


@pytest.mark.parametrize(
    ("torch_libraries", "needed", "why"),
    [
        (c10(_NEW), ("libc10.so", "libstranger.so"), "libstranger.so may define"),
        (c10(content=b"\x7fELF\x02\x01\x01" + bytes(9)), ("libc10.so",), "or a library of torch"),
        (c10(content=b"no library, but sixteen bytes"), ("libc10.so",), "not an ELF file"),
        ({}, ("libc10.so",), "were not found"),
    ],
)
def test_what_is_not_known_is_said(
    tmp_path: Path, torch_libraries: dict[str, str | bytes], needed: tuple[str, ...], why: str
) -> None:
    found = lacking(tmp_path, torch_libraries, wheel("x", "1", {"x/_C.so": asking("_ZN2at4goneE", needed=needed)}))
    assert isinstance(found, Unseen)
    assert why in found.why


def test_another_torch_is_looked_at_anew(tmp_path: Path) -> None:
    """What was remembered of an extension holds for these libraries of torch, and no others."""
    tree = {**torch(), **c10("_ZN3c103newENSt7__cxx11E"), **wheel("x", "1", {"x/_C.so": asking(_NEW)})}
    host = planted(tmp_path, tree)
    memory = {"GPUDOCTOR_CACHE": str(tmp_path / "cache")}

    class Live(RootHost):
        is_live = True

    def once() -> object:
        snapshot = Snapshot(Live(host.name, memory))
        found = look(snapshot).extensions
        snapshot.memory.save()
        assert isinstance(found, Seen)
        return found.value[0].lacking

    assert once() == once() == Seen(Lacking((_NEW,), 1, other_abi=False), Place(f"/{SITE}/x/_C.so"))
    (tmp_path / f"{SITE}/torch/lib/libc10.so").write_bytes(elf_bytes("libc10.so", values={_NEW: 1, _OLD: 1}))
    assert once() == Seen(_ALL_THERE, Place(f"/{SITE}/x/_C.so"))


class Pair(NamedTuple):
    """Real wheels, and what the extensions lack."""

    torch: str
    extensions: tuple[str, ...]
    python: str = "3.11"
    lacks: str = ""  # one of the names, "" for none


PAIRS = (
    Pair("torch==2.9.1", ("torchvision==0.24.1", "torchaudio==2.9.1", "xformers==0.0.33.post2")),
    Pair("torch==1.1.0", ("torchvision==0.3.0",), "3.7"),  # the first whose operators are linked
    Pair("torch==2.0.1", ("torchvision==0.15.2",), "3.10"),
    Pair("torch==2.9.1", ("xformers==0.0.31",), lacks="_ZN3c104cuda9SetDeviceEa"),
    Pair("torch==2.9.1", ("torchvision==0.15.2",), lacks="_ZN3c106detail23torchInternalAssertFailEPKcS2_jS2_RKSs"),
)


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.torch} {pair.extensions[0]}")
def test_real_pairs(pair: Pair, tmp_path: Path) -> None:
    site = tmp_path / f"venv/lib/python{pair.python}/site-packages"
    lay((pair.torch, *pair.extensions), site, pair.python)
    (tmp_path / "venv/pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {pair.python}.1\n")
    host: Host = LiveHost()
    found = _extensions(host, tmp_path / "venv")
    assert len(found) >= len(pair.extensions)
    told = {one.path: one.lacking.get() for one in found}
    if pair.lacks:
        assert all(one.how_many for one in told.values()), told
        assert pair.lacks in {name for one in told.values() for name in one.names}
    else:
        assert set(told.values()) == {_ALL_THERE}, told


def _extensions(host: Host, prefix: Path) -> tuple[Extension, ...]:
    found = look(host, str(prefix)).extensions
    assert isinstance(found, Seen)
    return found.value
