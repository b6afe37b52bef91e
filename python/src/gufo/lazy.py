"""Arrays that are described now and computed when somebody needs their numbers.

A converter handles every tensor of a model before it writes one of them.  A lazy tensor makes that
cheap: it holds a *meta* (an array with the dtype and the shape, but without numbers), and either
the numbers or the call that makes them:

    >>> lazy = LazyNumpyTensor.from_eager(numpy.ones((2, 3)))
    >>> scaled = (lazy * 2).astype("float16")       # nothing is computed
    >>> scaled.dtype, scaled.shape
    (dtype('float16'), (2, 3))
    >>> LazyNumpyTensor.to_eager(scaled)[0]         # now
    array([2., 2., 2.], dtype=float16)

A call with lazy arguments runs once on the metas, which gives the dtype and the shape of its
result, and once on the numbers.  A subclass says which tensors it wraps and how a meta is made:

    class LazyTorchTensor(LazyBase):
        _tensor_type = torch.Tensor

        @classmethod
        def meta_with_dtype_and_shape(cls, dtype, shape):
            return torch.empty(size=shape, dtype=dtype, device="meta")

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return cls._wrap_fn(func)(*args, **(kwargs or {}))
"""

from __future__ import annotations

import copy
import logging
import operator
from abc import ABC, ABCMeta, abstractmethod
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

logger = logging.getLogger(__name__)

# Operators, which Python looks up in the class and never in __getattr__.
_OPERATORS = (
    *(f"__{name}__" for name in "lt le eq ne gt ge abs invert neg pos getitem setitem".split()),
    *(
        f"__{kind}{name}__"
        for kind in ("", "i", "r")
        for name in "add and floordiv lshift matmul mod mul or pow rshift sub truediv xor".split()
    ),
    *("__divmod__", "__rdivmod__"),
)
# What only the numbers can answer.  A meta gives a wrong answer or none.
_VALUES = ("__bool__", "__complex__", "__contains__", "__float__", "__int__")
# What the meta knows: asking for it computes nothing.
_FACTS = frozenset(
    "dim element_size is_complex is_floating_point ndimension nelement numel size".split()
)
_MEMBERS = frozenset("_meta _data _args _kwargs _func".split())


def _each(tree: Any, change: Callable[[LazyBase], Any]) -> Any:
    """`tree` (a lazy tensor, or anything in lists, tuples and dicts) with `change` of each lazy
    tensor in its place.  A container without one stays the same object."""
    if isinstance(tree, LazyBase):
        return change(tree)
    if isinstance(tree, dict):
        items = {key: _each(value, change) for key, value in tree.items()}
        return items if any(items[key] is not tree[key] for key in items) else tree
    if isinstance(tree, (list, tuple)):
        parts = [_each(part, change) for part in tree]
        same = all(new is old for new, old in zip(parts, tree))
        return tree if same else _like(tree, parts)
    return tree


def _like(sequence: Any, parts: list[Any]) -> Any:
    """`parts` in a list, tuple or named tuple as `sequence` is one."""
    kind = type(sequence)
    return kind._make(parts) if hasattr(kind, "_make") else kind(parts)


class _Method:
    """Calls the method `name` of its first argument."""

    def __init__(self, name: str):
        self.name = name

    def __call__(self, tensor: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(tensor, self.name)(*args, **kwargs)


def _operator(name: str) -> Callable[..., Any]:
    def call(self: LazyBase, *args: Any, **kwargs: Any) -> Any:
        cls = type(self)
        return cls._wrap_fn(getattr(cls._tensor_type, name), use_self=self)(*args, **kwargs)

    return call


def _value(name: str) -> Callable[..., Any]:
    def call(self: LazyBase, *args: Any) -> Any:
        return getattr(LazyBase.to_eager(self), name)(*LazyBase.to_eager(args))

    return call


class LazyMeta(ABCMeta):
    """The class of lazy classes: gives each one the operators of its tensor type."""

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any
    ) -> LazyMeta:
        for names, maker in ((_OPERATORS, _operator), (_VALUES, _value)):
            for special in names:
                if hasattr(namespace.get("_tensor_type"), special):
                    namespace.setdefault(special, maker(special))
        return super().__new__(mcs, name, bases, namespace, **kwargs)


class LazyBase(ABC, metaclass=LazyMeta):
    """A tensor of type `_tensor_type` that may not be computed yet."""

    _tensor_type: type
    _meta: Any  # a tensor with the dtype and the shape
    _data: Any | None  # the tensor; None: `_func` makes it
    _args: tuple[Any, ...]
    _kwargs: dict[str, Any]
    _func: Callable[..., Any] | None

    # Attributes of a tensor that its meta has too, but with other content.
    _eager_names: frozenset[str] = frozenset(("item", "tolist"))

    def __init__(
        self,
        *,
        meta: Any,
        data: Any | None = None,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        func: Callable[..., Any] | None = None,
    ):
        super().__init__()
        self._meta = meta
        self._data = data
        self._args = args
        self._kwargs = kwargs if kwargs is not None else {}
        self._func = func
        if data is None and func is None:
            raise ValueError("a lazy tensor needs data, or a function that makes them")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not hasattr(cls, "_tensor_type"):
            raise TypeError(f"the class {cls.__name__!r} must define '_tensor_type'")

    def __getattr__(self, name: str) -> Any:
        # An object that __init__ has not filled yet has no meta to ask.
        if name in _MEMBERS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r} yet")
        if name in self._eager_names:
            return getattr(self.to_eager(self), name)
        known = getattr(self._meta, name)
        if callable(known):
            return known if name in _FACTS else self._wrap_fn(_Method(name), use_self=self)
        if isinstance(known, self._tensor_type):
            return self._wrap_fn(operator.attrgetter(name))(self)
        return known

    def __reduce__(self) -> Any:
        return type(self).from_eager, (self.to_eager(self),)

    def __deepcopy__(self, memo: Any) -> Any:
        return self._wrap_fn(copy.deepcopy)(self)  # whose memo is of no use later

    def __len__(self) -> int:
        return len(self._meta)

    @classmethod
    def _wrap_fn(
        cls,
        fn: Callable[..., Any],
        *,
        use_self: LazyBase | None = None,
        meta_noop: bool
        | DTypeLike
        | tuple[DTypeLike, Callable[[tuple[int, ...]], tuple[int, ...]]] = False,
    ) -> Callable[..., Any]:
        """`fn` with lazy tensors as arguments and results.

        `use_self` becomes its first argument.  `meta_noop` says what the result is, so that `fn`
        need not run on metas: True, like the first argument; a dtype, with its shape; a dtype and
        a function from its shape to the result's."""

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if use_self is not None:
                args = (use_self, *args)
            given = (args, kwargs)
            metas = _each(given, lambda lazy: lazy._meta)
            if metas is given:  # none of them is lazy
                return cls._as_lazy(fn(*args, **kwargs))
            if meta_noop is False:
                with np.errstate(all="ignore"):  # the zeros of a meta are nobody's numbers
                    meta = fn(*metas[0], **metas[1])
            else:
                meta = cls._changed_meta(metas[0][0], meta_noop)
            return cls._result(meta, fn, args, kwargs)

        return wrapped

    @classmethod
    def _changed_meta(cls, meta: Any, change: Any) -> Any:
        dtype, shape = change if isinstance(change, tuple) else (change, lambda shape: shape)
        return cls.meta_with_dtype_and_shape(
            meta.dtype if dtype is True else dtype, shape(tuple(meta.shape))
        )

    @classmethod
    def _is_group(cls, result: Any) -> bool:
        return (
            isinstance(result, (list, tuple))
            and len(result) > 0
            and all(isinstance(part, cls._tensor_type) for part in result)
        )

    @classmethod
    def _as_lazy(cls, result: Any) -> Any:
        if isinstance(result, cls._tensor_type):
            return cls.from_eager(result)
        if cls._is_group(result):
            return _like(result, [cls.from_eager(part) for part in result])
        return result

    @classmethod
    def _result(
        cls, meta: Any, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """What `fn` gives lazily, if it gives `meta` for metas."""
        if isinstance(meta, cls._tensor_type):
            return cls(meta=cls.eager_to_meta(meta), args=args, kwargs=kwargs, func=fn)
        if cls._is_group(meta):
            # One call makes all of them; each takes its own.
            whole = cls(meta=None, args=args, kwargs=kwargs, func=fn)
            return _like(
                meta,
                [
                    cls(meta=cls.eager_to_meta(part), args=(whole, i), func=operator.getitem)
                    for i, part in enumerate(meta)
                ],
            )
        return fn(*cls.to_eager(args), **cls.to_eager(kwargs))

    @classmethod
    def to_eager(cls, t: Any) -> Any:
        """`t` with computed tensors in place of lazy ones; a list, tuple or dict likewise."""
        return _each(t, LazyBase._computed)

    def _computed(self) -> Any:
        # A stack of its own: converters make longer chains of calls than Python's allows.
        waiting: list[LazyBase] = [self]
        while waiting:
            lazy = waiting[-1]
            inputs: list[LazyBase] = []
            _each((lazy._args, lazy._kwargs), inputs.append)
            missing = [i for i in inputs if i._data is None]
            waiting += missing
            if not missing:
                waiting.pop()._compute()
        return self._data

    def _compute(self) -> None:
        if self._data is not None:
            return
        assert self._func is not None
        args, kwargs = _each((self._args, self._kwargs), lambda lazy: lazy._data)
        data = self._func(*args, **kwargs)
        if self._meta is not None:
            self._check(data)
        # The inputs are not needed any more: their memory can go.
        self._data, self._args, self._kwargs, self._func = data, (), {}, None

    def _check(self, data: Any) -> None:
        def described(tensor: Any) -> Any:
            kind = type(tensor)
            return (tensor.dtype, tuple(tensor.shape)) if issubclass(kind, self._tensor_type) else kind

        found, expected = described(data), described(self._meta)
        if found != expected:
            raise ValueError(f"a lazy tensor was announced as {expected}, but became {found}")

    @classmethod
    def eager_to_meta(cls, t: Any) -> Any:
        """The meta of a tensor, a lazy tensor, or a meta."""
        return cls.meta_with_dtype_and_shape(t.dtype, t.shape)

    @classmethod
    @abstractmethod
    def meta_with_dtype_and_shape(cls, dtype: Any, shape: Any) -> Any:
        """A tensor without numbers of its own."""

    @classmethod
    def from_eager(cls, t: Any) -> Any:
        """A lazy tensor that is computed already; `t` itself if it is lazy."""
        if isinstance(t, LazyBase):
            return t
        if not isinstance(t, cls._tensor_type):
            raise TypeError(f"{type(t)!r} is not {cls._tensor_type!r}")
        return cls(meta=cls.eager_to_meta(t), data=t)


class LazyNumpyTensor(LazyBase):
    """A numpy array that may not be computed yet."""

    _tensor_type = np.ndarray
    shape: tuple[int, ...]

    _eager_names = LazyBase._eager_names | frozenset(
        "base ctypes data dump dumps flags flat strides tobytes __array_interface__ __array_struct__".split()
    )

    @classmethod
    def meta_with_dtype_and_shape(cls, dtype: DTypeLike, shape: Any) -> np.ndarray[Any, Any]:
        # One element, seen at every place.
        element: np.ndarray[Any, Any] = np.zeros(1, dtype=dtype)
        shape = tuple(shape)
        return np.lib.stride_tricks.as_strided(element, shape, (0,) * len(shape))

    def astype(self, dtype: DTypeLike, *args: Any, **kwargs: Any) -> Any:
        convert = self._wrap_fn(_Method("astype"), use_self=self, meta_noop=np.dtype(dtype))
        return convert(dtype, *args, **kwargs)

    def view(self, *args: Any, **kwargs: Any) -> Any:
        # numpy cannot see elements of another size in a meta.
        kind = kwargs.get("dtype", args[0] if args else None)
        change: Any = False
        if kind is not None and not (isinstance(kind, type) and issubclass(kind, np.ndarray)):
            change = (np.dtype(kind), lambda shape: _viewed_shape(shape, self.dtype, np.dtype(kind)))
        return self._wrap_fn(_Method("view"), use_self=self, meta_noop=change)(*args, **kwargs)

    def tofile(self, *args: Any, **kwargs: Any) -> None:
        self.to_eager(self).tofile(*args, **kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = self.to_eager(self)
        return np.array(array, dtype=dtype) if copy else np.asarray(array, dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        call = getattr(ufunc, method)
        if method != "at" and kwargs.get("out") is None:
            return self._wrap_fn(call)(*inputs, **kwargs)
        return call(*self.to_eager(inputs), **self.to_eager(kwargs))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func in _ARRAY_FACTS:
            args, kwargs = _each((args, kwargs), lambda lazy: lazy._meta)
            return func(*args, **kwargs)
        if func in _ARRAY_FUNCTIONS:
            return self._wrap_fn(func)(*args, **kwargs)
        return func(*self.to_eager(args), **self.to_eager(kwargs))


def _viewed_shape(shape: tuple[int, ...], old: Any, new: Any) -> tuple[int, ...]:
    if old.itemsize == new.itemsize:
        return shape
    if not shape or shape[-1] * old.itemsize % new.itemsize != 0:
        raise ValueError(f"an array of {old} with shape {shape} cannot be seen as {new}")
    return (*shape[:-1], shape[-1] * old.itemsize // new.itemsize)


_ARRAY_FACTS = (np.ndim, np.result_type, np.shape, np.size)
# Functions of numpy that change nothing but the array that they give.
_ARRAY_FUNCTIONS = (
    *(np.array_split, np.broadcast_to, np.clip, np.concatenate, np.copy, np.expand_dims, np.flip),
    *(np.hsplit, np.hstack, np.moveaxis, np.pad, np.ravel, np.repeat, np.reshape, np.roll),
    *(np.split, np.squeeze, np.stack, np.swapaxes, np.take, np.tile, np.transpose, np.vsplit),
    *(np.vstack, np.where),
)
