"""variable-leads-astray: what variables name, and values that CUDA knows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from compat.need import as_json
from compat.version import CudaVersion
from doctor.model.facts.environment import NamedFile, Variable
from doctor.model.finding import Status
from doctor.probes import configuration as configuration_probe
from tests.machine import configuration, environment, framework, gpu, machine, seen, toolkit, toolkits, unseen
from tests.probes.pretend import PretendHost
from tests.rules.case import MATRIX, answer

CODE = "variable-leads-astray"


def with_variable(name: str, value: str, *named: NamedFile, **changes: Any) -> Any:
    said = configuration(variables=seen((Variable(name, value, ""),)), named=seen(named))
    return machine(configuration=said, **changes)


def of(package: str, version: str) -> Any:
    """An environment with one release of a framework."""
    return seen((environment(framework(package, version)),))


@pytest.mark.parametrize(
    ("variable", "value", "package", "version", "kind"),
    [
        ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", "torch", "2.9.1", Status.OK),
        (
            "PYTORCH_CUDA_ALLOC_CONF",
            "expandable_segments: True , max_split_size_mb: 128,",
            "torch",
            "2.15.0",
            Status.OK,
        ),
        ("PYTORCH_CUDA_ALLOC_CONF", "roundup_power2_divisions:[256:1,512:2,>:8]", "torch", "2.9.1", Status.OK),
        ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", "torch", "2.0.1+cu118", Status.BAD),
        ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segment:True", "torch", "2.9.1", Status.BAD),
        ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:true", "torch", "2.15.0", Status.BAD),
        ("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb=128", "torch", "2.15.0", Status.BAD),
        ("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb=128", "torch", "1.9.1", Status.NOT_APPLICABLE),
        ("PYTORCH_ALLOC_CONF", "expandable_segments:True", "torch", "2.9.1", Status.BAD),
        ("PYTORCH_ALLOC_CONF", "expandable_segments:True", "torch", "2.15.0", Status.OK),
        ("TORCH_DISTRIBUTED_DEBUG", "VERBOSE", "torch", "2.9.1", Status.BAD),
        ("XLA_PYTHON_CLIENT_MEM_FRACTION", "90%", "jaxlib", "0.7.2", Status.BAD),
        ("XLA_PYTHON_CLIENT_MEM_FRACTION", ".90", "jaxlib", "0.7.2", Status.OK),
        ("XLA_PYTHON_CLIENT_MEM_FRACTION", "90%", "torch", "2.9.1", Status.NOT_APPLICABLE),
        ("XLA_FLAGS", "--xla_gpu_autotune_level=0 --xla_dump_to=/tmp/x", "jaxlib", "0.7.2", Status.OK),
        ("XLA_FLAGS", "xla_gpu_autotune_level=0", "jaxlib", "0.7.2", Status.BAD),
        ("XLA_FLAGS", "--xla_dump_to='/tmp/a b' --xla_gpu_autotune_level=0", "jaxlib", "0.7.2", Status.OK),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "1", "tensorflow", "2.20.0", Status.BAD),
        ("TF_CPP_MIN_LOG_LEVEL", "9", "tensorflow", "2.20.0", Status.NOT_APPLICABLE),
        ("NUMBA_DISABLE_CUDA", "true", "numba", "0.61.0", Status.BAD),
        ("NCCL_P2P_DISABLE", "true", "torch", "2.9.1", Status.BAD),
        ("NCCL_P2P_DISABLE", "1", "torch", "2.9.1", Status.OK),
        ("NCCL_DEBUG", "info", "torch", "2.9.1", Status.OK),
        ("OLLAMA_KEEP_ALIVE", "24h", "torch", "2.9.1", Status.OK),
        ("OLLAMA_KEEP_ALIVE", "forever", "torch", "2.9.1", Status.BAD),
    ],
)
def test_values(variable: str, value: str, package: str, version: str, kind: Status) -> None:
    facts = with_variable(variable, value, environments=of(package, version))
    assert answer(CODE, facts).kind is kind


@pytest.mark.parametrize(
    ("variable", "value", "package", "wanted"),
    [
        ("NCCL_P2P_DISABLE", "true", "torch", "=1"),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "True", "tensorflow", "=true"),
        ("TORCH_DISTRIBUTED_DEBUG", "detail", "torch", "=DETAIL"),
        ("PYTORCH_CUDA_ALLOC_CONF", "foo:1", "torch", ""),
    ],
)
def test_the_value_that_is_meant(variable: str, value: str, package: str, wanted: str) -> None:
    (need,) = answer(CODE, with_variable(variable, value, environments=of(package, "2.20.0"))).needs
    assert as_json(need).spec == wanted


def test_every_row_is_read_and_its_choices_are_valid() -> None:
    for row in MATRIX.rows("variable", "values"):
        assert set(row.variables) <= configuration_probe._NAMES
        assert all(row in MATRIX.values_of(one) for one in row.variables)
        assert all(re.fullmatch(row.values, one) for one in row.choices)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("NCCL_SOCKET_IFNAME", "eth", ""),
        ("NCCL_SOCKET_IFNAME", "=eth0,eth9", ""),
        ("NCCL_SOCKET_IFNAME", "=eth", "is no network interface here"),
        ("NCCL_SOCKET_IFNAME", "ib0", "is no network interface here"),
        ("NCCL_SOCKET_IFNAME", "^docker", None),
        ("GLOO_SOCKET_IFNAME", "eth", "is no network interface here"),
        ("NCCL_IB_HCA", "mlx5_0:1", "is no InfiniBand device here"),
    ],
)
def test_interfaces(tmp_path: Path, name: str, value: str, problem: str | None) -> None:
    (tmp_path / "sys/class/net/eth0").mkdir(parents=True)
    named = configuration_probe.look(PretendHost(tmp_path, {}, environ={name: value})).named.get()
    assert [one.problem for one in named] == ([] if problem is None else [problem])


@pytest.mark.parametrize(
    ("path", "problem"),
    [("/v", []), ("/old", []), ("/none", ["is not there"]), ("/empty", ["is no Python environment"])],
)
def test_an_active_environment_that_is_gone(tmp_path: Path, path: str, problem: list[str]) -> None:
    tree = {"v/pyvenv.cfg": "home = /usr/bin\n", "old/bin/python": "", "empty/bin/activate": ""}
    found = configuration_probe.look(PretendHost(tmp_path, tree, environ={"VIRTUAL_ENV": path}))
    assert [one.problem for one in found.named.get()] == problem
    assert [one.name for one in found.variables.get()] == ["VIRTUAL_ENV" for _ in problem]


def preload(problem: str = "", left: str = "") -> Any:
    return with_variable("LD_PRELOAD", "/opt/x.so", NamedFile("LD_PRELOAD", "/opt/x.so", problem, left))


TWO = seen((gpu(), gpu(number=1)))
ORDER, ARCHES = "CUDA_DEVICE_ORDER", "TORCH_CUDA_ARCH_LIST"


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (preload(), Status.OK),
        (preload("is not there"), Status.BAD),
        (with_variable("LD_PRELOAD", "libx.so"), Status.NOT_APPLICABLE),
        (with_variable("LD_PRELOAD", " "), Status.NOT_APPLICABLE),
        (machine(configuration=preload().configuration._replace(named=unseen())), Status.UNKNOWN),
        (machine(configuration=configuration(variables=unseen())), Status.UNKNOWN),
        (with_variable(ORDER, "PCI_BUS_ID", gpus=TWO), Status.OK),
        (with_variable(ORDER, "PCI_BUS", gpus=TWO), Status.BAD),
        (with_variable(ORDER, "PCI_BUS"), Status.OK),  # one card
        (with_variable("CUDA_MODULE_LOADING", "LAZY"), Status.OK),
        (with_variable("CUDA_MODULE_LOADING", "ON_DEMAND"), Status.BAD),
        (with_variable(ARCHES, "8.0;8.6"), Status.OK),  # code for 8.6 runs on 8.9
        (with_variable(ARCHES, "7.5 8.0+PTX"), Status.OK),
        (with_variable(ARCHES, "9.0"), Status.BAD),
        (with_variable(ARCHES, "7.5"), Status.BAD),
        (with_variable(ARCHES, "8.0,8.6"), Status.BAD),  # torch: ValueError, Unknown CUDA arch (8.0,8.6)
        (with_variable(ARCHES, "8.0; 8.6"), Status.BAD),  # torch: ValueError, Unknown CUDA arch ()
        (with_variable(ARCHES, "8.0;8.6;", gpus=unseen()), Status.BAD),
        (with_variable(ARCHES, "8.0 8.6;8.9"), Status.OK),
        (with_variable(ARCHES, "Ampere"), Status.NOT_APPLICABLE),
        (with_variable(ARCHES, "9.0", gpus=seen(())), Status.NOT_APPLICABLE),
        (with_variable(ARCHES, "9.0", gpus=unseen()), Status.UNKNOWN),
    ],
)
def test_kinds(facts: Any, kind: Status) -> None:
    assert answer(CODE, facts).kind is kind


@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        (preload("is not there"), ""),
        (preload("is not there", "/opt/y.so"), "=/opt/y.so"),
        (with_variable(ORDER, "PCI_BUS", gpus=TWO), "=PCI_BUS_ID"),
        (with_variable("CUDA_MODULE_LOADING", "ON_DEMAND"), ""),
        (with_variable(ARCHES, "8.0,8.6"), "=8.0 8.6"),
        (with_variable(ARCHES, "8.0; 8.6;", gpus=seen(())), "=8.0;8.6"),
    ],
)
def test_what_is_left_of_it(facts: Any, wanted: str) -> None:
    found = answer(CODE, facts)
    assert [as_json(one).spec for one in found.needs] == [wanted]


BLACKWELL, OLD = seen((gpu("RTX 5090", "12.0"),)), seen((gpu("GTX 1080", "6.1"),))
TWO_KINDS = seen((gpu("RTX 5090", "12.0"), gpu(number=1)))
NONE_SEEN = toolkits()._replace(toolkits=unseen())


def built_with(cuda: str) -> dict[str, Any]:
    """A toolkit with nvcc, and torch, both of this CUDA."""
    torch = framework(cuda=seen(CudaVersion.parse(cuda)))
    return {"toolkit": toolkits(toolkit(f"{cuda}.0")), "environments": seen((environment(torch),))}


@pytest.mark.parametrize(
    ("value", "changes", "wanted"),
    [
        ("8.0 8.6", {"gpus": BLACKWELL, **built_with("12.8")}, "8.0 8.6 12.0"),
        ("8.0;8.6", {"gpus": BLACKWELL, **built_with("12.8")}, "8.0;8.6;12.0"),
        ("8.6,8.0", {"gpus": BLACKWELL, **built_with("12.4")}, "8.6+PTX 8.0"),  # nvcc does not know 12.0
        ("8.0 9.0a", {"gpus": BLACKWELL, **built_with("12.4")}, "8.0+PTX 9.0a"),
        ("8.0 8.6", {"gpus": BLACKWELL, **built_with("12.4"), "toolkit": NONE_SEEN}, "8.0 8.6+PTX"),  # nor does torch
        ("8.0", {"gpus": BLACKWELL, "toolkit": NONE_SEEN, "environments": seen(())}, "8.0 12.0"),
        ("7.5", {"gpus": TWO_KINDS, **built_with("12.8")}, "7.5 8.9 12.0"),
        ("7.5", {"gpus": TWO_KINDS, **built_with("12.4")}, "7.5 8.9+PTX"),
        ("8.0", {"gpus": OLD, **built_with("12.8")}, "8.0 6.1"),
    ],
)
def test_the_list_of_architectures_keeps_what_it_has(value: str, changes: Any, wanted: str) -> None:
    """An empty one fails where no GPU is visible, as in every build of an image."""
    (need,) = answer(CODE, with_variable(ARCHES, value, **changes)).needs
    assert as_json(need).spec == f"={wanted}"
    assert answer(CODE, with_variable(ARCHES, wanted, **changes)).kind is Status.OK


def test_no_list_helps_where_no_compiler_builds_for_the_card() -> None:
    (need,) = answer(CODE, with_variable(ARCHES, "8.0", gpus=OLD, **built_with("13.0"))).needs
    assert as_json(need).product == "by-hand"
    assert "6.1" in as_json(need).spec
