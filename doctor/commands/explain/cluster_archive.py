"""An archive with the texts of several nodes: which of its files are of which node, and each judged by itself."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate

from compat.base.record import NamedTuple
from doctor.host import BadRequest
from doctor.model.facts.seen import Place
from doctor.model.finding import Answer, Finding, Report

_MOST_NODES = 200  # each costs tenths of a second
_BUG_REPORT = re.compile(r"nvidia-bug-report(?:_(?P<node>[^/]+?))?\.log(?:\.gz)?$")
_OF_POD = re.compile(r"(?P<pod>gpu_operand_pod_[^/]+?)(?:\.previous)?\.(?:log|descr)$")
_NODE = re.compile(rb"^Node: +([A-Za-z0-9][\w.-]{0,252})(?:/|$)", re.MULTILINE)  # of `kubectl describe pod`
REST = "files without a node"


class Member(NamedTuple):
    """A text of an archive."""

    name: str  # its path there
    content: bytes


def nodes_of(members: Iterable[Member]) -> dict[str, tuple[Member, ...]]:
    """The files of each node by its name, those of none under REST; {} where there are not several nodes.

    A node is named by its bug report (the GPU operator's must-gather), by the description of a pod that runs there, or
    by the folder that holds a bug report. Raises BadRequest for too many.
    """
    members = tuple(members)
    said = [(one.name, _NODE.search(one.content)) for one in members if one.name.endswith(".descr")]
    pods = {_pod(name): node[1].decode() for name, node in said if node}
    folders = {_folder(one.name) for one in members if _named(one.name) == ""} - {""}
    found: dict[str, list[Member]] = {}
    for one in members:
        inside = [folder for folder in folders if one.name.startswith(f"{folder}/")]
        by_folder = max(inside, key=len).rpartition("/")[2] if inside else ""
        found.setdefault(plain_name(_named(one.name) or pods.get(_pod(one.name)) or by_folder) or REST, []).append(one)
    if len(found.keys() - {REST}) < 2:
        return {}
    if len(found) > _MOST_NODES:
        raise BadRequest(f"it contains {len(found)} nodes; gpudoctor reads at most {_MOST_NODES}")
    return {name: tuple(found[name]) for name in sorted(found, key=lambda name: (name == REST, name))}


def plain_name(name: str) -> str:
    """A name out of an archive, for a terminal."""
    return re.sub(r"[^\w.@+-]", "_", name)[:253]


def _named(name: str) -> str | None:
    """The node in a bug report's name, "" where the name has none; None for another file."""
    found = _BUG_REPORT.search(name)
    return (found["node"] or "") if found else None


def _pod(name: str) -> str:
    found = _OF_POD.search(name)
    return found["pod"] if found else name


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def text_of(members: Iterable[Member]) -> bytes:
    """Their texts as one, each under its name."""
    return b"".join(
        b"==> " + one.name.encode("utf-8", "replace")[-200:] + b" <==\n" + one.content + b"\n" for one in members
    )


def as_one(reports: dict[str, Report], whole: Report) -> Report:
    """The findings and answers of all nodes, each with its node's name, and those of `whole`, which has no fact."""
    alone = (whole,) if whole.answers else ()
    worst = min((*reports.values(), *alone), key=lambda one: (_VERDICTS.index(one.verdict), one.verdict))
    return whole._replace(
        answers=(
            *whole.answers,
            *(_answer(one, node) for node, each in reports.items() for one in each.answers),
        ),
        findings=tuple(
            sorted(
                (_finding(one, node) for node, each in reports.items() for one in each.findings),
                key=lambda one: (bool(one.explained_by), one.severity.rank),
            )
        ),
        verdict=worst.verdict,
    )


_VERDICTS = ("broken", "warnings", "unknown", "no-gpu", "healthy")


def _answer(answer: Answer, node: str) -> Answer:
    return answer._replace(
        subject=_of(node, answer.subject),
        explains=tuple(one._replace(subject=_of(node, one.subject)) for one in answer.explains),
    )


def _finding(finding: Finding, node: str) -> Finding:
    return finding._replace(
        subject=_of(node, finding.subject),
        explains=tuple(one._replace(subject=_of(node, one.subject)) for one in finding.explains),
    )


def _of(node: str, subject: str) -> str:
    return node if subject in ("", node) else f"{node}: {subject}"


def places_of(members: Iterable[Member]) -> Callable[[int], Place]:
    """Translates line 812, of the text as one, to "nvidia-bug-report_a.log.gz, line 97"."""
    members = tuple(members)
    starts = [*accumulate((one.content.count(b"\n") + 2 for one in members), initial=1)][:-1]

    def place(number: int) -> Place:
        at = max(0, min(bisect_right(starts, number) - 1, len(members) - 1))
        found = Place(plain_name(members[at].name.rpartition("/")[2]), max(1, number - starts[at]))
        return found._replace(label=found.in_words)

    return place
