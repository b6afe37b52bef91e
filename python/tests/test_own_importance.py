"""Importance matrices: read, added up, written, used."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import making
import numpy as np
import pytest

import gufo

COMMAND = Path(gufo.__file__).parents[2] / "gufo"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "imatrix.gguf"
    path.write_bytes(making.imatrix(making.matrices()))
    return path


def test_read(path: Path) -> None:
    imatrix = gufo.imatrix(path)
    assert list(imatrix) == [name for name, _ in making.matrices()]
    assert (imatrix.format, imatrix.chunks, imatrix.chunk_size, imatrix.datasets) == ("gguf", 1, 512, ["a.txt"])
    sums = np.linspace(4, 36, 32, dtype=np.float32)
    assert np.array_equal(imatrix.sums("output.weight"), sums)
    assert np.array_equal(imatrix["output.weight"], sums / 4)
    assert imatrix.counts("output.weight").tolist() == [4]
    with pytest.raises(KeyError):
        imatrix["no.such"]


def test_experts(tmp_path: Path) -> None:
    sums = np.arange(12, dtype="<f4")
    tensors = [("a.in_sum2", 0, [4, 3], sums.tobytes()), ("a.counts", 0, [1, 3], np.array([1, 0, 2], "<f4").tobytes())]
    entries: making.Entries = [
        ("general.type", "string", "imatrix"), ("imatrix.datasets", "array[string]", ["b"]),
        ("imatrix.chunk_count", "uint32", 2), ("imatrix.chunk_size", "uint32", 8),
    ]  # fmt: skip
    (tmp_path / "experts.gguf").write_bytes(making.gguf(entries, tensors))
    found = gufo.imatrix(tmp_path / "experts.gguf")["a"]
    assert found.tolist() == [[0, 1, 2, 3], [1, 1, 1, 1], [4, 4.5, 5, 5.5]]  # no token has reached the second


def test_sum(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(making.imatrix([*making.matrices()[:3], ("new.weight", 32)], "b.txt"))
    both = gufo.imatrix([path, other])
    assert both.counts("token_embd.weight").tolist() == [8] and both.counts("new.weight").tolist() == [4]
    job = both.write(tmp_path / "sum.gguf")
    assert job.files[0].size == (tmp_path / "sum.gguf").stat().st_size
    back = gufo.imatrix(tmp_path / "sum.gguf")
    assert back.datasets == ["a.txt", "b.txt"] and back.chunks == 2 and list(back) == list(both)
    gufo.imatrix(path).write(tmp_path / "old.dat", format="legacy")
    assert gufo.imatrix(tmp_path / "old.dat").format == "legacy"
    assert np.allclose(gufo.imatrix(tmp_path / "old.dat")["output.weight"], both["output.weight"])
    if COMMAND.exists():
        subprocess.run([COMMAND, "imatrix", "merge", "-q", path, other, "-o", tmp_path / "theirs.gguf"], check=True)
        assert (tmp_path / "sum.gguf").read_bytes() == (tmp_path / "theirs.gguf").read_bytes()


def fail(done: int, total: int) -> None:
    raise ZeroDivisionError


def test_refused(path: Path, tmp_path: Path) -> None:
    imatrix = gufo.imatrix(path)
    with pytest.raises(ValueError, match="format is one of"):
        imatrix.write(tmp_path / "out", format="dat")
    with pytest.raises(FileExistsError):
        imatrix.write(path)
    with pytest.raises(ZeroDivisionError):
        imatrix.write(tmp_path / "out", progress=fail)
    imatrix.write(path, replace=True)  # may replace what it reads
    assert imatrix["output.weight"][0] == 1
    with pytest.raises(ValueError, match="embedded null"):
        gufo.imatrix(f"{path}\0.old")
    for wrong in ([], [path, tmp_path / "no"], tmp_path):
        with pytest.raises(gufo.Error):
            gufo.imatrix(wrong)
    assert os.listdir(tmp_path) == ["imatrix.gguf"]


def test_errors_name_the_file(path: Path) -> None:
    sums = np.array([1, np.nan], "<f4").tobytes()
    counts = np.array([1], "<f4").tobytes()
    entries: making.Entries = [
        ("general.type", "string", "imatrix"), ("imatrix.datasets", "array[string]", ["b"]),
        ("imatrix.chunk_count", "uint32", 2), ("imatrix.chunk_size", "uint32", 8),
    ]  # fmt: skip
    path.write_bytes(making.gguf(entries, [("a.in_sum2", 0, [2, 1], sums), ("a.counts", 0, [1, 1], counts)]))
    imatrix = gufo.imatrix(path)
    with pytest.raises(gufo.Error, match="nan") as caught:
        imatrix["a"]
    assert caught.value.file == str(path)


def test_used(path: Path) -> None:
    """As the importance of an array that is quantized."""
    values = np.random.default_rng(1).standard_normal((4, 256)).astype(np.float32)
    path.write_bytes(making.imatrix([("a.weight", 256)]))
    importance = gufo.imatrix(path)["a.weight"]
    kind = gufo.GGMLQuantizationType.Q4_K
    assert not np.array_equal(gufo.quantize(values, kind, importance=importance), gufo.quantize(values, kind))
