"""Special tokens, merges and chat templates of a folder as the frameworks save it.

The files in it say the same things in different ways.  Where several do, the first that says
something counts: tokenizer.json and tokenizer_config.json, then merges.txt, then config.json.
"""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence

if TYPE_CHECKING:
    from .gguf_writer import GGUFWriter

logger = logging.getLogger(__name__)

TYPES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
# in the byte-level alphabet, U+0120 is a space
MARKED_SPACE = "\u0120"


class SpecialVocab:
    merges: list[str]
    add_special_token: dict[str, bool]
    special_token_ids: dict[str, int]
    chat_template: str | Sequence[Mapping[str, str]] | None
    normalizer_lowercase: bool | None
    normalizer_strip_accents: bool | None

    def __init__(self, path: str | os.PathLike[str], load_merges: bool = False,
                 special_token_types: Iterable[str] | None = None,
                 n_vocab: int | None = None) -> None:
        self.special_token_ids = {}
        self.add_special_token = {}
        self.n_vocab = n_vocab
        self.load_merges = load_merges
        self.merges = []
        self.chat_template = None
        self.normalizer_lowercase = None
        self.normalizer_strip_accents = None
        self.special_token_types = TYPES if special_token_types is None else special_token_types
        self._load(Path(path))

    def __repr__(self) -> str:
        adds = self.add_special_token or "unset"
        return (f"<SpecialVocab with {len(self.merges)} merges, "
                f"special tokens {self.special_token_ids or 'unset'}, add special tokens {adds}>")

    def add_to_gguf(self, gw: GGUFWriter, quiet: bool = False) -> None:
        """Adds to a file what was found."""
        level = logging.DEBUG if quiet else logging.INFO
        if self.merges:
            logger.log(level, "Adding %d merges", len(self.merges))
            gw.add_token_merges(self.merges)
        elif self.load_merges:
            logger.warning("Merges were asked for, but there are none")
        for name, value in self.special_token_ids.items():
            self._add(gw, f"add_{name}_token_id", value, level)
        for name, flag in self.add_special_token.items():
            self._add(gw, f"add_add_{name}_token", flag, level)
        for name in ("normalizer_lowercase", "normalizer_strip_accents"):
            if getattr(self, name) is not None:
                self._add(gw, f"add_{name}", getattr(self, name), level)
        if self.chat_template is not None:
            self._add(gw, "add_chat_template", self.chat_template, level)

    def _add(self, gw: GGUFWriter, method: str, value: Any, level: int) -> None:
        add = getattr(gw, method, None)
        if add is None:
            logger.warning("The format has no key for %s (%r); it is left out",
                           method[len("add_"):], value)
            return
        logger.log(level, "Setting %s to %.500r", method[len("add_"):], value)
        add(value)

    # -- what the files say

    def _load(self, path: Path) -> None:
        self._try_load_from_tokenizer_json(path)
        self._try_load_from_config_json(path)
        if self.load_merges and not self.merges:
            self._try_load_merges_txt(path)

    def _try_load_merges_txt(self, path: Path) -> bool:
        """Reads merges.txt: a merge a line, perhaps after a line with the version."""
        file = path / "merges.txt"
        if not file.is_file():
            return False
        lines = file.read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(lines, 1):
            parts = line.split()
            if not parts or number == 1 and parts[0].startswith("#"):
                continue
            if len(parts) == 2:
                self.merges.append(" ".join(parts))
            else:
                logger.warning("%s: line %d is not a merge of two tokens", file, number)
        return True

    def _set_special_token(self, typ: str, tid: Any) -> None:
        if not isinstance(tid, int):
            return
        if tid < 0:
            raise ValueError(f"the id of the special token {typ} is {tid}")
        if self.n_vocab is not None and tid >= self.n_vocab:
            logger.warning("The special token %s has the id %d, but the vocabulary has %d tokens",
                           typ, tid, self.n_vocab)
            return
        self.special_token_ids.setdefault(typ, tid)

    def _try_load_from_tokenizer_json(self, path: Path) -> bool:
        tokenizer = _read_json(path / "tokenizer.json") or {}
        config = _read_json(path / "tokenizer_config.json") or {}
        if self.load_merges:
            self.merges = _merges(tokenizer)
        self._parse_normalizer(tokenizer.get("normalizer") or {})
        around = TokensAround(config, tuple(self.special_token_types))
        around.read(tokenizer.get("post_processor") or {})
        self.add_special_token.update(around.added)
        if not config:
            return True
        self.special_token_types = around.types
        self.chat_template = _chat_template(path, config)
        self._read_config(config, around.texts, tokenizer.get("added_tokens") or [])
        return True

    def _read_config(self, config: dict[str, Any], texts: dict[str, Any],
                     added: list[dict[str, Any]]) -> None:
        ids: dict[Any, Any] = {}
        for token in added:
            ids.setdefault(token.get("content"), token.get("id"))
        for name in self.special_token_types:
            flag = config.get(f"add_{name}_token")
            if isinstance(flag, bool):
                self.add_special_token[name] = flag
            text = _token_text(texts[name] if name in texts else config.get(f"{name}_token"))
            if text is not None:
                self._set_special_token(name, ids.get(text))

    def _try_load_from_config_json(self, path: Path) -> bool:
        config = _read_json(path / "config.json")
        if config is None:
            return False
        for name in self.special_token_types:
            token_id = config.get(f"{name}_token_id")
            if token_id is None:
                token_id = (config.get("text_config") or {}).get(f"{name}_token_id")
            self._set_special_token(name, token_id)
        return True

    def _parse_normalizer(self, normalizer: dict[str, Any]) -> None:
        for step in normalizer.get("normalizers") or [normalizer]:
            kind = step.get("type")
            if kind == "BertNormalizer":
                self.normalizer_lowercase = step.get("lowercase", self.normalizer_lowercase)
                self.normalizer_strip_accents = step.get("strip_accents",
                                                         self.normalizer_strip_accents)
            elif kind == "Lowercase":
                self.normalizer_lowercase = True
            elif kind == "StripAccents":
                self.normalizer_strip_accents = True


class TokensAround:
    """Which tokens the tokenizer puts around a text, by its post-processor."""

    def __init__(self, config: dict[str, Any], types: tuple[str, ...]) -> None:
        self.types = types
        self.named = bool(config)
        # as the file has them: a token that is an object is compared as one, hence differs from every text
        self.texts: dict[str, Any] = {name: config[f"{name}_token"] for name in TYPES
                                      if config.get(f"{name}_token")}
        self.added: dict[str, bool] = {}
        # models without a beginning or an end use what classifiers have there
        self._default("bos", self.texts.get("cls"))
        self._default("eos", self.texts.get("sep"))

    def _default(self, name: str, text: Any) -> None:
        if text:
            self.texts.setdefault(name, text)

    def read(self, processor: dict[str, Any]) -> None:
        for step in processor.get("processors") or [processor]:
            if step.get("type") == "RobertaProcessing":
                self._read_roberta(step)
            elif step.get("type") == "TemplateProcessing":
                self._read_template(step)

    def _read_roberta(self, step: dict[str, Any]) -> None:
        self.added.update(bos=True, eos=True, sep=True)
        self._default("cls", (step.get("cls") or [self.texts.get("bos")])[0])
        self._default("sep", (step.get("sep") or [self.texts.get("eos")])[0])

    def _read_template(self, step: dict[str, Any]) -> None:
        single = step.get("single") or []
        first = _special(single[0]) if len(single) > 1 else None
        last = _special(single[-1]) if len(single) > 1 else None
        if first:
            self._read_first(first)
        if last:
            self._read_last(last)
        if step.get("pair"):
            self._read_pair(step["pair"], first, last)

    def _read_first(self, first: str) -> None:
        known = self.texts.get("bos")
        if self.named:
            self._default("bos", first)
        else:
            self.texts["bos"] = first
        if first != known:
            self._default("cls", first)
        self.added["bos"] = first in (self.texts["bos"], self.texts.get("cls"))
        if not self.added["bos"]:
            logger.warning("The tokenizer puts %r before a text, which is neither bos nor cls", first)

    def _read_last(self, last: str) -> None:
        self.added["eos"] = True
        known = self.texts.get("eos")
        if known != last:
            # what the model calls its end ends a turn, then
            for other in [name for name in ("eot", "eom") if name not in self.types][:1]:
                self.types = (*self.types, other)
                self.texts[other] = known
        self.texts["eos"] = last

    def _read_pair(self, pair: list[dict[str, Any]], first: str | None, last: str | None) -> None:
        """Whether there is a separator: A sep B, or A end sep B where a text has an end."""
        if first and pair and _special(pair[0]) == first:
            pair = pair[1:]
        if last and pair and _special(pair[-1]) == last:
            pair = pair[:-1]
        if not pair:
            return
        if (_sequence(pair[0]), _sequence(pair[-1])) != ("A", "B"):
            logger.warning("The tokenizer joins two texts in a way that is not A ... B")
            return
        between = [_special(item) for item in pair[1:-1]]
        if not between:
            return
        separators = [token for token in between[:1] if not last]
        separators += between[1:] if len(between) == 2 else []
        known = [token for token in separators
                 if token and token in (self.texts.get("sep"), self.texts.get("eos"))]
        if len(known) < len(separators):
            logger.warning("The tokenizer separates texts by %r, which is neither sep nor eos", separators)
        self.added["sep"] = bool(known)
        if known:
            self._default("sep", known[0])


def _special(item: dict[str, Any]) -> str | None:
    return (item.get("SpecialToken") or {}).get("id")


def _sequence(item: dict[str, Any]) -> str | None:
    return (item.get("Sequence") or {}).get("id")


def _read_json(file: Path) -> Any:
    if not file.is_file():
        return None
    return json.loads(file.read_text(encoding="utf-8"))


def _merges(tokenizer: dict[str, Any]) -> list[str]:
    merges = (tokenizer.get("model") or {}).get("merges") or []
    if not merges or isinstance(merges[0], str):
        return list(merges)
    if not isinstance(merges[0], list) or len(merges[0]) != 2:
        raise ValueError(f"a merge in tokenizer.json is {merges[0]!r}, not two tokens")
    return [" ".join(part.replace(" ", MARKED_SPACE) for part in pair) for pair in merges]


def _token_text(entry: Any) -> str | None:
    """A token of tokenizer_config.json: its text, or an object with it."""
    text = entry.get("content") if isinstance(entry, dict) else entry
    return text if isinstance(text, str) else None


def _chat_template(path: Path, config: dict[str, Any]) -> Any:
    """The template of tokenizer_config.json, or one in a file of its own, or several in a folder."""
    file = path / "chat_template.jinja"
    if "chat_template" in config:
        template = config["chat_template"]
    elif file.is_file():
        template = file.read_text(encoding="utf-8")
        others = sorted((path / "additional_chat_templates").glob("*.jinja"))
        if others:
            template = [{"name": "default", "template": template}]
            template += [{"name": other.stem, "template": other.read_text(encoding="utf-8")}
                         for other in others]
    else:
        found = _read_json(path / "chat_template.json")
        template = found.get("chat_template") if isinstance(found, dict) else None
    if template is None or isinstance(template, (str, list)):
        return template
    logger.warning("%s: the chat template is neither a text nor a list", path)
    return None
