"""Windows' cmd and registry by Wine, in a prefix of the test's own.

There is no PowerShell in Wine. What a generated PowerShell script calls (its functions with their arguments, as its
grammar has them) is done there by cmd: so which files go where, patterns, names with blanks and quotes are exercised,
and what the functions are made of is not.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import tree_sitter
import tree_sitter_powershell

_PLACES = ("/usr/lib/wine/wine64", "/usr/bin/wine64", "/usr/lib/wine/wine")


class Wine:
    """One Windows, of which `drive` is C:."""

    def __init__(self, folder: Path) -> None:
        self.drive = folder / "prefix/drive_c"
        home = folder / "home"
        home.mkdir(parents=True)
        self._program = next((one for one in _PLACES if os.path.exists(one)), "wine64 is missing: .ci/run installs it")
        self._environ = {
            "HOME": str(home),
            "WINEPREFIX": str(folder / "prefix"),
            "WINEDLLOVERRIDES": "mscoree,mshtml=",
            "WINEDEBUG": "-all",
            "DISPLAY": "",
            "PATH": "/usr/bin:/bin",
        }
        self("wineboot.exe", "-i")

    def __call__(self, *argv: str) -> str:
        """Run a program of Windows; its output with plain line feeds."""
        done = subprocess.run(
            [self._program, *argv],
            env=self._environ,
            capture_output=True,
            text=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, (argv, done.stdout, done.stderr)
        return done.stdout.replace("\r\n", "\n")

    def batch(self, *lines: str) -> str:
        """Run lines of cmd."""
        script = self.drive / "test.bat"
        script.write_bytes("".join(f"{line}\r\n" for line in ("@echo off", *lines)).encode())
        return self("cmd.exe", "/c", "C:\\test.bat")

    def close(self) -> None:
        """End the server of this prefix, and remove the prefix: it has 700 MB."""
        self("wineboot.exe", "-e", "-f")
        subprocess.run([f"{os.path.dirname(self._program)}/wineserver", "-w"], env=self._environ, timeout=60)
        shutil.rmtree(self.drive.parent, ignore_errors=True)


def calls(script: str, staging: str) -> Iterator[tuple[str, ...]]:
    """The commands of a script outside its functions: their names and arguments, (Join-Path $staging X) as a path."""
    language = tree_sitter.Language(tree_sitter_powershell.language())
    nodes = [tree_sitter.Parser(language).parse(script.encode()).root_node]
    while nodes:
        node = nodes.pop()
        if node.type == "function_statement":
            continue
        if node.type == "command":
            yield tuple(_words(node, staging))
        else:
            nodes.extend(reversed(node.children))


def _words(command: tree_sitter.Node, staging: str) -> Iterator[str]:
    for child in _leaves(command):
        text = (child.text or b"").decode()
        if text.startswith("(Join-Path $staging "):
            yield f"{staging}\\{_unquoted(text.removeprefix('(Join-Path $staging ').removesuffix(')'))}"
        else:
            yield staging if text == "$staging" else _unquoted(text)


def _leaves(command: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    for child in command.children:
        if child.type == "command_elements":
            yield from (one for one in child.children if one.type != "command_argument_sep")
        else:
            yield child


def _unquoted(text: str) -> str:
    return text[1:-1].replace("''", "'") if text[:1] == text[-1:] == "'" else text
