"""A directory with the files of a plan, for machines without a network: filled where there is one, then used there.

What it holds: archives and installers under their names, wheels for pip, and SHA256SUMS for `sha256sum -c`. Packages of
the distribution are not among them: its own tools make mirrors.

Source: pip's user guide, "Installing from local packages" (`pip download`, `--no-index`, `--find-links`).
"""

from __future__ import annotations

import contextlib
import os

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from installers.at_work import UNWATCHED
from installers.plan import Plan
from installers.run import ExecutionOptions
from installers.step import Step
from installers.steps.command import Command, is_of_packages
from installers.steps.download import Download
from installers.steps.use_file import UseFile

SUMS = "SHA256SUMS"
_INDEXES = frozenset({"--index-url", "--extra-index-url", "--index-strategy"})  # each with a value


class BadBundle(GpudoctorError):
    """A directory that files cannot come from, or a plan that fetches none."""


class Bundled(NamedTuple):
    """A file of a bundle."""

    name: str
    size_bytes: int
    sha256: str


def fill(plan: Plan, directory: str, means: ExecutionOptions, *, here: bool) -> tuple[Bundled, ...]:
    """Fetch what the plan fetches, archives by their digests and wheels by pip; files that are there already stay.

    Wheels are for one Python and one system: pip takes those of this machine, for which the plan must be (`here`).

    Raises BadBundle, InstallError and what `fetch` raises; what has arrived by then is kept.
    """
    from installers.digest import sha256_of, verify_file  # late, as what follows: plans are mostly printed
    from installers.errors import InstallError, plainly, require_space
    from installers.fetch import fetch, require_digest

    downloads = [step for step in plan.steps if isinstance(step, Download)]
    commands = [_downloading(step, directory) for step in _installing(plan)]
    if commands and not here:
        raise BadBundle("wheels are fetched for the Python of this machine: leave --os and --arch out")
    if not downloads and not commands:
        ways = ": --method archive, runfile or local has files" if not_in_it(plan) else ""
        raise BadBundle(f"the files of this plan come from a repository{ways}" if ways else "this plan fetches no file")
    for one in downloads:
        require_digest(one)
    with plainly():
        os.makedirs(directory, exist_ok=True)
        require_space(directory, sum(one.size_bytes or 0 for one in downloads))
        for one in downloads:
            path = os.path.join(directory, one.to)
            try:
                verify_file(path, one.sha256, means.report)
            except (FileNotFoundError, InstallError):
                fetch(one, path, means.report, means.limits)
        for command in commands:
            means.run(command, UNWATCHED)
        names = sorted(one for one in os.listdir(directory) if _is_of_bundle(one, directory))
        paths = [os.path.join(directory, one) for one in names]
        found = tuple(Bundled(os.path.basename(one), os.path.getsize(one), sha256_of(one)) for one in paths)
        sums = os.path.join(directory, SUMS)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(sums)  # it may be a link to a file of somebody's
        with open(sums, "x", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{one.sha256}  {one.name}\n" for one in found)
    return found


def not_in_it(plan: Plan) -> tuple[Command, ...]:
    """The commands of a plan that need a network all the same: those of the distribution's packages."""
    return tuple(one for one in plan.steps if isinstance(one, Command) and one.needs_root and not one.staged)


def from_directory(plan: Plan, directory: str, *, here: bool) -> Plan:
    """Each file from a directory, and pip without an index; on this machine (`here`) all must be there.

    Raises BadBundle.
    """
    downloads = [step for step in plan.steps if isinstance(step, Download)]
    if not downloads and not _installing(plan):
        raise BadBundle("this plan downloads nothing: leave --bundle out")
    missing = [step for step in downloads if here and not os.path.isfile(os.path.join(directory, step.to))]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise BadBundle(f"{directory} lacks {missing[0].to}{more}: {missing[0].url}")
    if here and not downloads and not _has_wheels(directory):
        raise BadBundle(f"{directory} has no wheel: --download-only fetches them where there is a network")
    return plan._replace(steps=tuple(_taken(step, directory) for step in plan.steps))


def _taken(step: Step, directory: str) -> Step:
    if isinstance(step, Download):
        joint = "\\" if "\\" in directory else "/"
        return UseFile(f"{directory.rstrip(joint)}{joint}{step.to}", step.to, step.sha256, step.why)
    if isinstance(step, Command) and _is_install(step):
        return step._replace(argv=(*_without_index(step.argv), "--no-index", "--find-links", directory))
    return step


def _installing(plan: Plan) -> list[Command]:
    """What pip or uv installs; a dry run of it fetches nothing."""
    return [step for step in plan.steps if isinstance(step, Command) and _is_install(step) and not step.rehearses]


def _is_install(step: Command) -> bool:
    return is_of_packages(step.argv) and "install" in step.argv


def _downloading(step: Command, directory: str) -> Command:
    """The command with which pip fetches what it would install; raises BadBundle for uv, which cannot."""
    if "-m" not in step.argv:
        raise BadBundle("uv cannot only download: --python names the interpreter of an environment with pip")
    words = [word for word in step.argv if word not in {"--force-reinstall", "--user", "--break-system-packages"}]
    at = words.index("install")
    return step._replace(argv=(*words[:at], "download", "--dest", directory, *words[at + 1 :]), inverse=None)


def _without_index(argv: tuple[str, ...]) -> tuple[str, ...]:
    kept, words = [], iter(argv)
    for word in words:
        if word in _INDEXES:
            next(words, "")  # its value
        else:
            kept.append(word)
    return tuple(kept)


def _is_of_bundle(name: str, directory: str) -> bool:
    """Not a name that a line of SUMS cannot hold."""
    is_file = name.isprintable() and os.path.isfile(os.path.join(directory, name))
    return is_file and name != SUMS and not name.endswith(".part")


def _has_wheels(directory: str) -> bool:
    with contextlib.suppress(OSError):
        return any(name.endswith((".whl", ".tar.gz")) for name in os.listdir(directory))
    return False
