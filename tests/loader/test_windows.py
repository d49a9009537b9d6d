"""Which cuDNN a framework gets on a Windows disk, by its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.host.root import RootHost
from doctor.loader import windows
from doctor.model.facts.loader import FoundBy, Outcome, Prediction
from doctor.model.facts.seen import Seen, Unseen, value_or
from doctor.probes import loader
from tests.lab.pe_file import pe_bytes
from tests.machine import environment, framework, seen
from tests.probes.tree import Tree, plant

SITE = "C:/venv/Lib/site-packages"
PROVIDER = f"{SITE}/onnxruntime/capi/onnxruntime_providers_cuda.dll"
ORT = framework("onnxruntime-gpu", "1.22.0", path=f"{SITE}/onnxruntime", environment="C:/venv")
TORCH = framework("torch", "2.9.1+cu128", path=f"{SITE}/torch", environment="C:/venv")
FLOW = framework("tensorflow", "2.10.1", path=f"{SITE}/tensorflow", environment="C:/venv")
OPENS_ALL = {f"{SITE}/torch/__init__.py": 'glob.glob(os.path.join(p, "*.dll"))'}
ASKS = {PROVIDER: pe_bytes("p.dll", needs=("cudnn64_9.dll",))}
ON_PATH = {"PATH": "C:/cuda/bin"}


def told(root: Path, tree: Tree, *frameworks: object, environ: dict[str, str]) -> tuple[Prediction, ...]:
    below = {name.removeprefix("C:/"): content for name, content in {"C:/Windows/x": b"", **tree}.items()}
    host = RootHost(str(plant(root, below)), environ)
    venv = environment(*frameworks)._replace(  # type: ignore[arg-type]
        prefix="C:/venv", interpreter="C:/venv/Scripts/python.exe", sites=seen((SITE,)), kind="venv"
    )
    found: tuple[Prediction, ...] = windows.predictions(host, loader.look(host), seen((venv,))).get()
    return found


@pytest.mark.parametrize(
    ("one", "tree", "path", "rule"),
    [
        (TORCH, {**OPENS_ALL, f"{SITE}/torch/lib/cudnn64_9.dll": b""}, f"{SITE}/torch/lib", FoundBy.ABSOLUTE),
        (ORT, {**ASKS, f"{SITE}/onnxruntime/capi/cudnn64_9.dll": b""}, f"{SITE}/onnxruntime/capi", FoundBy.BESIDE),
        (ORT, {**ASKS, "C:/cuda/bin/cudnn64_9.dll": b""}, "C:/cuda/bin", FoundBy.PATH),
        (
            ORT,
            {**ASKS, "C:/cuda/bin/cudnn64_9.dll": b"", "C:/Windows/System32/CUDNN64_9.DLL": b""},
            "C:/Windows/System32",
            FoundBy.SYSTEM,
        ),
        (FLOW, {"C:/cuda/bin/cudnn64_9.dll": b""}, "C:/cuda/bin", FoundBy.PATH),
    ],
)
def test_found(tmp_path: Path, one: object, tree: Tree, path: str, rule: FoundBy) -> None:
    [found] = told(tmp_path, tree, one, environ=ON_PATH)
    assert value_or(found.path, "").rpartition("/")[0] == path
    assert found.outcome is Outcome.FOUND
    assert found.way is not None
    assert found.way.rule is rule
    assert isinstance(found.intended, Seen) is path.startswith(SITE)


def test_of_another_major_or_of_nobody_knows_where(tmp_path: Path) -> None:
    tree: Tree = {**ASKS, "C:/cuda/bin/cudnn64_8.dll": b""}
    [missing] = told(tmp_path / "known", tree, ORT, environ=ON_PATH)
    assert missing.missing
    [unread] = told(tmp_path / "unknown", tree, ORT, environ={})
    assert (unread.outcome, isinstance(unread.path, Unseen)) == (Outcome.UNREAD, True)


def test_who_opens_dlls_in_a_way_that_is_not_known(tmp_path: Path) -> None:
    jax = framework("jax-cuda12-plugin", "0.4.35", path=f"{SITE}/jax_cuda12_plugin", environment="C:/venv")
    [found] = told(tmp_path, {}, jax, environ=ON_PATH)
    assert (found.soname, found.outcome) == ("", Outcome.UNREAD)
    assert told(tmp_path / "cpu", {}, TORCH._replace(build=seen("cpu")), environ=ON_PATH) == ()
