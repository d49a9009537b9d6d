"""gpudoctor.toml: made on one machine, it passes there and names what is different elsewhere."""

from __future__ import annotations

import datetime as dt
import json
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from compat.matrix import Matrix
from compat.need import as_json
from doctor.cli import execute
from doctor.commands.check.command import CheckSubject, ReportOptions, check, policy_of, report_of
from doctor.commands.gate.verdict import Level, verdict_of
from doctor.commands.policy import init as init_command
from doctor.commands.policy.form import schema
from doctor.commands.policy.load import BadPolicy, load, parse
from doctor.commands.policy.write import policy_text
from doctor.diagnose import apply_policy, exit_status, make_report
from doctor.host import BadRequest
from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment
from doctor.model.facts.policy import POLICY_FILE as FILE
from doctor.model.facts.policy import Policy
from doctor.model.finding import Answer, Severity, Status, Symptom, bad
from doctor.output.document import TextStyle
from doctor.prescribe.remedy_verifier import RemedyVerifier
from doctor.rules.shared.engine import judge, load_rules
from tests.machine import (
    cudnn_copy,
    driver,
    environment,
    framework,
    gpu,
    machine,
    pci_device,
    seen,
    toolkit,
    toolkits,
    unseen,
)

if sys.version_info >= (3, 11):
    from tomllib import loads
else:
    from tomli import loads
MATRIX = Matrix()
TRIPLE = '"' * 3
HOME = machine()
COMMITTED = Path(__file__).resolve().parents[3] / "docs" / "policy.schema.json"


@cache
def at_home() -> Policy:
    return parse(policy_text(HOME), FILE)


def judged(facts: Facts, policy: Policy) -> tuple[Answer, ...]:
    facts = facts._replace(policy=policy)
    return apply_policy(judge(facts, MATRIX, load_rules(("policy-not-met", "policy-exception-expired"))), policy)


def unmet(facts: Facts, policy: Policy) -> set[str]:
    return {one.subject for one in judged(facts, policy) if one.kind is Status.BAD}


def test_made_here_it_passes_here() -> None:
    answers = judged(HOME, at_home())
    assert {one.kind for one in answers if one.code == "policy-not-met"} == {Status.OK}
    assert len(at_home().requirements) == 8


ODD = (
    (environment(framework(), framework("jax", "0.8.0")), environment(framework(version="2.10.0+cu128"))),
    (environment(framework()), environment(framework(version="2.9.1+cu126"), prefix="/other")),
    (environment(framework(version="2.9.0a0+145A3a7.nv25.10")),),
    (environment(framework(version="2.9.1-rc1")),),
    (environment(framework(version="git-main", build=unseen())),),
)


@pytest.mark.parametrize("environments", ODD)
def test_what_several_environments_have_passes_there(environments: tuple[Environment, ...]) -> None:
    there = machine(environments=seen(environments))
    answers = judged(there, parse(policy_text(there), FILE))
    assert {one.kind for one in answers if one.code == "policy-not-met"} == {Status.OK}


def test_between_two_releases_is_not_everything() -> None:
    policy = parse(policy_text(machine(environments=seen(ODD[0]))), FILE)
    assert unmet(machine(environments=seen((environment(framework(version="2.11.0+cu128")),))), policy) == {
        "require.frameworks.jax",
        "require.frameworks.torch",
    }


TWO = (gpu(), gpu(number=1))
DIFFERENCES: Mapping[str, tuple[Facts, str]] = {
    "driver": (machine(driver=driver("570.86.15", "12.8")), "require.driver"),
    "gpu": (machine(gpus=seen((gpu("NVIDIA GeForce RTX 4080"),))), "require.gpu"),
    "gpu count": (machine(gpus=seen(TWO), pci=seen((pci_device(), pci_device()))), "require.gpu_count"),
    "gpu memory": (machine(gpus=seen((gpu(memory_bytes=seen(16 << 30)),))), "require.gpu_memory"),
    "compute capability": (machine(gpus=seen((gpu(capability="8.6"),))), "require.compute_capability"),
    "toolkit": (machine(toolkit=toolkits(toolkit("12.4.1"))), "require.cuda"),
    "cuDNN": (machine(cudnn=seen((cudnn_copy("9.5.1"),))), "require.cudnn"),
    "framework's version": (
        machine(environments=seen((environment(framework(version="2.8.0+cu128")),))),
        "require.frameworks.torch",
    ),
    "framework's build": (
        machine(environments=seen((environment(framework(version="2.9.1+cu126")),))),
        "require.frameworks.torch",
    ),
    "no framework": (
        machine(environments=seen((environment(framework("numba", "0.60.0")),))),
        "require.frameworks.torch",
    ),
    "no toolkit": (machine(toolkit=toolkits()._replace(toolkits=seen(()))), "require.cuda"),
    "no cuDNN": (machine(cudnn=seen(())), "require.cudnn"),
}


@pytest.mark.parametrize("name", sorted(DIFFERENCES))
def test_each_planted_difference_is_named(name: str) -> None:
    facts, key = DIFFERENCES[name]
    assert unmet(facts, at_home()) == {key}
    (answer,) = (one for one in judged(facts, at_home()) if one.kind is Status.BAD)
    line = policy_text(HOME).splitlines()[int(answer.evidence[0].source.rpartition(":")[2]) - 1]
    assert key.rpartition(".")[2] in line
    assert as_json(answer.needs[-1]).product == "by-hand"


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("driver", "sudo ubuntu-drivers install nvidia:580"),
        ("framework's version", "pip install --python /home/user/project/.venv/bin/python torch==2.9.1"),
        ("framework's build", "torch==2.9.1"),
        ("no framework", "torch==2.9.1"),
        ("gpu", ""),
        ("gpu memory", ""),
        ("cuDNN", ""),
    ],
)
def test_what_can_be_installed_is_prescribed_and_proven(name: str, command: str) -> None:
    """By the rules with the policy among them: what is given meets it, and leaves no other fault."""
    facts, rules = DIFFERENCES[name][0]._replace(policy=at_home()), load_rules()
    answers = apply_policy(judge(facts, MATRIX, rules), at_home())
    report = make_report(facts, answers, MATRIX, 0.0, RemedyVerifier(facts, answers, MATRIX, rules, None))
    (finding,) = (one for one in report.findings if one.code == "policy-not-met")
    *given, by_hand = finding.remedies
    assert "or change gpudoctor.toml:" in by_hand.summary
    assert [one.proven for one in given] == [True] * bool(command)
    assert not given or any(command in one for one in given[0].commands)


@pytest.mark.parametrize(
    "name", ["foo; rm -rf /", "--index-url=http://x", "file", "rollback", "restart", "schema", "../data/torch"]
)
def test_a_name_that_is_none_becomes_no_command(name: str) -> None:
    policy = parse(f'[require.frameworks]\n"{name}" = ">=1"\n', FILE)
    facts, rules = HOME._replace(policy=policy), load_rules()
    answers = judge(facts, MATRIX, rules)
    report = make_report(facts, answers, MATRIX, 0.0, RemedyVerifier(facts, answers, MATRIX, rules, None))
    (finding,) = (one for one in report.findings if one.code == "policy-not-met")
    assert all(line.startswith("#") for one in finding.remedies for line in one.commands)


def test_all_at_once() -> None:
    other = machine(
        driver=driver("570.86.15", "12.8"),
        gpus=seen(tuple(gpu("Tesla T4", "7.5", number=one, memory_bytes=seen(16 << 30)) for one in range(2))),
        toolkit=toolkits(toolkit("11.8")),
        cudnn=seen((cudnn_copy("8.9.7"),)),
        environments=seen((environment(framework("numba", "0.60.0")),)),
    )
    assert unmet(other, at_home()) == {one.key for one in at_home().requirements}


UNSEEN_COPY = cudnn_copy()._replace(version=unseen("stripped"))
UNSEEN_TOOLKIT = toolkit()._replace(cuda=unseen("no version.json"))


@pytest.mark.parametrize(
    ("facts", "keys"),
    [
        (machine(driver=driver()._replace(release=unseen("not loaded"))), "driver"),
        (machine(gpus=unseen("NVML hung")), "gpu gpu_count gpu_memory compute_capability"),
        (machine(gpus=seen((gpu(memory_bytes=unseen("no")),))), "gpu_memory"),
        (machine(gpus=seen((gpu()._replace(capability=unseen("no")),))), "compute_capability"),
        (machine(gpus=seen((gpu()._replace(name=unseen("no")),))), "gpu"),
        (machine(cudnn=unseen("not listed")), "cudnn"),
        (machine(cudnn=seen((UNSEEN_COPY,))), "cudnn"),
        (machine(cudnn=seen((UNSEEN_COPY, cudnn_copy("9.5.1")))), "cudnn"),
        (machine(cudnn=seen((UNSEEN_COPY, cudnn_copy()))), ""),
        (machine(toolkit=toolkits(UNSEEN_TOOLKIT)), "cuda"),
        (machine(toolkit=toolkits(UNSEEN_TOOLKIT, toolkit("12.4.1"))), "cuda"),
        (machine(toolkit=toolkits(UNSEEN_TOOLKIT, toolkit())), ""),
        (machine(environments=unseen("not listed")), "frameworks.torch"),
        (
            machine(environments=seen((environment(framework(version="2.9.1", build=unseen("no version.py"))),))),
            "frameworks.torch",
        ),
    ],
)
def test_what_could_not_be_seen_is_unknown(facts: Facts, keys: str) -> None:
    """One fact that is not seen, and nothing else against the machine: neither met nor a fault."""
    answers = [one for one in judged(facts, at_home()) if one.code == "policy-not-met"]
    unknown = {one.subject for one in answers if one.kind is Status.UNKNOWN}
    assert unknown == {f"require.{key}" for key in keys.split()}
    assert {one.kind for one in answers if one.subject not in unknown} <= {Status.OK}


@pytest.mark.parametrize(
    ("line", "facts", "is_met"),
    [
        ('gpu = "4090"', HOME, True),
        ('gpu = "NVIDIA*RTX 4090"', HOME, True),
        ('gpu = "RTX*"', HOME, False),
        ('gpu = ["H100", "RTX 4090"]', HOME, True),
        ("gpu_count = 1", HOME, True),
        ('gpu_count = ">=2"', HOME, False),
        ("gpu_memory = 24", HOME, True),
        ('gpu_memory = ">=24 GiB"', machine(gpus=seen((gpu(memory_bytes=seen(24564 << 20)),))), True),
        ('gpu_memory = ">24"', HOME, False),
        ('driver = "580"', HOME, True),
        ('driver = ">=580.95.05,<581"', HOME, True),
        ('cuda = ">=12.6,<13"', HOME, True),
        ('compute_capability = ">=9.0"', HOME, False),
        ('frameworks = { torch = ">=2.9,<2.11" }', HOME, True),
        ('frameworks = { torch = { build = "cu128" } }', HOME, True),
        ('frameworks = { Torch = { version = ">=3" } }', HOME, False),
        ('frameworks = { torch = { build = "CU128" } }', HOME, True),
        ('frameworks = { "nvidia_cudnn.cu12" = ">=9" }', HOME, True),  # that gpudoctor has no card of
        ('frameworks = { "nvidia_cudnn.cu12" = "<9" }', HOME, False),
        ('frameworks = { numpy = ">=1" }', HOME, False),
        (
            'frameworks = { flash_attn = ">=2" }',
            machine(environments=seen((environment(framework("flash-attn", "2.8.3")),))),
            True,
        ),
        ('cudnn = "==9.10.2.21"', HOME, True),
        ('cudnn = "==9.10.2"', HOME, True),
        ('cudnn = "==9.10.2.22"', HOME, False),
        ('cudnn = "==9.10.2.21"', machine(cudnn=seen((cudnn_copy(owner="a-copy 8.1"),))), False),
    ],
)
def test_one_line(line: str, facts: Facts, is_met: bool) -> None:
    (answer,) = (one for one in judged(facts, parse(f"[require]\n{line}\n", FILE)) if one.code == "policy-not-met")
    assert answer.kind is (Status.OK if is_met else Status.BAD), answer.why


@pytest.mark.parametrize(
    ("wanted", "card", "is_met"),
    [
        ("RTX 4070", "NVIDIA GeForce RTX 4070", True),
        ("RTX 4070", "NVIDIA GeForce RTX 4070 Ti", False),
        ("rtx 4070 ti", "NVIDIA GeForce RTX 4070 Ti SUPER", False),
        ("*4070*", "NVIDIA GeForce RTX 4070 Ti SUPER", True),
        ("RTX 4090", "NVIDIA GeForce RTX 4090 Laptop GPU", False),
        ("GTX 1070", "NVIDIA GeForce GTX 1070 with Max-Q Design", False),
        ("RTX 2080", "NVIDIA GeForce RTX 2080 Max-Q", False),
        ("A100", "NVIDIA A100-SXM4-40GB", True),
        ("A100", "NVIDIA RTX A1000", False),
        ("L4", "NVIDIA L40S", False),
        ("H100", "NVIDIA H100 80GB HBM3", True),
        ("-", "Tesla T4", False),
    ],
)
def test_the_name_of_a_card(wanted: str, card: str, is_met: bool) -> None:
    facts = machine(gpus=seen((gpu(card),)))
    (answer,) = (
        one for one in judged(facts, parse(f'[require]\ngpu = "{wanted}"\n', FILE)) if one.code == "policy-not-met"
    )
    assert answer.kind is (Status.OK if is_met else Status.BAD), answer.why


EXCEPTION = '[[findings.allow]]\ncode = "gpu-compute-mode"\nreason = "a queue owns it"\nexpires = {}\n'
ILL = machine(gpus=seen((gpu(compute_mode=seen("prohibited")),)))


def test_a_file_of_windows_editors(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"\xef\xbb\xbf[require]\r\ndriver = '>=580'\r\n")
    assert [one.wanted for one in load(str(tmp_path / FILE)).requirements] == [">=580"]


@pytest.mark.parametrize(("day", "status"), [("2999-01-31", 0), ('"2999-01-31"', 0), ("2020-01-31", 1)])
def test_an_exception_holds_until_its_day(day: str, status: int) -> None:
    policy = parse(EXCEPTION.format(day), FILE)
    facts = ILL._replace(policy=policy)
    answers = apply_policy(judge(facts, MATRIX, load_rules()), policy)
    report = make_report(facts, answers, MATRIX, 0.0)
    assert exit_status(report, Severity.ERROR) == status
    expired = [one for one in report.findings if one.code == "policy-exception-expired"]
    assert len(expired) == status
    assert (verdict_of(facts, answers, MATRIX).level is Level.NOT_READY) == bool(status)
    (told,) = (one for one in report.findings if one.code == "gpu-compute-mode")
    assert status or any("a queue owns it" in one.detail for one in told.evidence)


@pytest.mark.parametrize(("expires", "is_over"), [("2026-03-30", True), ("2026-03-31", False), ("2026-04-01", False)])
@pytest.mark.parametrize("time_of_day", [dt.time(0), dt.time(23, 59, 59)])
def test_an_exception_holds_on_its_last_day(
    expires: str, is_over: bool, time_of_day: dt.time, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Clock(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Clock:
            return cls.combine(dt.date(2026, 3, 31), time_of_day, tz)

    monkeypatch.setattr(dt, "datetime", Clock)
    (exception,) = parse(EXCEPTION.format(expires), FILE).exceptions
    assert (exception.expires, exception.is_over) == (expires, is_over)


def test_what_is_forbidden_is_an_error() -> None:
    policy = parse('[findings]\nforbid = ["power-thermal", "gpu-compute-mode"]\n', FILE)
    busy = gpu(compute_mode=seen("exclusive-process"), now=gpu().now._replace(processes=seen((7,))))
    facts = machine(gpus=seen((busy,)), policy=policy)
    (answer,) = apply_policy(judge(facts, MATRIX, load_rules(["gpu-compute-mode"])), policy)
    assert (answer.severity, answer.evidence[-1].source) == (Severity.ERROR, f"{FILE}:2")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[require]\n\ndriverr = '1'\n", "p.toml:3: require.driverr: no key 'driverr'; did you mean driver?"),
        ("[require]\ndriver = 580\n", "p.toml:2: require.driver: must be a range in quotes"),
        ("[require]\ndriver = 'new'\n", "p.toml:2: require.driver: no range: 'new'"),
        ("[require]\ndriver = ','\n", "p.toml:2: require.driver: no range: ','"),
        ("[require]\ndriver = '580-590'\n", "p.toml:2: require.driver: no range: '580-590'"),
        ("[require]\ngpu_count = '1-4'\n", "p.toml:2: require.gpu_count: no range"),
        ("[require]\ndriver = '===580.95.05'\n", "p.toml:2: require.driver: no range"),
        ("[require]\ngpu = []\n", "p.toml:2: require.gpu: a list of no names"),
        ("[require.frameworks]\ntorch = { build = ' ' }\n", "p.toml:2: require.frameworks.torch.build: a build"),
        (EXCEPTION.format("'20270131'"), "p.toml:4: findings.allow[0].expires: no day"),
        (EXCEPTION.format("'2027-W05-7'"), "p.toml:4: findings.allow[0].expires: no day"),
        (EXCEPTION.format("2027-01-31T00:00:00+14:00"), "p.toml:4: findings.allow[0].expires: no day"),
        (
            EXCEPTION.format("2999-01-31").replace("a queue owns it", " "),
            "p.toml:1: findings.allow[0]: reason is missing",
        ),
        ("[require]\ngpu = 'H100|'\n", "p.toml:2: require.gpu: several names are a list"),
        ("[require]\ngpu = ['H100', ' ']\n", "p.toml:2: require.gpu: a text in quotes"),
        ("[require]\ngpu_count = true\n", "p.toml:2: require.gpu_count"),
        ("[require.frameworks]\ntorch = { versoin = '1' }\n", "p.toml:2: require.frameworks.torch.versoin: no key"),
        ("[require.frameworks]\ntorch = 2\n", "p.toml:2: require.frameworks.torch: a table"),
        ("[requires]\n", "p.toml:1: requires: no key 'requires'; did you mean require?"),
        ("require = 1\n", "p.toml:1: require: a table"),
        ("[findings]\nforbid = ['no-such']\n", "p.toml:2: findings.forbid: no finding 'no-such'"),
        ("[findings]\nforbid = 3\n", "p.toml:2: findings.forbid: a text in quotes"),
        ("[[findings.allow]]\ncode = 'persistence-off'\n", "p.toml:1: findings.allow[0]: reason is missing"),
        (EXCEPTION.format("2999-01-01") + EXCEPTION.format("'soon'"), "p.toml:8: findings.allow[1].expires: no day"),
        ("[assume]\ndriver = 'x'\n", "p.toml:2: assume.driver: no driver release"),
        ("[environments]\npython = 3\n", "p.toml:2: environments.python"),
        ("[require\n", "p.toml: no TOML"),
        ("a = 1\na = 2\n", "p.toml: no TOML"),
        ("x = " + "[" * 4000, "p.toml: no TOML"),
        (f"x = {'y' * 4096}", "p.toml:1: the line has more than"),
    ],
)
def test_errors_name_line_and_key(text: str, says: str) -> None:
    with pytest.raises(BadPolicy) as caught:
        parse(text, "p.toml")
    assert str(caught.value).startswith(says)


LONG_S = 2.0  # far more than any of them takes


@pytest.mark.parametrize(
    "text",
    [
        "[[findings.allow]]\n" * 3400,
        f"x = {TRIPLE}\n[{' ' * 4000}\n{TRIPLE}",
        f"{'a.' * 2000}a = 1\n",
        f"{'a.' * 30000}a = 1\n",
        f'"{"k" * 4000}" = 1\n',
        f"[findings]\nforbid = ['{'a' * 4000}']\n",
        f"[require]\ngpu_count = {'9' * 4000}\n",
        f"[require]\ndriver = '{'>=1,' * 900}x'\n",
        f"[require]\ngpu = '{'n*' * 2000}'\n",
    ],
    ids=range(9),
)
def test_bounded(text: str) -> None:
    started = time.thread_time()
    with suppress(BadPolicy):
        judged(HOME, parse(text, "p.toml"))
    assert time.thread_time() - started < LONG_S


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "large").write_bytes(b"#" * ((1 << 16) + 1))
    os.mkfifo(tmp_path / "pipe")  # never waited for, nor is a device read
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name, says in {
        "missing": "no such file",
        "binary": "not UTF-8",
        "large": "larger",
        "loop": "loop",
        **dict.fromkeys((".", "pipe", "zero"), "not a regular file"),
    }.items():
        with pytest.raises(BadPolicy, match=says):
            load(str(tmp_path / name))


def test_the_committed_schema_is_that_of_the_reader() -> None:
    assert json.loads(COMMITTED.read_text()) == schema()
    jsonschema.Draft202012Validator.check_schema(schema())


def test_what_is_written_is_of_the_schema() -> None:
    plain = loads(policy_text(HOME))
    validator = jsonschema.Draft202012Validator(schema())
    assert list(validator.iter_errors(plain)) == []
    wrongs: tuple[dict[str, Any], ...] = (
        {"require": {"driverr": "1"}},
        {"findings": {"allow": [{"code": "x"}]}},
        {"x": {}},
    )
    for wrong in wrongs:
        assert list(validator.iter_errors(wrong))


# By the command line


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def checked(root: Path, **options: Any) -> tuple[str, int]:
    subject = CheckSubject(root=str(root), only=("policy-not-met", "policy-exception-expired"), **options)
    return check(subject, ReportOptions(), TextStyle())


def test_it_is_found_in_the_current_directory_and_said(root: Path) -> None:
    assert "Policy" not in checked(root)[0]
    (root.parent / FILE).write_text('[require.frameworks]\ntorch = "2.9"\n')
    text, status = checked(root)
    assert "gpudoctor.toml · 1 requirement" in text
    assert "require.frameworks.torch requires >=2.9" in text
    assert status == 1
    assert checked(root, policy="")[1] == 0
    (root.parent / "other.toml").write_text("")
    assert "other.toml" in checked(root, policy="other.toml")[0]
    (root.parent / FILE).unlink()
    (root.parent / FILE).symlink_to("lost.toml")
    with pytest.raises(BadPolicy, match="no such file"):  # one that guards nothing is not passed over in silence
        checked(root)


def test_a_disk_is_judged_for_what_is_assumed(root: Path) -> None:
    wanted = '[require]\ndriver = ">=580"\ncompute_capability = ">=9"\n'
    (root.parent / FILE).write_text(wanted)
    assert checked(root)[1] == 4  # a disk has no driver that could be seen
    (root.parent / FILE).write_text(f'{wanted}[assume]\ndriver = "570.86.15"\ngpu = "H100"\n')
    text, status = checked(root)
    assert ("the driver is 570.86.15" in text, "compute_capability" in text, status) == (True, False, 1)
    assert "the driver is 580" not in checked(root, assume_driver="580.95.05")[0]


def test_a_bad_policy_is_one_line(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root.parent / FILE).write_text("[require]\nx = 1\n")
    assert execute(["check", "--root", str(root)]) == 2
    said = capsys.readouterr().err
    assert (said.count("\n"), "gpudoctor.toml:2: require.x" in said) == (1, True)


def test_environments_are_those_of_the_policy(root: Path) -> None:
    (root.parent / FILE).write_text('[environments]\npython = ["./missing"]\n')
    with pytest.raises(BadRequest, match="missing"):
        report_of(CheckSubject(), 0.0)


def test_init_writes_and_never_overwrites(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["policy", "init", "--root", str(root), "--force"]
    assert execute(argv) == 0
    assert policy_of(None).path == FILE
    assert execute(argv) == 2
    assert "is there already" in capsys.readouterr().err
    assert execute([*argv, "--output", "-"]) == 0
    assert capsys.readouterr().out == (root.parent / FILE).read_text()


@pytest.mark.parametrize("output", [FILE, "sub/p.toml", "-"])
def test_init_remembers_which_environments_it_looked_at(root: Path, output: str) -> None:
    """Who judges by it would look at the active one instead, and miss the frameworks of these."""
    (root.parent / "sub").mkdir()
    (root.parent / "mine" / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
    (root.parent / "mine" / "pyvenv.cfg").write_text("version = 3.12.4\n")
    printed = init_command.init(init_command.Options(pythons=("./mine", "python3"), output=output, is_forced=True))
    policy = parse(printed, FILE) if output == "-" else load(output)
    assert policy.environments == (str(root.parent / "mine") if "/" in output else "./mine", "python3")


def test_init_wants_a_machine_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(init_command, "look", lambda *_: ILL)
    with pytest.raises(BadRequest, match="gpu-compute-mode"):
        init_command.init(init_command.Options(output="-"))
    assert 'driver = ">=580.95.05"' in init_command.init(init_command.Options(output="-", is_forced=True))


def test_init_names_the_errors_that_check_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another finding explains is no code that `check` shows; no GPU where none is expected is no error."""
    explained = bad("a symptom")._replace(code="cudnn-missing", subject="here")
    root_cause = bad("a cause", explains=(Symptom("cudnn-missing"),))._replace(code="no-nvidia-gpu", subject="here")
    monkeypatch.setattr(init_command, "answers_under_policy", lambda *_: (explained, root_cause))
    with pytest.raises(BadRequest, match=r"finds errors \(no-nvidia-gpu\)"):
        init_command.init(init_command.Options(output="-"))
    monkeypatch.setattr(init_command, "answers_under_policy", lambda *_: (root_cause._replace(severity=Severity.INFO),))
    assert init_command.init(init_command.Options(output="-"))
