"""The command line: exit statuses, formats, one clear line for bad input."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from doctor.cli import execute
from doctor.rules.shared.engine import codes

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    return root


def test_an_empty_root_gets_an_answer(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = execute(["check", "--root", str(empty)])
    shown = capsys.readouterr()
    assert status in {0, 4}
    assert shown.err == ""
    assert "The stack" in shown.out
    assert all(len(line) <= 80 or str(empty) in line for line in shown.out.splitlines())


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["check", "--root", "/no/such/dir"], "/no/such/dir: not a directory"),
        (["check", "--format", "jsn"], "no format 'jsn'; did you mean json?"),
        (["check", "--only", "cudnn-mising"], "did you mean cudnn-missing"),
        (["check", "--skip", "zzzzzz"], "no rule 'zzzzzz'; none of the "),
        (["check", "--fail-on", "panic"], "known are error, info, warning"),
        (["check", "--nonsense"], "--nonsense"),
        (["check", "--python", "/no/such/python"], "/no/such/python"),
        (["check", "--timeout", "0"], "--timeout: give a number of seconds above 0"),
        (["check", "--timeout", "soon"], "--timeout 'soon': a time such as 5s, 500ms or 2m"),
        (["chekc"], "chekc"),
        (["check", "--output", "/no/such/dir/report.txt"], "/no/such/dir/report.txt: No such file or directory"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    argv: list[str], message: str, empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if "--root" not in argv and "--python" not in argv and argv[0] == "check":
        argv = [*argv, "--root", str(empty)]
    status = execute(argv)
    shown = capsys.readouterr()
    assert status == 2
    assert shown.out == ""
    assert message in shown.err
    assert len(shown.err.splitlines()) == 1
    assert "Traceback" not in shown.err


def test_a_group_alone_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["matrix"]) == 2
    assert "Commands:" in capsys.readouterr().err


def test_text_and_json_agree(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    as_text = execute(["check", "--root", str(empty)])
    text = " ".join(capsys.readouterr().out.split())
    as_json = execute(["check", "--root", str(empty), "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert as_text == as_json
    kinds = [answer["answer"] for answer in report["answers"]]
    for word, kind in (("fine", "ok"), ("not applicable", "not-applicable"), ("unknown", "unknown")):
        shown = re.search(rf"(\d+) {word} ", text)
        assert shown
        assert int(shown[1]) == kinds.count(kind)


def test_same_root_same_bytes(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = []
    for _ in range(2):
        execute(["check", "--root", str(empty), "--format", "json"])
        report = json.loads(capsys.readouterr().out)
        del report["elapsed_s"], report["made"]
        outputs.append(json.dumps(report))
    assert outputs[0] == outputs[1]


def test_list_only_skip(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["check", "--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == list(codes())
    assert execute(["check", "--list", "--only", "no-nvidia-gpu", "--only", "cudnn-missing"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert execute(["check", "--list", "--skip", "no-nvidia-gpu"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(codes()) - 1


def test_output_goes_to_the_file(empty: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "report.json"
    execute(["check", "--root", str(empty), "--format", "json", "--output", str(target)])
    assert capsys.readouterr().out == ""
    assert json.loads(target.read_text(encoding="utf-8"))["subject"]["kind"] == "root"


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["--version"]) == 0
    assert re.fullmatch(r"gpudoctor \d+\.\d+\.\d+\n", capsys.readouterr().out)
    assert execute(["check", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "Examples:" in shown
    assert "--root" in shown


def python(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *argv], capture_output=True, text=True, check=False)


def test_a_closed_pipe_is_no_traceback(empty: Path) -> None:
    code = f"import sys; from doctor.cli import main; sys.argv[1:] = ['check', '--root', {str(empty)!r}]; main()"
    done = subprocess.run(
        ["bash", "-c", f'{sys.executable} -c "$0" | head -1', code], capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr


HEAVY = {
    "requests",
    "numpy",
    "cupy",
    "torch",
    "rich",
    "pydantic",
    "importlib.metadata",
    "packaging",
    "pynvml",
    "asyncio",
    "http",
    "email",
    "tempfile",
    "ctypes",
}


def test_a_bare_check_loads_nothing_heavy(empty: Path) -> None:
    code = (
        "import sys; from doctor.cli import execute; "
        f"execute(['check', '--root', {str(empty)!r}, '--format', 'json', '--output', '/dev/null']); "
        "sys.stdout.write(' '.join(sys.modules))"
    )
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert loaded & HEAVY == set()
    assert loaded & {"installers.choose", "doctor.prescribe.remedies"} == set()  # for a remedy alone


MODULES_AT_MOST = 274  # of ours; each costs about 0.1 ms at the start of every check


@pytest.mark.parametrize("options", [[], ["--python", sys.prefix]])
def test_the_everyday_check_parses_no_options(options: list[str]) -> None:
    argv = repr(["check", *options])
    done = python("-c", f"import sys; from doctor.cli import execute; execute({argv}); print(' '.join(sys.modules))")
    loaded = done.stdout.split()
    assert "doctor.commands.check.command" in loaded
    assert "typer" not in loaded
    for_a_fault = ("installers.", "doctor.prescribe.", "doctor.changes", "doctor.probes.changes")  # of this machine
    ours = [name for name in loaded if name.startswith(("compat.", "doctor.")) and not name.startswith(for_a_fault)]
    assert len(ours) <= MODULES_AT_MOST


def test_explain_of_a_file_parses_no_options(tmp_path: Path) -> None:
    file = tmp_path / "line.txt"
    file.write_text("Torch not compiled with CUDA enabled\n", encoding="utf-8")
    argv = repr(["explain", str(file)])
    done = python("-c", f"import sys; from doctor.cli import execute; execute({argv}); print(' '.join(sys.modules))")
    assert "cpu-only-wheel" in done.stdout
    assert set(done.stdout.split()) & {"typer", "doctor.probes", "doctor.cli.explain"} == set()


def test_the_help_loads_no_probe_and_no_matrix() -> None:
    done = python("-c", "import sys; from doctor.cli import execute; execute(['--help']); print(' '.join(sys.modules))")
    loaded = set(done.stdout.split())
    assert "doctor.cli.check" in loaded
    assert loaded & {"doctor.probes", "compat.matrix", "doctor.commands.check.command", "json"} == set()


@pytest.mark.parametrize("style", ["text", "json"])
def test_a_terminal_without_unicode(style: str, tmp_path: Path) -> None:
    root = tmp_path / "wurzel-ü"
    root.mkdir()
    argv = ["check", "--root", str(root), "--format", style]
    done = subprocess.run(
        [sys.executable, "-c", "from doctor.cli import main; main()", *argv],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        check=False,
    )
    assert done.returncode in {0, 4}, done.stderr
    assert style == "text" or os.fsencode(json.loads(done.stdout)["subject"]["name"]) == os.fsencode(root)


def shell(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "GPUDOCTOR_CACHE": ""}
    script = line.replace("gpudoctor", f"{sys.executable} -m gpudoctor")
    return subprocess.run(["/bin/sh", "-c", script], cwd=cwd, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", ["check --root .", "check --root . --format json", "--version", "matrix list"])
@pytest.mark.parametrize(("where", "words"), [(">/dev/full", "no space left"), (">&-", "is closed")])
def test_what_cannot_be_printed_is_no_fault_of_ours(tmp_path: Path, command: str, where: str, words: str) -> None:
    done = shell(f"PYTHONPATH={ROOT} gpudoctor {command} {where}", tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert words in done.stderr


@pytest.mark.parametrize("command", ["verify --level load", "gate"])
def test_closed_streams_are_no_fault_of_ours(tmp_path: Path, command: str) -> None:
    """A stream that is closed is None in Python, and a file of ours could get its number."""
    without = shell(f"PYTHONPATH={ROOT} gpudoctor {command} 2>&- <&-", tmp_path)
    assert without.returncode in {0, 1, 2, 4}
    assert "fault of gpudoctor" not in without.stdout
    done = shell(f"PYTHONPATH={ROOT} gpudoctor {command} >&- 2>&- <&-", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


@pytest.mark.parametrize("command", ["explain", "explain -", "check --from -", "check --fix", "install history"])
def test_a_closed_input_is_an_empty_one(tmp_path: Path, command: str) -> None:
    done = shell(f"PYTHONPATH={ROOT} gpudoctor {command} <&-", tmp_path)
    assert (done.returncode, done.stderr.count("\n")) in {(2, 1), (0, 0)}, done.stderr


def test_a_closed_output_does_not_keep_a_file_from_being_written(tmp_path: Path) -> None:
    done = shell(f"PYTHONPATH={ROOT} gpudoctor check --root . --output report >&-", tmp_path)
    assert (done.returncode in {0, 4}, done.stderr) == (True, "")
    assert (tmp_path / "report").stat().st_size


def test_a_working_directory_that_is_gone_is_no_fault_of_ours(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "requirements.txt").write_text("torch==2.6.0\n")
    (tmp_path / "Dockerfile").write_text("FROM ubuntu:24.04\n")
    for command in (
        *(f"check --root {tmp_path}/root", "--version", "matrix list", f"which cudnn --root {tmp_path}/root"),
        *("check --lock ../requirements.txt", "check --dockerfile ../Dockerfile", "verify --cudnn x"),
    ):
        (tmp_path / "gone").mkdir()
        done = shell(f"rmdir {tmp_path}/gone; PYTHONPATH={ROOT} gpudoctor {command}", tmp_path / "gone")
        assert "fault of gpudoctor" not in done.stderr
        assert done.returncode != 3


def test_json_holds_nothing_that_steers_a_terminal(tmp_path: Path) -> None:
    strange = "a\x9b31m\x7f\u202eb\u2028"
    (tmp_path / "usr/local" / f"cuda-{strange}").mkdir(parents=True)
    site = tmp_path / "usr/lib/python3/dist-packages" / f"torch-1.0{strange}.dist-info"
    site.mkdir(parents=True)
    (site / "METADATA").write_text(f"Name: torch\nVersion: 1.0{strange}\n", encoding="utf-8")
    done = shell(f"PYTHONPATH={ROOT} gpudoctor check --format json --root .", tmp_path)
    assert json.loads(done.stdout)["schema"] == "gpudoctor.report/1"
    assert not set(done.stdout) & set("\x7f\x9b\u202e\u2028")


def test_what_is_complained_of_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["check", "--root", "/no\x1b]0;such\x07\x9bdirectory"]) == 2
    assert capsys.readouterr().err.rstrip("\n").isprintable()


@pytest.mark.skipif(os.name != "posix", reason="streams of POSIX")
@pytest.mark.parametrize("where", [">/dev/full", ">&-", "2>&-"])
def test_a_command_keeps_its_status_where_nothing_can_be_printed(tmp_path: Path, where: str) -> None:
    done = shell(f"PYTHONPATH={ROOT} gpudoctor run -- sh -c 'exit 7' {where} <&-", tmp_path)
    assert done.returncode == 7, done.stderr
