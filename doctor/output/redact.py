"""Take out of a report what names its user or machine: values only, never keys or field names.

What is private is known by name (accounts, homes, hosts, serial numbers: `doctor.probes.private`) or by its form
(`doctor.output.private_forms`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from doctor.host import Host
from doctor.model.facts import Facts
from doctor.model.facts.environment import Variable
from doctor.model.facts.seen import Seen, Unseen, value_or
from doctor.output.private_commands import HIDDEN, without_passwords, words_without_passwords
from doctor.output.private_forms import (
    FORMS,
    KEPT_NAMES,
    STACK_WORDS,
    is_checksum,
    is_secret,
    is_secret_option,
    without_secrets,
)
from doctor.probes import private
from doctor.probes.configuration import decides
from doctor.probes.private import PrivateWords

T = TypeVar("T")
_HOME = re.compile(
    r"((?:/home\d{0,2}|/Users|(?<!/share)/users|/homes|(?<![\w./-])/u|[A-Za-z]:[/\\]Users)[/\\])([^/\\\s:;\"']+)"
)
_KEY_LINE = re.compile(r"\s*(?:[\w.:\[\]-]+\s+){0,8}[A-Za-z0-9+/=]{1,128}\s*|[A-Za-z-]+: .*|\s*")
_USER_OPTIONS = ("-u", "--user", "--proxy-user")
_NAMES = ("name", "key", "variable", "option")
_RUN = re.compile(r"[a-z0-9]+")
_FIXED = frozenset({"code", "kind", "severity", "schema", "verdict", "explained_by"})  # fields with words of ours


class _Words:
    """Words and their marks, in order. A cluster has thousands of accounts: only those are sought that may be there."""

    def __init__(self, words: list[tuple[str, str]], pattern: Callable[[str], re.Pattern[str]]) -> None:
        """Each match of a word's `pattern` must hold the word's last run of letters and digits as a run of its own."""
        self._words, self._pattern = words, pattern
        self._compiled: dict[int, re.Pattern[str]] = {}
        self._by_run: dict[str, list[int]] = {}
        for number, (word, _) in enumerate(words):
            self._by_run.setdefault((_RUN.findall(word.lower()) or [""])[-1], []).append(number)

    def marked(self, text: str) -> str:
        """The text with the marks in place of the words."""
        if not self._words:
            return text
        runs = {"", *_RUN.findall(text.lower())}
        for number in sorted(one for run in runs & self._by_run.keys() for one in self._by_run[run]):
            if number not in self._compiled:
                self._compiled[number] = self._pattern(self._words[number][0])
            text = self._compiled[number].sub(self._words[number][1], text)
        return text


class Redactor:
    """Replaces names of users and hosts, homes, serial numbers, UUIDs, addresses and credentials in texts."""

    def __init__(self, words: PrivateWords, serials: Iterable[str] = ()) -> None:
        homes = sorted((home for home in words.homes if home.count("/") + home.count("\\") > 1), key=len, reverse=True)
        self._homes = _Words([(home, _mark_of(home)) for home in homes], _home)
        private_words = [(one, "<host>") for one in _worth(words.hosts)]
        private_words += [(one, "<user>") for one in _worth(sorted(words.users, key=len, reverse=True))]
        private_words += [(one, "<serial>") for one in _worth((*serials, *words.serials))]
        self._private = _Words(private_words, _word)
        self._is_in_key = False

    def text(self, text: str) -> str:
        """The text without what is private. The lines of a private key may come one by one."""
        if self._is_in_key and _KEY_LINE.fullmatch(text):
            return HIDDEN
        self._is_in_key = "PRIVATE KEY-----" in text and "-----END" not in text
        text = without_passwords(text)
        for needed, pattern, mark in FORMS:
            if needed in text:
                text = pattern.sub(mark, text)
        if "=" in text or ":" in text:
            text = without_secrets(text)
        text = self._private.marked(self._homes.marked(text))  # an account such as "Jane Doe" before half of it goes
        return _HOME.sub(lambda match: match[1] + (match[2] if match[2].lower() in KEPT_NAMES else "<user>"), text)

    def value(self, value: Any) -> Any:
        """The same for every text inside a fact, a report or a part of one."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Seen):
            return Seen(self.value(value.value), self.value(value.how))
        if isinstance(value, Unseen):
            return Unseen(self.text(value.why), value.why_not)
        if isinstance(value, Variable) and not decides(value.name):
            value = value._replace(value=HIDDEN if is_secret(value.name) else "<value>")
        if hasattr(value, "_fields"):
            return type(value)(*self._pairs(value._asdict()).values())
        if type(value) in {tuple, list}:
            return type(value)(self._sequence(value))
        return self._pairs(value) if isinstance(value, dict) else value

    def _sequence(self, values: Sequence[Any]) -> Iterator[Any]:
        """Of a command line, a list of lines, or a name and its value."""
        names_next, before = False, ""
        if all(isinstance(one, str) for one in values):
            values = words_without_passwords(values)
        for number, one in enumerate(values):
            if isinstance(one, str):
                yield HIDDEN if names_next else self.text(_without_password(one) if before in _USER_OPTIONS else one)
                before = one
                is_name = len(values) == 2 and number == 0 and is_secret(one)
                names_next = is_name or (not names_next and is_secret_option(one))
            else:
                yield self.value(one)
                names_next = False

    def _pairs(self, values: Mapping[Any, Any]) -> dict[Any, Any]:
        """What a dictionary or a record has under each name; {"name": "DB_PASSWORD", "value": "x"} is a pair itself."""
        named = next((values[name] for name in _NAMES if isinstance(values.get(name), str)), "")
        hides = isinstance(values.get("value"), str) and is_secret(named)
        return {
            name: HIDDEN if hides and name == "value" else one if name in _FIXED else self._of(str(name), one)
            for name, one in values.items()
        }

    def _of(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            return value if is_checksum(f" {name}", value) else HIDDEN if is_secret(name) else self.text(value)
        if (
            type(value) in {tuple, list}
            and value
            and all(isinstance(one, str) and is_checksum(name, one) for one in value)
        ):
            return value
        return self.value(value)


def redact(value: T, host: Host, facts: Facts | None = None) -> T:
    """What was seen of a machine, or a report of it, as it can be shown to others."""
    serials = [value_or(gpu.serial, "") for gpu in value_or(facts.gpus, ())] if facts else []
    clean: T = Redactor(private.look(host), serials).value(value)
    return clean


def _without_password(word: str) -> str:
    """Of "user:password"; two numbers are ids (docker run -u 1000:1000)."""
    user, colon, password = word.partition(":")
    return f"{user}:{HIDDEN}" if colon and password and not (user.isdigit() or set(user) & set("/ ")) else word


def _worth(words: Iterable[str]) -> list[str]:
    return [one for one in words if len(one) > 1 and one.lower() not in KEPT_NAMES | STACK_WORDS]


def _word(word: str) -> re.Pattern[str]:
    """The word by itself or as a part of a longer name: alice, alice-old, alice_gcc, not malice."""
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", re.IGNORECASE)


def _home(path: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(path)}(?![\w.-])")


def _mark_of(home: str) -> str:
    """Of a home, what others see as such: /home/<user>, else <home>."""
    return _HOME.sub(r"\1<user>", home) if _HOME.fullmatch(home) else "<home>"
