"""Ids of models, such as mistralai/Mixtral-8x7B-Instruct-v0.1, taken apart at their hyphens.

Each piece has a kind by its form: a version, a size, a well-known word of fine tuning, an element type (which is left
out).  A size that is far from the number of parameters is a length of context.  The base name is what has no kind at
the beginning; what has none later is part of the fine tune.
"""

from __future__ import annotations

import re
from typing import Iterable, NamedTuple

_VERSION = re.compile(r"(v|iter)?\d+(\.\d+)*", re.IGNORECASE)
_TYPE = re.compile(r"i?q\d(_\w)*|b?fp?(16|32)", re.IGNORECASE)
_SIZE = re.compile(r"(\d+x|a)?\d+([._]\d+)?[kmbt]\d?|small|mini|medium|large|xl|xxl", re.IGNORECASE)
_NUMBERED_LETTER = re.compile(r"([kmbt])(\d)$", re.IGNORECASE)
_TUNE = re.compile(r"chat|instruct|vision|lora", re.IGNORECASE)
_WORD_VERSION = re.compile(r"v\d+(\.\d+)*")


class ModelId(NamedTuple):
    name: str | None = None
    organization: str | None = None
    basename: str | None = None
    finetune: str | None = None
    version: str | None = None
    size_label: str | None = None


class _Piece:
    def __init__(self, text: str) -> None:
        self.text = text
        self.kind = ""
        self.in_base = False


def read(model_id: str, total_params: int) -> ModelId:
    """The parts of an id; with a blank in it, it is a name and nothing else.  Adapters have a negative number."""
    if " " in model_id:
        return ModelId(model_id)
    owner, slash, name = model_id.partition("/") if "/" in model_id else ("", "", model_id)
    pieces = [_Piece(text) for text in name.split("-") if text]
    for index, piece in enumerate(pieces):
        _classify(piece, index == 0, total_params)
    _drop_words(pieces)
    _find_base(pieces)
    finetune = _join(p.text for p in pieces if p.kind == "finetune")
    version = _join(p.text for p in pieces if p.kind == "version" and not p.in_base)
    size = _join(dict.fromkeys(p.text for p in pieces if p.kind == "size"))
    basename = _join(p.text for p in pieces if p.in_base) if finetune or version or size else None
    organization = owner if slash and not owner.startswith(".") else None
    return ModelId(name, organization, basename, finetune, version, size)


def _join(texts: Iterable[str]) -> str | None:
    return "-".join(texts) or None


def _classify(piece: _Piece, first: bool, total_params: int) -> None:
    text = piece.text
    if _VERSION.fullmatch(text):
        piece.kind = "version"
    elif _TYPE.fullmatch(text):
        piece.kind = "type"
    elif not first and _SIZE.fullmatch(text):
        _classify_size(piece, total_params)
    elif not first and _TUNE.fullmatch(text):
        piece.kind = "type" if total_params < 0 and text.lower() == "lora" else "finetune"


def _classify_size(piece: _Piece, total_params: int) -> None:
    """7b1 means 7.1B, and 1_5b 1.5B."""
    text = _NUMBERED_LETTER.sub(r".\2\1", piece.text.replace("_", "."))
    if text[-2].isdecimal():
        text = text[:-1] + text[-1].upper()
    piece.kind = "size"
    if _is_context_length(text, total_params):
        piece.kind = "finetune"
        text = text[:-1] + text[-1].lower()
    piece.text = text


def _is_context_length(size: str, total_params: int) -> bool:
    try:
        number = float(size[:-1]) * float(1000 ** ("KMBT".index(size[-1].upper()) + 1))
    except ValueError:
        return False
    if total_params < 0:
        return number < -total_params // 8
    return total_params > 0 and abs(number - total_params) > 7 * total_params // 8


def _drop_words(pieces: list[_Piece]) -> None:
    """A word is a size only where no number is."""
    sizes = [piece for piece in pieces if piece.kind == "size"]
    if any(re.search(r"\d", piece.text) for piece in sizes):
        for piece in sizes:
            if not re.search(r"\d", piece.text):
                piece.kind = ""


def _find_base(pieces: list[_Piece]) -> None:
    at_start = True
    for piece in pieces:
        at_start = at_start and (piece.kind == "version" or (not piece.kind and piece.text[0].isalpha()))
        piece.in_base = at_start
        if not piece.kind and not at_start:
            piece.kind = "finetune"
    for piece in reversed(pieces):  # a version at the end of the base name is that of the model
        if not (piece.in_base and piece.kind == "version"):
            break
        piece.in_base = False


def title(text: str) -> str:
    """tiny-model v2 GQA becomes Tiny Model v2 GQA."""
    return " ".join(word.title() if _wants_capitals(word) else word for word in text.replace("-", " ").split())


def _wants_capitals(word: str) -> bool:
    return word.islower() and not word[0].isdecimal() and not _WORD_VERSION.fullmatch(word)
