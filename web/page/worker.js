"use strict";
// Runs the module beside the page.  Reads of files are answered at once: FileReaderSync, and requests that wait, exist in
// workers alone.  What the page asks comes as {id, call, ...}, and goes back as {id, code, text}.
let api, memory;
const sources = []; // by their numbers: {size, read(begin, end)}
const counted = { reads: 0, bytes: 0 };
const text = new TextDecoder(), bytes = new TextEncoder();

// ---- what the module imports ------------------------------------------------------------------

function read(number, offset, at, size) {
  try {
    const got = new Uint8Array(sources[number].read(offset, offset + size));
    if (got.length !== size) return 0;
    new Uint8Array(memory.buffer, at, size).set(got);
    counted.reads++;
    counted.bytes += size;
    return 1;
  } catch { return 0; }
}

// What Unicode says of characters, for chat templates; in the order of unicode_category and of unicode_wasm.c.
const isOf = "Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co".split(" ")
  .map((name) => new RegExp(`^\\p{${name}}$`, "u"));

function categories(first, at) {
  const page = new Uint8Array(memory.buffer, at, 256);
  for (let i = 0; i < 256; i++) {
    const text = String.fromCodePoint(Math.min(first + i, 0x10ffff));
    page[i] = Math.max(0, isOf.findIndex((pattern) => pattern.test(text)));
  }
}

// Letters of two (DŽ) have a title case of their own; letters of Georgian have none.
const titled = (c) => (c >= 0x1c4 && c <= 0x1cc ? 0x1c5 + 3 * Math.floor((c - 0x1c4) / 3)
  : c >= 0x1f1 && c <= 0x1f3 ? 0x1f2 : c >= 0x10d0 && c <= 0x10ff ? c : 0);

// Full case folding: the lower case of the upper one, but for Cherokee, which folds to capitals, and three letters.
const FOLDED = { 0x130: "i\u0307", 0x131: "\u0131", 0x1e9e: "ss" };
const folded = (c, text) => FOLDED[c] ?? (c >= 0x13a0 && c <= 0x13fd || c >= 0xab70 && c <= 0xabbf
  ? text.toUpperCase() : text.toUpperCase().toLowerCase());

const CASES = [(c, text) => text.toLowerCase(), (c, text) => text.toUpperCase(),
  (c, text) => (titled(c) > 0 ? String.fromCodePoint(titled(c)) : text.toUpperCase()), folded];

function change_case(c, which, at) {
  const points = c > 0x10ffff ? [c] : [...CASES[which](c, String.fromCodePoint(c))].map((one) => one.codePointAt(0)).slice(0, 3);
  new Uint32Array(memory.buffer, at, 3).set(points);
  return points.length;
}

// No files, no environment, no output: what C's library asks of a system at its beginning and end.
const none = 8; // EBADF
const system = {
  random_get(at, size) {
    for (let i = 0; i < size; i += 65536)
      crypto.getRandomValues(new Uint8Array(memory.buffer, at + i, Math.min(65536, size - i)));
    return 0;
  },
  clock_time_get(clock, precision, at) {
    new DataView(memory.buffer).setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
    return 0;
  },
  environ_get: () => 0,
  environ_sizes_get(count, size) {
    new DataView(memory.buffer).setUint32(count, 0, true);
    new DataView(memory.buffer).setUint32(size, 0, true);
    return 0;
  },
  fd_close: () => none, fd_fdstat_get: () => none, fd_seek: () => none, fd_write: () => none,
  proc_exit(code) { throw new Error("the module ended with " + code); },
};

async function start(module) {
  const packed = Uint8Array.from(atob(module), (c) => c.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const code = await new Response(plain).arrayBuffer();
  const made = await WebAssembly.instantiate(code, { host: { read, categories, change_case }, wasi_snapshot_preview1: system });
  api = made.instance.exports;
  memory = api.memory;
  api._initialize();
}

// ---- sources ----------------------------------------------------------------------------------

function fileSource(file) {
  const reader = new FileReaderSync();
  return { size: file.size, read: (begin, end) => reader.readAsArrayBuffer(file.slice(begin, end)) };
}

// The address was typed by the reader of the page; the policy of viewer.html allows none.
function urlSource(url) {
  const ask = (begin, end) => {
    const request = new XMLHttpRequest();
    request.open("GET", url, false);
    request.responseType = "arraybuffer";
    request.setRequestHeader("Range", `bytes=${begin}-${end - 1}`);
    request.send();
    if (request.status !== 206) throw new Error(`the server answers ${request.status} to a request for some of its bytes`);
    return request;
  };
  const range = /\/(\d+)$/.exec(ask(0, 1).getResponseHeader("Content-Range") ?? "");
  if (range === null) throw new Error("the server does not say how large the file is");
  return { size: Number(range[1]), read: (begin, end) => ask(begin, end).response };
}

// ---- calls ------------------------------------------------------------------------------------

function lend(value) {
  const raw = bytes.encode(value);
  const at = api.viewer_room(raw.length);
  new Uint8Array(memory.buffer, at, raw.length).set(raw);
  return raw.length;
}

function answer(code) {
  return { code, text: text.decode(new Uint8Array(memory.buffer, api.viewer_text(), api.viewer_length())) };
}

const LENIENT = 1;

function open({ place, files, url }) {
  api.viewer_close(place);
  const list = url === undefined ? files.map((file) => [file.name, fileSource(file)])
    : [[decodeURIComponent(url.split(/[?#]/)[0].split("/").pop()) || "model.gguf", urlSource(url)]];
  for (const [name, source] of list) {
    sources.push(source);
    if (api.viewer_add_file(place, sources.length - 1, lend(name), source.size) !== 0)
      return { code: 3, text: JSON.stringify({ error: { message: "too many files, or too large ones" } }) };
  }
  return answer(api.viewer_open(place, LENIENT));
}

const calls = {
  open,
  page: ({ place }) => answer(api.viewer_page(place)),
  show: ({ place }) => answer(api.viewer_show(place, 8)),
  check: ({ place }) => answer(api.viewer_check(place)),
  vocabulary: ({ filter, first, count }) => answer(api.viewer_vocabulary(0, lend(filter), first, count)),
  statistics: ({ index, limit }) => answer(api.viewer_statistics(0, index, limit)),
  compare: () => answer(api.viewer_compare()),
  compareTensor: ({ index, limit }) => answer(api.viewer_compare_tensor(index, limit)),
  script: ({ changes }) => answer(api.viewer_script(0, lend(changes))),
};

let ready;
onmessage = async ({ data }) => {
  if (data.module !== undefined) {
    ready = start(data.module);
    return;
  }
  let result;
  try {
    await ready;
    result = calls[data.call](data);
  } catch (failure) {
    result = { code: -1, text: JSON.stringify({ error: { message: String(failure.message ?? failure) } }) };
  }
  postMessage({ id: data.id, ...result, counted: { ...counted } });
};
