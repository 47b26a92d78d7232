"""Files an answer, byte for byte: ``file_answer.py PATH BASE64``."""

import base64
import sys
from pathlib import Path

Path(sys.argv[1]).write_bytes(base64.b64decode(sys.argv[2]))
