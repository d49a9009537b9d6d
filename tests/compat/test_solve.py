"""The solver: against brute force over small matrices, and real questions with answers from wheels and from pip."""

from __future__ import annotations

import itertools
import json
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

from compat.build import is_default_build
from compat.cards import gpu_card_of
from compat.load import SCHEMA
from compat.matrix import Matrix
from compat.reason import forward_packages
from compat.solve.candidates import SolveCandidate, pool
from compat.solve.conflicts import besides_pins, clashes
from compat.solve.rejections import refusals
from compat.solve.relaxations import Task, changes
from compat.solve.search import Problem, Solution, newest_unsure, none_together, solve, solve_unsure
from compat.spec import parse_spec
from compat.target import TargetMachine
from compat.version import DriverRelease
from tests.wheels import LINUX

MATRIX = Matrix()


def problem(asked: str, gpu: str = "", driver: str = "", matrix: Matrix = MATRIX, **said: Any) -> Problem:
    """The problem of packages, separated by blanks, on a card and its driver."""
    return Problem([parse_spec(one) for one in asked.split()], place(gpu, driver, matrix, **said), matrix)


def place(gpu: str = "", driver: str = "", matrix: Matrix = MATRIX, **said: Any) -> TargetMachine:
    chips = gpu_card_of(gpu, matrix).capabilities if gpu else ()
    return TargetMachine(capabilities=chips, driver=DriverRelease.parse(driver) if driver else None, **said)


def labels(solution: Solution | None) -> list[str]:
    return [one.label for one in solution.chosen] if solution else []


def _chosen(asked: Problem) -> Sequence[SolveCandidate]:
    solution = solve(asked)
    assert solution is not None
    return solution.chosen


# -- real questions --------------------------------------------------------------------------------------------------

# torch 2.7.0 to 2.10.0 with tensorflow 2.20.0 are the only releases whose wheels of the package index agree: held
# against the METADATA of both in test_every_pair_of_wheels; pip's resolver in test_pip_agrees.
TOGETHER = {(torch, "2.20.0") for torch in ("2.7.0", "2.7.1", "2.8.0", "2.9.0", "2.9.1", "2.10.0")}


@pytest.mark.parametrize(
    ("asked", "gpu", "driver", "answer", "python"),
    [
        ("torch tensorflow", "RTX 4090", "550.54.14", ["torch 2.14.1 (cu126)", "tensorflow 2.21.0"], "3.12"),
        ("torch tensorflow", "B200", "", ["torch 2.13.0 (cu129)", "tensorflow 2.21.0"], "3.12"),
        ("torch tensorflow", "B200", "575.57", ["torch 2.13.0 (cu129)", "tensorflow 2.21.0"], "3.12"),
        ("torch tensorflow", "GTX 1080 Ti", "", ["torch 2.14.1 (cu126)", "tensorflow 2.21.0"], "3.12"),
        ("torch tensorflow", "GTX 1080 Ti", "550.54", ["torch 2.14.1 (cu126)", "tensorflow 2.21.0"], "3.12"),
        ("torch tensorflow", "GT 640M", "", [], ""),  # Kepler 3.0: no torch since 0.4 has code for it
        ("torch tensorflow", "GT 640M", "352.63", [], ""),
        ("tensorflow torch", "RTX 4090", "", ["tensorflow 2.21.0", "torch 2.14.1 (cu126)"], "3.12"),
        ("torch==2.15.0 tensorflow", "B200", "", [], ""),  # CUDA 13 beside CUDA 12
        ("torch", "RTX 4090", "580.65.06", ["torch 2.15.0 (cu132)"], "3.12"),
        ("torch", "RTX 4090", "550.54.14", ["torch 2.14.1 (cu126)"], "3.12"),
        ("torch", "GTX 1080 Ti", "", ["torch 2.14.1 (cu126)"], "3.12"),
        ("torch+cu128", "RTX 4090", "", ["torch 2.11.0 (cu128)"], "3.12"),
        ("torch>=2.4,<2.8", "RTX 5090", "", ["torch 2.7.1 (cu128)"], "3.12"),
        ("tensorflow", "GTX 1080 Ti", "", ["tensorflow 2.21.0"], "3.12"),
        ("tensorflow==2.22.0rc0", "", "", ["tensorflow 2.22.0rc0"], "3.12"),
        ("jax", "RTX 4090", "580.65.06", ["jax-cuda13-plugin 0.12.0.1"], "3.12"),
        ("jax", "RTX 4090", "550.54.14", ["jax-cuda12-plugin 0.12.0.1"], "3.12"),
        ("jax[cuda12]", "RTX 4090", "580.65.06", ["jax-cuda12-plugin 0.12.0.1"], "3.12"),
        ("torch jax", "RTX 4090", "580.65.06", ["torch 2.15.0 (cu132)", "jax-cuda13-plugin 0.12.0.1"], "3.12"),
        ("cupy", "RTX 4090", "550.54.14", ["cupy-cuda12x 14.2.0"], "3.12"),
        ("torch cupy", "RTX 4090", "580.65.06", ["torch 2.15.0 (cu132)", "cupy-cuda13x 14.2.0"], "3.12"),
    ],
)
def test_the_newest_that_works_together(asked: str, gpu: str, driver: str, answer: list[str], python: str) -> None:
    solution = solve(problem(asked, gpu, driver))
    assert labels(solution) == answer
    assert not solution or (solution.python == python and not solution.doubts)


@pytest.mark.parametrize(
    ("asked", "driver", "build"),
    [
        ("torch==2.9.1", "", "cu130"),
        ("torch==2.9.1", "580.65.06", "cu130"),
        ("torch==2.9.1", "575.57.08", "cu129"),
        ("torch==2.9.1", "570.86.10", "cu128"),  # of CUDA 12.8; cu129 starts, but the driver compiles no PTX of it
        ("torch==2.9.1+cu129", "570.86.10", "cu129"),
        ("torch==2.9.1", "560.35.03", "cu126"),
        ("torch==2.14.1", "580.65.06", "cu130"),
        ("torch==2.14.1", "595.45.04", "cu132"),
        ("torch==2.9.1", "550.54.14", "cu129"),  # of CUDA 12.4: none is its own
    ],
)
def test_the_drivers_own_cuda_before_minor_version_compatibility(asked: str, driver: str, build: str) -> None:
    solution = solve(problem(asked, "RTX 4090", driver))
    assert solution is not None
    assert solution.chosen[0].row.build == build


@pytest.mark.parametrize(
    ("asked", "gpu", "answer"),
    [
        ("torch vllm xformers triton", "RTX 4090", "triton 3.6.0"),
        ("xformers numba bitsandbytes jax[cuda13]", "RTX 5090", "jax-cuda13-plugin"),
        ("triton cupy torch bitsandbytes", "RTX 5090", "triton 3.9.0"),
    ],
)
def test_four_packages_are_a_matter_of_few_comparisons(asked: str, gpu: str, answer: str) -> None:
    """What goes with what is looked up, and a dead end is left early: a question takes half a second, not six."""
    stated = problem(asked, gpu, "580.65.06")
    assert any(label.startswith(answer) for label in labels(solve(stated)))
    assert len(stated.pairs) < 1000


def test_changes_to_four_packages_are_a_matter_of_few_comparisons() -> None:
    """Where there is no set, each change asks anew: what was found about two builds, or of two packages, is kept."""
    stated = problem("bitsandbytes==0.44.0 cudf-cu13 tensorflow==2.7.1 vllm==0.7.0", "T4", python="3.12")
    assert solve(stated) is None
    found = changes(Task(stated.asked, stated.circumstances), MATRIX, stated.pairs)
    assert [one.what for one in found] == ["without tensorflow"]
    assert len(stated.pairs) < 3500


def test_two_that_nothing_brings_together() -> None:
    for asked, apart in (("torch==2.15.0 tensorflow", True), ("torch tensorflow", False)):
        assert none_together(problem(asked, "B200"), sure=True) is apart


def test_every_pair_of_wheels() -> None:
    """Held against the METADATA of the package index's own wheels, which the rows were read from.

    Every release of torch whose CUDA comes as wheels, with every TensorFlow that has the and-cuda extra.
    """
    asked = problem("torch tensorflow>=2.14")
    torches = [one for one in asked.found["torch"] if is_default_build(one.row) and one.row.pins and _on_x86(one)]
    flows = [one for one in asked.found["tensorflow"] if one.row.libraries == "wheels"]
    assert len(torches) * len(flows) >= 480
    assert {(a.release, b.release) for a in torches for b in flows if asked.against(a, b) is None} == TOGETHER


def _on_x86(one: SolveCandidate) -> bool:
    return "x86_64" in one.row.arch


@pytest.mark.slow
def test_pip_refuses_what_the_solver_refuses(tmp_path: Path) -> None:
    done = dry_run(["torch==2.10.0", "tensorflow[and-cuda]==2.21.0"], "3.13", tmp_path)
    assert done.returncode != 0
    assert "conflicting dependencies" in done.stderr


def dry_run(requirements: list[str], python: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--ignore-installed", "--report", "-"]
    command += ["--only-binary=:all:", "--python-version", python, "--target", str(folder / "target")]
    command += [option for platform in LINUX for option in ("--platform", platform)]
    return subprocess.run([*command, *requirements], capture_output=True, text=True)


def test_a_cudnn_that_knows_the_card_is_pinned() -> None:
    """TensorFlow takes cuDNN 9.3 and newer; from 9.11 on none has code for Pascal, and pip would take the newest."""
    pascal = solve(problem("tensorflow", "GTX 1080 Ti"))
    ada = solve(problem("tensorflow", "RTX 4090"))
    assert pascal is not None
    assert pascal.pins == ("nvidia-cudnn-cu12==9.10.2.21",)
    assert ada is not None
    assert ada.pins == ()


def test_what_is_required_besides_is_chosen_too() -> None:
    solution = solve_unsure(problem("xformers", "RTX 4090", "580.65.06"))
    assert solution is not None
    assert [one.row.package for one in solution.chosen] == ["xformers", "torch"]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        # libcudf of 26.8 and later asks for nvJitLink 12.9 or newer, which torch of CUDA 12.8 pins to 12.8.93
        ("torch==2.10.0+cu128 cudf-cu12", ["torch 2.10.0 (cu128)", "cudf-cu12 26.6.0"]),
        ("cudf-cu12==26.10.2 torch==2.10.0+cu128", []),
    ],
)
def test_what_the_library_of_cudf_requires_counts(asked: str, answer: list[str]) -> None:
    assert labels(solve(problem(asked, "RTX 4090", "580.65.06", python="3.12"))) == answer


def test_where_nobody_knows() -> None:
    asked = problem("tensorflow", "GT 640M", "352.63")
    assert solve(asked) is None
    solution = solve_unsure(asked)
    assert solution is not None
    assert solution.chosen[0].row.cuda == "==7.5"
    assert "its targets are unknown;" in solution.doubts[0].what


def test_newer_that_is_not_known_to_work_is_told_apart() -> None:
    asked = problem("torch tensorflow", "B200", "580.65.06")
    known = solve(asked)
    assert known is not None
    newest = known.chosen[0]
    silent = newest._replace(fit=newest.fit._replace(row=newest.row._replace(pins=None)))
    asked = problem("torch tensorflow", "B200", "580.65.06")
    asked.found["torch"] = tuple(silent if one.name == newest.name else one for one in asked.found["torch"])
    found, sure = newest_unsure(asked), solve(asked)
    assert found is not None
    assert sure is not None
    assert found.chosen[0].key > sure.chosen[0].key
    assert "are unknown" in found.doubts[0].what


@pytest.mark.parametrize(
    ("asked", "gpu", "driver", "said", "offered"),
    [
        ("torch", "RTX 5090", "550.54.14", {}, {"driver": ("driver 570 or newer", ["torch 2.13.0 (cu129)"])}),
        (
            "torch==2.15.0",
            "RTX 4090",
            "550.54.14",
            {},
            {
                "driver": ("driver 580 or newer", ["torch 2.15.0 (cu132)"]),
                "relax": ("another version of torch", ["torch 2.14.1 (cu126)"]),
            },
        ),
        (
            "torch==2.15.0 tensorflow",
            "B200",
            "",
            {},
            {
                "environments": (
                    "use two environments: torch in one, tensorflow in the other",
                    ["torch 2.15.0 (cu132)", "tensorflow 2.21.0"],
                ),
                "relax": ("another version of torch", ["torch 2.13.0 (cu129), tensorflow 2.21.0"]),
            },
        ),
        (
            "torch tensorflow",
            "RTX 4090",
            "580.65.06",
            {"python": "3.15"},
            {
                "python": ("Python 3.12", ["torch 2.14.1 (cu126), tensorflow 2.21.0"]),
                "drop": ("without tensorflow", ["torch 2.15.0 (cu132)"]),
            },
        ),
        ("torch", "GTX 780", "580.65.06", {}, {}),  # no driver of the 580 branch drives Kepler, no torch is that old
    ],
)
def test_the_smallest_changes(
    asked: str, gpu: str, driver: str, said: dict[str, Any], offered: dict[str, tuple[str, list[str]]]
) -> None:
    task = Task(tuple(parse_spec(one) for one in asked.split()), place(gpu, driver, **said))
    assert solve(Problem(*task, MATRIX)) is None
    found = {change.kinds[0]: change for change in changes(task, MATRIX)}
    told = {kind: (change.what, [one.label for one in change.solutions]) for kind, change in found.items()}
    assert {kind: told.get(kind) for kind in offered} == offered
    assert bool(told) is bool(offered)
    for change in found.values():
        for one, solution in zip(change.tasks, change.solutions, strict=True):
            assert labels(solve(Problem(*one, MATRIX))) == labels(solution)


def test_an_older_driver_than_the_one_offered_would_not_do() -> None:
    for driver, works in (("565", False), ("570", True)):
        assert bool(solve(problem("torch", "RTX 5090", driver))) is works


@pytest.mark.parametrize(
    ("asked", "gpu", "driver", "span", "what"),
    [
        ("torch tensorflow", "RTX 4090", "550.54.14", "torch 2.15.0", "needs driver 580 or newer"),
        ("torch tensorflow", "B200", "575.57", "torch 2.15.0", "needs driver 580 or newer"),
        ("torch==2.15.0 tensorflow", "B200", "", "torch 2.15.0 (cu132)", "unpack into one directory"),
        ("cupy-cuda12x>=14.1.0 cudf-cu13", "RTX 4090", "", "cudf-cu13 26.10.2", "are one import package"),
        ("torch", "GT 640M", "", "torch 2.15.0 (cu132) and 152 more builds, down to 0.4.0", "has no code for sm_30"),
        ("vllm==0.5.5 bitsandbytes<=0.35.2", "RTX 4090", "", "vllm 0.5.5", "2.4.0: no bitsandbytes fits it"),
    ],
)
def test_why_not(asked: str, gpu: str, driver: str, span: str, what: str) -> None:
    stated = problem(asked, gpu, driver)
    found = refusals(stated, solve(stated))
    assert any(one.span.startswith(span) and what in one.reason.what and one.reason.rows for one in found)


def test_what_was_not_asked_for_has_no_reasons() -> None:
    """A build of TensorFlow may require keras or jax: why none of those was taken is no answer."""
    stated = problem("tensorflow", "RTX 5080", "580")
    assert stated.required
    assert {one.package for one in refusals(stated, None)} == {"tensorflow"}


def test_what_the_driver_cannot_run_is_named_before_what_was_taken() -> None:
    stated = problem("jax", "H100", "570.86.10")
    solution = solve(stated)
    assert labels(solution) == ["jax-cuda12-plugin 0.12.0.1"]
    assert any("needs driver" in one.reason.what for one in refusals(stated, solution))


def test_the_worst_question_known_takes_little_work() -> None:
    """Counted, not timed: kinds of builds held against each other, of 22,000 pairs of TensorFlow and vLLM alone."""
    stated = problem("cudf-cu12 xformers>=0.0.35 tensorflow<=2.16.2 vllm", "T4")
    assert solve(stated) is None
    assert changes(Task(stated.asked, stated.circumstances), MATRIX, stated.pairs)
    assert refusals(stated, None)
    assert len(stated.pairs) < 3000


# -- with what is installed held fixed -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "held", "answer"),
    [
        ("torch", "", ["torch 2.15.0 (cu132)"]),
        ("torch", "tensorflow==2.20.0", ["torch 2.14.1 (cu126)"]),
        ("torch", "nvidia-cudnn-cu12==9.10.2.21 nvidia-cublas-cu12==12.8.4.1", ["torch 2.10.0 (cu128)"]),
        ("torch", "numpy==1.26.4 requests==2.32.0", ["torch 2.15.0 (cu132)"]),
        ("torch>=2.15", "tensorflow==2.20.0", []),
        ("torch==2.9.1", "torch==2.10.0+cu128", ["torch 2.9.1 (cu130)"]),  # what is asked for is not held
        ("numba", "numpy==1.26.4", ["numba 0.68.*"]),
        ("numba", "numpy==1.20.3", ["numba 0.56.4"]),
    ],
)
def test_with_installed(asked: str, held: str, answer: list[str]) -> None:
    stated = Problem(
        [parse_spec(one) for one in asked.split()],
        place("RTX 4090", "580.65.06"),
        MATRIX,
        hold=[parse_spec(one) for one in held.split()],
    )
    assert labels(solve(stated)) == answer


def test_what_an_environment_disagrees_about_already_is_not_the_sets_fault() -> None:
    held = [parse_spec(one) for one in ("tensorflow==2.20.0", "nvidia-cudnn-cu12==8.9.7.29")]
    stated = Problem([parse_spec("numba")], place("RTX 4090"), MATRIX, hold=held)
    assert solve(stated) is not None


def test_a_refusal_says_what_is_installed() -> None:
    held = [parse_spec("nvidia-cudnn-cu12==8.9.2.26")]
    stated = Problem([parse_spec("tensorflow==2.20.0")], place("RTX 4090"), MATRIX, hold=held)
    assert solve(stated) is None
    assert any("nvidia-cudnn-cu12 8.9.2.26 is installed" in one.reason.what for one in refusals(stated, None))


@pytest.mark.parametrize("build", ["cu118", "cu121", "cu128", "cu129", "cu130"])
def test_an_extension_is_built_for_the_cuda_of_a_torch_from_the_vendor_s_index(build: str) -> None:
    stated = problem(f"xformers torch+{build}", "RTX 4090", "580.65.06")
    for solution in filter(None, (solve(stated), solve_unsure(stated))):
        torch = next(one.row for one in solution.chosen if one.row.package == "torch")
        assert is_default_build(torch) or {one.row.cuda for one in solution.chosen} == {torch.cuda}


@pytest.mark.parametrize("release", ["0.6.4", "0.6.6", "0.7.3"])
def test_what_the_package_index_pairs_goes_together_within_a_major(release: str) -> None:
    """The xformers that vLLM 0.7.3 asks for was built with CUDA 12.1, the torch with 12.4."""
    found = solve(problem(f"vllm=={release}", "A100"))
    assert found is not None
    assert all(not one.row.build or is_default_build(one.row) for one in found.chosen)


@pytest.mark.parametrize("card", ["A100", "RTX 5090"])
def test_an_extension_of_another_cuda_than_its_torch_by_default(card: str) -> None:
    """vLLM 0.10.0 is compiled by CUDA 12.8 and goes with both builds of the torch that it pins."""
    found = solve(problem("vllm==0.10.0", card))
    assert found is not None
    assert "cu128" in {one.row.build for one in found.chosen}


def test_the_plugin_of_a_jax_whose_extras_are_for_two_cudas() -> None:
    found = solve(problem("jax==0.4.25", "A100"))
    assert found is not None
    assert [one.row.package for one in found.chosen] == ["jax-cuda12-plugin"]


def test_a_wheel_of_which_only_the_name_is_known_does_not_tell_the_build() -> None:
    """For Windows the package index has the CPU build of torch, and for ARM servers one of several."""
    every = [row for row in MATRIX.rows("torch", "builds") if row.build and is_default_build(row)]
    served = Counter((row.versions, row.os, row.arch) for row in every)
    assert {row.build for row in every if "windows" in row.os} == {"cpu"}
    assert set(served.values()) == {1}


# -- against brute force ---------------------------------------------------------------------------------------------

PACKAGES = ("first", "second", "third")
SHARED = ("nvidia-one-cu12", "nvidia-one-cu13", "two")
GRID = [str(number) for number in range(8)]


@pytest.mark.parametrize("seed", range(120))
def test_against_brute_force(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    rows = {name: [_row(name, number, chance) for number in range(chance.randint(1, 5))] for name in PACKAGES}
    conflicts = [_conflict(chance) for _ in range(chance.randint(0, 2))]
    matrix = write(tmp_path, rows, conflicts)
    asked = Problem([parse_spec(name) for name in PACKAGES], TargetMachine(), matrix)
    assert labels(solve(asked)) == by_trying_all(asked, conflicts)


def by_trying_all(asked: Problem, conflicts: list[dict[str, Any]]) -> list[str]:
    """The best of all combinations: by the releases in the order of the packages, then by their builds."""
    pools = [pool(found, sure=True, own=True) for found in asked.found.values()]
    groups = [[list(group) for _, group in itertools.groupby(each, key=lambda one: one.key)] for each in pools]
    ranked = [[(at, build, one) for at, group in enumerate(each) for build, one in enumerate(group)] for each in groups]
    good = [one for one in itertools.product(*ranked) if holds([member for *_, member in one], conflicts)]
    best = min(good, key=lambda one: ([at for at, *_ in one], [build for _, build, _ in one]), default=())
    return [member.label for *_, member in best]


def holds(chosen: list[SolveCandidate], conflicts: list[dict[str, Any]]) -> bool:
    """Whether some version of everything is admitted, on some Python, without a conflict: tried, not reasoned.

    A version exists where a specifier names it, and beyond all that are named.
    """
    wanted: dict[str, list[str]] = {}
    for one in chosen:
        for name, specifier in one.wants.items():
            wanted.setdefault(name, []).append(specifier)
    left = {name: admitted(specifiers) for name, specifiers in wanted.items()}
    released = all(set(left[name]) & {"0", "7", *re.findall(r"\d+", " ".join(wanted[name]))} for name in wanted)
    pythons = set.intersection(*(set(one.row.python or ()) for one in chosen))
    twice = {"nvidia-one-cu12", "nvidia-one-cu13"} <= left.keys()
    hit = any(
        row["when"].keys() <= left.keys()
        and all(set(left[name]) & set(admitted([specifier])) for name, specifier in row["when"].items())
        for row in conflicts
    )
    return released and bool(pythons) and not twice and not hit


def admitted(specifiers: list[str]) -> list[str]:
    fine = [*GRID, *(f"{version}.5" for version in GRID)]
    return [version for version in fine if all(SpecifierSet(one).contains(version) for one in specifiers)]


def _row(package: str, number: int, chance: random.Random) -> dict[str, Any]:
    release = chance.randint(1, 4)
    pins = {name: _specifier(chance) for name in SHARED if chance.random() < 0.45}
    others = {name: f">={chance.randint(1, 3)}" for name in PACKAGES if name != package and chance.random() < 0.15}
    return {
        "id": f"{package}-{number}",
        "package": package,
        "versions": f"=={release}",
        "build": f"b{number}",
        "os": ["linux"],
        "arch": ["x86_64"],
        "python": chance.sample(["3.10", "3.11", "3.12"], chance.randint(1, 2)),
        "cuda": f"==12.{number}",
        "cudnn": None,
        "cudnn_accepts": "",
        "libraries": "wheels",
        "targets": [],
        "glibc": "",
        "pins": {**pins, **others},
        **SOURCED,
    }


def _plain(package: str, release: int = 1, **changes: Any) -> dict[str, Any]:
    """A build with nothing against it."""
    row = _row(package, release, random.Random(0))
    return {**row, "versions": f"=={release}", "python": ["3.11"], "pins": {}, **changes}


def asked_of(folder: Path, *rows: dict[str, Any], hold: str = "", conflicts: Sequence[dict[str, Any]] = ()) -> Problem:
    """All packages of these rows, but those that are held."""
    by_package = {one["package"]: [row for row in rows if row["package"] == one["package"]] for one in rows}
    held = [parse_spec(one) for one in hold.split()]
    matrix = write(folder, by_package, [*conflicts])
    names = [name for name in by_package if name not in {one.name for one in held}]
    return Problem([parse_spec(name) for name in names], TargetMachine(), matrix, hold=held)


@pytest.mark.parametrize(
    ("changes", "is_known", "is_possible"),
    [
        ({}, True, True),
        ({"python": None}, False, True),
        ({"python": ["3.12"]}, False, False),
        ({"pins": None}, False, True),
        ({"pins": {"two": "==1"}}, True, True),
        ({"pins": {"two": "==2"}}, False, False),
    ],
)
@pytest.mark.parametrize("hold", ["", "second==1"])
def test_what_is_unknown_of_two_is_no_yes(
    changes: dict[str, Any], is_known: bool, is_possible: bool, hold: str, tmp_path: Path
) -> None:
    """One of them installed or not: one fact that no row says, and nothing else against them."""
    found = asked_of(tmp_path, _plain("first", **changes), _plain("second", pins={"two": "==1"}), hold=hold)
    assert (solve(found) is not None) is is_known
    unsure = solve_unsure(found)
    assert (unsure is not None) is is_possible
    assert not unsure or bool(unsure.doubts) is not is_known
    assert none_together(found, sure=True) is not is_known
    assert none_together(found, sure=False) is not is_possible


@pytest.mark.parametrize(
    ("when", "severity", "is_known", "is_possible"),
    [
        ({"first": "==1", "second": "==1"}, "error", False, False),
        ({"first": "==1", "second": "==1"}, "warning", False, False),
        ({"first": "==1", "second": "==1"}, "info", True, True),
        ({"first": "==1", "second": "==1", "third": ""}, "error", False, False),
        ({"first": "==1", "second": "==2"}, "error", True, True),
        ({"first": "==1", "fourth": ""}, "error", True, True),
        ({"first": "==1", "two": "<2"}, "error", False, True),  # some of the versions that the first asks for have it
        ({"first": "==1", "two": ">=1"}, "error", False, False),
        ({"first": "==1", "two": "<1"}, "error", True, True),
    ],
)
def test_a_conflict_that_the_matrix_knows(
    when: dict[str, str], severity: str, is_known: bool, is_possible: bool, tmp_path: Path
) -> None:
    conflict = {"id": "x", "when": when, "severity": severity, "summary": "they do not", "remedy": "one", **SOURCED}
    rows = (_plain("first", pins={"two": ">=1,<3"} if "two" in when else {}), _plain("second"), _plain("third"))
    found = asked_of(tmp_path, *rows, conflicts=[conflict])
    solution, unsure = solve(found), solve_unsure(found)
    assert ((solution is not None), (unsure is not None)) == (is_known, is_possible)
    assert [one for one in (solution.remarks if solution else ()) if "they do not" in one] == (
        ["they do not: one"] if severity == "info" else []
    )


@pytest.mark.parametrize(
    ("builds", "answer"),
    [
        ((("wheels", 2), ("system", 1)), ["first 2"]),
        ((("wheels", 1), ("system", 2)), ["first 1"]),  # of those that bring their CUDA the newest comes first
        ((("system", 1), ("system", 2)), ["first 2"]),
        ((("system", 1),), ["first 1"]),
    ],
)
def test_where_none_brings_its_cuda_that_of_the_system_will_do(
    builds: tuple[tuple[str, int], ...], answer: list[str], tmp_path: Path
) -> None:
    rows = [_plain("first", release, build="", libraries=libraries) for libraries, release in builds]
    assert labels(solve(asked_of(tmp_path, *rows))) == answer


def test_where_what_brings_its_cuda_goes_with_nothing_that_of_the_system_will_do(tmp_path: Path) -> None:
    own = _plain("first", 2, build="", pins={"two": "==2"})
    system = _plain("first", 1, build="", libraries="system")
    found = asked_of(tmp_path, own, system, _plain("second", build="", pins={"two": "==1"}))
    assert labels(solve(found)) == ["first 1", "second 1"]


@pytest.mark.parametrize(
    ("last", "is_known", "is_possible"), [("==1.5", True, True), (">0", False, True), ("==3", False, False)]
)
def test_what_three_leave_open_a_fourth_may_settle(
    last: str, is_known: bool, is_possible: bool, tmp_path: Path
) -> None:
    """Whether a release lies between 1 and 2 is known of the one that the fourth asks for."""
    specifiers = {"first": ">1", "second": "<2", "third": "!=1.7", "fourth": last}
    found = asked_of(tmp_path, *(_plain(name, pins={"two": specifier}) for name, specifier in specifiers.items()))
    assert (solve(found) is not None) is is_known
    assert (solve_unsure(found) is not None) is is_possible


SOURCED = {"source": "a test", "read_on": "2026-11-20", "confidence": "high", "note": ""}


def _specifier(chance: random.Random) -> str:
    low = chance.randint(0, 4)
    return chance.choice([f"=={low}", f">={low}", f"<={low}", f">={low},<={low + chance.randint(0, 2)}", f"!={low}"])


def _conflict(chance: random.Random) -> dict[str, Any]:
    names = chance.sample([*PACKAGES, "two"], 2)
    when = {name: f"=={chance.randint(1, 4)}" if name in PACKAGES else "" for name in names}
    text = {"severity": chance.choice(["error", "warning"]), "summary": "they do not", "remedy": "one of them"}
    return {"id": "-".join(sorted(names)), "when": when, **text, **SOURCED}


def write(folder: Path, rows: dict[str, list[dict[str, Any]]], conflicts: list[dict[str, Any]]) -> Matrix:
    """A matrix with these builds and conflicts."""
    tables: dict[str, Any] = {name: {"builds": builds} for name, builds in rows.items()}
    tables["conflicts"] = {"known": conflicts, "abi": [], "companions": []}
    for product, content in tables.items():
        whole = {"schema": SCHEMA, "product": product, "as_of": "2026-11-20", "tables": content}
        (folder / f"{product}.json").write_text(json.dumps(whole), encoding="utf-8")
    return Matrix(str(folder))


@pytest.mark.parametrize(
    ("asked", "python", "pins"),
    [
        ("torch==2.2.2", "3.11", ("numpy<2",)),
        ("torch==2.3.0", "3.11", ()),
        ("torch==1.4.0", "3.6", ()),  # there is no NumPy 2 for its Pythons
        ("tensorflow==2.10.0", "3.10", ("numpy<2",)),
        ("tensorflow==2.15.1", "3.11", ()),  # its own metadata says numpy<2
    ],
)
def test_what_binaries_were_compiled_for_is_kept(asked: str, python: str, pins: tuple[str, ...]) -> None:
    """pip would bring NumPy 2 beside what was compiled for the ABI of NumPy 1."""
    found = solve(Problem([parse_spec(asked)], TargetMachine(python=python), MATRIX))
    assert found is not None
    assert found.pins == pins


def test_an_installed_numpy_2_stays_without_what_was_compiled_for_1() -> None:
    where = TargetMachine(python="3.11")
    assert solve(Problem([parse_spec("torch==2.2.2")], where, MATRIX, hold=[parse_spec("numpy==2.2.6")])) is None
    assert solve(Problem([parse_spec("torch==2.2.2")], where, MATRIX, hold=[parse_spec("numpy==1.26.4")])) is not None


def test_ptx_that_is_reported_not_to_load_is_no_yes() -> None:
    """TensorFlow's wheels bring PTX of compute_90, and the threads of RTX 50 users end in CUDA_ERROR_INVALID_PTX."""
    asked = problem("tensorflow>=2.16", "RTX 5090")
    assert solve(asked) is None
    assert any("CUDA_ERROR_INVALID_PTX" in one.reason.what for one in refusals(asked, None))
    assert solve(problem("tensorflow", "H100")) is not None


def test_the_short_way_to_the_worst_says_what_all_clashes_say() -> None:
    """Of real builds, so that every kind of clash is among them."""
    asked = problem("torch tensorflow jax[cuda12] cupy xformers vllm onnxruntime-gpu cudf-cu13", "V100", python="3.10")
    chance, seen = random.Random(5), set()
    for _ in range(1500):
        one, other = (chance.choice(asked.found[name]) for name in chance.sample([*asked.found], 2))
        lasting = {clash.kind for clash in besides_pins((one, other), asked.circumstances, MATRIX) if clash.lasts}
        worst = "bad" if "bad" in lasting else "unknown" if lasting else "ok"
        assert asked.pairs.worst(one, other, asked.view(one.asked, other.asked)) == worst, (one.label, other.label)
        seen.add(worst)
    assert seen == {"bad", "unknown", "ok"}


def test_the_oldest_package_beside_the_driver_that_will_do() -> None:
    """Of the many that the driver takes: each serves what the older ones of its major serve."""
    data_centre = place("H100", "535.183.01", families=("datacenter",))
    task = Task((parse_spec("torch==2.15.0+cu132"),), data_centre)
    (package,) = [one for one in changes(task, MATRIX) if one.kinds == ("forward-compat",)]
    assert package.what == "cuda-compat-13-2 beside the driver"
    beside = [data_centre._replace(forward=row.cuda) for row in forward_packages(data_centre, MATRIX)]
    serving = [where.forward for where in beside if solve(Problem(task.asked, where, MATRIX))]
    assert serving[0] == package.tasks[0].circumstances.forward
    assert [str(one) for one in serving] == ["13.2", "13.3", "13.4"]


def test_a_distribution_that_only_points_at_another_is_no_rival_of_it() -> None:
    """TensorFlow's for Windows were this, up to 2.18.0: all their files are in tensorflow-intel."""
    where = TargetMachine(os_family="windows", arch="x86_64")
    (one,) = _chosen(problem("tensorflow-cpu==2.15.0", os_family="windows", arch="x86_64"))
    pointing = one._replace(wants={**one.wants, "tensorflow-intel": "==2.15.0"})
    assert list(clashes([pointing], where, MATRIX)) == []
    (torch,) = _chosen(problem("torch==2.8.0"))
    both = torch._replace(wants=pointing.wants)
    assert [clash.about for clash in clashes([both], where, MATRIX)] == ["tensorflow"]
