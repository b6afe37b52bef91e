// The page in browsers, from a file:// address: `node --test`, with the variables of module.test.mjs and
//   GUFO_NODE_MODULES  folder with puppeteer-core and axe-core; without them tests are skipped
//   GUFO_SHOTS         folder for pictures of the page; none are taken without
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { HOSTILE, writeHostile, writeLarge } from "./files.mjs";

const { GUFO, GUFO_NODE_MODULES, GUFO_PAGES, GUFO_SHOTS } = process.env;
const BROWSERS = { chromium: ["/usr/bin/chromium"], firefox: ["/usr/bin/firefox-esr", "/usr/bin/firefox"] };

let puppeteer, axe;
try {
  const require = createRequire(path.join(GUFO_NODE_MODULES ?? "/nowhere", "package.json"));
  puppeteer = require("puppeteer-core");
  axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
} catch { /* the tests say so */ }

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "gufo-web-"));
test.after(() => fs.rmSync(folder, { recursive: true }));
const file = (name) => path.join(folder, name);
execFileSync(path.join(path.dirname(GUFO), "examples/make_sample"), [file("sample.gguf")]);
execFileSync(GUFO, ["quantize", "--quiet", file("sample.gguf"), file("small.gguf"), "Q4_0"]);
execFileSync(GUFO, ["edit", "--quiet", file("small.gguf"),
  "--set-string=tokenizer.chat_template={% for m in messages %}<|{{ m.role|upper }}|>{{ m.content }}\n{% endfor %}{{ ''.__class__ }}"]);
// A template that goes as deep as it may.
fs.writeFileSync(file("deep.jinja"), `{% macro f(n) %}{{ ${"(1 + ".repeat(150)}(f(n - 1) if n else 1)|length${")".repeat(150)} }}{% endmacro %}{{ f(199) }}`);
execFileSync(GUFO, ["edit", "--quiet", file("sample.gguf"), "-o", file("deep.gguf"), `--set-file=tokenizer.chat_template=${file("deep.jinja")}`]);
writeLarge(file("large.gguf"));
writeHostile(file("hostile.gguf"));
fs.writeFileSync(file("none.gguf"), "this is not a model");

// ---- a page in a browser ----------------------------------------------------------------------

async function visit(browser, name, media = {}) {
  const page = await browser.newPage(), requests = [], complaints = [];
  const address = pathToFileURL(path.join(GUFO_PAGES, name)).href;
  page.on("request", (request) => { if (!/^(file|blob|data):/.test(request.url())) requests.push(request.url()); });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error") complaints.push(message.text()); });
  if (media.width) await page.setViewport({ width: media.width, height: media.height ?? 900 });
  if (media.scheme) await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: media.scheme }]);
  await page.goto(address);
  return { page, requests, complaints };
}

async function open(page, name, state = "checked", input = "#file") {
  await page.evaluate(() => { delete document.body.dataset.state; });
  const chooser = await page.$(input);
  await chooser.uploadFile(file(name));
  await page.waitForFunction((wanted) => document.body.dataset.state === wanted || document.body.dataset.state === "failed",
    { timeout: 60000 }, state);
  return page.evaluate(() => ({ ...document.body.dataset, status: document.getElementById("status").textContent,
    title: document.title }));
}

const text = (page, selector) => page.$eval(selector, (node) => node.textContent);
const submit = (page, form) => page.$eval(form, (node) => node.requestSubmit());

async function faults(page) {
  // The policy refuses scripts of others: the test brings its own past it.
  return (await page.evaluate(`${axe}; axe.run(document).then((r) => r.violations.map((v) => v.id + ": " + v.nodes[0].html + " " + (v.nodes[0].any[0]?.message ?? "")))`));
}

async function picture(page, name) {
  if (GUFO_SHOTS) await page.screenshot({ path: path.join(GUFO_SHOTS, `${name}.png`) });
}

for (const [name, places] of Object.entries(BROWSERS)) {
  const executablePath = places.find((place) => fs.existsSync(place));
  const skip = !puppeteer ? "puppeteer-core or axe-core is missing (npm install puppeteer-core axe-core; GUFO_NODE_MODULES)"
    : executablePath === undefined ? `${name} is not installed` : false;

  test(name, { skip, timeout: 240000 }, async (t) => {
    const browser = await puppeteer.launch({ browser: name === "firefox" ? "firefox" : "chrome", executablePath, headless: true,
      args: name === "firefox" ? [] : ["--no-sandbox", "--disable-gpu"] });
    try { await browserTests(t, browser, name); } finally { await browser.close(); }
  });
}

async function browserTests(t, browser, name) {
  await t.test("opens 20 GB, and reads 8 MB of them at most", async () => {
    const { page, requests, complaints } = await visit(browser, "viewer.html");
    const opened = await open(page, "large.gguf", "checked");
    assert.equal(opened.state, "checked", opened.status);
    t.diagnostic(`${name}: ${opened.status}`);
    assert.match(opened.status, /^large\.gguf: open after \d+ ms; [0-7]\.\d+ MiB of it read$/);
    assert.match(await text(page, "h1"), /large/);
    assert.deepEqual(requests, []);
    assert.deepEqual(complaints, []);
    await page.close();
  });

  await t.test("looks closer", async () => {
    const { page, requests, complaints } = await visit(browser, "viewer.html");
    await open(page, "sample.gguf");
    await open(page, "large.gguf");
    await open(page, "sample.gguf"); // one after the other
    assert.ok(await page.$$eval("#report th button", (all) => all.length) > 0, "the script of the report has run");
    assert.equal(await page.$$eval("th button button, nav + nav", (all) => all.length), 0);
    await page.$eval("#tensor", (input) => { input.value = "output.weight"; });
    await submit(page, "#numbers-form");
    await page.waitForSelector("#numbers-result svg");
    assert.match(await text(page, "#numbers-result"), /16,576 numbers/);
    await page.$eval("#token", (input) => { input.value = "<s"; });
    await submit(page, "#vocabulary-form");
    await page.waitForFunction(() => document.getElementById("vocabulary-place").textContent.includes("among 259"));
    assert.ok(await page.$$eval("#vocabulary-result tbody tr", (rows) => rows.length) === 1);
    await page.$eval("#change-key", (input) => { input.value = "general.name"; input.onchange(); });
    await page.$eval("#change-value", (input) => { input.value = "it's another"; });
    await submit(page, "#change-form");
    await page.waitForSelector("#script:not([hidden])");
    assert.match(await text(page, "#script"), /--set-string=general\.name='it'\\''s another'/);
    await page.evaluate(() => { document.getElementById("compare-result").replaceChildren(); });
    await (await page.$("#other")).uploadFile(file("sample.gguf"));
    await page.waitForSelector("#compare-result td button");
    assert.match(await text(page, "#compare-result"), /No key differs/);
    await page.$eval("#compare-result td button", (button) => button.click());
    await page.waitForFunction(() => document.getElementById("compare-result").textContent.includes("equal"));
    assert.deepEqual(requests, []);
    assert.deepEqual(complaints, []);
    await page.close();
  });

  await t.test("shows tokens, what is wrong with a template and the command that fixes it, and losses", async () => {
    const { page, requests, complaints } = await visit(browser, "viewer.html");
    await open(page, "small.gguf", "checked");
    assert.match(await text(page, "#report"), /259 tokens/);
    assert.match(await text(page, "#report"), /has one of Python's own names/);
    assert.match(await text(page, "#report"), /gufo edit small\.gguf --set-file=tokenizer\.chat_template=PATH/);
    assert.equal(await page.$$eval("#losses", (all) => all.length), 0);
    await (await page.$("#other")).uploadFile(file("sample.gguf"));
    await page.waitForSelector("#compare-result p button");
    await page.$eval("#compare-result p button", (button) => button.click());
    await page.waitForSelector("#losses");
    assert.match(await text(page, "#report"), /against sample\.gguf/);
    assert.match(await text(page, "#report"), /Most is lost in/);
    await picture(page, `${name}-losses`);
    assert.deepEqual(requests, []);
    assert.deepEqual(complaints, []);
    await page.close();
  });

  await t.test("renders no template that goes too deep", async () => {
    const { page } = await visit(browser, "viewer.html");
    const opened = await open(page, "deep.gguf", "checked");
    assert.equal(opened.state, "checked", opened.status);
    assert.match(await text(page, "#report"), /Chat template/);
    await page.close();
  });

  await t.test("says that a file is not a model", async () => {
    const { page } = await visit(browser, "viewer.html");
    const opened = await open(page, "none.gguf");
    assert.equal(opened.state, "failed");
    assert.match(opened.status, /not a GGUF file/);
    await open(page, "sample.gguf");
    await open(page, "none.gguf");
    assert.ok(await page.$eval("#tools", (tools) => tools.hidden), "nothing is left of the model before");
    assert.equal(await page.$$eval("#report > *", (all) => all.length), 0);
    await page.close();
  });

  await t.test("takes nothing of an enemy for markup", async () => {
    const { page, requests, complaints } = await visit(browser, "viewer.html");
    const opened = await open(page, "hostile.gguf");
    assert.equal(opened.state, "checked", opened.status);
    await submit(page, "#vocabulary-form");
    await (await page.$("#other")).uploadFile(file("sample.gguf"));
    await page.waitForSelector("#compare-result table");
    assert.notEqual(await page.title(), "pwned");
    assert.deepEqual(await page.$$eval("#report script[src], #report img, #tools img, #tools script, #report b b", (all) => all.length), 0);
    const whole = await page.evaluate(() => document.body.innerText);
    assert.ok(whole.includes(HOSTILE[0]), "the text is shown");
    assert.doesNotMatch(whole, /[\u202e\u2066\u001b\u0007]/, "controls are shown, not obeyed");
    assert.deepEqual(requests, []);
    assert.deepEqual(complaints, []);
    await page.close();
  });

  await t.test("reads addresses only where it may, and only parts", async () => {
    const ranges = [];
    const server = http.createServer((request, response) => {
      const head = { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "Range",
        "Access-Control-Expose-Headers": "Content-Range" };
      if (request.method === "OPTIONS") return response.writeHead(204, head).end();
      const [, begin, end] = /bytes=(\d+)-(\d+)/.exec(request.headers.range).map(Number);
      const bytes = fs.readFileSync(file("sample.gguf"));
      ranges.push(end - begin + 1);
      response.writeHead(206, { ...head, "Content-Range": `bytes ${begin}-${end}/${bytes.length}` });
      response.end(bytes.subarray(begin, end + 1));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const address = `http://127.0.0.1:${server.address().port}/some.gguf`;
      const { page } = await visit(browser, "viewer-remote.html");
      await page.$eval("#url", (input, value) => { input.value = value; }, address);
      await submit(page, "#remote");
      await page.waitForFunction(() => ["checked", "failed"].includes(document.body.dataset.state), { timeout: 60000 });
      assert.match(await text(page, "h1"), /gufo sample/, await text(page, "#status"));
      assert.ok(ranges.length > 1 && ranges.every((size) => size <= 1 << 20), ranges.join(" "));
      await page.close();
      const plain = await visit(browser, "viewer.html");
      assert.ok(await plain.page.$eval("#remote", (form) => form.hidden));
      const before = ranges.length;
      await plain.page.evaluate((value) => fetch(value).catch(() => {}), address);
      assert.equal(ranges.length, before, "the policy refuses it");
      await plain.page.close();
    } finally { server.closeAllConnections(); server.close(); }
  });

  await t.test("is accessible, in light and dark, wide and narrow", async (t2) => {
    for (const scheme of ["light", "dark"])
      for (const width of [1280, 360]) {
        if (name === "firefox" && scheme === "dark") continue; // it cannot be told to
        const { page } = await visit(browser, "viewer.html", { scheme: name === "firefox" ? undefined : scheme, width });
        assert.deepEqual(await faults(page), [], `${scheme} ${width} at the beginning`);
        await picture(page, `${name}-start-${scheme}-${width}`);
        await open(page, "sample.gguf");
        await page.$eval("#tensor", (input) => { input.value = "output.weight"; });
        await submit(page, "#numbers-form");
        await page.waitForSelector("#numbers-result svg");
        await (await page.$("#other")).uploadFile(file("sample.gguf"));
        await page.waitForSelector("#compare-result table");
        await picture(page, `${name}-open-${scheme}-${width}`);
        await page.$eval("#numbers", (heading) => heading.scrollIntoView());
        await picture(page, `${name}-tools-${scheme}-${width}`);
        assert.deepEqual(await faults(page), [], `${scheme} ${width}`);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width}: reflow`);
        await page.close();
      }
  });
}
