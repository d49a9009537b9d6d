"""Every example of CONTRIBUTING.md works in a copy of the product, and one new thing is one new file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commands.which.test_which import SITE
from tests.examples import ROOT, Example, examples
from tests.loader.cards.test_made_up import machine

# How many product files each thing touches.
FILES = {
    "A probe with its facts": 1,
    "A rule": 1,
    "A need and its installation method": 2,
    "An effect": 2,
    "A kind of step": 1,
    "A framework card": 1,
    "A row of the matrix": 1,
    "A signature": 1,
    "A dump": 1,
    "An output format": 1,
    "A command": 1,
    "A network for `bench`": 1,
}
PAGE = "# zeta-pipe-missing\n\n*zeta's daemon has no pipe*\n\n**How to fix it.** Make the pipe.\n"
ASK = """
import contextlib, io, json, sys
from pathlib import Path

import doctor
from doctor.cli import execute
from tests.commands.explain.prefilter import with_words

copy, root, state, log = sys.argv[1:]
assert doctor.__file__ == f"{copy}/doctor/__init__.py"
file = Path(copy, "doctor/messages/signatures/zeta.json")
file.write_text(with_words("zeta"), encoding="utf-8")


def ask(*argv):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(sys.stdout):
        execute(argv)
    return out.getvalue()


def step():
    from installers.apply import apply
    from installers.journal import State
    from installers.plan import Plan
    from installers.steps.make_fifo import MakeFifo
    from installers.undo import rollback

    path = Path(state, "fifo")
    journal = State(f"{state}/journal")
    apply(Plan("make it", (MakeFifo(str(path), "it is tried"),)), journal)
    made = path.is_fifo()
    rollback(journal)
    return made, path.exists()


def network():
    from doctor.commands.bench import networks, shapes

    one = networks.load("linear")
    return shapes.parameters(one), one.parameters


def dump():
    from doctor.commands.explain.dump import tell
    from doctor.messages.reading import read

    return [one.value for one in tell(read(io.BytesIO(b"zeta 1.0"))).said]


def schema():
    from doctor.commands.check.schema import report_schema

    return report_schema()["properties"]["facts"]["properties"]["zeta_pipes"]


print(json.dumps({
    "list": ask("check", "--list"),
    "check": ask("check", "--root", root, "--only", "zeta-pipe-missing", "--format", "json"),
    "help": ask("check", "--help"),
    "format": ask("check", "--root", root, "--only", "zeta-pipe-missing", "--format", "keys"),
    "which": ask("which", "cudnn", "--framework", "zeta", "--root", root, "--format", "json"),
    "can": ask("matrix", "can", "zeta==1.0", "--gpu", "RTX 4090"),
    "explain": ask("explain", log),
    "command": ask("products"),
    "words": json.loads(file.read_text(encoding="utf-8"))["signatures"][0]["words"],
    "step": step(),
    "network": network(),
    "dump": dump(),
    "schema": schema(),
}))
"""


def link(source: str, copy: str) -> None:
    try:
        os.link(source, copy)
    except OSError:  # another file system
        shutil.copy2(source, copy)


def add(copy: Path, one: Example) -> None:
    """Write an example where it says; a linked file is replaced, never written to."""
    path = copy / one.path
    assert path.exists() is bool(one.place), one.path
    text = one.text
    if one.place == "at its end":
        text = f"{path.read_text(encoding='utf-8')}\n\n{text}"
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a copy of the product with all of the examples answers."""
    folder = tmp_path_factory.mktemp("examples")
    copy, root, state = folder / "copy", machine(folder / "root", wheel=True), folder / "state"
    for name in ("doctor", "installers", "compat", "docs/rules"):
        shutil.copytree(ROOT / name, copy / name, copy_function=link)
    for one in examples():
        add(copy, one)
    (copy / "docs/rules/zeta-pipe-missing.md").write_text(PAGE, encoding="utf-8")
    (root / "run").mkdir()
    state.mkdir()
    (folder / "log").write_text("ZetaError: no kernels for sm_70\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{copy}{os.pathsep}{ROOT}", "COLUMNS": "300"}
    argv = [sys.executable, "-c", ASK, str(copy), str(root), str(state), str(folder / "log")]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, cwd=folder)
    assert done.returncode == 0, done.stderr + done.stdout
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_each_thing_is_as_few_files_as_it_says() -> None:
    found = [one.section for one in examples()]
    assert {section: found.count(section) for section in found} == FILES
    assert all(sum(map(bool, one.text.splitlines())) <= 22 for one in examples()), "an example is short"


def test_the_dump_tells_its_package(said: dict[str, Any]) -> None:
    assert said["dump"] == ["zeta==1.0"]


def test_the_rule_is_asked_about_the_facts_of_the_probe_and_its_remedy_is_proven(said: dict[str, Any]) -> None:
    assert "zeta-pipe-missing" in said["list"]
    report = json.loads(said["check"])
    assert report["facts"]["zeta_pipes"] == []
    [finding] = report["findings"]
    assert (finding["code"], finding["summary"]) == ("zeta-pipe-missing", "zeta's pipe /run/zeta is missing")
    [remedy] = finding["remedies"]
    assert "mkfifo /run/zeta" in remedy["commands"]
    assert remedy["proven"] is True  # the effect was applied, the probe looked again, and the rule had nothing to say
    assert said["schema"]["anyOf"][0]["items"]["$ref"].endswith("Pipe")


def test_the_step_is_carried_out_and_taken_back(said: dict[str, Any]) -> None:
    assert said["step"] == [True, False]


def test_the_card_and_the_row(said: dict[str, Any]) -> None:
    [subject] = json.loads(said["which"])["subjects"]
    found = {one["name"]: one["path"] for one in subject["libraries"]}
    assert found["libcudnn.so.9"] == f"/{SITE}/nvidia/cudnn/lib/libcudnn.so.9"
    assert said["can"].startswith("yes")


def test_the_signature(said: dict[str, Any]) -> None:
    assert said["words"]
    assert "zeta has no code for sm_70" in said["explain"]


def test_the_format_the_command_and_the_network(said: dict[str, Any]) -> None:
    assert "keys" in said["help"].partition("--format")[2].partition("\n")[0]
    assert said["format"].startswith("keys: schema, ")
    assert said["command"].endswith(" products\n")
    assert said["network"] == [7850, 7850]
