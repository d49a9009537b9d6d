"""JSON-RPC over lines, in both forms of the protocol: with a handshake (to 2025-11-25), and without (2026-07-28).

Source: the specification, modelcontextprotocol.io, revisions 2024-11-05 to 2026-07-28. What is not asked for here
(sampling, roots, resources, prompts, subscriptions) is not offered.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isfinite
from typing import Any, TextIO

from compat.base.paths import import_path
from compat.base.process import Launch, run_process
from compat.base.record import NamedTuple
from doctor import __version__
from doctor.commands.mcp.tools import BadArguments, ToolCall, tools

WITH_HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS = ("2026-07-28",)
LINE_AT_MOST = 8 << 20  # characters: a log may come in one
_ANSWER_AT_MOST = 60_000  # characters of a text; a model reads no more
_TIMEOUT_S = 300.0
_VERSION = "io.modelcontextprotocol/protocolVersion"
_BAD_JSON, _BAD_REQUEST, _NO_METHOD, _BAD_PARAMS, _BAD_VERSION = -32700, -32600, -32601, -32602, -32022
_SELF = {"name": "gpudoctor", "version": __version__}
_USE = (
    "Call `check` first when CUDA, cuDNN or a framework does not work on this machine. Call `explain` for an error "
    "text. Call `solve` before you install packages that must work together. Call `plan` for the steps of an "
    "installation. All of them only read."
)
_ABILITIES = {"tools": {"listChanged": False}}


class RpcError(Exception):
    """An answer that is an error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.data = code, data


class Answered(NamedTuple):
    """What a command line wrote."""

    status: int | None  # None: it took too long
    output: str
    errors: str


Run = Callable[[ToolCall], Answered]


def run_command(call: ToolCall) -> Answered:
    """Run a command line of ours in a process of its own."""
    start = f"import sys; sys.path[:0] = {import_path()[:1]!r}; from doctor.cli import main; main()"
    argv = (sys.executable, "-I", "-c", start, *call.words)
    done = run_process(Launch(argv, given=call.given.encode("utf-8", "replace"), ends_with_us=True), _TIMEOUT_S)
    return Answered(done.status, *(one.decode("utf-8", "replace") for one in (done.stdout, done.stderr)))


def lines_of(stream: TextIO) -> Iterator[str]:
    """The lines of a stream; of one that is too long its beginning, which is long enough to be refused."""
    while line := stream.readline(LINE_AT_MOST + 1):
        rest = line
        while not rest.endswith("\n") and rest:
            rest = stream.readline(LINE_AT_MOST)
        yield line


def serve(lines: Iterable[str], run: Run = run_command) -> Iterator[str]:
    """Answer each line that asks; a notification is not answered."""
    for line in lines:
        if not line.strip():
            continue
        number: Any = None
        told: dict[str, Any]
        try:
            message = _parsed(line)
            number = _number(message.get("id"))
            if "method" not in message or number is None:
                continue  # a notification, or an answer to what nobody asked
            told = {"result": _result(str(message["method"]), message.get("params") or {}, run)}
        except RpcError as error:
            told = {
                "error": {"code": error.code, "message": str(error), **({"data": error.data} if error.data else {})}
            }
        yield json.dumps({"jsonrpc": "2.0", "id": number, **told}, ensure_ascii=True) + "\n"


def _parsed(line: str) -> Mapping[str, Any]:
    if len(line) > LINE_AT_MOST:
        raise RpcError(_BAD_REQUEST, f"a message has at most {LINE_AT_MOST} characters")
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise RpcError(_BAD_JSON, "this line is no JSON") from None
    if not isinstance(message, dict):
        raise RpcError(_BAD_REQUEST, "one request a line, as an object")
    return message


def _number(given: Any) -> str | float | None:
    """Return the id of a request: a text, or a number that JSON can give back (not 1e999); raises RpcError."""
    is_kind = isinstance(given, (str, int, float, type(None))) and not isinstance(given, bool)
    if not is_kind or (isinstance(given, float) and not isfinite(given)):
        raise RpcError(_BAD_REQUEST, "id: a text or a number is needed")
    found: str | float | None = given
    return found


def _result(method: str, params: Any, run: Run) -> dict[str, Any]:
    """The result of a method; raises RpcError."""
    if not isinstance(params, dict):
        raise RpcError(_BAD_PARAMS, "params: an object is needed")
    meta = params.get("_meta")
    version = meta.get(_VERSION) if isinstance(meta, dict) else None
    if version is not None and version not in STATELESS:
        supported = {"supported": list(STATELESS), "requested": version}
        raise RpcError(_BAD_VERSION, f"protocol version {version} is not supported", supported)
    found = _answer(method, params, run)
    if version is None and method != "server/discover":
        return found
    cached = {"cacheScope": "public", "ttlMs": 0} if method in {"server/discover", "tools/list"} else {}
    return {"resultType": "complete", **cached, **found, "_meta": {"io.modelcontextprotocol/serverInfo": _SELF}}


def _answer(method: str, params: Mapping[str, Any], run: Run) -> dict[str, Any]:
    if method == "initialize":
        asked = params.get("protocolVersion")
        version = asked if asked in WITH_HANDSHAKE else WITH_HANDSHAKE[-1]
        return {"protocolVersion": version, "capabilities": _ABILITIES, "serverInfo": _SELF, "instructions": _USE}
    if method == "server/discover":
        return {"supportedVersions": list(STATELESS), "capabilities": _ABILITIES, "instructions": _USE}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [one.described() for one in tools().values()]}
    if method == "tools/call":
        return _called(params, run)
    raise RpcError(_NO_METHOD, f"there is no method {method}")


def _called(params: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """What a tool prints. Bad arguments and a command that failed are told to the model, which can do better."""
    tool = tools().get(str(params.get("name")))
    arguments = params.get("arguments") or {}
    if tool is None or not isinstance(arguments, dict):
        raise RpcError(_BAD_PARAMS, f"there is no tool {params.get('name')}; there are: {', '.join(tools())}")
    try:
        done = run(tool.call(arguments))
    except (BadArguments, OSError, UnicodeError) as error:  # too long, or no characters, for a command line
        return _text(getattr(error, "strerror", None) or str(error), is_error=True)
    if done.status is None:
        return _text(f"{tool.name} took more than {_TIMEOUT_S:.0f} seconds", is_error=True)
    failed = done.status not in {0, 1, 4}  # see docs/exit-codes.md
    return _text(done.output or done.errors, is_error=failed)


def _text(text: str, *, is_error: bool) -> dict[str, Any]:
    if len(text) > _ANSWER_AT_MOST:
        text = f"{text[:_ANSWER_AT_MOST]}\n... {len(text) - _ANSWER_AT_MOST} more characters\n"
    return {"content": [{"type": "text", "text": text}], "isError": is_error}
