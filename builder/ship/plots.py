"""The card's plots: small SVG files that any page shows, drawn without a library; the same data, the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from catalog.svg import picture

_WIDTH: Final = 640
_LEFT: Final = 170
_BAR: Final = 22
_INK: Final = "#4c6ef5"
_STYLE: Final = 'font-family="sans-serif" font-size="13" fill="#495057"'


def bars(title: str, counts: Mapping[str, int]) -> str:
    """Horizontal bars, one for each name, with its number."""
    most = max(counts.values(), default=0) or 1
    lines = []
    for row, (name, count) in enumerate(counts.items()):
        top = 40 + row * (_BAR + 6)
        width = round((_WIDTH - _LEFT - 70) * count / most, 1)
        lines += [
            f'<text x="{_LEFT - 8}" y="{top + 16}" text-anchor="end" {_STYLE}>{escape(name)}</text>',
            f'<rect x="{_LEFT}" y="{top}" width="{width}" height="{_BAR}" rx="3" fill="{_INK}"/>',
            f'<text x="{_LEFT + width + 6:.1f}" y="{top + 16}" {_STYLE}>{count:,}</text>',
        ]
    return picture(title, _WIDTH, 50 + len(counts) * (_BAR + 6), lines)


def peaks(title: str, measured: Sequence[tuple[int, float]]) -> str:
    """Memory limits (across) against measured peaks (up), in MB; the line is where the two would be equal."""
    height, bottom, most = 360, 310, max((limit for limit, _ in measured), default=1)
    across, up = (_WIDTH - 100) / most, (bottom - 40) / most
    lines = [
        f'<line x1="70" y1="{bottom}" x2="{70 + most * across:.1f}" y2="{bottom - most * up:.1f}" stroke="#ced4da"/>',
        f'<line x1="70" y1="{bottom}" x2="{_WIDTH - 30}" y2="{bottom}" stroke="#868e96"/>',
        f'<line x1="70" y1="40" x2="70" y2="{bottom}" stroke="#868e96"/>',
        f'<text x="{_WIDTH - 30}" y="{bottom + 20}" text-anchor="end" {_STYLE}>limit, to {most:,} MB</text>',
        f'<text x="64" y="48" text-anchor="end" {_STYLE}>{most:,}</text>',
        f'<text x="64" y="{bottom}" text-anchor="end" {_STYLE}>peak</text>',
    ]
    lines += [
        f'<circle cx="{70 + limit * across:.1f}" cy="{bottom - peak * up:.1f}" r="3" fill="{_INK}" fill-opacity="0.5"/>'
        for limit, peak in sorted(set(measured))
    ]
    return picture(title, _WIDTH, height, lines)
