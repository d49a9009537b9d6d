"""Files that somebody else wrote: what is absurd is refused before it is parsed, what is ordinary is read as ever."""

from __future__ import annotations

import json
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

from doctor.cli import execute
from doctor.host.documents import parse_ini, parse_json, parse_toml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DOTTED = ".".join(["a"] * 20_000)
BOMBS = {
    "dotted key": f"{DOTTED} = 1",
    "quoted parts": f"{DOTTED.replace('a', repr('a'))} = 1",
    "blanks between": f"{DOTTED.replace('.', ' . ')} = 1",
    "dotted table": f"[{DOTTED}]",
    "array of tables": f"[[{DOTTED}]]",
    "inside an inline table": f"a = {{b = {{{DOTTED} = 1}}}}",
    "behind quotes in quotes": f'a = "\\""\nb = \'"\'\n{DOTTED} = 1',
    "behind a long string": f'a = """"x""\\""" """""\n{DOTTED} = 1',
    "behind a literal": f"a = '''''x'''''\n{DOTTED} = 1",
    "behind a comment": f"# \"'''\n{DOTTED} = 1",
    "arrays": f"a = {'[' * 50_000}",
    "inline tables": f"a = {'{a=' * 50_000}",
    "many keys": "\n".join(f"{'.'.join([f'k{n}'] * 31)} = 1" for n in range(2_000)),
    "long": "# " + "x" * (1 << 20),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_of_toml_is_refused_before_it_is_parsed(name: str) -> None:
    """Without the bound the first one takes 2.3 GiB."""
    tracemalloc.start()
    started = time.thread_time()
    with pytest.raises(ValueError, match=r"more than|nested"):
        parse_toml(BOMBS[name])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert time.thread_time() - started < 2
    assert most < 32 << 20


def test_the_dearest_text_that_is_parsed_stays_small() -> None:
    """As many tables as there is room for."""
    text = "".join(f"[{n:x}]\n" for n in range(8_000))
    tracemalloc.start()
    assert len(parse_toml(text)) == 8_000
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 16 << 20


ORDINARY = (
    'a."b.c".d = 1\n[x.y.z]\ns = """a "" b\\""""  # [[[\n',
    "l = '''it's ['''\nt = {a.b = [1, [2]]}  # [[[\n",
    "[[tool.uv.index]]\nname = 'x'\n[tool.poetry.dependencies]\ntorch = {version='2.9.1', markers='a.b.c'}\n",
    f"deps = [\"{'a.b.c' * 2_000}\", '{'[{' * 300}']\n",
)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_toml_is_read(text: str) -> None:
    assert parse_toml(text) == tomllib.loads(text)


@pytest.mark.parametrize("text", ["a = ", "= 1", "[a\n", 'a = "x', "\\", '"\\', "a = '''x", "\x00"])
def test_what_is_no_toml_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_toml(text)


@pytest.mark.parametrize("text", ["[" * 200, '{"a":' * 200, '"\\' * 50_000, '["]' * 50_000, '["\\"' * 50_000 + "["])
def test_a_bomb_of_json_is_refused(text: str) -> None:
    started = time.thread_time()
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)
    with pytest.raises(ValueError, match=r"."):
        parse_json(text.encode())
    assert time.thread_time() - started < 1


def test_deep_json_is_refused_though_python_parses_it() -> None:
    """Whoever prints such a value ends with a RecursionError."""
    text = "[" * 500 + "]" * 500
    assert json.loads(text)
    with pytest.raises(ValueError, match="nested"):
        parse_json(text)


def test_ordinary_json_is_read() -> None:
    value = {"a": [[1, 2], {"b": "]]}}[" * 100, 'c"': "\\"}] * 60}
    assert parse_json(json.dumps(value)) == value
    assert parse_json(json.dumps(value).encode("utf-16")) == value


def test_a_long_line_of_ini_is_refused() -> None:
    """configparser takes hours for blanks before the end of a line without a value."""
    with pytest.raises(ValueError, match="in a line"):
        parse_ini(f"[global]\na{' ' * 200_000}b\n", "pip.conf")
    assert parse_ini("[global]\nindex-url = x\n", "pip.conf")["global"]["index-url"] == "x"


@pytest.mark.parametrize(
    "name", ["pyproject.toml", "hatch.toml", "poetry.toml", "uv.toml", "pixi.toml", "gpudoctor.toml"]
)
def test_check_in_a_directory_with_a_bomb(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bare `check` reads these of whatever directory it is called in."""
    (tmp_path / "pyproject.toml").write_text("[tool.hatch]\n[tool.poetry]\n")
    (tmp_path / name).write_text(f"[tool.hatch]\n[tool.poetry]\n{DOTTED} = 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    tracemalloc.start()
    status = execute(["check", "--only", "cpu-only-wheel"])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100 << 20
    assert (status == 2) is (name == "gpudoctor.toml")
    assert "Traceback" not in capsys.readouterr().err
