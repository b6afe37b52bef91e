// Chat templates in the module: what they become, and what characters are, which the browser says there and utf8proc in the
// command.  `node --test`, with
//   GUFO_PAGES   folder with viewer.html and template.wasm
//   GUFO_NATIVE  folder's viewer_native, beside which template_native is
//   GUFO_SHARED  folder with templates of models, which may be missing
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { startModule } from "./worker.mjs";

const { GUFO_NATIVE, GUFO_PAGES, GUFO_SHARED } = process.env;
const { api, textAt } = await startModule(path.join(GUFO_PAGES, "viewer.html"), path.join(GUFO_PAGES, "template.wasm"));

test("templates become what they become everywhere", () => {
  let count = 0;
  for (let at; (at = api.template_case_fault(count)) !== 0; count++)
    assert.equal(textAt(at), "", `case ${count}`);
  assert.ok(count > 200, `${count} cases`);
});

function render(source, variables) {
  const parts = [source, variables].map((text) => Buffer.from(text));
  const at = api.template_room(parts[0].length + parts[1].length + 1);
  const bytes = new Uint8Array(api.memory.buffer);
  bytes.set(parts[0], at);
  bytes.set(parts[1], at + parts[0].length);
  const code = api.template_render(parts[0].length, parts[1].length);
  return code === 0 ? Buffer.from(api.memory.buffer, api.template_text(), api.template_length()).toString() : null;
}

// The text of an object in a line of JSON: JavaScript's numbers would lose the difference of 1 and 1.0.
function rawObject(line, name) {
  const begin = line.indexOf("{", line.search(new RegExp(`"${name}": ?{`)) + 1);
  let depth = 0, inText = false;
  for (let at = begin; at < line.length; at++) {
    if (inText) {
      if (line[at] === "\\") at++;
      else if (line[at] === '"') inText = false;
    } else if (line[at] === '"') inText = true;
    else if (line[at] === "{") depth++;
    else if (line[at] === "}" && --depth === 0) return line.slice(begin, at + 1);
  }
  throw new Error(`no ${name}`);
}

// A trap would be thrown.
test("what is nested too deep is refused, and does not end the module", () => {
  const nested = (n, begin, inner, end) => begin.repeat(n) + inner + end.repeat(n);
  const deep = nested(900, "[", "1", "]");
  const cases = [
    ...[190, 250, 20000].map((n) => `{{ ${nested(n, "(", "1", ")")} }}`),
    ...[190, 250, 20000].map((n) => `{{ ${nested(n, "[", "1", "]")} }}`),
    ...[190, 250, 5000].map((n) => nested(n, "{% if true %}", "x", "{% endif %}")),
    ...[190, 250, 5000].map((n) => nested(n, "{% for i in [1] %}", "x", "{% endfor %}")),
    ...[190, 199, 5000].map((n) => `{% macro f(n) %}{% if n %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(${n}) }}`),
    ...[7, 40, 150].map((n) => `{% macro f(n) %}{{ ${nested(n, "(1 + ", "(f(n - 1) if n else 1)|length", ")")} }}{% endmacro %}{{ f(199) }}`),
    ...["{{ d }}", "{{ d|tojson }}", "{{ d == e }}", "{{ d|pprint }}", "{{ d|string|length }}", "{{ {d|string: 1} }}", "{{ d|sum }}",
      "{{ [d, e]|sort }}", "{{ [d, e]|unique|list|length }}"],
    "{{ " + "not ".repeat(20000) + "1 }}", "{{ " + "-".repeat(20000) + "1 }}", "{{ " + "1 ~ ".repeat(20000) + "1 }}",
    "{{ a" + ".b".repeat(20000) + " }}", "{{ 1" + "|abs".repeat(20000) + " }}", "{{ " + "1 if 1 else ".repeat(20000) + "1 }}",
  ];
  for (const source of cases)
    assert.doesNotThrow(() => render(source, `{"d": ${deep}, "e": ${deep}}`), source.slice(0, 60));
  assert.equal(render("{{ 'a'|upper }}", "{}"), "A");
});

const shared = GUFO_SHARED ? path.join(GUFO_SHARED, "data/text") : "";
const referenced = ["jinja-language.jsonl", "templates.jsonl"].map((name) => path.join(shared, name))
  .filter((file) => shared !== "" && fs.existsSync(file));

test("templates of models become what Python makes of them", { skip: referenced.length === 0 && "no shared data" }, () => {
  let count = 0;
  for (const file of referenced)
    for (const line of fs.readFileSync(file, "utf8").split("\n").filter((text) => text !== "")) {
      const row = JSON.parse(line);
      const isFile = !("category" in row);
      const source = isFile ? fs.readFileSync(path.join(shared, "templates", row.template), "utf8") : row.template;
      const got = render(source, rawObject(line, "context"));
      assert.equal(got, row.expected ?? null, row.name ?? row.template);
      count++;
    }
  assert.ok(count > 100, `${count} renderings`);
});

// A version may assign characters that the other one does not have, and give letters new partners.
test("characters are the same in both versions of Unicode", () => {
  const expected = execFileSync(path.join(path.dirname(GUFO_NATIVE), "template_native"), { maxBuffer: 1 << 28 }).toString().split("\n");
  const unknown = new Set(expected.filter((line) => line.split(" ")[1] === "0").map((line) => line.split(" ")[0]));
  const changed = [];
  let newer = 0, at = 0;
  for (let first = 0; first <= 0x10ffff; first += 256)
    for (const line of textAt(api.template_points(first)).trimEnd().split("\n")) {
      const theirs = expected[at++];
      if (line === theirs) continue;
      const [point, category, ...cases] = line.split(" ");
      if (unknown.has(point) || category === "0" || cases.join().split(",").some((other) => unknown.has(other))) newer++;
      else changed.push(`${theirs} -> ${line}`);
    }
  assert.equal(at, 0x110000);
  assert.ok(changed.length < 10, changed.join("\n"));
  assert.ok(newer < 40000, `${newer} characters`);
});
