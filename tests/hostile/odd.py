"""Readers that machines of the lab seldom reach: called by themselves, over the files that they read."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import cast

from compat.matrix import Matrix
from doctor.binaries import machine_of_file
from doctor.commands.install.config_target import Machine
from doctor.commands.install.configure import TheanoAsked, theano_of
from doctor.commands.which import windows
from doctor.commands.which.product import product_of
from doctor.host import Host
from doctor.image.config import Config, environ_in
from doctor.image.container_env_files import config_within
from doctor.image.host import ImageHost
from doctor.loader import dlls, hwcaps
from doctor.loader.cards import jax, torch, triton
from doctor.loader.link_release import releases_of
from doctor.model.facts.environment import Distribution
from doctor.model.facts.loader import Prediction
from doctor.probes import configuration, cudnn, driver, environment, gpu_code, package_rules, system, toolkit
from doctor.probes.independent import install_runs
from doctor.pyenv import distributions, metadata, package_tools, prefixes, project, started
from doctor.pyenv.variant import variant_note
from tests.lab.elf_file import elf_bytes
from tests.lab.pe_file import pe_bytes
from tests.machine import framework, machine, seen

HOME = "/home/user"
_SITE = "/odd/lib/python3.12/site-packages"
_STATE = "/root/.local/state/gpudoctor/journal/20261122-101500-1/journal.jsonl"
_MENTIONS = "[tool.poetry]\nname = 'x'\n[tool.hatch.envs.default]\npath = '.e'\n"
_LINK = seen("/odd/libnvJitLink.so.12")
_FILES: dict[str, bytes | str] = {
    f"{_SITE}/jax/_src/lib/__init__.py": "import cuda_nvcc\n",
    f"{_SITE}/nvidia/cuda_nvcc/bin/ptxas": "",
    f"{_SITE}/triton/backends/nvidia/include/cuda.h": "#define CUDA_VERSION 12080\n",
    f"{_SITE}/torch/__init__.py": "dlls = glob.glob('lib/*.dll')\n",
    f"{_SITE}/torch.dist-info/METADATA": "Name: torch\nVersion: 2.9.1\n",
    f"{_SITE}/torch.dist-info/variant.json": (
        '{"$schema": "https://variants-schema.wheelnext.dev/v0.0.3.json", "variants": '
        '{"cu128": {"nvidia": {"a": ["1"]}}}}'
    ),
    f"{_SITE}/cuda_toolkit-13.0.2.dist-info/METADATA": (
        "Name: cuda-toolkit\nRequires-Dist: nvidia-cublas==13.1.0.3 ; extra == 'cublas'\n"
    ),
    f"{_SITE}/old.egg-link": "/odd/src\n",
    "/odd/src/old.egg-info/PKG-INFO": "Name: old\nVersion: 1\n",
    f"{HOME}/.keras/keras.json": '{"backend": "theano", "floatx": "float32"}',
    f"{HOME}/.theanorc": "[global]\nfloatX = float32\ndevice = cuda\n[dnn]\nenabled = True\n",
    "/odd/p/pyproject.toml": _MENTIONS,
    "/odd/pip.conf": "[global]\nconstraint = /odd/c.txt\nno-index = 1\n",
    "/odd/c.txt": "torch<2.9\n-c /odd/more.txt\n",
    "/odd/kern.log": "NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.\n",
    "/odd/p/poetry.toml": "cache-dir = '/c'\n[virtualenvs]\nin-project = false\npath = '{cache-dir}/v'\n",
    "/odd/p/hatch.toml": "[envs.default]\npath = 'x'\n",
    f"{HOME}/.config/hatch/config.toml": "[dirs.env]\nvirtual = 'v'\n",
    "/odd/lib/python2.7/orig-prefix.txt": "/usr\n",
    "/odd/include/python3.12/patchlevel.h": '#define PY_VERSION "3.12.3"\n',
    "/root/.pyenv/version": "3.12.3 3.11\n",
    f"{HOME}/.tool-versions": "python 3.12.3 system\n",
    "/odd/asdf/installs/python/3.12.3/bin/python3": elf_bytes(),
    "/usr/bin/python3": elf_bytes(),
    "/odd/cuda/include/cuda.h": "#define CUDA_VERSION 12080\n",
    "/odd/cuda/bin/nvcc": "#!/bin/sh\nexec /usr/bin/nvcc\n",
    "/odd/x.dll": pe_bytes("x.dll", needs=("cudnn64_9.dll", "cudart64_12.dll")),
    "/.singularity.d/env/10-docker2singularity.sh": 'export A="${A:-"value"}"\nexport B=c\n',
    "/etc/dnf/plugins/versionlock.list": "cuda-drivers-0:580.95.05-1.el9.*\n",
    "/etc/zypp/locks": "type: package\nsolvable_name: cuda-drivers\n",
    "/odd/conda-meta/pinned": "cudnn ==9.1\n",
    "/etc/passwd": "root:x:0:0::/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\n",
    "/odd/bin/torchrun": "#!/odd/bin/python3.12 -s\nimport sys\n",
    "/proc/cpuinfo": "vendor_id : GenuineIntel\nflags : fpu avx2\n\n",
    "/proc/7/comm": "nv-fabricmanager\n",
    "/proc/locks": "1: FLOCK  ADVISORY  WRITE 12 08:01:7 0 EOF\n",
    "/root/.local/state/gpudoctor/lock": "",
    _STATE: json.dumps({"what": "begin", "summary": "install cuDNN"}) + "\n",
    "/lib/x86_64-linux-gnu/libc.so.6": b"\x7fELF" + struct.pack("<60x") + b"GNU C Library (Debian) version 2.39\n",
    "/bin/sh": elf_bytes(),
    "/odd/libnvJitLink.so.12": elf_bytes("libnvJitLink.so.12", values={"__nvJitLinkAddData_12_8": 1}),
    "/odd/virtualenvs/p-x/.project": "/odd/p\n",
    "/odd/virtualenvs/p-x/pyvenv.cfg": "home = /odd/bin\nversion = 3.12.3\n",
    "/odd/virtualenvs/p-x/bin/python": elf_bytes(),
    "/odd/virtualenvs/p-x/lib/python3.12/site-packages/x.py": "",
}
FILES = {path: one if isinstance(one, bytes) else one.encode() for path, one in _FILES.items()}


def _settings(host: Host) -> object:
    at = Machine("linux", host, machine(configuration=configuration.look(host)))
    return theano_of(TheanoAsked(device="cuda"), Matrix(), at)


def _opened_by_torch(host: Host) -> object:
    one = framework("torch", "2.9.1", path=f"{_SITE}/torch")
    [environment] = machine().environments.get()
    assert torch.CARD.dlls
    return list(windows._opened_at_once(host, environment, one, torch.CARD.dlls, product_of("cudnn")))


CALLS: tuple[Callable[[Host], object], ...] = (
    lambda host: variant_note(host, Distribution("torch", "2.9.1", _SITE, f"{_SITE}/torch.dist-info", "wheel", "")),
    lambda host: jax._fails_unless(host, _SITE),
    lambda host: triton._cuda(host, f"{_SITE}/triton"),
    lambda host: list(distributions._in_site(host, _SITE, host.names(_SITE))),
    configuration.look,
    lambda host: list(
        metadata._of_toolkit(host, "cuda-toolkit[cublas]==13.0.2", {"os_family": "linux", "site": _SITE})
    ),
    lambda host: list(project._poetry(host, "/odd/p")),
    lambda host: list(project._hatch(host, "/odd/p")),
    lambda host: package_rules.of_pip(host, "/odd"),
    lambda host: [package_rules.holds(host, one, "/odd") for one in ("dnf", "zypper", "conda")],
    lambda host: config_within(cast("ImageHost", host)),
    lambda host: environ_in(host, Config(user="1000", is_known=True)),
    lambda host: started._of_script(host, "/odd/bin/torchrun"),
    lambda host: system._tail(host, "/odd/kern.log"),
    lambda host: prefixes._legacy_base(host, "/odd", "python2.7"),
    lambda host: prefixes._version(host, "/odd", "system", "python3.12"),
    lambda host: prefixes._pyenv_versions(host, "/root/.pyenv"),
    lambda host: prefixes._behind_asdf(host, "/odd/asdf", "python3"),
    lambda host: list(toolkit._from_header(host, "/odd/cuda/include/cuda.h")),
    lambda host: toolkit._is_script(host, "/odd/cuda/bin/nvcc"),
    lambda host: list(dlls.imports_of(host, "/odd/x.dll")),
    lambda host: cudnn._is_foreign(host, "/odd/x.dll"),
    lambda host: package_tools._kept(host, prefixes.locate(host, "/odd/virtualenvs/p-x")),
    lambda host: releases_of(host, Prediction("/odd", "torch", "libnvJitLink.so.12", _LINK, seen("/odd/other.so"))),
    hwcaps._flags,
    lambda host: package_tools._declared(host, "/odd/p"),
    lambda host: gpu_code._is_named_in_init(host, f"{_SITE}/torch/libtorch_cuda.so"),
    lambda host: environment._imported_at(host, f"{_SITE}/torch", "dlls"),
    lambda host: driver._runs(host, "nv-fabricmanager"),
    install_runs.look,
    system._glibc_of_files,
    lambda host: machine_of_file(host, "/bin/sh"),
    _settings,
    _opened_by_torch,
)
