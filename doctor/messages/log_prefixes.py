"""A line as its program wrote it: without what a launcher, a log, a box or a page put around it."""

from __future__ import annotations

import re

from compat.base.record import NamedTuple

_DEEPEST = 3  # wrappers within wrappers: docker's log of a program that logs in JSON
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)"
_DATE = r"\d{4}-\d\d-\d\d[T ][\d:.,]{8,20}(?:Z|[+-]\d\d:?\d\d)?"
# Who writes them, in order: GitHub's `gh run view --log`; GitHub, Azure, GitLab (with its stream), docker and kubectl
# with timestamps; Jenkins and loguru, logging, hydra; syslog, journald and RFC 5424; kernel; docker compose; BuildKit;
# kubectl --prefix; torchelastic and torch's excepthook; mpirun; srun --label; Ray; vLLM; klog; grep; GitHub's commands;
# a reader's quotation; Python's exception groups.
_BEFORE = re.compile(
    rf"(?:[^\t]{{1,80}}\t[^\t]{{1,80}}\t(?=\ufeff?\d{{4}}-)"
    rf"|\d{{4}}-\d\d-\d\dT[\d:.]{{8,20}}Z (?:std(?:out|err) [FP] |[\da-f]{{2}}[OE][ +])?"
    rf"|\[{_DATE}\](?:(?:\[[\w.:-]{{1,80}}\]){{1,4}} - | )"
    rf"|{_DATE} ?\| ?\w{{4,8}} *\| ?(?:[\w.:<>]{{1,100}} - )?"
    rf"|{_DATE} - [\w.]{{1,80}} - {_LEVEL} - "
    rf"|{_DATE} \[?{_LEVEL}\]?:? "
    rf"|(?:\w{{3}} [ \d]\d [\d:.]{{8,15}}|{_DATE}) \S{{1,60}} (?:[\w.@/-]{{1,60}}\[\d{{1,8}}\]|kernel): "
    rf"|<\d{{1,3}}>1 {_DATE} \S{{1,60}} \S{{1,60}} \S{{1,20}} \S{{1,60}} - "
    r"|\[ *\d{1,7}\.\d{6}\] "
    r"|[\w.-]{1,60}[-_]\d{1,3} {1,60}\| "
    r"|#\d{1,3} \d{1,5}\.\d{1,3} "
    r"|\[pod/[\w.-]{1,253}/[\w.-]{1,63}\] "
    r"|\[(?:rank|default|local_rank)\d{1,5}\]: ?"
    r"|\[\d{1,3},\d{1,5}\]<std(?:out|err)>: ?"
    r"|\d{1,4}: "
    r"|\((?:\w{1,60} )?pid=\d{1,8}(?:, ip=[\d.]{7,15})?\) ?"
    r"|(?:ERROR|WARNING|INFO) \d\d-\d\d [\d:]{8} \[[\w./]{1,80}:\d{1,5}\] ?"
    r"|[IWEF]\d{4} [\d:.]{15} +\d{1,8} [\w.-]{1,80}:\d{1,6}\] "
    r"|[\w./-]{1,200}\.(?:log|txt|out|err)[:-]\d{1,9}[:-]"
    r"|##?\[\w{1,20}\]|::(?:error|warning)[^:]{0,200}::"
    r"|> ?| {2,40}\| (?=.{0,8000}[^|│\s] *$)"
    r"){1,4}"
)
_BOX = re.compile(r"^ *[│┃║] (.*?) *[│┃║] *$")  # of rich: tracebacks, panels, and Typer's errors
_TAG = re.compile(r"</?(?:details|summary|pre|code|br|samp|tt|span|div)(?: [^<>]{0,200})?/?>")
# Of a web page; no others: a number may stand for a letter that steers the terminal.
_ENTITIES = {"&quot;": '"', "&#34;": '"', "&#39;": "'", "&#x27;": "'", "&lt;": "<", "&gt;": ">", "&amp;": "&"}
_ENTITY = re.compile("|".join(_ENTITIES))
# Colours, as JSON, Python's repr, rsyslog, `cat -v` and a form that loses the escape character leave them.
_COLOUR = re.compile(
    r"(?:\x1b|\\u001b|\\x1b|\\033|\\e|#033|\^\[|(?=\[0?m)|(?<![\w.)\]]))\[(?:0|[1-9]\d{0,2})?(?:;\d{1,3}){0,5}m(?!\]|[\w.]{1,80}:\d)"
)

_STRING = r'"((?:[^"\\]|\\.)*)("|$)'
# Where programs that log in JSON or logfmt put what was said: docker, kubectl, Loki, journald, structlog, zap, logrus,
# OpenTelemetry, Google's and Amazon's; and notebooks.
_KEYS = (
    "log|msg|message|MESSAGE|@message|textPayload|line|text|event|body|stringValue|error|err|exception|exc_info|"
    "stack|stack_trace|stacktrace|traceback|evalue|py_callstack|stderr|stdout|output|details?"
)
_SAID = re.compile(rf'(?:"(?:{_KEYS})"\s{{0,40}}:\s{{0,40}}\[?\s{{0,40}}|(?<![\w.-])(?:{_KEYS})=){_STRING}')
_NEXT = re.compile(rf"\s*,\s*{_STRING}")
# But Ollama's line about a GPU: what it says stands behind its message.
_IS_JSON = re.compile(
    r'(?!.{0,300}?\bmsg="inference compute")'
    r"(?:\s*(?:\[\s*)?\{|\s*\[\d+\.\d+, ?\"[oe]\"|.{0,300}?\b(?:level|lvl|time|ts|severity)=)"
)
_ALONE = re.compile(rf"\s*{_STRING},?\s*")  # a line of a notebook's file
_OF_A_PAGE = re.compile(r"\\n$|\\u[\da-f]{4}")  # else it is a path of Windows
_RUN_ON = re.compile(r"\\n(?:Traceback \(| {2,8}File |\w+(?:Error|Exception|Warning)\b)")  # a repr, a piece of JSON
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/", "'": "'", "b": " ", "f": " "}


class Unwrapped(NamedTuple):
    """What a line says."""

    texts: tuple[str, ...]  # several where it holds the lines of a message, escaped
    is_inner: bool  # whether it stood in a string


def unwrapped(text: str, depth: int = 0) -> Unwrapped:
    """The line of a program, or its lines, without all that was put around it."""
    bare = _bare(text)
    inner = _inner(bare) if depth < _DEEPEST else ()
    if not inner:
        return Unwrapped((bare,), is_inner=depth > 0)
    lines = [line for one in inner for line in re.split(r"\r?\n|\r", one.rstrip("\r\n"))]
    return Unwrapped(tuple(each for line in lines for each in unwrapped(line, depth + 1).texts), is_inner=True)


def _bare(text: str) -> str:
    """Without colours, prefixes, boxes and tags."""
    if "[" in text:
        text = _COLOUR.sub("", text)
    boxed = _BOX.match(text)
    text = boxed[1] if boxed else text
    found = _BEFORE.match(text.lstrip("\ufeff"))
    text = text.lstrip("\ufeff")[found.end() :] if found else text
    if "<" in text:
        text = _TAG.sub("", text)
    return _ENTITY.sub(lambda entity: _ENTITIES[entity[0]], text) if "&" in text else text


def _inner(text: str) -> tuple[str, ...]:
    """What is shown in the strings of a line of JSON or logfmt, () where it is none."""
    if '"' in text and _IS_JSON.match(text):
        said = _said(text)
        return tuple(map(_decoded, said)) if said else _quoted(text)
    return _quoted(text)


def _quoted(text: str) -> tuple[str, ...]:
    """Return what a line is that is one string, or that holds the lines of one."""
    if "\\" not in text:
        return ()
    alone = _ALONE.fullmatch(text)
    if alone and _OF_A_PAGE.search(alone[1]):
        return (_decoded(alone[1]),)
    return (_decoded(text),) if _RUN_ON.search(text) else ()


def _said(text: str) -> list[str]:
    found: list[str] = []
    at = 0
    while one := _SAID.search(text, at):
        found.append(one[1])
        at = one.end()
        while "[" in text[one.start() : one.start(1)] and (one_more := _NEXT.match(text, at)):
            found.append(one_more[1])
            at = one_more.end()
    return [one for one in found if one]


def _decoded(text: str) -> str:
    return _ESCAPED.sub(_letter, text) if "\\" in text else text


def _letter(escape: re.Match[str]) -> str:
    number = escape[1] or escape[2]
    return chr(int(number, 16)) if number else _LETTERS.get(escape[3], escape[0])
