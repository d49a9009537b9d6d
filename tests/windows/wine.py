"""Windows programs by Wine, in a prefix of the test's own: cmd, the registry, and what is put there.

`/usr/lib/wine/wine64` is Debian's package wine64. Wine's server and its services are started first, with their output
thrown away: started by a program whose output is read, they would keep that pipe open for as long as they live.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

_PLACES = ("/usr/lib/wine/wine64", "/usr/bin/wine64", "/usr/lib/wine/wine")
_SECONDS = 300  # a command
_SMALL_SECONDS = 30  # what takes a tenth of a second, and once hung


class Done(NamedTuple):
    """How a program ended, and what it said with plain line feeds."""

    status: int
    out: str
    err: str


class Wine:
    """One Windows, of which `drive` is C:, and which sees no file outside it."""

    def __init__(self, folder: Path) -> None:
        """The prefix below a folder, as `boot` or `copy` left it."""
        self.folder = folder
        self.drive = folder / "prefix/drive_c"
        self._program = next((one for one in _PLACES if os.path.exists(one)), "wine64 is missing: .ci/run installs it")
        self._environ = {
            "HOME": str(folder / "home"),
            "WINEPREFIX": str(folder / "prefix"),
            "WINEDLLOVERRIDES": "mscoree,mshtml=",
            "WINEDEBUG": "-all",
            "DISPLAY": "",
            "LC_ALL": "C.UTF-8",
            "PATH": "/usr/bin:/bin",
        }

    @classmethod
    def boot(cls, folder: Path) -> Wine:
        """A new Windows 10, running."""
        (folder / "home").mkdir(parents=True)
        wine = cls(folder)
        wine._quietly("wineboot.exe", "-i")
        (folder / "prefix/dosdevices/z:").unlink(missing_ok=True)
        wine.start()
        wine("winecfg.exe", "-v", "win10")
        return wine

    def copy(self, folder: Path) -> Wine:
        """The same Windows again, stopped as this one must be; a file is shared until it is replaced."""
        shutil.copytree(self.folder, folder, symlinks=True, copy_function=os.link)
        for hive in (folder / "prefix").glob("*.reg"):  # wineserver writes a file with several links in place
            content = hive.read_bytes()
            hive.unlink()
            hive.write_bytes(content)
        return Wine(folder)

    def start(self) -> None:
        """Keep the server and the services running until `stop`."""
        self._server("-p")
        self._quietly("cmd.exe", "/c", "exit")

    def stop(self) -> None:
        """End every program; the registry is written."""
        self._server("-k")
        self._server("-w")

    def close(self) -> None:
        """Stop, and remove what has 700 MB."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(
        self,
        *argv: str,
        environ: Mapping[str, str] | None = None,
        within_s: float = _SECONDS,
        typed: str = "",
        encoding: str = "utf-8",
    ) -> Done:
        """Run a program of Windows in the root of C:, with these variables besides; `typed` is its standard input."""
        done = subprocess.run(
            [self._program, *argv],
            env={**self._environ, **(environ or {})},
            cwd=self.drive,
            capture_output=True,
            timeout=within_s,
            input=typed.encode(encoding),
        )
        out, err = (text.decode(encoding, "replace").replace("\r\n", "\n") for text in (done.stdout, done.stderr))
        return Done(done.returncode, out, err)

    def __call__(self, *argv: str, environ: Mapping[str, str] | None = None) -> str:
        """The output of a program that must end well."""
        done = self.run(*argv, environ=environ)
        assert done.status == 0, (argv, done)
        return done.out

    def batch(self, *lines: str) -> str:
        """Run lines of cmd."""
        self.put("test.bat", "".join(f"{line}\r\n" for line in ("@echo off", *lines)).encode())
        return self("cmd.exe", "/c", "C:\\test.bat")

    def at(self, path: str) -> Path:
        """Where a path of C: lies for us, "Program Files/x" or a whole one with a drive."""
        return self.drive / path.replace("\\", "/").removeprefix("C:/")

    def put(self, path: str, content: bytes | str | Path) -> Path:
        """Write a file of C:, or copy one there."""
        place = self.at(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        if isinstance(content, Path):
            shutil.copyfile(content, place)
        else:
            place.write_bytes(content.encode() if isinstance(content, str) else content)
        return place

    def register(self, key: str, name: str, data: str, kind: str = "REG_SZ") -> None:
        """Set a value of a key below HKLM or HKCU; the texts of a REG_MULTI_SZ are joined by a backslash and 0."""
        self.small("reg.exe", "add", key, "/v", name, "/t", kind, "/d", data, "/f")

    def small(self, *argv: str) -> Done:
        """A small program that must end well, and that is started once more where it hangs."""
        try:
            done = self.run(*argv, within_s=_SMALL_SECONDS)
        except subprocess.TimeoutExpired:
            done = self.run(*argv, within_s=_SMALL_SECONDS)
        assert done.status == 0, (argv, done)
        return done

    def _quietly(self, *argv: str) -> None:
        subprocess.run(
            [self._program, *argv],
            env=self._environ,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
        )

    def _server(self, option: str) -> None:
        server = os.path.join(os.path.dirname(self._program), "wineserver64")
        subprocess.run(
            [server, option],
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
        )
