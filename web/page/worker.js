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
  const made = await WebAssembly.instantiate(code, { host: { read }, wasi_snapshot_preview1: system });
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
