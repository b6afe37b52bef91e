// Pages of gufo report in a real browser: node --test pages.mjs, with GUFO (the command), GUFO_SOURCE and
// GUFO_NODE_MODULES in the environment.  GUFO_SCREENSHOTS is a folder for pictures of them.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {mkdtempSync, readFileSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, describe, test} from "node:test";
import {accessibility, find, launch, open} from "./browser.mjs";

const {GUFO, GUFO_SOURCE, GUFO_SCREENSHOTS} = process.env;
const kinds = ["dense", "deep", "experts", "mixed", "one", "empty", "vocabulary", "unknown", "truncated", "hostile"];
const pages = [...kinds, "several"];

let folder, browser;
const pageOf = (kind) => join(folder, `${kind}.html`);

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "gufo-pages-"));
  execFileSync("python3", [join(GUFO_SOURCE, "tests/report/sample_models.py"), folder, ...kinds, "thousand"]);
  for (const kind of [...kinds, "thousand"])
    execFileSync(GUFO, ["report", join(folder, `${kind}.gguf`), "-o", pageOf(kind)], {stdio: "ignore"});
  execFileSync(GUFO, ["report", ...["dense", "truncated", "one"].map((kind) => join(folder, `${kind}.gguf`)),
    "-o", pageOf("several")], {stdio: "ignore"});
  browser = await launch();
});

after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true});
});

// What people see, whatever the script adds.
const textOf = (page) => page.evaluate(() => {
  const copy = document.body.cloneNode(true);
  copy.querySelectorAll(".filter, script").forEach((element) => element.remove());
  return copy.textContent.replace(/\s+/g, " ");
});

describe("pages are valid HTML", () => {
  for (const kind of pages)
    test(kind, async () => {
      const {HtmlValidate} = find("html-validate");
      // Rules of the standard; those about style alone are off.
      const judge = new HtmlValidate({root: true, extends: ["html-validate:standard", "html-validate:a11y"], rules: {
        "no-inline-style": "off", "long-title": "off", "no-trailing-whitespace": "off", "text-content": "off",
        "prefer-native-element": "off", "require-sri": "off", "svg-focusable": "off",
        "no-redundant-role": "off", "tel-non-breaking": "off"}});
      const report = await judge.validateString(readFileSync(pageOf(kind), "utf8"), "page.html");
      const found = report.results.flatMap((result) => result.messages)
        .map((message) => `${message.line}:${message.column} ${message.ruleId}: ${message.message}`);
      assert.deepEqual(found.slice(0, 10), []);
    });
});

describe("pages are accessible", () => {
  for (const kind of pages)
    for (const dark of [false, true])
      test(`${kind}, ${dark ? "dark" : "light"}`, async () => {
        const page = await open(browser, pageOf(kind), {dark});
        await page.evaluate(() => document.querySelectorAll("details").forEach((group) => { group.open = true; }));
        assert.deepEqual((await accessibility(page)).slice(0, 10), []);
        await page.close();
      });
});

describe("pages load nothing and break nothing", () => {
  for (const kind of pages)
    test(kind, async () => {
      const page = await open(browser, pageOf(kind));
      assert.deepEqual(page.asked, []);
      assert.deepEqual(page.said, []);
      await page.close();
    });
});

test("the policy of a page refuses other scripts and every request", async () => {
  const page = await open(browser, pageOf("dense"));
  const ran = await page.evaluate(() => new Promise((resolve) => {
    const script = document.createElement("script");
    script.textContent = "window.foreign = true";
    document.body.append(script);
    const image = new Image();
    image.onload = image.onerror = () => resolve(Boolean(window.foreign));
    image.src = "http://127.0.0.1:9/x.png";
  }));
  assert.equal(ran, false);
  assert.equal(page.said.length > 0, true);
  await page.close();
});

describe("all facts are there without a script", () => {
  for (const kind of ["dense", "truncated", "several"])
    test(kind, async () => {
      const [without, with_] = [await open(browser, pageOf(kind), {script: false}), await open(browser, pageOf(kind))];
      assert.equal(await textOf(without), await textOf(with_));
      await without.close();
      await with_.close();
    });
});

describe("nothing is wider than a phone", () => {
  for (const kind of pages)
    for (const width of [320, 390])
      test(`${kind}, ${width}`, async () => {
        const page = await open(browser, pageOf(kind), {width});
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth) <= width, true);
        await page.close();
      });
});

test("texts of a file stay texts", async () => {
  const page = await open(browser, pageOf("hostile"));
  assert.equal(await page.evaluate(() => document.scripts.length), 1);
  assert.match(await page.evaluate(() => document.querySelector("h1").textContent),
    /^"'&<\/td><script>alert\(1\)<\/script>\\u\{202e\}txt/);
  const text = await textOf(page);
  assert.match(text, /\\xff\\xfe\\u\{1b\}\[31mred\\u\{0\}/);
  assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u2028\u2029]/);
  assert.equal((await page.$$("img, iframe, object, link")).length, 0);
  await page.close();
});

test("a table is sorted by a column, up and down", async () => {
  const page = await open(browser, pageOf("dense"));
  const column = () => page.$$eval("#bytes-map > details tbody tr", (rows) => rows.map((row) => Number(row.cells[4].dataset.v)));
  await page.$eval("#bytes-map > details", (group) => { group.open = true; });
  const button = await page.$("#bytes-map > details thead th:nth-child(5) button");
  const sorted = (await column()).sort((a, b) => a - b);
  await button.click();
  assert.deepEqual(await column(), sorted);
  await button.click();
  assert.deepEqual(await column(), sorted.reverse());
  await page.close();
});

test("the filter shows rows with all words, also by keyboard", async () => {
  const page = await open(browser, pageOf("dense"));
  await page.focus("[data-filter=tensors] input");
  await page.keyboard.type("ffn_down Q6_K");
  const shown = await page.$$eval("[data-filter=tensors] tbody tr", (rows) => rows.filter((row) => row.checkVisibility())
    .map((row) => row.textContent));
  assert.equal(shown.length > 0 && shown.every((row) => row.includes("ffn_down") && row.includes("Q6_K")), true);
  await page.close();
});

test("a mark of a picture shows its row, and a row its marks", async () => {
  const page = await open(browser, pageOf("dense"));
  await page.click("#bytes-map svg.p rect");
  assert.equal(await page.$eval("#bytes-map tr.lit", (row) => row.checkVisibility()), true);
  await page.hover("#bytes-map details tbody tr");
  assert.equal(await page.$$eval("#bytes-map svg .lit", (marks) => marks.length), 1);
  await page.close();
});

test("a printed page has all tables open", async () => {
  const page = await open(browser, pageOf("dense"), {script: false});
  await page.emulateMediaType("print");
  assert.equal(await page.$$eval("details table", (tables) => tables.every((table) => table.getBoundingClientRect().height > 0)),
    true);
  assert.equal((await page.pdf({format: "A4"})).length > 10000, true);
  await page.close();
});

test("a page of 1,000 tensors is below 500 KB", () => {
  assert.equal(readFileSync(pageOf("thousand")).length < 500_000, true);
});

test("pictures for people", {skip: GUFO_SCREENSHOTS ? false : "GUFO_SCREENSHOTS is not set"}, async () => {
  for (const kind of pages)
    for (const [name, options] of Object.entries({wide: {}, dark: {dark: true}, phone: {width: 390}})) {
      const page = await open(browser, pageOf(kind), options);
      await page.screenshot({path: join(GUFO_SCREENSHOTS, `${kind}-${name}.png`), fullPage: true});
      if (name === "wide")
        await page.pdf({path: join(GUFO_SCREENSHOTS, `${kind}.pdf`), format: "A4", printBackground: true});
      await page.close();
    }
});
