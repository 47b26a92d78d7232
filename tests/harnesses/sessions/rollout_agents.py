"""The small agent as Harbor runs it, and as a seam points it at the capture proxy."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any, override

import pytest
from harbor.agents.base import BaseAgent
from harbor.agents.installed.base import NonZeroAgentExitCodeError
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext
from openenv.harbor import seams

SMALL = "small-agent"
PROGRAM = Path(__file__).with_name("small_agent.py")
IN_BOX = "/tmp/small_agent.py"


class SmallAgent(BaseAgent):
    """Runs ``small_agent.py`` in the box."""

    def __init__(self, *args: Any, base_url: str, key: str, model: str, options: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.arguments = (base_url, key, model)
        self.given = options

    @staticmethod
    @override
    def name() -> str:
        return SMALL

    @override
    def version(self) -> str:
        return "1"

    @override
    async def setup(self, environment: BaseEnvironment) -> None:
        await environment.upload_file(PROGRAM, IN_BOX)

    @override
    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        arguments = (*self.arguments, instruction, json.dumps(self.given))
        result = await environment.exec(shlex.join(["python3", IN_BOX, *arguments]))
        if result.return_code != 0:
            raise NonZeroAgentExitCodeError(f"exit {result.return_code}: {(result.stdout or '')[-500:]}")


def seam(name: str, options: dict[str, Any]) -> seams.Seam:
    """The small agent as OpenEnv knows an agent."""

    def kwargs(base_url: str, session: str, model: str) -> dict[str, Any]:
        return {"base_url": base_url, "key": session, "model": model, "options": options}

    place = f"{SmallAgent.__module__}:{SmallAgent.__qualname__}"
    return seams.Seam(name=name, dialect="openai_chat", import_path=place, kwargs=kwargs, status="untested")


def register(monkeypatch: pytest.MonkeyPatch, name: str = SMALL, **options: Any) -> str:
    """Make the small agent known to OpenEnv with these options, as ``name``, which is returned."""
    monkeypatch.setitem(seams.SEAMS, name, seam(name, options))
    return name
