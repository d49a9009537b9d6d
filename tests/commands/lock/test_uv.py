"""What uv itself installs from a lock file (`uv export --frozen`), and what gpudoctor reads of it.

The lock files are made by `uv lock` from the user's package index.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement

from compat.spec import normal
from doctor.commands.check.command import CheckSubject, report_of
from doctor.script.locks.package import Wanted
from doctor.script.locks.read import names_of, packages_of, parse_lock

pytestmark = pytest.mark.slow
PLATFORMS = (("linux", "x86_64"), ("linux", "aarch64"), ("windows", "x86_64"), ("macos", "aarch64"))
PYTHON = f"3.{sys.version_info.minor}"  # uv can only try to install for one that is here
HEAD = '[project]\nname = "mine"\nversion = "0.1"\nrequires-python = ">=3.11"\n'


class Project(NamedTuple):
    text: str
    choices: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (((), ()),)  # extras and groups
    members: tuple[tuple[str, str], ...] = ()


PROJECTS = {
    "torch with its companions": Project(
        HEAD + 'dependencies = ["torch==2.9.1", "torchvision", "onnxruntime-gpu ; sys_platform == \'linux\'"]\n'
        '[dependency-groups]\ndev = ["pytest"]\n',
        (((), ()), ((), ("dev",))),
    ),
    "extras that exclude each other": Project(
        HEAD + 'dependencies = ["einops"]\n[project.optional-dependencies]\n'
        'cpu = ["onnxruntime==1.22.0"]\ngpu = ["onnxruntime-gpu==1.22.0", "numpy<2"]\nnew = ["numpy>=2.2"]\n'
        '[tool.uv]\nconflicts = [[{ extra = "gpu" }, { extra = "new" }]]\n',
        (((), ()), (("cpu",), ()), (("gpu",), ()), (("new",), ()), (("cpu", "new"), ())),
    ),
    "a release for each system": Project(
        HEAD + "dependencies = [\"torch==2.8.0 ; sys_platform == 'linux'\", "
        "\"torch==2.7.1 ; sys_platform != 'linux'\", \"triton ; platform_machine == 'x86_64'\"]\n",
    ),
    "jax and groups": Project(
        HEAD + "dependencies = [\"jax[cuda12]==0.6.2 ; sys_platform == 'linux'\", "
        "\"jax==0.6.2 ; sys_platform != 'linux'\"]\n"
        '[dependency-groups]\ntest = ["pytest", {include-group = "lint"}]\nlint = ["ruff"]\n',
        (((), ()), ((), ("test",)), ((), ("lint",))),
    ),
    "TensorFlow with its libraries": Project(
        HEAD.replace("3.11", "3.11,<3.13")
        + 'dependencies = ["tensorflow[and-cuda]==2.18.0 ; sys_platform == \'linux\'", "keras<3.10"]\n',
    ),
    "a workspace": Project(
        HEAD + 'dependencies = ["part", "cupy-cuda12x==13.6.0"]\n[tool.uv.workspace]\nmembers = ["part"]\n'
        "[tool.uv.sources]\npart = { workspace = true }\n",
        members=(
            (
                "part/pyproject.toml",
                '[project]\nname = "part"\nversion = "1"\nrequires-python = ">=3.11"\ndependencies = ["numba"]\n',
            ),
        ),
    ),
}


def uv(folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    given = {**os.environ, "UV_PYTHON_DOWNLOADS": "never"}
    return subprocess.run([program, *argv], cwd=folder, env=given, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = {}
    for name, project in PROJECTS.items():
        folder = tmp_path_factory.mktemp("project")
        (folder / "pyproject.toml").write_text(project.text)
        for file, text in project.members:
            (folder / file).parent.mkdir()
            (folder / file).write_text(text)
        ran = uv(folder, "lock", "--quiet")
        if ran.returncode != 0:
            pytest.skip(f"uv lock: {ran.stderr[-300:]}")
        made[name] = folder
    return made


def by_uv(folder: Path, extras: tuple[str, ...], groups: tuple[str, ...], platform: tuple[str, str]) -> set[str]:
    options = [f"--extra={one}" for one in extras] + [f"--group={one}" for one in groups]
    given = ("--frozen", "--offline", "--no-hashes", "--no-header", "--no-annotate", "--no-emit-workspace")
    ran = uv(folder, "export", *given, "--no-default-groups", *options)
    assert ran.returncode == 0, ran.stderr
    environment = {**names_of(*platform, "3.12"), "extra": ""}
    found = set()
    for line in filter(None, ran.stdout.splitlines()):
        asked = Requirement(line)
        if asked.marker is None or Marker(str(asked.marker)).evaluate(environment):
            found.add(f"{normal(asked.name)}{asked.specifier}")
    return found


@pytest.mark.parametrize("name", PROJECTS)
def test_the_same_packages_as_uv(name: str, locked: dict[str, Path]) -> None:
    folder = locked[name]
    text = (folder / "uv.lock").read_text()
    document = parse_lock("uv.lock", text, "uv.lock")
    for (extras, groups), platform in product(PROJECTS[name].choices, PLATFORMS):
        wanted = Wanted(names_of(*platform, "3.12"), frozenset(extras), frozenset(groups))
        found = packages_of(document, text, "uv.lock", wanted, "")
        ours = {f"{normal(one.name)}=={one.version}" for one in found}
        assert ours == by_uv(folder, extras, groups, platform), (extras, groups, platform)


@pytest.mark.parametrize(
    ("name", "old", "new", "is_stale"),
    [
        ("torch with its companions", "torch==2.9.1", "torch==2.8.0", True),
        ("torch with its companions", '"torchvision"', '"torchvision", "torchaudio"', True),
        ("torch with its companions", "", "# nothing else\n", False),
        ("jax and groups", '"pytest"', '"pytest>=99"', True),
        ("a release for each system", "torch==2.7.1", "torch==2.7.0", True),
        ("extras that exclude each other", "numpy<2", "numpy<1.26", True),
    ],
)
def test_stale_is_what_uv_calls_so(
    name: str, old: str, new: str, *, is_stale: bool, locked: dict[str, Path], tmp_path: Path
) -> None:
    shutil.copytree(locked[name], tmp_path / "copy")
    folder = tmp_path / "copy"
    (folder / "pyproject.toml").write_text(
        PROJECTS[name].text.replace(old, new, 1) if old else new + PROJECTS[name].text
    )
    ran = uv(folder, "lock", "--check")
    said = report_of(CheckSubject(lock=str(folder / "uv.lock"), platform="linux/amd64", policy=""), 0.0)
    found = {one.code for one in said.findings}
    assert (ran.returncode != 0) == is_stale, ran.stderr
    assert ("lock-stale" in found) == is_stale


@pytest.mark.parametrize("name", PROJECTS)
def test_a_wheel_that_uv_finds_is_found(name: str, locked: dict[str, Path]) -> None:
    """Every package that uv would install here has a file, by gpudoctor's reading of the tags, and the reverse."""
    folder = locked[name]
    for platform, named in (
        (("linux", "x86_64"), "x86_64-manylinux_2_40"),
        (("linux", "aarch64"), "aarch64-manylinux_2_40"),
    ):
        given = ("--dry-run", "--frozen", "--offline", "--no-default-groups", "--python-platform", named)
        ran = uv(folder, "sync", *given, "--python", sys.executable)
        system = f"linux/{'amd64' if platform[1] == 'x86_64' else 'arm64'}"
        subject = CheckSubject(lock=str(folder / "uv.lock"), platform=system, python_version=PYTHON, policy="")
        lacking = report_of(subject, 0.0).facts.dockerfile.get().no_wheels
        refused = "doesn't have a source distribution or wheel" in " ".join(ran.stderr.split())
        assert refused or ran.returncode == 0 or "offline" in ran.stderr, ran.stderr
        assert refused == bool(lacking), (platform, lacking, ran.stderr[-300:])
