"""A run that cannot work is ended with the reason: before the first rollout, or after a few that came to nothing."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
from rollout_bench import Bench, prompt
from scripted_engine import Reply, bash, in_turn

from catalog.errors import CatalogError, EngineError, HarnessError, SandboxError
from harnesses.causes import Cause
from harnesses.sessions import HarborSessionFactory, RunStopped, UntrainableError
from harnesses.sessions.watch import Watch

SOLVE = in_turn(bash("echo 4 > /app/answer.txt"), Reply("done"))


def as_a_worker_does(factory: HarborSessionFactory, given: list[dict[str, str]]) -> float | None:
    """One rollout as TRL's worker takes it: every ``Exception`` is bad luck, and the next is started."""
    try:
        session = factory.create(given, seed=0)
    except Exception:
        return None
    try:
        session.wait_for_completion()
        session.fetch_training_trace()
        return session.verify([]).env_reward
    except Exception:
        return None
    finally:
        session.close()


def test_rollouts_without_a_call_end_a_worker_that_passes_over_everything(bench: Bench) -> None:
    bench.agent(calls=False)
    bench.change(zero_turns=3)
    begun = 0

    async def work() -> None:
        nonlocal begun
        loop = asyncio.get_running_loop()
        with bench.factory() as factory, ThreadPoolExecutor(1) as pool:
            while begun < 20:
                begun += 1
                await loop.run_in_executor(pool, as_a_worker_does, factory, prompt(bench.settings.catalog))

    with pytest.raises(RunStopped, match=r"3 rollouts in a row ended without one model call.*no-turns"):
        asyncio.run(work())
    assert begun == 3


def test_one_rollout_without_a_call_has_no_verdict(bench: Bench) -> None:
    bench.agent(calls=False)
    session, record, error = bench.ended()
    assert isinstance(error, UntrainableError)
    assert (session.verify([]).env_reward, record.cause) == (None, Cause.NO_TURNS)


def test_prompts_that_lead_nowhere_end_the_run(bench: Bench) -> None:
    bench.change(unscorable=3)
    with bench.factory() as factory:
        for _ in range(2):
            with pytest.raises(HarnessError, match="no task of the catalog has this prompt"):
                factory.create("Which?", seed=0)
        with pytest.raises(RunStopped, match="without a verdict"):
            factory.create("Which?", seed=0)
        with pytest.raises(RunStopped):
            factory.create(prompt(bench.settings.catalog), seed=0)


def test_good_rollouts_between_bad_ones_go_on() -> None:
    watch = Watch(zero_turns=2, unscorable=3)
    for _ in range(5):
        watch.ended(None, Cause.NO_TURNS, "")
        watch.ended(0.0, None, "")
        watch.ended(None, Cause.SANDBOX_LOST, "")
        watch.ended(None, Cause.SANDBOX_LOST, "")
        watch.ended(1.0, None, "")
    watch.check()


def test_rollouts_that_never_end_in_their_time_end_the_run(bench: Bench) -> None:
    bench.bound(wall_sec=0.5)
    bench.change(unscorable=2)
    with bench.factory() as factory:
        assert factory.worker.url
        bench.engine.plan = in_turn(Reply("slow", delay_sec=2))
        with pytest.raises(UntrainableError):
            factory.create(prompt(bench.settings.catalog), seed=0).wait_for_completion()
        with pytest.raises(RunStopped, match="cancelled"):
            factory.create(prompt(bench.settings.catalog), seed=0).wait_for_completion()


def test_a_record_that_cannot_be_written_is_no_rollout(bench: Bench) -> None:
    bench.engine.plan = SOLVE
    bench.change(unscorable=1)
    with bench.factory() as factory:
        assert factory.worker.url
        (bench.settings.folder / "rollouts").write_text("a file is in the way")
        session = factory.create(prompt(bench.settings.catalog), seed=0)
        with pytest.raises(OSError, match="exists"):
            session.wait_for_completion()
        assert session.verify([]).env_reward is None
        with pytest.raises(RunStopped, match=r"could not be kept.*exists"):
            factory.create(prompt(bench.settings.catalog), seed=1)


def test_an_engine_that_is_down(bench: Bench) -> None:
    bench.change(engine="http://127.0.0.1:9", zero_turns=2)
    with bench.factory() as factory:
        for _ in range(2):
            with pytest.raises(EngineError, match="cannot be used"):
                factory.create(prompt(bench.settings.catalog), seed=0)
        with pytest.raises(RunStopped, match=r"no rollout can be started: .*cannot be used"):
            factory.create(prompt(bench.settings.catalog), seed=0)


def test_a_rollouts_name_that_is_no_files(bench: Bench) -> None:
    with bench.factory() as factory:
        for name in ("../up", "a/b", ".hidden", "x" * 65):
            with pytest.raises(HarnessError, match="name of a file"):
                factory.create(prompt(bench.settings.catalog), seed=0, episode_id=name)


LACKS = [
    ({"models": {"acme/Another"}}, "acme/Another"),
    ({"token_ids": False}, ""),
    ({"raw_logprobs": True}, "raw_logprobs"),
]


@pytest.mark.parametrize(("engine", "told"), LACKS)
def test_an_engine_that_lacks_something(bench: Bench, engine: dict[str, object], told: str) -> None:
    for name, value in engine.items():
        setattr(bench.engine, name, value)
    with bench.factory() as factory, pytest.raises(EngineError) as raised:
        factory.create(prompt(bench.settings.catalog), seed=0)
    assert told in str(raised.value)
    assert bench.engine.url in str(raised.value)


def test_a_port_that_is_taken(bench: Bench) -> None:
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        taken.listen()
        bench.change(port=taken.getsockname()[1])
        with bench.factory() as factory, pytest.raises(SandboxError, match="cannot be started"):
            factory.create(prompt(bench.settings.catalog), seed=0)


def test_a_public_address_where_nobody_answers_or_somebody_else(bench: Bench) -> None:
    bench.change(public_url="http://127.0.0.1:9")
    with bench.factory() as factory, pytest.raises(SandboxError, match="not reached at its public address"):
        factory.create(prompt(bench.settings.catalog), seed=0)
    bench.change(public_url=bench.engine.url)
    with bench.factory() as factory, pytest.raises(SandboxError, match="somebody else answers"):
        factory.create(prompt(bench.settings.catalog), seed=0)


def test_a_harness_that_nobody_knows(bench: Bench) -> None:
    bench.change(harness="opencoder")
    with bench.factory() as factory, pytest.raises(HarnessError, match="opencode"):
        factory.create(prompt(bench.settings.catalog), seed=0)


def test_a_policy_that_ratios_cannot_be_computed_for(bench: Bench) -> None:
    with pytest.raises(HarnessError, match="top_p"), bench.factory({"temperature": 1.0, "top_p": 0.9}):
        pass


def test_a_sandbox_elsewhere_needs_an_address(bench: Bench) -> None:
    with pytest.raises(HarnessError, match="elsewhere"):
        bench.change(public_url=None)


def test_a_catalog_that_is_none(bench: Bench) -> None:
    bench.change(catalog=bench.settings.folder)
    with bench.factory() as factory, pytest.raises(CatalogError, match="not a built catalog"):
        factory.create("anything", seed=0)


def test_the_engine_that_fails_is_not_the_agents_fault(bench: Bench) -> None:
    bench.agent(exit=1)
    plan = in_turn(bash("echo 5 > /app/answer.txt"), Reply("", status=400))
    session, record, _ = bench.ended(plan)
    assert (session.verify([]).env_reward, record.cause) == (None, Cause.ENGINE_LOST)
    assert record.upstream_errors == 1
