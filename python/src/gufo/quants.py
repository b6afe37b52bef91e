"""Numbers to blocks and back, for every element type that the library encodes or decodes.

    >>> data = numpy.random.randn(4096, 4096).astype("float32")
    >>> blocks = quantize(data, GGMLQuantizationType.Q4_K)
    >>> blocks.shape, blocks.dtype                 # rows of 16 blocks, 144 bytes each
    ((4096, 2304), dtype('uint8'))
    >>> dequantize(blocks, GGMLQuantizationType.Q4_K).shape
    (4096, 4096)

Every type is also a class, `quants.Q4_K`, with the functions for blocks.  The classes are rows of the
library's type table; the coding itself is the library's, on all processors.

An array that is laid out as the library wants it (rows of whole bytes or of float32) is handed over
as it is.  Any other is brought into that form piece by piece, so that a tensor of many gigabytes needs
its result and some megabytes more.
"""

from __future__ import annotations

from abc import ABC
from math import prod
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence, TypeVar, cast

import numpy as np

from . import _core
from .constants import GGML_QUANT_SIZES, QK_K, GGMLQuantizationType
from .lazy import LazyNumpyTensor

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Array = np.ndarray[Any, Any]

_Tensor = TypeVar("_Tensor", "np.ndarray[Any, Any]", LazyNumpyTensor)

_EFFORTS = {"reference": 0, "high": 1}
_PIECE_BYTES = 8 << 20  # what is converted at a time


class QuantError(Exception):
    """An array cannot be quantized to a type because of its shape."""


# ---- shapes --------------------------------------------------------------------------------------


def _sizes(qtype: int) -> tuple[int, int]:
    if qtype in GGML_QUANT_SIZES:
        elements, size = GGML_QUANT_SIZES[GGMLQuantizationType(qtype)]
        return elements, size
    quant = _classes[qtype]
    return quant.block_size, quant.type_size


def _name(qtype: int) -> str:
    return getattr(qtype, "name", None) or (
        _classes[qtype].__name__ if qtype in _classes else str(qtype)
    )


def _scaled(shape: Sequence[int], unit: int, becomes: int, what: str) -> tuple[int, ...]:
    """`shape` with `becomes` in place of each `unit` of its last dimension."""
    if len(shape) == 0:
        raise ValueError("A quantized tensor needs at least one dimension")
    row = int(shape[-1])
    if row % unit != 0:
        raise ValueError(f"Quantized tensor {what.format(row)} ({unit})")
    return (*shape[:-1], row // unit * becomes)


def quant_shape_to_byte_shape(
    shape: Sequence[int], quant_type: GGMLQuantizationType
) -> tuple[int, ...]:
    """The shape in bytes of a tensor with this shape in elements."""
    elements, size = _sizes(quant_type)
    what = f"row size ({{}}) is not a multiple of {_name(quant_type)} block size"
    return _scaled(shape, elements, size, what)


def quant_shape_from_byte_shape(
    shape: Sequence[int], quant_type: GGMLQuantizationType
) -> tuple[int, ...]:
    """The shape in elements of a tensor with this shape in bytes."""
    elements, size = _sizes(quant_type)
    what = f"bytes per row ({{}}) is not a multiple of {_name(quant_type)} type size"
    return _scaled(shape, size, elements, what)


def np_roundf(n: Array) -> Array:
    """The nearest whole numbers; halves go away from zero, as C's roundf has it."""
    half = np.nextafter(np.asarray(0.5, dtype=n.dtype), np.asarray(0, dtype=n.dtype))
    rounded: Array = np.trunc(n + np.copysign(half, n))
    return rounded


# ---- arrays in pieces ----------------------------------------------------------------------------


def _pieces(array: Array) -> Iterator[Array]:
    """Parts of an array, each with whole rows, in order.  Where there are enough rows, their number
    in a part divides by 8, which the interleaved types need."""
    if array.ndim == 1 or array.nbytes <= _PIECE_BYTES:
        yield array
        return
    each = array.nbytes // len(array)
    if array.ndim > 2 and each > _PIECE_BYTES:
        for part in array:
            yield from _pieces(part)
        return
    count = max(1, _PIECE_BYTES // each // 8) * 8
    for first in range(0, len(array), count):
        yield array[first : first + count]


def _as_bytes(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _as_floats(array: Array) -> Array:
    if array.dtype == np.float16 and array.dtype.isnative:
        # The library has the processor's instructions for it.
        out = np.empty(array.size, dtype=np.float32)
        _core.decode(GGMLQuantizationType.F16, _as_bytes(array), 1, array.size, out)
        return out
    return np.ascontiguousarray(array, dtype=np.float32).reshape(-1)


def _code(array: Array, ready: bool, out: Array, code: Callable[[Array, int, Array], None]) -> None:
    """Calls code(part, its rows, part of out) for the whole array if it is ready to be used, else
    piece by piece."""
    if array.size == 0:
        return
    rows = out.reshape(prod(array.shape[:-1]), -1)
    first = 0
    for part in [array] if ready else _pieces(array):
        count = prod(part.shape[:-1])
        code(part, count, rows[first : first + count].reshape(-1))
        first += count


# ---- types ---------------------------------------------------------------------------------------


class _Quant(ABC):
    """An element type.  Its subclasses are the rows of the library's table."""

    qtype: GGMLQuantizationType
    block_size: int  # elements of a block
    type_size: int  # its bytes
    # The points of a lattice, [1, 1, code, element]; None before init_grid, and for other types.
    grid: Array | None = None
    grid_shape: tuple[int, int] = (0, 0)
    kvalues: tuple[int, ...] = ()  # what the codes of a type with a table of values mean

    _flags: int
    _dtype: np.dtype[Any] = np.dtype(np.uint8)  # of what quantize gives

    def __init__(self) -> None:
        raise TypeError("the types of blocks are classes without instances")

    @classmethod
    def can_quantize(cls, tensor: Array | LazyNumpyTensor) -> bool:
        """Whether the rows of an array fill whole blocks."""
        return len(tensor.shape) > 0 and tensor.shape[-1] % cls.block_size == 0

    @classmethod
    def quantize(
        cls,
        tensor: _Tensor,
        importance: ArrayLike | None = None,
        effort: str = "reference",
        threads: int = 0,
    ) -> _Tensor:
        """See the function `quantize`."""
        if not cls._flags & _core.ELEMENT_ENCODES:
            raise NotImplementedError(f"Quantization to {cls.__name__} is not implemented")
        if not cls.can_quantize(tensor):
            raise QuantError(f"Can't quantize tensor with shape {tensor.shape} to {cls.__name__}")
        if importance is None and cls._flags & _core.ELEMENT_NEEDS_IMPORTANCE:
            raise NotImplementedError(f"Quantization to {cls.__name__} needs importance")
        if effort not in _EFFORTS:
            raise ValueError(f"effort is {effort!r}, but can be {' or '.join(map(repr, _EFFORTS))}")
        weights = None if importance is None else _importance(importance, tensor.shape)

        def encode(array: Array) -> Array:
            return cls._encode(array, weights, _EFFORTS[effort], threads)

        return _call(encode, tensor, cls._dtype, cls._encoded_shape)

    @classmethod
    def dequantize(cls, tensor: _Tensor, threads: int = 0) -> _Tensor:
        """See the function `dequantize`."""
        itemsize = tensor.dtype.itemsize

        def shape_in_elements(shape: tuple[int, ...]) -> tuple[int, ...]:
            in_bytes = (*shape[:-1], shape[-1] * itemsize) if shape else ()
            return quant_shape_from_byte_shape(in_bytes, cls.qtype)

        def decode(array: Array) -> Array:
            return cls._decode(array, shape_in_elements(array.shape), threads)

        shape_in_elements(tensor.shape)
        return _call(decode, tensor, np.dtype(np.float32), shape_in_elements)

    @classmethod
    def quantize_rows(cls, rows: Array) -> Array:
        return cls._encode(rows, None, 0, 0).view(np.uint8)

    @classmethod
    def dequantize_rows(cls, rows: Array) -> Array:
        shape = (*rows.shape[:-1], rows.shape[-1] * rows.itemsize)
        return cls._decode(rows, quant_shape_from_byte_shape(shape, cls.qtype), 0)

    # A row of one block is a row.
    quantize_blocks = quantize_rows
    dequantize_blocks = dequantize_rows

    @classmethod
    def init_grid(cls) -> None:
        """Fills `grid`, if the type has a lattice."""
        name = _SHARED.get(cls.__name__, cls.__name__)
        if cls.grid is None and name in _LATTICES:
            cls.grid = _lattice(name)[np.newaxis, np.newaxis]

    @classmethod
    def _encoded_shape(cls, shape: tuple[int, ...]) -> tuple[int, ...]:
        row = shape[-1] // cls.block_size * cls.type_size // cls._dtype.itemsize
        return (*shape[:-1], row)

    @classmethod
    def _encode(cls, array: Array, importance: Array | None, effort: int, threads: int) -> Array:
        if cls._dtype.kind == "f" and not (cls._dtype == np.float16 and array.dtype == np.float32):
            return array.astype(cls._dtype, copy=False)
        columns = array.shape[-1]
        out = np.empty(cls._encoded_shape(array.shape), dtype=cls._dtype)
        if importance is not None and importance.ndim > 1:
            for index in np.ndindex(importance.shape[:-1]):
                out[index] = cls._encode(array[index], importance[index], effort, threads)
            return out

        def code(part: Array, rows: int, blocks: Array) -> None:
            floats = _as_floats(part)
            target = blocks.view(np.uint8)
            _core.encode(cls.qtype, floats, rows, columns, target, importance, effort, threads)

        native = array.dtype == np.float32 and array.dtype.isnative
        _code(array, native and array.flags.c_contiguous, out, code)
        return out

    @classmethod
    def _decode(cls, array: Array, shape: tuple[int, ...], threads: int) -> Array:
        if array.dtype != cls._dtype and array.dtype == cls._dtype.newbyteorder():
            array = array.astype(cls._dtype)  # the numbers of a file in the other byte order
        if cls._dtype == np.float32:
            bare = array if array.flags.c_contiguous else np.ascontiguousarray(array)
            return bare.view(np.float32)
        out = np.empty(shape, dtype=np.float32)

        def code(part: Array, rows: int, floats: Array) -> None:
            _core.decode(cls.qtype, _as_bytes(part), rows, shape[-1], floats, threads)

        _code(array, array.flags.c_contiguous, out, code)
        return out


def _call(
    fn: Callable[[Array], Array],
    tensor: _Tensor,
    dtype: np.dtype[Any],
    shape: Callable[[tuple[int, ...]], tuple[int, ...]],
) -> _Tensor:
    """`fn` of an array; of a lazy one later, when it gives the dtype and the shape."""
    if isinstance(tensor, LazyNumpyTensor):
        return cast(_Tensor, LazyNumpyTensor._wrap_fn(fn, meta_noop=(dtype, shape))(tensor))
    return fn(np.asarray(tensor))


def _importance(importance: ArrayLike, shape: tuple[int, ...]) -> Array:
    weights = np.ascontiguousarray(importance, dtype=np.float32)
    if weights.shape not in (tuple(shape[-1:]), (*shape[:-2], *shape[-1:])):
        raise ValueError(
            f"importance has shape {weights.shape}, but a tensor with shape {tuple(shape)} needs "
            f"one number for each column: {tuple(shape[-1:])}, or for each matrix and column"
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("importance has a number that is negative, infinite or NaN")
    return weights


# ---- what the codes of a block mean -----------------------------------------------------------
#
# The library has these tables, and its decoder shows them: blocks that hold every code, with a scale
# that leaves the points as they are.

# Of each lattice: codes, elements of a point, scale, what decoding adds, fields of a block, and how many
# bits of a code the words of `codes` and of `high` have.
_Lattice = tuple[int, int, float, float, list[tuple[Any, ...]], int, int]
_D = ("d", "<f2")


def _bytes(fields: str) -> list[tuple[Any, ...]]:
    counts = (field.split(":") for field in fields.split())
    return [_D, *((name, "u1", int(count)) for name, count in counts)]


_LATTICES: dict[str, _Lattice] = {
    "IQ2_XXS": (256, 8, 8, 0, [_D, ("codes", "<u8", 8)], 8, 0),
    "IQ2_XS": (512, 8, 8, 0, [_D, ("codes", "<u2", 32), ("scales", "u1", 8)], 16, 0),
    "IQ2_S": (1024, 8, 8, 0, _bytes("codes:32 signs:32 high:8 scales:8"), 8, 2),
    "IQ3_XXS": (256, 4, 4, 0, _bytes("codes:64 scales:32"), 8, 0),
    "IQ3_S": (512, 4, 1, 0, _bytes("codes:64 high:8 signs:32 scales:4"), 8, 1),
    "IQ1_S": (2048, 8, 1, 0.125, [_D, ("codes", "u1", 32), ("high", "<u2", 8)], 8, 3),
}
# What precedes 16 bytes of codes, and is a scale of 1.
_VALUES = {"IQ4_NL": b"\x00\x3c", "MXFP4": b"\x80"}
_SHARED = {"IQ1_M": "IQ1_S", "IQ4_XS": "IQ4_NL", "NVFP4": "MXFP4"}


def _lattice(name: str) -> Array:
    """The points of a lattice, [code, element]."""
    count, width, scale, added, fields, low_bits, high_bits = _LATTICES[name]
    blocks = np.zeros(count * width // QK_K, dtype=fields)
    blocks["d"] = scale
    codes = np.arange(count, dtype=np.uint64)
    for field, values, bits in (
        ("codes", codes & ((1 << low_bits) - 1), low_bits),
        ("high", codes >> low_bits, high_bits),
    ):
        if bits > 0:
            words = values.reshape(*blocks[field].shape, -1)
            shifts = bits * np.arange(words.shape[-1], dtype=np.uint64)
            blocks[field] = np.bitwise_or.reduce(words << shifts, axis=-1)
    points: Array = dequantize(blocks.view(np.uint8), GGMLQuantizationType[name])
    return points.reshape(count, width) - np.float32(added)


def _values(name: str) -> tuple[int, ...]:
    block = np.frombuffer(_VALUES[name] + bytes(17 * code for code in range(16)), dtype=np.uint8)
    return tuple(map(int, dequantize(block, GGMLQuantizationType[name])[:16]))


# ---- the table -----------------------------------------------------------------------------------

_PLAIN = dict(F32="f4", F16="f2", F64="f8", I8="i1", I16="i2", I32="i4", I64="i8")


def _quant(row: tuple[int, str, int, int, int]) -> type[_Quant]:
    number, name, block_size, type_size, flags = row
    members: dict[str, Any] = {
        "__module__": __name__,
        "__doc__": f"{name}: blocks of {block_size} elements in {type_size} bytes.",
        "qtype": number,
        "block_size": block_size,
        "type_size": type_size,
        "_flags": flags,
    }
    if name in GGMLQuantizationType.__members__:
        members["qtype"] = GGMLQuantizationType[name]
    if name in _PLAIN:
        members["_dtype"] = np.dtype(_PLAIN[name])
    lattice = _LATTICES.get(_SHARED.get(name, name))
    if lattice is not None:
        members["grid_shape"] = lattice[:2]
    return type(name, (_Quant,), members)


# By number: an IntEnum is found as its number is.
_classes: dict[int, type[_Quant]] = {
    row[0]: _quant(row) for row in _core.types() if row[4] & _core.ELEMENT_DECODES
}


def quantize(
    data: _Tensor,
    qtype: GGMLQuantizationType,
    importance: ArrayLike | None = None,
    effort: str = "reference",
    threads: int = 0,
) -> _Tensor:
    """Numbers in blocks of a type: an array of bytes whose rows are those of `data` (for F32, F16, F64
    and integers an array of such numbers).

    `importance` says how much an error in each column matters: one number for each, or for each matrix
    and column of a tensor with more than two dimensions.  Types that cannot do without it raise
    NotImplementedError.  `effort` is "reference", whose blocks are the same bytes as ggml's, or "high",
    which searches longer for a smaller error.  `threads` is 0 for all processors; the bytes do not
    depend on it.  QuantError if rows do not fill blocks."""
    if qtype not in _classes:
        raise NotImplementedError(f"Quantization for {_name(qtype)} is not implemented")
    return _classes[qtype].quantize(data, importance, effort, threads)


def dequantize(data: _Tensor, qtype: GGMLQuantizationType, threads: int = 0) -> _Tensor:
    """Blocks of a type as an array of float32.  `data` may have any dtype: its bytes are what counts.
    ValueError if its rows are not whole blocks."""
    if qtype not in _classes:
        raise NotImplementedError(f"Dequantization for {_name(qtype)} is not implemented")
    return _classes[qtype].dequantize(data, threads)


def _named(names: str) -> Iterator[type[_Quant]]:
    return (_classes[GGMLQuantizationType[name]] for name in names.split())


BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0 = _named("BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0")
Q2_K, Q3_K, Q4_K, Q5_K, Q6_K = _named("Q2_K Q3_K Q4_K Q5_K Q6_K")
TQ1_0, TQ2_0, MXFP4, NVFP4, Q1_0, Q2_0 = _named("TQ1_0 TQ2_0 MXFP4 NVFP4 Q1_0 Q2_0")
IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS, IQ3_S = _named("IQ2_XXS IQ2_XS IQ2_S IQ3_XXS IQ3_S")
IQ1_S, IQ1_M, IQ4_NL, IQ4_XS = _named("IQ1_S IQ1_M IQ4_NL IQ4_XS")
# What products of matrices are computed with: no file holds them.
Q8_1, Q8_K = _named("Q8_1 Q8_K")

_type_traits: dict[GGMLQuantizationType, type[_Quant]] = {
    quant.qtype: quant
    for quant in (
        *(BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, TQ1_0, TQ2_0, MXFP4),
        *(NVFP4, Q1_0, Q2_0, IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS, IQ3_S, IQ1_S, IQ1_M, IQ4_NL, IQ4_XS),
    )
}

for _alike in (IQ4_NL, MXFP4, NVFP4, IQ4_XS):
    _alike.kvalues = _values(_SHARED.get(_alike.__name__, _alike.__name__))
