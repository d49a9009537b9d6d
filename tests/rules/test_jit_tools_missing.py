"""jit-tools-missing, and what the probes see of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compat.need import as_json
from doctor.loader import code_tools
from doctor.loader.cards import triton
from doctor.model.facts.environment import InterpreterStart
from doctor.model.facts.toolkit import CodeTools
from doctor.model.finding import Severity, Status
from doctor.probes import environment as probe
from tests.machine import VENV, distribution, environment, framework, machine, seen, toolkits, unseen
from tests.probes.pretend import PretendHost
from tests.probes.tree import Tree
from tests.rules.case import answer

CODE = "jit-tools-missing"
START = seen(InterpreterStart("/usr/bin/python3.12", "x86_64"))
LACKS = seen(InterpreterStart("/usr/bin/python3.12", "x86_64", header="/usr/include/python3.12/Python.h"))
NO_NVCC = toolkits()._replace(toolkits=seen(()))
TRITON = CodeTools(VENV, "triton", "triton", seen(()), seen(()), (), builds="Triton's kernels", cache="")


def with_triton(
    start: Any = START, *, cache: str = "", nameless: bool = False, user: str = "vllm", **changes: Any
) -> Any:
    others = seen((distribution(user, "1.0"),))
    one = environment(framework(), framework("triton", "3.5.1"), start=start, distributions=others)
    return machine(
        environments=seen((one,)), code_tools=seen((TRITON._replace(cache=cache, nameless=nameless),)), **changes
    )


def beside(*names: str, **changes: Any) -> Any:
    one = environment(distributions=seen(tuple(distribution(name, "1.0") for name in names)))
    return machine(environments=seen((one,)), **changes)


@pytest.mark.parametrize(
    ("facts", "kind", "text"),
    [
        (with_triton(), Status.OK, ""),
        (with_triton(compilers=seen(())), Status.BAD, "no C compiler"),
        (with_triton(LACKS), Status.BAD, "no Python.h"),
        (with_triton(LACKS, user="timm", compilers=seen(())), Status.OK, ""),  # only torch.compile would need them
        (with_triton(nameless=True), Status.BAD, "no name"),
        (with_triton(cache="/.triton/cache"), Status.BAD, "may not write"),
        (machine(compilers=seen(())), Status.OK, ""),  # eager torch without Triton
        (beside("deepspeed"), Status.OK, ""),
        (beside("deepspeed", toolkit=NO_NVCC), Status.BAD, "nvcc"),
        (beside("flashinfer-python", "flashinfer-jit-cache", toolkit=NO_NVCC), Status.OK, ""),
        (machine(code_tools=unseen()), Status.UNKNOWN, ""),
        (machine(environments=seen((environment(frameworks=seen(())),))), Status.NOT_APPLICABLE, ""),
    ],
)
def test_kinds(facts: Any, kind: Status, text: str) -> None:
    found = answer(CODE, facts)
    assert found.kind is kind
    assert text in found.why
    assert kind is not Status.BAD or found.severity is Severity.INFO


def test_the_headers_of_this_python_are_advised() -> None:
    (need,) = answer(CODE, with_triton(LACKS)).needs
    assert "apt-get install python3.12-dev" in as_json(need).spec


@pytest.mark.parametrize(
    ("uid", "environ", "source", "nameless"),
    [
        (1042, {}, "getpass.getuser()", True),
        (1000, {}, "getpass.getuser()", False),
        (1042, {"USER": "me"}, "getpass.getuser()", False),
        (1042, {"TORCHINDUCTOR_CACHE_DIR": "/tmp/x"}, "getpass.getuser()", False),
        (1042, {}, "getpass.getuser() or uid_", False),
        (1042, {}, "", False),
    ],
)
def test_a_user_without_a_name(
    uid: int, environ: dict[str, str], source: str, nameless: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("machine")
    tree = {"/etc/passwd": "me:x:1000:1000::/home/me:/bin/sh\n", "s/torch/_inductor/runtime/cache_dir_utils.py": source}
    found = framework("triton", "3.5.1", path="/s/triton")
    host = PretendHost(root, tree, environ=environ)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.geteuid", lambda: uid)
        assert triton.tools(host, environment(found), found).nameless is nameless


def test_what_is_seen(tmp_path: Path) -> None:
    site = "v/lib/python3.12/site-packages"
    tree: Tree = {
        "/usr/bin/python3.12": b"\x7fELF",
        "v/bin/python": "-> /usr/bin/python3.12",
        "v/pyvenv.cfg": "home = /usr/bin\nversion = 3.12.4\n",
        f"{site}/triton-3.5.1.dist-info/METADATA": "Name: triton\n",
        f"{site}/triton/backends/nvidia/driver.c": "",
    }
    host = PretendHost(tmp_path, tree, environ={"HOME": "/gone", "TRITON_CACHE_DIR": "/v/cache"})
    found = code_tools.look(host, probe.look(host, ("/v",))).get()
    assert [(one.builds, one.cache) for one in found] == [("Triton's kernels and torch.compile", "")]
