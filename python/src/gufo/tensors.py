"""The tensors of a model, and the bytes that they are in.

>>> model.tensors["token_embd.weight"].numpy().shape
(265, 32)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gufo import _core

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from gufo.models import Model
    from gufo.progress import Progress

__all__ = ["Mapped", "Tensor", "Tensors"]

# The numbers of element types that numpy has, as they are in files.
DTYPES = {"F32": "f4", "F16": "f2", "F64": "f8", "I8": "i1", "I16": "i2", "I32": "i4", "I64": "i8"}


def text_of(name: bytes) -> str:
    """A key or a name, which may be any bytes."""
    return name.decode("utf-8", "surrogateescape")


def bytes_of(name: str) -> bytes:
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is not a text")
    return name.encode("utf-8", "surrogateescape")


class Tensor:
    """A tensor of a model.  Its data is read when it is asked for.

    >>> tensor = model.tensors["blk.0.attn_q.weight"]
    >>> tensor.type, tensor.shape, tensor.size
    ('F32', (32, 32), 4096)
    >>> tensor.numpy()[0, :2]
    array([0., 1.], dtype=float32)
    """

    #: "Q4_K"; of a type that is not known, its number as in "type 99".
    type: str
    #: As numpy has it: the row is last.
    shape: tuple[int, ...]
    #: Of the data, from the start of its file; None where there is no file.
    offset: int | None

    def __init__(self, model: Model, index: int, row: tuple[Any, ...]) -> None:
        name, type_id, dims, elements, offset, size, info_offset, shard = row
        self.model = model
        # of now: Model.reload gives the model another one, whose tensors may differ
        self._core = model.core
        self.byte_order = model.byte_order
        self.index = index
        self.name: str = text_of(name)
        self.type_id: int = type_id
        self.shape = tuple(reversed(dims))
        self.elements: int = elements
        #: Bytes of data.
        self.size: int = size
        self.offset = offset
        self.info_offset: int | None = info_offset
        #: The number of the file that has it, from 0.
        self.shard: int = shard
        self.type = TYPE_NAMES.get(self.type_id, f"type {self.type_id}")

    @property
    def bits_per_weight(self) -> float:
        """Bits of data for each element.

        >>> model.tensors["blk.0.attn_q.weight"].bits_per_weight
        32.0
        """
        return 8 * self.size / self.elements if self.elements else 0.0

    @property
    def data(self) -> memoryview:
        """The bytes as the file has them; a view of the file where it is mapped.

        >>> model.tensors["blk.0.attn_q.weight"].data.nbytes
        4096
        """
        return memoryview(self._core.data(self.index))

    def numpy(
        self,
        dtype: npt.DTypeLike = None,
        *,
        rows: slice | None = None,
        threads: int = 0,
        progress: Progress = None,
    ) -> npt.NDArray[Any]:
        """The numbers, whatever the type: blocks are decoded to float32.

        Numbers that numpy has (F32, F16, I32 ...) are a view of the file, which is not writable,
        where the file is mapped.  `dtype` asks for another type; `rows` for some of the rows, which
        a tensor of more dimensions has one after the other.

        >>> model.tensors["blk.0.attn_q.weight"].numpy(rows=slice(0, 2)).shape
        (2, 32)
        >>> model.tensors["blk.0.attn_q.weight"].numpy("float16").dtype
        dtype('float16')
        """
        import numpy as np

        columns = self.shape[-1] if self.shape else 1
        all_rows = self.elements // columns if columns else 0
        first, last, step = (rows or slice(None)).indices(all_rows)
        if step != 1:
            raise ValueError("rows are taken one after the other: the step of the slice must be 1")
        count = max(0, last - first)
        shape = self.shape if rows is None else (count, columns)
        plain = DTYPES.get(self.type)
        if plain is not None:
            array = np.frombuffer(self.data, dtype=np.dtype((">" if self.byte_order == "big" else "<") + plain))
            array = array[first * columns : (first + count) * columns].reshape(shape)
        else:
            array = self._decode(first, count, columns, threads, progress).reshape(shape)
        return array if dtype is None else array.astype(dtype, copy=False)

    def _decode(
        self, first: int, count: int, columns: int, threads: int, progress: Progress
    ) -> npt.NDArray[np.float32]:
        import numpy as np

        from gufo.progress import shown

        out = np.empty(count * columns, dtype=np.float32)
        with shown(progress, self.name) as call:
            self._core.decode(self.index, first, count, out, threads, call)
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        array = self.numpy(dtype)
        return array.copy() if copy and array.base is not None else array

    def __len__(self) -> int:
        return self.shape[0] if self.shape else 1

    def __repr__(self) -> str:
        return f"<gufo.Tensor {self.name!r}: {self.type} {list(self.shape)}>"

    def _repr_html_(self) -> str:
        from gufo.notebook import tensor_html

        return tensor_html(self)


class Tensors(Mapping[str, Tensor]):
    """The tensors of a model by name, in the order of the file.

    >>> list(model.tensors)[:2]
    ['token_embd.weight', 'output_norm.weight']
    >>> len(model.tensors)
    21
    """

    def __init__(self, model: Model) -> None:
        self._all: dict[str, Tensor] = {}
        for index, row in enumerate(model.core.tensors()):
            tensor = Tensor(model, index, row)
            self._all.setdefault(tensor.name, tensor)

    def __getitem__(self, name: str) -> Tensor:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __repr__(self) -> str:
        return f"<gufo.Tensors: {len(self)}>"

    def _repr_html_(self) -> str:
        from gufo.notebook import tensors_html

        return tensors_html(self.values())


TYPE_NAMES = {row[0]: row[1] for row in _core.types()}


@dataclass(frozen=True)
class Mapped:
    """Where the bytes of a file are: for mlock, madvise, or to register them with a device.

    >>> model.mapping().size == model.size
    True
    """

    path: str | None
    size: int
    #: The descriptor, which belongs to the model; -1 without one.
    fd: int
    #: All bytes, which are not writable; None where they are not in memory as a whole.
    data: memoryview | None
