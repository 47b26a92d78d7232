"""A data image's documents: the base image's own with one layer more, the same wherever they are made."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from builder.images.compose import UnusableBaseError, compose, variant_of
from builder.images.layer import Layer

LAYER = Layer("sha256:" + "a" * 64, 1024)
SET = "b" * 64
CONFIG: dict[str, Any] = {
    "architecture": "amd64",
    "os": "linux",
    "created": "2024-05-01T12:00:00Z",
    "config": {"Env": ["PATH=/usr/bin"], "Labels": {"kept": "yes"}, "Cmd": ["python3"]},
    "rootfs": {"type": "layers", "diff_ids": ["sha256:" + "c" * 64]},
    "history": [{"created_by": "base"}],
}
MANIFEST: dict[str, Any] = {
    "schemaVersion": 2,
    "layers": [
        {
            "mediaType": "application/vnd.docker.image.rootfs.diff.tar.gzip",
            "digest": "sha256:" + "d" * 64,
            "size": 77,
        }
    ],
}


def variant(platform: dict[str, str] | None = None, **config: Any) -> Any:
    return variant_of(json.dumps(MANIFEST).encode(), json.dumps(CONFIG | config).encode(), platform)


def test_the_base_is_kept_and_the_tables_come_last() -> None:
    image = compose([variant()], LAYER, SET)
    manifest, config = json.loads(image.top.content), json.loads(image.configs[0].content)
    assert [(layer["mediaType"], layer["digest"], layer["size"]) for layer in manifest["layers"]] == [
        ("application/vnd.oci.image.layer.v1.tar+gzip", "sha256:" + "d" * 64, 77),
        ("application/vnd.oci.image.layer.v1.tar", LAYER.digest, LAYER.bytes),
    ]
    assert manifest["config"]["digest"] == image.configs[0].digest
    assert config["rootfs"]["diff_ids"] == ["sha256:" + "c" * 64, LAYER.digest]
    assert config["config"] == {**CONFIG["config"], "Labels": {"kept": "yes", "harborwright.table-set": SET}}
    assert len(config["history"]) == 2 and config["history"][1]["created"] == CONFIG["created"]
    assert {key: config[key] for key in ("architecture", "os", "created")} == {
        key: CONFIG[key] for key in ("architecture", "os", "created")
    }


def test_one_digest_on_every_machine() -> None:
    # Of the documents above, whatever the order of their keys.
    turned = json.dumps(dict(reversed(CONFIG.items()))).encode()
    image = compose([variant_of(json.dumps(MANIFEST, indent=3).encode(), turned)], LAYER, SET)
    assert (
        image.top.digest
        == compose([variant()], LAYER, SET).top.digest
        == "sha256:b1aa26093396398b7ca3daae758be333f6a257d7fa0339bb087d6399e69be192"
    )
    assert compose([variant()], Layer("sha256:" + "e" * 64, 1024), SET).top.digest != image.top.digest


def test_an_index_stays_one_over_one_layer_of_tables() -> None:
    platforms = [{"os": "linux", "architecture": name} for name in ("amd64", "arm64")]
    image = compose([variant(one, architecture=one["architecture"]) for one in platforms], LAYER, SET)
    index = json.loads(image.top.content)
    assert [entry["platform"] for entry in index["manifests"]] == platforms
    assert [entry["digest"] for entry in index["manifests"]] == [one.digest for one in image.manifests]
    assert {json.loads(one.content)["layers"][-1]["digest"] for one in image.manifests} == {LAYER.digest}
    assert len(image.base_layers) == 1


def _foreign(manifest: dict[str, Any], config: dict[str, Any]) -> None:
    manifest["layers"][0]["mediaType"] = "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip"


def _without_layers(manifest: dict[str, Any], config: dict[str, Any]) -> None:
    del manifest["layers"]


def _other_count(manifest: dict[str, Any], config: dict[str, Any]) -> None:
    config["rootfs"]["diff_ids"] = []


def _no_object(manifest: dict[str, Any], config: dict[str, Any]) -> None:
    config["config"] = ["PATH=/usr/bin"]


@pytest.mark.parametrize("damage", [_foreign, _without_layers, _other_count, _no_object])
def test_a_base_of_another_form_is_refused(damage: Any) -> None:
    manifest, config = copy.deepcopy(MANIFEST), copy.deepcopy(CONFIG)
    damage(manifest, config)
    with pytest.raises(UnusableBaseError):
        variant_of(json.dumps(manifest).encode(), json.dumps(config).encode())
