// The module against the same C in a native program, and against the command: `node --test`, with
//   GUFO_PAGES   folder with viewer.html, viewer-remote.html and codec.wasm
//   GUFO         the command
//   GUFO_NATIVE  viewer_native
//   GUFO_SOURCE  the source tree
//   GUFO_SHARED  folder with real model files, which may be missing
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import zlib from "node:zlib";
import { writeLarge } from "./files.mjs";
import { DiskFile, startWorker } from "./worker.mjs";

const { GUFO, GUFO_NATIVE, GUFO_PAGES, GUFO_SOURCE, GUFO_SHARED } = process.env;
const viewer = await startWorker(path.join(GUFO_PAGES, "viewer.html"));
const LENIENT = 1, ALL = -1, LIMIT = 1 << 16;

const modelsIn = (folder) => (fs.existsSync(folder) ? fs.readdirSync(folder) : [])
  .filter((name) => name.endsWith(".gguf")).map((name) => path.join(folder, name));
const seeds = fs.readdirSync(path.join(GUFO_SOURCE, "fuzz"))
  .filter((name) => name.startsWith("seeds")).flatMap((name) => modelsIn(path.join(GUFO_SOURCE, "fuzz", name)));
const vocabularies = GUFO_SHARED ? modelsIn(path.join(GUFO_SHARED, "data/vocab")) : [];

// Runs with a folder of its own.
const temporary = (run) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "gufo-web-"));
  try { return run(folder); } finally { fs.rmSync(folder, { recursive: true }); }
};

// ---- the module -------------------------------------------------------------------------------

const text = () => Buffer.from(viewer.run("memory.buffer"), viewer.run("api.viewer_text()"), viewer.run("api.viewer_length()"))
  .toString("latin1");

function lend(value) {
  const raw = Buffer.isBuffer(value) ? value : Buffer.from(value);
  viewer.context.raw = raw;
  return viewer.run("new Uint8Array(memory.buffer, api.viewer_room(raw.length), raw.length).set(raw), raw.length");
}

// Opens files in places; the answers of opening.  A function at the end names the files.
function open(flags, ...places) {
  const answers = [], nameOf = typeof places.at(-1) === "function" ? places.pop() : (name) => name;
  for (let place = 0; place < 2; place++) viewer.run(`api.viewer_close(${place})`);
  viewer.run("sources.length = 0");
  for (const [place, names] of places.entries()) {
    for (const name of names) {
      viewer.context.file = new DiskFile(name);
      viewer.run("sources.push(fileSource(file))");
      const len = lend(nameOf(name)), size = viewer.context.file.size;
      assert.equal(viewer.run(`api.viewer_add_file(${place}, sources.length - 1, ${len}, ${size})`), 0);
    }
    const code = viewer.run(`api.viewer_open(${place}, ${flags})`);
    answers.push(text());
    if (code !== 0) break;
  }
  return answers;
}

function call(expression, room) {
  if (room !== undefined) lend(room);
  viewer.run("api." + expression);
  return text();
}

// What a native program with the same C says: the texts of its answers.
function native(flags, places, calls) {
  const result = spawnSync(GUFO_NATIVE, [String(flags), ...places.map((names) => names.join("+")),
    ...calls.flatMap((one) => ["--", ...one])], { encoding: "latin1", maxBuffer: 1 << 30 });
  assert.ok(result.status === 0 || result.status === 1, result.stderr);
  return result.stdout.split("\n").slice(0, -1);
}

// ---- equal ------------------------------------------------------------------------------------

test("the module says what the native program says, of all seeds and vocabularies", () => {
  const files = [...seeds, ...vocabularies];
  assert.ok(files.length > 50, `${files.length} files`);
  for (const flags of [0, LENIENT])
    for (const file of files) {
      const calls = [["show", "-1"], ["check"], ["vocabulary", "a", "3", "20"], ["statistics", "0", String(LIMIT)],
        ["compare_tensor", "0", String(LIMIT)], ["script", "set|a.b|uint32|7|"]];
      const expected = native(flags, [[file]], calls);
      const [opened] = open(flags, [file]);
      if (expected.length === 1 && expected[0].includes('"error"')) {
        assert.equal(opened, expected[0], file);
        continue;
      }
      const got = [call(`viewer_show(0, ${ALL})`), call("viewer_check(0)"), call("viewer_vocabulary(0, 1, 3, 20)", "a"),
        call(`viewer_statistics(0, 0, ${LIMIT})`), call(`viewer_compare_tensor(0, ${LIMIT})`),
        call("viewer_script(0, 17)", ["set", "a.b", "uint32", "7", ""].join("\0"))];
      assert.equal(got.join("\n"), expected.join("\n"), file);
    }
});

test("pages are equal", { skip: !viewer.run("'viewer_page' in api") }, () => {
  for (const file of [...seeds, ...vocabularies]) {
    const expected = native(LENIENT, [[file]], [["page"], ["check"], ["page"]]).join("\n");
    const [opened] = open(LENIENT, [file]);
    if (opened.includes('"error"')) continue;
    assert.equal([call("viewer_page(0)"), call("viewer_check(0)"), call("viewer_page(0)")].join("\n"), expected, file);
  }
});

test("two models", () => {
  for (let i = 0; i + 1 < vocabularies.length; i++) {
    const pair = [[vocabularies[i]], [vocabularies[i + 1]]];
    open(LENIENT, ...pair);
    assert.equal(call("viewer_compare()"), native(LENIENT, pair, [["compare"]])[0], pair.join(" "));
  }
});

// ---- the command ------------------------------------------------------------------------------

test("it has the metadata and the tensors of gufo show --json", () => {
  for (const file of [...seeds, ...vocabularies])
    for (const flags of [0, LENIENT]) {
      const options = ["show", "--json", "--metadata", "--tensors", "--single", ...(flags ? ["--lenient"] : []), file];
      const result = spawnSync(GUFO, options, { encoding: "utf8", maxBuffer: 1 << 30 });
      const [opened] = open(flags, [file]);
      if (opened.includes('"error"')) {
        assert.equal(result.status, 3, file);
        continue;
      }
      const shown = JSON.parse(Buffer.from(call(`viewer_show(0, ${ALL})`), "latin1")), expected = JSON.parse(result.stdout);
      assert.deepEqual(shown.metadata, expected.metadata, file);
      assert.deepEqual(shown.duplicates, expected.duplicates, file);
      assert.deepEqual(shown.tensors.map((one) => one.name), expected.tensors.map((one) => one.name), file);
    }
});

// What `gufo report` writes.  The page knows the name of a file and not its folder, and has no options.
const reported = (file) => {
  const result = spawnSync(GUFO, ["report", "--single", file, "-o", "-"], { encoding: "utf8", maxBuffer: 1 << 30 });
  assert.equal(result.status, 0, result.stderr);
  return result.stdout.replaceAll(file, path.basename(file)).replace(/<p class="advice">--max-depth[^<]*<\/p>/, "");
};

test("pages are those of gufo report", () => {
  const seen = { tokenizer: 0, template: 0, fixes: 0, json: 0 };
  for (const file of [...seeds, ...vocabularies]) {
    const [opened] = open(LENIENT, [file], path.basename);
    if (opened.includes('"error"')) continue;
    call("viewer_check(0)");
    const page = Buffer.from(call("viewer_page(0)"), "latin1").toString();
    if (call("viewer_show(0, 0)").includes('"tokenizer.huggingface.json"')) { // which takes a library
      seen.json++;
      continue;
    }
    assert.equal(page, reported(file), file);
    seen.tokenizer += page.includes('id="tokenizer"');
    seen.template += page.includes('id="template"');
    seen.fixes += page.includes("gufo edit ");
  }
  assert.ok(seen.tokenizer > 10 && seen.template > 1 && seen.fixes > 10 && seen.json < 10, JSON.stringify(seen));
});

const templates = GUFO_SHARED ? path.join(GUFO_SHARED, "data/text/templates") : "";

test("templates of models are reviewed as gufo report does", { skip: !fs.existsSync(templates) && "no shared data" }, () => temporary((folder) => {
  const [plain, file] = ["plain.gguf", "chat.gguf"].map((name) => path.join(folder, name));
  if (spawnSync(path.join(path.dirname(GUFO), "examples/make_sample"), [plain]).status !== 0) return;
  let rendered = 0;
  for (const name of fs.readdirSync(templates)) {
    execFileSync(GUFO, ["edit", "--quiet", "--force", plain, "-o", file, "--set-file=tokenizer.chat_template=" + path.join(templates, name)]);
    open(LENIENT, [file], path.basename);
    call("viewer_check(0)");
    const page = Buffer.from(call("viewer_page(0)"), "latin1").toString();
    assert.equal(page, reported(file), name);
    rendered += page.includes("An example: what messages become");
  }
  assert.ok(rendered > 40, `${rendered} examples`);
}));

test("losses are those of gufo report --source", () => temporary((folder) => {
  const [original, small] = ["sample.gguf", "small.gguf"].map((name) => path.join(folder, name));
  if (spawnSync(path.join(path.dirname(GUFO), "examples/make_sample"), [original]).status !== 0) return;
  execFileSync(GUFO, ["quantize", "--quiet", original, small, "Q4_0"]);
  open(LENIENT, [small], [original], path.basename);
  call("viewer_check(0)");
  assert.doesNotMatch(call("viewer_page(0)"), /id="losses"/);
  const { tensors } = JSON.parse(call("viewer_compare()"));
  const pairs = tensors.filter((pair) => pair.index !== undefined);
  const compared = pairs.map((pair) => JSON.parse(call(`viewer_compare_tensor(${pair.index}, ${1 << 26})`)));
  assert.ok(compared.some((one) => one.loss > 0) && compared.every((one) => !one.sampled));
  const page = Buffer.from(call("viewer_page(0)"), "latin1").toString();
  const result = execFileSync(GUFO, ["report", "--source", original, small, "-o", "-"], { encoding: "utf8", maxBuffer: 1 << 30 });
  assert.equal(page, result.replaceAll(small, "small.gguf"));
  assert.match(page, /against sample\.gguf</);
  const { index } = pairs.find((pair) => pair.name === "token_embd.weight");
  assert.ok(JSON.parse(call(`viewer_compare_tensor(${index}, 16384)`)).sampled);
  viewer.run("api.viewer_close(1)");
  assert.doesNotMatch(call("viewer_page(0)"), /id="losses"/, "of a model that is closed");
}));

// ---- numbers ----------------------------------------------------------------------------------

test("the codec gives the bytes that it gives everywhere", async () => {
  const table = fs.readFileSync(path.join(GUFO_SOURCE, "tests/codec/digests.tsv"), "utf8");
  const code = fs.readFileSync(path.join(GUFO_PAGES, "codec.wasm"));
  const { system } = { system: viewer.run("system") };
  const { instance } = await WebAssembly.instantiate(code, { wasi_snapshot_preview1: system });
  const api = instance.exports;
  viewer.context.codecMemory = api.memory;
  const kept = viewer.run("memory");
  viewer.run("memory = codecMemory");
  let rows = 0;
  try {
    api._initialize();
    for (let type = 0; type < api.codec_types(); type++)
      for (let mode = 0; mode < 3; mode++)
        for (let effort = 0; effort < 2; effort++) {
          const at = api.codec_name(type, mode, effort), bytes = Buffer.from(api.memory.buffer);
          const name = bytes.toString("latin1", at, bytes.indexOf(0, at));
          if (name === "") continue;
          const size = api.codec_code(type, mode, effort), from = api.codec_bytes();
          const digest = createHash("sha256").update(new Uint8Array(api.memory.buffer, from, size)).digest("hex");
          assert.ok(table.includes(`\n${name}\t${digest}`), name);
          rows++;
        }
  } finally {
    viewer.context.kept = kept;
    viewer.run("memory = kept");
  }
  assert.equal(rows, table.trim().split("\n").length - 1);
});

// ---- scripts ----------------------------------------------------------------------------------

const hostile = ["it's", "$(touch pwned)", "`touch pwned`", "a\\b\"c", "two\nlines", "-rf", "", "~", "* ?", "\u202egnp.exe",
  "ä 漢字", "!!", "%s", "\u001b[31m"];

test("a script makes the changes, whatever the texts are", () => temporary((folder) => {
    const source = seeds.find((file) => file.endsWith("/one-of-each.gguf"));
    for (const name of ["plain.gguf", "it's $(touch pwned).gguf", "-o.gguf"]) {
      const file = path.join(folder, name);
      fs.copyFileSync(source, file);
      viewer.run("api.viewer_close(0)");
      viewer.context.file = new DiskFile(file);
      viewer.run("sources.push(fileSource(file))");
      const len = lend(name);
      viewer.run(`api.viewer_add_file(0, sources.length - 1, ${len}, ${viewer.context.file.size})`);
      assert.equal(viewer.run(`api.viewer_open(0, ${LENIENT})`), 0, text());
      const fields = hostile.flatMap((value, i) => ["set", `a.k${i}`, "string", value]);
      fields.push("set", "a.number", "uint64", "18446744073709551615", "set", "a.list", "string[]", '["it\'s", "$x"]');
      const changes = Buffer.from(fields.map((field) => field + "\0").join(""));
      lend(changes);
      assert.equal(viewer.run(`api.viewer_script(0, ${changes.length})`), 0, text());
      const script = Buffer.from(text(), "latin1").toString();
      fs.writeFileSync(path.join(folder, "edit.sh"), script);
      execFileSync("bash", ["edit.sh"], { cwd: folder, env: { ...process.env, PATH: `${path.dirname(GUFO)}:${process.env.PATH}` } });
      const shown = JSON.parse(execFileSync(GUFO, ["show", "--json", "--metadata=a.*", file], { encoding: "utf8" }));
      hostile.forEach((value, i) => assert.equal(shown.metadata[`a.k${i}`].value, value));
      assert.equal(shown.metadata["a.number"].value, "18446744073709551615");
      assert.deepEqual(shown.metadata["a.list"].value, ["it's", "$x"]);
    }
    assert.ok(!fs.existsSync(path.join(folder, "pwned")));
}));

test("a change that the command does not take is refused", () => {
  open(LENIENT, [seeds.find((file) => file.endsWith("/one-of-each.gguf"))]);
  for (const fields of [["set", "a=b", "string", "x"], ["set", "a", "uint8", "300"], ["set", "a", "no", "1"],
    ["set", "a", "uint8[]", "[1,"], ["remove", "a*", "", ""], ["set", "a[0]", "string", "x"], ["set", "", "string", ""], ["rename", "a", "", "b=c"], ["no", "a", "", ""]]) {
    const changes = Buffer.from(fields.map((field) => field + "\0").join(""));
    lend(changes);
    assert.notEqual(viewer.run(`api.viewer_script(0, ${changes.length})`), 0, fields.join(" "));
    assert.ok(JSON.parse(text()).error.message.length > 0);
  }
  const remove = Buffer.from("remove\0a]k\0\0\0"); // a bracket that closes nothing is a letter
  lend(remove);
  assert.equal(viewer.run(`api.viewer_script(0, ${remove.length})`), 0, text());
});

// ---- the page ---------------------------------------------------------------------------------

test("of a file of 20 GB at most 8 MB are read", () => temporary((folder) => {
  const file = path.join(folder, "large.gguf");
  assert.ok(writeLarge(file) > 20e9);
  viewer.run("counted.bytes = counted.reads = 0");
  assert.deepEqual(JSON.parse(open(LENIENT, [file])[0]), { tensors: 1263, entries: 12, damaged: false });
  call("viewer_show(0, 8)");
  assert.match(call("viewer_page(0)"), /<h1/);
  assert.ok(viewer.run("counted.bytes") < 8e6, `${viewer.run("counted.bytes")} bytes`);
  assert.ok(viewer.run("memory.buffer.byteLength") < 64e6, "memory");
  call("viewer_check(0)"); // three pages of each tensor, which are all zeros
  assert.ok(viewer.run("counted.bytes") < 8e6 + 1263 * 3 * 4096, `${viewer.run("counted.bytes")} bytes`);
  viewer.run("counted.bytes = 0");
  const numbers = JSON.parse(call(`viewer_statistics(0, 0, ${64 << 20})`));
  assert.ok(numbers.sampled && viewer.run("counted.bytes") === numbers.read_bytes && numbers.read_bytes <= 64 << 20);
  assert.equal(numbers.zeros, numbers.elements);
}));

test("the files of a set are one model", () => temporary((folder) => {
  const file = path.join(folder, "sample.gguf");
  if (spawnSync(path.join(path.dirname(GUFO), "examples/make_sample"), [file]).status !== 0) return;
  execFileSync(GUFO, ["split", "--quiet", "--max-tensors=8", file, path.join(folder, "set")]);
  const set = fs.readdirSync(folder).filter((name) => name.startsWith("set-")).sort().map((name) => path.join(folder, name));
  assert.equal(set.length, 3);
  open(LENIENT, set);
  const shown = call(`viewer_show(0, ${ALL})`);
  assert.deepEqual(native(LENIENT, [set], [["show", "-1"], ["check"], ["page"], ["statistics", "20", "65536"]]).join("\n"),
    [shown, call("viewer_check(0)"), call("viewer_page(0)"), call("viewer_statistics(0, 20, 65536)")].join("\n"));
  assert.match(open(LENIENT, [set[1], set[0], set[2]])[0], /"error":/, "in another order");
  assert.doesNotMatch(open(LENIENT, [set[1]])[0], /"error":/, "one of them alone");
  assert.match(call("viewer_page(0)"), /<h1/);
}));

test("statistics are those of the command", () => {
  const sample = path.join(path.dirname(GUFO), "examples/make_sample");
  temporary((folder) => {
    const file = path.join(folder, "sample.gguf");
    if (spawnSync(sample, [file]).status !== 0) return;
    open(LENIENT, [file]);
    const all = JSON.parse(execFileSync(GUFO, ["stats", "--json", file], { encoding: "utf8" }));
    const shown = JSON.parse(call("viewer_show(0, 0)")).tensors;
    assert.ok(shown.length > 10);
    shown.forEach((tensor, i) => {
      const got = JSON.parse(call(`viewer_statistics(0, ${i}, ${1 << 26})`));
      const expected = all.tensors.find((one) => one.name === tensor.name);
      for (const [ours, theirs] of [["mean", "mean"], ["deviation", "std"], ["minimum", "min"], ["maximum", "max"], ["zeros", "zeros"]])
        if (theirs in expected) assert.equal(got[ours], expected[theirs], `${tensor.name} ${ours}`);
      assert.ok(["mean", "min"].some((name) => name in expected), Object.keys(expected).join(" "));
    });
  });
});

test("the page is small, and asks the system for nothing but time and random bytes", () => {
  for (const name of ["viewer.html", "viewer-remote.html"])
    assert.ok(fs.statSync(path.join(GUFO_PAGES, name)).size < 500000, name);
  const code = zlib.gunzipSync(Buffer.from(viewer.module, "base64"));
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(code)).map((i) => i.name);
  const answered = ["read", "categories", "change_case", "random_get", "clock_time_get", "environ_get", "environ_sizes_get", "fd_close", "fd_fdstat_get",
    "fd_seek", "fd_write", "proc_exit"];
  assert.deepEqual(imports.filter((name) => !answered.includes(name)), []);
});

test("without a network the page cannot connect, and only the other one can", () => {
  assert.match(viewer.page, /connect-src 'none'/);
  assert.match(fs.readFileSync(path.join(GUFO_PAGES, "viewer-remote.html"), "utf8"), /connect-src https:/);
  assert.doesNotMatch(viewer.page, /(src|href)="(https?:)?\/\//);
});
