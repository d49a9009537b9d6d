"""Environments in every layout, as files: which are looked at, what is read of them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from doctor.host import BadRequest
from doctor.host.base import FileHost
from doctor.host.live import LiveHost
from doctor.model.facts.environment import Distribution, Environment, Framework
from doctor.model.facts.seen import Seen, Unseen
from doctor.probes import Guard, environment
from doctor.pyenv.prefixes import NoSuchInterpreter
from tests import machine
from tests.probes.pretend import PretendHost
from tests.probes.tree import Tree, live, offline, plant

CFG = "home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.12.4\n"
SITE = "lib/python3.12/site-packages"
VENV: Tree = {
    "venv/pyvenv.cfg": CFG,
    "venv/bin/python": "-> /usr/bin/python3.12",
    f"venv/{SITE}/torch-2.9.1+cu128.dist-info/METADATA": "Name: torch\n",
    f"venv/{SITE}/torch/version.py": "__version__ = '2.9.1+cu128'\ncuda = '12.8'\nhip = None\n",
    f"venv/{SITE}/Typing_Extensions-4.0.dist-info/METADATA": "",
}
DEBIAN: Tree = {
    "usr/bin/python3.11": b"\x7fELF",
    "usr/bin/python3": "-> python3.11",
    "usr/lib/python3.11/EXTERNALLY-MANAGED": "",
    "usr/lib/python3/dist-packages/PyYAML-6.0.egg-info": "Name: PyYAML\nVersion: 6.0\n",
    "usr/local/lib/python3.11/dist-packages/numpy-2.0.0.dist-info/RECORD": "",
    "usr/include/python3.11/patchlevel.h": '#define PY_VERSION      "3.11.2"\n',
}


@pytest.fixture(autouse=True)
def _outside_of_any_project(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("nowhere"))


def names(one: Environment) -> list[str]:
    return [f"{found.name} {found.version}" for found in one.distributions.get()]


@pytest.mark.parametrize(
    ("tree", "asked", "kind", "python", "site"),
    [
        (VENV, "/venv", "venv", "3.12.4", f"/venv/{SITE}"),
        (VENV, "/venv/bin/python", "venv", "3.12.4", f"/venv/{SITE}"),
        (DEBIAN, "/usr/bin/python3", "system", "3.11.2", "/usr/local/lib/python3.11/dist-packages"),
        (
            {
                "conda/conda-meta/python-3.10.14-h955ad1f_0.json": "{}",
                "conda/bin/python3.10": b"\x7fELF",
                "conda/bin/python": "-> python3.10",
                "conda/lib/python3.10/site-packages/": "",
            },
            "/conda",
            "conda",
            "3.10.14",
            "/conda/lib/python3.10/site-packages",
        ),
        (
            {
                "root/.pyenv/versions/3.9.18/bin/python3.9": b"\x7fELF",
                "root/.pyenv/versions/3.9.18/lib/python3.9/site-packages/": "",
            },
            "/root/.pyenv/versions/3.9.18/bin/python3.9",
            "pyenv",
            "3.9.18",
            "/root/.pyenv/versions/3.9.18/lib/python3.9/site-packages",
        ),
        (
            {
                "usr/bin/python3": "-> python3.9",
                "usr/bin/python3.9": b"\x7fELF",
                "usr/lib64/python3.9/site-packages/": "",
                "usr/lib/python3.9/site-packages/": "",
            },
            "/usr/bin/python3",
            "system",
            "3.9",
            "/usr/lib64/python3.9/site-packages",
        ),
        (
            {
                "old/bin/python": "-> python2.7",
                "old/bin/python2.7": b"\x7fELF",
                "old/lib/python2.7/orig-prefix.txt": "/usr",
                "old/lib/python2.7/no-global-site-packages.txt": "",
                "old/lib/python2.7/site-packages/Theano-0.9.0-py2.7.egg-info/PKG-INFO": "",
            },
            "/old",
            "venv",
            "2.7",
            "/old/lib/python2.7/site-packages",
        ),
        (
            {
                "opt/py/bin/python3.13t": b"\x7fELF",
                "opt/py/lib/python3.13t/site-packages/": "",
            },
            "/opt/py/bin/python3.13t",
            "system",
            "3.13",
            "/opt/py/lib/python3.13t/site-packages",
        ),
        (
            {
                "uv/pyvenv.cfg": "home = /x/bin\nimplementation = CPython\nuv = 0.9\nversion_info = 3.13.1\n",
                "uv/bin/python": "-> /nowhere/python",
                "uv/lib/python3.13/site-packages/": "",
            },
            "/uv",
            "venv",
            "3.13.1",
            "/uv/lib/python3.13/site-packages",
        ),
    ],
)
def test_layouts(tmp_path: Path, tree: Tree, asked: str, *, kind: str, python: str, site: str) -> None:
    (found,) = environment.look(offline(tmp_path, tree), (asked,)).get()
    assert (found.kind, found.python.get(), found.sites.get()[0]) == (kind, python, site)
    assert found.asked_by == "--python"
    assert found.interpreter


def test_windows_layouts(tmp_path: Path) -> None:
    site = "Lib/site-packages"
    python = "Users/Ann/AppData/Local/Programs/Python/Python311"
    tree: Tree = {
        "Windows/": "",
        f"{python}/python.exe": b"MZ",
        f"{python}/python311.dll": b"MZ",
        f"{python}/{site}/tensorflow-2.11.0.dist-info/METADATA": "Name: tensorflow\n",
        "Users/Ann/venv/pyvenv.cfg": f"home = C:\\{python}\nversion = 3.11.5\n".replace("/", "\\"),
        "Users/Ann/venv/Scripts/python.exe": b"MZ",
        f"Users/Ann/venv/{site}/torch-2.9.1.dist-info/METADATA": "",
    }
    found = environment.look(offline(tmp_path, tree), ()).get()
    assert [(one.kind, one.python.get(), names(one)) for one in found] == [
        ("windows", "3.11", ["tensorflow 2.11.0"]),
        ("venv", "3.11.5", ["torch 2.9.1"]),
    ]


STORE = "Program Files/WindowsApps/PythonSoftwareFoundation.Python.3.12_3.12.2800.0_x64__qbz5n2kfra8p0"
APPS = "Users/Ann/AppData/Local/Microsoft/WindowsApps"
PACKAGES = "Users/Ann/AppData/Local/Packages/PythonSoftwareFoundation.Python.3.12_qbz5n2kfra8p0"


@pytest.mark.parametrize("families", [0, 1, 2])
def test_the_python_of_microsofts_store(tmp_path: Path, families: int) -> None:
    """Its alias is no file that can be read, and its packages lie in the user's own directory of the app."""
    installed = (
        "PythonSoftwareFoundation.Python.3.12_qbz5n2kfra8p0",
        "PythonSoftwareFoundation.Python.3.13_qbz5n2kfra8p0",
    )
    tree: Tree = {
        "Windows/": "",
        f"{APPS}/python.exe": b"",
        **{f"{APPS}/{family}/python.exe": b"" for family in installed[:families]},
        f"{STORE}/python.exe": b"MZ",
        f"{STORE.replace('3.12', '3.13')}/python.exe": b"MZ",
        f"{STORE}/python312.dll": b"MZ",
        f"{STORE}/Lib/site-packages/pip-25.0.dist-info/METADATA": "Name: pip\n",
        f"{PACKAGES}/LocalCache/local-packages/Python312/site-packages/torch-2.9.1.dist-info/METADATA": "",
        "Python311/python.exe": b"MZ",
        "Python311/python311.dll": b"MZ",
    }
    alias = f"C:/{APPS}/python.exe"
    environ = {"LOCALAPPDATA": "C:\\Users\\Ann\\AppData\\Local", "PATH": f"C:/{APPS};C:/Python311".replace("/", "\\")}
    host = PretendHost(tmp_path, tree, environ=environ)
    host.os_family = "windows"
    (found,) = environment.look(host, ()).get()
    assert host.ran == []
    if families == 1:
        assert (found.interpreter, found.prefix, found.python.get()) == (alias, f"C:/{STORE}", "3.12")
        assert names(found) == ["torch 2.9.1", "pip 25.0"]
    else:
        assert found.interpreter == "C:/Python311/python.exe"
    assert f"C:/{STORE}" in [one.prefix for one in environment.look(offline(tmp_path / "disk", tree), ()).get()]


def test_a_debian_system_python(tmp_path: Path) -> None:
    (found,) = environment.look(offline(tmp_path, DEBIAN), ()).get()
    assert found.externally_managed
    assert found.asked_by == "root"
    assert names(found) == ["numpy 2.0.0", "pyyaml 6.0"]


def test_a_root_shows_every_environment_in_the_usual_places(tmp_path: Path) -> None:
    tree: Tree = {
        **DEBIAN,
        **VENV,
        "opt/conda/conda-meta/history": "",
        "opt/conda/bin/python": b"\x7fELF",
        "opt/conda/envs/train/conda-meta/history": "",
        "opt/conda/envs/train/bin/python": b"\x7fELF",
        "home/ann/.venv/pyvenv.cfg": CFG,
        "home/ann/project/.venv/pyvenv.cfg": CFG,
        "app/.venv/pyvenv.cfg": CFG,
        "home/ann/.local/lib/python3.11/site-packages/jax-0.7.2.dist-info/METADATA": "",
        "workspace/myvenv/pyvenv.cfg": CFG,
        "usr/local/share/jupyter/kernels/other/kernel.json": '{"argv": ["/srv/k/bin/python", "-m", "ipykernel"]}',
        "srv/k/bin/python": "-> python3.8",
        "srv/k/bin/python3.8": b"\x7fELF",
        "srv/k/lib/python3.8/site-packages/": "",
    }
    found = environment.look(offline(tmp_path, tree), ()).get()
    assert [(one.prefix, one.asked_by) for one in found] == [
        ("/usr", "root"),
        ("/app/.venv", "root"),
        ("/venv", "root"),
        ("/opt/conda", "root"),
        ("/opt/conda/envs/train", "root"),
        ("/workspace/myvenv", "root"),
        ("/home/ann/.venv", "root"),
        ("/home/ann/project/.venv", "root"),
        ("/home/ann/.local", "root"),
        ("/srv/k", "Jupyter kernel other"),
    ]


def test_a_root_with_very_many_folders_ends_soon(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"home/user{number}").mkdir(parents=True)
        (tmp_path / f"home/user0/project{number}").mkdir()
        (tmp_path / f"opt/venv{number}").mkdir(parents=True)
        (tmp_path / f"opt/venv{number}/pyvenv.cfg").write_text(CFG)
    assert len(environment.look(offline(tmp_path, {}), ()).get()) == 48  # a bound, not all 600


def test_an_empty_root_has_no_environment(tmp_path: Path) -> None:
    assert environment.look(offline(tmp_path, {}), ()).get() == ()


# Which environment, on a live machine


def test_the_active_environment_comes_before_path(tmp_path: Path) -> None:
    host = live(tmp_path, VENV, VIRTUAL_ENV="{root}/venv", PATH="/usr/bin:/bin")
    (found,) = environment.look(host, ()).get()
    assert (found.prefix, found.asked_by) == (f"{tmp_path}/venv", "VIRTUAL_ENV")


def test_a_stale_variable_falls_through_to_path(tmp_path: Path) -> None:
    tree: Tree = {"py/bin/python3": b"\x7fELF", "py/lib/python3.12/site-packages/": ""}
    host = live(tmp_path, tree, VIRTUAL_ENV="{root}/gone", CONDA_PREFIX="{root}/gone", PATH="{root}/py/bin")
    (found,) = environment.look(host, ()).get()
    assert (found.prefix, found.asked_by) == (f"{tmp_path}/py", "python3 on PATH")


def test_no_python_at_all(tmp_path: Path) -> None:
    assert environment.look(LiveHost({"PATH": str(tmp_path)}), ()).get() == ()


def test_our_own_tool_environment_is_not_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = f"{tmp_path}/uv/tools/gpudoctor"
    host = live(tmp_path, {"uv/tools/gpudoctor/pyvenv.cfg": CFG, "uv/tools/gpudoctor/bin/python3": b"\x7fELF"})
    host = LiveHost({"PATH": f"{own}/bin", "VIRTUAL_ENV": own})
    monkeypatch.setattr(sys, "prefix", own)
    assert environment.look(host, ()).get() == ()
    (asked,) = environment.look(host, (own,)).get()
    assert asked.prefix == own


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/nowhere", "no such file or directory"),
        ("/empty", "neither a Python interpreter nor the directory of an environment"),
        ("/etc/passwd", "not a Python interpreter"),
        ("/bin/fifo", "not a regular file"),
    ],
)
def test_a_bad_python_is_one_clear_line(tmp_path: Path, path: str, says: str) -> None:
    host = offline(tmp_path, {"empty/": "", "etc/passwd": "root", "bin/": ""})
    os.mkfifo(tmp_path / "bin/fifo")
    with pytest.raises(NoSuchInterpreter, match=says) as error:
        environment.look(host, (path,))
    assert isinstance(error.value, BadRequest)
    assert "\n" not in str(error.value)


def test_a_bad_request_passes_the_guard(tmp_path: Path) -> None:
    host = offline(tmp_path, {})
    with pytest.raises(BadRequest):
        Guard().one("environment", lambda: environment.look(host, ("/nowhere",)))


def test_a_name_is_looked_up_on_path(tmp_path: Path) -> None:
    tree: Tree = {"py/bin/python3.12": b"\x7fELF", "py/lib/python3.12/site-packages/": ""}
    host = live(tmp_path, tree, PATH="{root}/py/bin")
    (found,) = environment.look(host, ("python3.12",)).get()
    assert found.prefix == f"{tmp_path}/py"
    with pytest.raises(NoSuchInterpreter, match="no such program on PATH"):
        environment.look(host, ("python3.99",))
    with pytest.raises(NoSuchInterpreter, match="'': there is no such program"):
        environment.look(host, ("",))  # --python "$OF_NO_VALUE"


SHIM = """#!/usr/bin/env bash
set -e
export PYENV_ROOT="{root}/pyenv"
exec "{root}/pyenv/libexec/pyenv" exec "$program" "$@"
"""


@pytest.mark.parametrize(
    ("extra", "environ", "prefix"),
    [
        ({"pyenv/version": "3.11.7\n"}, {}, "pyenv/versions/3.11.7"),
        ({"pyenv/version": "3.12\n"}, {}, "pyenv/versions/3.12.10"),
        ({"pyenv/version": "3.11.7\n"}, {"PYENV_VERSION": "3.12.9"}, "pyenv/versions/3.12.9"),
        (
            {"pyenv/version": "3.11.7\n", "job/.python-version": "3.12.9\n"},
            {"PWD": "{root}/job/sub"},
            "pyenv/versions/3.12.9",
        ),
        ({"pyenv/version": "system\n"}, {}, "sys"),
        ({}, {}, "sys"),
    ],
)
def test_pyenv_shims_are_resolved_without_running_them(
    tmp_path: Path, extra: Tree, environ: dict[str, str], prefix: str
) -> None:
    tree: dict[str, str | bytes] = {"pyenv/shims/python3": SHIM.replace("{root}", str(tmp_path)), **extra}
    for version in ("3.11.7", "3.12.9", "3.12.10"):
        minor = version.rpartition(".")[0]
        tree[f"pyenv/versions/{version}/bin/python3"] = f"-> python{minor}"
        tree[f"pyenv/versions/{version}/bin/python{minor}"] = b"\x7fELF"
        tree[f"pyenv/versions/{version}/lib/python{minor}/site-packages/"] = ""
    tree["sys/bin/python3"] = b"\x7fELF"
    tree["sys/lib/python3.10/site-packages/"] = ""
    host = live(tmp_path, tree, PATH="{root}/pyenv/shims:{root}/sys/bin", **environ)
    (found,) = environment.look(host, ()).get()
    assert found.prefix == f"{tmp_path}/{prefix}"


def test_a_wrapper_script_leads_to_its_interpreter(tmp_path: Path) -> None:
    tree: Tree = {
        "bin/python": f'#!/bin/sh\nexport X=1\nexec "{tmp_path}/py/bin/python3" "$@"\n',
        "py/bin/python3": b"\x7fELF",
        "py/lib/python3.12/site-packages/": "",
    }
    (found,) = environment.look(live(tmp_path, tree), (f"{tmp_path}/bin/python",)).get()
    assert found.prefix == f"{tmp_path}/py"


def test_wrappers_that_lead_to_each_other_end(tmp_path: Path) -> None:
    script = f'#!/bin/sh\nexec {tmp_path}/python3 "$@"\n'
    with pytest.raises(NoSuchInterpreter, match="leads to itself"):
        environment.look(live(tmp_path, {"python3": script}), (f"{tmp_path}/python3",))


def test_an_opaque_wrapper_is_not_started(tmp_path: Path) -> None:
    """Nor is another Python on PATH taken for it."""
    script = f'#!/bin/sh\necho ran > {tmp_path}/ran\nP={sys.executable}\n"$P" "$@"\n'
    plant(tmp_path, {"python3": script, "other/bin/python3": b"\x7fELF", "other/lib/python3.12/os.py": ""})
    (tmp_path / "python3").chmod(0o755)
    for host, path in ((offline(tmp_path, {}), "/python3"), (LiveHost(), f"{tmp_path}/python3")):
        with pytest.raises(
            NoSuchInterpreter, match="a script that does not show its Python: give the Python with --python"
        ):
            environment.look(host, (path,))
    found = environment.look(LiveHost({"PATH": f"{tmp_path}:{tmp_path}/other/bin"}), ())
    assert isinstance(found, Unseen)
    assert f"{tmp_path}/python3" in found.why
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("more", "version"),
    [
        ({}, ""),
        (
            {"base/include/python3.11/patchlevel.h": '#define PY_VERSION "3.11.7"\n', "base/lib/python3.11/os.py": ""},
            "3.11.7",
        ),
        ({"base/lib/python3.11/os.py": ""}, "3.11"),
        ({"env/lib/python3.11/site-packages/": ""}, "3.11"),
    ],
)
def test_what_no_file_says_of_a_version_is_unknown(tmp_path: Path, more: Tree, version: str) -> None:
    """No interpreter is started to say it."""
    tree: Tree = {"base/bin/python3": b"\x7fELF", "env/bin/python": "-> ../../base/bin/python3"}
    host = PretendHost(tmp_path, {}, environ={"VIRTUAL_ENV": "/env"})
    plant(tmp_path, {**tree, **more, "env/pyvenv.cfg": "home = /base/bin\n"})
    (found,) = environment.look(host, ()).get()
    assert getattr(found.python, "value", "") == version
    if not version:
        assert "not started" in getattr(found.python, "why", "")
    assert host.ran == []


@pytest.mark.parametrize(
    ("tree", "environ", "prefix"),
    [
        ({".tool-versions": "# mine\nnodejs 20.1.0\npython 3.11.4 # old\n"}, {}, "3.11.4"),
        ({".tool-versions": "python 3.11.4\n", "job/.tool-versions": "python 3.12.1 3.11.4\n"}, {}, "3.12.1"),
        ({".tool-versions": "python 3.11.4\n"}, {"ASDF_PYTHON_VERSION": "3.12.1"}, "3.12.1"),
        ({".tool-versions": "python 3.9.9 3.11.4\n"}, {}, "3.11.4"),  # 3.9.9 is not installed
        ({".tool-versions": "python system\n"}, {}, ""),
        ({}, {}, ""),
    ],
)
def test_shims_of_asdf_are_resolved_without_running_them(
    tmp_path: Path, tree: Tree, environ: dict[str, str], prefix: str
) -> None:
    plugins = "".join(f"# asdf-plugin: python {version}\n" for version in ("3.11.4", "3.12.1"))
    shim = f'#!/usr/bin/env bash\n{plugins}exec asdf exec "python3" "$@"\n'
    installs: dict[str, str | bytes] = {
        f".asdf/installs/python/{version}/{name}": b"\x7fELF"
        for version in ("3.11.4", "3.12.1")
        for name in ("bin/python3", f"lib/python{version[:4]}/os.py")
    }
    system: Tree = {"sys/bin/python3": b"\x7fELF", "sys/lib/python3.10/os.py": ""}
    path = {"PATH": "{root}/.asdf/shims:{root}/sys/bin", "HOME": "{root}", "PWD": "{root}/job/sub"}
    host = live(tmp_path, {".asdf/shims/python3": shim, **installs, **system, **tree}, **path, **environ)
    (found,) = environment.look(host, ()).get()
    assert found.prefix == (f"{tmp_path}/.asdf/installs/python/{prefix}" if prefix else f"{tmp_path}/sys")


def test_kernels_of_jupyter_are_environments_of_their_own(tmp_path: Path) -> None:
    kernels = "home/.local/share/jupyter/kernels"
    tree: Tree = {
        **VENV,
        f"{kernels}/torch/kernel.json": f'{{"argv": ["{tmp_path}/other/bin/python", "-m", "ipykernel"]}}',
        f"{kernels}/same/kernel.json": f'{{"argv": ["{tmp_path}/venv/bin/python"]}}',
        f"{kernels}/julia/kernel.json": '{"argv": ["/usr/bin/julia"]}',
        f"{kernels}/bare/kernel.json": '{"argv": ["python"]}',
        f"{kernels}/broken/kernel.json": b"\xff\xfe{",
        f"{kernels}/odd/kernel.json": '["argv"]',
        "other/pyvenv.cfg": CFG,
        "other/bin/python": "-> /usr/bin/python3",
    }
    host = live(tmp_path, tree, HOME="{root}/home", VIRTUAL_ENV="{root}/venv")
    found = environment.look(host, ()).get()
    assert [(one.prefix, one.asked_by) for one in found] == [
        (f"{tmp_path}/venv", "VIRTUAL_ENV"),
        (f"{tmp_path}/other", "Jupyter kernel torch"),
    ]
    assert len(environment.look(host, (f"{tmp_path}/venv",)).get()) == 1


# Search path and distributions


def test_order_of_the_search_path(tmp_path: Path) -> None:
    """PYTHONPATH, user site, site-packages, what .pth files add: as CPython's site module does."""
    site = f"conda/{SITE}"
    tree: Tree = {
        "conda/conda-meta/python-3.12.4-abc_0.json": "",
        "conda/bin/python": b"\x7fELF",
        f"{site}/extra.pth": "# comment\nimport os; os.system('touch /tmp/never')\n../more\n/nowhere\n\n",
        "conda/lib/python3.12/more/": "",
        f"home/.local/{SITE}/": "",
        "path/": "",
    }
    environ = {"PYTHONPATH": "{root}/path:relative:", "HOME": "{root}/home", "CONDA_PREFIX": "{root}/conda"}
    expected = [f"{tmp_path}/{one}" for one in ("path", f"home/.local/{SITE}", site, "conda/lib/python3.12/more")]
    (found,) = environment.look(live(tmp_path, tree, **environ), ()).get()
    assert list(found.sites.get()) == expected
    (without,) = environment.look(LiveHost({**found_environ(environ, tmp_path), "PYTHONNOUSERSITE": "1"}), ()).get()
    assert list(without.sites.get()) == [expected[0], *expected[2:]]


def found_environ(environ: dict[str, str], root: Path) -> dict[str, str]:
    return {name: value.replace("{root}", str(root)) for name, value in environ.items()}


@pytest.mark.parametrize(("setting", "sees_base"), [("false", False), ("true", True)])
def test_a_virtual_environment_sees_its_base_only_if_told(tmp_path: Path, setting: str, *, sees_base: bool) -> None:
    tree: Tree = {
        "base/bin/python3.12": b"\x7fELF",
        f"base/{SITE}/": "",
        f"home/.local/{SITE}/": "",
        "venv/pyvenv.cfg": f"home = {tmp_path}/base/bin\ninclude-system-site-packages = {setting}\nversion = 3.12.4\n",
        "venv/bin/python": "-> ../../base/bin/python3.12",
        f"venv/{SITE}/": "",
    }
    host = live(tmp_path, tree, HOME="{root}/home", VIRTUAL_ENV="{root}/venv")
    (found,) = environment.look(host, ()).get()
    more = [f"{tmp_path}/home/.local/{SITE}", f"{tmp_path}/base/{SITE}"] if sees_base else []
    assert list(found.sites.get()) == [f"{tmp_path}/venv/{SITE}", *more]


def test_every_form_of_distribution(tmp_path: Path) -> None:
    site = f"venv/{SITE}"
    tree: Tree = {
        "venv/pyvenv.cfg": CFG,
        f"{site}/nvidia_cudnn_cu12-9.10.2.21.dist-info/METADATA": "",
        f"{site}/zope.interface-5.4.0.dist-info/METADATA": "",
        f"{site}/~orch-2.0.0.dist-info/METADATA": "",
        f"{site}/six-1.16.egg-info/PKG-INFO": "",
        f"{site}/PyGObject-3.42.2-py3.12-linux-x86_64.egg-info": "Name: PyGObject\n",
        f"{site}/noversion.egg-info/PKG-INFO": "Metadata-Version: 1.0\nVersion: 7.1\n\nVersion: 9",
        f"{site}/Theano-1.0.5-py3.12.egg/EGG-INFO/PKG-INFO": "",
        f"{site}/zipped-2.0-py3.12.egg": b"PK\x03\x04",
        f"{site}/mine.egg-link": "/src/mine\n.\n",
        "src/mine/mine.egg-info/PKG-INFO": "Version: 0.1.dev0\n",
        f"{site}/gone.egg-link": "/src/gone\n.\n",
        f"{site}/edit-3.0.dist-info/METADATA": "",
        f"{site}/__editable__.edit-3.0.pth": "/src/edit/src\n",
        "src/edit/src/": "",
    }
    (found,) = environment.look(offline(tmp_path, tree), ("/venv",)).get()
    assert {(one.name, one.version, one.kind) for one in found.distributions.get()} == {
        ("nvidia-cudnn-cu12", "9.10.2.21", "wheel"),
        ("zope-interface", "5.4.0", "wheel"),
        ("six", "1.16", "egg-info"),
        ("pygobject", "3.42.2", "egg-info"),
        ("noversion", "7.1", "egg-info"),
        ("theano", "1.0.5", "egg"),
        ("zipped", "2.0", "egg"),
        ("mine", "0.1.dev0", "develop"),
        ("edit", "3.0", "develop"),
    }
    edit = next(one for one in found.distributions.get() if one.name == "edit")
    assert edit.site == "/src/edit/src"


def test_eggs_of_easy_install_come_first(tmp_path: Path) -> None:
    site = f"venv/{SITE}"
    easy = (
        "import sys; sys.__plen = len(sys.path)\n./Theano-0.9.0-py2.7.egg\n"
        "import sys; new=sys.path[sys.__plen:]; p=getattr(sys,'__egginsert',0); sys.path[p:p]=new\n"
    )
    tree: Tree = {
        "venv/pyvenv.cfg": CFG,
        f"{site}/easy-install.pth": easy,
        f"{site}/Theano-0.9.0-py2.7.egg/EGG-INFO/PKG-INFO": "",
        f"{site}/Theano-1.0.5.dist-info/METADATA": "",
    }
    (found,) = environment.look(offline(tmp_path, tree), ("/venv",)).get()
    assert found.sites.get()[0].endswith("Theano-0.9.0-py2.7.egg")
    assert [(one.version, bool(one.hidden_by)) for one in found.distributions.get()] == [
        ("0.9.0", False),
        ("1.0.5", True),
    ]


def test_a_copy_earlier_on_the_path_hides_the_later_one(tmp_path: Path) -> None:
    tree: Tree = {
        **VENV,
        "path/torch-1.0.dist-info/METADATA": "",
    }
    host = live(tmp_path, tree, VIRTUAL_ENV="{root}/venv", PYTHONPATH="{root}/path")
    (found,) = environment.look(host, ()).get()
    first, second = (one for one in found.distributions.get() if one.name == "torch")
    assert (first.version, first.hidden_by) == ("1.0", "")
    assert (second.version, second.hidden_by) == ("2.9.1+cu128", first.metadata)
    assert [one.version for one in found.frameworks.get()] == ["1.0"]


def test_two_metadata_of_one_package_in_one_directory(tmp_path: Path) -> None:
    """What a broken upgrade leaves: the newer metadata counts."""
    tree: Tree = {
        "venv/pyvenv.cfg": CFG,
        f"venv/{SITE}/jax-0.10.0.dist-info/METADATA": "",
        f"venv/{SITE}/jax-0.9.2.dist-info/METADATA": "",
    }
    (found,) = environment.look(offline(tmp_path, tree), ("/venv",)).get()
    assert [(one.version, bool(one.hidden_by)) for one in found.distributions.get()] == [
        ("0.10.0", False),
        ("0.9.2", True),
    ]


def test_records_of_conda(tmp_path: Path) -> None:
    tree: Tree = {
        "env/conda-meta/python-3.11.9-h1_0.json": "",
        "env/conda-meta/cudnn-9.10.1.4-h2_0.json": "",
        "env/conda-meta/cuda-version-12.9-h3_3.json": "",
        "env/conda-meta/numpy-2.0.0-py311_0.json": "",
        "env/conda-meta/pytorch-2.1.0-py3.11_cuda12.1_cudnn8.9.2_0.json": "",
        "env/bin/python": b"\x7fELF",
        "env/lib/python3.11/site-packages/torch-2.1.0-py3.11.egg-info/PKG-INFO": "",
        "env/lib/python3.11/site-packages/torch/version.py": "__version__ = '2.1.0'\ncuda = '12.1'\nhip = None\n",
    }
    (found,) = environment.look(offline(tmp_path, tree), ("/env",)).get()
    assert [(one.name, one.version, one.kind) for one in found.distributions.get()] == [
        ("torch", "2.1.0", "egg-info"),
        ("cuda-version", "12.9", "conda"),
        ("cudnn", "9.10.1.4", "conda"),
        ("pytorch", "2.1.0", "conda"),
    ]
    (torch,) = found.frameworks.get()
    assert (torch.build.get(), str(torch.cudnn.get())) == ("cu121", "8.9.2")


# Hostile and damaged content


@pytest.mark.parametrize(
    "tree",
    [
        {"venv/pyvenv.cfg": b"\xff\xfe\x00=\x00" * 100},
        {"venv/pyvenv.cfg": b"home" * 50_000},
        {"venv/pyvenv.cfg": "-> pyvenv.cfg"},
        {**VENV, f"venv/{SITE}/torch/version.py": os.urandom(4096)},
        {**VENV, f"venv/{SITE}/loop.pth": f"/venv/{SITE}\n.\n" * 1000},
        {**VENV, f"venv/{SITE}/-.dist-info/METADATA": "", f"venv/{SITE}/.egg-info": "", f"venv/{SITE}/a.egg-link": ""},
        {**VENV, "usr/share/jupyter/kernels/x/kernel.json": "[" * 100_000},
    ],
)
def test_damaged_files_never_raise(tmp_path: Path, tree: Tree) -> None:
    host = offline(tmp_path, tree)
    found = environment.look(host, ("/venv",)).get()
    assert found[0].prefix == "/venv"
    environment.look(host, ())


def test_a_path_file_that_adds_thousands_is_bounded(tmp_path: Path) -> None:
    tree: Tree = {**VENV, f"venv/{SITE}/many.pth": "".join(f"/many/{number}\n" for number in range(2000))}
    for number in range(400):
        (tmp_path / f"many/{number}").mkdir(parents=True)
    (found,) = environment.look(offline(tmp_path, tree), ("/venv",)).get()
    assert len(found.sites.get()) <= 256


def test_a_large_environment_is_one_listing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: 300 distributions cost no file and no folder more than none do."""
    asked: list[str] = []
    for question in ("read_bytes", "names"):
        monkeypatch.setattr(FileHost, question, _noting(getattr(FileHost, question), asked))
    environment.look(live(tmp_path / "small", VENV, VIRTUAL_ENV="{root}/venv"), ())
    small = len(asked)
    tree = dict(VENV)
    for number in range(300):
        tree[f"venv/{SITE}/package_{number}-1.0.dist-info/METADATA"] = ""
        tree[f"venv/{SITE}/package_{number}/__init__.py"] = ""
    asked.clear()
    environment.look(live(tmp_path / "large", tree, VIRTUAL_ENV="{root}/venv"), ())
    assert small == len(asked) > 0


def _noting(question: Callable[..., Any], asked: list[str]) -> Callable[..., Any]:
    def note(host: FileHost, path: str, *more: Any) -> Any:
        asked.append(path)
        return question(host, path, *more)

    return note


# --deep


def framework(prefix: Path, module: str) -> Framework:
    site = f"{prefix}/site"
    return machine.framework(package=module, version="1.0", path=f"{site}/{module}", environment=str(prefix))


def env_of(root: Path, *modules: str) -> Seen[tuple[Environment, ...]]:
    frameworks = tuple(framework(root, module) for module in modules)
    return Seen((machine.environment(*frameworks, prefix=str(root), interpreter=sys.executable),), "test")


@pytest.fixture
def anyone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As an ordinary user: root refuses to run what lies in a directory like /tmp."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)


@pytest.mark.parametrize(
    ("source", "state", "detail"),
    [
        ("x = 1", "ok", ""),
        ("raise ImportError('libcudnn.so.9: cannot open')", "failed", "ImportError: libcudnn.so.9: cannot open"),
        ("import os; os.abort()", "crashed", "SIGABRT"),
        ("import os; os.kill(os.getpid(), 11)", "crashed", "SIGSEGV"),
        ("import time; time.sleep(60)", "hung", "did not end within 1 s"),
        ("import os; os._exit(7)", "failed", "ended with status 7 and no word"),
        ("import atexit, os; atexit.register(os.abort)", "ok", ""),
    ],
)
@pytest.mark.usefixtures("anyone")
def test_imports_in_children(tmp_path: Path, source: str, state: str, detail: str) -> None:
    host = live(tmp_path, {"site/torch.py": source}, PYTHONPATH="{root}/site")
    (found,) = environment.try_imports(host, env_of(tmp_path, "torch"), deep=True, timeout_s=1).get()
    assert (found.package, found.environment, found.state) == ("torch", str(tmp_path), state)
    assert detail in found.detail
    assert not (tmp_path / "site/__pycache__").exists()


def test_imports_only_when_asked_for(tmp_path: Path) -> None:
    assert environment.try_imports(LiveHost(), env_of(tmp_path, "torch"), deep=False).get() == ()
    assert environment.try_imports(offline(tmp_path, {}), env_of(tmp_path, "torch"), deep=True).get() == ()


def test_imports_of_unseen_environments() -> None:
    assert environment.try_imports(LiveHost(), Unseen("why"), deep=True) == Unseen("why")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root refuses")
def test_root_does_not_import_what_others_can_change(tmp_path: Path) -> None:
    plant(tmp_path, {"site/torch/__init__.py": ""})
    os.chown(tmp_path / "site/torch", 12345, 12345)
    found = environment.try_imports(LiveHost(), env_of(tmp_path, "torch"), deep=True)
    assert isinstance(found, Unseen)
    assert "can be changed by another user" in found.why


# The machine that runs the tests


def test_this_interpreter_as_it_sees_itself() -> None:
    """Prefix, version and site directories agree with what the running interpreter says."""
    (found,) = environment.look(LiveHost(), (sys.executable,)).get()
    assert os.path.realpath(found.prefix) == os.path.realpath(sys.prefix)
    assert found.python.get() == ".".join(map(str, sys.version_info[:3]))
    known = {os.path.realpath(path) for path in sys.path}
    assert {os.path.realpath(site) for site in found.sites.get()} <= known
    assert any(one.name == "pytest" for one in found.distributions.get())


@pytest.mark.parametrize("option", ["--without-pip", "--system-site-packages", "--copies"])
@pytest.mark.parametrize("extra", ["", "PYTHONPATH", "PYTHONNOUSERSITE"])
def test_the_search_path_is_the_one_that_python_has(tmp_path: Path, option: str, extra: str) -> None:
    """Beside a real interpreter with the same environment: path files, eggs moved to the front, PYTHONPATH."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", option, tmp_path / "venv"], check=True)
    site = f"venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    easy = (
        "import sys; sys.__plen = len(sys.path)\n./an.egg\n"
        "import sys; new=sys.path[sys.__plen:]; del sys.path[sys.__plen:]; p=getattr(sys,'__egginsert',0); "
        "sys.path[p:p]=new; sys.__egginsert = p+len(new)\n"
    )
    plant(
        tmp_path,
        {
            f"{site}/easy-install.pth": easy,
            f"{site}/an.egg/EGG-INFO/PKG-INFO": "",
            f"{site}/more.pth": f"../../more\n#no\n{tmp_path}/gone\n",
            "venv/lib/more/": "",
            "path/": "",
        },
    )
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    environ |= {extra: f"{tmp_path}/path"} if extra else {}
    python = f"{tmp_path}/venv/bin/python"
    code = "import sys; print('\\n'.join(p for p in sys.path[1:] if not p.endswith(('.zip', 'lib-dynload'))))"
    said = subprocess.run([python, "-c", code], env=environ, capture_output=True, text=True, check=True)
    standard_library = os.path.dirname(os.__file__)
    (found,) = environment.look(LiveHost(environ), (python,)).get()
    expected = [path for path in said.stdout.split() if os.path.realpath(path) != os.path.realpath(standard_library)]
    assert [os.path.realpath(path) for path in found.sites.get()] == [os.path.realpath(path) for path in expected]


def test_a_site_directory_that_cannot_be_listed_is_unseen(tmp_path: Path) -> None:
    tree: Tree = {"venv/pyvenv.cfg": CFG, f"venv/{SITE}": f"-> /venv/{SITE}"}
    (found,) = environment.look(offline(tmp_path, tree), ("/venv",)).get()
    assert isinstance(found.distributions, Unseen)
    assert "loop" in found.distributions.why


def test_one_directory_under_two_names_is_one(tmp_path: Path) -> None:
    tree: Tree = {**VENV, "alias": f"-> venv/{SITE}"}
    (found,) = environment.look(live(tmp_path, tree, VIRTUAL_ENV="{root}/venv", PYTHONPATH="{root}/alias"), ()).get()
    assert found.sites.get() == (f"{tmp_path}/alias",)
    assert not any(one.hidden_by for one in found.distributions.get())


def test_distribution_names_are_those_of_the_standard_library() -> None:
    from importlib.metadata import distributions

    (found,) = environment.look(LiveHost(), (sys.executable,)).get()
    mine: set[Distribution] = {one for one in found.distributions.get() if not one.hidden_by}
    theirs = {
        (one.metadata["Name"].lower().replace("_", "-").replace(".", "-"), one.version) for one in distributions()
    }
    assert theirs <= {(one.name, one.version) for one in mine}
