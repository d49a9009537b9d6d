"""What programs put around each line of a message: logs, launchers, pages, boxes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

_TIME = "2026-01-02T03:04:05.1234567Z"


def _each(before: str, after: str = "") -> Callable[[str], str]:
    return lambda text: "\n".join(f"{before}{line}{after}" for line in text.split("\n"))


def _boxed(text: str) -> str:
    """As rich draws a panel of 100 columns; what is longer is broken between words."""
    inner = [piece for line in text.split("\n") for piece in _folded(line, 96)]
    rows = [f"│ {line:<96} │" for line in inner]
    return "\n".join(("╭─ Output " + "─" * 89 + "╮", *rows, "╰" + "─" * 98 + "╯"))


def _folded(line: str, width: int) -> Iterable[str]:
    now = ""
    for word in line.split(" "):
        if now and len(now) + 1 + len(word) > width:
            yield now
            now = word
        else:
            now = f"{now} {word}" if now else word
    yield now


def _docker(text: str) -> str:
    return "\n".join(
        json.dumps({"log": f"{line}\n", "stream": "stderr", "time": "2026-01-02T03:04:05.123456789Z"})
        for line in text.split("\n")
    )


def _structured(text: str) -> str:
    """One line for all of the message, as zap, structlog and Google's logging write it."""
    return json.dumps({"severity": "ERROR", "time": _TIME, "message": text, "labels": {"pod": "train-0"}})


def _logfmt(text: str) -> str:
    return f"time={_TIME} level=error msg={json.dumps(text, ensure_ascii=False)} pod=train-0"


def _coloured(text: str) -> str:
    return json.dumps({"level": "error", "msg": "\n".join(f"\x1b[31m{one}\x1b[0m" for one in text.split("\n"))})


def _notebook(text: str) -> str:
    lines = ",\n".join(
        f"      {json.dumps(chr(27) + f'[31m{one}' + chr(27) + '[0m' + chr(10))}" for one in text.split("\n")
    )
    return f'     "text": [\n{lines}\n     ]'


WRAPPERS: dict[str, Callable[[str], str]] = {
    "rank": _each("[rank0]: "),
    "local rank": _each("[default3]:"),
    "mpirun": _each("[1,0]<stderr>:"),
    "srun": _each("12: "),
    "vllm": _each("(EngineCore_DP0 pid=41819) ERROR 12-08 20:46:48 [v1/engine/core.py:708] "),
    "ray": _each("\x1b[36m(RayWorker pid=1, ip=10.0.0.1)\x1b[0m "),
    "docker compose": _each("face_1             | "),
    "kubectl": _each("2026-01-02T03:04:05.123456789Z stderr F "),
    "kubectl --prefix": _each("[pod/train-0/main] "),
    "docker json-file": _docker,
    "structured": _structured,
    "structured, coloured": _coloured,
    "structured, in docker's": lambda text: _docker(_structured(text)),
    "Loki": lambda text: json.dumps({"line": text, "timestamp": "1760000000"}),
    "journalctl -o json": lambda text: json.dumps({"PRIORITY": "3", "MESSAGE": text, "_PID": "7"}),
    "logfmt": _logfmt,
    "GitHub Actions": _each(f"{_TIME} "),
    "GitHub Actions, an error": _each(f"{_TIME} ##[error]"),
    "gh run view --log": _each(f"build\tRun tests\t{_TIME} "),
    "GitLab": _each("2026-01-02T03:04:05.123456Z 01E "),
    "Jenkins": _each("[2026-01-02T03:04:05.123Z] "),
    "Azure": _each(f"{_TIME} ##[error]"),
    "BuildKit": _each("#12 34.56 "),
    "journald": _each("Nov 23 11:50:56 host python[1234]: "),
    "journald, precise": _each("2026-01-02T03:04:05+0000 host train.service[1234]: "),
    "syslog, RFC 5424": _each("<11>1 2026-01-02T03:04:05.123Z host train 77 - - "),
    "loguru": _each("2025-11-01 12:00:00.123 | ERROR    | "),
    "hydra": _each("[2026-01-02 03:04:05,123][__main__][ERROR] - "),
    "klog": _each("E0102 03:04:05.123456   12345 pod.go:77] "),
    "grep": _each("logs/train.log:77:"),
    "quotation": _each("> "),
    "quotation of a quotation": _each("> > "),
    "quotation, indented": _each(">     "),
    "GitHub's details": lambda text: f"<details><summary>Log</summary>\n\n```\n{text}\n```\n\n</details>",
    "HTML": lambda text: "<pre>" + text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;") + "</pre>",
    "box": _boxed,
    "exception group": _each("    | "),
    "colours without escapes": _each("[1;31m", "[0m"),
    "cat -v": _each("^[[31m", "^[[0m"),
    "rsyslog": _each("#033[31m", "#033[0m"),
    "progress": lambda text: (
        "".join(f"\r {one}%|###   | {one}/100 [00:01, 9.1it/s]" for one in range(40)) + "\n" + text
    ),
    "progress behind it": _each("", "\r 41%|####  | 41/100 [00:01, 9.1it/s]"),
    "Windows": _each("", "\r"),
    "notebook": _notebook,
    "repr": lambda text: repr(f'x\n  File "a.py", line 3\n{text}'),
}
