"""A row's tables are found, inside their folder, readable and distinct, or an error says which is not and why."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import os
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from shared import shared

from builder.tables import TableShelf
from catalog.errors import TableError
from catalog.findings import Finding
from catalog.rows import Row
from catalog.tables import Table

FRAME = pd.DataFrame({"city": ["Bern", "Genève", "Zürich"] * 5, "people": range(15)})


def row(*tables: str, **columns: str) -> Row:
    return Row(task_id="t1", question="q?", answer="1", tables=tables, where="rows.jsonl:3", **columns)


def tables_of(folder: Path, *names: str, note: Callable[[Finding], None] | None = None) -> tuple[Table, ...]:
    return TableShelf(folder, note).tables_of(row(*names))


def error_of(folder: Path, *names: str) -> TableError:
    with pytest.raises(TableError) as error:
        tables_of(folder, *names)
    assert error.value.expected and error.value.found and error.value.fix
    return error.value


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "tables"
    place.mkdir()
    FRAME.to_csv(place / "cities.csv", index=False)
    return place


class TestWhere:
    def test_a_file_brings_its_hash_its_size_and_its_cost(self, folder: Path) -> None:
        (table,) = tables_of(folder, "cities.csv")
        content = (folder / "cities.csv").read_bytes()
        assert (table.name, table.bytes) == ("cities.csv", len(content))
        assert table.sha256 == hashlib.sha256(content).hexdigest()
        assert table.source == folder / "cities.csv"
        assert table.memory_bytes > 0

    def test_a_file_deeper_down_lies_under_its_own_name(self, folder: Path) -> None:
        (folder / "2024").mkdir()
        FRAME.to_csv(folder / "2024" / "sales.csv")
        assert [table.name for table in tables_of(folder, "2024/sales.csv")] == ["sales.csv"]

    def test_a_folder_brings_every_file_below_it_under_its_name(self, folder: Path) -> None:
        (folder / "legal" / "a").mkdir(parents=True)
        FRAME.to_csv(folder / "legal" / "a" / "one.csv")
        (folder / "legal" / "notes.txt").write_text("hello")
        (folder / "legal" / ".DS_Store").write_text("x")
        findings: list[Finding] = []
        tables = tables_of(folder, "legal", note=findings.append)
        assert [table.name for table in tables] == ["legal/a/one.csv", "legal/notes.txt"]
        assert [finding.rule for finding in findings] == ["hidden-file"]

    def test_a_file_of_an_installed_package(self, folder: Path) -> None:
        (table,) = tables_of(folder, "package://palmerpenguins/data/penguins.csv")
        assert table.name == "penguins.csv"
        assert table.memory_bytes > 0

    def test_a_real_folder_of_many_kinds(self) -> None:
        findings: list[Finding] = []
        tables = tables_of(shared("public/kramabench/data"), "legal", note=findings.append)
        assert len(tables) == 132
        assert {finding.rule for finding in findings} == {"table-dialect"}
        assert all("cp1252" in finding.message for finding in findings)

    def test_a_row_whose_data_lie_in_a_bucket_needs_none(self, folder: Path) -> None:
        assert TableShelf(folder).tables_of(row(hf_bucket="some-bucket")) == ()

    def test_a_row_without_tables_is_told(self, folder: Path) -> None:
        assert "names no table" in error_of(folder).message

    @pytest.mark.parametrize(
        "name",
        [
            "../tables/cities.csv",
            "/etc/hostname",
            "a/../../cities.csv",
            "",
            ".",
            "a\\b.csv",
            "package://palmerpenguins/",
        ],
    )
    def test_a_name_that_leads_elsewhere_is_refused(self, folder: Path, name: str) -> None:
        error = error_of(folder, name)
        assert "must stay inside" in error.message
        assert error.where == "rows.jsonl:3"

    @pytest.mark.parametrize("name", ["none.csv", "Cities.csv", "none/cities.csv", "package://palmerpenguins/none.csv"])
    def test_a_missing_table_is_told(self, folder: Path, name: str) -> None:
        error = error_of(folder, name)
        assert "is missing" in error.message and name in error.message

    @pytest.mark.parametrize("name", ["package://no_such_package/x.csv", "package://os.path/x.csv", "package:///x.csv"])
    def test_a_package_that_is_not_there_is_told(self, folder: Path, name: str) -> None:
        assert "is not installed" in error_of(folder, name).message

    def test_a_link_may_stay_inside_and_may_not_lead_out(self, folder: Path, tmp_path: Path) -> None:
        (tmp_path / "secret.csv").write_text("a\n1\n")
        (folder / "inside.csv").symlink_to("cities.csv")
        (folder / "outside.csv").symlink_to(tmp_path / "secret.csv")
        assert tables_of(folder, "inside.csv")[0].name == "inside.csv"
        assert "leads out" in error_of(folder, "outside.csv").message

    @pytest.mark.parametrize("name", ["a\0.csv", "x" * 300, "\ud800.csv", "a\nb.csv", "é" * 150 + "/a.csv"])
    def test_a_name_that_no_file_system_takes_is_told_on_one_line(self, folder: Path, name: str) -> None:
        with pytest.raises(TableError) as error:
            TableShelf(folder).tables_of(row("cities.csv").model_copy(update={"tables": (name,)}))
        assert "cannot be shipped" in error.value.message
        assert (error.value.found or "").isprintable()
        assert len(str(error.value)) < 600

    @pytest.mark.parametrize("name", ["deep/" * 1000 + "a.csv", "package://__main__/a.csv", "package://a\0b/a.csv"])
    def test_other_places_that_cannot_be_are_told(self, folder: Path, name: str) -> None:
        assert len(error_of(folder, name).message) < 100 + len(name)

    def test_a_table_nested_too_deep_is_told(self, folder: Path) -> None:
        (folder / "deep.json").write_text('{"a": ' + "[" * 700 + "]" * 700 + "}")
        assert "too deep" in error_of(folder, "deep.json").message

    @pytest.mark.parametrize("name", ["big.csv", "big.db", "big.bin", "big.parquet"])
    def test_a_file_beyond_the_limit_is_refused_before_it_is_read(self, folder: Path, name: str) -> None:
        with (folder / name).open("wb") as file:
            file.truncate(20_000_000_000)  # sparse: takes no room, and reading it would take minutes
        error = error_of(folder, name)
        assert (error.message, error.found) == ("the table is too large", "20000000000 bytes or more")

    @pytest.mark.parametrize("name", ["bomb.csv.gz", "bomb.csv.bz2", "bomb.csv.zip", "bomb.xlsx", "bomb.txt.xz"])
    def test_an_archive_that_unpacks_without_end_is_refused(self, folder: Path, name: str) -> None:
        piece = b"1,2,3\n" * 200_000
        if name.endswith((".zip", ".xlsx")):
            archive = zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED)
            with archive, archive.open("xl/worksheets/sheet1.xml", "w") as inner:
                for _ in range(300):
                    inner.write(piece)
        else:
            pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[Path(name).suffix]
            (folder / name).write_bytes(pack(piece) * 300)  # many members, one after another
        error = error_of(folder, name)
        assert error.message == "the table is too large"
        assert "times its bytes" in (error.expected or "")

    def test_a_packed_table_of_usual_size_is_read(self, folder: Path) -> None:
        with gzip.open(folder / "c.csv.gz", "wt") as file:
            file.write("a,b\n" + "1,2\n" * 1_000_000)
        assert tables_of(folder, "c.csv.gz")[0].memory_bytes > 8_000_000

    @pytest.mark.parametrize("kind", ["out", "folder", "circle", "broken", "fifo"])
    def test_inside_a_folder_too(self, folder: Path, tmp_path: Path, kind: str) -> None:
        place = folder / "set"
        place.mkdir()
        (tmp_path / "secret.csv").write_text("a\n1\n")
        targets = {"out": tmp_path / "secret.csv", "folder": folder, "circle": place, "broken": tmp_path / "none"}
        if kind == "fifo":
            os.mkfifo(place / "bad")
        else:
            (place / "bad").symlink_to(targets[kind])
        error_of(folder, "set")

    def test_an_empty_folder_is_told(self, folder: Path) -> None:
        (folder / "nothing").mkdir()
        assert "is empty" in error_of(folder, "nothing").message


class TestNames:
    @pytest.mark.parametrize(
        ("one", "two"),
        [("a/x.csv", "b/x.csv"), ("a/x.csv", "b/X.CSV"), ("a/é.csv", "b/e\u0301.csv"), ("a/x.csv", "a/x.csv")],
    )
    def test_two_tables_with_one_name_are_refused(self, folder: Path, one: str, two: str) -> None:
        for name in (one, two):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text("a,b\n1,2\n")
        error = error_of(folder, one, two)
        assert "one name" in error.message
        assert one in (error.found or "") and two in (error.found or "")

    def test_a_file_named_like_a_folder_is_refused(self, folder: Path) -> None:
        (folder / "set").mkdir()
        (folder / "set" / "x.csv").write_text("a,b\n1,2\n")
        (folder / "other").mkdir()
        (folder / "other" / "set").write_text("text")
        assert "one name" in error_of(folder, "set", "other/set").message
        assert "one name" in error_of(folder, "other/set", "set").message

    def test_a_name_that_no_tool_copies_safely_is_refused(self, folder: Path) -> None:
        (folder / "two\nlines.csv").write_text("a,b\n1,2\n")
        assert "cannot be shipped" in error_of(folder, "two\nlines.csv").message


def _excel(path: Path) -> None:
    FRAME.to_excel(path, index=False)


def _sqlite(path: Path) -> None:
    connection = sqlite3.connect(path)
    FRAME.to_sql("cities", connection, index=False)
    connection.close()


WRITERS: dict[str, Callable[[Path], object]] = {
    "t.csv": lambda path: FRAME.to_csv(path, index=False),
    "t.tsv": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "t.csv.gz": lambda path: FRAME.to_csv(path, index=False),
    "t.csv.bz2": lambda path: FRAME.to_csv(path, index=False),
    "t.csv.xz": lambda path: FRAME.to_csv(path, index=False),
    "t.csv.zip": lambda path: FRAME.to_csv(path, index=False),
    "t.json": lambda path: FRAME.to_json(path, orient="records"),
    "columns.json": lambda path: FRAME.to_json(path, orient="columns"),
    "t.jsonl": lambda path: FRAME.to_json(path, orient="records", lines=True),
    "t.jsonl.gz": lambda path: FRAME.to_json(path, orient="records", lines=True),
    "t.parquet": FRAME.to_parquet,
    "t.sqlite": _sqlite,
    "t.db": _sqlite,
    "t.xlsx": _excel,
}


class TestHeaders:
    @pytest.mark.parametrize("text", ["a,b\n1,2,3\n4\n", "a,b\n1,2,3\n4,5,6\n", "a;b\n1;2;3;4\n5;6;7;8\n"])
    def test_a_header_that_pandas_takes_for_an_index_is_told(self, folder: Path, text: str) -> None:
        (folder / "t.csv").write_text(text)
        findings: list[Finding] = []
        tables_of(folder, "t.csv", note=findings.append)
        told = [finding.message for finding in findings]
        frame = pd.read_csv(folder / "t.csv", sep=text[1])
        extra = len(text.splitlines()[1].split(text[1])) - 2
        assert frame.index.nlevels == extra and list(frame.columns) == ["a", "b"]
        (index,) = [one for one in told if "index" in one]
        assert ("its first column as" in index) is (extra == 1) and "name every column" in index
        short = [one for one in told if "fewer" in one]
        assert [one.split()[0] for one in short] == (["1"] if "\n4\n" in text else [])

    @pytest.mark.parametrize("text", ["a,a\n1,2\n", "b,a,a,a\n1,2,3,4\n", "a,b,a\n1,2\n3,4,5\n6,7,8\n"])
    def test_a_column_name_used_twice_is_told_as_pandas_calls_it(self, folder: Path, text: str) -> None:
        (folder / "t.csv").write_text(text)
        findings: list[Finding] = []
        tables_of(folder, "t.csv", note=findings.append)
        assert "a.1" in pd.read_csv(folder / "t.csv").columns
        (told,) = [finding.message for finding in findings if "more than once" in finding.message]
        assert "'a'" in told and "'a.1'" in told and "the question should say" in told

    @pytest.mark.parametrize("text", ["a,b\n1,2\n", ",b\n1,2\n", ",\n1,2\n", "a,b,\n1,2,\n"])
    def test_a_usual_header_is_told_nothing_of(self, folder: Path, text: str) -> None:
        (folder / "t.csv").write_text(text)
        findings: list[Finding] = []
        tables_of(folder, "t.csv", note=findings.append)
        assert findings == []

    @pytest.mark.parametrize("mark", [";", "|"])
    def test_another_separator_is_told_with_what_to_do(self, folder: Path, mark: str) -> None:
        (folder / "t.csv").write_text(f"a{mark}b\n1{mark}2\n")
        findings: list[Finding] = []
        tables_of(folder, "t.csv", note=findings.append)
        assert [finding.message for finding in findings] == [
            f"its fields are separated by {mark!r}; the question should say so"
        ]


class TestContents:
    @pytest.mark.parametrize("name", WRITERS)
    def test_every_kind_that_pandas_reads_is_read(self, folder: Path, name: str) -> None:
        WRITERS[name](folder / name)
        findings: list[Finding] = []
        (table,) = tables_of(folder, name, note=findings.append)
        assert table.memory_bytes > 15 * 8
        assert findings == []

    @pytest.mark.parametrize("name", ["page.html", "notes.txt", "picture.png", "no_suffix", "dump.sql"])
    def test_other_files_are_data_too(self, folder: Path, name: str) -> None:
        (folder / name).write_bytes(b"\x89PNG\x00\xff whatever")
        (table,) = tables_of(folder, name)
        assert table.memory_bytes == 0

    @pytest.mark.parametrize("name", [*WRITERS, "page.html", "notes.txt"])
    def test_an_empty_file_is_told(self, folder: Path, name: str) -> None:
        (folder / name).write_bytes(b"")
        error = error_of(folder, name)
        assert "is empty" in error.message and name in (error.where or "")

    @pytest.mark.parametrize("name", sorted(set(WRITERS) - {"t.csv", "t.tsv"}))
    def test_half_a_file_is_told(self, folder: Path, name: str) -> None:
        WRITERS[name](folder / name)
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: len(content) // 2])
        error_of(folder, name)

    @pytest.mark.parametrize("name", ["t.parquet", "t.sqlite", "t.xlsx", "t.csv.gz", "t.csv.zip", "t.json", "t.jsonl"])
    def test_something_else_under_its_suffix_is_told(self, folder: Path, name: str) -> None:
        (folder / name).write_bytes(b"a,b\n1,2\n" * 100)
        assert name in (error_of(folder, name).where or "")

    @pytest.mark.parametrize(
        ("name", "content"),
        [("t.csv", "a,b\n"), ("t.json", "[]"), ("t.json", "{}"), ("t.jsonl", "\n\n"), ("t.csv", "\n\n")],
    )
    def test_a_table_without_a_record_is_told(self, folder: Path, name: str, content: str) -> None:
        (folder / name).write_text(content)
        assert "is empty" in error_of(folder, name).message

    def test_an_empty_database_workbook_and_parquet_are_told(self, folder: Path) -> None:
        connection = sqlite3.connect(folder / "t.db")
        connection.execute("CREATE TABLE cities (name TEXT)")
        connection.close()
        FRAME.head(0).to_parquet(folder / "t.parquet")
        pd.DataFrame().to_excel(folder / "t.xlsx", index=False)
        for name in ("t.db", "t.parquet", "t.xlsx"):
            assert "is empty" in error_of(folder, name).message

    def test_an_archive_of_several_files_is_told(self, folder: Path) -> None:
        with zipfile.ZipFile(folder / "t.csv.zip", "w") as archive:
            archive.writestr("a.csv", "a\n1\n")
            archive.writestr("b.csv", "a\n1\n")
        assert "more than one file" in error_of(folder, "t.csv.zip").message

    def test_a_compressed_database_is_plain_data(self, folder: Path) -> None:
        _sqlite(folder / "t.db")
        (folder / "t.db.gz").write_bytes(gzip.compress((folder / "t.db").read_bytes()))
        assert tables_of(folder, "t.db.gz")[0].memory_bytes == 0

    @pytest.mark.parametrize("text", ['[{"a": 1}, {"a": 2}', '[{"a": 1} {"a": 2}]', '{"a": 1} {"a": 2}', '{"a": tru}'])
    def test_broken_json_is_named_by_its_line(self, folder: Path, text: str) -> None:
        (folder / "t.json").write_text("\n\n" + text)
        assert error_of(folder, "t.json").where == f"{folder}/t.json:3"

    def test_a_broken_line_of_json_lines_is_named(self, folder: Path) -> None:
        (folder / "t.jsonl").write_text('{"a": 1}\n\n{"a": }\n{"a": 3}\n')
        assert error_of(folder, "t.jsonl").where == f"{folder}/t.jsonl:3"

    def test_json_longer_than_a_piece_is_read_whole(self, folder: Path) -> None:
        records = [{"id": number, "text": "ä" * 50, "inner": {"deep": [1, 2, 3]}} for number in range(30_000)]
        (folder / "t.json").write_text(json.dumps(records, ensure_ascii=False, indent=1), encoding="utf-8")
        assert tables_of(folder, "t.json")[0].bytes > 3_000_000
        text = (folder / "t.json").read_text(encoding="utf-8")
        (folder / "t.json").write_text(text.replace('"id": 29999', '"id" 29999'), encoding="utf-8")
        line = next(n for n, one in enumerate(text.splitlines(), 1) if '"id": 29999' in one)
        assert error_of(folder, "t.json").where == f"{folder}/t.json:{line}"


class TestText:
    def note(self, folder: Path, content: bytes) -> str:
        (folder / "t.csv").write_bytes(content)
        findings: list[Finding] = []
        tables_of(folder, "t.csv", note=findings.append)
        return "; ".join(finding.message for finding in findings)

    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
    def test_plain_files_need_no_word(self, folder: Path, encoding: str, end: str) -> None:
        assert self.note(folder, f"a,b{end}é,2{end}".encode(encoding)) == ""

    @pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16"])
    def test_other_encodings_that_spreadsheets_write_are_told_and_taken(self, folder: Path, encoding: str) -> None:
        assert "not UTF-8" in self.note(folder, "city,people\nGenève,2\nBern,3\n".encode(encoding))

    @pytest.mark.parametrize("delimiter", [";", "\t", "|"])
    def test_other_separators_are_told_and_taken(self, folder: Path, delimiter: str) -> None:
        assert "separated" in self.note(folder, f"a{delimiter}b\n1,5{delimiter}2\n3,1{delimiter}4\n".encode())

    def test_short_records_are_told_and_taken_as_pandas_does(self, folder: Path) -> None:
        assert "fewer than 3 fields (the first on line 3)" in self.note(folder, b"a,b,c\n1,2,3\n4,5\n6,7,8\n")

    @pytest.mark.parametrize(
        "content",
        [
            b'a,b\n"two\nlines",2\n',
            b'a,b\n"say ""hi""",2\n',
            b'a,b\nan 8" pipe,2\n',
            b"a\n1\n2\n",
            b"a,b\n1,2",
            b"a,b\n\n1,2\n\n",
            b",b\n0,2\n",
        ],
    )
    def test_what_pandas_reads_is_read(self, folder: Path, content: bytes) -> None:
        assert self.note(folder, content) == ""
        assert len(pd.read_csv(folder / "t.csv")) >= 1

    def test_a_record_with_too_many_fields_is_named_by_its_line(self, folder: Path) -> None:
        (folder / "t.csv").write_text('a,b\n"x\ny",2\n3,4\n5,6,7\n8,9\n')
        error = error_of(folder, "t.csv")
        assert "ragged" in error.message
        assert error.where == f"{folder}/t.csv:5"
        assert "2 fields" in (error.expected or "") and "3 fields" in (error.found or "")

    def test_a_quote_that_is_never_closed_is_named_where_it_opens(self, folder: Path) -> None:
        (folder / "t.csv").write_text('a,b\n1,2\n"open,2\n3,4\n')
        error = error_of(folder, "t.csv")
        assert error.where == f"{folder}/t.csv:3"
        assert "never closed" in (error.found or "")

    @pytest.mark.parametrize(
        ("content", "line", "byte"),
        [
            ("a,b\né,ü\n".encode() + b"x,\xe9\n", 3, "0xe9"),  # UTF-8 with one damaged byte
            (b"a,b\nx,\x81\n", 2, "0x81"),  # in no encoding of the West
            (b"a,b\n1,2\nx,\xe9\x00\n", 3, "0x00"),
            (b"a,b\nx\x00,2\n", 2, "0x00"),
        ],
    )
    def test_an_encoding_that_cannot_be_read_names_line_and_byte(
        self, folder: Path, content: bytes, line: int, byte: str
    ) -> None:
        (folder / "t.csv").write_bytes(content)
        error = error_of(folder, "t.csv")
        assert error.where == f"{folder}/t.csv:{line}"
        assert byte in (error.found or "")


class TestOnce:
    def test_each_file_is_read_once_however_many_rows_name_it(self, folder: Path) -> None:
        findings: list[Finding] = []
        (folder / "west.csv").write_bytes("city,n\nGenève,2\n".encode("cp1252"))
        shelf = TableShelf(folder, findings.append)
        first = shelf.tables_of(row("west.csv"))
        second = shelf.tables_of(row("west.csv", "cities.csv"))
        assert first[0] in second
        assert len(findings) == 1
        assert len(shelf.inspections) == 2

    def test_what_an_earlier_build_knew_is_not_read_again(self, folder: Path) -> None:
        known = TableShelf(folder)
        known.tables_of(row("cities.csv"))
        state, inspection = next(iter(known.inspections.items()))
        path = folder / "cities.csv"
        status = path.stat()
        path.write_bytes(b"x" * status.st_size)  # other bytes, the same size and time: must not be noticed
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        shelf = TableShelf(folder, known={state: inspection})
        assert shelf.tables_of(row("cities.csv"))[0].sha256 == inspection.sha256

    def test_a_changed_file_is_read_again(self, folder: Path) -> None:
        known = TableShelf(folder)
        before = known.tables_of(row("cities.csv"))[0].sha256
        (folder / "cities.csv").write_text("a,b\n1,2\n")
        assert TableShelf(folder, known=known.inspections).tables_of(row("cities.csv"))[0].sha256 != before
