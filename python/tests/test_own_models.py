"""Models: opening, values, tensors, and what is not a model."""

from __future__ import annotations

import gc
import io
import os
import subprocess
import sys
import weakref
from pathlib import Path

import making
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gufo

WHOLE = making.llama()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "model.gguf").write_bytes(WHOLE)
    return tmp_path / "model.gguf"


# ---- opening -------------------------------------------------------------------------------------


def test_sources(path: Path) -> None:
    with open(path, "rb") as file:
        sources = [path, str(path), WHOLE, bytearray(WHOLE), memoryview(WHOLE), np.frombuffer(WHOLE, np.uint8),
                   io.BytesIO(WHOLE), file, file.fileno()]  # fmt: skip
        for source in sources:
            with gufo.open(source) as model:
                assert model["general.name"] == "Small"
                assert model.tensors["output_norm.weight"].numpy().tolist() == list(range(32))


def test_text_is_no_content(path: Path) -> None:
    with pytest.raises(TypeError):
        gufo.open(3.5)
    with pytest.raises(FileNotFoundError) as failure:
        gufo.open(path.parent / "absent.gguf")
    assert isinstance(failure.value, gufo.Error)
    assert failure.value.file == str(path.parent / "absent.gguf")
    assert failure.value.errno == 2


def test_errors_say_where() -> None:
    with pytest.raises(gufo.Error) as failure:
        gufo.open(WHOLE[:100], name="cut.gguf")
    error = failure.value
    assert error.code == "truncated"
    assert error.offset is not None and 0 < error.offset <= 100
    assert error.rule is not None and error.rule.startswith("G1")
    assert error.file == "cut.gguf"
    assert isinstance(error, ValueError)


def test_lenient(path: Path) -> None:
    path.write_bytes(WHOLE[:-1000])
    with pytest.raises(gufo.Error):
        gufo.open(path)
    assert len(gufo.open(path, lenient=True).tensors) == 21
    assert len(gufo.open(path, metadata_only=True).tensors) == 21
    assert any(finding.severity == "error" for finding in gufo.validate(path))


VALIDATE = """
import sys, gufo
source = {"path": sys.argv[2], "descriptor": 0, "file": sys.stdin}[sys.argv[1]]
print(*(finding.rule for finding in gufo.validate(source)))
"""


@pytest.mark.parametrize("data", [WHOLE, WHOLE[:-1000], b"no GGUF file"], ids=["good", "cut", "other"])
@pytest.mark.parametrize("way", ["path", "descriptor", "file"])
def test_validate_a_pipe(way: str, data: bytes) -> None:
    done = subprocess.run(
        [sys.executable, "-c", VALIDATE, way, "/dev/stdin"], input=data, capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().split() == [finding.rule for finding in gufo.validate(data)]


def test_keys_of_any_bytes() -> None:
    data = making.gguf([(b"general.\xff\xfe", "string", b"text")], [])
    model = gufo.open(data, lenient=True)
    for key in model:
        assert model[key] == "text"
    assert gufo.open(making.gguf([("a.b", "string", b"\xff")], [])).entry("a.b").count == 1
    with pytest.raises(UnicodeDecodeError):
        gufo.open(making.gguf([("a.b", "string", b"\xff")], []))["a.b"]


# ---- life ----------------------------------------------------------------------------------------


def test_close(path: Path) -> None:
    model = gufo.open(path)
    array = model.tensors["output.weight"].numpy()
    with pytest.raises(BufferError):
        model.close()
    total = array.sum()
    del array
    model.close()
    assert model.closed and total > 0 and "closed" in repr(model)
    with pytest.raises(ValueError):
        model["general.name"]
    model.close()


def test_arrays_outlive_the_model(path: Path) -> None:
    array = gufo.open(path).tensors["output.weight"].numpy()
    path.unlink()
    gc.collect()
    assert array[0, 1] == 1.0
    assert not array.flags.writeable


def test_tensors_outlive_a_new_file(path: Path) -> None:
    with gufo.open(path) as model:
        tensor = model.tensors["output.weight"]
        array = tensor.numpy()
        with model.edit() as edit:
            edit.remove_tensor("output_norm.weight")
        assert tensor.numpy().tolist() == array.tolist()
        assert model.tensors["output.weight"].numpy().tolist() == array.tolist()
        tensor = model.tensors["output.weight"]
        with model.edit() as edit:
            edit.remove_tensor("token_embd.weight")
        with pytest.raises(ValueError, match="closed"):
            tensor.numpy()


def test_reload_keeps_the_options(path: Path) -> None:
    for model in (gufo.open(path, lenient=True, name="a name"), gufo.open(path, metadata_only=True, mapped=False)):
        name = model.name
        path.write_bytes(WHOLE[:-1000])
        model.reload()
        assert model.name == name and len(model.tensors) == 21
        path.write_bytes(WHOLE)
    with gufo.open(path) as model:
        model.quantize(path.parent / "set.gguf", "COPY", split_tensors=8)
    first = next(path.parent.glob("set-00001*"))
    with gufo.open(first, single=True) as model:
        model.reload()
        assert len(model.tensors) == 8


def test_weak_references(path: Path) -> None:
    model = gufo.open(path)
    seen = [weakref.ref(thing) for thing in (model, model.tensors, model.tensors["output.weight"])]
    del model
    gc.collect()
    assert [reference() for reference in seen] == [None, None, None]


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cycle(path: Path) -> None:
    model = gufo.open(path)
    model["tokenizer.ggml.tokens"]
    model.tensors["output.weight"].numpy(rows=slice(0, 1))
    model.validate("structure")
    for _ in range(2):
        with pytest.raises(gufo.Error):
            gufo.open(b"GGUF")


def test_no_leak(path: Path) -> None:
    for _ in range(200):
        cycle(path)
    gc.collect()
    before, files = resident(), len(os.listdir("/proc/self/fd"))
    for _ in range(3400):  # each opens three times
        cycle(path)
    gc.collect()
    assert resident() - before < 4 << 20
    assert len(os.listdir("/proc/self/fd")) == files


# ---- content -------------------------------------------------------------------------------------


def test_mapping(path: Path) -> None:
    model = gufo.open(path)
    assert list(model)[:2] == ["general.architecture", "general.name"]
    assert len(model) == 18 and "general.name" in model and "absent" not in model
    assert dict(model.items())["llama.block_count"] == 2
    assert model.get("absent", 7) == 7
    with pytest.raises(KeyError):
        model["absent"]
    assert model["tokenizer.ggml.tokens"][5] == "ab"  # type: ignore[index]
    assert model.numbers("tokenizer.ggml.scores").dtype == np.float32
    with pytest.raises(TypeError):
        model.numbers("tokenizer.ggml.tokens")
    assert hash(model) != hash(gufo.open(path))


def test_nested_arrays() -> None:
    model = gufo.open(making.gguf([("a.b", "array[array[uint8]]", [[1, 2], [], [3]])], []))
    assert model["a.b"] == [[1, 2], [], [3]]
    assert model.entry("a.b").type == "array[array]"


@pytest.mark.parametrize("kind", [row[1] for row in gufo._core.types() if row[4] & gufo._core.ELEMENT_DECODES])
def test_numbers_of_all_types(kind: str) -> None:
    number, _, elements, size, flags = next(row for row in gufo._core.types() if row[1] == kind)
    rows, columns = 8, max(elements, 32)
    data = np.random.default_rng(number).integers(0, 60, rows * columns // elements * size, np.uint8).tobytes()
    if flags & gufo._core.ELEMENT_REMOVED:
        pytest.skip("no file may have it")
    model = gufo.open(making.gguf([], [("t.weight", number, [columns, rows], data)]))
    tensor = model.tensors["t.weight"]
    assert tensor.type == kind and tensor.shape == (rows, columns) and len(tensor.data) == len(data)
    whole = tensor.numpy()
    assert whole.shape == (rows, columns)
    expected = np.empty(rows * columns, np.float32)
    gufo._core.decode(number, data, rows, columns, expected)
    np.testing.assert_array_equal(whole.astype(np.float32).reshape(-1), expected)
    np.testing.assert_array_equal(tensor.numpy(rows=slice(2, 5)), whole[2:5])
    assert np.asarray(tensor).shape == (rows, columns)
    assert tensor.numpy("float64").dtype == np.float64


def test_rows() -> None:
    data = np.arange(24, dtype="<f4").tobytes()
    tensor = gufo.open(making.gguf([], [("t", 0, [4, 3, 2], data)])).tensors["t"]
    assert tensor.shape == (2, 3, 4)
    assert tensor.numpy().tolist() == np.arange(24).reshape(2, 3, 4).tolist()
    assert tensor.numpy(rows=slice(1, -4)).tolist() == [[4, 5, 6, 7]]
    assert tensor.numpy(rows=slice(5, 2)).shape == (0, 4)
    with pytest.raises(ValueError):
        tensor.numpy(rows=slice(None, None, 2))


def test_scalar_and_empty() -> None:
    tensors = gufo.open(making.gguf([], [("s", 0, [], b"\0\0\x80\x3f"), ("e", 0, [0, 3], b"")])).tensors
    assert tensors["s"].numpy().tolist() == 1.0
    assert tensors["e"].numpy().shape == (3, 0)
    assert tensors["e"].bits_per_weight == 0


def test_unknown_type() -> None:
    data = making.gguf([], [("t.weight", 999, [32], bytes(32))])
    tensor = gufo.open(data).tensors["t.weight"]
    assert tensor.type == "type 999" and tensor.data.nbytes == 32
    with pytest.raises(gufo.Error) as failure:
        tensor.numpy()
    assert isinstance(failure.value, TypeError)


# ---- strangers' files ----------------------------------------------------------------------------


def use(model: gufo.Model) -> None:
    """Everything that reads a model; errors are gufo's, or of text that is not UTF-8."""
    repr(model)
    model._repr_html_()
    model.entries
    for key in model:
        try:
            model[key]
        except (gufo.Error, UnicodeDecodeError):
            pass
    for tensor in model.tensors.values():
        if tensor.elements > 1 << 20:
            continue
        try:
            tensor.numpy()
            tensor.data
        except (gufo.Error, ValueError):
            pass
    model.validate()
    for call in (gufo.estimate, gufo.tokenizer):
        try:
            call(model)
        except gufo.Error:
            pass


def test_seeds(seeds: Path) -> None:
    opened = 0
    for path in sorted(seeds.rglob("*")):
        if not path.is_file() or path.stat().st_size > 1 << 20:
            continue
        gufo.validate(path.read_bytes())
        for lenient in (False, True):
            try:
                model = gufo.open(path.read_bytes(), lenient=lenient)
            except gufo.Error:
                continue
            opened += 1
            use(model)
    assert opened > 20


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1500), st.integers(0, 255)), min_size=1, max_size=4), st.booleans())
def test_damaged_files(damage: list[tuple[int, int]], lenient: bool) -> None:
    data = bytearray(WHOLE)
    for place, byte in damage:
        data[place] = byte
    try:
        model = gufo.open(bytes(data), lenient=lenient)
    except gufo.Error as error:
        assert error.message
        return
    use(model)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    with pytest.raises(gufo.Error):
        gufo.open(data)
    assert gufo.validate(data).errors


# ---- where bytes are -----------------------------------------------------------------------------


def test_map(path: Path, tmp_path: Path) -> None:
    files = gufo.open(path).split(tmp_path / "part", tensors=8).files
    with gufo.open(files[0].path) as model:
        for number, file in enumerate(files):
            mapped = model.mapping(number)
            assert mapped.path == file.path and mapped.size == file.size and mapped.data is not None
            assert os.fstat(mapped.fd).st_size == file.size
            assert bytes(mapped.data) == Path(file.path).read_bytes() and mapped.data.readonly
        with pytest.raises(IndexError):
            model.mapping(3)
        with pytest.raises(BufferError):
            model.close()
        del mapped
    memory = gufo.open(WHOLE).mapping()
    assert memory.path is None and memory.fd == -1 and memory.data == WHOLE
    assert gufo.open(path, mapped=False).mapping().data is None
