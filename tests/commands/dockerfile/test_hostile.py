"""What is no Dockerfile ends in one line, and what is absurd in bounded time."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from doctor.commands.check.command import CheckSubject, ReportOptions, report_of
from doctor.commands.install.fix import CannotMend, Talk, fix
from doctor.host import BadRequest
from doctor.output.document import TextStyle
from installers.run import ExecutionOptions
from tests.commands.dockerfile.judged import report

LONG_S = 5.0  # of CPU: a busy machine takes its time
NO_DOCKERFILE = {
    "a line of 10 MB": "FROM a\nRUN " + "x" * (10 << 20),
    "NUL": "FROM a\0b\n",
    "nothing": "\n# a comment\n",
    "no FROM": "ARG A=1\n",
    "RUN first": "RUN true\nFROM a\n",
    "another language": "version: '3'\nservices:\n",
    "here-document without an end": "FROM a\nRUN <<EOF\necho\n",
    "stages": "FROM a\n" * 100_000,
    "stages in a small file": "FROM a\n" * 2_000,
    "instructions": "FROM a\n" + "RUN x\n" * 20_000,
    "an empty image": "ARG A=\nFROM $A\n",
    "FROM of four words": "FROM a as b c\n",
    "an escape of its own": "# escape=x\nFROM a\n",
}
ABSURD = {
    "doubling": "FROM a\nENV A=xxxxxxxx\n" + "ENV A=$A$A$A$A\n" * 200 + "RUN pip install torch==$A\n",
    "loops": "ARG A=$B\nARG B=$A\nFROM a:$A\nARG A=$A\nENV A=$A B=${A:-${B:-$A}}\nRUN pip install torch==$A$B\n",
    "a value in many places": "FROM a\nENV A=" + "y" * 60_000 + "\nRUN echo " + "$A " * 2_000,
    "brackets": "FROM a\nRUN " + "$(" * 20_000 + "(" * 20_000,
    "quotes": "FROM a\nRUN " + "\"'" * 30_000,
    "here-documents": "FROM a\nRUN echo '" + " <<A" * 50_000 + "'\n",
    "a chain of stages": "FROM a AS s0\n" + "".join(f"FROM s{n} AS s{n + 1}\nENV A{n}=1\n" for n in range(900)),
    "itself": "FROM a AS b\nCOPY --from=b /x /x\nCOPY --from=7 /x /x\nFROM b AS a\n",
    "braces": "FROM a\nENV A=" + "${" * 100_000 + "\n",
    "ends in a continuation": "FROM a\nRUN x \\",
    "bytes": "FROM a\nRUN \udcff\n",
    "JSON": "FROM a\nRUN " + "[" * 50_000,
}


@pytest.mark.parametrize("name", NO_DOCKERFILE)
def test_one_line(name: str, tmp_path: Path) -> None:
    began = time.process_time()
    with pytest.raises(BadRequest) as error:
        report(tmp_path, NO_DOCKERFILE[name])
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400
    assert time.process_time() - began < LONG_S


@pytest.mark.parametrize("name", ABSURD)
def test_bounded(name: str, tmp_path: Path) -> None:
    file = tmp_path / "Dockerfile"
    file.write_bytes(ABSURD[name].encode("utf-8", "surrogateescape"))
    began = time.process_time()
    report_of(CheckSubject(dockerfile=str(file), platform="linux/amd64", policy=""), time.perf_counter())
    assert time.process_time() - began < LONG_S


def test_no_file_is_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "none", "\0"):
        with pytest.raises(BadRequest):
            report_of(CheckSubject(dockerfile=str(path)), time.perf_counter())


@pytest.mark.parametrize(
    "more",
    [
        {"root": "/"}, {"image": "x.tar"}, {"config": "x"}, {"pythons": ("python3",)}, {"deep": True},
        {"frameworks": ("torch",)}, {"target": "nowhere"}, {"target": "-1"},
    ],
)  # fmt: skip
def test_what_makes_no_sense_together(more: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(BadRequest):
        report(tmp_path, "FROM a\n", **more)


def test_options_of_others() -> None:
    with pytest.raises(BadRequest):
        report_of(CheckSubject(target="x"), time.perf_counter())
    for more in ({"dockerfile": "x"}, {"target": "x"}):
        with pytest.raises(BadRequest):
            report_of(CheckSubject(source="-", **more), time.perf_counter())  # type: ignore[arg-type]
    with pytest.raises(CannotMend, match="--lock"):
        fix(CheckSubject(lock="x"), ReportOptions(), TextStyle(), Talk(print, lambda _: "q"), ExecutionOptions())
