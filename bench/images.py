"""Data images at scale: many tasks over some sets of tables (``python -m bench.images BASE STORE [TASKS SETS MB]``).

BASE is the image they stand on, by digest, at a registry on loopback; STORE is the folder that registry keeps what it
has in, which is looked at for what it takes. Everything else lies in bench/out/images, and goes at the end.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from pathlib import Path

from bench.build import written_since
from bench.measure import Run, machine, run
from builder.images.reference import parse_reference

PROGRAM = str(Path(sys.executable).with_name("harborwright"))
PLACE = Path(__file__).parent / "out" / "images"
_MB = 1_000_000


def write_tables(folder: Path, sets: int, megabytes: int) -> None:
    """One CSV for each set, of lines that no other set has."""
    folder.mkdir(parents=True)
    for number in range(sets):
        draw = random.Random(number)
        lines = ((draw.randrange(10**9), draw.random(), draw.randrange(500)) for _ in range(36_000))
        block = "".join(f"{reading},{value:.6f},station {station}\n" for reading, value, station in lines)
        content = block.encode()[:_MB].rpartition(b"\n")[0] + b"\n"
        with (folder / f"set-{number:02}.csv").open("wb") as file:
            file.write(b"reading,value,station\n")
            for _ in range(megabytes):
                file.write(content)


def write_input(place: Path, base: str, tasks: int, sets: int) -> Path:
    """Rows, a spec and its lock; the spec's path."""
    host = parse_reference(base.partition("@")[0]).host
    with (place / "rows.jsonl").open("w", encoding="utf-8") as file:
        for number in range(tasks):
            name = "".join(chr(ord("a") + int(digit)) for digit in f"{number:05}")
            table = f"set-{number % sets:02}.csv"
            question = f"(Reading {name}.) Which station of {table} has the highest value?"
            values = {"task_id": f"task-{name}", "question": question, "answer": "no such station", "tables": [table]}
            file.write(json.dumps(values | {"answer_type": "text"}) + "\n")
    spec = 'org = "bench"\nname = "images"\nsource = "rows.jsonl"\ntables = "tables"\ndata = "layer"\n'
    (place / "spec.toml").write_text(f'{spec}\n[layer]\nrepository = "{host}/bench/data"\n')
    (place / "spec.local.lock.toml").write_text(f'kind = "local"\nroot = "{base}"\nbase = "{base}"\n')
    return place / "spec.toml"


def used(folder: Path) -> int:
    """Bytes on disk below a folder, each file once."""
    found = {(status.st_dev, status.st_ino): status.st_blocks * 512 for status in map(os.lstat, folder.rglob("*"))}
    return sum(found.values())


def build(spec: Path, out: Path, *options: str) -> tuple[Run, dict[str, object]]:
    """One build, with its report."""
    os.environ["HARBORWRIGHT_CACHE"] = str(spec.parent / "cache")
    done = run([PROGRAM, "build", str(spec), "--out", str(out), "--json", *options])
    return done, json.loads(done.output)


def main(base: str, store: Path, tasks: int, sets: int, megabytes: int) -> None:
    """Measure, and print the figures."""
    shutil.rmtree(PLACE, ignore_errors=True)
    write_tables(PLACE / "tables", sets, megabytes)
    spec, out = write_input(PLACE, base, tasks, sets), PLACE / "catalog"
    before = used(store)
    cold, report = build(spec, out)
    if report["tasks"] != tasks or report["images_sent"] != sets:
        raise RuntimeError(f"{report['tasks']} tasks, {report['images_sent']} images sent: {report['set_aside']}")
    catalog, images = used(out), used(store) - before
    moment = max(path.lstat().st_ctime_ns for path in [out, *out.rglob("*")])
    again, _ = build(spec, out)
    written = written_since(out, moment)
    resent, healed = build(spec, out, "--resend")
    figures = {
        "tasks": tasks,
        "sets of tables": sets,
        "tables, MB": round(sum(path.stat().st_size for path in (PLACE / "tables").iterdir()) / _MB),
        "data images sent": report["images_sent"],
        "sent, MB": round(int(str(report["image_bytes_sent"])) / _MB),
        "catalog on disk, MB": round(catalog / _MB),
        "data images on disk, MB": round(images / _MB),
        "cold build, s": round(cold.seconds, 1),
        "unchanged build, s": round(again.seconds, 1),
        "writes of an unchanged build": written,
        "build --resend with nothing lost, s": round(resent.seconds, 1),
        "images sent by it": healed["images_sent"],
        "peak memory of the build, MB": round(cold.peak_mb),
    }
    print(f"Measured on {machine()}.\n")
    print("\n".join(f"| {name} | {value} |" for name, value in figures.items()))
    shutil.rmtree(PLACE)


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[3:]] or [5_000, 40, 100]
    main(sys.argv[1], Path(sys.argv[2]), *numbers)
