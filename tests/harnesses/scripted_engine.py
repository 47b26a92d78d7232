"""A scripted engine: a test double with vLLM's chat completions over real HTTP on loopback, and planned answers.

It answers as ``vllm serve --return-tokens-as-token-ids --logprobs-mode processed_logprobs --enable-auto-tool-choice``
does: prompt ids, sampled ids, log-probabilities of what was sampled, tool calls, 404 for a model that it has not.
A token is a byte of the rendered text, plus two marks, so a turn's prompt truly begins with the turn before it.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

BEGIN, END = 256, 257  # <|im_start|> and <|im_end|>
LOGITS = (4.0, 0.0)  # of the token that is sampled and of the one that is not
MODEL = "acme/Scripted-0.1B"

Messages = list[dict[str, Any]]


@dataclass(frozen=True)
class Reply:
    """One planned answer: a text, calls of tools as (name, arguments), and what goes wrong with it."""

    text: str = ""
    calls: Sequence[tuple[str, str]] = ()
    status: int = 200
    sampled_from: str | None = None  # another model than was asked
    delay_sec: float = 0.0
    without_ids: bool = False
    null_logprob: bool = False


Plan = Callable[[Messages], Reply]


def bash(command: str, text: str = "") -> Reply:
    """A call of the tool ``bash``."""
    return Reply(text, (("bash", json.dumps({"command": command})),))


def in_turn(*replies: Reply) -> Plan:
    """The nth answer to a conversation that holds n answers already; the last one from then on."""

    def plan(messages: Messages) -> Reply:
        said = sum(message["role"] == "assistant" for message in messages)
        return replies[min(said, len(replies) - 1)]

    return plan


def written(text: str | None, calls: Sequence[dict[str, Any]]) -> str:
    """An answer as the model writes it."""
    return (text or "") + "".join(
        f"<tool_call>{call['function']['name']} {call['function']['arguments']}</tool_call>" for call in calls
    )


def tokens_of(messages: Messages) -> list[int]:
    """The prompt as the chat template renders it."""
    ids: list[int] = []
    for message in messages:
        body = written(message.get("content"), message.get("tool_calls") or ())
        ids += [BEGIN, *f"{message['role']}\n{body}".encode(), END]
    return [*ids, BEGIN, *b"assistant\n"]


def logprob(temperature: float, place: int = 0) -> float:
    """Of one of the two tokens there are, under the temperature."""
    scaled = [logit / temperature for logit in LOGITS]
    return scaled[place] - math.log(sum(math.exp(value) for value in scaled))


@dataclass
class ScriptedEngine:
    """The engine. ``models`` may change while it runs, as when adapters are published."""

    plan: Plan = field(default=lambda messages: Reply("ok"))
    models: set[str] = field(default_factory=lambda: {MODEL})
    raw_logprobs: bool = False
    token_ids: bool = True
    asked: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    def complete(self, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Status and body for one request."""
        if request["model"] not in self.models:
            return 404, {"error": {"message": f"The model `{request['model']}` does not exist.", "code": 404}}
        self.asked.append(request)
        probed = "Use the bash tool" in str(request["messages"][-1].get("content"))
        reply = bash("ls /tmp") if probed else self.plan(request["messages"])
        time.sleep(reply.delay_sec)
        if reply.status != 200:
            return reply.status, {"error": {"message": "planned failure", "code": reply.status}}
        return 200, self._body(request, reply)

    def _body(self, request: dict[str, Any], reply: Reply) -> dict[str, Any]:
        calls = [
            {
                "id": f"call-{len(self.asked)}-{number}",
                "type": "function",
                "function": {"name": name, "arguments": given},
            }
            for number, (name, given) in enumerate(reply.calls)
        ]
        limit = request.get("max_tokens") or request.get("max_completion_tokens") or 10_000
        whole = [*written(reply.text, calls).encode(), END]
        sampled, cut = whole[:limit], len(whole) > limit
        temperature = 1.0 if self.raw_logprobs else max(float(request.get("temperature", 1.0)), 0.01)
        entries = [
            {
                "token": f"token_id:{token}",
                "logprob": None if reply.null_logprob else logprob(temperature),
                "top_logprobs": [
                    {"token": f"token_id:{token + place}", "logprob": logprob(temperature, place)} for place in (0, 1)
                ][: request.get("top_logprobs") or 0],
            }
            for token in sampled
        ]
        given = self.token_ids and not reply.without_ids and request.get("return_token_ids")
        message = {"role": "assistant", "content": reply.text or None, "tool_calls": [] if cut else calls}
        prompt = tokens_of(request["messages"])
        return {
            "id": f"chatcmpl-{len(self.asked)}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": reply.sampled_from or request["model"],
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "logprobs": {"content": entries} if request.get("logprobs") else None,
                    "finish_reason": "length" if cut else "tool_calls" if calls else "stop",
                    "token_ids": sampled if given else None,
                }
            ],
            "prompt_token_ids": prompt if given else None,
            "usage": {
                "prompt_tokens": len(prompt),
                "completion_tokens": len(sampled),
                "total_tokens": len(prompt) + len(sampled),
            },
        }

    @contextmanager
    def serving(self, host: str = "127.0.0.1") -> Iterator[ScriptedEngine]:
        """Serve until the block ends; ``url`` is where."""
        server = ThreadingHTTPServer((host, 0), _handler(self))
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def _handler(engine: ScriptedEngine) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _send(self, status: int, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            models = {"object": "list", "data": [{"id": name, "object": "model"} for name in sorted(engine.models)]}
            self._send(200, models if self.path == "/v1/models" else {})

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path != "/v1/chat/completions":
                self._send(404, {"error": {"message": "no such route"}})
                return
            self._send(*engine.complete(request))

        def log_message(self, *_: object) -> None:
            pass

    return Handler
