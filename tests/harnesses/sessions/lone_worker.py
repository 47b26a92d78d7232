"""A process with one rollout in a box, for the test that kills it: ``lone_worker.py CATALOG FOLDER ENGINE RUN``."""

from __future__ import annotations

import sys
from pathlib import Path

from openenv.harbor import seams
from rollout_agents import SMALL, seam
from rollout_bench import SAMPLING, prompt
from scripted_engine import MODEL

from harnesses.sessions import HarborSessionFactory, Settings

if __name__ == "__main__":
    catalog, folder = Path(sys.argv[1]), Path(sys.argv[2])
    seams.SEAMS[SMALL] = seam(SMALL, {})
    settings = Settings(catalog, folder, engine=sys.argv[3], model=MODEL, harness=SMALL, run=sys.argv[4])
    factory = HarborSessionFactory(settings, sampling=SAMPLING)
    factory.create(prompt(catalog), seed=0).wait_for_completion()
