"""One node of a Ray cluster with one core, on loopback alone: ``ray_node.py FOLDER`` begins one, ``ray_node.py --join
ADDRESS`` adds to it. It prints the address, and ends with its standard input.

`ray start` offers a node to the whole network, which a test has no business to do.
"""

from __future__ import annotations

import json
import sys

from ray._private.node import Node
from ray._private.parameter import RayParams

PARAMETERS = {
    "num_cpus": 1,
    "object_store_memory": 80_000_000,
    "node_ip_address": "127.0.0.1",
    "include_dashboard": False,
    "include_log_monitor": False,
    "dashboard_agent_listen_port": None,
    "min_worker_port": 0,
    "max_worker_port": 0,
}


def main() -> None:
    """Be a node until nobody needs it."""
    joins = sys.argv[1] == "--join"
    place = {"gcs_address": sys.argv[2]} if joins else {"temp_dir": sys.argv[1]}
    node = Node(RayParams(**PARAMETERS, **place), head=not joins, shutdown_at_exit=True, spawn_reaper=True)
    print(json.dumps(node.gcs_address), flush=True)
    sys.stdin.read()
    node.kill_all_processes(check_alive=False, wait=True)


if __name__ == "__main__":
    main()
