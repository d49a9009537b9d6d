"""Interpreters that do not start: removed, upgraded under an environment, or of another C library."""

from __future__ import annotations

from tests.lab.case import Case, fault
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import PYTHON, VENV, WORKSTATION, files, python_at, site_of, together, without

NEWER = "python3.13"
UPGRADED = together(
    without(f"/usr/bin/{PYTHON}", f"/usr/lib/{PYTHON}"),
    python_at("/usr", NEWER),
    files({f"{VENV}/bin/python": f"-> /usr/bin/{NEWER}"}),
)

CASES = (
    fault(
        "python-removed",
        "the Python that the environment was made from was removed",
        without(f"/usr/bin/{PYTHON}"),
        codes=("interpreter-cannot-start",),
        first="interpreter-cannot-start",
        where="pretended",
    ),
    fault(
        "python-upgraded",
        "the distribution's upgrade brought another Python under the environment",
        UPGRADED,
        codes=("interpreter-cannot-start",),
        first="interpreter-cannot-start",
        where="pretended",
    ),
    fault(
        "python-without-its-library",
        "the Python needs its own libpython, which lies where nobody searches",
        files(
            {
                f"/usr/bin/{PYTHON}": elf_bytes(needed=(f"lib{PYTHON}.so.1.0",)),
                f"/opt/python/lib/lib{PYTHON}.so.1.0": elf_bytes(f"lib{PYTHON}.so.1.0"),
            }
        ),
        codes=("interpreter-cannot-start",),
        first="interpreter-cannot-start",
        where="pretended",
    ),
    Case(
        "python-with-its-library",
        "the same, and LD_LIBRARY_PATH has the directory",
        together(
            WORKSTATION,
            files(
                {
                    f"/usr/bin/{PYTHON}": elf_bytes(needed=(f"lib{PYTHON}.so.1.0",)),
                    f"/opt/python/lib/lib{PYTHON}.so.1.0": elf_bytes(f"lib{PYTHON}.so.1.0"),
                }
            ),
        ),
        environ={"LD_LIBRARY_PATH": "/opt/python/lib"},
        where="pretended",
    ),
    Case(
        "python-beside-an-upgrade",
        "a newer Python of the distribution beside the one of the environment",
        together(WORKSTATION, python_at("/usr", NEWER), files({f"{site_of('/usr', NEWER)}/": ""})),
    ),
)
