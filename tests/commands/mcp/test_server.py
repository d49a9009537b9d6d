"""The server by its lines, and by the official client in both forms of the protocol."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from doctor.commands.mcp.server import LINE_AT_MOST, Answered, lines_of, run_command, serve
from doctor.commands.mcp.tools import ToolCall, tools

ROOT = Path(__file__).resolve().parents[3]
NEW = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}


def asked(*messages: Any, done: Answered | None = None) -> tuple[list[dict[str, Any]], list[ToolCall]]:
    """What is answered, and the command lines that were run for it."""
    calls: list[ToolCall] = []

    def run(call: ToolCall) -> Answered:
        calls.append(call)
        return done or Answered(1, "✗ it is broken\n", "")

    lines = [one if isinstance(one, str) else json.dumps({"jsonrpc": "2.0", **one}) for one in messages]
    return [json.loads(one) for one in serve(lines, run)], calls


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": 7, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def test_the_handshake_and_the_list() -> None:
    hello = {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}}}
    (first, second, third), _ = asked(
        hello, {"method": "notifications/initialized"}, {"id": "a", "method": "tools/list"}, {"id": 3, "method": "ping"}
    )
    assert first["result"]["protocolVersion"] == "2025-06-18"
    assert second["id"] == "a"
    assert [one["name"] for one in second["result"]["tools"]] == ["check", "explain", "which", "solve", "plan"]
    assert all(one["annotations"]["readOnlyHint"] for one in second["result"]["tools"])
    assert third["result"] == {}


def test_without_a_handshake() -> None:
    (found, listed, refused), _ = asked(
        {"id": 1, "method": "server/discover", "params": NEW},
        {"id": 2, "method": "tools/list", "params": NEW},
        {"id": 3, "method": "tools/list", "params": {"_meta": {next(iter(NEW["_meta"])): "2031-01-01"}}},
    )
    assert found["result"]["supportedVersions"] == ["2026-07-28"]
    assert {found["result"]["resultType"], listed["result"]["resultType"]} == {"complete"}
    assert refused["error"]["code"] == -32022
    assert refused["error"]["data"]["supported"] == ["2026-07-28"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("check", {}), "check --redact"),
        (("check", {"lock": "uv.lock", "gpu": "RTX 5090"}), "check --redact --lock=uv.lock --assume-gpu=RTX 5090"),
        (("which", {"library": "cudnn", "python": ".venv"}), "which --python=.venv -- cudnn"),
        (("solve", {"packages": ["torch", "jax"], "driver": "580"}), "matrix solve --driver=580 -- torch jax"),
        (
            ("plan", {"what": "stack", "distribution": "rocky-9", "release": "torch"}),
            "install stack --distribution=rocky-9 -- torch",
        ),
        (("plan", {"what": "cudnn", "release": "9.10.2", "os": "windows"}), "install cudnn --os=windows -- 9.10.2"),
    ],
)
def test_a_tool_is_a_command_line(arguments: tuple[str, dict[str, Any]], words: str) -> None:
    (told,), (run,) = asked(call(arguments[0], **arguments[1]))
    assert " ".join(run.words) == words
    assert told["result"] == {"content": [{"type": "text", "text": "✗ it is broken\n"}], "isError": False}


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("check", {"python": "--fix"}, "cannot begin with"),
        ("plan", {"what": "stack", "release": "--apply"}, "cannot begin with"),
        ("plan", {"what": "rollback"}, "one of cudnn, cuda"),
        ("check", {"only": "x"}, "has no only"),
        ("which", {}, "needs library"),
        ("solve", {"packages": "torch"}, "a list of texts"),
        ("solve", {"packages": [1]}, "a list of texts"),
        ("explain", {"text": ["x"]}, "a text is needed"),
    ],
)
def test_bad_arguments_run_nothing(name: str, arguments: dict[str, Any], why: str) -> None:
    (told,), calls = asked(call(name, **arguments))
    assert calls == []
    assert told["result"]["isError"]
    assert why in told["result"]["content"][0]["text"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("{", -32700),
        ("[" * 100_000, -32700),
        ("[]", -32600),
        ("x" * (LINE_AT_MOST + 2), -32600),
        ('{"id":1e999,"method":"ping"}', -32600),
        ('{"id":NaN,"method":"ping"}', -32600),
        ('{"id":{"a":1},"method":"ping"}', -32600),
        ('{"id":true,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":1,"method":"resources/list"}', -32601),
        ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"apply"}}', -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}', -32602),
    ],
)
def test_bad_lines(line: str, code: int) -> None:
    (told, after), _ = asked(line, {"id": 2, "method": "ping"})
    assert told["error"]["code"] == code
    assert after["result"] == {}


def test_a_long_number_is_an_id() -> None:
    assert asked({"id": 10**400, "method": "ping"})[0][0] == {"jsonrpc": "2.0", "id": 10**400, "result": {}}


def test_a_line_that_is_too_long_is_one_message() -> None:
    found = list(lines_of(io.StringIO("x" * (3 * LINE_AT_MOST) + '\n{"a": 1}\n')))
    assert [len(one) for one in found] == [LINE_AT_MOST + 1, 9]


@pytest.mark.parametrize(
    ("done", "text", "is_error"),
    [
        (Answered(2, "", "gpudoctor: no such file\n"), "gpudoctor: no such file\n", True),
        (Answered(4, "? unknown\n", ""), "? unknown\n", False),
        (Answered(None, "", ""), "check took more than 300 seconds", True),
    ],
)
def test_what_became_of_it(done: Answered, text: str, is_error: bool) -> None:
    (told,), _ = asked(call("check"), done=done)
    assert told["result"] == {"content": [{"type": "text", "text": text}], "isError": is_error}


@pytest.mark.parametrize("library", ["x" * (3 << 20), "\ud800"])
def test_what_no_command_line_can_hold(library: str) -> None:
    """The server answers, and answers the next request too."""
    line = json.dumps(call("which", library=library))
    first, second = (json.loads(one) for one in serve([line, '{"id": 8, "method": "ping"}']))
    assert first["result"]["isError"]
    assert second["result"] == {}


def test_a_real_command() -> None:
    done = run_command(tools()["explain"].call({"text": "libcudnn.so.9: cannot open shared object file"}))
    assert done.status == 1
    assert "libcudnn.so.9" in done.output


CLIENT = """
import sys, anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

async def main(mode):
    server = StdioServerParameters(command=sys.argv[1], args=["-c", sys.argv[2], "mcp"])
    async with Client(stdio_client(server), mode=mode) as client:
        tools = await client.list_tools()
        answer = await client.call_tool("which", {"library": "cudnn"})
        print(client.protocol_version, len(tools.tools), answer.is_error, answer.content[0].text.split()[0])

for mode in ("auto", "legacy"):
    anyio.run(main, mode)
"""


@pytest.mark.slow
def test_the_official_client(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "v")], check=True)
    python = str(tmp_path / "v/bin/python")
    subprocess.run([python, "-m", "pip", "install", "-q", "mcp==2.3.0"], check=True)
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from doctor.cli import main; main()"
    done = subprocess.run(
        [python, "-c", CLIENT, sys.executable, start], check=True, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.splitlines() == ["2026-07-28 5 False cudnn", "2025-11-25 5 False cudnn"]
