"""The extension: what it opens, what it gives, how it fails."""

import gc
import os
import struct
import weakref

import numpy
import pytest

from gufo import Error, _core


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


@pytest.fixture
def content() -> bytes:
    """A key of a string, one of an array of arrays, and a tensor of 2 x 2 numbers."""
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 2)
    head += text("name") + struct.pack("<I", 8) + text("Eule")
    head += text("nested") + struct.pack("<IIQ", 9, 9, 2)
    head += struct.pack("<IQ2H", 2, 2, 7, 8) + struct.pack("<IQ", 8, 1) + text("x")
    head += text("weight") + struct.pack("<IQQIQ", 2, 2, 2, 0, 0)
    head += bytes(-len(head) % 32)
    return head + struct.pack("<4f", 1, 2, 3, 4) + bytes(16)


def test_model_has_entries_and_tensors(content):
    with _core.open(content) as model:
        facts = model.facts()
        assert (facts["version"], facts["byte_order"], facts["size"]) == (3, "little", len(content))
        assert [entry[:4] for entry in model.entries()] == [
            (b"name", 8, -1, 4),
            (b"nested", 9, 9, 2),
        ]
        assert model.value(0) == "Eule"
        assert model.value(1) == [[7, 8], ["x"]]
        (tensor,) = model.tensors()
        assert tensor[:4] == (b"weight", 0, (2, 2), 4)
        assert bytes(model.data(0)) == content[tensor[4] : tensor[4] + 16]
        rows = numpy.zeros(2, numpy.float32)
        model.decode(0, 1, 1, rows)
        assert rows.tolist() == [3, 4]
    assert model.closed
    with pytest.raises(ValueError, match="closed"):
        model.entries()


def test_sources(content, tmp_path):
    path = tmp_path / "größe.gguf"
    path.write_bytes(content)
    with open(path, "rb") as file:
        for source in (path, str(path), content, bytearray(content), file, file.fileno()):
            assert _core.open(source).value(0) == "Eule"
    with pytest.raises(TypeError, match="expected a path"):
        _core.open(None)


def test_views_keep_the_model_open(content):
    model = _core.open(content)
    view = model.data(0)
    assert view.readonly
    with pytest.raises(BufferError, match="1 views"):
        model.close()
    left = weakref.ref(model)
    array = numpy.frombuffer(view, numpy.float32)
    del model, view
    gc.collect()
    assert left() is not None
    assert array.tolist() == [1, 2, 3, 4]
    del array
    gc.collect()
    assert left() is None


def test_memory_of_the_caller_is_released(content):
    memory = bytearray(content)
    model = _core.open(memory)
    with pytest.raises(BufferError):
        memory.append(0)
    model.close()
    memory.append(0)


def test_errors_say_where(content, tmp_path):
    with pytest.raises(Error) as caught:
        _core.open(content[:40], name="cut.gguf")
    assert isinstance(caught.value, ValueError)
    assert caught.value.offset is not None
    assert caught.value.code == "truncated"
    assert caught.value.file == "cut.gguf"
    assert str(caught.value).startswith(f"cut.gguf: byte {caught.value.offset}: ")
    with pytest.raises(FileNotFoundError) as missing:
        _core.open(tmp_path / "missing")
    assert isinstance(missing.value, Error)


def test_data_that_is_not_there(content):
    huge = content.replace(struct.pack("<IQQI", 2, 2, 2, 0), struct.pack("<IQQI", 2, 2**37, 2, 0))
    findings: list = []
    model = _core.open(huge, flags=_core.OPEN_LENIENT, findings=findings)
    assert [finding["rule"] for finding in findings] == ["G309"]
    assert findings[0]["fatal"]
    with pytest.raises(Error) as caught:
        model.data(0)
    assert caught.value.code == "truncated"


def test_findings(content):
    assert "G510" in [finding["rule"] for finding in _core.check(_core.open(content))]
    (finding,) = _core.validate(content[:20])
    assert finding["severity"] == "error"
    assert finding["offset"] == 20 or finding["offset"] <= len(content)


def test_index_and_room(content):
    model = _core.open(content)
    for call in (model.value, model.parts, model.data):
        for index in (-1, 2, 2**62):
            with pytest.raises(IndexError):
                call(index)
    with pytest.raises(TypeError, match="not an array"):
        model.strings(0)
    with pytest.raises(IndexError):
        model.decode(0, 1, 2, numpy.zeros(4, numpy.float32))
    with pytest.raises(ValueError, match="bytes"):
        model.decode(0, 0, 2, numpy.zeros(3, numpy.float32))


def test_coding_round_trip():
    kinds = {name: row for row in _core.types() for name in (row[1],)}
    assert kinds["Q4_K"] == (12, "Q4_K", 256, 144, kinds["Q4_K"][4])
    values = numpy.linspace(-1, 1, 4 * 512, dtype=numpy.float32)
    blocks = numpy.zeros(4 * 2 * 144, numpy.uint8)
    _core.encode(12, values, 4, 512, blocks)
    back = numpy.zeros_like(values)
    _core.decode(12, blocks, 4, 512, back)
    assert abs(values - back).max() < 0.05
    with pytest.raises(ValueError):
        _core.decode(12, blocks, 4, 511, back)
    with pytest.raises(ValueError, match="no element type"):
        _core.decode(999, blocks, 4, 512, back)


def test_swap():
    numbers = numpy.arange(4, dtype="<u2")
    _core.swap(1, numbers)
    assert numbers.view(">u2").tolist() == [0, 1, 2, 3]


def test_seeds_fail_with_an_error_or_open(seeds):
    for path in sorted(seeds.iterdir()):
        try:
            model = _core.open(path)
        except Error:
            continue
        for index, entry in enumerate(model.entries()):
            if entry[1] == 9:
                model.parts(index)
            try:
                model.value(index)
            except UnicodeDecodeError:
                pass
        for index in range(len(model.tensors())):
            model.data(index)


def test_an_empty_array_of_arrays_has_types(tmp_path):
    path = tmp_path / "model.gguf"
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("nested") + struct.pack("<IIQ", 9, 9, 0)
    path.write_bytes(head + bytes(-len(head) % 32))
    edit = _core.edit(os.fsencode(path), 0)
    assert edit.types(b"nested") == (9, 9)
    assert edit.find(b"nested") == ((9, 9), [])
    assert edit.types(b"missing") is None
    edit.close()


def test_types_of_what_is_not_text(tmp_path):
    path = tmp_path / "model.gguf"
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("name") + struct.pack("<IQ", 8, 2) + b"\xff\xfe"
    path.write_bytes(head + bytes(-len(head) % 32))
    edit = _core.edit(os.fsencode(path), 0)
    assert edit.types(b"name") == (8,)
    with pytest.raises(UnicodeDecodeError):
        edit.find(b"name")
    edit.close()


def test_values_cannot_close_an_edit(content, tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    edit = _core.edit(os.fsencode(path), 0)

    class Number:
        def __float__(self):
            edit.close()
            return 1.5

    class Flag:
        def __bool__(self):
            edit.close()
            return True

    for call in (
        lambda: edit.set(b"number", (6,), Number()),
        lambda: edit.write({"replace": Flag()}, True, 1, None),
    ):
        with pytest.raises(RuntimeError, match="the edit is in use"):
            call()
        assert edit.types(b"name") == (8,)
    edit.close()


def test_garbage_cannot_close_a_model_that_is_read(content):
    tried = []

    class Closing:
        def __init__(self, model):
            self.model, self.cycle = model, self

        def __del__(self):
            try:
                self.model.close()
            except BufferError:
                tried.append(self)

    entries = b"".join(text(f"key.{i}") + struct.pack("<II", 4, i) for i in range(1000))
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, 1000) + entries
    model = _core.open(head + bytes(-len(head) % 32))
    threshold = gc.get_threshold()
    gc.set_threshold(300)
    try:
        Closing(model)
        assert len(model.entries()) == 1000 and tried
    finally:
        gc.set_threshold(*threshold)
    model.close()
