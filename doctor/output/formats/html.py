"""One HTML page that holds all it needs: no script, nothing fetched, readable on paper and in the dark.

Each text of a machine is escaped, and the page forbids whatever could still be loaded (Content Security Policy).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from compat.base.paths import text_beside
from doctor.output.document import Format, TextStyle

if TYPE_CHECKING:
    from doctor.model.finding import Evidence, Finding, Remedy
    from doctor.output.finding_views import Judged


def render(document: Judged, style: TextStyle) -> str:
    """The answer first, how it is known, what to do; then what is unknown; then the report as text."""
    from doctor.output.finding_views import open_questions

    head = text_beside(__file__, "head.html")
    title = _escaped(f"gpudoctor: {document.verdict}")
    roots = [one for one in document.findings if not one.explained_by]
    questions = sorted({(one.why, one.code) for one in open_questions(document)})
    parts = [head.replace("{title}", title), f"<h1>{title}</h1>", *map(_article, roots)]
    if questions:
        parts += ["<h2>Unknown</h2>", "<ul>"]
        parts += [f"<li>{_escaped(why)} <span class='small'>{_escaped(code)}</span></li>" for why, code in questions]
        parts.append("</ul>")
    parts.append("<details>" if roots else "<details open>")
    whole = _kept(document.text(TextStyle(symbols=style.symbols)))
    parts.append(f"<summary>The whole report</summary>\n<pre>{whole}</pre>\n</details>\n</body>\n</html>")
    return "\n".join(parts) + "\n"


def _article(finding: Finding) -> str:
    kind = finding.severity.value
    lines = [f"<article class='{kind}'>", f"<h2>{_escaped(finding.summary)}</h2>"]
    lines.append(f"<p class='small'>{kind} · {_escaped(finding.code)} · {_escaped(finding.subject)}</p>")
    evidence = [told for one in finding.evidence if (told := _told(one, finding))]
    lines += ["<ul>", *evidence, "</ul>"] if evidence else []
    if finding.explains:
        lines.append(f"<p>Explains {_escaped(', '.join(sorted({one.code for one in finding.explains})))}.</p>")
    for number, remedy in enumerate(finding.remedies):
        lines += _remedy(remedy, is_first=number == 0)
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
    from doctor.output.finding_views import commands_of

    yield f"<p><strong>{_escaped(remedy.lead(first=is_first))}:</strong> {_escaped(remedy.summary)}</p>"
    if commands := commands_of(remedy):
        yield f"<pre><code>{_kept(chr(10).join(commands))}</code></pre>"


def _escaped(text: str) -> str:
    """One line of text, without mark-up."""
    from doctor.output.finding_views import line

    return _kept(line(text))


def _kept(text: str) -> str:
    """Text without mark-up, with its lines."""
    from html import escape  # late: `--help` loads this module, too

    return escape(text)


FORMAT = Format("one HTML page, for people and to be mailed", render, needs="findings", suffix=".html")
