"""``instruction.md``: the question, where its tables lie, and how and where to answer. No gold, no digit of ours.

Harnesses hand an instruction to a shell often enough that backticks and ``$(`` have been run and their output read as
the question (failure S02); a question that holds them is refused. A public row's own instruction is kept as it is, and
reported.

What is said about the form of the answer depends on the answer type but never tells whether an answer exists: the
sentence about "none" stands in every instruction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from builder.shared_files import SharedFiles
from catalog import paths
from catalog.errors import RowError
from catalog.reasons import Kind
from catalog.rows import AnswerType, Row
from catalog.spec import Spec
from catalog.tables import Table

# The longest single argument that Linux hands to a program is 131,072 bytes (MAX_ARG_STRLEN, execve(2)); harnesses hand
# the instruction over so, with words of their own around it.
LIMIT_BYTES = 100_000
# Control characters and marks that turn the direction of text: no argument can hold the first (NUL), a terminal obeys
# others, and a person does not see what the rest do.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

# What a shell runs, and what it prints in place of a command that it does not know.
_RUN = re.compile(r"`[^`]+`|\$\([^()]+\)")
_SEAM = 20  # letters on each side of what is gone
_COMPLAINT = re.compile(r"^(?:\S*/)?(?:ba|da|z|k)?sh: (?:line )?\d+: .*\bnot found\b.*", re.MULTILINE)

# More names than this are told by their folder alone.
_LISTED_TABLES = 60

_AS_IN_DATA = "Write it alone, spelt as in the data."
FORMAT: dict[AnswerType, str] = {
    "number": "Write the number alone, in digits, with a point before the decimals.",
    "integer": "Write the whole number alone, in digits.",
    "percent": "Write the number alone, in digits, as a percentage or a fraction as the question asks.",
    "currency": "Write the amount alone, in digits, with a point before the decimals.",
    "text": _AS_IN_DATA,
    "category": _AS_IN_DATA,
    "boolean": "Write yes or no.",
    "date": "Write it alone in ISO form (year-month-day), as precise as the question asks.",
    "list": "Write the items on one line, separated by commas, each as often as it occurs; their order does not "
    "matter. If an item holds a comma itself, write a JSON list.",
    "ordered_list": "Write the items on one line, separated by commas, in the order that is asked for. "
    "If an item holds a comma itself, write a JSON list.",
    "set": "Write the items on one line, separated by commas, each once; their order does not matter. "
    "If an item holds a comma itself, write a JSON list.",
    "range": "Write the lower and the upper end on one line, in the form: lower to upper.",
}
_FIELD: dict[AnswerType, str] = {
    "number": "a number",
    "integer": "a whole number",
    "percent": "a number, as a percentage or a fraction as the question asks",
    "currency": "an amount in digits",
    "boolean": "yes or no",
    "date": "a date in ISO form (year-month-day)",
    "list": "items separated by commas",
    "ordered_list": "items separated by commas, in the order that is asked for",
    "set": "items separated by commas",
    "range": "lower to upper",
}
_FIELD_OTHER = "spelt as in the data"
_ALONE = "and nothing else into it."
_NONE = "If the data holds no such value, write none."

# A question whose answer is "none" is told the form its answer would have had.
_WOULD_BE: tuple[tuple[re.Pattern[str], AnswerType], ...] = (
    (re.compile(r"\b(when|what date|which date|on what day|which day)\b", re.IGNORECASE), "date"),
    (re.compile(r"\b(which|who|whose|name|list)\b", re.IGNORECASE), "category"),
)


def shell_would_eat(text: str) -> bool:
    """True where a shell that met ``text`` in double quotes would run a part of it (failure S02)."""
    return "`" in text or "$(" in text


def shell_has_eaten(text: str, question: str) -> str:
    """What of a row's own instruction is left of a part that a shell has run; empty where nothing was (failure S02).

    Args:
        text: the instruction, as the row has it.
        question: the row's question: where the instruction lacks what stands in backticks there, that was run.

    Returns:
        The shell's complaint, or the part that is gone.
    """
    complaint = _COMPLAINT.search(text)
    if complaint is not None:
        return complaint.group()
    squeezed = "".join(text.split())
    parts = ["".join(part.split()) for part in _RUN.split(question)]
    spans: list[str] = _RUN.findall(question)
    for lost, before, after in zip(spans, parts, parts[1:], strict=False):
        # Without a word on both sides there is no telling what stood there.
        if before and after and before[-_SEAM:] + after[:_SEAM] in squeezed and "".join(lost.split()) not in squeezed:
            return lost
    return ""


def _form(answer_type: AnswerType, question: str) -> str:
    if answer_type == "none":
        answer_type = next((kind for pattern, kind in _WOULD_BE if pattern.search(question)), "number")
    return FORMAT[answer_type]


def answering(row: Row, spec: Spec) -> str:
    """The paragraph that says where the answer goes and what it looks like."""
    where = f"Write your final answer to the file {spec.agent.answer_path}, {_ALONE}"
    if row.answer_format:
        return f"{where} {row.answer_format.strip()}"
    if isinstance(row.answer, tuple):
        lines = [f"- {named.name}: {_FIELD.get(named.answer_type or 'text', _FIELD_OTHER)}" for named in row.answer]
        return "\n".join([f"{where} One line for each of these, in the form name: value. {_NONE}", "", *lines])
    assert row.answer_type is not None and row.answer_type != "fields"
    return f"{where} {_form(row.answer_type, row.question)} {_NONE}"


def own_format(instruction: str) -> str:
    """What a row itself says about the form of the answer, in an instruction that was rendered here."""
    said = instruction.rpartition(_ALONE)[2]
    for sentence in (*FORMAT.values(), _NONE):
        said = said.replace(sentence, " ")
    return said


def _own(instruction: str, row: Row, spec: Spec) -> str:
    """A public row's own instruction, word for word; what it leaves out is added below it."""
    if spec.agent.answer_path in instruction:
        return instruction if instruction.endswith("\n") else instruction + "\n"
    return f"{instruction.rstrip()}\n\n{answering(row, spec)}\n"


def _refuse(row: Row, message: str, found: str, fix: str, kind: Kind | None = None) -> RowError:
    return RowError(f"task {row.task_id!r}: {message}", kind=kind, where=row.where or None, found=found, fix=fix)


def instruction(row: Row, tables: Sequence[Table], spec: Spec, shared: SharedFiles) -> str:
    """The text of ``instruction.md``.

    Args:
        row: the row, with its answer type filled in.
        tables: its tables, in any order.
        spec: says where the answer goes.
        shared: the compiled templates.

    Raises:
        RowError: where a shell would run a part of the text, Harbor would cut a part of it off, or no harness could
            pass it on as it is.
    """
    if row.instruction:
        eaten = shell_has_eaten(row.instruction, row.question)
        if eaten:
            raise _refuse(
                row,
                "a shell has run a part of the instruction, which is lost",
                eaten[:120],
                "take the instruction from where it was whole, or leave it out and let the question be rendered",
                "a shell eats the instruction",
            )
        text = _own(row.instruction, row, spec)
    else:
        names = sorted(table.name for table in tables)
        text = shared.instruction.render(
            question=row.question.strip(),
            tables=names if len(names) <= _LISTED_TABLES else [f"... ({len(names)} files)"],
            bucket=bool(row.hf_bucket),
            data_dir=paths.DATA_DIR,
            answering=answering(row, spec),
        )
        if shell_would_eat(text):
            found = next(line for line in text.splitlines() if shell_would_eat(line))
            raise _refuse(
                row,
                "a shell would run a part of the instruction",
                found[:120],
                "write names in plain quotes, without backticks and without $(",
                "a shell eats the instruction",
            )
    unseen = _UNSEEN.search(text)
    if unseen is not None:
        found = f"{unseen.group()!r} at character {unseen.start()}"
        raise _refuse(row, "the instruction holds a character that nobody sees", found, "take it out of the row")
    if len(text.encode()) > LIMIT_BYTES:
        found = f"{len(text.encode())} bytes"
        fix = f"shorten it to {LIMIT_BYTES} bytes, or put the text into a table"
        raise _refuse(row, "the instruction is longer than a harness can pass on", found, fix)
    from harbor.models.task.task import strip_canary  # slow to load, and where nothing changed nobody asks for it

    if strip_canary(text).strip() != text.strip():
        raise _refuse(row, "Harbor would cut off the first line", text.splitlines()[0][:120], "reword the first line")
    return text
