"""GGUFWriter: metadata and tensors as a GGUF file, or as a set of shards.

Calls come in this order, which the writer checks:

    add_*  ->  write_header_to_file  ->  write_kv_data_to_file  ->  write_tensors_to_file  ->  close
                                                               \\->  write_ti_data_to_file
                                                                    write_tensor_data, per tensor

Arrays stay with the caller until they are written.  Of an array that is not numpy's (a lazy one)
only shape, dtype, nbytes, byteswap and tofile are used.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from math import prod
from pathlib import Path
from string import ascii_letters, digits
from typing import IO, Any, Iterator, Mapping, Sequence

import numpy as np

from .constants import (GGUF_DEFAULT_ALIGNMENT, GGUF_MAGIC, GGUF_VERSION, GGMLQuantizationType,
                        GGUFEndian, GGUFValueType, Keys)
from .gguf_writer_methods import WriterMethods
from .output_file import OutputFile, close_all
from .value_bytes import ValuePacker, check_type

logger = logging.getLogger(__name__)

SHARD_NAME_FORMAT = "{:s}-{:05d}-of-{:05d}.gguf"
MAX_DIMENSIONS = 4
SPOOLED_BYTES = 256 << 20
COPIED_BYTES = 8 << 20
TEMPLATE_NAME_CHARACTERS = frozenset(ascii_letters + digits)

_TENSOR_TYPES = {np.dtype(name): GGMLQuantizationType[member] for name, member in (
    ("float16", "F16"), ("float32", "F32"), ("float64", "F64"),
    ("int8", "I8"), ("int16", "I16"), ("int32", "I32"), ("int64", "I64"))}
_HOST_ORDER = GGUFEndian.BIG if sys.byteorder == "big" else GGUFEndian.LITTLE


@dataclass
class TensorInfo:
    shape: Sequence[int]
    dtype: GGMLQuantizationType
    nbytes: int
    tensor: np.ndarray[Any, Any] | None = None


@dataclass
class GGUFValue:
    value: Any
    type: GGUFValueType
    sub_type: GGUFValueType | None = None


class WriterState(Enum):
    NO_FILE = auto()
    EMPTY = auto()
    HEADER = auto()
    KV_DATA = auto()
    TI_DATA = auto()
    WEIGHTS = auto()


class GGUFWriter(WriterMethods):
    fout: list[OutputFile] | None
    path: Path | None
    temp_file: tempfile.SpooledTemporaryFile[bytes] | None
    tensors: list[dict[str, TensorInfo]]
    kv_data: list[dict[str, GGUFValue]]
    state: WriterState

    def __init__(
        self, path: os.PathLike[str] | str | None, arch: str, use_temp_file: bool = False,
        endianess: GGUFEndian = GGUFEndian.LITTLE, split_max_tensors: int = 0,
        split_max_size: int = 0, dry_run: bool = False, small_first_shard: bool = False,
    ) -> None:
        self.fout = None
        self.state = WriterState.NO_FILE
        self._complete = False
        self._refused = False  # the last array did not fit its tensor
        self.path = Path(path) if path else None
        self.arch = arch
        self.endianess = endianess
        self.data_alignment = GGUF_DEFAULT_ALIGNMENT
        self.use_temp_file = use_temp_file
        self.temp_file = None
        self.split_max_tensors = split_max_tensors
        self.split_max_size = split_max_size
        self.dry_run = dry_run
        self.small_first_shard = small_first_shard
        shards = 2 if small_first_shard else 1
        self.tensors = [{} for _ in range(shards)]
        self.tensors_nbytes = [0] * shards
        self.kv_data = [{}]
        self._packer = ValuePacker(endianess == GGUFEndian.BIG)
        logger.info("The file is %s-endian", "big" if endianess == GGUFEndian.BIG else "little")
        self.add_architecture()

    def __enter__(self) -> GGUFWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self._discard()

    def __del__(self) -> None:
        # programs that forget close() get their file, if it is complete
        files = getattr(self, "fout", None)
        if files is None or not all(file.is_own() for file in files):
            return
        if self._complete:
            self.close()
        else:
            self._discard()

    # -- metadata

    def add_key_value(self, key: str, val: Any, vtype: GGUFValueType,
                      sub_type: GGUFValueType | None = None) -> None:
        vtype = GGUFValueType(vtype)
        check_type(key, val, vtype)
        if any(key in kv_data for kv_data in self.kv_data):
            logger.warning("The key %r exists; it gets the new value %.200r of type %s",
                           key, val, vtype.name)
        self.kv_data[0][key] = GGUFValue(val, vtype, sub_type)

    def add_string(self, key: str, val: str) -> None:
        """Adds a text; an empty one adds nothing."""
        if val:
            self.add_key_value(key, val, GGUFValueType.STRING)

    def add_array(self, key: str, val: Sequence[Any]) -> None:
        """Adds an array; an empty one adds nothing, because its element type is unknown."""
        if len(val) > 0:
            self.add_key_value(key, val, GGUFValueType.ARRAY)

    def add_architecture(self) -> None:
        self.add_string(Keys.General.ARCHITECTURE, self.arch)

    def add_custom_alignment(self, alignment: int) -> None:
        if alignment <= 0 or alignment & (alignment - 1):
            raise ValueError(f"an alignment is a power of two, not {alignment}")
        self.data_alignment = alignment
        self.add_uint32(Keys.General.ALIGNMENT, alignment)

    def add_dense_features_dims(self, dense: str, in_f: int, out_f: int) -> None:
        for key, size in ((Keys.LLM.DENSE_FEAT_IN_SIZE, in_f), (Keys.LLM.DENSE_FEAT_OUT_SIZE, out_f)):
            self.add_uint32(key.format(arch=self.arch, dense=dense), size)

    def add_chat_template(self, value: str | Sequence[Mapping[str, str]]) -> None:
        """Adds one template, or several with names, of which `default` is the main one."""
        if isinstance(value, str):
            self.add_string(Keys.Tokenizer.CHAT_TEMPLATE, value)
            return
        named = {}
        main = None
        for choice in value:
            name, template = choice.get("name", ""), choice.get("template")
            if not name or template is None:
                continue
            if name == "default":
                main = template
            else:
                named[_template_name(name)] = template
        for name, template in named.items():
            self.add_string(Keys.Tokenizer.CHAT_TEMPLATE_N.format(name=name), template)
        self.add_array(Keys.Tokenizer.CHAT_TEMPLATES, list(named))
        if main is not None:
            self.add_string(Keys.Tokenizer.CHAT_TEMPLATE, main)

    # -- tensors

    @staticmethod
    def ggml_pad(x: int, n: int) -> int:
        return -(-x // n) * n

    def add_tensor_info(
        self, name: str, tensor_shape: Sequence[int], tensor_dtype: np.dtype[Any],
        tensor_nbytes: int, raw_dtype: GGMLQuantizationType | None = None,
    ) -> None:
        self._expect(WriterState.NO_FILE)
        if any(name in tensors for tensors in self.tensors):
            raise ValueError(f"the tensor name {name!r} exists")
        dtype = _tensor_type(name, tensor_dtype) if raw_dtype is None else raw_dtype
        if raw_dtype is not None and tensor_dtype == np.uint8:
            from .quants import quant_shape_from_byte_shape
            tensor_shape = quant_shape_from_byte_shape(tensor_shape, raw_dtype)
        if len(tensor_shape) > MAX_DIMENSIONS:
            raise ValueError(f"tensor {name!r}: {len(tensor_shape)} dimensions "
                             f"exceed GGML_MAX_DIMS ({MAX_DIMENSIONS})")
        if self._is_full(tensor_nbytes):
            self.tensors.append({})
            self.tensors_nbytes.append(0)
        self.tensors[-1][name] = TensorInfo(tensor_shape, dtype, tensor_nbytes)
        self.tensors_nbytes[-1] += tensor_nbytes

    def _is_full(self, more: int) -> bool:
        """Whether the last shard has no room for `more` bytes; an empty one has."""
        count = len(self.tensors[-1])
        too_many = self.split_max_tensors != 0 and count >= self.split_max_tensors
        too_large = self.split_max_size != 0 \
            and self.tensors_nbytes[-1] + more > self.split_max_size
        return count > 0 and (too_many or too_large)

    def add_tensor(
        self, name: str, tensor: np.ndarray[Any, Any], raw_shape: Sequence[int] | None = None,
        raw_dtype: GGMLQuantizationType | None = None, tensor_endianess: GGUFEndian | None = None,
    ) -> None:
        tensor = self._in_file_order(tensor, tensor_endianess)
        shape = tensor.shape if raw_shape is None else raw_shape
        self.add_tensor_info(name, shape, tensor.dtype, tensor.nbytes, raw_dtype=raw_dtype)
        if self.use_temp_file:
            if self.temp_file is None:
                self.temp_file = tempfile.SpooledTemporaryFile(max_size=SPOOLED_BYTES)
            _write_array(tensor, self.temp_file)
        else:
            self.tensors[-1][name].tensor = tensor

    def _in_file_order(self, tensor: np.ndarray[Any, Any],
                       order: GGUFEndian | None) -> np.ndarray[Any, Any]:
        # a copy: lazy arrays cannot be swapped in place
        same = (_HOST_ORDER if order is None else order) == self.endianess
        return tensor if same else tensor.byteswap(inplace=False)

    def get_total_parameter_count(self) -> tuple[int, int, int, int]:
        """Parameters in all, shared ones, those of one expert, and the number of experts.

        An adapter counts as the tensors that it changes; its total is negative.
        """
        shared = total = expert = 0
        expert_counts: list[int] = []
        lora_a: tuple[str, TensorInfo] | None = None
        for name, info in self._infos():
            shape = tuple(info.shape)
            if name.endswith(".lora_a"):
                lora_a = name, info
                continue
            if name.endswith(".lora_b"):
                if lora_a is None or lora_a[0] != name[:-1] + "a":
                    logger.warning("%s does not follow its lora_a: the size is unknown", name)
                    return 0, 0, 0, 0
                shape = shape[:-1] + (lora_a[1].shape[-1],)
            size = prod(shape)
            total += size
            if "_exps." in name and len(shape) >= 3:
                expert_counts.append(shape[-2 if ".bias" in name else -3])
                expert += size // expert_counts[-1]
            else:
                shared += size
        experts = sum(expert_counts) // len(expert_counts) if expert_counts else 0
        return total if lora_a is None else -total, shared, expert, experts

    def _infos(self) -> Iterator[tuple[str, TensorInfo]]:
        for tensors in self.tensors:
            yield from tensors.items()

    # -- files

    def format_shard_names(self, path: Path) -> list[Path]:
        count = len(self.tensors)
        if count == 1:
            return [path]
        return [path.with_name(SHARD_NAME_FORMAT.format(path.stem, i + 1, count))
                for i in range(count)]

    def print_plan(self) -> list[Path]:
        """Logs the files to come; a dry run prints their names and ends the program."""
        if self.path is None:
            raise ValueError("the writer has no path")
        names = self.format_shard_names(self.path)
        for name, tensors in zip(names, self.tensors):
            size = self.format_n_bytes_to_str(sum(info.nbytes for info in tensors.values()))
            logger.info("Writing %s: n_tensors = %d, total_size = %s", name, len(tensors), size)
        if self.dry_run:
            logger.info("A dry run writes no files")
            for name in names:
                print(name)
            sys.exit()
        return names

    def open_output_file(self, path: Path | None = None) -> None:
        if self.state is WriterState.EMPTY and path in (None, self.path):
            return
        self._expect(WriterState.NO_FILE)
        if path is not None:
            self.path = Path(path)
        if self.path is not None:
            self.fout = [OutputFile(name) for name in self.print_plan()]
            self.state = WriterState.EMPTY

    def add_shard_kv_data(self) -> None:
        count = len(self.tensors)
        if count == 1:
            return
        if self.data_alignment != GGUF_DEFAULT_ALIGNMENT:
            logger.warning("Only the first shard names the alignment %d; readers of the others "
                           "expect %d", self.data_alignment, GGUF_DEFAULT_ALIGNMENT)
        tensor_count = sum(map(len, self.tensors))
        self.kv_data.extend({} for _ in range(len(self.kv_data), count))
        for number, kv_data in enumerate(self.kv_data):
            kv_data[Keys.Split.LLM_KV_SPLIT_NO] = GGUFValue(number, GGUFValueType.UINT16)
            kv_data[Keys.Split.LLM_KV_SPLIT_COUNT] = GGUFValue(count, GGUFValueType.UINT16)
            kv_data[Keys.Split.LLM_KV_SPLIT_TENSORS_COUNT] = GGUFValue(tensor_count,
                                                                       GGUFValueType.INT32)

    def write_header_to_file(self, path: Path | None = None) -> None:
        if len(self.tensors) == 1 and (self.split_max_tensors or self.split_max_size):
            logger.warning("The model is too small for a split; it stays one file")
        self.open_output_file(path)
        files = self._files(WriterState.EMPTY)
        self.add_shard_kv_data()
        with self._writing():
            for file, tensors, kv_data in zip(files, self.tensors, self.kv_data):
                # the magic reads "GGUF" in either byte order
                file.write(GGUF_MAGIC.to_bytes(4, "little") + self._packer.u32(GGUF_VERSION)
                           + self._packer.u64(len(tensors)) + self._packer.u64(len(kv_data)))
            self.flush()
        self.state = WriterState.HEADER

    def write_kv_data_to_file(self) -> None:
        files = self._files(WriterState.HEADER)
        with self._writing():
            for file, kv_data in zip(files, self.kv_data):
                file.write(b"".join(self._packer.entry(key, val.value, val.type, val.sub_type)
                                    for key, val in kv_data.items()))
            self.flush()
        self.state = WriterState.KV_DATA

    def write_ti_data_to_file(self) -> None:
        files = self._files(WriterState.KV_DATA)
        with self._writing():
            for file, tensors in zip(files, self.tensors):
                file.write(self._tensor_infos(tensors))
            self.flush()
        self.state = WriterState.TI_DATA

    def _tensor_infos(self, tensors: dict[str, TensorInfo]) -> bytes:
        u32, u64 = self._packer.u32, self._packer.u64
        data = bytearray()
        offset = 0
        for name, info in tensors.items():
            data += self._packer.string(name) + u32(len(info.shape))
            data += b"".join(map(u64, reversed(tuple(info.shape))))
            data += u32(info.dtype) + u64(offset)
            offset += self.ggml_pad(info.nbytes, self.data_alignment)
        return bytes(data)

    def write_tensor_data(self, tensor: np.ndarray[Any, Any],
                          tensor_endianess: GGUFEndian | None = None) -> None:
        """Writes the data of the first tensor that has none yet."""
        files = self._files(WriterState.TI_DATA, WriterState.WEIGHTS)
        tensor = self._in_file_order(tensor, tensor_endianess)
        shard = next((i for i, tensors in enumerate(self.tensors) if tensors), None)
        if shard is None:
            raise ValueError("all tensors have their data already")
        name, info = next(iter(self.tensors[shard].items()))
        self._refused = info.nbytes != tensor.nbytes
        if self._refused:
            raise ValueError(f"tensor {name!r} has {info.nbytes} bytes, not {tensor.nbytes}")
        del self.tensors[shard][name]
        with self._writing():
            self.write_padding(files[shard], files[shard].tell())
            _write_array(tensor, files[shard])
            self.write_padding(files[shard], tensor.nbytes)
        self.state = WriterState.WEIGHTS
        self._complete = not any(self.tensors)

    def write_tensors_to_file(self, *, progress: bool = False) -> None:
        self.write_ti_data_to_file()
        files = self._files(WriterState.TI_DATA)
        with self._writing(), _Progress(progress, self.tensors) as bars:
            if self.temp_file is not None:
                self.temp_file.seek(0)
            for file, tensors in zip(files, self.tensors):
                bars.next_shard(tensors)
                self.write_padding(file, file.tell())
                for name, info in tensors.items():
                    self._write_data(name, info, file)
                    self.write_padding(file, info.nbytes)
                    bars.update(info.nbytes)
            self.flush()
        if self.temp_file is not None:
            self.temp_file.close()
        self.state = WriterState.WEIGHTS
        self._complete = True

    def _write_data(self, name: str, info: TensorInfo, file: OutputFile) -> None:
        if self.temp_file is not None:
            _copy(self.temp_file, file, info.nbytes)
            return
        if info.tensor is None or info.tensor.nbytes != info.nbytes:
            raise ValueError(f"tensor {name!r} has no array of {info.nbytes} bytes to write")
        _write_array(info.tensor, file)
        info.tensor = None

    def write_padding(self, fp: IO[bytes], n: int, align: int | None = None) -> None:
        fp.write(bytes(self.ggml_pad(n, self.data_alignment if align is None else align) - n))

    def flush(self) -> None:
        if self.fout is not None:
            for file in self.fout:
                file.flush()

    def close(self) -> None:
        """Gives the files their names; those of a writer that has failed are gone."""
        if self.fout is None:
            return
        if self._refused:
            self._discard()
            return
        with self._writing():
            close_all(self.fout)
        self.fout = None

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Discards the files where it fails: close() in a `finally` must not name half a file."""
        try:
            yield
        except BaseException:
            self._discard()
            raise

    def _discard(self) -> None:
        files, self.fout = self.fout or [], None
        with ExitStack() as stack:  # all of them, even if one fails
            for file in files:
                stack.callback(file.discard)

    def _files(self, *states: WriterState) -> list[OutputFile]:
        self._expect(*states)
        if self.fout is None:
            raise ValueError("the output file is closed")
        return self.fout

    def _expect(self, *states: WriterState) -> None:
        if self.state not in states:
            wanted = " or ".join(state.name for state in states)
            raise ValueError(f"the state of the output file must be {wanted}, "
                             f"but is {self.state.name}")

    @staticmethod
    def format_n_bytes_to_str(num: int) -> str:
        if num == 0:
            return "negligible - metadata only"
        size = float(num)
        for unit in ("", "K", "M", "G"):
            if abs(size) < 1000:
                return f"{size:.1f}{unit}"
            size /= 1000
        return f"{size:.1f}T - over 1TB, split recommended"


def _template_name(name: str) -> str:
    return "".join(c if c in TEMPLATE_NAME_CHARACTERS else "_" for c in name)


def _tensor_type(name: str, dtype: np.dtype[Any]) -> GGMLQuantizationType:
    found = _TENSOR_TYPES.get(np.dtype(dtype))
    if found is None:
        names = ", ".join(member.name for member in _TENSOR_TYPES.values())
        raise ValueError(f"tensor {name!r}: {dtype} is none of {names}; name the type as raw_dtype")
    return found


def _write_array(tensor: Any, file: IO[bytes]) -> None:
    if isinstance(tensor, np.ndarray):
        file.write(np.ascontiguousarray(tensor).reshape(-1).view(np.uint8).data)
    else:
        tensor.tofile(file)


def _copy(source: IO[bytes], target: IO[bytes], count: int) -> None:
    while count > 0:
        data = source.read(min(count, COPIED_BYTES))
        if not data:
            raise EOFError("the temporary file is too short")
        target.write(data)
        count -= len(data)


class _Progress:
    """Bars of tqdm over all bytes and, of several shards, over the bytes of one."""

    def __init__(self, wanted: bool, tensors: list[dict[str, TensorInfo]]) -> None:
        self.shard_count = len(tensors)
        self.shard = 0
        self.bars: list[Any] = []
        if wanted:
            self._start(sum(map(_total_bytes, tensors)))

    def _start(self, total: int) -> None:
        try:
            from tqdm import tqdm
        except ImportError:
            logger.warning("Progress is shown by the package tqdm, which is not installed")
            return
        if self.shard_count > 1:
            self.bars.append(tqdm(total=None, unit="byte", unit_scale=True))
        self.bars.append(tqdm(desc="Writing", total=total, unit="byte", unit_scale=True))

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        for bar in self.bars:
            bar.close()

    def next_shard(self, tensors: dict[str, TensorInfo]) -> None:
        self.shard += 1
        if len(self.bars) > 1:
            self.bars[0].set_description(f"Shard ({self.shard}/{self.shard_count})")
            self.bars[0].reset(total=_total_bytes(tensors) or None)

    def update(self, count: int) -> None:
        for bar in self.bars:
            bar.update(count)


def _total_bytes(tensors: dict[str, TensorInfo]) -> int:
    return sum(info.nbytes for info in tensors.values())
