"""Seals an agent's answer: run as root in the agent's box when its phase is over, ``python3 -I seal.py``.

In this order, so that nothing the agent left can change what is graded:
1. every process that is not root's is ended, until none is left;
2. the answer is opened without following a link in any part of its path, and copied to /sealed/answer if it is one
   plain file of at most 64 KiB;
3. /sealed/sentinel.json says what was found, written beside and renamed;
4. the folders that Harbor collects are emptied, without following links and without recursion, within a time limit.

``ctime_ns`` is the kernel's time of the last change to the file, which its owner cannot set. The host compares it with
the end of the agent's phase; this box does not know that moment, so ``late`` is always false here.

A sentinel that is already there is kept: sealing twice changes nothing. Exit 0: sealed, absent or refused. Exit 2: it
could not be told (no manifest, /sealed not writable); there is no sentinel then, and no verdict follows.
"""

import contextlib
import errno
import hashlib
import itertools
import json
import os
import signal
import stat
import sys
import time

MANIFEST = "/opt/harborwright/manifest.json"
SEALED = "/sealed"
ANSWER = "answer"
SENTINEL = "sentinel.json"
COLLECTED = ("/logs/artifacts", "/logs/verifier")
LIMIT_BYTES = 64 * 1024
NOBODY = 65534
END_SEC = 20.0
EMPTY_SEC = 60.0
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def ancestors():
    """This process and those above it."""
    found, pid = set(), os.getpid()
    while pid > 0 and pid not in found:
        found.add(pid)
        pid = status_of(pid).get("PPid", [0])[0]
    return found


def status_of(pid):
    """``PPid`` and ``Uid`` of a process as numbers, and whether it is a zombie; empty when it is gone."""
    wanted = {}
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            for line in file:
                name, _, value = line.partition(b":")
                if name in (b"PPid", b"Uid"):
                    wanted[name.decode()] = [int(part) for part in value.split()]
                elif name == b"State":
                    wanted["dead"] = value.split()[0] in (b"Z", b"X")
    except OSError:
        return {}
    return wanted


def others(spared):
    """Living processes with any user id that is not root's, and their real user ids."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in spared:
            status = status_of(int(name))
            if any(status.get("Uid", ())) and not status.get("dead"):
                found[int(name)] = status["Uid"][0]
    return found


def end_as(uid):
    """Kill everything a user may signal, in one system call: no fork slips between a look and a kill.

    Only the effective user id is the user's: whoever has the real or the saved one could stop or end this process.
    """
    child, own = os.fork(), NOBODY if uid != NOBODY else NOBODY - 1
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(own, uid, own)
            os.kill(-1, signal.SIGKILL)
        except OSError:
            pass
        os._exit(0)
    os.waitpid(child, 0)


def end_processes(limit_sec=END_SEC):
    """Kill every process that is not root's; True when none is left."""
    spared, until = ancestors() | {1}, time.monotonic() + limit_sec
    while True:
        living = others(spared)
        if not living:
            return True
        if time.monotonic() > until:
            return False
        for uid in set(living.values()) - {0}:
            end_as(uid)
        for pid in living:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def open_answer(path):
    """A descriptor of the answer, reached without following a link in any part of ``path``."""
    parts = [part for part in path.split("/") if part]
    folder = os.open("/", FOLDER)
    try:
        for part in parts[:-1]:
            inner = os.open(part, FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(parts[-1], PLAIN, dir_fd=folder)
    finally:
        os.close(folder)


WHY_NOT_OPENED = {
    errno.ELOOP: "the answer's path leads over a symbolic link",
    errno.ENOTDIR: "a part of the answer's path is no folder",
    errno.ENXIO: "the answer is a pipe or a socket, not a plain file",
    errno.EACCES: "the answer cannot be opened",
}


def read_answer(path):
    """``(state, why, content, status)`` of the answer at ``path``; content is None unless it may be sealed."""
    try:
        descriptor = open_answer(path)
    except FileNotFoundError:
        return "absent", "there is no answer file", None, None
    except OSError as error:
        return (
            "refused",
            WHY_NOT_OPENED.get(error.errno, f"the answer cannot be opened: {error.strerror}"),
            None,
            None,
        )
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return "refused", "the answer is not a plain file", None, status
        if status.st_nlink != 1:
            return "refused", f"the answer has {status.st_nlink} names (hard links)", None, status
        if status.st_size > LIMIT_BYTES:
            return (
                "refused",
                f"the answer has {status.st_size} bytes, over the limit of {LIMIT_BYTES}",
                None,
                status,
            )
        content = b""
        while len(content) <= LIMIT_BYTES:
            piece = os.read(descriptor, LIMIT_BYTES + 1 - len(content))
            if not piece:
                break
            content += piece
        if len(content) > LIMIT_BYTES:
            return "refused", f"the answer is over the limit of {LIMIT_BYTES} bytes", None, status
        return "sealed", "", content, status
    except OSError as error:
        return "refused", f"the answer cannot be read: {error.strerror}", None, None
    finally:
        os.close(descriptor)


def write_beside(name, content):
    """Write a file of /sealed whole, or not at all."""
    target = os.path.join(SEALED, name)
    descriptor = os.open(target + ".part", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        while content:
            content = content[os.write(descriptor, content) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.rename(target + ".part", target)


def seal(path, ended):
    """Copy the answer and write the sentinel; returns the sentinel."""
    if ended:
        state, why, content, status = read_answer(path)
    else:
        state, why, content, status = "refused", "processes of the agent could not be ended", None, None
    if content is not None:
        write_beside(ANSWER, content)
    sentinel = {
        "schema": 1,
        "state": state,
        "why": why,
        "bytes": status.st_size if status else 0,
        "sha256": hashlib.sha256(content).hexdigest() if content is not None else None,
        "ctime_ns": status.st_ctime_ns if status else None,
        "sealed_at_ns": time.time_ns(),
        "late": False,
    }
    write_beside(SENTINEL, (json.dumps(sentinel) + "\n").encode())
    return sentinel


def removed(name, folder):
    """Remove a file, a link or an empty folder; False for a folder that holds something."""
    try:
        os.unlink(name, dir_fd=folder)
        return True
    except FileNotFoundError:
        return True
    except (IsADirectoryError, PermissionError):
        pass
    try:
        os.rmdir(name, dir_fd=folder)
        return True
    except OSError:
        return False


def flatten(name, top, fresh):
    """Remove the files of the folder ``name`` and lift its folders up to ``top``: depth never costs a descriptor."""
    inner = os.open(name, FOLDER, dir_fd=top)
    try:
        with os.scandir(inner) as entries:
            for entry in entries:
                if not removed(entry.name, inner):
                    os.rename(entry.name, f".sealing-{next(fresh)}", src_dir_fd=inner, dst_dir_fd=top)
                yield
    finally:
        os.close(inner)


def empty(folder, until):
    """Empty a folder but keep it; True when nothing is left, False when time ran out or something stays."""
    try:
        top = os.open(folder, FOLDER)
    except FileNotFoundError:
        return True
    except OSError as error:
        print(f"{folder} could not be emptied: {error}", file=sys.stderr)
        return False
    fresh = itertools.count(time.time_ns())
    try:
        while True:
            with os.scandir(top) as entries:
                names = [entry.name for entry in itertools.islice(entries, 4096)]
            if not names:
                return True
            for name in names:
                if time.monotonic() > until:
                    return False
                if not removed(name, top):
                    for _ in flatten(name, top, fresh):
                        if time.monotonic() > until:
                            return False
    except OSError as error:
        print(f"{folder} could not be emptied: {error}", file=sys.stderr)
        return False
    finally:
        os.close(top)


def main():
    """Seal once; returns the exit code."""
    until = time.monotonic() + END_SEC + EMPTY_SEC
    ended = end_processes()
    if not os.path.exists(os.path.join(SEALED, SENTINEL)):
        try:
            with open(MANIFEST, "rb") as file:
                answer_path = json.load(file)["answer_path"]
            sentinel = seal(answer_path, ended)
        except (OSError, ValueError, KeyError) as error:
            print(f"the answer could not be sealed: {error!r}", file=sys.stderr)
            return 2
        print("{state}: {bytes} bytes {why}".format(**sentinel))
    for folder in COLLECTED:
        if not empty(folder, until):
            print(f"{folder} was not emptied in time", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
