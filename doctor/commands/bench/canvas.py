"""Drawing an SVG by hand: shapes and texts, escaped; where a text ends is estimated, because no font is available."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

_EM = 0.58  # mean width of a sign in sans-serif fonts, in font sizes; figures are 0.56, capitals up to 0.7


class Canvas:
    """Elements of one drawing, whose height is known last."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._elements: list[str] = []

    def text(self, x: float, y: float, text: str, style: str, *, anchor: str = "start") -> None:
        """A line of text at its baseline, nothing for none; `style` names a class of the style sheet."""
        if not text:
            return
        end = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._elements.append(f'<text class="{style}" x="{x:.1f}" y="{y:.1f}"{end}>{escape(text)}</text>')

    def box(self, x: float, y: float, width: float, height: float, style: str) -> None:
        """A filled rectangle with slightly rounded corners."""
        self._elements.append(
            f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2"/>'
        )

    def path(self, commands: str, style: str) -> None:
        """A line or an outline."""
        self._elements.append(f'<path class="{style}" d={quoteattr(commands)}/>')

    def document(self, height: float, style_sheet: str, title: str, description: str) -> str:
        """The whole file; title and description are for those who do not see it."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {height:.0f}" width="{self.width}" '
            f'height="{height:.0f}" role="img" aria-labelledby="title description">'
        )
        about = [f'<title id="title">{escape(title)}</title>', f'<desc id="description">{escape(description)}</desc>']
        ground = f'<rect class="ground" width="{self.width}" height="{height:.0f}"/>'
        lines = [head, *about, f"<style>\n{style_sheet}</style>", ground, *self._elements, "</svg>"]
        return "\n".join(lines) + "\n"


def width_of(text: str, size: float) -> float:
    """About how wide a text is in a font of this size, in the same unit."""
    return len(text) * size * _EM


def room_for(width: float, size: float) -> int:
    """About how many signs fit into a width."""
    return int(width / (size * _EM))
