"""Take out of a report what names its user or machine: values only, never keys or field names."""

from __future__ import annotations

import re
from typing import Any

from doctor.facts import Facts
from doctor.facts.seen import Seen, Unseen, value_or
from doctor.finding import Report

_GPU_UUID = re.compile(r"\b(GPU|MIG|GPU-|MIG-GPU)-[0-9a-fA-F]{4,8}(-[0-9a-fA-F]{2,12})*(/\d+)*")
_HOME = re.compile(r"(/home/|/Users/|[A-Za-z]:[/\\]Users[/\\])([^/\\\s:;\"']+)")
_KEPT_NAMES = frozenset({"root", "user", "users", "public", "Public"})


# Host names that are words of the stack: replacing them inside texts would destroy the report.
_STACK_WORDS = frozenset({"cuda", "cudnn", "nvidia", "gpu", "torch", "tensorflow", "jax", "python", "linux", "docker"})


class Redactor:
    """Replaces user names, host names, serial numbers and UUIDs in texts."""

    def __init__(self, facts: Facts) -> None:
        self._private = [(re.compile(_pattern(word, as_word)), mark) for word, mark, as_word in _private_words(facts)]

    def text(self, text: str) -> str:
        """The text without what is private."""
        text = _GPU_UUID.sub(r"\1-<uuid>", text)
        text = _HOME.sub(lambda match: match[1] + (match[2] if match[2] in _KEPT_NAMES else "<user>"), text)
        for pattern, mark in self._private:
            text = pattern.sub(mark, text)
        return text

    def value(self, value: Any) -> Any:
        """The same for every text inside a fact, a report or a part of one."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Seen):
            return Seen(self.value(value.value), self.text(value.how))
        if isinstance(value, Unseen):
            return Unseen(self.text(value.why))
        if hasattr(value, "_fields"):
            return type(value)(*map(self.value, value))
        if type(value) in {tuple, list}:
            return type(value)(map(self.value, value))
        if isinstance(value, dict):
            return {name: self.value(item) for name, item in value.items()}
        return value


def redact(report: Report) -> Report:
    """A report that can be shown to others."""
    redactor = Redactor(report.facts)
    findings = tuple(redactor.value(finding)._replace(code=finding.code) for finding in report.findings)
    answers = tuple(redactor.value(answer)._replace(code=answer.code) for answer in report.answers)
    return report._replace(facts=redactor.value(report.facts), findings=findings, answers=answers)


def _private_words(facts: Facts) -> list[tuple[str, str, bool]]:
    """Word, what stands for it, and whether it is replaced as a word anywhere (else as a path's part or alone)."""
    words = [
        (value_or(facts.system.user, ""), "<user>", False),
        (value_or(facts.system.sudo_user, ""), "<user>", False),
        *((value_or(gpu.serial, ""), "<serial>", True) for gpu in value_or(facts.gpus, ())),
    ]
    if facts.machine.kind == "live":
        words.append((facts.machine.name, "<host>", facts.machine.name.lower() not in _STACK_WORDS))
    return [(word, mark, as_word) for word, mark, as_word in words if len(word) > 1 and word not in _KEPT_NAMES]


def _pattern(word: str, as_word: bool) -> str:
    escaped = re.escape(word)
    return rf"(?<![\w.-]){escaped}(?![\w-])" if as_word else rf"(?<=[/\\]){escaped}(?=[/\\]|$)|^{escaped}$"
