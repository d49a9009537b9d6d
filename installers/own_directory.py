"""How programs find what is in a directory of the user's own, or in one of the system that nobody searches."""

from __future__ import annotations

from shlex import quote

from installers.cuda_order import OF_ROOT
from installers.plan import Target
from installers.step import Step
from installers.steps.add_to_path import AddToPath
from installers.steps.by_hand import ByHand
from installers.steps.refresh_loader import RefreshLoader
from installers.steps.set_variable import SetVariable
from installers.steps.write_file import WriteFile

_WHY = "only programs started in this shell find it"
_LOADER = "/etc/ld.so.conf.d/gpudoctor-{name}.conf"


def findable(name: str, home: str, libraries: str, target: Target) -> tuple[Step, ...]:
    """The steps after a product was copied into its own directory: `name` is "cuda" or "cudnn"."""
    if target.os_family == "windows":
        path = AddToPath(libraries, "Windows searches it for DLLs")
        if name != "cuda":
            return (path,)
        return (SetVariable("CUDA_PATH", home, "CMake, CuPy and others read it"), path)
    if f"{home}/".startswith(OF_ROOT):
        return _of_the_system(name, home, libraries)
    file = f"{home}/{name}-env.sh"
    by_hand = ByHand(
        f"in each shell that needs it, or once in ~/.bashrc\n. {quote(file)}",
        "the loader does not search your own directory by default",
    )
    return (WriteFile(file, _lines(name, home, libraries), _WHY), by_hand)


def _lines(name: str, home: str, libraries: str) -> tuple[str, ...]:
    lines = {
        "cuda": (("CUDA_HOME", home, False), ("PATH", f"{home}/bin", True)),
        "cudnn": (
            ("CUDNN_PATH", home, False),
            ("CPATH", f"{home}/include", True),
            ("LIBRARY_PATH", libraries, True),
        ),
    }[name]
    return tuple(_export(key, value, adds=adds) for key, value, adds in (*lines, ("LD_LIBRARY_PATH", libraries, True)))


def _export(name: str, value: str, *, adds: bool) -> str:
    return f"export {name}={quote(value)}" + (f'"${{{name}:+:${name}}}"' if adds else "")


def _of_the_system(name: str, home: str, libraries: str) -> tuple[Step, ...]:
    why = "every process then finds its libraries, services too"
    write = WriteFile(_LOADER.format(name=name), (libraries,), why, needs_root=True)
    steps: tuple[Step, ...] = (write, RefreshLoader("the loader then finds the libraries"))
    if name == "cuda":
        lines = f"export CUDA_HOME={quote(home)}\n{_export('PATH', f'{home}/bin', adds=True)}"
        steps += (ByHand(f"add these lines to ~/.bashrc, then open a new terminal\n{lines}", "the shell finds nvcc"),)
    return steps


def nvcc_on_path(home: str) -> ByHand:
    """NVIDIA's guide calls it mandatory: a package puts no program of CUDA on PATH."""
    return ByHand(
        f"add this line to ~/.bashrc, then open a new terminal\n{_export('PATH', f'{home}/bin', adds=True)}",
        "the shell finds nvcc",
    )
