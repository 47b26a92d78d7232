"""What the tests of rollouts share: a small catalog, a scripted engine, settings without a container."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from fake_box import Fate, use_fake_boxes
from rollout_agents import SMALL, register
from scripted_engine import MODEL, Plan, ScriptedEngine

from builder.build import build
from builder.lock import ImageLock
from catalog.index import read_index
from catalog.spec_file import parse_spec
from harnesses.rollouts.record import Record
from harnesses.sessions import Bounds, HarborSession, HarborSessionFactory, Settings

LOCK = ImageLock(kind="public", root="python:3.13-slim@sha256:" + "0" * 64)
ROWS = (
    ("fares-above-3", "How many rows have a fare above 3?", "4"),
    ("fares-above-5", "How many rows have a fare above 5?", "3"),
)
SAMPLING = {"temperature": 0.8}


def build_catalog(folder: Path, lock: ImageLock = LOCK) -> Path:
    """A catalog of two tasks; returns where it lies."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "fares.csv").write_text("fare,class\n1,a\n4,b\n9,b\n16,a\n25,c\n")
    rows = [
        {"task_id": name, "question": question, "answer": gold, "answer_type": "integer", "tables": ["fares.csv"]}
        for name, question, gold in ROWS
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = parse_spec({"org": "acme", "name": "small", "source": "rows.jsonl"}, folder / "small.toml")
    report = build(spec, folder / "dist", lock, cache=folder / "cache", jobs=1)
    assert not report.set_aside, report.set_aside
    return folder / "dist"


def prompt(catalog: Path, name: str = "fares-above-3") -> list[dict[str, str]]:
    """The prompt of one task, as a row for training has it."""
    entry = next(entry for entry in read_index(catalog) if entry.name.endswith(name))
    return [{"role": "user", "content": (catalog / entry.path / "instruction.md").read_text()}]


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Bench:
    """One test's engine, catalog and settings. ``sandbox`` is one that is never asked: the fake is in its place."""

    engine: ScriptedEngine
    settings: Settings
    monkeypatch: pytest.MonkeyPatch
    standing: set[str]

    def change(self, **values: Any) -> None:
        """Other settings."""
        self.settings = replace(self.settings, **values)

    def bound(self, **values: Any) -> None:
        """Other bounds."""
        self.change(bounds=replace(self.settings.bounds, **values))

    def fate(self, fate: Fate) -> None:
        """What happens to every box from now on."""
        self.standing = use_fake_boxes(self.monkeypatch, lambda task: fate)

    def agent(self, **options: Any) -> None:
        """Other options of the small agent."""
        register(self.monkeypatch, **options)

    @contextmanager
    def factory(self, sampling: dict[str, Any] | None = SAMPLING) -> Iterator[HarborSessionFactory]:
        """A factory, closed afterwards."""
        made = HarborSessionFactory(self.settings, sampling=sampling)
        try:
            yield made
        finally:
            made.close()

    def ended(self, plan: Plan | None = None) -> tuple[HarborSession, Record, BaseException | None]:
        """One rollout of the first task, with what waiting for it raised."""
        if plan is not None:
            self.engine.plan = plan
        with self.factory() as factory:
            session = factory.create(prompt(self.settings.catalog), seed=0)
            error: BaseException | None = None
            try:
                assert session.wait_for_completion(600) == 0
            except BaseException as raised:
                error = raised
            session.close()
            assert session.record is not None
            return session, session.record, error


@contextmanager
def opened(catalog: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, *, docker: bool = False) -> Iterator[Bench]:
    """A bench over fake boxes, or over Docker's."""
    register(monkeypatch)
    port = free_port()
    with ScriptedEngine().serving() as engine:
        settings = Settings(
            catalog=catalog,
            folder=folder / "run",
            engine=engine.url,
            model=MODEL,
            harness=SMALL,
            sandbox="docker" if docker else "modal",
            public_url=None if docker else f"http://127.0.0.1:{port}",
            port=None if docker else port,
            bounds=Bounds(model_calls=10, turn_tokens=400, wall_sec=600 if docker else 60),
        )
        yield Bench(engine, settings, monkeypatch, set() if docker else use_fake_boxes(monkeypatch))
