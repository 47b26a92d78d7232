"""The seal in real boxes, run as Harbor runs it, against what an agent may have left."""

from __future__ import annotations

import json
import time

import pytest
from boxes import MEMORY_MB, Box

pytestmark = pytest.mark.docker

# What the box uses now, under control groups of version 2 and 1.
MEMORY_FILES = ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes")


def sentinel(box: Box) -> dict[str, object]:
    return json.loads(box.run("cat /sealed/sentinel.json").stdout)


def answer(box: Box) -> str:
    return box.run("cat /sealed/answer").stdout


def agents_processes(box: Box) -> str:
    """What still runs under a user that is not root; zombies are nobody's."""
    command = "for p in /proc/[0-9]*; do grep -q '^State:.Z' $p/status 2>/dev/null || stat -c '%U' $p 2>/dev/null; done"
    return " ".join(name for name in box.run(command).stdout.split() if name != "root")


def changes(box: Box) -> bool:
    """True while processes come and go."""
    count = "ls -d /proc/[0-9]* | wc -l"
    before, after = box.run(f"{count}; sleep 0.5; {count}").stdout.splitlines()
    return before != after


def test_an_answer_is_sealed(box: Box) -> None:
    assert box.run("echo 42 > /app/answer.txt", user="agent").returncode == 0
    assert box.seal().returncode == 0
    assert sentinel(box)["state"] == "sealed"
    assert answer(box) == "42\n"


def test_sealing_twice_changes_nothing(box: Box) -> None:
    box.run("echo 42 > /app/answer.txt", user="agent")
    box.seal()
    first = sentinel(box)
    box.run("echo 43 > /app/answer.txt", user="agent")
    assert box.seal().returncode == 0
    assert sentinel(box) == first and answer(box) == "42\n"


def test_no_answer_is_absent(box: Box) -> None:
    assert box.seal().returncode == 0
    assert sentinel(box)["state"] == "absent"


@pytest.mark.parametrize(
    "command",
    [
        "ln -s /app/data/fares.csv answer.txt",
        "ln -s /etc/shadow answer.txt",
        "mkfifo answer.txt",
        "mkdir answer.txt",
        "head -c 100000000 /dev/zero > answer.txt",
        "truncate -s 10G answer.txt",
        "echo 42 > other; ln other answer.txt",
    ],
)
def test_a_hostile_answer_does_not_travel(box: Box, command: str) -> None:
    assert box.run(command, user="agent").returncode == 0
    assert box.seal().returncode == 0
    assert sentinel(box)["state"] == "refused"
    assert box.run("ls /sealed").stdout.split() == ["sentinel.json"]


def test_a_late_writer_is_ended(box: Box) -> None:
    box.start("trap '' TERM HUP INT; while true; do echo 42 > /app/answer.txt; sleep 0.02; done")
    until = time.monotonic() + 60
    while box.run("test -e /app/answer.txt").returncode:
        assert time.monotonic() < until, "the writer never began"
    assert box.seal().returncode == 0
    assert agents_processes(box) == ""
    box.run("rm -f /app/answer.txt", user="agent")
    time.sleep(0.2)
    assert box.run("test -e /app/answer.txt").returncode == 1


def test_a_detached_stopped_and_daemonised_writer_is_ended(box: Box) -> None:
    box.run("(setsid nohup sleep 300 >/dev/null 2>&1 &) ; setsid sleep 301 & kill -STOP $!", user="agent")
    assert agents_processes(box)
    assert box.seal().returncode == 0
    assert agents_processes(box) == ""


def test_a_fork_storm_is_ended(box: Box) -> None:
    storm = (
        "import os, time\n"
        "until = time.time() + 120\n"
        "for _ in range(3):\n    os.fork()\n"
        "while time.time() < until:\n"
        "    if os.fork():\n        os._exit(0)\n"
        "    time.sleep(0.002)\n"
    )
    box.start(f"python3 -c '{storm}'")
    until = time.monotonic() + 60
    while not changes(box):
        assert time.monotonic() < until, "the storm never began"
    assert box.seal().returncode == 0
    until = time.monotonic() + 30
    while changes(box):  # the dead are still being taken away; a storm that lives goes on for two minutes
        assert time.monotonic() < until, "the storm goes on"
    assert agents_processes(box) == ""
    assert sentinel(box)["state"] == "absent"


@pytest.mark.parametrize("signal", ["STOP", "KILL"])
def test_a_process_that_stops_whatever_has_its_user_id_is_ended(box: Box, signal: str) -> None:
    fight = f"import os, signal\nwhile True:\n    try: os.kill(-1, signal.SIG{signal})\n    except OSError: pass"
    box.start(f"echo 42 > /app/answer.txt; exec python3 -c '{fight}'")
    until = time.monotonic() + 60
    while "python3" not in box.run("cat /proc/[0-9]*/cmdline | tr '\\0' ' '").stdout:
        assert time.monotonic() < until, "the fighters never began"
    assert box.seal(seconds=60).returncode == 0
    assert agents_processes(box) == ""
    assert answer(box) == "42\n"


def test_an_answer_is_sealed_in_a_box_whose_memory_the_agent_holds(box: Box) -> None:
    hog = "python3 -c 'import time; x = bytearray(4 << 20); time.sleep(100)'"
    box.start(f"echo 42 > /app/answer.txt; for i in $(seq 60); do (while true; do {hog}; done) & done; wait")
    limit = f"grep -h . {' '.join(MEMORY_FILES)} 2>/dev/null | sort -n | tail -1"
    until = time.monotonic() + 60
    while int(box.run(limit).stdout or 0) < 0.9 * MEMORY_MB * 1024 * 1024:
        assert time.monotonic() < until, "the hogs never filled the box"
        time.sleep(0.5)
    assert box.seal().returncode == 0
    assert answer(box) == "42\n"


def test_what_would_be_collected_is_emptied(box: Box) -> None:
    nest = "import os\nfor _ in range(1200):\n    os.mkdir('n' * 30)\n    os.chdir('n' * 30)\n"
    box.run(f'cd /logs/artifacts && python3 -c "{nest}"; ln -s / /logs/artifacts/root', user="agent")
    box.run("echo '{\"reward\": 1}' > /logs/verifier/reward.json; echo 42 > /app/answer.txt", user="agent")
    box.run("echo trajectory > /logs/agent/log.txt", user="agent")
    assert box.seal().returncode == 0
    assert box.run("ls -A /logs/artifacts /logs/verifier").stdout.split() == ["/logs/artifacts:", "/logs/verifier:"]
    assert box.run("cat /logs/agent/log.txt").stdout == "trajectory\n", "what Harbor reads is left alone"
    assert answer(box) == "42\n"


def test_the_agent_reaches_neither_the_seal_nor_its_interpreter(box: Box) -> None:
    box.run("mkdir -p ~/.local/lib/python3.13/site-packages ~/bin", user="agent")
    attempts = [
        "echo 'raise SystemExit' > /opt/harborwright/seal.py",
        "mv /opt/harborwright/seal.py /tmp/",
        "rm -f /usr/local/bin/python3",
        "echo forged > /sealed/answer",
        "ls /sealed",
        "mv /sealed /tmp/",
        "mv /app/data /app/other",
        "echo x >> /app/data/fares.csv",
        "rm -f /app/data/fares.csv",
        "mv /app /tmp/app",
        "touch /usr/lib/python3/dist-packages/json.py",
        "find / -xdev -perm /6000 -type f | grep .",
    ]
    for attempt in attempts:
        assert box.run(attempt, user="agent").returncode != 0, attempt
    # Modules beside the working directory and in the user's own folders shadow nothing.
    for module in ("json", "hashlib", "errno", "sitecustomize", "usercustomize"):
        shadow = (
            f"echo 'import os; os._exit(0)' | tee /app/{module}.py ~/.local/lib/python3.13/site-packages/{module}.py"
        )
        box.run(shadow, user="agent")
    box.run("echo 42 > /app/answer.txt", user="agent")
    assert box.seal().returncode == 0
    assert sentinel(box)["state"] == "sealed"
