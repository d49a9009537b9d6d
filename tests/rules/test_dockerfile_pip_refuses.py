"""dockerfile-pip-refuses: pip of the system, by what its release accepts."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.model.finding import Status
from tests.commands.dockerfile.judged import facts
from tests.rules.case import answer

APT = "RUN apt-get update && apt-get install -y python3-pip python3-venv\n"
NOBLE, JAMMY, BOOKWORM = (f"FROM {name}\n{APT}" for name in ("ubuntu:24.04", "ubuntu:22.04", "debian:bookworm-slim"))
CUDA = f"FROM nvidia/cuda:12.8.1-runtime-ubuntu24.04\n{APT}"
BAD, OK, NONE = Status.BAD, Status.OK, Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"{NOBLE}RUN pip install torch==2.9.1\n", BAD),
        (f"{CUDA}RUN python3 -m pip install torch==2.9.1\n", BAD),
        (f"{BOOKWORM}RUN pip3 install -r requirements.txt\n", BAD),
        (f"{JAMMY}RUN pip install --break-system-packages torch==2.9.1\n", BAD),
        (f"{NOBLE}RUN pip install --break-system-packages torch==2.9.1\n", OK),
        (f"{NOBLE}ENV PIP_BREAK_SYSTEM_PACKAGES=1\nRUN pip install torch==2.9.1\n", OK),
        (f"{NOBLE}RUN rm /usr/lib/python3.12/EXTERNALLY-MANAGED && pip install torch==2.9.1\n", OK),
        (f"{NOBLE}RUN export PIP_BREAK_SYSTEM_PACKAGES=1 && pip install torch==2.9.1\n", OK),
        (f"{NOBLE}RUN pip config set global.break-system-packages true\nRUN pip install torch==2.9.1\n", OK),
        (f"{NOBLE}COPY pip.conf /etc/pip.conf\nRUN pip install torch==2.9.1\n", OK),
        (f'{NOBLE}RUN eval "$(conda shell.bash hook)" && conda activate a && pip install torch==2.9.1\n', OK),
        (f'{NOBLE}SHELL ["conda", "run", "-n", "a", "/bin/bash", "-c"]\nRUN pip install torch==2.9.1\n', OK),
        (f"{NOBLE}RUN ln -sf /usr/bin/python3.11 /usr/bin/python3\nRUN python3 -m pip install torch==2.9.1\n", OK),
        (f"{NOBLE}RUN ln -s /usr/bin/python3 /usr/bin/python && pip install torch==2.9.1\n", BAD),
        (f"{JAMMY}RUN pip install torch==2.9.1\n", OK),
        (f"{JAMMY}RUN pip install -U pip\nRUN pip install --break-system-packages torch==2.9.1\n", OK),
        (f"{NOBLE}RUN python3 -m venv /v && /v/bin/pip install torch==2.9.1\n", NONE),
        (f"{NOBLE}RUN python3 -m venv /v\nENV PATH=/v/bin:$PATH\nRUN pip install torch==2.9.1\n", NONE),
        (f"{NOBLE}RUN python3 -m venv /v && . /v/bin/activate && pip install torch==2.9.1\n", NONE),
        (f"{NOBLE}RUN pip install torch==2.9.1 || true\n", NONE),
        ("FROM python:3.12-bookworm\nRUN pip install torch==2.9.1\n", NONE),
        (f"FROM ubuntu:25.04\n{APT}RUN pip install torch==2.9.1\n", NONE),  # no row
    ],
)
def test_kinds(text: str, kind: Status, tmp_path: Path) -> None:
    found = answer("dockerfile-pip-refuses", facts(tmp_path, text))
    assert found.kind is kind, found
    if kind is BAD:
        assert found.evidence[0].line == 3
