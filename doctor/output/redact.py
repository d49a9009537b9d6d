"""Take out of a report what names its user or machine: values only, never keys or field names.

What is private is known by name (accounts, homes, hosts, serial numbers: `doctor.probes.private`) or by its form
(UUIDs, addresses, credentials). A version such as 10.3.2.106 has the form of an IPv4 address, so an address counts only
where one belongs: behind "//" or "@", before a port, or in a network that is no version's (192.168, 172.16 to 172.31).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from doctor.host import Host
from doctor.model.facts import Facts
from doctor.model.facts.environment import Variable
from doctor.model.facts.seen import Seen, Unseen, value_or
from doctor.probes import private
from doctor.probes.configuration import decides
from doctor.probes.private import PrivateWords

T = TypeVar("T")
_KEPT_NAMES = frozenset({"root", "user", "users", "public", "default", "shared", "all users"})
# An account or a host may be called like a part of the stack or of every path; such a word goes as a home only.
_STACK_WORDS = frozenset(
    (
        *("cuda", "cudnn", "nvidia", "gpu", "gpus", "driver", "torch", "pytorch", "tensorflow", "jax"),
        *("jaxlib", "cupy", "keras", "theano", "onnxruntime", "python", "python3", "pip", "conda", "venv"),
        *("wheel", "system", "distribution", "linux", "windows", "docker", "podman", "ubuntu", "debian"),
        *("fedora", "centos", "bin", "lib", "lib64", "usr", "opt", "etc", "var", "tmp", "dev", "proc", "sys"),
        *("run", "srv", "mnt", "media", "home", "local", "share", "include", "site-packages", "dist-packages"),
        *(
            "live",
            "image",
            "dockerfile",
            "dump",
            "error",
            "warning",
            "info",
            "ok",
            "bad",
            "unknown",
            "healthy",
            "broken",
        ),
        *("data", "scratch", "work", "project", "projects", "test", "tests", "env", "envs"),
    )
)
_UNQUOTED = r"[^\s\"'`,;)\]}<>]"
_WORD = rf"(?:\"[^\"\n]*\"|'[^'\n]*'|{_UNQUOTED}+)"  # of a command line
_SECRET = re.compile(
    r"TOKEN(?!IZ)|SECRET|PASSW|PASSPHRASE|_PASS(?![A-Za-z])|[_-]PWD|CREDENTIAL|_KEY|PRIVATE|AUTHORIZATION"
    r"|(?:API|ACCESS|ACCOUNT)[_-]?KEY|_AUTH(?![A-Za-z])",
    re.IGNORECASE,
)
_NAMED = re.compile(rf"(?<![A-Za-z0-9_.-])([A-Za-z0-9_.-]+)(?:\\*[\"'])?\s*[=:]\s*(?:\\*[\"'])?(?={_UNQUOTED})")
_VALUE = re.compile(rf"{_UNQUOTED}+")
_COLONS = r"[0-9A-Fa-f:]"
_HIDDEN = "<secret>"


def _is_secret(name: str) -> bool:
    """Whether the name of a variable or an option says that its value is secret."""
    return _SECRET.search(name) is not None or (name.isupper() and "KEY" in name)


def _without_secrets(text: str) -> str:
    """Values go whose names say that they are secret; what is in a value may be another name."""
    found, done = [], 0
    for match in _NAMED.finditer(text):
        if match.start() >= done and _is_secret(match[1]):
            found += [text[done : match.end()], _HIDDEN]
            done = _end_of_value(text, match)
    return "".join((*found, text[done:]))


def _end_of_value(text: str, named: re.Match[str]) -> int:
    """Where the value ends that begins behind the name."""
    closing = text.find(named[0][-1], named.end()) if named[0][-1] in "\"'" else -1
    if closing >= 0 and "\n" not in text[named.end() : closing]:
        is_escaped = named[0][-2:-1] == text[closing - 1] == "\\"  # in a quotation
        return closing - is_escaped
    value = _VALUE.search(text, named.end())  # which begins there: `_NAMED` looks ahead
    return value.end() if value else named.end()


def _set_by_blank(match: re.Match[str]) -> str:
    """A line that sets a variable without "=": Docker's ENV, csh's setenv, setx, fish's set."""
    return f"{match[1]}{_HIDDEN}" if _is_secret(match[2]) else match[0]


def _address(match: re.Match[str]) -> str:
    """An IPv6 address, or hexadecimal digits in four groups and more; not a time, a place on PCI or a name of C++."""
    groups = match[1].split(":")
    named = [one for one in groups if one]
    if max(map(len, named), default=0) > 4 or len(groups) > 21 or ":::" in match[1]:
        return match[0]
    is_short = "::" in match[1] and (len(named) > 2 or re.match(r"(fe80|f[cd]..|[23]...)::", match[1], re.IGNORECASE))
    return "<address>" if is_short or (len(groups) > 3 and "" not in groups) else match[0]


def _share(match: re.Match[str]) -> str:
    """The server of a Windows share, with slashes of either kind; //usr/lib is a path."""
    return match[0] if match[2].lower() in _STACK_WORDS else f"{match[1]}<host>"


# What the text must hold, which is asked first: most texts have none of it. No pattern may be tried from every letter
# of a long word: an image says how long its words are.
_FORMS: tuple[tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    ("-", re.compile(r"\b(GPU|MIG|GPU-|MIG-GPU)-[0-9a-fA-F]{4,8}(-[0-9a-fA-F]{2,12})*(/\d+)*"), r"\1-<uuid>"),
    ("-", re.compile(r"\b[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "<uuid>"),
    ("://", re.compile(r"://[^\s/\"'<>]+@"), "://<credentials>@"),
    ("://", re.compile(r"://[^\s/\"'<>:@]+:(?!\d{1,5}[/?#])[^\s\"'<>@]{1,400}@"), "://<credentials>@"),
    ("--", re.compile(rf"((?<![\w-])--[a-z_-]{{0,40}}?(?:passw(?:or)?d|phrase|token|secret|[_-]key) +)(?!-){_WORD}"),
     r"\1<secret>"),
    ("-", re.compile(r"((?<![\w-])(?:-u|--user|--proxy-user)[ =]+[\"']?(?!\d+:)[^\s:/\"']+:)[^\s\"']+"), r"\1<secret>"),
    (" -p", re.compile(rf"(\b(?:sshpass|(?:docker|podman|skopeo|oc|az) login\b[^\n&;|]{{0,200}}?) -p ?){_WORD}"),
     r"\1<secret>"),
    (" -p", re.compile(r"(\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n&;|]{0,200}? -p)[^\s-]\S*"), r"\1<secret>"),
    ("login", re.compile(r"(\blogin\s+\S+\s+password\s+)\S+"), r"\1<secret>"),  # .netrc
    ("ookie", re.compile(r"(\b(?:set-)?cookie[\"']?\s*[:=]\s*[\"']?)[^\n\"']+", re.IGNORECASE), r"\1<secret>"),
    (" ", re.compile(r"(?m)(\b(?:ENV|setenv|setx|set -\w+) +([A-Za-z0-9_]+) +)[^=\s][^\n]*"), _set_by_blank),
    ("PASS=", re.compile(rf"(\b(?!BYPASS|COMPASS)[A-Z]*PASS=){_WORD}"), r"\1<secret>"),
    (";", re.compile(r"(;\s?pwd\s?=\s?)[^;\s\"']+", re.IGNORECASE), r"\1<secret>"),  # a connection string
    ("</", re.compile(r"(<(?:password|passwd|token|secret|api-?key)>)[^<\n]+", re.IGNORECASE), r"\1<secret>"),
    ("PRIVATE KEY", re.compile(r"(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)[^-]+"), r"\1<secret>"),
    (" ", re.compile(r"(\bauthorization[\"']?\s*[:=]\s*[\"']?[a-z]+ +)[^\s\"']+", re.IGNORECASE), r"\1<secret>"),
    (" ", re.compile(r"(\bBearer +)[\w.~+/=-]{16,}", re.IGNORECASE), r"\1<secret>"),
    ("=", re.compile(
        r"([?&](?:sig|pass|pwd|auth|[a-z_-]*(?:signature|credential|token|passw(?:or)?d|secret|key))=)[^&\s\"']+",
        re.IGNORECASE), r"\1<secret>"),
    ("eyJ", re.compile(r"\beyJ[\w-]{6,}\.[\w-]+(\.[\w-]*)?"), "<secret>"),  # a JSON web token
    ("_", re.compile(r"\b(hf_|gh[pousr]_|npm_|github_pat_[A-Za-z0-9]*_?)[A-Za-z0-9]{16,}"), "<secret>"),
    ("-", re.compile(r"\b(glpat-|xox[abprs]-|pypi-AgE)[\w-]{10,}|\bsk-(proj-|ant-)?[A-Za-z0-9]{20,}"), "<secret>"),
    ("A", re.compile(r"\b(AKIA|ASIA)[0-9A-Z]{16}\b"), "<secret>"),  # an access key of AWS
    ("/t/", re.compile(r"(://[^\s/\"']{1,250}/t/)[\w-]{4,}"), r"\1<secret>"),  # of a conda channel
    ("@", re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(\.[\w-]+)*\.[A-Za-z]{2,}\b"), "<address>"),
    (".", re.compile(r"(?<=//)(\d{1,3}\.){3}\d{1,3}(?![\d.])|(?<=@)(\d{1,3}\.){3}\d{1,3}(?![\d.])"), "<address>"),
    (".", re.compile(r"(?<![\w.])(\d{1,3}\.){3}\d{1,3}(?=:\d{2,5}\b)"), "<address>"),
    (".", re.compile(r"(?<![\w.])(192\.168|172\.(1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}(?![\d.])"), "<address>"),
    ("::", re.compile(r"(?<![\w:.])::ffff:(\d{1,3}\.){3}\d{1,3}(?![\d.])", re.IGNORECASE), "<address>"),
    (":", re.compile(rf"(?<![\w:.])({_COLONS}{{1,8}}:{_COLONS}+)(?![\w:])"), _address),
    ("\\\\", re.compile(r"(?<![\w:\\])(\\{2,4}(?:\?\\UNC\\)?)([A-Za-z0-9][\w.-]*)(?=\\)"), _share),
    ("//", re.compile(r"(?<![\w:/])(//)([A-Za-z0-9][\w.-]*)(?=/)"), _share),
    ("\\", re.compile(r"([A-Z]:\\Users\\)(?!public\\|default\\|all users\\)[^\\/:;\"'\n]+(?=\\)", re.IGNORECASE),
     r"\1<user>"),
)  # fmt: skip
_HOME = re.compile(r"((?:/home|/Users|[A-Za-z]:[/\\]Users)[/\\])([^/\\\s:;\"']+)")
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
        private_words += [(one, "<serial>") for one in _worth(serials)]
        self._private = _Words(private_words, _word)

    def text(self, text: str) -> str:
        """The text without what is private."""
        for needed, pattern, mark in _FORMS:
            if needed in text:
                text = pattern.sub(mark, text)
        if "=" in text or ":" in text:
            text = _without_secrets(text)
        text = self._private.marked(self._homes.marked(text))  # an account such as "Jane Doe" before half of it goes
        return _HOME.sub(lambda match: match[1] + (match[2] if match[2].lower() in _KEPT_NAMES else "<user>"), text)

    def value(self, value: Any) -> Any:
        """The same for every text inside a fact, a report or a part of one."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Seen):
            return Seen(self.value(value.value), self.value(value.how))
        if isinstance(value, Unseen):
            return Unseen(self.text(value.why))
        if isinstance(value, Variable) and not decides(value.name):
            value = value._replace(value=_HIDDEN if _is_secret(value.name) else "<value>")
        if hasattr(value, "_fields"):
            named = zip(value._fields, value, strict=True)
            return type(value)(*(one if name in _FIXED else self.value(one) for name, one in named))
        if (
            type(value) is tuple
            and len(value) == 2
            and type(value[0]) is type(value[1]) is str
            and _is_secret(value[0])
        ):
            return (value[0], _HIDDEN)
        if type(value) in {tuple, list}:
            return type(value)(map(self.value, value))
        if isinstance(value, dict):
            return {name: self._of(name, one) for name, one in value.items()}
        return value

    def _of(self, name: Any, value: Any) -> Any:
        """What a dictionary has under a name."""
        if name in _FIXED:
            return value
        return _HIDDEN if isinstance(name, str) and isinstance(value, str) and _is_secret(name) else self.value(value)


def redact(value: T, host: Host, facts: Facts | None = None) -> T:
    """What was seen of a machine, or a report of it, as it can be shown to others."""
    serials = [value_or(gpu.serial, "") for gpu in value_or(facts.gpus, ())] if facts else []
    clean: T = Redactor(private.look(host), serials).value(value)
    return clean


def _worth(words: Iterable[str]) -> list[str]:
    return [one for one in words if len(one) > 1 and one.lower() not in _KEPT_NAMES | _STACK_WORDS]


def _word(word: str) -> re.Pattern[str]:
    """The word by itself or as a part of a longer name: alice, alice-old, alice_gcc, not malice."""
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", re.IGNORECASE)


def _home(path: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(path)}(?![\w.-])")


def _mark_of(home: str) -> str:
    """Of a home, what others see as such: /home/<user>, else <home>."""
    return _HOME.sub(r"\1<user>", home) if _HOME.fullmatch(home) else "<home>"
