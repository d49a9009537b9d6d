"""Scripts from plans: they pass their linters, and bash ones are run for real against a small toolkit."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import tree_sitter
import tree_sitter_powershell

from doctor.cli import execute
from installers.apply import apply
from installers.choose import plan_for
from installers.journal import State
from installers.methods.cudnn_archive import archive_plan
from installers.plan import Plan
from installers.render import script_bash, script_powershell
from installers.steps.by_hand import ByHand
from installers.steps.copy_tree import CopyTree
from installers.steps.download import Download
from installers.steps.edit_text import EditText
from installers.steps.refresh_loader import RefreshLoader
from installers.steps.use_file import UseFile
from installers.steps.write_file import WriteFile
from tests.installers import target as machines
from tests.installers.archives import LINUX, MATRIX, WINDOWS_ERAS, Era, pack, plan_of, served
from tests.installers.needs import ANYWHERE, LINUX_ONLY, plans_for
from tests.installers.test_methods import shellcheck
from tests.lab.cudnn_tree import copy_of, header_of

ERA = next(era for era in LINUX if era.version == "9.10.2")


def linted(text: str, tmp_path: Path) -> str:
    path = tmp_path / "script.sh"
    path.write_text(text)
    assert subprocess.run(["bash", "-n", str(path)], capture_output=True, text=True).stderr == ""
    return subprocess.run([shellcheck(), str(path)], capture_output=True, text=True).stdout


@pytest.mark.parametrize("era", LINUX, ids=lambda era: era.name)
def test_shellcheck_finds_nothing(era: Era, tmp_path: Path) -> None:
    for home in ("", "/home/user/it's a/cuda"):
        plan = archive_plan(era.order(home), era.target, MATRIX)
        assert linted(script_bash.script(plan, era.target), tmp_path) == ""


@pytest.mark.parametrize("name", ["ubuntu", "rocky", "docker", "wsl"])
def test_shellcheck_finds_nothing_in_other_plans(name: str, tmp_path: Path) -> None:
    target, paths = machines.LINUX[name], []
    for number, (_, plan) in enumerate(plans_for((*ANYWHERE, *LINUX_ONLY), target, MATRIX)):
        paths.append(tmp_path / f"{number}.sh")
        paths[-1].write_text(script_bash.script(plan, target))
    assert subprocess.run([shellcheck(), *map(str, paths)], capture_output=True, text=True).stdout == ""


def tree_of(text: str) -> tree_sitter.Node:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language())).parse(text.encode()).root_node


def mistakes(text: str) -> list[str]:
    """What the grammar of PowerShell does not take."""
    source = text.encode()
    nodes, found = [tree_of(text)], []
    while nodes:
        node = nodes.pop()
        nodes.extend(node.children)
        if node.type == "ERROR" or node.is_missing:
            found.append(source[node.start_byte : node.end_byte + 40].decode())
    return found


@pytest.mark.parametrize("era", WINDOWS_ERAS, ids=lambda era: era.name)
def test_powershell_parses(era: Era) -> None:
    for home in ("", "D:\\it's a\\cuda"):
        assert mistakes(script_powershell.script(archive_plan(era.order(home), era.target, MATRIX), era.target)) == []


def test_powershell_of_other_plans_parses() -> None:
    for need in ANYWHERE:
        assert mistakes(script_powershell.script(plan_for(need, machines.WINDOWS, MATRIX), machines.WINDOWS)) == [], (
            need
        )


def test_the_parser_does_find_mistakes() -> None:
    assert mistakes("if ($a { throw }")


# What the scripts may call, with the parameters that Windows PowerShell 5.1 gives it. Source: Microsoft Learn,
# modules Microsoft.PowerShell.Core, .Management, .Utility and .Archive, version 5.1.
KNOWN = {
    "copy-item": "force literalpath destination",
    "expand-archive": "force literalpath destinationpath",
    "foreach-object": "",
    "get-authenticodesignature": "literalpath",
    "get-childitem": "literalpath filter file directory",
    "get-command": "erroraction",
    "get-date": "format",
    "get-filehash": "algorithm literalpath",
    "get-item": "literalpath",
    "join-path": "",
    "move-item": "force literalpath destination",
    "new-item": "itemtype force path target",
    "new-object": "",
    "out-null": "",
    "remove-item": "erroraction force literalpath",
    "resolve-path": "literalpath",
    "restart-computer": "",
    "select-object": "first",
    "select-string": "literalpath pattern",
    "set-strictmode": "version",
    "split-path": "parent",
    "start-process": "wait passthru filepath argumentlist",
    "start-sleep": "seconds",
    "test-path": "literalpath",
    "where-object": "",
    "write-output": "",
    "nvidia-smi": "i mig c -gpu-reset",  # a program, whose name looks like a cmdlet's
}


def unknown_calls(text: str) -> list[str]:
    """Calls of what is neither a function of the script nor known, or with a parameter that is not."""
    functions = {name.lower() for name in re.findall(r"^function ([\w-]+)", text, re.MULTILINE)}
    found = []
    for call in commands_of(text):
        name, *parameters = call.lower().split("\0")
        if "-" not in name or name in functions:  # programs, and what the script defines
            continue
        found += [
            call for one in (parameters or [""]) if name not in KNOWN or not {one[1:]} <= {"", *KNOWN[name].split()}
        ]
    return found


def commands_of(text: str) -> list[str]:
    """Names of cmdlets and functions that are called, each with its parameters after NULs."""
    nodes, found = [tree_of(text)], []
    while nodes:
        node = nodes.pop()
        nodes.extend(node.children)
        if node.type == "command" and node.children[0].type == "command_name":
            elements = [one for child in node.children for one in child.children if one.type == "command_parameter"]
            found.append("\0".join((one.text or b"").decode() for one in (node.children[0], *elements)))
    return found


@pytest.mark.parametrize("era", WINDOWS_ERAS, ids=lambda era: era.name)
def test_powershell_calls_what_5_1_has(era: Era) -> None:
    assert unknown_calls(script_powershell.script(archive_plan(era.order(), era.target, MATRIX), era.target)) == []


def test_powershell_of_other_plans_calls_what_5_1_has() -> None:
    for need in ANYWHERE:
        assert (
            unknown_calls(script_powershell.script(plan_for(need, machines.WINDOWS, MATRIX), machines.WINDOWS)) == []
        ), need


@pytest.mark.parametrize("line", ["Get-Fliehash x", "New-Item -LiteralPath x", "Test-Path -Literal x"])
def test_a_call_that_5_1_has_not_is_found(line: str) -> None:
    assert unknown_calls(line) != []


def test_powershell_writes_and_leaves_text() -> None:
    edit = EditText("~/.theanorc.txt", "global", (("device", "gpu"),), (), "why")
    write = WriteFile("C:\\it's\\keras.json", ('{"backend": "theano"}',), "why")
    text = script_powershell.script(Plan("configure", (edit, write)), machines.WINDOWS)
    assert mistakes(text) == []
    assert unknown_calls(text) == []
    assert "Write-Output '   to do by hand, in ~/.theanorc.txt:'" in text
    assert "Write-Output '   device = gpu'" in text
    assert "Write-Text 'C:\\it''s\\keras.json' @('{\"backend\": \"theano\"}')" in text


class Bench:
    """A root with a CUDA toolkit in it, an archive, and a server that has it."""

    def __init__(self, folder: Path, era: Era) -> None:
        self.era = era
        folder.mkdir(exist_ok=True)
        self.root = folder / "root"
        self.home = self.root / "usr/local/cuda"
        (self.home / "include").mkdir(parents=True)
        (self.home / "lib64").mkdir()
        major, _, minor = era.cuda.partition(".")
        (self.home / "include/cuda.h").write_text(f"#define CUDA_VERSION {major}0{minor or 0}0\n")
        (folder / "served").mkdir()
        self.archive = pack(era, folder / "served")
        self.staging = folder / "staging"
        self.script = folder / "script.sh"
        self.environ = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "GPUDOCTOR_STAGING": str(self.staging)}

    def plan(self, url: str) -> Plan:
        return plan_of(self.era, str(self.home), self.archive, url)

    def run(self, plan: Plan, **environ: str) -> subprocess.CompletedProcess[str]:
        self.script.write_text(script_bash.script(plan, self.era.target))
        return subprocess.run(
            ["bash", str(self.script)],
            env={**self.environ, **environ},
            capture_output=True,
            text=True,
            cwd=self.script.parent,
        )

    def tree(self) -> dict[str, tuple[int, str | bytes]]:
        """Every file and link below the CUDA directory: its mode, and its text or content."""
        found: dict[str, tuple[int, str | bytes]] = {}
        for path in sorted(self.home.rglob("*")):
            mode = stat.S_IMODE(path.lstat().st_mode)
            if path.is_symlink():
                found[str(path.relative_to(self.home))] = (0, os.readlink(path))
            elif path.is_file():
                found[str(path.relative_to(self.home))] = (mode, path.read_bytes())
        return found

    def expected(self) -> dict[str, tuple[int, str | bytes]]:
        """What the plan's copies make of it, said anew."""
        tree = self.archive.parent / "tree"
        found = self.tree()
        for pattern, source, into in (
            ("cudnn*.h", self.era.headers, "include"),
            ("libcudnn*", self.era.libraries, "lib64"),
        ):
            for path in (tree / source).glob(pattern):
                mode = stat.S_IMODE(path.lstat().st_mode) | 0o444
                content = (0, os.readlink(path)) if path.is_symlink() else (mode, path.read_bytes())
                found[f"{into}/{path.name}"] = content
        return found


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, ERA)


@pytest.fixture
def url(tmp_path: Path, bench: Bench) -> Iterator[str]:
    with served(bench.archive.parent) as address:
        yield address


@pytest.mark.parametrize("era", LINUX, ids=lambda era: era.name)
def test_a_script_installs_each_era(era: Era, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench = Bench(tmp_path, era)
    expected = bench.expected()
    with served(bench.archive.parent) as url:
        done = bench.run(bench.plan(url))
    assert (done.returncode, done.stderr) == (0, "")
    assert bench.tree() == expected
    if era.version == "2" or era.target.arch != "x86_64":
        return  # check reads versions from 4 on, and tells of another machine's libraries otherwise
    execute(["check", "--root", str(bench.root), "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    [copy] = report["facts"]["cudnn"]
    assert copy["path"] == "/usr/local/cuda/lib64"
    assert copy["version"]["value"].startswith(era.version)
    assert [one for one in report["answers"] if one["answer"] == "bad" and "cudnn" in one["code"]] == []


def test_a_script_leaves_the_tree_that_apply_leaves(tmp_path: Path) -> None:
    trees = []
    for name in ("script", "apply"):
        bench = Bench(tmp_path / name, ERA)
        copy_of(bench.home / "lib64", "9.5.1", chain=True)
        with served(bench.archive.parent) as url:
            plan = bench.plan(url)
            if name == "script":
                assert bench.run(plan).returncode == 0
            else:
                apply(plan, State(str(tmp_path / "state")))
        trees.append(bench.tree())
    assert trees[0] == trees[1]


def test_again_it_changes_nothing(bench: Bench, url: str) -> None:
    assert bench.run(bench.plan(url)).returncode == 0
    before = {path: path.lstat().st_mtime_ns for path in bench.home.rglob("*")}
    again = bench.run(bench.plan(url))
    assert again.returncode == 0
    assert "it already exists" in again.stdout
    assert {path: path.lstat().st_mtime_ns for path in bench.home.rglob("*")} == before
    assert not (bench.staging / "replaced").exists()


def test_what_is_replaced_is_kept(bench: Bench, url: str) -> None:
    copy_of(bench.home / "lib64", "9.5.1", chain=True)
    header_of(bench.home / "include", "9.5.1")
    old = (bench.home / "include/cudnn_version.h").read_bytes()
    expected = bench.expected()
    done = bench.run(bench.plan(url))
    assert done.returncode == 0, done.stderr
    assert bench.tree() == expected
    [kept] = (bench.staging / "replaced").glob(f"*{bench.home}")
    assert (kept / "include/cudnn_version.h").read_bytes() == old
    assert os.readlink(kept / "lib64/libcudnn.so.9") == "libcudnn.so.9.5.1"
    assert f"Replaced files are in {bench.staging}/replaced/" in done.stdout


def _other_digest(plan: Plan) -> Plan:
    return plan._replace(
        steps=tuple(step._replace(sha256=("0" * 64,)) if isinstance(step, Download) else step for step in plan.steps)
    )


def _elsewhere(plan: Plan) -> Plan:
    return plan._replace(
        steps=tuple(
            step._replace(into="/no/such/cuda/lib64") if isinstance(step, CopyTree) else step for step in plan.steps
        )
    )


def _missing(plan: Plan) -> Plan:
    return plan._replace(
        steps=tuple(
            step._replace(url=f"{step.url}.gone") if isinstance(step, Download) else step for step in plan.steps
        )
    )


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (_other_digest, "is not the file that was meant: another digest"),
        (_elsewhere, "install the CUDA toolkit first"),
        (_missing, "404"),
    ],
    ids=["digest", "no toolkit", "no such file"],
)
def test_what_fails_changes_nothing(bench: Bench, url: str, broken: object, said: str) -> None:
    before = bench.tree()
    done = bench.run(broken(bench.plan(url)))  # type: ignore[operator]
    assert done.returncode != 0
    assert said in done.stderr
    assert bench.tree() == before


def test_a_toolkit_of_another_major_is_refused(bench: Bench, url: str) -> None:
    (bench.home / "include/cuda.h").write_text("#define CUDA_VERSION 9020\n")
    before = bench.tree()
    done = bench.run(bench.plan(url))
    assert done.returncode == 1
    assert "has the headers of CUDA 9, but the archive is for CUDA 12" in done.stderr
    assert bench.tree() == before


def _of_user(bench: Bench, file: Path, *digests: str) -> Plan:
    steps = [
        UseFile(str(file), step.to, digests, "the user's") if isinstance(step, Download) else step
        for step in bench.plan("").steps
    ]
    return Plan("install", tuple(steps))


def test_a_file_whose_digest_nobody_knows_waits_for_the_users(bench: Bench) -> None:
    plan = _of_user(bench, bench.archive)
    before = bench.tree()
    refused = bench.run(plan)
    assert refused.returncode == 1
    assert "set GPUDOCTOR_SHA256" in refused.stderr
    assert bench.tree() == before
    digest = refused.stdout.partition("its SHA-256 is ")[2].split()[0]
    assert bench.run(plan, GPUDOCTOR_SHA256=digest).returncode == 0
    assert bench.tree() != before


def test_a_web_page_is_named_as_one(bench: Bench, tmp_path: Path) -> None:
    page = tmp_path / "cudnn.tgz"
    page.write_text("<!DOCTYPE html><html><title>Log in</title></html>")
    done = bench.run(_of_user(bench, page, "0" * 64))
    assert done.returncode == 1
    assert "is a web page: log in" in done.stderr


def test_a_copy_of_all_keeps_its_folders(bench: Bench) -> None:
    tree = CopyTree(f"unpacked/{ERA.name.removesuffix('.tar.xz')}", str(bench.home / "all"), ("**",), "everything")
    plan = _of_user(bench, bench.archive)
    steps = [step for step in plan.steps if not isinstance(step, (CopyTree, ByHand, RefreshLoader))]
    done = bench.run(Plan("all", (*steps[:2], tree)), GPUDOCTOR_SHA256=_digest(bench.archive))
    assert done.returncode == 0, done.stderr
    assert os.readlink(bench.home / "all/lib/libcudnn.so.9") == "libcudnn.so.9.10.2"
    assert (bench.home / "all/include/cudnn_version.h").is_file()


def _digest(path: Path) -> str:
    return subprocess.run(["sha256sum", str(path)], capture_output=True, text=True).stdout.split()[0]
