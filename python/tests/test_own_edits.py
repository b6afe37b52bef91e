"""Edits: values and their types, ways of writing, and what stays when an edit fails."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import making
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_own_jobs import command

import gufo
from gufo.given import bounds

WHOLE = making.llama()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "model.gguf").write_bytes(WHOLE)
    return tmp_path / "model.gguf"


def entry_after(path: Path, key: str, value: Any, type: str | None = None) -> tuple[str, Any]:
    with gufo.edit(path) as edit:
        edit.set(key, value, type)
    with gufo.open(path) as model:
        return model.entry(key).type, model[key]


TYPED: list[tuple[str, Any, str]] = [
    ("llama.block_count", 2, "uint32"),  # the type that the key has
    ("general.alignment", 64, "uint32"),  # of the registry
    ("general.tags", ["a", "b"], "array[string]"),
    ("my.bool", True, "bool"),
    ("my.small", 7, "uint32"),
    ("my.negative", -7, "int32"),
    ("my.large", 2**40, "uint64"),
    ("my.least", -(2**40), "int64"),
    ("my.real", 0.5, "float32"),
    ("my.text", "grüße \N{PILE OF POO}", "string"),
    ("my.numbers", [1, -2, 3], "array[int32]"),
    ("my.wide", [1, 2**33], "array[int64]"),
    ("my.reals", [0.5, 1, 2.5], "array[float32]"),
    ("my.flags", [True, False], "array[bool]"),
]


@pytest.mark.parametrize("key, value, type", TYPED, ids=[row[0] for row in TYPED])
def test_types(path: Path, key: str, value: Any, type: str) -> None:
    found, stored = entry_after(path, key, value)
    assert found == type
    assert stored == value


@pytest.mark.parametrize("type", ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"])
def test_bounds(path: Path, type: str) -> None:
    low, high = bounds(type)
    for value in (low, high):
        assert entry_after(path, "my.number", value, type) == (type, value)
        assert entry_after(path, "my.numbers", [value, 1], f"array[{type}]") == (f"array[{type}]", [value, 1])
    for value in (low - 1, high + 1):
        with pytest.raises(OverflowError):
            entry_after(path, "my.number", value, type)
        with pytest.raises(OverflowError):
            entry_after(path, "my.numbers", [value], f"array[{type}]")


def test_numpy(path: Path) -> None:
    assert entry_after(path, "my.a", np.int16(-3)) == ("int16", -3)
    assert entry_after(path, "my.b", np.arange(3, dtype=">u2")) == ("array[uint16]", [0, 1, 2])
    assert entry_after(path, "my.c", np.float64(0.1)) == ("float64", 0.1)
    assert entry_after(path, "my.d", np.array([True, False])) == ("array[bool]", [True, False])
    assert entry_after(path, "my.e", np.array(["a", "bc"])) == ("array[string]", ["a", "bc"])
    assert entry_after(path, "my.f", np.arange(6, dtype=np.uint8).reshape(2, 3))[1] == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(TypeError):
        entry_after(path, "my.g", np.complex64(1))


def test_nested(path: Path) -> None:
    assert entry_after(path, "my.nested", [["a"], [], ["b", "c"]])[1] == [["a"], [], ["b", "c"]]
    deep = [[[1], [2, 3]], [[]]]
    assert entry_after(path, "my.deep", deep, "array[array[array[uint8]]]")[1] == deep
    with gufo.edit(path) as edit:
        edit["my.deep"] = [[[9]]]  # keeps its type
    assert gufo.open(path)["my.deep"] == [[[9]]]
    assert entry_after(path, "my.empty", [], "array[float32]") == ("array[float32]", [])


@pytest.mark.parametrize(
    "value, type, error",
    [
        ("text", "uint32", TypeError),
        (1, "string", TypeError),
        (True, "uint32", TypeError),
        (1, "bool", TypeError),
        (1, "array[uint8]", TypeError),
        ([1], "uint8", TypeError),
        ([1, "a"], None, TypeError),
        ([], None, TypeError),
        (None, None, TypeError),
        ({"a": 1}, None, TypeError),
        (2**64, None, OverflowError),
        (1, "uint7", ValueError),
        (1, "array", ValueError),
        (b"\xff", None, gufo.Error),
        (np.zeros(3, np.uint8).tobytes(), "array[uint16]", ValueError),
    ],
)
def test_refused_values(path: Path, value: Any, type: str | None, error: type[Exception]) -> None:
    with pytest.raises(error):
        entry_after(path, "my.key", value, type)
    assert path.read_bytes() == WHOLE


def test_as_a_mapping(path: Path) -> None:
    with gufo.edit(path) as edit:
        assert edit["general.name"] == "Small" and len(edit) == 18 and "absent" not in edit
        assert list(edit)[0] == "general.architecture"
        del edit["general.name"]
        assert edit.pop("tokenizer.ggml.scores", None)
        edit.update({"a.b": 1})
        for missing in ("general.name", "absent"):
            with pytest.raises(KeyError):
                edit[missing]
            with pytest.raises(KeyError):
                del edit[missing]
    with gufo.open(path) as model:
        assert "general.name" not in model and model["a.b"] == 1
    with pytest.raises(ValueError):
        edit["a.b"]


def test_texts_that_are_no_text(path: Path) -> None:
    bad: making.Entries = [(key, "string", b"\xff") for key in ("general.architecture", "my.a", "my.b", "my.c")]
    path.write_bytes(making.gguf(bad, []))
    with gufo.edit(path) as edit:
        assert "my.a" in edit and "my.z" not in edit and 5 not in edit
        edit["my.a"] = "text"
        for call in (lambda: edit["my.b"], lambda: edit.pop("my.b")):
            with pytest.raises(UnicodeDecodeError):
                call()
        assert edit.pop("my.b", None) is None and "my.b" not in edit
        del edit["my.c"]
        with pytest.raises(KeyError):
            edit.pop("my.c")
        edit["general.architecture"] = "llama"
    with gufo.open(path) as model:
        assert model["my.a"] == "text" and model.architecture == "llama"
        assert "my.b" not in model and "my.c" not in model


def test_arrays_that_were_empty(path: Path) -> None:
    with gufo.edit(path) as edit:
        edit.set("my.a", [], "array[array[uint8]]")
        edit.set("my.b", [[]], "array[array[uint8]]")
    with gufo.edit(path) as edit:
        edit["my.a"] = [["x"], []]
        edit["my.b"] = [[1, 2], []]
    with gufo.open(path) as model:
        assert model["my.a"] == [["x"], []] and model["my.b"] == [[1, 2], []]


def test_same_bytes(path: Path, tmp_path: Path) -> None:
    with gufo.edit(path, output=tmp_path / "ours.gguf") as edit:
        edit["general.name"] = "Other"
        edit["general.quantized_by"] = "x" * 100
        edit["my.count"] = 7
        del edit["llama.context_length"]
        edit.rename("tokenizer.ggml.model", "tokenizer.ggml.kind")
    command(
        "edit", path, "--set", "general.name=Other", "--set", f"general.quantized_by={'x' * 100}",
        "--set", "my.count=7", "--remove", "llama.context_length",
        "--rename", "tokenizer.ggml.model=tokenizer.ggml.kind", "--output", tmp_path / "theirs.gguf", "--as-is",
    )  # fmt: skip
    assert (tmp_path / "ours.gguf").read_bytes() == (tmp_path / "theirs.gguf").read_bytes()
    assert path.read_bytes() == WHOLE


def test_in_place(path: Path) -> None:
    before = path.stat().st_ino
    with gufo.edit(path, reserve=4096) as edit:
        edit["general.name"] = "Longer than it was before, by far"
        edit.set("general.author", "x" * 300)
    with gufo.open(path) as model:
        assert "gufo.padding" in model
    inode = path.stat().st_ino
    with gufo.edit(path) as edit:
        edit["general.name"] = "Short"
        plan = edit.plan()
    assert plan.way == "overwrite" and path.stat().st_ino == inode
    assert before and gufo.open(path).tensors["output.weight"].numpy()[1, 0] == 32


def test_of_a_model(path: Path) -> None:
    with gufo.edit(path, reserve=4096) as edit:
        edit["a.b"] = 1
    inode = path.stat().st_ino
    with gufo.open(path) as model:
        with model.edit() as edit:
            edit["general.name"] = "Changed"
        assert path.stat().st_ino == inode  # in place
        assert model["general.name"] == "Changed"
        array = model.tensors["output.weight"].numpy()
        with model.edit() as edit:
            edit["general.name"] = "Again"
        assert path.stat().st_ino != inode  # the array holds on to the old file
        assert model["general.name"] == "Again" and array[1, 0] == 32
        with model.edit() as edit:
            pass
    with pytest.raises(ValueError):
        gufo.open(WHOLE).edit()


def test_failures_leave_the_file(path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        with gufo.edit(path) as edit:
            edit["general.name"] = "Never"
            1 / 0
    edit = gufo.edit(path)
    with pytest.raises(gufo.Error) as failure:
        gufo.edit(path)  # locked
    assert isinstance(failure.value, OSError)
    edit["general.name"] = "Never"
    edit.close()
    for call in (lambda: edit.apply(), lambda: edit.changes(), lambda: len(edit)):
        with pytest.raises(ValueError):
            call()
    with gufo.edit(path) as edit:
        for key in ("bad key", "", "a..b", "x" * 70000):
            with pytest.raises(gufo.Error):
                edit[key] = 1
        for old, new in (("absent", "a.b"), ("general.name", "general.architecture")):
            with pytest.raises(gufo.Error):
                edit.rename(old, new)
        with pytest.raises(KeyError):
            edit.remove_tensor("absent")
        with pytest.raises(ValueError):
            edit.plan(in_place="perhaps")
    assert path.read_bytes() == WHOLE
    assert os.listdir(path.parent) == ["model.gguf"]


def test_fix(tmp_path: Path) -> None:
    entries = making.settings("Small", 2, 32)
    entries.append(("llama.rope.scale_linear", "float32", 2.0))
    path = tmp_path / "old.gguf"
    path.write_bytes(making.gguf(entries, []))
    before = [finding.rule for finding in gufo.validate(path) if finding.fix and finding.fix["certain"]]
    with gufo.edit(path) as edit:
        fixed = edit.fix()
    after = [finding.rule for finding in gufo.validate(path) if finding.fix and finding.fix["certain"]]
    assert before and sorted(one.rule for one in fixed) == sorted(before)
    assert after == []


def test_fix_the_layout(tmp_path: Path) -> None:
    data = bytearray(WHOLE)
    place = gufo.open(WHOLE).data_offset - 1
    data[place] = 1  # padding that is not zero
    path = tmp_path / "padding.gguf"
    path.write_bytes(data)
    assert [finding.fix["kind"] for finding in gufo.validate(path) if finding.fix] == ["rewrite"]
    with gufo.edit(path) as edit:
        assert len(edit.fix()) == 1
    assert len(gufo.validate(path)) == 0


def test_tensors(path: Path, tmp_path: Path) -> None:
    with gufo.edit(path, output=tmp_path / "out.gguf") as edit:
        edit.rename_tensor("output.weight", "other.weight")
        edit.remove_tensor("output_norm.weight")
        kinds = [(change.kind, change.new_name) for change in edit.changes()]
    assert ("tensor renamed", "other.weight") in kinds and len(kinds) == 2
    tensors = gufo.open(tmp_path / "out.gguf").tensors
    assert len(tensors) == 20 and tensors["other.weight"].numpy()[1, 0] == 32


def test_shell_sees_nothing_left(path: Path) -> None:
    for _ in range(20):
        with gufo.edit(path) as edit:
            edit["general.name"] = "x" * np.random.default_rng(1).integers(1, 4000)
    assert subprocess.run(["ls", path.parent], capture_output=True, text=True).stdout == "model.gguf\n"


values = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(width=32, allow_nan=False),
    st.text(st.characters(blacklist_categories=["Cs"])),
    st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1),
    st.lists(st.text(st.characters(blacklist_categories=["Cs"])), min_size=1),
    st.lists(st.lists(st.booleans(), min_size=1), min_size=1),
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values)
def test_any_value(path: Path, value: Any) -> None:
    with gufo.edit(path) as edit:
        edit.pop("my.value", None)
        edit["my.value"] = value
        assert edit["my.value"] == value
    assert gufo.open(path)["my.value"] == value
