"""Hashes of tensors, and manifests, which say what they were.

>>> hashes = gufo.hash(model)
>>> gufo.verify(model, hashes.manifest().encode()).agrees
True
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

from gufo import _core
from gufo import models
from gufo.models import Model
from gufo.tensors import text_of
from gufo.progress import Progress, shown

__all__ = ["Hashes", "Verdict", "Verification", "hash", "verify"]

# What a terminal takes as a command, quotes, and bytes that are not text.
ESCAPED = re.compile('["\\\\\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\udc80-\udcff]')
SHORT = {"\n": "n", "\r": "r", "\t": "t"}


def escape(found: re.Match[str]) -> str:
    one = found[0]
    if one in SHORT or one in '"\\':
        return "\\" + SHORT.get(one, one)
    return f"\\x{ord(one) & 0xFF:02x}" if one >= "\udc80" else f"\\u{{{ord(one):x}}}"


def line_of(algorithm: str, digest: str, name: str) -> str:
    """A line of a manifest; one with escapes begins with a backslash."""
    escaped = ESCAPED.sub(escape, name)
    mark = "\\" if escaped != name else ""
    return f"{mark}{algorithm:10}{digest}  {escaped}\n"


@dataclass(frozen=True)
class Hashes:
    """Hashes by algorithm, as text.

    >>> gufo.hash(model, "sha1", "uuid").data["uuid"][14]
    '5'
    """

    #: The name of the file; "" without one.
    name: str
    #: Of the data of all tensors.
    data: dict[str, str]
    #: Of each tensor; those that `hash` did not look at are not in it.
    tensors: dict[str, dict[str, str]]

    def manifest(self) -> str:
        """Lines as `gufo hash` prints them, for `gufo.verify` and `gufo verify`.

        >>> gufo.hash(model, "xxh64", tensors=False).manifest().split()[0]
        'xxh64'
        """
        lines = [
            line_of(algorithm, digest, f"{self.name}:{tensor}")
            for tensor, digests in self.tensors.items()
            for algorithm, digest in digests.items()
        ]
        return "".join(lines + [line_of(*item, self.name) for item in self.data.items()])


@dataclass(frozen=True)
class Verdict:
    """What a manifest says of a tensor, or of all data.

    >>> gufo.verify(other, gufo.hash(model).manifest().encode()).verdicts[0].verdict
    'differs'
    """

    #: "same", "differs", "missing" (the manifest has it, the file does not), "new" (the other way round).
    verdict: str
    #: None: of all data.
    tensor: str | None


@dataclass(frozen=True)
class Verification:
    """How a file compares with a manifest: true where they agree.

    >>> bool(gufo.verify(model, gufo.hash(model).manifest().encode()))
    True
    """

    agrees: bool
    verdicts: list[Verdict]

    def __bool__(self) -> bool:
        return self.agrees


def opened(source: Any) -> Model:
    models.need("hashes")
    return source if isinstance(source, Model) else models.open(source)


def hash(
    source: Any,
    *algorithms: str,
    tensors: bool = True,
    threads: int = 0,
    progress: Progress = None,
) -> Hashes:
    """Hashes the data of each tensor, and all of it together, as `gufo hash` does.

    `algorithms` are "sha256" (the default), "sha1", "xxh64", "blake2b", "uuid" (of all data alone).
    Metadata does not count: it may be edited.

    >>> len(gufo.hash(path).tensors["output.weight"]["sha256"])
    64
    """
    model = opened(source)
    with shown(progress, "hash") as call:
        data, rows = _core.hash(model.core, list(algorithms or ["sha256"]), tensors, threads, call)
    names = [text_of(row[0]) for row in model.core.tensors()] if tensors else []
    return Hashes(model.name or "", data, dict(zip(names, rows)))


def verify(
    source: Any, manifest: models.Path | bytes, *, threads: int = 0, progress: Progress = None
) -> Verification:
    """Compares a model with a manifest: the path of one, or bytes, which are its lines.

    Lines are those of `gufo hash` and llama-gguf-hash; where they are about several files, those of
    this name count.

    >>> manifest = gufo.hash(model).manifest().encode()
    >>> {verdict.verdict for verdict in gufo.verify(path, manifest).verdicts}
    {'same'}
    """
    model = opened(source)
    lines, place = manifest, None
    if not isinstance(lines, bytes):
        place = os.fsencode(lines)
        with open(lines, "rb") as file:
            lines = file.read()
    path = None if model.name is None else os.fsencode(model.name)
    with shown(progress, "verify") as call:
        agrees, rows = _core.verify(model.core, lines, place, path, threads, call)
    return Verification(agrees, [Verdict(word, None if whole else text_of(name)) for word, name, whole in rows])
