"""The program in the verifier: real files in, reward.json or a named cause out; no path writes 0 by default."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import grader.grader
from grader import CAUSES, GRADER_VERSION, source_sha256

SOURCE = Path(grader.grader.__file__)
Change = Callable[["Box"], None]


class Box:
    """A verifier's folder: the grader's own file, expected.json, what was sealed, and where the reward goes."""

    def __init__(self, root: Path, answer: bytes = b"42\n") -> None:
        self.root = root
        self.grader = root / "grader.py"
        shutil.copyfile(SOURCE, self.grader)
        self.rewards = root / "verifier"
        self.rewards.mkdir()
        self.answer = root / "answer.txt"
        self.answer.write_bytes(answer)
        self.expected: dict[str, Any] = {
            "schema": 1, "task": "demo-0001", "grader_sha256": source_sha256(), "answer_type": "integer", "gold": "42",
            "question": "How many orders were late?", "rtol": None, "atol": None, "decimals": None,
        }  # fmt: skip
        self.sentinel: dict[str, Any] = {
            "schema": 1, "state": "sealed", "why": "", "bytes": len(answer),
            "sha256": hashlib.sha256(answer).hexdigest(), "ctime_ns": 1, "sealed_at_ns": 2, "late": False,
        }  # fmt: skip
        self.write()

    def write(self) -> None:
        (self.root / "expected.json").write_text(json.dumps(self.expected))
        (self.root / "sentinel.json").write_text(json.dumps(self.sentinel))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        paths = ["--expected", "expected.json", "--answer", "answer.txt", "--sentinel", "sentinel.json"]
        command = [sys.executable, "-I", str(self.grader), *(arguments or [*paths, "--reward-dir", "verifier"])]
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True, timeout=60, check=False)

    def reward(self) -> dict[str, Any]:
        return json.loads((self.rewards / "reward.json").read_text())  # type: ignore[no-any-return]

    def verdict(self) -> dict[str, Any]:
        return json.loads((self.rewards / "verdict.json").read_text())  # type: ignore[no-any-return]


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def test_a_right_answer_is_rewarded_and_told_in_the_verdict(box: Box) -> None:
    done = box.run()
    assert done.returncode == 0, done.stderr
    assert box.reward() == {"reward": 1.0}
    verdict = box.verdict()
    assert verdict["submitted"] is True
    assert verdict["late"] is False
    assert verdict["method"] == "integer"
    assert verdict["answer_excerpt"] == "42\\n"
    assert verdict["answer_bytes"] == 3
    assert verdict["answer_sha256"] == box.sentinel["sha256"]
    assert verdict["answer_source"] == "answer.txt"
    assert verdict["grader_sha256"] == source_sha256()
    assert verdict["grader_version"] == GRADER_VERSION
    assert verdict["python"].count(".") == 2
    assert sorted(path.name for path in box.rewards.iterdir()) == ["reward.json", "verdict.json"]


@pytest.mark.parametrize("answer", [b"41", b"", b"41 or 42", b"\xff\xfe42", b"\x00", b"<value>", b"42" * 20_000])
def test_a_wrong_answer_gets_zero(tmp_path: Path, answer: bytes) -> None:
    box = Box(tmp_path, answer)
    assert box.run().returncode == 0
    assert box.reward() == {"reward": 0.0}
    assert box.verdict()["submitted"] is True
    assert len(box.verdict()["answer_excerpt"]) <= 1200


def test_a_verdict_keeps_letters_and_escapes_what_moves_a_terminals_cursor(tmp_path: Path) -> None:
    box = Box(tmp_path, "Zürich \x1b[2J \u202e".encode())
    assert box.run().returncode == 0
    assert box.verdict()["answer_excerpt"] == "Zürich \\x1b[2J \\u202e"
    written = (box.rewards / "verdict.json").read_text(encoding="utf-8")
    assert "Zürich" in written
    assert written.strip().isprintable()


def test_no_answer_file_of_a_healthy_agent_is_zero_and_not_submitted(box: Box) -> None:
    box.answer.unlink()
    box.sentinel |= {"state": "absent", "bytes": 0, "sha256": None, "ctime_ns": None}
    box.write()
    assert box.run().returncode == 0
    assert box.reward() == {"reward": 0.0}
    assert box.verdict()["submitted"] is False


def test_what_the_agent_broke_itself_is_zero(box: Box) -> None:
    box.answer.unlink()
    box.sentinel |= {"state": "refused", "why": "a symbolic link", "bytes": 0, "sha256": None}
    box.write()
    assert box.run().returncode == 0
    assert box.reward() == {"reward": 0.0}
    assert box.verdict()["submitted"] is True
    assert "a symbolic link" in box.verdict()["reason"]


def test_a_late_answer_is_zero_though_it_is_right(box: Box) -> None:
    box.sentinel["late"] = True
    box.write()
    assert box.run().returncode == 0
    assert box.reward() == {"reward": 0.0}
    assert box.verdict()["late"] is True


def test_named_fields_report_their_share(tmp_path: Path) -> None:
    box = Box(tmp_path, b'{"mean_fare": "34.65", "significant": "no"}')
    box.expected |= {
        "answer_type": "fields",
        "gold": [
            {"name": "mean_fare", "gold": "34.65", "answer_type": "number", "atol": 0.005},
            {"name": "significant", "gold": "yes", "answer_type": "boolean"},
        ],
    }
    box.write()
    assert box.run().returncode == 0
    assert box.reward() == {"reward": 0.0}
    assert box.verdict()["share"] == 0.5


def drop(name: str) -> Change:
    return lambda box: (box.root / name).unlink()


def put(name: str, content: str) -> Change:
    def change(box: Box) -> None:
        (box.root / name).write_text(content)

    return change


def set_in(name: str, **values: Any) -> Change:
    def change(box: Box) -> None:
        row = getattr(box, name)
        row |= values
        box.write()

    return change


def link(name: str) -> Change:
    def change(box: Box) -> None:
        (box.root / name).rename(box.root / "elsewhere")
        (box.root / name).symlink_to(box.root / "elsewhere")

    return change


def fifo(name: str) -> Change:
    def change(box: Box) -> None:
        (box.root / name).unlink()
        os.mkfifo(box.root / name)

    return change


def edit_the_grader(box: Box) -> None:
    box.grader.write_text(box.grader.read_text() + "\n# changed\n")


FAULTS: list[tuple[str, str, Change]] = [
    ("no sentinel", "sentinel-missing", drop("sentinel.json")),
    ("sentinel is a link", "sentinel-missing", link("sentinel.json")),
    ("sentinel is a FIFO", "sentinel-missing", fifo("sentinel.json")),
    ("sentinel is cut", "sentinel-malformed", put("sentinel.json", '{"schema": 1,')),
    ("sentinel is a list", "sentinel-malformed", put("sentinel.json", "[]")),
    ("sentinel nests deeply", "sentinel-malformed", put("sentinel.json", "[" * 100_000)),
    ("sentinel of another schema", "sentinel-malformed", set_in("sentinel", schema=2)),
    ("sentinel in no known state", "sentinel-malformed", set_in("sentinel", state="fine")),
    ("sentinel without a why", "sentinel-malformed", set_in("sentinel", why=None)),
    ("sentinel with a size of no number", "sentinel-malformed", set_in("sentinel", bytes="3")),
    ("sentinel with a truth value for a size", "sentinel-malformed", set_in("sentinel", bytes=True)),
    ("sentinel with a negative size", "sentinel-malformed", set_in("sentinel", bytes=-1)),
    ("sentinel with a size no seal allows", "sentinel-malformed", set_in("sentinel", bytes=65_537)),
    ("sentinel with a broken digest", "sentinel-malformed", set_in("sentinel", sha256="xyz")),
    ("sentinel sealed without a digest", "sentinel-malformed", set_in("sentinel", sha256=None)),
    ("sentinel that does not say whether late", "sentinel-malformed", set_in("sentinel", late=None)),
    ("sentinel with an odd ctime", "sentinel-malformed", set_in("sentinel", ctime_ns="now")),
    ("sentinel without a sealing time", "sentinel-malformed", set_in("sentinel", sealed_at_ns=None)),
    ("no expected", "expected-missing", drop("expected.json")),
    ("expected is a link", "expected-missing", link("expected.json")),
    ("expected is cut", "expected-malformed", put("expected.json", "{")),
    ("expected is no object", "expected-malformed", put("expected.json", "3")),
    ("expected of another schema", "expected-malformed", set_in("expected", schema=None)),
    ("expected of an unknown type", "expected-malformed", set_in("expected", answer_type="essay")),
    ("expected without a gold", "expected-malformed", set_in("expected", gold=None)),
    ("expected with an empty gold", "expected-malformed", set_in("expected", gold="")),
    ("expected with a question of no text", "expected-malformed", set_in("expected", question=3)),
    ("expected with a negative tolerance", "expected-malformed", set_in("expected", atol=-0.1)),
    ("expected with a tolerance of no number", "expected-malformed", set_in("expected", rtol="1e-3")),
    ("expected with half a decimal", "expected-malformed", set_in("expected", decimals=1.5)),
    ("expected without the grader's digest", "expected-malformed", set_in("expected", grader_sha256=None)),
    ("expected for another grader", "grader-mismatch", set_in("expected", grader_sha256="0" * 64)),
    ("a changed grader", "grader-mismatch", edit_the_grader),
    ("a gold that is no number", "gold-ungradable", set_in("expected", gold="many")),
    ("the sealed answer is gone", "artifact-lost", drop("answer.txt")),
    ("the sealed answer is another", "artifact-lost", put("answer.txt", "43\n")),
    ("the sealed answer is shorter", "artifact-lost", put("answer.txt", "42")),
    ("the sealed answer is huge", "artifact-lost", put("answer.txt", "4" * 70_000)),
    ("the sealed answer is a link", "artifact-lost", link("answer.txt")),
    ("the sealed answer is a FIFO", "artifact-lost", fifo("answer.txt")),
]  # fmt: skip


@pytest.mark.parametrize(("cause", "change"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_a_fault_leaves_no_reward_and_names_its_cause(box: Box, cause: str, change: Change) -> None:
    (box.rewards / "reward.json").write_text('{"reward": 1.0}')  # stale, from elsewhere
    change(box)
    done = box.run()
    assert done.returncode == 2, done.stderr
    assert not (box.rewards / "reward.json").exists()
    assert done.stderr.startswith(f"cause={cause} ")
    assert "Traceback" not in done.stderr
    assert box.verdict()["cause"] == cause
    assert box.verdict()["reward"] is None


def test_wrong_usage_is_no_verdict(box: Box) -> None:
    twice = ["--expected", "a", "--expected", "b", "--answer", "c", "--reward-dir", "d"]
    for arguments in (["--expected"], ["--help", "me"], twice):
        done = box.run(*arguments)
        assert (done.returncode, done.stderr[:11]) == (2, "cause=usage")


def test_a_reward_folder_that_is_none_is_no_verdict(box: Box) -> None:
    box.rewards.rmdir()
    box.rewards.write_text("a file")
    done = box.run()
    assert done.returncode == 2
    assert "cause=reward-dir-unwritable" in done.stderr


def test_a_reward_name_that_cannot_be_replaced_is_no_verdict(box: Box) -> None:
    (box.rewards / "reward.json").mkdir()
    done = box.run()
    assert done.returncode == 2
    assert "cause=reward-dir-unwritable" in done.stderr


def test_an_own_exception_is_no_verdict(box: Box) -> None:
    text = box.grader.read_text().replace("def run_cases(", "RULES['integer'] = None\n\n\ndef run_cases(")
    box.grader.write_text(text)
    set_in("expected", grader_sha256=hashlib.sha256(text.encode()).hexdigest())(box)
    done = box.run()
    assert done.returncode == 2
    assert not (box.rewards / "reward.json").exists()
    assert box.verdict()["cause"] in CAUSES


def test_twice_is_the_same(box: Box) -> None:
    box.run()
    first = [(path.name, path.read_bytes()) for path in sorted(box.rewards.iterdir())]
    box.run()
    assert [(path.name, path.read_bytes()) for path in sorted(box.rewards.iterdir())] == first


def test_an_expected_file_beyond_all_measure_is_not_read(box: Box) -> None:
    box.expected["question"] = "x" * (grader.grader.MAX_FILE + 1)
    box.write()
    done = box.run()
    assert done.returncode == 2 and "cause=expected-missing" in done.stderr and "longer than" in done.stderr
    assert not (box.rewards / "reward.json").exists()


def test_the_compiled_module_runs_as_the_task_template_starts_it(box: Box) -> None:
    """As in tests/Dockerfile and tests/test.sh: compiled once, started by import, stale once the file is another."""
    flags = ["-I", "-S"]
    subprocess.run(
        [sys.executable, *flags, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", str(box.grader)],
        check=True,
    )
    assert list((box.root / "__pycache__").glob("grader.*.pyc"))
    start = f"import sys; sys.path.append({str(box.root)!r}); import grader; sys.exit(grader.main())"
    paths = ["--expected", "expected.json", "--answer", "answer.txt", "--sentinel", "sentinel.json"]
    command = [sys.executable, *flags, "-c", start, *paths, "--reward-dir", "verifier"]
    done = subprocess.run(command, cwd=box.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert box.reward() == {"reward": 1.0}
    box.grader.write_text(box.grader.read_text() + "\nGRADER_VERSION = 'changed'\n")
    done = subprocess.run(command, cwd=box.root, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "cause=grader-mismatch" in done.stderr
    assert box.verdict()["grader_version"] == "changed", "the compiled form of other bytes was run"
