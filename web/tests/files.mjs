// Files for the tests of the page: a large one that takes no room on the disk, and one with the names of an enemy.
import fs from "node:fs";

class Bytes {
  parts = [];
  u32(n) { const b = Buffer.alloc(4); b.writeUInt32LE(n); this.parts.push(b); return this; }
  u64(n) { const b = Buffer.alloc(8); b.writeBigUInt64LE(BigInt(n)); this.parts.push(b); return this; }
  text(t) { const b = Buffer.isBuffer(t) ? t : Buffer.from(t); this.u64(b.length); this.parts.push(b); return this; }
  all() { return Buffer.concat(this.parts); }
}

const STRING = 8, UINT32 = 4, ARRAY = 9, INT32 = 5, FLOAT32 = 6, F32 = 0, Q4_K = 12, Q6_K = 14;
const BLOCKS = { [F32]: [1, 4], [Q4_K]: [256, 144], [Q6_K]: [256, 210] }; // elements and bytes

function header(entries, tensors) {
  const b = new Bytes();
  b.u32(0x46554747).u32(3).u64(tensors.length).u64(entries.length);
  for (const [key, type, value] of entries) {
    b.text(key).u32(type);
    if (type === STRING) b.text(value);
    else if (type === UINT32) b.u32(value);
    else {
      b.u32(value.type).u64(value.list.length);
      for (const one of value.list) value.type === STRING ? b.text(one) : b.u32(one);
    }
  }
  let offset = 0;
  for (const [name, type, dims] of tensors) {
    b.text(name).u32(dims.length);
    for (const dim of dims) b.u64(dim);
    b.u32(type).u64(offset);
    const elements = dims.reduce((a, n) => a * n, 1);
    offset += Math.ceil(elements / BLOCKS[type][0] * BLOCKS[type][1] / 32) * 32;
  }
  const infos = b.all();
  return { bytes: infos, size: Math.ceil(infos.length / 32) * 32 + offset };
}

// A model of 20 GB in the mixture Q4_K_M, with a vocabulary of 100,000 tokens: a hole, but for its beginning.
export function writeLarge(path, layers = 140) {
  const tokens = Array.from({ length: 100000 }, (_, i) => `token number ${i}`), width = 4096;
  const tensors = [["token_embd.weight", Q4_K, [width, tokens.length]], ["output.weight", Q6_K, [width, tokens.length]], ["output_norm.weight", F32, [width]]];
  const more = (i) => i < layers / 8 || i >= layers * 7 / 8 || (i - Math.floor(layers / 8)) % 3 === 2;
  for (let i = 0; i < layers; i++)
    for (const [role, dims] of [["attn_norm", [width]], ["attn_q", [width, width]], ["attn_k", [width, 1024]], ["attn_v", [width, 1024]],
      ["attn_output", [width, width]], ["ffn_norm", [width]], ["ffn_gate", [width, 16384]], ["ffn_up", [width, 16384]],
      ["ffn_down", [16384, width]]])
      tensors.push([`blk.${i}.${role}.weight`, dims.length === 1 ? F32 : /_v|_down/.test(role) && more(i) ? Q6_K : Q4_K, dims]);
  const made = header([
    ["general.architecture", STRING, "llama"], ["general.name", STRING, "large"], ["llama.context_length", UINT32, 8192],
    ["llama.embedding_length", UINT32, width], ["llama.block_count", UINT32, layers], ["llama.feed_forward_length", UINT32, 16384],
    ["llama.attention.head_count", UINT32, 32], ["llama.attention.head_count_kv", UINT32, 8],
    ["tokenizer.ggml.model", STRING, "llama"], ["tokenizer.ggml.tokens", ARRAY, { type: STRING, list: tokens }],
    ["tokenizer.ggml.scores", ARRAY, { type: FLOAT32, list: tokens.map(() => 0) }],
    ["tokenizer.ggml.token_type", ARRAY, { type: INT32, list: tokens.map(() => 1) }]], tensors);
  fs.writeFileSync(path, made.bytes);
  fs.truncateSync(path, made.size);
  return made.size;
}

export const HOSTILE = ["<script>document.title='pwned'</script>", "\"><img src=x onerror=\"document.title='pwned'\">",
  "'-alert(1)-'", "a\u202egnp.exe\u2066", "\u0000\u001b[31mred\u0007", "</script></style></title>", "&lt;b&gt;&amp;",
  "k".repeat(60000)];

// Whatever is a text in it is one of an enemy: keys, values, tokens, names of tensors.
export function writeHostile(path) {
  const entries = [["general.architecture", STRING, "llama"], ["general.name", STRING, HOSTILE[0]],
    ["general.description", STRING, HOSTILE[1]], ["tokenizer.chat_template", STRING, `{{ ${HOSTILE[0]} }}`],
    ["tokenizer.ggml.model", STRING, HOSTILE[5]], ["tokenizer.ggml.tokens", ARRAY, { type: STRING, list: HOSTILE }],
    ["general.tags", ARRAY, { type: STRING, list: HOSTILE }]];
  for (const [i, text] of HOSTILE.entries()) entries.push([`x${i}.${text}`, STRING, text], [text, UINT32, i]);
  const tensors = HOSTILE.slice(0, 7).map((text) => [text, F32, [32]]);
  tensors.push(["blk.0.<b>attn_q</b>.weight", F32, [32, 32]], [Buffer.from([0xff, 0xfe, 0x3c]), F32, [32]]);
  const made = header(entries, tensors);
  fs.writeFileSync(path, Buffer.concat([made.bytes, Buffer.alloc(made.size - made.bytes.length)]));
}
