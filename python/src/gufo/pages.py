"""Pages that show models.

>>> page = gufo.report(path)
>>> page.startswith("<!DOCTYPE html>")
True
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from gufo import _core
from gufo import models
from gufo.models import Model
from gufo.output_file import OutputFile
from gufo.progress import shown

if TYPE_CHECKING:
    from gufo.progress import Progress

__all__ = ["report"]


def shown_name(model: Model) -> str:
    name = os.fsencode(os.path.basename(model.name or ""))
    return name.decode("utf-8", "backslashreplace") or "a model"


def pair_of(source: Any) -> tuple[_core.Model, str]:
    model = source if isinstance(source, Model) else models.open(source)
    return model.core, shown_name(model)


def save(page: str, output: str | os.PathLike[str], replace: bool) -> None:
    if not replace and os.path.lexists(output):
        raise FileExistsError(f"{os.fspath(output)}: the file exists; replace=True replaces it")
    with OutputFile(output) as file:
        file.write(page.encode())


def report(
    *sources: Any,
    output: str | os.PathLike[str] | None = None,
    stats: bool = False,
    title: str = "",
    note: str = "",
    original: Any = None,
    replace: bool = False,
    threads: int = 0,
    progress: Progress = None,
) -> str:
    """A page that shows models, or what `gufo.open` opens: where the bytes are, the type of every tensor, the
    tokenizer and chat templates, memory, what is wrong, as `gufo report` does.

    The page is one HTML document, which loads nothing.  `output` also writes it to a file.  `stats`: reads
    the data, too, and shows the numbers of tensors and the scales of blocks.  `original` is the model that the others
    come from, such as that in F16, or what opens it: the page shows what each of them lost.  `title` is that of the
    page, `note` a text beside it, such as a date: without one the same models give the same page.

    >>> page = gufo.report(path, other, output=folder / "both.html", stats=True)
    >>> (folder / "both.html").read_text() == page
    True
    """
    models.need("reports")
    pairs = tuple(pair_of(one) for one in sources)
    compared = pair_of(original) if original is not None else None
    with shown(progress, "report") as call:
        page = _core.report(pairs, stats, title, note, compared, threads, call)
    if output is not None:
        save(page, output, replace)
    return page
