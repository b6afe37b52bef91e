"""Runs llama.cpp's converter, unmodified, on folders: converter.py LLAMA_CPP PACKAGES OUT FOLDER...

The converter finds gguf in PACKAGES.  Of transformers and sentencepiece it takes what the folders need from stand-ins,
which know the tokens of a folder and no more; so the name of the pre-tokenizer is "default".
"""

from __future__ import annotations

import json
import runpy
import struct
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Iterator


class NoConfig:
    """Without it the converter reads config.json as it is."""

    @staticmethod
    def from_pretrained(*_: Any, **__: Any) -> Any:
        raise RuntimeError("the class is not known")


class Tokenizer:
    """The tokens of tokenizer.json."""

    def __init__(self, folder: Path) -> None:
        found = json.loads((Path(folder) / "tokenizer.json").read_text())
        added = {token["id"]: SimpleNamespace(**token) for token in found["added_tokens"]}
        self.added_tokens_decoder = added
        self.vocab = {**found["model"]["vocab"], **{token.content: number for number, token in added.items()}}
        self.vocab_size = len(self.vocab)

    @classmethod
    def from_pretrained(cls, folder: Path, *_: Any, **__: Any) -> Tokenizer:
        return cls(folder)

    def get_vocab(self) -> dict[str, int]:
        return self.vocab

    def get_added_vocab(self) -> dict[str, int]:
        return {token.content: number for number, token in self.added_tokens_decoder.items()}

    def encode(self, text: str, **_: Any) -> list[str]:
        return [text]

    def decode(self, texts: list[str]) -> str:
        return "".join(texts)


class SentencePieceProcessor:
    """The pieces of tokenizer.model, which is a message of protocol buffers."""

    def LoadFromFile(self, file: str) -> None:
        pieces = [dict(fields(value)) for number, value in fields(Path(file).read_bytes()) if number == 1]
        self.pieces = [(piece[1].decode(), struct.unpack("<f", piece.get(2, bytes(4)))[0], piece.get(3, 1))
                       for piece in pieces]

    def vocab_size(self) -> int:
        return len(self.pieces)

    def IdToPiece(self, number: int) -> str:
        return str(self.pieces[number][0])

    def GetScore(self, number: int) -> float:
        return float(self.pieces[number][1])

    def IsUnknown(self, number: int) -> bool:
        return bool(self.pieces[number][2] == 2)

    def IsControl(self, number: int) -> bool:
        return bool(self.pieces[number][2] == 3)

    def IsUnused(self, number: int) -> bool:
        return bool(self.pieces[number][2] == 5)

    def IsByte(self, number: int) -> bool:
        return bool(self.pieces[number][2] == 6)


def fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Numbers and values of the fields of a message."""
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        tag = number()
        if tag & 7 == 0:
            yield tag >> 3, number()
        else:
            size = {5: 4, 1: 8}.get(tag & 7) or number()
            yield tag >> 3, message[at:at + size]
            at += size


def stand_in(name: str, **things: Any) -> None:
    module = ModuleType(name)
    vars(module).update(things)
    sys.modules[name] = module


def main() -> None:
    converter, packages, out, *folders = sys.argv[1:]
    sys.path[:0] = [packages, converter]
    stand_in("transformers", AutoConfig=NoConfig, AutoTokenizer=Tokenizer)
    stand_in("sentencepiece", SentencePieceProcessor=SentencePieceProcessor)
    import torch
    for name in ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "uint16", "uint32", "uint64"):
        if not hasattr(torch, name):  # Debian's torch lacks some types, which the converter only names
            setattr(torch, name, object())
    import gguf
    assert Path(gguf.__file__).is_relative_to(packages), gguf.__file__
    import conversion.base
    conversion.base.TextModel.get_vocab_base_pre = lambda *_: "default"
    for folder in folders:
        sys.argv[1:] = [folder, "--outfile", f"{out}/{Path(folder).name}.gguf", "--outtype", "q8_0"]
        runpy.run_path(f"{converter}/convert_hf_to_gguf.py", run_name="__main__")


if __name__ == "__main__":
    main()
