// The worker of the page, in node: its own code, with files of the disk behind what a browser would give it.
import fs from "node:fs";
import vm from "node:vm";

export class DiskFile {
  constructor(path, name = path) {
    this.fd = fs.openSync(path, "r");
    this.name = name;
    this.size = fs.fstatSync(this.fd).size;
  }
  slice(begin, end) { return { file: this, begin, end: Math.min(end, this.size) }; }
  close() { fs.closeSync(this.fd); }
}

class FileReaderSync {
  readAsArrayBuffer({ file, begin, end }) {
    const out = new Uint8Array(end - begin);
    const got = fs.readSync(file.fd, out, 0, out.length, begin);
    return out.buffer.slice(0, got);
  }
}

const part = (page, id) => new RegExp(`<script type="text/plain" id="${id}">([^]*?)</script>`).exec(page)[1];

// Another module of the build, with what the worker of the page gives it.
export async function startModule(page, file) {
  const worker = await startWorker(page);
  const imports = { host: worker.run("({ read, categories, change_case })"), wasi_snapshot_preview1: worker.run("system") };
  const { instance } = await WebAssembly.instantiate(fs.readFileSync(file), imports);
  worker.context.moduleMemory = instance.exports.memory;
  worker.run("memory = moduleMemory");
  instance.exports._initialize();
  const textAt = (at) => {
    const bytes = Buffer.from(instance.exports.memory.buffer);
    return bytes.toString("utf8", at, bytes.indexOf(0, at));
  };
  return { api: instance.exports, textAt };
}

// The page at `path`: {call(message), run(expression)}.
export async function startWorker(path) {
  const page = fs.readFileSync(path, "utf8");
  let answered;
  const context = vm.createContext({
    FileReaderSync, Blob, Response, DecompressionStream, WebAssembly, TextEncoder, TextDecoder, Uint8Array, DataView,
    atob, crypto, performance, console, postMessage: (data) => answered(data),
  });
  vm.runInContext(part(page, "worker"), context);
  const send = (data) => new Promise((resolve) => {
    answered = resolve;
    vm.runInContext("onmessage", context)({ data });
  });
  await vm.runInContext("onmessage", context)({ data: { module: part(page, "module") } });
  await vm.runInContext("ready", context);
  return {
    page,
    module: part(page, "module"),
    call: (call, values) => send({ id: 1, call, ...values }),
    run: (expression) => vm.runInContext(expression, context),
    context,
  };
}
