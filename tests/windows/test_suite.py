"""What of the ordinary suite runs on Windows: what needs no fcntl, symbolic links, /proc or shell.

The rest says so by what it imports: tests/wheels.py, tests/lab/stub.py and whatever uses them lock files with fcntl.
"""

from __future__ import annotations

import re
import shutil

import pytest

from tests.windows.machine import ROOT, Windows

pytestmark = [pytest.mark.system, pytest.mark.slow]

FILES = (
    "compat/test_fit.py",
    "compat/test_overlap.py",
    "compat/base/test_paths.py",
    "compat/test_spec.py",
    "compat/test_specifier.py",
    "compat/test_version.py",
    "installers/test_effects.py",
    "installers/test_powershell.py",
    "loader/test_windows.py",
    "loader/test_dlls.py",
    "rules/test_dlls.py",
    "rules/test_host_compiler_unsupported.py",
    "rules/test_tf_native_windows_after_2_10.py",
    "rules/test_toolkit_path_conflict.py",
    "rules/test_windows_driver_missing.py",
    "rules/test_zlibwapi_missing.py",
)
_AT_LEAST = 450  # 488 on 2026-11-27


def test_by_the_python_of_windows(windows: Windows) -> None:
    shutil.copytree(ROOT / "tests", windows.at("tests"), ignore=shutil.ignore_patterns("__pycache__"))
    windows.put("pyproject.toml", ROOT / "pyproject.toml")
    names = [f"tests\\{one}".replace("/", "\\") for one in FILES]
    started = (
        "import gpudoctor, os, pytest, sys; here = gpudoctor.HERE; sys.path.insert(0, here); "
        "os.environ['PYTHONPATH'] = here; "
        "raise SystemExit(pytest.main(['-q', '-p', 'no:cacheprovider', *sys.argv[1:]]))"
    )
    done = windows.python("-c", started, *names)
    assert done.status == 0, done.out[-3000:]
    passed = re.search(r"(\d+) passed", done.out)
    assert passed is not None
    assert int(passed[1]) >= _AT_LEAST
