"""A small shape over a small real CSV, for tests that break one thing at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from builder.demo import Dropped, demo_tasks
from builder.demo.plan import Plan, read_plan
from catalog.rows import Row

PEOPLE = "name,class,age\nAnn,1st,30\nBob,1st,41\nCid,2nd,22\nDee,2nd,\nEve,2nd,25.4\nFay,1st,58\n"
TABLES = """
[[file]]
path = "people.csv"
pool = "train"
format = "copy"
package = "bokeh-sampledata"
source = "_data/titanic_all.csv"
license = "Public domain"
evidence = "a test"
[[file.table]]
name = "people"
rows = "people"
pandas = 'pd.read_csv("data/people.csv")'

[[file]]
path = "others.csv"
pool = "eval"
format = "copy"
package = "bokeh-sampledata"
source = "_data/titanic_all.csv"
license = "Public domain"
evidence = "a test"
[[file.table]]
name = "others"
rows = "people"
pandas = 'pd.read_csv("data/others.csv")'
"""
SHAPE: dict[str, Any] = {
    "id": "mean-age",
    "tier": "easy",
    "type": "number",
    "decimals": 1,
    "tables": ["people"],
    "columns": ["age", "class"],
    "operations": ["filter:class", "mean:age"],
    "wordings": [
        "What is the mean age in class {{ class }} of {{ file('people') }}, with {{ places }}?",
        "Average the column age of {{ file('people') }} where class is {{ class }}, rounded to {{ places }}.",
    ],
    "sql": "SELECT avg(age) FROM people WHERE class = {{ class | sql }}",
    "pandas": 'people = {{ read("people") }}\n'
    "group = people[people['class'] == {{ class | py }}]\n"
    "print(f\"{group['age'].mean():.1f}\")\n",
    "bind": [{"class": ["1st", "2nd"]}],
}


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


class Desk:
    """A folder of tables and a folder of shapes of one's own."""

    def __init__(self, folder: Path) -> None:
        self.tables = folder / "tables"
        self.questions = folder / "questions"
        self.tables.mkdir()
        self.questions.mkdir()
        (self.tables / "people.csv").write_text(PEOPLE, encoding="utf-8")
        (self.tables / "others.csv").write_text(PEOPLE, encoding="utf-8")
        (folder / "tables.toml").write_text(TABLES, encoding="utf-8")
        self.plan: Plan = read_plan(folder / "tables.toml")

    def ask(self, *changes: Mapping[str, Any]) -> list[Row | Dropped]:
        """What the base shape yields, once for each set of changed keys."""
        text = ""
        for change in changes or ({},):
            lines = [f"{key} = {_toml(value)}" for key, value in {**SHAPE, **change}.items()]
            text += "[[shape]]\n" + "\n".join(lines) + "\n\n"
        (self.questions / "own.toml").write_text(text, encoding="utf-8")
        return list(demo_tasks(self.tables, questions=self.questions, plan=self.plan, jobs=0))
