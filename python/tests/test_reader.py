"""The reader shows the layout of gguf, field by field."""

from __future__ import annotations

import pickle
import struct
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies

import layout
from gufo import Error
from gufo.constants import GGMLQuantizationType, GGUFEndian, GGUFValueType
from gufo.gguf_reader import GGUFReader, ReaderField


DTYPES = {order + name: numpy.dtype(order + name) for order in "<>" for name in layout.DTYPES.values()}
DTYPES["u1"] = numpy.dtype("u1")


def same_parts(field: ReaderField, expected: layout.Field, content: bytes, step: int = 1) -> None:
    assert (field.offset, field.name) == (expected.offset, expected.name)
    assert len(field.parts) == len(expected.parts), field.name
    for part, (offset, dtype, count) in zip(field.parts[::step], expected.parts[::step]):
        assert part.dtype == DTYPES[dtype]
        assert part.shape == (count,)
        assert part.tobytes() == content[offset : offset + part.nbytes]
    assert list(field.data) == expected.data
    assert field.types == expected.types


def same(reader: GGUFReader, content: bytes, maker: layout.Maker, step: int = 1) -> None:
    head = list(reader.fields)[:3]
    assert head == ["GGUF.version", "GGUF.tensor_count", "GGUF.kv_count"]
    assert [int(reader.fields[key].parts[0][0]) for key in head] == [maker.version, len(maker.tensors), maker.count]
    fields = list(reader.fields.values())[3:]
    assert len(fields) == len(maker.fields)
    for field, expected in zip(fields, maker.fields):
        same_parts(field, expected, content, step if len(field.parts) > 1000 else 1)
        assert field.contents() == expected.contents
    assert len(reader.tensors) == len(maker.tensors)
    for tensor, wanted in zip(reader.tensors, maker.tensors):
        same_parts(tensor.field, wanted.field, content)
        assert tensor.tensor_type == wanted.kind
        assert tensor.shape.tolist() == wanted.dims
        assert tensor.shape.dtype == DTYPES[wanted.field.parts[3][1]]
        assert tensor.n_elements == numpy.prod(wanted.dims)
        assert (tensor.n_bytes, tensor.data_offset) == (wanted.n_bytes, wanted.data_offset)
        assert (tensor.data.shape, tensor.data.dtype) == (wanted.shape, numpy.dtype(wanted.dtype))
        assert tensor.data.tobytes() == content[wanted.data_offset : wanted.data_offset + wanted.n_bytes]


def test_random_files(tmp_path: Path) -> None:
    path = tmp_path / "random.gguf"
    for seed in range(300):
        content, maker = layout.random_file(seed)
        path.write_bytes(content)
        reader = GGUFReader(path)
        same(reader, content, maker)
        assert reader.alignment == maker.alignment
        assert reader.data_offset == maker.data_offset
        assert reader.endianess == (GGUFEndian.BIG if seed % 2 else GGUFEndian.LITTLE)


def test_version_1(tmp_path: Path) -> None:
    for seed in range(20):
        content, maker = layout.random_file(seed, version=1)
        (tmp_path / "old.gguf").write_bytes(content)
        same(GGUFReader(tmp_path / "old.gguf"), content, maker)


def test_vocabularies(vocabularies: list[Path]) -> None:
    """All values; all parts of the three smallest, of the others one in 17."""
    for index, path in enumerate(sorted(vocabularies, key=lambda path: path.stat().st_size)):
        content = path.read_bytes()
        same(GGUFReader(path), content, layout.parse(content), 1 if index < 3 else 17)


def released_parts(field: Any) -> tuple[list[Any], list[int]]:
    """The parts and data of a field of the reference, an array of numbers one part each."""
    if not field.types or field.types[0] != 9 or field.types[-1] in (8, 9):
        return list(field.parts), list(field.data)
    parts: list[Any] = []
    data: list[int] = []
    for index, part in enumerate(field.parts):
        if index in field.data:
            data += range(len(parts), len(parts) + len(part))
            parts += [part[i : i + 1] for i in range(len(part))]
        else:
            parts.append(part)
    return parts, data


def same_as_peer(ours: ReaderField, theirs: Any) -> None:
    parts, data = released_parts(theirs)
    assert (ours.offset, ours.name, list(ours.data)) == (theirs.offset, theirs.name, data)
    assert [int(kind) for kind in ours.types] == [int(kind) for kind in theirs.types]
    assert len(ours.parts) == len(parts)
    for a, b in zip(ours.parts, parts):
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


def test_peer(peer: Any, tmp_path: Path) -> None:
    path = tmp_path / "random.gguf"
    for seed in range(100):
        path.write_bytes(layout.random_file(seed)[0])
        ours, theirs = GGUFReader(path), peer.GGUFReader(path)
        assert list(ours.fields) == list(theirs.fields)
        for name, field in theirs.fields.items():
            same_as_peer(ours.fields[name], field)
        for attribute in ("byte_order", "alignment", "data_offset"):
            assert getattr(ours, attribute) == getattr(theirs, attribute)
        assert type(ours.alignment) is type(theirs.alignment)
        assert int(ours.endianess) == int(theirs.endianess)
        for a, b in zip(ours.tensors, theirs.tensors):
            same_as_peer(a.field, b.field)
            assert (a.name, a.tensor_type, a.n_elements, a.n_bytes, a.data_offset) == b[:2] + b[3:6]
            assert (a.shape.dtype, a.data.dtype, a.data.shape) == (b.shape.dtype, b.data.dtype, b.data.shape)
            assert a.data.tobytes() == b.data.tobytes()


# ---- idioms -------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> Path:
    maker = layout.Maker()
    maker.add("general.architecture", "STRING", "llama")
    maker.add("llama.block_count", "UINT32", 7)
    maker.add("llama.rope.freq_base", "FLOAT32", 0.5)
    maker.add("tokenizer.ggml.add_bos_token", "BOOL", True)
    maker.add("tokenizer.ggml.tokens", ["STRING"], ["a", "ß", ""])
    maker.add("tokenizer.ggml.scores", ["FLOAT32"], [1.0, 2.0, 3.0])
    maker.add("comfy.gguf.orig_shape.x", ["INT32"], [6144, 64])
    maker.add("nested", [["INT16"]], [[1, 2], [3]])
    maker.add("empty", ["STRING"], [])
    maker.add_tensor("x.weight", "F32", [4, 3], 0, 48)
    maker.add_tensor("y.weight", "Q8_0", [64, 2], 64, 136)
    path = tmp_path / "model.gguf"
    path.write_bytes(maker.content())
    return path


@pytest.fixture
def reader(path: Path) -> GGUFReader:
    return GGUFReader(path)


def test_values_by_parts_and_types(reader: GGUFReader) -> None:
    """As transformers reads metadata."""

    def parse(part: Any, types: list[int]) -> Any:
        kind = types[-1] if types[0] == 9 else types[0]
        if kind == 8:
            return bytes(part.tolist()).decode()
        return float(part[0]) if kind in (6, 12) else bool(part[0]) if kind == 7 else int(part[0])

    def read(key: str) -> list[Any]:
        field = reader.fields[key]
        return [parse(field.parts[index], field.types) for index in field.data]

    assert read("general.architecture") == ["llama"]
    assert read("llama.block_count") == [7]
    assert read("llama.rope.freq_base") == [0.5]
    assert read("tokenizer.ggml.add_bos_token") == [True]
    assert read("tokenizer.ggml.tokens") == ["a", "ß", ""]
    assert read("tokenizer.ggml.scores") == [1.0, 2.0, 3.0]


def test_values_by_last_index(reader: GGUFReader) -> None:
    """As ComfyUI-GGUF reads metadata."""
    field = reader.get_field("general.architecture")
    assert field is not None
    assert field.types == [GGUFValueType.STRING]
    assert str(field.parts[field.data[-1]], "utf-8") == "llama"
    count = reader.get_field("llama.block_count")
    assert count is not None
    assert int(count.parts[count.data[-1]]) == 7
    shape = reader.get_field("comfy.gguf.orig_shape.x")
    assert shape is not None
    assert shape.types == [GGUFValueType.ARRAY, GGUFValueType.INT32]
    assert tuple(int(shape.parts[i][0]) for i in shape.data) == (6144, 64)
    assert reader.get_field("missing") is None


def test_values_of_small_scripts(reader: GGUFReader) -> None:
    fields = reader.fields
    assert isinstance(fields, OrderedDict)
    name = fields["general.architecture"]
    assert bytes(name.parts[name.data[0]]).decode() == "llama"
    assert fields["llama.block_count"].parts[-1][0] == 7
    assert fields["tokenizer.ggml.tokens"].contents() == ["a", "ß", ""]
    assert fields["tokenizer.ggml.tokens"].contents(1) == "ß"
    assert fields["tokenizer.ggml.tokens"].contents(slice(0, 2)) == ["a", "ß"]
    assert fields["tokenizer.ggml.scores"].contents(-1) == 3.0
    assert fields["nested"].contents() == [1, 2, 3]
    assert fields["nested"].types == [9, 9, 3]
    assert fields["empty"].contents() == []
    assert fields["empty"].types == [9]
    assert len(fields["empty"].data) == 0
    for value, kind in ((7, int), (0.5, float), (True, bool)):
        assert value in [f.contents() for f in fields.values() if type(f.contents()) is kind]


def test_tensors(reader: GGUFReader) -> None:
    """As diffusers, ComfyUI-GGUF, vLLM and small scripts take them."""
    x, y = reader.tensors
    assert {tensor.name: tensor for tensor in reader.tensors}["x.weight"] is reader.get_tensor(0)
    assert x.tensor_type is GGMLQuantizationType.F32
    assert y.tensor_type == 8
    assert tuple(reversed(x.shape)) == (3, 4) == x.data.shape
    assert [int(dim) for dim in y.shape] == [64, 2]
    assert y.shape.tolist() == [64, 2]
    dims = 1
    for dim in y.shape:
        dims *= dim
    assert dims == 128 == y.n_elements
    assert y.data.shape == (2, 68)
    assert not x.data.flags.writeable
    assert x.data.copy().flags.writeable
    assert numpy.shares_memory(x.data, reader.data)
    name, kind, *_, field = x
    assert (name, kind) == ("x.weight", 0)
    assert x._replace(name="z").name == "z"
    assert [field.parts[index].tolist() for index in field.data] == [list(b"x.weight"), [4, 3], [0], [0]]


def test_parts_are_sequences(reader: GGUFReader) -> None:
    for key in ("tokenizer.ggml.tokens", "tokenizer.ggml.scores", "nested", "empty"):
        field = reader.fields[key]
        parts, data = list(field.parts), list(field.data)
        assert len(parts) == len(field.parts)
        assert field.parts == parts
        assert field.data == data
        assert field.data != [*data, 1]
        assert (field.data + [1])[-1] == 1
        for index in range(-len(parts), len(parts)):
            assert numpy.array_equal(field.parts[index], parts[index])
        for piece in (slice(None, None, -1), slice(3, 7), slice(-2, None)):
            assert len(field.parts[piece]) == len(parts[piece])
            assert field.data[piece] == data[piece]
        for index in (len(parts), -len(parts) - 1):
            with pytest.raises(IndexError):
                field.parts[index]
        assert repr(field.data) == repr(data)
        again = pickle.loads(pickle.dumps(field))
        assert isinstance(again, ReaderField)
        assert again.contents() == field.contents()
        offset, name, parts_, data_, types = field
        assert (offset, name, types) == (field.offset, key, field.types)
    plain = ReaderField(4, "made")
    assert (plain.parts, plain.data, plain.types, plain.contents()) == ([], [-1], [], None)


# ---- modes and closing --------------------------------------------------------------------------


def test_writes_through(path: Path) -> None:
    reader = GGUFReader(path, "r+")
    field = reader.fields["llama.block_count"]
    field.parts[field.data[0]][0] = 9
    scores = reader.fields["tokenizer.ggml.scores"]
    scores.parts[scores.data[1]][0] = 5
    tokens = reader.fields["tokenizer.ggml.tokens"]
    tokens.parts[tokens.data[0]][:] = list(b"z")
    reader.tensors[0].data[1, 2] = 8
    assert field.contents() == 9
    assert tokens.contents() == ["z", "ß", ""]
    del reader, field, scores, tokens
    again = GGUFReader(path)
    assert again.fields["llama.block_count"].contents() == 9
    assert again.fields["tokenizer.ggml.scores"].contents() == [1, 5, 3]
    assert again.fields["tokenizer.ggml.tokens"].contents(0) == "z"
    assert again.tensors[0].data[1, 2] == 8


def test_copy_on_write(path: Path) -> None:
    reader = GGUFReader(path, "c")
    field = reader.fields["llama.block_count"]
    field.parts[3][0] = 9
    assert field.contents() == 9
    assert GGUFReader(path).fields["llama.block_count"].contents() == 7


def test_read_only(reader: GGUFReader) -> None:
    with pytest.raises(ValueError, match="read-only"):
        reader.fields["llama.block_count"].parts[3][0] = 9


def test_close(path: Path) -> None:
    with GGUFReader(path) as reader:
        data = reader.tensors[0].data
    assert not reader.fields
    assert data.shape == (3, 4)
    assert data.tobytes()
    reader.close()
    reader = GGUFReader(path)
    data = reader.tensors[1].data
    with pytest.raises(BufferError, match="alive"):
        reader.close()
    assert reader.fields["llama.block_count"].contents() == 7
    assert len(reader.tensors) == 2
    del data
    reader.close()
    reader.close()
    assert not reader.tensors


# ---- bad files ----------------------------------------------------------------------------------


def write(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "bad.gguf"
    path.write_bytes(content)
    return path


def refused(tmp_path: Path, content: bytes, kind: type[Exception]) -> Error:
    with pytest.raises(kind) as caught:
        GGUFReader(write(tmp_path, content))
    assert isinstance(caught.value, Error)
    return caught.value


def test_errors(path: Path, tmp_path: Path) -> None:
    good = path.read_bytes()
    assert refused(tmp_path, b"GGML" + good[4:], ValueError).offset == 0
    assert refused(tmp_path, good[:4] + struct.pack("<I", 9) + good[8:], ValueError).offset == 4
    key_type = good.index(b"llama.block_count") + 17
    assert refused(tmp_path, good[:key_type] + struct.pack("<I", 13) + good[key_type + 4 :], ValueError).offset == key_type
    assert refused(tmp_path, good[:200], ValueError).offset is not None
    assert refused(tmp_path, good[:-140], ValueError).offset is not None
    twice = refused(tmp_path, good.replace(b"llama.rope.freq_base", b"x" * 20).replace(b"llama.block_count", b"y" * 17)
                    .replace(b"general.architecture", b"x" * 20), KeyError)
    assert twice.rule == "G205"
    assert refused(tmp_path, good.replace(b"y.weight", b"x.weight"), ValueError).rule == "G304"
    with pytest.raises(FileNotFoundError):
        GGUFReader(tmp_path / "missing")


def test_alignment(tmp_path: Path) -> None:
    for kind, value in (("UINT32", 0), ("UINT32", 24), ("UINT64", 32), ("STRING", "32")):
        maker = layout.Maker()
        maker.add("general.alignment", kind, value)
        maker.alignment = 32
        assert refused(tmp_path, maker.content(), ValueError).offset is not None


def test_names_of_the_header_are_taken(tmp_path: Path) -> None:
    maker = layout.Maker()
    maker.add("GGUF.version", "UINT32", 1)
    refused(tmp_path, maker.content(), KeyError)


def test_what_gguf_accepts_is_read(tmp_path: Path) -> None:
    maker = layout.Maker()
    maker.add("", "UINT32", 1)
    maker.add("größe", "UINT32", 2)
    maker.add("k" * 70000, "UINT32", 3)
    maker.add_tensor("n" * 100, "F32", [8], 4, 32)
    maker.add_tensor("overlaps", "F32", [8], 20, 32)
    content = maker.content()
    same(GGUFReader(write(tmp_path, content)), content, maker)


def test_unknown_type(path: Path, tmp_path: Path) -> None:
    content = bytearray(path.read_bytes())
    at = content.index(b"y.weight") + 8 + 4 + 16
    content[at : at + 4] = struct.pack("<I", 200)
    bad = write(tmp_path, bytes(content))
    x, y = GGUFReader(bad).tensors
    assert x.data.dtype == numpy.float32
    assert y.tensor_type == 200
    assert y.data.dtype == numpy.uint8
    assert y.data.tobytes()[:136] == bytes(content[y.data_offset : y.data_offset + 136])
    with pytest.raises(ValueError, match="200"):
        GGUFReader(bad, unknown_types=False)


def test_swapped_magic(tmp_path: Path) -> None:
    content, maker = layout.random_file(1)
    swapped = b"FUGG" + content[4:]
    same(GGUFReader(write(tmp_path, swapped)), swapped, maker)


def test_invalid_text_is_an_error_of_contents(path: Path, tmp_path: Path) -> None:
    reader = GGUFReader(write(tmp_path, path.read_bytes().replace("ß".encode(), b"\xff\xfe")))
    field = reader.fields["tokenizer.ggml.tokens"]
    assert field.parts[field.data[1]].tobytes() == b"\xff\xfe"
    with pytest.raises(UnicodeDecodeError):
        field.contents()


def test_seeds(seeds: Path) -> None:
    for file in sorted(seeds.iterdir()):
        try:
            reader = GGUFReader(file)
        except (ValueError, KeyError):
            continue
        for field in reader.fields.values():
            assert len(list(field.parts)) == len(field.parts)
        for tensor in reader.tensors:
            assert tensor.data.nbytes == tensor.n_bytes


SCRATCH = strategies.builds(lambda seed, at, byte: (seed, at, byte), *[strategies.integers(0, 2**16)] * 3)


@given(SCRATCH)
@settings(max_examples=150, deadline=None)
def test_damaged_files(tmp_path_factory: pytest.TempPathFactory, damage: tuple[int, int, int]) -> None:
    seed, at, byte = damage
    content = bytearray(layout.random_file(seed % 50)[0])
    content[at % len(content)] = byte % 256
    path = tmp_path_factory.getbasetemp() / "damaged.gguf"
    path.write_bytes(content)
    try:
        reader = GGUFReader(path)
    except (ValueError, KeyError):
        return
    for field in reader.fields.values():
        try:
            field.contents()
        except UnicodeDecodeError:
            pass
        list(field.parts)
    for tensor in reader.tensors:
        tensor.data.tobytes()
