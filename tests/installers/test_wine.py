"""What Windows does with what is generated for it: copies, variables, and hooks of conda environments."""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat.need import AssignVariable
from installers.apply import apply
from installers.choose import plan_for
from installers.hooks import Found, hooks_plan
from installers.journal import State
from installers.methods.cudnn_archive import archive_plan
from installers.plan import Plan
from installers.render import script_powershell
from installers.step import Step
from installers.steps.add_to_path import AddToPath
from installers.steps.by_hand import ByHand
from installers.steps.copy_tree import CopyTree
from installers.steps.use_file import UseFile
from installers.steps.write_file import WriteFile
from tests.installers.archives import MATRIX, WINDOWS_ERAS, Era, pack, plan_of, served
from tests.installers.target import WINDOWS
from tests.installers.wine import Wine, calls

pytestmark = pytest.mark.system
HOME = "C:\\Program Files\\it's (a) & CUDA\\v12.8"
# What Copy-Into of a generated script does, in cmd: source, pattern, directory, and where replaced files are kept.
COPY_INTO = r"""
exit /b 0
:copy_into
if not exist "%~1\%~2" exit 1
if not exist "%~3" mkdir "%~3"
pushd "%~1"
for %%f in (%~2) do call :copy_one "%%f" "%~3" "%~4"
popd
exit /b 0
:copy_one
if exist "%~2\%~1" if not exist "%~3" mkdir "%~3"
if exist "%~2\%~1" copy /y "%~2\%~1" "%~3\%~1" >nul
copy /y "%~1" "%~2\%~1.gpudoctor-new" >nul
move /y "%~2\%~1.gpudoctor-new" "%~2\%~1" >nul
exit /b 0
""".splitlines()


@pytest.fixture(scope="module")
def wine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wine]:
    windows = Wine(tmp_path_factory.mktemp("wine"))
    try:
        yield windows
    finally:
        windows.close()


def toolkit(home: Path) -> None:
    """A CUDA directory with something of its own, and a file of an older cuDNN."""
    for folder in ("bin", "include", "lib"):
        (home / folder).mkdir(parents=True)
    (home / "bin/cudart64_12.dll").write_bytes(b"runtime")
    (home / "bin/cudnn64_9.dll").write_bytes(b"old")
    (home / "include/cudnn.h").write_bytes(b"old")


def tree(home: Path) -> dict[str, bytes]:
    return {path.relative_to(home).as_posix(): path.read_bytes() for path in home.rglob("*") if path.is_file()}


def on_linux(plan: Plan, archive: Path) -> Plan:
    """The same plan with the paths of this machine, so that apply can do it here."""
    left = (ByHand, AddToPath)  # what only a person or a Windows does
    return plan._replace(steps=tuple(_here(step, archive) for step in plan.steps if not isinstance(step, left)))


def _here(step: Step, archive: Path) -> Step:
    if isinstance(step, CopyTree):
        return step._replace(into=step.into.replace("\\", "/"))
    if isinstance(step, UseFile):
        return step._replace(path=str(archive), sha256=(hashlib.sha256(archive.read_bytes()).hexdigest(),))
    return step


@pytest.mark.parametrize("era", WINDOWS_ERAS, ids=lambda era: era.name)
def test_a_scripts_copies_leave_the_tree_that_apply_leaves(era: Era, wine: Wine, tmp_path: Path) -> None:
    (tmp_path / "served").mkdir()
    archive = pack(era, tmp_path / "served")
    here = tmp_path / "cuda"
    toolkit(here)
    with served(archive.parent) as url:
        apply(on_linux(plan_of(era, str(here), archive, url), archive), State(str(tmp_path / "state")))
    there, staging, replaced = (wine.drive / name for name in (HOME[3:].replace("\\", "/"), "staging", "replaced"))
    for one in (there, staging, replaced):
        shutil.rmtree(one, ignore_errors=True)
    toolkit(there)
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(staging / "unpacked")
    script = script_powershell.script(archive_plan(era.order(HOME), era.target, MATRIX), era.target)
    copies = [words[1:] for words in calls(script, "C:\\staging") if words[0] == "Copy-Into"]
    lines = []
    for source, pattern, into in copies:
        old = f"C:\\replaced\\{into.replace(':', '')}"
        lines.append(f'call :copy_into "{source}" "{pattern}" "{into}" "{old}"')
    wine.batch(*lines, *COPY_INTO)
    assert tree(there) == tree(here)
    assert tree(there)["bin/cudart64_12.dll"] == b"runtime"
    kept = tree(replaced / "C" / HOME[3:].replace("\\", "/"))
    assert kept["include/cudnn.h"] == b"old"


def test_a_variable_that_is_set_is_what_programs_see(wine: Wine) -> None:
    """As SetEnvironmentVariable(..., 'User') of the script does: in the registry."""
    value = "C:\\it's a (home) & more\\v12.8"
    plan = plan_for(AssignVariable("CUDA_PATH", value), WINDOWS, MATRIX)
    line = next(line for line in script_powershell.script(plan, WINDOWS).splitlines() if "'User')" in line)
    name, set_to, _ = line.removeprefix("[Environment]::SetEnvironmentVariable(").removesuffix(")").split(", ")
    found = set_to[1:-1].replace("''", "'")
    wine("reg.exe", "add", "HKCU\\Environment", "/v", name.strip("'"), "/t", "REG_SZ", "/d", found, "/f")
    assert wine.batch("set CUDA_PATH") == f"CUDA_PATH={value}\n"


@pytest.mark.parametrize(
    ("path", "active", "left"),
    [
        ("C:\\windows", f"{HOME}\\bin;C:\\windows", "C:\\windows"),
        (f"C:\\windows;{HOME}\\bin;D:\\x", f"C:\\windows;{HOME}\\bin;D:\\x", f"C:\\windows;{HOME}\\bin;D:\\x"),
        (f"C:\\windows;{HOME}\\bin", f"{HOME}\\bin;C:\\windows;{HOME}\\bin", f"C:\\windows;{HOME}\\bin"),
    ],
)
def test_hooks_of_a_conda_environment(path: str, active: str, left: str, wine: Wine) -> None:
    """Called as conda's activate.bat calls them; a directory that was on PATH before stays there."""
    plan = hooks_plan(Found("PATH", f"{HOME}\\bin"), str(wine.drive / "env"), "cuda-path", windows=True)
    for step in plan.steps:
        assert isinstance(step, WriteFile)
        Path(step.path).parent.mkdir(parents=True, exist_ok=True)
        Path(step.path).write_bytes("".join(f"{line}\r\n" for line in step.lines).encode())
    told = wine.batch(
        f'set "PATH={path}"',
        '@call "C:\\env\\etc\\conda\\activate.d\\cuda-path.bat"',
        "set PATH",
        '@call "C:\\env\\etc\\conda\\deactivate.d\\cuda-path.bat"',
        "set PATH",
        "if defined GPUDOCTOR_CUDA_PATH echo left",
    )
    shown = [line.partition("=")[2] for line in told.splitlines() if line.upper().startswith("PATH=")]
    assert shown == [active, left]
    assert not told.endswith("left\n")
