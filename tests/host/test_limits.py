"""What a hostile input could still take ends as one line; what gpudoctor starts for its user is not limited."""

from __future__ import annotations

import subprocess
import sys

import pytest

from doctor.cli import EXIT_FAULT, _is_limited

resource = pytest.importorskip("resource")
LIMIT = "from compat.base.limits import limit_this_process; limit_this_process({}, {});"
CHILD = "import resource; print(resource.getrlimit(resource.RLIMIT_DATA), resource.getrlimit(resource.RLIMIT_CPU))"


def python(code: str) -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.path[:0] = {sys.path!r}; {code}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)


def command(work: str, *limits: int) -> subprocess.CompletedProcess[str]:
    """`gpudoctor check`, that does this work instead."""
    return python(
        "import doctor.cli as cli\n"
        f"{LIMIT.format(*limits)}\n"
        f"def work(*_): {work}\n"
        "cli._plain_check = work\n"
        "sys.exit(cli.execute(['check']))"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not count anonymous memory so")
def test_memory_ends_as_one_line() -> None:
    done = command("return bytearray(1 << 28)", 1 << 27, 60)
    assert (done.returncode, done.stdout) == (EXIT_FAULT, "")
    assert done.stderr == "gpudoctor: this needs more memory than there is, or than 1024 MiB\n"


def test_time_ends_as_one_line() -> None:
    done = command("\n  while True: pass", 1 << 30, 1)
    assert (done.returncode, done.stdout) == (1, "") or done.returncode in {2, EXIT_FAULT}
    assert done.stderr == "gpudoctor: given up: it took more than 1 s of CPU time\n"


def test_a_pattern_that_backtracks_ends_as_one_line() -> None:
    done = command("import re; re.match('(a+)+$', 'a' * 40 + 'b')", 1 << 30, 1)
    assert done.stderr == "gpudoctor: given up: it took more than 1 s of CPU time\n"


def test_subprocesses_are_not_limited() -> None:
    start = "from compat.base.process import *; done = run_process(Launch((sys.executable, '-c', {!r})), 30)"
    start += "; print(done.stdout.decode())"
    own = CHILD.replace("import resource; ", "import resource;")
    free = python(CHILD).stdout.strip()
    done = python(f"{LIMIT.format(1 << 30, 60)} {start.format(CHILD)}; {own}")
    child, _, mine = done.stdout.partition("\n\n")
    assert child == free, done.stderr
    assert "1073741824" in mine


@pytest.mark.parametrize(
    ("argv", "limited"),
    [
        ("check", True), ("check --python x", True), ("explain x", True), ("matrix can torch 2.9.1", True),
        ("check --deep", False), ("check --fix", False), ("matrix refresh torch", False), ("run -- check", False),
        ("verify", False), ("bench", False), ("install cudnn", False), ("", False),
    ],
)  # fmt: skip
def test_which_commands_are_limited(argv: str, *, limited: bool) -> None:
    assert _is_limited(argv.split()) is limited


def test_who_imports_gpudoctor_is_not_limited() -> None:
    assert python(f"import gpudoctor, doctor.cli; {CHILD}").stdout == python(CHILD).stdout
