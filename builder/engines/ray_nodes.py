"""The nodes of a Ray cluster: each shows before any work that it has and sees what the work needs."""

from __future__ import annotations

import contextlib
import time
from typing import Final

import ray
from ray.exceptions import NodeDiedError, RayTaskError, TaskUnschedulableError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from builder.engines.ray_calls import ready, value
from builder.engines.witness import Lack, Witness
from catalog.errors import ClusterError

_PROOF_SECONDS: Final = 120  # for a node's answer: its worker loads its libraries first
_SHOW_SECONDS: Final = 30  # in which a file of another machine must show here


def cores() -> int:
    """As many tasks as the cluster can do at once."""
    return int(ray.cluster_resources().get("CPU", 0))


def refusal(lack: Lack, node: str) -> ClusterError:
    """The error for a node that lacks something."""
    return ClusterError(
        f"a node of the Ray cluster cannot do this: {node}",
        where=lack.where or None,
        expected=lack.expected,
        found=lack.found,
        fix=f"{lack.fix}; docs/scale.md says what nodes need",
    )


def _prove(seen: Witness, worker: str) -> Lack | None:
    return seen.lacks(worker)


# No decorator: what a module holds by its own name goes to workers by that name, and runs as they have it.
_PROVE: Final = ray.remote(num_cpus=0, max_retries=0)(_prove)


def let_all_prove(seen: Witness) -> None:
    """Ask each node that works, all at once, and wait for their answers.

    Raises:
        ClusterError: where one lacks something, with what it is.
    """
    nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
    asked = {}
    for node in nodes:
        place = NodeAffinitySchedulingStrategy(node, soft=False)
        asked[node] = _PROVE.options(scheduling_strategy=place).remote(seen, node)
    until = time.monotonic() + _PROOF_SECONDS
    for node, answer in asked.items():
        if not ready([answer], until - time.monotonic()):
            raise refusal(Lack("", "an answer", "none", "see that it runs"), node)
        with contextlib.suppress(NodeDiedError, TaskUnschedulableError):  # it has just left
            lack = _answer(answer)
            if lack is not None:
                raise refusal(lack, node)
            _await_sign(seen, node)


def _answer(answer: ray.ObjectRef[Lack | None]) -> Lack | None:
    try:
        return value(answer)
    except RayTaskError as error:  # what a node that cannot even load our programs says
        last = str(error.cause or error).strip().splitlines()[-1]
        return Lack("", "a node that has harborwright", last, "start Ray on it from an environment with harborwright")


def _await_sign(seen: Witness, node: str) -> None:
    """Wait for what a node has written to show here: a shared file system may take a while over it."""
    until = time.monotonic() + _SHOW_SECONDS
    while not seen.was_seen_by(node):
        if time.monotonic() > until:
            expected = "what the node writes there shows here"
            raise refusal(Lack(str(seen.writes), expected, "nothing", "put the catalog on a shared file system"), node)
        time.sleep(0.1)
