"""Jobs: plans of files, which are looked at and then written.

>>> job = model.plan("Q8_0")
>>> job.size < model.size
True
>>> _ = job.run(folder / "job.gguf")
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, Union

from gufo import _core
from gufo import models
from gufo.given import Size, bytes_in, metadata_rows
from gufo.models import Model, Path
from gufo.tensors import Tensor, bytes_of, text_of
from gufo.progress import Progress, shown

__all__ = ["Job", "JobTensor", "Output", "PartResult", "QuantizeJob", "SizePlan", "SizeTensor", "convert"]

#: Keys and values that a file gets.
Metadata = Mapping[str, Any]
#: Types of tensors by patterns of their names, or a file of such rules.
Types = Union[Mapping[str, str], Path]
Adapter = Union[Model, Path, "tuple[Model | Path, float]"]

EFFORTS = {"reference": _core.EFFORT_REFERENCE, "high": _core.EFFORT_HIGH}


@dataclass(frozen=True)
class JobTensor:
    """What a tensor becomes.

    >>> model.plan("Q4_K_M").tensors["output_norm.weight"].reason
    'fewer than two dimensions'
    """

    name: str
    #: Its name in the input.
    source: str
    old_type: str
    old_size: int
    elements: int
    type: str
    #: Before looking at the length of rows; another one than `type` where it fell back.
    wanted: str
    size: int
    #: Why it gets its type, and the part of the name that decided; None: no part did.
    reason: str
    rule: str | None
    has_importance: bool
    #: After the job has run: values compared, the relative error (root mean square), and the largest one.
    compared: int
    loss: float
    largest_error: float


@dataclass(frozen=True)
class Output:
    """A file of a job.

    >>> model.plan("Q8_0").outputs(folder / "out.gguf")[0].tensor_count
    21
    """

    path: str
    size: int
    tensor_count: int
    data_size: int


def job_tensor(row: dict[str, Any]) -> JobTensor:
    for name in ("name", "source"):
        row[name] = text_of(row[name])
    for name in ("old_type", "type", "wanted"):
        if isinstance(row[name], int):
            row[name] = f"type {row[name]}"
    return JobTensor(**row)


def kept_row(tensor: Tensor) -> dict[str, Any]:
    """A tensor of a job that changes none."""
    name = bytes_of(tensor.name)
    return {
        "name": name, "source": name, "old_type": tensor.type, "old_size": tensor.size,
        "elements": tensor.elements, "type": tensor.type, "wanted": tensor.type, "size": tensor.size,
        "reason": "it stays", "rule": None, "has_importance": False, "compared": 0, "loss": 0.0,
        "largest_error": 0.0,
    }  # fmt: skip


@dataclass(frozen=True)
class SizeTensor:
    """What is planned for a tensor so that files get a size.

    >>> model.plan(size="100KiB").size_plan.tensors["output_norm.weight"].is_kept
    True
    """

    type: str | None
    #: It keeps its type, and its loss does not count.
    is_kept: bool
    size: int
    #: Relative, of squares, as it was measured; and how exact this is.
    loss: float
    standard_error: float
    #: With which the loss counts.
    coefficient: float
    #: The loss of the run, and whether it is within three standard errors of what was planned; None before
    #: the job has run, and for what is copied.
    actual: float | None
    agrees: bool | None


@dataclass(frozen=True)
class SizePlan:
    """The types with which files of a size lose least.

    >>> plan = model.plan(size="100KiB").size_plan
    >>> plan.least <= plan.size <= plan.asked == 102400
    True
    """

    #: Bytes of the files; for bits per weight, of the data of all tensors.
    asked: int
    #: Bytes of the files, and of the data of all tensors; the elements of these; the least that could be asked for.
    size: int
    data_size: int
    elements: int
    least: int
    #: The sum of losses; no plan of that size has less than the bound; whether none has less than this one.
    loss: float
    bound: float
    is_proven: bool
    #: Every tensor has the type with which it loses least.
    is_best: bool
    #: The type of most elements, and the file type that the files get.
    main_type: str | None
    file_type: str | None
    #: The largest fixed mixture of at most that size, such as "Q4_K_M"; None without one.
    mixture: str | None
    mixture_size: int
    mixture_loss: float
    #: The type with which `rules`, as a file for `types`, give the same types.
    target: str | None
    rules: str
    tensors: dict[str, SizeTensor]


def size_plan(about: dict[str, Any] | None) -> SizePlan | None:
    if about is None:
        return None
    rows = about.pop("tensors")
    del about["notes"]
    return SizePlan(**about, tensors={text_of(row.pop("name")): SizeTensor(**row) for row in rows})


# ---- options -------------------------------------------------------------------------------------


def listed(names: Iterable[str]) -> list[str]:
    """Names; a text is one of them, and not its letters."""
    return [names] if isinstance(names, str) else list(names)


def rules_of(types: Types | None) -> Iterable[tuple[str, str]]:
    """Patterns and types: a mapping, or a file of them, as `SizePlan.rules` has them."""
    if types is None or isinstance(types, Mapping):
        return (types or {}).items()
    with open(types, "rb") as file:
        return [(text_of(pattern), text_of(type)) for pattern, type in _core.type_rules(file.read(), os.fsencode(types))]


def types_by_name(model: Model, types: Types | None) -> dict[bytes, str]:
    """The type of each tensor that the first matching pattern gives.  ValueError for a pattern that no
    name matches."""
    patterns = [(re.compile(pattern), type.upper()) for pattern, type in rules_of(types)]
    found: dict[bytes, str] = {}
    unused = {pattern for pattern, _ in patterns}
    for name in model.tensors:
        for pattern, type in patterns:
            if pattern.search(name):
                unused.discard(pattern)
                found.setdefault(bytes_of(name), type)
    for pattern in unused:
        raise ValueError(f"no tensor has a name that matches {pattern.pattern!r}")
    return found


def check_settings(model: Model) -> None:
    """Refuses a file that lacks what readers need, as `gufo migrate` does."""
    for key, state, required, why in (model.origin or {})["settings"]:
        if state == "missing" and required:
            error = _core.Error(f"{model.name}: '{text_of(key)}' is missing: {why}")
            error.code, error.file, error.message = "not found", model.name, str(error)
            raise error


def open_adapter(adapter: Any) -> tuple[Model, float]:
    scale = 1.0
    if isinstance(adapter, tuple):
        adapter, scale = adapter
    return (adapter if isinstance(adapter, Model) else models.open(adapter)), float(scale)


def files_of(model: Model) -> list[bytes]:
    """Paths that no output may replace, beyond those that the library knows."""
    origin = model.origin
    if origin is None or model.path is None:
        return []
    paths = set(origin["parts"])
    if origin["kind"] == "checkpoint":
        folder = model.path if os.path.isdir(model.path) else os.path.dirname(model.path) or "."
        # a GGUF file beside it is a result
        paths.update(
            entry.path
            for entry in os.scandir(folder)
            if entry.is_file() and not entry.name.endswith(".gguf")
        )
    return [os.fsencode(path) for path in paths]


# ---- jobs ----------------------------------------------------------------------------------------


class Job:
    """A plan of files, which methods of a model make: `Model.split`, `Model.merge`, `Model.strip` ...

    >>> job = model.split(folder / "part", tensors=8)
    >>> [os.path.basename(file.path) for file in job.files]
    ['part-00001-of-00003.gguf', 'part-00002-of-00003.gguf', 'part-00003-of-00003.gguf']
    """

    def __init__(self, core: _core.Job, read: Sequence[bytes] = ()) -> None:
        self._core: _core.Job | None = core
        self._read = list(read)
        self._files: list[Output] = []
        #: Sentences: how the files differ from the input beyond what was asked for.
        self.notes: list[str] = core.notes()

    def _open(self) -> _core.Job:
        if self._core is None:
            raise ValueError("the job has run")
        return self._core

    def outputs(self, path: Path) -> list[Output]:
        """The files that `run` writes for this path.

        >>> [os.path.basename(file.path) for file in model.plan("Q8_0").outputs("out.gguf")]
        ['out.gguf']
        """
        return [Output(**row) for row in self._open().outputs(os.fsencode(path))]

    @property
    def files(self) -> list[Output]:
        """The files that it has written.

        >>> model.plan("Q8_0").files
        []
        """
        return self._files

    @property
    def size(self) -> int:
        """Bytes of all files.

        >>> model.plan("Q8_0").size < model.plan("F16").size < model.size
        True
        """
        return sum(output.size for output in self._files or self.outputs(""))

    def run(
        self,
        output: Path,
        *,
        replace: bool = False,
        resume: bool = False,
        threads: int = 0,
        memory: int = 0,
        progress: Progress = None,
    ) -> Self:
        """Writes the files, once, and returns the job.  On failure nothing is left.

        `resume` keeps what an interrupted run has done, and continues it.

        >>> model.plan("Q8_0").run(folder / "run.gguf").files[0].tensor_count
        21
        """
        options = self._options(output, replace, memory)
        options["flags"] |= _core.JOB_RESUME if resume else 0
        with shown(progress, os.path.basename(os.fsdecode(output))) as call:
            self._open().run(options, threads, call)
        self._finish(output)
        self._core = None  # and with it the models, which can be closed now
        return self

    def run_part(
        self,
        output: Path,
        part: str | tuple[int, int] = "next",
        *,
        align: int = 0,
        replace: bool = False,
        threads: int = 0,
        memory: int = 0,
        progress: Progress = None,
    ) -> PartResult:
        """Makes a share of the files, once: `part` is "K/N" or (K, N), share K of N from 0, or "next", whatever is left.

        Any number of processes, on any number of machines, make the same job and a share each; `commit` names the files
        when all parts are there.  The bytes are those of `run`.  `gufo.plan` says how far the parts are, each of which
        has a whole number of blocks of `align` bytes in each file; 0 means 1 MiB.

        >>> [model.plan("Q8_0").run_part(folder / "parts.gguf", (k, 2), align=4096).made > 0 for k in range(2)]
        [True, True]
        >>> model.plan("Q8_0").commit(folder / "parts.gguf")
        0
        """
        options = self._options(output, replace, memory) | part_options(part) | {"part_align": align}
        with shown(progress, os.path.basename(os.fsdecode(output))) as call:
            result = PartResult(**self._open().run_part(options, threads, call))
        self._core = None
        return result

    def commit(self, output: Path, *, replace: bool = False, progress: Progress = None) -> int:
        """Names the files when all parts are there (0), as `run` does; else returns how many are missing, and nothing has
        its name.  Then the job is as one that has run.

        >>> model.plan("Q8_0").run_part(folder / "half.gguf", "0/2", align=4096).count > 1
        True
        >>> model.plan("Q8_0").commit(folder / "half.gguf") > 0
        True
        """
        with shown(progress, os.path.basename(os.fsdecode(output))) as call:
            missing = self._open().commit(self._options(output, replace, 0), call)
        if missing == 0:
            self._finish(output)
        self._core = None
        return missing

    def _options(self, output: Path, replace: bool, memory: int) -> dict[str, Any]:
        return {
            "path": os.fsencode(output),
            "flags": _core.JOB_REPLACE if replace else 0,
            "memory": memory,
            "read": self._read,
        }

    def _finish(self, output: Path) -> None:
        self._files = self.outputs(output)

    def __repr__(self) -> str:
        return f"<gufo.{type(self).__name__}: {self.size} bytes>"


@dataclass(frozen=True)
class PartResult:
    """What a worker has done.

    >>> result = model.plan("Q8_0").run_part(folder / "one.gguf", "0/1")
    >>> result.made == result.count == result.complete
    True
    """

    #: Parts of the plan, those that this worker has made, and those of its share (or of all, with "next") that are
    #: complete, made by any worker.
    count: int
    made: int
    complete: int
    #: Bytes that it has read.
    size: int


def part_options(part: str | tuple[int, int]) -> dict[str, Any]:
    if part == "next":
        return {"part_next": True}
    share: Sequence[Any] = part.split("/") if isinstance(part, str) else part
    try:
        worker, workers = map(int, share)
    except ValueError:
        raise ValueError(f'part is "next", "K/N" or (K, N), not {part!r}') from None
    return {"part_worker": worker, "part_workers": workers}


class QuantizeJob(Job):
    """A plan of a file, or of several shards, with other element types.  `Model.plan` and
    `Model.quantize` make it.

    >>> job = model.plan("Q4_K_M", pure=True)
    >>> job.tensors["output.weight"].reason
    'target'
    """

    def __init__(
        self,
        model: Model,
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
        adapters: Sequence[Adapter] = (),
        keep_split: bool = False,
        split_size: Size = 0,
        split_tensors: int = 0,
        threads: int = 0,
        progress: Progress = None,
    ) -> None:
        models.need("quantizing, splitting and the like")
        if effort not in EFFORTS:
            raise ValueError(f"effort is one of {', '.join(EFFORTS)}, not {effort!r}")
        is_sized = size is not None or bits_per_weight is not None
        if [type is not None, size is not None, bits_per_weight is not None].count(True) > 1:
            raise TypeError("type, size and bits_per_weight exclude each other")
        if type is None and not is_sized and model.origin is None:
            raise TypeError("the type is needed, such as \"Q4_K_M\" or \"COPY\", or a size")
        origin = model.origin
        migrates = type is None and not is_sized and origin is not None and origin["kind"] == "legacy"
        if migrates:
            check_settings(model)
        merged = [open_adapter(adapter) for adapter in adapters]
        path = None if importance is None else os.fsencode(importance)
        self._model = model
        self._tensors: dict[str, JobTensor] | None = None
        kept = None if losses is None else os.fsencode(losses)
        options = {
            "type": type,
            "imatrix": path,
            "pure": pure,
            "migrates": migrates,
            "effort": EFFORTS[effort],
            "types": types_by_name(model, types),
            "output_type": output_type,
            "token_embedding_type": token_embedding_type,
            "keep_output": keep_output,
            "allow_requantize": allow_requantize,
            "no_fallback": not fallback,
            "flags": (_core.QUANTIZE_KEEP_NONFINITE if keep_nonfinite else 0)
            | (_core.QUANTIZE_KEEP_SPLIT if keep_split else 0),
            "metadata": metadata_rows(metadata or {}, model, model.architecture or ""),
            "prune_layers": list(prune_layers),
            "adapters": [(adapter.core, scale) for adapter, scale in merged],
            "split_size": bytes_in(split_size),
            "split_tensors": split_tensors,
            "size": None if size is None else bytes_in(size),
            "bits_per_weight": bits_per_weight,
            "size_types": listed(size_types),
            "exact": exact,
            "losses": kept,
        }
        with shown(progress if is_sized else False, "losses") as call:
            core = _core.quantizer(model.core, options, threads, call)
        super().__init__(core, files_of(model) + [one for one in (path, kept) if one is not None])
        about = core.about()
        if about is not None:
            self.notes += about["notes"]
        #: With a size: the plan for it.
        self.size_plan: SizePlan | None = size_plan(about)
        self.type = type if self.size_plan is None else self.size_plan.target

    @property
    def tensors(self) -> dict[str, JobTensor]:
        """What the tensors become, by their names in the output, and after `run` what they lose.

        >>> model.plan("F16").tensors["output.weight"].size
        16960
        """
        if self._tensors is None:
            rows = map(job_tensor, self._open().tensors() or map(kept_row, self._model.tensors.values()))
            self._tensors = {tensor.name: tensor for tensor in rows}
        return self._tensors

    @property
    def bits_per_weight(self) -> float:
        """Bits of data for each element.

        >>> model.plan("F32").bits_per_weight
        32.0
        """
        elements = sum(tensor.elements for tensor in self.tensors.values())
        return 8 * sum(tensor.size for tensor in self.tensors.values()) / max(elements, 1)

    def _finish(self, output: Path) -> None:
        super()._finish(output)
        if self.size_plan is not None:
            self.size_plan = size_plan(self._open().about())
        self._tensors = None
        self._tensors = self.tensors
        del self._model

    def __repr__(self) -> str:
        return f"<gufo.QuantizeJob {self.type or 'auto'}: {len(self.tensors)} tensors, {self.size} bytes>"

    def _repr_html_(self) -> str:
        from gufo.notebook import job_html

        return job_html(self)


# ---- other forms ---------------------------------------------------------------------------------

EXPORTS = ("safetensors", "npz")  # gufo_export_format


def formed(model: Model, form: str, options: dict[str, Any]) -> Job:
    models.need("quantizing, splitting and the like")
    return Job(_core.form(model.core, form, options), files_of(model))


def split(model: Model, size: Size, tensors: int, metadata_alone: bool) -> Job:
    options = {"size": bytes_in(size), "tensors": tensors, "metadata_alone": metadata_alone}
    if options["size"] == tensors == 0:
        raise ValueError("a split needs a limit: size or tensors")
    return formed(model, "split", options)


def merge(model: Model) -> Job:
    return formed(model, "merge", {})


def endian(model: Model, byte_order: str) -> Job:
    if byte_order not in models.BYTE_ORDERS:
        raise ValueError(f"byte_order is one of {', '.join(models.BYTE_ORDERS)}, not {byte_order!r}")
    options = {"byte_order": models.BYTE_ORDERS.index(byte_order)}
    return formed(model, "endian", options)


def strip(model: Model, keep: Iterable[str], vocabulary_only: bool) -> Job:
    names = [model.tensors[name].name for name in listed(keep)]
    if names and vocabulary_only:
        raise ValueError("vocabulary_only leaves no tensors: keep names some")
    options = {"keep": list(map(bytes_of, names)), "vocabulary_only": vocabulary_only}
    return formed(model, "strip", options)


def export(model: Model, format: str, dtype: str | None, shard_size: Size) -> Job:
    models.need("models of training frameworks, which folders are")
    if format not in EXPORTS:
        raise ValueError(f"format is one of {', '.join(EXPORTS)}, not {format!r}")
    options = {"format": EXPORTS.index(format), "dtype": dtype, "shard_size": bytes_in(shard_size)}
    return formed(model, "export", options)


# ---- models in other formats ---------------------------------------------------------------------


def convert(
    source: Path,
    output: Path,
    type: str | None = None,
    *,
    arch: str | None = None,
    generic: bool = False,
    pre: str | None = None,
    vocabulary: Model | Path | None = None,
    vocabulary_only: bool = False,
    no_vocabulary: bool = False,
    keep_tokenizer: bool = False,
    base: Path | None = None,
    metadata_file: Path | None = None,
    known: Metadata | None = None,
    force_config: bool = False,
    follow: bool = False,
    replace: bool = False,
    threads: int = 0,
    memory: int = 0,
    progress: Progress = None,
    **options: Any,
) -> QuantizeJob:
    """Writes the GGUF file of a model of a training framework, as `gufo convert` does, or of a file of a
    format before GGUF, as `gufo migrate` does: the same bytes.

    `source` is a folder with config.json and its weights, or one file; `type` is "auto" (F16 or BF16,
    whichever most of the model has) or any that `Model.quantize` takes, with its `options`.
    `vocabulary` is a model whose tokenizer is taken; `base` the model that an adapter is for;
    `known` are entries that the files lack, or that replace what they say; `follow` reads what symlinks
    lead to.

    >>> job = gufo.convert(checkpoint, folder / "converted.gguf", "Q8_0", no_vocabulary=True)
    >>> gufo.open(folder / "converted.gguf").architecture
    'llama'
    """
    models.need("models of training frameworks, which folders are")
    found = models.foreign(source)
    kind = found[0] if found else "checkpoint"
    lent = vocabulary if vocabulary is None or isinstance(vocabulary, Model) else models.open(vocabulary)
    entries = metadata_rows(known or {}, None, arch or "")
    flags = (
        (_core.CHECKPOINT_GENERIC if generic else 0)
        | (_core.CHECKPOINT_VOCABULARY_ONLY if vocabulary_only else 0)
        | (_core.CHECKPOINT_NO_VOCABULARY if no_vocabulary else 0)
        | (_core.CHECKPOINT_KEEP_TOKENIZER if keep_tokenizer else 0)
        | (_core.CHECKPOINT_FORCE_CONFIG if force_config else 0)
        | (_core.CHECKPOINT_FOLLOW if follow else 0)
    )
    checkpoint = {
        "flags": flags,
        "arch": arch,
        "pre": pre,
        "base": None if base is None else os.fsencode(base),
        "metadata": None if metadata_file is None else os.fsencode(metadata_file),
        "memory": memory,
        "known": entries,
    }
    legacy = {"flags": _core.LEGACY_MEASURE, "arch": arch, "known": entries}
    with models.open_foreign(source, kind, legacy if kind == "legacy" else checkpoint, lent) as model:
        job = model.plan(type, threads=threads, progress=progress, **options)
        job.run(output, replace=replace, threads=threads, memory=memory, progress=progress)
    return job
