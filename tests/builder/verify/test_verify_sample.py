"""Which tasks and which probes a verification takes."""

from __future__ import annotations

from builder.verify.probes import PROBES
from builder.verify.sample import assign, cover, sample
from catalog.index import Entry

EVERYWHERE = {"oracle", "nop"}
OTHERS = {probe.name for probe in PROBES if not probe.everywhere}


def entry(number: int, *, program: bool = True) -> Entry:
    return Entry(
        digest=f"sha256:{number:064x}",
        name=f"task-{number}",
        path=f"train/task-{number}",
        split="train",
        tier=None,
        answer_type=("integer", "text", "date")[number % 3],
        tables=("a.csv",),
        table_set=f"set-{number % 7}",
        cpus=1,
        memory_mb=1024,
        storage_mb=1024,
        license=None,
        grader_version="1",
        program=program,
    )


ENTRIES = [entry(number) for number in range(60)]


def marks(entries: list[Entry]) -> set[str]:
    return {entry.table_set for entry in entries} | {entry.answer_type for entry in entries}


def test_few_tasks_have_every_table_set_and_answer_type() -> None:
    chosen = cover(ENTRIES)
    assert marks(chosen) == marks(ENTRIES)
    assert len(chosen) <= 8


def test_a_sample_is_as_large_as_asked_and_larger_where_it_must_be() -> None:
    assert len(sample(ENTRIES, 24)) == 24
    assert marks(sample(ENTRIES, 1)) == marks(ENTRIES)


def test_the_order_of_the_index_changes_nothing() -> None:
    names = [entry.name for entry in sample(ENTRIES, 12)]
    assert [entry.name for entry in sample(ENTRIES[::-1], 12)] == names


def test_without_a_sample_every_task_meets_oracle_and_nop_and_a_cover_meets_every_probe() -> None:
    met = {one.entry.name: {probe.name for probe in one.probes} for one in assign(ENTRIES, count=None, full=False)}
    assert len(met) == len(ENTRIES)
    assert all(names >= EVERYWHERE for names in met.values())
    covering = [entry for entry in ENTRIES if met[entry.name] >= OTHERS]
    assert marks(covering) == marks(ENTRIES)
    assert all(met[entry.name] == EVERYWHERE for entry in ENTRIES if entry not in covering)


def test_over_a_sample_the_probes_take_turns_and_none_is_left_out() -> None:
    for count in (1, 8, 24):
        assigned = assign(ENTRIES, count=count, full=False)
        assert {probe.name for one in assigned for probe in one.probes} >= OTHERS | EVERYWHERE
    assert all(len(one.probes) == 3 for one in assign(ENTRIES, count=24, full=False))


def test_full_is_every_probe_on_every_task() -> None:
    assert all({probe.name for probe in one.probes} >= OTHERS for one in assign(ENTRIES, count=None, full=True))


def test_a_row_without_a_program_is_measured_by_the_loader() -> None:
    (with_one,) = assign([entry(1)], count=None, full=False)
    (without,) = assign([entry(1, program=False)], count=None, full=False)
    assert "loader" not in {probe.name for probe in with_one.probes}
    assert "loader" in {probe.name for probe in without.probes}


def test_nothing_to_do_is_nothing() -> None:
    assert assign([], count=3, full=True) == []
