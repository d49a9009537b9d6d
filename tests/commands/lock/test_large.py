"""A lock file of thousands of packages, each with a marker of its own, takes linear time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from doctor.cli import execute

MARKER = "python_version >= '3.{minor}' and sys_platform == 'linux' and extra != 'x{number}'"
FORMS = {
    "poetry.lock": (
        '[metadata]\nlock-version = "2.1"\npython-versions = ">=3.9"\n',
        (
            '[[package]]\nname = "p{number}"\nversion = "1.0"\noptional = false\npython-versions = "*"\n'
            'groups = ["main"]\nmarkers = "{marker}"\nfiles = []\n'
        ),
    ),
    "uv.lock": (
        (
            'version = 1\nrevision = 3\nrequires-python = ">=3.9"\n[[package]]\nname = "own"\nversion = "1"\n'
            'source = {virtual = "."}\ndependencies = [{all}]\n'
        ),
        '[[package]]\nname = "p{number}"\nversion = "1.0"\nsource = {registry = "https://x.example/simple"}\n',
    ),
    "pdm.lock": (
        '[metadata]\ngroups = ["default"]\nlock_version = "4.5.0"\n[[metadata.targets]]\nrequires_python = ">=3.9"\n',
        '[[package]]\nname = "p{number}"\nversion = "1.0"\ngroups = ["default"]\nmarker = "{marker}"\nfiles = []\n',
    ),
    "pylock.toml": (
        'lock-version = "1.0"\ncreated-by = "x"\nrequires-python = ">=3.9"\n',
        '[[packages]]\nname = "p{number}"\nversion = "1.0"\nmarker = "{marker}"\n',
    ),
    "requirements.txt": ("", "p{number}==1.0 ; {marker}\n"),
}


def written(folder: Path, name: str, count: int) -> str:
    head, one = FORMS[name]
    markers = [MARKER.replace("{minor}", str(n % 13)).replace("{number}", str(n)) for n in range(count)]
    every = ", ".join(f'{{name = "p{n}", marker = "{marker}"}}' for n, marker in enumerate(markers))
    texts = [one.replace("{number}", str(n)).replace("{marker}", marker) for n, marker in enumerate(markers)]
    folder.mkdir()
    path = folder / name
    path.write_text(head.replace("{all}", every) + "".join(texts), encoding="utf-8")
    return str(path)


@pytest.mark.no_cover  # other tests run the same lines
@pytest.mark.parametrize("name", FORMS)
def test_thousands_of_markers(tmp_path: Path, name: str) -> None:
    taken = []
    for count in (500, 4_000):
        path = written(tmp_path / str(count), name, count)
        started = time.thread_time()
        assert execute(["check", "--lock", path, "--quiet"]) in {0, 4}
        taken.append(time.thread_time() - started)
    assert taken[1] < 16 * max(taken[0], 0.1), "more than linear"
    assert taken[1] < 4
