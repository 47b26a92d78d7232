"""Files an answer after the limit, from a process of its own: ``late.py PATH BASE64 SECONDS``.

The process that was started never ends, so the limit ends the agent's phase; the other one files the answer once the
seconds are over, and again and again until it is ended.
"""

import base64
import os
import signal
import sys
import time
from pathlib import Path

path, answer, seconds = sys.argv[1], base64.b64decode(sys.argv[2]), float(sys.argv[3])
if os.fork() == 0:
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(seconds)
    while True:
        Path(path).write_bytes(answer)
        time.sleep(0.02)
time.sleep(100000)
