"""Loads every table of a task and groups it, files nothing: ``load_tables.py FOLDER``. Its size must bear that.

All tables stay in memory together, as they do for an agent that joins them. What pandas does not read, for its kind or
for how it is written, is held as bytes and named.
"""

import gzip
import json
import sqlite3
import sys
from pathlib import Path

import pandas as pd

PACKED = (".gz", ".bz2", ".xz", ".zip")
SEPARATORS = ",;\t|"


def encoding_of(head: bytes) -> str:
    """An encoding that reads these bytes."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        head.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        if problem.start < len(head) - 4:
            return "cp1252"
    return "utf-8-sig"


def from_delimited(path: Path) -> list[pd.DataFrame]:
    """A CSV or one of its kin, with the separator that its first line holds most often."""
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    head = b"" if path.suffix.lower() in PACKED[1:] else opener(path, "rb").read(1 << 16)
    encoding = encoding_of(head)
    first = head.decode(encoding, "replace").partition("\n")[0]
    separator = max(SEPARATORS, key=first.count)
    return [pd.read_csv(path, sep=separator, encoding=encoding, encoding_errors="replace", low_memory=False)]


def from_json(path: Path) -> list[pd.DataFrame]:
    """A JSON document that is a table, or one that holds a list of records."""
    try:
        return [pd.read_json(path)]
    except ValueError:
        opener = gzip.open if path.suffix.lower() == ".gz" else open
        with opener(path, "rt", encoding="utf-8-sig") as file:
            document = json.load(file)
        lists = [part for part in document.values() if isinstance(part, list)] if isinstance(document, dict) else []
        return [pd.json_normalize(max(lists, key=len) if lists else document)]


def from_lines(path: Path) -> list[pd.DataFrame]:
    """JSON lines."""
    return [pd.read_json(path, lines=True)]


def from_sqlite(path: Path) -> list[pd.DataFrame]:
    """Every table of a database."""
    with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as base:
        names = [row[0] for row in base.execute("select name from sqlite_master where type = 'table'")]
        quoted = ['"{}"'.format(name.replace('"', '""')) for name in names]
        return [pd.read_sql_query(f"select * from {name}", base) for name in quoted]  # noqa: S608  (the file's own)


READERS = {
    ".csv": from_delimited,
    ".tsv": from_delimited,
    ".json": from_json,
    ".geojson": from_json,
    ".jsonl": from_lines,
    ".ndjson": from_lines,
    ".parquet": lambda path: [pd.read_parquet(path)],
    ".xlsx": lambda path: list(pd.read_excel(path, sheet_name=None).values()),
    ".db": from_sqlite,
    ".sqlite": from_sqlite,
    ".sqlite3": from_sqlite,
}


def load(path: Path) -> list[pd.DataFrame] | list[bytes]:
    """The tables of one file, or its bytes."""
    inner = path.stem if path.suffix.lower() in PACKED else path.name
    reader = READERS.get(Path(inner).suffix.lower())
    if reader is not None:
        try:
            return reader(path)
        except Exception as problem:
            print(f"{path} is held as bytes: {problem!r}")
    return [path.read_bytes()]


def group(frame: pd.DataFrame) -> None:
    """Group by the column with the fewest values that still tells rows apart, and sort by the one with the most."""
    plain = [name for name in frame.columns if not frame[name].map(lambda value: isinstance(value, (list, dict))).any()]
    counts = {name: frame[name].nunique() for name in plain}
    keys = [name for name in sorted(counts, key=lambda name: counts[name]) if counts[name] > 1]
    if keys:
        largest = frame.groupby(keys[0], dropna=False).size().max()
        first = frame[plain].groupby(keys[0], dropna=False).first()
        print(len(first), "groups, the largest of", largest, "rows;", len(frame.sort_values(keys[-1])), "rows in all")


def main() -> None:
    """Load all, then group each."""
    paths = [path for path in sorted(Path(sys.argv[1]).rglob("*")) if path.is_file()]
    loaded = [table for path in paths for table in load(path)]
    for table in loaded:
        if isinstance(table, pd.DataFrame):
            group(table)
    print(len(loaded), "tables from", len(paths), "files")


if __name__ == "__main__":
    main()
