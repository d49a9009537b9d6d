"""Effects become facts, and the rules decide which remedy is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compat.base.discover import load_one, names_in
from compat.matrix import Matrix
from compat.need import InstallDriver, LinkTo, RestartMachine
from compat.version import DriverRelease
from doctor.model.facts import Facts, Machine
from doctor.model.facts.driver import DriverLibrary
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Status, bad, not_applicable, ok, unknown
from doctor.prescribe import effects as effects_package
from doctor.prescribe.remedies import prescribe
from doctor.prescribe.remedy_verifier import RemedyVerifier, _names, after
from doctor.prescribe.simulated_machine import SimulatedMachine
from doctor.rules.shared.engine import judge, load_rules
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import FRAMEWORKS, MACHINE
from installers import effect as effects
from installers.effect import Effect
from tests.lab.case import Case, examine, run_here
from tests.lab.cases import CASES
from tests.machine import VENV, cudnn_copy, distribution, driver, environment, framework, gpu, machine, seen

MATRIX = Matrix()
PYTHON = f"{VENV}/bin/python"
RULES = load_rules()


def made(*done: Effect, facts: Facts | None = None) -> Facts:
    return after(done, SimulatedMachine(facts or machine(), MATRIX, None))


def court_of(facts: Facts) -> RemedyVerifier:
    return RemedyVerifier(facts, judge(facts, MATRIX, RULES), MATRIX, RULES, None)


def case_of(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def remedies_of(name: str, code: str, root: Path) -> list[dict[str, object]]:
    report = run_here(case_of(name), root / "tree").report
    return next(one["remedies"] for one in report["findings"] if one["code"] == code)


def test_every_kind_of_effect_has_its_file() -> None:
    types = [one for one in vars(effects).values() if isinstance(one, type) and issubclass(one, tuple)]
    kinds = [one.__name__ for one in types if one.__module__ == effects.__name__]
    names = {"".join("_" + c.lower() if c.isupper() else c for c in kind).lstrip("_") for kind in kinds}
    assert len(names) >= 30
    assert names == set(names_in(effects_package))
    assert all(callable(load_one(effects_package, name, "apply", object)) for name in names)


def test_a_driver_runs_after_the_restart_and_not_before() -> None:
    old = machine(driver=driver()._replace(release=seen(DriverRelease((470, 256, 2)))))
    installed = effects.DriverInstalled("==580.95.05")
    assert value_or(made(installed, facts=old).driver.release, None) == DriverRelease((470, 256, 2))
    assert value_or(made(installed, effects.Restarted(), facts=old).driver.release, None) == DriverRelease((580, 95, 5))


class Branches(Matrix):
    """The shipped matrix, with other branches of the driver."""

    def __init__(self, *branches: tuple[int, str, str | None]) -> None:
        super().__init__()
        (first, *_) = super().rows("driver", "branches")
        self._branches = tuple(
            first._replace(branch=number, kind=kind, end_of_life=end) for number, kind, end in branches
        )

    def rows(self, product: str, table: str) -> tuple[Any, ...]:
        return self._branches if (product, table) == ("driver", "branches") else super().rows(product, table)

    def as_of(self, product: str = "") -> str:
        return "2026-11-26"


LONG_TERM = (580, "long-term", "2028-08")


@pytest.mark.parametrize(
    ("newest", "expected"),
    [
        ((590, "production", "2026-12"), 590),
        ((590, "production", "2026-11"), 590),  # its last month
        ((590, "production", "2026-10"), 580),
        ((590, "production", None), 590),
        ((590, "new-feature", None), 580),
        ((590, "", "2028-08"), 580),
    ],
)
def test_packages_bring_the_newest_branch_that_is_still_served(
    newest: tuple[int, str, str | None], expected: int
) -> None:
    facts = machine(driver=driver("535.183.01"))
    for asked, branch in ((">=550", expected), ("", expected), (">=590", 590), ("<590", 580)):
        done = (effects.DriverInstalled(asked), effects.Restarted())
        then = after(done, SimulatedMachine(facts, Branches(LONG_TERM, newest), None))
        assert then.driver.release.get().branch == branch, asked


OLD_CUDA = DriverLibrary("/usr/lib64/libcuda.so.535.183.01", "libcuda", DriverRelease((535, 183, 1)), "system", True)
OLD_NVML = OLD_CUDA._replace(path="/usr/lib64/libnvidia-ml.so.535.183.01", stem="libnvidia-ml")
NEW_CUDA = OLD_CUDA._replace(path="/usr/lib64/libcuda.so.580.95.05", release=DriverRelease((580, 95, 5)), loads=False)
ELSEWHERE = NEW_CUDA._replace(path="/opt/lib/libcuda.so.580.95.05")


@pytest.mark.parametrize(
    ("path", "left"),
    [
        (OLD_CUDA.path, [NEW_CUDA._replace(loads=True), ELSEWHERE]),
        (OLD_NVML.path, [NEW_CUDA._replace(loads=True), ELSEWHERE]),  # all of that release in that directory
        (NEW_CUDA.path, [OLD_CUDA, OLD_NVML, ELSEWHERE]),
        (ELSEWHERE.path, [OLD_CUDA, OLD_NVML, NEW_CUDA]),
        ("/opt/lib/libcuda.so.535.183.01", [OLD_CUDA, OLD_NVML, NEW_CUDA, ELSEWHERE]),
    ],
)
def test_the_libraries_of_one_release_leave_one_directory(path: str, left: list[DriverLibrary]) -> None:
    facts = machine(driver=driver(libraries=seen((OLD_CUDA, OLD_NVML, NEW_CUDA, ELSEWHERE))))
    assert [*made(effects.LibrariesRemoved(path), facts=facts).driver.libraries.get()] == left


def test_a_driver_that_refuses_the_card_does_not_start() -> None:
    pascal = machine(gpus=seen((gpu(capability="6.1"),)))
    before = pascal.driver.release
    assert made(effects.DriverInstalled(">=590", "open"), effects.Restarted(), facts=pascal).driver.release == before


def test_a_build_brings_its_pins_and_the_old_one_leaves() -> None:
    facts = made(
        effects.DistributionsRemoved(PYTHON, ("torch",)),
        effects.DistributionsInstalled(PYTHON, ("torch==2.9.1+cu126",)),
    )
    (home,) = facts.environments.get()
    torch = next(one for one in home.frameworks.get() if one.package == "torch")
    assert (torch.version, value_or(torch.build, "")) == ("2.9.1+cu126", "cu126")
    assert {"torch", "nvidia-cudnn-cu12"} <= {one.name for one in home.distributions.get()}


def test_what_is_there_is_called_satisfied() -> None:
    held = machine().environments.get()[0].distributions.get()
    torch = next(one for one in held if one.name == "torch")
    facts = made(effects.DistributionsInstalled(PYTHON, (f"torch=={torch.version.partition('+')[0]}",)))
    assert torch in facts.environments.get()[0].distributions.get()


def test_a_package_that_is_named_as_a_product_is_no_framework() -> None:
    """conda has one named cudnn, as the matrix has tables of cuDNN."""
    facts = made(effects.DistributionsInstalled(PYTHON, ("cudnn==9.10.2",), tool="conda"))
    [here] = value_or(facts.environments, ())
    assert "cudnn" in {one.name for one in value_or(here.distributions, ())}


@pytest.mark.parametrize(
    ("value", "entry", "left"),
    [("/a:/opt/x/:/b", "/opt/x", "/a:/b"), ("/opt/x", "/opt/x/", None), ("/a:/b", "/c", "/a:/b")],
)
def test_an_entry_leaves_a_variable(value: str, entry: str, left: str | None) -> None:
    facts = made(effects.VariableSet("LD_LIBRARY_PATH", value), effects.EntryRemoved("LD_LIBRARY_PATH", entry))
    told = {one.name: one.value for one in facts.configuration.variables.get()}
    assert told.get("LD_LIBRARY_PATH") == left


def test_a_remedy_that_does_not_mend_is_no_command() -> None:
    facts = machine(driver=driver()._replace(release=seen(DriverRelease((470, 256, 2)))))
    answer = bad("too old", LinkTo("/a", "b"))._replace(code="driver-too-old-for-runtime", subject=_label(facts))
    (remedy,) = prescribe(answer, facts, MATRIX, court_of(facts))
    assert not remedy.proven
    assert all(line.startswith("# gpudoctor knows no fix that works here") for line in remedy.commands)


def _label(facts: Facts) -> str:
    return facts.environments.get()[0].frameworks.get()[0].label


def test_the_first_that_mends_is_given_before_those_that_do_not() -> None:
    facts = machine(driver=driver()._replace(release=seen(DriverRelease((470, 256, 2)))))
    rejected, right = LinkTo("/a", "b"), InstallDriver(">=580")
    answer = bad("too old", rejected, right)._replace(code="driver-too-old-for-runtime", subject=_label(facts))
    (remedy,) = prescribe(answer, facts, MATRIX, court_of(facts))
    assert (remedy.need, remedy.proven) == (right, True)


def test_a_finding_that_no_rule_made_keeps_its_remedy_unproven() -> None:
    answer: Answer = bad("it hung", RestartMachine())._replace(code="cudnn-hang", subject="cuDNN")
    (remedy,) = prescribe(answer, machine(), MATRIX, court_of(machine()))
    assert not remedy.proven
    assert "sudo systemctl reboot" in remedy.commands


def test_the_variable_is_looked_at_again(tmp_path: Path) -> None:
    (remedy,) = remedies_of("F23", "ld-library-path-shadowing", tmp_path)
    assert remedy["proven"] is True


def test_a_plain_install_of_what_is_there_is_refused(tmp_path: Path) -> None:
    """pip and uv call it satisfied: it would change nothing. The published build of that release comes anew."""
    case = case_of("hopper-left-out")
    there = examine(case, case.build(tmp_path))
    answer = next(one for one in there.report.answers if one.code == "gpu-arch-not-in-build" and one.kind is Status.BAD)
    court = RemedyVerifier(there.report.facts, there.report.answers, MATRIX, RULES, there.host)
    plain = effects.DistributionsInstalled(PYTHON, ("tensorflow==2.20.0",))
    assert court.verdict(answer, (plain,)).stands
    assert court.verdict(answer, (plain._replace(anew=True, alone=True),)).proven
    finding = next(one for one in there.report.findings if one.code == answer.code)
    assert finding.remedies[0].proven
    assert finding.remedies[0].commands[-1].endswith("--reinstall --no-deps tensorflow==2.20.0")


def test_what_lies_in_the_users_own_directory_is_reached_by_no_installer_of_an_environment() -> None:
    """In front it stays in front, behind it stays behind; the Python of the system reaches it."""
    own, other = f"{VENV}/lib/python3.12/site-packages", "/home/user/.local/lib/python3.12/site-packages"
    theirs = distribution("nvidia-cudnn-cu12", "9.1.0.70", site=other)

    def then(kind: str, *sites: str) -> dict[str, str]:
        home = environment(kind=kind, distributions=seen((theirs,)), sites=seen(sites))
        asked = effects.DistributionsInstalled(home.interpreter, ("nvidia-cudnn-cu12==9.10.2.21",))
        (home,) = made(asked, facts=machine(environments=seen((home,)))).environments.get()
        return {one.version: one.site for one in home.distributions.get() if not one.hidden_by}

    assert then("venv", own, other) == {"9.10.2.21": own}
    assert then("conda", other, own) == {"9.1.0.70": other}
    assert then("system", other, own) == {"9.10.2.21": other}


def test_what_nouveau_holds_needs_more_than_a_module(tmp_path: Path) -> None:
    first, *_ = remedies_of("dkms-missing-nouveau", "kernel-updated-dkms-missing", tmp_path)
    assert first["proven"] is True
    assert "nouveau" in str(first["commands"]) or "driver" in str(first["summary"])


def test_no_second_driver_after_the_first(tmp_path: Path) -> None:
    for remedy in remedies_of("legacy-card", "driver-does-not-support-gpu", tmp_path):
        assert sum("ubuntu-drivers install" in line for line in remedy["commands"]) <= 1  # type: ignore[attr-defined]


HEADER = "/usr/local/cuda-10.0/include/cudnn_version.h"


def test_a_cudnn_that_would_lie_beside_another_one_is_refused(tmp_path: Path) -> None:
    """What it would bring tells its release, and the two are on one search path."""
    case = case_of("tensorflow-1.15-cudnn-8")
    seen_there = examine(case, case.build(tmp_path))
    report = seen_there.report
    court = RemedyVerifier(report.facts, report.answers, MATRIX, RULES, seen_there.host)
    answer = next(one for one in report.answers if one.code == "cudnn-wrong-major" and one.kind is Status.BAD)
    beside = effects.CudnnInstalled("==7.6.5.32", 10, "/usr/local/cuda-10.0/lib64")
    verdict = court.verdict(answer, (beside,))
    assert [one.code for one in verdict.new] == ["cudnn-copies-conflict"]
    aside = effects.FileRemoved("/usr/local/cuda-10.0/lib64/libcudnn.so.8", "libcudnn*")
    assert court.verdict(answer, (aside, effects.FileRemoved(HEADER, "cudnn*.h"), beside)).proven


def ruled(*said: str) -> tuple[RemedyVerifier, Answer]:
    """A machine of which a rule says these texts in turn, before and after a remedy; and a finding of another rule."""
    texts = iter(said)

    def conflict(_: Machine, facts: Facts, matrix: Matrix) -> Answer:
        facts.driver.release.get()
        text = next(texts)
        places = tuple(text.split(" and "))
        return bad(text, RestartMachine(), places=places) if text else ok("nothing")

    old = machine(driver=driver()._replace(release=seen(DriverRelease((470, 256, 2)))))
    answer = bad("too old", InstallDriver(">=580"))._replace(code="driver-too-old-for-runtime", subject=_label(old))
    rules = {"conflict": Rule(MACHINE, conflict)}
    return RemedyVerifier(old, (*judge(old, MATRIX, rules), answer), MATRIX, rules, None), answer


@pytest.mark.parametrize(
    ("before", "then", "new"),
    [
        ("/opt/a/libx.so.1.2", "/opt/a/libx.so.1.3", 0),
        ("/opt/a and /opt/b", "/opt/a", 0),
        ("/opt/a and /opt/b", "/opt/a and /opt/c", 1),
        ("/home/u/my env/a.so", "/home/u/my env/b.so", 1),
        ("cuDNN 9.1.0 in /opt/a", "cuDNN 8.9.7 in /opt/a", 1),
        ("C:/x/a.dll", "C:/y/a.dll", 1),
        ("", "/opt/a", 1),
        ("bad", "bad", 0),
    ],
)
def test_a_fault_of_the_machine_that_names_other_files_is_another_one(before: str, then: str, new: int) -> None:
    court, answer = ruled(before, then)
    verdict = court.verdict(answer, (effects.DriverInstalled("==580.95.05"), effects.Restarted()))
    assert [one.why for one in verdict.new] == [then] * new


SAID = (bad("broken", InstallDriver(">=580")), ok("fine"), unknown("not readable"), not_applicable("nothing"))


@pytest.mark.parametrize("subjects", [FRAMEWORKS, MACHINE], ids=["framework", "machine"])
@pytest.mark.parametrize("own", SAID, ids=[one.kind.value for one in SAID])
@pytest.mark.parametrize("other", SAID, ids=[one.kind.value for one in SAID])
def test_a_remedy_is_proven_where_the_rule_says_so_then(subjects: Any, own: Answer, other: Answer) -> None:
    """What another rule could not tell is no reason against it; of a machine only running it tells."""

    def one(said: Answer, at_first: Answer) -> Rule[Any]:
        return Rule(subjects, lambda _, facts, __: at_first if facts.driver.release.get().branch < 500 else said)

    old = machine(driver=driver("470.256.02"))
    rules = {"own": one(own, bad("too old", InstallDriver(">=580"))), "other": one(other, ok("fine"))}
    answers = judge(old, MATRIX, rules)
    (answer,) = (one for one in answers if one.code == "own")
    verdict = RemedyVerifier(old, answers, MATRIX, rules, None).verdict(
        answer, (effects.DriverInstalled("==580.95.05"), effects.Restarted())
    )
    told = own.kind in {Status.OK, Status.NOT_APPLICABLE} or (own.kind is Status.UNKNOWN and subjects is MACHINE)
    assert verdict.proven is (told and other.kind is not Status.BAD)
    assert verdict.left_open == ("not readable" if own.kind is Status.UNKNOWN else "")
    assert [one.code for one in verdict.stands] == ["own"] * (own.kind is Status.BAD)
    assert [one.code for one in verdict.new] == ["other"] * (other.kind is Status.BAD)


def test_what_is_still_there_under_its_name_gives_it_to_nobody_else() -> None:
    """Two majors of cuDNN in one directory: what is wrong with the new one was not wrong before."""
    old, new = cudnn_copy("8.0.5"), cudnn_copy("7.6.5")
    assert _names(machine(cudnn=seen((old,))), machine(cudnn=seen((new, old)))) == {}
    assert _names(machine(cudnn=seen((old,))), machine(cudnn=seen((new,)))) == {new.label: old.label}


def test_facts_alone_are_enough_for_effects_that_touch_no_file() -> None:
    facts = machine(environments=seen((environment(frameworks=seen((framework(),))),)))
    assert isinstance(made(effects.SharedMemoryGiven(1 << 30), facts=facts).system.shm_bytes, Seen)


def test_what_follows_is_planned_for_what_is_there_then(tmp_path: Path) -> None:
    """A wheel that the first step brought, and that the second one damages, counts as installed: all files anew."""
    first, *_ = remedies_of("volta-cu130", "gpu-too-old-dropped", tmp_path)
    removed, again = list(first["commands"])[-2:]  # type: ignore[call-overload]
    assert removed.endswith("uninstall --python /home/user/project/.venv/bin/python nvidia-cudnn-cu13 &&")
    assert "--reinstall --no-deps nvidia-cudnn-cu12==" in again


def test_an_extra_brings_the_wheels_that_its_plugin_pins(tmp_path: Path) -> None:
    """The newest nvcc among them: JAX 0.4.35 cannot be imported beside it, and an older one follows."""
    first, *_ = remedies_of("jax-0.4.35-cpu-beside-torch", "cpu-only-wheel", tmp_path)
    assert list(first["commands"])[-1].endswith(  # type: ignore[call-overload]
        "'nvidia-cuda-nvcc-cu12<12.9'"
    )
