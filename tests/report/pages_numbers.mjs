// Pages with what commands compute: numbers, losses, plans for a size.  As pages.mjs.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {mkdtempSync, readFileSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, describe, test} from "node:test";
import {accessibility, find, launch, open} from "./browser.mjs";

const {GUFO, GUFO_EXAMPLES, GUFO_SCREENSHOTS} = process.env;
const pages = ["numbers", "losses", "size", "memory"];

let folder, browser;
const at = (name) => join(folder, name);
const gufo = (...args) => execFileSync(GUFO, args, {stdio: "ignore"});

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "gufo-numbers-"));
  execFileSync(join(GUFO_EXAMPLES, "make_sample"), [at("sample.gguf")]);
  for (const type of ["Q8_0", "Q4_K_M"])
    gufo("quantize", "-q", at("sample.gguf"), at(`${type}.gguf`), type);
  gufo("report", "--stats", at("Q4_K_M.gguf"), "-o", at("numbers.html"));
  gufo("report", "--stats", "--source", at("sample.gguf"), at("Q8_0.gguf"), at("Q4_K_M.gguf"), "-o", at("losses.html"));
  gufo("quantize", "-q", at("sample.gguf"), at("out.gguf"), "--target-size", "100K", "--min", "none",
    "--report", at("size.html"));
  gufo("estimate", at("sample.gguf"), "--devices", "1", "--report", at("memory.html"));
  browser = await launch();
});

after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true});
});

describe("pages are valid HTML", () => {
  for (const name of pages)
    test(name, async () => {
      const {HtmlValidate} = find("html-validate");
      const judge = new HtmlValidate({root: true, extends: ["html-validate:standard", "html-validate:a11y"], rules: {
        "no-inline-style": "off", "long-title": "off", "no-trailing-whitespace": "off", "text-content": "off",
        "prefer-native-element": "off", "require-sri": "off", "svg-focusable": "off",
        "no-redundant-role": "off", "tel-non-breaking": "off"}});
      const report = await judge.validateString(readFileSync(at(`${name}.html`), "utf8"), "page.html");
      const found = report.results.flatMap((result) => result.messages)
        .map((message) => `${message.line}:${message.column} ${message.ruleId}: ${message.message}`);
      assert.deepEqual(found.slice(0, 10), []);
    });
});

describe("pages are accessible, and load nothing", () => {
  for (const name of pages)
    for (const dark of [false, true])
      test(`${name}, ${dark ? "dark" : "light"}`, async () => {
        const page = await open(browser, at(`${name}.html`), {dark});
        await page.evaluate(() => document.querySelectorAll("details").forEach((group) => { group.open = true; }));
        assert.deepEqual((await accessibility(page)).slice(0, 10), []);
        assert.deepEqual([...page.asked, ...page.said], []);
        await page.close();
      });
});

describe("nothing is wider than a phone", () => {
  for (const name of pages)
    for (const width of [320, 390])
      test(`${name}, ${width}`, async () => {
        const page = await open(browser, at(`${name}.html`), {width});
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth) <= width, true);
        await page.close();
      });
});

test("the number of the heat map is chosen without a script, by mouse and keyboard", async () => {
  const page = await open(browser, at("numbers.html"), {script: false});
  const shown = () => page.$$eval("#numbers .pane", (panes) => panes.map((pane) => pane.checkVisibility()));
  assert.deepEqual(await shown(), [true, false, false, false]);
  await page.click("#numbers .pick label:nth-of-type(3)");
  assert.deepEqual(await shown(), [false, false, true, false]);
  await page.keyboard.press("ArrowRight");
  assert.deepEqual(await shown(), [false, false, false, true]);
  await page.emulateMediaType("print");
  assert.deepEqual(await shown(), [true, true, true, true]);
  await page.close();
});

test("a cell of a heat map shows the row of its tensor, and a row its cells", async () => {
  const page = await open(browser, at("losses.html"));
  const over = (figure) => page.$$eval(`#${figure} svg .over`, (cells) => cells.map((cell) => cell.textContent));
  for (const [figure, picture, value] of [["losses-map", "#losses-map svg.p", /^blk\.1\.attn_k\.weight\n.*: Q8_0 [\d.e-]+\n/],
    ["m1-numbers", "#m1-numbers .p0 svg.p", /^blk\.1\.attn_k\.weight\nMean: [^]*\nDeviation: [\d.e-]+\n/]]) {
    const place = await page.$eval(picture, (svg) => {
      const names = [...svg.closest(".rows").querySelectorAll(".labels span")].map((span) => span.textContent);
      svg.scrollIntoView({block: "center"});
      const box = svg.getBoundingClientRect(), cells = svg.querySelector(".cells");
      const height = Number(cells.dataset.row), columns = cells.viewBox.baseVal.width;
      return {x: box.left + (box.width * 1.5) / columns, y: box.top + (names.indexOf("attn_k") + 0.5) * height};
    });
    await page.mouse.move(place.x, place.y);
    const titles = await over(figure);
    assert.equal(titles.length, 1, figure);
    assert.match(titles[0], value);
    await page.mouse.click(place.x, place.y);
    assert.equal(await page.$eval(`#${figure} tr.lit th`, (head) => head.textContent), "blk.1.attn_k.weight");
    await page.mouse.move(0, 0);
    assert.deepEqual(await over(figure), [], "the frame goes with the pointer");
    await page.hover(`#${figure} tr.lit`);
    assert.equal((await over(figure)).length > 0, true, "a row frames its cells");
  }
  await page.close();
});

test("pictures for people", {skip: GUFO_SCREENSHOTS ? false : "GUFO_SCREENSHOTS is not set"}, async () => {
  for (const name of pages)
    for (const [look, options] of Object.entries({wide: {}, dark: {dark: true}, phone: {width: 390}})) {
      const page = await open(browser, at(`${name}.html`), options);
      await page.screenshot({path: join(GUFO_SCREENSHOTS, `${name}-${look}.png`), fullPage: true});
      await page.close();
    }
});
