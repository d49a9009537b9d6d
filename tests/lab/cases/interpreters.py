"""Interpreters that do not start: removed, upgraded under an environment, or of another C library; and compiled modules
of packages beside a framework that an interpreter cannot load.

cv2.abi3.so of opencv-python 4.8 needs libGL.so.1 and libgthread-2.0.so.0 (`readelf -d`); its
text names numpy.core alone.
"""

from __future__ import annotations

from tests.lab.case import Case, fault
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import (
    DIGITS,
    LIB,
    PYTHON,
    VENV,
    WORKSTATION,
    Part,
    files,
    package,
    python_at,
    site_of,
    together,
    without,
)

NEWER = "python3.13"
UPGRADED = together(
    without(f"/usr/bin/{PYTHON}", f"/usr/lib/{PYTHON}"),
    python_at("/usr", NEWER),
    files({f"{VENV}/bin/python": f"-> /usr/bin/{NEWER}"}),
)
GL = {f"{LIB}/libGL.so.1": elf_bytes("libGL.so.1")}


def opencv(*needed: str, rodata: bytes = b"") -> Part:
    """The package with one compiled module."""
    module = elf_bytes(needed=needed, rodata=rodata + bytes(1))
    return package("opencv-python", "4.8.0.74", {"cv2/__init__.py": "", "cv2/cv2.abi3.so": module})


def numpy(release: str, digits: str = DIGITS) -> Part:
    """NumPy with one compiled module, for one Python."""
    module = f"numpy/_core/_multiarray_umath.cpython-{digits}-x86_64-linux-gnu.so"
    return package("numpy", release, {"numpy/__init__.py": "", module: elf_bytes()})


FOR_NUMPY_1 = opencv(rodata=b"\0numpy.core.multiarray failed to import\0")

CASES = (
    fault(
        "opencv-without-libgl",
        "a slim system where OpenCV's libGL.so.1 is missing",
        opencv("libGL.so.1"),
        codes=("module-cannot-load",),
        first="module-cannot-load",
        where="pretended",
    ),
    Case("opencv-with-libgl", "the same with the library", together(WORKSTATION, opencv("libGL.so.1"), files(GL))),
    fault(
        "opencv-for-numpy-1",
        "OpenCV that was compiled for NumPy 1, beside NumPy 2",
        FOR_NUMPY_1,
        numpy("2.2.6"),
        codes=("module-cannot-load",),
        first="module-cannot-load",
        where="pretended",
    ),
    Case("opencv-beside-numpy-1", "the same beside NumPy 1", together(WORKSTATION, FOR_NUMPY_1, numpy("1.26.4"))),
    fault(
        "packages-of-another-python",
        "packages that were copied from an environment of another Python",
        numpy("2.2.6", "39"),
        codes=("module-cannot-load",),
        first="module-cannot-load",
        where="pretended",
    ),
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
    fault(
        "torch-listed-twice",
        "an upgrade of torch was killed, and left the metadata of the newer release",
        package("torch", "2.10.0+cu128", {}),
        codes=("package-listed-twice",),
        first="package-listed-twice",
    ),
    fault(
        "torch-hidden-by-a-file",
        "PYTHONPATH leads to a torch.py",
        files({"/opt/own/torch.py": ""}),
        environ={"PYTHONPATH": "/opt/own"},
        codes=("local-module-hides-framework",),
        first="local-module-hides-framework",
    ),
    fault(
        "requirement-of-another-torch",
        "a package that requires another torch, and a Python that is newer",
        files({f"{site_of()}/my_ops-1.0.dist-info/METADATA": "Name: my-ops\nVersion: 1.0\nRequires-Dist: torch<2.6\n"}),
        codes=("requirement-not-met",),
        first="requirement-not-met",
    ),
    fault(
        "numpy-leftover",
        "pip was killed while it removed NumPy",
        files({f"{site_of()}/~umpy/__init__.py": "", f"{site_of()}/~umpy-2.2.6.dist-info/METADATA": "Name: numpy\n"}),
        codes=("corrupted-install",),
        first="corrupted-install",
    ),
    Case(
        "requirements-met",
        "a package whose requirements hold, of those that are for this system",
        together(
            WORKSTATION,
            files(
                {
                    f"{site_of()}/my_ops-1.0.dist-info/METADATA": "Name: my-ops\nVersion: 1.0\n"
                    "Requires-Dist: torch>=2\nRequires-Dist: pywin32; sys_platform == 'win32'\n"
                    "Requires-Dist: pytest; extra == 'test'\n"
                }
            ),
        ),
    ),
    Case(
        "torch-beside-a-directory",
        "PYTHONPATH leads to a directory torch that is no package",
        together(WORKSTATION, files({"/opt/own/torch/data.bin": ""})),
        environ={"PYTHONPATH": "/opt/own"},
    ),
)
