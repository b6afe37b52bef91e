"""Texts and files from strangers: whatever is in them, they are read, or refused with a sentence."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("hypothesis")

from hypothesis import example, given, settings, strategies

from gufo.metadata import Metadata
from gufo.utility import SafetensorsLocal, fill_templated_filename, model_weight_count_rounded_notation, naming_convention

LEAVES = strategies.none() | strategies.booleans() | strategies.integers() | strategies.floats() | strategies.text(max_size=9)
JSON = strategies.recursive(LEAVES, lambda inner: strategies.lists(inner, max_size=4) | strategies.dictionaries(
    strategies.text(max_size=9), inner, max_size=4), max_leaves=9)
NUMBERS = strategies.integers(-2, 1 << 65) | JSON
TENSOR = JSON | strategies.fixed_dictionaries({
    "dtype": strategies.sampled_from(["F32", "U8", "F4", "X"]) | JSON,
    "shape": strategies.lists(strategies.integers(0, 9), max_size=3) | strategies.lists(NUMBERS, max_size=3) | JSON,
    "data_offsets": strategies.lists(strategies.integers(0, 40), min_size=2, max_size=2) | strategies.lists(NUMBERS) | JSON})


def read(data: bytes) -> None:
    """Reads a file, which is refused or whose tensors are inside it."""
    with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
        file.write(data)
        file.flush()
        try:
            tensors = SafetensorsLocal(Path(file.name)).tensors
        except ValueError as error:
            assert file.name in str(error)
            return
        for tensor in tensors.values():
            place = tensor.data_range
            assert tensor.mmap_bytes().tobytes() == data[place.offset:place.offset + place.size]
            assert all(isinstance(dim, int) and dim >= 0 for dim in tensor.shape)


@given(strategies.dictionaries(strategies.text(max_size=5), TENSOR, max_size=3), strategies.binary(max_size=40))
def test_headers_of_tensors(header: Any, data: bytes) -> None:
    text = json.dumps(header).encode()
    read(len(text).to_bytes(8, "little") + text + data)


@given(strategies.binary(max_size=60), strategies.integers(0, 60))
@example(b'{"a":{"dtype":"U8","shape":[],"data_offsets":[0,1e400]}}', 56)
@example(b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[NaN,1]}}', 55)
@example(b'{"a":' + b'9' * 5000 + b'}', 5006)
def test_headers_of_bytes(data: bytes, length: int) -> None:
    read(length.to_bytes(8, "little") + data)


@given(strategies.text() | strategies.text("aBvV10.-_/ kmbKMBTqx"), strategies.integers(-1 << 70, 1 << 70))
def test_ids(text: str, params: int) -> None:
    parts = Metadata.get_model_id_components(text, params)
    assert len(parts) == 6 and parts[0] is not None and text.endswith(parts[0])
    assert Metadata.id_to_title(text).lower().split() == text.replace("-", " ").lower().split() or not text.isascii()


@settings(max_examples=50)
@given(JSON, JSON)
def test_cards(base: Any, tags: Any) -> None:
    card = {"base_model": base, "datasets": base, "tags": tags, "language": tags, "name": tags}
    found = Metadata.apply_metadata_heuristic(Metadata(), card, {"_name_or_path": base}, Path("x"))
    assert all(isinstance(entry, dict) for entry in (found.base_models or []) + (found.datasets or []))


@settings(max_examples=50)
@given(strategies.text())
def test_front_matter(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "README.md").write_bytes(f"---\n{text}\n---\n".encode("utf-8", "surrogatepass"))
        assert isinstance(Metadata.load_model_card(Path(folder)), dict)


@given(strategies.text(), strategies.text(), strategies.integers(0))
def test_names(name: str, kind: str, count: int) -> None:
    assert "{ftype}" not in fill_templated_filename(name.replace("{ftype}", ""), "f16")
    assert " " not in naming_convention(name, None, kind, None, None, kind)
    assert model_weight_count_rounded_notation(count)[-1] in "KMBT"
