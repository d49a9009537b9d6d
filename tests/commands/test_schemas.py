"""The schemas of what commands print: their committed copies are current, and real answers keep to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from doctor.changes.snapshot import Difference, Item
from doctor.cli import execute
from doctor.commands.changed.schema import changed_schema
from doctor.commands.check.targets_schema import targets_schema
from doctor.commands.diff.document import DiffDocument, Judged
from doctor.commands.diff.schema import diff_schema
from doctor.commands.install.schema import bundle_schema
from doctor.commands.what_if.schema import what_if_schema
from doctor.model.finding import bad
from doctor.model.schema import as_text
from installers.bundle import Bundled
from tests.lab.parts import VENV, offline_linux, package, together, venv

DOCS = Path(__file__).resolve().parents[2] / "docs"
SCHEMAS = {
    "bundle": bundle_schema(),
    "changed": changed_schema(),
    "diff": diff_schema(),
    "targets": targets_schema(),
    "what-if": what_if_schema(),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_committed_schema_is_current(name: str) -> None:
    module = {"what-if": "what_if.schema", "targets": "check.targets_schema", "bundle": "install.schema"}
    command = f"python -m doctor.commands.{module.get(name, f'{name}.schema')} > docs/{name}.schema.json"
    assert (DOCS / f"{name}.schema.json").read_text(encoding="utf-8") == as_text(SCHEMAS[name]), f"run: {command}"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("root")
    together(offline_linux(), venv(), package("numpy", "1.26.4", {"numpy/__init__.py": ""}))(folder)
    (folder / "var/log/apt").mkdir(parents=True, exist_ok=True)
    (folder / "var/log/apt/history.log").write_text(
        "\nStart-Date: 2026-01-02  03:04:05\nUpgrade: libnvidia-compute-580:amd64 (580.82, 580.95)\n"
        "End-Date: 2026-01-02  03:04:09\n"
    )
    return str(folder)


def keeps(name: str, told: Any) -> None:
    jsonschema.Draft202012Validator(SCHEMAS[name]).validate(told)
    for key in [*told]:
        kept = told.pop(key)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft202012Validator(SCHEMAS[name]).validate(told)
        told[key] = kept


@pytest.mark.parametrize("command", ["pip install torch==2.9.1", "pip install some-package", "pip uninstall numpy"])
def test_what_if(command: str, root: str, capsys: pytest.CaptureFixture[str]) -> None:
    machine = ("--root", root, "--python", VENV, "--assume-gpu", "RTX 5090", "--assume-driver", "550.54.14")
    execute(["what-if", command, *machine, "--json"])
    keeps("what-if", json.loads(capsys.readouterr().out))


def test_changed(root: str, capsys: pytest.CaptureFixture[str]) -> None:
    execute(["changed", "--since", "2025-12-01", "--root", root, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["changes"]
    keeps("changed", told)


def test_targets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.8.0\n")
    lock = str(tmp_path / "requirements.txt")
    execute(["check", "--lock", lock, "--policy", "", "--platform", "all", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["targets"]
    keeps("targets", told)


def test_diff_and_bundle() -> None:
    new = bad("the driver is older")._replace(code="driver-too-old-for-runtime", subject="torch 2.8.0")
    judged = Judged(Difference(Item("driver", "driver"), "580", "550"), ("driver-too-old-for-runtime",))
    keeps("diff", json.loads(json.dumps(DiffDocument((judged,), (new,), ()).plain())))
    file = Bundled("a.whl", 12, "0" * 64)._asdict()
    keeps("bundle", {"schema": "gpudoctor.bundle/1", "directory": "/b", "files": [file], "not_in_it": []})
