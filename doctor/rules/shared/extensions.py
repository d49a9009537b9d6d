"""The compiled extensions of torch in an environment, one package after the other."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

from compat.base.record import NamedTuple
from compat.traits import nearest_library, takes_the_runtime_that_it_finds, traits_of
from compat.version import CudaVersion
from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment, Extension, Framework, Variable
from doctor.model.facts.seen import Seen, UnseenError, value_or
from doctor.rules.shared.rule import Subjects

_CHOSEN_BY_NAME = r"libbitsandbytes_cuda(\d{2,3})(?:_nocublaslt)?\."
# libtorch_c_dlpack_addon_torch29-cuda.so: the package opens that of the installed torch, and none from torch 2.10 on.
# Source: torch-c-dlpack-ext 0.1.5, torch_c_dlpack_ext/core.py.
_TORCH_IN_NAME = r"[-_]torch(\d)(\d{1,2})(?=[-_.])"
_CHOICE_VARIABLE = "BNB_CUDA_VERSION"
# libcudart.so.12, libcudart.so.11.0, libcudart.so.10.2; a copy that a wheel brings along has a hash in its name.
_RUNTIME = r"libcudart\.so\.(\d{1,3})(?:\.(\d{1,3}))?$"
_MINOR_IN_NAME_BEFORE = 11  # from then on every release of a major has one name (11.0 for all of CUDA 11)


class ExtensionPackage(NamedTuple):
    """An installed package whose libraries extend torch."""

    environment: str  # prefix
    torch: Framework
    modules: tuple[Extension, ...]  # at least one

    @property
    def label(self) -> str:
        """How findings name it."""
        return self.modules[0].label


class Runtime(NamedTuple):
    """The CUDA runtime that a library asks for, as far as its name tells: 12, 11, 10.2."""

    major: int
    minor: int | None  # the name has it before CUDA 11

    def is_of(self, cuda: CudaVersion) -> bool:
        """Whether this is the runtime of a CUDA version."""
        return self.major == cuda.major and self.minor in (None, cuda.minor)

    def __str__(self) -> str:
        return f"{self.major}" if self.minor is None else f"{self.major}.{self.minor}"


def _packages(facts: Facts) -> Iterator[ExtensionPackage]:
    """Raises UnseenError where the extensions of an environment could not be looked at."""
    for environment in facts.environments.get():
        # The CUDA build of what extensions are made for; None for another build, which other rules are about.
        found = (one for one in value_or(environment.frameworks, ()) if traits_of(one.package).extended)
        torch = next((one for one in found if value_or(one.build, "cuda").startswith("cu")), None)
        if torch is None:
            continue
        by_name: dict[str, list[Extension]] = {}
        for one in environment.extensions.get():
            by_name.setdefault(one.label, []).append(one)
        for modules in by_name.values():
            if mine := [one for one in modules if _is_for(one, torch)]:
                yield ExtensionPackage(environment.prefix, torch, tuple(mine))


def _is_for(module: Extension, torch: Framework) -> bool:
    """Whether a library is one for this torch, where its name says for which: no other one is loaded."""
    named = re.search(_TORCH_IN_NAME, module.path.rpartition("/")[2])
    return named is None or torch.version.split(".")[:2] == [named[1], named[2]]


EXTENSION_PACKAGES: Subjects[ExtensionPackage] = Subjects("compiled extension of torch", _packages)


def chosen_by_name(package: ExtensionPackage) -> dict[str, Extension]:
    """The libraries of bitsandbytes by the digits of their CUDA, "128"; empty for a package that loads all it has."""
    names = ((re.search(_CHOSEN_BY_NAME, one.path), one) for one in package.modules)
    return {found[1]: one for found, one in names if found}


def wanted_name(package: ExtensionPackage, facts: Facts) -> str:
    """The digits that bitsandbytes looks for: the variable's, else those of torch's CUDA; raises UnseenError.

    An old release asks neither, but the libcudart.so that it finds.
    """
    own = package.modules[0]
    if takes_the_runtime_that_it_finds(own.distribution, own.version):
        raise UnseenError(
            f"{package.label} uses the libcudart.so found through CONDA_PREFIX, "
            "LD_LIBRARY_PATH and other variables, not torch's CUDA"
        )
    cuda, said = package.torch.cuda.get(), variable(facts)
    return (said.value if said else "") or f"{cuda.major}{cuda.minor}"


def variable(facts: Facts) -> Variable | None:
    """What names the CUDA of bitsandbytes' library in place of torch's; None where nothing does."""
    return next((one for one in value_or(facts.configuration.variables, ()) if one.name == _CHOICE_VARIABLE), None)


def in_use(package: ExtensionPackage, facts: Facts) -> tuple[Extension, ...]:
    """The libraries that would be loaded; raises UnseenError."""
    by_name = chosen_by_name(package)
    if not by_name:
        return package.modules
    found = by_name.get(taken(package, by_name, facts))
    return (found,) if found else ()


def taken(package: ExtensionPackage, by_name: Mapping[str, Extension], facts: Facts) -> str:
    """The digits of the library that bitsandbytes opens, "" where it finds none; raises UnseenError.

    The variable is taken as it is.
    """
    wanted, own = wanted_name(package, facts), package.modules[0]
    cuda = package.torch.cuda.get()
    if wanted in by_name or wanted != f"{cuda.major}{cuda.minor}":
        return wanted if wanted in by_name else ""
    return nearest_library(own.distribution, own.version, cuda, by_name)


def asked_of_torch(distribution: str, environment: Environment) -> frozenset[str]:
    """The libraries of torch that the extensions of a distribution ask for; none where they were not read."""
    extensions = value_or(environment.extensions, ())
    mine = (one.torch_libraries for one in extensions if one.distribution == distribution)
    return frozenset(name for names in mine for name in value_or(names, ()))


def runtime_of(module: Extension) -> Runtime | None:
    """The CUDA runtime that a library expects from elsewhere, None where it expects none; raises UnseenError."""
    match = re.match(_RUNTIME, module.cudart.get())
    if not match:
        return None
    major = int(match[1])
    return Runtime(major, int(match[2]) if match[2] and major < _MINOR_IN_NAME_BEFORE else None)


def targets_text(modules: tuple[Extension, ...]) -> str:
    """What these libraries were built for, for a sentence."""
    found = {target for one in modules if isinstance(one.every_target, Seen) for target in one.every_target.value}
    return ", ".join(map(str, sorted(found, key=lambda one: (one.capability, one.kind != "sm", one.suffix))))


def building_again(package: ExtensionPackage, facts: Facts, archs: str = "") -> str:
    """How a person builds it for torch's CUDA, and what that takes.

    Whether a build runs through nobody can say beforehand, so it is advice and no remedy. Sources: pip's and uv's
    command lines (`--no-binary`, `--no-build-isolation`); torch.utils.cpp_extension, CUDA_HOME and
    TORCH_CUDA_ARCH_LIST.
    """
    cuda, one = value_or(package.torch.cuda, None), package.modules[0]
    if cuda is None:
        return "build it again in this environment, with the CUDA that torch was built with"
    toolkits = (each for each in value_or(facts.toolkit.toolkits, ()) if isinstance(each.nvcc, Seen))
    toolkit = next((each for each in toolkits if value_or(each.cuda, None) == cuda), None)
    if toolkit is None:
        return (
            f"build it again in this environment; this needs a CUDA {cuda} toolkit with nvcc, which was not found here"
        )
    if not one.version:
        return f"build it again from its source in this environment, with CUDA_HOME={toolkit.path}"
    here = next(each for each in facts.environments.get() if each.prefix == package.environment)
    has_pip = any(each.name == "pip" for each in value_or(here.distributions, ()))
    python = shlex.quote(here.interpreter)
    tool = (
        f"{python} -m pip install --force-reinstall" if has_pip else (f"uv pip install --python {python} --reinstall")
    )
    options = f"--no-deps --no-build-isolation --no-binary {one.distribution} {one.distribution}=={one.version}"
    listed = f"TORCH_CUDA_ARCH_LIST={shlex.quote(archs)} " if archs else ""
    variables = f"CUDA_HOME={shlex.quote(toolkit.path)} {listed}"
    return f"if its source is published, build it again: `{variables}{tool} {options}`"
