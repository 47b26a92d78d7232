"""Files an answer of many megabytes: ``file_huge.py PATH MEGABYTES``."""

import sys
from pathlib import Path

with Path(sys.argv[1]).open("wb") as file:
    for _ in range(int(sys.argv[2])):
        file.write(b"42\n" * 349525 + b"\n")
