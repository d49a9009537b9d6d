"""PyTorch: torch/version.py, the pins of its wheel, and the libraries beside it.

torch/__init__.py opens libtorch_global_deps.so, repairs a failure from the wheels, then imports torch._C. Source:
torch/__init__.py of 1.13.1, 2.1.0, 2.6.0, 2.9.1 and 2.10.0 (_load_global_deps, _preload_cuda_deps, _preload_cuda_lib).
From 2.10 on it opens every wheel's library by its own file, also where libtorch_global_deps.so could be opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from compat.version import CudaVersion, CudnnVersion, VersionError
from doctor.host import Host, HostError
from doctor.host.optional_reads import names_of, text_of
from doctor.loader.cards import Card, Dlls, Loading, cuda_tag, describe
from doctor.loader.steps import Package, Step
from doctor.model.facts.environment import Distribution, Environment, Framework
from doctor.model.facts.seen import Fact, Place, Seen, Unseen, UnseenError, value_or
from doctor.pyenv.metadata import constants, constants_or_why, metadata_file, pinned, requires
from doctor.pyenv.prefixes import base_of
from doctor.pyenv.sites import user_base_on_windows


def read(host: Host, one: Distribution, environment: str) -> Framework:
    """torch/version.py says version, CUDA and ROCm; cuDNN is the wheel's pin, else the copy in torch/lib."""
    path = f"{one.site}/torch/version.py"
    said, why = constants_or_why(host, path, f"{path} does not say what torch was built for")
    version = said.get("__version__", one.version)
    build, cuda = _build(said, path) if "cuda" in said else _from_version(version, one.metadata, why)
    needs = requires(host, one)
    libraries = names_of(host, f"{one.site}/torch/lib")
    cudnn = None if getattr(build, "value", "") == "cpu" else _cudnn(host, one, needs, libraries, environment)
    note = _note(one, version, build, libraries)
    return describe(
        one, environment, "torch", build=build, requires=needs, version=version, cuda=cuda, cudnn=cudnn, note=note
    )


def _build(said: dict[str, str], path: str) -> tuple[Fact[str], Fact[CudaVersion] | None]:
    """The build by the constants `cuda`, `hip` and `xpu`, None in all three for a CPU build."""
    if said["cuda"] != "None":
        try:
            cuda = CudaVersion.parse(said["cuda"])
        except VersionError as error:
            return Unseen(f"{path}: {error}"), Unseen(f"{path}: {error}")
        return Seen(cuda_tag(cuda), Place(path)), Seen(cuda, Place(path))
    hip, xpu = (said.get(name, "None") for name in ("hip", "xpu"))
    if hip != "None":
        return Seen("rocm" + ".".join(hip.split(".")[:2]), Place(path)), Unseen(f"{path}: a ROCm build")
    if xpu != "None":
        return Seen("xpu", Place(path)), Unseen(f"{path}: a build for Intel GPUs")
    return Seen("cpu", Place(path)), None


def _from_version(version: str, metadata: str, why: str) -> tuple[Fact[str], Fact[CudaVersion] | None]:
    """The build by the local part of the version, 2.9.1+cu128."""
    local = version.partition("+")[2]
    if local == "cpu" or local.startswith("rocm"):
        return Seen(local, Place(metadata)), None if local == "cpu" else Unseen("a ROCm build")
    try:
        return Seen(local, Place(metadata)), Seen(CudaVersion.from_tag(local), Place(metadata))
    except VersionError:
        return Unseen(why), Unseen(why)


def _cudnn(
    host: Host, one: Distribution, needs: Fact[tuple[str, ...]], libraries: tuple[str, ...], environment: str
) -> Fact[CudnnVersion]:
    """The release torch was compiled against, as far as text files and names tell."""
    pin = pinned(needs, "nvidia-cudnn-cu")
    if pin:
        return _parsed(pin[1], f"{metadata_file(one)}: {pin[0]}=={pin[1]}")
    by_conda = _from_conda(host, environment)
    if by_conda:
        return by_conda
    for name in libraries:
        found = re.fullmatch(r"libcudnn\.so\.(\d[\d.]*)|libcudnn-[0-9a-f]+\.so\.(\d[\d.]*)|cudnn64_(\d+)\.dll", name)
        if found:
            return _parsed(next(filter(None, found.groups())), Place(f"{one.site}/torch/lib/{name}"))
    return Unseen(f"torch {one.version} pins no cuDNN wheel and carries no copy in torch/lib")


def _from_conda(host: Host, environment: str) -> Fact[CudnnVersion] | None:
    """Conda's record names the build: pytorch-2.1.0-py3.11_cuda12.1_cudnn8.9.2_0.json."""
    for name in names_of(host, f"{environment}/conda-meta"):
        found = re.match(r"pytorch-\d.*cudnn(\d+(?:\.\d+)*)_\d+\.json$", name)
        if found:
            return _parsed(found[1], Place(f"{environment}/conda-meta/{name}"))
    return None


def _parsed(text: str, where: str | Place) -> Fact[CudnnVersion]:
    try:
        return Seen(CudnnVersion.parse(text), where)
    except VersionError as error:
        return Unseen(f"{where}: {error}")


def _note(one: Distribution, version: str, build: Fact[str], libraries: tuple[str, ...]) -> str:
    """What does not fit together in the package."""
    if version.partition("+")[0] != one.version.partition("+")[0]:
        return f"the metadata says {one.version}, torch/version.py {version}: two releases lie over each other"
    wants_cuda = getattr(build, "value", "").startswith("cu") and libraries
    has_cuda = any("torch_cuda" in name or "caffe2_gpu" in name for name in libraries)
    # torch 1.2 to 1.4 kept everything in libtorch.so
    if wants_cuda and not has_cuda and not re.match(r"1\.[0-4]\.", version):
        return "torch/version.py names CUDA, and torch/lib has no CUDA library: the installation is damaged"
    return ""


# What its process opens

_GLOBAL_DEPS = "torch/lib/libtorch_global_deps.so"
_INIT = "torch/__init__.py"
_NEAR_CHARACTERS = 5000  # around the handler: the list of libraries behind it, what is opened in any case before
_PRELOADED = re.compile(r"""["'](\w+)["']: ["'](lib[\w-]+\.so\.\*\[0-9\])["']""")
_AFTERWARDS = re.compile(r"""^ +_preload_cuda_deps\(["'](\w+)["'], ["'](lib[\w-]+\.so\.\*\[0-9\])["']""", re.MULTILINE)
_LISTED = re.compile(r"""\(["'](\w+)["'], ["'](lib[\w-]+\.so\.\*\[0-9\])["'](, required=False)?\)""")
_OF_1_13 = "os.path.join(nvidia_path, 'cublas', 'lib', 'libcublas.so.11')"  # it names two files, and no pattern
_ONLY_BESIDE = re.compile(r"""if ["']([\w/.]+)["'] not in _maps""")


def steps(package: Package) -> Iterator[Step]:
    """The import, and what ATen opens later: linear algebra and NVRTC are in libraries of their own."""
    text = package.text(_INIT)
    major = package.framework.cuda
    cuda = str(major.value.major) if hasattr(major, "value") else ""
    before, _, handler = text.partition("except OSError as err")
    before, handler = before[-_NEAR_CHARACTERS:], handler[:_NEAR_CHARACTERS]
    listed = _listed(package, text, cuda)
    is_known = listed or _PRELOADED.search(handler) or _AFTERWARDS.search(before) or _OF_1_13 in text
    if "def _preload_cuda_deps(" in text and not is_known:
        raise UnseenError(f"what {package.path}/__init__.py opens is written in a way that is not known")
    why = "torch/__init__.py opens the wheels' libraries where libtorch_global_deps.so could not be opened"
    yield from (Step(paths, why, on_failure=True) for paths in listed)
    for folder, name in _PRELOADED.findall(handler):
        why = "torch/__init__.py opens the wheels' libraries where libtorch_global_deps.so could not be opened"
        yield Step(_wheel(package, folder, name, cuda), why, on_failure=True)
    yield Step(package.files(_GLOBAL_DEPS), "torch/__init__.py opens it first", repaired=True, needed=True)
    beside = _ONLY_BESIDE.search(before)
    if beside:
        why = "torch/__init__.py opens the wheel's library by its path"
        yield from (Step(paths, why, if_mapped=beside[1], unless_repaired=True) for paths in listed)
    for folder, name in _AFTERWARDS.findall(before):
        if beside:
            why = "torch/__init__.py opens the wheel's library by its path"
            yield Step(_wheel(package, folder, name, cuda), why, if_mapped=beside[1], unless_repaired=True)
    yield Step(package.files("torch/_C.*.so") or package.files("torch/_C.so"), "import torch._C", needed=True)
    yield Step(("libcaffe2_nvrtc.so",), "ATen opens it to compile kernels", "libtorch_cpu.so", use=True)
    yield Step(("libtorch_cuda_linalg.so",), "ATen opens it for linear algebra", "libtorch_cuda.so", use=True)


def _listed(package: Package, text: str, cuda: str) -> list[tuple[str, ...]]:
    """Where the libraries of torch 2.10 and later are, in order; the first that is required and not there ends it."""
    inside = text.partition("def _preload_cuda_deps(")[2].partition("def _load_global_deps(")[0]
    found = []
    for folder, name, optional in _LISTED.findall(inside):
        paths = _wheel(package, folder, name, cuda)
        if not paths and not optional:
            break
        found += [paths] if paths else []
    return found


def _wheel(package: Package, folder: str, name: str, cuda: str) -> tuple[str, ...]:
    """Where _get_cuda_dep_paths looks: directory by directory of sys.path."""
    return package.anywhere(
        f"nvidia/{folder}/lib/{name}",
        *((f"nvidia/cu{cuda}/lib/{name}",) if cuda and int(cuda) >= 13 else ()),
        f"{folder}/lib/{name}",
    )


def extension_loading(*modules: str) -> Loading:
    """What the process of an extension opens: torch's, then its own modules, below its site directory."""

    def both(package: Package) -> Iterator[Step]:
        base = package.beside("torch")
        yield from steps(base) if base else ()
        for module in modules:
            for path in package.files(module):
                yield Step((path,), f"import {package.framework.package}")

    return Loading(both)


def follower(module: str) -> Callable[[Host, Distribution, str], Framework]:
    """The reader of a package that is compiled against one torch: its version.py names the build, 0.24.1+cu128.

    Its metadata comes first where that names one: torchaudio 2.11.0+cu132 is a build for 13.0 that runs with 13.2.
    """

    def reader(host: Host, one: Distribution, environment: str) -> Framework:
        try:
            version = constants(host, f"{one.site}/{module}/version.py").get("__version__", "")
        except HostError:
            version = ""
        same = one.version == version.partition("+")[0]
        return describe(
            one,
            environment,
            module,
            build=Seen("", "it works with the CUDA of torch"),
            requires=requires(host, one),
            version=version if same else "",
        )

    return reader


_TOOLKITS = "NVIDIA GPU Computing Toolkit/CUDA"


def added(host: Host, environment: Environment, framework: Framework) -> tuple[str, ...]:
    """What _load_dll_libraries adds to the search for DLLs, the last one first, as Wine's loader takes them.

    Microsoft leaves that order open. Each release is taken at its word: 2.0.1 adds Library/bin of the environment and
    its base, and the toolkit's bin where none of these has a CUDA runtime; 2.5.1 the user's Library/bin; 2.9.1 bin.
    """
    text, prefix = text_of(host, f"{framework.path}/__init__.py"), environment.prefix
    base, user = base_of(host, prefix), user_base_on_windows(host)
    folders = [f"{framework.path}/lib", f"{prefix}/Library/bin"]
    folders += [f"{base}/Library/bin"] if base != prefix else []
    folders += [f"{user}/Library/bin"] if user and "usebase_path" in text else []
    folders += [f"{prefix}/bin"] if "py_root_bin_path" in text else []
    has_runtime = any(name.lower().startswith("cudart64") for one in folders for name in names_of(host, one))
    cuda = value_or(framework.cuda, None)
    if cuda and not has_runtime and "cuda_path_var" in text:
        programs = host.environ.get("PROGRAMFILES", "C:/Program Files")
        home = host.environ.get(f"CUDA_PATH_V{cuda.major}_{cuda.minor}", f"{programs}/{_TOOLKITS}/v{cuda}")
        folders.append(home.replace("\\", "/").rstrip("/") + "/bin")
    return tuple(reversed(folders))


CARD = Card(
    ("torch",),
    read,
    loading=Loading(steps),
    kernels=("lib/libtorch_cuda.so", "lib/libtorch_cuda_cu.so", "lib/libtorch_cuda_cpp.so"),
    list_in="lib/libtorch_python.so",  # what torch.cuda.get_arch_list() gives
    cudnn_in=("lib",),  # up to 1.12, and wheels of its own index
    dlls=Dlls(("lib/c10.dll", "lib/torch_cpu.dll", "lib/torch_cuda.dll"), opens_all='"*.dll"', adds=added),
    extended_by=("libtorch", "libc10"),
    proof="import torch; assert torch.cuda.is_available(); print(torch.ones(2).cuda().sum().item())",
)
