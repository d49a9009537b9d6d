"""What a process has and gets, by the rules of glibc's own sources: search paths, failures, repairs, aborts."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.binaries import elf
from doctor.host.root import RootHost
from doctor.loader.process import CannotOpen, Process
from doctor.loader.search import Search
from doctor.loader.simulate import simulate
from doctor.loader.steps import Step, run
from doctor.model.facts.loader import Outcome
from doctor.model.facts.seen import Seen
from doctor.probes import loader
from tests.lab.cudnn_tree import copy_of, wheel_of
from tests.lab.elf_file import elf_bytes
from tests.loader.test_predictions import SITE, asker, default_directories, ends, environment, framework, look
from tests.loader.test_search import facts, lay


def process(root: Path) -> Process:
    """Nothing is searched but what libraries name themselves."""
    host = RootHost(str(root))
    return Process(host, Search(host, facts()), "x86_64")


@pytest.mark.parametrize(("runpath", "found"), [("", True), ("/nowhere", False)])
def test_an_rpath_beside_a_runpath_does_not_count_for_what_it_loads_either(
    tmp_path: Path, runpath: str, found: bool
) -> None:
    """`elf/get-dynamic-info.h`: "If both RUNPATH and RPATH are given, the latter is ignored"."""
    lay(tmp_path / "a/liba.so", elf_bytes("liba.so", needed=("/a/libb.so",), rpath="/r", runpath=runpath))
    lay(tmp_path / "a/libb.so", elf_bytes("libb.so", needed=("libc.so.9",)))
    lay(tmp_path / "r/libc.so.9")
    one = process(tmp_path)
    if found:
        one.open("/a/liba.so", None)
    else:
        with pytest.raises(CannotOpen, match=r"libc\.so\.9"):
            one.open("/a/liba.so", None)
    assert one.has("libc.so.9") is found


@pytest.mark.parametrize(("name", "found"), [("/p/libp.so", False), ("libp.so", True)])
def test_who_opens_a_path_lends_no_rpath(tmp_path: Path, name: str, found: bool) -> None:
    """Seen with glibc 2.36: a library opened by its path has no loader; one opened by its name has."""
    lay(tmp_path / "a/liba.so", elf_bytes("liba.so", rpath="/p:/q"))
    lay(tmp_path / "p/libp.so", elf_bytes("libp.so", needed=("libq.so",)))
    lay(tmp_path / "q/libq.so")
    one = process(tmp_path)
    caller = one.open("/a/liba.so", None)
    if found:
        one.open(name, caller)
    else:
        with pytest.raises(CannotOpen, match=r"libq\.so"):
            one.open(name, caller)
    assert one.has("libp.so") is one.has("libq.so") is found


def test_what_whoever_asks_goes_on_without_is_no_request(tmp_path: Path) -> None:
    one = process(tmp_path)
    for name in ("libsome.so", "libother.so"):
        with pytest.raises(CannotOpen):
            one.open(name, None)
    one.asked[0].optional = True
    assert [each.name for each in one.requests()] == ["libother.so"]


REPAIR = Step(("/b/liby.so",), "torch opens it by its path", on_failure=True)


@pytest.mark.parametrize(("repairs", "failures"), [((), 1), ((REPAIR,), 1), ((REPAIR._replace(opens=()),), 2)])
def test_a_repair_lets_the_failed_step_succeed(tmp_path: Path, repairs: tuple[Step, ...], failures: int) -> None:
    """`_dl_map_object`: a name that a loaded library has as its SONAME is not searched for."""
    lay(tmp_path / "a/libx.so", elf_bytes("libx.so", needed=("liby.so",)))
    lay(tmp_path / "b/liby.so")
    one = process(tmp_path)
    taken = run(one, (Step(("/a/libx.so",), "import", repaired=True), *repairs))
    assert [bool(each.failure) for each in taken].count(True) == failures
    assert one.has("libx.so") is (repairs == (REPAIR,))


@pytest.mark.parametrize(("repairs", "taken"), [((), True), ((REPAIR,), False)])
def test_what_follows_a_first_success_does_not_follow_a_repair(
    tmp_path: Path, repairs: tuple[Step, ...], taken: bool
) -> None:
    """torch/__init__.py opens NVRTC's built-ins in the `try`, and other libraries where that fails."""
    lay(tmp_path / "a/libx.so", elf_bytes("libx.so", needed=("liby.so",) if repairs else ()))
    lay(tmp_path / "b/liby.so")
    lay(tmp_path / "b/libz.so")
    one = process(tmp_path)
    more = Step(("/b/libz.so",), "import", unless_repaired=True)
    run(one, (Step(("/a/libx.so",), "import", repaired=True), *repairs, more))
    assert one.has("libx.so")
    assert one.has("libz.so") is taken


@pytest.mark.parametrize("needed", [True, False])
def test_an_import_ends_with_a_step_that_it_needs(tmp_path: Path, needed: bool) -> None:
    lay(tmp_path / "b/liby.so")
    one = process(tmp_path)
    run(one, (Step(("/gone.so",), "import", needed=needed), Step(("/b/liby.so",), "import")))
    assert one.has("liby.so") is not needed


@pytest.mark.parametrize(
    ("release", "driver", "aborts"), [("8.5.0", "", True), ("8.9.7", "", False), ("8.5.0", "libcuda.so", False)]
)
def test_cudnn_8_5_aborts_without_the_name_for_linkers(tmp_path: Path, release: str, driver: str, aborts: bool) -> None:
    asker(tmp_path, "torch/lib/libtorch_global_deps.so", needed="libcudnn.so.8", rpath="/opt/lib")
    copy_of(tmp_path / "opt/lib", release)
    if driver:
        default_directories(tmp_path)
        lay(tmp_path / "usr/lib/x86_64-linux-gnu" / driver)
    host = RootHost(str(tmp_path))
    torch = framework(pin="")
    told = simulate(host, loader.look(host), environment(torch), torch)
    assert ("the process aborts: libcuda.so" in told.failure) is aborts


def test_from_what_could_not_be_read_on_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asker(tmp_path, "torch/lib/libtorch_global_deps.so", rpath="/opt/lib")
    lay(tmp_path / "opt/lib/libcudnn.so.9", elf_bytes("libcudnn.so.9", runpath="/a" * 5000))
    monkeypatch.setattr(elf, "_NAME_AT_MOST_BYTES", 1000)
    found = look(RootHost(str(tmp_path)), environment(framework()))
    assert [(one.soname, one.outcome) for one in found] == [("libcudnn.so.9", Outcome.UNREAD), ("", Outcome.UNREAD)]


def test_the_first_site_directory_that_has_a_wheel_is_meant(tmp_path: Path) -> None:
    default = "/usr/lib/python3/dist-packages"
    asker(tmp_path, "torch/lib/libtorch_global_deps.so", rpath="/nowhere")
    for site in (SITE, default):
        wheel_of(tmp_path / site[1:])
    one = environment(framework())
    found = look(RootHost(str(tmp_path)), one._replace(sites=Seen((SITE, default), "test")))
    assert {value.value for each in found if isinstance(value := each.intended, Seen)} <= {
        f"{SITE}/nvidia/cudnn/lib/{each.soname}" for each in found
    }
    assert any(isinstance(each.intended, Seen) for each in found)


def test_a_library_is_told_of_once_whatever_it_calls_itself(tmp_path: Path) -> None:
    """The name that is asked for is a link to a file with a longer SONAME; TensorFlow's other names are not found."""
    asker(tmp_path, "tensorflow/libtensorflow_framework.so.2", needed="libcudart.so.12", runpath="/opt/lib")
    lay(tmp_path / "opt/lib/libcudart.so.12", elf_bytes("libcudart.so.12.8"))
    found = look(RootHost(str(tmp_path)), environment(framework("tensorflow", pin="")))
    told = [(one.soname, ends(one)) for one in found if one.soname.startswith("libcudart")]
    assert told == [("libcudart.so.12.8", "/opt/lib/libcudart.so.12")]
