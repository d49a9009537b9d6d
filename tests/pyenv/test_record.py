"""A RECORD whose every path stands in quotes, as a CSV writer may put them: read as one without them.

torchcodec-0.8.1-cp312-cp312-manylinux_2_28_x86_64.whl has one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from doctor.commands.verify.contents import _digests
from doctor.host.root import RootHost
from doctor.prescribe.distributions import with_removed
from doctor.prescribe.simulated_machine import SimulatedMachine
from doctor.probes import ProbeRequest, long_paths, look
from doctor.pyenv.metadata import listed, record
from tests.lab.case import Case, host_of
from tests.lab.cases.extensions import torchcodec
from tests.lab.parts import WORKSTATION, site_of, together
from tests.rules.case import MATRIX

SITE = site_of()
CUDNN = f"{SITE}/nvidia_cudnn_cu12-9.10.2.21.dist-info"


def quoted(root: Path) -> None:
    """Each RECORD of the tree, with quotes."""
    for path in root.glob(f"{SITE.lstrip('/')}/*.dist-info/RECORD"):
        path.write_text(re.sub(r"(?m)^([^,\n]+),", r'"\1",', path.read_text()))


def lost(root: Path) -> None:
    """A library of torch's and one of cuDNN's are gone."""
    for name in ("torch/lib/libtorch_cpu.so", "nvidia/cudnn/lib/libcudnn_ops.so.9"):
        (root / SITE.lstrip("/") / name).unlink()


@pytest.fixture(params=[(), (quoted,)], ids=["plain", "quoted"])
def host(request: Any, tmp_path: Path) -> RootHost:
    """The lab's machine with torchcodec."""
    case = Case(
        "record", "quoted names", together(WORKSTATION, torchcodec("0.8.1"), lost, *request.param), where="root"
    )
    found = host_of(case, case.build(tmp_path))
    assert isinstance(found, RootHost)
    return found


def test_every_reader(host: RootHost) -> None:
    facts = look(host, ProbeRequest())
    environment = next(one for one in facts.environments.get() if one.kind == "venv")
    (extension,) = environment.extensions.get()
    assert extension.distribution == "torchcodec"
    (incomplete,) = environment.incomplete.get()
    assert incomplete.missing == (f"{SITE}/torch/lib/libtorch_cpu.so",)
    (copy,) = facts.cudnn.get()
    assert [one.rpartition("/")[2] for one in copy.missing.get()] == ["libcudnn_ops.so.9"]
    (wheel,) = (one for one in environment.distributions.get() if one.name == "nvidia-cudnn-cu12")
    assert "nvidia/cudnn/lib/libcudnn.so.9" in record(host, wheel)
    assert "nvidia/cudnn/lib/libcudnn.so.9" in set(long_paths._names(host, f"{CUDNN}/RECORD"))
    world, _ = with_removed(SimulatedMachine(facts, MATRIX, host), environment, "nvidia-cudnn-cu12")
    assert f"{SITE}/nvidia/cudnn/lib/libcudnn.so.9" in world.changes.removed


def test_digests(tmp_path: Path) -> None:
    (tmp_path / "RECORD").write_text('"a/b.so.9",sha256=abc,3\na/c.so,sha256=def,4\n"a,b.so",sha256=x,5\n')
    assert _digests("/RECORD", RootHost(str(tmp_path))) == {"a/b.so.9": "abc", "a/c.so": "def", "a,b.so": "x"}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a/b.so,sha256=x,3", ("a/b.so", "sha256=x", "3")),
        ('"a/b.so",sha256=x,3\r', ("a/b.so", "sha256=x", "3")),
        ('"a,""b"".so",,', ('a,"b".so', "", "")),
        ("a/b.so", ("", "", "")),
        ("", ("", "", "")),
    ],
)
def test_a_line(line: str, expected: tuple[str, str, str]) -> None:
    assert listed(line) == expected
