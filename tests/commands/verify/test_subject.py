"""Which copies are put to the test: those that frameworks load, the first of the search, or those that are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.commands.verify.contents import changed
from doctor.commands.verify.copies import gpus_of
from doctor.commands.verify.subject import named, predicted
from doctor.host import BadRequest
from doctor.host.live import LiveHost
from doctor.host.root import RootHost
from doctor.model.facts import Facts
from doctor.model.facts.seen import Seen
from doctor.probes import ProbeRequest, look
from tests.lab.cudnn_tree import copy_of, wheel_of
from tests.machine import (
    CUDNN_DIR,
    VENV,
    configuration,
    cudnn_copy,
    environment,
    framework,
    gpu,
    loader,
    machine,
    prediction,
    seen,
    unseen,
)

FIRST, SECOND = "/opt/first/lib", "/opt/second/lib"
ON_PATH = (
    cudnn_copy("9.5.1", SECOND, origin="directory", owner="", environment="", search_rank=seen(2)),
    cudnn_copy("9.8.0", FIRST, origin="directory", owner="", environment="", search_rank=seen(0)),
)
NO_FRAMEWORK = (environment(frameworks=seen(())),)
SHADOWED = (prediction(), prediction(f"{FIRST}/libcudnn_graph.so.9", soname="libcudnn_graph.so.9"))


@pytest.mark.parametrize(
    ("facts", "directories", "frameworks"),
    [
        (machine(), [CUDNN_DIR], ("torch 2.9.1+cu128",)),
        # what computes is a part: the copy that brings it is the one to try
        (
            machine(cudnn=seen((cudnn_copy(), *ON_PATH)), loader=loader(predictions=seen(SHADOWED))),
            [FIRST],
            ("torch 2.9.1+cu128",),
        ),
        (machine(cudnn=seen(ON_PATH), environments=seen(NO_FRAMEWORK)), [FIRST], ()),
        (machine(environments=seen(NO_FRAMEWORK)), [CUDNN_DIR], ()),
        (machine(environments=seen(NO_FRAMEWORK), cudnn=seen(())), [], ()),
        (machine(environments=unseen(), cudnn=unseen()), [], ()),
    ],
)
def test_without_a_name_it_is_the_one_that_is_loaded(
    facts: Facts, directories: list[str], frameworks: tuple[str, ...], tmp_path: Path
) -> None:
    chosen = predicted(RootHost(str(tmp_path)), facts)
    assert [one.copy.path for one in chosen.subjects] == directories
    assert all(one.frameworks == frameworks and one.why for one in chosen.subjects)
    assert all(one.library == f"{one.copy.path}/libcudnn.so.9" for one in chosen.subjects)


def test_two_frameworks_that_load_one_copy_are_one_trial(tmp_path: Path) -> None:
    tensorflow = framework("tensorflow", "2.20.0", requires=seen(()))
    both = machine(
        environments=seen((environment(framework(), tensorflow),)),
        loader=loader(predictions=seen((prediction(), prediction(asker="tensorflow")))),
    )
    (subject,) = predicted(RootHost(str(tmp_path)), both).subjects
    assert subject.frameworks == ("torch 2.9.1+cu128", "tensorflow 2.20.0")
    (subject,) = predicted(RootHost(str(tmp_path)), both, ("tensorflow",)).subjects
    assert subject.frameworks == ("tensorflow 2.20.0",)


def test_what_cannot_be_told_is_told(tmp_path: Path) -> None:
    unknown = machine(loader=loader(predictions=seen((prediction(path=unseen("no interpreter")),))), cudnn=seen(()))
    (unknown_one,) = predicted(RootHost(str(tmp_path)), _without_path(unknown)).unknown
    assert unknown_one[0] == "torch 2.9.1+cu128"
    assert "which cuDNN torch 2.9.1+cu128 loads" in unknown_one[1]


def _without_path(facts: Facts) -> Facts:
    found = tuple(one._replace(path=unseen("no interpreter")) for one in facts.loader.predictions.get())
    return facts._replace(loader=facts.loader._replace(predictions=Seen(found, "test")))


@pytest.fixture(scope="module")
def facts() -> Facts:
    return look(LiveHost({"PATH": ""}), ProbeRequest())


@pytest.mark.parametrize("below", ["", "lib", "lib/libcudnn.so.9", "lib/libcudnn.so.9.10.2", "lib/libcudnn.so"])
def test_a_copy_is_named_by_a_directory_or_its_main_library(below: str, facts: Facts, tmp_path: Path) -> None:
    lib = copy_of(tmp_path / "cudnn/lib", chain=True)
    (subject,) = named((str(tmp_path / "cudnn" / below).rstrip("/"),), LiveHost(), facts).subjects
    assert subject.copy.path == str(lib)
    assert str(subject.copy.version.get()) == "9.10.2"
    wanted = below.rpartition("/")[2] if below.endswith(("9", "2")) else "libcudnn.so.9"
    assert subject.library == f"{lib}/{wanted}"


def test_two_majors_in_one_directory_are_two_copies(facts: Facts, tmp_path: Path) -> None:
    copy_of(copy_of(tmp_path / "lib", "8.9.7"), "9.10.2")
    subjects = named((str(tmp_path / "lib"),), LiveHost(), facts).subjects
    assert [one.library.rpartition(".")[2] for one in subjects] == ["8", "9"]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nowhere", "there is no such file or directory"),
        ("empty", "it has no cuDNN library"),
        ("lib/libcudnn_ops.so.9", "not the main library"),
        ("text", "not the main library"),
    ],
)
def test_a_name_that_is_none_is_refused(path: str, words: str, facts: Facts, tmp_path: Path) -> None:
    copy_of(tmp_path / "lib")
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").write_text("x")
    with pytest.raises(BadRequest, match=words):
        named((str(tmp_path / path),), LiveHost(), facts)


def test_a_wheel_that_is_named_knows_what_it_lists(facts: Facts, tmp_path: Path) -> None:
    lib = wheel_of(tmp_path / "site")
    (lib / "libcudnn_heuristic.so.9").unlink()
    (subject,) = named((str(lib),), LiveHost(), facts).subjects
    assert subject.copy.owner == "nvidia-cudnn-cu12 9.10.2.21"
    assert subject.copy.missing.get() == (f"{lib}/libcudnn_heuristic.so.9",)


def test_content_that_is_not_the_wheels(facts: Facts, tmp_path: Path) -> None:
    lib = wheel_of(tmp_path / "site")
    host = LiveHost()
    (subject,) = named((str(lib),), host, facts).subjects
    assert changed(subject.copy, host, every=True) == ()
    for name in ("libcudnn.so.9", "libcudnn_ops.so.9"):
        content = bytearray((lib / name).read_bytes())
        content[-1] ^= 1
        (lib / name).write_bytes(content)
    assert changed(subject.copy, host, every=False) == (f"{lib}/libcudnn.so.9",)
    assert set(changed(subject.copy, host, every=True)) == {f"{lib}/libcudnn.so.9", f"{lib}/libcudnn_ops.so.9"}


@pytest.mark.parametrize(
    ("level", "wanted", "changes", "gpus"),
    [
        ("conv", "0", {}, (0,)),
        ("conv", "3", {}, (3,)),
        ("load", "all", {}, (0,)),
        ("full", "all", {"gpus": seen((gpu(), gpu(number=1)))}, (0, 1)),
        ("full", "all", {"gpus": unseen()}, (0,)),
    ],
)
def test_which_gpus(level: str, wanted: str, changes: dict[str, object], gpus: tuple[int, ...]) -> None:
    assert gpus_of(level, wanted, machine(**changes)) == gpus


def test_visible_devices_count() -> None:
    from doctor.model.facts.environment import Variable

    four = seen(tuple(gpu(number=number) for number in range(4)))
    settings = configuration(variables=seen((Variable("CUDA_VISIBLE_DEVICES", "2,3", ""),)))
    assert gpus_of("conv", "all", machine(gpus=four, configuration=settings)) == (0, 1)


@pytest.mark.parametrize("wanted", ["-1", "one", "", "1.5", "99999", "²"])
def test_no_such_gpu(wanted: str) -> None:
    with pytest.raises(BadRequest, match="give a number, or all"):
        gpus_of("conv", wanted, machine())


def test_a_copy_of_the_environment_needs_no_framework(tmp_path: Path) -> None:
    facts = machine(environments=seen(NO_FRAMEWORK))
    (subject,) = predicted(RootHost(str(tmp_path)), facts).subjects
    assert VENV in subject.why
