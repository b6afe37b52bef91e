"""Other forms of a model: the same bytes as the command, and nothing half-written."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import making
import numpy as np
import pytest

import gufo

COMMAND = Path(gufo.__file__).parents[2] / "gufo"
needs_import = pytest.mark.skipif("import" not in gufo._core.features, reason="a minimal build")


def command(*arguments: object) -> None:
    """Runs the command that was built with the package."""
    if not COMMAND.exists():
        pytest.skip(f"{COMMAND} is not built")
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(making.llama())
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_split_and_merge(path: Path, tmp_path: Path) -> None:
    with gufo.open(path) as model:
        job = model.split(tmp_path / "part", "64KiB", metadata_alone=True)
        assert [file.tensor_count for file in job.files][0] == 0
        assert all(file.size <= 1 << 16 for file in job.files)
        assert [Path(file.path).stat().st_size for file in job.files] == [file.size for file in job.files]
    with gufo.open(job.files[0].path) as shards:
        assert shards.shards == len(job.files)
        shards.merge(tmp_path / "merged.gguf")
    command("merge", job.files[0].path, tmp_path / "theirs.gguf")
    assert (tmp_path / "merged.gguf").read_bytes() == (tmp_path / "theirs.gguf").read_bytes()
    assert gufo.diff(path, tmp_path / "merged.gguf").same


def test_shards_of_any_name(path: Path, tmp_path: Path) -> None:
    files = gufo.open(path).split(tmp_path / "part", tensors=8).files
    names = [tmp_path / name for name in ("one", "two", "three")]
    for file, name in zip(files, names):
        os.rename(file.path, name)
    for sources in (names, tuple(names), [name.read_bytes() for name in names], [names[0], names[1].read_bytes(), open(names[2], "rb")]):
        with gufo.open(sources) as model:
            assert model.shards == 3 and model.path is None
            assert gufo.diff(path, model).same
            assert model.tensors["blk.1.ffn_down.weight"].shard == 2
    for wrong in ([], [names[1], names[0], names[2]], names[:2], [*names, names[0]]):
        with pytest.raises(gufo.Error):
            gufo.open(wrong)
    with pytest.raises(TypeError, match="expected a path"):
        gufo.open([names[0], None])


def test_errors_name_the_shard(path: Path, tmp_path: Path) -> None:
    files = [file.path for file in gufo.open(path).split(tmp_path / "part", tensors=8).files]
    for sources, name in (
        ([files[0], b"no GGUF file", files[2]], "shard 2"),
        ([b"no GGUF file", *files[1:]], "shard 1"),
        ([*files[:2], tmp_path / "model.gguf"], str(tmp_path / "model.gguf")),
    ):
        with pytest.raises(gufo.Error) as caught:
            gufo.open(sources)
        assert caught.value.file == name and str(caught.value).startswith(f"{name}: ")


def test_endian(path: Path, tmp_path: Path) -> None:
    with gufo.open(path) as model:
        model.endian(tmp_path / "big.gguf", "big")
        with pytest.raises(gufo.Error, match="little"):
            model.endian(tmp_path / "little.gguf", "little")
        with pytest.raises(ValueError, match="byte_order is one of little, big"):
            model.endian(tmp_path / "little.gguf", "middle")
    command("endian", "--to=big", path, tmp_path / "theirs.gguf")
    assert (tmp_path / "big.gguf").read_bytes() == (tmp_path / "theirs.gguf").read_bytes()
    with gufo.open(tmp_path / "big.gguf") as big:
        assert big.tensors["output.weight"].numpy().tobytes() != gufo.open(path).tensors["output.weight"].numpy().tobytes()
        big.endian(tmp_path / "back.gguf", "little")
    assert (tmp_path / "back.gguf").read_bytes() == path.read_bytes()


def test_strip(path: Path, tmp_path: Path) -> None:
    with gufo.open(path) as model:
        model.strip(tmp_path / "head.gguf")
        kept = model.strip(tmp_path / "some.gguf", [name for name in model.tensors if name.startswith("blk.1.")])
        model.strip(tmp_path / "vocab.gguf", vocabulary_only=True)
        with pytest.raises(KeyError, match="no.such"):
            model.strip(tmp_path / "none.gguf", ["no.such"])
    command("strip", "--no-tensors", path, tmp_path / "theirs.gguf")
    assert (tmp_path / "head.gguf").read_bytes() == (tmp_path / "theirs.gguf").read_bytes()
    assert kept.files[0].tensor_count == 9
    with gufo.open(tmp_path / "some.gguf") as some:
        assert len(some.tensors) == 9 and some["general.name"] == "Small"
    with gufo.open(tmp_path / "vocab.gguf") as vocabulary:
        assert len(vocabulary.tensors) == 0 and "tokenizer.ggml.tokens" in vocabulary
    command("strip", "--vocab-only", path, tmp_path / "words.gguf")
    assert (tmp_path / "vocab.gguf").read_bytes() == (tmp_path / "words.gguf").read_bytes()
    assert not (tmp_path / "none.gguf").exists()


@needs_import
def test_export(tmp_path: Path) -> None:
    source = making.checkpoint(tmp_path / "checkpoint")
    gufo.convert(source, tmp_path / "model.gguf", no_vocabulary=True)
    with gufo.open(tmp_path / "model.gguf") as model:
        job = model.export(tmp_path / "ours")
        model.export(tmp_path / "small", dtype="BF16", shard_size="32k")
        model.export(tmp_path / "numpy", format="npz")
    command("export", tmp_path / "model.gguf", tmp_path / "theirs")
    assert contents(tmp_path / "ours") == contents(tmp_path / "theirs")
    assert {Path(file.path).name for file in job.files} == set(contents(tmp_path / "ours"))
    assert len(list((tmp_path / "small").glob("*.safetensors"))) > 1
    config = json.loads((tmp_path / "ours/config.json").read_text())
    assert config["model_type"] == "llama" and config["num_hidden_layers"] == 2
    with np.load(tmp_path / "numpy/model.npz") as arrays:
        assert arrays["model.norm.weight"].shape == (32,)
    gufo.convert(tmp_path / "ours", tmp_path / "again.gguf", no_vocabulary=True)
    assert gufo.diff(tmp_path / "model.gguf", tmp_path / "again.gguf").tensors == []


@needs_import
def test_export_names_the_file(path: Path, tmp_path: Path) -> None:
    with gufo.edit(path) as edit:
        edit.rename_tensor("output.weight", "own")
    with gufo.open(path) as model, pytest.raises(gufo.Error, match="has no name") as caught:
        model.export(tmp_path / "out")
    assert caught.value.file == str(path)


@needs_import
def test_export_leaves_nothing(path: Path, tmp_path: Path) -> None:
    with gufo.open(path) as model:
        for options in ({"format": "pickle"}, {"dtype": "Q4_K"}, {"dtype": "float16"}):
            with pytest.raises((ValueError, gufo.Error)):
                model.export(tmp_path / "out", **options)
        with pytest.raises(ZeroDivisionError):
            model.export(tmp_path / "out", progress=fail)
        (tmp_path / "there").mkdir()
        (tmp_path / "there/config.json").write_text("mine")
        with pytest.raises(FileExistsError):
            model.export(tmp_path / "there")
        assert contents(tmp_path / "there") == {"config.json": b"mine"}
        model.export(tmp_path / "there", replace=True)
    assert sorted(os.listdir(tmp_path)) == ["model.gguf", "there"]


def fail(done: int, total: int) -> None:
    raise ZeroDivisionError


FORMS: list[tuple[str, list[Any]]] = [
    ("split", [1 << 16]), ("merge", []), ("endian", ["big"]), ("strip", [["output.weight"]]),
]  # fmt: skip


@pytest.mark.parametrize("form, arguments", FORMS, ids=[row[0] for row in FORMS])
def test_nothing_is_left(path: Path, tmp_path: Path, form: str, arguments: list[Any]) -> None:
    model = gufo.open(path)
    if form == "merge":
        model = gufo.open(model.split(tmp_path / "part", tensors=8).files[0].path)
    before = contents(tmp_path)
    with pytest.raises(ZeroDivisionError):
        getattr(model, form)(tmp_path / "out", *arguments, progress=fail)
    with pytest.raises(gufo.Error):
        getattr(model, form)(tmp_path / "no/folder", *arguments)
    if form != "split":
        (tmp_path / "there").write_bytes(b"mine")
        with pytest.raises(FileExistsError):
            getattr(model, form)(tmp_path / "there", *arguments)
        before["there"] = b"mine"
    assert contents(tmp_path) == before
    model.close()  # a job that failed does not use it


def test_a_name_is_not_a_list(path: Path, tmp_path: Path) -> None:
    gufo.open(path).strip(tmp_path / "one.gguf", "output.weight")
    with gufo.open(tmp_path / "one.gguf") as model:
        assert list(model.tensors) == ["output.weight"]


WRONG: list[tuple[str, list[Any], dict[str, Any], type[Exception], str]] = [
    ("split", [], {}, ValueError, "a split needs a limit: size or tensors"),
    ("split", [-5], {}, OverflowError, "size: can't convert negative"),
    ("split", [], {"tensors": 2**64}, OverflowError, "tensors: int too big"),
    ("split", ["1M"], {"threads": -1}, OverflowError, "threads: -1 is not a number of threads"),
    ("split", ["1M"], {"threads": 2**32}, OverflowError, "threads: 4294967296 is not a number of threads"),
    ("strip", [["output.weight"]], {"vocabulary_only": True}, ValueError, "leaves no tensors"),
    ("quantize", [7], {}, TypeError, "type: 7 is not a text"),
    ("quantize", ["Q8_0"], {"memory": -1}, OverflowError, "memory: can't convert negative"),
    ("quantize", ["Q8_0\0"], {}, ValueError, "type: embedded null"),
    ("quantize", ["Q8_0"], {"output_type": "\ud800"}, ValueError, "output_type: "),
]


@pytest.mark.parametrize("form, arguments, options, error, message", WRONG, ids=[row[4] for row in WRONG])
def test_misfits_are_named(
    path: Path, tmp_path: Path, form: str, arguments: list[Any], options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with gufo.open(path) as model, pytest.raises(error, match=message):
        getattr(model, form)(tmp_path / "out.gguf", *arguments, **options)
    assert os.listdir(tmp_path) == ["model.gguf"]


def test_refused(path: Path, tmp_path: Path) -> None:
    with gufo.open(path) as model:
        with pytest.raises(ValueError, match="is not a size"):
            model.split(tmp_path / "part", "some")
        with pytest.raises(gufo.Error):
            model.merge(tmp_path / "merged.gguf")
        with pytest.raises(gufo.Error):
            model.strip(path, replace=True)
    assert os.listdir(tmp_path) == ["model.gguf"]
