"""Files an answer and floods the folders that are collected: ``flood.py PATH BASE64 FOLDER...``.

In each: a chain of nested folders, thousands of small files, a sparse file of 10 GB, links, a pipe.
"""

import base64
import contextlib
import os
import sys
from pathlib import Path

NESTED, FILES, SPARSE = 1200, 3000, 10 << 30

Path(sys.argv[1]).write_bytes(base64.b64decode(sys.argv[2]))
for folder in sys.argv[3:]:
    os.chdir(folder)
    with Path("sparse").open("wb") as file:
        file.truncate(SPARSE)
    for number in range(FILES):
        Path(f"file-{number}").write_bytes(b"x" * 100)
    with contextlib.suppress(OSError):
        Path("everything").symlink_to("/")
        Path("loop").symlink_to("loop")
        os.mkfifo("pipe")
    for _ in range(NESTED):
        Path("deeper").mkdir()
        os.chdir("deeper")
