"""Writes a CSV of a wanted size whose bytes are the same on every machine: orders with codes, ratings and amounts.

Short codes and one-digit ratings are what real exports hold, and what grows most in memory: eight bytes and more for
two in the file.
"""

from __future__ import annotations

import random
from pathlib import Path

HEADER = "customer,region,channel,product,status,quantity,amount,note,q1,q2,q3,q4,q5,q6\n"
_BLOCK_ROWS = 20_000


def write_big_csv(path: Path, megabytes: int) -> int:
    """Write the table; returns how many records it has.

    Args:
        path: the file to write.
        megabytes: its least size, in 10^6 bytes; it is at most two larger.
    """
    block = _block()
    blocks = -(-megabytes * 1_000_000 // len(block))
    with path.open("wb") as file:
        file.write(HEADER.encode())
        for _ in range(blocks):
            file.write(block)
    return blocks * _BLOCK_ROWS


def _block() -> bytes:
    chance = random.Random(20)
    lines = []
    for _ in range(_BLOCK_ROWS):
        fields: list[object] = [
            f"C{chance.randrange(90_000):05d}",
            chance.choice(["North", "South", "East", "West", "Central"]),
            chance.choice(["web", "store", "phone", "partner"]),
            f"P{chance.randrange(400):03d}",
            chance.choice(["open", "paid", "late"]),
            chance.randrange(1, 10),
            f"{chance.uniform(1, 500):.2f}",
            f"n{chance.randrange(997)}",
            *(chance.randrange(1, 6) for _ in range(6)),
        ]
        lines.append(",".join(map(str, fields)))
    return ("\n".join(lines) + "\n").encode()
