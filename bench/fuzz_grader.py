"""A coverage-guided fuzz run over the grader: no crash, no hang, no growth.

    python bench/fuzz_grader.py [SECONDS] [CORPUS]

Needs atheris (`pip install atheris`), which is no dependency of the project. Every input picks an answer type, a gold
with its question, and an answer. What ends the run with a reproducer in the working directory: an exception, a verdict
that is not 0.0 or 1.0, a grade of more than two seconds, or a peak of memory that is 200 MiB above the one after the
first thousand inputs. The statistics at the end are libFuzzer's: inputs run, slowest one, peak memory.
"""

import resource
import sys
import time
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
with atheris.instrument_imports(include=["grader"]):
    import grader.grader as own

FIELDS = [{"name": "mean", "gold": "1.5", "answer_type": "number"}, {"name": "best", "gold": "Ann"}]
GOLDS = (
    ("number", "18.75", "What is the mean price, rounded to two decimals?"),
    ("integer", "42", "How many of the 60 orders were late in 2019, at 5 or more?"),
    ("percent", "12.5", "What percentage of users is inactive?"),
    ("currency", "1834.50", "What is the revenue in thousands of US dollars?"),
    ("text", "SKU-0042", "Which product code sold most?"),
    ("category", "New Mexico", "Which state, (A) Iowa or (B) New Mexico?"),
    ("boolean", "yes", "Is the mean higher in May?"),
    ("date", "2021-03-27", "On which day of March 2021 was the last order?"),
    ("list", "3, 3, 5.5", "List the sizes."),
    ("ordered_list", '["Ann", "Bob, Jr.", "Cy"]', "Name the three largest, largest first."),
    ("set", "A: 3, B: 4", "How many of each type?"),
    ("range", "10-20", "What is the range in kg?"),
    ("none", "none", "Which flight had no gate?"),
    ("fields", FIELDS, "What are the mean and the best?"),
)
GROWTH = 200 * 1024  # KiB
SLOWEST = 2.0  # seconds that one grade may take with the instrumentation
WORDS = sorted({*own.FRAME, *own.NEGATIONS, *own.CUES_BEFORE, *own.UNITS, *own.SCALES, *own.MONTHS, *own.NONE_WORDS})
count = 0
first_peak = 0


def peak() -> int:
    """The most memory this process has held, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def one_input(data: bytes) -> None:
    """Grade one answer; also as its own gold, where a gold may be refused but nothing else may happen."""
    global count, first_peak
    count += 1
    if count == 1000:
        first_peak = peak()
    source = atheris.FuzzedDataProvider(data)
    answer_type, gold, question = GOLDS[source.ConsumeIntInRange(0, len(GOLDS) - 1)]
    as_bytes = source.ConsumeBool()
    swap = source.ConsumeBool()
    answer = source.ConsumeBytes(1 << 17) if as_bytes else source.ConsumeUnicode(1 << 16)
    began = time.monotonic()
    verdict = own.grade(gold, answer, answer_type=answer_type, question=question)
    assert verdict.reward in (0.0, 1.0) and verdict.reason
    if swap and isinstance(answer, str):
        own.check_gold(answer, answer_type=answer_type, question=answer[:200])
        own.infer_answer_type(answer, question)
    assert time.monotonic() - began < SLOWEST, "too slow"
    assert count < 1000 or peak() - first_peak < GROWTH, "memory grows"


def main() -> None:
    """Run for the seconds given."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    corpus = Path(sys.argv[2] if len(sys.argv) > 2 else "fuzz-corpus")
    corpus.mkdir(parents=True, exist_ok=True)
    tokens = corpus.with_suffix(".dict")
    quoted = (word.replace("\\", "\\\\").replace('"', '\\"') for word in WORDS if word.isascii() and "\n" not in word)
    tokens.write_text("".join(f'"{word}"\n' for word in quoted))
    for at, (_, gold, _) in enumerate(GOLDS):
        (corpus / f"seed-{at}").write_bytes(bytes([at, 0, 0]) + str(gold).encode())
    options = [f"-max_total_time={seconds}", "-max_len=4096", "-timeout=5", "-rss_limit_mb=1024", f"-dict={tokens}"]
    atheris.Setup([sys.argv[0], *options, "-print_final_stats=1", str(corpus)], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
