"""Special tokens and vocabularies of model folders."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import gufo
from gufo import vocab

TOKENS = ["<s>", "</s>", "<cls>", "<sep>", "<pad>", "<x>"]
ADDED = [{"id": i, "content": text} for i, text in enumerate(TOKENS, 1)]
BOS_EOS = {"bos_token": "<s>", "eos_token": "</s>"}
ALL_FOUR = {**BOS_EOS, "cls_token": "<cls>", "sep_token": "<sep>"}


def folder(path: Path, files: dict[str, Any]) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def found(special: Any) -> dict[str, Any]:
    return {"merges": special.merges, "adds": list(special.add_special_token.items()),
            "ids": list(special.special_token_ids.items()), "chat": special.chat_template,
            "lower": special.normalizer_lowercase, "strip": special.normalizer_strip_accents}


def read(path: Path, files: dict[str, Any], **options: Any) -> gufo.SpecialVocab:
    return gufo.SpecialVocab(folder(path, files), **options)


def template(single: str, pair: str) -> dict[str, Any]:
    """A TemplateProcessing, written as `<s> A </s>`."""
    def items(text: str) -> list[dict[str, Any]]:
        return [{"Sequence" if word in "ABC" else "SpecialToken": {"id": word, "type_id": 0}}
                for word in text.split()]
    return {"type": "TemplateProcessing", "single": items(single), "pair": items(pair)}


# -- SpecialVocab

@pytest.mark.parametrize("files, merges", [
    ({"merges.txt": "#version: 0.2\na b\nc  d\n\ne\nf g h\n"}, ["a b", "c d"]),
    ({"merges.txt": "# #\n# a\r\n"}, ["# a"]),
    ({"merges.txt": "a b", "tokenizer.json": {"model": {"merges": ["x y"]}}}, ["x y"]),
    ({"merges.txt": "a b", "tokenizer.json": {"model": {"merges": None}}}, ["a b"]),
    ({"tokenizer.json": {"model": {"merges": [["x", "y"], ["a b", " c"]]}}}, ["x y", "a\u0120b \u0120c"]),
    ({}, [])])
def test_merges(tmp_path: Path, files: dict[str, Any], merges: list[str]) -> None:
    assert read(tmp_path, files, load_merges=True).merges == merges
    assert read(tmp_path, files).merges == []


def test_merges_of_three(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not two tokens"):
        read(tmp_path, {"tokenizer.json": {"model": {"merges": [["x", "y", "z"]]}}}, load_merges=True)


@pytest.mark.parametrize("config, ids, adds", [
    ({"bos_token": "<s>", "eos_token": {"content": "</s>"}, "unk_token": "none", "pad_token": None,
      "add_bos_token": True, "add_eos_token": "yes"}, {"bos": 1, "eos": 2}, {"bos": True}),
    ({"cls_token": "<cls>", "sep_token": "<sep>"}, {"bos": 3, "eos": 4, "sep": 4, "cls": 3}, {}),
    (ALL_FOUR, {"bos": 1, "eos": 2, "sep": 4, "cls": 3}, {}),
    ({}, {}, {})])
def test_tokens_by_name(tmp_path: Path, config: Any, ids: Any, adds: Any) -> None:
    special = read(tmp_path, {"tokenizer.json": {"added_tokens": ADDED}, "tokenizer_config.json": config})
    assert special.special_token_ids == ids
    assert special.add_special_token == adds


def test_ids_of_config_json(tmp_path: Path) -> None:
    config = {"bos_token_id": 10, "eos_token_id": [2, 3], "pad_token_id": None, "unk_token_id": 1.0,
              "text_config": {"bos_token_id": 7, "pad_token_id": 9, "mask_token_id": 8}}
    assert read(tmp_path, {"config.json": config}).special_token_ids == {"bos": 10, "pad": 9, "mask": 8}
    assert read(tmp_path, {}, n_vocab=10).special_token_ids == {"pad": 9, "mask": 8}
    assert read(tmp_path, {}, special_token_types=["mask"]).special_token_ids == {"mask": 8}
    with pytest.raises(ValueError, match="bos is -1"):
        read(tmp_path, {"config.json": {"bos_token_id": -1}})


@pytest.mark.parametrize("files, chat", [
    ({"tokenizer_config.json": {"chat_template": "T"}, "chat_template.jinja": "J"}, "T"),
    ({"tokenizer_config.json": {"chat_template": 5}}, None),
    ({"tokenizer_config.json": {"x": 1}, "chat_template.json": {"chat_template": "C"}}, "C"),
    ({"tokenizer_config.json": {"x": 1}, "chat_template.json": {"chat_template": "C"},
      "chat_template.jinja": "J"}, "J"),
    ({"tokenizer_config.json": {"x": 1}, "chat_template.jinja": "J", "additional_chat_templates/t.jinja": "T"},
     [{"name": "default", "template": "J"}, {"name": "t", "template": "T"}]),
    ({"chat_template.jinja": "J"}, None)])
def test_chat_template(tmp_path: Path, files: Any, chat: Any) -> None:
    assert read(tmp_path, files).chat_template == chat


@pytest.mark.parametrize("step, lower, strip", [
    ({"type": "BertNormalizer", "lowercase": True, "strip_accents": None}, True, None),
    ({"type": "BertNormalizer", "lowercase": False, "strip_accents": True}, False, True),
    ({"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}, {"type": "StripAccents"}]},
     True, True),
    ({"type": "NFC"}, None, None)])
def test_normalizer(tmp_path: Path, step: Any, lower: Any, strip: Any) -> None:
    special = read(tmp_path, {"tokenizer.json": {"normalizer": step}})
    assert (special.normalizer_lowercase, special.normalizer_strip_accents) == (lower, strip)


@pytest.mark.parametrize("processor, config, ids, adds", [
    ({"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1]}, BOS_EOS,
     {"bos": 1, "eos": 2, "sep": 2, "cls": 1}, {"bos": True, "eos": True, "sep": True}),
    ({"type": "Sequence", "processors": [{"type": "ByteLevel"}, template("<s> A", "<s> A <s> B")]}, BOS_EOS,
     {"bos": 1, "eos": 2}, {"bos": True, "sep": False}),
    (template("<s> A </s>", "<s> A </s> </s> B </s>"), BOS_EOS,
     {"bos": 1, "eos": 2, "sep": 2}, {"bos": True, "eos": True, "sep": True}),
    (template("<s> A </s>", "<s> A </s> B </s>"), {"x": 1},
     {"bos": 1, "eos": 2, "cls": 1}, {"bos": True, "eos": True, "sep": False}),
    (template("<x> A", "<x> A <sep> B"), ALL_FOUR,
     {"bos": 1, "eos": 2, "sep": 4, "cls": 3}, {"bos": False, "sep": True}),
    # what the model calls its end becomes the end of a turn
    (template("A <sep>", "A B"), BOS_EOS, {"bos": 1, "eos": 4, "eot": 2}, {"eos": True}),
    (template("A", "B <sep> A"), BOS_EOS, {"bos": 1, "eos": 2}, {})])
def test_tokens_around(tmp_path: Path, processor: Any, config: Any, ids: Any, adds: Any) -> None:
    special = read(tmp_path, {"tokenizer.json": {"added_tokens": ADDED, "post_processor": processor},
                              "tokenizer_config.json": config})
    assert special.special_token_ids == ids
    assert special.add_special_token == adds


def random_processor(dice: random.Random) -> dict[str, Any]:
    kind = dice.randrange(6)
    if kind == 0:
        step: dict[str, Any] = {"type": "RobertaProcessing"}
        step.update({name: [dice.choice(TOKENS), 1] for name in ("sep", "cls") if dice.random() < 0.6})
        return step
    if kind == 1:
        return {"type": "ByteLevel"}
    first = dice.choice(TOKENS + [""])
    last = dice.choice(TOKENS + ["", ""])
    between = dice.choices(TOKENS + [first, last], k=dice.choice([0, 1, 1, 2, 2, 3]))
    pair = [dice.choice([first, first, ""]), "A", *between, "B", dice.choice([last, last, ""])]
    if dice.random() < 0.1:
        pair = dice.choices(TOKENS + ["A", "B"], k=dice.randrange(6))
    return template(f"{first} A {last}", " ".join(pair))


def random_folder(seed: int) -> dict[str, Any]:
    dice = random.Random(seed)
    tokenizer: dict[str, Any] = {"added_tokens": ADDED, "post_processor": random_processor(dice)}
    if dice.random() < 0.2:
        tokenizer["post_processor"] = {"type": "Sequence", "processors": [random_processor(dice)
                                                                          for _ in range(dice.randrange(3))]}
    if dice.random() < 0.3:
        tokenizer["model"] = {"merges": dice.choice([["a b"], [["a", "b"], ["c ", "d"]], []])}
    config: dict[str, Any] = {"x": 1}
    ids: dict[str, Any] = {}
    for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask", "eot"):
        if dice.random() < 0.45:
            text = dice.choice(TOKENS)
            config[f"{name}_token"] = dice.choice([text, text, {"content": text}, None, "none", ""])
        if dice.random() < 0.15:
            config[f"add_{name}_token"] = dice.choice([True, False, None])
        if dice.random() < 0.2:
            ids[f"{name}_token_id"] = dice.choice([1, 9, [4, 5], None])
    files = {"tokenizer.json": tokenizer, "tokenizer_config.json": config, "config.json": ids,
             "merges.txt": "#v\na b\n", "chat_template.jinja": "J"}
    return {name: content for name, content in files.items() if dice.random() < 0.85}


def test_special_tokens_as_reference(tmp_path: Path, peer: ModuleType) -> None:
    for seed in range(400):
        path = folder(tmp_path / str(seed), random_folder(seed))
        ours, theirs = (package.SpecialVocab(path, load_merges=True) for package in (gufo, peer))
        assert found(ours) == found(theirs), path
        assert repr(ours) == repr(theirs)


def test_folders_as_reference(shared: Path, peer: ModuleType) -> None:
    for path in sorted((shared / "data/convert/hf").iterdir()):
        written = []
        for package in (gufo, peer):
            writer = package.GGUFWriter(None, "llama")
            package.SpecialVocab(path, load_merges=True).add_to_gguf(writer)
            written.append([(key, value.value, int(value.type)) for key, value in writer.kv_data[0].items()])
        assert written[0] == written[1], path


def test_add_to_gguf(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    special = read(tmp_path, {"config.json": {"bos_token_id": 1, "strange_token_id": 2},
                              "merges.txt": "a b"}, load_merges=True, special_token_types=["bos", "strange"])
    special.add_special_token["bos"] = False
    special.normalizer_lowercase = True
    special.chat_template = "T"
    writer = gufo.GGUFWriter(None, "llama")
    special.add_to_gguf(writer)
    assert {key: value.value for key, value in writer.kv_data[0].items()} == {
        "general.architecture": "llama", "tokenizer.ggml.merges": ["a b"], "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.add_bos_token": False, "tokenizer.ggml.normalizer.lowercase": True,
        "tokenizer.chat_template": "T"}
    assert "strange" in caplog.text


# -- vocabularies

def test_bpe_of_vocab_json(tmp_path: Path) -> None:
    path = folder(tmp_path, {"vocab.json": {"b": 1, "a": 0}, "added_tokens.json": {"<z>": 3, "<y>": 2}})
    found = gufo.BpeVocab(path)
    normal, control = gufo.TokenType.NORMAL, gufo.TokenType.CONTROL
    assert list(found.all_tokens()) == [("a", 0.0, normal), ("b", 0.0, normal),
                                        (b"<y>", -1000.0, control), (b"<z>", -1000.0, control)]
    assert (found.vocab_size, found.vocab_size_base, found.added_tokens_list) == (4, 2, ["<y>", "<z>"])
    assert repr(found) == "<BpeVocab with 2 base tokens and 2 added tokens>"
    assert isinstance(found, vocab.Vocab) and isinstance(found, vocab.BaseVocab)
    folder(tmp_path, {"added_tokens.json": {"<z>": 4}})
    with pytest.raises(ValueError, match=r"2 - 2, but have \[4\]"):
        gufo.BpeVocab(path)


TOKENIZER = {"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}}, "decoder": {"type": "ByteLevel"},
             "added_tokens": [{"id": 2, "content": "<x>"}, {"id": 0, "content": "a"}]}


def test_bpe_of_tokenizer_json(tmp_path: Path) -> None:
    found = gufo.BpeVocab(folder(tmp_path, {"tokenizer.json": TOKENIZER}))
    assert found.added_tokens_dict == {"<x>": 2} and found.fname_tokenizer == tmp_path / "tokenizer.json"


@pytest.mark.parametrize("change", [{"decoder": {"type": "Other"}}, {"decoder": None},
                                    {"model": {"type": "Unigram", "vocab": []}},
                                    {"model": {"type": "BPE", "vocab": {}, "byte_fallback": True}}])
def test_other_tokenizers(tmp_path: Path, change: Any) -> None:
    with pytest.raises(FileNotFoundError):
        gufo.BpeVocab(folder(tmp_path, {"tokenizer.json": {**TOKENIZER, **change}}))
    with pytest.raises(FileNotFoundError):
        gufo.BpeVocab(folder(tmp_path / "empty", {}))


class StandInTokenizer:
    """What transformers makes of a tokenizer.json."""

    vocab_size = 6
    all_special_tokens = ["<s>", "<pad>"]
    all_special_ids = [2, 8]

    def get_vocab(self) -> dict[str, int]:
        return {"a": 0, "<0x0A>": 1, "<s>": 2, "b": 3, "<0xG>": 4, "\n": 5, "<x>": 7, "<y>": 6, "<pad>": 8}

    def get_added_vocab(self) -> dict[str, int]:
        return {"<x>": 7, "<y>": 6, "<pad>": 8, "<s>": 2}


LLAMA = {"model": {"type": "BPE", "byte_fallback": True}, "decoder": {"type": "Sequence"}}


def test_llama_of_transformers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    auto = SimpleNamespace(from_pretrained=lambda *_, **__: StandInTokenizer())
    monkeypatch.setitem(sys.modules, "transformers", SimpleNamespace(AutoTokenizer=auto))
    found = gufo.LlamaHfVocab(folder(tmp_path, {"tokenizer.json": LLAMA}))
    assert [(text, int(kind)) for text, _, kind in found.all_tokens()] == [
        (b"a", 1), (b"<0x0A>", 6), (b"<s>", 3), (b"b", 1), (b"<0xG>", 1), (b"\n", 1), (b"<y>", 4), (b"<x>", 4),
        (b"<pad>", 3)]
    assert found.vocab_size == 9 and found.has_newline_token()
    llama3 = {**LLAMA, "model": {"type": "BPE", "ignore_merges": True, "byte_fallback": False}}
    with pytest.raises(TypeError, match="BpeVocab"):
        gufo.LlamaHfVocab(folder(tmp_path, {"tokenizer.json": llama3}))


def test_missing_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("sentencepiece", "transformers", "mistral_common"):
        monkeypatch.setitem(sys.modules, package, None)
    path = folder(tmp_path, {"tokenizer.json": LLAMA})
    for name, error, package in (("SentencePieceVocab", RuntimeError, "sentencepiece"),
                                 ("LlamaHfVocab", ImportError, "transformers"),
                                 ("MistralVocab", ImportError, "mistral-common")):
        with pytest.raises(error, match=f"{name} needs .* pip install {package}"):
            getattr(gufo, name)(path)
    assert vocab.SentencePieceProcessor is None
    with pytest.raises(AttributeError):
        vocab.Nothing


class StandInPieces:
    """What sentencepiece makes of a model."""

    pieces = ["<unk>", "<s>", "<0x00>", "a", "unused"]

    def LoadFromFile(self, path: str) -> None:
        assert path.endswith("tokenizer.model")

    def vocab_size(self) -> int:
        return len(self.pieces)

    def IdToPiece(self, token: int) -> str:
        return self.pieces[token]

    def GetScore(self, token: int) -> float:
        return -float(token)

    def IsUnknown(self, token: int) -> bool:
        return token == 0

    def IsControl(self, token: int) -> bool:
        return token == 1

    def IsByte(self, token: int) -> bool:
        return token == 2

    def IsUnused(self, token: int) -> bool:
        return token == 4


def test_sentencepiece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", SimpleNamespace(SentencePieceProcessor=StandInPieces))
    path = folder(tmp_path / "model", {"tokenizer.model": "", "added_tokens.json": {"new": 5, "a": 3}})
    found = gufo.SentencePieceVocab(path)
    assert [(text, score, int(kind)) for text, score, kind in found.all_tokens()] == [
        (b"<unk>", 0.0, 2), (b"<s>", -1.0, 3), (b"<0x00>", -2.0, 6), (b"a", -3.0, 1), (b"unused", -4.0, 5),
        (b"new", -1000.0, 4)]
    assert found.added_tokens_dict == {"new": 5, "a": 3} and found.added_tokens_list == ["new"]
    below = gufo.SentencePieceVocab(folder(path / "below", {}))
    assert below.fname_tokenizer == path / "tokenizer.model"
    with pytest.raises(FileNotFoundError):
        gufo.SentencePieceVocab(folder(tmp_path / "other", {}))


def test_merges_of_ranks() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks |= {b"ab": 256, b"bc": 257, b"abc": 258, b" a": 259, b"xyz": 260}
    tekken = vocab.MistralVocab.__new__(vocab.MistralVocab)
    tekken.tokenizer = SimpleNamespace(_model=SimpleNamespace(_mergeable_ranks=ranks))
    assert tekken.extract_vocab_merges_from_model() == ["a b", "b c", "ab c", "\u0120 a"]


def test_byte_alphabet() -> None:
    alphabet = gufo.bytes_to_unicode()
    assert sorted(alphabet) == list(range(256)) and len(set(alphabet.values())) == 256
    assert (alphabet[0x20], alphabet[0x41], alphabet[0xAD], alphabet[0]) == ("\u0120", "A", "\u0143", "\u0100")


def test_no_vocabulary() -> None:
    assert isinstance(gufo.NoVocab(), vocab.BaseVocab)
    assert repr(gufo.NoVocab()) == "<NoVocab for a model without integrated vocabulary>"
