"""`gpudoctor install NAME`: the build that is asked for is the one that is installed, or it is refused."""

from __future__ import annotations

import pytest

from compat.base.choice import NoSuchName
from compat.matrix import Matrix
from compat.need import as_json
from compat.solve.search import Problem, solve
from compat.spec import parse_spec
from compat.target import TargetMachine
from doctor.cli import execute
from doctor.commands.install.package_choice import PackageOrder, WrongPackage, package_plan
from doctor.commands.install.package_solve import NotSolved
from doctor.model.facts import Facts
from doctor.rules.shared.products import NoRows
from installers.plan import Target
from installers.steps.command import Command
from tests.installers import target as machines
from tests.machine import distribution, driver, environment, gpu, machine, seen

MATRIX = Matrix()
BARE = machines.UBUNTU._replace(python="python3", installed=frozenset(), cuda_major=0)
SERVED = f"--index-url {MATRIX.wheel_index('torch', 'cu128').url.rpartition('/')[0]}"


@pytest.mark.parametrize(
    ("name", "version", "cuda", "target", "expected"),
    [
        ("torch", "2.9.1", "12.8", BARE, "torch==2.9.1"),
        ("torch", "2.9.1", "12.8.1", BARE, "torch==2.9.1"),
        ("torch", "2.9.1+cu126", "", BARE, f"torch==2.9.1 {SERVED}/cu126"),
        ("torch", "2.9.1", "12", BARE, f"torch==2.9.1 {SERVED}/cu129"),
        ("torch", "2.9.1", "", BARE, "torch==2.9.1"),
        ("jax", "0.7.2", "12.8", BARE, "jax[cuda12]==0.7.2"),
        ("jax", "", "13.0", BARE, "jax[cuda13]"),
        ("tensorflow", "2.20.0", "12.5", BARE, "tensorflow[and-cuda]==2.20.0"),
        ("cupy", "", "12.8", BARE, "cupy-cuda12x"),
        ("cupy", "13.6.0", "12", BARE, "cupy-cuda12x==13.6.0"),
        ("paddlepaddle-gpu", "3.0.0", "12.6", BARE, "packages/stable/cu126/"),
    ],
)
def test_what_is_asked_for_is_installed(name: str, version: str, cuda: str, target: Target, expected: str) -> None:
    plan, need = package_plan(PackageOrder(name, version, cuda), target, None, MATRIX)
    (command,) = [" ".join(step.argv) for step in plan.steps if isinstance(step, Command)]
    assert command.endswith(expected)
    assert f"install {as_json(need).product}" in command
    assert "+" not in as_json(need).spec


@pytest.mark.parametrize(
    ("name", "version", "cuda", "said"),
    [
        ("torch", "2.9.1", "11.8", "torch 2.9.1 has no build for CUDA 11.8, only for 12.6, 12.8, 12.9, 13.0"),
        ("torch", "2.9.1+cu118", "", "has no build for CUDA"),
        ("torch", "", "99.9", "torch has no build for CUDA 99.9, only for 8.0, 9.0"),
        ("torch", "99.9", "12.8", "the CUDA of torch 99.9 is unknown: choose a known version, or omit --cuda-version"),
        ("tensorflow", "2.20.0", "11.8", "has no build for CUDA 11.8, only for >=12.5,<13"),
        ("tensorflow", "", "12.5", "is unknown: choose a known version, or omit --cuda-version"),
        ("jax", "0.4.30", "13.0", "jax 0.4.30 has no build for CUDA 13.0, only for 12"),
        ("torch", "99.9", "", "torch 99.9 is unknown for it; the newest known version is 2."),
        ("jax", "", "", "no version of jax is known to work there: "),
        ("cudn", "", "", "did you mean cudnn"),
        ("torchh", "", "", "did you mean torch"),
        ("anything-else", "", "", "no product 'anything-else'"),
        ("numpy", "", "12.8", "numpy has no data of its own"),
        ("torch", "abc", "", "'abc' is not a version"),
        ("torch==2.9.1", "", "", "as in gpudoctor install torch 2.9.1"),
        ("tor;ch", "", "", "is not a package name such as torch"),
        ("", "", "", "is not a package name such as torch"),
        ("by-hand", "", "", "no product 'by-hand'"),
        ("restart", "", "", "no product 'restart'"),
    ],
)
def test_what_nobody_built_is_refused(name: str, version: str, cuda: str, said: str) -> None:
    target = machines.WINDOWS if name == "jax" and not version else BARE
    with pytest.raises((WrongPackage, NoSuchName, NotSolved, NoRows)) as caught:
        package_plan(PackageOrder(name, version, cuda), target, None, MATRIX)
    assert said in str(caught.value)


@pytest.mark.parametrize(("name", "version"), [("torch", "99.9"), ("anything", "1.0"), ("demo", "")])
def test_any_takes_a_name_or_a_release_as_it_stands(name: str, version: str) -> None:
    plan, _ = package_plan(PackageOrder(name, version, any_name=True), BARE, None, MATRIX)
    (command,) = [" ".join(step.argv) for step in plan.steps if isinstance(step, Command)]
    assert command.endswith(f"install {name}" + (f"=={version}" if version else ""))


def workstation(release: str, capability: str) -> Facts:
    """A machine with that card and driver, and an empty environment."""
    return machine(
        driver=driver(release), gpus=seen((gpu(capability=capability),)), environments=seen((environment(),))
    )


@pytest.mark.parametrize(
    ("name", "facts", "expected"),
    [
        ("pytorch", workstation("580.95.05", "8.9"), "torch==2."),
        ("torch", workstation("535.183.01", "8.9"), "torch==2."),
        ("torch", workstation("550.54.14", "6.1"), "torch==2."),
        ("tf", workstation("580.95.05", "8.9"), "tensorflow[and-cuda]==2."),
        ("cupy", workstation("535.183.01", "8.9"), "cupy-cuda12x=="),
        ("jax", workstation("535.183.01", "8.9"), "jax[cuda12]=="),
    ],
)
def test_what_fits_the_machine_is_installed(name: str, facts: Facts, expected: str) -> None:
    """And the rows agree that it does: the very command is asked again as a question."""
    target = BARE._replace(python=facts.environments.get()[0].interpreter)
    plan, _ = package_plan(PackageOrder(name), target, facts, MATRIX)
    (command,) = [step.argv for step in plan.steps if isinstance(step, Command)]
    (wanted,) = [word for word in command if "==" in word]
    assert wanted.startswith(expected)
    index = next((word for word in command if "/whl/" in word), "")
    build = index.rpartition("/")[2]
    spec = parse_spec(wanted + (f"+{build}" if build else ""))
    gpus = facts.gpus.get()
    where = TargetMachine(
        python="3.12", capabilities=tuple(one.capability.get() for one in gpus), driver=facts.driver.release.get()
    )
    assert solve(Problem((spec,), where, MATRIX)) is not None


@pytest.mark.parametrize(
    ("name", "version", "said"),
    [
        ("tensorflow", "2.10.0", "no wheel for Python 3.12, only for 3.7, 3.8, 3.9, 3.10"),
        (
            "jax",
            "0.9.0",
            "jax-cuda13-plugin 0.9.0 requires numpy>=2.0, numpy 1.19.5 is installed; use a separate",
        ),
    ],
)
def test_a_refusal_names_what_stands_in_the_way(name: str, version: str, said: str) -> None:
    """What is installed beside it only where it would work without that."""
    there = environment(distributions=seen((distribution("numpy", "1.19.5"),)))
    facts = workstation("580.95.05", "8.0")._replace(environments=seen((there,)))
    with pytest.raises(NotSolved, match=f"{name}=={version}") as caught:
        package_plan(PackageOrder(name, version), BARE._replace(python=there.interpreter), facts, MATRIX)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [("torch", "", "/whl/cu"), ("torch", "2.9.1", "/whl/cu"), ("tensorflow", "", "tensorflow==2.10.*")],
)
def test_windows_gets_a_build_with_cuda(name: str, version: str, expected: str) -> None:
    """A plain `pip install torch` is a CPU build there."""
    plan, _ = package_plan(PackageOrder(name, version), machines.WINDOWS, None, MATRIX)
    (command,) = [" ".join(step.argv) for step in plan.steps if isinstance(step, Command)]
    assert expected in command


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("opencv",), "OpenCV with CUDA is built from source"),
        (("flash-attn", "2.8.3"), "--no-build-isolation"),
        (("caffe",), "Caffe is built from source"),
    ],
)
def test_what_pip_does_not_bring_is_not_planned(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The package index has no opencv; its caffe is another project; flash-attn is built beside torch."""
    assert execute(["install", *words, "--os", "linux"]) == 2
    assert said in capsys.readouterr().err
