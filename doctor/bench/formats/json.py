"""The benchmark as JSON, schema `gpudoctor.bench/1` (docs/bench.schema.json)."""

from __future__ import annotations

import json

from doctor.bench.encode import encode_bench
from doctor.bench.format import BenchFormat
from doctor.bench.sheet import Report
from doctor.formats import Look


def render(report: Report, look: Look, _chart: str) -> str:
    """Indented, keys in the order of the contract."""
    return json.dumps(encode_bench(report), indent=1, ensure_ascii=not look.symbols) + "\n"


FORMAT = BenchFormat(render)
