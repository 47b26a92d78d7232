"""Puts something that is no plain file where the answer belongs: ``file_special.py PATH KIND [TARGET]``."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

MAKERS: dict[str, Callable[[Path], object]] = {
    "symlink": lambda path: path.symlink_to(sys.argv[3]),
    "directory": lambda path: path.mkdir(),
    "fifo": lambda path: os.mkfifo(path),
}

MAKERS[sys.argv[2]](Path(sys.argv[1]))
