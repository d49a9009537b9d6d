"""The entry point: `gpudoctor`, and `python -m gpudoctor`. And the functions that a program may call.

`check()`, `explain()`, `which()`, `can()`, `solve()` and `require()` run the command line in a subprocess: nothing else
of ours is imported into the program that calls them, and no framework is. In a wheel this is gpudoctor/__init__.py.

`doctor`, `compat` and `installers` are names that a project of the user's, or another distribution, may have, too. So
these three are taken from the directory of this file, whatever stands before it in sys.path (PYTHONPATH=. in a project
with a compat.py), and a file in there that is not ours is named instead of being run.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any, NamedTuple, NoReturn

__all__ = ["Finding", "GpuStackError", "Report", "can", "check", "explain", "main", "require", "solve", "which"]
HERE = os.path.dirname(os.path.abspath(__file__))
OURS = ("compat", "doctor", "installers")
_EXIT_FAULT = 3
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"  # of a package, PEP 508
_IS_PACKAGE = os.path.basename(__file__).startswith("__init__.")


class GpuStackError(RuntimeError):
    """What `require` asked for is not met, or gpudoctor could not answer; the message has the fix."""


class Finding(NamedTuple):
    """One fault, as `gpudoctor check` prints it."""

    code: str  # "cudnn-version-mismatch-loaded-vs-compiled"; stable
    severity: str  # "error", "warning", "info"
    subject: str  # what it is about, "torch 2.9.1+cu128"
    summary: str
    explained_by: str  # the code of the finding that explains this one, "" for a cause
    commands: tuple[str, ...]  # of the first fix, in order; () where a person must act
    docs: str  # the command that prints its page


class Report(NamedTuple):
    """What `check` found; `raw` is the whole report, schema `gpudoctor.report/1`."""

    verdict: str  # "healthy", "warnings", "broken", "unknown", "no-gpu"
    findings: tuple[Finding, ...]  # causes first, the worst first
    exit_status: int  # 0 fine, 1 an error, 4 unknown
    raw: Mapping[str, Any]

    @property
    def facts(self) -> Mapping[str, Any]:
        """What was seen: driver, GPUs, toolkits, cuDNN copies, environments."""
        facts: Mapping[str, Any] = self.raw["facts"]
        return facts

    def __repr__(self) -> str:
        """Short: a notebook keeps it in its file, and the whole report would be there with names of this machine."""
        return f"<Report {self.verdict}: {', '.join(one.code for one in self.findings) or 'no findings'}>"

    def __str__(self) -> str:
        """A line for each cause, and the commands of its fix."""
        causes = [one for one in self.findings if not one.explained_by and one.severity != "info"]
        lines = [
            line
            for one in causes
            for line in (f"{one.summary} ({one.code})", *(f"    {each}" for each in one.commands))
        ]
        return "\n".join(lines) or f"No fault found ({self.verdict})"

    def _repr_html_(self) -> str:
        """The report in a notebook."""
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(one.severity)}</td><td>{escape(one.summary)}<br><code>{escape(one.code)}</code></td>"
            f"<td><pre>{escape(chr(10).join(one.commands))}</pre></td></tr>"
            for one in self.findings
        )
        table = f"<table><tr><th></th><th>finding</th><th>commands</th></tr>{rows}</table>" if rows else ""
        if self._is_of_others():
            table += f"<p>Not the environment of this kernel, which is {escape(_shown(sys.prefix))}.</p>"
        if any(one.commands for one in self.findings):
            table += "<p>Restart the kernel after an installation.</p>"
        return f"<p>GPU stack: <b>{escape(self.verdict)}</b></p>{table}"

    def _is_of_others(self) -> bool:
        """Whether this machine was checked, but not the environment that runs this program."""
        found = self.facts["environments"]
        if self.raw["subject"]["kind"] != "live" or not isinstance(found, list):
            return False
        return os.path.realpath(sys.prefix) not in {os.path.realpath(one["prefix"]) for one in found}


def check(*, python: str = "", root: str = "", expect_gpu: bool = False, policy: str = "") -> Report:
    """Check this machine and an environment (default: the one that runs this program); raises GpuStackError.

    `root` is a mounted disk in place of the machine. `policy` is a file, see docs/policy.md.
    """
    words = ["--python", python or sys.prefix] if python or not root else []
    words += [*(["--root", root] if root else []), *(["--expect-gpu"] if expect_gpu else [])]
    raw, status = _ask("check", *words, "--policy", policy)
    return Report(raw["verdict"], tuple(map(_finding, raw["findings"])), status, raw)


def explain(text: str) -> Mapping[str, Any]:
    """Return what a message or a log means, schema `gpudoctor.explanation/1`; raises GpuStackError."""
    return _ask("explain", "-", given=text)[0]


def which(library: str, *, python: str = "", framework: str = "") -> Mapping[str, Any]:
    """Return which file a process would load, schema `gpudoctor.which/1`; raises GpuStackError."""
    more = ["--framework", framework] if framework else []
    return _ask("which", "--python", python or sys.prefix, *more, names=(library,))[0]


def can(*specs: str, gpu: Sequence[str] | str = (), driver: str = "") -> Mapping[str, Any]:
    """Return whether releases work together, schema `gpudoctor.can/1`; raises GpuStackError."""
    return _ask("matrix", "can", *_on(gpu, driver), names=specs)[0]


def solve(*specs: str, gpu: Sequence[str] | str = (), driver: str = "") -> Mapping[str, Any]:
    """Return a set of releases that works, schema `gpudoctor.solve/1`; raises GpuStackError."""
    return _ask("matrix", "solve", *_on(gpu, driver), names=specs)[0]


def require(
    *, cuda: bool = True, gpu_memory: str = "", driver: str = "", cudnn: str = "", policy: str = "", **packages: str
) -> Report:
    """Raise GpuStackError, with the fix, where this program cannot use the GPU as it needs to.

    `gpu_memory` is of each card, "16GiB" or ">=24"; `driver`, `cudnn` and packages (torch=">=2.6") are PEP 440 ranges.
    `cuda=False` only checks the files. Returns the report. `policy` is a file that holds all of it instead.
    """
    wanted = {"gpu_memory": gpu_memory, "driver": driver, "cudnn": cudnn, **packages}
    for name, value in wanted.items():
        if not isinstance(value, str) or not (value or name not in packages) or not re.fullmatch(_NAME, name):
            raise GpuStackError(f'require({name}={value!r}): a range in quotes is wanted, such as torch=">=2.6"')
    if policy and any(wanted.values()):
        raise GpuStackError("require(policy=...) takes no other ranges: write them into that file")
    lines = [f"gpu_memory = {_quoted(_memory(gpu_memory))}"] if gpu_memory else []
    lines += [f"{name} = {_quoted(value)}" for name, value in (("driver", driver), ("cudnn", cudnn)) if value]
    frameworks = [f"{_quoted(name.replace('_', '-'))} = {_quoted(value)}" for name, value in packages.items()]
    text = "\n".join(("[require]", *lines, "[require.frameworks]", *frameworks, ""))
    if lines or frameworks:
        import tempfile

        with tempfile.TemporaryDirectory(prefix="gpudoctor-") as folder:
            policy = os.path.join(folder, "required.toml")
            with open(policy, "w", encoding="utf-8") as file:
                file.write(text)
            return _met(cuda, policy, re.compile(rf"{re.escape(policy)}(:\d+)?"))
    return _met(cuda, policy)


def _met(cuda: bool, policy: str, gone: re.Pattern[str] | None = None) -> Report:
    """Check by a policy; one that is `gone` when its error is read is named by the call that made it."""
    try:
        report = check(expect_gpu=cuda, policy=policy)
        why = f"The GPU stack does not do for this program:\n{report}\nAll of it: gpudoctor check"
        if report.exit_status != 1:
            return report
    except GpuStackError as error:
        why = str(error)
    raise GpuStackError(gone.sub("require()", why) if gone else why)


def _memory(text: str) -> str:
    """ "16GiB" and "16 GB" as the policy has them."""
    bare = text.strip()
    for unit in ("GiB", "GB", "G"):
        bare = bare.removesuffix(unit).strip()
    return bare if bare.startswith((">", "<", "=", "~")) else f">={bare}"


def _quoted(text: str) -> str:
    """A TOML string: JSON's escapes are TOML's."""
    import json

    return json.dumps(text)


def _on(gpu: Sequence[str] | str, driver: str) -> list[str]:
    names = [gpu] if isinstance(gpu, str) else list(gpu or ())
    return [*(word for one in names for word in ("--gpu", one)), *(["--driver", driver] if driver else [])]


def _finding(raw: Mapping[str, Any]) -> Finding:
    remedies = raw["remedies"] or [{"commands": []}]
    known = {name: _shown(raw[name]) for name in ("code", "severity", "subject", "summary", "explained_by", "docs")}
    return Finding(**known, commands=tuple(map(_shown, remedies[0]["commands"])))


def _shown(text: str) -> str:
    """The text of a machine without what drives a terminal or is no character; its lines stay."""
    return "\n".join("".join(sign if sign.isprintable() else "?" for sign in line) for line in text.split("\n"))


def _ask(*words: str, names: Sequence[str] = (), given: str | None = None) -> tuple[dict[str, Any], int]:
    """The JSON of a command, and its exit status; no name is taken for an option. Raises GpuStackError."""
    import json
    import subprocess

    place = os.path.dirname(HERE) if _IS_PACKAGE else HERE
    start = f"import sys; sys.path.insert(0, {place!r}); import gpudoctor; gpudoctor.main()"
    argv = [sys.executable, "-I", "-c", start, *words, "--format", "json", *(["--", *names] if names else [])]
    try:
        text = None if given is None else given.encode("utf-8", "replace").decode()
        done = subprocess.run(argv, input=text, capture_output=True, text=True, encoding="utf-8", check=False)
    except (TypeError, ValueError, AttributeError) as error:  # no text, or one that no command line can hold
        raise GpuStackError(f"gpudoctor takes texts only: {error}") from None
    except OSError as error:  # an argument of a megabyte, no memory for a process
        raise GpuStackError(f"gpudoctor did not start: {error.strerror}") from None
    try:
        raw: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise GpuStackError(done.stderr.strip() or "gpudoctor gave no answer") from None
    return raw, done.returncode


class _BesideThisFile:
    """Finds our three packages, and nothing else, in the directory of this file."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """See importlib.abc.MetaPathFinder."""
        if name not in OURS:
            return None
        found = PathFinder.find_spec(name, [HERE])
        if found is None:
            raise ModuleNotFoundError(name)  # and no search in the other directories
        return found


def main() -> NoReturn:
    """Run the command line; exit 3 with one line where a package of ours is not ours."""
    sys.meta_path.insert(0, _BesideThisFile)
    for name in OURS:
        wrong = _what_is_wrong(name)
        if wrong:
            print(f"gpudoctor: {wrong}", file=sys.stderr)
            raise SystemExit(_EXIT_FAULT)
    from doctor.cli import main as command_line

    command_line()


def _what_is_wrong(name: str) -> str:
    """One line, "" where the package is the one beside this file."""
    try:
        module = __import__(name)
    except ImportError:
        return f"{os.path.join(HERE, name)} is missing or damaged. {_AGAIN}"
    where = str(getattr(module, "__file__", None) or f"a module {name} without a file")
    if getattr(module, "DISTRIBUTION", "") == "gpudoctor" and os.path.dirname(os.path.dirname(where)) == HERE:
        return ""
    owners = [owner for owner in _owners(name) if owner != "gpudoctor"]
    if owners:
        return f"{where} was overwritten by {' and '.join(owners)}, which has a package {name}, too. {_AGAIN}"
    return f"{where} is in the way of gpudoctor's own package {name}. {_AGAIN}"


def _owners(name: str) -> list[str]:
    """The distributions that ship a package of this name."""
    from importlib.metadata import packages_distributions  # late: slow, and only for a clash

    return sorted(set(packages_distributions().get(name, ())))


_AGAIN = "Install gpudoctor into an environment of its own (pipx or uv tool)."

if __name__ == "__main__":
    main()
