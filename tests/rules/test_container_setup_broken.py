"""container-setup-broken, and its probe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compat.need import as_json
from doctor.model.facts.seen import Seen, Unseen
from doctor.model.finding import Severity, Status
from doctor.probes.independent import container_setup
from doctor.probes.independent.container_setup import CdiSpecification, ContainerSetup, Runtime
from tests.machine import machine, seen, unseen
from tests.probes.pretend import PretendHost
from tests.probes.tree import Tree
from tests.rules.case import answer

CODE = "container-setup-broken"
DAEMON = "etc/docker/daemon.json"
NVIDIA = '{"runtimes": {"nvidia": {"path": "nvidia-container-runtime", "args": []}}, "default-runtime": "nvidia"}'
PROGRAM = {"usr/bin/nvidia-container-runtime": "elf"}
LIBRARY = "/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05"
SPEC = f"""cdiVersion: 0.5.0
kind: nvidia.com/gpu
devices:
- name: "0"
  containerEdits: {{deviceNodes: [{{path: /dev/nvidia0, hostPath: /dev/nvidia0}}]}}
containerEdits:
  mounts:
  - containerPath: {LIBRARY}
    hostPath: {LIBRARY}
"""


def look(root: Path, tree: Tree) -> Any:
    return container_setup.look(PretendHost(root, tree))


@pytest.mark.parametrize(
    ("tree", "runtimes"),
    [
        ({}, ()),
        ({DAEMON: ""}, ()),
        ({DAEMON: '{"default-runtime": "runc"}'}, ()),
        ({DAEMON: NVIDIA, **PROGRAM}, (Runtime("nvidia", "nvidia-container-runtime", True, True),)),
        ({DAEMON: NVIDIA}, (Runtime("nvidia", "nvidia-container-runtime", False, True),)),
        ({DAEMON: '{"default-runtime": "nvidia"}', **PROGRAM}, (Runtime("nvidia", "", False, True),)),
        ({DAEMON: '{"runtimes": {"nvidia": 3, "x": {"path": "/opt/x"}}}'}, ()),
        ({DAEMON: '{"runtimes": [], "default-runtime": 3}'}, ()),
    ],
)
def test_runtimes(tmp_path: Path, tree: Tree, runtimes: tuple[Runtime, ...]) -> None:
    assert look(tmp_path, tree).get().runtimes == runtimes


CRI = '[plugins."io.containerd.grpc.v1.cri".containerd'
CONTAINERD = f"""version = 2
# {CRI}.runtimes.nvidia-old.options]
{CRI}]
  default_runtime_name = "nvidia"
  {CRI}.runtimes.nvidia]
    runtime_type = "io.containerd.runc.v2"
    {CRI}.runtimes.nvidia.options]
      BinaryName = "/usr/bin/nvidia-container-runtime"
"""
CRIO = """[crio.runtime]
default_runtime = "nvidia"
[crio.runtime.runtimes.nvidia]
runtime_path = "/usr/bin/nvidia-container-runtime"
"""


@pytest.mark.parametrize(
    ("tree", "found"),
    [
        ({"etc/containerd/config.toml": CONTAINERD, **PROGRAM}, [("nvidia", True, True)]),
        ({"etc/containerd/config.toml": CONTAINERD}, [("nvidia", False, True)]),
        ({"etc/containerd/config.toml": f'{CRI}]\ndefault_runtime_name = "nvidia"\n'}, [("nvidia", False, True)]),
        ({"etc/containerd/conf.d/99-nvidia.toml": CONTAINERD}, [("nvidia", False, True)]),
        ({"etc/containerd/config.toml": 'disabled_plugins = ["cri"]\n'}, []),  # Docker's own
        ({"etc/crio/crio.conf.d/99-nvidia.toml": CRIO}, [("nvidia", False, True)]),
        ({"etc/crio/crio.conf.d/99-nvidia.toml": CRIO, **PROGRAM}, [("nvidia", True, True)]),
        ({"etc/containerd/config.toml": "[[[ = \n"}, []),
    ],
)
def test_runtimes_of_containerd_and_crio(tmp_path: Path, tree: Tree, found: Any) -> None:
    setup = look(tmp_path, tree).get()
    assert [(one.name, one.is_there, one.is_default) for one in setup.runtimes] == found
    assert setup.no_cri == ""
    facts = machine(independent={"container_setup": seen(setup)})
    wanted = Status.NOT_APPLICABLE if not found else Status.OK if found[0][1] else Status.BAD
    assert answer(CODE, facts).kind is wanted


def test_containerd_without_its_part_for_kubernetes(tmp_path: Path) -> None:
    text = f'disabled_plugins = ["cri"]\n{CONTAINERD}'
    setup = look(tmp_path, {"etc/containerd/config.toml": text, **PROGRAM}).get()
    assert setup.no_cri == "/etc/containerd/config.toml"
    found = answer(CODE, machine(independent={"container_setup": seen(setup)}))
    assert "disables containerd's plugin cri" in found.why
    assert "systemctl restart containerd" in as_json(found.needs[0]).spec


@pytest.mark.parametrize("text", ["{", "[]", "3"])
def test_a_damaged_file(tmp_path: Path, text: str) -> None:
    assert look(tmp_path, {DAEMON: text}).get().damaged


@pytest.mark.parametrize(
    ("tree", "specifications"),
    [
        ({"etc/cdi/nvidia.yaml": SPEC, LIBRARY: ""}, (("/etc/cdi/nvidia.yaml", 1, ()),)),
        ({"etc/cdi/nvidia.yaml": SPEC}, (("/etc/cdi/nvidia.yaml", 1, (LIBRARY,)),)),
        (
            {"var/run/cdi/x.json": f'{{"kind": "nvidia.com/gpu", "hostPath": "{LIBRARY}"}}'},
            (("/var/run/cdi/x.json", 1, (LIBRARY,)),),
        ),
        ({"etc/cdi/other.yaml": SPEC.replace("nvidia.com/gpu", "amd.com/gpu")}, ()),
        ({"etc/cdi/nvidia.txt": SPEC}, ()),
    ],
)
def test_specifications(tmp_path: Path, tree: Tree, specifications: Any) -> None:
    found = look(tmp_path, tree).get().specifications
    assert found == tuple(CdiSpecification(*one) for one in specifications)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    assert isinstance(look(tmp_path, {f"{DAEMON}/": ""}), Unseen)


def facts(damaged: str = "", runtimes: Any = (), specifications: Any = ()) -> Any:
    return machine(independent={"container_setup": seen(ContainerSetup(damaged, runtimes, specifications))})


GONE = Runtime("nvidia", "nvidia-container-runtime", is_there=False, is_default=True)
STALE = CdiSpecification("/etc/cdi/nvidia.yaml", 20, (LIBRARY,))


@pytest.mark.parametrize(
    ("told", "kind", "why", "advice"),
    [
        (facts(), Status.NOT_APPLICABLE, "", ""),
        (facts(runtimes=(GONE._replace(is_there=True),)), Status.OK, "", ""),
        (facts(specifications=(STALE._replace(missing=()),)), Status.OK, "", ""),
        (facts(runtimes=(GONE,)), Status.BAD, "no container can start", "Install nvidia-container-toolkit"),
        (facts(runtimes=(GONE._replace(is_default=False),)), Status.BAD, "the runtime nvidia can start", "Install"),
        (facts(specifications=(STALE,)), Status.BAD, "1 of 20 files do not exist", "cdi generate --output=/etc/cdi/"),
        (facts("it is no JSON"), Status.BAD, "Docker cannot start", "Correct /etc/docker/daemon.json: it is no JSON."),
        (machine(independent={"container_setup": unseen()}), Status.UNKNOWN, "", ""),
    ],
)
def test_the_rule(told: Any, kind: Status, why: str, advice: str) -> None:
    found = answer(CODE, told)
    assert found.kind is kind
    if kind is Status.BAD:
        assert found.severity is Severity.WARNING
        assert why in found.why
        assert advice in as_json(found.needs[0]).spec


def test_nothing_on_windows(tmp_path: Path) -> None:
    host = PretendHost(tmp_path, {DAEMON: "{"})
    host.os_family = "windows"
    assert isinstance(container_setup.look(host), Seen)
