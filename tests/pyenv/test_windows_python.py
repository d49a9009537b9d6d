"""Pythons of Windows: what starts them, whose packages they see, which of them Windows' launcher knows."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from doctor.host import Unreadable
from doctor.host.root import RootHost
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import Seen, Unseen, value_or
from doctor.model.facts.system import WslDistribution
from doctor.probes import environment, windows_settings
from doctor.pyenv import store_python
from doctor.pyenv.prefixes import NoSuchInterpreter
from tests.lab.hive_file import hive_bytes
from tests.lab.pe_file import pe_bytes
from tests.probes.pretend import PretendHost
from tests.probes.tree import Tree, plant

SITE = "Lib/site-packages"
PYTHON: Tree = {
    "Windows/": "",
    "Python311/python.exe": pe_bytes("python.exe"),
    "Python311/python311.dll": b"MZ",
    f"Python311/{SITE}/pip-25.0.dist-info/METADATA": "",
}
VENV: Tree = {
    "v/pyvenv.cfg": "home = C:\\Python311\nversion = 3.11.9\n",
    "v/Scripts/python.exe": pe_bytes("python.exe"),
    f"v/{SITE}/": "",
}
STORE = "Program Files/WindowsApps/PythonSoftwareFoundation.Python.3.12_3.12.2800.0_x64__qbz5n2kfra8p0"
OLDER = STORE.replace("3.12.2800.0", "3.12.999.0")
FAMILY = "PythonSoftwareFoundation.Python.3.12_qbz5n2kfra8p0"


IN_USE = {"VIRTUAL_ENV": "C:\\v"}


def roaming(user: str, package: str = "torch-2.9.1") -> Tree:
    return {f"Users/{user}/AppData/Roaming/Python/Python311/site-packages/{package}.dist-info/METADATA": ""}


def local(user: str) -> Tree:
    below = f"Users/{user}/AppData/Local"
    site = f"{below}/Packages/{FAMILY}/LocalCache/local-packages/Python312/site-packages"
    return {
        f"{site}/torch-2.9.1.dist-info/METADATA": "",
        f"{below}/Microsoft/WindowsApps/{FAMILY}/python.exe": b"",
    }


OF_STORE: Tree = {
    "Windows/": "",
    **{f"{one}/{name}": b"MZ" for one in (STORE, OLDER) for name in ("python.exe", "python312.dll")},
}


class Registry:
    """winreg of a registry that is a mapping: keys below HKLM or HKCU to their values."""

    HKEY_LOCAL_MACHINE, HKEY_CURRENT_USER = "HKLM", "HKCU"

    def __init__(self, keys: Mapping[str, Mapping[str, object]]) -> None:
        self._keys = keys

    def OpenKey(self, root: str, path: str) -> Key:  # noqa: N802 - as winreg has it
        place = f"{root}\\{path}"
        if not any(f"{one}\\".startswith(f"{place}\\") for one in self._keys):
            raise FileNotFoundError(place)
        return Key(place)

    def _below(self, key: Key) -> list[str]:
        found = (one.removeprefix(f"{key.place}\\") for one in self._keys if one.startswith(f"{key.place}\\"))
        return list(dict.fromkeys(one.partition("\\")[0] for one in found))

    def QueryInfoKey(self, key: Key) -> tuple[int, int]:  # noqa: N802
        return len(self._below(key)), len(self._keys.get(key.place, {}))

    def EnumKey(self, key: Key, number: int) -> str:  # noqa: N802
        return self._below(key)[number]

    def QueryValueEx(self, key: Key, name: str) -> tuple[object, int]:  # noqa: N802
        values = self._keys.get(key.place, {})
        if name not in values:
            raise FileNotFoundError(name)
        return values[name], 1


class Key:
    """An open key."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __enter__(self) -> Key:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        pass


def running(root: Path, *trees: Tree, **more: Any) -> PretendHost:
    """A live Windows."""
    trees = ({"Windows/": ""}, *trees)
    host = PretendHost(root, {name: content for tree in trees for name, content in tree.items()}, **more)
    host.os_family = "windows"
    return host


def disk(root: Path, *trees: Tree) -> RootHost:
    return RootHost(str(plant(root, {name: content for tree in trees for name, content in tree.items()})))


def names(one: Environment) -> list[str]:
    return [f"{found.name} {found.version}" for found in one.distributions.get()]


@pytest.mark.parametrize(
    ("more", "folder"),
    [
        ({}, "C:/Python311"),  # it only starts the other
        (
            {"v/Scripts/python37.dll": b"MZ"},
            "C:/v/Scripts",
        ),  # a copy, as before Python 3.7.2, or a link with --symlinks
        ({"v/pyvenv.cfg": "home = D:\\gone\nversion = 3.11.9\n"}, "C:/v/Scripts"),  # its base is not there
    ],
)
def test_the_program_of_a_virtual_environment(tmp_path: Path, more: Tree, folder: str) -> None:
    [found] = environment.look(running(tmp_path, PYTHON, VENV, more, environ=IN_USE), ()).get()
    assert found.program == folder
    assert found.interpreter == "C:/v/Scripts/python.exe"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (pe_bytes("p", machine="i386"), "i386"),
        (pe_bytes("p", machine="aarch64"), "aarch64"),
        (b"MZ", None),
        (b"", None),
    ],
)
def test_what_a_python_is_built_for(tmp_path: Path, program: bytes, expected: str | None) -> None:
    host = running(tmp_path, PYTHON, {"Python311/python.exe": program}, environ={"PATH": "C:\\Python311"})
    [found] = environment.look(host, ()).get()
    assert value_or(found.machine, None) == expected


@pytest.mark.parametrize(
    ("users", "expected"),
    [
        ((), ["pip 25.0"]),
        (("Ann",), ["torch 2.9.1", "pip 25.0"]),
        (("Ann", "Bob"), None),  # whose it is does nobody say
    ],
)
def test_the_users_own_packages_on_a_disk(tmp_path: Path, users: tuple[str, ...], expected: list[str] | None) -> None:
    [found] = environment.look(disk(tmp_path, PYTHON, *map(roaming, users)), ()).get()
    if expected is None:
        assert isinstance(found.distributions, Unseen)
        assert "2 users have packages of their own" in found.distributions.why
    else:
        assert names(found) == expected


def test_the_users_own_packages_on_a_running_windows(tmp_path: Path) -> None:
    """Others' are not theirs, and a virtual environment has none."""
    of_ann = {"APPDATA": "C:\\Users\\Ann\\AppData\\Roaming"}
    trees = (PYTHON, VENV, roaming("Ann"), roaming("Bob", "jax-0.7.2"))
    [base] = environment.look(running(tmp_path / "a", *trees, environ={**of_ann, "PATH": "C:\\Python311"}), ()).get()
    assert names(base) == ["torch 2.9.1", "pip 25.0"]
    [within] = environment.look(running(tmp_path / "b", *trees, environ={**of_ann, **IN_USE}), ()).get()
    assert names(within) == []


def test_the_store_s_python_on_a_disk(tmp_path: Path) -> None:
    """By the alias that starts it, with the packages of the user who has it; an older one was left behind."""
    found = environment.look(disk(tmp_path, OF_STORE, local("Ann")), ()).get()
    newest = next(one for one in found if one.prefix == f"C:/{STORE}")
    assert names(newest) == ["torch 2.9.1"]
    assert newest.interpreter == f"C:/Users/Ann/AppData/Local/Microsoft/WindowsApps/{FAMILY}/python.exe"


class Closed(PretendHost):
    """A Windows that lets its users list no package of the Store, as all do."""

    def names(self, path: str) -> tuple[str, ...]:
        if path == store_python.FOLDER:
            raise Unreadable(path, "permission denied")
        return super().names(path)


@pytest.mark.parametrize("known_by", ["listing", "registry", "nothing"])
def test_a_virtual_environment_of_the_store_s_python(
    tmp_path: Path, known_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its `home` is the directory of the alias, in which no DLL lies; nothing is started to find what it leads to."""
    alias = f"C:\\Users\\Ann\\AppData\\Local\\Microsoft\\WindowsApps\\{FAMILY}"
    tree: Tree = {
        **OF_STORE,
        **local("Ann"),
        "v/pyvenv.cfg": f"home = {alias}\nversion = 3.12.10\n",
        "v/Scripts/python.exe": pe_bytes("p"),
    }
    keys = {
        f"{store_python._REPOSITORY}\\{one.rpartition('/')[2]}": {"PackageRootFolder": f"C:\\{one}".replace("/", "\\")}
        for one in (OLDER, STORE)
    }
    monkeypatch.setitem(sys.modules, "winreg", Registry(keys if known_by == "registry" else {}))
    host = (PretendHost if known_by == "listing" else Closed)(tmp_path, tree, environ=IN_USE)
    host.os_family = "windows"
    [found] = environment.look(host, ()).get()
    assert found.program == (alias.replace("\\", "/") if known_by == "nothing" else f"C:/{STORE}")
    assert host.ran == []


def registered(*tags: str, root: str = "HKLM\\SOFTWARE") -> dict[str, dict[str, object]]:
    prefix = "C:\\Python{}\\"
    return {
        f"{root}\\Python\\PythonCore\\{tag}\\InstallPath": {"": prefix.format(tag.replace(".", ""))} for tag in tags
    }


ELEVEN, TWELVE, OF_32 = registered("3.11"), registered("3.12", root="HKCU\\Software"), registered("3.11-32")
PYTHONS: Tree = {f"Python{tag}/python.exe": b"MZ" for tag in ("311", "312", "311-32", "39")} | {"Windows/": ""}


@pytest.mark.parametrize(
    ("keys", "asked", "environ", "prefix"),
    [
        (ELEVEN, (), {}, "C:/Python311"),
        (ELEVEN | TWELVE, (), {}, "C:/Python312"),
        (ELEVEN | registered("3.9"), (), {}, "C:/Python311"),  # 3.11 is the newer one
        (ELEVEN | OF_32, (), {}, "C:/Python311"),
        (ELEVEN | TWELVE, (), {"PY_PYTHON": "3.11"}, "C:/Python311"),
        (ELEVEN | TWELVE, (), {"PY_PYTHON": "3.8"}, "C:/Python312"),
        (registered("3.8") | ELEVEN, (), {}, "C:/Python311"),  # of 3.8 only the key was left behind
        (ELEVEN | TWELVE, ("py -3.11",), {}, "C:/Python311"),
        (ELEVEN | TWELVE, ("3.11",), {}, "C:/Python311"),
        (ELEVEN | OF_32, ("py -3.11-32",), {}, "C:/Python311-32"),
        (OF_32, ("-3.11",), {}, "C:/Python311-32"),
        (ELEVEN, ("py -3.10",), {}, None),
        ({}, (), {}, ""),
    ],
)
def test_what_the_launcher_knows(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    keys: Mapping[str, Mapping[str, object]],
    asked: tuple[str, ...],
    environ: Mapping[str, str],
    prefix: str | None,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "winreg", Registry(keys))
    host = running(tmp_path / "drive", PYTHONS, environ=environ)
    if prefix is None:
        with pytest.raises(NoSuchInterpreter, match="no such program on PATH"):
            environment.look(host, asked)
    else:
        assert [one.prefix for one in environment.look(host, asked).get()] == ([prefix] if prefix else [])


FILE_SYSTEM = "HKLM\\SYSTEM\\CurrentControlSet\\Control\\FileSystem"
LXSS = "HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Lxss"


@pytest.mark.parametrize(
    ("keys", "value"), [({"LongPathsEnabled": 1}, True), ({"LongPathsEnabled": 0}, False), ({}, False)]
)
def test_long_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: dict[str, Any], value: bool) -> None:
    monkeypatch.setitem(sys.modules, "winreg", Registry({FILE_SYSTEM: keys}))
    assert value_or(windows_settings.long_paths(running(tmp_path / "live")), None) is value
    hive = hive_bytes({"Select": {"Current": 2}, "ControlSet002\\Control\\FileSystem": keys})
    host = disk(tmp_path / "disk", {"Windows/System32/config/SYSTEM": hive})
    assert value_or(windows_settings.long_paths(host), None) is value
    none = windows_settings.long_paths(disk(tmp_path / "none", {"Windows/": ""}))
    assert isinstance(none, Unseen)


def test_distributions_of_wsl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys: dict[str, dict[str, object]] = {
        LXSS: {"DefaultDistribution": "{b}"},
        f"{LXSS}\\{{a}}": {"DistributionName": "Debian", "Version": 1},
        f"{LXSS}\\{{b}}": {"DistributionName": "Ubuntu", "Version": 2},
        f"{LXSS}\\AppxInstallerCache": {},
    }
    monkeypatch.setitem(sys.modules, "winreg", Registry(keys))
    found = windows_settings.wsl_distributions(running(tmp_path / "live"))
    assert found == Seen((WslDistribution("Debian", 1, False), WslDistribution("Ubuntu", 2, True)), LXSS)
    monkeypatch.setitem(sys.modules, "winreg", Registry({}))
    assert windows_settings.wsl_distributions(running(tmp_path / "none")) == Seen((), LXSS)
    assert isinstance(windows_settings.wsl_distributions(disk(tmp_path / "disk", {"Windows/": ""})), Unseen)
