"""Families of questions whose labels a few lines of pandas recompute.

Each family looks at a question and gives a program for it, or None where anything in the question goes beyond what it
models. Where a question leaves a choice open (which standard deviation), the program takes the usual way and says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from builder.importers.programs import Choice, Program
from builder.importers.questions import Question, statistic_of
from catalog.rows import NamedAnswer

Family = Callable[[Question], Program | None]
_CORRECTED: Final = "skewness, kurtosis = pd.Series.skew, pd.Series.kurt"
_MOMENTS: Final = """

def skewness(s):
    return ((s - s.mean()) ** 3).mean() / s.std(ddof=0) ** 3


def kurtosis(s):
    return ((s - s.mean()) ** 4).mean() / s.std(ddof=0) ** 4 - 3

"""
_EXPRESSIONS: Final = {
    "mean": "s.mean()",
    "median": "s.median()",
    "std": "s.std(ddof=ddof)",
    "sum": "s.sum()",
    "skew": "skewness(s)",
    "kurt": "kurtosis(s)",
}


def programs_for(question: Question) -> list[Program]:
    """Every program that a family gives for a question."""
    return [program for family in FAMILIES if (program := family(question)) is not None]


def shown(expression: str, answer: NamedAnswer) -> str:
    """An expression with the form its answer is written in."""
    if answer.answer_type == "integer":
        return f"int(round({expression}))"
    return f"{expression}:.{answer.decimals}f" if answer.decimals is not None else expression


_DIVISOR: Final = Choice(
    usual="The standard deviation is the sample one, with the divisor n - 1.",
    other="The standard deviation is the population one, with the divisor n.",
    changes={"ddof = 1": "ddof = 0"},
)
_BIAS: Final = Choice(
    usual="Skewness and kurtosis are the bias-corrected sample coefficients.",
    other="Skewness and kurtosis are the moment coefficients, without bias correction.",
    changes={_CORRECTED: _MOMENTS},
)


def _divisor(question: Question) -> tuple[str, tuple[Choice, ...]]:
    """The divisor that is stated, or pandas' own, which is a choice."""
    if question.says(r"\bpopulation standard|\bpopulation formula|\bnumpy\b|scipy's zscore|\(xi - μ\)\^2/n\)"):
        return "ddof = 0", ()
    if question.says(r"\bsample standard|\bpandas\b|'statistics' module"):
        return "ddof = 1", ()
    return "ddof = 1", (_DIVISOR,)


def _shape(question: Question) -> tuple[str, tuple[Choice, ...]]:
    """The definition of skewness and kurtosis: as the named library has them, else pandas' own, which is a choice."""
    if question.says(r"\bscipy\b|Fisher-Pearson (?:coefficient|standardized)"):
        return _MOMENTS, ()
    if question.says(r"\bpandas\b"):
        return _CORRECTED, ()
    return _CORRECTED, (_BIAS,)


def _computed(question: Question, series: str, allowed: Sequence[str]) -> Program | None:
    """Statistics of one series, for the answers that are named after one of those allowed."""
    divisor, divisor_choices = _divisor(question)
    shape, shape_choices = _shape(question)
    found = {
        answer: statistic
        for answer in question.answers
        if (statistic := statistic_of(answer.name)) in allowed and answer.answer_type in ("number", "integer")
    }
    if not found:
        return None
    spread, shaped = "std" in found.values(), not {"skew", "kurt"}.isdisjoint(found.values())
    steps = [f"s = {series}", *([divisor] if spread else []), *([shape] if shaped else [])]
    values = {answer.name: shown(_EXPRESSIONS[str(statistic)], answer) for answer, statistic in found.items()}
    choices = (*(divisor_choices if spread else ()), *(shape_choices if shaped else ()))
    return Program(tuple(steps), values, choices)


def one_column(question: Question) -> Program | None:
    """Mean, median, deviation, skewness, kurtosis or total of one column as it stands."""
    summed = question.says(r"\bsum\(\) function on this column")
    if len(question.named) != 1 or question.steps - {"if", *(["before"] if summed else [])}:
        return None
    return _computed(question, f"frame[{question.named[0]!r}]", ("mean", "median", "std", "sum", "skew", "kurt"))


def correlation(question: Question) -> Program | None:
    """Pearson's coefficient of two columns as they stand."""
    answers = [one for one in question.answers if statistic_of(one.name) == "corr" and one.answer_type == "number"]
    if len(answers) != 1 or len(question.named) != 2 or question.steps - {"if"}:
        return None
    if not question.says(r"\bpearson\b|\bcorrelation coefficient\b"):
        return None
    one, two = question.named
    return Program((f"r = frame[{one!r}].corr(frame[{two!r}])",), {answers[0].name: shown("r", answers[0])})


_DERIVED: Final = (
    (re.compile(r"\b(?:summing|sum of|adding up)\b", re.IGNORECASE), "+"),
    (re.compile(r"\bsubtract(?:ing)? (?P<two>[^.,;]+?) from (?P<one>[^.,;]+?)(?: for |[.,;])", re.IGNORECASE), "-"),
)


def derived_column(question: Question) -> Program | None:
    """A new column, the sum or difference of two; then a statistic of it, or its correlation with a third."""
    if question.steps - {"create", "creating", "created", "generate", "new"}:
        return None
    for pattern, sign in _DERIVED:
        match = pattern.search(question.text)
        if match is None:
            continue
        parts = match.groupdict()
        named = question.named
        if parts:
            one, two = question.column(parts["one"]), question.column(parts["two"])
            rest = tuple(column for column in named if column not in (one, two))
        else:
            (one, two), rest = (named[0], named[1]) if len(named) > 1 else (None, None), named[2:]
        if one is None or two is None:
            return None
        series = f"frame[{one!r}] {sign} frame[{two!r}]"
        if not rest:
            return _computed(question, series, ("mean", "median", "std"))
        (answer, *others) = question.answers
        if len(rest) == 1 and not others and statistic_of(answer.name) == "corr":
            return Program((f"r = ({series}).corr(frame[{rest[0]!r}])",), {answer.name: shown("r", answer)})
    return None


def missing_values(question: Question) -> Program | None:
    """How many values of one column are missing."""
    (answer, *others) = question.answers
    asked = re.search(r"\bhow many\b[^?]*\b(?:missing|null)\b", question.asked, re.IGNORECASE)
    column = question.column(question.asked)
    if others or answer.answer_type != "integer" or not asked or column is None:
        return None
    return Program((f"n = frame[{column!r}].isna().sum()",), {answer.name: "n"})


def _outlier_program(question: Question, column: str, mask: Sequence[str]) -> Program | None:
    """Count of outliers, and statistics of what is left, or of the outliers where none is removed."""
    values: dict[str, str] = {}
    for answer in question.answers:
        statistic = statistic_of(answer.name.replace("outliers", "").replace("outlier", ""))
        if answer.answer_type == "integer":
            values[answer.name] = "len(frame) - out.sum()" if "left" in answer.name else "out.sum()"
        elif statistic in ("mean", "median", "std"):
            values[answer.name] = shown(f"rest.{'std(ddof=ddof)' if statistic == 'std' else statistic + '()'}", answer)
        else:
            return None
    divisor, choices = _divisor(question)
    rest = "rest = s[~out & s.notna()]" if question.says(r"\bremov|\bprun") else "rest = s[out]"
    steps = (f"s = frame[{column!r}]", divisor, *mask, rest)
    matters = any("ddof" in text for text in (*mask, *values.values()))
    return Program(steps, values, choices if matters else ())


_OUTLIER_STEPS: Final = frozenset(
    [
        "outlier",
        "outliers",
        "remove",
        "removed",
        "removing",
        "removal",
        "pruned",
        "only",
        "new",
        "before",
        "after",
        "below",
        "above",
        "if",
        "where",
    ]
)


def outliers_by_quartiles(question: Question) -> Program | None:
    """Outliers of one column by the rule of 1.5 interquartile ranges."""
    if len(question.named) != 1 or question.steps - _OUTLIER_STEPS or not question.says(r"\boutlier"):
        return None
    if not question.says(r"\binterquartile\b|\bIQR\b"):
        return None
    mask = (
        "low, high = s.quantile(0.25), s.quantile(0.75)",
        "out = (s < low - 1.5 * (high - low)) | (s > high + 1.5 * (high - low))",
    )
    return _outlier_program(question, question.named[0], mask)


def outliers_by_deviation(question: Question) -> Program | None:
    """Outliers of one column by the distance from its mean in standard deviations."""
    if len(question.named) != 1 or question.steps - _OUTLIER_STEPS or not question.says(r"\boutlier"):
        return None
    if question.says(r"\binterquartile\b|\bIQR\b") or not question.says(r"\bz-?scores?\b|standard deviations from"):
        return None
    limits = set(re.findall(r"(?:greater than|threshold of|more than) (\d(?:\.\d+)?)", question.text))
    if len(limits) != 1:
        return None
    two_sided = question.says(r"less than -|absolute|threshold|more than \d")
    z = "z = (s - s.mean()) / s.std(ddof=ddof)"
    mask = (z, f"out = {'z.abs()' if two_sided else 'z'} > {limits.pop()}")
    return _outlier_program(question, question.named[0], mask)


def extreme_row(question: Question) -> Program | None:
    """Which row has the highest or lowest value of a column, with a strict winner."""
    (answer, *others) = question.answers
    match = re.search(
        r"(?:which|find the|what) (?P<what>[\w ]+?)(?:\(s\))? (?:has|had|with) the (?P<end>highest|lowest) "
        r"(?P<by>[\w ]+?)(?: value)?[?.]",
        question.asked,
        re.IGNORECASE,
    )
    if others or match is None or question.says(r"\baverage\b|\bskewness\b|\bcorrelation\b"):
        return None
    what = question.column(match["what"]) or question.column(match["what"].split()[0])
    by = question.column(match["by"])
    if what is None or by is None or what == by:
        return None
    end = "max" if match["end"].lower() == "highest" else "min"
    steps = (f"best = frame.loc[frame[{by!r}] == frame[{by!r}].{end}(), {what!r}]",)
    return Program(steps, {answer.name: "', '.join(best.astype(str))"})


def by_group(question: Question) -> Program | None:
    """Statistics of one column within the groups of another, where each answer's name ends in its group's number."""
    match = re.search(
        r"'(?P<of>\w+)' column for each [\w ]*\('(?P<by>\w+)'\)", question.asked, re.IGNORECASE
    ) or re.search(r"(?P<of>\w+) variable for each (?:passenger )?(?P<by>class)\b", question.asked, re.IGNORECASE)
    if match is None:
        return None
    of, by = question.column(match["of"]), question.column(match["by"]) or question.column(f"P{match['by']}")
    divisor, choices = _divisor(question)
    values: dict[str, str] = {}
    for answer in question.answers:
        group = re.search(r"(\d+)", answer.name)
        statistic = statistic_of(re.sub(r"\d+", "", answer.name))
        if group is None or of is None or by is None:
            return None
        rows = f"groups[{group[1]}]"
        if statistic in ("mean", "median"):
            values[answer.name] = shown(f"{rows}.{statistic}()", answer)
        elif statistic == "std":
            values[answer.name] = shown(f"{rows}.std(ddof=ddof)", answer)
        elif statistic == "count" and question.says(r"z-score") and question.says(r"threshold of 3"):
            values[answer.name] = f"((({rows} - {rows}.mean()) / {rows}.std(ddof=ddof)).abs() > 3).sum()"
        else:
            return None
    steps = (divisor, f"groups = dict(iter(frame.groupby({by!r})[{of!r}]))")
    return Program(steps, values, choices)


def equal_count(question: Question) -> Program | None:
    """How many rows have one value in a column."""
    (answer, *others) = question.answers
    match = re.search(r"how many \w+ have an? (?P<of>[\w ]+?) of (?P<value>\d+)\?", question.asked, re.IGNORECASE)
    of = question.column(match["of"]) if match else None
    if others or match is None or of is None or not question.says(r"exactly equal to"):
        return None
    return Program((f"n = (frame[{of!r}] == {match['value']}).sum()",), {answer.name: "n"})


def symmetry(question: Question) -> Program | None:
    """Whether a column is called normal by the bounds that the question sets on its skewness."""
    (answer, *others) = question.answers
    bounded = question.says(r"skewness is between -0\.5 and 0\.5|absolute value of skewness is less than 0\.5")
    if others or len(question.named) != 1 or not bounded or answer.answer_type not in ("boolean", "category"):
        return None
    words = {"yes": ("Yes", "No"), "true": ("True", "False"), "normal": ("normal", "not_normal")}
    pair = next((pair for pair in words.values() if answer.gold in pair), None)
    if pair is None:
        return None
    shape, choices = _shape(question)
    steps = (f"s = frame[{question.named[0]!r}]", shape)
    return Program(steps, {answer.name: f"{pair[0]!r} if abs(skewness(s)) < 0.5 else {pair[1]!r}"}, choices)


FAMILIES: Final[tuple[Family, ...]] = (
    one_column,
    correlation,
    derived_column,
    missing_values,
    outliers_by_quartiles,
    outliers_by_deviation,
    extreme_row,
    by_group,
    equal_count,
    symmetry,
)
