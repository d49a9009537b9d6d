"""pip's and uv's configuration are read as pip and uv read them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from doctor.commands.refresh import pip_configuration, uv_configuration
from doctor.commands.refresh.configuration import NoIndex, connection_of
from doctor.commands.refresh.index import BadIndex, Index
from doctor.host.live import LiveHost
from doctor.pyenv import pip_settings

PLACES = ("etc/pip", "home/.pip", "home/.config/pip", "prefix", "named")


def environ(root: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(root / "home"), "XDG_CONFIG_DIRS": str(root / "etc"), "PATH": "", **more}


def configure(root: Path, texts: dict[str, str]) -> None:
    for place, text in texts.items():
        (root / place).mkdir(parents=True, exist_ok=True)
        (root / place / "pip.conf").write_text(text)


def said(section: str, option: str, value: str) -> str:
    return f"[{section}]\n{option} = {value}\n"


def main(host: str) -> str:
    return said("global", "index-url", f"https://{host}/simple")


def hosts(indexes: tuple[Index, ...]) -> list[str]:
    return [index.url.removeprefix("https://").partition("/")[0] for index in indexes]


@pytest.mark.parametrize(
    ("files", "variables", "expected"),
    [
        ({}, {}, []),
        ({"etc/pip": main("a.test")}, {}, ["a.test"]),
        ({"etc/pip": main("a.test"), "home/.pip": main("b.test")}, {}, ["b.test"]),
        ({"home/.pip": main("b.test"), "home/.config/pip": main("c.test")}, {}, ["c.test"]),
        ({"home/.config/pip": main("c.test"), "prefix": main("d.test")}, {}, ["d.test"]),
        ({"prefix": main("d.test")}, {"PIP_INDEX_URL": "https://e.test/simple"}, ["e.test"]),
        ({"prefix": main("d.test")}, {"PIP_CONFIG_FILE": "named"}, ["f.test"]),
        ({"home/.config/pip": main("c.test")}, {"PIP_CONFIG_FILE": "named"}, ["f.test"]),
        ({"prefix": main("d.test")}, {"PIP_CONFIG_FILE": "/dev/null"}, []),
        # a command's section wins over the global one, whatever their files
        (
            {"etc/pip": said("install", "index-url", "https://i.test/"), "prefix": main("d.test")},
            {},
            ["i.test"],
        ),
        ({"prefix": said("global", "index_url", "https://d.test/")}, {}, ["d.test"]),
        ({"prefix": said("global", "extra-index-url", "https://x.test/\n  https://y.test/")}, {}, ["x.test", "y.test"]),
        # a variable replaces the list of a file, it does not add to it
        (
            {"prefix": said("global", "extra-index-url", "https://x.test/")},
            {"PIP_EXTRA_INDEX_URL": "https://y.test/ https://z.test/"},
            ["y.test", "z.test"],
        ),
        ({"prefix": main("d.test")}, {"PIP_NO_INDEX": "1"}, []),
        ({"prefix": main("d.test") + "no-index = false\n"}, {}, ["d.test"]),
        ({"prefix": "no section"}, {}, []),
    ],
)
def test_pip_precedence(tmp_path: Path, files: dict[str, str], variables: dict[str, str], expected: list[str]) -> None:
    configure(tmp_path, {**files, "named": main("f.test")})
    named = {"PIP_CONFIG_FILE": str(tmp_path / "named" / "pip.conf")} if "named" in variables.values() else {}
    found = pip_configuration.read(environ(tmp_path, **{**variables, **named}), str(tmp_path / "prefix"), "linux")
    assert hosts(found.indexes) == expected
    assert bool(found.notes) is ("no section" in files.values())


@pytest.mark.parametrize(
    "files",
    [
        {"etc/pip": main("a.test"), "home/.config/pip": main("c.test")},
        {"home/.pip": main("b.test"), "home/.config/pip": main("c.test")},
        {"etc/pip": said("download", "index-url", "https://i.test/"), "home/.pip": main("b.test")},
    ],
)
def test_pip_agrees(tmp_path: Path, files: dict[str, str]) -> None:
    """pip's own answer to the same files, `pip config`, is what is chosen here."""
    configure(tmp_path, files)
    env = environ(tmp_path)
    asked = [
        subprocess.run(
            [sys.executable, "-m", "pip", "config", *words], env=env, capture_output=True, text=True, check=True
        )
        for words in (["list"], ["get", "global.index-url"])  # its list has every value from pip 26.3 on
    ]
    listed = dict(line.split("=", 1) for line in asked[0].stdout.splitlines())
    expected = listed.get("download.index-url", "").strip("'") or asked[1].stdout.strip()
    [chosen] = pip_configuration.read(env, "", "linux").indexes
    assert chosen.url == expected


def test_pip_other_options(tmp_path: Path) -> None:
    text = "cert = ~/ca.pem\ntimeout = 7\ntrusted-host = a.test b.test:8080\nproxy = http://u:p@proxy.test\n"
    configure(tmp_path, {"prefix": f"[global]\n{text}find-links = {tmp_path}\n"})
    found = pip_configuration.read(environ(tmp_path), str(tmp_path / "prefix"), "linux")
    assert found.certificates.endswith("/ca.pem")
    assert not found.certificates.startswith("~")
    assert (found.timeout_s, found.trusted_hosts) == (7.0, ("a.test", "b.test:8080"))
    [links] = found.indexes
    assert (links.url, links.is_flat, found.has_default) == (tmp_path.as_uri(), True, False)


@pytest.mark.parametrize(("platform", "name"), [("win32", "pip.ini"), ("darwin", "pip.conf")])
def test_pip_places_elsewhere(tmp_path: Path, platform: str, name: str) -> None:
    (tmp_path / name).write_text("")
    assert pip_settings.files(environ(tmp_path), str(tmp_path), platform)[-1] == f"{tmp_path}/{name}"


UV_INDEXES = """
[[index]]
name = "inner"
url = "https://inner.test/simple"
default = true
[[index]]
name = "flat"
url = "wheels"
format = "flat"
"""


@pytest.mark.parametrize(
    ("files", "variables", "expected", "has_default"),
    [
        ({}, {}, [], False),
        ({}, {"UV_DEFAULT_INDEX": "https://a.test/simple"}, ["a.test"], True),
        ({}, {"UV_INDEX_URL": "https://a.test/simple"}, ["a.test"], True),
        ({}, {"UV_INDEX": "https://a.test/?x=1 named=https://b.test/"}, ["a.test", "b.test"], False),
        ({}, {"UV_EXTRA_INDEX_URL": "https://a.test/ https://b.test/"}, ["a.test", "b.test"], False),
        ({"work/uv.toml": UV_INDEXES}, {}, ["inner.test", "file:"], True),
        ({"work/uv.toml": UV_INDEXES}, {"UV_NO_CONFIG": "1"}, [], False),
        ({"work/uv.toml": UV_INDEXES}, {"UV_NO_INDEX": "1"}, ["file:"], True),
        ({"work/pyproject.toml": '[tool.uv]\nindex-url = "https://p.test/simple"\n'}, {}, ["p.test"], True),
        ({"work/uv.toml": "", "work/pyproject.toml": '[tool.uv]\nindex-url = "https://p.test/"\n'}, {}, [], False),
        ({"home/.config/uv/uv.toml": '[pip]\nextra-index-url = ["https://u.test/"]\n'}, {}, ["u.test"], False),
        ({"etc/uv/uv.toml": 'index-url = "https://s.test/simple"\n'}, {}, ["s.test"], True),
        ({"work/uv.toml": "not toml"}, {}, [], False),
        ({"work/uv.toml": "index = 3"}, {}, [], False),
    ],
)
def test_uv(
    tmp_path: Path, files: dict[str, str], variables: dict[str, str], expected: list[str], has_default: bool
) -> None:
    (tmp_path / "work" / "below").mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = uv_configuration.read(environ(tmp_path, **variables), str(tmp_path / "work" / "below"), "linux")
    assert hosts(found.indexes) == expected
    assert found.has_default is has_default
    assert bool(found.notes) is ("not toml" in files.values())


def test_uv_credentials(tmp_path: Path) -> None:
    (tmp_path / "uv.toml").write_text('[[index]]\nname = "my-index"\nurl = "https://a.test/simple"\n')
    variables = {"UV_INDEX_MY_INDEX_USERNAME": "me", "UV_INDEX_MY_INDEX_PASSWORD": "secret"}
    [index] = uv_configuration.read(environ(tmp_path, **variables), str(tmp_path), "linux").indexes
    assert (index.user, index.password) == ("me", "secret")


@pytest.mark.parametrize(
    ("url", "shown", "user", "password"),
    [
        ("https://me:se%40cret@a.test:8443/simple", "https://a.test:8443/simple", "me", "se@cret"),
        ("https://token@a.test/simple?key=secret", "https://a.test/simple", "token", ""),
        ("https://a.test/simple#part", "https://a.test/simple", "", ""),
        ("file:///srv/simple", "file:///srv/simple", "", ""),
        ("/srv/my wheels", "file:///srv/my%20wheels", "", ""),
    ],
)
def test_credentials_are_apart(url: str, shown: str, user: str, password: str) -> None:
    index = Index.of(url, "test")
    assert (index.shown, index.user, index.password) == (shown, user, password)
    assert "secret" not in index.shown


def test_what_is_no_url_is_not_repeated() -> None:
    with pytest.raises(BadIndex, match=r"^PIP_INDEX_URL does not hold a URL$"):
        Index.of("https://me:secret@[bad/simple", "PIP_INDEX_URL")


def test_a_configured_default_asks_no_pip(tmp_path: Path) -> None:
    host = LiveHost(environ(tmp_path, UV_DEFAULT_INDEX="https://a.test/simple", PIP_INDEX_URL="https://a.test/simple/"))
    found = connection_of(host, (), str(tmp_path))
    assert hosts(found.indexes) == ["a.test"]


def python_without_pip(tmp_path: Path) -> str:
    """An environment as uv makes it: it has an interpreter and no pip."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    return str(tmp_path / "env" / "bin" / "python")


def test_without_configuration_and_pip_there_is_no_index(tmp_path: Path) -> None:
    python = python_without_pip(tmp_path)
    with pytest.raises(NoIndex, match="No module named pip"):
        connection_of(LiveHost(environ(tmp_path)), (python,), str(tmp_path))


def test_without_pip_what_is_configured_is_used(tmp_path: Path) -> None:
    python = python_without_pip(tmp_path)
    host = LiveHost(environ(tmp_path, PIP_EXTRA_INDEX_URL="https://a.test/simple"))
    found = connection_of(host, (python,), str(tmp_path))
    assert hosts(found.indexes) == ["a.test"]
    assert "the default package index is unknown:" in found.notes[0]


def test_pip_is_asked_for_its_default(tmp_path: Path) -> None:
    found = connection_of(LiveHost(environ(tmp_path)), (sys.executable,), str(tmp_path))
    [index] = found.indexes
    assert index.url.startswith("https://")
    assert index.url.endswith("/simple")
    assert index.said_by == f"{sys.executable} -m pip"
