"""Real environments, broken: real wheels, real interpreters and a stand-in for the driver, and what they then print.

`python -m tests.commands.explain.broken [--record] [NAME ...]` shows what each prints and what `explain` makes of it;
`--record` writes the text to `printed/`, where the fast suite holds it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from compat.base.record import NamedTuple
from doctor.messages.causes import Cause
from tests.commands.explain.spoil import Spoil, hollow
from tests.commands.verify.damage import linked
from tests.loader_oracle.stub import stub

PRINTED = Path(__file__).parent / "printed"
_SECONDS = 300
_ENDS = 6000  # characters of a recording that are kept, of its beginning and of its end


class Broken(NamedTuple):
    """An environment with what is wrong in it, and what is run there."""

    name: str
    codes: tuple[str, ...]  # the true cause, and others that the text may as well have first
    run: str  # Python for the environment's interpreter; a command of sh after "$ "
    wheels: tuple[str, ...] = ()  # as uv takes them; those of one text are installed once
    python: str = ""  # "" is the interpreter of the tests
    hollow: str = ""  # files whose libraries of CUDA are stood in for, in the site
    spoil: tuple[Spoil, ...] = ()  # done to a tree of its own
    init: int | None = None  # what cuInit of the stand-in answers; None: there is no driver
    serves: int = 12080  # the CUDA of that driver
    askers: str = ""  # files whose names of the driver's functions the stand-in has, besides its own
    env: Mapping[str, str] = {}


class Workshop:
    """A folder with the sites, each made once, and the trees of those that are spoilt."""

    def __init__(self, folder: Path, sites: Path | None = None) -> None:
        self.folder = folder
        self._sites = sites or folder / "sites"
        self._sites.mkdir(exist_ok=True)
        self._made = 0

    def close(self) -> None:
        """Remove all of it."""
        shutil.rmtree(self.folder)

    def site(self, one: Broken) -> Path:
        """A site directory with its wheels, and what they require unless one of them is "--no-deps"."""
        wheels, python = one.wheels, one.python
        what = hashlib.sha256(repr((wheels, python, one.hollow)).encode()).hexdigest()[:12]
        site = self._sites / f"{wheels[0] if wheels else 'none'}-{what}"
        if wheels and not site.exists():
            command = [sys.executable, "-m", "uv", "pip", "install", "-q", "--only-binary", ":all:", "--target"]
            command += [str(site), "--python", interpreter(python), *wheels]
            subprocess.run(
                command, check=True, env={"UV_FIND_LINKS": os.environ.get("PIP_FIND_LINKS", ""), **os.environ}
            )
            if one.hollow:
                hollow(site, one.hollow)
        site.mkdir(exist_ok=True)
        return site

    def printed(self, one: Broken) -> str:
        """What it prints, without what names this machine."""
        site = self.site(one)
        self._made += 1
        if one.spoil:
            site = linked(site, self.folder / f"tree{self._made}")
        for spoil in one.spoil:
            spoil(site)
        work = self.folder / f"work{self._made}"
        work.mkdir()
        said = _run(one, site, work)
        if one.spoil:
            shutil.rmtree(site)
        for path, name in ((str(site), "/env/site-packages"), (str(work), "/job"), (str(self.folder), "/env")):
            said = said.replace(path, name)
        return neutral(said)


class NoPython(Exception):
    """This machine has no such interpreter."""


def interpreter(python: str) -> str:
    """The path of such a Python, of pyenv's or on PATH; raises NoPython. "" is the tests' own, outside of its venv."""
    if not python:
        return os.path.realpath(sys.executable)
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = [str(path) for path in sorted(root.glob(f"versions/{python}.*/bin/python"))]
    found += [path for path in (shutil.which(f"python{python}"),) if path and "shims" not in path]
    if not found:
        raise NoPython(f"no Python {python} is installed")
    return found[0]


def _run(one: Broken, site: Path, work: Path) -> str:
    python = interpreter(one.python)
    bins = os.pathsep.join((str(site / "bin"), *(str(path) for path in site.glob("nvidia/*/bin")), os.environ["PATH"]))
    environ = {"PATH": bins, "HOME": str(work), "PYTHONPATH": str(site), "SITE": str(site), "PYTHON": python}
    environ |= {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_"))}
    environ |= {"LANG": "C.UTF-8", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONNOUSERSITE": "1"}
    if one.init is not None:
        driver = stub(work / "driver", (path for pattern in one.askers.split() for path in site.glob(pattern)))
        environ |= {"LD_LIBRARY_PATH": str(driver), "STUB_CUDA_INIT": str(one.init)}
        environ |= {"STUB_CUDA_VERSION": str(one.serves)}
    environ |= {name: value.format(site=site, work=work) for name, value in one.env.items()}
    command = ["sh", "-c", one.run[2:]] if one.run.startswith("$ ") else [python, "-S", "-c", one.run]
    done = subprocess.run(
        command,
        env=environ,
        cwd=work,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_SECONDS,
        check=False,
    )
    return done.stdout.decode("utf-8", "replace")


_NEUTRAL = (
    (r"\S+/versions/(\d\.\d+)\.\d+/lib/python", r"/usr/lib/python"),
    (r"\S*/(?:\.venv|venv)/bin/python\S*", "/env/bin/python"),
    (r"\S+/\.venv/lib/", "/env/lib/"),
    (r"\b(?:https?|file)://\S+", "https://index.invalid/simple"),
    (r"Looking in links: .*", "Looking in links: /wheels"),
    (r"/(?:tmp|root|home)/[^\s'\"]*", "/somewhere"),
)


def neutral(text: str) -> str:
    """Without this machine's paths and addresses, and cut to its beginning and end."""
    for pattern, name in _NEUTRAL:
        text = re.sub(pattern, name, text)
    text = "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
    if len(text) <= 2 * _ENDS:
        return text
    return text[:_ENDS].rpartition("\n")[0] + "\n[...]\n" + text[-_ENDS:].partition("\n")[2]


def recording(one: Broken) -> str:
    """What it printed when it was recorded."""
    return (PRINTED / f"{one.name}.txt").read_text(encoding="utf-8")


def main(argv: list[str]) -> int:
    """Print, judge, and record where that is asked for."""
    from tests.commands.explain.breakages import BREAKAGES
    from tests.commands.explain.test_messages import causes

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help="write what was printed for the fast suite")
    parser.add_argument("--sites", type=Path, help="a folder in which the environments stay for the next time")
    parser.add_argument("names", nargs="*", metavar="NAME", help="patterns; all without one")
    asked = parser.parse_args(argv)
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="broken") as folder:
        shop = Workshop(Path(folder), asked.sites)
        for one in _chosen(BREAKAGES, asked.names):
            text = shop.printed(one)
            told = causes(text)
            right = explained_rightly(one, told)
            wrong += not right
            shown = ", ".join(f"{each.code} {each.confidence}" for each in told[:3])
            sys.stdout.write(f"{'ok   ' if right else 'WRONG'} {one.name}: {shown}\n")
            if not right or asked.names:
                sys.stdout.write(text[-3000:] + "\n")
            if asked.record:
                PRINTED.mkdir(exist_ok=True)
                (PRINTED / f"{one.name}.txt").write_text(text, encoding="utf-8")
            sys.stdout.flush()
    return wrong


def explained_rightly(one: Broken, told: tuple[Cause, ...]) -> bool:
    """The first cause is one of those that such a text has, and the true one is told."""
    return bool(told) and told[0].code in one.codes and one.codes[0] in {each.code for each in told}


def _chosen(table: Iterable[Broken], names: list[str]) -> Iterable[Broken]:
    return (one for one in table if not names or any(re.fullmatch(name, one.name) for name in names))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
