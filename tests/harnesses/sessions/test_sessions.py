"""Sessions over fake boxes: a real engine's HTTP, OpenEnv's own rollout and capture, Harbor's result on disk."""

from __future__ import annotations

import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from openenv.core.harness import ResourceSession, TrainableSession
from rollout_bench import SAMPLING, Bench, prompt
from scripted_engine import Reply, bash, in_turn

from harnesses.causes import Cause
from harnesses.sessions import HarborSessionFactory, NotEndedError, UntrainableError

SOLVE = in_turn(bash("cat /app/data/fares.csv; echo 4 > /app/answer.txt"), Reply("done"))
FAIL = in_turn(bash("echo 5 > /app/answer.txt"), Reply("done"))


def test_a_solved_rollout(bench: Bench) -> None:
    session, record, error = bench.ended(SOLVE)
    assert error is None
    assert isinstance(session, ResourceSession)
    assert isinstance(session, TrainableSession)
    told = session.verify([])
    assert (told.env_reward, told.done) == (1.0, True)
    trace = session.fetch_training_trace()
    assert [len(turn.completion_token_ids) for turn in trace.turns] == [len(turn.completion) for turn in record.turns]
    assert len(trace.turns) == 2
    assert all(turn.metadata["model"] == bench.settings.model for turn in trace.turns)
    first, second = trace.turns
    both = first.prompt_token_ids + first.completion_token_ids
    assert second.prompt_token_ids[: len(both)] == both
    assert first.loss_mask == [0] * len(first.prompt_token_ids) + [1] * len(first.completion_token_ids)
    assert told.artifacts["bounds"] == {"model_calls": 10, "turn_tokens": 400, "agent_sec": None, "wall_sec": 60}
    assert (told.artifacts["model_calls"], told.artifacts["budget_stops"]) == (2, 0)


def test_a_failed_rollout_is_a_real_0(bench: Bench) -> None:
    session, record, error = bench.ended(FAIL)
    assert error is None
    assert session.verify([]).env_reward == 0.0
    assert record.cause is None


def test_every_call_is_held_to_the_trainers_policy(bench: Bench) -> None:
    _, record, _ = bench.ended(SOLVE)
    # The small agent asks for temperature 0.2 and top_p 0.9.
    assert {turn.sampling["temperature"] for turn in record.turns} == {0.8}
    assert {turn.sampling["top_p"] for turn in record.turns} == {1.0}
    assert {request["max_tokens"] for request in bench.engine.asked if "Scripted" in request["model"]} >= {400}


def test_an_agent_out_of_time_keeps_its_verdict_and_its_turns(bench: Bench) -> None:
    bench.bound(agent_sec=1.0)
    session, record, error = bench.ended(in_turn(bash("echo 4 > /app/answer.txt"), Reply("slow", delay_sec=3)))
    assert type(error) is TimeoutError
    assert session.verify([]).env_reward == 1.0
    assert (record.cause, record.timed_out) == (Cause.AGENT_TIMEOUT, True)
    assert len(session.fetch_training_trace().turns) == 1


def test_a_rollout_out_of_all_its_time_has_no_verdict(bench: Bench) -> None:
    bench.bound(wall_sec=1.0)
    session, record, error = bench.ended(in_turn(bash("echo 4 > /app/answer.txt"), Reply("slow", delay_sec=3)))
    assert isinstance(error, UntrainableError)
    assert session.verify([]).env_reward is None
    assert (record.cause, record.reward) == (Cause.CANCELLED, None)
    assert "1 seconds" in record.detail
    assert not bench.standing


def test_the_callers_patience_is_not_the_agents(bench: Bench) -> None:
    bench.engine.plan = in_turn(bash("echo 4 > /app/answer.txt"), Reply("slow", delay_sec=2))
    with bench.factory() as factory:
        session = factory.create(prompt(bench.settings.catalog), seed=0)
        with pytest.raises(NotEndedError):
            session.wait_for_completion(0.3)
        assert session.verify([]).done is False
        assert session.wait_for_completion(30) == 0
        assert session.verify([]).env_reward == 1.0


def test_closing_a_session_ends_its_rollout(bench: Bench) -> None:
    with bench.factory() as factory:
        assert factory.worker.url
        bench.engine.plan = in_turn(Reply("slow", delay_sec=2))
        session = factory.create(prompt(bench.settings.catalog), seed=0)
        with pytest.raises(NotEndedError):
            session.wait_for_completion(0.5)
        assert bench.standing
        session.close()
        assert not bench.standing
        with pytest.raises(UntrainableError, match="cancelled"):
            session.wait_for_completion()


def test_a_tool_used_wrongly_is_a_turn_like_others(bench: Bench) -> None:
    wrong = Reply("", (("search", "{}"), ("bash", "{not json"), ("bash", '{"cmd": "ls"}')))
    session, record, error = bench.ended(in_turn(wrong, bash("echo 4 > /app/answer.txt"), Reply("done")))
    assert error is None
    assert session.verify([]).env_reward == 1.0
    assert len(session.fetch_training_trace().turns) == len(record.turns) == 3


def test_a_title_is_not_trained(bench: Bench) -> None:
    bench.agent(title=True)
    session, record, error = bench.ended(SOLVE)
    assert error is None
    assert record.roots == 2
    assert [turn.role for turn in record.turns] == ["auxiliary", "agent", "agent"]
    assert len(session.fetch_training_trace().turns) == 2
    assert not any(record.turns[0].mask)


def test_a_system_prompt_that_changes_makes_a_root_and_is_trained(bench: Bench) -> None:
    bench.agent(system=["You are at a shell.", "You are at a shell, and it is late."])
    session, record, error = bench.ended(in_turn(bash("ls"), bash("echo 4 > /app/answer.txt"), Reply("done")))
    assert error is None
    assert record.roots == 2
    assert len(session.fetch_training_trace().turns) == 3


def test_bounds_of_calls_and_tokens_hold(bench: Bench) -> None:
    bench.bound(model_calls=3, turn_tokens=60)
    session, record, error = bench.ended(lambda messages: bash("echo 4 > /app/answer.txt", "I think " * 20))
    # Every answer is cut before its call, so the agent ends after the first.
    assert error is None
    assert [turn.finish for turn in record.turns] == ["length"]
    bench.engine.asked.clear()
    bench.bound(turn_tokens=400)
    session, record, error = bench.ended(lambda messages: bash("echo 4 > /app/answer.txt"))
    assert error is None
    assert (record.model_calls, record.budget_stops, record.cause) == (3, 1, Cause.BUDGET_STOP)
    assert session.verify([]).env_reward == 1.0
    assert len(record.turns) == 3


LOST = [
    ("lost", Cause.ARTIFACT_LOST),
    ("oom", Cause.OOM),
    ("broken verifier", Cause.VERIFIER_BROKEN),
    ("no box", Cause.SANDBOX_LOST),
    ("no install", Cause.AGENT_INSTALL),
]


@pytest.mark.parametrize(("fate", "cause"), LOST)
def test_what_did_not_happen_is_no_0(bench: Bench, fate: str, cause: Cause) -> None:
    bench.fate(fate)  # type: ignore[arg-type]
    session, record, _ = bench.ended(SOLVE)
    assert session.verify([]).env_reward is None
    assert record.cause is cause


def test_a_late_answer_is_0(bench: Bench) -> None:
    bench.fate("late answer")
    session, record, _ = bench.ended(SOLVE)
    assert session.verify([]).env_reward == 0.0
    assert record.late


def test_an_agent_that_breaks_itself_is_not_ungraded(bench: Bench) -> None:
    bench.agent(exit=3)
    session, record, error = bench.ended(FAIL)
    assert error is None
    assert session.verify([]).env_reward == 0.0
    assert record.cause is None


UNFIT = [
    (Reply("done", without_ids=True), Cause.CAPTURE_FATAL),
    (Reply("done", null_logprob=True), Cause.CAPTURE_FATAL),
    (Reply("done", sampled_from="acme/Another"), Cause.OTHER_MODEL),
]


@pytest.mark.parametrize(("last", "cause"), UNFIT)
def test_unfit_turns_are_told_while_waiting_and_never_while_fetching(bench: Bench, last: Reply, cause: Cause) -> None:
    session, record, error = bench.ended(in_turn(bash("echo 4 > /app/answer.txt"), last))
    assert isinstance(error, UntrainableError)
    assert str(cause) in str(error)
    assert (record.cause, session.verify([]).env_reward) == (cause, None)
    assert not record.trained


def test_the_engine_is_asked_under_the_policy_of_the_moment(bench: Bench) -> None:
    bench.engine.models |= {"policy-v1", "policy-v2"}
    names = ["policy-v1"]

    def plan(messages: list[dict[str, object]]) -> Reply:
        names[0] = "policy-v2"  # published while the rollout runs
        return SOLVE(messages)

    bench.engine.plan = plan
    with bench.factory() as factory:
        factory.follow(lambda: names[0])
        worker = factory.worker
        names[0] = "policy-v1"
        session = factory.create(prompt(bench.settings.catalog), seed=0)
        assert session.wait_for_completion(30) == 0
        assert [turn.metadata["model"] for turn in session.fetch_training_trace().turns] == ["policy-v1", "policy-v2"]
        assert session.record is not None
        assert session.record.policies == ("policy-v1", "policy-v2")
        # Templates are chosen by the family in the name that the proxy shows harnesses.
        assert worker.server.app.state.model == bench.settings.model


def test_a_factory_is_sent_to_its_worker(bench: Bench) -> None:
    bench.engine.plan = SOLVE
    builder = pickle.loads(pickle.dumps(partial(HarborSessionFactory, bench.settings)))
    factory = pickle.loads(pickle.dumps(builder(sampling=SAMPLING)))
    try:
        session = factory.create(prompt(bench.settings.catalog), seed=3, episode_id="a" * 32)
        assert session.wait_for_completion(30) == 0
        assert session.record.rollout == "a" * 32
    finally:
        factory.close()


def test_many_sessions_at_once_lose_nothing_and_leave_nothing(bench: Bench) -> None:
    bench.engine.plan = SOLVE
    given = prompt(bench.settings.catalog)

    def roll(factory: HarborSessionFactory, number: int) -> float | None:
        session = factory.create(given, seed=number)
        try:
            session.wait_for_completion()
            return session.verify([]).env_reward
        finally:
            session.close()

    def standing() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), threading.active_count()  # noqa: PTH208

    with bench.factory() as factory, ThreadPoolExecutor(16) as pool:
        assert set(pool.map(partial(roll, factory), range(32))) == {1.0}
        files, threads = standing()
        assert set(pool.map(partial(roll, factory), range(96))) == {1.0}
        more = standing()
        assert more[0] <= files + 8
        assert more[1] <= threads + 8
        assert not factory.worker.server.registry.list_ids()
    assert len(list((bench.settings.folder / "rollouts").iterdir())) == 128
    assert not bench.standing
