"""Text that enters a line or a script is text there: five hundred nasty strings through each field of each kind."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tree_sitter
import tree_sitter_powershell

from doctor.cli import execute
from installers.plan import Plan
from installers.render import commands, script_bash, script_powershell
from installers.step import StepType, every_kind
from installers.steps.unless import Unless
from tests.installers import target as machines

PAYLOADS = (
    "$(touch PWNED)",
    "`touch PWNED`",
    "'; touch PWNED; '",
    '"; touch PWNED; "',
    "\ntouch PWNED\n",
    "\r\ntouch PWNED\r\n",
    "\nEND OF FILE\ntouch PWNED\n",
    "&& touch PWNED",
    "| touch PWNED",
    "#\ntouch PWNED",
    "\u2019; touch PWNED; \u2019",
    "' + $(touch PWNED) + '",
    "\\'; touch PWNED #",
    "-rf $(touch PWNED)",
    "${x:-$(touch PWNED)}",
    "\x00touch PWNED".replace("\x00", "\x01"),
    "\u2028touch PWNED",
    "\udc80$(touch PWNED)",
)
TEXTS = {"path", "to", "into", "source", "archive", "url", "text", "value", "directory", "keyring", "section", "why"}
TUPLES = {"argv", "lines", "paths", "patterns"}
NAMES = {"name"}


def nasty(number: int) -> list[str]:
    chance = random.Random(number)
    words = ["a", "it's", " ", "/", "\\", "$HOME", "*", "~", "%", "!", "\t", "é", "\r", "\n", '"', ";"]
    return [
        "".join(chance.choices(words, k=3)) + chance.choice(PAYLOADS) + "".join(chance.choices(words, k=3))
        for _ in range(number)
    ]


STRINGS = nasty(500)


def plain_step(kind: StepType) -> Any:
    """One of its kind with harmless contents."""
    values: dict[str, Any] = dict.fromkeys(kind.step._fields, "a")  # type: ignore[attr-defined]
    values.update(dict.fromkeys(TUPLES & values.keys(), ("a",)))
    special: dict[str, Any] = {
        "needs_root": False, "timeout_s": 1, "place": "", "inverse": None, "staged": (), "renames": (("a/b", "c/d"),),
        "sha256": ("0" * 64,), "size_bytes": None, "fingerprints": ("A" * 40,), "settings": (("a", "b"),), "once": (),
        "is_new": True, "arch": "", "cuda_major": 12, "add": "a+r", "expects": (), "finds": None, "set_in": "",
        "ends": False,
    }  # fmt: skip
    values.update({name: value for name, value in special.items() if name in values})
    return kind.step(**values)


def fields(kind: StepType) -> Iterator[str]:
    yield from sorted((TEXTS | TUPLES | {"settings", "renames", "set_in", "place"}) & {*kind.step._fields})  # type: ignore[attr-defined]


def whole(step: Any) -> tuple[Any, ...]:
    """What opens a part is closed."""
    return (step, Unless("", ends=True)) if isinstance(step, Unless) else (step,)


def with_text(step: Any, field: str, text: str) -> Any:
    if field == "settings":
        return step._replace(settings=((text, text),))
    if field == "renames":
        return step._replace(renames=((f"{text}/b", f"c/{text}"),))
    return step._replace(**{field: (text, text) if field in TUPLES else text})


@pytest.mark.parametrize("kind", every_kind(), ids=lambda kind: kind.step.__name__)
@pytest.mark.parametrize("strings", [STRINGS[:40], pytest.param(STRINGS, marks=pytest.mark.slow)], ids=["some", "all"])
def test_bash_runs_none_of_it(kind: StepType, strings: list[str], tmp_path: Path) -> None:
    """Every function and command but `touch` is a stub, and no file appears."""
    target = machines.LINUX["ubuntu"]
    texts = []
    for field in fields(kind):
        for text in strings:
            plan = Plan(text, whole(with_text(plain_step(kind), field, text)))
            texts += ["\n".join(commands(plan, target)), body_of(script_bash.script(plan, target))]
    assert not any("\r" in text for text in texts)  # an editor or a paste may make a line's end of it
    stub = "command_not_found_handle() { :; }\nsudo() { :; }\nsay() { :; }\nstop() { :; }\n"
    # What a command itself does is not judged, so that no program of the machine is on its PATH; touch alone is.
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/touch").write_text("#!/bin/sh\n: >'" + str(tmp_path) + "/PWNED'\n")
    (tmp_path / "bin/touch").chmod(0o755)
    for number in range(0, len(texts), 500):
        script = stub + "".join(
            f"(\n:\n{text}\n) </dev/null >/dev/null 2>&1\n" for text in texts[number : number + 500]
        )
        path = tmp_path / "all.sh"
        path.write_bytes(script.encode("utf-8", "surrogateescape"))
        done = subprocess.run(
            ["/bin/bash", str(path)], cwd=tmp_path, env={"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)},
            capture_output=True, timeout=300,
        )  # fmt: skip
        assert b"syntax error" not in done.stderr, done.stderr[:500]
        assert not (tmp_path / "PWNED").exists()


def body_of(script: str) -> str:
    """Without what it defines, and without `set -e`, which would end it at the first stub that is missing."""
    found = re.search(r"\nsay ['$]", script)
    return script[found.start() :] if found else script


def shape(text: str) -> list[str]:
    """The kinds of node of a PowerShell text, without the strings in it."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language()))
    nodes, found = [parser.parse(text.encode("utf-8", "replace")).root_node], []
    while nodes:
        node = nodes.pop()
        if node.type == "ERROR" or node.is_missing:
            return ["ERROR"]
        if node.type == "command_name" and node.text:
            found.append(node.text.decode())
        nodes.extend(node.children)
    return sorted(found)


@pytest.mark.parametrize("kind", every_kind(), ids=lambda kind: kind.step.__name__)
def test_powershell_has_no_command_more(kind: StepType) -> None:
    for field in fields(kind):
        for text in STRINGS[:20]:
            plan = Plan("x", whole(with_text(plain_step(kind), field, f"a{text}")))
            typed = "\n".join(
                (*commands(plan, machines.WINDOWS), "exit")
            )  # comments alone are no program to the grammar
            for lines in (typed, script_powershell.script(plan, machines.WINDOWS)):
                names = shape(lines)
                assert "ERROR" not in names, (field, text)
                assert "touch" not in names, (field, text)
                assert "\r" not in lines, (field, text)


def test_a_name_of_a_variable_is_one() -> None:
    for kind in every_kind():
        if NAMES & {*kind.step._fields}:  # type: ignore[attr-defined]
            plan = Plan("x", (plain_step(kind)._replace(name="A;touch PWNED"),))
            with pytest.raises(ValueError, match="is not a variable name"):
                commands(plan, machines.LINUX["ubuntu"])


@pytest.mark.parametrize("option", ["--prefix", "--cuda-home", "--archive"])
def test_unprintable_paths_are_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    order = ["install", "cudnn", "9.10.2", "--cuda-version", "12.8", "--os", "linux", "--script", "bash"]
    assert execute([*order, option, "/x\nEND OF FILE\ntouch PWNED\n"]) == 2
    assert "cannot be printed" in capsys.readouterr().err
