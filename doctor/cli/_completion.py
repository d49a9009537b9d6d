"""Completion for a shell, and the values that it offers: read from the tables that the commands check them with."""

from __future__ import annotations

from collections.abc import Callable, Collection

from compat.base.choice import one_of

_PROGRAM, _VARIABLE = "gpudoctor", "_GPUDOCTOR_COMPLETE"
_SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")


def register() -> None:
    """Teach click the shells; typer does this only for an application with its own two options."""
    from typer.completion import completion_init  # type: ignore[attr-defined]

    completion_init()


def script(shell: str) -> str:
    """Return the script that gives this shell completion; raises NoSuchName."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    known = one_of("shell", shell, _SHELLS)
    return str(get_completion_script(prog_name=_PROGRAM, complete_var=_VARIABLE, shell=known))


def install(shell: str) -> str:
    """Install the script where this shell reads it, and return a line that says where; raises NoSuchName."""
    from typer.completion import install as install_for  # type: ignore[attr-defined]

    known, path = install_for(shell=one_of("shell", shell, _SHELLS), prog_name=_PROGRAM, complete_var=_VARIABLE)
    return f"{known}: completion is in {path}; open a new terminal to use it"


def _among(values: Callable[[], Collection[str]]) -> Callable[[str], list[str]]:
    """Return what completes the beginning of a value, whatever its case."""

    def complete(incomplete: str) -> list[str]:
        return sorted(one for one in values() if one.casefold().startswith(incomplete.casefold()))

    return complete


def fixed(*values: str) -> Callable[[str], list[str]]:
    """Return what completes one of these values."""
    return _among(lambda: values)


def _codes() -> Collection[str]:
    from doctor.rules.shared.engine import codes

    return codes()


def _pages() -> Collection[str]:
    from doctor.messages.pages import codes

    return codes()


def _products() -> Collection[str]:
    from compat.load import products

    return products()


def _gpus() -> Collection[str]:
    from compat.matrix import Matrix

    return [row.name.removeprefix("NVIDIA ") for row in Matrix.of_user().rows("gpu", "products")]


rule = _among(_codes)
page = _among(_pages)
product = _among(_products)
gpu = _among(_gpus)


def _distributions() -> Collection[str]:
    from installers.packages import DISTRIBUTIONS

    return DISTRIBUTIONS


def method(product: str) -> Callable[[str], list[str]]:
    """Return what completes a way to install a product."""

    def names() -> Collection[str]:
        from installers.choose import methods_for

        return methods_for(product)

    return _among(names)


distribution = _among(_distributions)
