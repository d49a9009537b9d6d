"""One HTML page that holds all it needs: no script, nothing fetched, readable on paper, on a phone and in the dark.

Each text of a machine is escaped, and the page forbids whatever could still be loaded (Content Security Policy). A
click selects a whole command, so that it can be copied without a script.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from compat.base.paths import text_beside
from doctor.output.document import Format, TextStyle

if TYPE_CHECKING:
    from doctor.model.finding import Evidence, Finding, Remedy
    from doctor.output.finding_views import Judged
    from doctor.output.sections import Cell, Sectioned, Table

_WORDS = {"error": "error", "warning": "warning", "unknown": "unknown", "ok": "no fault"}
_IN_SHORT = 12  # findings that are listed at the top; all of them follow the stack
_SIGNS = {"error": "✗", "warning": "!", "unknown": "?", "ok": "✓"}


def render(document: Judged, style: TextStyle) -> str:
    """The answer first; the stack; each cause, how it is known, what to do; what is unknown; tables; the whole text."""
    from base64 import b64encode  # late: `--help` loads this module, too
    from hashlib import sha256

    from doctor.output.sections import is_sectioned

    rules = text_beside(__file__, "page.css")
    title = _escaped(document.title() if is_sectioned(document) else f"gpudoctor: {document.verdict}")
    digest = b64encode(sha256(rules.encode()).digest()).decode()
    roots = [one for one in document.findings if not one.explained_by]
    parts = [
        text_beside(__file__, "head.html").format(digest=digest, title=title, style=rules).rstrip(),
        f"<h1>{title}</h1>",
    ]
    if is_sectioned(document):
        parts += [f"<p class='small'>{_escaped(one)}</p>" for one in document.about()]
        parts += ["<ul>", *_in_short(roots), "</ul>"] if roots else []
        parts += _stack(document, roots)
    parts += ["<h2>Findings</h2>"] * bool(roots) + [_article(one, number) for number, one in enumerate(roots, 1)]
    parts += _unknown(document)
    if is_sectioned(document):
        parts += [line for one in document.tables() for line in _table(one)]
    whole = _kept(document.text(TextStyle(symbols=style.symbols)))
    parts += [
        "<details>" if roots or is_sectioned(document) else "<details open>",
        "<summary>The report as text</summary>",
    ]
    parts.append(f"<pre class='whole' tabindex='0'>{whole}</pre>\n</details>\n</main>\n</body>\n</html>")
    return "\n".join(parts) + "\n"


def _in_short(roots: list[Finding]) -> Iterator[str]:
    for number, one in enumerate(roots[:_IN_SHORT], 1):
        sign = _SIGNS.get(one.severity.value, "·")
        yield f"<li>{sign} <a href='#f{number}'>{_escaped(one.summary)}</a></li>"
    if len(roots) > _IN_SHORT:
        yield f"<li>and {len(roots) - _IN_SHORT} more follow below</li>"


def _stack(document: Sectioned, roots: list[Finding]) -> Iterator[str]:
    """The layers, one upon the other; the line between two is broken where a cause stands in the lower one."""
    layers = document.layers()
    if not layers:
        return
    numbers: dict[str, int] = {}
    for number, one in enumerate(roots, 1):
        numbers.setdefault(one.code, number)
    yield "<h2>The stack, from the card up</h2>\n<ol class='stack'>"
    for layer in layers:
        word = f" <span class='small'>{_SIGNS[layer.mark]} {_WORDS[layer.mark]}</span>" if layer.mark else ""
        yield f"<li class='{layer.mark or 'plain'}'><div><strong>{_escaped(layer.name)}</strong>{word}</div><div>"
        yield from (f"<p>{_escaped(one)}</p>" for one in layer.lines)
        links = [f"<a href='#f{numbers[code]}'>{_escaped(code)}</a>" for code in layer.codes if code in numbers]
        yield (f"<p class='small'>{', '.join(links)}</p>" if links else "") + "</div></li>"
    yield "</ol>"


def _cell(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return f"<td>{_escaped(cell)}</td>"
    return f"<td class='{f'cell {cell.mark}' if cell.mark else 'plain'}'>{_escaped(cell.text)}</td>"


def _unknown(document: Judged) -> Iterator[str]:
    from doctor.output.finding_views import open_questions

    questions = sorted({(one.why, one.code) for one in open_questions(document)})
    if questions:
        yield "<h2>Unknown</h2>\n<ul>"
        yield from (f"<li>{_escaped(why)} <span class='small'>{_escaped(code)}</span></li>" for why, code in questions)
        yield "</ul>"


def _table(table: Table) -> Iterator[str]:
    name = _escaped(table.title)
    yield f"<details{' open' if table.is_open else ''}>\n<summary>{name} ({len(table.rows)})</summary>"
    yield f"<div class='wide' role='region' aria-label='{name}' tabindex='0'><table>"
    yield (
        "<thead><tr>" + "".join(f"<th scope='col'>{_escaped(one)}</th>" for one in table.head) + "</tr></thead><tbody>"
    )
    yield from ("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in table.rows)
    yield "</tbody></table></div>\n</details>"


def _article(finding: Finding, number: int) -> str:
    kind = finding.severity.value
    lines = [f"<article class='{kind}' id='f{number}'>", f"<h3>{_escaped(finding.summary)}</h3>"]
    lines.append(f"<p class='small'>{kind} · {_escaped(finding.code)} · {_escaped(finding.subject)}</p>")
    evidence = [told for one in finding.evidence if (told := _told(one, finding))]
    lines += ["<ul>", *evidence, "</ul>"] if evidence else []
    if finding.explains:
        lines.append(f"<p>Explains {_escaped(', '.join(sorted({one.code for one in finding.explains})))}.</p>")
    for place, remedy in enumerate(finding.remedies):
        lines += _remedy(remedy, is_first=place == 0)
    if finding.docs:
        lines.append(f"<p class='small'>More: <code>{_escaped(finding.docs)}</code></p>")
    return "\n".join([*lines, "</article>"])


def _told(evidence: Evidence, finding: Finding) -> str:
    """An item of the list, "" for what the finding says already."""
    from doctor.output.finding_views import detail_of

    detail = _kept(detail_of(evidence, finding))
    source = f"<span class='small'>{_escaped(evidence.source)}</span>" if evidence.source else ""
    said = " ".join(filter(None, (detail, source)))
    return f"<li>{said}</li>" if said else ""


def _remedy(remedy: Remedy, *, is_first: bool) -> Iterator[str]:
    from doctor.output.finding_views import parts_of

    yield f"<p><strong>{_escaped(remedy.lead(first=is_first))}:</strong> {_escaped(remedy.summary)}</p>"
    for is_command, part in parts_of(remedy):
        if is_command:
            yield f"<pre tabindex='0'><code>{_kept(chr(10).join(part))}</code></pre>"
        else:
            yield f"<p>{'<br>'.join(map(_escaped, part))}</p>"


def _escaped(text: str) -> str:
    """One line of text, without mark-up."""
    from doctor.output.finding_views import line

    return _kept(line(text))


def _kept(text: str) -> str:
    """Text without mark-up, with its lines."""
    from html import escape  # late: `--help` loads this module, too

    return escape(text)


FORMAT = Format("one HTML page, for people and to be mailed", render, needs="findings", suffix=".html")
