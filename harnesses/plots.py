"""Pictures of simulated runs, as SVG that opens anywhere and is the same bytes for the same run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from catalog.svg import picture

_WIDTH: Final = 720
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 20, 60, 40
_INKS: Final = ("#868e96", "#1864ab")
_TEXT: Final = 'font-family="sans-serif" font-size="12" fill="#495057"'


def over_time(title: str, width: int, runs: Mapping[str, Sequence[float]]) -> str:
    """Shares along a run as lines.

    Args:
        title: above the picture.
        width: groups that each share is taken over.
        runs: of each scheduler the shares, between 0 and 1, as many for each.
    """
    height = 360
    points = max(map(len, runs.values()))
    most = _round_up(max(max(shares) for shares in runs.values()))
    across = (_WIDTH - _LEFT - _RIGHT) / points
    up = (height - _TOP - _BOTTOM) / most
    floor = height - _BOTTOM
    lines = _scale(most, floor, up)
    for step in range(0, points + 1, max(1, points // 4)):
        lines.append(_label(_LEFT + step * across, floor + 20, f"{step * width:,}", "middle"))
    lines.append(_label(_WIDTH - _RIGHT, floor + 34, "groups", "end"))
    for place, shares in enumerate(runs.values()):
        corners = " ".join(
            f"{_LEFT + (number + 0.5) * across:.1f},{floor - share * up:.1f}" for number, share in enumerate(shares)
        )
        lines.append(f'<polyline points="{corners}" fill="none" stroke="{_INKS[place % 2]}" stroke-width="2"/>')
    return picture(title, _WIDTH, height, [*lines, *_legend(tuple(runs))])


def side_by_side(title: str, worlds: Mapping[str, Mapping[str, float]]) -> str:
    """Shares of several schedulers in several worlds, as bars.

    Args:
        title: above the picture.
        worlds: of each world the schedulers' shares, between 0 and 1.
    """
    bar, gap, left = 12, 10, 120
    names = tuple(next(iter(worlds.values())))
    block = bar * len(names) + gap
    height = _TOP + block * len(worlds) + 20
    most = max(max(shares.values()) for shares in worlds.values())
    across = (_WIDTH - left - 80) / most
    lines: list[str] = []
    for row, (world, shares) in enumerate(worlds.items()):
        top = _TOP + row * block
        lines.append(_label(left - 8, top + bar + 4, world, "end"))
        for place, name in enumerate(names):
            wide, here = shares[name] * across, top + place * bar
            lines.append(
                f'<rect x="{left}" y="{here}" width="{wide:.1f}" height="{bar - 1}" fill="{_INKS[place % 2]}"/>'
            )
            lines.append(_label(left + wide + 6, here + bar - 2, f"{shares[name]:.1%}", "start"))
    return picture(title, _WIDTH, height, [*lines, *_legend(names)])


def _round_up(share: float) -> float:
    return min(1.0, (int(share * 10) + 1) / 10)


def _scale(most: float, floor: int, up: float) -> list[str]:
    lines = []
    for tenth in range(round(most * 10) + 1):
        y = floor - tenth / 10 * up
        lines.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}" stroke="#dee2e6"/>')
        lines.append(_label(_LEFT - 8, y + 4, f"{tenth * 10} %", "end"))
    return lines


def _legend(names: Sequence[str]) -> list[str]:
    lines = []
    for place, name in enumerate(names):
        x = _LEFT + place * 120
        lines.append(f'<rect x="{x}" y="36" width="12" height="12" fill="{_INKS[place % 2]}"/>')
        lines.append(_label(x + 18, 46, name, "start"))
    return lines


def _label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {_TEXT}>{escape(text)}</text>'
