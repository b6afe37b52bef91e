"""Vocabularies of model folders, read with the packages that made them.

sentencepiece, transformers and mistral_common are imported by the class that needs one.  (gufo's own
readers of the same files are behind gufo.convert and need none of them.)
"""

from __future__ import annotations

import importlib
import json
import re
from enum import Enum
from pathlib import Path
from typing import (Any, Callable, ClassVar, Iterable, Iterator, Mapping, Protocol, Sequence, Tuple,
                    runtime_checkable)

from .constants import TokenType
from .special_vocab import SpecialVocab as SpecialVocab

Token = Tuple[bytes, float, TokenType]

ADDED_SCORE = -1000.0

# names of other packages that programs take from here; None where the package is missing
_OTHERS = {
    "SentencePieceProcessor": "sentencepiece",
    "MistralTokenizer": "mistral_common.tokens.tokenizers.mistral",
    "Tekkenizer": "mistral_common.tokens.tokenizers.tekken",
    "SentencePieceTokenizer": "mistral_common.tokens.tokenizers.sentencepiece",
    "get_one_valid_tokenizer_file": "mistral_common.tokens.tokenizers.utils",
}


def __getattr__(name: str) -> Any:
    if name not in _OTHERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(_OTHERS[name]), name, None)
    except ImportError:
        return None


@runtime_checkable
class BaseVocab(Protocol):
    tokenizer_model: ClassVar[str]
    name: ClassVar[str]


@runtime_checkable
class Vocab(BaseVocab, Protocol):
    vocab_size: int
    added_tokens_dict: dict[str, int]
    added_tokens_list: list[str]
    fname_tokenizer: Path

    def __init__(self, base_path: Path) -> None: ...

    def all_tokens(self) -> Iterable[Token]: ...


class NoVocab(BaseVocab):
    tokenizer_model = "no_vocab"
    name = "no_vocab"

    def __repr__(self) -> str:
        return "<NoVocab for a model without integrated vocabulary>"


class _Counted:
    """What the vocabularies with added tokens have in common."""

    vocab_size: int
    vocab_size_base: int
    added_tokens_dict: dict[str, int]
    added_tokens_list: list[str]

    def _count(self, base: int, added: Mapping[str, int], listed: Sequence[str]) -> None:
        self.vocab_size_base = base
        self.vocab_size = base + len(listed)
        self.added_tokens_dict = dict(added)
        self.added_tokens_list = list(listed)

    def _added(self, kind: TokenType) -> Iterator[Token]:
        for text in self.added_tokens_list:
            yield text.encode("utf-8"), ADDED_SCORE, kind

    def __repr__(self) -> str:
        return (f"<{type(self).__name__} with {self.vocab_size_base} base tokens and "
                f"{len(self.added_tokens_list)} added tokens>")


class BpeVocab(_Counted, Vocab):
    """Byte-level BPE: vocab.json with added_tokens.json, or tokenizer.json."""

    tokenizer_model = "gpt2"
    name = "bpe"

    def __init__(self, base_path: Path) -> None:
        self.fname_tokenizer = base_path / "vocab.json"
        if self.fname_tokenizer.exists():
            self.vocab: dict[str, int] = _read_json(self.fname_tokenizer)
            added = _optional_json(base_path / "added_tokens.json")
        else:
            self.fname_tokenizer = base_path / "tokenizer.json"
            self.vocab, added = _bpe_tokens(_read_json(self.fname_tokenizer))
        listed = _in_order(added, len(self.vocab))
        self._count(len(self.vocab), added, listed)

    def bpe_tokens(self) -> Iterable[Token]:
        texts: dict[int, Any] = {token_id: text for text, token_id in self.vocab.items()}
        for token_id in range(len(self.vocab)):
            yield texts[token_id], 0.0, TokenType.NORMAL

    def added_tokens(self) -> Iterable[Token]:
        return self._added(TokenType.CONTROL)

    def all_tokens(self) -> Iterable[Token]:
        yield from self.bpe_tokens()
        yield from self.added_tokens()


class SentencePieceVocab(_Counted, Vocab):
    """tokenizer.model, with added_tokens.json; in the folder or the one above it."""

    tokenizer_model = "llama"
    name = "spm"

    def __init__(self, base_path: Path) -> None:
        package = _need("sentencepiece", "SentencePieceVocab", RuntimeError)
        added: dict[str, int] = {}
        self.fname_tokenizer = base_path / "tokenizer.model"
        if self.fname_tokenizer.exists():
            added = _optional_json(base_path / "added_tokens.json")
        else:
            self.fname_tokenizer = base_path.parent / "tokenizer.model"
            if not self.fname_tokenizer.exists():
                raise FileNotFoundError(f"tokenizer.model is neither in {base_path} nor in the folder above")
        self.sentencepiece_tokenizer = package.SentencePieceProcessor()
        self.sentencepiece_tokenizer.LoadFromFile(str(self.fname_tokenizer))
        base = self.sentencepiece_tokenizer.vocab_size()
        listed = _in_order({text: i for text, i in added.items() if i >= base}, base)
        self._count(base, added, listed)

    def sentencepiece_tokens(self) -> Iterable[Token]:
        return _pieces(self.sentencepiece_tokenizer)

    def added_tokens(self) -> Iterable[Token]:
        return self._added(TokenType.USER_DEFINED)

    def all_tokens(self) -> Iterable[Token]:
        yield from self.sentencepiece_tokens()
        yield from self.added_tokens()


class LlamaHfVocab(_Counted, Vocab):
    """A Llama tokenizer.json, through transformers."""

    tokenizer_model = "llama"
    name = "hfft"

    def __init__(self, base_path: Path) -> None:
        self.fname_tokenizer = base_path / "tokenizer.json"
        _check_llama(_read_json(self.fname_tokenizer))
        package = _need("transformers", "LlamaHfVocab", ImportError)
        self.tokenizer = package.AutoTokenizer.from_pretrained(
            base_path, cache_dir=base_path, local_files_only=True)
        base: int = self.tokenizer.vocab_size
        new = {text: i for text, i in self.tokenizer.get_added_vocab().items() if i >= base}
        self._count(base, new, sorted(new, key=new.__getitem__))
        self.added_tokens_ids = set(new.values())
        all_ids = self.tokenizer.get_vocab()
        self.specials = {text: all_ids[text] for text in self.tokenizer.all_special_tokens}
        self.special_ids = set(self.tokenizer.all_special_ids)

    def hf_tokens(self) -> Iterable[Token]:
        texts = {token_id: text for text, token_id in self.tokenizer.get_vocab().items()}
        for token_id in range(self.vocab_size_base):
            if token_id not in self.added_tokens_ids:
                text = texts[token_id].encode("utf-8")
                yield (text, self.get_token_score(token_id),
                       self.get_token_type(token_id, text, self.special_ids))

    def get_token_type(self, token_id: int, token_text: bytes, special_ids: set[int]) -> TokenType:
        if re.fullmatch(rb"<0x[0-9A-Fa-f]{2}>", token_text):
            return TokenType.BYTE
        return TokenType.CONTROL if token_id in special_ids else TokenType.NORMAL

    def get_token_score(self, token_id: int) -> float:
        return ADDED_SCORE

    def added_tokens(self) -> Iterable[Token]:
        for text in self.added_tokens_list:
            if text in self.specials:
                token_id = self.specials[text]
                yield (text.encode("utf-8"), self.get_token_score(token_id),
                       self.get_token_type(token_id, b"", self.special_ids))
            else:
                yield text.encode("utf-8"), ADDED_SCORE, TokenType.USER_DEFINED

    def has_newline_token(self) -> bool:
        texts = self.tokenizer.get_vocab()
        return "<0x0A>" in texts or "\n" in texts

    def all_tokens(self) -> Iterable[Token]:
        yield from self.hf_tokens()
        yield from self.added_tokens()


class MistralTokenizerType(str, Enum):
    spm = "spm"
    tekken = "tekken"


class MistralVocab(Vocab):
    """A tokenizer of mistral_common: tekken.json, or a SentencePiece model with a version."""

    tokenizer_model = "mistral"
    name = "mistral"
    added_tokens_dict: dict[str, int] = {}
    added_tokens_list: list[str] = []

    def __init__(self, base_path: Path) -> None:
        mistral = _need("mistral_common.tokens.tokenizers.mistral", "MistralVocab", ImportError)
        tekken = _need("mistral_common.tokens.tokenizers.tekken", "MistralVocab", ImportError)
        self.fname_tokenizer = _mistral_file(Path(base_path))
        whole = mistral.MistralTokenizer.from_file(str(self.fname_tokenizer))
        self.tokenizer = whole.instruct_tokenizer.tokenizer
        is_tekken = isinstance(self.tokenizer, tekken.Tekkenizer)
        self.tokenizer_type = MistralTokenizerType.tekken if is_tekken else MistralTokenizerType.spm
        self.vocab_size = self.tokenizer.n_words

    @property
    def tokenizer_name(self) -> str:
        return f"mistral-{self.tokenizer_type.value}-{self.tokenizer.version}"

    @property
    def gguf_tokenizer_model(self) -> str:
        return "gpt2" if self.tokenizer_type is MistralTokenizerType.tekken else "llama"

    def _sentencepiece_tokens(self) -> Iterable[Token]:
        return _pieces(self.tokenizer._model)

    def _tekken_tokens(self) -> Iterable[Token]:
        byte_encoder = bytes_to_unicode()
        for token_id in range(self.tokenizer.num_special_tokens):
            yield self.tokenizer.id_to_piece(token_id).encode("utf-8"), 0, TokenType.CONTROL
        for token in self.tokenizer._tekken_token2id_nospecial:
            text = self.token_bytes_to_string(token, byte_encoder)
            yield text.encode("utf-8"), 0, TokenType.NORMAL

    def get_token_id(self, token: str) -> int:
        if self.tokenizer_type is MistralTokenizerType.spm:
            return int(self.tokenizer._vocab.index(token))
        special = self.tokenizer._special_tokens_reverse_vocab
        if token not in special:
            raise ValueError(f"{token!r} is not a special token of {self.fname_tokenizer}")
        return int(special[token])

    @property
    def bos_id(self) -> int:
        return int(self.tokenizer.bos_id)

    @property
    def eos_id(self) -> int:
        return int(self.tokenizer.eos_id)

    @property
    def pad_id(self) -> int:
        # -1 where the model has none
        pad_id = int(self.tokenizer.pad_id)
        return self.eos_id if pad_id == -1 else pad_id

    @property
    def unk_id(self) -> int:
        return int(self.tokenizer.unk_id)

    @property
    def bos_token(self) -> str:
        return str(self.tokenizer.id_to_piece(self.bos_id))

    @property
    def eos_token(self) -> str:
        return str(self.tokenizer.id_to_piece(self.eos_id))

    @property
    def pad_token(self) -> str:
        return str(self.tokenizer.id_to_piece(self.pad_id))

    @property
    def unk_token(self) -> str:
        return str(self.tokenizer.id_to_piece(self.unk_id))

    def all_tokens(self) -> Iterable[Token]:
        if self.tokenizer_type is MistralTokenizerType.spm:
            return self._sentencepiece_tokens()
        return self._tekken_tokens()

    @staticmethod
    def token_bytes_to_string(b: bytes, byte_encoder: Mapping[int, str]) -> str:
        return "".join(byte_encoder[byte] for byte in b)

    def extract_vocab_merges_from_model(self) -> list[str]:
        """The merges that follow from the ranks of a tekken vocabulary: a token is the merge of the two
        parts that are left when all merges of lower rank are done."""
        ranks: dict[bytes, int] = self.tokenizer._model._mergeable_ranks
        byte_encoder = bytes_to_unicode()
        merges = []
        for token, rank in ranks.items():
            parts = [] if len(token) == 1 else _merged_parts(ranks, token, rank)
            if len(parts) == 2:
                merges.append(" ".join(self.token_bytes_to_string(part, byte_encoder)
                                       for part in parts))
        return merges


def bytes_to_unicode() -> dict[int, str]:
    """The byte-level alphabet: printable bytes are themselves, the others are U+0100 and on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    alphabet = {byte: chr(byte) for byte in printable}
    alphabet.update((byte, chr(256 + place)) for place, byte in enumerate(others))
    return alphabet


def _merged_parts(ranks: Mapping[bytes, int], token: bytes, limit: int) -> list[bytes]:
    """The parts of a token after all merges with a rank below `limit`, lowest first."""
    parts = [bytes([byte]) for byte in token]
    while len(parts) > 1:
        rank, place = min((ranks.get(left + right, limit), place)
                          for place, (left, right) in enumerate(zip(parts, parts[1:])))
        if rank >= limit:
            break
        parts[place:place + 2] = [parts[place] + parts[place + 1]]
    return parts


def _pieces(model: Any) -> Iterator[Token]:
    kinds: tuple[tuple[Callable[[int], bool], TokenType], ...] = (
        (model.IsByte, TokenType.BYTE), (model.IsUnused, TokenType.UNUSED),
        (model.IsControl, TokenType.CONTROL), (model.IsUnknown, TokenType.UNKNOWN))
    for token_id in range(model.vocab_size()):
        kind = next((kind for has, kind in kinds if has(token_id)), TokenType.NORMAL)
        yield model.IdToPiece(token_id).encode("utf-8"), model.GetScore(token_id), kind


def _bpe_tokens(tokenizer: dict[str, Any]) -> tuple[dict[str, int], dict[str, int]]:
    model = tokenizer["model"]
    decoder = (tokenizer.get("decoder") or {}).get("type")
    if model["type"] != "BPE" or model.get("byte_fallback", False) or decoder != "ByteLevel":
        raise FileNotFoundError("tokenizer.json is not a byte-level BPE tokenizer")
    vocab: dict[str, int] = model["vocab"]
    # an added token may be in the vocabulary as well
    return vocab, {token["content"]: token["id"] for token in tokenizer.get("added_tokens") or []
                   if token["content"] not in vocab}


def _check_llama(tokenizer: dict[str, Any]) -> None:
    model = tokenizer["model"]
    if model["type"] == "BPE" and model.get("ignore_merges", False) \
            and not model.get("byte_fallback", True):
        raise TypeError("a Llama 3 tokenizer is read by BpeVocab")
    decoder = (tokenizer.get("decoder") or {}).get("type")
    if model["type"] != "BPE" or not model.get("byte_fallback", False) or decoder != "Sequence":
        raise FileNotFoundError("tokenizer.json is no Llama BPE tokenizer")


def _in_order(added: Mapping[str, int], first: int) -> list[str]:
    """Added tokens by id; their ids follow the vocabulary without a gap."""
    ids = sorted(added.values())
    if ids != list(range(first, first + len(ids))):
        raise ValueError(f"the {len(ids)} added tokens must have the ids {first} - "
                         f"{first + len(ids) - 1}, but have {ids}")
    return sorted(added, key=added.__getitem__)


def _mistral_file(folder: Path) -> Path:
    """tekken.json, else the SentencePiece model of the highest version."""
    found = sorted(folder.glob("tokenizer.model.v*")) + sorted(folder.glob("tekken.json"))
    if not found:
        raise FileNotFoundError(f"{folder} has no tekken.json and no tokenizer.model.v*")
    return found[-1]


def _need(module: str, user: str, error: type[Exception]) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as cause:
        package = module.partition(".")[0].replace("_", "-")
        raise error(f"{user} needs the package {package}: pip install {package}") from cause


def _read_json(file: Path) -> Any:
    with open(file, encoding="utf-8") as stream:
        return json.load(stream)


def _optional_json(file: Path) -> dict[str, int]:
    return dict(_read_json(file)) if file.is_file() else {}
