"""A small agent for tests: a real tool loop over chat completions, in the standard library, so it runs in any box.

As a program: ``small_agent.py BASE_URL KEY MODEL INSTRUCTION OPTIONS``, where OPTIONS is JSON. ``title`` asks for a
title first, without tools; ``system`` are system prompts, one after the other from turn to turn; ``calls`` false makes
no call at all; ``exit`` is the status to end with.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "bash",
            "description": "Run a command",
            "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
        },
    }
]


def ask(base, key, model, messages, tools):
    body = {"model": model, "messages": messages, "temperature": 0.2, "top_p": 0.9, "max_tokens": 64000}
    if tools:
        body["tools"] = tools
    request = urllib.request.Request(
        f"{base}/v1/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {key}"},
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.loads(answer.read())["choices"][0]["message"]


def in_shell(command):
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    return (done.stdout + done.stderr)[-4000:] or f"exit {done.returncode}"


def result_of(call, shell):
    function = call["function"]
    if function["name"] != "bash":
        return f"there is no tool {function['name']}"
    try:
        return shell(json.loads(function["arguments"])["command"])
    except (ValueError, KeyError, TypeError) as error:
        return f"these are no arguments: {error}"


def run(base, key, model, instruction, options, shell=in_shell):
    """Go on until an answer calls no tool; the exit status."""
    if not options.get("calls", True):
        return options.get("exit", 0)
    if options.get("title"):
        ask(base, key, model, [{"role": "user", "content": f"Name this: {instruction}"}], None)
    systems = options.get("system") or ["You are at a shell."]
    messages = [{"role": "system", "content": systems[0]}, {"role": "user", "content": instruction}]
    for turn in range(1, 100):
        answer = ask(base, key, model, messages, TOOLS)
        calls = answer.get("tool_calls") or []
        said = {"role": "assistant", "content": answer.get("content")}
        messages.append({**said, "tool_calls": calls} if calls else said)
        if not calls:
            break
        results = [(call["id"], result_of(call, shell)) for call in calls]
        messages += [{"role": "tool", "tool_call_id": name, "content": text} for name, text in results]
        messages[0] = {"role": "system", "content": systems[min(turn, len(systems) - 1)]}
    return options.get("exit", 0)


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:5], json.loads(sys.argv[5])))
