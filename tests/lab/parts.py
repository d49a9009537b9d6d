"""What machines of the lab are made of: each part lays its files in a tree, and later parts may change earlier ones.

A part is a function of the tree's directory. Paths are those that the machine itself would show.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
from collections.abc import Callable, Mapping
from pathlib import Path

from compat.matrix import Matrix, accepts
from compat.version import CudaVersion
from tests.lab import cudnn_tree, stub
from tests.lab.elf_file import elf_bytes

Part = Callable[[Path], object]
Tree = dict[str, str | bytes]

PYTHON = "python3.12"  # the patient's, whatever ours is: every framework of the lab has wheels for it


def digits_of(python: str) -> str:
    """How extension modules and wheels are named for a Python, "312"."""
    return python.removeprefix("python").replace(".", "")


DIGITS = digits_of(PYTHON)
HOME = "/home/user"
VENV = f"{HOME}/project/.venv"
LIB = "/usr/lib/x86_64-linux-gnu"
KERNEL = "6.8.0-87-generic"
ELF_STUB = elf_bytes()
UBUNTU_24 = 'PRETTY_NAME="Ubuntu 24.04.3 LTS"\nNAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\n'
DEBIAN_12 = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nID=debian\nVERSION_ID="12"\n'
ROCKY_9 = 'PRETTY_NAME="Rocky Linux 9.4 (Blue Onyx)"\nNAME="Rocky Linux"\nID="rocky"\nVERSION_ID="9.4"\n'
UBUNTU_14 = 'PRETTY_NAME="Ubuntu 14.04.5 LTS"\nNAME="Ubuntu"\nID=ubuntu\nVERSION_ID="14.04"\n'
UBUNTU_20 = 'PRETTY_NAME="Ubuntu 20.04.6 LTS"\nNAME="Ubuntu"\nID=ubuntu\nVERSION_ID="20.04"\n'
UBUNTU_18 = 'PRETTY_NAME="Ubuntu 18.04.6 LTS"\nNAME="Ubuntu"\nID=ubuntu\nVERSION_ID="18.04"\n'


def site_of(prefix: str = VENV, python: str = PYTHON) -> str:
    """Where an environment keeps its packages."""
    return f"{prefix}/lib/{python}/site-packages"


# Plain files


def files(tree: Mapping[str, str | bytes]) -> Part:
    """Files by path; "-> target" is a link, a path with "/" at its end a directory, "#!..." a program.

    What is there already is replaced.
    """

    def lay(root: Path) -> None:
        for name, content in tree.items():
            path = f"{root}/{name.lstrip('/')}"
            os.makedirs(path, exist_ok=True) if name.endswith("/") else _write(path, content)

    return lay


def _write(path: str, content: str | bytes) -> None:
    make = _made_by(content)
    try:
        make(path)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        make(path)
    except FileExistsError:
        os.unlink(path)
        make(path)


def _made_by(content: str | bytes) -> Callable[[str], None]:
    """Make what is not there yet: most files are the first of their name, and thousands of machines are laid."""
    if isinstance(content, str) and content.startswith("-> "):
        return lambda path: os.symlink(content[3:], path)
    text = content if isinstance(content, bytes) else content.encode()
    mode = 0o777 if text[:2] == b"#!" or text == ELF_STUB else 0o666  # less the umask

    def make(path: str) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with open(descriptor, "wb", buffering=0) as stream:
            stream.write(text)

    return make


def without(*paths: str) -> Part:
    """Take files, links and directories away; a "*" at the end stands for any rest of a name."""

    def lay(root: Path) -> None:
        for name in paths:
            for path in list(root.glob(name.lstrip("/"))):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    return lay


def together(*parts: Part) -> Part:
    """Several parts as one."""

    def lay(root: Path) -> None:
        for part in parts:
            part(root)

    return lay


def mode(bits: int, *paths: str) -> Part:
    """Other permission bits."""

    def lay(root: Path) -> None:
        for name in paths:
            (root / name.lstrip("/")).chmod(bits)

    return lay


def at(path: str, lay: Callable[..., object], *arguments: object, **how: object) -> Part:
    """One of `cudnn_tree`'s builders, at a path."""
    return lambda root: lay(root / path.lstrip("/"), *arguments, **how)


# The operating system


def linux(release: str = UBUNTU_24, kernel: str = KERNEL) -> Part:
    """Distribution, user, C library and a running kernel, merged /usr."""
    return together(
        files(
            {
                "/etc/os-release": release,
                "/etc/passwd": "root:x:0:0:root:/root:/bin/bash\nuser:x:1000:1000::/home/user:/bin/bash\n",
                "/etc/group": "root:x:0:\nsudo:x:27:user\nvideo:x:44:user\nuser:x:1000:\n",
                "/bin": "-> usr/bin",
                "/lib": "-> usr/lib",
                "/lib64": "-> usr/lib64",
                "/sbin": "-> usr/sbin",
                "/usr/sbin/": "",
                "/usr/bin/sh": ELF_STUB,
                "/usr/lib64/ld-linux-x86-64.so.2": ELF_STUB,
                f"{LIB}/libc.so.6": elf_bytes("libc.so.6", rodata=b"\0GNU C Library (GNU libc) stable version 2.39.\0"),
                "/proc/sys/kernel/osrelease": f"{kernel}\n",
                "/proc/modules": "ext4 1 0 - Live 0x0\n",
                "/proc/1/cgroup": "0::/init.scope\n",
                "/proc/self/status": "Name:\tpython3\nUid:\t1000\t1000\t1000\t1000\n"
                "Gid:\t1000\t1000\t1000\t1000\nGroups:\t27 44 1000 \n",
                "/proc/self/mounts": "/dev/sda1 / ext4 rw 0 0\n",
                f"/usr/lib/modules/{kernel}/modules.dep": "",
                "/sys/module/ext4/": "",
                "/sys/bus/pci/devices/": "",
                "/dev/kmsg": "",
                "/dev/shm/": "",
                "/tmp/": "",
                f"{HOME}/": "",
            }
        ),
        mode(0o1777, "/tmp"),
    )


def offline_linux(release: str = UBUNTU_24, glibc: str = "2.39") -> Part:
    """A disk without a running kernel."""
    text = f"\0GNU C Library (GNU libc) stable release version {glibc}.\0".encode()
    return together(
        linux(release),
        without("/proc", "/sys", "/dev", "/usr/lib/modules"),
        files({f"{LIB}/libc.so.6": elf_bytes("libc.so.6", rodata=text)}),
    )


def kernel_says(*lines: str) -> Part:
    """Lines of the kernel's log."""
    return files({"/dev/kmsg": "".join(f"6,{number},{number},-;{line}\n" for number, line in enumerate(lines, 1))})


# Cards and their driver


def card(device: int = 0x2684, address: str = "0000:01:00.0", driver: str = "nvidia") -> Part:
    """A display controller of NVIDIA's on the bus, an RTX 4090 by default; `driver` "" is bound to none."""
    folder = f"/sys/bus/pci/devices/{address}"
    tree = {f"{folder}/vendor": "0x10de\n", f"{folder}/class": "0x030000\n", f"{folder}/device": f"{device:#06x}\n"}
    if driver:
        tree[f"{folder}/driver"] = f"-> ../../drivers/{driver}"
        tree[f"/sys/bus/pci/drivers/{driver}/"] = ""
    return together(without(f"{folder}/driver"), files(tree))


def driver_libraries(release: str, folder: str = LIB) -> Part:
    """The driver's libraries, NVML as the stub that answers by variables."""
    named = {f"{folder}/{stem}.so.{release}": elf_bytes(f"{stem}.so.1") for stem in _DRIVER_LIBRARIES}
    links = {f"{folder}/{stem}.so.1": f"-> {stem}.so.{release}" for stem in (*_DRIVER_LIBRARIES, "libnvidia-ml")}
    links[f"{folder}/libcuda.so"] = "-> libcuda.so.1"
    return together(files(named), lambda root: stub.nvml(root / folder.lstrip("/"), release), files(links))


_DRIVER_LIBRARIES = ("libcuda", "libnvidia-ptxjitcompiler")


def module_bytes(release: str, licence: str, *, signed: bool) -> bytes:
    """A kernel module as a linker would lay it: header, .modinfo, section names, section table."""
    information = f"license={licence}\0version={release}\0supported=external\0".encode()
    names = b"\0.modinfo\0.shstrtab\0"
    names_at = 64 + len(information)
    table = struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, names_at + len(names), 0, 64, 0, 0, 64, 3, 2)
    sections = bytes(64)
    for name, kind, offset, size in ((1, 1, 64, len(information)), (10, 3, names_at, len(names))):
        sections += struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, 0, 0, 1, 0)
    trailer = b"PKCS#7" + b"~Module signature appended~\n" if signed else b""
    return b"\x7fELF\x02\x01\x01" + bytes(9) + table + information + names + sections + trailer


def module_file(release: str, *, flavour: str = "open", kernel: str = KERNEL, signed: bool = True) -> Part:
    """The driver's module on disk, as DKMS puts it."""
    content = module_bytes(release, "Dual MIT/GPL" if flavour == "open" else "NVIDIA", signed=signed)
    return files({f"/usr/lib/modules/{kernel}/updates/dkms/nvidia.ko": content})


def loaded_module(release: str, *, flavour: str = "open") -> Part:
    """The driver's module in the running kernel, and the nodes that come with it."""
    kind = "Open Kernel Module for x86_64" if flavour == "open" else "x86_64 Kernel Module"
    nodes = ("/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm")
    return together(
        files(
            {
                "/sys/module/nvidia/version": f"{release}\n",
                "/proc/driver/nvidia/version": f"NVRM version: NVIDIA UNIX {kind}  {release}  Release Build  (x)\n",
                "/proc/modules": "nvidia_uvm 1 0 - Live 0x0\nnvidia_drm 1 0 - Live 0x0\n"
                "nvidia_modeset 1 1 nvidia_drm, Live 0x0\nnvidia 1 2 nvidia_uvm,nvidia_modeset, Live 0x0 (OE)\n",
                **dict.fromkeys(nodes, ""),
            }
        ),
        mode(0o666, *nodes),
    )


MODPROBE = together(files({"/usr/bin/nvidia-modprobe": ELF_STUB}), mode(0o4755, "/usr/bin/nvidia-modprobe"))
_SMI = f"#!/usr/bin/{PYTHON}\n" + Path(__file__).with_name("nvidia_smi.txt").read_text()
UNLOADED = together(
    without("/sys/module/nvidia", "/proc/driver", "/dev/nvidia*"), files({"/proc/modules": "ext4 1 0 - Live 0x0\n"})
)


def driver(release: str = "580.95.05", *, flavour: str = "open", kernel: str = KERNEL) -> Part:
    """An installed driver whose module is loaded; nvidia-smi prints a banner."""
    return together(
        without(f"{LIB}/libcuda.so*", f"{LIB}/libnvidia-*"),
        files({"/usr/bin/nvidia-smi": _SMI}),
        driver_libraries(release),
        module_file(release, flavour=flavour, kernel=kernel),
        loaded_module(release, flavour=flavour),
    )


def fabric_package(release: str) -> str:
    """dpkg's words for Ubuntu's package of the fabric manager."""
    name = f"nvidia-fabricmanager-{release.partition('.')[0]}"
    return f"Package: {name}\nStatus: install ok installed\nVersion: {release}-0ubuntu0.24.04.1\n"


# Toolkits and compilers


WHEELS = ":".join(
    f"$ORIGIN/../../nvidia/{one}/lib"
    for one in ["cuda_runtime", "cublas", "cufft", "curand", "cusolver", "cusparse", "nvjitlink", "cuda_nvrtc", "cudnn"]
)
LIBDEVICE = "nvvm/libdevice/libdevice.10.bc"


def sonames(cuda: str) -> tuple[str, ...]:
    """The names of CUDA's own libraries in one version."""
    parsed = CudaVersion.parse(cuda)
    found = [row.soname for row in Matrix().rows("libraries", "sonames") if accepts(row.cuda, parsed)]
    older = ("cublas", "cufft", "curand", "cusolver", "cusparse", "nvrtc")
    return tuple(found or (f"libcudart.so.{cuda}", *(f"lib{name}.so.{parsed.major}" for name in older)))


def ptxas(release: str) -> bytes:
    """A program with the words that ptxas says of its version."""
    said = f"Cuda compilation tools, release {'.'.join(release.split('.')[:2])}, V{release}"
    return elf_bytes(rodata=said.encode() + b"\0")


def cuda_wheels(cuda: str = "12.8", *, nvcc: bool = True, without: tuple[str, ...] = (), site: str = "") -> Part:
    """NVIDIA's wheels of one CUDA 12, each with a library or two; without the SONAMEs that are named."""
    parsed = CudaVersion.parse(cuda)
    wheels: dict[str, dict[str, str | bytes]] = {}
    for row in Matrix().rows("libraries", "sonames"):
        if accepts(row.cuda, parsed) and row.soname not in without:
            folder = row.wheel.removeprefix("nvidia-").rpartition("-cu")[0].replace("-", "_")
            path = f"nvidia/{folder}/lib/{row.soname}"
            wheels.setdefault(row.wheel, {})[path] = elf_bytes(row.soname)
    if nvcc:
        root = "nvidia/cuda_nvcc"
        wheels["nvidia-cuda-nvcc-cu12"] = {f"{root}/bin/ptxas": ptxas(f"{cuda}.93"), f"{root}/{LIBDEVICE}": b"BC"}
    return together(*(package(name, f"{cuda}.93", tree, site=site) for name, tree in wheels.items()))


def toolkit(release: str = "12.8.1", *, usual: bool = True, path: str = "") -> Part:
    """A toolkit as NVIDIA's installers lay it; `usual`: /usr/local/cuda leads to it. nvcc says its version."""
    major, minor = release.split(".")[:2]
    cuda = f"{major}.{minor}"
    root = path or f"/usr/local/cuda-{cuda}"
    number = 1000 * int(major) + 10 * int(minor)
    banner = f"nvcc: NVIDIA (R) Cuda compiler driver\\nCuda compilation tools, release {cuda}, V{release}"
    tree: Tree = {
        f"{root}/bin/nvcc": f"#!/bin/sh\nprintf '{banner}\\n'\n",
        f"{root}/include/cuda.h": f"#define CUDA_VERSION {number}\n",
        f"{root}/include/cuda_runtime.h": "",
        f"{root}/lib64/libcudart.so.{major}": elf_bytes(f"libcudart.so.{major}"),
        f"{root}/lib64/libcudart.so": f"-> libcudart.so.{major}",
        **{f"{root}/lib64/{name}": elf_bytes(name) for name in sonames(cuda)},
        **{f"{root}/lib64/{name.partition('.so')[0]}.so": f"-> {name}" for name in sonames(cuda)},
        f"{root}/bin/ptxas": ptxas(release),
        f"{root}/{LIBDEVICE}": b"BC",
    }
    if int(major) < 12:
        tree[f"{root}/lib64/libnvToolsExt.so.1"] = elf_bytes("libnvToolsExt.so.1")
    if int(major) >= 11:
        tree[f"{root}/version.json"] = f'{{"cuda": {{"name": "CUDA SDK", "version": "{release}"}}}}'
    else:
        tree[f"{root}/version.txt"] = f"CUDA Version {release}\n"
    if usual:
        tree["/usr/local/cuda"] = f"-> {root.rpartition('/')[2]}"
    return files(tree)


def gcc(version: str = "13.3.0") -> Part:
    """The distribution's compiler."""
    major = version.partition(".")[0]
    return files(
        {
            "/usr/bin/gcc": f"-> gcc-{major}",
            f"/usr/bin/gcc-{major}": f"#!/bin/sh\necho {version}\n",
            f"/usr/lib/gcc/x86_64-linux-gnu/{major}/libgcc.a": "",
        }
    )


# Python environments


def python_at(prefix: str = "/usr", python: str = PYTHON) -> Part:
    """An interpreter that is nobody's virtual environment."""
    return files(
        {
            f"{prefix}/bin/{python}": ELF_STUB,
            f"{prefix}/bin/python3" if "python3" in python else f"{prefix}/bin/python": f"-> {python}",
            f"{prefix}/lib/{python}/os.py": "",
            f"{site_of(prefix, python)}/": "",
        }
    )


def venv(prefix: str = VENV, python: str = PYTHON) -> Part:
    """A virtual environment of the system's Python."""
    release = f"{python.removeprefix('python')}.4"
    return together(
        python_at("/usr", python),
        files(
            {
                f"{prefix}/pyvenv.cfg": f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {release}\n",
                f"{prefix}/bin/python": f"-> /usr/bin/{python}",
                f"{prefix}/bin/python3": "-> python",
                f"{site_of(prefix, python)}/": "",
                "/usr/bin/uv": ELF_STUB,
            }
        ),
    )


def package(
    name: str,
    version: str,
    content: Mapping[str, str | bytes] | None = None,
    *,
    requires: tuple[str, ...] = (),
    site: str = "",
    tags: str = "py3-none-any",
) -> Part:
    """A wheel as pip installs it, RECORD included."""
    site = site or site_of()
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    lines = "".join(f"Requires-Dist: {one}\n" for one in requires)
    tree: Tree = {
        **(content or {}),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{lines}",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tags}\n",
        f"{info}/INSTALLER": "pip\n",
    }
    record = "".join(f"{path},,\n" for path in (*tree, f"{info}/RECORD"))
    return files({f"{site}/{path}": text for path, text in {**tree, f"{info}/RECORD": record}.items()})


def cudnn_wheel(version: str = "9.10.2.21", cuda: int = 12, site: str = "", **how: object) -> Part:
    """nvidia-cudnn-cu12 and its sisters."""
    return at(site or site_of(), cudnn_tree.wheel_of, version, cuda, **how)


_RPATH = "$ORIGIN/../../nvidia/cudnn/lib:$ORIGIN/../../nvidia/cuda_runtime/lib:$ORIGIN"
_TORCH = Path(__file__).with_name("fake_torch.txt").read_text()


def torch_libraries(
    cudnn: str = "libcudnn.so.9", rpath: str = "", *, machine: str = "x86_64", python: str = PYTHON
) -> Tree:
    """The libraries of a CUDA build as they need each other, from libtorch_global_deps.so to torch._C.

    `cudnn` is the name that they ask for, `rpath` where they look besides their own directory.
    """
    needs = {
        "lib/libtorch_global_deps.so": (cudnn,),
        "lib/libc10.so": (),
        "lib/libtorch_cpu.so": ("libc10.so",),
        "lib/libtorch_cuda.so": ("libtorch_cpu.so", cudnn),
        "lib/libtorch_python.so": ("libtorch_cuda.so",),
        f"_C.cpython-{digits_of(python)}-{machine}-linux-gnu.so": ("libtorch_python.so",),
    }
    paths = f"$ORIGIN:$ORIGIN/lib:{rpath}".rstrip(":")
    return {
        f"torch/{path}": elf_bytes(path.rpartition("/")[2], needed=needed, rpath=paths, machine=machine)
        for path, needed in needs.items()
    }


def torch(version: str = "2.9.1+cu128", cudnn: str = "9.10.2.21", *, site: str = "", pinned: bool = True) -> Part:
    """PyTorch's wheel: version.py, the library that asks for cuDNN, the pin. A module that can be imported.

    `pinned`: cuDNN is a wheel of its own that torch requires; else a copy lies in torch/lib.
    """
    found = re.search(r"python[\d.]+", site)
    python = found[0] if found else PYTHON
    digits = digits_of(python)
    _, _, build = version.partition("+")
    cuda = f"{build[2:-1]}.{build[-1]}" if build.startswith("cu") else ""
    major = cudnn.partition(".")[0]
    soname = f"libcudnn.so.{major}"
    tree: Tree = {
        "torch/__init__.py": _TORCH,
        "torch/version.py": f"__version__ = '{version}'\ndebug = False\ncuda = {cuda or None!r}\n"
        f"hip = None\nxpu = None\ncudnn_for_tests = {cudnn!r}\n",
    }
    requires: tuple[str, ...] = ()
    if cuda:
        tree |= torch_libraries(soname, _RPATH if pinned else "", python=python)
    if cuda and pinned:
        requires = (f"nvidia-cudnn-cu{cuda.partition('.')[0]}=={cudnn}; platform_system == 'Linux'",)
    elif cuda:
        parts = cudnn_tree.PARTS[int(major)]
        tree |= {
            f"torch/lib/{cudnn_tree.stem_of(part)}.so.{major}": cudnn_tree.part_bytes(part, cudnn) for part in parts
        }
    return package("torch", version, tree, requires=requires, site=site, tags=f"cp{digits}-cp{digits}-linux_x86_64")


JAXLIB = package(
    "jaxlib",
    "0.7.2",
    {"jaxlib/__init__.py": "", "jaxlib/version.py": "__version__ = '0.7.2'\n", "jaxlib/plugin_support.py": ""},
)

# Whole machines, on which a case states only what is different

WORKSTATION = together(
    linux(), card(), driver(), toolkit(), gcc(), venv(), torch(), cudnn_wheel()
)  # Ubuntu 24.04, RTX 4090, driver 580 with the open module, CUDA 12.8, torch 2.9.1 with its cuDNN
DISK = together(offline_linux(), venv(), torch(), cudnn_wheel())  # the same without driver and toolkit, switched off
