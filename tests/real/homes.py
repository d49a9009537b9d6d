"""`python -m tests.real.homes FOLDER [HOME-FAULT ...]`: three faults in environments of every make, remedies pasted.

Each home is made by its own tool (venv, uv, poetry, pdm, pipenv, hatch) or laid as that tool lays it (conda, pixi, a
system's Python); three faults are put into each; the first remedy is pasted into bash and judged again, as in
`remedies.py`. `GPUDOCTOR_TEST_TOOLS` is a directory with poetry, pdm, pipenv and hatch (`pip install --target`).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.lab.elf_file import elf_bytes
from tests.lab.parts import Part, files
from tests.real.distil import lay
from tests.real.machine import site_of
from tests.real.remedies import CUDNN, OLD_CUDNN, PYTHON, TORCH, Outcome, Place, Scenario, of

_BASE = Path(sys.base_prefix)
_TOOLS = Path(os.environ.get("GPUDOCTOR_TEST_TOOLS", ""))


class Home(NamedTuple):
    """An environment as its tool leaves it."""

    prefix: Path
    site: Path  # where the wheels go
    environ: Mapping[str, str] = {}  # differences from a shell with nothing active
    more: tuple[Part, ...] = ()
    installer: str = "pip"


def _tool(name: str, *argv: str, place: Path, **environ: str) -> str:
    """A tool of `GPUDOCTOR_TEST_TOOLS`."""
    usual = {**os.environ, "PYTHONPATH": str(_TOOLS), "HOME": str(place.parent / "home"), **environ}
    usual.pop("VIRTUAL_ENV", None)
    ran = subprocess.run(
        [str(_TOOLS / "bin" / name), *argv], cwd=place, env=usual, check=True, stdout=subprocess.PIPE, text=True
    )
    return ran.stdout.strip()


def _project(place: Path, more: str = "") -> None:
    text = '[project]\nname = "app"\nversion = "0"\nrequires-python = ">=3.11,<3.12"\ndependencies = []\n'
    (place / "pyproject.toml").write_text(text + more)


def _active(prefix: Path, **more: str) -> dict[str, str]:
    return {"VIRTUAL_ENV": str(prefix), **more}


def by_venv(place: Path) -> Home:
    """`python -m venv`."""
    subprocess.run([sys.executable, "-m", "venv", str(place / ".venv")], check=True)
    return Home(place / ".venv", site_of(place / ".venv"), _active(place / ".venv"))


def by_uv(place: Path) -> Home:
    """`uv venv`, without pip."""
    subprocess.run(["uv", "venv", "-q", "--python", sys.executable, str(place / ".venv")], check=True)
    return Home(place / ".venv", site_of(place / ".venv"), _active(place / ".venv"), installer="uv")


def by_uv_project(place: Path) -> Home:
    """`uv sync` of a project, with its uv.lock."""
    _project(place)
    subprocess.run(["uv", "sync", "-q", "--python", sys.executable], cwd=place, check=True)
    return Home(place / ".venv", site_of(place / ".venv"), _active(place / ".venv"), installer="uv")


def by_poetry(place: Path) -> Home:
    """In poetry's own folder of environments."""
    _project(place)
    settings = {
        "POETRY_VIRTUALENVS_PATH": str(place / "pypoetry/virtualenvs"),
        "POETRY_VIRTUALENVS_IN_PROJECT": "false",
    }
    _tool("poetry", "env", "use", "-q", sys.executable, place=place, **settings)
    _tool("poetry", "lock", "-q", place=place, **settings)
    prefix = next((place / "pypoetry/virtualenvs").glob("app-*"))
    return Home(prefix, site_of(prefix), _active(prefix))


def by_poetry_inside(place: Path) -> Home:
    """With virtualenvs.in-project."""
    _project(place)
    _tool("poetry", "env", "use", "-q", sys.executable, place=place, POETRY_VIRTUALENVS_IN_PROJECT="true")
    _tool("poetry", "lock", "-q", place=place, POETRY_VIRTUALENVS_IN_PROJECT="true")
    return Home(place / ".venv", site_of(place / ".venv"), _active(place / ".venv"))


def by_pdm(place: Path) -> Home:
    """`pdm venv create`, and its lock."""
    _project(place)
    _tool("pdm", "use", "-q", "-f", sys.executable, place=place)
    _tool("pdm", "venv", "create", "-q", sys.executable, place=place)
    _tool("pdm", "lock", "-q", place=place)
    return Home(place / ".venv", site_of(place / ".venv"), _active(place / ".venv"))


def by_pipenv(place: Path) -> Home:
    """With PIPENV_VENV_IN_PROJECT unset: in ~/.local/share/virtualenvs."""
    (place / "Pipfile").write_text('[packages]\n[requires]\npython_version = "3.11"\n')
    home = str(place / "virtualenvs")
    _tool("pipenv", "--python", sys.executable, "install", "--skip-lock", "-q", place=place, WORKON_HOME=home)
    prefix = next(path.parent for path in (place / "virtualenvs").glob("*/pyvenv.cfg"))
    return Home(prefix, site_of(prefix), _active(prefix, PIPENV_ACTIVE="1"))


def by_hatch(place: Path) -> Home:
    """`hatch env create`."""
    _project(place, '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
                    '[tool.hatch.envs.default]\nskip-install = true\n')  # fmt: skip
    _tool("hatch", "env", "create", place=place, HATCH_DATA_DIR=str(place / "hatch"), HATCH_PYTHON=sys.executable)
    prefix = Path(_tool("hatch", "env", "find", place=place, HATCH_DATA_DIR=str(place / "hatch")))
    return Home(prefix, site_of(prefix), _active(prefix))


def _python_in(prefix: Path) -> None:
    """A whole Python of its own, as distributions and conda have it."""
    library = prefix / "lib" / PYTHON
    skip = shutil.ignore_patterns(
        "site-packages", "test", "__pycache__", "config-*", "idlelib", "tkinter", "turtledemo"
    )
    shutil.copytree(_BASE / "lib" / PYTHON, library, ignore=skip, symlinks=True)
    (library / "site-packages").mkdir()
    (prefix / "bin").mkdir(exist_ok=True)
    shutil.copy2(_BASE / "bin" / PYTHON, prefix / "bin" / PYTHON)
    for path in (_BASE / "lib").glob("libpython3*.so*"):
        shutil.copy2(path, prefix / "lib")
    for name in ("python", "python3"):
        (prefix / "bin" / name).symlink_to(PYTHON)


def _pip_in(prefix: Path) -> None:
    subprocess.run([str(prefix / "bin/python"), "-m", "ensurepip"], check=True, stdout=subprocess.DEVNULL)


def conda_packages(prefix: Path, *names: str) -> None:
    """conda-meta as conda writes it: NAME-VERSION-BUILD.json, and the history."""
    meta = prefix / "conda-meta"
    meta.mkdir(exist_ok=True)
    for name in names:
        package, version, build = name.rsplit("-", 2)
        told = {"name": package, "version": version, "build": build, "channel": "conda-forge", "files": []}
        (meta / f"{name}.json").write_text(json.dumps(told))


def by_conda(place: Path, cmd: str = "/opt/conda/bin/conda create -n t python=3.11") -> Home:
    """A prefix of its own, with wheels that pip put there."""
    prefix = place / "envs/t"
    prefix.mkdir(parents=True)
    _python_in(prefix)
    _pip_in(prefix)
    conda_packages(prefix, "python-3.11.7-hab00c5b_1_cpython", "pip-24.0-pyhd8ed1ab_0")
    (prefix / "conda-meta/history").write_text(f"==> 2026-01-02 03:04:05 <==\n# cmd: {cmd}\n")
    active = {"CONDA_PREFIX": str(prefix), "CONDA_DEFAULT_ENV": "t"}
    return Home(prefix, site_of(prefix), {**active, "VIRTUAL_ENV": ""})


def by_pixi(place: Path) -> Home:
    """pixi's layout: .pixi/envs/default with conda-meta, and a lock beside pixi.toml."""
    made = by_conda(place / ".pixi", "pixi install")
    (place / "pixi.toml").write_text(
        '[workspace]\nname = "app"\nchannels = ["conda-forge"]\nplatforms = ["linux-64"]\n'
    )
    (place / "pixi.lock").write_text("version: 6\n")
    prefix = place / ".pixi/envs/default"
    made.prefix.rename(prefix)
    active = {"CONDA_PREFIX": str(prefix)}
    return Home(prefix, site_of(prefix), {**active, "PIXI_IN_SHELL": "1", "VIRTUAL_ENV": ""})


def by_system(place: Path) -> Home:
    """A distribution's own Python, EXTERNALLY-MANAGED (Debian 12 and 13, Ubuntu 24.04)."""
    prefix = place / "usr"
    _python_in(prefix)
    _pip_in(prefix)
    (prefix / "lib" / PYTHON / "EXTERNALLY-MANAGED").write_text("[externally-managed]\nError=use a venv\n")
    environ = {"VIRTUAL_ENV": ""}
    return Home(prefix, site_of(prefix), environ)


def by_user(place: Path) -> Home:
    """`pip install --user` into ~/.local of a Python that belongs to nobody in particular."""
    prefix = place / "usr"
    _python_in(prefix)
    _pip_in(prefix)
    user = place / "home/.local"
    environ = {"VIRTUAL_ENV": ""}
    return Home(prefix, user / "lib" / PYTHON / "site-packages", {**environ, "PYTHONUSERBASE": str(user)})


def by_target(place: Path) -> Home:
    """`pip install --target`, its directory on PYTHONPATH."""
    made = by_venv(place)
    return made._replace(site=place / "packages", environ={**made.environ, "PYTHONPATH": str(place / "packages")})


def by_pth(place: Path) -> Home:
    """A directory that a .pth file names."""
    made = by_venv(place)
    (made.site / "shared.pth").write_text(f"{place}/shared\n")
    return made._replace(site=place / "shared")


def by_base(place: Path) -> Home:
    """`venv --system-site-packages`: the wheels lie in the Python that it is made from."""
    base = by_system(place)
    (site_of(base.prefix).parent / "EXTERNALLY-MANAGED").unlink()
    subprocess.run(
        [str(base.prefix / "bin/python"), "-m", "venv", "--system-site-packages", str(place / ".venv")],
        check=True,
    )
    environ = _active(place / ".venv")
    return Home(place / ".venv", base.site, environ)


def by_editable(place: Path) -> Home:
    """A project that is installed editable beside the wheels."""
    made = by_venv(place)
    info = made.site / "app-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: app\nVersion: 0\nRequires-Dist: torch\n")
    (info / "direct_url.json").write_text(json.dumps({"url": f"file://{place}", "dir_info": {"editable": True}}))
    (info / "RECORD").write_text("app.pth,,\napp-0.dist-info/METADATA,,\napp-0.dist-info/RECORD,,\n")
    (made.site / "app.pth").write_text(f"{place}/src\n")
    (place / "src/app").mkdir(parents=True)
    return made


def by_apt_too(place: Path) -> Home:
    """With apt's cuDNN (libcudnn9-cuda-12) on the system."""
    from tests.lab import cudnn_tree

    def debian(root: Path) -> None:
        cudnn_tree.debian_of(root, "9.5.1.17-1", 12)

    return by_venv(place)._replace(more=(debian,))


HOMES: Mapping[str, Callable[[Path], Home]] = {
    name.removeprefix("by_").replace("_", "-"): made for name, made in list(globals().items()) if name[:3] == "by_"
}


class Fault(NamedTuple):
    """What is done to the wheels, and what must be named."""

    codes: tuple[str, ...]  # any of these
    spoil: Callable[[Path, Path], None]  # the site, the project
    environ: Mapping[str, str] = {}  # {project}


def _gone(site: Path, place: Path) -> None:
    (info,) = site.glob("nvidia_cudnn_cu12-*.dist-info")
    for line in (info / "RECORD").read_text().splitlines():
        (site / line.rsplit(",", 2)[0].strip('"')).unlink(missing_ok=True)
    shutil.rmtree(info)


def _old(site: Path, place: Path) -> None:
    _gone(site, place)
    lay((OLD_CUDNN,), site)


FAULTS: Mapping[str, Fault] = {
    "missing": Fault(("cudnn-missing", "cudnn-version-mismatch-loaded-vs-compiled"), _gone),  # apt's is an older one
    "old": Fault(("pip-nvidia-wheels-conflict",), _old),
    "shadowed": Fault(
        ("ld-library-path-shadowing",),
        lambda site, place: lay((OLD_CUDNN,), place / "old"),
        {"LD_LIBRARY_PATH": "{project}/old/nvidia/cudnn/lib"},
    ),
}


class _Made(Place):
    """A tree with a home in it, and a fault in that."""

    def __init__(self, folder: Path, home: str, fault: Fault) -> None:
        self.tree = folder / "tree"
        project = folder / "project"
        inside = Path(f"{self.tree}{project}")
        inside.mkdir(parents=True)
        project.symlink_to(inside)
        self.house, self.cache = folder / "wheels", folder / "cache"
        self.home = HOMES[home](project)
        self.prefix = self.home.prefix
        self.inside = Path(f"{self.tree}{self.prefix}")
        self.home.site.mkdir(parents=True, exist_ok=True)
        lay(TORCH, self.home.site)
        fault.spoil(self.home.site, project)
        places = {name: text.replace("{project}", str(project)) for name, text in fault.environ.items()}
        self.environ = {**self.home.environ, **places}


def run(home: str, fault: str, folder: Path) -> Outcome:
    """Make, spoil, check, paste, check again; the folder is left empty."""
    folder = folder / f"{home}-{fault}"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        made = _Made(folder, home, FAULTS[fault])
        base = f"{sys.base_prefix}/lib"
        ensurepip = files({f"{base}/{PYTHON}/ensurepip/__init__.py": "", f"{base}/lib{PYTHON}.so.1.0": elf_bytes()})
        scenario = Scenario("", TORCH, more=(ensurepip, *made.home.more), installer=made.home.installer)
        before = made.checked(scenario, made.environ)
        found = [one for one in before if one["code"] in FAULTS[fault].codes]
        if not found:
            return Outcome(f"not named, but {[(one['code'], one['summary']) for one in before]}", (), "")
        remedy = found[0]["remedies"][0]
        if before != found[:1]:
            sys.stdout.write(f"  besides: {[(one['code'], one['summary']) for one in before if one != found[0]]}\n")
        environ = made.pasted(remedy["commands"], made.environ, of(TORCH, CUDNN))
        known = {one["code"] for one in before} - {found[0]["code"]}
        after = made.checked(scenario, environ)
        left = [f"{one['code']}: {one['summary']}" for one in after if one["code"] not in known]
        return Outcome("; ".join(left), tuple(remedy["commands"]), remedy["summary"])
    except subprocess.CalledProcessError as error:
        return Outcome(f"a command failed: {error}", (), "")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main(argv: list[str]) -> int:
    """Each home with each fault, or those that are named."""
    folder, *names = argv
    failed = 0
    for name in names or [f"{home}-{fault}" for home in HOMES for fault in FAULTS]:
        home, _, fault = name.rpartition("-")
        outcome = run(home, fault, Path(folder).absolute())
        failed += bool(outcome.wrong)
        told = "".join(f"    {line}\n" for line in outcome.commands)
        wrong = f"NOT CURED: {outcome.wrong}" if outcome.wrong else "cured"
        sys.stdout.write(f"{name}\n  {outcome.summary}\n{told}  {wrong}\n")
        sys.stdout.flush()
    return failed


if __name__ == "__main__":
    raise SystemExit(bool(main(sys.argv[1:])))
