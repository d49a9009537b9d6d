"""One HTML page that holds all it needs: no script, nothing fetched, readable on paper and in the dark.

Each text of a machine is escaped, and the page forbids whatever could still be loaded (Content Security Policy).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from doctor.output.document import Format, TextStyle

if TYPE_CHECKING:
    from doctor.model.finding import Evidence, Finding, Remedy
    from doctor.output.finding_views import Judged

_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root { color-scheme: light dark; --error: #c62828; --warning: #b26a00; --info: #607d8b }
@media (prefers-color-scheme: dark) { :root { --error: #ff8a80; --warning: #ffb74d; --info: #90a4ae } }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem }
article { border-left: .3rem solid var(--info); margin: 1.5rem 0; padding: 0 1rem }
article.error { border-color: var(--error) } article.warning { border-color: var(--warning) }
h1, h2 { line-height: 1.25; overflow-wrap: anywhere } h2 { font-size: 1.15rem; margin: 0 }
p, li { overflow-wrap: anywhere } .small { font-size: .875rem; opacity: .8 }
pre { border: 1px solid; border-radius: .3rem; overflow-x: auto; padding: .6rem } summary { cursor: pointer }
@media print { pre { white-space: pre-wrap } }
</style>
</head>
<body>
"""


def render(document: Judged, style: TextStyle) -> str:
    """The answer first, how it is known, what to do; then what is unknown; then the report as text."""
    from doctor.output.finding_views import open_questions

    title = _escaped(f"gpudoctor: {document.verdict}")
    roots = [one for one in document.findings if not one.explained_by]
    questions = sorted({(one.why, one.code) for one in open_questions(document)})
    parts = [_HEAD.replace("{title}", title), f"<h1>{title}</h1>", *map(_article, roots)]
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
    from doctor.output.finding_views import parts_of

    yield f"<p><strong>{_escaped(remedy.lead(first=is_first))}:</strong> {_escaped(remedy.summary)}</p>"
    for is_command, part in parts_of(remedy):
        if is_command:
            yield f"<pre><code>{_kept(chr(10).join(part))}</code></pre>"
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
