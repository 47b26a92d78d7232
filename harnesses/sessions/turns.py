"""The turns of a rollout, out of the capture: every call, with the model that was asked and the one that answered."""

from __future__ import annotations

from typing import Any

from openenv.core.harness.capture.sessions import Session
from openenv.harbor.models import HarborRolloutResult

from harnesses.rollouts.record import Role, Turn
from harnesses.sessions.policy import ASKED


def _names(tools: list[dict[str, Any]] | None) -> tuple[str, ...]:
    """Of the tools in a request; all dialects have become chat completions by then."""
    return tuple(str((tool.get("function") or tool).get("name")) for tool in tools or ())


def turns_of(session: Session, result: HarborRolloutResult | None) -> tuple[Turn, ...]:
    """The turns of a capture session, trained ones with the masks that OpenEnv settled on."""
    masks = {turn.node_id: turn.loss_mask or [] for turn in (result.turns if result else ())}
    discarded = {node.node_id for node in session.graph.discarded_nodes()}
    asked: dict[int, str] = session.metadata.get(ASKED, {})
    turns: list[Turn] = []
    for node in session.graph.nodes():
        role: Role = "discarded" if node.node_id in discarded else "agent" if node.node_id in masks else "auxiliary"
        mask = masks.get(node.node_id, [])[len(node.prompt_ids) :] if role == "agent" else []
        logprobs = None if node.sampled_logprobs is None else tuple(node.sampled_logprobs)
        turns.append(
            Turn(
                node=node.node_id,
                parent=node.parent_id,
                role=role,
                asked=asked.get(node.index, ""),
                sampled=node.model or "",
                finish=node.finish_reason,
                tools=_names(node.request_tools),
                sampling=node.sampling_params,
                prompt=tuple(node.prompt_ids),
                completion=tuple(node.sampled_ids),
                logprobs=logprobs,
                mask=tuple(mask) or (0,) * len(node.sampled_ids),
            )
        )
    return tuple(turns)
