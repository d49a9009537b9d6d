"""Which cuDNN the frameworks of an environment would load, without starting any of them.

The short form for the everyday check (`doctor.probes.simulate` fills a whole process): the main library, and the
first part that it opens in turn (the main library of 8 and 9 is a shell: what
computes is found by a search of its own, which LD_LIBRARY_PATH may decide although the shell came from elsewhere).
The real search paths are read from the libraries that ask. What happens before in the same process is not known here:
another framework, or a program's own ctypes call, may have loaded a copy already.
"""

from collections.abc import Iterator

from compat.record import NamedTuple
from doctor.facts.cudnn import CudnnCopy
from doctor.facts.environment import Environment, Framework
from doctor.facts.loader import LoaderFacts, Prediction
from doctor.facts.seen import Fact, Seen, Unseen, value_or
from doctor.host import Host, HostError
from doctor.resolve.library import Library, read_library, read_program
from doctor.resolve.search import Found, Nowhere, Search

_INIT_AT_MOST_BYTES = 1 << 20

# The libraries of a framework that ask for cuDNN, in the order in which they are loaded; a path below the directory
# in which the package lies, "*" for the rest of a name. Read from the wheels of torch 1.13.1 and 2.9.1, TensorFlow
# 2.18, jax-cuda12-pjrt 0.7.2, onnxruntime-gpu 1.23, cupy-cuda12x 13.6.
_ASKERS = {
    "torch": (
        "torch/lib/libtorch_global_deps.so",
        "torch/lib/libtorch_python.so",
        "torch/lib/libtorch_cuda_cpp.so",
        "torch/lib/libtorch_cuda.so",
    ),
    "tensorflow": (
        "tensorflow/libtensorflow_framework.so.2",
        "tensorflow/libtensorflow_framework.so.1",
        "tensorflow_core/libtensorflow_framework.so.1",
        "tensorflow_core/libtensorflow_framework.so.2",
        "tensorflow/libtensorflow_framework.so",
        "tensorflow/python/_pywrap_tensorflow_internal.so",
    ),
    "jax": ("jax_plugins/xla_cuda13/xla_cuda_plugin.so", "jax_plugins/xla_cuda12/xla_cuda_plugin.so"),
    "onnxruntime": ("onnxruntime/capi/libonnxruntime_providers_cuda.so",),
    "cupy": ("cupy_backends/cuda/libs/cudnn.*", "cupy/cuda/cudnn.*"),
}
_OPEN_BY_NAME = {"tensorflow", "jax"}  # by dlopen: their NEEDED does not name cuDNN
_JAX_PRELOADS = '_load("cudnn"'  # in the plugin's __init__: it opens the wheel's library by its path
_FIRST_PART = {8: "ops_infer", 9: "graph"}
_FIRST_PARTS_ASKED_IN_FULL = 9  # from this major on the shell asks for .so.9.10.2, then .so.9.10, then .so.9


class _Case(NamedTuple):
    """One framework whose library is looked for."""

    host: Host
    search: Search
    copies: tuple[CudnnCopy, ...]
    framework: Framework
    environment: Environment
    family: str
    asker: Library
    soname: str


def look(
    host: Host,
    search: LoaderFacts,
    environments: Fact[tuple[Environment, ...]],
    copies: Fact[tuple[CudnnCopy, ...]],
) -> Fact[tuple[Prediction, ...]]:
    """A prediction for every framework that loads cuDNN."""
    if host.os_family != "linux":
        return Unseen(f"what is loaded on {host.os_family} is not predicted yet")
    if isinstance(environments, Unseen):
        return environments
    found = [
        prediction
        for environment in environments.value
        for framework in value_or(environment.frameworks, ())
        if not framework.is_cpu_build
        for prediction in _of_framework(host, search, environment, framework, value_or(copies, ()))
    ]
    return Seen(tuple(found), "the rules of ld.so(8), and the libraries' own search paths")


def _of_framework(
    host: Host, search: LoaderFacts, environment: Environment, framework: Framework, copies: tuple[CudnnCopy, ...]
) -> Iterator[Prediction]:
    family = _family(framework.package)
    if family == "paddlepaddle":
        why = "PaddlePaddle looks in directories of its own before the loader does; they are not read yet"
        yield Prediction(environment.prefix, framework.package, "libcudnn.so", Unseen(why), "", Unseen(why))
        return
    asked = _asked(host, framework, family, copies)
    if asked is None:
        return
    program = read_program(host, environment.interpreter) if environment.interpreter else None
    case = _Case(host, Search(host, search, program), copies, framework, environment, family, *asked)
    found = _preloaded(case) or case.search.find(case.soname, case.asker, (), case.asker.machine)
    main = _prediction(case, case.soname, found, _intended(case))
    yield main
    if isinstance(found, Seen):
        yield from _first_part(case, found.value.path, main.intended)


def _family(package: str) -> str:
    """The framework that a distribution is: JAX's GPU code comes in two, of which one speaks for both."""
    if package.startswith("jax"):
        return "jax" if package.endswith("-plugin") else ""
    return "tensorflow" if package.startswith("tf-nightly") else package.partition("-")[0]


def _asked(host: Host, framework: Framework, family: str, copies: tuple[CudnnCopy, ...]) -> tuple[Library, str] | None:
    """The library that asks for cuDNN, and the name it asks for; None for a framework that asks for none."""
    site = framework.path.rpartition("/")[0]
    for pattern in _ASKERS.get(family, ()):
        asker = read_library(host, _path(host, f"{site}/{pattern}"))
        if asker is None:
            continue
        named = [name for name in asker.needed if name.startswith("libcudnn.so")]
        if family in _OPEN_BY_NAME:
            named = [f"libcudnn.so.{major}" for major in _major(framework) or _majors_of(copies, framework)]
        if named:
            return asker, named[0]
    return None


def _major(framework: Framework) -> tuple[int, ...]:
    """The cuDNN major that a framework opens by name, from what it says of its build, else from its pin."""
    if isinstance(framework.cudnn, Seen):
        return (framework.cudnn.value.major,)
    for requirement in value_or(framework.requires, ()):
        if requirement.startswith("nvidia-cudnn"):
            for clause in requirement.partition(";")[0].replace("(", ",").replace(")", "").split(","):
                _, lower_bound, version = clause.partition("=")  # ==9.8, >=9.8, ~=9.8
                digits = version.lstrip("= ").partition(".")[0]
                if lower_bound and "<" not in clause and "!" not in clause and digits.isdigit():
                    return (int(digits[:3]),)
    return ()


def _majors_of(copies: tuple[CudnnCopy, ...], framework: Framework) -> tuple[int, ...]:
    """Where a framework's files do not name the major (JAX asks for cuDNN in an extra): those that are there.

    The copies of its own environment come first, then newer before older.
    """
    known = [(one.environment == framework.environment, one.version.value.major)
             for one in copies if isinstance(one.version, Seen)]  # fmt: skip
    return tuple(major for _, major in sorted(known, reverse=True))


def _path(host: Host, pattern: str) -> str:
    """The file that a pattern with "*" at its end names, or the path itself."""
    if not pattern.endswith("*"):
        return pattern
    folder, _, start = pattern[:-1].rpartition("/")
    try:
        names = [name for name in host.names(folder) if name.startswith(start) and name.endswith(".so")]
    except HostError:
        return pattern
    return f"{folder}/{names[0]}" if names else pattern


def _preloaded(case: _Case) -> Fact[Found] | None:
    """What is in the process before the framework asks: LD_PRELOAD; JAX's own loading of the wheel."""
    for path in value_or(case.search.facts.preload, ()):
        if path.rpartition("/")[2].startswith("libcudnn.so"):
            return Seen(Found(path, "LD_PRELOAD names it"), "LD_PRELOAD")
    if case.family == "jax" and _jax_preloads(case.host, case.asker):
        for site in value_or(case.environment.sites, ()):
            path = f"{site}/nvidia/cudnn/lib/{case.soname}"
            if case.host.is_file(path):
                return Seen(Found(path, "the JAX plugin opens the wheel's library by its path"), "jax_plugins")
    return None


def _jax_preloads(host: Host, asker: Library) -> bool:
    try:
        return _JAX_PRELOADS in host.read_text(f"{asker.path.rpartition('/')[0]}/__init__.py", _INIT_AT_MOST_BYTES)
    except HostError:
        return False


def _first_part(case: _Case, main: str, intended: Fact[str]) -> Iterator[Prediction]:
    """The first library that the main one opens; nothing before cuDNN 8, whose one library holds all."""
    major = case.soname.rpartition(".")[2]
    part = _FIRST_PART.get(int(major)) if major.isdigit() else None
    asker = read_library(case.host, main)
    if part is None or asker is None:
        return
    soname = f"libcudnn_{part}.so.{major}"
    names = (*_in_full(case, main, soname), soname)
    found: Fact[Found] = Nowhere(f"{main} asks for no part")
    for name in names:
        found = case.search.find(name, asker, (case.asker,), asker.machine)
        if not isinstance(found, Nowhere):
            break
    if isinstance(intended, Seen):
        intended = _real(case.host, f"{intended.value.rpartition('/')[0]}/{soname}")
    yield _prediction(case, soname, found, intended)


def _in_full(case: _Case, path: str, soname: str) -> tuple[str, ...]:
    """The longer names that a shell asks for first: libcudnn_graph.so.9.10.2, libcudnn_graph.so.9.10."""
    real = value_or(_real(case.host, path), path)
    for copy in case.copies:
        version = value_or(copy.version, None)
        if not version or version.major < _FIRST_PARTS_ASKED_IN_FULL:
            continue
        if any(part.path == real for part in value_or(copy.parts, ())):
            stem = soname.rpartition(".")[0]
            return tuple(f"{stem}.{'.'.join(map(str, version[:length]))}" for length in (3, 2))
    return ()


def _prediction(case: _Case, soname: str, found: Fact[Found], intended: Fact[str]) -> Prediction:
    host = case.host
    path = _real(host, found.value.path) if isinstance(found, Seen) else found
    because = found.value.because if isinstance(found, Seen) else ""
    missing = isinstance(found, Nowhere) and (host.is_live or not _is_anywhere(case, soname))
    return Prediction(case.environment.prefix, case.framework.package, soname, path, because, intended, missing)


def _is_anywhere(case: _Case, soname: str) -> bool:
    """Whether some copy has it: an image may be run with variables that are not known here."""
    return any(part.name == soname for copy in case.copies for part in value_or(copy.parts, ()))


def _real(host: Host, path: str) -> Fact[str]:
    try:
        return Seen(host.real_path(path), path)
    except HostError as error:
        return Unseen(str(error))


def _intended(case: _Case) -> Fact[str]:
    """The file that the framework brings along or pins."""
    host = case.host
    bundled = f"{case.framework.path}/lib/{case.soname}"
    if host.is_file(bundled):
        return _real(host, bundled)
    if case.family == "onnxruntime":
        return Unseen("ONNX Runtime takes the loader's cuDNN, unless the program calls onnxruntime.preload_dlls()")
    pins = [one for one in value_or(case.framework.requires, ()) if one.startswith("nvidia-cudnn")]
    if pins:
        return _of_wheel(case, pins[0])
    conda = f"{case.environment.prefix}/lib/{case.soname}"
    if case.environment.kind == "conda" and host.is_file(conda):
        return _real(host, conda)
    return Unseen(f"{case.framework.label} neither brings a cuDNN along nor requires one")


def _of_wheel(case: _Case, pin: str) -> Fact[str]:
    for site in value_or(case.environment.sites, ()):
        path = f"{site}/nvidia/cudnn/lib/{case.soname}"
        if case.host.is_file(path):
            return _real(case.host, path)
    return Unseen(f"{case.framework.label} requires {pin}, whose {case.soname} is not there")
