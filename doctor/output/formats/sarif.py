"""SARIF 2.1.0, as code scanning reads it (OASIS, "Static Analysis Results Interchange Format", errata 01).

A finding is a result; what is unknown is a notification of the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doctor.output.document import Format, TextStyle

if TYPE_CHECKING:
    from doctor.model.facts import Machine
    from doctor.model.finding import Answer, Finding
    from doctor.output.finding_views import Judged

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_ROOT, _HOME = "MACHINE", "HOME"


def render(document: Judged, style: TextStyle) -> str:
    """One run of one tool."""
    from doctor import __version__
    from doctor.model.finding import CHECK_ERROR
    from doctor.output.finding_views import open_questions
    from doctor.output.formats.json import encoded

    questions = open_questions(document)
    codes = sorted({one.code for one in document.findings} | {one.code for one in questions})
    driver = {"name": "gpudoctor", "version": __version__, "rules": [_rule(code) for code in codes]}
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": _bases(document.machine),
        "invocations": [
            {
                "executionSuccessful": all(one.code != CHECK_ERROR for one in document.findings),
                "toolExecutionNotifications": [_notification(one, codes) for one in questions],
            }
        ],
        "results": [_result(one, document.machine, codes) for one in document.findings],
        "properties": {"verdict": document.verdict},
    }
    return encoded({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, is_ascii=True) + "\n"


def _rule(code: str) -> dict[str, Any]:
    """With its page, which ships with gpudoctor; where the page links to nothing, a name stands for its address."""
    import re

    from doctor.messages import pages

    if code not in pages.codes():
        return {"id": code, "helpUri": f"urn:gpudoctor:code:{code}"}
    page = pages.page(code)
    link = re.search(r"https://[^\s)>`\"]+", page)
    return {
        "id": code,
        "shortDescription": {"text": _message(pages.title(code))},
        "help": {"text": _message(pages.text(code)), "markdown": page},
        "helpUri": link[0].rstrip(".,;") if link else f"urn:gpudoctor:code:{code}",
    }


def _result(finding: Finding, machine: Machine, codes: list[str]) -> dict[str, Any]:
    import hashlib

    from doctor.output.finding_views import told

    same = hashlib.sha256(f"{finding.code}\0{finding.subject}".encode("utf-8", "replace")).hexdigest()
    return {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": _LEVELS[finding.severity.value],
        "message": {"text": _message("\n".join(told(finding)))},
        "locations": [_location(finding, machine)],
        "partialFingerprints": {"gpudoctor/v1": same},
        "properties": {"explainedBy": finding.explained_by} if finding.explained_by else {},
    }


def _notification(question: Answer, codes: list[str]) -> dict[str, Any]:
    from doctor.output.finding_views import line

    return {
        "level": "warning",
        "message": {"text": _message(f"unknown for {line(question.subject)}: {line(question.why)}")},
        "associatedRule": {"id": question.code, "index": codes.index(question.code)},
    }


def _location(finding: Finding, machine: Machine) -> dict[str, Any]:
    """The file that the evidence names, else the machine itself: a result without an artifact is shown nowhere."""
    from doctor.output.finding_views import line, place_of

    place = place_of(finding, machine)
    physical: dict[str, Any] = {"artifactLocation": _artifact(place.file if place else "", machine)}
    if place and place.line:
        physical["region"] = {"startLine": place.line}
    subject = line(finding.subject) or machine.kind
    return {"physicalLocation": physical, "logicalLocations": [{"fullyQualifiedName": subject, "kind": "resource"}]}


def _artifact(path: str, machine: Machine) -> dict[str, Any]:
    from doctor.output.finding_views import slashed

    if path.startswith("~/"):
        return {"uri": _quoted(path[2:]), "uriBaseId": _HOME}
    is_inside = machine.kind != "live" and path != slashed(machine.name)
    if path and is_inside and _is_absolute(path):
        return {"uri": _quoted(path.lstrip("/")), "uriBaseId": _ROOT}
    named = path or ("this-machine" if machine.kind == "live" else machine.name) or machine.kind
    return {"uri": _file(named) if _is_absolute(named) else _quoted(named)}


def _bases(machine: Machine) -> dict[str, Any]:
    from doctor.output.finding_views import line

    bases: dict[str, Any] = {_HOME: {"description": {"text": "the home directory of the user"}}}
    if machine.kind != "live":
        bases[_ROOT] = {"description": {"text": _message(f"the files of {line(machine.name)}")}}
        if machine.kind == "root" and _is_absolute(machine.name):
            bases[_ROOT]["uri"] = _file(machine.name.rstrip("/\\")) + "/"
    return bases


def _is_absolute(path: str) -> bool:
    return path[:1] == "/" or path[1:3] in {":/", ":\\"}


def _file(path: str) -> str:
    return "file:///" + _quoted(path.replace("\\", "/").lstrip("/"))


def _quoted(path: str) -> str:
    """As a part of a URI (RFC 3986): bytes that are no UTF-8 are kept; a first segment with a colon is no scheme."""
    from urllib.parse import quote

    return quote(path.encode("utf-8", "surrogateescape"), safe="/~-._")


def _message(text: str) -> str:
    """Plain text: no embedded link and no placeholder is made of what a machine says (SARIF, 3.11.5 and 3.11.6)."""
    import re

    text = re.sub(r"\{(?=\d)|(?<=\d)\}", lambda brace: brace[0] * 2, text)
    return re.sub(r"\](?=\()", r"\]", re.sub(r"\[(?=[^\[\]]*\]\()", r"\[", text))


FORMAT = Format("SARIF 2.1.0, for code scanning", render, needs="findings", suffix=".sarif")
