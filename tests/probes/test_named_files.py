"""What variables name: there, gone, damaged, for another machine, not to be started; and what is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.host.root import RootHost
from doctor.probes.named_files import look
from tests.lab.elf_file import elf_bytes


class Here(RootHost):
    """A tree whose machine and user are known."""

    def kernel_machine(self) -> str:
        return "x86_64"

    def may_access(self, path: str, wanted: str) -> bool:
        return bool(self.status(path).mode & 0o111)


@pytest.fixture
def host(tmp_path: Path) -> Here:
    for path, content in {
        "opt/good.so": elf_bytes("good.so"),
        "opt/arm.so": elf_bytes("arm.so", machine="aarch64"),
        "opt/half.so": elf_bytes("half.so")[:90],
        "opt/topo.xml": b"<system/>",
        "opt/cudnn/lib/libcudnn.so.9": b"x",
        "bin/g++-12": b"x",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    (tmp_path / "bin/g++-12").chmod(0o755)
    return Here(str(tmp_path), {"PATH": "/usr/bin:/bin"})


@pytest.mark.parametrize(
    ("name", "value", "problems"),
    [
        ("LD_PRELOAD", "/opt/good.so", [""]),
        ("LD_PRELOAD", "/opt/good.so /opt/none.so", ["", "is not there"]),
        ("LD_PRELOAD", "/opt/arm.so:/opt/half.so", ["", "is damaged, or no library"]),  # Steam preloads for both
        ("LD_PRELOAD", "libx.so:/usr/$LIB/none.so", []),
        ("LD_AUDIT", "/opt", ["is no file"]),
        ("NUMBA_CUDA_DRIVER", "/opt/arm.so", ["is for aarch64"]),
        ("NCCL_NET_PLUGIN", "aws-ofi", []),
        ("NCCL_NET_PLUGIN", "/opt/a.so,/opt/b.so", []),
        ("NCCL_NET_PLUGIN", "/opt/none.so", ["is not there"]),
        ("NCCL_TOPO_FILE", "/opt/topo.xml", [""]),
        ("NCCL_TOPO_FILE", "/opt/none.xml", ["is not there"]),
        ("CUDACXX", "/bin/g++-12", [""]),
        ("CUDACXX", "g++-12", [""]),
        ("CUDACXX", "nvcc", ["is not on PATH"]),
        ("CUDACXX", "ccache nvcc", []),
        ("CUDACXX", "/usr/bin/ccache nvcc", [""]),
        ("TRITON_PTXAS_PATH", "/opt/topo.xml", ["is not a program that this user can start"]),
        ("NVCC_CCBIN", "/bin", [""]),
        ("CUDNN_PATH", "/opt/cudnn", [""]),
        ("CUDNN_PATH", "/opt", ["holds no libcudnn"]),
        ("CUDNN_PATH", "/none", ["is not there"]),
        ("CUPY_CUDA_LIB_PATH", "/opt", [""]),
    ],
)
def test_problems(host: Here, name: str, value: str, problems: list[str]) -> None:
    assert [one.problem for one in look(host, name, value)] == problems


def test_what_is_left(host: Here) -> None:
    left = [one.left for one in look(host, "LD_PRELOAD", "/opt/good.so:/opt/none.so")]
    assert left == ["/opt/none.so", "/opt/good.so"]
