"""needed-library-missing and wrong-machine-library: names that no library of CUDA answers to."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import (
    Advice,
    AssignVariable,
    ChangePackages,
    DropFromPath,
    GiveGpus,
    InstallDriver,
    InstallPackage,
    InstallSystemLibrary,
    Need,
    as_json,
)
from doctor.model.facts.environment import Incomplete
from doctor.model.facts.loader import Dll, DllNeeds, FoundBy, Outcome, Way
from doctor.model.finding import Status
from tests.machine import (
    SITE,
    VENV,
    driver,
    driver_library,
    environment,
    framework,
    loader,
    machine,
    prediction,
    seen,
    system,
    unseen,
)
from tests.rules.case import answer, answers

CODE, OTHER = "needed-library-missing", "wrong-machine-library"
CPU = f"{SITE}/torch/lib/libtorch_cpu.so"
CUBLAS = f"{SITE}/nvidia/cublas/lib/libcublas.so.12"
BY_VARIABLE = Way(FoundBy.LIBRARY_PATH, CPU, "/opt/x", "/opt/x", "~/.bashrc, line 3")


def lost(soname: str = "libgomp.so.1", **changes: Any) -> Any:
    """A name of others that torch asks for in vain."""
    return (
        prediction(
            soname=soname,
            intended=unseen(),
            way=None,
            outcome=Outcome.MISSING,
            library=CPU,
            is_cuda=False,
        )
        ._replace(path=unseen(", but the loader does not find it"))
        ._replace(**changes)
    )


def on(*told: Any, **changes: Any) -> Any:
    return machine(loader=loader(predictions=seen((prediction(), *told))), **changes)


NOT_FOLLOWED = lost("", outcome=Outcome.UNREAD, is_cuda=True)


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.OK),
        (on(lost()), Status.BAD),
        (on(lost(outcome=Outcome.DAMAGED, damaged="/opt/x/libgomp.so.1")), Status.BAD),
        (on(lost(optional=True)), Status.OK),
        (on(lost("libcublas.so.12", is_cuda=True)), Status.OK),  # another finding
        (on(lost("libcuda.so.1"), driver=driver(libraries=seen(()))), Status.OK),  # no driver: other rules, or no GPU
        (on(lost("libcuda.so.1"), driver=driver(libraries=unseen())), Status.OK),
        (on(lost("libcuda.so.1")), Status.BAD),  # every other program finds it
        (on(lost("libcuda.so.1"), lost(), driver=driver(libraries=seen(()))), Status.BAD),
        (on(NOT_FOLLOWED), Status.UNKNOWN),
        (on(NOT_FOLLOWED, lost()), Status.BAD),
        (machine(loader=loader(predictions=unseen())), Status.UNKNOWN),
        (machine(loader=loader(predictions=seen(()))), Status.NOT_APPLICABLE),
        (on(lost(), system=system(family=seen("windows"))), Status.NOT_APPLICABLE),
    ],
)
def test_kinds(facts: Any, kind: Status) -> None:
    assert answer(CODE, facts).kind is kind


@pytest.mark.parametrize(
    ("one", "need"),
    [
        (lost(), InstallSystemLibrary("libgomp.so.1")),
        (
            lost("libdl.so.2"),
            Advice("Install the system package with libdl.so.2: no Python package has it."),
        ),
        (
            lost(outcome=Outcome.DAMAGED, damaged="/usr/lib/libgomp.so.1"),
            InstallSystemLibrary("libgomp.so.1", True),
        ),
        (
            lost(outcome=Outcome.DAMAGED, damaged="/opt/x/libgomp.so.1", way=BY_VARIABLE),
            DropFromPath("LD_LIBRARY_PATH", "/opt/x", "~/.bashrc, line 3"),
        ),
    ],
)
def test_what_brings_it(one: Any, need: Need) -> None:
    assert answer(CODE, on(one)).needs == (need,)


NIXS = driver_library(path="/run/opengl-driver/lib/libcuda.so.580.95.05", loads=False)
WSLS = driver_library(path="/usr/lib/wsl/lib/libcuda.so.1", origin="wsl", loads=False)
TEGRA = "/usr/lib/aarch64-linux-gnu/tegra"
TEGRAS = driver_library(path=f"{TEGRA}/libcuda.so.1.1", loads=False)
NONE = driver(libraries=seen(()))
STARTED_WITHOUT = Advice("Start the container again with --runtime nvidia.")
IN_DOCKER = system(container=seen("docker"))


@pytest.mark.parametrize(
    ("soname", "libraries", "where", "need"),
    [
        ("libcuda.so.1", (NIXS,), system(), AssignVariable("LD_LIBRARY_PATH", "/run/opengl-driver/lib")),
        (
            "libcuda.so.1",
            (WSLS,),
            system(container=seen("docker"), wsl=seen(2)),
            AssignVariable("LD_LIBRARY_PATH", "/usr/lib/wsl/lib"),
        ),
        ("libcuda.so.1", (WSLS,), system(wsl=seen(2)), None),  # a rule of its own
        ("libcuda.so.1", (driver_library(loads=False),), system(), None),
        ("libnvidia-ml.so.1", (driver_library(),), system(), InstallDriver("==580.95.05")),
        ("libnvidia-ml.so.1", (driver_library(),), IN_DOCKER, GiveGpus("docker")),
        ("libnvidia-ml.so.1", (), IN_DOCKER, None),
        ("libcuda.so.1", (), system(jetson=seen("Orin"), container=seen("docker")), STARTED_WITHOUT),
        ("libcuda.so.1", (TEGRAS,), system(jetson=seen("Orin")), AssignVariable("LD_LIBRARY_PATH", TEGRA)),
    ],
)
def test_what_no_rule_of_the_driver_is_about_is_told(
    soname: str, libraries: Any, where: Any, need: Need | None
) -> None:
    found = answer(CODE, on(lost(soname), driver=driver(libraries=seen(libraries)), system=where))
    assert (found.kind, found.needs) == ((Status.BAD, (need,)) if need else (Status.OK, ()))


def test_a_damaged_one_of_the_driver_comes_with_the_driver() -> None:
    one = lost("libcuda.so.1", outcome=Outcome.DAMAGED, damaged="/usr/lib/x86_64-linux-gnu/libcuda.so.1")
    assert answer(CODE, on(one)).needs == (InstallDriver("==580.95.05"),)


def test_nvmls_library_is_not_sought_where_only_libcuda_lies() -> None:
    facts = on(lost("libnvidia-ml.so.1"), driver=driver(libraries=seen((TEGRAS._replace(loads=True),))))
    (need,) = answer(CODE, facts._replace(system=system(jetson=seen("Orin")))).needs
    assert "nvidia-l4t-*" in as_json(need).spec


def test_a_jetson_without_libcuda_has_no_other_rule() -> None:
    (need,) = answer(CODE, on(lost("libcuda.so.1"), driver=NONE, system=system(jetson=seen("Orin")))).needs
    assert "nvidia-l4t-*" in as_json(need).spec


def test_without_a_gpu_no_driver_is_missed() -> None:
    facts = on(lost("libcuda.so.1"), driver=driver(libraries=seen((NIXS,)), nvml=unseen()), pci=seen(()), gpus=seen(()))
    assert answer(CODE, facts).kind is Status.OK


def test_a_libcuda_that_other_programs_find_needs_no_package() -> None:
    (need,) = answer(CODE, on(lost("libcuda.so.1"))).needs
    assert as_json(need).product == "by-hand"
    assert "to /usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05" in as_json(need).spec


def test_no_wheel_brings_glibc_to_alpine() -> None:
    alpine = system(distribution_id=seen("alpine"), glibc=unseen())
    nothing_listed = seen((environment(framework())._replace(incomplete=unseen()),))
    for soname, product in (("libpthread.so.0", "by-hand"), ("libc10.so", "torch")):
        needs = answer(CODE, on(lost(soname), system=alpine, environments=nothing_listed)).needs
        assert [as_json(one).product for one in needs] == [product]


@pytest.mark.parametrize("incomplete", [unseen(), seen((Incomplete("torch", "2.9.1", ("torch/lib/libc10.so",), ()),))])
def test_a_library_of_its_own_comes_with_it_anew(incomplete: Any) -> None:
    facts = on(lost("libc10.so"), environments=seen((environment(framework())._replace(incomplete=incomplete),)))
    assert answer(CODE, facts).needs == (InstallPackage("torch", "==2.9.1", f"{VENV}/bin/python", "cu128"),)


def test_a_wheel_that_is_pinned_and_not_there_brings_it() -> None:
    torch = framework(requires=seen(("nvidia-cufile-cu12==1.13.1.3", "nvidia-cudnn-cu12==9.10.2.21")))
    found = answer(CODE, on(lost("libcufile.so.0"), environments=seen((environment(torch),))))
    assert found.needs[0] == ChangePackages(("nvidia-cufile-cu12==1.13.1.3",), f"{VENV}/bin/python")
    assert as_json(found.needs[1]).product == "torch"


def test_what_a_companion_needs_by_the_libraries_of_its_base_is_told_once() -> None:
    vision = framework("torchvision", "0.24.1", path=f"{SITE}/torchvision")
    by_torch = lost("libcufile.so.0")._replace(asker="torchvision")
    by_itself = by_torch._replace(library=f"{SITE}/torchvision/_C.so")
    for told, kind in ((by_torch, Status.NOT_APPLICABLE), (by_itself, Status.BAD)):
        facts = on(told, environments=seen((environment(framework(), vision),)))
        assert next(one.kind for one in answers(CODE, facts) if one.subject == vision.label) is kind


FOREIGN = lost("libcublas.so.12", is_cuda=True, intended=seen(CUBLAS), foreign=CUBLAS)
STRAY = lost("libcublas.so.12", is_cuda=True, foreign="/opt/x/libcublas.so.12")


_DLL = f"{SITE}/torch/lib/cudart64_12.dll"


def on_windows(dlls: Any = None, **changes: Any) -> Any:
    """A Windows with the one DLL that torch needs."""
    one = Dll("cudart64_12.dll", f"{SITE}/torch/lib/torch_cuda.dll", _DLL, ())._replace(**changes)
    needs = DllNeeds(VENV, "torch", dlls or seen((one,)))
    return machine(system=system(family=seen("windows")), dlls=seen((needs,)))


def test_a_dll_of_torch_s_own_comes_with_it_anew() -> None:
    found = answer(OTHER, on_windows(found="", foreign=_DLL))
    assert found.needs == (InstallPackage("torch", "==2.9.1", f"{VENV}/bin/python", "cu128"),)
    assert "error 193" in found.why
    strange = answer(OTHER, on_windows(found="", foreign="C:/Windows/System32/cudart64_12.dll"))
    assert as_json(strange.needs[0]).product == "by-hand"


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.OK),
        (on(FOREIGN), Status.BAD),
        (on(lost("libtorch.so", foreign=f"{SITE}/torch/lib/libtorch.so")), Status.BAD),
        (on(STRAY), Status.OK),  # it is the missing one that matters
        (on(NOT_FOLLOWED), Status.UNKNOWN),
        (machine(loader=loader(predictions=seen(()))), Status.NOT_APPLICABLE),
        (on_windows(), Status.OK),
        (on_windows(found="", foreign=_DLL), Status.BAD),
        (on_windows(found="", foreign=_DLL, elsewhere=("C:/other/cudart64_12.dll",)), Status.OK),  # windows-dll-path
        (on_windows(dlls=unseen("PATH is not known")), Status.UNKNOWN),
    ],
)
def test_kinds_of_machine(facts: Any, kind: Status) -> None:
    assert answer(OTHER, facts).kind is kind


def test_the_framework_or_its_wheel_anew() -> None:
    own = lost("libtorch.so", foreign=f"{SITE}/torch/lib/libtorch.so")
    assert answer(OTHER, on(own)).needs == (InstallPackage("torch", "==2.9.1", f"{VENV}/bin/python", "cu128"),)
    assert "nvidia-cublas-cu12" in as_json(answer(OTHER, on(FOREIGN)).needs[0]).spec
    assert framework().label in answer(OTHER, on(FOREIGN)).why


def test_a_library_that_a_variable_puts_first_may_be_too_old() -> None:
    """conda's libstdc++ on LD_LIBRARY_PATH, and a torch that needs a newer one."""
    path = "/opt/x/libstdc++.so.6"
    one = lost("libstdc++.so.6", outcome=Outcome.DAMAGED, damaged=path, way=BY_VARIABLE)
    found = answer(CODE, on(one._replace(lacks_version="GLIBCXX_3.4.30")))
    assert found.why == (
        f"torch 2.9.1+cu128 cannot be imported: libstdc++.so.6 is too old: {path} has no GLIBCXX_3.4.30"
    )
    assert found.needs == (DropFromPath("LD_LIBRARY_PATH", "/opt/x", "~/.bashrc, line 3"),)


@pytest.mark.parametrize("has_torch", [True, False])
def test_what_a_follower_runs_on_comes_before_a_package_of_the_system(*, has_torch: bool) -> None:
    """A killed pip left torch's directory without a dist-info: torchvision misses libc10.so, which no system has."""
    rider = framework("torchvision", "0.24.1+cu128", requires=seen(("torch==2.9.1",)))
    told = lost("libc10.so", library=f"{SITE}/torchvision/_C.so")._replace(asker="torchvision")
    there = environment(rider, *([framework()] if has_torch else []))
    facts = machine(environments=seen((there,)), loader=loader(predictions=seen((told,))))
    found = next(one for one in answers(CODE, facts) if one.subject == rider.label)
    torch = InstallPackage("torch", "==2.9.1", f"{VENV}/bin/python", "cu128")
    assert (found.needs == (torch,)) is not has_torch
