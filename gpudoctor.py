"""The entry point: `gpudoctor`, and `python -m gpudoctor`.

`doctor`, `compat` and `installers` are names that a project of the user's, or another distribution, may have, too. So
these three are taken from the directory of this file, whatever stands before it in sys.path (PYTHONPATH=. in a project
with a compat.py), and a file in there that is not ours is named instead of being run.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any, NoReturn

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = ("compat", "doctor", "installers")
_EXIT_FAULT = 3


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
