"""Models: what is opened for reading.

>>> model = gufo.open(path)
>>> model["general.architecture"]
'llama'
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from gufo import _core
from gufo.findings import Findings
from gufo.tensors import Mapped, Tensors, text_of

if TYPE_CHECKING:
    from types import TracebackType
    from typing import TypeGuard

    import numpy.typing as npt

    from gufo.edits import Edit
    from gufo.given import Size
    from gufo.jobs import Job, Metadata, QuantizeJob, Types
    from gufo.progress import Progress

__all__ = ["Entry", "Model", "open", "validate"]

#: A metadata value.
Value = Union[str, int, float, bool, "list[Any]"]
#: A path.
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

VALUE_TYPES = (
    "uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "bool", "string", "array",
    "uint64", "int64", "float64",
)  # fmt: skip
ARRAY = VALUE_TYPES.index("array")
BYTE_ORDERS = ("little", "big")  # gufo_byte_order
# What a build may lack, and the feature of the extension that it needs.
PARTS = {
    "chat templates": "template",
    "comparisons": "jobs",
    "edits": "jobs",
    "estimates": "jobs",
    "gufo.write": "jobs",
    "hashes": "digest",
    "importance matrices": "jobs",
    "lists of models": "jobs",
    "models of training frameworks, which folders are": "import",
    "jobs in parts": "jobs",
    "quantizing, splitting and the like": "jobs",
    "reports": "report",
    "tokenizers": "text",
}


def need(part: str) -> None:
    """Raises Error where the build lacks a part."""
    if PARTS[part] not in _core.features:
        error = _core.Error(f"gufo was built without {part}: build it without GUFO_MINIMAL")
        error.code, error.message = "type", str(error)
        raise error


# ---- entries -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """A metadata key, and where the file has it.

    >>> model.entry("general.name").type
    'string'
    >>> model.entry("tokenizer.ggml.tokens").type
    'array[string]'
    """

    key: str
    #: "uint32", "string", "array[float32]" ...
    type: str
    #: Elements of an array, bytes of a string, else 1.
    count: int
    #: Of the entry in the file; None where there is no file.
    offset: int | None
    value_offset: int | None
    end: int | None


def entry_of(row: tuple[bytes, int, int, int, int | None, int | None, int | None]) -> Entry:
    key, kind, element, count, offset, value_offset, end = row
    name = VALUE_TYPES[kind]
    if kind == ARRAY:
        name = f"array[{VALUE_TYPES[element]}]"
    return Entry(text_of(key), name, count, offset, value_offset, end)


# ---- models --------------------------------------------------------------------------------------


class Model(Mapping[str, Value]):
    """A model that is open: a mapping of metadata, with `tensors`.  `gufo.open` makes it.

    >>> with gufo.open(path) as model:
    ...     model["llama.block_count"]
    2
    >>> "general.name" in model
    True
    """

    def __init__(
        self,
        core: _core.Model,
        source: object = None,
        kind: str | None = None,
        flags: int = 0,
        name: str | None = None,
    ) -> None:
        self._source = source
        self._kind = kind
        self._flags = flags
        self._name = name
        self._take(core)

    def _take(self, core: _core.Model) -> None:
        self.core = core
        self._facts = core.facts()
        self._rows: dict[str, int] = {}
        for index, row in enumerate(core.entries()):
            self._rows.setdefault(text_of(row[0]), index)
        self._tensors: Tensors | None = None

    # -- life

    def close(self) -> None:
        """Closes the file.  BufferError while arrays are views of it.

        >>> other = gufo.open(path)
        >>> other.close()
        >>> other.closed
        True
        """
        self._tensors = None
        self.core.close()

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self.core.closed

    def __enter__(self) -> Model:
        self.core.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except BufferError:
            if kind is None:
                raise  # an exception that is on its way says more

    # -- facts

    @property
    def name(self) -> str | None:
        """The path of the (first) file, as it was given; None for one without.

        >>> gufo.open(open(path, "rb").read()).name is None
        True
        """
        name: str | None = self._facts["name"]
        return name

    @property
    def path(self) -> str | None:
        """The path, if it was opened by one."""
        return os.fsdecode(self._source) if is_path(self._source) else None

    @property
    def version(self) -> int:
        """Of the format: 1, 2 or 3."""
        return int(self._facts["version"])

    @property
    def byte_order(self) -> str:
        """ "little" or "big"."""
        return str(self._facts["byte_order"])

    @property
    def alignment(self) -> int:
        """Of tensor data, in bytes."""
        return int(self._facts["alignment"])

    @property
    def size(self) -> int:
        """Bytes of all files; 0 for a model that is not a GGUF file."""
        return int(self._facts["size"])

    @property
    def data_offset(self) -> int:
        """Where tensor data begins in the (first) file."""
        return int(self._facts["data_offset"])

    @property
    def shards(self) -> int:
        """The number of files."""
        return int(self._facts["shards"])

    def mapping(self, shard: int = 0) -> Mapped:
        """Where the bytes of a file are, by its number: `Tensor.shard`.  IndexError past the end.

        >>> tensor = model.tensors["output.weight"]
        >>> model.mapping(tensor.shard).data[tensor.offset : tensor.offset + tensor.size] == tensor.data
        True
        """
        return Mapped(*self.core.mapping(shard))

    @property
    def architecture(self) -> str | None:
        """general.architecture, if it is a text.

        >>> model.architecture
        'llama'
        """
        return self.text("general.architecture")

    @property
    def parameters(self) -> int:
        """The elements of all tensors.

        >>> model.parameters
        37600
        """
        return sum(tensor.elements for tensor in self.tensors.values())

    @property
    def origin(self) -> dict[str, Any] | None:
        """What a folder, or a file in another format, is; None for a GGUF file.

        "kind" ("checkpoint", or "legacy" for formats before GGUF), "family", "container", "quantized",
        "warnings", "settings", "parts" (paths).

        >>> model.origin is None
        True
        """
        facts = None if self._kind is None else _core.import_facts(self.core)
        return None if facts is None else {"kind": self._kind, **facts}

    # -- metadata

    def __getitem__(self, key: str) -> Value:
        return self.core.value(self._rows[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def text(self, key: str) -> str | None:
        """The text of a key; None without one, and for bytes that are not text.

        >>> model.text("general.name"), model.text("llama.block_count")
        ('Small', None)
        """
        try:
            value = self.get(key)
        except UnicodeDecodeError:
            return None
        return value if isinstance(value, str) else None

    def entry(self, key: str) -> Entry:
        """The type of a key, and its place in the file.

        >>> model.entry("llama.block_count").type
        'uint32'
        """
        return entry_of(self.core.entries()[self._rows[key]])

    @property
    def entries(self) -> list[Entry]:
        """All keys, in the order of the file.

        >>> model.entries[0].key
        'general.architecture'
        """
        return [entry_of(row) for row in self.core.entries()]

    def numbers(self, key: str) -> npt.NDArray[Any]:
        """An array of numbers as numpy has it, which is faster than a list.

        >>> model.numbers("tokenizer.ggml.scores").dtype
        dtype('float32')
        """
        import numpy as np

        element = self.core.entries()[self._rows[key]][2]
        if element in (-1, VALUE_TYPES.index("string"), ARRAY):
            raise TypeError(f"{key} is not an array of numbers")
        return np.frombuffer(self.core.numbers(self._rows[key]), dtype=VALUE_TYPES[element])

    # -- tensors

    @property
    def tensors(self) -> Tensors:
        """The tensors by name."""
        if self._tensors is None:
            self._tensors = Tensors(self)
        return self._tensors

    # -- what can be done with a model

    def validate(self, level: str = "model") -> Findings:
        """Checks it by the rules of the format, and of what it means.

        `level` is "structure", "standard", "model" or "spec", as for `gufo validate`; data is not
        read.

        >>> bool(model.validate("structure"))
        False
        """
        return Findings(_core.check(self.core, level))

    def plan(self, type: str | None = None, **options: Any) -> QuantizeJob:
        """Plans what `quantize` writes, to look at it.  Nothing is written before `Job.run`.

        >>> job = model.plan("Q8_0")
        >>> job.tensors["blk.0.attn_q.weight"].type
        'Q8_0'
        >>> job.size < model.size
        True
        """
        from gufo.jobs import QuantizeJob

        return QuantizeJob(self, type, **options)

    def quantize(
        self,
        output: Path,
        type: str | None = None,
        *,
        importance: Path | None = None,
        pure: bool = False,
        effort: str = "reference",
        size: Size | None = None,
        bits_per_weight: float | None = None,
        size_types: Sequence[str] = (),
        exact: bool = False,
        losses: Path | None = None,
        types: Types | None = None,
        output_type: str | None = None,
        token_embedding_type: str | None = None,
        keep_output: bool = False,
        allow_requantize: bool = False,
        fallback: bool = True,
        keep_nonfinite: bool = False,
        metadata: Metadata | None = None,
        prune_layers: Sequence[int] = (),
        adapters: Sequence[Model | Path | tuple[Model | Path, float]] = (),
        keep_split: bool = False,
        split_size: Size = 0,
        split_tensors: int = 0,
        replace: bool = False,
        threads: int = 0,
        memory: int = 0,
        progress: Progress = None,
    ) -> QuantizeJob:
        """Writes the model with other element types, as `gufo quantize` does: the same bytes.

        `type` is a file type ("Q4_K_M"), an element type ("MXFP4") or "COPY".  Of a folder, or a
        file of a training framework, it may also be "auto", the default: this is `gufo convert`.
        `types` gives types to tensors by regular expressions, of which the first that is found in
        a name counts, or names a file of such rules.  In the place of a type, `size` is that of all
        files ("8GiB"), or `bits_per_weight` is given: losses are measured, of all rows if `exact`, and
        those of `size_types` chosen that lose least; `losses` is the path where measurements are kept
        for other sizes, and `Job.size_plan` the plan.  `importance` is the path of an importance matrix; `adapters` are LoRA
        adapters that are merged, each with a scale.  Either the file appears as a whole, or
        nothing does: an exception before that, KeyboardInterrupt too, leaves what was there.

        >>> job = model.quantize(folder / "small.gguf", "Q8_0", types={"ffn_down": "F16"})
        >>> gufo.open(folder / "small.gguf").tensors["blk.0.ffn_down.weight"].type
        'F16'
        >>> job.tensors["blk.0.attn_q.weight"].loss < 0.01
        True
        """
        job = self.plan(
            type,
            importance=importance,
            pure=pure,
            effort=effort,
            size=size,
            bits_per_weight=bits_per_weight,
            size_types=size_types,
            exact=exact,
            losses=losses,
            types=types,
            output_type=output_type,
            token_embedding_type=token_embedding_type,
            keep_output=keep_output,
            allow_requantize=allow_requantize,
            fallback=fallback,
            keep_nonfinite=keep_nonfinite,
            metadata=metadata,
            prune_layers=prune_layers,
            adapters=adapters,
            keep_split=keep_split,
            split_size=split_size,
            split_tensors=split_tensors,
            threads=threads,
            progress=progress,
        )
        return job.run(output, replace=replace, threads=threads, memory=memory, progress=progress)

    def split(
        self,
        prefix: Path,
        size: Size = 0,
        *,
        tensors: int = 0,
        metadata_alone: bool = False,
        replace: bool = False,
        threads: int = 0,
        progress: Progress = None,
    ) -> Job:
        """Writes the model as shards of at most `size` bytes ("4G") or `tensors` tensors, as
        `gufo split` does: PREFIX-00001-of-00003.gguf and so on.

        `metadata_alone` leaves the first one without tensors.  Either all files appear or none.

        >>> job = model.split(folder / "shard", "64KiB")
        >>> gufo.open(job.files[0].path).shards == len(job.files) == 3
        True
        """
        from gufo.jobs import split

        job = split(self, size, tensors, metadata_alone)
        return job.run(prefix, replace=replace, threads=threads, progress=progress)

    def merge(
        self, output: Path, *, replace: bool = False, threads: int = 0, progress: Progress = None
    ) -> Job:
        """Writes a model of several shards as one file, as `gufo merge` does.

        >>> shards = model.split(folder / "piece", tensors=10).files
        >>> _ = gufo.open(shards[0].path).merge(folder / "merged.gguf")
        >>> gufo.diff(model, folder / "merged.gguf").same
        True
        """
        from gufo.jobs import merge

        return merge(self).run(output, replace=replace, threads=threads, progress=progress)

    def endian(
        self,
        output: Path,
        byte_order: str,
        *,
        replace: bool = False,
        threads: int = 0,
        progress: Progress = None,
    ) -> Job:
        """Writes the model in the byte order "little" or "big", as `gufo endian` does.

        >>> _ = model.endian(folder / "big.gguf", "big")
        >>> gufo.open(folder / "big.gguf").byte_order
        'big'
        """
        from gufo.jobs import endian

        job = endian(self, byte_order)
        return job.run(output, replace=replace, threads=threads, progress=progress)

    def strip(
        self,
        output: Path,
        keep: Iterable[str] = (),
        *,
        vocabulary_only: bool = False,
        replace: bool = False,
        threads: int = 0,
        progress: Progress = None,
    ) -> Job:
        """Writes the metadata, and of the tensors only those that `keep` names, as `gufo strip` does.

        `vocabulary_only` leaves what a tokenizer needs.

        >>> _ = model.strip(folder / "head.gguf", ["output.weight"])
        >>> list(gufo.open(folder / "head.gguf").tensors)
        ['output.weight']
        """
        from gufo.jobs import strip

        job = strip(self, keep, vocabulary_only)
        return job.run(output, replace=replace, threads=threads, progress=progress)

    def export(
        self,
        folder: Path,
        *,
        format: str = "safetensors",
        dtype: str | None = None,
        shard_size: Size = 0,
        replace: bool = False,
        threads: int = 0,
        memory: int = 0,
        progress: Progress = None,
    ) -> Job:
        """Writes the files of the model as transformers reads them, as `gufo export` does: tensors,
        config.json, and those of the tokenizer.  The folder is made where it does not exist.

        `format` is "safetensors" or "npz"; `dtype` is "F32", "F16" or "BF16" for tensors of two
        dimensions and more; without it they keep theirs, and what is quantized becomes BF16.
        `Job.notes` says what a checkpoint cannot have.

        >>> job = model.export(folder / "exported")
        >>> gufo.open(folder / "exported").architecture
        'llama'
        """
        from gufo.jobs import export

        job = export(self, format, dtype, shard_size)
        made = not os.path.exists(folder)
        if made:
            os.mkdir(folder)
        try:
            return job.run(folder, replace=replace, threads=threads, memory=memory, progress=progress)
        except BaseException:
            if made and not os.listdir(folder):
                os.rmdir(folder)
            raise

    def edit(self, **options: Any) -> Edit:
        """Begins to change the file: `gufo.edit` of its path.  Afterwards the model is the new one.

        >>> with gufo.open(copy) as other:
        ...     with other.edit() as edit:
        ...         edit["general.name"] = "Another"
        ...     other["general.name"]
        'Another'
        """
        from gufo.edits import Edit

        if self.path is None or self.origin is not None:
            raise ValueError("only a GGUF file that was opened by its path can be edited")
        return Edit(self.path, model=self, **options)

    def reload(self) -> None:
        """Opens the file again, with the options that `open` had.

        Arrays that are views of it, and their tensors, keep the old one.

        >>> model.reload()
        """
        if self.path is None or self._kind is not None:
            raise ValueError("only a GGUF file that was opened by its path can be opened again")
        self.release()
        self._take(_core.open(self.path, flags=self._flags, name=self._name))

    def release(self) -> None:
        """Lets go of the file where no array is a view of it.

        >>> other = gufo.open(path)
        >>> other.release()
        """
        self._tensors = None
        try:
            self.core.close()
        except BufferError:
            pass

    # -- looking

    def __repr__(self) -> str:
        if self.closed:
            return "<gufo.Model: closed>"
        what = self.architecture or "no architecture"
        return f"<gufo.Model {self.name or ''!r}: {what}, {len(self)} keys, {len(self.tensors)} tensors>"

    def _repr_html_(self) -> str:
        from gufo.notebook import model_html

        return model_html(self)


# ---- opening -------------------------------------------------------------------------------------


def is_path(source: object) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(source, (str, os.PathLike))


def foreign(path: Path) -> tuple[str, str] | None:
    """What a folder or file is that is not GGUF: ("checkpoint", "Hugging Face model")."""
    recognise = getattr(_core, "recognise", None)
    return None if recognise is None else recognise(os.fsencode(path))


def open_foreign(
    path: Path,
    kind: str,
    options: dict[str, Any] | None = None,
    vocabulary: Model | None = None,
    progress: Progress = None,
) -> Model:
    from gufo.progress import shown

    core = None if vocabulary is None else vocabulary.core
    with shown(progress, os.fsdecode(path)) as call:
        found = _core.import_model(os.fsencode(path), kind == "legacy", core, options or {}, call)
    return Model(found, path, kind)


def open_folder(path: Path) -> Model:
    """A folder as far as it is understood: without rules for its architecture or its tokenizer, too."""
    flags = [_core.CHECKPOINT_NO_CHECK]
    flags += [flags[0] | _core.CHECKPOINT_NO_VOCABULARY]
    flags += [flags[1] | _core.CHECKPOINT_GENERIC]
    for attempt in flags:
        arch = "unknown" if attempt == flags[-1] else None
        try:
            return open_foreign(path, "checkpoint", {"flags": attempt, "arch": arch})
        except _core.Error as error:
            if error.code not in ("type", "not found") or arch is not None:
                raise
    raise AssertionError


def content_of(source: Any) -> Any:
    """What the extension takes: an open file without a descriptor is read."""
    if is_path(source) or isinstance(source, int) or not hasattr(source, "read"):
        return source
    try:
        source.fileno()
    except (AttributeError, OSError):  # io.UnsupportedOperation is one
        return source.read()
    return source


def is_stream(source: Any) -> bool:
    """Whether it can be read only once: a pipe, or a device."""
    by_name = is_path(source) or isinstance(source, int)
    if not by_name and not hasattr(source, "fileno"):
        return False
    try:
        mode = os.stat(source if by_name else source.fileno()).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def whole(source: Any) -> Any:
    """What can be opened more than once."""
    content = content_of(source)
    if not is_stream(content):
        return content
    opened = content if is_path(content) or isinstance(content, int) else content.fileno()
    with io.open(opened, "rb", closefd=is_path(content)) as file:
        return file.read()


def open(
    source: Any,
    *,
    lenient: bool = False,
    metadata_only: bool = False,
    single: bool = False,
    mapped: bool = True,
    name: str | None = None,
) -> Model:
    """Opens a model, in constant memory and without a copy.

    `source` is a path; the content of a file (bytes, or any object with a buffer); an open file,
    or its descriptor; or a folder or file of a training framework, or of a format before GGUF,
    which is seen as the GGUF file that it becomes.  The first of several shards means all of them,
    unless `single`; a list or tuple is the shards of a model in their order, whatever their names.

    `lenient` opens a damaged file as far as it can be read, a folder as far as it is understood; `metadata_only` one whose data is not
    there; without `mapped` a file that is truncated meanwhile cannot end the process.  Errors are
    `gufo.Error`, with `offset`, `rule` and `file`.

    >>> gufo.open(path).architecture
    'llama'
    >>> gufo.open(open(path, "rb").read()).architecture
    'llama'
    """
    flags = (
        (_core.OPEN_LENIENT if lenient else 0)
        | (_core.OPEN_METADATA_ONLY if metadata_only else 0)
        | (_core.OPEN_INCOMPLETE if single else 0)
        | (0 if mapped else _core.OPEN_NO_MAP)
    )
    if is_path(source) and os.path.isdir(source):
        need("models of training frameworks, which folders are")
        return open_folder(source) if lenient else open_foreign(source, "checkpoint")
    if isinstance(source, (list, tuple)):
        return Model(_core.open([content_of(one) for one in source], flags=flags, name=name), source)
    try:
        core = _core.open(content_of(source), flags=flags, name=name)
        return Model(core, source, flags=flags, name=name)
    except _core.Error as error:
        found = foreign(source) if error.code == "not GGUF" and is_path(source) else None
        if found is None:
            raise
    return open_foreign(source, found[0])


def validate(source: Any, level: str = "model") -> Findings:
    """Reports everything that is wrong with a file, even one that does not open.

    A pipe or a device is read to its end first, and kept in memory.

    >>> gufo.validate(b"no GGUF file")[0].name
    'magic'
    >>> gufo.validate(path).errors
    []
    """
    if isinstance(source, Model):
        return source.validate(level)
    content = whole(source)
    found = Findings(_core.validate(content))
    if found.errors:
        return found
    try:
        model = open(content)
    except _core.Error as error:
        if error.code != "shards":
            raise
        model = open(content, single=True)
    with model:
        return model.validate(level)
