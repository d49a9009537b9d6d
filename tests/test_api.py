"""What a program may call: typed values, one readable error, and nothing of ours in the caller."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gpudoctor
from gpudoctor import GpuStackError

ROOT = Path(__file__).resolve().parent.parent


def test_a_check_of_a_root(tmp_path: Path) -> None:
    report = gpudoctor.check(root=str(tmp_path))
    assert (report.exit_status, report.raw["schema"]) == (0, "gpudoctor.report/1")
    assert report.facts["driver"]["release"]["unseen"]
    assert str(report).startswith("No fault found")
    assert repr(report) == "<Report healthy: no findings>"
    assert report._repr_html_() == f"<p>GPU stack: <b>{report.verdict}</b></p>"


def test_findings_have_their_commands(tmp_path: Path) -> None:
    """A policy that no machine meets."""
    policy = tmp_path / "wanted.toml"
    policy.write_text('[require]\ndriver = ">=9999"\ngpu = "<b>card</b>"\n')
    report = gpudoctor.check(policy=str(policy))
    found = [one for one in report.findings if one.code == "policy-not-met"]
    assert report.exit_status in {1, 4}
    assert all(one.severity == "error" and one.docs for one in found)
    assert "<b>card" not in report._repr_html_()


def test_a_hostile_machine_in_a_notebook() -> None:
    """Nothing of it is mark-up, drives a terminal, or cannot be sent to the browser."""
    text = "<b>\x1b[31m\udcff\u202e"
    names = ("code", "severity", "subject", "summary", "explained_by", "docs")
    finding = gpudoctor._finding({**dict.fromkeys(names, text), "remedies": [{"commands": [f"{text}\nsecond"]}]})
    facts = {"environments": [{"prefix": "/elsewhere"}]}
    report = gpudoctor.Report("broken", (finding,), 1, {"subject": {"kind": "live"}, "facts": facts})
    page = report._repr_html_()
    for one in (page, str(report)):
        one.encode()
        assert "\x1b" not in one
        assert "\u202e" not in one
    assert "<b>?" not in page
    assert "?\nsecond" in page
    assert f"Not the environment of this kernel, which is {sys.prefix}." in page
    assert "Restart the kernel" in page


def test_the_environment_of_this_program_is_the_one_that_is_checked() -> None:
    assert "Not the environment" not in gpudoctor.check()._repr_html_()


def test_what_a_program_requires() -> None:
    with pytest.raises(GpuStackError, match="no-such-framework") as refused:
        gpudoctor.require(cuda=False, no_such_framework=">=1")
    assert "gpudoctor check" in str(refused.value)
    assert gpudoctor.require(cuda=False).raw["schema"] == "gpudoctor.report/1"


@pytest.mark.parametrize(("text", "wanted"), [("16GiB", ">=16"), ("16 GB", ">=16"), (">=24", ">=24"), ("8", ">=8")])
def test_memory(text: str, wanted: str) -> None:
    assert gpudoctor._memory(text) == wanted


def test_questions() -> None:
    assert gpudoctor.can("torch==2.9.1", gpu="H100")["verdict"] == "yes"
    assert gpudoctor.solve("torch", gpu=["RTX 4090"], driver="580.95")["schema"] == "gpudoctor.solve/1"
    assert gpudoctor.which("cudnn")["schema"] == "gpudoctor.which/1"
    causes = gpudoctor.explain("OSError: libcudnn.so.8: cannot open shared object file: No such file")["causes"]
    assert causes[0]["code"] == "cudnn-missing"


def test_an_answer_that_there_is_none() -> None:
    with pytest.raises(GpuStackError, match="no product 'nosuch'"):
        gpudoctor.can("nosuch")


def test_an_argument_that_is_too_long_for_a_process() -> None:
    with pytest.raises(GpuStackError, match="did not start"):
        gpudoctor.can("x" * (3 << 20))


def test_nothing_of_ours_comes_into_the_program(tmp_path: Path) -> None:
    for name in ("doctor", "compat", "installers"):
        (tmp_path / f"{name}.py").write_text("mine = True\n")
    program = (
        f"import sys; sys.path.insert(1, {str(ROOT)!r}); import doctor, compat, gpudoctor; "
        "gpudoctor.explain('x'); assert doctor.mine and compat.mine; "
        "print(sorted(set(sys.modules) & {'installers', 'typer'}))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_no_name_is_taken_for_an_option(tmp_path: Path) -> None:
    """A name may come from a file of somebody's: it writes nothing, and no help is printed in place of an answer."""
    mine = tmp_path / "mine"
    calls: tuple[Callable[[], object], ...] = (
        lambda: gpudoctor.solve("torch", "-o", str(mine)),
        lambda: gpudoctor.can("--help"),
        lambda: gpudoctor.which(f"--output={mine}"),
        lambda: gpudoctor.can("torch==2.9.1", gpu=f"--output={mine}"),
    )
    for call in calls:
        with pytest.raises(GpuStackError, match="gpudoctor: "):
            call()
    assert not mine.exists()


@pytest.mark.parametrize(
    "ranges",
    [
        {"torch": 2.6},
        {"torch": None},
        {"torch": ""},
        {"gpu_memory": 16},
        {"driver": 580},
        {"to\nrch": ">=2"},
        {'torch"\n[[exception]]\ncode = "x': ">=2"},
        {"policy": "/etc/gpu.toml", "torch": ">=2"},
    ],
)
def test_what_is_no_range(ranges: dict[str, Any]) -> None:
    with pytest.raises(GpuStackError, match=r"^require\("):
        gpudoctor.require(cuda=False, **ranges)


def test_what_no_command_line_can_hold() -> None:
    calls: tuple[Callable[[], object], ...] = (
        lambda: gpudoctor.check(python="a\0b"),
        lambda: gpudoctor.can("torch==2.9.1", gpu="RTX 4090", driver=580),  # type: ignore[arg-type]
        lambda: gpudoctor.explain(b"bytes"),  # type: ignore[arg-type]
    )
    for call in calls:
        with pytest.raises(GpuStackError):
            call()
    assert gpudoctor.explain("libcudnn.so.8: cannot open shared object file \udc80")["causes"]


@pytest.mark.parametrize("ranges", [{"torch": ">=99"}, {"driver": "lots"}])
def test_no_file_is_named_that_is_gone(ranges: dict[str, Any]) -> None:
    with pytest.raises(GpuStackError, match=r"require\(\)") as refused:
        gpudoctor.require(cuda=False, **ranges)
    assert "required.toml" not in str(refused.value)
