"""JUnit's XML as Jenkins reads it: the schema junit-10.xsd of its xUnit plugin.

Each answer is a test case, so that a report has a history: an error or a warning failed, what is unknown and
matters is an error, what does not apply was skipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.output.document import Format, TextStyle

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET

    from doctor.model.finding import Answer, Finding
    from doctor.output.finding_views import Judged

_CASE, _FAILED, _ERROR, _SKIPPED = "testcase", "failure", "error", "skipped"


def render(document: Judged, style: TextStyle) -> str:
    """One suite."""
    import xml.etree.ElementTree as ET  # late: `--help` loads this module, too

    found = {(one.code, one.subject, one.summary): one for one in document.findings}
    suite = ET.Element("testsuite")
    for answer in document.answers:
        _add_case(suite, answer, found.get((answer.code, answer.subject, answer.why)))
    counts = {name: str(len(suite.findall(f"{_CASE}/{name}"))) for name in (_FAILED, _ERROR, _SKIPPED)}
    suite.attrib |= {"name": "gpudoctor", "tests": str(len(suite)), "failures": counts[_FAILED]}
    suite.attrib |= {"errors": counts[_ERROR], "skipped": counts[_SKIPPED]}
    ET.indent(suite)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suite, encoding="unicode")}\n'


def _add_case(suite: ET.Element, answer: Answer, finding: Finding | None) -> None:
    import xml.etree.ElementTree as ET

    from doctor.output.finding_views import line, told

    case = ET.SubElement(suite, _CASE, {"classname": f"gpudoctor.{answer.code}", "name": line(answer.subject)})
    result = _result_of(answer)
    if result:
        kind = answer.severity.value if result == _FAILED else answer.kind.value
        element = ET.SubElement(case, result, {"type": kind, "message": line(answer.why)})
        element.text = "\n".join(told(finding)) if finding else None
    elif finding:
        ET.SubElement(case, "system-out").text = "\n".join(told(finding))


def _result_of(answer: Answer) -> str:
    """The element that says so, "" for a case that passed; what only explains fails nothing."""
    from doctor.model.finding import CHECK_ERROR, Severity, Status

    if answer.kind is Status.BAD:
        return _ERROR if answer.code == CHECK_ERROR else "" if answer.severity is Severity.INFO else _FAILED
    if answer.kind is Status.UNKNOWN and answer.blocks_verdict:
        return _ERROR
    return "" if answer.kind is Status.OK else _SKIPPED


FORMAT = Format("JUnit's XML, for build servers", render, needs="findings", suffix=".xml")
