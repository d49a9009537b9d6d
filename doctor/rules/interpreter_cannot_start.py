"""The interpreter of a Python environment does not start, or starts without the environment's packages."""

from __future__ import annotations

from compat.build import release_key
from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts
from doctor.model.facts.environment import CannotStart, Environment, InterpreterStart
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.builds import import_symptoms
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import ENVIRONMENTS

# What makes an environment again from its lock file, run in the project's directory; the sources stand in the page.
_AGAIN = {
    "uv": "uv venv --clear && uv sync",
    "poetry": "poetry env remove --all && poetry sync",
    "pdm": "pdm venv remove in-project; pdm install",
    "pipenv": "pipenv --rm && pipenv sync",
    "pixi": "pixi clean && pixi install",
}
_MUSL = "ld-musl"


def check(environment: Environment, facts: Facts, matrix: Matrix) -> Answer:
    """Judge the program by its own file: it is not run."""
    if environment.start is None:
        raise NotApplicable("its interpreter was not looked for")
    start = environment.start.get()
    if start.fault:
        return _bad(start, _why(start, environment), environment, facts)
    if start.glibc and release_key(start.glibc) > release_key(facts.system.glibc.get()):
        glibc = facts.system.glibc.get()
        return _bad(start, f"it was built for glibc {start.glibc}, and this system has {glibc}", environment, facts)
    return ok("its interpreter can start")


def _why(start: InterpreterStart, environment: Environment) -> str:
    texts = {
        CannotStart.ABSENT: "it has no interpreter",
        CannotStart.LINK: f"it is a symlink to {start.what}, which does not exist",
        CannotStart.LOADER: f"{start.what}, its loader, does not exist here",
        CannotStart.LIBRARY: f"{start.what}, which it needs, was not found",
        CannotStart.MINOR: f"it is Python {start.what} now, and the packages are for {_minor(environment)}",
    }
    return texts[start.fault or CannotStart.ABSENT]


def _minor(environment: Environment) -> str:
    return ".".join(value_or(environment.python, "another one").split(".")[:2])


def _bad(start: InterpreterStart, why: str, environment: Environment, facts: Facts) -> Answer:
    what = "finds no packages" if start.fault is CannotStart.MINOR else "cannot start"
    return bad(
        f"Python {what} in this environment: {why}",
        Advice(_advice(start, environment, facts)),
        evidence=(Evidence(why, file=start.path),),
        explains=tuple(one for each in value_or(environment.frameworks, ()) for one in import_symptoms(each)),
    )


def _advice(start: InterpreterStart, environment: Environment, facts: Facts) -> str:
    """Return what gives it a program that starts; a whole system needs another image or package."""
    if start.fault is CannotStart.LOADER and (_MUSL in start.what) != _has_musl(facts):
        libc = "musl" if _MUSL in start.what else "glibc"
        return f"Use a Python of this system, or a system or image with {libc}: this program is built for {libc}."
    if environment.keeper in _AGAIN:
        folder = f"cd {environment.project} && " if environment.project else ""
        return f"Create the environment again: {folder}{_AGAIN[environment.keeper]}"
    if environment.kind == "venv":
        python = _minor(environment) if value_or(environment.python, "") else "3"
        return (
            f"Create the environment again: python{python} -m venv --clear {environment.prefix}"
            " (or: uv venv --clear), then install its packages again."
        )
    if environment.kind == "conda":
        return f"Reinstall Python there: conda install -p {environment.prefix} --force-reinstall python"
    return "Reinstall this Python with what installed it (the system's package manager, pyenv, uv python)."


def _has_musl(facts: Facts) -> bool:
    return value_or(facts.system.distribution_id, "") == "alpine"


RULE = Rule(ENVIRONMENTS, check)
