"""The toolkit probe on trees that are laid out as the real installations are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from compat.version import CudaVersion
from doctor.host.optional_reads import search_path
from doctor.host.root import RootHost
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import Fact, Place, Seen, Unseen
from doctor.model.facts.toolkit import Toolkit, ToolkitName
from doctor.probes import toolkit
from tests.lab.pe_file import pe_bytes
from tests.machine import environment, seen
from tests.wheels import WINDOWS, fetch, unpack

NO_ENVIRONMENTS: Fact[tuple[Environment, ...]] = Seen((), "test")
VERSION_JSON = '{"cuda": {"name": "CUDA SDK", "version": "%s"}, "cuda_nvcc": {"version": "12.4.131"}}'
RUNTIME_HEADER = {"include/cuda_runtime.h": ""}
HEADER = "/* padding */\n" * 400 + "#define CUDA_VERSION 13000\n"


def build(root: Path, files: dict[str, str]) -> Path:
    """A tree: text content, "-> target" for a link, "exe" for a program."""
    for name, content in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        if content.startswith("-> "):
            path.symlink_to(content[3:])
        else:
            path.write_text(content)
            path.chmod(0o755 if content == "exe" or content.startswith("#!") else 0o644)
    return root


def installed(base: str = "/usr/local/cuda-12.4", **extra: str) -> dict[str, str]:
    """NVIDIA's own installation of one toolkit."""
    return {
        f"{base}/bin/nvcc": "exe",
        f"{base}/include/cuda_runtime.h": "",
        f"{base}/lib64/libcudart.so": "",
        f"{base}/version.json": VERSION_JSON % "12.4.1",
        **extra,
    }


def look(root: Path, environ: dict[str, str] | None = None) -> tuple[tuple[Toolkit, ...], dict[str, ToolkitName]]:
    facts = toolkit.look(RootHost(str(root), environ), NO_ENVIRONMENTS)
    return facts.toolkits.get(), {name.name: name for name in facts.names.get()}


def test_laid_out_by_wheels_behind_a_wrapper(tmp_path: Path) -> None:
    base = "/usr/local/cuda-13.0"
    build(
        tmp_path,
        {
            f"{base}/bin/nvcc": "exe",
            f"{base}/include/cuda_runtime.h": "",
            f"{base}/include/cuda.h": HEADER,
            f"{base}/lib/libcudart.so": "-> libcudart.so.13",
            f"{base}/lib/libcudart.so.13": "",
            f"{base}/lib64": "-> lib",
            f"{base}/dist-info/nvidia_cuda_nvcc-13.0.88.dist-info/RECORD": "",
            f"{base}/dist-info/nvidia_cuda_runtime-13.0.96.dist-info/RECORD": "",
            "/usr/local/cuda": f"-> {base}",
            "/usr/local/bin/nvcc": f'#!/bin/sh\nexec {base}/bin/nvcc "$@"\n',
        },
    )
    found, names = look(tmp_path)
    assert [(one.path, one.links, one.kind) for one in found] == [(base, ("/usr/local/cuda",), "directory")]
    assert found[0].cuda.get() == CudaVersion(13, 0)
    assert found[0].release.get() == "13.0"  # 13.0.88 is nvcc's build; releases 13.0.1 and 13.0.2 both carry it
    assert found[0].nvcc.get() == f"{base}/bin/nvcc"
    assert found[0].has_headers.get() is True
    assert found[0].library_dir.get() == f"{base}/lib64"
    assert {name: one.leads_to.get() for name, one in names.items()} == {"/usr/local/cuda": base, "nvcc on PATH": base}
    assert names["nvcc on PATH"].value == "/usr/local/bin/nvcc"


@pytest.mark.parametrize(
    ("files", "cuda", "release"),
    [
        ({"version.json": VERSION_JSON % "12.4.1"}, "12.4", "12.4.1"),
        ({"version.json": VERSION_JSON % "11.8.20220929"}, "11.8", "11.8"),  # as NVIDIA's Debian packages write it
        ({"version.txt": "CUDA Version 9.0.176\nCUDA Patch Version 9.0.176.1\n"}, "9.0", "9.0.176"),
        ({"version.json": "{", "include/cuda.h": HEADER, **RUNTIME_HEADER}, "13.0", "13.0"),
        ({"version.json": '{"cuda": []}', "include/cuda.h": HEADER, **RUNTIME_HEADER}, "13.0", "13.0"),
        ({"version.json": VERSION_JSON % "unknown", "include/cuda.h": HEADER, **RUNTIME_HEADER}, "13.0", "13.0"),
        ({"lib64/libcudart.so.12.4.127": ""}, "12.4", "12.4"),  # a runtime image: no header, no version.json
        ({"lib64/libcudart.so.10.1.243": ""}, "10.1", "10.1.243"),
    ],
)
def test_version_sources(tmp_path: Path, files: dict[str, str], cuda: str, release: str) -> None:
    base = "/usr/local/cuda-x"
    build(tmp_path, {f"{base}/bin/nvcc": "exe", **{f"{base}/{name}": text for name, text in files.items()}})
    (found,), _ = look(tmp_path)
    assert str(found.cuda.get()) == cuda
    assert found.release.get() == release


def test_silent_toolkit_is_unseen_with_a_reason(tmp_path: Path) -> None:
    build(tmp_path, {"/usr/local/cuda-x/bin/nvcc": "exe"})
    (found,), _ = look(tmp_path)
    assert isinstance(found.cuda, Unseen)
    assert "/usr/local/cuda-x" in found.cuda.why
    assert found.has_headers.get() is False


def test_sparse_version_json_is_not_read(tmp_path: Path) -> None:
    build(tmp_path, {"/usr/local/cuda-x/bin/nvcc": "exe", "/usr/local/cuda-x/version.json": "{"})
    os.truncate(tmp_path / "usr/local/cuda-x/version.json", 2 << 30)
    (found,), _ = look(tmp_path)
    assert isinstance(found.release, Unseen)


@pytest.mark.parametrize(
    "files",
    [
        {"/usr/local/cuda/lib64/libcudnn.so.9": ""},  # a leftover, or cuDNN copied before CUDA was removed
        {"/usr/local/cuda-12.1/version.json": VERSION_JSON % "12.1.0"},
        {"/usr/local/cuda": "-> cuda"},
        {"/usr/local/cuda-12/bin": "-> /dev/null"},
        {"/usr/lib/x86_64-linux-gnu/libcudart.so.11.0": ""},  # another package's dependency
        {},
    ],
)
def test_no_toolkit(tmp_path: Path, files: dict[str, str]) -> None:
    found, _ = look(build(tmp_path, files))
    assert found == ()


def test_hostile_tree(tmp_path: Path) -> None:
    base = tmp_path / "usr/local/cuda-x"
    build(tmp_path, {"/usr/local/cuda-x/bin/nvcc": "exe", "/usr/local/cuda-y": "a file", "/usr/local/cuda": "-> /"})
    os.mkfifo(base / "version.json")
    os.mkfifo(base / "version.txt")
    (base / "lib64").symlink_to("lib64")
    (base / "include").symlink_to("../../../../../../etc")
    (base / "dist-info").write_bytes(b"\0" * 100)
    os.mkfifo(tmp_path / "usr/local/nvcc")
    found, names = look(tmp_path, {"PATH": "/usr/local", "CUDA_HOME": "\0", "CUDA_PATH": "x" * 10_000})
    assert [one.path for one in found] == ["/usr/local/cuda-x"]
    assert names["/usr/local/cuda"].missing


def test_windows_directories_of_wsl_are_left_alone(tmp_path: Path) -> None:
    host = RootHost(str(tmp_path), {"PATH": "/usr/bin:/mnt/c/Windows:/mnt/c:/mnt/data/bin"})
    assert search_path(host) == ("/usr/bin", "/mnt/data/bin")


def test_debian_layout_is_one_toolkit_under_usr(tmp_path: Path) -> None:
    build(
        tmp_path,
        {
            "/usr/lib/nvidia-cuda-toolkit/bin/nvcc": "exe",
            "/usr/bin/nvcc": '#!/bin/sh\nexec /usr/lib/nvidia-cuda-toolkit/bin/nvcc "$@"\n',
            "/usr/include/cuda_runtime.h": "",
            "/usr/lib/x86_64-linux-gnu/libcudart.so": "",
            "/usr/lib/cuda/version.txt": "CUDA Version 11.8.89\n",
            "/var/lib/dpkg/status": "Package: a\nVersion: 1\n\nPackage: nvidia-cuda-toolkit\n"
            "Status: install ok installed\nArchitecture: amd64\nVersion: 12.0.140~12.0.1-4build4\n\nPackage: z\n",
        },
    )
    (found,), names = look(tmp_path, {"CUDA_HOME": "/usr/lib/cuda"})
    assert (found.path, found.kind, found.links) == (
        "/usr",
        "distribution",
        ("/usr/lib/cuda", "/usr/lib/nvidia-cuda-toolkit"),
    )
    assert found.release.get() == "12.0.1"
    assert found.nvcc.get() == "/usr/lib/nvidia-cuda-toolkit/bin/nvcc"
    assert found.library_dir.get() == "/usr/lib/x86_64-linux-gnu"
    assert {one.leads_to.get() for one in names.values()} == {"/usr"}


def test_usr_bin_nvcc_of_another_toolkit_is_no_distribution(tmp_path: Path) -> None:
    files = installed(**{"/usr/bin/nvcc": "-> /etc/alternatives/nvcc"})
    build(tmp_path, files | {"/etc/alternatives/nvcc": "-> /usr/local/cuda-12.4/bin/nvcc"})
    (found,), names = look(tmp_path)
    assert found.path == "/usr/local/cuda-12.4"
    assert names["nvcc on PATH"].leads_to.get() == "/usr/local/cuda-12.4"


def test_conda_environment(tmp_path: Path) -> None:
    build(
        tmp_path,
        {
            "/opt/conda/envs/a/conda-meta/cuda-version-12.4-h1_3.json": "{}",
            "/opt/conda/envs/a/conda-meta/cuda-nvcc-12.4.131-0.json": "{}",
            "/opt/conda/envs/a/bin/nvcc": "exe",
            "/opt/conda/envs/a/targets/x86_64-linux/include/cuda_runtime.h": "",
            "/opt/conda/envs/a/lib/libcudart.so.12": "",
        },
    )
    (found,), names = look(tmp_path, {"CONDA_PREFIX": "/opt/conda/envs/a", "PATH": "/opt/conda/envs/a/bin:/usr/bin"})
    assert (found.path, found.kind, found.release.get()) == ("/opt/conda/envs/a", "conda", "12.4")
    assert found.has_headers.get() is True
    assert names["nvcc on PATH"].leads_to.get() == "/opt/conda/envs/a"


def test_conda_environment_without_cuda_is_none(tmp_path: Path) -> None:
    build(tmp_path, {"/opt/conda/conda-meta/python-3.12.4-h1_0.json": "{}", "/opt/conda/lib/libz.so": ""})
    assert look(tmp_path, {"CONDA_PREFIX": "/opt/conda"})[0] == ()


def test_hpc_sdk(tmp_path: Path) -> None:
    base = "/opt/nvidia/hpc_sdk/Linux_x86_64/24.1/cuda"
    build(tmp_path, {**installed(f"{base}/12.3"), f"{base}/bin": "-> 12.3/bin"})
    (found,), _ = look(tmp_path)
    assert (found.path, found.kind) == (f"{base}/12.3", "hpc-sdk")


def test_windows(tmp_path: Path) -> None:
    base = "Program Files/NVIDIA GPU Computing Toolkit/CUDA/v13.0"
    build(
        tmp_path,
        {
            "Windows/System32/x.dll": "",
            f"{base}/bin/nvcc.exe": "exe",
            f"{base}/bin/x64/cudart64_13.dll": "",
            f"{base}/include/cuda_runtime.h": "",
            f"{base}/version.json": VERSION_JSON % "13.0.2",
        },
    )
    path = f"C:/{base}"
    environ = {"CUDA_PATH": path.replace("/", "\\"), "PATH": f"{path}/bin;C:\\Windows".replace("/", "\\")}
    (found,), names = look(tmp_path, environ)
    assert (found.path, found.kind, found.release.get()) == (path, "windows", "13.0.2")
    assert found.library_dir.get() == f"{path}/bin/x64"
    assert {one.leads_to.get() for one in names.values()} == {path}


@pytest.mark.parametrize(
    ("name", "version", "cuda"),
    [
        ("cudart64_80.dll", (6, 14, 11, 8000), "8.0"),
        ("cudart64_110.dll", (6, 14, 11, 11080), "11.8"),
        ("cudart64_13.dll", (6, 14, 11, 13050), "13.5"),
        ("cudart64_12.dll", (10, 0, 19041, 1), None),
        ("cudart64_12.dll", None, None),
    ],
)
def test_the_runtime_says_its_cuda_where_nothing_else_does(
    tmp_path: Path, name: str, version: tuple[int, int, int, int] | None, cuda: str | None
) -> None:
    base = "Program Files/NVIDIA GPU Computing Toolkit/CUDA/v1"
    build(tmp_path, {"Windows/": "", f"{base}/bin/nvcc.exe": "exe"})
    (tmp_path / base / "bin" / name).write_bytes(pe_bytes(name, version=version))
    (found,), _ = look(tmp_path)
    assert (str(found.cuda.get()) if isinstance(found.cuda, Seen) else None) == cuda


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wheel", "cuda"),
    [
        ("nvidia-cuda-runtime-cu11==11.8.89", "11.8"),
        ("nvidia-cuda-runtime-cu12==12.4.127", "12.4"),
        ("nvidia-cuda-runtime==13.5.37", "13.5"),
    ],
)
def test_a_real_runtime_of_windows_says_its_cuda(tmp_path: Path, wheel: str, cuda: str) -> None:
    home = tmp_path / "Program Files/NVIDIA GPU Computing Toolkit/CUDA/v1/bin"
    unpack(fetch(wheel, platforms=WINDOWS), tmp_path / "wheel")
    [runtime] = (tmp_path / "wheel").rglob("cudart64_*.dll")
    home.mkdir(parents=True)
    runtime.rename(home / runtime.name)
    build(tmp_path, {"Windows/": "", f"{home.relative_to(tmp_path)}/nvcc.exe": "exe"})
    (found,), _ = look(tmp_path)
    assert str(found.cuda.get()) == cuda


@pytest.mark.parametrize(
    ("environ", "extra", "name", "missing"),
    [
        ({"CUDA_HOME": "/usr/local/cuda-12.1"}, {}, "CUDA_HOME", True),
        ({"CUDA_HOME": ":/usr/local/cuda-12.4"}, {}, "CUDA_HOME", True),
        ({"CUDA_PATH": "/etc"}, {"/etc/passwd": ""}, "CUDA_PATH", True),
        ({"CUDA_HOME": "/usr/local/cuda-12.4/"}, {}, "CUDA_HOME", False),
        ({}, {"/usr/local/cuda": "-> /usr/local/cuda-12.1"}, "/usr/local/cuda", True),
        ({}, {"/usr/local/cuda": "-> cuda-12.4"}, "/usr/local/cuda", False),
        ({}, {"/usr/local/cuda": "-> cuda"}, "/usr/local/cuda", False),  # a loop of links cannot be followed
    ],
)
def test_names(tmp_path: Path, environ: dict[str, str], extra: dict[str, str], name: str, missing: bool) -> None:
    _, names = look(build(tmp_path, installed(**extra)), environ)
    assert names[name].missing is missing


@pytest.mark.parametrize(
    ("script", "leads"),
    [
        ("#!/bin/sh\n# exec /nowhere/nvcc\nexec '/usr/local/cuda-12.4/bin/nvcc' \"$@\"\n", True),
        ('#!/bin/bash\n/usr/local/cuda-12.4/bin/nvcc "$@"; exit $?\n', True),
        ('#!/bin/sh\nexec "$CUDA_HOME/bin/nvcc" "$@"\n', False),
        ("#!/bin/sh\nexec /usr/local/bin/nvcc\n", False),
        ("#!/bin/sh\nexec /gone/nvcc\n", False),
    ],
)
def test_wrappers_are_read(tmp_path: Path, script: str, leads: bool) -> None:
    _, names = look(build(tmp_path, installed(**{"/usr/local/bin/nvcc": script})))
    leads_to = names["nvcc on PATH"].leads_to
    expected = Seen("/usr/local/cuda-12.4", Place("/usr/local/cuda-12.4/bin/nvcc"))
    assert leads_to == expected if leads else isinstance(leads_to, Unseen)


def test_compiler_cache_under_nvccs_name_is_passed_over(tmp_path: Path) -> None:
    files = installed(**{"/usr/lib/ccache/nvcc": "-> ../../bin/ccache", "/usr/bin/ccache": "exe"})
    _, names = look(build(tmp_path, files), {"PATH": "/usr/lib/ccache:/usr/local/cuda-12.4/bin"})
    assert names["nvcc on PATH"].value == "/usr/local/cuda-12.4/bin/nvcc"


SITE = "/venv/lib/python3.12/site-packages"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (
            {
                "nvidia/cu13/bin/nvcc": "exe",
                "nvidia/cu13/include/cuda_runtime.h": "",
                "nvidia_cuda_nvcc-13.0.88.dist-info/METADATA": "",
                "cuda_toolkit-13.0.2.dist-info/METADATA": "",
            },
            [(f"{SITE}/nvidia/cu13", "13.0.2")],
        ),
        (
            {
                "nvidia/cuda_runtime/include/cuda_runtime.h": "",
                "nvidia_cuda_runtime_cu12-12.8.90.dist-info/METADATA": "",
                "nvidia/cu13/include/cuda_runtime.h": "",
                "nvidia_cuda_runtime-13.0.96.dist-info/METADATA": "",
            },
            [(f"{SITE}/nvidia", "12.8"), (f"{SITE}/nvidia/cu13", "13.0")],
        ),
        ({"nvidia/cuda_runtime/lib/libcudart.so.12": ""}, []),
        ({"nvidia/cuda_nvcc/bin/ptxas": "exe"}, []),
        ({"nvidia/cudnn/lib/libcudnn.so.9": ""}, []),
    ],
)
def test_wheels(tmp_path: Path, files: dict[str, str], found: list[tuple[str, str]]) -> None:
    build(tmp_path, {f"{SITE}/{name}": text for name, text in files.items()})
    own = seen((environment(sites=seen((SITE,))),))
    toolkits = toolkit.look(RootHost(str(tmp_path)), own).toolkits.get()
    assert [(one.path, one.release.get()) for one in toolkits] == found
    assert all(one.kind == "wheels" for one in toolkits)


@pytest.mark.slow
def test_real_runtime_wheel(tmp_path: Path) -> None:
    site = tmp_path / SITE.lstrip("/")
    site.mkdir(parents=True)
    unpack(fetch("nvidia-cuda-runtime-cu12==12.8.90"), site)
    own = seen((environment(sites=seen((SITE,))),))
    (found,) = toolkit.look(RootHost(str(tmp_path)), own).toolkits.get()
    assert (found.path, str(found.cuda.get())) == (f"{SITE}/nvidia", "12.8")
    assert isinstance(found.nvcc, Unseen)
    assert found.library_dir.get() == f"{SITE}/nvidia/cuda_runtime/lib"


@pytest.mark.slow
def test_real_nvcc_wheels_of_cuda_13(tmp_path: Path) -> None:
    site = tmp_path / SITE.lstrip("/")
    site.mkdir(parents=True)
    unpack(fetch("nvidia-cuda-nvcc==13.0.88"), site)
    unpack(fetch("nvidia-cuda-runtime==13.0.96"), site)
    own = seen((environment(sites=seen((SITE,))),))
    (found,) = toolkit.look(RootHost(str(tmp_path)), own).toolkits.get()
    assert (found.path, str(found.cuda.get())) == (f"{SITE}/nvidia/cu13", "13.0")
    assert found.nvcc.get() == f"{SITE}/nvidia/cu13/bin/nvcc"
    assert found.has_headers.get() is True
