"""dockerfile-prefix-taken: installers of conda, and the directories that have one."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.model.finding import Status
from tests.commands.dockerfile.judged import facts
from tests.rules.case import answer

OLD = "FROM pytorch/pytorch:1.12.1-cuda11.3-cudnn8-runtime\n"
MINI = "https://repo.anaconda.com/miniconda/Miniconda3-latest-Linux-x86_64.sh"
FORGE = "https://github.com/conda-forge/miniforge/releases/latest/download/Miniforge3-Linux-x86_64.sh"
GET = f"RUN wget -q {MINI} -O ~/mini.sh && "
BAD, OK = Status.BAD, Status.OK


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"{OLD}{GET}/bin/bash ~/mini.sh -b -p /opt/conda\n", BAD),
        (f"{OLD}{GET}bash ~/mini.sh -b -u -p /opt/conda\n", OK),
        (f"{OLD}{GET}bash ~/mini.sh -bfp /opt/conda\n", OK),
        (f"{OLD}RUN rm -rf /opt/conda\n{GET}bash ~/mini.sh -b -p /opt/conda\n", OK),
        (f"{OLD}{GET}bash ~/mini.sh -b -p /opt/mine\n", OK),
        (f"FROM ubuntu:22.04\n{GET}bash ~/mini.sh -b -p /opt/conda\n", OK),
        (f"FROM ubuntu:22.04\n{GET}bash ~/mini.sh -b -p /c\nRUN curl -L {FORGE} -o m.sh && sh m.sh -bp /c\n", BAD),
        ("FROM pytorch/pytorch:2.9.1-cuda13.0-cudnn9-runtime\n" + GET + "bash ~/mini.sh -b -p /opt/conda\n", OK),
    ],
)
def test_kinds(text: str, kind: Status, tmp_path: Path) -> None:
    told = facts(tmp_path, text)
    found = answer("dockerfile-prefix-taken", told)
    assert found.kind is kind, found
    assert not told.dockerfile.get().unread, "an installer with a row brings no framework"
    if kind is BAD:
        assert found.evidence[0].line == text.count("\n")


def test_another_script_that_is_downloaded_is_not_read(tmp_path: Path) -> None:
    told = facts(tmp_path, "FROM ubuntu:22.04\nRUN wget https://example.org/setup.sh && bash setup.sh\n")
    assert [one.what for one in told.dockerfile.get().unread] == ["runs the script of https://example.org/setup.sh"]
