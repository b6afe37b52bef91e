"""The extension: few, large calls.  Private; gufo's modules are built on it."""

from collections.abc import Callable
from os import PathLike
from types import TracebackType
from typing import Any, Protocol, TypeAlias

class _HasDescriptor(Protocol):
    def fileno(self) -> int: ...

# typing has no name for objects with a buffer before Python 3.12.
_Buffer: TypeAlias = Any
_Source: TypeAlias = str | PathLike[str] | PathLike[bytes] | int | _HasDescriptor | _Buffer
_Value: TypeAlias = str | int | float | bool | list[Any]
_Progress: TypeAlias = Callable[[int, int], object] | None

version: str
features: frozenset[str]

OPEN_LENIENT: int
OPEN_NO_MAP: int
OPEN_METADATA_ONLY: int
OPEN_AS_GGML: int
OPEN_NO_READ_AHEAD: int
OPEN_INCOMPLETE: int
ELEMENT_QUANTIZED: int
ELEMENT_REMOVED: int
ELEMENT_WEIGHS: int
ELEMENT_NEEDS_IMPORTANCE: int
ELEMENT_DECODES: int
ELEMENT_ENCODES: int
EFFORT_REFERENCE: int
EFFORT_HIGH: int

class Error(Exception):
    offset: int | None
    rule: str | None
    file: str | None
    code: str | None
    message: str | None

class Model:
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...
    def __enter__(self) -> Model: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
    def facts(self) -> dict[str, Any]: ...
    def entries(self) -> list[tuple[bytes, int, int, int, int | None, int | None, int | None]]: ...
    def value(self, index: int, /) -> _Value: ...
    def strings(self, index: int, first: int = 0, count: int = -1) -> list[str]: ...
    def numbers(self, index: int, /) -> bytes: ...
    def parts(self, index: int, /) -> bytes: ...
    def tensors(
        self,
    ) -> list[tuple[bytes, int, tuple[int, ...], int, int | None, int, int | None, int]]: ...
    def data(self, index: int, /) -> memoryview | bytes: ...
    def decode(
        self,
        index: int,
        first_row: int,
        rows: int,
        out: _Buffer,
        threads: int = 0,
        progress: _Progress = None,
    ) -> None: ...

def open(source: _Source, *, flags: int = 0, name: str | None = None) -> Model: ...
def check(model: Model, level: str = "model") -> list[dict[str, Any]]: ...
def validate(source: _Source, name: str | None = None) -> list[dict[str, Any]]: ...
def types() -> list[tuple[int, str, int, int, int]]: ...
def decode(
    type: int,
    blocks: _Buffer,
    rows: int,
    columns: int,
    out: _Buffer,
    threads: int = 0,
    progress: _Progress = None,
) -> None: ...
def encode(
    type: int,
    values: _Buffer,
    rows: int,
    columns: int,
    out: _Buffer,
    importance: _Buffer | None = None,
    effort: int = 0,
    threads: int = 0,
    progress: _Progress = None,
) -> None: ...
def swap(type: int, buffer: _Buffer, /) -> None: ...
