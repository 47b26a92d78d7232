"""Probe agents: what each does in the box, and how its trial must end.

A probe is a Harbor agent like any other; what it does in the box is a real program below ``boxed/``, run there as the
agent's user. Right and wrong answers come from the task's own ``tests/cases.json``, which never enters the agent's box.
"""

from __future__ import annotations

import base64
import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, override

from harbor.agents.base import BaseAgent
from harbor.agents.installed.base import NonZeroAgentExitCodeError
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext
from harbor.models.trial.config import AgentConfig

from builder.verify.outcome import Cause, Outcome
from catalog import paths
from catalog.errors import CatalogError
from catalog.index import Entry
from catalog.receipts import MEASURING, REQUIRED

BOXED: Final = Path(__file__).resolve().parent / "boxed"
PLACE: Final = "/tmp"  # noqa: S108  (in the box: the one folder that every image has and every user may write)
HUGE_MB: Final = 100
# Seconds that the late probe is given; it files its answer when they are over.
LATE_LIMIT_SEC: Final = 3.0
PLACEHOLDER: Final = "<value>"
SHELL_TEXT: Final = "$(cat /app/data/* | wc -l); `id`; echo 1 > /logs/verifier/reward.txt"
NOT_UTF8: Final = b"\xff\xfe\x00\xd8\x80\xc3("


class ScriptAgent(BaseAgent):
    """Runs one program of ``boxed/`` in the box as the agent's user."""

    def __init__(self, *args: Any, script: str, arguments: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._script, self._arguments = script, list(arguments)

    @staticmethod
    @override
    def name() -> str:
        return "harborwright-probe"

    @override
    def version(self) -> str:
        return "1"

    @override
    async def setup(self, environment: BaseEnvironment) -> None:
        await environment.upload_file(BOXED / self._script, f"{PLACE}/{self._script}")

    @override
    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        command = shlex.join(["python3", f"{PLACE}/{self._script}", *self._arguments])
        result = await environment.exec(command)
        (self.logs_dir / "probe.txt").write_text((result.stdout or "")[-20_000:])
        if result.return_code != 0:
            raise NonZeroAgentExitCodeError(f"exit {result.return_code}: {(result.stdout or '').strip()[-300:]}")


@dataclass(frozen=True, slots=True)
class Facts:
    """What probes must know of a task.

    Attributes:
        folder: the task directory.
        answer_path: where the agent files its answer in the box.
        right: an answer that must pass.
        rejected: answers that must not, the nearest first.
    """

    folder: Path
    answer_path: str
    right: str
    rejected: tuple[str, ...]


def read_facts(folder: Path) -> Facts:
    """Read what probes must know of the task at ``folder``.

    Raises:
        CatalogError: where the task's manifest or cases cannot be read.
    """
    try:
        manifest = json.loads((folder / paths.MANIFEST).read_bytes())
        cases = json.loads((folder / paths.CASES).read_bytes())
        right = str(cases["accept"][0]["answer"])
        rejected = tuple(str(case["answer"]) for case in cases["reject"])
        answer_path = str(manifest["answer_path"])
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise CatalogError(
            "the task cannot be probed",
            where=folder,
            expected=f"a readable {paths.MANIFEST} and {paths.CASES}",
            found=f"{type(error).__name__}: {error}",
            fix="build the catalog again",
        ) from None
    return Facts(folder, answer_path, right, tuple(text for text in rejected if _plausible(text)))


def _plausible(answer: str) -> bool:
    """True for an answer that somebody might mean, as against nothing or a placeholder."""
    return bool(answer.strip()) and "<" not in answer


@dataclass(frozen=True, slots=True)
class Expected:
    """How a trial must end: with a reward, or without a verdict for a cause."""

    reward: float | None
    cause: Cause | None = None

    def met_by(self, outcome: Outcome) -> bool:
        """Whether a trial ended so."""
        return (outcome.reward, outcome.cause) == (self.reward, self.cause)

    def __str__(self) -> str:
        return f"ungraded: {self.cause}" if self.reward is None else f"{self.reward:g}"


@dataclass(frozen=True, slots=True)
class Probe:
    """One probe agent.

    Attributes:
        name: how reports and receipts call it.
        about: what it does, for a person.
        agent: Harbor's configuration of it, for a task.
        applies: to which tasks it is given.
        everywhere: run on every task, not only on the sample.
    """

    name: str
    about: str
    agent: Callable[[Facts], AgentConfig]
    applies: Callable[[Entry], bool] = lambda entry: True
    everywhere: bool = False

    @property
    def expected(self) -> Expected:
        """How its trial must end, by the table that receipts are read with."""
        return Expected(REQUIRED[self.name])

    @property
    def measures(self) -> bool:
        """Whether the memory that its box needs is held against the size."""
        return self.name in MEASURING


def _coded(answer: str | bytes) -> str:
    return base64.b64encode(answer if isinstance(answer, bytes) else answer.encode()).decode()


def script_config(script: str, *arguments: str, limit_sec: float | None = None) -> AgentConfig:
    """A probe that runs one program of ``boxed/``; what it leaves in its log folder stays in its box."""
    return AgentConfig(
        import_path=f"{__name__}:{ScriptAgent.__qualname__}",
        kwargs={"script": script, "arguments": list(arguments)},
        override_timeout_sec=limit_sec,
        exclude_logs=["*"],
    )


def files(choose: Callable[[Facts], str | bytes]) -> Callable[[Facts], AgentConfig]:
    """An agent that files the answer that ``choose`` picks for the task."""
    return lambda facts: script_config("file_answer.py", facts.answer_path, _coded(choose(facts)))


def _special(kind: str, *target: str) -> Callable[[Facts], AgentConfig]:
    return lambda facts: script_config("file_special.py", facts.answer_path, kind, *target)


def _late(facts: Facts) -> AgentConfig:
    limit = LATE_LIMIT_SEC
    return script_config("late.py", facts.answer_path, _coded(facts.right), str(limit), limit_sec=limit)


def _flood(facts: Facts) -> AgentConfig:
    folders = ("/logs/artifacts", "/logs/agent", "/logs/verifier")
    return script_config("flood.py", facts.answer_path, _coded(facts.right), *folders)


def _near(facts: Facts) -> str:
    return facts.rejected[0] if facts.rejected else f"not {facts.right}"


def _far(facts: Facts) -> str:
    return facts.rejected[-1] if facts.rejected else "no idea"


def _oracle(facts: Facts) -> AgentConfig:
    # Its own log comes out of the box by itself, cut short.
    return AgentConfig(name="oracle", exclude_logs=["*"])


def _brings_no_program(entry: Entry) -> bool:
    return not entry.program


PROBES: Final[tuple[Probe, ...]] = (
    Probe("oracle", "solves the task", _oracle, everywhere=True),
    Probe("nop", "does nothing", lambda facts: AgentConfig(name="nop"), everywhere=True),
    Probe(
        "loader",
        "loads every table and groups it, where the row brings no program to measure",
        lambda facts: script_config("load_tables.py", paths.DATA_DIR),
        applies=_brings_no_program,
        everywhere=True,
    ),
    Probe("oracle-again", "solves it once more", _oracle),
    Probe("wrong", "files a wrong answer", files(_far)),
    Probe("near-miss", "files an answer that is nearly right", files(_near)),
    Probe("placeholder", f"files {PLACEHOLDER}", files(lambda facts: PLACEHOLDER)),
    Probe("shell-text", "files what a shell would run", files(lambda facts: SHELL_TEXT)),
    Probe("not-utf8", "files bytes that are no text", files(lambda facts: NOT_UTF8)),
    Probe(
        "huge",
        f"files {HUGE_MB} MB",
        lambda facts: script_config("file_huge.py", facts.answer_path, str(HUGE_MB)),
    ),
    Probe("symlink", "files a link to a file that is there", _special("symlink", "/etc/passwd")),
    Probe("directory", "makes a folder of the answer", _special("directory")),
    Probe("fifo", "makes a pipe of the answer", _special("fifo")),
    Probe(
        "forger",
        "writes reward files, tampers with its box, and leaves processes that go on",
        lambda facts: script_config("forger.py", facts.answer_path),
    ),
    Probe("late", "files the right answer after the limit", _late),
    Probe("flood", "files the right answer and floods what is collected", _flood),
)
