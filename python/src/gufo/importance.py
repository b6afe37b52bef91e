"""Importance matrices: which columns of a tensor matter most.

>>> imatrix = gufo.imatrix(matrix)
>>> imatrix["output.weight"].shape
(32,)
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gufo import _core
from gufo.jobs import Job
from gufo.models import Path, need
from gufo.tensors import text_of
from gufo.progress import Progress

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Imatrix", "imatrix"]

FORMATS = ("gguf", "legacy")


class Imatrix(Mapping[str, "npt.NDArray[np.float32]"]):
    """The importance of columns by the names of tensors, for the `importance` of `gufo.quantize`; of a stack
    of experts it has a row for each.  `gufo.imatrix` makes it.

    >>> imatrix = gufo.imatrix(matrix)
    >>> imatrix.datasets, imatrix.chunks, len(imatrix)
    (['a.txt'], 1, 16)
    """

    def __init__(self, core: _core.Imatrix) -> None:
        self._core = core
        facts = core.facts()
        #: Of the file: "gguf" or "legacy"; of several: "gguf".
        self.format: str = facts["format"]
        #: How many pieces of text it was made from, 0: it does not say; and the tokens of each.
        self.chunks: int = facts["chunks"]
        self.chunk_size: int = facts["chunk_size"]
        #: The names of these texts.
        self.datasets: list[str] = facts["datasets"]
        self._entries = {
            text_of(name): (index, values, matrices)
            for index, (name, values, matrices) in enumerate(core.entries())
        }

    def _read(self, name: str, what: str) -> npt.NDArray[Any]:
        import numpy as np

        index, values, matrices = self._entries[name]
        numbers = np.frombuffer(self._core.read(index, what), dtype=np.float32)
        return numbers.reshape(matrices, -1) if what != "counts" and matrices > 1 else numbers

    def __getitem__(self, name: str) -> npt.NDArray[np.float32]:
        return self._read(name, "importance")

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def sums(self, name: str) -> npt.NDArray[np.float32]:
        """The sums of squares as the file has them: importance is their quotient with `counts`.

        >>> gufo.imatrix(matrix).sums("output.weight")[0]
        4.0
        """
        return self._read(name, "sums")

    def counts(self, name: str) -> npt.NDArray[np.float32]:
        """How many tokens were added up, for each matrix of the tensor.

        >>> gufo.imatrix(matrix).counts("output.weight")
        array([4.], dtype=float32)
        """
        return self._read(name, "counts")

    def write(
        self,
        output: Path,
        *,
        format: str = "gguf",
        replace: bool = False,
        progress: Progress = None,
    ) -> Job:
        """Writes it in the format "gguf" or "legacy" (imatrix.dat), as `gufo imatrix` does.

        >>> _ = gufo.imatrix([matrix, matrix]).write(folder / "sum.gguf")
        >>> gufo.imatrix(folder / "sum.gguf").chunks
        2
        """
        if format not in FORMATS:
            raise ValueError(f"format is one of {', '.join(FORMATS)}, not {format!r}")
        return Job(self._core.job(format == "legacy")).run(output, replace=replace, progress=progress)

    def __repr__(self) -> str:
        return f"<gufo.Imatrix: {len(self)} tensors, {self.chunks} chunks>"


def imatrix(source: Path | Sequence[Path]) -> Imatrix:
    """An importance matrix of either format; several are added up.

    >>> gufo.imatrix([matrix, matrix]).counts("output.weight")[0]
    8.0
    """
    need("importance matrices")
    several = [source] if isinstance(source, (str, bytes, os.PathLike)) else source
    return Imatrix(_core.imatrix([os.fsencode(path) for path in several]))
