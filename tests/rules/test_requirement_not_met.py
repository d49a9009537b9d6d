"""requirement-not-met, and the requirements that do not hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor.model.facts.environment import Unmet
from doctor.model.facts.seen import Place
from doctor.model.finding import Severity, Status
from doctor.probes import environment as probe
from tests.machine import environment, machine, seen, unseen
from tests.probes.pretend import PretendHost
from tests.rules.case import answer

CODE = "requirement-not-met"
SITE = "v/lib/python3.12/site-packages"


def unmet(*found: Unmet) -> Any:
    return machine(environments=seen((environment(unmet=seen(found)),)))


def of(name: str, there: str = "", distribution: str = "my-ops") -> Unmet:
    return Unmet(distribution, name, ">=2", Place("/x/METADATA"), there=there)


@pytest.mark.parametrize(
    ("facts", "kind", "severity"),
    [
        (unmet(), Status.OK, None),
        (unmet(of("requests")), Status.BAD, Severity.INFO),
        (unmet(of("requests"), of("torch", "1.13")), Status.BAD, Severity.WARNING),
        (unmet(of("python", "3.12.4")), Status.BAD, Severity.WARNING),
        (unmet(of("sympy", distribution="torch")), Status.OK, None),  # companion-version-mismatch has it
        (machine(environments=seen((environment(frameworks=seen(())),))), Status.NOT_APPLICABLE, None),
        (machine(environments=seen((environment(unmet=unseen()),))), Status.UNKNOWN, None),
    ],
)
def test_kinds(facts: Any, kind: Status, severity: Severity | None) -> None:
    found = answer(CODE, facts)
    assert found.kind is kind
    assert kind is not Status.BAD or found.severity is severity


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Requires-Dist: click>=8", [("click", "")]),
        ("Requires-Dist: click>=8; extra == 'cli'", []),
        ("Requires-Dist: click; sys_platform == 'win32'", []),
        ("Requires-Dist: click; python_version < '3.13'", [("click", "")]),
        ("Requires-Dist: click; python_full_version >= '3.12.9'", []),
        ("Requires-Dist: click; implementation_name == 'pypy'", []),
        ("Requires-Dist: click; platform_release > '5'", []),  # not evaluated
        ("Requires-Dist: numpy<2", [("numpy", "2.1.0")]),
        ("Requires-Dist: numpy (>=2)", []),
        ("Requires-Dist: onnxruntime>=1", []),  # onnxruntime-gpu serves
        ("Requires-Dist: torch[opt]>=2", [("opt-einsum", "")]),
        ("Requires-Dist: tool @ https://example.invalid/tool.zip", [("tool", "")]),
        ("Requires-Python: >=3.13", [("python", "3.12.4")]),
    ],
)
def test_what_does_not_hold(tmp_path: Path, said: str, found: list[tuple[str, str]]) -> None:
    packages = {
        "torch-2.9.1": "Name: torch\nRequires-Dist: opt-einsum>=3; extra == 'opt'\n",
        "numpy-2.1.0": "Name: numpy\n",
        "onnxruntime_gpu-1.22.0": "Name: onnxruntime-gpu\n",
        "my_ops-1.0": f"Name: my-ops\n{said}\n\nRequires-Dist: in-the-description\n",
    }
    tree = {
        "/usr/bin/python3.12": "",
        "v/bin/python": "",
        "v/pyvenv.cfg": "home = /usr/bin\nversion = 3.12.4\n",
        f"{SITE}/torch/__init__.py": "",
        f"{SITE}/torch/version.py": "__version__ = '2.9.1'\n",
        f"{SITE}/~umpy/x.py": "",
        **{f"{SITE}/{name}.dist-info/METADATA": text for name, text in packages.items()},
    }
    looked = probe.look(PretendHost(tmp_path, tree), ("/v",)).get()[0]
    assert looked.leftovers == (f"/{SITE}/~umpy",)
    unmet = [one for one in looked.unmet.get() if one.distribution in {"my-ops", "torch"}]
    assert [(one.name, one.there) for one in unmet] == found
