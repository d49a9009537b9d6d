"""For people: plain text as wide as the terminal, at most 100 columns."""

from __future__ import annotations

import re

from doctor.output.document import Document, Format, TextStyle
from doctor.output.page import clean_page

_ADDRESS = re.compile(r"https?://[^\s\]>,;\x1b]+")


def render(document: Document, style: TextStyle) -> str:
    """Return the text of a document; its addresses are links in a terminal that has them (OSC 8).

    Nothing else in it steers a terminal, whatever the document quotes.
    """
    text = clean_page(document.text(style))
    return _ADDRESS.sub("\x1b]8;;\\g<0>\x1b\\\\\\g<0>\x1b]8;;\x1b\\\\", text) if style.links else text


FORMAT = Format("for people", render, suffix=".txt")
