"""What a child that loads foreign code searches: as root, nothing that another user can change."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from doctor.commands.verify.trial import Case, try_framework
from doctor.host import NotRunnable
from doctor.host.child_search_path import safe_environ
from doctor.host.live import LiveHost
from doctor.probes.environment import _try_import
from tests import machine

AS_ROOT = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files to others")
USER_SITE = f".local/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A directory of another user's, with his packages, below one that is root's."""
    found = tmp_path / "theirs"
    packages = found / USER_SITE
    packages.mkdir(parents=True)
    (packages / "usercustomize.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    (packages / "more.pth").write_text(f"import os; open({str(tmp_path / 'ran')!r}, 'w')\n")
    os.chown(found, 1000, 1000)
    return found


def environ_of(**more: str) -> dict[str, str]:
    return safe_environ(LiveHost({"HOME": "/root", **more}))  # type: ignore[return-value]


@AS_ROOT
@pytest.mark.parametrize("name", ["PYTHONPATH", "PYTHONHOME", "LD_PRELOAD", "LD_LIBRARY_PATH"])
@pytest.mark.parametrize("below", ["", "/not/there/yet"])
def test_root_is_not_led_to_what_others_can_change(theirs: Path, name: str, below: str) -> None:
    joint = " " if name == "LD_PRELOAD" else ":"
    with pytest.raises(NotRunnable, match=f"{name}=.*can be changed by another user"):
        environ_of(**{name: joint.join(("/usr/lib/x.so", f"{theirs}{below}"))})


@AS_ROOT
def test_an_empty_entry_is_the_working_directory(theirs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(theirs)
    with pytest.raises(NotRunnable):
        environ_of(PYTHONPATH="/usr/lib:")
    assert environ_of(PYTHONPATH="") == {"HOME": "/root", "PYTHONPATH": ""}


@AS_ROOT
def test_roots_own_environment_stays_as_it_is() -> None:
    own = {"LD_LIBRARY_PATH": "/usr/lib:/not/there", "PYTHONPATH": "/usr/lib", "LD_PRELOAD": "libjemalloc.so.2"}
    assert environ_of(**own) == {"HOME": "/root", **own}


@AS_ROOT
@pytest.mark.parametrize("how", ["check --deep", "verify"])
def test_no_code_of_another_users_home_or_directory_is_run(
    theirs: Path, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By sudo that keeps HOME, in a directory of his."""
    for name in ("json", "os", "re", "traceback", "onnxruntime"):
        (theirs / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.chdir(theirs)
    interpreter = os.path.realpath(sys.executable)  # of no virtual environment: it knows packages of the user's own
    package = tmp_path / "onnxruntime"
    package.mkdir()
    host = LiveHost({"HOME": str(theirs), "PATH": os.environ["PATH"]})
    environment = machine.environment(interpreter=interpreter, prefix=str(tmp_path))
    framework = machine.framework("onnxruntime", "1.0", path=str(package), environment=str(tmp_path))
    if how == "verify":
        trial = try_framework(Case(host, environment, framework), ())
        assert [(one.name, one.status) for one in trial.stages][:1] == [("import", "failed")]
    else:
        assert _try_import(host, environment, framework, 20.0).state == "failed"
    assert not (tmp_path / "ran").exists()
