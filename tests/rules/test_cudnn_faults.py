"""The faults of cuDNN, from files to findings: probes, predictions and rules together, on small trees."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from doctor.host.live import LiveHost
from doctor.host.root import RootHost
from doctor.model.facts.seen import Seen
from doctor.model.finding import Answer, Status
from doctor.probes import ProbeRequest, look
from doctor.rules.shared.engine import judge, load_rules, root_causes
from tests.lab.cudnn_tree import copy_of, dlls_of, header_of, link, wheel_of
from tests.lab.elf_file import elf_bytes
from tests.rules.case import MATRIX
from tests.wheels import fetch, unpack

CODES = (
    "cudnn-copies-conflict",
    "cudnn-header-library-mismatch",
    "cudnn-install-incomplete",
    "cudnn-link-broken",
    "cudnn-missing",
    "cudnn-sublibrary-missing",
    "cudnn-sublibrary-mixed",
    "cudnn-version-mismatch-loaded-vs-compiled",
    "cudnn-wrong-major",
    "ld-library-path-shadowing",
    "zlibwapi-missing",
)
Roots = set[str]


class Stack:
    """A virtual environment with torch 2.9.1 and its pinned cuDNN, and a shell's LD_LIBRARY_PATH."""

    def __init__(self, root: Path, lay: Callable[[Path], object] = wheel_of) -> None:
        """`lay` puts the cuDNN wheel into the site directory."""
        self.root = root
        self.venv = root / "venv"
        self.site = self.venv / "lib/python3.12/site-packages"
        self.library_path: list[Path] = []
        self._environment()
        self._torch()
        lay(self.site)

    def _environment(self) -> None:
        (self.venv / "bin").mkdir(parents=True)
        (self.venv / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.4\n")
        (self.venv / "bin/python").write_text("")
        (self.venv / "bin/python").chmod(0o755)

    def _torch(self) -> None:
        (self.site / "torch/lib").mkdir(parents=True)
        (self.site / "torch/version.py").write_text("__version__ = '2.9.1+cu128'\ncuda: str = '12.8'\n")
        asks = elf_bytes(
            "libtorch_global_deps.so", needed=["libcudnn.so.9"], rpath="$ORIGIN/../../nvidia/cudnn/lib:$ORIGIN"
        )
        (self.site / "torch/lib/libtorch_global_deps.so").write_bytes(asks)
        info = self.site / "torch-2.9.1+cu128.dist-info"
        info.mkdir()
        pin = "Requires-Dist: nvidia-cudnn-cu12==9.10.2.21; platform_system == 'Linux'"
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: 2.9.1+cu128\n{pin}\n")
        (info / "RECORD").write_text("torch/version.py,,\n")

    @property
    def wheel(self) -> Path:
        """The directory of the wheel's libraries."""
        return self.site / "nvidia/cudnn/lib"

    def archive(self, version: str, name: str) -> Path:
        """An unpacked archive of another release, first on LD_LIBRARY_PATH."""
        directory = self.root / name / "lib"
        copy_of(directory, version)
        self.library_path.append(directory)
        return directory

    def answers(self) -> tuple[Answer, ...]:
        """What the rules about cuDNN say."""
        environ = {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": ":".join(map(str, self.library_path))}
        facts = look(LiveHost(environ), ProbeRequest(pythons=(str(self.venv),)))
        assert not facts.failures
        mine = str(self.root)
        copies = tuple(copy for copy in facts.cudnn.get() if copy.path.startswith(mine))  # not this machine's own
        return judge(facts._replace(cudnn=Seen(copies, "test")), MATRIX, load_rules(CODES))

    def roots(self) -> Roots:
        """The codes of the findings that no other one explains."""
        answers = self.answers()
        causes = root_causes(answers)
        return {one.code for one in answers if one.kind is Status.BAD and (one.code, one.subject) not in causes}


def healthy(stack: Stack) -> None:
    """Nothing is changed."""


def headers_of_another(stack: Stack) -> None:
    """F01."""
    directory = stack.root / "toolkit/lib"
    copy_of(directory, "8.9.7")
    header_of(stack.root / "toolkit/include", "9.10.2")
    stack.library_path.append(directory)


def dangling_link(stack: Stack) -> None:
    """F02."""
    directory = stack.archive("9.10.2", "cudnn")
    link(directory / "libcudnn.so", "libcudnn.so.9.1.0")


def two_majors(stack: Stack) -> None:
    """F09."""
    stack.archive("8.9.7", "eight")
    stack.archive("9.10.2", "nine")


def part_deleted(stack: Stack) -> None:
    """F13."""
    (stack.wheel / "libcudnn_ops.so.9").unlink()


def older_release_shadows(stack: Stack) -> None:
    """F23."""
    stack.archive("9.5.1", "old")


def parts_mixed(stack: Stack) -> None:
    """F24."""
    other = stack.root / "other"
    copy_of(other, "9.5.1")
    target = stack.wheel / "libcudnn_ops.so.9"
    target.write_bytes((other / "libcudnn_ops.so.9").read_bytes())


def same_release_elsewhere(stack: Stack) -> None:
    """A control: another copy of the very same release comes first."""
    stack.archive("9.10.2", "twin")


def nobody_loads_it(stack: Stack) -> None:
    """A control: an older release lies on the disk, off every path."""
    copy_of(stack.root / "opt/cudnn/lib", "9.5.1")


def wheel_removed(stack: Stack) -> None:
    """The pinned wheel was uninstalled."""
    shutil.rmtree(stack.site / "nvidia")
    for info in stack.site.glob("nvidia_cudnn*"):
        shutil.rmtree(info)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (healthy, set()),
        (same_release_elsewhere, set()),
        (nobody_loads_it, set()),
        (headers_of_another, {"cudnn-header-library-mismatch"}),
        (dangling_link, {"cudnn-link-broken"}),
        (two_majors, {"cudnn-copies-conflict"}),
        (part_deleted, {"cudnn-install-incomplete"}),
        (older_release_shadows, {"ld-library-path-shadowing"}),
        (parts_mixed, {"cudnn-sublibrary-mixed"}),
        (wheel_removed, {"cudnn-missing"}),
    ],
)
def test_the_root_cause_is_named(change: Callable[[Stack], None], expected: Roots, tmp_path: Path) -> None:
    stack = Stack(tmp_path)
    change(stack)
    assert stack.roots() == expected, [one for one in stack.answers() if one.kind is Status.BAD]


def test_a_healthy_stack_leaves_nothing_open(tmp_path: Path) -> None:
    assert [one for one in Stack(tmp_path).answers() if one.kind is Status.UNKNOWN] == []


def real_part_deleted(stack: Stack) -> None:
    """An engine library: invisible to any loading without a GPU."""
    (stack.wheel / "libcudnn_engines_precompiled.so.9").unlink()


def real_parts_mixed(stack: Stack) -> None:
    """A part of another real release is laid over the wheel's."""
    other = unpack(fetch("nvidia-cudnn-cu13==9.13.0.50"), stack.root / "other", ["nvidia/cudnn/lib/libcudnn_ops"])
    shutil.copyfile(other / "nvidia/cudnn/lib/libcudnn_ops.so.9", stack.wheel / "libcudnn_ops.so.9")


def real_part_truncated(stack: Stack) -> None:
    """Loading it would be a bus error."""
    with (stack.wheel / "libcudnn_adv.so.9").open("r+b") as stream:
        stream.truncate(100_000)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (healthy, set()),
        (real_part_deleted, {"cudnn-install-incomplete"}),
        (real_parts_mixed, {"cudnn-sublibrary-mixed"}),
        (real_part_truncated, {"cudnn-install-incomplete"}),
    ],
)
def test_real_wheels(change: Callable[[Stack], None], expected: Roots, tmp_path: Path) -> None:
    stack = Stack(tmp_path, lambda site: unpack(fetch("nvidia-cudnn-cu12==9.10.2.21"), site))
    change(stack)
    assert stack.roots() == expected, [one for one in stack.answers() if one.kind is Status.BAD]
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize(("beside", "expected"), [(False, Status.UNKNOWN), (True, Status.OK)])
def test_windows_zlib(beside: bool, expected: Status, tmp_path: Path) -> None:
    folder = dlls_of(tmp_path / "Program Files/NVIDIA GPU Computing Toolkit/CUDA/v11.8/bin", "8.9.2")
    (tmp_path / "Windows/System32").mkdir(parents=True)
    if beside:  # an image does not show its PATH, where it may lie as well
        (folder / "zlibwapi.dll").write_bytes(b"MZ")
    facts = look(RootHost(str(tmp_path)), ProbeRequest())
    assert [one.kind for one in judge(facts, MATRIX, load_rules(["zlibwapi-missing"]))] == [expected]
