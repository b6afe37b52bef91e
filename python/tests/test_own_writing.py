"""Files of what a program has: gufo.write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import making
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gufo

METADATA: dict[str, Any] = {
    "general.architecture": "llama",
    "general.name": "Written",
    "general.tags": ["a", "b"],
    "llama.block_count": 1,
    "llama.rope.freq_base": 10000,
    "my.flag": True,
    "my.small": np.uint8(7),
    "my.array": np.arange(3, dtype=np.int16),
    "my.nested": [[1, 2], [3]],
}


def test_write(tmp_path: Path) -> None:
    path = tmp_path / "out.gguf"
    rng = np.random.default_rng(1)
    arrays = {
        "f32": rng.standard_normal((3, 4, 32), dtype=np.float32),
        "f16": rng.standard_normal(8).astype(np.float16),
        "f64": rng.standard_normal((2, 8)),
        "i32": np.arange(-4, 4, dtype=np.int32),
        "swapped": np.arange(8, dtype=">i8"),
        "strided": np.arange(64, dtype=np.float32).reshape(8, 8).T[::2],
        "empty": np.zeros((0, 32), dtype=np.float32),
    }
    blocks = gufo.quantize(arrays["f32"].reshape(12, 32), gufo.GGMLQuantizationType.Q8_0)
    kind = gufo.GGMLQuantizationType.Q8_0
    gufo.write(path, METADATA, {**arrays, "q8": (blocks, "Q8_0"), "enum": (blocks, kind)})
    with gufo.open(path) as model:
        assert {entry.key: entry.type for entry in model.entries} == {
            "general.architecture": "string", "general.name": "string", "general.tags": "array[string]",
            "llama.block_count": "uint32", "llama.rope.freq_base": "float32", "my.flag": "bool", "my.small": "uint8",
            "my.array": "array[int16]", "my.nested": "array[array]",
        }  # fmt: skip
        assert model["my.nested"] == [[1, 2], [3]]
        for name, array in arrays.items():
            tensor = model.tensors[name]
            assert tensor.shape == array.shape and np.array_equal(tensor.numpy(), array), name
        assert model.tensors["q8"].type == "Q8_0" and model.tensors["q8"].shape == (12, 32)
        assert bytes(model.tensors["q8"].data) == blocks.tobytes() == bytes(model.tensors["enum"].data)
        assert model.validate("structure").errors == []


def test_alignment(tmp_path: Path) -> None:
    gufo.write(tmp_path / "out.gguf", {**METADATA, "general.alignment": 256}, {"a": np.ones(4), "b": np.ones(4)})
    with gufo.open(tmp_path / "out.gguf") as model:
        assert model.alignment == 256
        assert all(tensor.offset is not None and tensor.offset % 256 == 0 for tensor in model.tensors.values())


@pytest.mark.parametrize("order", ["little", "big"])
def test_of_models(tmp_path: Path, order: str) -> None:
    (tmp_path / "model.gguf").write_bytes(making.llama(width=256))
    with gufo.open(tmp_path / "model.gguf") as model:
        model.quantize(tmp_path / "q4.gguf", "Q4_K_M")
    with gufo.open(tmp_path / "q4.gguf") as model:
        model.split(tmp_path / "part", tensors=8)
        model.endian(tmp_path / "big.gguf", "big")
    source = "big.gguf" if order == "big" else "part-00001-of-00003.gguf"
    with gufo.open(tmp_path / source) as model:
        tensors = {name if name != "output.weight" else "head.weight": tensor for name, tensor in model.tensors.items()}
        gufo.write(tmp_path / "copy.gguf", model, tensors)
        gufo.write(tmp_path / "named.gguf", {**model, "general.name": "Other"}, model.tensors, replace=True)
    with gufo.edit(tmp_path / "copy.gguf") as edit:
        edit.rename_tensor("head.weight", "output.weight")
    assert gufo.diff(tmp_path / "q4.gguf", tmp_path / "copy.gguf").same
    with gufo.open(tmp_path / "copy.gguf") as copy:
        assert copy.shards == 1 and copy.byte_order == "little" and "split.count" not in copy
    difference = gufo.diff(tmp_path / "q4.gguf", tmp_path / "named.gguf")
    assert [entry.key for entry in difference.entries] == ["general.name"]


def test_over_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(making.llama())
    with gufo.open(path) as model:
        gufo.write(path, {"general.architecture": "llama"}, {"a": model.tensors["output.weight"]}, replace=True)
        assert model["general.name"] == "Small"
    with gufo.open(path) as model:
        assert list(model.tensors) == ["a"] and model.tensors["a"].numpy()[0, 3] == 3


def fail(done: int, total: int) -> None:
    raise ZeroDivisionError


WRONG: list[tuple[dict[str, Any], dict[str, Any], type[Exception], str]] = [
    ({}, {"a": np.ones(2, dtype=bool)}, TypeError, "a: bool is not a tensor"),
    ({}, {"a": 1.0}, TypeError, "a: one number is not a tensor"),
    ({}, {"a": (np.ones((2, 33), np.uint8), "Q8_0")}, ValueError, "whole blocks of 34 bytes"),
    ({}, {"a": (np.ones((2, 34), np.float32), "Q8_0")}, ValueError, "rows of Q8_0 are uint8"),
    ({}, {"a": (np.ones((2, 34), np.uint8), "Q9_0")}, ValueError, "'Q9_0' is not an element type"),
    ({}, {"a" * 65: np.ones(2)}, gufo.Error, "64"),
    ({}, {"a": np.ones((1, 1, 1, 1, 1))}, ValueError, "at most 4 dimensions, not 5"),
    ({"bad key": 1}, {}, gufo.Error, "bad key"),
    ({5: 1}, {}, TypeError, "5 is not a text"),  # type: ignore[dict-item]
    ({}, {b"a": np.ones(2)}, TypeError, "b'a' is not a text"),  # type: ignore[dict-item]
    ({"my.key": None}, {}, TypeError, "my.key: NoneType is not a metadata value"),
    ({"my.key": [1, "a"]}, {}, TypeError, "my.key: the elements have no common type"),
    ({"llama.block_count": 2**40}, {}, OverflowError, "llama.block_count: 1099511627776 does not fit into uint32"),
    ({"general.tags": ["a", 7]}, {}, TypeError, r"general.tags\[1\]: 7 is not a text"),
    ({"general.name": "\ud800"}, {}, ValueError, "general.name: "),
    ({"my.key": 1e300}, {}, OverflowError, r"my.key: 1e\+300 does not fit into float32"),
    ({"my.key": [1.0, -1e39]}, {}, OverflowError, r"my.key\[1\]: -1e\+39 does not fit into float32"),
    ({"my.key": [-1, 2**64 - 1]}, {}, OverflowError, "my.key: no type holds -1 and 18446744073709551615"),
]


@pytest.mark.parametrize("metadata, tensors, error, message", WRONG, ids=[row[3] for row in WRONG])
def test_refused(
    tmp_path: Path, metadata: dict[str, Any], tensors: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        gufo.write(tmp_path / "out.gguf", metadata, tensors)
    assert os.listdir(tmp_path) == []


def test_numbers_that_are_not_finite(tmp_path: Path) -> None:
    gufo.write(tmp_path / "out.gguf", {"my.inf": float("inf"), "my.all": [float("-inf"), 1e-300, 3e38]})
    with gufo.open(tmp_path / "out.gguf") as model:
        assert model["my.inf"] == float("inf") and model["my.all"] == [float("-inf"), 0, pytest.approx(3e38)]


def test_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "there.gguf").write_bytes(b"mine")
    with pytest.raises(ZeroDivisionError):
        gufo.write(tmp_path / "there.gguf", METADATA, {"a": np.ones(1024)}, replace=True, progress=fail)
    with pytest.raises(FileExistsError):
        gufo.write(tmp_path / "there.gguf", METADATA)
    with pytest.raises(FileNotFoundError):
        gufo.write(tmp_path / "no/out.gguf", METADATA)
    assert os.listdir(tmp_path) == ["there.gguf"] and (tmp_path / "there.gguf").read_bytes() == b"mine"


NESTED: list[tuple[str, Any, str, str]] = [
    ("array[array[uint8]]", [[1, 2], [3, 256]], "OverflowError", "my.key[1][1]: 256 does not fit into uint8"),
    ("array[array[string]]", [["a"], "b"], "TypeError", "my.key[1]: 'b' is not a list"),
    ("array[array[string]]", [["a", b"b", 3]], "TypeError", "my.key[0][2]: 3 is not a text"),
    ("array[array[bool]]", [[True], [False, 1]], "TypeError", "my.key[1][1]: 1 is not a bool"),
    ("array[float32]", [1, "x"], "TypeError", "my.key[1]: 'x' is not a number"),
    ("array[uint8]", [1, True], "TypeError", "my.key[1]: True is a bool, not uint8"),
    ("array[int8]", [1.5], "TypeError", "my.key[0]: 1.5 is not a whole number"),
    ("array[int8]", 5, "TypeError", "my.key: 5 is not a list"),
    ("array[int16]", b"abc", "ValueError", "my.key: 3 bytes are not elements of int16"),
    ("uint8", -1, "OverflowError", "my.key: -1 does not fit into uint8"),
    ("string", ["a"], "TypeError", "my.key: ['a'] is not a text"),
]


@pytest.mark.parametrize("type, value, error, message", NESTED, ids=[row[3] for row in NESTED])
def test_misfits_are_named(tmp_path: Path, type: str, value: Any, error: str, message: str) -> None:
    (tmp_path / "model.gguf").write_bytes(making.llama())
    edit = gufo.edit(tmp_path / "model.gguf")
    with pytest.raises((TypeError, ValueError, OverflowError)) as caught:
        edit.set("my.key", value, type)
    edit.close()
    assert (caught.type.__name__, str(caught.value)) == (error, message)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=10,
)


@settings(max_examples=200)
@given(VALUES, st.sampled_from(["uint8", "int64", "float32", "bool", "string"]), st.integers(0, 10))
def test_any_value_of_any_type(value: Any, type: str, depth: int) -> None:
    """It is taken, or refused with a sentence that names the key."""
    for _ in range(depth):
        type = f"array[{type}]"
    from gufo import _core
    from gufo.given import types_named

    try:
        _core.write(b"/dev/null", None, [(b"my.key", types_named(type), value)], [], 0, 1, None)
    except gufo.Error as error:
        assert error.code in ("exists", "malformed", "limit"), error  # all well until the file
    except (TypeError, ValueError, OverflowError) as error:
        assert str(error).startswith("my.key"), error
