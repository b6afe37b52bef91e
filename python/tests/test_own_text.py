"""Text: ids, spans, decoding and chat templates."""

from __future__ import annotations

import json
from pathlib import Path

import making
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gufo

if not {"text", "template", "import"} <= gufo._core.features:
    pytest.skip("a minimal build", allow_module_level=True)

MODEL = gufo.open(making.llama())
TOKENIZER = gufo.tokenizer(MODEL)


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> gufo.Tokenizer:
    return gufo.tokenizer(making.tokenizer_json(tmp_path_factory.mktemp("text") / "words"))


def test_facts(tmp_path: Path) -> None:
    assert TOKENIZER.algorithm == "SPM" and len(TOKENIZER) == 265
    assert TOKENIZER.special == {"bos": 1, "eos": 2, "unk": 0}
    assert TOKENIZER.token(2).type == "control"
    assert TOKENIZER.id("\u2581ab") == 6 and TOKENIZER.id(b"\xff") is None
    for id in (265, 2**33):
        with pytest.raises(IndexError):
            TOKENIZER.token(id)
    (tmp_path / "model.gguf").write_bytes(making.llama())
    assert len(gufo.tokenizer(tmp_path / "model.gguf")) == 265
    assert len(gufo.tokenizer(making.llama())) == 265


def test_refused() -> None:
    with pytest.raises(ValueError):
        gufo.tokenizer(MODEL, rules="mine")
    with pytest.raises(gufo.Error):
        gufo.tokenizer(MODEL, rules="huggingface")
    with pytest.raises(gufo.Error):
        gufo.tokenizer(MODEL, pre="absent")
    with pytest.raises(gufo.Error):
        gufo.tokenizer(making.llama(words=False))
    with pytest.raises(UnicodeEncodeError):
        TOKENIZER.encode("\ud800")
    with pytest.raises(OverflowError):
        TOKENIZER.decode([-1])
    with pytest.raises(gufo.Error):
        TOKENIZER.decode([10**6])
    with pytest.raises(TypeError):
        TOKENIZER.decode(["a"])  # type: ignore[list-item]


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(blacklist_categories=["Cs"])))
def test_round_trip(words: gufo.Tokenizer, text: str) -> None:
    assert words.decode(words.encode(text)) == text
    assert words.decode_bytes(words.encode(text.encode())) == text.encode()
    decoder = words.decoder()
    assert "".join(decoder.feed([id]) for id in words.encode(text)) + decoder.end() == text


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(blacklist_categories=["Cs"])))
def test_spans(words: gufo.Tokenizer, text: str) -> None:
    tokens = words.encode(text)
    encoded = text.encode()
    raw = words.encode(encoded)
    assert list(tokens) == list(raw) and len(tokens.spans) == len(tokens)
    begin, end = 0, 0
    for (start, stop), piece, bytes_piece in zip(tokens.spans, tokens.pieces, raw.pieces):
        assert begin <= start <= end <= stop  # a character that is cut is in both tokens
        assert start == end or stop == end or stop - start >= 1
        assert isinstance(piece, str) and piece.encode() == bytes_piece
        begin, end = start, stop
    assert end == len(text)


def test_spans_of_models(vocabularies: list[Path]) -> None:
    text = "Hello  w\u00f6rld \U0001f600\n1234 na\u00efve\t\u4f60\u597d"
    for path in vocabularies:
        tokens = gufo.tokenizer(path).encode(text, add_special=False)
        assert len(tokens.spans) == len(tokens)
        begins = [begin for begin, _ in tokens.spans]
        assert begins == sorted(begins)
        seen = {place for begin, end in tokens.spans for place in range(begin, end)}
        assert all(text[place].isspace() for place in range(len(text)) if place not in seen), path


def test_long_text(words: gufo.Tokenizer) -> None:
    text = "ab a " * 50000
    assert words.count(text) == len(words.encode(text, threads=2))
    assert words.decode(words.encode(text, threads=2)) == text


def test_any_bytes() -> None:
    data = bytes(range(256)) * 3
    assert isinstance(TOKENIZER.encode(data), list)
    assert TOKENIZER.decode_bytes(TOKENIZER.encode(b"\xff\x00a", add_special=False)).strip() == b"\xff\x00a"


# ---- chat ----------------------------------------------------------------------------------------

CHAT = [{"role": "user", "content": "ab"}, {"role": "assistant", "content": "a"}]


def test_chat(words: gufo.Tokenizer) -> None:
    assert TOKENIZER.apply_chat_template(CHAT, tokenize=False) == "<s>user: ab\nassistant: a\n"
    ids = TOKENIZER.apply_chat_template(CHAT)
    assert ids[0] == 1 and ids.count(1) == 1
    assert words.apply_chat_template(CHAT, tokenize=False) == "aba"


def test_chat_templates() -> None:
    source = "{{ messages[0].content }}{{ extra }}{{ add_generation_prompt }}{{ tools[0].name }}"
    text = TOKENIZER.apply_chat_template(
        CHAT, tokenize=False, chat_template=source, extra="\u20ac", add_generation_prompt=True, tools=[{"name": "t"}]
    )
    assert text == "ab\u20acTruet"
    day = TOKENIZER.apply_chat_template(CHAT, tokenize=False, chat_template="{{ strftime_now('%Y') }}", now=0)
    assert day == "1970"


def test_census(words: gufo.Tokenizer) -> None:
    census = TOKENIZER.census(longest=2, threads=2)
    assert census.types == {"normal": 6, "unknown": 1, "control": 2, "byte": 256}
    assert [TOKENIZER.token(id).text for id in census.longest] == ["\u2581ab", "ab"]
    assert census.duplicates == census.unreachable == [] and census.tested == 6
    assert words.census(longest=0).longest == []


def test_compare(words: gufo.Tokenizer, tmp_path: Path) -> None:
    assert TOKENIZER.compare(TOKENIZER).same and words.compare(words) == gufo.TokenizerDiff({}, [], (2, 2), None)
    entries = making.vocabulary()
    entries[1] = (entries[1][0], entries[1][1], ["<unk>", "<s>", "</s>", "a", "z", *entries[1][2][5:]])
    entries.append(("tokenizer.ggml.add_bos_token", "bool", False))
    other = gufo.tokenizer(making.gguf([("general.architecture", "string", "llama"), *entries], []))
    diff = TOKENIZER.compare(other)
    assert not diff.same and diff.settings == {"adds BOS": ("yes", "no")}
    assert diff.tokens == [("removed", TOKENIZER.token(4).text, 4, None), ("added", "z", None, 4)]
    fewer = making.tokenizer_json(tmp_path / "fewer")
    text = (fewer / "tokenizer.json").read_text()
    (fewer / "tokenizer.json").write_text(text.replace(', "\\u0120 a"]', "]"))
    diff = words.compare(gufo.tokenizer(fewer))
    assert (diff.merges, diff.first_merge, diff.tokens) == ((2, 1), 1, [])
    with pytest.raises(AttributeError):
        words.compare(None)  # type: ignore[arg-type]


def test_export(words: gufo.Tokenizer, tmp_path: Path) -> None:
    out = tmp_path / "tokenizer.json"
    words.export(out)
    assert json.loads(out.read_text())["model"]["merges"] == ["a b", "\u0120 a"]
    with pytest.raises(FileExistsError):
        TOKENIZER.export(out)
    TOKENIZER.export(out, replace=True)
    assert gufo.tokenizer(tmp_path).encode("ab ab a") == TOKENIZER.encode("ab ab a")
    TOKENIZER.export(tmp_path / "vocab.txt")
    assert (tmp_path / "vocab.txt").read_text(encoding="utf-8").splitlines()[:4] == ["<unk>", "<s>", "</s>", "a"]
    (tmp_path / "model.gguf").write_bytes(making.llama())
    with pytest.raises(gufo.Error):
        gufo.tokenizer(tmp_path / "model.gguf").export(tmp_path / "model.gguf", replace=True)
    with gufo.open(making.llama()) as model:
        closed = gufo.tokenizer(model)
    with pytest.raises(ValueError, match="closed"):
        closed.export(tmp_path / "late.json")


@pytest.mark.parametrize(
    "source", ["{% if %}", "{{ raise_exception('no') }}", "{{ absent.field }}", "{% for i in range(10**9) %}{% endfor %}"]
)
def test_bad_templates(source: str) -> None:
    with pytest.raises(gufo.Error) as failure:
        TOKENIZER.apply_chat_template(CHAT, chat_template=source)
    assert failure.value.message


def test_no_template() -> None:
    entries = [entry for entry in making.vocabulary() if entry[0] != "tokenizer.chat_template"]
    entries.append(("tokenizer.chat_template.tool_use", "string", "tool"))
    tokenizer = gufo.tokenizer(making.gguf([("general.architecture", "string", "llama"), *entries], []))
    with pytest.raises(KeyError, match="tool_use"):
        tokenizer.apply_chat_template(CHAT)
    assert tokenizer.apply_chat_template(CHAT, tokenize=False, tools=[{}]) == "tool"
    assert tokenizer.apply_chat_template(CHAT, tokenize=False, chat_template="tool_use") == "tool"


def test_values_that_are_no_json() -> None:
    with pytest.raises(TypeError):
        TOKENIZER.apply_chat_template([{"role": object()}])


def test_no_leak(words: gufo.Tokenizer) -> None:
    from test_own_models import resident

    def cycle() -> None:
        tokenizer = gufo.tokenizer(MODEL)
        tokenizer.decode(tokenizer.encode("ab a" * 10))
        tokenizer.apply_chat_template(CHAT)
        words.encode("ab").spans
        tokenizer.decoder().feed([3])

    for _ in range(50):
        cycle()
    before = resident()
    for _ in range(1000):
        cycle()
    assert resident() - before < 4 << 20


def test_count_and_stop_tokens(vocabularies: list[Path]) -> None:
    text = "Hello, world! \N{EURO SIGN} \n\n 1234 def f(x): return x\n" * 3
    for path in vocabularies[:4]:
        tokenizer = gufo.tokenizer(path)
        for options in ({}, {"add_special": False}, {"parse_special": True}):
            assert tokenizer.count(text, **options) == len(tokenizer.encode(text, **options))
        assert tokenizer.stop_tokens == sorted(set(tokenizer.stop_tokens))
        ends = {tokenizer.special[role] for role in ("eos", "eot") if role in tokenizer.special}
        assert ends <= set(tokenizer.stop_tokens)


def test_count_and_stop_tokens_of_a_small_model() -> None:
    tokenizer = gufo.tokenizer(making.llama())
    assert tokenizer.stop_tokens == [2]
    assert tokenizer.count("ab a " * 30000, threads=2) == len(tokenizer.encode("ab a " * 30000))
    assert tokenizer.count(b"\xff") == len(tokenizer.encode(b"\xff"))
