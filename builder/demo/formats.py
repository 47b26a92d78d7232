"""Tables as bytes, one writer a format; the same rows give the same bytes on any machine with the locked packages.

What varies by nature is fixed: gzip and zip times, document properties, SQLite's counters and library version.
Compression comes from pyarrow, whose codecs are part of the lock, and never from the interpreter's own zlib, which
differs between machines.
"""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import date, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from builder.demo.packages import Rows, Value

Named = Mapping[str, Rows]
_ARROW: dict[str, pa.DataType] = {
    "text": pa.string(),
    "int": pa.int64(),
    "float": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}
_SQLITE = {"text": "TEXT", "int": "INTEGER", "float": "REAL", "date": "TEXT", "timestamp": "TEXT"}
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest a zip can hold
_CORE = datetime(2026, 1, 1)  # the workbook's "created" and "modified"


def _only(tables: Named) -> Rows:
    (rows,) = tables.values()
    return rows


def _text(value: Value) -> Value:
    """Dates become ISO text in the formats that have no dates."""
    return value.isoformat(sep=" ") if isinstance(value, datetime) else str(value) if isinstance(value, date) else value


def csv_bytes(tables: Named) -> bytes:
    """A CSV in UTF-8 with line feeds; an absent value is an empty cell."""
    rows = _only(tables)
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([column.name for column in rows.columns])
    writer.writerows([["" if value is None else _text(value) for value in row] for row in rows.values])
    return buffer.getvalue().encode()


def gzip_bytes(tables: Named) -> bytes:
    """A gzipped CSV, without a name or a time in its header."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "gzip") as stream:
        stream.write(csv_bytes(tables))
    packed = bytearray(sink.getvalue().to_pybytes())
    packed[9] = 255  # the header's "operating system": unknown
    return bytes(packed)


def _records(rows: Rows) -> list[dict[str, Value]]:
    names = [column.name for column in rows.columns]
    return [dict(zip(names, map(_text, row), strict=True)) for row in rows.values]


def json_bytes(tables: Named) -> bytes:
    """One JSON list of records."""
    return (json.dumps(_records(_only(tables)), ensure_ascii=False, indent=1) + "\n").encode()


def jsonl_bytes(tables: Named) -> bytes:
    """JSON lines, one record each."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in _records(_only(tables))).encode()


def parquet_bytes(tables: Named) -> bytes:
    """A Parquet file of one row group, zstd."""
    rows = _only(tables)
    columns = list(zip(*rows.values, strict=True))
    schema = pa.schema([(column.name, _ARROW[column.type]) for column in rows.columns])
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    sink = pa.BufferOutputStream()
    pq.write_table(
        pa.Table.from_arrays(arrays, schema=schema),
        sink,
        row_group_size=1 << 20,
        version="2.6",
        data_page_version="1.0",
        compression="zstd",
        compression_level=9,
        use_dictionary=True,
        write_statistics=True,
        store_schema=False,
    )
    return sink.getvalue().to_pybytes()


def sqlite_bytes(tables: Named) -> bytes:
    """A SQLite database, its rows inserted in order in one transaction."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tables.sqlite"
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("PRAGMA page_size = 4096")
            database.execute("PRAGMA auto_vacuum = NONE")
            database.execute("PRAGMA journal_mode = OFF")
            database.execute("BEGIN")
            for name, rows in tables.items():
                columns = ", ".join(f'"{column.name}" {_SQLITE[column.type]}' for column in rows.columns)
                database.execute(f'CREATE TABLE "{name}" ({columns})')
                marks = ", ".join("?" * len(rows.columns))
                statement = f'INSERT INTO "{name}" VALUES ({marks})'  # noqa: S608  a name from tables.toml
                database.executemany(statement, [tuple(map(_text, row)) for row in rows.values])
            database.execute("COMMIT")
        content = bytearray(path.read_bytes())
    # The file change counter and its echo, then the version of the library that wrote last.
    content[24:28] = content[92:96] = (1).to_bytes(4, "big")
    content[96:100] = (3_040_000).to_bytes(4, "big")
    return bytes(content)


def xlsx_bytes(tables: Named) -> bytes:
    """An Excel workbook with a sheet for each table."""
    import openpyxl  # slow to load, and tables are written once

    book = openpyxl.Workbook(write_only=True)
    book.properties.creator = "harborwright"
    for name, rows in tables.items():
        sheet = book.create_sheet(name)
        sheet.append([column.name for column in rows.columns])
        for row in rows.values:
            sheet.append(list(row))
    buffer = io.BytesIO()
    book.save(buffer)
    return _fixed_zip(buffer.getvalue())


def _fixed_zip(content: bytes) -> bytes:
    """The same members without times, stored: deflate differs between the zlib builds of two interpreters."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as target:
        for name in source.namelist():
            member = source.read(name)
            if name == "docProps/core.xml":
                member = _fixed_core(member)
            info = zipfile.ZipInfo(name, _ZIP_TIME)
            info.create_system = 3
            target.writestr(info, member)
    return out.getvalue()


def _fixed_core(member: bytes) -> bytes:
    """openpyxl stamps the time of saving over whatever was set before; it is the only time left in the workbook."""
    stamp = _CORE.strftime("%Y-%m-%dT%H:%M:%SZ")
    text = member.decode()
    for tag in ("created", "modified"):
        head, opened, rest = text.partition(f"<dcterms:{tag} ")
        if opened:
            attributes, _, tail = rest.partition(">")
            _, closed, after = tail.partition(f"</dcterms:{tag}>")
            text = f"{head}{opened}{attributes}>{stamp}{closed}{after}"
    return text.encode()


WRITERS: dict[str, Callable[[Named], bytes]] = {
    "csv": csv_bytes,
    "csv.gz": gzip_bytes,
    "json": json_bytes,
    "jsonl": jsonl_bytes,
    "parquet": parquet_bytes,
    "sqlite": sqlite_bytes,
    "xlsx": xlsx_bytes,
}
