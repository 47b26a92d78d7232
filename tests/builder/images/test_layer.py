"""The layer of a data image: the same tables, the same bytes, on any machine and in any order."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import pytest
from baking import table_of

from builder.images.layer import layer_of, pieces_of
from builder.tree import ChangedFileError, moment_of
from catalog.tables import Table

# What tar and sha256sum say of these two tables: another figure here changes every data image there is.
GOLDEN = "sha256:ced0395ed0ebdb0c7ed9038949cb88c42daf3ff0a5f07dd3cc7ed60b9f3d1477"
LONG = "year/" + "ä" * 120 + ".csv"


@pytest.fixture
def tables(tmp_path: Path) -> list[Table]:
    return [table_of(tmp_path, "birds.csv", b"species\nAdelie\n"), table_of(tmp_path, LONG, b"x\n" * 600)]


def test_the_digest_follows_from_names_and_bytes_alone(tables: list[Table], tmp_path: Path) -> None:
    layer = layer_of(tables)
    assert layer.digest == GOLDEN
    assert layer_of(tables[::-1]) == layer
    tables[0].source.chmod(0o600)
    moved = [table_of(tmp_path / "elsewhere", table.name, table.source.read_bytes()) for table in tables]
    assert layer_of(moved) == layer
    content = b"".join(pieces_of(moved))
    assert (f"sha256:{hashlib.sha256(content).hexdigest()}", len(content)) == (layer.digest, layer.bytes)
    other = [tables[0], table_of(tmp_path / "other", LONG, b"y\n" * 600)]
    assert layer_of(other) != layer


def test_it_is_a_tar_of_roots_own_files_that_nobody_may_write(tables: list[Table]) -> None:
    with tarfile.open(fileobj=io.BytesIO(b"".join(pieces_of(tables)))) as tar:
        members = {member.name: member for member in tar}
        held = {name: tar.extractfile(member).read() for name, member in members.items() if member.isfile()}
    assert list(members) == ["app", "app/data", "app/data/year", "app/data/birds.csv", f"app/data/{LONG}"]
    assert {(one.uid, one.gid, one.uname, one.gname) for one in members.values()} == {(0, 0, "", "")}
    assert {name: oct(one.mode) for name, one in members.items() if one.isdir()} == {
        "app": "0o755",
        "app/data": "0o755",
        "app/data/year": "0o555",
    }
    for table in tables:
        member = members[f"app/data/{table.name}"]
        assert held[member.name] == table.source.read_bytes()
        assert (member.mode, member.mtime) == (0o555, moment_of(table.sha256) // 10**9)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda path: path.write_bytes(b"species\nGentoo\n"), "found: sha256 "),
        (lambda path: path.write_bytes(b"species\n"), "found: 8 bytes"),
        (lambda path: path.write_bytes(b"species\nAdelie\nGentoo\n"), "found: more bytes"),
        (lambda path: path.unlink(), "found: no such file"),
    ],
)
def test_a_table_that_changed_meanwhile_makes_no_layer(tables: list[Table], change: object, found: str) -> None:
    change(tables[0].source)  # type: ignore[operator]
    with pytest.raises(ChangedFileError) as refusal:
        layer_of(tables)
    assert found in str(refusal.value)
    assert str(tables[0].source) in str(refusal.value)
    assert "build again" in str(refusal.value)


def test_a_large_table_is_never_whole_in_memory(tmp_path: Path) -> None:
    table = table_of(tmp_path, "large.bin", bytes(5 << 20))
    sizes = [len(piece) for piece in pieces_of([table])]
    assert max(sizes) <= 1 << 20
    assert sum(sizes) == layer_of([table]).bytes
