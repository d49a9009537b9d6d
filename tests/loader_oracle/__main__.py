"""`python -m tests.loader_oracle PYTHON FRAMEWORK [-v] [--stub] [--json] [NAME=VALUE ...]`: the table of one case.

`-v` adds what the programs wrote; `--stub` puts a libcuda first on LD_LIBRARY_PATH that reports a device.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.loader_oracle.compare import Row, compare, predict
from tests.loader_oracle.observe import observe
from tests.loader_oracle.programs import PROGRAMS
from tests.loader_oracle.replay import PROGRAM, replays
from tests.loader_oracle.stub import stub

STUB_FOR = {
    "tensorflow": ("libtensorflow_framework.so.2",),
    "torch": ("lib/libc10_cuda.so", "lib/libcaffe2_nvrtc.so"),
    "jax": ("../jax_plugins/xla_cuda12/xla_cuda_plugin.so",),
    "onnxruntime": ("capi/libonnxruntime_providers_cuda.so",),
}


class Comparison(NamedTuple):
    """One framework of one environment under some variables."""

    framework: str  # "torch 2.9.1+cu128", "" where no card knows it
    broken: str  # why the predicted import fails or is not known, "" where it is predicted to work
    rows: tuple[Row, ...]
    said: str  # what the programs wrote


def compared(python: str, name: str, environ: Mapping[str, str]) -> Comparison:
    """Predict, import for real, and replay what the import does not reach without a GPU."""
    environment, framework, simulated = predict(python, name, environ)
    with tempfile.TemporaryDirectory() as folder:
        program = PROGRAMS[name]
        observed = observe(environment.interpreter, program, environ, Path(folder) / "import")
        calls = replays(simulated.process, Path(folder))
        again = None
        if calls:
            variables = {**environ, "LOADER_ORACLE_REPLAY": calls}
            again = observe(environment.interpreter, program + PROGRAM, variables, Path(folder) / "replay")
    return Comparison(
        framework.label if framework else "",
        simulated.failure or simulated.unknown,
        tuple(compare(simulated, observed, again)),
        observed.said + (again.said if again else ""),
    )


def main(argv: list[str]) -> int:
    """Exit 1 where a prediction differs from what was observed."""
    python, name, *settings = [one for one in argv if not one.startswith("-")]
    environ = dict(one.split("=", 1) for one in settings)
    with tempfile.TemporaryDirectory() as folder:
        if "--stub" in argv:
            environ = with_stub(python, name, environ, Path(folder) / "stub")
        found = compared(python, name, environ)
    if "--json" in argv:
        rows = [{**row._asdict(), "equal": row.equal} for row in found.rows]
        sys.stdout.write(json.dumps({**found._asdict(), "rows": rows}))
    else:
        prefix = str(Path(python).parent.parent)
        lines = [f"{found.framework or name} {' '.join(settings)}", *_lines(found), *([found.said] * ("-v" in argv))]
        sys.stdout.write("\n".join(lines).replace(prefix, ".") + "\n")
    return any(row.equal == "no" for row in found.rows)


def _lines(found: Comparison) -> list[str]:
    lines = [f"  predicted failure: {found.broken}"] if found.broken else []
    for row in found.rows:
        other = f"  BUT {row.observed}" if row.equal == "no" else ""
        lines.append(f"  {row.equal:10} {row.name:44} {row.predicted}{other}")
    return lines


def with_stub(python: str, name: str, environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The variables with the stub's directory first; the framework's own libraries say what the stub must have."""
    _, framework, _ = predict(python, name, environ)
    askers = [Path(framework.path) / one for one in STUB_FOR.get(name, ())] if framework else []
    directory = stub(folder, [path for path in askers if path.exists()])
    return {**environ, "LD_LIBRARY_PATH": f"{directory}:{environ.get('LD_LIBRARY_PATH', '')}".rstrip(":")}


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
