"""A picture as SVG that opens anywhere, drawn without a library; the same lines, the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def picture(title: str, width: int, height: int, lines: Sequence[str]) -> str:
    """The whole file: a white ground, the title above, and ``lines``, which are elements of SVG (lengths in pixels)."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">'
        f"<title>{escape(title)}</title>"
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
        f'<text x="12" y="24" font-family="sans-serif" font-size="15" fill="#212529">{escape(title)}</text>'
    )
    return "\n".join([head, *lines, "</svg>\n"])
