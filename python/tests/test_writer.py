"""The writer: bytes, order of calls, errors, names of files."""

from __future__ import annotations

import gc
import inspect
import os
import resource
import stat
import struct
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Iterator

import numpy as np
import pytest

import gufo
import gufo._core
import writer_plans
from gufo.gguf_writer import GGUFValue, GGUFWriter, TensorInfo, WriterState
from gufo.output_file import OutputFile
from gufo.constants import GGMLQuantizationType, GGUFEndian, GGUFValueType, Keys

# structural methods, which do more than add one key
STRUCTURAL = {"add_key_value", "add_array", "add_tensor", "add_tensor_info", "add_custom_alignment",
              "add_shard_kv_data", "add_architecture"}
SAMPLES = {"int": 7, "float": 1.5, "bool": True, "str": "text", "bytes": b"\x01\x02",
           "Sequence[str]": ["a", "b"], "Sequence[int]": [3, 4], "Sequence[float]": [0.5],
           "Sequence[bool]": [True, False], "Sequence[Sequence[int]]": [[1, 2], [3]],
           "int | Sequence[int]": [5, 6], "int | Sequence[bool]": [True],
           "Sequence[str | bytes]": ["a", b"b"], "Sequence[Any]": [1],
           "str | Sequence[Mapping[str, str]]": [{"name": "default", "template": "D"},
                                                 {"name": "a-B.c", "template": "T"}]}


def written(path: Path, **options: Any) -> GGUFWriter:
    """A writer with one key and one tensor, not written yet."""
    writer = GGUFWriter(path, "llama", **options)
    writer.add_tensor("a", np.arange(3, dtype=np.float32))
    return writer


def finish(writer: GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def array_bytes(path: Path, value: Any, sub_type: GGUFValueType | None = None) -> bytes:
    """How an array is stored, from its element type on."""
    with GGUFWriter(path, "a") as writer:
        writer.add_key_value("k", value, GGUFValueType.ARRAY, sub_type)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
    prefix = 24 + (8 + len("general.architecture") + 4 + 8 + 1) + (8 + 1 + 4)
    return path.read_bytes()[prefix:]


@pytest.mark.parametrize("seed", range(60))
def test_bytes(tmp_path: Path, seed: int) -> None:
    plan = writer_plans.random_plan(seed)
    files = writer_plans.write(plan, gufo, tmp_path / "m.gguf")
    assert [file.read_bytes() for file in files] == writer_plans.expected(plan)


def test_same_bytes_as_reference(tmp_path: Path, peer: ModuleType) -> None:
    for seed in range(1000, 1200):
        plan = writer_plans.random_plan(seed)
        both = []
        for module in (gufo, peer):
            folder = tmp_path / f"{seed}-{module.__name__}"
            folder.mkdir()
            files = writer_plans.write(plan, module, folder / "m.gguf")
            both.append({file.name: file.read_bytes() for file in files})
        assert both[0] == both[1], seed


def method_arguments(method: Any, module: ModuleType) -> list[Any]:
    """Arguments for an add_* method of either package, by the hints of ours."""
    arguments = []
    for parameter in list(inspect.signature(method).parameters.values())[1:]:
        if parameter.default is not inspect.Parameter.empty:
            continue
        enum = getattr(module, str(parameter.annotation), None)
        if parameter.name == "key":
            arguments.append("some.key")
        elif parameter.annotation in SAMPLES:
            arguments.append(SAMPLES[parameter.annotation])
        else:
            arguments.append(list(enum)[1])
    return arguments


def add_methods() -> list[str]:
    return [name for name in dir(GGUFWriter) if name.startswith("add_") and name not in STRUCTURAL]


def test_every_method_adds_its_keys(tmp_path: Path) -> None:
    assert len(add_methods()) > 280
    for name in add_methods():
        with GGUFWriter(tmp_path / "m.gguf", "llama") as writer:
            method = getattr(GGUFWriter, name)
            getattr(writer, name)(*method_arguments(method, gufo))
            assert len(writer.kv_data[0]) > 1, name
            finish(writer)
        reader = gufo.GGUFReader(tmp_path / "m.gguf")
        for key, value in writer.kv_data[0].items():
            field = reader.get_field(key)
            assert field is not None and field.types[0] == value.type, name
            wanted = value.value
            if value.type == GGUFValueType.ARRAY:
                wanted = [v.decode() if isinstance(v, bytes) else v
                          for v in np.concatenate(wanted).tolist()] \
                    if isinstance(wanted[0], list) else \
                    [v.decode() if isinstance(v, bytes) else v for v in wanted]
            assert field.contents() == wanted, name


def test_every_method_as_reference(peer: ModuleType) -> None:
    theirs = {name for name in dir(peer.GGUFWriter) if name.startswith("add_")}
    assert theirs <= {name for name in dir(GGUFWriter) if name.startswith("add_")}
    for name in theirs - STRUCTURAL:
        method = getattr(GGUFWriter, name)
        both = []
        for module in (gufo, peer):
            writer = module.GGUFWriter(None, "llama")
            getattr(writer, name)(*method_arguments(method, module))
            both.append([(key, value.value, int(value.type), value.sub_type)
                         for key, value in writer.kv_data[0].items()])
        assert both[0] == both[1], name
        assert [p.name for p in inspect.signature(method).parameters.values()] == \
            [p.name for p in inspect.signature(getattr(peer.GGUFWriter, name)).parameters.values()]


def test_members_of_enums_may_be_numbers() -> None:
    writer = GGUFWriter(None, "bert")
    writer.add_pooling_type(gufo.PoolingType.CLS)
    writer.add_rope_scaling_type("yarn")  # type: ignore[arg-type]
    assert writer.kv_data[0]["bert.pooling_type"].value == 2
    assert writer.kv_data[0]["bert.rope.scaling.type"].value == "yarn"


def test_chat_templates() -> None:
    writer = GGUFWriter(None, "llama")
    writer.add_chat_template([{"name": "default", "template": "D"}, {"name": "tool use", "template": "T"},
                              {"name": "", "template": "x"}, {"name": "q"}])
    assert [(key, value.value) for key, value in writer.kv_data[0].items()][1:] == [
        ("tokenizer.chat_template.tool_use", "T"), ("tokenizer.chat_templates", ["tool_use"]),
        ("tokenizer.chat_template", "D")]


# -- values

def test_empty_values_add_nothing() -> None:
    writer = GGUFWriter(None, "llama")
    writer.add_string("a", "")
    writer.add_array("b", [])
    writer.add_array("c", np.array([], dtype=np.int8))
    assert list(writer.kv_data[0]) == ["general.architecture"]


def test_key_twice(caplog: pytest.LogCaptureFixture) -> None:
    writer = GGUFWriter(None, "llama")
    writer.add_uint32("a", 1)
    writer.add_uint32("b", 2)
    writer.add_string("a", "last")
    assert list(writer.kv_data[0]) == ["general.architecture", "a", "b"]
    assert writer.kv_data[0]["a"] == GGUFValue("last", GGUFValueType.STRING)
    assert "'a'" in caplog.text


@pytest.mark.parametrize("value", [[1, 2.0], [True, 1], ["a", 1], [None], [{}], [[1], []], [[]], [], b"",
                                   5, None, {1: 2}])
def test_arrays_without_a_type(tmp_path: Path, value: Any) -> None:
    with pytest.raises(ValueError, match="key 'k'"):
        array_bytes(tmp_path / "m.gguf", value)
    assert list(tmp_path.iterdir()) == []


def test_numpy_values(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"

    def header(kind: GGUFValueType, count: int) -> bytes:
        return struct.pack("<IQ", kind, count)

    assert array_bytes(path, np.array([1, 2], dtype=">u2")) == \
        header(GGUFValueType.UINT16, 2) + b"\1\0\2\0"
    assert array_bytes(path, np.array([True])) == header(GGUFValueType.BOOL, 1) + b"\1"
    assert array_bytes(path, np.array([1.5, 2.0])) == \
        header(GGUFValueType.FLOAT64, 2) + struct.pack("<2d", 1.5, 2)
    assert array_bytes(path, np.array([1, 2]), GGUFValueType.UINT8) == \
        header(GGUFValueType.UINT8, 2) + b"\1\2"
    assert array_bytes(path, np.array([[1], [2]], dtype=np.int8)) == \
        header(GGUFValueType.ARRAY, 2) + (header(GGUFValueType.INT8, 1) + b"\1"
                                          + header(GGUFValueType.INT8, 1) + b"\2")
    assert array_bytes(path, [np.int64(-1)]) == header(GGUFValueType.INT64, 1) + b"\xff" * 8
    assert array_bytes(path, [np.float32(1)]) == \
        header(GGUFValueType.FLOAT32, 1) + struct.pack("<f", 1)
    assert array_bytes(path, np.array([], dtype=np.int8)) == header(GGUFValueType.INT8, 0)
    assert array_bytes(path, [], GGUFValueType.STRING) == header(GGUFValueType.STRING, 0)
    with pytest.raises(ValueError, match="float16"):
        array_bytes(path, [np.float16(1)])


@pytest.mark.parametrize("kind, value", [
    ("UINT32", "1"), ("UINT32", 1.0), ("UINT32", None), ("UINT32", True), ("INT8", np.bool_(True)),
    ("UINT64", [1]), ("FLOAT32", "1.5"), ("FLOAT64", None), ("BOOL", "true"), ("BOOL", None),
    ("BOOL", []), ("STRING", 1), ("STRING", ["a"]), ("STRING", None)])
def test_wrong_types(kind: str, value: Any) -> None:
    writer = GGUFWriter(None, "llama")
    with pytest.raises(TypeError, match="key 'some.key'.*" + kind):
        writer.add_key_value("some.key", value, GGUFValueType[kind])
    assert "some.key" not in writer.kv_data[0]


@pytest.mark.parametrize("kind, value", [("UINT8", 256), ("UINT8", -1), ("INT16", 1 << 15),
                                         ("UINT64", 1 << 64), ("FLOAT32", 1e300)])
def test_numbers_that_do_not_fit(tmp_path: Path, kind: str, value: Any) -> None:
    with GGUFWriter(tmp_path / "m.gguf", "llama") as writer:
        writer.add_key_value("some.key", value, GGUFValueType[kind])
        writer.write_header_to_file()
        with pytest.raises((struct.error, OverflowError), match="key 'some.key'"):
            writer.write_kv_data_to_file()


# -- tensors

def test_tensors_keep_type_and_shape() -> None:
    writer = GGUFWriter(None, "llama")
    data = np.zeros((2, 3, 34), dtype=np.uint8)
    writer.add_tensor("a", data, raw_dtype=GGMLQuantizationType.Q8_0)
    writer.add_tensor("b", data, raw_shape=(6, 34), raw_dtype=GGMLQuantizationType.Q8_0)
    assert writer.tensors == [{
        "a": TensorInfo((2, 3, 32), GGMLQuantizationType.Q8_0, 204, data),
        "b": TensorInfo((6, 32), GGMLQuantizationType.Q8_0, 204, data)}]


@pytest.mark.parametrize("array", [np.zeros(2, np.uint8), np.zeros(2, np.complex64), np.zeros(2, bool),
                                   np.zeros((1, 1, 1, 1, 1), np.float32)])
def test_tensors_that_do_not_fit(array: Any) -> None:
    with pytest.raises(ValueError, match="'name'"):
        GGUFWriter(None, "llama").add_tensor("name", array)


def test_tensor_name_twice() -> None:
    writer = written(Path("unused"), split_max_tensors=1)
    writer.add_tensor("b", np.zeros(1, np.int8))
    with pytest.raises(ValueError, match="'a'"):
        writer.add_tensor("a", np.zeros(1, np.int8))


class LazyArray:
    """Only what the writer may use."""

    def __init__(self, data: np.ndarray[Any, Any]) -> None:
        self._hidden = data
        self.shape, self.dtype, self.nbytes = data.shape, data.dtype, data.nbytes

    def byteswap(self, inplace: bool) -> LazyArray:
        assert inplace is False
        return LazyArray(self._hidden.byteswap())

    def tofile(self, file: Any) -> None:
        self._hidden.tofile(file)


@pytest.mark.parametrize("big", [False, True])
def test_lazy_and_strided_arrays(tmp_path: Path, big: bool) -> None:
    data = np.arange(24, dtype=np.int16).reshape(4, 6)
    files = []
    for name, array in (("plain", data[:, ::2].copy()), ("strided", data[:, ::2]),
                        ("lazy", LazyArray(data[:, ::2].copy()))):
        path = tmp_path / name
        writer = GGUFWriter(path, "llama", endianess=GGUFEndian.BIG if big else GGUFEndian.LITTLE)
        writer.add_tensor("a", array)  # type: ignore[arg-type]
        finish(writer)
        files.append(path.read_bytes())
    assert files[0] == files[1] == files[2]


def test_swapped_data_is_not_swapped_again(tmp_path: Path) -> None:
    writer = GGUFWriter(tmp_path / "m.gguf", "llama", endianess=GGUFEndian.BIG)
    writer.add_tensor("a", np.array([1], ">i4"), raw_dtype=GGMLQuantizationType.I32,
                      tensor_endianess=GGUFEndian.BIG)
    finish(writer)
    assert (tmp_path / "m.gguf").read_bytes().endswith(b"\0\0\0\1" + bytes(28))


def test_tensors_are_written_once(tmp_path: Path) -> None:
    writer = written(tmp_path / "m.gguf")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    assert writer.tensors[0]["a"].tensor is None
    with pytest.raises(ValueError, match="KV_DATA"):
        writer.write_tensors_to_file()


def test_tensor_data_of_another_size(tmp_path: Path) -> None:
    with written(tmp_path / "m.gguf") as writer:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
        with pytest.raises(ValueError, match="'a' has 12 bytes, not 8"):
            writer.write_tensor_data(np.zeros(2, np.float32))
        writer.write_tensor_data(np.zeros(3, np.float32))
        with pytest.raises(ValueError, match="already"):
            writer.write_tensor_data(np.zeros(3, np.float32))


def test_temporary_file_over_shards(tmp_path: Path) -> None:
    folders = []
    for use in (False, True):
        folder = tmp_path / str(use)
        folder.mkdir()
        writer = written(folder / "m.gguf", use_temp_file=use, split_max_tensors=1)
        writer.add_tensor("b", np.arange(5, dtype=np.int64))
        finish(writer)
        folders.append([file.read_bytes() for file in sorted(folder.iterdir())])
    assert folders[0] == folders[1] and len(folders[0]) == 2


@pytest.mark.parametrize("shapes, count", [
    ({"a.weight": (2, 3)}, (6, 6, 0, 0)),
    ({"a.weight": (2, 3), "b_exps.weight": (4, 2, 5)}, (46, 6, 10, 4)),
    ({"b_exps.bias": (4, 5)}, (20, 20, 0, 0)),
    ({"b_exps.bias": (2, 4, 5)}, (40, 0, 10, 4)),
    ({"x.lora_a": (2, 9), "x.lora_b": (5, 2)}, (-45, 45, 0, 0)),
    ({"x.lora_b": (5, 2), "x.lora_a": (2, 9)}, (0, 0, 0, 0))])
def test_parameter_count(shapes: dict[str, tuple[int, ...]], count: tuple[int, ...]) -> None:
    writer = GGUFWriter(None, "llama")
    for name, shape in shapes.items():
        writer.add_tensor(name, np.zeros(shape, np.float32))
    assert writer.get_total_parameter_count() == count


def test_parameter_count_as_reference(peer: ModuleType) -> None:
    for seed in range(100):
        counts = []
        for module in (gufo, peer):
            writer = module.GGUFWriter(None, "llama", split_max_tensors=2)
            for tensor in writer_plans.random_plan(seed).tensors:
                writer.add_tensor(tensor.name, tensor.data,
                                  raw_dtype=module.GGMLQuantizationType[tensor.type])
            counts.append(writer.get_total_parameter_count())
        assert counts[0] == counts[1]


# -- order of calls, files

def test_order_of_calls(tmp_path: Path) -> None:
    writer = written(tmp_path / "m.gguf")
    steps = [(writer.write_header_to_file, WriterState.HEADER),
             (writer.write_kv_data_to_file, WriterState.KV_DATA),
             (writer.write_tensors_to_file, WriterState.WEIGHTS)]
    for late in (writer.write_kv_data_to_file, writer.write_tensors_to_file,
                 writer.write_ti_data_to_file):
        with pytest.raises(ValueError, match="NO_FILE"):
            late()
    for step, state in steps:
        step()
        assert writer.state is state
        for again in (writer.write_header_to_file, step,
                      lambda: writer.add_tensor("z", np.zeros(1, np.int8))):
            with pytest.raises(ValueError):
                again()
    writer.close()
    writer.close()


def test_path_that_comes_late(tmp_path: Path) -> None:
    writer = GGUFWriter(None, "llama")
    with pytest.raises(ValueError, match="NO_FILE"):
        writer.write_header_to_file()
    writer.open_output_file(tmp_path / "m.gguf")
    writer.open_output_file()
    writer.open_output_file(tmp_path / "m.gguf")
    assert writer.state is WriterState.EMPTY
    with pytest.raises(ValueError):
        writer.open_output_file(tmp_path / "other.gguf")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file(progress=True)
    writer.close()
    assert [path.name for path in tmp_path.iterdir()] == ["m.gguf"]


def test_name_comes_at_close(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"old")
    path.chmod(0o640)
    (tmp_path / "link.gguf").symlink_to("m.gguf")
    writer = written(tmp_path / "link.gguf")
    writer.write_header_to_file()
    assert path.read_bytes() == b"old"
    assert writer.fout is not None and writer.fout[0].name == str(path)
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    assert path.read_bytes()[:4] == b"GGUF"
    assert (tmp_path / "link.gguf").is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert len(list(tmp_path.iterdir())) == 2


def test_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), written(path) as writer:
        writer.write_header_to_file()
        raise RuntimeError
    half = written(path)
    half.write_header_to_file()
    half.write_kv_data_to_file()
    del half
    gc.collect()
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


@contextmanager
def small_disk(size: int) -> Iterator[None]:
    """Lets no file become larger."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def old_shards(folder: Path) -> list[Path]:
    paths = [folder / f"m-0000{number}-of-00002.gguf" for number in (1, 2)]
    for path in paths:
        path.write_bytes(b"old")
    return paths


def two_shards(folder: Path) -> GGUFWriter:
    writer = GGUFWriter(folder / "m.gguf", "llama", split_max_tensors=1)
    for name in "ab":
        writer.add_tensor(name, np.zeros(5000, np.float32))
    return writer


@pytest.mark.parametrize("way", ["with", "finally", "forgotten"])
def test_full_disk_leaves_the_old_set(tmp_path: Path, way: str) -> None:
    paths = old_shards(tmp_path)
    writer = two_shards(tmp_path)
    with pytest.raises(OSError, match="too large"), small_disk(8192):
        if way == "with":
            with writer:
                finish(writer)
        try:
            finish(writer)
        finally:
            if way == "finally":
                writer.close()
    writer.close()
    del writer
    gc.collect()
    assert [path.read_bytes() for path in paths] == [b"old", b"old"]
    assert sorted(tmp_path.iterdir()) == paths


def test_full_disk_at_the_end(tmp_path: Path) -> None:
    [path, _] = paths = old_shards(tmp_path)
    writer = two_shards(tmp_path)
    writer.write_header_to_file()
    assert writer.fout is not None
    writer.fout[1].write(bytes(100))  # is in the buffer
    with small_disk(64):
        with pytest.raises(RuntimeError), writer:
            raise RuntimeError
    assert path.read_bytes() == b"old"
    assert sorted(tmp_path.iterdir()) == paths


class FailingArray:
    """Fails when half of it is written."""

    shape, dtype, nbytes = (8,), np.dtype(np.float32), 32

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def tofile(self, file: Any) -> None:
        file.write(bytes(16))
        raise self.error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("one_by_one", [False, True])
def test_close_after_a_failure(tmp_path: Path, error: type[BaseException], one_by_one: bool) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"old")
    writer = GGUFWriter(path, "llama")
    array: Any = FailingArray(error)
    writer.add_tensor("a", array)
    with pytest.raises(error):
        try:
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
            if one_by_one:
                writer.write_ti_data_to_file()
                writer.write_tensor_data(array)
            writer.write_tensors_to_file()
        finally:
            writer.close()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_close_after_a_value_that_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    writer = GGUFWriter(path, "llama")
    writer.add_uint8("some.key", 256)
    with pytest.raises((struct.error, OverflowError)):
        try:
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
        finally:
            writer.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("again", [False, True])
def test_close_after_data_of_another_size(tmp_path: Path, again: bool) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"old")
    writer = written(path)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    with pytest.raises(ValueError, match="12 bytes"):
        writer.write_tensor_data(np.zeros(2, np.float32))
    if again:
        writer.write_tensor_data(np.zeros(3, np.float32))
    writer.close()
    assert path.read_bytes()[:4] == (b"GGUF" if again else b"old")
    assert list(tmp_path.iterdir()) == [path]


def test_close_of_an_unfinished_file(tmp_path: Path) -> None:
    """As the reference has it, on which converters of vocabularies depend."""
    writer = written(tmp_path / "m.gguf")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    assert (tmp_path / "m.gguf").read_bytes()[:4] == b"GGUF"


WITHOUT_CLOSE = """
import os, sys, numpy, gufo
writer = gufo.GGUFWriter(sys.argv[1], "llama")
array = numpy.arange(3, dtype=numpy.float32)
if sys.argv[2] != "none":
    writer.add_tensor("a", array)
writer.write_header_to_file()
writer.write_kv_data_to_file()
if sys.argv[2] == "one by one":
    writer.write_ti_data_to_file()
    writer.write_tensor_data(array)
else:
    writer.write_tensors_to_file()
"""


@pytest.mark.parametrize("tensors", ["none", "all", "one by one"])
def test_complete_file_without_close(tmp_path: Path, tensors: str) -> None:
    path = tmp_path / "m.gguf"
    subprocess.run([sys.executable, "-c", WITHOUT_CLOSE, path, tensors], check=True)
    reader = gufo.GGUFReader(path)
    assert [tensor.data.tolist() for tensor in reader.tensors] == [[0, 1, 2]] * (tensors != "none")
    assert list(tmp_path.iterdir()) == [path]


CHILD = """
import os, sys, gufo
writer = gufo.GGUFWriter(sys.argv[1], "llama")
writer.write_header_to_file()
if sys.argv[2] == "complete":
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
child = os.fork()
if child == 0:
    if sys.argv[2] == "with":
        with writer:
            sys.exit()
    sys.exit()
assert os.waitpid(child, 0)[1] == 0
assert not os.path.exists(sys.argv[1])
if sys.argv[2] != "complete":
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
writer.close()
"""


@pytest.mark.parametrize("state", ["half", "complete", "with"])
def test_child_leaves_the_file_to_its_parent(tmp_path: Path, state: str) -> None:
    path = tmp_path / "m.gguf"
    subprocess.run([sys.executable, "-c", CHILD, path, state], check=True)
    assert list(gufo.GGUFReader(path).fields)[-1] == "general.architecture"
    assert list(tmp_path.iterdir()) == [path]


def test_path_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    ignored: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    with pytest.raises(TypeError):
        OutputFile(None)  # type: ignore[arg-type]
    gc.collect()
    assert ignored == []


def test_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with GGUFWriter(tmp_path / "pipe", "llama") as writer:
        writer.write_header_to_file()
    assert os.read(reader, 4) == b"GGUF"
    os.close(reader)


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no/m.gguf"):
        GGUFWriter(tmp_path / "no/m.gguf", "llama").write_header_to_file()


def test_smaller_set_over_a_larger_one(tmp_path: Path) -> None:
    first = tmp_path / "m-00001-of-00002.gguf"
    first.write_bytes(b"old")
    writer = written(tmp_path / "m.gguf", small_first_shard=True)
    finish(writer)
    assert first.read_bytes()[:4] == b"GGUF"
    assert (tmp_path / "m-00002-of-00002.gguf").exists()


def test_dry_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    writer = written(tmp_path / "m.gguf", dry_run=True, split_max_tensors=1)
    writer.add_tensor("b", np.zeros(1, np.int8))
    with pytest.raises(SystemExit) as exit_info:
        writer.write_header_to_file()
    assert not exit_info.value.code
    assert capsys.readouterr().out.splitlines() == [
        str(tmp_path / "m-00001-of-00002.gguf"), str(tmp_path / "m-00002-of-00002.gguf")]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("alignment", [0, -8, 3])
def test_alignments_that_are_none(alignment: int) -> None:
    writer = GGUFWriter(None, "llama")
    with pytest.raises(ValueError, match="power of two"):
        writer.add_custom_alignment(alignment)
    assert Keys.General.ALIGNMENT not in writer.kv_data[0]


@pytest.mark.parametrize("size, text", [
    (0, "negligible - metadata only"), (999, "999.0"), (1000, "1.0K"), (1234567, "1.2M"),
    (10 ** 9, "1.0G"), (10 ** 12 + 5, "1.0T - over 1TB, split recommended")])
def test_sizes(size: int, text: str) -> None:
    assert GGUFWriter.format_n_bytes_to_str(size) == text


# -- other readers, other programs

def test_files_open_and_validate(tmp_path: Path) -> None:
    for seed in range(40):
        plan = writer_plans.random_plan(seed)
        if plan.max_tensors or plan.max_size or plan.small_first:
            plan.alignment = 32  # later shards do not name another
        folder = tmp_path / str(seed)
        folder.mkdir()
        for file in writer_plans.write(plan, gufo, folder / "m.gguf"):
            reader = gufo.GGUFReader(file)
            assert reader.endianess == (GGUFEndian.BIG if plan.big else GGUFEndian.LITTLE)
            for tensor in reader.tensors:
                wanted = next(t for t in plan.tensors if t.name == tensor.name)
                assert (np.asarray(tensor.data).reshape(-1) == wanted.data.reshape(-1)).all()


def test_copy_loop(tmp_path: Path) -> None:
    """The loop of so many scripts: every field and tensor of a reader, into a writer."""
    plan = writer_plans.random_plan(7)
    plan.max_tensors = plan.max_size = 0
    plan.small_first = plan.one_by_one = False
    plan.values = [v for v in plan.values if not (v[1] == "ARRAY" and isinstance(v[2][0], list))]
    [source] = writer_plans.write(plan, gufo, tmp_path / "m.gguf")
    reader = gufo.GGUFReader(source)
    copy = tmp_path / "copy.gguf"
    writer = gufo.GGUFWriter(copy, plan.arch, endianess=reader.endianess)
    writer.data_alignment = reader.alignment
    for field in reader.fields.values():
        if field.name == Keys.General.ARCHITECTURE or field.name.startswith("GGUF."):
            continue
        sub_type = field.types[-1] if field.types[0] == GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), field.types[0], sub_type)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, tensor.data, raw_shape=tensor.data.shape,
                          raw_dtype=tensor.tensor_type, tensor_endianess=reader.endianess)
    finish(writer)
    assert copy.read_bytes() == source.read_bytes()


def test_texts_that_are_none() -> None:
    pack = gufo._core.pack_strings
    assert pack(("é", b"\xff", bytearray(b"")), False) == \
        b"\2" + bytes(7) + "é".encode() + b"\1" + bytes(7) + b"\xff" + bytes(8)
    assert pack(["a"], True) == bytes(7) + b"\1a"
    for bad, error in ((["a", 1], TypeError), (None, TypeError), (["\ud800"], UnicodeEncodeError)):
        with pytest.raises(error):
            pack(bad, False)
