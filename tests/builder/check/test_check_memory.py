"""What a check holds of each task is small: 50,000 tasks stay under 400 MB, of which its libraries take some 170."""

from __future__ import annotations

import pickle
import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

from builder.check.catalog_rules import indexes_agree
from builder.check.contents import Contents
from builder.check.near import near_duplicates
from builder.check.overlaps import Signature, same_question, signature
from catalog.index import Entry, IndexWriter, read_index

TASKS = 1_500
BYTES_A_TASK = 230_000_000 // 50_000


def entry(number: int) -> Entry:
    split = ("train", "test", "eval")[number % 3]
    return Entry(
        digest=f"sha256:{number:064x}",
        name=f"how-many-rows-are-above-the-mean-of-the-column-{number}",
        path=f"{split}/how-many-rows-are-above-the-mean-of-the-column-{number}",
        split=split,
        tier="easy",
        answer_type="number",
        tables=(f"{'a' * 64}",),
        table_set="b" * 64,
        cpus=1,
        memory_mb=1024,
        storage_mb=1024,
        license="MIT",
        grader_version="1.0.0",
        program=True,
    )


def pickled_signatures() -> Iterator[bytes]:
    """Questions of thirty words over one table, a third of the words in few others: as workers send them."""
    chance = random.Random(5)
    common, rare = ([f"{kind}{n}" for n in range(count)] for kind, count in (("c", 60), ("r", TASKS)))
    for number in range(TASKS):
        asked = " ".join([*chance.choices(common, k=20), *chance.choices(rare, k=10)])
        gold = f"{number % 40}.25"
        one = signature(entry(number), asked, [("sea.csv", "a" * 64)], None, gold)
        yield pickle.dumps(one)


def test_what_a_check_holds_of_a_task_is_small(tmp_path: Path) -> None:
    with IndexWriter(tmp_path, "lab/many") as index:
        for number in range(TASKS):
            index.add(entry(number))
    sent = list(pickled_signatures())
    list(read_index(tmp_path))  # what is loaded once is loaded
    tracemalloc.start()
    try:
        contents = Contents.of(read_index(tmp_path))
        signatures: list[Signature] = [pickle.loads(one) for one in sent]
        findings = [*same_question(signatures), *near_duplicates(signatures, "warning")]
        findings += indexes_agree(tmp_path, contents)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (len(contents.paths), findings) == (TASKS, [])
    assert peak / TASKS < BYTES_A_TASK
