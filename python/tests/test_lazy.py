"""Lazy tensors: what is computed when, and what comes out."""

from __future__ import annotations

import copy
import gc
import io
import operator
import pickle
import weakref
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gufo.lazy import LazyBase, LazyMeta, LazyNumpyTensor


class Source:
    """Makes an array and counts how often."""

    def __init__(self, array: Any):
        self.array, self.calls = array, 0

    def __call__(self, *_: Any) -> Any:
        self.calls += 1
        return self.array.copy()

    def lazy(self) -> Any:
        meta = LazyNumpyTensor.eager_to_meta(self.array)
        return LazyNumpyTensor(meta=meta, args=(1,), func=self)


@pytest.fixture
def source() -> Source:
    return Source(np.arange(6, dtype=np.float32).reshape(2, 3))


def test_facts_compute_nothing(source: Source) -> None:
    lazy = source.lazy()
    assert (lazy.shape, lazy.dtype, lazy.ndim, lazy.size) == ((2, 3), np.float32, 2, 6)
    assert (lazy.nbytes, lazy.itemsize, len(lazy), np.shape(lazy)) == (24, 4, 2, (2, 3))
    assert source.calls == 0
    with pytest.raises(AttributeError):
        lazy.no_such_thing


def test_meta_has_one_element() -> None:
    meta = LazyNumpyTensor.meta_with_dtype_and_shape(">f4", [1 << 40, 3])
    assert (meta.shape, meta.dtype.str, meta.strides) == ((1 << 40, 3), ">f4", (0, 0))
    assert LazyNumpyTensor.meta_with_dtype_and_shape(np.int8, ()).shape == ()


CALLS = {
    "add": lambda x: x + 1,
    "radd": lambda x: 1 + x,
    "array first": lambda x: np.ones((2, 3)) + x,
    "rsub": lambda x: 2 - x,
    "rmod": lambda x: 2 % (x + 1),
    "divmod": lambda x: divmod(x, 2)[1],
    "compare": lambda x: x < 3,
    "equal": lambda x: x == x,
    "negative": lambda x: -abs(x),
    "matmul": lambda x: x @ x.T,
    "index": lambda x: x[1:, None],
    "row": lambda x: x[0],
    "mask": lambda x: x[np.array([True, False])],
    "reshape": lambda x: x.reshape(3, 2).swapaxes(0, 1),
    "attribute": lambda x: x.T,
    "reduce": lambda x: x.sum(axis=0),
    "astype": lambda x: x.astype(np.float16, copy=False),
    "view": lambda x: x.view(np.uint8),
    "view same": lambda x: x.view("i4"),
    "byteswap": lambda x: x.byteswap(inplace=False),
    "ufunc": np.sqrt,
    "ufunc of two": lambda x: np.maximum(x, 2),
    "concatenate": lambda x: np.concatenate([x, x + 1]),
    "stack": lambda x: np.stack((x, x)),
    "split": lambda x: np.split(x, 3, axis=1)[2],
    "where": lambda x: np.where(x > 2, x, 0),
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_calls_are_lazy(call: Any, source: Source) -> None:
    lazy = call(source.lazy())
    expected = call(source.array)
    assert isinstance(lazy, LazyNumpyTensor)
    assert (lazy.dtype, lazy.shape) == (expected.dtype, expected.shape)
    assert source.calls == 0
    np.testing.assert_array_equal(LazyNumpyTensor.to_eager(lazy), expected)


VALUES = {
    "sum": lambda x: x.sum(),
    "element": lambda x: x[1, 2],
    "float": lambda x: float(x[:1, 1:2].reshape(())),
    "int": lambda x: int(x[1:, 1:2]),
    "bool": lambda x: bool((x == x).all()) if isinstance(x, np.ndarray) else bool(x[:1, 1:2]),
    "item": lambda x: x.item(4),
    "tolist": lambda x: x.tolist(),
    "in": lambda x: 5 in x,
    "tobytes": lambda x: x.tobytes(),
    "iterate": lambda x: [row.tolist() for row in x],
    "flat": lambda x: list(x.flat),
    "strides": lambda x: x.strides,
    "mean": np.mean,
    "asarray": lambda x: np.asarray(x).tolist(),
    "asarray of type": lambda x: np.asarray(x, dtype=np.int8).dtype,
    "allclose": lambda x: np.allclose(x, x),
}


@pytest.mark.parametrize("call", VALUES.values(), ids=VALUES)
def test_values_are_computed(call: Any, source: Source) -> None:
    assert call(source.lazy()) == call(source.array)
    assert source.calls == 1


def test_truth_of_many_elements(source: Source) -> None:
    with pytest.raises(ValueError):
        bool(source.lazy())


def test_computed_once_and_inputs_go(source: Source) -> None:
    lazy = source.lazy()
    inner = weakref.ref(lazy)
    results = [lazy + 1, lazy * 2, *lazy]
    del lazy
    LazyNumpyTensor.to_eager(results)
    gc.collect()
    assert source.calls == 1
    assert inner() is None


def test_long_chains() -> None:
    lazy = LazyNumpyTensor.from_eager(np.zeros(2))
    for _ in range(5000):
        lazy = lazy + 1
    assert LazyNumpyTensor.to_eager(lazy).tolist() == [5000, 5000]


def test_changes_in_place(source: Source) -> None:
    lazy = source.lazy()
    lazy[0] = 5
    lazy += 1
    assert lazy.tolist() == [[6, 6, 6], [4, 5, 6]]


def test_out_of_ufunc(source: Source) -> None:
    out = np.zeros((2, 3))
    out += source.lazy()
    np.add(source.lazy(), 1, out=out)
    np.testing.assert_array_equal(out, source.array + 1)


def test_saving(source: Source, tmp_path: Any) -> None:
    with open(tmp_path / "raw", "wb") as file:
        source.lazy().tofile(file)
    assert (tmp_path / "raw").read_bytes() == source.array.tobytes()
    stream = io.BytesIO()
    np.save(stream, source.lazy())
    stream.seek(0)
    np.testing.assert_array_equal(np.load(stream), source.array)
    assert stream.read() == b""


def test_copies(source: Source) -> None:
    for twin in (copy.copy(source.lazy()), pickle.loads(pickle.dumps(source.lazy() * 1))):
        assert isinstance(twin, LazyNumpyTensor)
        np.testing.assert_array_equal(LazyNumpyTensor.to_eager(twin), source.array)


def test_containers(source: Source) -> None:
    lazy = source.lazy()
    eager = LazyNumpyTensor.to_eager([lazy, 1, (lazy,), {"a": lazy}, "b"])
    assert [type(part) for part in eager] == [np.ndarray, int, tuple, dict, str]
    assert eager[0] is eager[2][0] is eager[3]["a"]
    plain = [1, (2,)]
    assert LazyNumpyTensor.to_eager(plain) is plain


def test_from_eager(source: Source) -> None:
    lazy = LazyNumpyTensor.from_eager(source.array)
    assert LazyNumpyTensor.from_eager(lazy) is lazy
    assert LazyNumpyTensor.to_eager(lazy) is source.array
    with pytest.raises(TypeError):
        LazyNumpyTensor.from_eager([1.0])


# ---- the protocol of subclasses ------------------------------------------------------------------


class Pair(NamedTuple):
    values: Any
    count: Any


def test_wrap_fn(source: Source) -> None:
    wrap = LazyNumpyTensor._wrap_fn
    lazy = source.lazy()
    pair = wrap(lambda x: Pair(x, x + 1))(lazy)
    assert isinstance(pair, Pair) and pair.count.shape == (2, 3)
    assert wrap(lambda a, b: b, use_self=lazy)(lazy[0]).shape == (3,)
    assert wrap(lambda x=None: np.concatenate(x["of"]))(x={"of": [lazy, lazy]}).shape == (4, 3)
    assert source.calls == 0
    assert wrap(lambda x: (x, 1))(lazy)[0].tolist() == source.array.tolist()
    assert wrap(lambda x: x * 2)(np.ones(2)).tolist() == [2, 2]
    assert wrap(lambda x: x * 2)(3) == 6


def test_meta_noop(source: Source) -> None:
    def fail_on_meta(x: Any) -> Any:
        assert source.calls == 1
        return x.astype(np.float16)[:, :1]

    wrap = LazyNumpyTensor._wrap_fn
    lazy = wrap(fail_on_meta, meta_noop=(np.float16, lambda shape: (shape[0], 1)))(source.lazy())
    assert (lazy.dtype, lazy.shape, lazy.tolist()) == (np.float16, (2, 1), [[0], [3]])
    assert wrap(lambda x: -x, meta_noop=True)(source.lazy()).tolist() == (-source.array).tolist()
    halves = wrap(lambda x: x.astype("f2"), meta_noop=np.float16)(source.lazy())
    assert (halves.dtype, halves.shape) == (np.float16, (2, 3))


@pytest.mark.parametrize("made", [np.zeros(4, "f4"), np.zeros(3), None, 5])
def test_other_than_announced(made: Any) -> None:
    meta = LazyNumpyTensor.meta_with_dtype_and_shape("f4", (3,))
    with pytest.raises(ValueError, match="announced"):
        LazyNumpyTensor.to_eager(LazyNumpyTensor(meta=meta, func=lambda: made))


def test_classes() -> None:
    assert type(LazyNumpyTensor) is LazyMeta
    with pytest.raises(TypeError, match="_tensor_type"):
        type("Nothing", (LazyBase,), {})
    with pytest.raises(TypeError, match="meta_with_dtype_and_shape"):
        type("Half", (LazyBase,), {"_tensor_type": bytes})(meta=b"", data=b"")
    with pytest.raises(ValueError, match="function"):
        LazyNumpyTensor(meta=None)
    with pytest.raises(AttributeError):
        LazyNumpyTensor.__new__(LazyNumpyTensor).shape


@given(st.lists(st.sampled_from(["add", "row", "reshape", "astype", "concatenate"]), max_size=6))
def test_any_sequence(names: list[str]) -> None:
    steps = {
        "add": lambda x: x + 1,
        "row": lambda x: x[:1],
        "reshape": lambda x: x.reshape(-1, 1),
        "astype": lambda x: x.astype(np.float64),
        "concatenate": lambda x: np.concatenate([x, x], axis=-1),
    }
    array = np.arange(6, dtype=np.float32).reshape(3, 2)
    lazy = LazyNumpyTensor.from_eager(array)
    for name in names:
        array, lazy = steps[name](array), steps[name](lazy)
        assert (array.dtype, array.shape) == (lazy.dtype, lazy.shape)
    np.testing.assert_array_equal(LazyNumpyTensor.to_eager(lazy), array)


def test_torch() -> None:
    """A class as converters write it."""
    torch = pytest.importorskip("torch")

    class LazyTorch(LazyBase):
        _tensor_type = torch.Tensor

        @classmethod
        def meta_with_dtype_and_shape(cls, dtype: Any, shape: Any) -> Any:
            return torch.empty(size=shape, dtype=dtype, device="meta")

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return cls._wrap_fn(func)(*args, **(kwargs or {}))

        def numpy(self) -> Any:
            meta = LazyNumpyTensor.meta_with_dtype_and_shape(np.float32, self.shape)
            return LazyNumpyTensor(meta=meta, args=(self,), func=lambda t: t.numpy())

    calls = []
    numbers = torch.arange(24, dtype=torch.float32).reshape(4, 6)

    def load(_: Any) -> Any:
        calls.append(1)
        return numbers

    lazy: Any = LazyTorch(meta=torch.empty(4, 6, device="meta"), args=(0,), func=load)
    halves = lazy.split(3, dim=1)
    stacked = torch.stack([torch.cat(halves, dim=1), lazy.T.contiguous().T]).permute(1, 0, 2)
    array = (stacked.to(torch.float16).float() * 2).numpy()
    assert (lazy.size(0), lazy.dim(), lazy.numel(), lazy.dtype) == (4, 2, 24, torch.float32)
    assert (array.shape, array.dtype, len(calls)) == ((4, 2, 6), np.float32, 0)
    np.testing.assert_array_equal(array[:, 0], numbers.numpy() * 2)
    assert lazy.max(dim=0).values.tolist() == numbers[3].tolist()
    assert torch.all(lazy == lazy) and float(lazy[0, 1]) == 1.0 and lazy[1, 1].item() == 7.0
    assert operator.truth(torch.any(lazy != 0)) and len(calls) == 1
