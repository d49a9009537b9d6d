"""One card a framework: how its build is read from the files inside its package, and what its process opens.

The module is named after the package's key and holds `CARD`, a `Card`. See CONTRIBUTING.md, "A framework card".

A module is loaded only when one of its distributions is installed, and that is told from the names alone: the module
`cupy` may serve the distribution `cupy` and every `cupy-...`; of several modules the longest name counts. What it
really serves is up to its card.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from compat.base.discover import code_of, load_one, names_in
from compat.base.errors import DataError
from compat.base.record import NamedTuple
from compat.traits import is_among, traits_of
from compat.version import CodeTarget, CudaVersion, CudnnVersion, VersionError
from doctor.host import Host
from doctor.model.facts.environment import Distribution, Environment, Framework
from doctor.model.facts.seen import Fact, Place, Seen, Unseen
from doctor.pyenv.metadata import requires
from doctor.pyenv.variant import variant_note

if TYPE_CHECKING:
    from doctor.loader.steps import Package, Step
    from doctor.model.facts.environment import Environment
    from doctor.model.facts.toolkit import CodeTools


class Loading(NamedTuple):
    """What the process of a framework opens: when the package is imported, and when it first uses a GPU.

    The steps are the dlopens in order, from the files of the package; they are read from the packages' own Python code
    and from LD_DEBUG traces of real imports (docs/which.md).
    """

    steps: Callable[[Package], Iterable[Step]]
    note: str = ""  # what a program may do that changes the answer


class Switch(NamedTuple):
    """A variable by which a distribution is kept off the GPU: what comes of a value, "" where it does not."""

    name: str
    then: Callable[[str], str]
    of: tuple[str, ...] = ("*",)  # the distributions that are spoken of, of those that the card serves
    ends: bool = False  # whether the framework then ends with an error


class Dlls(NamedTuple):
    """The libraries of a framework that name DLLs on Windows, and where those are looked for."""

    libraries: tuple[str, ...]  # paths below the package
    uses_path: bool = True
    uses_environment: bool = True  # the interpreter's own directories, and those that the package adds
    opens_all: str = ""  # what __init__.py says where it opens every DLL of the package's lib folder by its path
    # DLLs that the first of the libraries opens by their names, with the search of a program, when a GPU is used
    opens: Callable[[Framework], tuple[str, ...]] | None = None
    # What its import gives to os.add_dll_directory, in the order of the search; None: Library/bin, as conda's packages
    adds: Callable[[Host, Environment, Framework], tuple[str, ...]] | None = None


class Card:
    """All that is particular to one framework and that its files show; `compat/data/frameworks.json` has the rest.

    `distributions` are the normalised names under which it is installed ("tensorflow", "tensorflow-gpu"), a "*"
    standing for any text ("cupy-cuda*"), and `speakers` those of them that use a GPU by themselves. `read` gets the
    host, the distribution and the prefix of its environment, and never raises for a damaged package: what cannot be
    read is Unseen. A package without compiled code of its own needs none, and names its `module` instead. `proof` is a
    line of Python that fails unless the framework computes on the GPU.
    """

    __slots__ = ("cudnn_in", "distributions", "dlls", "extended_by", "kernels", "list_in", "loading", "proof",
                 "read", "speakers", "switches", "tools")  # fmt: skip

    def __init__(  # noqa: PLR0913 - one argument for each thing that may be particular
        self,
        distributions: tuple[str, ...],
        read: Callable[[Host, Distribution, str], Framework] | None = None,
        *,
        module: str = "",
        loading: Loading | None = None,
        speakers: tuple[str, ...] = ("*",),
        kernels: tuple[str, ...] = (),
        list_in: str = "",
        cudnn_in: tuple[str, ...] = (),
        dlls: Dlls | None = None,
        tools: Callable[[Host, Environment, Framework], CodeTools] | None = None,
        extended_by: tuple[str, ...] = (),
        switches: tuple[Switch, ...] = (),
        proof: str = "",
    ) -> None:
        if not distributions or (read is None) is not bool(module):
            raise DataError(f"a card names its distributions, and a reader or else its module: {distributions}")
        self.distributions = distributions
        self.proof = proof
        self.read = read or _without_build(module)
        self.loading = loading  # None where it is not known
        self.speakers = speakers
        self.kernels = kernels  # libraries with its kernels, below the package
        self.list_in = list_in  # a library that holds the list of its code targets as text, below the package
        self.cudnn_in = cudnn_in  # directories below the package that hold the cuDNN which it brings along
        self.dlls = dlls
        self.tools = tools  # finds what it compiles kernels with at run time; None where it compiles none
        self.switches = switches  # that keep this framework alone off the GPU
        self.extended_by = extended_by  # how names of its libraries begin that compiled extensions are linked with

    def serves(self, name: str) -> bool:
        """Whether a distribution is one of this framework's."""
        return is_among(name, self.distributions)


def _without_build(module: str) -> Callable[[Host, Distribution, str], Framework]:
    def read(host: Host, one: Distribution, environment: str) -> Framework:
        build = Seen("", "it has no GPU code of its own")
        return describe(one, environment, module, build=build, requires=requires(host, one))

    return read


def read_all(host: Host, distributions: Iterable[Distribution], environment: str) -> tuple[Framework, ...]:
    """The frameworks among these distributions; hidden copies and conda's records are not read."""
    modules = _modules()
    found = []
    for one in distributions:
        card = None if one.hidden_by or one.kind == "conda" else _card(one.name, modules)
        if card:
            framework = card.read(host, one, environment)
            note = "; ".join(filter(None, (framework.note, variant_note(host, one))))
            found.append(framework._replace(note=note))
    return tuple(found)


def card_of(name: str) -> Card | None:
    """The card that serves a distribution of this (normalised) name, None where none does."""
    return _card(name, _modules())


def switches_of(name: str) -> tuple[Switch, ...]:
    """The variables that keep a distribution off the GPU."""
    card = card_of(name)
    return tuple(one for one in card.switches if is_among(name, one.of)) if card else ()


def is_on(value: str) -> bool:
    """Whether a variable that is on or off is on, as most programs read it."""
    text = value.strip().lower()
    return text in {"true", "yes", "on", "y"} or (text.isdigit() and int(text) != 0)


def loading_of(name: str) -> Loading | None:
    """How a distribution opens its libraries, None for one that is not known to open any by itself."""
    card = card_of(name)
    return card.loading if card and is_among(name, card.speakers) else None


def opens_cuda(name: str) -> bool:
    """Whether a distribution is known to open CUDA's libraries by itself; how it does, `loading_of` may not know."""
    card = card_of(name)
    if card is None or not is_among(name, card.speakers):
        return False
    return card.loading is not None or traits_of(name).opens != ""


def family_of(name: str) -> str:
    """The key of the framework that a distribution belongs to, "jax" for jax-cuda12-plugin; "" where none is known."""
    modules = _modules()
    return code_of(_module_for(name, modules)) if _card(name, modules) else ""


def _modules() -> dict[str, str]:
    return _keys(tuple(sys.modules[__name__].__path__))


@lru_cache(maxsize=8)
def _keys(_folders: tuple[str, ...]) -> dict[str, str]:
    """The modules by their keys; listed once for each set of folders."""
    return {code_of(name): name for name in names_in(sys.modules[__name__])}


def _card(name: str, modules: dict[str, str]) -> Card | None:
    module = _module_for(name, modules)
    card = load_one(sys.modules[__name__], module, "CARD", Card) if module else None
    return card if card and card.serves(name) else None


def _module_for(name: str, modules: dict[str, str]) -> str:
    """The module of the longest key that is the name or its beginning up to a "-", "" for none."""
    while name:
        if name in modules:
            return modules[name]
        name = name.rpartition("-")[0]
    return ""


def describe(  # noqa: PLR0913 - one argument for each fact that a package can tell
    one: Distribution,
    environment: str,
    module: str,
    *,
    build: Fact[str],
    requires: Fact[tuple[str, ...]],
    version: str = "",
    cuda: Fact[CudaVersion] | None = None,
    cudnn: Fact[CudnnVersion] | None = None,
    targets: Fact[tuple[CodeTarget, ...]] | None = None,
    note: str = "",
) -> Framework:
    """A framework's facts; what a reader leaves out is Unseen with the reason that its build gives.

    `version` is the package's own where it says more than the distribution's; `build` "" is a package without
    compiled GPU code of its own.
    """
    version = version or one.version
    why = f"no file of {one.name} {version} says it in text"
    if isinstance(build, Seen) and build.value in {"", "cpu"}:
        kind = "a CPU build" if build.value else "a package without compiled GPU code of its own"
        why = f"{one.name} {version} is {kind}"
    return Framework(
        package=one.name,
        version=version,
        path=f"{one.site}/{module}",
        build=build,
        cuda=cuda or Unseen(why),
        cudnn=cudnn or Unseen(why),
        targets=targets or Unseen(why),
        requires=requires,
        environment=environment,
        note=note,
    )


def cudnn_said(text: str, path: str, why: str) -> Fact[CudnnVersion]:
    """The cuDNN release that a package's file names; "" where it names none, for which `why` is the reason."""
    try:
        return Seen(CudnnVersion.parse(text), Place(path)) if text else Unseen(why)
    except VersionError as error:
        return Unseen(f"{path}: {error}")


def cuda_tag(cuda: CudaVersion) -> str:
    """The tag of builds for a CUDA version: cu128 for 12.8."""
    return f"cu{cuda.major}{cuda.minor}"
