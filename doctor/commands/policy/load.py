"""Read gpudoctor.toml; what is wrong in it is named by line and key."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from compat.base.choice import NoSuchName, one_of
from compat.base.errors import GpudoctorError
from compat.base.trust import NotTrusted, refuse
from compat.version import DriverRelease, VersionError
from doctor.commands.policy.form import TABLES
from doctor.host import HostError, tree
from doctor.host.documents import parse_toml
from doctor.host.files import read_bounded
from doctor.model.facts.policy import Forbidden, Policy, PolicyException, Requirement
from doctor.model.facts.seen import Place

_AT_MOST = 1 << 16  # bytes
_LINE_AT_MOST = 4096  # characters
_SAID_AT_MOST = 240  # characters of the file in an error
_DAY = re.compile(r"(?a)\A\d{4}-\d\d-\d\d\Z")  # of what newer Pythons take for a day, this
_HEADER = re.compile(r"\s*\[(\[)?([^\[\]]+)\]\]?\s*(?:#.*)?")
_KEY = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+))*)\s*=""")


class BadPolicy(GpudoctorError):
    """The policy file cannot be read, or says something that nobody understands."""


def load(path: str) -> Policy:
    """Read one file; raises BadPolicy."""
    try:
        content = read_bounded(tree.Place(path), path, _AT_MOST, follow=True)
    except HostError as error:
        raise BadPolicy(str(error)) from error
    try:
        text = content.decode("utf-8-sig")  # Windows' editors begin a file with a mark
    except UnicodeDecodeError as error:
        raise BadPolicy(f"{path}: not UTF-8 (byte {error.start})") from error
    return parse(text, path)


def restrict(policy: Policy) -> Policy:
    """Return the policy without what lowers or skips, where another user could have written it."""
    try:
        refuse(policy.path)
    except OSError as error:
        why = error.why if isinstance(error, NotTrusted) else str(error)
        return policy._replace(exceptions=(), environments=(), driver="", gpus=(), limitation=why)
    return policy


def parse(text: str, path: str) -> Policy:
    """The policy in a text; raises BadPolicy."""
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > _LINE_AT_MOST:
            raise BadPolicy(f"{path}:{number}: the line has more than {_LINE_AT_MOST} characters")
    try:
        table = parse_toml(text)
    except ValueError as error:
        raise BadPolicy(f"{path}: no TOML: {error}") from error
    return _Reader(path, table, _lines(text)).policy()


def _lines(text: str) -> dict[str, int]:
    """In which line each key stands: "require.driver" -> 2; the first of those with the same name."""
    found: dict[str, int] = {}
    entries: Counter[str] = Counter()
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        header, key = _HEADER.fullmatch(line), _KEY.match(line)
        if header:
            table = _dotted(header[2])
            if header[1]:
                entries[table] += 1
                table += f"[{entries[table] - 1}]"
            found.setdefault(table, number)
        elif key:
            found.setdefault(".".join(filter(None, (table, _dotted(key[1])))), number)
    return found


def _dotted(name: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in re.findall(r"\"[^\"]*\"|'[^']*'|[^.\"']+", name))


class _Reader:
    """Each key of the file, once; what is unknown is an error, for a misspelt rule guards nothing."""

    def __init__(self, path: str, table: Mapping[str, Any], lines: Mapping[str, int]) -> None:
        self._path, self._table, self._lines = path, table, lines

    def policy(self) -> Policy:
        """All of it."""
        self._no_others("", self._table, TABLES)
        found: dict[str, dict[str, Any]] = {}
        for name, keys in TABLES.items():
            found[name] = self._a_table(name, self._table.get(name, {}))
            self._no_others(name, found[name], keys)
        findings, assumed = found["findings"], found["assume"]
        return Policy(
            path=self._path,
            requirements=tuple(self._requirements(found["require"])),
            exceptions=tuple(self._exceptions(findings.get("allow", []))),
            forbidden=tuple(self._forbidden(findings.get("forbid", []))),
            environments=tuple(
                map(self._beside, self._texts("environments.python", found["environments"].get("python", [])))
            ),
            driver=self._driver(assumed.get("driver", "")),
            gpus=self._texts("assume.gpu", assumed.get("gpu", [])),
        )

    def _requirements(self, require: Mapping[str, Any]) -> Iterator[Requirement]:
        for name, value in require.items():
            key = f"require.{name}"
            if name == "frameworks":
                for package, wanted in self._a_table(key, value).items():
                    yield self._framework(f"{key}.{package}", package, wanted)
            elif name == "gpu":
                names = self._texts(key, value)
                if not names:
                    raise self._wrong(key, "a list of no names, which no card has")
                if any("|" in one for one in names):
                    raise self._wrong(key, "several names are a list, not joined by |")
                yield self._requirement(key, name, "|".join(names))
            else:
                yield self._requirement(key, name, self._range(key, value, numbers=name in {"gpu_count", "gpu_memory"}))

    def _framework(self, key: str, package: str, value: Any) -> Requirement:
        table = {"version": value} if isinstance(value, str) else self._a_table(key, value)
        self._no_others(key, table, ("version", "build"))
        version = self._range(f"{key}.version", table["version"]) if "version" in table else ""
        build = table.get("build", "cpu")
        if not isinstance(build, str) or not build.strip():
            raise self._wrong(f"{key}.build", "a build in quotes, such as cu128")
        wanted = build.strip().lower() if "build" in table else ""
        return self._requirement(key, package, version)._replace(build=wanted)

    def _requirement(self, key: str, name: str, wanted: str) -> Requirement:
        return Requirement(key=key, name=name, wanted=wanted, build="", source=self._at(key))

    def _range(self, key: str, value: Any, *, numbers: bool = False) -> str:
        from packaging.specifiers import InvalidSpecifier, SpecifierSet  # late: only with a policy

        if numbers and isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return f"=={value}" if key.endswith("count") else f">={value}"
        if not isinstance(value, str) or not value.strip():
            raise self._wrong(
                key, "must be a range in quotes, such as >=580.65.06" + (", or a number" if numbers else "")
            )
        wanted = re.sub(r"GiB$", "", value.strip(), flags=re.IGNORECASE).rstrip() if numbers else value.strip()
        wanted = f">={wanted}" if wanted[:1].isdigit() else wanted
        try:
            clauses = len(SpecifierSet(wanted))
        except InvalidSpecifier:
            clauses = 0
        if not clauses or re.search(r"\d-\d|===", wanted):  # 580-590 is a post-release, and === compares letters
            raise self._wrong(key, f"no range: {value!r}; write it as >=580.65.06 or >=2.9,<2.11")
        return wanted.replace(" ", "")

    def _exceptions(self, value: Any) -> Iterator[PolicyException]:
        if not isinstance(value, list):
            raise self._wrong("findings.allow", "[[findings.allow]], each with code, reason and expires")
        for place, entry in enumerate(value):
            key = f"findings.allow[{place}]"
            table = self._a_table(key, entry)
            self._no_others(key, table, ("code", "reason", "expires"))
            for name in ("code", "reason", "expires"):
                if not str(table.get(name, "")).strip():
                    raise self._wrong(key, f"{name} is missing")
            reason = table["reason"]
            if not isinstance(reason, str):
                raise self._wrong(f"{key}.reason", "a text")
            expires, is_over = self._day(f"{key}.expires", table["expires"])
            yield PolicyException(
                code=self._code(f"{key}.code", table["code"]),
                reason=reason,
                expires=expires,
                is_over=is_over,
                source=self._at(key),
            )

    def _day(self, key: str, value: Any) -> tuple[str, bool]:
        import datetime as dt  # late: only with an exception

        try:
            day = value if type(value) is dt.date else dt.date.fromisoformat(_DAY.findall(value)[0])
        except (TypeError, ValueError, IndexError) as error:
            raise self._wrong(key, f"no day: {value!r:.40}; write it as 2027-01-31") from error
        return day.isoformat(), day < dt.datetime.now(tz=dt.timezone.utc).date()

    def _forbidden(self, value: Any) -> Iterator[Forbidden]:
        for code in self._texts("findings.forbid", value):
            yield Forbidden(self._code("findings.forbid", code), self._at("findings.forbid"))

    def _code(self, key: str, value: Any) -> str:
        from doctor.rules.shared.engine import codes

        try:
            return one_of("finding", str(value), codes())
        except NoSuchName as error:
            raise self._wrong(key, str(error)) from error

    def _driver(self, value: Any) -> str:
        try:
            return str(DriverRelease.parse(value)) if value else ""
        except (VersionError, AttributeError) as error:
            raise self._wrong("assume.driver", f"no driver release: {value!r}; write it as 580.95.05") from error

    def _texts(self, key: str, value: Any) -> tuple[str, ...]:
        """One text, or several."""
        found = [value] if isinstance(value, str) else value
        if not isinstance(found, list) or not all(isinstance(one, str) and one.strip() for one in found):
            raise self._wrong(key, "a text in quotes, or a list of them")
        return tuple(one.strip() for one in found)

    def _beside(self, path: str) -> str:
        """Relative paths are those of the file's own directory."""
        folder = os.path.dirname(self._path)
        return path if not folder or os.path.isabs(path) or not re.search(r"[/\\]|^\.", path) else f"{folder}/{path}"

    def _a_table(self, key: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._wrong(key, "a table is wanted here")
        return value

    def _no_others(self, key: str, table: Mapping[str, Any], known: Any) -> None:
        for name in table:
            if name not in known:
                full = ".".join(filter(None, (key, name)))
                try:
                    one_of("key", name, tuple(known))
                except NoSuchName as error:
                    raise self._wrong(full, str(error)) from error

    def _wrong(self, key: str, what: str) -> BadPolicy:
        said = f"{key}: {what}"
        return BadPolicy(f"{self._at(key)}: {said[:_SAID_AT_MOST]}{'...' if len(said) > _SAID_AT_MOST else ''}")

    def _at(self, key: str) -> Place:
        """File and line of a key, or of the nearest that it stands in."""
        while key and key not in self._lines:
            key = key[: max(key.rfind("."), key.rfind("["), 0)]
        return Place(self._path, self._lines[key] if key else 0)
