"""A family gives a program only for a question that it models whole; anything beyond it gives none."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from builder.importers.programs import run_programs, source_of
from builder.importers.questions import Question, columns_in, statistic_of
from builder.importers.reproducers import programs_for
from catalog.rows import AnswerType, NamedAnswer

FRAME = pd.DataFrame(
    {
        "Name": ["a", "b", "c", "d", "e", "f"],
        "Age": [10, 20, 30, 40, 50, None],
        "Fare": [1.0, 2.0, 3.0, 4.0, 5.0, 100.0],
        "Pclass": [1, 1, 2, 2, 3, 3],
        "open price": [1.0, 2.0, 2.0, 5.0, 5.0, 7.0],
        "close price": [2.0, 2.0, 4.0, 5.0, 8.0, 7.5],
    }
)


def answers_of(tmp_path: Path, asked: str, constraints: str = "", **names: AnswerType) -> list[dict[str, str]]:
    """What the programs for a question print, over the table above."""
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False)
    answers = tuple(
        NamedAnswer(name=name, gold="normal" if kind == "category" else "0", answer_type=kind,
                    decimals=2 if kind == "number" else None)
        for name, kind in names.items()
    )  # fmt: skip
    programs = programs_for(Question(asked, constraints, answers, tuple(FRAME.columns)))
    results = run_programs([source_of(program, "t.csv", {}) for program in programs], {"t.csv": path})
    assert all(isinstance(result, dict) for result in results), results
    return [result for result in results if isinstance(result, dict)]


@pytest.mark.parametrize(
    ("asked", "names", "printed"),
    [
        ("Calculate the mean and median of the fare.", {"mean_fare": "number", "median_fare": "number"},
         {"mean_fare": "19.17", "median_fare": "3.50"}),
        ("What is the sample standard deviation of the Age?", {"std_age": "number"}, {"std_age": "15.81"}),
        ("What is the population standard deviation of the Age?", {"std_age": "number"}, {"std_age": "14.14"}),
        ("Find the Pearson correlation between Age and Fare.", {"correlation": "number"}, {"correlation": "1.00"}),
        ("How many values are missing in the 'Age' column?", {"n": "integer"}, {"n": "1"}),
        ("Which name has the highest fare?", {"who": "category"}, {"who": "f"}),
        ("Count the outliers of the fare by the IQR method.", {"outlier_count": "integer"}, {"outlier_count": "1"}),
        ("Remove outliers of the fare by the interquartile range. What is the new mean?", {"mean_new": "number"},
         {"mean_new": "3.00"}),
        ("Create a new column by summing the 'Age' and 'Fare' columns and give its Pearson correlation with 'Pclass'.",
         {"correlation": "number"}, {"correlation": "0.94"}),
        ("Create a column by subtracting the 'open price' from the 'close price'. Give its mean.",
         {"mean": "number"}, {"mean": "1.08"}),
        ("Analyse the 'Fare' column for each class ('Pclass').", {"mean_class1": "number", "median_class3": "number"},
         {"mean_class1": "1.50", "median_class3": "52.50"}),
    ],
)  # fmt: skip
def test_a_question_of_a_family_is_recomputed(
    tmp_path: Path, asked: str, names: dict[str, AnswerType], printed: dict[str, str]
) -> None:
    assert answers_of(tmp_path, asked, **names) == [printed]


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("Calculate the mean fare of those who are above 20.", {"mean_fare": "number"}),
        ("Calculate the mean fare for each name.", {"mean_fare": "number"}),
        ("Fill missing values with 0, then calculate the mean fare.", {"mean_fare": "number"}),
        ("Calculate the mean of the Age and the Fare.", {"mean": "number"}),
        ("Calculate the weighted mean fare.", {"mean_fare": "number"}),
        ("Train a model and predict the mean fare.", {"mean_fare": "number"}),
        ("Find the correlation between Age and Fare among the outliers.", {"correlation": "number"}),
        ("Calculate the mean height.", {"mean_height": "number"}),
        ("Which name has the highest average fare?", {"who": "category"}),
        ("Calculate the trimmed range of the fare.", {"range": "number"}),
    ],
)
def test_a_question_that_goes_beyond_gets_no_program(tmp_path: Path, asked: str, names: dict[str, AnswerType]) -> None:
    assert answers_of(tmp_path, asked, **names) == []


def test_a_program_that_fails_is_told_and_stops_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False)
    good = "import pandas as pd\nprint('n:', len(pd.read_csv('data/t.csv')))\n"
    results = run_programs(["1 / 0", good], {"t.csv": path})
    assert "ZeroDivisionError" in str(results[0])
    assert results[1] == {"n": "6"}


@pytest.mark.parametrize(
    ("text", "columns", "found"),
    [
        ("the fare paid", ["Fare", "Age"], ("Fare",)),
        ("the 'Age' and the fare", ["Fare", "Age"], ("Age",)),
        ("it is what it is", ["IS", "IT"], ()),
        ("review count", ["review_count", "count"], ("review_count",)),
        ("MedianHouseValue", ["MedianHouseValue"], ("MedianHouseValue",)),
        ("life expectancy", ["Health (Life Expectancy)"], ("Health (Life Expectancy)",)),
        ("stagefares", ["Age", "Fare"], ()),
    ],
)
def test_columns_are_found_as_words_and_quoted_ones_first(
    text: str, columns: list[str], found: tuple[str, ...]
) -> None:
    assert columns_in(text, columns) == found


@pytest.mark.parametrize(
    ("name", "statistic"),
    [("mean_fare", "mean"), ("std_dev", "std"), ("average_age", "mean"), ("mean_median", None), ("fare", None)],
)
def test_a_name_speaks_of_one_statistic_or_of_none(name: str, statistic: str | None) -> None:
    assert statistic_of(name) == statistic
