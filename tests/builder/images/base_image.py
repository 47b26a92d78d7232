"""A small base image, put into a registry without an engine, and catalogs over it."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.build import BuildReport, build
from builder.lock import ImageLock
from catalog.spec import Spec
from catalog.spec_file import parse_spec

DOCKER = "application/vnd.docker.distribution.manifest.v2+json"
OCI_INDEX = "application/vnd.oci.image.index.v1+json"
OCI = "application/vnd.oci.image.manifest.v1+json"
PATH = "tests/base"


def sha256(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def call(method: str, url: str, body: bytes | None = None, **headers: str) -> Any:
    """One request, as curl would make it; headers with underscores for dashes."""
    headers = {"Accept": f"{OCI_INDEX}, {OCI}, {DOCKER}"} | headers
    request = urllib.request.Request(url, body, {name.replace("_", "-"): text for name, text in headers.items()})
    request.method = method
    return urllib.request.urlopen(request, timeout=30)


def put_blob(host: str, path: str, content: bytes) -> dict[str, Any]:
    place = call("POST", f"http://{host}/v2/{path}/blobs/uploads/", b"").headers["Location"]
    call("PUT", f"{place}&digest={sha256(content)}", content, Content_Type="application/octet-stream")
    return {"digest": sha256(content), "size": len(content)}


def put_manifest(host: str, path: str, media_type: str, values: dict[str, Any]) -> str:
    content = json.dumps(values).encode()
    call("PUT", f"http://{host}/v2/{path}/manifests/{sha256(content)}", content, Content_Type=media_type)
    return sha256(content)


def one_file(name: str, content: bytes) -> bytes:
    """A tar of one file."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as tar:
        info = tarfile.TarInfo(name)
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    return whole.getvalue()


def put_base(host: str, path: str = PATH, architecture: str = "amd64", text: bytes = b"base\n") -> str:
    """An image of one layer, as an engine would have pushed it; its digest."""
    tar = one_file("etc/base", text)
    config = {
        "architecture": architecture,
        "os": "linux",
        "created": "2024-05-01T12:00:00Z",
        "config": {"Env": ["PATH=/usr/bin"], "Labels": {"kept": "yes"}},
        "rootfs": {"type": "layers", "diff_ids": [sha256(tar)]},
        "history": [{"created": "2024-05-01T12:00:00Z", "created_by": "tests"}],
    }
    layer = put_blob(host, path, gzip.compress(tar, mtime=0))
    kept = put_blob(host, path, json.dumps(config).encode())
    values = {
        "schemaVersion": 2,
        "mediaType": DOCKER,
        "config": {"mediaType": "application/vnd.docker.container.image.v1+json", **kept},
        "layers": [{"mediaType": "application/vnd.docker.image.rootfs.diff.tar.gzip", **layer}],
    }
    return put_manifest(host, path, DOCKER, values)


def put_index(host: str, path: str = PATH) -> str:
    """An index of three platforms and an attestation, as public images are; its digest."""
    entries = [
        {
            "mediaType": DOCKER,
            "digest": put_base(host, path, name),
            "size": 1,
            "platform": {"os": "linux", "architecture": name},
        }
        for name in ("amd64", "arm64", "s390x")
    ]
    entries.append({**entries[0], "platform": {"os": "unknown", "architecture": "unknown"}})
    for entry in entries:  # registries look at sizes, and at what is listed
        found = call("GET", f"http://{host}/v2/{path}/manifests/{entry['digest']}").read()
        entry["size"] = len(found)
    values = {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": entries}
    return put_manifest(host, path, OCI_INDEX, values)


def local_lock(host: str, digest: str, path: str = PATH) -> ImageLock:
    """A lock of kind local over a base image of a registry."""
    return ImageLock(kind="local", root=f"{host}/tests/root@sha256:{'1' * 64}", base=f"{host}/{path}@{digest}")


@dataclass
class Bench:
    """Rows over sets of tables in a folder, and a registry for their data images."""

    folder: Path
    host: str
    lock: ImageLock

    @property
    def out(self) -> Path:
        return self.folder / "out" / "catalog"

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    def spec(self, **keys: Any) -> Spec:
        values = {"org": "lab", "name": "birds", "source": "rows.jsonl", "tables": "tables", "data": "layer"}
        values |= {"layer": {"repository": f"{self.host}/lab/data"}}
        return parse_spec(values | keys, self.folder / "spec.toml")

    def build(self, *, jobs: int = 1, resend: bool = False, out: Path | None = None, **keys: Any) -> BuildReport:
        return build(self.spec(**keys), out or self.out, self.lock, cache=self.cache, jobs=jobs, resend=resend)

    def write_tables(self, tables: dict[str, bytes | str]) -> None:
        for name, content in tables.items():
            place = self.folder / "tables" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)

    def write_rows(self, *rows: dict[str, Any]) -> None:
        (self.folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def row(task_id: str, *tables: str, **values: Any) -> dict[str, Any]:
    """A row over these tables; no two ids ask the same."""
    question = f"How many birds are above the mark called {task_id}?"
    base = {"task_id": task_id, "question": question, "answer": "4", "answer_type": "integer", "tables": list(tables)}
    return base | values


BIRDS = "species,mass\nAdelie,3750\nGentoo,5000\nChinstrap,3700\n"
