"""Which model is asked, and which one answered: the capture proxy asks for the worker's present policy at every call.

An adapter that the trainer publishes is another model name to the engine. Harnesses know nothing of it, so the name is
put in at the last moment, when the proxy asks the engine; the base model's name stays in front of it, because chat
templates are told by the family in it. What the engine says it sampled from stands on the turn. Where that is another
name than was asked, the rollout's tokens are of another policy: FATAL (N05).
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

from openenv.core.harness.capture import CaptureServer
from openenv.core.harness.capture.server import UpstreamPool
from openenv.core.harness.capture.sessions import Session, SessionRegistry
from openenv.core.harness.capture.upstream import InferenceClient

Policy = Callable[[], str]

ASKED: Final = "asked_models"  # of a capture session's metadata: the names asked, by the number of the turn
OTHER_MODEL: Final = "other_model"  # code of the finding

_session: ContextVar[Session | None] = ContextVar("capture_session", default=None)


class _Registry(SessionRegistry):
    """Keeps which rollout the call at hand belongs to, so that the client can write on it."""

    def resolve(self, headers: dict[str, str], body: dict[str, Any]) -> Session | None:
        """As the proxy's own; every call passes here once, in a context of its own."""
        session = super().resolve(headers, body)
        _session.set(session)
        return session


class _Client(InferenceClient):
    """Asks under the present policy's name, and holds the answer to it."""

    policy: Policy

    async def completion(self, request: dict[str, Any]) -> dict[str, Any]:
        """One completion; ``request`` then carries the name of the model that answered, and so does the turn."""
        asked = self.policy()
        request["model"] = asked
        response = await super().completion(request)
        sampled = str(response.get("model") or "")
        request["model"] = sampled
        session = _session.get()
        if session is not None:
            turn = len(session.graph.nodes())  # the number this turn will have: nothing else runs until it is kept
            session.metadata.setdefault(ASKED, {})[turn] = asked
            if sampled != asked:
                named = sampled or "a model without a name"
                told = f"turn {turn} was sampled from {named}, not from {asked}"
                session.findings.append(f"[FATAL] {OTHER_MODEL}: {told}")
        return response


def follow_policy(server: CaptureServer, policy: Policy, *, engine: str, model: str, api_key: str | None) -> None:
    """Make a capture server that has not started ask for ``policy()`` at every call.

    Args:
        server: whose client and registry are replaced.
        policy: the name to ask for, at the moment of the call.
        engine: the engine's address.
        model: the base model, as harnesses see it.
        api_key: of the engine.
    """
    client = _Client(engine.rstrip("/"), served_model=model, api_key=api_key, capture_level="tokens")
    client.policy = policy
    state = server.app.state
    state.inference = client
    state.upstreams = UpstreamPool(default_client=client, default_level="tokens")
    state.registry = _Registry()
    server.app.router.on_shutdown.append(client.aclose)
