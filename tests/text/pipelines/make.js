// Writes NAME/tokenizer.json and NAME/cases.jsonl beside this file: small vocabularies, and the ids, offsets and texts that
// Hugging Face's library gives for them.
//
//     npm install tokenizers@0.23.2 && NODE_PATH=node_modules node tests/text/pipelines/make.js
"use strict";
const fs = require("fs");
const path = require("path");
const { Tokenizer } = require("tokenizers");

const corpus = `The owl sees the small brown mouse before the mouse sees the owl. Owls hunt at night, and the nights are long in
winter; in summer they are short. A model that was trained on such a text knows the words the, owl, mouse, night and
nights, seeing, seen, unseen and longer. Größe, naïve, café, forêt. 12 345 678,90 - 3.14. Сова видит мышь. 梟は夜に鼠を狩る。`;

const texts = [
    "", " ", "   ", "\n", "\t\r\n ", "a", "The owl", " the  owls ", "unseen mice, longest nights!", "THE OWL'S NIGHT",
    "Größe naïve café", "Gro\u0308ße nai\u0308ve cafe\u0301", "a\u0301\u0323\u0302b", "ﬁne ﬂow ½ ① Ⅷ ㎏", "Ｆｕｌｌ　ｗｉｄｔｈ",
    "Сова видит мышь", "梟は夜に鼠を狩る。", "夜 夜夜  the夜owl", "한국어 \u1112\u1161\u11ab", "बिल्ली नहीं", "שָׁלוֹם", "مرحبا", "ไม่มี",
    "🦉", "👩‍🚀 owl 🦉🦉 🏳️‍🌈", "e\u200bf\u200dg\ufeffh", "x\u00a0y\u2003z\u3000w", "\u0001\u007f\u0085\ufffd", "İıẞſ ǅ",
    "3.14 12 345 678,90 -1e9 1234567", "a_b-c/d\\e.f@g:h", "''s '' don't we'll I'M", "(([[{{<>}}]]))", "…—–‘’“”«»",
    "\n\nThe\n owl\n\n\n  sees\tit\t\t", "<s>the</s> owl<mask>night  <mask>  x", "<s", "the<mask><mask>owl", "▁the▁▁owl ▁ x",
    "Ġthe Ċ", "[CLS] owl [SEP][MASK] [UNK]", "##ing ##s owl##s", "nights".repeat(20), "q".repeat(101), "zZ".repeat(60) + " owl",
];

// ---- vocabularies --------------------------------------------------------------------------------

// Merges the pair that occurs most, the first of several, until `count` are made.
function train(words, count) {
    const merges = [], pieces = new Set(words.flatMap((word) => word));
    while (merges.length < count) {
        const pairs = new Map();
        for (const word of words)
            for (let i = 0; i + 1 < word.length; i++) {
                const pair = word[i] + " " + word[i + 1];
                pairs.set(pair, (pairs.get(pair) || 0) + 1);
            }
        const [pair, times] = [...pairs].reduce((a, b) => (b[1] > a[1] ? b : a), ["", 1]);
        if (times < 2) break;
        const [a, b] = pair.split(" ");
        merges.push(pair);
        pieces.add(a + b);
        for (const word of words)
            for (let i = 0; i + 1 < word.length; i++) if (word[i] === a && word[i + 1] === b) word.splice(i, 2, a + b);
    }
    return { merges, pieces: [...pieces] };
}

// GPT-2's characters for bytes.
function byteCharacters() {
    const shown = (b) => (b > 32 && b < 127) || (b > 160 && b !== 173);
    let next = 256;
    return [...Array(256).keys()].map((b) => String.fromCodePoint(shown(b) ? b : next++));
}

const numbered = (pieces) => Object.fromEntries(pieces.map((piece, i) => [piece, i]));
const added = (id, content, more) => ({
    id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true, ...more });
const around = (first, last, ids) => ({
    type: "TemplateProcessing",
    single: [first, "A", last].filter(Boolean).map((id) =>
        id === "A" ? { Sequence: { id, type_id: 0 } } : { SpecialToken: { id, type_id: 0 } }),
    pair: [],
    special_tokens: Object.fromEntries([first, last].filter(Boolean).map((id) => [id, { id, ids: [ids[id]], tokens: [id] }])),
});

function bytes() {
    const names = byteCharacters();
    const words = (corpus.match(/ ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+/gu) || [])
        .map((word) => [...Buffer.from(word)].map((b) => names[b]));
    const { merges, pieces } = train(words, 60);
    const all = ["<s>", "</s>", "<mask>", ...names, ...pieces.filter((piece) => !names.includes(piece))];
    const level = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true };
    return {
        added_tokens: [added(0, "<s>"), added(1, "</s>"), added(2, "<mask>", { lstrip: true })],
        pre_tokenizer: { ...level, add_prefix_space: true }, post_processor: level, decoder: level,
        model: { type: "BPE", vocab: numbered(all), merges },
    };
}

// As of Llama 2: spaces are characters, and what has none is bytes.
function spaces() {
    const words = corpus.split(/[ \n]/).map((word) => [..."▁" + word]);
    const { merges, pieces } = train(words, 60);
    const names = [...Array(256).keys()].map((b) => `<0x${b.toString(16).toUpperCase().padStart(2, "0")}>`);
    const all = ["<unk>", "<s>", "</s>", ...names, "▁", ...pieces.filter((piece) => piece !== "▁")];
    return {
        added_tokens: ["<unk>", "<s>", "</s>"].map((content, id) => added(id, content)),
        normalizer: { type: "Sequence", normalizers: [
            { type: "Prepend", prepend: "▁" }, { type: "Replace", pattern: { String: " " }, content: "▁" }] },
        post_processor: around("<s>", null, numbered(all)),
        decoder: { type: "Sequence", decoders: [
            { type: "Replace", pattern: { String: "▁" }, content: " " }, { type: "ByteFallback" }, { type: "Fuse" },
            { type: "Strip", content: " ", start: 1, stop: 0 }] },
        model: { type: "BPE", unk_token: "<unk>", fuse_unk: true, byte_fallback: true, vocab: numbered(all), merges },
    };
}

function wordPiece() {
    const words = corpus.toLowerCase().normalize("NFD").replace(/\p{Mn}/gu, "").match(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu)
        .map((word) => [...word].map((character, i) => (i > 0 ? "##" : "") + character));
    const { pieces } = train(words.map((word) => [...word]), 0);
    const whole = ["the", "owl", "##s", "mouse", "night", "##ing", "see", "un", "##seen", "long", "##er", "##est", "##ve"];
    const all = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ...new Set([...pieces, ...whole])];
    return {
        added_tokens: all.slice(0, 5).map((content, id) => added(id, content)),
        normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true },
        pre_tokenizer: { type: "BertPreTokenizer" },
        post_processor: around("[CLS]", "[SEP]", numbered(all)),
        decoder: { type: "WordPiece", prefix: "##", cleanup: true },
        model: { type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##", max_input_chars_per_word: 100,
            vocab: numbered(all) },
    };
}

function unigram() {
    const words = corpus.normalize("NFKC").split(/[ \n]/).map((word) => [..."▁" + word]);
    const { pieces } = train(words, 80);
    const vocab = [["<unk>", 0], ["<s>", 0], ["</s>", 0],
        ...pieces.map((piece, i) => [piece, -(12 - 1.25 * [...piece].length + i / 64)])];
    const space = { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true };
    return {
        added_tokens: [added(0, "<unk>"), added(1, "<s>"), added(2, "</s>"),
            added(vocab.length, "<mask>", { lstrip: true, rstrip: true })],
        normalizer: { type: "Sequence", normalizers: [
            { type: "NFKC" }, { type: "Strip", strip_left: false, strip_right: true },
            { type: "Replace", pattern: { Regex: " {2,}" }, content: "▁" }] },
        pre_tokenizer: space,
        post_processor: around(null, "</s>", { "</s>": 2 }), decoder: space,
        model: { type: "Unigram", unk_id: 0, vocab, byte_fallback: false },
    };
}

// ---- cases ---------------------------------------------------------------------------------------

async function write(name, parts) {
    const json = JSON.stringify({ version: "1.0", truncation: null, padding: null, normalizer: null, pre_tokenizer: null, ...parts });
    const folder = path.join(__dirname, name);
    const tokenizer = Tokenizer.fromString(json);
    let lines = "";
    for (const text of texts) {
        const whole = await tokenizer.encode(text), plain = await tokenizer.encode(text, null, { addSpecialTokens: false });
        lines += JSON.stringify({ text, ids: whole.getIds(), ids_plain: plain.getIds(), offsets: whole.getOffsets(),
            decoded: await tokenizer.decode(whole.getIds(), false) }) + "\n";
    }
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, "tokenizer.json"), json + "\n");
    fs.writeFileSync(path.join(folder, "cases.jsonl"), lines);
}

(async () => {
    for (const [name, make] of Object.entries({ bytes, spaces, "word-piece": wordPiece, unigram })) await write(name, make());
})();
