"""Completion for a shell, and the values that it offers: read from the tables that the commands check them with."""

from __future__ import annotations

from collections.abc import Callable, Collection

from typer import Context  # noqa: TC002 - typer reads the annotation

from compat.base.choice import one_of

_PROGRAM, _VARIABLE = "gpudoctor", "_GPUDOCTOR_COMPLETE"
_COMPDEF = f"compdef _{_PROGRAM}_completion {_PROGRAM}"
# zsh loads the file at the first Tab, which would complete nothing. Source: click's shell_completion.py.
_AT_ONCE = f"""if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _{_PROGRAM}_completion "$@"
else
  {_COMPDEF}
fi"""
_SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")


def register() -> None:
    """Teach click the shells; typer does this only for an application with its own two options."""
    from typer.completion import completion_init  # type: ignore[attr-defined]

    completion_init()


def script(shell: str) -> str:
    """Return the script that gives this shell completion; raises NoSuchName."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    known = one_of("shell", shell, _SHELLS)
    text = str(get_completion_script(prog_name=_PROGRAM, complete_var=_VARIABLE, shell=known))
    return text.replace(_COMPDEF, _AT_ONCE) if known == "zsh" else text


def install(shell: str) -> str:
    """Install the script where this shell reads it, and return a line that says where; raises NoSuchName."""
    from typer.completion import install as install_for  # type: ignore[attr-defined]

    known, path = install_for(shell=one_of("shell", shell, _SHELLS), prog_name=_PROGRAM, complete_var=_VARIABLE)
    if known == "zsh":
        path.write_text(f"{script(known)}\n", encoding="utf-8")
    return f"{known}: completion is in {path}; open a new terminal to use it"


def _among(values: Callable[[], Collection[str]]) -> Callable[[str], list[str]]:
    """Return what completes the beginning of a value, which keeps the case it was typed in."""

    def complete(incomplete: str) -> list[str]:
        length = len(incomplete)
        return sorted(incomplete + one[length:] for one in values() if one[:length].casefold() == incomplete.casefold())

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

    rows = Matrix.of_user().rows("gpu", "products")
    names = (row.name.removeprefix("NVIDIA ").removeprefix("GeForce ") for row in rows)
    return {name.casefold().replace(" ", "-") for name in names}  # bash would take a blank for the end of the word


def _libraries() -> Collection[str]:
    from doctor.commands.which.product import PRODUCTS

    return PRODUCTS


rule = _among(_codes)
library = _among(_libraries)
page = _among(_pages)
product = _among(_products)
gpu = _among(_gpus)


def _releases(product: str) -> Collection[str]:
    """Return the releases that have rows; the first table of a product that has them counts."""
    import re

    from compat.matrix import Matrix

    columns = {"cuda": ("toolkits", "cuda"), "cudnn": ("releases", "version"), "driver": ("branches", "branch")}
    if product not in _products():
        return ()
    table, column = columns.get(product, ("builds", "versions"))
    found = (re.search(r"\d[\w.]*", str(getattr(row, column))) for row in Matrix.of_user().rows(product, table))
    return {one[0] for one in found if one}


def release(product: str) -> Callable[[str], list[str]]:
    """Return what completes a release of this product."""
    return _among(lambda: _releases(product))


def release_of_named(context: Context, incomplete: str) -> list[str]:
    """Complete a release of the product that stands before it."""
    return release(str(context.params.get("product") or ""))(incomplete)


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
