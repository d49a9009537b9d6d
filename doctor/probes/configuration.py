"""The environment variables that decide what is loaded or seen, and the settings of Theano and Keras."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compat.base.record import NamedTuple
from doctor.host import Host
from doctor.host.optional_reads import names_of, text_of
from doctor.model.facts.environment import ConfigurationFacts, NamedFile, NearName, Setting, Variable
from doctor.model.facts.seen import Place, Seen
from doctor.pyenv.prefixes import is_environment

# Each is named, and none by its beginning: TF_VAR_... is Terraform's, NVIDIA_API_KEY and TORCH_HUB_TOKEN are keys.
# Sources: the environment variables that CUDA, NCCL, the container toolkit and each framework document, and those that
# their sources ask for (torch: c10/core/impl, torch/csrc; TensorFlow: tsl/util/env_var.h; CuPy: cupy/_environment.py).
_NAMES = frozenset(
    (
        *("CUDACXX", "CUDNN_ROOT", "LD_AUDIT", "NCCL_CONF_FILE", "NCCL_PROFILER_PLUGIN", "NUMBA_CUDA_DRIVER"),
        *("NUMBA_DISABLE_CUDA", "NUMBA_ENABLE_CUDASIM", "TRITON_INTERPRET"),
        *("TRITON_CUOBJDUMP_PATH", "TRITON_NVDISASM_PATH", "TRITON_PTXAS_BLACKWELL_PATH", "TRITON_PTXAS_PATH"),
        *("CC", "CUDAHOSTCXX", "CXX", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "NVCC_PREPEND_FLAGS"),
        *("CUDA_DEVICE_ORDER", "CUDA_HOME", "CUDA_LAUNCH_BLOCKING", "CUDA_MODULE_LOADING", "CUDA_PATH", "CUDA_ROOT"),
        *("CUDA_VISIBLE_DEVICES", "CUDNN_HOME", "CUDNN_PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "PATH"),
        *("JAX_PLATFORMS", "JAX_PLATFORM_NAME", "XLA_FLAGS", "KERAS_BACKEND", "KERAS_HOME"),
        *("NVIDIA_DISABLE_REQUIRE", "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_TF32_OVERRIDE", "NVIDIA_VISIBLE_DEVICES"),
        *("PYTHONHOME", "PYTHONPATH", "PYTHONNOUSERSITE", "THEANORC", "THEANO_FLAGS"),
        *("NVIDIA_MIG_CONFIG_DEVICES", "NVIDIA_MIG_MONITOR_DEVICES", "NVIDIA_REQUIRE_CUDA", "NVIDIA_REQUIRE_JETPACK"),
        *("BNB_CUDA_VERSION", "CUDA_CACHE_DISABLE", "CUDA_CACHE_PATH", "CUDA_FORCE_PTX_JIT", "CUDA_DISABLE_PTX_JIT"),
        *("CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY", "CUDNN_LOGLEVEL_DBG", "CUDNN_LOGDEST_DBG"),
        *("CUPY_ACCELERATORS", "CUPY_CACHE_DIR", "CUPY_CUDA_COMPILE_WITH_DEBUG", "CUPY_CUDA_LIB_PATH", "CUPY_TF32"),
        *("NCCL_CUMEM_ENABLE", "NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_HOME", "NCCL_IB_DISABLE", "NCCL_IB_HCA"),
        *("NCCL_NET", "NCCL_NET_GDR_LEVEL", "NCCL_NET_PLUGIN", "NCCL_NVLS_ENABLE", "NCCL_P2P_DISABLE"),
        *("NCCL_P2P_LEVEL", "NCCL_SHM_DISABLE", "NCCL_SOCKET_IFNAME", "NCCL_TOPO_FILE", "NCCL_TUNER_PLUGIN"),
        *("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING"),
        *("PYTORCH_NVML_BASED_CUDA_CHECK", "PYTORCH_NVCC", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "TORCH_CUDA_ARCH_LIST"),
        *("TORCH_BLAS_PREFER_CUBLASLT", "TORCH_CUDNN_V8_API_DEBUG", "TORCH_CUDNN_V8_API_DISABLED"),
        *("TORCH_CUDNN_V8_API_LRU_CACHE_LIMIT", "TORCH_EXTENSIONS_DIR", "TORCH_USE_CUDA_DSA"),
        *("TF_CPP_MIN_LOG_LEVEL", "TF_CPP_VMODULE", "TF_CUDNN_DETERMINISTIC", "TF_CUDNN_USE_AUTOTUNE"),
        *("TF_CUDNN_USE_FRONTEND", "TF_CUDNN_WORKSPACE_LIMIT_IN_MB", "TF_DETERMINISTIC_OPS", "TF_ENABLE_ONEDNN_OPTS"),
        *("TF_ENABLE_CUBLAS_TENSOR_OP_MATH_FP32", "TF_ENABLE_CUDNN_TENSOR_OP_MATH_FP32"),
        *("TF_FORCE_GPU_ALLOW_GROWTH", "TF_FORCE_UNIFIED_MEMORY", "TF_GPU_ALLOCATOR", "TF_GPU_THREAD_MODE"),
        *("TF_USE_CUDNN_BATCHNORM_SPATIAL_PERSISTENT", "TF_USE_LEGACY_KERAS", "TF_XLA_FLAGS"),
        *("CUBLAS_WORKSPACE_CONFIG", "CUDA_CACHE_MAXSIZE", "CUDA_DEVICE_MAX_CONNECTIONS", "GLOO_SOCKET_IFNAME"),
        *("JAX_DEBUG_NANS", "JAX_DEFAULT_MATMUL_PRECISION", "JAX_DISABLE_JIT", "JAX_ENABLE_COMPILATION_CACHE"),
        *("JAX_ENABLE_X64", "JAX_LOG_COMPILES", "NCCL_BUFFSIZE", "NCCL_CROSS_NIC", "NCCL_DMABUF_ENABLE"),
        *("NCCL_IB_GID_INDEX", "NCCL_IB_RETRY_CNT", "NCCL_IB_TIMEOUT", "NCCL_MAX_NCHANNELS", "NCCL_MIN_NCHANNELS"),
        *("NCCL_MNNVL_ENABLE", "NCCL_NTHREADS", "NCCL_OOB_NET_IFNAME", "NUMBA_CUDA_PER_THREAD_DEFAULT_STREAM"),
        *("NUMBA_CUDA_USE_NVIDIA_BINDING", "OLLAMA_GPU_OVERHEAD", "OLLAMA_KEEP_ALIVE", "OLLAMA_KV_CACHE_TYPE"),
        *("OLLAMA_MAX_LOADED_MODELS", "OLLAMA_MAX_QUEUE", "OLLAMA_NUM_PARALLEL", "PYTORCH_JIT"),
        *("TORCH_DISTRIBUTED_DEBUG", "TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_BLOCKING_WAIT"),
        *("TORCH_NCCL_DESYNC_DEBUG", "TORCH_NCCL_DUMP_ON_TIMEOUT", "TORCH_NCCL_ENABLE_MONITORING"),
        *("TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "TORCH_NCCL_NAN_CHECK", "TORCH_NCCL_TRACE_BUFFER_SIZE"),
        *("TORCH_SHOW_CPP_STACKTRACES", "TP_SOCKET_IFNAME", "XLA_CLIENT_MEM_FRACTION"),
        *("XLA_PYTHON_CLIENT_ALLOCATOR", "XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_PREALLOCATE"),
    )
)
_TRACED = (
    "BNB_CUDA_VERSION", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "JAX_PLATFORMS",
    "JAX_PLATFORM_NAME", "NUMBA_DISABLE_CUDA", "NUMBA_ENABLE_CUDASIM", "TRITON_INTERPRET",
)  # fmt: skip
# How variables begin that name a file or a directory (named_files has them whole).
_NAMING = (
    "CUDACXX", "CUDAHOSTCXX", "CUDNN_", "CUPY_CUDA_LIB_PATH", "GLOO_SOCKET_IFNAME", "LD_AUDIT", "LD_PRELOAD", "NCCL_",
    "NUMBA_CUDA_DRIVER", "NVCC_CCBIN", "PYTORCH_NVCC", "TP_SOCKET_IFNAME", "TRITON_",
)  # fmt: skip
# The last file that sets a variable wins, so the ones that a shell reads last are looked into first.
_HOME_SCRIPTS = (".zshrc", ".bashrc", ".bash_profile", ".profile", ".zshenv")
_SCRIPT_BYTES = 256 << 10
_SETTINGS_BYTES = 256 << 10
_SCRIPTS_AT_MOST = 64
_HOMES_AT_MOST = 16
_MODULES_AT_MOST = 64
# ConfigParser reads option names in any case; these have capitals in Theano's own spelling.
_SPELLINGS = {"floatx": "floatX"}
_THEANO_PATHS = frozenset(
    {"cuda.root", "cuda.include_path", "dnn.base_path", "dnn.include_path", "dnn.library_path", "dnn.bin_path"}
)


def look(host: Host) -> ConfigurationFacts:
    """Variables by name, and settings in the order in which later ones win."""
    named = _named(host)
    wrong = frozenset(one.variable for one in named if one.problem)
    variables = tuple(_variable(host, name, wrong) for name in sorted(host.environ) if decides(name) or name in wrong)
    settings = (*_theano(host), *_keras(host))
    return ConfigurationFacts(
        Seen(variables, "environment"),
        Seen(settings, "configuration files and environment"),
        Seen(named, "what variables name"),
        near=Seen(tuple(_near(host)), "environment") if host.is_live else None,
    )


# A name of one of these families that differs in one letter from a known one is mostly a mistake. Of real variables no
# two differ so little, but for those of a version: CUDA_PATH_V12_8.
_FAMILIES = (
    "CUBLAS_", "CUDA_", "CUDNN_", "CUPY_", "GLOO_", "JAX_", "LD_", "NCCL_", "NUMBA_", "NVIDIA_", "OLLAMA_", "PYTORCH_",
    "TF_", "TORCH_", "TRITON_", "XLA_",
)  # fmt: skip
_SHORTEST = 9  # letters of a name that is compared: CUDA_HOME


def _near(host: Host) -> Iterator[NearName]:
    for name in sorted(host.environ):
        if name.startswith(_FAMILIES) and name not in _NAMES and len(name) >= _SHORTEST and not name[-1].isdigit():
            meant = next((one for one in sorted(_NAMES) if _is_one_letter_off(name, one)), "")
            if meant:
                yield NearName(name, meant)


def _is_one_letter_off(one: str, other: str) -> bool:
    """Whether a letter was added, left out or changed, or two neighbours were exchanged."""
    if abs(len(one) - len(other)) > 1 or len(other) < _SHORTEST:
        return False
    at = next(
        (number for number, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    rest, rest_of_other = one[at:], other[at:]
    is_exchanged = rest[:2] == rest_of_other[:2][::-1] and rest[2:] == rest_of_other[2:]
    return rest[1:] in (rest_of_other, rest_of_other[1:]) or rest == rest_of_other[1:] or is_exchanged


def _named(host: Host) -> tuple[NamedFile, ...]:
    """The files that variables name; on Windows none are followed."""
    names = [name for name in sorted(host.environ) if name.startswith(_NAMING)] if host.os_family == "linux" else []
    gone = tuple(_gone_environments(host))
    if not names:
        return gone
    from doctor.probes import named_files  # late: few users have set one

    return (*gone, *(one for name in names for one in named_files.look(host, name, host.environ[name])))


def _gone_environments(host: Host) -> Iterator[NamedFile]:
    """What says that an environment is active which is not there: another Python is looked at in its place."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if host.is_live else ():
        path = host.environ.get(name, "").replace("\\", "/")
        if path and not is_environment(host, path) and not host.exists(f"{path}/bin/python"):
            yield NamedFile(name, path, "is no Python environment" if host.is_dir(path) else "is not there")


def decides(name: str) -> bool:
    """Whether a variable is one of those that decide what is loaded or seen."""
    return name in _NAMES


def _variable(host: Host, name: str, wrong: frozenset[str]) -> Variable:
    value = host.environ[name]
    is_traced = value and (name in _TRACED or name in wrong)
    place = _said_by_image(host, name) or (set_in(host, name, value) if is_traced else SetIn())
    return Variable(name, value, place.text, place.at)


# --- where a variable is set --------------------------------------------------------------------------------------


class SetIn(NamedTuple):
    """Where a variable is set."""

    text: str = ""  # "~/.bashrc, line 118", "module cudnn/8.9.7"; "" where that is not known
    at: Place | None = None  # the file and the line


def set_in(host: Host, name: str, value: str) -> SetIn:
    """Return the line that gave the variable this value; nothing where none is found."""
    parts = [part.rstrip("/") for part in value.split(":")]
    if said := _said_by_image(host, name):
        return said
    places = (place for place, line in _lines_with(host, name) if [*spellings(host, line, name, parts)])
    return next((SetIn(place.in_words, place) for place in places), SetIn())


def entries_in(host: Host, name: str, entries: Iterable[str]) -> dict[str, SetIn]:
    """For each entry of a list, without a slash at its end, the line that puts it there; none for an unknown one.

    ", by $CUDNN_HOME/lib" follows the place where the line does not spell the entry out.
    """
    parts = list(dict.fromkeys(entry.rstrip("/") for entry in entries))
    if said := _said_by_image(host, name):
        return dict.fromkeys(parts, said)
    found: dict[str, SetIn] = {}
    for place, line in _lines_with(host, name):
        for piece, part in spellings(host, line, name, parts):
            text = place.in_words if piece.rstrip("/") == part else f"{place.in_words}, by {piece}"
            found.setdefault(part, SetIn(text, place))
    return found


def _said_by_image(host: Host, name: str) -> SetIn | None:
    """The line of an image's history, or of a file in it, that sets a variable; None for anything but an image."""
    set_by = getattr(host, "set_by", None)
    place: str | Place = set_by(name) if set_by else ""
    if isinstance(place, Place):
        return SetIn(place.in_words, place)
    return SetIn(place) if place else None


def _lines_with(host: Host, name: str) -> Iterator[tuple[Place, str]]:
    """Lines of shell scripts with a variable's name in them, the one that is read last first: place, and text."""
    for path, shown in _scripts(host) if host.os_family != "windows" else ():
        text = text_of(host, path, _SCRIPT_BYTES)
        lines = text.splitlines() if name in text else []
        yield from ((Place(shown, number), lines[number - 1]) for number in range(len(lines), 0, -1))


def module_of(host: Host, directory: str) -> str:
    """ "module cudnn/8.9.7" for the loaded module of a cluster that names a directory; "" for none.

    Sources: Environment Modules, module(1), and Lmod's documentation: LOADEDMODULES, and _LMFILES_ with their files.
    """
    names = host.environ.get("LOADEDMODULES", "").split(":")[:_MODULES_AT_MOST]
    files = host.environ.get("_LMFILES_", "").split(":")
    for number, name in enumerate(names):
        text = text_of(host, files[number], _SCRIPT_BYTES) if number < len(files) and files[number] else ""
        ends = (f"{directory}{end}" for end in ('"', "'", " ", "\n", ":", "/\n"))
        if name and (
            name in directory or name.replace("/", "-") in directory or any(one in f"{text}\n" for one in ends)
        ):
            return f"module {name}"
    return ""


def _scripts(host: Host) -> Iterator[tuple[str, str]]:
    """Scripts that set variables, the ones that are read last first: their paths, and how a user knows them."""
    for prefix in dict.fromkeys(filter(None, map(host.environ.get, ("VIRTUAL_ENV", "CONDA_PREFIX")))):
        yield f"{prefix}/bin/activate", f"{prefix}/bin/activate"
        folder = f"{prefix}/etc/conda/activate.d"
        yield from ((f"{folder}/{name}", f"{folder}/{name}") for name in names_of(host, folder)[:_SCRIPTS_AT_MOST])
    home = host.environ.get("HOME", "").rstrip("/")
    if home:
        yield from ((f"{home}/{name}", f"~/{name}") for name in _HOME_SCRIPTS)
    system = ("/etc/bash.bashrc", "/etc/bashrc", "/etc/profile", "/etc/environment")
    yield from ((path, path) for path in system)
    folder = "/etc/profile.d"
    scripts = [f"{folder}/{name}" for name in names_of(host, folder) if name.endswith(".sh")]
    yield from ((path, path) for path in scripts[:_SCRIPTS_AT_MOST])


def spellings(host: Host, line: str, name: str, parts: list[str]) -> Iterator[tuple[str, str]]:
    """What a shell line assigns to the variable: each piece that stands for a part of its value, and that part."""
    line = line.strip().removeprefix("export ").lstrip()
    for form in (f"{name}=", f"setenv {name} ", f"set -gx {name} "):
        if line.startswith(form):
            assigned = line[len(form) :].partition(" #")[0].replace(":", " ").replace(";", " ")
            for piece in assigned.split():
                bare = piece.strip("\"'")
                yield from ((bare, part) for part in _explained(host, bare, name, parts))
            return


def _explained(host: Host, piece: str, name: str, parts: list[str]) -> Iterator[str]:
    """The parts of the variable's value that a piece of what is assigned ("/opt/lib", "$HOME/lib") stands for."""
    if not piece.startswith(("$", "~")):
        spelled = piece.partition("$")[0].rstrip("/")
        yield from (part for part in parts if part == spelled)
        return
    variable, _, below = piece.partition("/")
    variable = "HOME" if variable == "~" else variable.strip("${}")
    if variable == name:
        return
    base = host.environ.get(variable)
    if base is not None:
        yield from (part for part in parts if part == f"{base}/{below}".rstrip("/"))
    elif below:
        yield from (part for part in parts if part.endswith(f"/{below.rstrip('/')}"))


# --- Theano -------------------------------------------------------------------------------------------------------


def _homes(host: Host) -> tuple[str, ...]:
    """Home directories: this user's, on an offline root everybody's."""
    own = host.environ.get("HOME") or host.environ.get("USERPROFILE")
    if own:
        return (own.replace("\\", "/").rstrip("/"),)
    if host.is_live:
        return ()
    base, extra = ("C:/Users", ()) if host.os_family == "windows" else ("/home", ("/root",))
    return (*extra, *(f"{base}/{name}" for name in names_of(host, base)[:_HOMES_AT_MOST]))


def _theano(host: Host) -> Iterator[Setting]:
    """Theano's settings in rising precedence: its files from left to right, then THEANO_FLAGS.

    Source: theano/configparser.py, config_files_from_theanorc and fetch_val_for_key (0.8.2 to 1.0.5).
    """
    for path, shown in _theano_files(host):
        yield from _ini_settings(host, text_of(host, path, _SETTINGS_BYTES), shown)
    for option in host.environ.get("THEANO_FLAGS", "").split(","):
        name, equals, value = option.strip().partition("=")
        if name:
            problem = _path_problem(host, name, value) if equals else "has no value and is ignored"
            yield Setting(program="theano", source="THEANO_FLAGS", name=name, value=value.strip("\"'"), problem=problem)


def _theano_files(host: Host) -> Iterator[tuple[str, str]]:
    """THEANORC, a list like PATH; without it ~/.theanorc, on Windows also ~/.theanorc.txt."""
    homes = _homes(host)
    listed = host.environ.get("THEANORC", "")
    if listed:
        for part in listed.split(";" if host.os_family == "windows" else ":")[:_HOMES_AT_MOST]:
            path = part.replace("\\", "/")
            yield (f"{homes[0]}{path[1:]}" if path.startswith("~/") and homes else path), path
        return
    names = (".theanorc", ".theanorc.txt") if host.os_family == "windows" else (".theanorc",)
    for home in homes:
        for name in names:
            yield f"{home}/{name}", f"~/{name}" if len(homes) == 1 else f"{home}/{name}"


def _ini_settings(host: Host, text: str, source: str) -> Iterator[Setting]:
    """The options of one file, with the lines they stand on and what is wrong with how they are written."""
    section = ""
    known: set[str] = set()
    for number, line, continued in _ini_lines(text):
        at = Place(source, number)
        if line.startswith("[") and "]" in line:
            section = line[1 : line.index("]")]
            if f"[{section}]" in known:
                yield Setting(
                    program="theano",
                    source=at.in_words,
                    name=f"[{section}]",
                    value="",
                    problem="this section is there twice",
                    at=at,
                )
            known.add(f"[{section}]")
            continue
        name, value = _option(line)
        name = _SPELLINGS.get(name.lower(), name.lower())
        full = name if section == "global" and "." not in name else f"{section}.{name}"
        problem = _option_problem(line, section, full, known) or _path_problem(host, full, value)
        known.add(full)
        yield Setting(
            program="theano",
            source=at.in_words,
            name=full if section else name,
            value=" ".join([value, *continued]).strip(),
            problem=problem,
            at=at,
        )


def _ini_lines(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """Lines that say something, with their numbers and the indented lines that continue them."""
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        start, line = number, lines[number]
        number += 1
        if not line.strip() or line.lstrip().startswith(("#", ";")):
            continue
        continued = []
        while not line.startswith("[") and number < len(lines) and lines[number][:1] in {" ", "\t"}:
            if lines[number].strip():
                continued.append(lines[number].strip())
            number += 1
        yield start + 1, line.strip(), continued


def _option(line: str) -> tuple[str, str]:
    """Name and value: the first "=" or ":" divides them, " ;" begins a comment as in Python 2's ConfigParser."""
    divider = min((line.index(one) for one in "=:" if one in line), default=len(line))
    return line[:divider].strip(), line[divider + 1 :].partition(" ;")[0].strip()


def _option_problem(line: str, section: str, full: str, known: set[str]) -> str:
    if not section:
        return "is above the first [section]"
    if "=" not in line and ":" not in line:
        return "has no value"
    if full.startswith("global."):  # Theano asks for lib.cnmem as option cnmem of section lib
        return f"is ignored here: its place is under [{full.rpartition('.')[0].removeprefix('global.')}]"
    return "set twice in one section" if full in known else ""


def _path_problem(host: Host, name: str, value: str) -> str:
    """Whether a directory that Theano is pointed at is there; paths with variables are left alone."""
    path = value.replace("\\", "/").rstrip("/")
    if name not in _THEANO_PATHS or not (path.startswith("/") or path[1:2] == ":") or set(path) & {"%", "$", "\0"}:
        return ""
    return "" if host.is_dir(path) else "names a directory that does not exist"


# --- Keras --------------------------------------------------------------------------------------------------------


def _keras(host: Host) -> Iterator[Setting]:
    """keras.json in KERAS_HOME or ~/.keras, whose back end KERAS_BACKEND replaces."""
    own = host.environ.get("KERAS_HOME", "")
    for folder in (own,) if own else tuple(f"{home}/.keras" for home in _homes(host)):
        path = f"{folder}/keras.json"
        text = text_of(host, path, _SETTINGS_BYTES)
        if text:
            yield from _keras_file(path if own else f"~{path[path.rindex('/.keras') :]}", text)
    if host.environ.get("KERAS_BACKEND"):
        yield Setting(
            program="keras", source="KERAS_BACKEND", name="backend", value=host.environ["KERAS_BACKEND"], problem=""
        )


def _keras_file(source: str, text: str) -> Iterator[Setting]:
    from doctor.host.documents import parse_json  # late: few machines have this file

    try:
        content = parse_json(text)
    except ValueError as error:
        yield _of_keras(source, "", "", f"is not valid JSON: {error}")
        return
    if isinstance(content, dict):
        for name in sorted(content):
            yield _of_keras(source, name, str(content[name])[:200], "")


def _of_keras(source: str, name: str, value: str, problem: str) -> Setting:
    return Setting(program="keras", source=source, name=name, value=value, problem=problem, at=Place(source))
