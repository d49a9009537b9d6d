"""Every copy of cuDNN is found, and read right."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.version import CudaVersion
from doctor.binaries import elf
from doctor.host import Host
from doctor.host.live import LiveHost
from doctor.host.root import RootHost
from doctor.loader.cudnn_library import parse_name
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.environment import Distribution, Environment, Framework
from doctor.model.facts.seen import Fact, Place, Seen, Unseen
from doctor.model.facts.toolkit import ToolkitFacts
from doctor.probes import cudnn, loader
from tests.lab.cudnn_tree import conda_of, copy_of, debian_of, dlls_of, header_of, link, part_bytes, wheel_of
from tests.lab.pe_file import pe_bytes
from tests.wheels import WINDOWS, fetch, unpack

SITE = "/venv/lib/python3.12/site-packages"
LIBRARIES = f"{SITE}/nvidia/cudnn/lib"


def environment(
    *distributions: tuple[str, str], site: str = SITE, kind: str = "venv", frameworks: tuple[Framework, ...] = ()
) -> Environment:
    """An environment with these wheels."""
    installed = tuple(
        Distribution(name, version, site, f"{site}/{name.replace('-', '_')}-{version}.dist-info", "wheel", "")
        for name, version in distributions
    )
    return Environment(
        prefix=site.partition("/lib/python")[0],
        asked_by="--python",
        interpreter="",
        kind=kind,
        python=Seen("3.12.4", "test"),
        sites=Seen((site,), "test"),
        distributions=Seen(installed, "test"),
        frameworks=Seen(frameworks, "test"),
        overlaps=Seen((), "test"),
        externally_managed=False,
    )


def look(host: Host, *environments: Environment) -> tuple[CudnnCopy, ...]:
    """The copies on a machine with these environments."""
    nothing = ToolkitFacts(Seen((), "test"), Seen((), "test"))
    return cudnn.look(host, loader.look(host), nothing, Seen(environments, "test")).get()


def at(root: Path, *environments: Environment, **environ: str) -> tuple[CudnnCopy, ...]:
    """The copies under a root."""
    return look(RootHost(str(root), environ), *environments)


def only(copies: tuple[CudnnCopy, ...]) -> CudnnCopy:
    assert len(copies) == 1, copies
    return copies[0]


def text(fact: Fact[Any]) -> str:
    return str(fact.value) if isinstance(fact, Seen) else "unseen"


def versions_of(copy: CudnnCopy) -> dict[str, str]:
    return {part.name: text(part.version) for part in copy.parts.get()}


CU12 = ("nvidia-cudnn-cu12", "9.10.2.21")


def test_a_wheel(tmp_path: Path) -> None:
    wheel_of(tmp_path / SITE[1:])
    copy = only(at(tmp_path, environment(CU12)))
    assert copy.path == LIBRARIES
    assert (copy.origin, copy.owner, copy.environment) == ("wheel", "nvidia-cudnn-cu12 9.10.2.21", "/venv")
    assert (text(copy.version), text(copy.header_version), copy.cuda_major.get()) == ("9.10.2", "9.10.2", 12)
    assert copy.how_versions == (("header", "9.10.2"), ("symbol", "9.10.2"), ("package", "9.10.2.21"))
    assert copy.parts.get()[0].name == "libcudnn.so.9"
    assert len(copy.parts.get()) == 8
    assert {part.machine.get() for part in copy.parts.get()} == {"x86_64"}
    assert {part.soname.get() for part in copy.parts.get()} == {part.name for part in copy.parts.get()}
    assert all(part.readable for part in copy.parts.get())
    assert (copy.missing.get(), copy.damaged.get(), copy.broken_links.get()) == ((), (), ())
    assert isinstance(copy.search_rank, Unseen)


def test_a_wheel_behind_links(tmp_path: Path) -> None:
    wheel_of(tmp_path / "venv/lib/python3.12/site-packages")
    link(tmp_path / "venv/lib64", "lib")
    copy = only(at(tmp_path, environment(CU12, site="/venv/lib64/python3.12/site-packages"), environment(CU12)))
    assert (copy.path, copy.owner, copy.missing.get()) == (LIBRARIES, "nvidia-cudnn-cu12 9.10.2.21", ())


def _delete(site: Path) -> None:
    (site / "nvidia/cudnn/lib/libcudnn_ops.so.9").unlink()


def _delete_all(site: Path) -> None:
    shutil.rmtree(site / "nvidia/cudnn/lib")


def _cut(site: Path) -> None:
    path = site / "nvidia/cudnn/lib/libcudnn_ops.so.9"
    path.write_bytes(path.read_bytes()[:-10])


def _empty(site: Path) -> None:
    (site / "nvidia/cudnn/lib/libcudnn_ops.so.9").write_bytes(b"")


def _other_file(site: Path) -> None:
    (site / "nvidia/cudnn/lib/libcudnn_heuristic.so.9").write_bytes(part_bytes("heuristic", "9.10.2") + b"more")


def _no_record(site: Path) -> None:
    (site / "nvidia_cudnn_cu12-9.10.2.21.dist-info/RECORD").unlink()


@pytest.mark.parametrize(
    ("spoil", "missing", "damaged"),
    [
        (_delete, (f"{LIBRARIES}/libcudnn_ops.so.9",), ()),
        (_cut, (), (f"{LIBRARIES}/libcudnn_ops.so.9",)),
        (_empty, (), (f"{LIBRARIES}/libcudnn_ops.so.9",)),
        (_other_file, (), (f"{LIBRARIES}/libcudnn_heuristic.so.9",)),
        (_no_record, None, ()),
    ],
)
def test_a_spoilt_wheel(
    tmp_path: Path, spoil: Callable[[Path], None], missing: tuple[str, ...] | None, damaged: tuple[str, ...]
) -> None:
    site = tmp_path / SITE[1:]
    wheel_of(site)
    spoil(site)
    copy = only(at(tmp_path, environment(CU12)))
    assert (
        copy.missing == Unseen(copy.missing.why) if isinstance(copy.missing, Unseen) else copy.missing.value == missing
    )
    assert isinstance(copy.missing, Unseen) == (missing is None)
    assert copy.damaged.get() == damaged


def test_a_wheel_of_which_all_libraries_are_gone(tmp_path: Path) -> None:
    site = tmp_path / SITE[1:]
    wheel_of(site)
    _delete_all(site)
    copy = only(at(tmp_path, environment(CU12)))
    assert copy.parts.get() == ()
    assert len(copy.missing.get()) == 8
    assert copy.owner == "nvidia-cudnn-cu12 9.10.2.21"


def test_two_wheels_in_one_directory_the_files_say_whose_they_are(tmp_path: Path) -> None:
    site = tmp_path / SITE[1:]
    wheel_of(site, "9.10.2.21", 12)
    wheel_of(site, "9.13.0.50", 13)
    (site / "nvidia/cudnn/lib/libcudnn_cnn.so.9").unlink()
    copy = only(at(tmp_path, environment(CU12, ("nvidia-cudnn-cu13", "9.13.0.50"))))
    assert (text(copy.version), copy.cuda_major.get()) == ("9.13.0", 13)
    assert copy.missing.get() == (f"{LIBRARIES}/libcudnn_cnn.so.9",)


def test_parts_of_two_releases(tmp_path: Path) -> None:
    copy_of(tmp_path / "opt/lib", "9.10.2", versions={"ops": "9.5.1", "engines_precompiled": "9.5.1"})
    copy = only(at(tmp_path, LD_LIBRARY_PATH="/opt/lib"))
    seen = versions_of(copy)
    assert (seen["libcudnn_graph.so.9"], seen["libcudnn_ops.so.9"]) == ("9.10.2", "9.5.1")
    assert seen["libcudnn_engines_precompiled.so.9"] == "unseen"
    assert copy.how_versions == (("symbol", "9.10.2"), ("symbol", "9.5.1"))
    assert (copy.origin, copy.owner, copy.search_rank.get()) == ("directory", "", 0)


def test_an_archive_in_a_toolkit(tmp_path: Path) -> None:
    root = tmp_path / "usr/local/cuda-12.4"
    copy_of(root / "targets/x86_64-linux/lib", "8.9.7", chain=True, header=root / "targets/x86_64-linux/include")
    link(root / "lib64", "targets/x86_64-linux/lib")
    link(root / "include", "targets/x86_64-linux/include")
    link(tmp_path / "usr/local/cuda", "/usr/local/cuda-12.4")
    copy = only(at(tmp_path))
    assert (copy.path, copy.origin) == ("/usr/local/cuda-12.4/targets/x86_64-linux/lib", "toolkit")
    assert (text(copy.version), text(copy.header_version)) == ("8.9.7", "8.9.7")
    assert copy.how_versions == (("header", "8.9.7"), ("file name", "8.9.7"), ("symbol", "8.9.7"))
    assert {part.path.rpartition(".so")[2] for part in copy.parts.get()} == {".8.9.7"}
    assert copy.broken_links.get() == ()


def test_the_header_is_of_another_release(tmp_path: Path) -> None:
    root = tmp_path / "usr/local/cuda"
    copy_of(root / "lib64", "8.9.7", chain=True, header=root / "include", header_version="9.10.2")
    copy = only(at(tmp_path))
    assert (text(copy.version), text(copy.header_version)) == ("8.9.7", "9.10.2")
    assert copy.header_path.get() == "/usr/local/cuda/include/cudnn_version.h"


def test_a_header_alone(tmp_path: Path) -> None:
    header_of(tmp_path / "usr/include", "8.2.4")
    copy = only(at(tmp_path))
    assert (copy.path, copy.parts.get(), text(copy.header_version)) == ("/usr/include", (), "8.2.4")
    assert isinstance(copy.version, Unseen)


def test_debian_packages(tmp_path: Path) -> None:
    debian_of(tmp_path)
    copy = only(at(tmp_path))
    assert (copy.origin, copy.owner) == ("distribution", "libcudnn9-cuda-12 9.10.2.21-1")
    assert (copy.path, copy.cuda_major.get()) == ("/usr/lib/x86_64-linux-gnu", 12)
    assert (copy.missing.get(), copy.damaged.get()) == ((), ())
    assert isinstance(copy.search_rank, Seen)
    (tmp_path / "usr/lib/x86_64-linux-gnu/libcudnn_adv.so.9.10.2").unlink()
    copy = only(at(tmp_path))
    assert [path.rpartition("/")[2] for path in copy.missing.get()] == ["libcudnn_adv.so.9", "libcudnn_adv.so.9.10.2"]


def test_two_majors_side_by_side_are_two_copies(tmp_path: Path) -> None:
    debian_of(tmp_path, "8.9.7.29-1")
    debian_of(tmp_path, "9.10.2.21-1")
    include = tmp_path / "usr/include/x86_64-linux-gnu"
    header_of(include, "8.9.7", name="cudnn_version_v8.h")
    header_of(include, "9.10.2", name="cudnn_version_v9.h")
    old, new = at(tmp_path)
    assert (text(old.version), text(new.version)) == ("8.9.7", "9.10.2")
    assert (old.owner.split()[0], new.owner.split()[0]) == ("libcudnn8-cuda-12", "libcudnn9-cuda-12")
    assert (text(old.header_version), text(new.header_version)) == ("8.9.7", "9.10.2")
    assert (old.broken_links.get(), new.broken_links.get()) == ((), ())


def test_conda(tmp_path: Path) -> None:
    conda_of(tmp_path / "conda")
    copy = only(at(tmp_path, environment(site="/conda/lib/python3.12/site-packages", kind="conda")))
    assert (copy.origin, copy.owner, copy.environment) == ("conda", "libcudnn 9.10.1.4", "/conda")
    assert (text(copy.version), copy.cuda_major.get(), copy.missing.get()) == ("9.10.1", 12, ())


def test_a_library_that_was_not_read_is_not_called_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel_of(tmp_path / SITE[1:])
    monkeypatch.setattr(elf, "_DYNAMIC_AT_MOST_BYTES", 16)
    copy = only(at(tmp_path, environment(CU12)))
    assert isinstance(copy.damaged, Unseen)
    assert "its dynamic section has more than" in copy.damaged.why
    assert all(isinstance(part.soname, Unseen) for part in copy.parts.get())


@pytest.mark.parametrize("content", ["", "{", "[]", '{"name": 1}', '{"files": [3], "name": "a", "version": "b"}'])
def test_damaged_conda_meta(tmp_path: Path, content: str) -> None:
    conda_of(tmp_path / "conda")
    next((tmp_path / "conda/conda-meta").iterdir()).write_text(content)
    copy = only(at(tmp_path, environment(site="/conda/lib/python3.12/site-packages", kind="conda")))
    assert copy.owner == ""


def test_a_framework_brings_its_own(tmp_path: Path) -> None:
    copy_of(tmp_path / SITE[1:] / "torch/lib", "8.5.0")
    nothing = Unseen("test")
    torch = Framework(
        package="torch",
        version="1.13.0+cu117",
        path=f"{SITE}/torch",
        build=Seen("cu117", "test"),
        cuda=Seen(CudaVersion(11, 7), "test"),
        cudnn=nothing,
        targets=nothing,
        requires=nothing,
        environment="/venv",
        note="",
    )
    record = tmp_path / SITE[1:] / "torch-1.13.0+cu117.dist-info/RECORD"
    record.parent.mkdir()
    size = (tmp_path / SITE[1:] / "torch/lib/libcudnn.so.8").stat().st_size
    record.write_text(f"torch/lib/libcudnn.so.8,sha256=x,{size}\ntorch/cudnn.cpython-39.so,sha256=x,7\n")
    copy = only(at(tmp_path, environment(("torch", "1.13.0+cu117"), frameworks=(torch,))))
    assert (copy.origin, copy.owner, text(copy.version)) == ("framework", "torch 1.13.0+cu117", "8.5.0")
    assert (copy.cuda_major.get(), copy.missing.get()) == (11, ())


def _dangling(folder: Path) -> None:
    (folder / "libcudnn_ops.so.9.10.2").unlink()


def _loop(folder: Path) -> None:
    link(folder / "libcudnn_ops.so.9", "libcudnn_ops.so.9")


def _other_major(folder: Path) -> None:
    (folder / "libcudnn.so.8.9.7").write_bytes(part_bytes("", "8.9.7"))
    link(folder / "libcudnn.so.9", "libcudnn.so.8.9.7")


def _other_library(folder: Path) -> None:
    link(folder / "libcudnn_ops.so.9", "libcudnn_cnn.so.9.10.2")


def _stub_elsewhere(folder: Path) -> None:
    (folder / "libcudnn.so.9.5.1").write_bytes(part_bytes("", "9.5.1"))
    link(folder / "libcudnn.so", "libcudnn.so.9.5.1")


def _no_link(folder: Path) -> None:
    (folder / "libcudnn_ops.so.9").unlink()
    (folder / "libcudnn_ops.so").unlink()


def _nothing(folder: Path) -> None:
    pass


@pytest.mark.parametrize(
    ("spoil", "name", "why"),
    [
        (_nothing, "", ""),
        (_dangling, "libcudnn_ops.so", "no such file"),
        (_dangling, "libcudnn_ops.so.9", "no such file"),
        (_loop, "libcudnn_ops.so", "loop"),
        (_other_major, "libcudnn.so.9", "leads to a library of another release: libcudnn.so.8.9.7"),
        (_other_library, "libcudnn_ops.so", "leads to another library: libcudnn_cnn.so.9.10.2"),
        (_stub_elsewhere, "libcudnn.so", "while libcudnn.so.9 leads to libcudnn.so.9.10.2"),
        (_no_link, "libcudnn_ops.so.9", "no such link, though libcudnn_ops.so.9.10.2 is there"),
    ],
)
def test_links(tmp_path: Path, spoil: Callable[[Path], None], name: str, why: str) -> None:
    folder = copy_of(tmp_path / "opt/lib", chain=True)
    spoil(folder)
    found = [one for copy in at(tmp_path, LD_LIBRARY_PATH="/opt/lib") for one in copy.broken_links.get()]
    if not name:
        assert found == []
        return
    assert any(one.path == f"/opt/lib/{name}" and why in one.why for one in found), found


def test_a_store_of_links_is_not_broken(tmp_path: Path) -> None:
    copy_of(tmp_path / "opt/lib", parts=())
    (tmp_path / "store").mkdir()
    for part in ("", "graph"):
        (tmp_path / f"store/blob{part}").write_bytes(part_bytes(part, "9.10.2"))
        link(tmp_path / f"opt/lib/libcudnn{'_' * bool(part)}{part}.so.9", f"/store/blob{part}")
    copy = only(at(tmp_path, LD_LIBRARY_PATH="/opt/lib"))
    assert copy.broken_links.get() == ()
    assert versions_of(copy) == {"libcudnn.so.9": "unseen", "libcudnn_graph.so.9": "9.10.2"}


def test_places_that_variables_name(tmp_path: Path) -> None:
    copy_of(tmp_path / "a/lib", "9.10.2")
    copy_of(tmp_path / "b", "8.9.7")
    link(tmp_path / "c", "/b")
    copies = at(tmp_path, CUDNN_PATH="/a", LD_LIBRARY_PATH="/nowhere:/c:/b:/a/lib")
    assert [(one.path, text(one.version), one.search_rank.get()) for one in copies] == [
        ("/a/lib", "9.10.2", 3),
        ("/b", "8.9.7", 1),
    ]


@pytest.mark.parametrize("version", ["7.6.5.32", "7.1.2.21"])
def test_a_single_library_without_symbol_says_its_release_in_a_text(tmp_path: Path, version: str) -> None:
    copy_of(tmp_path / "opt/lib", version)
    copy = only(at(tmp_path, LD_LIBRARY_PATH="/opt/lib"))
    assert copy.version == Seen(copy.version.get(), "text in the library")
    assert text(copy.version) == version
    assert [part.name for part in copy.parts.get()] == ["libcudnn.so.7"]


@pytest.mark.parametrize(("mode", "readable"), [(0o644, True), (0o640, False), (0o755, True)])
def test_on_an_image_the_mode_says_who_may_read(tmp_path: Path, mode: int, readable: bool) -> None:
    folder = copy_of(tmp_path / "opt/lib", parts=("graph",))
    (folder / "libcudnn_graph.so.9").chmod(mode)
    copy = only(at(tmp_path, LD_LIBRARY_PATH="/opt/lib"))
    assert [part.readable for part in copy.parts.get()] == [readable]


def test_windows(tmp_path: Path) -> None:
    (tmp_path / "Windows/System32").mkdir(parents=True)
    root = tmp_path / "Program Files/NVIDIA/CUDNN/v9.10"
    dlls_of(root / "bin/12.9")
    header_of(root / "include/12.9", "9.10.2")
    dlls_of(tmp_path / "Program Files/NVIDIA GPU Computing Toolkit/CUDA/v11.8/bin", "8.9.7")
    older, newer = sorted(at(tmp_path), key=lambda one: text(one.version))
    assert (text(older.version), older.origin, len(older.parts.get())) == ("8.9.7", "toolkit", 7)
    assert (text(newer.version), text(newer.header_version), newer.origin) == ("9.10.2", "9.10.2", "windows")
    assert newer.path == "C:/Program Files/NVIDIA/CUDNN/v9.10/bin/12.9"
    assert newer.cuda_major == Seen(12, Place(newer.path))
    assert isinstance(older.cuda_major, Unseen)
    assert newer.parts.get()[0].name == "cudnn64_9.dll"
    assert isinstance(newer.companions, Unseen)
    (tmp_path / "Windows/System32/zlibwapi.dll").write_bytes(b"")
    assert {one.companions.get() for one in at(tmp_path)} == {("zlibwapi.dll",)}


@pytest.mark.parametrize(("beside", "in_system", "found"), [("i386", "", ()), ("i386", "x86_64", ("zlibwapi.dll",))])
def test_a_zlib_of_32_bits_is_passed_over(tmp_path: Path, beside: str, in_system: str, found: tuple[str, ...]) -> None:
    folder = tmp_path / "Program Files/NVIDIA GPU Computing Toolkit/CUDA/v11.8/bin"
    dlls_of(folder, "8.9.2")
    system = tmp_path / "Windows/System32"
    system.mkdir(parents=True)
    (folder / "zlibwapi.dll").write_bytes(pe_bytes("zlibwapi.dll", machine=beside))
    if in_system:
        (system / "zlibwapi.dll").write_bytes(pe_bytes("zlibwapi.dll", machine=in_system))
    copy = only(at(tmp_path, PATH="C:\\Windows"))
    assert copy.companions.get() == found
    assert copy.foreign_companion.endswith("v11.8/bin/zlibwapi.dll")


def test_hostile_trees_end_in_facts(tmp_path: Path) -> None:
    folder = tmp_path / "opt/lib"
    folder.mkdir(parents=True)
    (folder / "libcudnn.so.9").write_bytes(b"\x7fELF" + b"\xff" * 500)
    os.mkfifo(folder / "libcudnn_graph.so.9")
    (folder / "libcudnn_ops.so.9").mkdir()
    link(folder / "libcudnn_cnn.so.9", "libcudnn_cnn.so.9")
    for number in range(500):
        (folder / f"libcudnn_x{number:03}.so.9").touch()
    header_of(folder, "9.1.0").write_bytes(b"#define CUDNN_MAJOR 9999999999999999\n\xff\xfe" * 100)
    copies = at(tmp_path, LD_LIBRARY_PATH="/opt/lib")
    copy = only(tuple(one for one in copies if one.parts.get()))
    assert isinstance(copy.version, Unseen)
    assert "/opt/lib/libcudnn_graph.so.9" in copy.damaged.get()
    assert len(copy.parts.get()) < 250


def test_an_empty_root_has_none(tmp_path: Path) -> None:
    assert at(tmp_path) == ()


def test_the_live_machine_ends_in_facts() -> None:
    assert isinstance(look(LiveHost()), tuple)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("libcudnn.so", ("", (), "libcudnn.so", None)),
        ("libcudnn.so.9", ("", (9,), "libcudnn.so.9", 9)),
        ("libcudnn_ops_infer.so.8.9.7", ("ops_infer", (8, 9, 7), "libcudnn_ops_infer.so.8", 8)),
        ("libcudnn-7a90c13f.so.7.6.5", ("", (7, 6, 5), "libcudnn-7a90c13f.so.7.6.5", 7)),
        ("libcudnn.so.7.0.64", ("", (7, 0, 64), "libcudnn.so.7.0", 3)),
        ("libcudnn.so.6.5", ("", (6, 5), "libcudnn.so.6.5", 2)),
        ("libcudnn.so.7.0.5", ("", (7, 0, 5), "libcudnn.so.7", 7)),
        ("cudnn64_9.dll", ("", (9,), "cudnn64_9.dll", 9)),
        ("cudnn_ops_infer64_8.dll", ("ops_infer", (8,), "cudnn_ops_infer64_8.dll", 8)),
        ("CUDNN64_70.DLL", ("", (70,), "CUDNN64_70.DLL", 3)),
    ],
)
def test_names(name: str, expected: tuple[str, tuple[int, ...], str, int | None]) -> None:
    parsed = parse_name(name)
    assert parsed is not None
    assert (parsed.kind, parsed.numbers, parsed.asked_as, parsed.major) == expected


@pytest.mark.parametrize(
    "name", ["libcudnn_static.a", "libcudnn.so.x", "libcudnnfoo.so.9", "libcudnn.so.9~", "cudnn.h", "cudnn.dll", ""]
)
def test_other_names(name: str) -> None:
    assert parse_name(name) is None


def _real_wheel(tmp_path: Path, requirement: str, python: str = "3.11", only_under: tuple[str, ...] = ()) -> Path:
    site = tmp_path / SITE[1:]
    site.mkdir(parents=True)
    return unpack(fetch(requirement, python=python), site, only_under)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "version", "parts", "cuda"),
    [
        ("nvidia-cudnn-cu12", "9.10.2.21", 8, 12),
        ("nvidia-cudnn-cu13", "9.13.0.50", 8, 13),
        ("nvidia-cudnn-cu12", "8.9.7.29", 7, 12),
    ],
)
def test_a_real_wheel(tmp_path: Path, name: str, version: str, parts: int, cuda: int) -> None:
    site = _real_wheel(tmp_path, f"{name}=={version}")
    installed = environment((name, version))
    copy = only(at(tmp_path, installed))
    assert copy.how_versions == (
        ("header", version.rpartition(".")[0]),
        ("symbol", version.rpartition(".")[0]),
        ("package", version),
    )
    assert (len(copy.parts.get()), copy.cuda_major.get(), copy.owner) == (parts, cuda, f"{name} {version}")
    assert (copy.missing.get(), copy.damaged.get(), copy.broken_links.get()) == ((), (), ())
    victim = sorted((site / "nvidia/cudnn/lib").glob("libcudnn_ops*.so.*"))[0]
    victim.unlink()
    assert [path.rpartition("/")[2] for path in only(at(tmp_path, installed)).missing.get()] == [victim.name]


@pytest.mark.slow
def test_real_parts_of_two_releases(tmp_path: Path) -> None:
    site = _real_wheel(tmp_path, "nvidia-cudnn-cu12==9.10.2.21")
    ops = "nvidia/cudnn/lib/libcudnn_ops.so.9"
    other = unpack(fetch("nvidia-cudnn-cu13==9.13.0.50"), tmp_path / "other", (ops,))
    shutil.copy(other / ops, site / ops)
    copy = only(at(tmp_path, environment(CU12)))
    seen = versions_of(copy)
    assert (seen["libcudnn_graph.so.9"], seen["libcudnn_ops.so.9"]) == ("9.10.2", "9.13.0")
    assert copy.damaged.get() == (f"{LIBRARIES}/libcudnn_ops.so.9",)


@pytest.mark.slow
def test_the_cudnn_7_that_cupy_brought_along(tmp_path: Path) -> None:
    _real_wheel(tmp_path, "cupy-cuda101==7.8.0", "3.7", ("cupy/.data/", "cupy_cuda101-7.8.0.dist-info/"))
    nothing = Unseen("test")
    cupy = Framework(
        package="cupy-cuda101",
        version="7.8.0",
        path=f"{SITE}/cupy",
        build=Seen("cu101", "test"),
        cuda=Seen(CudaVersion(10, 1), "test"),
        cudnn=nothing,
        targets=nothing,
        requires=nothing,
        environment="/venv",
        note="",
    )
    copy = only(at(tmp_path, environment(("cupy-cuda101", "7.8.0"), frameworks=(cupy,))))
    assert (copy.origin, copy.owner, copy.cuda_major.get()) == ("framework", "cupy-cuda101 7.8.0", 10)
    assert copy.how_versions == (("header", "7.6.5"), ("text in the library", "7.6.5.32"))
    assert (text(copy.version), text(copy.header_version)) == ("7.6.5.32", "7.6.5")
    assert (copy.missing.get(), copy.damaged.get()) == ((), ())


@pytest.mark.slow
def test_real_dlls(tmp_path: Path) -> None:
    (tmp_path / "Windows").mkdir()
    site = tmp_path / "venv/Lib/site-packages"
    unpack(fetch("nvidia-cudnn-cu12==9.10.2.21", platforms=WINDOWS), site)
    copy = only(at(tmp_path, environment(CU12, site="C:/venv/Lib/site-packages", kind="windows")))
    assert (copy.path, copy.origin) == ("C:/venv/Lib/site-packages/nvidia/cudnn/bin", "wheel")
    told = ("header", "symbol", "version resource")
    assert copy.how_versions == (*((how, "9.10.2") for how in told), ("package", "9.10.2.21"))
    assert (len(copy.parts.get()), copy.missing.get(), copy.damaged.get()) == (8, (), ())
    assert {part.machine.get() for part in copy.parts.get()} == {"x86_64"}
