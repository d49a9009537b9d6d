"""Completion: the scripts by the name of the shell, and the values that they offer."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tree_sitter
import tree_sitter_powershell

from doctor.cli import execute

ROOT = Path(__file__).resolve().parent.parent


def completed(line: str, shell: str = "bash") -> list[str]:
    """What the shell is given for the last word of a line."""
    words = line.split(" ")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "_GPUDOCTOR_COMPLETE": f"complete_{shell}"}
    env |= {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    env |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = subprocess.run(
        [sys.executable, "-m", "gpudoctor"], env=env, capture_output=True, text=True, check=True, cwd=ROOT
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("gpudoctor ins", "install"),
        ("gpudoctor check --ass", "--assume-gpu"),
        ("gpudoctor check --only CUDNN-m", "CUDNN-missing"),
        ("gpudoctor check --format j", "json"),
        ("gpudoctor check --fail-on w", "warning"),
        ("gpudoctor explain cudnn-mis", "cudnn-missing"),
        ("gpudoctor matrix can torch --gpu rtx-509", "rtx-5090"),
        ("gpudoctor matrix solve tor", "torch"),
        ("gpudoctor matrix show torch 2.9", "2.9.1"),
        ("gpudoctor install cudnn 9.10", "9.10.2"),
        ("gpudoctor install driver 58", "580"),
        ("gpudoctor install cuda 12.8 --method ", "archive"),
        ("gpudoctor install cuda 12.8 --distribution ub", "ubuntu"),
        ("gpudoctor gate --as s", "slurm"),
        ("gpudoctor which cu", "cudnn"),
    ],
)
def test_values(line: str, value: str) -> None:
    assert value in completed(line)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_given_the_same(shell: str) -> None:
    assert any("cudnn-missing" in one for one in completed("gpudoctor check --only cudnn-m", shell))


@pytest.mark.parametrize(
    ("shell", "words"),
    [
        ("bash", "complete -o default -F"),
        ("zsh", "#compdef gpudoctor"),
        ("fish", "complete --command gpudoctor"),
        ("powershell", "Register-ArgumentCompleter"),
        ("PowerShell", "Register-ArgumentCompleter"),
    ],
)
def test_a_script_is_chosen_by_name(shell: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["--show-completion", shell]) == 0
    shown = capsys.readouterr().out
    assert words in shown
    if shutil.which(shell) and shell != "fish":
        assert subprocess.run([shell, "-n"], input=shown, text=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("line", "word", "value"),
    [
        ("gpudoctor check --only cudnn-mis", "cudnn-mis", "cudnn-missing"),
        ("gpudoctor check --format", "", "json"),  # the text of a command has no blank at its end
        ("gpudoctor ins", "ins", "install"),
        ("gpudoctor matrix can torch --gpu rtx-509", "rtx-509", "rtx-5090"),
    ],
)
def test_powershell_does_what_its_script_says(
    line: str, word: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """No PowerShell runs here: its grammar takes the script, and what the script does is done in its place."""
    assert execute(["--show-completion", "powershell"]) == 0
    script = capsys.readouterr().out
    tree = tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language())).parse(script.encode())
    assert not tree.root_node.has_error
    said = dict(re.findall(r"^ +\$Env:(\w+) = (\S.*)$", script.partition("gpudoctor |")[0], re.MULTILINE))
    means = {"$commandAst.ToString()": line, "$wordToComplete": word}
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        **{name: means.get(text, text.strip('"')) for name, text in said.items()},
    }
    done = subprocess.run(
        [sys.executable, "-m", "gpudoctor"], env=env, capture_output=True, text=True, check=True, cwd=ROOT
    )
    found = [row.split(":::") for row in done.stdout.splitlines()]
    assert value in [one[0] for one in found]
    assert all(len(one) > 1 and one[0] and one[1] for one in found), "CompletionResult refuses an empty text"


def test_another_shell_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["--show-completion", "tcsh"]) == 2
    assert "no shell 'tcsh'; known are bash, fish" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_the_first_tab_of_a_new_zsh_completes(tmp_path: Path) -> None:
    """zsh loads the file at that Tab: what it defines must be called then, not only registered."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    argv = [sys.executable, "-m", "gpudoctor", "--install-completion", "zsh"]
    line = shlex.join(argv)
    subprocess.run(["zsh", "-c", line], env=env, capture_output=True, text=True, check=True)
    script = (tmp_path / ".zfunc/_gpudoctor").read_text(encoding="utf-8")
    assert execute(["--show-completion", "zsh"]) == 0
    around = (
        "fpath+=~/.zfunc; CURRENT=1 words=(gpudoctor); env() { print print called }; compdef() { print registered }"
    )
    for load, told in (("autoload -Uz _gpudoctor; _gpudoctor", "called"), ("source ~/.zfunc/_gpudoctor", "registered")):
        ran = subprocess.run(["zsh", "-fc", f"{around}; {load}"], env=env, capture_output=True, text=True, check=True)
        assert ran.stdout.strip() == told, script


def test_it_is_installed_where_the_shell_reads_it(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    argv = shlex.join([sys.executable, "-m", "gpudoctor", "--install-completion", "bash"])
    done = subprocess.run(["bash", "-c", argv], env=env, capture_output=True, text=True, check=True)
    assert str(tmp_path) in done.stdout
    assert "gpudoctor" in (tmp_path / ".bashrc").read_text(encoding="utf-8")
