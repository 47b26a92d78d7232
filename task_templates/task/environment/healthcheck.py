"""Proves an agent's box before its agent starts: run as root, ``python3 -I healthcheck.py``.

The tables are those of the manifest, byte for byte, and the agent reads but cannot change them; the agent can file an
answer; the box has the memory that the task was sized for; programs the image promises are there. Exit 0, or one plain
sentence and the exit code beside it in FAILURES. The sentence is left in the agent's log folder too, because Harbor
itself reports only that the check failed.
"""

import hashlib
import json
import os
import shutil
import stat
import sys
import time

FOLDER = "/opt/harborwright"
MANIFEST = FOLDER + "/manifest.json"
SIZE = FOLDER + "/size.env"
PULLED = FOLDER + "/pulled.json"
PROGRAMS = FOLDER + "/programs.txt"
DATA = "/app/data"
LOG = "/logs/agent/healthcheck.txt"
LIMIT_SEC = 600.0
# A virtual machine keeps a part of its memory for itself; a container's limit is exact.
MEMORY_SHARE = 0.9
UNLIMITED = 1 << 60

FAILURES = {
    "manifest": 10,
    "table-missing": 11,
    "table-size": 12,
    "table-content": 13,
    "table-access": 14,
    "table-unknown": 15,
    "no-tables": 16,
    "agent-user": 20,
    "answer-folder": 21,
    "answer-present": 22,
    "memory": 30,
    "program-missing": 40,
    "slow": 50,
}


class UnhealthyError(Exception):
    """What is wrong with the box, by its key in FAILURES."""

    def __init__(self, key, sentence):
        super().__init__(sentence)
        self.key = key


def read_json(path):
    """A JSON object of ours."""
    try:
        with open(path, "rb") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        raise UnhealthyError("manifest", f"{path} cannot be read: {error}") from None


def sha256_of(path, until):
    """The sha256 of a file, in hex."""
    whole = hashlib.sha256()
    with open(path, "rb") as file:
        while True:
            piece = file.read(1 << 20)
            if not piece:
                return whole.hexdigest()
            whole.update(piece)
            if time.monotonic() > until:
                raise UnhealthyError("slow", f"the tables could not be read within {LIMIT_SEC:.0f} seconds")


def files_below(folder):
    """Relative paths of all that is no folder below ``folder``."""
    found, pending = set(), [""]
    while pending:
        prefix = pending.pop()
        with os.scandir(os.path.join(folder, prefix)) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(prefix + entry.name + "/")
                else:
                    found.add(prefix + entry.name)
    return found


def check_table(table, folder, until):
    """One table of the manifest lies there, whole and unchanged, and only root may write it."""
    name, path = table["name"], os.path.join(folder, table["name"])
    try:
        status = os.lstat(path)
    except OSError:
        raise UnhealthyError("table-missing", f"the table {name} is not in {folder}") from None
    if not stat.S_ISREG(status.st_mode):
        raise UnhealthyError("table-missing", f"the table {name} is not a plain file")
    if status.st_size != table["bytes"]:
        raise UnhealthyError("table-size", f"the table {name} has {status.st_size} bytes, not {table['bytes']}")
    if table.get("sha256") and sha256_of(path, until) != table["sha256"]:
        raise UnhealthyError(
            "table-content", f"the table {name} is not the one the question was made for (sha256 differs)"
        )
    if status.st_mode & 0o004 == 0 or status.st_mode & 0o022:
        raise UnhealthyError(
            "table-access", f"the table {name} has mode {status.st_mode & 0o777:o}: others must read and not write"
        )


def check_tables(manifest, folder, until):
    """Every table of the manifest and nothing else lies in ``folder``."""
    tables = manifest["tables"]
    if manifest.get("bucket"):
        tables = read_json(PULLED)["tables"]
        if not tables:
            raise UnhealthyError("no-tables", "nothing was downloaded from the bucket")
    for table in tables:
        check_table(table, folder, until)
    unknown = (files_below(folder) if os.path.isdir(folder) else set()) - {table["name"] for table in tables}
    if unknown:
        raise UnhealthyError("table-unknown", f"{folder} holds {sorted(unknown)[0]}, which the manifest does not name")


def ids_of(user):
    """User and group id of a name, from the password file."""
    with open("/etc/passwd", "rb") as file:
        for line in file:
            fields = line.decode(errors="replace").split(":")
            if fields[0] == user:
                return int(fields[2]), int(fields[3])
    raise UnhealthyError("agent-user", f"there is no user {user} in the image")


def try_to_file(path):
    """Create and remove a file beside the answer; the reason where that is not possible."""
    probe = f"{path}.healthcheck-{os.getpid()}"
    try:
        descriptor = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(descriptor, b"0\n")
        finally:
            os.close(descriptor)
        os.unlink(probe)
    except OSError as error:
        return error.strerror or "cannot be written"
    return ""


def as_user(ids, action):
    """The text that ``action`` returns when run as another user, in a process of its own."""
    if os.getuid() != 0:
        return action()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        text = "the user cannot be taken on"
        try:
            os.setgroups([])
            os.setgid(ids[1])
            os.setuid(ids[0])
            text = action()
        finally:
            os.write(writing, text.encode()[:4096])
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(child, 0)
    return text


def check_answer(manifest):
    """The agent's user, who is not root, can file an answer, and none is there yet."""
    ids = ids_of(manifest["agent_user"])
    if ids[0] == 0:
        raise UnhealthyError("agent-user", f"the agent's user {manifest['agent_user']} is root")
    path = manifest["answer_path"]
    if os.path.lexists(path):
        raise UnhealthyError("answer-present", f"{path} is there before the agent has started")
    why = as_user(ids, lambda: try_to_file(path))
    if why:
        raise UnhealthyError(
            "answer-folder",
            f"the user {manifest['agent_user']} cannot write in {os.path.dirname(path)}: {why}",
        )


def number_in(path):
    """The number a kernel file holds; no limit where it says so, or is not there."""
    try:
        with open(path, "rb") as file:
            text = file.read().strip()
    except OSError:
        return UNLIMITED
    return int(text) if text.isdigit() else UNLIMITED


def memory_bytes(root="/"):
    """The memory this box may use: the lowest of its control group's limit (version 2 or 1) and the machine's own."""
    machine = UNLIMITED
    try:
        with open(os.path.join(root, "proc/meminfo"), "rb") as file:
            for line in file:
                if line.startswith(b"MemTotal:"):
                    machine = int(line.split()[1]) * 1024
    except OSError:
        pass
    groups = ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes")
    return min([machine] + [number_in(os.path.join(root, group)) for group in groups])


def sizes(path):
    """The numbers of size.env."""
    try:
        with open(path, encoding="utf-8") as file:
            pairs = [line.strip().partition("=") for line in file if "=" in line]
        return {name: int(value) for name, _, value in pairs}
    except (OSError, ValueError) as error:
        raise UnhealthyError("manifest", f"{path} cannot be read: {error}") from None


def check_memory(path=SIZE, root="/"):
    """The box has the memory the task was sized for."""
    wanted, found = sizes(path)["MEMORY_MB"], memory_bytes(root)
    if found < wanted * 1024 * 1024 * MEMORY_SHARE:
        raise UnhealthyError("memory", f"the box has {found >> 20} MB of memory, the task needs {wanted}")


def check_programs(path=PROGRAMS):
    """Every program that an image of agent programs promises can be found."""
    try:
        with open(path, encoding="utf-8") as file:
            names = [line.strip() for line in file if line.strip()]
    except FileNotFoundError:
        return
    for name in names:
        if shutil.which(name) is None:
            raise UnhealthyError("program-missing", f"the program {name} is not in the image")


def check():
    """All checks, the cheap ones first."""
    manifest = read_json(MANIFEST)
    check_memory()
    check_programs()
    check_answer(manifest)
    check_tables(manifest, DATA, time.monotonic() + LIMIT_SEC)


def main():
    """Check; returns the exit code."""
    try:
        check()
    except UnhealthyError as problem:
        print(problem, file=sys.stderr)
        if os.path.isdir(os.path.dirname(LOG)):
            with open(LOG, "w", encoding="utf-8") as file:
                file.write(f"{problem.key}: {problem}\n")
        return FAILURES[problem.key]
    return 0


if __name__ == "__main__":
    sys.exit(main())
