"""Text: the tokenizer of a model, and its chat templates.

>>> tokenizer = gufo.tokenizer(model)
>>> tokenizer.encode("ab a")
[1, 6, 7]
>>> tokenizer.decode([6, 7])
'ab a'
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Union, overload

from gufo import _core
from gufo import models
from gufo.models import Model, Path

__all__ = ["Census", "Token", "TokenDiff", "Tokenizer", "TokenizerDiff", "Tokens", "tokenizer"]

ADD_SPECIAL, PARSE_SPECIAL, SPANS = 1, 2, 4  # gufo_tokenize_flags
SKIP_SPECIAL, REMOVE_SPECIAL = 1, 2  # gufo_detokenize_flags
RULES = ("any", "ggml", "huggingface", "rwkv")  # gufo_tokenizer_kind
ORIGINAL = 1  # gufo_vocab_flags
TYPES = ("other", "normal", "unknown", "control", "user-defined", "unused", "byte")

Text = Union[str, bytes]


class Token(NamedTuple):
    """A token of a vocabulary.

    >>> tokenizer.token(1)
    Token(id=1, text='<s>', score=0.0, type='control')
    """

    id: int
    #: As it is stored: in the alphabet of the algorithm.
    text: str
    score: float
    #: "normal", "unknown", "control", "user-defined", "unused", "byte"
    type: str


class Tokens(list[int]):
    """Ids of a text, which are a list; and which part of the text each is.

    >>> tokens = tokenizer.encode("ab a")
    >>> tokens, tokens.spans
    ([1, 6, 7], [(0, 0), (0, 2), (2, 4)])
    """

    def __init__(self, ids: list[int], tokenizer: Tokenizer, text: Text, flags: int) -> None:
        super().__init__(ids)
        self.text = text
        self._tokenizer = tokenizer
        self._flags = flags
        self._spans: list[tuple[int, int]] | None = None

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Begin and end in the text: in characters of a str, in bytes of bytes, as Hugging Face's offsets.
        A token covers whole characters: those that share one have all of it.  A token that was
        added around the text has (0, 0).

        >>> tokenizer.encode("\N{EURO SIGN}").spans
        [(0, 0), (0, 1), (0, 1), (0, 1), (0, 1)]
        >>> gufo.tokenizer(words).encode("\N{EURO SIGN}".encode()).spans
        [(0, 3), (0, 3), (0, 3)]
        """
        if self._spans is None:
            self._spans = self._tokenizer._spans(self.text, self._flags)
        return self._spans

    @property
    def pieces(self) -> list[Text]:
        """The parts of the text that the tokens are.

        >>> tokenizer.encode("ab a").pieces
        ['', 'ab', ' a']
        """
        return [self.text[begin:end] for begin, end in self.spans]

    def _repr_html_(self) -> str:
        from gufo.notebook import tokens_html

        return tokens_html(self)


def in_characters(text: str, encoded: bytes, spans: Any) -> list[tuple[int, int]]:
    """Spans of bytes as spans of characters; one that cuts a character has all of it."""
    import numpy as np

    if len(text) != len(encoded):
        starts = (np.frombuffer(encoded, np.uint8) & 0xC0) != 0x80
        before = np.concatenate(([0], np.cumsum(starts)))  # characters that begin before a byte
        inside = np.append(~starts, False)
        spans = np.stack((before[spans[:, 0]] - inside[spans[:, 0]], before[spans[:, 1]]), axis=1)
    return [(begin, end) for begin, end in spans.tolist()]


@dataclass(frozen=True)
class Census:
    """What a vocabulary holds.  `Tokenizer.census` makes it.

    >>> tokenizer.census(longest=1).types
    {'normal': 6, 'unknown': 1, 'control': 2, 'byte': 256}
    """

    #: How many tokens have each type.
    types: dict[str, int]
    #: Ids of tokens that are written in texts, first those that give the most bytes.
    longest: list[int]
    #: Ids of tokens whose text a later token has, too.
    duplicates: list[int]
    #: Ids of tokens that no text gives: their own text becomes other tokens.
    unreachable: list[int]
    #: How many tokens have a text of their own, which may give them.
    tested: int


class TokenDiff(NamedTuple):
    """A token that differs.

    >>> tokenizer.compare(gufo.tokenizer(words)).tokens[0].change
    'removed'
    """

    #: "removed", "added", "moved" (it has another id), "type", "score"
    change: str
    text: str
    #: Ids; None where there is no such token.
    a: int | None
    b: int | None


@dataclass(frozen=True)
class TokenizerDiff:
    """How two tokenizers differ.  `Tokenizer.compare` makes it.

    >>> tokenizer.compare(tokenizer).same
    True
    """

    #: The values of each setting that differs: "model", "pre-tokenizer", "bos" ...
    settings: dict[str, tuple[str, str]]
    tokens: list[TokenDiff]
    #: How many merges both have.
    merges: tuple[int, int]
    #: The rank of the first merge that differs; None if all are equal.
    first_merge: int | None

    @property
    def same(self) -> bool:
        """Whether nothing differs.

        >>> tokenizer.compare(gufo.tokenizer(words)).same
        False
        """
        return not self.settings and not self.tokens and self.first_merge is None


class Decoder:
    """Text of ids that come one after the other, as a model generates them.

    >>> decoder = tokenizer.decoder()
    >>> "".join(decoder.feed([id]) for id in [6, 7]) + decoder.end()
    'ab a'
    """

    def __init__(self, core: _core.Decoder) -> None:
        self._core = core

    def feed(self, ids: Sequence[int]) -> str:
        """The text that no further id can change.

        >>> tokenizer.decoder().feed([])
        ''
        """
        return self._core.feed(ids).decode("utf-8", "replace")

    def end(self) -> str:
        """The text that was held back.

        >>> tokenizer.decoder().end()
        ''
        """
        return self._core.end().decode("utf-8", "replace")


class Tokenizer:
    """The tokenizer of a model.  `gufo.tokenizer` makes it.

    >>> len(tokenizer), tokenizer.algorithm
    (265, 'SPM')
    """

    def __init__(self, core: _core.Vocab, templates: Mapping[str, str]) -> None:
        self._core = core
        facts = core.facts()
        #: "SPM", "BPE", "WPM", "UGM", "RWKV"
        self.algorithm: str = facts["algorithm"]
        #: The pre-tokenizer; None where the algorithm has none.
        self.pre: str | None = facts["pre"]
        #: Ids of special tokens: "bos", "eos", "eot", "unk", "pad" ...
        self.special: dict[str, int] = facts["special"]
        #: Ids that end generation: EOS, EOT and others like them.
        self.stop_tokens: list[int] = facts["stop_tokens"]
        #: Sentences about what was assumed.
        self.warnings: list[str] = facts["warnings"]
        #: Sources of chat templates; that without a name is "default".
        self.chat_templates: dict[str, str] = dict(templates)
        self._size: int = facts["size"]

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"<gufo.Tokenizer: {self.algorithm}, {len(self)} tokens>"

    # -- tokens

    def token(self, id: int) -> Token:
        """A token by its id.

        >>> tokenizer.token(3).text
        'a'
        """
        text, score, type, _ = self._core.token(id)
        return Token(id, text.decode("utf-8", "backslashreplace"), score, TYPES[type])

    def id(self, text: Text) -> int | None:
        """The id of the token that is stored with this text; None without one.

        >>> tokenizer.id("ab"), tokenizer.id("abc")
        (5, None)
        """
        found = self._core.find(text.encode() if isinstance(text, str) else text)
        return found if found >= 0 else None

    # -- encoding

    def encode(
        self, text: Text, *, add_special: bool = True, parse_special: bool = False, threads: int = 1
    ) -> Tokens:
        """Ids of a text, with spans.

        `add_special`: BOS, EOS ... as the model wants them; `parse_special`: the texts of control
        tokens become these tokens, which is not for texts from strangers.

        >>> list(tokenizer.encode("ab", add_special=False))
        [6]
        """
        flags = (ADD_SPECIAL if add_special else 0) | (PARSE_SPECIAL if parse_special else 0)
        encoded = text.encode() if isinstance(text, str) else text
        ids, _ = self._core.encode(encoded, flags, threads)
        return Tokens(ids, self, text, flags)

    def count(
        self, text: Text, *, add_special: bool = True, parse_special: bool = False, threads: int = 1
    ) -> int:
        """The number of ids of a text, in memory that does not grow with it.

        >>> tokenizer.count("ab a")
        3
        """
        flags = (ADD_SPECIAL if add_special else 0) | (PARSE_SPECIAL if parse_special else 0)
        return self._core.count(text.encode() if isinstance(text, str) else text, flags, threads)

    def _spans(self, text: Text, flags: int) -> list[tuple[int, int]]:
        import numpy as np

        encoded = text.encode() if isinstance(text, str) else text
        _, found = self._core.encode(encoded, flags | SPANS, 1)
        spans = np.frombuffer(found or b"", np.uint64).astype(np.int64).reshape(-1, 2)
        if isinstance(text, str):
            return in_characters(text, encoded, spans)
        return [(begin, end) for begin, end in spans.tolist()]

    # -- decoding

    def decode_bytes(
        self, ids: Iterable[int], *, skip_special: bool = False, remove_special: bool = False
    ) -> bytes:
        """The bytes of ids.

        >>> tokenizer.decode_bytes([6])
        b'ab'
        """
        flags = (SKIP_SPECIAL if skip_special else 0) | (REMOVE_SPECIAL if remove_special else 0)
        return self._core.decode(list(ids), flags)

    def decode(
        self,
        ids: Iterable[int],
        *,
        skip_special: bool = False,
        remove_special: bool = False,
        errors: str = "replace",
    ) -> str:
        """The text of ids.  `skip_special`: control tokens give nothing; `remove_special`: the BOS and
        EOS that `encode` adds give nothing.

        >>> tokenizer.decode([1, 6])
        '<s> ab'
        >>> tokenizer.decode([1, 6], skip_special=True)
        ' ab'
        """
        found = self.decode_bytes(ids, skip_special=skip_special, remove_special=remove_special)
        return found.decode("utf-8", errors)

    def decoder(self, *, skip_special: bool = False) -> Decoder:
        """For ids that come one after the other.

        >>> tokenizer.decoder().feed([3])
        'a'
        """
        return Decoder(self._core.decoder(SKIP_SPECIAL if skip_special else 0))

    # -- the whole vocabulary

    def census(self, *, longest: int = 10, threads: int = 1) -> Census:
        """Counts what the vocabulary holds, and lists tokens that deserve a look.

        >>> census = tokenizer.census(longest=2)
        >>> [tokenizer.token(id).text for id in census.longest], len(census.unreachable), census.tested
        (['\u2581ab', 'ab'], 0, 6)
        """
        return Census(*self._core.census(longest, threads))

    def compare(self, other: Tokenizer) -> TokenizerDiff:
        """How another tokenizer differs: settings, tokens, merges.

        >>> diff = tokenizer.compare(gufo.tokenizer(words))
        >>> diff.settings["model"], len(diff.tokens)
        (('llama', 'huggingface'), 523)
        """
        settings, tokens, merges, first = self._core.compare(other._core)
        return TokenizerDiff(
            settings,
            [self._difference(other, *row) for row in tokens],
            merges,
            first if first >= 0 else None,
        )

    def _difference(self, other: Tokenizer, change: str, a: int, b: int) -> TokenDiff:
        text = self.token(a).text if a >= 0 else other.token(b).text
        return TokenDiff(change, text, a if a >= 0 else None, b if b >= 0 else None)

    def export(self, path: Path, *, replace: bool = False) -> None:
        """Writes the vocabulary in the form of other programs: a name that ends with .txt is a list of
        tokens, as vocab.txt; any other is a tokenizer.json of Hugging Face's tokenizers.

        >>> tokenizer.export(folder / "tokenizer.json")
        >>> gufo.tokenizer(folder).encode("ab a") == tokenizer.encode("ab a")
        True
        """
        name = os.fsencode(path)
        self._core.export(name, name.endswith(b".txt"), replace)

    # -- chat

    @overload
    def apply_chat_template(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tokenize: Literal[True] = True,
        add_generation_prompt: bool = False,
        tools: Sequence[Mapping[str, Any]] | None = None,
        chat_template: str | None = None,
        now: float | None = None,
        **values: Any,
    ) -> Tokens: ...

    @overload
    def apply_chat_template(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tokenize: Literal[False],
        add_generation_prompt: bool = False,
        tools: Sequence[Mapping[str, Any]] | None = None,
        chat_template: str | None = None,
        now: float | None = None,
        **values: Any,
    ) -> str: ...

    def apply_chat_template(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tokenize: bool = True,
        add_generation_prompt: bool = False,
        tools: Sequence[Mapping[str, Any]] | None = None,
        chat_template: str | None = None,
        now: float | None = None,
        **values: Any,
    ) -> Tokens | str:
        """The ids (or with `tokenize=False` the text) of a conversation, as transformers gives them.

        `chat_template` is the name of one of `chat_templates`, or the source of another one; `values`
        are further variables.  Templates come from strangers: they see these values and nothing else,
        and their steps and memory are limited.

        >>> chat = [{"role": "user", "content": "ab"}]
        >>> tokenizer.apply_chat_template(chat, tokenize=False)
        '<s>user: ab\\n'
        >>> tokenizer.apply_chat_template(chat)[0]
        1
        """
        given: dict[str, Any] = {"messages": messages, "tools": tools, "add_generation_prompt": add_generation_prompt}
        given |= {f"{role}_token": self.token(id).text for role, id in self.special.items()}
        given |= values
        source = self._template(chat_template, tools)
        seconds = int(time.time() if now is None else now)
        texts = {name: json.dumps(value, ensure_ascii=False) for name, value in given.items()}
        text = _core.render(texts, {"source": source, "now": seconds})
        return self.encode(text, add_special=False, parse_special=True) if tokenize else text

    def _template(self, wanted: str | None, tools: object) -> str:
        models.need("chat templates")
        if wanted is not None:
            return self.chat_templates.get(wanted, wanted)
        if tools and "tool_use" in self.chat_templates:
            return self.chat_templates["tool_use"]
        if "default" in self.chat_templates:
            return self.chat_templates["default"]
        named = ", ".join(self.chat_templates)
        raise KeyError(f"name one of the chat templates: {named}" if named else "no chat template")


# ---- opening -------------------------------------------------------------------------------------

TEMPLATE_KEY = "tokenizer.chat_template"


def templates_of(model: Model) -> dict[str, str]:
    found = {}
    for key in model:
        if key == TEMPLATE_KEY or key.startswith(TEMPLATE_KEY + "."):
            source = model.text(key)
            if source is not None:
                found[key[len(TEMPLATE_KEY) + 1 :] or "default"] = source
    return found


def of_folder(path: Path) -> Tokenizer | None:
    """The tokenizer.json of a folder, by its own rules; None without one."""
    found = getattr(_core, "tokenizer_files", lambda path: None)(os.fsencode(path))
    if found is None:
        return None
    vocab = _core.vocab(None, {"json": found[0], "config": found[1]})
    config = json.loads(found[1] or b"{}")
    template = config.get("chat_template") if isinstance(config, dict) else None
    if isinstance(template, list):  # of {"name": ..., "template": ...}
        return Tokenizer(vocab, {one["name"]: one["template"] for one in template})
    return Tokenizer(vocab, {} if template is None else {"default": template})


def tokenizer(
    source: Model | Any, *, rules: str = "any", original: bool = False, pre: str | None = None
) -> Tokenizer:
    """The tokenizer of a model, or of what `gufo.open` opens.

    `rules` says by whose rules text becomes tokens where a file has several tokenizers: "ggml" (as
    engines do it), "huggingface" (as the model was trained), "rwkv"; a folder with a tokenizer.json
    follows that.  `original`: ids that the model was trained with, where engines give others; `pre`:
    another pre-tokenizer.

    >>> gufo.tokenizer(path).special["bos"]
    1
    """
    models.need("tokenizers")
    if rules not in RULES:
        raise ValueError(f"rules is one of {', '.join(RULES)}, not {rules!r}")
    if not isinstance(source, Model) and models.is_path(source) and rules in ("any", "huggingface"):
        found = of_folder(source)
        if found is not None:
            return found
    options = {"flags": ORIGINAL if original else 0, "tokenizer": RULES.index(rules), "pre": pre}
    if isinstance(source, Model):
        return Tokenizer(_core.vocab(source.core, options), templates_of(source))
    model = models.open(source, metadata_only=True)  # it stays open for `compare` and `export`
    return Tokenizer(_core.vocab(model.core, options), templates_of(model))
